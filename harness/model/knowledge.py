"""What is known of a server, and what an observation shows to be wrong.

Rules of this module:
- A *set of possible states* is kept for each part of the server (`harness.model.parts`). What may or may not
  have happened doubles it, what is seen thins it, and where nothing is left of it the catalogue is violated.
- Observations are given in the order of their numbers. Where a request was not waited for, or was held back,
  when it was carried out is open until it returned; one that was sent twice is observed twice.
- A `Close` whose outcome is `Ended` is one that the target has made.
- What belongs together is decided by `partition`, what an answer leaves possible by `trials`, and which
  invariant is broken by what was done last (`recollection`).
"""

from __future__ import annotations

from harness.model.answers import Difference, Said, differences, said_by
from harness.model.invariants import INVARIANTS, invariant_of
from harness.model.judged import judged_by
from harness.model.observed import Answered, Ended, Garbled, Observed, Unanswered, Violation
from harness.model.partition import Partition
from harness.model.parts import LIMIT, Part, blank, unique
from harness.model.predictions import RouteView, Unreadable
from harness.model.recollection import Recollection
from harness.model.registry import DOUBT, PROMPT, After, Registry
from harness.model.state import At, State
from harness.model.trials import Trial, Trials
from harness.program.broker_steps import AnyBrokerRequest
from harness.program.frames import Names
from harness.program.steps import (
    AnyRequest,
    AnyStep,
    Close,
    ClusterInfo,
    Configure,
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
    SystemTopics,
    Time,
    Topics,
    TopicsOfCluster,
    Unit,
    Unregister,
)

__all__ = ["Knowledge"]

IDLE = 120.0
"""Protocol seconds after which a target closes a connection that is not used
(`NettyServerConfig#serverChannelMaxIdleTimeSeconds`).
"""
_BUSY = 60.0
"""Protocol seconds for which a connection that is kept busy may be quiet."""
_OF_A_NAME = (Register, Unregister, Heartbeat, QueryVersion, MemberGroup, Permission)
_LISTS = (Topics, TopicsOfCluster, Unit, SystemTopics)


