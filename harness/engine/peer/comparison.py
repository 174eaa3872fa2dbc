"""One program on two servers: the same requests to both, and the answers that are not the same.

Invariants:
- Steps that change nothing go out together, up to `TOGETHER` of them; all others go one by one, because a
  server answers in any order (`NettyRemotingAbstract#processRequestCommand`).
- An effect that comes behind an answer (an unregistration on 5.x), behind a close, or without any (one-way
  requests, time) is waited for, until both servers show the same or the patience ends.
- The clocks of both servers follow the program. Where one has run ahead by more than is safe for the leases,
  the comparison is `Stalled`, and nothing seen in it counts. The clocks are looked at behind each difference.
- A divergence that neither a quirk nor a known cause explains ends the program: what follows from it is no
  news. One of a known cause does not; what follows from it is recognised by the names that it touches. Where
  nothing is left that it does not touch, the program ends, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.catalogue import Quirk
from harness.engine.peer.causes import History, KnownCauses
from harness.engine.peer.differences import Difference, Normal, differences
from harness.engine.peer.drawing.leases import SLACK
from harness.engine.peer.executor import PeerExecutor
from harness.engine.peer.explaining import Differing, Divergence, Explainer
from harness.engine.peer.normal import Compare, normal
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Request, Time
from harness.program.steps import AnyStep
from harness.session import Clock
from harness.spec import Answered, Observation, Unanswered
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.stored import defaults
from harness.spec.observation import Outcome
from harness.spec.quirks import QuirksByStep
from harness.wire import ResponseCode

TOGETHER = 8
"""How many questions are under way at once."""
PATIENCE = 0.6
"""Waiting seconds until an effect behind an answer must be there: those of pauses between looks."""
_BRIEF = 0.02
"""Waiting seconds after which a difference that has a name is taken for the effect."""
_LONG = 0.05
"""The longest pause in it."""
_PLAIN_SLACK = 80.0
"""Protocol seconds that a program without time may take: far less than any of its leases (120)."""
_AGAIN = 5
"""How often cluster information is asked again after an error (`RouteInfoManager#getAllClusterInfo` encodes
live tables without a lock, on both lines)."""
ASKING = (
    f"Cluster information (106) that is answered with an error is asked again, up to {_AGAIN} times: both "
    "lines write live tables without a lock (`RouteInfoManager#getAllClusterInfo`).",
    f"What a server does behind an answer, behind a close or as time passes is given {PATIENCE:g} s; until "
    "then cluster information, topics, data versions and, behind a registration, routes are asked for again "
    "and again.",
    "A request that may be met with silence is followed by a probe on the same connection; silence is what "
    "is left when the probe was answered.",
    f"Requests that change nothing but leases go out together, up to {TOGETHER}; all others one by one.",
)
"""Rules that are about asking, not about answers; the documentation is made of them."""
_PROBE = ns.Kv(code=101, namespace="probe", key="probe")
_UNKNOWN_VERSION = -1
_SERVERS = (0, 1)


class Stalled(Exception):  # noqa: N818  (an event)
    """A clock has run ahead of the program."""


class Comparison:
    """One program on the two servers of an executor, whose clocks are ``clocks``."""

    def __init__(
        self,
        executor: PeerExecutor,
        clocks: tuple[Clock, Clock],
        quirks: QuirksByStep[ExpectedState],
        profile: str,
        causes: KnownCauses,
        compare: Compare,
    ) -> None:
        self.divergences: list[Divergence] = []
        self.unexplained: Divergence | None = None
        """The divergence that ended it."""
        self.asked: dict[str, int] = {}
        """How many steps of each kind were carried out."""
        self.steps = 0
        self.begun = 0
        """As ``steps``, with those that were under way when an exception ended it."""
        self._executor = executor
        self._clocks = clocks
        self._explainer = Explainer(quirks, causes, executor.names.made)
        self._compare = compare
        self._profile = profile
        self._expected = ExpectedState(profile)
        self._began = tuple(clock.now() for clock in clocks)
        self._slack = _PLAIN_SLACK
        self._seen: list[tuple[int, Sequence[Observation]]] = []
        self._index = 0
        self._played = -1
        # The server whose answer takes longest is asked first.
        self._order = (1, 0) if clocks[0].kind == "virtual" else (0, 1)

    @property
    def observed(self) -> tuple[Observation, ...]:
        """What came of every request, with the number of the step that it was for."""
        return tuple(msgspec.structs.replace(one, number=index) for index, seen in self._seen for one in seen)

    @property
    def leaves_settings(self) -> bool:
        """Whether a setting should now be other than it is by default."""
        return any(value != defaults()[name] for name, value in self._expected.settings.items())

    @property
    def spoilt(self) -> str | None:
        """The quirk, or the cause, after which the servers must be started anew."""
        return self._explainer.taints.server

    @property
    def is_apart(self) -> bool:
        """Whether a known cause has left the servers in different states."""
        return self._explainer.is_apart

    @property
    def triggered(self) -> dict[str, int]:
        """Steps that were about a quirk, by its id."""
        return self._explainer.triggered

    def play(self, steps: Sequence[AnyStep]) -> None:
        """Carries a program out. Raises ``Stalled``, and whatever the executor raises."""
        if any(isinstance(step, Time) for step in steps):
            self._slack = SLACK
        self._explainer.history = History(steps, self._profile)
        at, end = 0, len(steps)
        while at < end:
            first = steps[at]
            till = at + 1
            if isinstance(first, ns.QUIET):
                while till < end and till - at < TOGETHER and isinstance(steps[till], ns.QUIET):
                    till += 1
            self._index, self.begun = at, till
            self._carry_out(at, steps[at:till])
            self.steps = till
            if self.unexplained is not None or self._explainer.has_nothing_left():
                return
            at = till
        self._look_for_strays(end)
        self._look_at_headers(end)

    # --- steps ----------------------------------------------------------------------------------------------

    def _carry_out(self, at: int, batch: Sequence[AnyStep]) -> None:
        first, expected = batch[0], self._expected
        triggered = [self._explainer.begins(step, expected) for step in batch]
        affected = _affected(first, expected)
        if isinstance(first, Time):
            self._let_pass(first)
        elif isinstance(first, Close):
            for server in _SERVERS:
                self._played += 1
                self._noted(self._executor.play(msgspec.structs.replace(first, server=server)))
        elif not isinstance(first, ns.AnyRequest):
            raise ValueError(f"{first!r} is no part of a program for two targets")
        elif first.oneway:
            self._ask([first])
        else:
            self._compare_answers(at, batch, triggered)
        for step in batch:
            kind = step.rule
            self.asked[kind] = self.asked.get(kind, 0) + 1
            expected.apply(step)
        self._look_at_clocks()
        if self.unexplained is None and self._has_after_effects(first):
            self._settle(at, first, affected)

    def _compare_answers(self, at: int, batch: Sequence[AnyStep], triggered: list[list[Quirk]]) -> None:
        requests = [step for step in batch if isinstance(step, ns.AnyRequest)]
        for offset, (step, ours, theirs) in enumerate(self._ask(requests)):
            found = () if _is_alike(ours, theirs, self._compare) else self._differ(step, ours, theirs)
            if not found:
                continue
            self._note(self._explainer.answer(at + offset, step, found, triggered[offset]))
            if self.unexplained is not None:
                return

    def _note(self, found: Divergence) -> None:
        self.divergences.append(found)
        if not found.is_explained and self.unexplained is None:
            self.unexplained = found

    def _differ(self, step: ns.AnyRequest, ours: Outcome, theirs: Outcome) -> tuple[Difference, ...]:
        a, b = self._normal(step, ours, 0), self._normal(step, theirs, 1)
        return differences(a, b, self._executor.names)

    def _normal(self, step: ns.AnyRequest, outcome: Outcome, server: int) -> Normal:
        said = normal(outcome, step, self._executor.names, self._compare)
        if isinstance(step, ns.ClusterInfo):
            for _ in range(_AGAIN):
                if said.get("code") != ResponseCode.SYSTEM_ERROR:
                    break
                said = normal(self._ask_server(step, server), step, self._executor.names, self._compare)
        return said

    # --- asking ---------------------------------------------------------------------------------------------

    def _ask(self, steps: Sequence[ns.AnyRequest]) -> list[tuple[ns.AnyRequest, Outcome, Outcome]]:
        """The same requests to both servers, and what came of them."""
        outcomes = self._ask_servers(steps, self._order)
        last = self._played + 1
        return [
            (step, outcomes.get((number, 0)), outcomes.get((number, 1)))
            for number, step in enumerate(steps, last - len(steps))
        ]

    def _ask_server(self, step: ns.AnyRequest, server: int) -> Outcome:
        return self._ask_servers([step], [server]).get((self._played, server))

    def _ask_servers(
        self, steps: Sequence[ns.AnyRequest], servers: Sequence[int]
    ) -> dict[tuple[int, int], Outcome]:
        """What came of requests, by the numbers of step and server."""
        self._played += len(steps)
        seen = self._executor.ask_alike(steps, servers)
        self._noted(seen)
        return {(one.number, one.server): one.outcome for one in seen if not isinstance(one.step, Close)}

    def _noted(self, seen: Sequence[Observation]) -> None:
        if seen:
            self._seen.append((self._index, seen))

    # --- time -----------------------------------------------------------------------------------------------

    def _let_pass(self, step: Time) -> None:
        """Until the moment of the program: what has passed beside it is made up for."""
        self._played += 1
        ends = [began + self._expected.now + step.seconds for began in self._began]
        self._noted(self._executor.play(step, until=ends))

    def _look_at_clocks(self) -> None:
        for clock, began in zip(self._clocks, self._began, strict=True):
            if clock.now() - began - self._expected.now > self._slack:
                raise Stalled

    def _pause(self, seconds: float) -> float:
        """A moment in which what is under way can happen; virtual time costs nothing. Returns how long it
        was meant to be for the server that is asked first: what a starved machine adds gives no server time.
        """
        lengths = [0.03 if clock.kind == "virtual" else seconds for clock in self._clocks]
        for clock, length in zip(self._clocks, lengths, strict=True):
            clock.pause(length)
        return lengths[self._order[0]]

    # --- effects behind an answer ---------------------------------------------------------------------------

    def _has_after_effects(self, step: AnyStep) -> bool:
        if isinstance(step, Time | Close):
            return True
        return isinstance(step, Request) and (
            step.oneway
            or (self._expected.profile.has("queued-unregistration") and isinstance(step, ns.Unregister))
        )

    def _settle(self, at: int, step: AnyStep, affected: Sequence[ns.AnyRequest]) -> None:
        questions: list[ns.AnyRequest] = [ns.ClusterInfo(), ns.Topics(), *affected]
        unanswered = step.conn if isinstance(step, Request) and step.oneway else None
        if unanswered is not None:  # it has begun when what came behind it is answered
            self._ask([msgspec.structs.replace(_PROBE, conn=unanswered)])
        running = [clock for clock in self._clocks if clock.kind != "virtual"]
        if len(running) == len(_SERVERS) or unanswered is not None:
            for clock in running:  # equal at once may mean that neither has begun, or is half-way
                clock.pause(0.02)
        for clock in self._clocks:
            if clock.kind == "virtual":
                clock.pause(0.001)
        waited, brief = 0.0, 0.001
        while True:
            found: list[Differing] = []
            for asked, ours, theirs in self._ask(questions):
                if _is_alike(ours, theirs, self._compare):
                    continue
                if differs := self._differ(asked, ours, theirs):
                    found.append((asked, differs))
            endings = self._endings()
            if not found and not endings:
                return
            everything = [*found, *([(step, endings)] if endings else [])]
            self._look_at_clocks()
            if waited > _BRIEF:
                divergence = self._explainer.behind(at, step, everything)
                if divergence.is_explained or waited > PATIENCE:
                    self._note(divergence)
                    return
            waited += self._pause(brief)
            brief = min(2 * brief, _LONG)

    def _endings(self) -> tuple[Difference, ...]:
        """Connections that one of the two has closed and the other has not."""
        self._noted(self._executor.notice())
        ours, theirs = (self._executor.connections(server) for server in _SERVERS)
        return tuple(
            Difference(
                "outcome",
                ((conn, _word(conn in ours)),),
                ((conn, _word(conn in theirs)),),
                (f"connection A {_word(conn in ours)} / B {_word(conn in theirs)}",),
            )
            for conn in sorted(ours ^ theirs)
        )

    def _look_for_strays(self, end: int) -> None:
        unsolicited = self._executor.unsolicited
        if self.unexplained is not None or end == 0 or not unsolicited:
            return
        said = [
            tuple(
                (str(normal(Answered(one.stray.command), _PROBE, self._executor.names, self._compare)),)
                for one in unsolicited
                if one.server == server
            )
            for server in _SERVERS
        ]
        differs = (Difference("outcome", said[0], said[1], ("a frame that answers nothing",)),)
        self._note(self._explainer.behind(end - 1, _PROBE, [(_PROBE, differs)]))

    def _look_at_headers(self, end: int) -> None:
        """Headers that a decoder that knows types cannot read: they are compared once, for all answers."""
        outcomes = [(one.server, one.outcome) for one in self.observed]
        found = [(server, one.mistyped) for server, one in outcomes if isinstance(one, Answered)]
        said = [
            tuple(sorted({(f"no {why.wanted}",) for server, why in found if why and server == this}))
            for this in _SERVERS
        ]
        if self.unexplained is None and end and said[0] != said[1]:
            differs = (Difference("outcome", said[0], said[1], ("types in headers",)),)
            self._note(self._explainer.behind(end - 1, _PROBE, [(_PROBE, differs)]))


def _word(is_open: bool) -> str:
    return "open" if is_open else "closed"


def _is_alike(ours: Outcome, theirs: Outcome, compare: Compare) -> bool:
    """Whether two answers are equal in all that is compared, and so need not be looked into."""
    if isinstance(ours, Unanswered) and isinstance(theirs, Unanswered):
        return True
    if not isinstance(ours, Answered) or not isinstance(theirs, Answered):
        return False
    a, b = ours.command, theirs.command
    if a.code != b.code or a.body != b.body or a.ext != b.ext:
        return False
    return compare == "meaning" or (
        a.remark == b.remark
        and (a.flag, a.version, a.language, a.serialization)
        == (b.flag, b.version, b.language, b.serialization)
    )


def _affected(step: AnyStep, expected: ExpectedState) -> list[ns.AnyRequest]:
    """Questions that show whether a step has had its effect: the live records that it is about, and where
    it registers something, routes, for filter servers change without a new data version.
    """
    found: list[tuple[str, str, str]] = []
    topics: set[str] = set()
    match step:
        case ns.Unregister():
            found = [(step.cluster, step.broker, step.address)]
        case ns.Register():
            found = [(step.cluster, step.broker, step.address)]
            topics = step.topics.keys() | set(expected.topics_of(step.broker))
        case Close():
            found = [(lease.cluster, lease.broker, lease.address) for lease in expected.on(step.conn)]
    return [
        *(
            ns.QueryVersion(cluster=cluster, broker=broker, address=address, counter=_UNKNOWN_VERSION)
            for cluster, broker, address in found
        ),
        *(ns.Route(topic=topic) for topic in sorted(topics)),
    ]
