"""What is known of a server, and what an observation shows to be wrong.

Rules of this module:
- A *set of possible states* is kept for each part of the server (`harness.model.parts`). What may or may not
  have happened doubles it, what is seen thins it, and where nothing is left of it the catalogue is violated.
- Observations are given in the order of their numbers. Where a request was not waited for, or was held back,
  when it was carried out is open until it returned; one that was sent twice is observed twice.
- A `Close` whose outcome is `Ended` is one that the target has made.
- Nothing is guessed: names of which too much is possible are *muted*, which is to say judged no more, and so
  are those that a violation was about. With a part everything is muted that it may come to touch: what a
  request names that is yet to be carried out, and who registers over one of its connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness.model import stored
from harness.model.answers import Difference, Said, differences, said_by
from harness.model.invariants import INVARIANTS, invariant_of
from harness.model.observed import Answered, Ended, Garbled, Observed, Unanswered, Violation
from harness.model.parts import LIMIT, Part, blank, joined, restricted, unique
from harness.model.predictions import ClusterView, ListView, Prediction, RouteView, Unreadable
from harness.model.registry import DOUBT, PROMPT, After, Registry, given
from harness.model.state import At, State
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
    Queues,
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
_NOBODY: frozenset[str] = frozenset()
_OF_A_NAME = (Register, Unregister, Heartbeat, QueryVersion, MemberGroup, Permission)
_CLOSED = ("closed", "late closed", "unregistered")
_LISTS = (Topics, TopicsOfCluster, Unit, SystemTopics)


class _Trial(msgspec.Struct):
    """What an answer leaves possible, if the settings are what they are thought to be."""

    kept: list[tuple[Part, list[State]]]
    wrong: list[Difference] = []
    about: list[Part] = []
    was: str | None = None


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
        self._common: list[State] = [self._registry.start()]
        self._parts: list[Part] = []
        self._muted: frozenset[str] = _NOBODY
        self._muted_conns: set[str] = set()
        """Connections that may end with a lease that is not judged."""
        self._everywhere_late: list[tuple[float, DeleteTopic, At, bool]] = []
        """Requests about all names that may be carried out until a moment: of names that come later, too."""
        self._blind = False
        self._last: dict[str, tuple[str, int]] = {}
        self._time = -1
        self._other_close = -1
        self._used: dict[str, At] = {}
        self._idling: set[str] = set()
        self._ending: set[str] = set()
        """Connections that the target may have ended: a lease has, or nothing came over them."""
        self._restless = False
        """Whether connections may be ended sooner than after `IDLE`."""

    # --- what is known --------------------------------------------------------------------------------------

    @property
    def possible(self) -> int:
        """In how many states the part is of which most is open."""
        return max(len(self._common), *(len(part.states) for part in self._parts), 1)

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
        step = seen.step
        at = (seen.invoked, seen.returned)
        if self._blind:
            return [self._garbled(seen.outcome, seen)] if isinstance(seen.outcome, Garbled) else []
        violations = self._catch_up(seen)
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
                    self._note(step, seen.number, None)
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
        if self._everywhere_late:
            self._everywhere_late = [late for late in self._everywhere_late if late[0] >= now[0]]
        if any(state.due <= now[1] for state in self._common):
            found = self._reached(self._common, now)
            self._blind = self._blind or not found
            self._common = found or self._common
        violations = []
        for part in list(self._parts):
            if part.due > now[1]:
                continue
            self._note_ends(part, seen)
            found = self._reached(self._under_settings(part), now)
            if found is None:
                self._mute(part)
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
                if part.is_empty:
                    self._parts.remove(part)
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
        self._mute(part)
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
                self._was(part, lease.broker, "lease ended", seen.number)

    def _pass(self, step: Time, seen: Observed) -> None:
        self._time = seen.number
        for conn in {*self._used, *(symbol for part in self._parts for symbol in part.symbols)}:
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
            for part in self._parts:
                if conn in part.symbols:
                    for state in part.states:
                        for lease in state.leases.values():
                            if lease.conn == state.conns.get(conn):
                                self._was(part, lease.broker, "idle", seen.number)
                    closed = [self._registry.idled(state, conn, at) for state in part.states]
                    self._keep(part, closed if surely else [*part.states, *closed])
            if surely:
                self._idling.discard(conn)

    # --- steps that are no requests -------------------------------------------------------------------------

    def _close(self, step: Close, seen: Observed) -> None:
        bound = False
        for part in self._parts:
            if step.conn not in part.symbols:
                continue
            for state in part.states:
                conn = state.conns.get(step.conn)
                for lease in state.leases.values():
                    if conn is not None and lease.conn == conn:
                        bound = True
                        self._was(part, lease.broker, "closed", seen.number)
            if not bound:
                for name in part.names:
                    self._was(part, name, "late closed", seen.number)
        if not bound:
            self._other_close = seen.number
        self._idling.discard(step.conn)
        self._ending.discard(step.conn)
        self._used.pop(step.conn, None)
        self._muted_conns.discard(step.conn)
        self._change(step, seen)

    def _change(self, step: AnyStep, seen: Observed) -> None:
        at = (seen.invoked, seen.returned)
        if isinstance(step, Restart):
            for name in list(self._last):
                self._last[name] = ("restarted", seen.number)
            self._used.clear()
            self._idling.clear()
            self._parts.clear()
            self._everywhere_late.clear()
            self._common = unique(
                after.state for state in self._common for after in self._registry.apply(state, step, at)
            )
            return
        if isinstance(step, Reconnect):
            self._renamed(step.conn, step.old)
        for part in self._parts:
            if step.conn in part.symbols:  # type: ignore[union-attr]
                if isinstance(step, Reconnect):
                    part.symbols.add(step.old)
                part.states = [
                    after.state for state in part.states for after in self._registry.apply(state, step, at)
                ]

    def _renamed(self, conn: str, old: str) -> None:
        """Another symbol stands for a connection from now on."""
        used = self._used.pop(conn, None)
        self._used.pop(old, None)
        if used is not None:
            self._used[old] = used
        for some in (self._idling, self._ending, self._muted_conns):
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
            if isinstance(step, MemberGroup) or self._is_muted(step):
                return
            part = self._part_for(step)
            if part is None:
                self._is_muted(step)
            else:
                part.states = [
                    registry.postponed(state, step, at, said=said, doubtful=doubtful) for state in part.states
                ]
        elif isinstance(step, DeleteTopic | RegisterTopic):
            topic = registry.name(step.topic)
            if isinstance(step, DeleteTopic):
                until = at[1] + registry.prompt + (DOUBT if doubtful else 0.0)
                self._everywhere_late.append((until, step, at, doubtful))
            elif len(step.queues) > 1:  # which of them are known when it is carried out, and the topic
                self._mute_all(map(registry.name, step.queues))
                self._muted |= {topic}
            for part in self._parts:
                if isinstance(step, DeleteTopic) or not part.names.isdisjoint(
                    map(registry.name, step.queues)
                ):
                    part.states = [registry.postponed(s, step, at, doubtful=doubtful) for s in part.states]
            self._last[topic] = ("topic deleted", self._time)
        elif not isinstance(step, (Route, ClusterInfo, *_LISTS)):
            self._common = [registry.postponed(s, step, at, doubtful=doubtful) for s in self._common]

    # --- parts ----------------------------------------------------------------------------------------------

    def _named(self, name: str) -> Part | None:
        return next((part for part in self._parts if name in part.names), None)

    def _join(self, parts: Sequence[Part]) -> Part | None:
        distinct = [part for i, part in enumerate(parts) if part not in parts[:i]]
        if not distinct:
            return None
        if len(distinct) > 1:
            for part in distinct:
                self._parts.remove(part)
            one = joined(distinct)
            self._parts.append(one)
            self._keep(one, one.states)
            return one if one in self._parts else None
        return distinct[0]

    def _part_for(self, step: AnyRequest) -> Part | None:
        """The part that a request about a broker name is about. None where there is none, or no more."""
        registry = self._registry
        if isinstance(step, Permission | MemberGroup):
            return self._named(registry.name(step.broker))
        assert isinstance(step, Register | Unregister | Heartbeat | QueryVersion)
        address = registry.address(step.address)
        if isinstance(step, Heartbeat | QueryVersion):
            return next((part for part in self._parts if address in part.addresses), None)
        name = registry.name(step.broker)
        registers = isinstance(step, Register)
        concerned = [
            part
            for part in self._parts
            if name in part.names or address in part.addresses or (registers and step.conn in part.symbols)
        ]
        if not registers:
            return self._join(concerned)
        if not concerned:
            part = Part([self._newcomer()], set(), set(), set())
            self._parts.append(part)
        else:
            found = self._join(concerned)
            if found is None:
                return None
            part = found
        part.names.add(name)
        part.addresses.add(address)
        part.symbols.add(step.conn)
        if part.owners.setdefault(address, name) != name:
            part.shared = True
        if isinstance(step, Register):
            part.names |= {registry.name(broker) for broker, _ in step.mappings.values()}
        return part

    def _newcomer(self) -> State:
        """The state of a name that nothing was known of: what is about all names may yet be carried out."""
        state = blank(self._common[0].settings)
        for _, step, at, doubtful in self._everywhere_late:
            state = self._registry.postponed(state, step, at, doubtful=doubtful)
        return state

    def _keep(self, part: Part, states: Iterable[State]) -> None:
        part.states = unique(states)
        if len(part.states) > LIMIT:
            self._mute(part)
        elif part.is_empty:
            self._parts.remove(part)

    def _mute(self, part: Part) -> None:
        """Nothing of a part is judged any more."""
        if part in self._parts:
            self._parts.remove(part)
        touched = {cluster for state in part.states for cluster in state.clusters}
        for step in {id(late.step): late.step for state in part.states for late in state.late}.values():
            if step is not None:
                touched |= self._touched(step)
        self._muted |= part.names | part.addresses | part.topics() | touched
        self._muted_conns |= part.symbols

    def _mute_all(self, names: Iterable[str]) -> None:
        for name in names:
            self._muted |= {name}
            if (part := self._named(name)) is not None:
                self._mute(part)

    def _touched(self, step: AnyRequest) -> set[str]:
        """The names that a step changes, or brings."""
        name = self._registry.name
        match step:
            case Register():
                brokers = (broker for broker, _ in step.mappings.values())
                symbols = (step.broker, step.cluster, *step.topics, *step.mappings, *brokers)
                return {self._registry.address(step.address), *map(name, symbols)}
            case RegisterTopic():
                return {name(step.topic), *map(name, step.queues)}
        return set()

    def _is_muted(self, step: AnyRequest) -> bool:
        """Whether a step is about a name that is not judged; what it touches is not judged either."""
        if not self._muted:
            return False
        registry = self._registry
        names: set[str] = set()
        conn: str | None = None
        match step:
            case Register():
                names = {registry.name(step.broker), registry.address(step.address)}
                conn = step.conn
            case RegisterTopic():
                names = set(map(registry.name, step.queues))
            case Unregister() | Heartbeat() | QueryVersion():
                names = {registry.name(step.broker), registry.address(step.address)}
            case MemberGroup() | Permission():
                names = {registry.name(step.broker)}
        if self._muted.isdisjoint(names) and conn not in self._muted_conns:
            return False
        for part in list(self._parts):
            if (
                conn in part.symbols
                or not names.isdisjoint(part.names)
                or not names.isdisjoint(part.addresses)
            ):
                self._mute(part)
        self._muted |= names | self._touched(step)
        if conn is not None:
            self._muted_conns.add(conn)
        return True

    # --- answers --------------------------------------------------------------------------------------------

    def _answered(self, step: AnyRequest, seen: Observed, outcome: Answered) -> list[Violation]:
        if self._is_muted(step):
            return []
        said = said_by(outcome.command, step, self._names, five=self._five)
        at = (seen.invoked, seen.returned)
        if step.held or not step.awaited:
            simple = isinstance(step, Unregister | Permission | Register)
            if isinstance(step, Register) and not isinstance(said.body, Unreadable):
                said = Said(said.code, said.remark, said.ext, None)  # no part knows the order configuration
            self._postpone(step, at, said=said if simple else None)
            self._note(step, seen.number, None)
            return []
        if isinstance(step, _OF_A_NAME):
            part = self._part_for(step)
            if part is None and self._is_muted(step):  # too much became possible
                return []
            trials = [(c, self._of_a_name(c, part, step, said, at)) for c in self._common]
        elif isinstance(step, Route):
            trials = [(c, self._route(c, step, said, at)) for c in self._common]
        elif isinstance(step, ClusterInfo):
            trials = [(c, self._cluster_info(c, step, said, at)) for c in self._common]
        elif isinstance(step, _LISTS):
            trials = [(c, self._list(c, step, said, at)) for c in self._common]
        elif isinstance(step, DeleteTopic):
            trials = [(c, self._everywhere(c, step, said, at)) for c in self._common]
        elif isinstance(step, RegisterTopic) and self._five:
            trials = [(c, self._topic_given(c, step, said, at)) for c in self._common]
        else:
            return self._kept(step, seen, said, at)
        return self._decide(trials, step, seen)

    def _decide(
        self, trials: list[tuple[State, _Trial]], step: AnyRequest, seen: Observed
    ) -> list[Violation]:
        """Keeps what is possible under any settings that are possible."""
        good = [(common, trial) for common, trial in trials if not trial.wrong]
        if good:
            self._note(step, seen.number, good[0][1].was)
            if len(good) == 1:
                for part, states in good[0][1].kept:
                    self._keep(part, states)
                    if part.is_empty and part in self._parts:
                        self._parts.remove(part)
            else:
                together: dict[int, tuple[Part, list[State]]] = {}
                for _, trial in good:
                    for part, states in trial.kept:
                        together.setdefault(id(part), (part, []))[1].extend(states)
                for part, states in together.values():
                    self._keep(part, states)
            if len(good) < len(trials):
                self._common = [common for common, _ in good]
            return []
        trial = trials[0][1]
        if any(part.shared for part in trial.about):
            for part in trial.about:
                self._mute(part)
            self._is_muted(step)
            return []
        violation = self._violation(trial.wrong, step, seen, trial.was or "")
        self._note(step, seen.number, trial.was)
        self._adopt(trial, step)
        return [violation]

    def _try(
        self, part: Part, common: State, step: AnyRequest, said: Said, at: At
    ) -> tuple[list[After], list[Difference], str]:
        """What a part leaves possible; where that is nothing, what the nearest state would have been said."""
        kept: list[After] = []
        best: list[Difference] = []
        was = ""
        for state in part.told(common.settings):
            for after in self._registry.apply(state, step, at):
                found = differences(after.prediction, said)
                if not found:
                    kept.append(after)
                elif not best or len(found) < len(best):
                    best, was = found, after.was
        return kept, best, was

    def _of_a_name(self, common: State, part: Part | None, step: AnyRequest, said: Said, at: At) -> _Trial:
        if part is None:
            nobody = Part([blank(common.settings)], set(), set(), set())
            kept, best, was = self._try(nobody, common, step, said, at)
            return _Trial([], [] if kept else best, [], kept[0].was if kept else was)
        mine = said
        if isinstance(step, Register) and said.code == 0:
            order = stored.order_table(common, five=self._five, is_ours=self._names.is_ours)
            wrong = [differences(Prediction(body=table), Said(0, None, {}, said.body)) for _, table in order]
            if all(wrong):
                return _Trial([], wrong[0], [])
            mine = Said(said.code, said.remark, said.ext, None)
        kept, best, was = self._try(part, common, step, mine, at)
        if not kept:
            return _Trial([], best, [part], was)
        return _Trial([(part, [after.state for after in kept])], [], [], kept[0].was)

    def _everywhere(self, common: State, step: AnyRequest, said: Said, at: At) -> _Trial:
        trial = _Trial([])
        nobody = Part([blank(common.settings)], set(), set(), set())
        for part in (*self._parts, nobody):
            kept, best, _ = self._try(part, common, step, said, at)
            if not kept:
                return _Trial([], best, [], "topic deleted")
            if part is not nobody:
                trial.kept.append((part, [after.state for after in kept]))
        trial.was = "topic deleted"
        return trial

    def _topic_given(self, common: State, step: RegisterTopic, said: Said, at: At) -> _Trial:
        """217: whether a broker name or the topic is known is a question to all parts."""
        registry = self._registry
        nobody = Part([blank(common.settings)], set(), set(), set())
        kept, best, _ = self._try(nobody, common, step, said, at)
        if not kept:
            return _Trial([], best)
        topic = registry.name(step.topic)
        if step.form != "json" or not step.queues or "topic" in step.drop:
            return _Trial([])
        served = {topic in state.topics for part in self._parts for state in part.states}
        exists = any(all(topic in state.topics for state in part.states) for part in self._parts)
        unclear = topic in self._muted or (True in served and not exists)
        added: dict[str, Queues] = {}
        for symbol, queues in step.queues.items():
            name = registry.name(symbol)
            part = self._named(name)
            known = {False} if part is None else {name in state.brokers for state in part.states}
            if len(known) == 2 or (known == {False} and unclear):
                for one in [p for s in step.queues if (p := self._named(registry.name(s)))]:
                    self._mute(one)
                self._muted |= {topic}
                return _Trial([])
            if known == {False}:
                if not exists:
                    added = {}
                break
            added[name] = queues
        trial = _Trial([], was="topic registered")
        for part in self._parts:
            mine = {name: queues for name, queues in added.items() if name in part.names}
            if mine:
                trial.kept.append((part, [given(state, topic, mine) for state in part.states]))
        return trial

    def _route(self, common: State, step: Route, said: Said, at: At) -> _Trial:
        trial = _Trial([])
        empty = True
        body = said.body
        topic = self._registry.name(step.topic)
        nobody = blank(common.settings)
        if said.code == 17 and not self._parts:
            return self._as_nobody(nobody, step, said, at)
        if not isinstance(body, RouteView):
            # Of another code, or nothing that can be read: every part must agree with it.
            agreed = False
            for part in self._parts:
                if said.code == 17 and not any(self._serves(state, step) for state in part.states):
                    continue
                kept, best, was = self._try(part, common, step, said, at)
                if not kept:
                    return _Trial([], best, [part], was)
                agreed = True
                trial.kept.append((part, [after.state for after in kept]))
            if said.code != 17 and not agreed:
                return self._as_nobody(nobody, step, said, at)
            return trial
        for part in self._parts:
            mine = restricted(said, part)
            quiet = not (mine.body.queues or mine.body.brokers or mine.body.mappings or mine.body.filters)
            if quiet and not any(self._serves(state, step) for state in part.states):
                continue
            kept_states = []
            best = []
            for state in part.told(common.settings):
                for after in self._registry.apply(state, step, at):
                    prediction = after.prediction
                    if prediction.code == 17 and quiet:
                        kept_states.append(state)
                        continue
                    if prediction.code == 17:
                        mapped = state.mappings.get(topic, {})
                        perhaps = {name: epoch for name, (epoch, _) in mapped.items()}
                        prediction = Prediction(body=RouteView({}, {}, {}, mappings_perhaps=perhaps))
                    found = differences(prediction, mine)
                    if not found:
                        kept_states.append(state)
                        empty = empty and after.prediction.code == 17
                    elif not best or len(found) < len(best):
                        best = found
            if not kept_states:
                return _Trial([], best, [part])
            trial.kept.append((part, kept_states))
        return self._route_of_all(common, step, said, body, trial, empty=empty)

    def _as_nobody(self, nobody: State, step: Route, said: Said, at: At) -> _Trial:
        """An answer of a server on which nothing is registered."""
        found = [differences(after.prediction, said) for after in self._registry.apply(nobody, step, at)]
        return _Trial([], found[0] if all(found) else [])

    def _serves(self, state: State, step: Route) -> bool:
        return self._registry.name(step.topic) in state.topics

    def _route_of_all(
        self, common: State, step: Route, said: Said, body: RouteView, trial: _Trial, *, empty: bool
    ) -> _Trial:
        """What no part can say of a route: names that are nobody's, and the order configuration."""
        topic = self._registry.name(step.topic)
        theirs = {name for part in self._parts for name in part.names} | self._muted
        for name in sorted({*body.queues, *body.brokers} - theirs):
            trial.wrong = [Difference("broker", name, "surplus", "nothing", str(body.brokers.get(name)))]
            return trial
        if empty and topic not in self._muted:
            trial.wrong = [Difference("code", "", "surplus", "code 17", "code 0")]
            return trial
        order = None
        if common.settings.get("orderMessageEnable") == "true":
            known = common.kv.get(stored.ORDER, common.unnamed)
            order = known.pairs.get(topic)
        if order != body.order:
            presence = "missing" if body.order is None else "surplus" if order is None else "other"
            trial.wrong = [Difference("order", "", presence, str(order), str(body.order))]  # type: ignore[arg-type]
        elif said.remark is not None:
            trial.wrong = [Difference("remark", "", "surplus", "no remark", said.remark)]
        return trial

    def _cluster_info(self, common: State, step: ClusterInfo, said: Said, at: At) -> _Trial:
        trial = _Trial([], [])
        body = said.body
        if not isinstance(body, ClusterView):
            nobody = Part([blank(common.settings)], set(), set(), set())
            return _Trial([], self._try(nobody, common, step, said, at)[1])
        for part in self._parts:
            mine = restricted(said, part)
            kept, best, was = self._try(part, common, step, mine, at)
            if not kept and _is_torn(part, mine.body):
                continue
            if not kept:
                return _Trial([], best, [part], was)
            if len(kept) != len(part.states):
                trial.kept.append((part, [after.state for after in kept]))
        theirs = {name for part in self._parts for name in part.names} | self._muted
        for name in sorted(set(body.brokers) - theirs):
            trial.wrong.append(Difference("broker", name, "surplus", "nothing", str(body.brokers[name][1])))
        for cluster, members in sorted(body.clusters.items()):
            for name in sorted(members - theirs):
                trial.wrong.append(Difference("clusters", name, "surplus", "in no cluster", f"in {cluster}"))
            if not members and cluster not in self._muted and not self._is_going(cluster):
                trial.wrong.append(
                    Difference("clusters", cluster, "surplus", "no cluster", "one without names")
                )
        return trial

    def _is_going(self, cluster: str) -> bool:
        """Whether the last name of a cluster may be leaving it: Apache's servers empty a cluster first, and
        write it meanwhile (`RouteInfoManager#getAllClusterInfo`, both lines).
        """
        return any(
            len(part.states) > 1 and any(cluster in state.clusters for state in part.states)
            for part in self._parts
        )

    def _list(self, common: State, step: AnyRequest, said: Said, at: At) -> _Trial:
        """A topic is listed where any part serves it."""
        nobody = blank(common.settings)
        (plain,) = self._registry.apply(nobody, step, at)
        body = said.body
        if plain.prediction.code != 0 or not isinstance(body, ListView):
            return _Trial([], differences(plain.prediction, said))
        nothing = Said(said.code, said.remark, said.ext, ListView(_NOBODY))
        if found := differences(plain.prediction, nothing):
            return _Trial([], found)
        if twice := sorted(body.twice - self._muted):
            return _Trial([], [Difference("twice", one, "surplus", "once", "more often") for one in twice])
        listed: list[tuple[Part, list[tuple[State, frozenset[str], frozenset[str]]]]] = []
        for part in self._parts:
            views = []
            for state in part.told(common.settings):
                (after,) = self._registry.apply(state, step, at)
                views.append((state, after.prediction.body.names, after.prediction.body.perhaps))
            listed.append((part, views))
        forgiven = self._muted | (self._disputed(listed) if isinstance(step, Unit) else _NOBODY)
        trial = _Trial([])
        explained: dict[str, list[Part]] = {}
        for i, (part, views) in enumerate(listed):
            kept = [view for view in views if not (view[1] - body.names - forgiven)]
            if not kept:
                missing = sorted(views[0][1] - body.names - forgiven)
                wrong = [Difference("listed", name, "missing", "listed", "not listed") for name in missing]
                return _Trial([], wrong, [part])
            listed[i] = (part, kept)
            for name in {name for _, names, perhaps in kept for name in (*names, *perhaps)}:
                explained.setdefault(name, []).append(part)
        surplus = sorted(body.names - explained.keys() - forgiven)
        if surplus:
            return _Trial(
                [], [Difference("listed", name, "surplus", "not listed", "listed") for name in surplus]
            )
        for part, views in listed:
            alone = {n for n in body.names - forgiven if explained.get(n) == [part]}
            if len(part.states) > 1:
                fitting = [view[0] for view in views if alone <= (view[1] | view[2])]
                if not fitting:  # each is explained, but not all of them by one state
                    wrong = [
                        Difference("listed", name, "surplus", "not listed", "listed")
                        for name in sorted(alone)
                    ]
                    return _Trial([], wrong, [part])
                trial.kept.append((part, fitting))
        return trial

    def _disputed(
        self, listed: list[tuple[Part, list[tuple[State, frozenset[str], frozenset[str]]]]]
    ) -> set[str]:
        """Topics of which brokers say different flags: any of them may count."""
        flags: dict[str, set[int]] = {}
        for _, views in listed:
            for state, _, _ in views:
                for topic, queues in state.topics.items():
                    flags.setdefault(topic, set()).update(queue[3] & 3 for queue in queues.values())
        return {topic for topic, found in flags.items() if len(found) > 1}

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
                for part in self._parts:
                    part.states = part.told(self._common[0].settings)
            self._note(step, seen.number, None)
            return []
        violation = self._violation(best, step, seen, was)
        if nearest is not None:
            self._common = [nearest]
        if isinstance(step, Kv) and said.code == 0 and step.code == 101 and said.ext.get("value"):
            self._common = [self._registry.learnt(s, step, 0, said.ext["value"]) for s in self._common]
        return [violation]

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
        known = any(step.conn in part.symbols for part in self._parts)
        if not isinstance(step, Close):
            self._cut_off(step, seen)
        judged = known and step.conn not in self._muted_conns
        if expected or quiet or stalled or (self._muted and not judged) or self._restless:
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
        self._ending.discard(step.conn)
        self._postpone(step, at, doubtful=True)
        for part in self._parts:
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
        first = found[0]
        context = self._context(first, step, was)
        invariant = invariant_of(first, context, step, five=self._five)
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected="; ".join(_said(one, one.expected) for one in found[:4]),
            actual="; ".join(_said(one, one.actual) for one in found[:4]),
            number=seen.number,
        )

    def _context(self, one: Difference, step: AnyRequest, was: str) -> str:
        """What was done last to what a difference is about."""
        if isinstance(step, Register):
            return was
        subject = self._subject(step)
        names = [one.name, subject]
        if isinstance(step, Route):
            if (step.zone_mode or "").lower() == "true" and (step.zone or "").strip():
                return "zoned"
            if self._common[0].settings.get("supportActingMaster") == "true" and "address" in one.aspect:
                return "acting"
            if one.aspect in ("queues", "mapping"):
                names = [subject, one.name]
        for name in names:
            found = self._last.get(name) if name else None
            if found is not None:
                if one.presence == "missing" and found[0] not in _CLOSED:
                    latest = max(self._time, self._other_close)
                    if latest > found[1]:
                        return "time" if latest == self._time else "other closed"
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
                what = was or "registered"
                self._last[self._registry.name(step.broker)] = (what, number)
                for topic in step.topics:
                    self._last[self._registry.name(topic)] = (what, number)
            case Unregister() | Permission():
                name = self._registry.name(step.broker)
                self._was(self._named(name), name, was or "unregistered", number)
            case DeleteTopic() | RegisterTopic():
                self._last[self._registry.name(step.topic)] = (was or "topic deleted", number)
            case Kv() if step.code in (100, 102):
                self._last[self._subject(step)] = ("kept", number)

    def _was(self, part: Part | None, name: str, what: str, number: int) -> None:
        self._last[name] = (what, number)
        if part is not None:
            for topic, queues in part.states[0].topics.items():
                if name in queues:
                    self._last[topic] = (what, number)

    def _adopt(self, trial: _Trial, step: AnyRequest) -> None:
        """After a violation: what it was about is judged no more."""
        if all(one.aspect in ("remark", "order", "body") for one in trial.wrong):
            return
        for part in trial.about:
            self._mute(part)
        self._muted |= {one.name for one in trial.wrong} - {""}
        if not trial.about and isinstance(step, Route | DeleteTopic | RegisterTopic):
            self._muted |= {self._subject(step)}
        if isinstance(step, _OF_A_NAME):
            self._muted |= {self._subject(step)}