class Knowledge:
    """Judges what is observed of one server.

    ``profile`` is the catalogue's; ``jitter``: protocol seconds by which the target may act late; ``fresh``:
    nobody has used the server before.
    """

    def __init__(self, profile: str, names: Names, *, jitter: float = 0.0, fresh: bool = False) -> None:
        self.judged: dict[int, frozenset[str]] = {}
        """By step: the statements that its answer was held against and has not broken."""
        self._profile = profile
        self._names = names
        self._five = profile != "4.9"
        self._jitter = jitter
        self._registry = Registry(profile, names, jitter=jitter, fresh=fresh)
        self._common: list[State] = [self._registry.start()]
        self._partition = Partition(self._registry)
        self._trials = Trials(self._registry, self._partition, names, five=self._five)
        self._past = Recollection(self._registry, self._partition)
        self._blind = False
        self._used: dict[str, At] = {}
        self._idling: set[str] = set()
        self._ending: set[str] = set()
        """Connections that the target may have ended: a lease has, or nothing came over them."""
        self._over: dict[str, str] = {}
        """Connections that the target must have ended, and the invariants that say so."""
        self._restless = False
        """Whether connections may be ended sooner than after `IDLE`."""

    # --- what is known --------------------------------------------------------------------------------------

    @property
    def possible(self) -> int:
        """In how many states the part is of which most is open."""
        return max(len(self._common), *(len(part.states) for part in self._partition.parts), 1)

    @property
    def muted(self) -> frozenset[str]:
        """Names, topics and addresses that are judged no more."""
        return self._partition.muted

    @property
    def blind(self) -> bool:
        """Whether nothing is judged any more."""
        return self._blind

    # --- what is seen ---------------------------------------------------------------------------------------

    def observe(self, seen: Observed) -> list[Violation]:
        """Takes in what was seen and gives what the catalogue does not allow of it."""
        step = seen.step
        at = (seen.invoked, seen.returned)
        if self._blind:
            return [self._garbled(seen.outcome, seen)] if isinstance(seen.outcome, Garbled) else []
        violations = self._catch_up(seen)
        if isinstance(step, AnyBrokerRequest):
            raise ValueError("requests to Brokers are judged by harness.model.broker")
        match step:
            case Time():
                self._pass(step, seen)
            case Close():
                if isinstance(seen.outcome, Ended):
                    violations += self._ended(step, seen)
                self._close(step, seen)
            case Reconnect() | Restart():
                self._change(step, seen)
            case Damaged():
                raise ValueError("damaged frames are judged by harness.machines.frames")
            case _:
                if step.broken is not None and not isinstance(seen.outcome, Answered):
                    self._postpone(step, at, doubtful=True)
                elif step.oneway or seen.outcome is None:
                    self._postpone(step, at)
                    self._past.note(step, seen.number, None)
                else:
                    violations += self._judge(step, seen)
                if not isinstance(seen.outcome, Ended | Garbled):
                    self._used[step.conn] = at
                self._idling.discard(step.conn)
        return violations

    def _judge(self, step: AnyRequest, seen: Observed) -> list[Violation]:
        match seen.outcome:
            case Answered():
                return self._answered(step, seen, seen.outcome)
            case Ended():
                return self._ended(step, seen)
            case Garbled():
                self._cut_off(step, seen)
                return [self._garbled(seen.outcome, seen)]
            case Unanswered():
                return self._unanswered(step, seen, surely=seen.outcome.surely)
        return []

    def _garbled(self, outcome: Garbled, seen: Observed) -> Violation:
        expected = "one command with the opaque of the request"
        return self._plain(
            "answers-are-commands", expected, f"bytes that are no command: {outcome.problem}", seen
        )

    # --- time -----------------------------------------------------------------------------------------------

    def _catch_up(self, seen: Observed) -> list[Violation]:
        """What may have happened by itself since."""
        if self._idling:
            self._idle(seen)
        now = (seen.invoked, seen.returned)
        self._partition.catch_up(now[0])
        if any(state.due <= now[1] for state in self._common):
            found = self._reached(self._common, now)
            self._blind = self._blind or not found
            self._common = found or self._common
        violations = []
        for part in list(self._partition.parts):
            if part.due > now[1]:
                continue
            self._note_ends(part, seen)
            found = self._reached(self._under_settings(part), now)
            if found is None:
                self._partition.mute(part)
            elif not found:
                violations.append(self._contradicted(part, seen))
            else:
                part.states = found
                self._ending |= {
                    symbol
                    for state in found
                    if state.ended
                    for symbol, conn in state.conns.items()
                    if conn in state.ended
                }
                for symbol in part.symbols - self._over.keys():
                    if all(state.conns.get(symbol) in state.ended for state in found):
                        self._over[symbol] = "expired-connection-is-closed"
                if part.is_empty:
                    self._partition.parts.remove(part)
        return violations

    def _under_settings(self, part: Part) -> list[State]:
        """The states of a part under any settings that are possible: what happens by itself goes by them."""
        possible = list({id(state.settings): state.settings for state in self._common}.values())
        if len(possible) == 1:
            return part.told(possible[0])
        return unique(state for settings in possible for state in part.told(settings))

    def _reached(self, states: list[State], now: At) -> list[State] | None:
        found: list[State] = []
        for state in states:
            reached = self._registry.reached(state, now, LIMIT)
            if reached is None:
                return None
            found += reached
        found = unique(found)
        return found if len(found) <= LIMIT else None

    def _contradicted(self, part: Part, seen: Observed) -> Violation:
        """An answer that was not waited for agrees with no moment at which its request was carried out."""
        self._partition.mute(part)
        return self._plain(
            "read-your-writes",
            "an answer that fits some moment between its request and its arrival",
            "one that fits none",
            seen,
        )

    def _note_ends(self, part: Part, seen: Observed) -> None:
        state = part.states[0]
        for lease in state.leases.values():
            if lease.since + lease.length <= seen.returned:
                self._past.was(part, lease.broker, "lease ended", seen.number)

    def _pass(self, step: Time, seen: Observed) -> None:
        self._past.time_passed(seen.number)
        for conn in list(self._used):
            if conn in step.idle:
                self._idling.add(conn)
            elif conn not in self._idling:
                self._used[conn] = (seen.returned - _BUSY, seen.returned)

    def _idle(self, seen: Observed) -> None:
        """Connections over which nothing has come for so long that the server may have closed them."""
        for conn in sorted(self._idling):
            since, until = self._used.get(conn, (seen.returned, seen.returned))
            if since + IDLE > seen.returned:
                continue
            at = (since + IDLE, until + IDLE + self._jitter)
            self._ending.add(conn)
            surely = until + IDLE + self._jitter + PROMPT < seen.invoked
            for part in self._partition.parts:
                if conn in part.symbols:
                    for state in part.states:
                        for lease in state.leases.values():
                            if lease.conn == state.conns.get(conn):
                                self._past.was(part, lease.broker, "idle", seen.number)
                    closed = [self._registry.idled(state, conn, at) for state in part.states]
                    self._partition.keep(part, closed if surely else [*part.states, *closed])
            if surely:
                self._idling.discard(conn)
                if not self._restless and conn in self._used:
                    self._over[conn] = "idle-connection-is-closed"

    # --- steps that are no requests -------------------------------------------------------------------------

    def _close(self, step: Close, seen: Observed) -> None:
        bound = False
        for part in self._partition.parts:
            if step.conn not in part.symbols:
                continue
            for state in part.states:
                conn = state.conns.get(step.conn)
                for lease in state.leases.values():
                    if conn is not None and lease.conn == conn:
                        bound = True
                        self._past.was(part, lease.broker, "closed", seen.number)
            if not bound:
                for name in part.names:
                    self._past.was(part, name, "late closed", seen.number)
        if not bound:
            self._past.other_closed(seen.number)
        self._idling.discard(step.conn)
        self._ending.discard(step.conn)
        self._over.pop(step.conn, None)
        self._used.pop(step.conn, None)
        self._partition.muted_conns.discard(step.conn)
        self._change(step, seen)

    def _change(self, step: AnyStep, seen: Observed) -> None:
        at = (seen.invoked, seen.returned)
        if isinstance(step, Restart):
            self._past.restarted(seen.number)
            self._used.clear()
            self._idling.clear()
            self._over.clear()
            self._partition.clear()
            self._common = unique(
                after.state for state in self._common for after in self._registry.apply(state, step, at)
            )
            return
        if isinstance(step, Reconnect):
            self._renamed(step.conn, step.old)
            self._used[step.conn] = at
        for part in self._partition.parts:
            if step.conn in part.symbols:  # type: ignore[union-attr]
                if isinstance(step, Reconnect):
                    part.symbols.add(step.old)
                part.states = [
                    after.state for state in part.states for after in self._registry.apply(state, step, at)
                ]

    def _renamed(self, conn: str, old: str) -> None:
        """Another symbol stands for a connection from now on."""
        over = self._over.pop(conn, None)
        self._over.pop(old, None)
        if over is not None:
            self._over[old] = over
        used = self._used.pop(conn, None)
        self._used.pop(old, None)
        if used is not None:
            self._used[old] = used
        for some in (self._idling, self._ending, self._partition.muted_conns):
            some.discard(old)
            if conn in some:
                some.remove(conn)
                some.add(old)

    def _postpone(
        self, step: AnyRequest, at: At, *, doubtful: bool = False, said: Said | None = None
    ) -> None:
        """A request that may be carried out later than it seems."""
        registry = self._registry
        if isinstance(step, _OF_A_NAME):
            if isinstance(step, MemberGroup) or self._partition.is_muted(step):
                return
            part = self._partition.part_for(step, self._common[0].settings)
            if part is None:
                self._partition.is_muted(step)
            else:
                part.states = [
                    registry.postponed(state, step, at, said=said, doubtful=doubtful) for state in part.states
                ]
        elif isinstance(step, DeleteTopic | RegisterTopic):
            topic = registry.name(step.topic)
            if isinstance(step, DeleteTopic):
                until = at[1] + registry.prompt + (DOUBT if doubtful else 0.0)
                self._partition.concerns_newcomers(step, at, until, doubtful=doubtful)
            elif len(step.queues) > 1:  # which of them are known when it is carried out, and the topic
                self._partition.mute_all(map(registry.name, step.queues))
                self._partition.muted |= {topic}
            for part in self._partition.parts:
                if isinstance(step, DeleteTopic) or not part.names.isdisjoint(
                    map(registry.name, step.queues)
                ):
                    part.states = [registry.postponed(s, step, at, doubtful=doubtful) for s in part.states]
            self._past.topic_left_open(topic)
        elif not isinstance(step, (Route, ClusterInfo, *_LISTS)):
            self._common = [registry.postponed(s, step, at, doubtful=doubtful) for s in self._common]

    # --- parts ----------------------------------------------------------------------------------------------

    # --- answers --------------------------------------------------------------------------------------------

    def _answered(self, step: AnyRequest, seen: Observed, outcome: Answered) -> list[Violation]:
        if self._partition.is_muted(step):
            return []
        if outlived := self._outlived(step, seen):
            return [outlived]
        said = said_by(outcome.command, step, self._names, five=self._five)
        at = (seen.invoked, seen.returned)
        if step.held or not step.awaited:
            simple = isinstance(step, Unregister | Permission | Register)
            if isinstance(step, Register) and not isinstance(said.body, Unreadable):
                said = Said(said.code, said.remark, said.ext, None)  # no part knows the order configuration
            self._postpone(step, at, said=said if simple else None)
            self._past.note(step, seen.number, None)
            return []
        if isinstance(step, _OF_A_NAME):
            part = self._partition.part_for(step, self._common[0].settings)
            if part is None and self._partition.is_muted(step):  # too much became possible
                return []
            trials = [(c, self._trials.of_a_name(c, part, step, said, at)) for c in self._common]
        elif isinstance(step, Route):
            trials = [(c, self._trials.route(c, step, said, at)) for c in self._common]
        elif isinstance(step, ClusterInfo):
            trials = [(c, self._trials.cluster_info(c, step, said, at)) for c in self._common]
        elif isinstance(step, _LISTS):
            trials = [(c, self._trials.listed(c, step, said, at)) for c in self._common]
        elif isinstance(step, DeleteTopic):
            trials = [(c, self._trials.everywhere(c, step, said, at)) for c in self._common]
        elif isinstance(step, RegisterTopic) and self._five:
            trials = [(c, self._trials.topic_given(c, step, said, at)) for c in self._common]
        else:
            return self._kept(step, seen, said, at)
        return self._decide(trials, step, seen, said)

    def _outlived(self, step: AnyRequest, seen: Observed) -> Violation | None:
        """An answer over a connection that the target must have ended: it was idle for too long, or a lease
        on it has run out.
        """
        name = self._over.pop(step.conn, None)
        if name is None or step.conn in self._partition.muted_conns:
            return None
        return self._plain(name, "a connection that the target has ended", "an answer over it", seen)

    def _decide(
        self, trials: list[tuple[State, Trial]], step: AnyRequest, seen: Observed, said: Said
    ) -> list[Violation]:
        """Keeps what is possible under any settings that are possible."""
        good = [(common, trial) for common, trial in trials if not trial.wrong]
        if good:
            self._note_judged(step, seen, said, good[0][1].was or "")
            self._past.note(step, seen.number, good[0][1].was)
            if len(good) == 1:
                for part, states in good[0][1].kept:
                    self._partition.keep(part, states)
                    if part.is_empty and part in self._partition.parts:
                        self._partition.parts.remove(part)
            else:
                together: dict[int, tuple[Part, list[State]]] = {}
                for _, trial in good:
                    for part, states in trial.kept:
                        together.setdefault(id(part), (part, []))[1].extend(states)
                for part, states in together.values():
                    self._partition.keep(part, states)
            if len(good) < len(trials):
                self._common = [common for common, _ in good]
            return []
        trial = trials[0][1]
        if any(part.shared for part in trial.about):
            for part in trial.about:
                self._partition.mute(part)
            self._partition.is_muted(step)
            return []
        violation = self._violation(trial.wrong, step, seen, trial.was or "")
        self._past.note(step, seen.number, trial.was)
        self._adopt(trial, step)
        return [violation]

    def _kept(self, step: AnyRequest, seen: Observed, said: Said, at: At) -> list[Violation]:
        """Pairs, settings, codes that are not known: what belongs to no part."""
        kept: list[State] = []
        best: list[Difference] = []
        was = ""
        nearest: State | None = None
        for state in self._common:
            for after in self._registry.apply(state, step, at):
                found = differences(after.prediction, said)
                if not found:
                    kept.append(self._learnt(after, step, said))
                elif not best or len(found) < len(best):
                    best, was, nearest = found, after.was, after.state
        if isinstance(step, Configure) and any("serverChannelMaxIdle" in line for line in step.lines):
            self._restless = True
        if kept:
            self._common = unique(kept)
            if len({id(state.settings) for state in self._common}) == 1:
                for part in self._partition.parts:
                    part.states = part.told(self._common[0].settings)
            self._note_judged(step, seen, said, was)
            self._past.note(step, seen.number, None)
            return []
        violation = self._violation(best, step, seen, was)
        if nearest is not None:
            self._common = [nearest]
        if isinstance(step, Kv) and said.code == 0 and step.code == 101 and said.ext.get("value"):
            self._common = [self._registry.learnt(s, step, 0, said.ext["value"]) for s in self._common]
        return [violation]

    def _note_judged(self, step: AnyRequest, seen: Observed, said: Said, was: str) -> None:
        brokers = said.body.brokers if isinstance(said.body, RouteView) else ()
        contexts = self._past.contexts(step, brokers, was)
        self.judged[seen.number] = judged_by(step, said, contexts, self._profile) | self.judged.get(
            seen.number, frozenset()
        )

    def _learnt(self, after: After, step: AnyRequest, said: Said) -> State:
        if after.prediction.learns and isinstance(step, Kv):
            found = said.ext.get("value") if step.code == 101 else said.body
            return self._registry.learnt(after.state, step, said.code, found)
        return after.state

    # --- no answers -----------------------------------------------------------------------------------------

    def _ended(self, step: AnyRequest | Close, seen: Observed) -> list[Violation]:
        expected = step.conn in self._ending
        quiet = self._used.get(step.conn, (seen.invoked, 0.0))[0] + IDLE - 1 < seen.returned
        stalled = not isinstance(step, Close) and step.stall * len(step.cuts) >= IDLE
        known = any(step.conn in part.symbols for part in self._partition.parts)
        if not isinstance(step, Close):
            self._cut_off(step, seen)
        judged = known and step.conn not in self._partition.muted_conns
        if expected or quiet or stalled or (self._partition.muted and not judged) or self._restless:
            return []
        return [
            self._plain(
                "requests-harm-no-other-connection",
                "an answer, and a connection that stays open",
                "the target ended the connection",
                seen,
            )
        ]

    def _cut_off(self, step: AnyRequest, seen: Observed) -> None:
        """The connection is of no use any more; the request may have been carried out."""
        at = (seen.invoked, seen.returned)
        self._ending.add(step.conn)  # its end is judged: that it is noticed says nothing more
        self._over.pop(step.conn, None)
        self._postpone(step, at, doubtful=True)
        for part in self._partition.parts:
            if step.conn in part.symbols:
                part.states = [self._registry.ended_by_server(state, step.conn, at) for state in part.states]
        self._used.pop(step.conn, None)

    def _unanswered(self, step: AnyRequest, seen: Observed, *, surely: bool) -> list[Violation]:
        at = (seen.invoked, seen.returned)
        if surely and any(
            after.prediction.silent
            for after in self._registry.apply(blank(self._common[0].settings), step, at)
        ):
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
        settings = self._common[0].settings
        first = self._past.cause(found, settings)
        context = self._past.context(first, step, was, settings)
        invariant = invariant_of(first, context, step, five=self._five)
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected="; ".join(_said(one, one.expected) for one in found[:4]),
            actual="; ".join(_said(one, one.actual) for one in found[:4]),
            number=seen.number,
        )

    def _adopt(self, trial: Trial, step: AnyRequest) -> None:
        """After a violation: what it was about is judged no more."""
        if all(one.aspect in ("remark", "order", "body") for one in trial.wrong):
            return
        for part in trial.about:
            self._partition.mute(part)
        self._partition.muted |= {one.name for one in trial.wrong} - {""}
        if not trial.about and isinstance(step, Route | DeleteTopic | RegisterTopic):
            self._partition.muted |= {self._past.subject(step)}
        if isinstance(step, _OF_A_NAME):
            self._partition.muted |= {self._past.subject(step)}


def _said(one: Difference, text: str) -> str:
    return f"{one.aspect} {one.name}: {text}" if one.name else f"{one.aspect}: {text}"
