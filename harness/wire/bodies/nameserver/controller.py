"""What a controller is asked with and answers: who is in sync, who was elected, who belongs to a name."""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire.bodies.json_body import (
    InvalidUtf8,
    list_of,
    not_null,
    read,
    strings,
)
from harness.wire.bodies.nameserver.route import BrokerMemberGroup
from harness.wire.fastjson import Engine, Node, document
from harness.wire.fastjson.coerce import CoercionError, as_int32, as_int64, members
from harness.wire.integers import Int32, Int64


class SyncStateSet(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The ids that are in sync, in no order, and the epoch of that set."""

    sync_state_set: list[Int64]
    sync_state_set_epoch: Int32 = 0

    def encode(self) -> bytes:
        """The JSON body."""
        return document({"syncStateSet": self.sync_state_set, "syncStateSetEpoch": self.sync_state_set_epoch})

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> SyncStateSet:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_set, _read_set, invalid_utf8, engine)


class Elected(msgspec.Struct):
    """The answer to CONTROLLER_ELECT_MASTER: who is in sync, and all members of the name where a new master
    was elected.
    """

    sync_state_set: list[int] = []
    group: BrokerMemberGroup | None = None

    def encode(self) -> bytes:
        """The JSON body; the addresses by id in the legacy dialect."""
        found: dict[str, object] = {"syncStateSet": self.sync_state_set}
        if self.group is not None:
            found["brokerMemberGroup"] = self.group.members()
        return document(found, "legacy")


class ReplicaIdentity(msgspec.Struct, rename="camel"):
    """One Broker of a name."""

    broker_name: str
    broker_id: int
    broker_address: str
    alive: bool


class ReplicasInfo(msgspec.Struct, rename="camel", omit_defaults=True):
    """The Brokers of one name."""

    master_epoch: int
    sync_state_set_epoch: int
    in_sync_replicas: list[ReplicaIdentity]
    not_in_sync_replicas: list[ReplicaIdentity]
    master_broker_id: int | None = None
    master_address: str | None = None


class BrokerReplicasInfo(msgspec.Struct, rename="camel"):
    """The answer to CONTROLLER_GET_SYNC_STATE_DATA, by broker name."""

    replicas_info_table: dict[str, ReplicasInfo]

    def encode(self) -> bytes:
        """The JSON body."""
        return msgspec.json.encode(self)


def broker_names(data: bytes, engine: Engine = "fastjson") -> list[str]:
    """The list of names in the body of CONTROLLER_GET_SYNC_STATE_DATA. Raises `WireError`."""
    return read(data, _fast_names, _read_names, "refuse", engine)


_fast_set: Final = msgspec.json.Decoder(SyncStateSet).decode
_fast_names: Final = msgspec.json.Decoder(list[str]).decode


def _read_set(node: Node) -> SyncStateSet:
    found = members(node, {"syncStateSet": list_of(not_null(as_int64)), "syncStateSetEpoch": as_int32})
    if found.get("syncStateSet") is None:
        raise CoercionError("no syncStateSet", node)
    return SyncStateSet(found["syncStateSet"], found.get("syncStateSetEpoch") or 0)


def _read_names(node: Node) -> list[str]:
    return strings(node) or []
