"""The settings of the controller in force: shown by code 1010, changed by code 1009.

Changes are not written down. (Apache writes them to `configStorePath`, and reads that file at no start.)

Source: ControllerRequestProcessor#handleUpdateControllerConfig, #initConfigBlackList of rocketmq-all-5.3.3.
"""

from typing import Final

from reference_impl.remoting.settings import SettingsInForce

from .config import ControllerConfig

ALWAYS_REFUSED: Final = frozenset({"configBlackList", "configStorePath", "rocketmqHome"})
"""Keys that code 1009 refuses whatever `configBlackList` says."""


class ControllerSettings(SettingsInForce[ControllerConfig]):
    """What a controller is configured by, from its start on."""

    ALWAYS_REFUSED = ALWAYS_REFUSED

    def __init__(self, config: ControllerConfig) -> None:
        super().__init__(config, v5=True)

    def knows(self, key: str) -> bool:
        return True
