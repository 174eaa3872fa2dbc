"""The settings in force: shown by code 319, changed by code 318 (see `reference_impl.remoting.settings`).

1. Fixed at the start are the port, the files, the interval of scans, the capacity of the queue, the black
   list.
2. After every update that was not refused, the whole configuration is to be on disk before the reply. It is
   written so that it reads back as it is. (Apache writes values as they are: what follows a line break within
   a value is a setting of its own when the server starts again.)

Source: DefaultRequestProcessor#updateConfig, #initConfigBlackList of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from typing import Final

from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.settings import SettingsInForce

from .config import NOT_IN_49, Config

ALWAYS_REFUSED: Final = frozenset({"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"})
"""Keys that code 318 refuses whatever `configBlackList` says."""


class Settings(SettingsInForce[Config]):
    """What a server is configured by, from its start on."""

    ALWAYS_REFUSED = ALWAYS_REFUSED

    def __init__(self, profile: Profile, config: Config) -> None:
        self.profile = profile
        self.unwritten = False
        """Whether there was an update since the caller last took `dump()` to be written."""
        super().__init__(config, v5=profile.v5)

    def knows(self, key: str) -> bool:
        """Whether the line has such a setting."""
        return self.v5 or key not in NOT_IN_49

    def changed(self) -> None:
        """The configuration has to be on disk before the reply is sent."""
        self.unwritten = True
