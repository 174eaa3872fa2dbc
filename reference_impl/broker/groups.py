"""The subscription groups of a Broker: which there are, and how they come into being.

Source: SubscriptionGroupManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire.bodies import DataVersion, SubscriptionGroup

from .part import Part

if TYPE_CHECKING:
    from .core import Broker

__all__ = ["Groups"]

_SYSTEM: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)
_SYSTEM_53: Final = (*_SYSTEM, "CID_RMQ_SYS_TRANS")
_SYSTEM_PREFIX: Final = "CID_RMQ_SYS_"
_LEGAL: Final = re.compile(r"[%|a-zA-Z0-9_-]{1,255}")


class Groups(Part):
    """The table of subscription groups."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        names = _SYSTEM_53 if self.profile.v5 else _SYSTEM
        self.table: dict[str, SubscriptionGroup] = {name: self.made(name) for name in names}
        self.version = DataVersion(0, broker.started, 0 if self.profile.v5 else None)

    def made(self, group: str) -> SubscriptionGroup:
        """A group with the defaults of the line."""
        return SubscriptionGroup(group_name=group).of_line(self.profile.v5)

    def find(self, group: str, now: int) -> SubscriptionGroup | None:
        """A group, made now if there is none and it may be; None: there is none."""
        known = self.table.get(group)
        if known is None and self.may_create(group):
            known = self.made(group)
            self.put(known, now)
        return known

    def may_create(self, group: str) -> bool:
        """Whether a group comes into being by being asked for; 5.x looks at its name too."""
        config = self.config
        is_system = group.startswith(_SYSTEM_PREFIX) and config.enable_create_sys_group
        if not (config.auto_create_subscription_group or is_system):
            return False
        return not self.profile.v5 or not group or bool(_LEGAL.fullmatch(group))

    def put(self, group: SubscriptionGroup, now: int) -> None:
        """Store a group, new or changed."""
        self.table[group.group_name or ""] = group
        self.changed(now)

    def delete(self, group: str, now: int) -> bool:
        """Forget a group. False: there was none."""
        if self.table.pop(group, None) is None:
            return False
        self.changed(now)
        return True

    def changed(self, now: int) -> None:
        """The table has changed."""
        self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1, timestamp=now)
