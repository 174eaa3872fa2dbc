"""The settings in force: shown by code 26, changed by code 25 (see `reference_impl.remoting.settings`).

1. What was changed lasts until the Broker ends. (Apache writes its configuration file anew.)
2. A change holds from the next decision on, but for what was read at the start: ports, files, delay levels.
3. A change of `brokerPermission` is a change of all topics: they are registered anew.

Source: AdminBrokerProcessor#updateBrokerConfig, #getBrokerConfig, Configuration of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import DataVersion, Properties
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers
from reference_impl.remoting.settings import SettingsInForce

from .config import NOT_IN_49, Config
from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_ALWAYS_REFUSED: Final = frozenset({"brokerConfigPath", "configBlackList", "rocketmqHome"})


class _InForce(SettingsInForce[Config]):
    ALWAYS_REFUSED = _ALWAYS_REFUSED

    def knows(self, key: str) -> bool:
        return self.v5 or key not in NOT_IN_49


class Settings(Part):
    """Shows and changes the settings."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.in_force = _InForce(broker.config, v5=self.profile.v5)
        self.version = DataVersion(0, broker.started, 0 if self.profile.v5 else None)

    @answers(RequestCode.UPDATE_BROKER_CONFIG)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        """Without a body nothing is changed."""
        if not command.body:
            return Reply(ResponseCode.SUCCESS)
        try:
            pairs = Properties.decode(command.body).pairs
        except WireError:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="string2Properties error")
        if self.refuses(pairs):
            return Reply(ResponseCode.NO_PERMISSION, remark="Can not update config in black list.")
        self.take(pairs, now)
        return Reply(ResponseCode.SUCCESS)

    def refuses(self, pairs: Mapping[str, str]) -> bool:
        """Whether an update names a key that cannot be changed."""
        return self.in_force.refuses(pairs)

    def take(self, pairs: Mapping[str, str], now: int) -> None:
        """Take over an update."""
        self.in_force.update(pairs)
        self.broker.config = self.in_force.config
        self.broker.store.max_message_size = self.broker.config.max_message_size
        if not self.broker.config.is_slave:
            self.broker.store.raw.drop_rest()
        counter = self.version.counter + 1
        self.version = msgspec.structs.replace(self.version, counter=counter, timestamp=now)
        if "brokerPermission" in pairs:
            self.broker.topics.changed(now)
            self.broker.registrar.register(now, force=True, check_order=False)

    def assume(self, pairs: Mapping[str, str]) -> None:
        """Show settings that a request of another kind has changed."""
        self.in_force.update(pairs)
        self.broker.config = self.in_force.config

    @answers(RequestCode.GET_BROKER_CONFIG)
    def show(self, command: Command, connection: int, now: int) -> Reply:
        version = self.version.encode().decode("ascii")
        return Reply(ResponseCode.SUCCESS, ext={"version": version}, body=self.in_force.dump())