def _is_torn(part: Part, said: ClusterView) -> bool:
    """Whether cluster information shows a part in the middle of something: Apache writes it from live tables,
    without a lock (`RouteInfoManager#getAllClusterInfo`, both lines).
    """
    if len(part.states) == 1:
        return False
    states = part.states
    for name in part.names:
        views = [state.brokers.get(name) for state in states]
        ids = said.brokers[name][1] if name in said.brokers else None
        if ids is None:
            if None not in views:
                return False
            continue
        known = [{} if view is None else view.ids for view in views]
        always = set(known[0].items()).intersection(*(one.items() for one in known[1:]))
        if not always <= set(ids.items()) <= {item for one in known for item in one.items()}:
            return False
    for cluster in {*said.clusters, *(cluster for state in states for cluster in state.clusters)}:
        members = [state.clusters.get(cluster, _NOBODY) for state in states]
        found = said.clusters.get(cluster, _NOBODY)
        if not members[0].intersection(*members[1:]) <= found <= members[0].union(*members[1:]):
            return False
    return True


def _listed(name: str) -> Difference:
    return Difference("listed", name, "surplus", "not listed", "listed")


def _said(one: Difference, text: str) -> str:
    return f"{one.aspect} {one.name}: {text}" if one.name else f"{one.aspect}: {text}"
