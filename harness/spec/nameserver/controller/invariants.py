"""The invariants of a controller by name, and which of them a difference speaks of most plainly.

As in `harness.spec.nameserver.invariants`: names are stable, as findings are found again by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.program.nameserver import controller_steps as ctl
from harness.spec.nameserver.controller.facts import (
    ADDRESS,
    CODE,
    IN_SYNC,
    MASTER,
    MASTER_EPOCH,
    SET_EPOCH,
    Reply,
)
from harness.spec.nameserver.controller.requests import SUCCESS
from harness.spec.nameserver.controller.state import State
from harness.spec.nameserver.invariants import INVARIANTS, Invariant
from harness.spec.observation import Difference
from harness.wire import ResponseCode

_NAMES: Final = (
    "next-id-goes-up",
    "id-belongs-to-who-took-it",
    "first-id-is-one",
    "any-free-id-can-be-taken",
    "state-survives-a-restart",
    "state-survives-a-kill",
    "registration-tells-the-master",
    "registration-moves-the-address",
    "dead-master-is-not-told",
    "unknown-brokers-are-refused",
    "missing-fields-are-refused",
    "heartbeat-counts-for-its-time",
    "heartbeat-counts-ten-seconds-by-default",
    "heartbeat-needs-an-id",
    "heartbeat-is-of-one-id-of-one-cluster",
    "end-of-connection-ends-life",
    "connection-of-an-expired-broker-is-closed",
    "first-to-ask-is-elected",
    "living-master-stays",
    "designated-broker-is-elected",
    "designated-broker-must-be-able",
    "lost-master-is-replaced",
    "expired-master-is-replaced",
    "longest-log-is-elected",
    "offsets-far-apart-are-compared",
    "brokers-out-of-sync-are-not-elected",
    "unclean-elections-are-allowed-online",
    "returning-broker-in-sync-is-elected",
    "master-alters-the-in-sync-set",
    "only-the-master-alters-it",
    "other-epochs-are-fenced",
    "in-sync-brokers-are-known-and-live",
    "in-sync-set-changes-and-has-the-master",
    "replica-info-shows-the-master",
    "sync-state-data-shows-every-broker",
    "broker-is-forgotten",
    "living-broker-is-not-forgotten",
    "name-is-forgotten-by-force",
    "ids-to-forget-are-numbers",
    "settings-are-changed",
    "protected-settings-are-kept",
    "sync-state-data-needs-names",
    "metadata-names-the-leader",
    "names-beyond-ascii-are-kept",
)
CONTROLLER_INVARIANTS: Final = {
    name: Invariant(f"controller-{name}", f"ns.controller.{name}") for name in _NAMES
}
"""By name. Each is the statement of the chapter that is called so."""

ANSWERED: Final = INVARIANTS["every-request-is-answered"]
READABLE: Final = INVARIANTS["answers-are-commands"]
UNHARMED: Final = INVARIANTS["requests-harm-no-other-connection"]

_OF_MASTER: Final = (MASTER[0], ADDRESS[0], MASTER_EPOCH[0], IN_SYNC[0], SET_EPOCH[0])
_FORGOTTEN: Final = {"cleaned": "broker-is-forgotten", "forced": "name-is-forgotten-by-force"}
_RESTARTED: Final = {"term": "state-survives-a-restart", "kill": "state-survives-a-kill"}
_BY_WHAT_WAS: Final = {
    **_FORGOTTEN,
    **_RESTARTED,
    "moved": "registration-moves-the-address",
    "first": "first-to-ask-is-elected",
    "demanded": "designated-broker-is-elected",
    "asked": "returning-broker-in-sync-is-elected",
    "lost": "lost-master-is-replaced",
    "expired": "expired-master-is-replaced",
    "missed": "returning-broker-in-sync-is-elected",
    "again": "lost-master-is-replaced",
    "none": "brokers-out-of-sync-are-not-elected",
    "unclean": "unclean-elections-are-allowed-online",
    "altered": "master-alters-the-in-sync-set",
}
"""The invariant that what is shown of a master speaks of, by what was done last."""
_OF_ALTERING: Final = {
    int(ResponseCode.CONTROLLER_INVALID_MASTER): "only-the-master-alters-it",
    int(ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH): "other-epochs-are-fenced",
    int(ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH): "other-epochs-are-fenced",
    int(ResponseCode.CONTROLLER_INVALID_REPLICAS): "in-sync-brokers-are-known-and-live",
    int(ResponseCode.CONTROLLER_BROKER_NOT_ALIVE): "in-sync-brokers-are-known-and-live",
    int(ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED): "in-sync-set-changes-and-has-the-master",
    SUCCESS: "master-alters-the-in-sync-set",
}
_OF_DEATH: Final = {
    "lost": "end-of-connection-ends-life",
    "expired": "heartbeat-counts-for-its-time",
}
_OF_UNKNOWN: Final[Mapping[type, int]] = {
    ctl.ReplicaInfo: int(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST),
    ctl.RegisterReplica: int(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED),
    ctl.Elect: int(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED),
}
_OF_READING: Final = {
    ctl.NextId: "next-id-goes-up",
    ctl.ReplicaInfo: "replica-info-shows-the-master",
    ctl.SyncStateData: "sync-state-data-shows-every-broker",
    ctl.Controllers: "metadata-names-the-leader",
    ctl.ControllerSettings: "settings-are-changed",
    ctl.AllowUnclean: "settings-are-changed",
    ctl.ReplicaBeat: "heartbeat-counts-for-its-time",
}


def name_of(one: Difference, reply: Reply, before: State, step: ctl.AnyRequest) -> str:
    """The invariant that a difference from a reply speaks of, which is right in the state ``before``."""
    expected, state = reply.facts[CODE], reply.state
    assert isinstance(expected, int)
    if step.drop:
        return "heartbeat-needs-an-id" if isinstance(step, ctl.ReplicaBeat) else "missing-fields-are-refused"
    if isinstance(step, ctl.SyncStateData) and not step.brokers:
        return "sync-state-data-needs-names"
    if isinstance(step, ctl.AllowUnclean) and expected != SUCCESS:
        return "protected-settings-are-kept"
    if one.aspect == "code":
        if before.was in _RESTARTED and _has_forgotten(one, step):
            return _RESTARTED[before.was]
        return _of_code(expected, reply.state, before, step)
    if one.aspect in ("clusterName", "brokerName"):
        return "next-id-goes-up" if one.expected.isascii() else "names-beyond-ascii-are-kept"
    if one.aspect == "alive":
        return _of_life(one, state)
    if one.aspect == "members":
        moved = "registration-moves-the-address" if state.was == "moved" else "id-belongs-to-who-took-it"
        if isinstance(step, ctl.Elect):
            return "first-to-ask-is-elected"
        return (_FORGOTTEN | _RESTARTED).get(state.was, moved)
    if isinstance(step, ctl.NextId):
        return (_FORGOTTEN | _RESTARTED).get(state.was, "next-id-goes-up")
    if one.aspect in _OF_MASTER:
        return _of_master(one, reply, before, step)
    return _OF_READING.get(type(step), "replica-info-shows-the-master")


def _has_forgotten(one: Difference, step: ctl.AnyRequest) -> bool:
    """Whether a code is that of a controller that does not know the name, or the id, any more."""
    code = SUCCESS if isinstance(step, ctl.ApplyId) else _OF_UNKNOWN.get(type(step))
    return code is not None and one.actual.startswith(f"code {code} ")


def _of_code(expected: int, after: State, state: State, step: ctl.AnyRequest) -> str:
    is_known = state.known
    match step:
        case ctl.ApplyId():
            if not is_known:
                return _FORGOTTEN.get(state.was, "first-id-is-one")
            is_free = state.member(step.id) is None
            return "any-free-id-can-be-taken" if is_free else "id-belongs-to-who-took-it"
        case ctl.RegisterReplica():
            return "registration-tells-the-master" if expected == SUCCESS else "unknown-brokers-are-refused"
        case ctl.Elect():
            return _of_election(expected, after, state, step)
        case ctl.AlterInSync() if is_known:
            return _OF_ALTERING[expected]
        case ctl.CleanReplicas() if is_known:
            if step.ids is not None and not step.ids.replace(";", "").isdecimal():
                return "ids-to-forget-are-numbers"
            if expected != SUCCESS:
                return "living-broker-is-not-forgotten"
            return "name-is-forgotten-by-force" if step.living else "broker-is-forgotten"
    if not is_known:
        return _FORGOTTEN.get(state.was, "unknown-brokers-are-refused")
    return _OF_READING.get(type(step), "unknown-brokers-are-refused")


def _of_election(expected: int, after: State, state: State, step: ctl.Elect) -> str:
    if not state.known:
        return _FORGOTTEN.get(state.was, "unknown-brokers-are-refused")
    if expected == ResponseCode.CONTROLLER_MASTER_STILL_EXIST:
        return "living-master-stays"
    if state.master_epoch == 0 and expected == SUCCESS:
        return "first-to-ask-is-elected"
    if step.designate:
        return "designated-broker-is-elected" if expected == SUCCESS else "designated-broker-must-be-able"
    if expected != SUCCESS:
        return "brokers-out-of-sync-are-not-elected"
    return _BY_WHAT_WAS.get(after.was, "returning-broker-in-sync-is-elected")


def _of_master(one: Difference, reply: Reply, before: State, step: ctl.AnyRequest) -> str:
    expected, state = reply.facts[CODE], reply.state
    assert isinstance(expected, int)
    match step:
        case ctl.RegisterReplica() if one.expected == "none":
            return "dead-master-is-not-told"
        case ctl.RegisterReplica() if state.was not in _RESTARTED:
            return "registration-tells-the-master"
        case ctl.Elect():
            is_other = one.aspect == MASTER[0] and state.was == "asked"
            return "longest-log-is-elected" if is_other else _of_election(expected, state, before, step)
        case ctl.AlterInSync():
            return "master-alters-the-in-sync-set"
    is_other = one.aspect == MASTER[0] and "none" not in (one.expected, one.actual)
    if state.was in ("lost", "expired", "missed", "again") and is_other and one.actual.isdecimal():
        rival, winner = state.heard(int(one.actual)), state.heard(state.master or 0)
        if rival is not None and winner is not None:
            is_far = abs(rival.log_end - winner.log_end) >= 1 << 31
            return "offsets-far-apart-are-compared" if is_far else "longest-log-is-elected"
    return _BY_WHAT_WAS.get(state.was, _OF_READING.get(type(step), "replica-info-shows-the-master"))


def _of_life(one: Difference, state: State) -> str:
    number = int(one.name)
    live = state.heard(number)
    if live is not None and live.lasts == 10.0 and one.expected == "True":
        return "heartbeat-counts-ten-seconds-by-default"
    if live is None and one.expected == "False":
        why = dict(state.fell).get((state.cluster, number), "")
        if state.was in _RESTARTED and not why:
            return _RESTARTED[state.was]
        return _OF_DEATH.get(why, "heartbeat-is-of-one-id-of-one-cluster")
    return "heartbeat-counts-for-its-time"
