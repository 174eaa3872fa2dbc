"""The settings in force: shown by code 26, changed by code 25 (see `reference_impl.remoting.settings`).

1. What was changed lasts until the Broker ends. (Apache writes its configuration file anew.)
2. A change holds from the next decision on, but for what was read at the start: ports, files, delay levels.
3. A change of `brokerPermission` is a change of all topics: they are registered anew.
4. Every setting of Apache's is shown and can be changed, within its kind. Of one that does nothing here that
   is all, and a change of it is a warning.

Source: AdminBrokerProcessor#updateBrokerConfig, #getBrokerConfig, Configuration of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import DataVersion, Properties
from harness.wire.broker_settings import broker_settings
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers
from reference_impl.remoting.settings import SettingsInForce
from reference_impl.remoting.values import Value, retold

from .config import Config
from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_ALWAYS_REFUSED: Final = frozenset({"brokerConfigPath", "configBlackList", "rocketmqHome"})
_NULL_UNLESS_SAID: Final = ("haMasterAddress", "namesrvAddr")
"""Settings that have no value where they are empty, and are not shown then."""
_OF_THE_LINE_UNLESS_SAID: Final = (
    "configBlackList",
    "registerBrokerTimeoutMills",
    "transactionCheckInterval",
)
"""Settings whose default is that of the line, and here empty or 0."""


class BrokerSettings(SettingsInForce[Config]):
    """All settings of Apache's Broker; `extra` has those that do nothing here, as they are shown."""

    ALWAYS_REFUSED = _ALWAYS_REFUSED

    def __init__(self, config: Config, profile: Profile) -> None:
        self.known = broker_settings(profile.name)
        super().__init__(config, v5=profile.v5)
        given, self.extra = self.extra, {}
        for key, one in self.known.items():
            if key not in self.fields and one.default is not None:
                self.extra[key] = one.default
        for key, text in given.items():
            retold_as = text if key not in self.known else self.retold(key, text)
            if retold_as is not None:
                self.extra[key] = retold_as

    def knows(self, key: str) -> bool:
        return key in self.known

    def retold(self, key: str, text: str) -> str | None:
        """How a setting is shown that is changed to a text; None: the old value stays."""
        return retold(self.known[key].kind, text, trims=self.v5)

    def take_other(self, key: str, text: str) -> None:
        if key not in self.known:
            super().take_other(key, text)
        elif (retold_as := self.retold(key, text)) is not None:
            self.extra[key] = retold_as

    def read(self, key: str, text: str, kind: Any) -> Value | None:
        return None if self.retold(key, text) is None else super().read(key, text, kind)

    def pairs(self) -> dict[str, str]:
        found = super().pairs()
        for key in _NULL_UNLESS_SAID:
            if not found.get(key):
                found.pop(key, None)
        for key in _OF_THE_LINE_UNLESS_SAID:
            default = self.known[key].default
            if found[key] in ("", "0") and default is not None:
                found[key] = default
        return found | {"haListenPort": self.config.ha_address.rpartition(":")[2]}


class Settings(Part):
    """Shows and changes the settings."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.in_force = BrokerSettings(broker.config, self.profile)
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
        without_effect = [key for key in pairs if key in self.in_force.known.keys() - self.in_force.fields]
        if without_effect:
            self.broker.warn(f"no effect in an update of the settings: {', '.join(without_effect)}")
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
        return Reply(ResponseCode.SUCCESS, ext={"version": version}, body=Properties(self.pairs()).encode())

    def pairs(self) -> dict[str, str]:
        """What is shown."""
        return self.in_force.pairs()
