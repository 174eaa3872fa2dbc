"""What a request may be answered in one of the possible states of its name, and what the name is then.

Where several refusals apply, a server may give any of them: the catalogue says no order.

Sources: `ReplicasInfoManager`, `DefaultBrokerHeartbeatManager`; statements ns.controller.*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from harness.program.names import Names
from harness.program.nameserver import controller_steps as ctl
from harness.program.nameserver.controller_frames import check_code_of
from harness.spec.nameserver.controller.elections import Elections
from harness.spec.nameserver.controller.facts import (
    ADDRESS,
    CODE,
    IN_SYNC,
    LISTED,
    MASTER,
    MASTER_EPOCH,
    MEMBERS,
    NEXT,
    SET_EPOCH,
    SET_EPOCH_OF_BODY,
    Fact,
    Reply,
    echoed,
    led,
    members_of,
    one_of,
)
from harness.spec.nameserver.controller.state import (
    BY_DEFAULT,
    FIRST_ID,
    LOWEST,
    Live,
    Member,
    Pending,
    State,
)
from harness.wire import ResponseCode

SUCCESS: Final = int(ResponseCode.SUCCESS)
_ID_INVALID: Final = int(ResponseCode.CONTROLLER_BROKER_ID_INVALID)
_NOT_REGISTERED: Final = int(ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED)
_UNKNOWN: Final = int(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST)
_NOT_ALTERED: Final = int(ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED)
_OTHER_MASTER: Final = int(ResponseCode.CONTROLLER_INVALID_MASTER)
_OTHER_EPOCH: Final = int(ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH)
_OTHER_SET: Final = int(ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH)
_NO_REPLICA: Final = int(ResponseCode.CONTROLLER_INVALID_REPLICAS)
_NOT_ALIVE: Final = int(ResponseCode.CONTROLLER_BROKER_NOT_ALIVE)
_STILL_EXISTS: Final = int(ResponseCode.CONTROLLER_MASTER_STILL_EXIST)
_NOT_ELECTED: Final = int(ResponseCode.CONTROLLER_ELECT_MASTER_FAILED)
_NOT_CLEANED: Final = int(ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA)
_NO_ID: Final = int(ResponseCode.CONTROLLER_INVALID_REQUEST)

REQUIRED: Final[Mapping[type, Mapping[str, int]]] = {
    ctl.NextId: {"brokerName": 1},
    ctl.ApplyId: dict.fromkeys(("brokerName", "appliedBrokerId", "registerCheckCode"), 1),
    ctl.RegisterReplica: dict.fromkeys(("brokerId", "brokerAddress"), 1),
    ctl.ReplicaBeat: {"brokerId": _NO_ID},
    ctl.AlterInSync: {"brokerName": 1},
    ctl.ReplicaInfo: {"brokerName": 1},
}
"""Fields without which a request is refused, with the code."""


class Requests:
    """By one server, whose names are made by ``names``."""

    def __init__(self, elections: Elections, names: Names) -> None:
        self._elections = elections
        self._names = names

    def carried_out(self, state: State, late: Pending, end: float) -> list[State]:
        """What a request whose answer is not known may make of a state."""
        assert late.step is not None
        found = self.replies(state, late.step, late.begin, end, conn=late.conn)
        return [state] if found is None else [one.state for one in found]

    def replies(
        self, state: State, step: ctl.AnyRequest, begin: float, end: float, *, conn: str
    ) -> list[Reply] | None:
        """The replies that are right; ``conn`` is the connection. None: the catalogue says nothing."""
        refused = [code for field, code in REQUIRED.get(type(step), {}).items() if field in step.drop]
        if refused:
            others = self._refusals(state, step, begin, end, conn)
            return [_refused(refused[0], state), *others]
        if step.drop:
            return None
        match step:
            case ctl.NextId():
                number = state.given + FIRST_ID if state.known else FIRST_ID
                return [Reply({CODE: SUCCESS, NEXT: number, **self._echoed(step)}, state)]
            case ctl.ApplyId():
                return [self._applied(state, step)]
            case ctl.RegisterReplica():
                return self._registered(state, step, begin, end)
            case ctl.ReplicaBeat():
                return [Reply({CODE: SUCCESS}, self._heard(state, step, begin, end, conn))]
            case ctl.Elect():
                return self._elected(state, step, begin, end)
            case ctl.AlterInSync():
                return self._altered(state, step, begin, end)
            case ctl.ReplicaInfo():
                return [_told(state) if state.known else _refused(_UNKNOWN, state)]
            case ctl.SyncStateData():
                return [self._listed(state, begin, end)]
            case ctl.CleanReplicas():
                return self._cleaned(state, step, begin, end)
        return [Reply({CODE: SUCCESS}, state)]

    def _refusals(
        self, state: State, step: ctl.AnyRequest, begin: float, end: float, conn: str
    ) -> list[Reply]:
        """Those of a request without some fields that it would get with them, if it says which replica it is
        about.
        """
        if {"brokerName", "brokerId"}.intersection(step.drop):
            return []
        whole = self.replies(state, msgspec.structs.replace(step, drop=()), begin, end, conn=conn)
        return [one for one in whole or () if one.facts[CODE] != SUCCESS]

    def _echoed(self, step: ctl.NextId | ctl.ApplyId | ctl.RegisterReplica) -> Mapping[Fact, object]:
        return echoed(self._names.name(step.cluster), self._names.name(step.broker))

    # --- ids ------------------------------------------------------------------------------------------------

    def _applied(self, state: State, step: ctl.ApplyId) -> Reply:
        code, address = check_code_of(step, self._names), self._names.address(step.address)
        success = {CODE: SUCCESS, **self._echoed(step)}
        if not state.known and step.id != FIRST_ID:
            return _refused(_ID_INVALID, state)
        known = state.member(step.id)
        if known is not None:
            return Reply(success, state) if known.check_code == code else _refused(_ID_INVALID, state)
        after = state
        if not state.known:
            after = msgspec.structs.replace(after, known=True, cluster=self._names.name(step.cluster))
        after = msgspec.structs.replace(after, given=after.given + 1, was="applied")
        return Reply(success, after.with_member(step.id, Member(address, code)))

    def _registered(self, state: State, step: ctl.RegisterReplica, begin: float, end: float) -> list[Reply]:
        member = state.member(step.id)
        if not state.known or member is None:
            return [_refused(_NOT_REGISTERED, state)]
        address = self._names.address(step.address)
        after = state
        if member.address != address:
            moved = state.with_member(step.id, msgspec.structs.replace(member, address=address))
            after = msgspec.structs.replace(moved, was="moved")
        common = {
            CODE: SUCCESS,
            **self._echoed(step),
            IN_SYNC: tuple(sorted(state.in_sync)),
            SET_EPOCH_OF_BODY: state.set_epoch,
        }
        told: dict[bool, Mapping[Fact, object]] = {
            False: dict.fromkeys((MASTER, ADDRESS, MASTER_EPOCH, SET_EPOCH)),
            True: {
                **led(state),
                ADDRESS: one_of({state.address(state.master), after.address(state.master)}),
            },
        }
        alive = self._elections.lives(state, state.master, begin, end)
        return [Reply({**common, **told[one]}, after) for one in alive]

    # --- heartbeats -----------------------------------------------------------------------------------------

    def _heard(self, state: State, step: ctl.ReplicaBeat, begin: float, end: float, conn: str) -> State:
        identity = (self._names.name(step.cluster), step.id)
        before = state.heard(step.id, identity[0])
        said = (_or(step.log_epoch, -1), _or(step.log_end, -1))
        known = said if before is None else max(said, (before.epoch, before.log_end))
        return state.with_live(
            identity,
            Live(
                begin,
                end,
                BY_DEFAULT if step.lasts is None else step.lasts / 1000,
                frozenset((conn,)) | (frozenset() if before is None else before.conns),
                *known,
                _or(step.priority, LOWEST),
            ),
        )

    # --- masters --------------------------------------------------------------------------------------------

    def _elected(self, state: State, step: ctl.Elect, begin: float, end: float) -> list[Reply] | None:
        if not state.known:
            return [_refused(_NOT_REGISTERED, state)]
        if state.master_epoch == 0:  # Apache's elects an id that is not taken, too: a quirk
            return [self._led(state, step.id, "first")] if state.member(step.id) is not None else None
        found: list[Reply] = []
        alive = self._elections.lives(state, state.master, begin, end)
        is_other = step.designate and step.id != state.master
        if True in alive and not is_other:
            found.append(self._stayed(state))
        if step.designate and is_other:
            able = self._elections.can_be_demanded(state, step.id, begin, end)
            found += [self._led(state, step.id, "demanded")] if True in able else []
            found += [_refused(_NOT_ELECTED, state)] if False in able else []
        elif step.designate:
            found += [_refused(_NOT_ELECTED, state)] if False in alive else []
        elif False in alive:
            winners = self._elections.winners(state, begin, end)
            found += [
                _refused(_NOT_ELECTED, state) if one is None else self._led(state, one, "asked")
                for one in winners
            ]
        return found

    def _led(self, state: State, number: int, was: str) -> Reply:
        after = state.led_by(number, was)
        facts = {CODE: SUCCESS, **led(after), IN_SYNC: (number,), MEMBERS: members_of(after)}
        return Reply(facts, after)

    def _stayed(self, state: State) -> Reply:
        return Reply({CODE: _STILL_EXISTS, **led(state), IN_SYNC: tuple(sorted(state.in_sync))}, state)

    def _altered(self, state: State, step: ctl.AlterInSync, begin: float, end: float) -> list[Reply]:
        if not state.known:
            return [_refused(_NOT_ALTERED, state)]
        wanted = frozenset(step.ids)
        alive = [self._elections.lives(state, one, begin, end) for one, _ in state.members if one in wanted]
        reasons = {
            _OTHER_MASTER: state.master != step.id,
            _OTHER_EPOCH: state.master_epoch != step.master_epoch,
            _OTHER_SET: state.set_epoch != step.set_epoch,
            _NO_REPLICA: any(state.member(one) is None for one in wanted),
            _NOT_ALIVE: any(True not in one for one in alive),
            _NOT_ALTERED: wanted == state.in_sync or state.master not in wanted,
        }
        found = [_refused(code, state) for code, holds in reasons.items() if holds]
        may_be_dead = not reasons[_NOT_ALIVE] and any(False in one for one in alive)
        if not found:
            after = msgspec.structs.replace(
                state, in_sync=wanted, set_epoch=state.set_epoch + 1, was="altered"
            )
            facts = {
                CODE: SUCCESS,
                SET_EPOCH: after.set_epoch,
                SET_EPOCH_OF_BODY: after.set_epoch,
                IN_SYNC: tuple(sorted(wanted)),
            }
            found.append(Reply(facts, after))
        return [*found, _refused(_NOT_ALIVE, state)] if may_be_dead else found

    # --- what is shown and forgotten ------------------------------------------------------------------------

    def _listed(self, state: State, begin: float, end: float) -> Reply:
        if not state.known:
            return Reply({CODE: SUCCESS, LISTED: False}, state)
        lives = {
            ("alive", str(one)): one_of(self._elections.lives(state, one, begin, end))
            for one, _ in state.members
        }
        shown = {
            CODE: SUCCESS,
            LISTED: True,
            MEMBERS: members_of(state),
            **lives,
            **led(state),
            IN_SYNC: tuple(sorted(state.in_sync)),
        }
        return Reply(shown, state)

    def _cleaned(self, state: State, step: ctl.CleanReplicas, begin: float, end: float) -> list[Reply] | None:
        if not state.known:
            return [_refused(_NOT_CLEANED, state)]
        if step.living:
            return [Reply({CODE: SUCCESS}, state.forgotten("forced"))]
        parts = [one for one in (step.ids or "").split(";") if one]
        if not all(one.isascii() and one.isdecimal() for one in parts):
            return [_refused(_NOT_CLEANED, state)]
        numbers = frozenset(map(int, parts))
        if not numbers and state.master is not None:
            return [_refused(_NOT_CLEANED, state)]
        cluster = self._names.name(step.cluster)
        heard = [live for one in numbers if (live := state.heard(one, cluster)) is not None]
        found = []
        if any(self._elections.may_live(live, begin) for live in heard):
            found.append(_refused(_NOT_CLEANED, state))
        if not any(self._elections.surely_lives(live, end) for live in heard):
            after = self._without(state, numbers)
            if after is None:
                return None
            found.append(Reply({CODE: SUCCESS}, after))
        return found

    def _without(self, state: State, numbers: frozenset[int]) -> State | None:
        """A name without replicas. None: what becomes of one that loses its master is not said, and Apache's
        forgets one whose set in sync is empty then: a quirk.
        """
        left = state.without_members(numbers)
        if not numbers or not left.members:
            return state.forgotten("cleaned")
        return None if state.master in numbers or not left.in_sync else left


def _told(state: State) -> Reply:
    facts = {
        CODE: SUCCESS,
        **led(state),
        IN_SYNC: tuple(sorted(state.in_sync)),
        SET_EPOCH_OF_BODY: state.set_epoch,
    }
    del facts[SET_EPOCH]
    return Reply(facts, state)


def _refused(code: int, state: State) -> Reply:
    return Reply({CODE: code}, state)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
