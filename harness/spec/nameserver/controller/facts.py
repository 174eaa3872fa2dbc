"""What an answer of a controller says, as facts that can be compared one by one.

A fact is known by its aspect and by what it is about: ``("alive", "2")``. Expected facts may be several
values (`OneOf`); what is not expected is not compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from harness.program.nameserver import controller_steps as ctl
from harness.program.nameserver.controller_frames import UNCLEAN
from harness.spec.nameserver.controller.state import State
from harness.spec.observation import Difference
from harness.wire import Command, WireError
from harness.wire.bodies import Properties
from harness.wire.code_names import response_name
from harness.wire.fastjson import ParseError
from harness.wire.view import json_value

Fact: TypeAlias = tuple[str, str]
Facts: TypeAlias = Mapping[Fact, object]

CODE: Final[Fact] = ("code", "")
MASTER, ADDRESS, MASTER_EPOCH = ("master", ""), ("master address", ""), ("masterEpoch", "")
IN_SYNC, SET_EPOCH = ("in sync", ""), ("syncStateSetEpoch", "")
SET_EPOCH_OF_BODY: Final[Fact] = ("syncStateSetEpoch of the body", "")
MEMBERS: Final[Fact] = ("members", "")
NEXT: Final[Fact] = ("nextBrokerId", "")
LISTED: Final[Fact] = ("listed", "")
LEADS, PEERS = ("isLeader", ""), ("leader among peers", "")
SETTING: Final[Fact] = ("setting", UNCLEAN)
_EXT: Final[Mapping[str, Fact]] = {
    "masterBrokerId": MASTER,
    "masterAddress": ADDRESS,
    "masterEpoch": MASTER_EPOCH,
    "syncStateSetEpoch": SET_EPOCH,
    "newSyncStateSetEpoch": SET_EPOCH,
    "nextBrokerId": NEXT,
    "clusterName": ("clusterName", ""),
    "brokerName": ("brokerName", ""),
}
_TEXTS: Final = ("masterAddress", "clusterName", "brokerName")


class OneOf(NamedTuple):
    """Any of these values is right."""

    values: tuple[object, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.values))


def one_of(values: set[Any]) -> object:
    """A value that is one of these."""
    return next(iter(values)) if len(values) == 1 else OneOf(tuple(sorted(values, key=repr)))


def echoed(cluster: str, name: str) -> Facts:
    """The names of the request."""
    return {("clusterName", ""): cluster, ("brokerName", ""): name}


def led(state: State) -> Facts:
    """The master of a state, as ext fields tell it."""
    return {
        MASTER: state.master,
        ADDRESS: state.address(state.master),
        MASTER_EPOCH: state.master_epoch,
        SET_EPOCH: state.set_epoch,
    }


def facts_of(step: ctl.AnyRequest, answer: Command, name: str = "") -> dict[Fact, object]:
    """What an answer says; of several names, what it says of this one."""
    found: dict[Fact, object] = {CODE: answer.code}
    for field, fact in _EXT.items():
        if field in (answer.ext or {}) or fact not in found:
            text = (answer.ext or {}).get(field)
            found[fact] = text if field in _TEXTS else _number(text)
    match step:
        case ctl.RegisterReplica() | ctl.ReplicaInfo() | ctl.AlterInSync() | ctl.Elect():
            found |= _set(_parsed(answer.body))
        case ctl.SyncStateData():
            found |= _data(_parsed(answer.body), name)
        case ctl.Controllers():
            found |= _controllers(answer.ext or {})
        case ctl.ControllerSettings():
            found[SETTING] = _setting(answer.body)
    return found


def differences(expected: Facts, seen: Facts) -> tuple[Difference, ...]:
    """In what an answer is not as expected. Behind another code nothing is compared."""
    found = []
    for fact, value in expected.items():
        actual = seen.get(fact)
        if value == actual or (isinstance(value, OneOf) and actual in value.values):
            continue
        aspect, about = fact
        presence = "missing" if actual is None else "surplus" if value is None else "other"
        found.append(Difference(aspect, about, presence, shown(fact, value), shown(fact, actual)))  # type: ignore[arg-type]
        if fact == CODE:
            break
    return tuple(found)


def shown(fact: Fact, value: object) -> str:
    """A fact for people."""
    if isinstance(value, OneOf):
        return " or ".join(shown(fact, one) for one in value.values)
    if fact == CODE and isinstance(value, int):
        return f"code {value} ({response_name(value)})"
    return "none" if value is None else str(value)


def _number(text: str | None) -> object:
    try:
        return None if text is None else int(text)
    except ValueError:
        return text


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = json_value(body) if body else {}
    except (ParseError, WireError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sorted(value: object) -> object:
    try:
        return tuple(sorted(value))  # type: ignore[call-overload]
    except TypeError:
        return None


def _set(body: Mapping[str, Any]) -> dict[Fact, object]:
    group = body.get("brokerMemberGroup")
    addresses = group.get("brokerAddrs") if isinstance(group, dict) else None
    return {
        IN_SYNC: _sorted(body.get("syncStateSet")),
        SET_EPOCH_OF_BODY: body.get("syncStateSetEpoch"),
        MEMBERS: _members(addresses.items()) if isinstance(addresses, dict) else None,
    }


def _members(pairs: Any) -> object:
    return tuple(sorted((str(number), str(address)) for number, address in pairs))


def members_of(state: State) -> object:
    """The replicas of a name, as answers list them."""
    return _members((number, member.address) for number, member in state.members)


def _data(body: Mapping[str, Any], name: str) -> dict[Fact, object]:
    table = body.get("replicasInfoTable")
    of_name = table.get(name) if isinstance(table, dict) else None
    if not isinstance(of_name, dict):
        return {LISTED: False}
    in_sync = [one for one in of_name.get("inSyncReplicas") or () if isinstance(one, dict)]
    others = [one for one in of_name.get("notInSyncReplicas") or () if isinstance(one, dict)]
    found: dict[Fact, object] = {
        LISTED: True,
        MASTER: of_name.get("masterBrokerId"),
        ADDRESS: of_name.get("masterAddress"),
        MASTER_EPOCH: of_name.get("masterEpoch"),
        SET_EPOCH: of_name.get("syncStateSetEpoch"),
        IN_SYNC: _sorted(one.get("brokerId") for one in in_sync),
        MEMBERS: _members((one.get("brokerId"), one.get("brokerAddress")) for one in [*in_sync, *others]),
    }
    return found | {("alive", str(one.get("brokerId"))): one.get("alive") for one in [*in_sync, *others]}


def _controllers(ext: Mapping[str, str | None]) -> dict[Fact, object]:
    leader, where = ext.get("controllerLeaderId"), ext.get("controllerLeaderAddress")
    peers = (ext.get("peers") or "").split(";")
    return {LEADS: ext.get("isLeader"), PEERS: f"{leader}:{where}" in peers}


def _setting(body: bytes) -> object:
    try:
        return Properties.decode(body).pairs.get(UNCLEAN)
    except WireError:
        return None


class Reply(msgspec.Struct, frozen=True):
    """One of the answers that are right, and what the name is after it."""

    facts: Facts
    state: State
