"""What is known of a server, and what an observation shows to be wrong.

- A *set of possible states* is kept for each `Component` of the server. What may or may not have happened
  doubles it, what is seen thins it, and if nothing is left of it the catalogue is violated.
- Observations are given in the order of their numbers. Where a request was not waited for, or was held back,
  when it was carried out is open until it returned; one that was sent twice is observed twice.
- A `Close` whose outcome is `Ended` is one that the target has made.
- What belongs together is decided by `components`, what an answer leaves possible by `candidates`, which
  connections may have ended by `connection_ends`, and which invariant is broken by what was done last
  (`last_operations`).
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.program.broker.steps import BesideRequests, BrokerRequest
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.controller_steps import ControllerRequest
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.answers import Answer, Forgives, answer_of, differences
from harness.spec.nameserver.breaches import Breaches
from harness.spec.nameserver.candidates import Candidate, Candidates
from harness.spec.nameserver.component import LIMIT, Component, blank, unique
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.connection_ends import ConnectionEnds
from harness.spec.nameserver.judged import judged_by
from harness.spec.nameserver.last_operations import LastOperations
from harness.spec.nameserver.postponed import Postponed
from harness.spec.nameserver.predictions import RouteView, Unreadable
from harness.spec.nameserver.served import is_served
from harness.spec.nameserver.specification import After, NameServerSpec
from harness.spec.nameserver.state import At, State
from harness.spec.observation import Answered, Difference, Ended, Garbled, Observation, Unanswered, Violation

_OF_A_NAME = (ns.Register, ns.Unregister, ns.Heartbeat, ns.QueryVersion, ns.MemberGroup, ns.Permission)
_LISTS = (ns.Topics, ns.TopicsOfCluster, ns.Unit, ns.SystemTopics)


class StateTracker:
    """Judges what is observed of one server.

    ``profile`` is the catalogue's; ``jitter``: protocol seconds by which the target may act late; ``fresh``:
    the server has not been used before; ``forgives``: what is known of it, and is not judged.
    """

    def __init__(
        self,
        profile: str,
        names: Names,
        *,
        jitter: float = 0.0,
        fresh: bool = False,
        forgives: Forgives | None = None,
    ) -> None:
        self.judged: dict[int, frozenset[str]] = {}
        """By step: the statements that its answer was held against and has not broken."""
        self._profile = profile
        self._names = names
        self._spec = NameServerSpec(profile, names, jitter=jitter, fresh=fresh, forgives=forgives)
        self._common: list[State] = [self._spec.start()]
        self._components = Components(self._spec)
        self._candidates = Candidates(self._spec, self._components, names)
        self._past = LastOperations(self._spec, self._components)
        self._breaches = Breaches(profile, self._spec, self._components, self._past)
        self._pending = Postponed(self._spec, self._components, self._past)
        self._gave_up = False
        self._ends = ConnectionEnds(self._spec, self._components, self._past, jitter)

    # --- what is known --------------------------------------------------------------------------------------

    @property
    def possible(self) -> int:
        """In how many states the component is of which most is open."""
        return max(len(self._common), *(len(component.states) for component in self._components.all), 1)

    @property
    def untracked(self) -> frozenset[str]:
        """Names, topics and addresses that are judged no more."""
        return self._components.untracked

    @property
    def gave_up(self) -> bool:
        """Whether nothing is judged any more."""
        return self._gave_up

    # --- what is seen ---------------------------------------------------------------------------------------

    def observe(self, seen: Observation) -> list[Violation]:
        """Takes in what was seen and gives what the catalogue does not allow of it."""
        step = seen.step
        at = (seen.invoked, seen.returned)
        if self._gave_up:
            return [self._garbled(seen.outcome, seen)] if isinstance(seen.outcome, Garbled) else []
        violations = self._catch_up(seen)
        if isinstance(step, BrokerRequest | BesideRequests):
            raise ValueError("requests to Brokers are judged by harness.spec.broker")
        if isinstance(step, ControllerRequest):
            raise ValueError("requests to controllers are judged by harness.spec.nameserver.controller")
        match step:
            case Time():
                self._pass(step, seen)
            case Close():
                if isinstance(seen.outcome, Ended):
                    violations += self._ended(step, seen)
                self._close(step, seen)
            case Reconnect() | Restart():
                self._change(step, seen)
            case ns.Damaged():
                raise ValueError("damaged frames are judged by harness.engine.frames")
            case _:
                if step.broken is not None and not isinstance(seen.outcome, Answered):
                    self._common = self._pending.postpone(self._common, step, at, uncertain=True)
                elif step.oneway or seen.outcome is None:
                    self._common = self._pending.postpone(self._common, step, at)
                    self._past.note(step, seen.number, None)
                else:
                    violations += self._judge(step, seen)
                if not isinstance(seen.outcome, Ended | Garbled):
                    self._ends.used(step.conn, at)
                self._ends.is_busy(step.conn)
        return violations

    def _judge(self, step: ns.AnyRequest, seen: Observation) -> list[Violation]:
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

    def _garbled(self, outcome: Garbled, seen: Observation) -> Violation:
        expected = "one command with the opaque of the request"
        return self._breaches.plain(
            "answers-are-commands", expected, f"bytes that are no command: {outcome.problem}", seen
        )

    # --- time -----------------------------------------------------------------------------------------------

    def _catch_up(self, seen: Observation) -> list[Violation]:
        """What may have happened by itself since."""
        self._ends.catch_up(seen)
        now = (seen.invoked, seen.returned)
        self._components.catch_up(now[0])
        if any(state.due <= now[1] for state in self._common):
            found = self._reached(self._common, now)
            self._gave_up = self._gave_up or not found
            self._common = found or self._common
        violations = []
        settings = list({id(state.settings): state.settings for state in self._common}.values())
        for component in list(self._components.all):
            if component.due > now[1]:
                continue
            self._note_ends(component, seen)
            if len(settings) > 1 or not component.is_at_rest(settings[0], now):
                found = self._reached(_under(component, settings), now)
                if found is None:
                    self._components.untrack(component)
                    continue
                if not found:
                    violations += self._contradicted(component, seen)
                    continue
                component.states = found
                component.rest = self._spec.rest(found, now) if len(settings) == 1 else None
            self._ends.leases_ended(component)
            if component.is_empty:
                self._components.all.remove(component)
        return violations

    def _reached(self, states: list[State], now: At) -> list[State] | None:
        found: list[State] = []
        for state in states:
            reached = self._spec.reached(state, now, LIMIT)
            if reached is None:
                return None
            found += reached
        found = unique(found)
        return found if len(found) <= LIMIT else None

    def _contradicted(self, component: Component, seen: Observation) -> list[Violation]:
        """An answer that was not waited for agrees with no moment at which its request was carried out. It
        may be one that the server is known to give.
        """
        self._components.untrack(component)
        if self._spec.is_lenient:
            return []
        expected = "an answer that fits some moment between its request and its arrival"
        return [self._breaches.plain("read-your-writes", expected, "one that fits none", seen)]

    def _note_ends(self, component: Component, seen: Observation) -> None:
        state = component.states[0]
        for lease in state.leases.values():
            if lease.since + lease.length <= seen.returned:
                self._past.was(component, lease.broker, "lease ended", seen.number)

    def _pass(self, step: Time, seen: Observation) -> None:
        self._past.time_passed(seen.number)
        self._ends.time_passed(step, seen.returned)

    # --- steps that are no requests -------------------------------------------------------------------------

    def _close(self, step: Close, seen: Observation) -> None:
        bound = False
        for component in self._components.all:
            if step.conn not in component.symbols:
                continue
            for state in component.states:
                conn = state.conns.get(step.conn)
                for lease in state.leases.values():
                    if conn is not None and lease.conn == conn:
                        bound = True
                        self._past.was(component, lease.broker, "closed", seen.number)
            if not bound:
                for name in component.names:
                    self._past.was(component, name, "late closed", seen.number)
        if not bound:
            self._past.other_closed(seen.number)
        self._ends.closed(step.conn)
        self._change(step, seen)

    def _change(self, step: AnyStep, seen: Observation) -> None:
        at = (seen.invoked, seen.returned)
        if isinstance(step, Restart):
            self._past.restarted(seen.number)
            self._ends.restarted()
            self._components.clear()
            self._common = unique(
                after.state for state in self._common for after in self._spec.apply(state, step, at)
            )
            return
        if isinstance(step, Reconnect):
            self._ends.renamed(step.conn, step.old)
            self._ends.used(step.conn, at)
        for component in self._components.all:
            if step.conn in component.symbols:  # type: ignore[union-attr]
                if isinstance(step, Reconnect):
                    component.symbols.add(step.old)
                component.states = [
                    after.state for state in component.states for after in self._spec.apply(state, step, at)
                ]

    # --- answers --------------------------------------------------------------------------------------------

    def _answered(self, step: ns.AnyRequest, seen: Observation, outcome: Answered) -> list[Violation]:
        if self._components.is_untracked(step) or self._breaches.is_doubtful(step):
            return []
        if outlived := self._outlived(step, seen):
            return [outlived]
        said = answer_of(outcome.command, step, self._names, self._spec.profile)
        at = (seen.invoked, seen.returned)
        if step.held or not step.awaited:
            simple = isinstance(step, ns.Unregister | ns.Permission | ns.Register)
            if isinstance(step, ns.Register) and not isinstance(said.body, Unreadable):
                said = Answer(
                    said.code, said.remark, said.ext, None
                )  # no component knows the order configuration
            self._common = self._pending.postpone(self._common, step, at, said=said if simple else None)
            self._past.note(step, seen.number, None)
            return []
        if isinstance(step, _OF_A_NAME):
            component = self._components.component_for(step, self._common[0].settings)
            if component is None and self._components.is_untracked(step):  # too much became possible
                return []
            candidates = [(c, self._candidates.of_a_name(c, component, step, said, at)) for c in self._common]
        elif isinstance(step, ns.Route):
            candidates = [(c, self._candidates.route(c, step, said, at)) for c in self._common]
        elif isinstance(step, ns.ClusterInfo):
            candidates = [(c, self._candidates.cluster_info(c, step, said, at)) for c in self._common]
        elif isinstance(step, _LISTS):
            candidates = [(c, self._candidates.listed(c, step, said, at)) for c in self._common]
        elif isinstance(step, ns.DeleteTopic):
            candidates = [(c, self._candidates.everywhere(c, step, said, at)) for c in self._common]
        elif isinstance(step, ns.RegisterTopic) and is_served(step, self._spec.profile):
            candidates = [(c, self._candidates.topic_given(c, step, said, at)) for c in self._common]
        else:
            return self._kept(step, seen, said, at)
        return self._decide(candidates, step, seen, said)

    def _outlived(self, step: ns.AnyRequest, seen: Observation) -> Violation | None:
        """An answer over a connection that the target must have ended: it was idle for too long, or a lease
        on it has run out.
        """
        name = self._ends.outlived(step.conn)
        if name is None:
            return None
        return self._breaches.plain(name, "a connection that the target has ended", "an answer over it", seen)

    def _decide(
        self, candidates: list[tuple[State, Candidate]], step: ns.AnyRequest, seen: Observation, said: Answer
    ) -> list[Violation]:
        """Keeps what is possible under any settings that are possible."""
        good = [(common, candidate) for common, candidate in candidates if not candidate.wrong]
        if good:
            self._note_judged(step, seen, said, good[0][1].was or "")
            self._past.note(step, seen.number, good[0][1].was)
            if len(good) == 1:
                for component, states in good[0][1].kept:
                    self._components.keep(component, states)
                    if component.is_empty and component in self._components.all:
                        self._components.all.remove(component)
            else:
                together: dict[int, tuple[Component, list[State]]] = {}
                for _, candidate in good:
                    for component, states in candidate.kept:
                        together.setdefault(id(component), (component, []))[1].extend(states)
                for component, states in together.values():
                    self._components.keep(component, states)
            if len(good) < len(candidates):
                self._common = [common for common, _ in good]
            return []
        candidate = candidates[0][1]
        if any(component.shared for component in candidate.about):
            for component in candidate.about:
                self._components.untrack(component)
            self._components.is_untracked(step)
            return []
        violation = self._breaches.of(
            candidate.wrong, step, seen, candidate.was or "", self._common[0].settings
        )
        self._past.note(step, seen.number, candidate.was)
        self._breaches.adopt(candidate, step)
        return [violation]

    def _kept(self, step: ns.AnyRequest, seen: Observation, said: Answer, at: At) -> list[Violation]:
        """Pairs, settings, codes that are not known: what belongs to no component."""
        kept: list[State] = []
        best: list[Difference] = []
        was = ""
        nearest: State | None = None
        for state in self._common:
            for after in self._spec.apply(state, step, at):
                found = self._spec.wrong(differences(after.prediction, said), step)
                if not found:
                    kept.append(self._learnt(after, step, said))
                elif not best or len(found) < len(best):
                    best, was, nearest = found, after.was, after.state
        if isinstance(step, ns.Configure) and any("serverChannelMaxIdle" in line for line in step.lines):
            self._ends.is_restless = True
        if kept:
            self._common = unique(kept)
            if len({id(state.settings) for state in self._common}) == 1:
                for component in self._components.all:
                    component.states = component.told(self._common[0].settings)
            self._note_judged(step, seen, said, was)
            self._past.note(step, seen.number, None)
            return []
        violation = self._breaches.of(best, step, seen, was, self._common[0].settings)
        self._common = unique(self._breaches.believed(self._common, nearest, step, best))
        return [violation]

    def _note_judged(self, step: ns.AnyRequest, seen: Observation, said: Answer, was: str) -> None:
        brokers = said.body.brokers if isinstance(said.body, RouteView) else ()
        contexts = self._past.contexts(step, brokers, was)
        self.judged[seen.number] = judged_by(step, said, contexts, self._profile) | self.judged.get(
            seen.number, frozenset()
        )

    def _learnt(self, after: After, step: ns.AnyRequest, said: Answer) -> State:
        if after.prediction.learns and isinstance(step, ns.Kv):
            found = said.ext.get("value") if step.code == 101 else said.body
            return self._spec.learnt(after.state, step, said.code, found)
        return after.state

    # --- no answers -----------------------------------------------------------------------------------------

    def _ended(self, step: ns.AnyRequest | Close, seen: Observation) -> list[Violation]:
        expected = self._ends.may_have_ended(step.conn, seen)
        stalled = not isinstance(step, Close) and step.stall * len(step.cuts) >= self._spec.profile.idle
        known = any(step.conn in component.symbols for component in self._components.all)
        if not isinstance(step, Close):
            self._cut_off(step, seen)
        judged = known and step.conn not in self._components.untracked_conns
        if expected or stalled or (self._components.untracked and not judged) or self._ends.is_restless:
            return []
        return [
            self._breaches.plain(
                "requests-harm-no-other-connection",
                "an answer, and a connection that stays open",
                "the target ended the connection",
                seen,
            )
        ]

    def _cut_off(self, step: ns.AnyRequest, seen: Observation) -> None:
        """The connection is of no use any more; the request may have been carried out."""
        at = (seen.invoked, seen.returned)
        self._ends.seen_to_end(step.conn)
        self._common = self._pending.postpone(self._common, step, at, uncertain=True)
        for component in self._components.all:
            if step.conn in component.symbols:
                component.states = [self._spec.closed(state, step.conn, at) for state in component.states]

    def _unanswered(self, step: ns.AnyRequest, seen: Observation, *, surely: bool) -> list[Violation]:
        at = (seen.invoked, seen.returned)
        if surely and any(
            after.prediction.silent for after in self._spec.apply(blank(self._common[0].settings), step, at)
        ):
            return []
        self._common = self._pending.postpone(self._common, step, at, uncertain=True)
        if not surely:
            return []
        return [
            self._breaches.plain(
                "every-request-is-answered", "an answer", "none, though later ones came", seen
            )
        ]


def _under(component: Component, possible: Sequence[dict[str, str]]) -> list[State]:
    """The states of a component under all possible settings: what happens by itself depends on them."""
    if len(possible) == 1:
        return component.told(possible[0])
    return unique(state for settings in possible for state in component.told(settings))
