"""The subscription groups of a Broker: which there are, and how they come into being.

Every change gives the table a new data version, and is written to `config/subscriptionGroup.json` before
anything is answered.

Source: SubscriptionGroupManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire.bodies import DataVersion, SubscriptionGroup, SubscriptionGroupTable

from .part import Part
from .tables import FileText, stored_table
from .topics import version_of_line

if TYPE_CHECKING:
    from .core import Broker

GROUPS_FILE: Final = "config/subscriptionGroup.json"

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
_LEGAL: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_LONGEST: Final = 255
_LONGEST_55: Final = 120
_RULE: Final = "contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"


class Groups(Part):
    """The table of subscription groups."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        names = _SYSTEM_53 if self.profile.v5 else _SYSTEM
        self.table: dict[str, SubscriptionGroup] = {name: self.made(name) for name in names}
        self.version = DataVersion(0, broker.started, 0 if self.profile.v5 else None)
        self.forbidden: dict[str, dict[str, int]] = {}
        """5.x: bits by group and topic."""
        self._unwritten = False
        stored = stored_table(broker.stored, GROUPS_FILE, SubscriptionGroupTable.decode)
        if stored is not None:
            v5 = self.profile.v5
            self.table |= {name: group.of_line(v5) for name, group in stored.subscription_group_table.items()}
            self.version = self.version_of(stored)
            self.forbidden = stored.forbidden_table or {}

    def version_of(self, stored: SubscriptionGroupTable) -> DataVersion:
        """The version of the table as it begins after a restart. 4.9 does not read the one in its file."""
        if not self.profile.v5:
            return self.version
        return version_of_line(stored.data_version or self.version, v5=True)

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
        if self.profile.v55:
            return self.fault(group) is None
        return not self.profile.v5 or not group or (len(group) <= _LONGEST and bool(_LEGAL.fullmatch(group)))

    def fault(self, group: str | None) -> str | None:
        """What is wrong with a group's name, as a remark; None: nothing. Only 5.5 looks at it."""
        if not self.profile.v55:
            return None
        if group is None or not group.strip():
            return "The specified group is blank."
        if not _LEGAL.fullmatch(group):
            return f"The specified group: {group}, {_RULE}"
        if len(group) > _LONGEST_55:
            return f"The specified group: {group}, is longer than group max length: {_LONGEST_55}"
        return None

    def put(self, group: SubscriptionGroup, now: int) -> None:
        """Store a group, new or changed."""
        self.table[group.group_name or ""] = group
        self.changed(now)

    def delete(self, group: str, now: int) -> None:
        """Forget a group, if there is one of this name."""
        if self.table.pop(group, None) is not None:
            self.changed(now)

    def forbid(self, group: str, topic: str, bit: int, forbidden: bool, now: int) -> None:
        """Set or clear a bit of what a group may not do in a topic. What is so already changes nothing."""
        known = self.forbidden.get(group, {})
        bits = known.get(topic, 0)
        wanted = bits | bit if forbidden else bits & ~bit
        if wanted == bits:
            return
        kept = {name: value for name, value in {**known, topic: wanted}.items() if value}
        self.forbidden = {**self.forbidden, group: kept}
        if not kept:
            del self.forbidden[group]
        self.changed(now)

    def changed(self, now: int) -> None:
        """The table has changed."""
        self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1, timestamp=now)
        self._unwritten = True

    def take_over(self, table: Mapping[str, SubscriptionGroup], version: DataVersion) -> None:
        """Replace everything by what a master has, whose line may be another."""
        v5 = self.profile.v5
        self.table, self.version = {name: group.of_line(v5) for name, group in table.items()}, version
        self._unwritten = True

    def document(self) -> SubscriptionGroupTable:
        """Everything, as a body and as a file have it."""
        return SubscriptionGroupTable(self.version, self.table, self.forbidden if self.profile.v5 else None)

    def settle(self, now: int) -> None:
        """What has changed is to be written."""
        if self._unwritten:
            self._unwritten = False
            table = msgspec.structs.replace(self.document(), subscription_group_table=dict(self.table))
            self.broker.persist(GROUPS_FILE, FileText(table.document))
