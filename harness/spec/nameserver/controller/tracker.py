"""What is known of a controller, and what an observation shows to be wrong.

- For each broker name a set of possible states is kept (`state`). What may have come to pass by itself adds
  to it (`passing`), what is seen thins it, and if nothing is left of it the catalogue is violated.
- A name of which too much is possible, of which something was wrong, or with which something was done that
  the catalogue does not speak of, is judged no more.
- Observations are given in the order of their numbers, as to `harness.spec.nameserver.tracker`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final, NamedTuple

import msgspec

from harness.program.names import Names
from harness.program.nameserver import controller_steps as ctl
from harness.program.nameserver.controller_steps import ControllerRequest
from harness.program.step import Close, Reconnect, Restart, Time
from harness.spec.nameserver.controller.elections import Elections
from harness.spec.nameserver.controller.facts import (
    CODE,
    LEADS,
    PEERS,
    SETTING,
    Facts,
    Reply,
    differences,
    facts_of,
    one_of,
    shown,
)
from harness.spec.nameserver.controller.invariants import (
    ANSWERED,
    CONTROLLER_INVARIANTS,
    READABLE,
    UNHARMED,
    name_of,
)
from harness.spec.nameserver.controller.passing import SCAN, Passing
from harness.spec.nameserver.controller.requests import SUCCESS, Requests
from harness.spec.nameserver.controller.state import BY_DEFAULT, Pending, State
from harness.spec.nameserver.invariants import Invariant
from harness.spec.nameserver.terms import Terms
from harness.spec.observation import (
    Answered,
    Difference,
    Ended,
    Garbled,
    Observation,
    Unanswered,
    Violation,
)
from harness.wire import Command, ResponseCode

_GAVE_UP: Final = "java.util.concurrent.TimeoutException"
"""In the remark of Apache's, whose controller waits for its log 5 s of its time: nothing is known then."""


class _Beat(msgspec.Struct, frozen=True):
    """The latest heartbeat of a replica over a connection: when it may have run out, and when the server has
    surely ended the connection because of that.
    """

    since: float
    until: float


