"""What is known of a server, and what an observation shows to be wrong.

Rules of this module:
- A *set of possible states* is kept. What may or may not have happened doubles it, what is seen thins it, and
  where nothing is left of it the catalogue is violated.
- Observations are given in the order in which they were invoked. Where a request was not waited for, when it
  was carried out is open until it returned.
- Nothing is guessed: names of which too much is possible are *muted*, which is to say judged no more, and so
  are those that a violation was about.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.model.answers import Difference, Said, differences, said_by
from harness.model.invariants import INVARIANTS, invariant_of
from harness.model.observed import Answered, Ended, Garbled, Observed, Unanswered, Violation
from harness.model.registry import PROMPT, After, Registry
from harness.model.state import At, State
from harness.program.frames import Names, frame_of
from harness.program.steps import (
    AnyRequest,
    AnyStep,
    Close,
    Damaged,
    DeleteTopic,
    Heartbeat,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Reconnect,
    Register,
    RegisterTopic,
    Restart,
    Route,
    Time,
    Unregister,
)

__all__ = ["Knowledge"]

LIMIT = 48
"""So many states are possible at most; where there were more, what they differ in is judged no more."""
IDLE = 120.0
"""Protocol seconds after which a target closes a connection that is not used
(`NettyServerConfig#serverChannelMaxIdleTimeSeconds`).
"""
_BUSY = 60.0
"""Protocol seconds for which a connection that is kept busy may be quiet."""
_OPAQUE_DIGITS = 12


class Knowledge:
    """Judges what is observed of one server.

    ``profile`` is the catalogue's; ``jitter``: protocol seconds by which the target may act late; ``fresh``:
    nobody has used the server before.
    """

    def __init__(self, profile: str, names: Names, *, jitter: float = 0.0, fresh: bool = False) -> None:
        self._profile = profile
        self._names = names
        self._five = profile != "4.9"
        self._jitter = jitter
        self._registry = Registry(profile, names, jitter=jitter, fresh=fresh)
        self._states: list[State] = [self._registry.start()]
        self._muted: frozenset[str] = frozenset()
        self._blind = False
        self._last: dict[str, tuple[str, int]] = {}
        self._time = -1
        self._other_close = -1
        self._used: dict[str, At] = {}
        self._idling: set[str] = set()

    # --- what is known --------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[State, ...]:
        """What is possible."""
        return tuple(self._states)

    @property
    def muted(self) -> frozenset[str]:
        """Names, topics and addresses that are judged no more."""
        return self._muted

    @property
    def blind(self) -> bool:
        """Whether nothing is judged any more."""
        return self._blind

    # --- what is seen ---------------------------------------------------------------------------------------

    def observe(self, seen: Observed) -> list[Violation]:
        """Takes in what was seen and gives what the catalogue does not allow of it."""
        if self._blind:
            return []
        step = seen.step
        at = (seen.invoked, seen.returned)
        violations = self._catch_up(seen)
        match step:
            case Time():
                self._pass(step, seen)
            case Close():
                self._close(step, seen)
            case Reconnect() | Restart():
                self._change(step, seen)
            case Damaged():
                raise ValueError("damaged frames are judged by harness.machines.frames")
            case _:
                if step.broken is not None:
                    self._break(step, seen)
                elif step.oneway or seen.outcome is None:
                    self._postpone(step, at)
                    self._note(step, seen.number, None)
                else:
                    violations += self._judge(step, seen)
                    if step.twice:
                        self._postpone(step, at)
                if not isinstance(seen.outcome, Ended | Garbled):
                    self._used[step.conn] = at
                self._idling.discard(step.conn)
        return violations

    def _judge(self, step: AnyRequest, seen: Observed) -> list[Violation]:
        if self._muted and isinstance(seen.outcome, Answered) and self._is_muted(step):
            return []
        match seen.outcome:
            case Answered():
                return self._answered(step, seen, seen.outcome)
            case Ended():
                return self._ended(step, seen)
            case Garbled():
                return self._garbled(step, seen, seen.outcome)
            case Unanswered():
                return self._unanswered(step, seen, surely=seen.outcome.surely)
        return []

    def _is_muted(self, step: AnyRequest) -> bool:
        """Whether a step is about a name that is not judged; what it touches is not judged either."""
        symbols: Iterable[str] = ()
        touched: Iterable[str] = ()
        match step:
            case Register():
                symbols, touched = (step.broker,), (*step.topics, *step.mappings, step.cluster)
            case RegisterTopic():
                symbols, touched = step.queues, (step.topic,)
            case Unregister() | Heartbeat() | QueryVersion() | MemberGroup() | Permission():
                symbols = (step.broker,)
        if self._muted.isdisjoint(map(self._registry.name, symbols)):
            return False
        more = set(map(self._registry.name, touched))
        if isinstance(step, Register):
            more.add(self._registry.address(step.address))
        self._muted |= more
        return True

    # --- time -----------------------------------------------------------------------------------------------

    def _catch_up(self, seen: Observed) -> list[Violation]:
        """What may have happened by itself since."""
        if self._idling:
            self._idle(seen)
        until = seen.returned
        if all(state.due > until for state in self._states):
            return []
        self._note_ends(seen)
        now = (seen.invoked, until)
        found: list[State] = []
        for state in self._states:
            reached = self._registry.reached(state, now, LIMIT)
            if reached is None:
                self._give_up([*found, state])
                return []
            found += reached
        if not found:
            return self._contradicted(seen)
        self._keep(found)
        return []

    def _contradicted(self, seen: Observed) -> list[Violation]:
        """An answer that was not waited for agrees with no moment at which its request was carried out."""
        self._blind = True
        invariant = INVARIANTS["read-your-writes"]
        return [
            Violation(
                invariant=invariant.name,
                statement=invariant.statement_in(self._profile),
                expected="an answer that fits some moment between its request and its arrival",
                actual="one that fits none",
                number=seen.number,
            )
        ]

    def _note_ends(self, seen: Observed) -> None:
        state = self._states[0]
        for lease in state.leases.values():
            if lease.since + lease.length <= seen.returned:
                self._was(state, lease.broker, "lease ended", seen.number)

    def _pass(self, step: Time, seen: Observed) -> None:
        self._time = seen.number
        conns = {conn for state in self._states for conn in state.conns}
        for conn in {*conns, *self._used}:
            if conn in step.idle:
                self._idling.add(conn)
            elif conn not in self._idling:
                self._used[conn] = (seen.returned - _BUSY, seen.returned)
        self._catch_up(seen)

    def _idle(self, seen: Observed) -> None:
        """Connections over which nothing has come for so long that the server may have closed them."""
        for conn in sorted(self._idling):
            since, until = self._used.get(conn, (seen.returned, seen.returned))
            if since + IDLE > seen.returned:
                continue
            at = (since + IDLE, until + IDLE + self._jitter)
            closed = [self._registry.idled(state, conn, at) for state in self._states]
            for state in self._states:
                for lease in state.leases.values():
                    if lease.conn == state.conns.get(conn):
                        self._was(state, lease.broker, "idle", seen.number)
            surely = until + IDLE + self._jitter + PROMPT < seen.invoked
            self._keep(closed if surely else [*self._states, *closed])
            if surely:
                self._idling.discard(conn)

    # --- steps that are no requests -------------------------------------------------------------------------

    def _close(self, step: Close, seen: Observed) -> None:
        bound = False
        for state in self._states:
            conn = state.conns.get(step.conn)
            for lease in state.leases.values():
                if conn is not None and lease.conn == conn:
                    bound = True
                    self._was(state, lease.broker, "closed", seen.number)
        if not bound:
            self._other_close = seen.number
        self._idling.discard(step.conn)
        self._used.pop(step.conn, None)
        self._change(step, seen)

    def _change(self, step: AnyStep, seen: Observed) -> None:
        at = (seen.invoked, seen.returned)
        if isinstance(step, Restart):
            for name in list(self._last):
                self._last[name] = ("restarted", seen.number)
            self._used.clear()
            self._idling.clear()
        self._keep([after.state for state in self._states for after in self._registry.apply(state, step, at)])

    def _postpone(
        self, step: AnyRequest, at: At, *, doubtful: bool = False, said: Said | None = None
    ) -> None:
        """A request that may be carried out later than it seems."""
        self._states = [
            self._registry.postponed(state, step, at, said=said, doubtful=doubtful) for state in self._states
        ]

    def _break(self, step: AnyRequest, seen: Observed) -> None:
        """A frame that was cut off, with its connection."""
        assert step.broken is not None
        at = (seen.invoked, seen.returned)
        whole = len(frame_of(step, self._names, 0, 479)) - _OPAQUE_DIGITS
        if step.broken >= whole or (step.broken == 0 and whole <= 0):
            self._postpone(step, at, doubtful=True)
        self._close(Close(conn=step.conn, how="reset"), seen)

    # --- answers --------------------------------------------------------------------------------------------

    def _answered(self, step: AnyRequest, seen: Observed, outcome: Answered) -> list[Violation]:
        said = said_by(outcome.command, step, self._names, five=self._five)
        at = (seen.invoked, seen.returned)
        if step.held or not step.awaited:
            self._postpone(step, at, said=said)
            self._note(step, seen.number, None)
            return []
        kept: list[State] = []
        was: str | None = None
        best: list[Difference] | None = None
        nearest: list[State] = []
        last = ""
        for state in self._states:
            for after in self._registry.apply(state, step, at):
                found = differences(after.prediction, said, step, self._muted)
                if not found:
                    kept.append(self._learnt(after, step, said))
                    was = after.was if was is None else was
                elif best is None or len(found) < len(best):
                    best, nearest, last = found, [after.state], after.was
        if kept:
            self._keep(kept)
            self._note(step, seen.number, was)
            return []
        assert best is not None
        violation = self._violation(best, step, seen, last)
        self._keep(nearest)
        self._note(step, seen.number, last)
        self._adopt(best, step)
        return [violation]

    def _learnt(self, after: After, step: AnyRequest, said: Said) -> State:
        if after.prediction.learns and isinstance(step, Kv):
            found = said.ext.get("value") if step.code == 101 else said.body
            return self._registry.learnt(after.state, step, said.code, found)
        return after.state

    def _ended(self, step: AnyRequest, seen: Observed) -> list[Violation]:
        at = (seen.invoked, seen.returned)
        may = [s for s in self._states if s.conns.get(step.conn) in s.ended and step.conn in s.conns]
        if not may and step.conn in self._used and self._used[step.conn][0] + IDLE - 1 < seen.returned:
            may = self._states
        if not may and self._unknown_connection(step, seen):
            may = self._states
        violations = []
        if not may:
            violations = [
                self._plain(
                    "requests-harm-no-other-connection",
                    "an answer, and a connection that stays open",
                    "the target ended the connection",
                    seen,
                )
            ]
            may = self._states
        self._states = may
        self._postpone(step, at, doubtful=True)
        self._states = [self._registry.ended_by_server(state, step.conn, at) for state in self._states]
        self._used.pop(step.conn, None)
        return violations

    def _garbled(self, step: AnyRequest, seen: Observed, outcome: Garbled) -> list[Violation]:
        at = (seen.invoked, seen.returned)
        self._postpone(step, at, doubtful=True)
        self._states = [self._registry.ended_by_server(state, step.conn, at) for state in self._states]
        self._used.pop(step.conn, None)
        return [self._plain("answers-are-commands", "a command", outcome.problem, seen)]

    def _unknown_connection(self, step: AnyRequest, seen: Observed) -> bool:
        """Whether the connection may have been quiet for as long as an idle timer."""
        return bool(step.cuts) and step.stall * len(step.cuts) >= IDLE

    def _unanswered(self, step: AnyRequest, seen: Observed, *, surely: bool) -> list[Violation]:
        at = (seen.invoked, seen.returned)
        silent = surely and any(
            after.prediction.silent
            for state in self._states
            for after in self._registry.apply(state, step, at)
        )
        if silent:
            return []
        self._postpone(step, at, doubtful=True)
        if not surely:
            return []
        return [self._plain("every-request-is-answered", "an answer", "none, though later ones came", seen)]

    # --- violations -----------------------------------------------------------------------------------------

    def _plain(self, name: str, expected: str, actual: str, seen: Observed) -> Violation:
        invariant = INVARIANTS[name]
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected=expected,
            actual=actual,
            number=seen.number,
        )

    def _violation(self, found: list[Difference], step: AnyRequest, seen: Observed, was: str) -> Violation:
        first = found[0]
        invariant = invariant_of(first, self._context(first, step, seen.number, was), step, five=self._five)
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected="; ".join(_said(one, one.expected) for one in found[:4]),
            actual="; ".join(_said(one, one.actual) for one in found[:4]),
            number=seen.number,
        )

    def _context(self, one: Difference, step: AnyRequest, number: int, was: str) -> str:
        """What was done last to what a difference is about."""
        if isinstance(step, Route):
            if (step.zone_mode or "").lower() == "true" and (step.zone or "").strip():
                return "zoned"
            topic = self._registry.name(step.topic)
            if self._states[0].settings.get("supportActingMaster") == "true" and "address" in one.aspect:
                return "acting"
            names = [topic, one.name] if one.aspect in ("queues", "mapping") else [one.name, topic]
        elif isinstance(step, Register) or not self._subject(step):
            names = [one.name]
        else:
            names = [one.name, self._subject(step)]
        if isinstance(step, Register):
            return was
        for name in names:
            found = self._last.get(name)
            if found is not None:
                if one.presence == "missing" and self._time > found[1]:
                    return "time"
                if one.presence == "missing" and self._other_close > found[1]:
                    return "other closed"
                return found[0]
        return was

    def _subject(self, step: AnyRequest) -> str:
        broker = getattr(step, "broker", None)
        if isinstance(broker, str):
            return self._registry.name(broker)
        if isinstance(step, Kv):
            return f"{step.namespace}/{step.key if step.topic is None else self._registry.name(step.topic)}"
        topic = getattr(step, "topic", None)
        return self._registry.name(topic) if isinstance(topic, str) else ""

    def _note(self, step: AnyRequest, number: int, was: str | None) -> None:
        """Remembers what a step did to the names that it is about."""
        match step:
            case Register():
                name = self._registry.name(step.broker)
                what = was or "registered"
                self._last[name] = (what, number)
                for topic in step.topics:
                    self._last[self._registry.name(topic)] = (what, number)
            case Unregister():
                self._was(self._states[0], self._registry.name(step.broker), was or "unregistered", number)
            case Permission():
                self._was(self._states[0], self._registry.name(step.broker), was or "wiped", number)
            case DeleteTopic() | RegisterTopic():
                self._last[self._registry.name(step.topic)] = (was or "topic deleted", number)
            case Kv():
                self._last[self._subject(step)] = ("kept", number)

    def _was(self, state: State, name: str, what: str, number: int) -> None:
        self._last[name] = (what, number)
        for topic, queues in state.topics.items():
            if name in queues:
                self._last[topic] = (what, number)

    # --- the set --------------------------------------------------------------------------------------------

    def _keep(self, states: Iterable[State]) -> None:
        """The states that are possible now, each once."""
        found: list[State] = []
        for state in states:
            if not any(state is other or state == other for other in found):
                found.append(state)
        if len(found) > LIMIT:
            self._give_up(found)
        else:
            self._states = found

    def _give_up(self, states: list[State]) -> None:
        """Too much is possible: what the states differ in is judged no more."""
        self._states = states[:1]
        names: set[str] = set()
        first = states[0]
        for other in states[1:]:
            if other.kv != first.kv or other.settings != first.settings:
                self._blind = True
            names |= _apart(first, other)
        for state in states:
            for late in state.late:
                names |= {lease.broker for lease in state.leases.values() if lease.conn == late.conn}
                names |= {self._subject(late.step)} if late.step is not None else set()
        first = first.copy()
        first.late = ()
        self._states = [first]
        self._mute(names)

    def _adopt(self, found: list[Difference], step: AnyRequest) -> None:
        """After a violation: what it was about is judged no more."""
        about = {one.name for one in found} - {""}
        if isinstance(step, Kv) or all(one.aspect in ("remark", "order") for one in found):
            return
        subject = self._subject(step)
        self._mute({*about, subject} - {""} if subject or about else ())
        if not about and not subject:
            self._blind = True

    def _mute(self, names: Iterable[str]) -> None:
        """Names, with the topics, addresses and clusters that they have to do with."""
        more = {name for name in names if name}
        for state in self._states:
            for topic, queues in state.topics.items():
                if not more.isdisjoint(queues):
                    more.add(topic)
            for name in list(more):
                broker = state.brokers.get(name)
                if broker is not None:
                    more |= {broker.cluster, *broker.ids.values()}
        self._muted |= more


def _said(one: Difference, text: str) -> str:
    return f"{one.aspect} {one.name}: {text}" if one.name else f"{one.aspect}: {text}"


def _apart(one: State, other: State) -> set[str]:
    """Names in which two states differ."""
    names = {
        name for name in {*one.brokers, *other.brokers} if one.brokers.get(name) != other.brokers.get(name)
    }
    for topic in {*one.topics, *other.topics}:
        left, right = one.topics.get(topic, {}), other.topics.get(topic, {})
        names |= {name for name in {*left, *right} if left.get(name) != right.get(name)}
    for key in {*one.leases, *other.leases}:
        if one.leases.get(key) != other.leases.get(key):
            lease = one.leases.get(key) or other.leases.get(key)
            names |= {lease.broker} if lease is not None else set()
    return names