class ControllerTracker:
    """Judges what is observed of one controller. ``jitter``: protocol seconds by which it may act late."""

    def __init__(self, profile: str, names: Names, *, jitter: float = 0.0) -> None:
        self.judged: dict[int, frozenset[str]] = {}
        """None: it is not counted what answers were held against."""
        terms = Terms(profile, names, jitter=jitter)
        self._names = names
        self._profile = profile
        self._prompt = terms.prompt
        self._elections = Elections(terms.early, terms.prompt, jitter)
        self._requests = Requests(self._elections, names)
        self._passing = Passing(self._elections, self._requests.carried_out)
        self._states: dict[str, frozenset[State]] = {}
        """By broker symbol: names are new, so that nothing is known of them at first."""
        self._untracked: set[str] = set()
        self._serials: dict[str, int] = {}
        """How many connections a symbol has stood for."""
        self._aliases: dict[str, str] = {}
        self._beats: dict[str, dict[tuple[str, str, int], _Beat]] = {}
        """By connection."""
        self._last = 0.0

    @property
    def possible(self) -> int:
        """In how many states the name is of which most is open."""
        return max((len(states) for states in self._states.values()), default=1)

    @property
    def untracked(self) -> frozenset[str]:
        """Symbols of the names that are judged no more."""
        return frozenset(self._untracked)

    def observe(self, seen: Observation) -> list[Violation]:
        """Takes in what was seen and gives what the catalogue does not allow of it."""
        step = seen.step
        violations = self._catch_up(seen)
        match step:
            case Time():
                pass
            case Close():
                violations += self._closed(step, seen)
            case Reconnect():
                self._aliases[step.old] = self._conn(step.conn)
                self._renew(step.conn)
            case Restart():
                self._restarted(step)
            case ControllerRequest():
                violations += self._asked(step, seen)
            case _:
                raise ValueError("what is no request to a controller is judged elsewhere")
        return violations

    # --- time -----------------------------------------------------------------------------------------------

    def _catch_up(self, seen: Observation) -> list[Violation]:
        """What may have come to pass by itself since."""
        for broker, states in list(self._states.items()):
            found = self._passing.caught_up(states, self._last, seen.invoked, seen.returned)
            if found:
                self._states[broker] = found
            else:  # too many, or an answer that came late was taken for one of another moment
                self._leave(broker)
        self._last = seen.invoked
        return []

    def _leave(self, broker: str) -> None:
        self._untracked.add(broker)
        self._states.pop(broker, None)

    def _of(self, broker: str) -> frozenset[State]:
        return self._states.setdefault(broker, frozenset((State(),)))

    # --- connections ----------------------------------------------------------------------------------------

    def _conn(self, symbol: str) -> str:
        return self._aliases.get(symbol) or f"{symbol}#{self._serials.get(symbol, 0)}"

    def _renew(self, symbol: str) -> None:
        self._aliases.pop(symbol, None)
        self._serials[symbol] = self._serials.get(symbol, 0) + 1

    def _closed(self, step: Close, seen: Observation) -> list[Violation]:
        conn = self._conn(step.conn)
        is_ended = isinstance(seen.outcome, Ended)
        violations = self._ended(conn, seen) if is_ended else []
        if is_ended and not violations and len(self._beats[conn]) == 1:
            del self._beats[conn]  # the end of a replica that has run out: nothing more comes of it
        else:
            self._lose(conn, seen)
        self._renew(step.conn)
        return violations

    def _lose(self, conn: str, seen: Observation) -> None:
        """The server learns that a connection has ended."""
        self._beats.pop(conn, None)
        end = Pending("end", seen.invoked, seen.returned + self._prompt, conn=conn)
        for broker, states in self._states.items():
            self._states[broker] = frozenset(
                one.expecting(end)
                if any(conn in live.conns for _, live in one.live)
                or any(pending.what == "request" for pending in one.pending)
                else one
                for one in states
            )

    def _ended(self, conn: str, seen: Observation) -> list[Violation]:
        """The server has ended a connection: it does where a heartbeat that came over it has run out."""
        beats = self._beats.get(conn, {}).values()
        if any(beat.since <= seen.returned for beat in beats):
            return []
        invariant = CONTROLLER_INVARIANTS["heartbeat-counts-for-its-time"] if beats else UNHARMED
        return [self._plain(invariant, "a connection that stays open", "the target ended it", seen)]

    def _restarted(self, step: Restart) -> None:
        self._elections.unclean |= {False}  # what was changed need not have been written down
        self._beats.clear()
        self._aliases.clear()
        for broker, states in self._states.items():
            self._states[broker] = frozenset(
                msgspec.structs.replace(one, live=(), fell=(), pending=(), missed=inf, was=step.how)
                for one in states
            )

    def _allow_unclean(self, ways: frozenset[bool], seen: Observation) -> None:
        """Replicas out of sync are treated so from now on; elections that are due may be as before."""
        before = (self._elections.unclean, seen.returned + SCAN + 2 * self._prompt)
        for broker, states in self._states.items():
            self._states[broker] = frozenset(
                msgspec.structs.replace(one, before=before)
                if self._passing.is_due(one, seen.returned)
                else one
                for one in states
            )
        self._elections.unclean = ways

    # --- requests -------------------------------------------------------------------------------------------

    def _asked(self, step: ctl.AnyRequest, seen: Observation) -> list[Violation]:
        outcome = seen.outcome
        match outcome:
            case Answered() if _GAVE_UP not in (outcome.command.remark or ""):
                return self._answered(step, seen, outcome.command)
            case Garbled():
                self._unknown(step, seen)
                expected = "one command with the opaque of the request"
                actual = f"bytes that are no command: {outcome.problem}"
                return [self._plain(READABLE, expected, actual, seen)]
        self._unknown(step, seen)
        if isinstance(outcome, Ended):
            conn = self._conn(step.conn)
            violations = self._ended(conn, seen)
            self._lose(conn, seen)
            self._renew(step.conn)
            return violations
        if isinstance(outcome, Unanswered) and outcome.surely:
            return [self._plain(ANSWERED, "an answer", "none, though later ones came", seen)]
        return []

    def _unknown(self, step: ctl.AnyRequest, seen: Observation) -> None:
        """A request that may be carried out, or not."""
        if isinstance(step, ctl.AllowUnclean) and step.beside in ("", "long"):
            self._allow_unclean(self._elections.unclean | {step.allowed}, seen)
        match step:
            case ctl.NextId() | ctl.ReplicaInfo() | ctl.SyncStateData() | ctl.Controllers():
                return
            case ctl.AllowUnclean() | ctl.ControllerSettings():
                return
        if isinstance(step, ctl.ReplicaBeat) and not step.drop:
            self._note_beat(step, seen, is_sure=False)
        until, conn = seen.returned + self._prompt, self._conn(step.conn)
        late = Pending("request", seen.invoked, until, conn=conn, step=step)
        if step.broker not in self._untracked:
            states = frozenset(one.expecting(late) for one in self._of(step.broker))
            self._states[step.broker] = states

    def _answered(self, step: ctl.AnyRequest, seen: Observation, answer: Command) -> list[Violation]:
        if outlived := self._outlived(step.conn, seen):
            return outlived
        match step:
            case ctl.Controllers():
                return self._held({CODE: SUCCESS, LEADS: "true", PEERS: True}, step, seen, answer)
            case ctl.AllowUnclean():
                is_refused = step.beside not in ("", "long")
                code = int(ResponseCode.NO_PERMISSION) if is_refused else SUCCESS
                violations = self._held({CODE: code}, step, seen, answer)
                if not is_refused:
                    self._allow_unclean(frozenset((step.allowed,)), seen)
                return violations
            case ctl.ControllerSettings():
                values: set[object] = {"true" if one else "false" for one in self._elections.unclean}
                return self._held({CODE: SUCCESS, SETTING: one_of(values)}, step, seen, answer)
            case ctl.SyncStateData():
                return self._listed(step, seen, answer)
        violations = self._judged(step.broker, step, seen, answer)
        if isinstance(step, ctl.ReplicaBeat) and answer.code == ResponseCode.SUCCESS:
            self._note_beat(step, seen, is_sure=True)
        return violations

    def _listed(self, step: ctl.SyncStateData, seen: Observation, answer: Command) -> list[Violation]:
        if not step.brokers:
            return self._held({CODE: int(ResponseCode.SYSTEM_ERROR)}, step, seen, answer)
        violations: list[Violation] = []
        for broker in dict.fromkeys(step.brokers):
            violations += self._judged(broker, step, seen, answer)
        return violations[:1]

    def _judged(
        self, broker: str, step: ctl.AnyRequest, seen: Observation, answer: Command
    ) -> list[Violation]:
        """Holds what an answer says of a name against the states in which that may be."""
        if broker in self._untracked:
            return []
        said = facts_of(step, answer, self._names.name(broker))
        kept: set[State] = set()
        nearest: _Nearest | None = None
        for state in self._of(broker):
            replies = self._requests.replies(
                state, step, seen.invoked, seen.returned, conn=self._conn(step.conn)
            )
            if replies is None:
                self._leave(broker)
                return []
            for reply in replies:
                wrong = differences(reply.facts, said)
                if not wrong:
                    kept.add(reply.state)
                    self._note(reply, state, step, seen)
                elif nearest is None or _Nearest(wrong, reply, state).rank < nearest.rank:
                    nearest = _Nearest(wrong, reply, state)
        if kept or nearest is None:
            self._states[broker] = frozenset(kept)
            return []
        self._leave(broker)
        return [self._breach(nearest, step, seen)]

    def _held(
        self, expected: Facts, step: ctl.AnyRequest, seen: Observation, answer: Command
    ) -> list[Violation]:
        """Holds an answer that is about no name against what it must say."""
        wrong = differences(expected, facts_of(step, answer))
        reply = Reply(expected, State())
        if wrong:
            return [self._breach(_Nearest(wrong, reply, State()), step, seen)]
        self._note(reply, State(), step, seen)
        return []

    def _note(self, right: Reply, before: State, step: ctl.AnyRequest, seen: Observation) -> None:
        """The statements that a right answer was held against: those of which a difference would tell."""
        found = frozenset(
            CONTROLLER_INVARIANTS[name_of(one, right, before, step)].statement
            for fact, value in right.facts.items()
            for one in differences({fact: value}, {})
        )
        self.judged[seen.number] = self.judged.get(seen.number, frozenset()) | found

    # --- heartbeats -----------------------------------------------------------------------------------------

    def _note_beat(self, step: ctl.ReplicaBeat, seen: Observation, *, is_sure: bool) -> None:
        conn, identity = self._conn(step.conn), (step.broker, step.cluster, step.id)
        lasts = BY_DEFAULT if step.lasts is None else step.lasts / 1000
        of_conn = self._beats.setdefault(conn, {})
        is_alone = not of_conn or list(of_conn) == [identity]
        for other, beats in self._beats.items():
            if other != conn and identity in beats:
                is_alone = False
                beats[identity] = msgspec.structs.replace(beats[identity], until=inf)
        until = seen.returned + lasts + self._elections.early + SCAN + self._prompt
        since, known = seen.invoked + lasts - self._elections.early, of_conn.get(identity)
        if known is not None and (known.until == inf or not is_sure):
            since = min(since, known.since)  # the earlier heartbeat may be the one that counts
            is_alone = False
        of_conn[identity] = _Beat(since, until if is_alone and is_sure else inf)

    def _outlived(self, symbol: str, seen: Observation) -> list[Violation]:
        """An answer over a connection that the server must have ended, as its replica has run out."""
        beats: Mapping[tuple[str, str, int], _Beat] = self._beats.get(self._conn(symbol), {})
        if not any(beat.until < seen.invoked for beat in beats.values()):
            return []
        invariant = CONTROLLER_INVARIANTS["connection-of-an-expired-broker-is-closed"]
        return [self._plain(invariant, "a connection that the target has ended", "an answer over it", seen)]

    # --- breaches -------------------------------------------------------------------------------------------

    def _plain(self, invariant: Invariant, expected: str, actual: str, seen: Observation) -> Violation:
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected=expected,
            actual=actual,
            number=seen.number,
        )

    def _breach(self, nearest: _Nearest, step: ctl.AnyRequest, seen: Observation) -> Violation:
        """The breach that the differences from the nearest of the right answers show."""
        wrong, reply, before = nearest
        invariant = CONTROLLER_INVARIANTS[name_of(wrong[0], reply, before, step)]
        found = self._plain(
            invariant,
            "; ".join(_said(one, one.expected) for one in wrong[:4]),
            "; ".join(_said(one, one.actual) for one in wrong[:4]),
            seen,
        )
        return msgspec.structs.replace(found, differences=wrong)


class _Nearest(NamedTuple):
    """A right reply, in what an answer differs from it, and the state that it is right in."""

    wrong: tuple[Difference, ...]
    reply: Reply
    before: State

    @property
    def rank(self) -> tuple[object, ...]:
        """The nearest has the least: the same code, few differences; else the later state, so that chance
        decides nothing.
        """
        after = self.reply.state
        ages = (-after.master_epoch, -after.set_epoch)
        code = shown(CODE, self.reply.facts[CODE])
        last = (after.was, str(self.wrong), str(after))
        return (self.wrong[0].aspect == "code", len(self.wrong), *ages, code, *last)


def _said(one: Difference, text: str) -> str:
    if one.aspect == "code":
        return text
    return f"{one.aspect} {one.name}: {text}" if one.name else f"{one.aspect}: {text}"
