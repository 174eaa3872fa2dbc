"""One program on two targets: the same frames to both, and what they do not agree on.

Rules of this module:
- Both are asked before either is waited for. Frames that are equal are not looked into.
- Steps that change nothing go out together, up to `TOGETHER` of them; all others one by one, because a server
  answers in any order (`NettyRemotingAbstract#processRequestCommand`).
- What happens behind an answer (unregistration on 5.x), behind a close, or without any (one-way, time) is
  waited for: until both show the same, or `Timing` says that it will not come.
- The clocks of both follow the program. Where one has run ahead of it by more than is safe for the leases,
  the round is `stalled`, and nothing seen in it counts.
- An unexplained divergence ends a round: what follows from it is no news.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence

import msgspec

from harness.differential.generate import SLACK, Program
from harness.differential.model import Model
from harness.differential.normal import Difference, Normal, differences, normal
from harness.differential.quirks import ByStep, Quirk, Taints
from harness.differential.side import Side
from harness.program.broker_steps import AnyBrokerRequest
from harness.program.chance import Chance
from harness.program.frames import Names, frame_of
from harness.program.steps import (
    QUIET,
    AnyRequest,
    AnyStep,
    Close,
    ClusterInfo,
    Configure,
    Damaged,
    Kv,
    QueryVersion,
    Reconnect,
    Register,
    Request,
    Restart,
    Route,
    Time,
    Topics,
    Unknown,
    Unregister,
)
from harness.wire import ResponseCode

__all__ = ["ASKING", "Divergence", "Duel", "Played"]

TOGETHER = 8
"""So many questions are under way at once."""
PATIENCE = 0.6
"""Waiting seconds until an effect behind an answer must be there."""
_BRIEF = 0.02
"""Waiting seconds after which a difference that has a name is taken for the effect."""
_PLAIN_SLACK = 80.0
"""Protocol seconds that a round without time may take: far less than any of its leases (120)."""
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
_PROBE = Kv(code=101, namespace="probe", key="probe")
_UNKNOWN_VERSION = -1


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers that are not the same."""

    index: int
    """Of the step in its program."""
    step: AnyStep
    differences: tuple[Difference, ...]
    quirk: str | None = None
    """What explains it, if anything does."""
    settling: bool = False
    """It was seen after the step, when its effect was waited for."""

    @property
    def signature(self) -> tuple[str, ...]:
        """What kind of divergence it is: the step's kind and the fields."""
        kind = str(type(self.step).__struct_config__.tag)
        fields = dict.fromkeys(one.field for one in self.differences)
        return (kind, "after" if self.settling else "answer", *fields)


class Played(msgspec.Struct, kw_only=True):
    """What became of a program."""

    steps: int = 0
    divergences: list[Divergence] = []
    stalled: bool = False
    spoilt: str | None = None
    """The quirk after which the servers must be started anew."""
    triggered: dict[str, int] = {}
    """Steps that were about a quirk, by its id."""

    @property
    def unexplained(self) -> Divergence | None:
        """The divergence that ended it."""
        return next((one for one in self.divergences if one.quirk is None), None)


class _Stalled(Exception):  # noqa: N818  (an event)
    pass


class Duel:
    """Two running targets. `announces` is the version of requests that name none."""

    def __init__(
        self, a: Side, b: Side, *, five: bool, announces: int, quirks: Sequence[Quirk], names: Chance
    ) -> None:
        self.a = a
        self.b = b
        self._five = five
        self._announces = announces
        self._quirks = ByStep(quirks)
        self._source = names
        self._opaques = itertools.count(1)
        self._began: tuple[float, float] = (0.0, 0.0)
        self._slack = _PLAIN_SLACK
        self._names = Names(names)
        # The one whose answer takes longest is asked first.
        self._order = (b, a) if a.is_virtual else (a, b)

    @property
    def in_real_time(self) -> bool:
        """Whether a second of one of the two is a second."""
        return any(side.clock.kind == "real" for side in (self.a, self.b))

    # --- a round --------------------------------------------------------------------------------------------

    def play(self, program: Program) -> Played:
        """Carries a program out, with names of its own. Raises ``TargetDied``."""
        self._names = Names(self._source)
        # Between two rounds a connection may have lain idle until the server closed it.
        self.close_connections()
        self._began = (self.a.clock.now(), self.b.clock.now())
        self._slack = SLACK if program.kind == "leases" else _PLAIN_SLACK
        played = Played(divergences=[], triggered={})
        model, taints = Model(five=self._five), Taints()
        try:
            self._carry_out(program.steps, model, taints, played)
        except _Stalled:
            played.stalled = True
        played.spoilt = taints.server
        return played

    def configure(self, lines: Iterable[str]) -> None:
        """Changes settings on both sides, which is no part of any program."""
        for line in lines:
            for side in (self.a, self.b):
                self._ask_one(side, Configure(lines=(line,)))

    def sweep(self) -> bool:
        """Takes away what the last round may have left; False where some of it stays."""
        self.close_connections()
        for _ in range(20):
            left = [self._leftovers(side) for side in (self.a, self.b)]
            if not any(left):
                return True
            for side, steps in zip((self.a, self.b), left, strict=True):
                for step in steps:
                    self._ask_one(side, step)
            self._pause()
        return False

    def foreign(self) -> int:
        """How many broker names and clusters stand on either server that no running round made."""
        return max(len(self._cluster_tables(side)) for side in (self.a, self.b))

    def close_connections(self) -> None:
        """Ends the connections of the last round."""
        self.a.close_all()
        self.b.close_all()

    def restart(self) -> None:
        """New servers in place of both. Raises ``TargetError``, ``Unsupported``."""
        self.a.restart()
        self.b.restart()

    # --- steps ----------------------------------------------------------------------------------------------

    def _carry_out(self, steps: Sequence[AnyStep], model: Model, taints: Taints, played: Played) -> None:
        at, end = 0, len(steps)
        while at < end:
            first = steps[at]
            till = at + 1
            if isinstance(first, QUIET):
                while till < end and till - at < TOGETHER and isinstance(steps[till], QUIET):
                    till += 1
            batch = steps[at:till]
            triggered = self._prepare(batch, model, taints, played)
            affected = _affected(first, model)
            if isinstance(first, Time):
                self._let_pass(first, model)
            elif isinstance(first, Close):
                self.a.close(first.conn, first.how)
                self.b.close(first.conn, first.how)
            elif isinstance(first, Damaged | Reconnect | Restart | AnyBrokerRequest):
                raise ValueError(f"{first!r} is no part of a differential program")
            elif first.oneway:
                self._send([first])
            else:
                self._compare_answers(at, batch, taints, triggered, played)
            for step in batch:
                model.apply(step)
            self._look_at_clocks(model)
            played.steps = till
            if played.unexplained is None and self._has_after_effects(first):
                self._settle(at, first, affected, taints, played)
            if played.unexplained is not None:
                return
            at = till
        self._look_for_strays(end, played)

    def _prepare(
        self, batch: Sequence[AnyStep], model: Model, taints: Taints, played: Played
    ) -> list[list[Quirk]]:
        """The quirks that each step is about; what they touch is tainted."""
        found = []
        for step in batch:
            quirks = self._quirks.triggered_by(step, model)
            for quirk in quirks:
                played.triggered[quirk.id] = played.triggered.get(quirk.id, 0) + 1
                taints.add(quirk, step, model)
            taints.spread(step, model)
            found.append(quirks)
        return found

    def _compare_answers(
        self,
        at: int,
        batch: Sequence[AnyStep],
        taints: Taints,
        triggered: list[list[Quirk]],
        played: Played,
    ) -> None:
        requests = [step for step in batch if isinstance(step, AnyRequest)]
        for offset, (step, ours, theirs) in enumerate(self._ask(requests)):
            if ours == theirs and ours is not None:
                continue
            found = self._differ(step, ours, theirs)
            if not found:
                continue
            quirk = _explanation(found, step, taints, triggered[offset])
            played.divergences.append(
                Divergence(index=at + offset, step=step, differences=found, quirk=quirk)
            )
            if quirk is None:
                return

    def _differ(self, step: AnyStep, ours: bytes | None, theirs: bytes | None) -> tuple[Difference, ...]:
        conn = step.conn if isinstance(step, Request) else "q"
        a = self._normal(self.a, conn, step, ours)
        b = self._normal(self.b, conn, step, theirs)
        return differences(a, b, self._names)

    def _normal(self, side: Side, conn: str, step: AnyStep, frame: bytes | None) -> Normal:
        said = normal(frame, side.ending(conn) if frame is None else "open", step, self._names)
        if isinstance(step, ClusterInfo):
            for _ in range(_AGAIN):
                if said.get("code") != ResponseCode.SYSTEM_ERROR:
                    break
                again = self._ask_one(side, step)
                said = normal(again, side.ending("q") if again is None else "open", step, self._names)
        return said

    # --- asking ---------------------------------------------------------------------------------------------

    def _ask(self, steps: Sequence[AnyRequest]) -> list[tuple[AnyRequest, bytes | None, bytes | None]]:
        opaques = self._send(steps)
        if len(steps) == 1 and isinstance(steps[0], Unknown):
            return [self._perhaps_silent(steps[0], opaques[0])]
        seconds = {side: side.clock.timing.answer for side in self._order}
        answers: dict[Side, list[bytes | None]] = {}
        for side in reversed(self._order):
            answers[side] = [
                side.answer(step.conn, opaque, seconds[side])
                for step, opaque in zip(steps, opaques, strict=True)
            ]
        return [(step, answers[self.a][i], answers[self.b][i]) for i, step in enumerate(steps)]

    def _send(self, steps: Sequence[AnyRequest]) -> list[int]:
        opaques = [next(self._opaques) for _ in steps]
        streams: dict[str, list[bytes]] = {}
        for step, opaque in zip(steps, opaques, strict=True):
            streams.setdefault(step.conn, []).append(frame_of(step, self._names, opaque, self._announces))
        for side in self._order:
            for conn, frames in streams.items():
                side.send(conn, frames[0] if len(frames) == 1 else b"".join(frames))
        return opaques

    def _perhaps_silent(self, step: Unknown, opaque: int) -> tuple[AnyRequest, bytes | None, bytes | None]:
        """A request that may well be met with silence: decided by a probe behind it that is answered."""
        (probe,) = self._send([msgspec.structs.replace(_PROBE, conn=step.conn)])
        found: dict[Side, bytes | None] = {}
        for side in self._order:
            side.answer(step.conn, probe, side.clock.timing.answer)
            found[side] = side.answer(step.conn, opaque, 0)
        if (found[self.a] is None) != (found[self.b] is None):
            for side in self._order:
                found[side] = found[side] or side.answer(step.conn, opaque, side.clock.timing.grace)
        return (step, found[self.a], found[self.b])

    def _ask_one(self, side: Side, step: AnyRequest) -> bytes | None:
        """A question of our own to one side, over the common connection."""
        opaque = next(self._opaques)
        step = msgspec.structs.replace(step, conn="q")
        side.send("q", frame_of(step, self._names, opaque, self._announces))
        return side.answer("q", opaque, side.clock.timing.answer)

    # --- time -----------------------------------------------------------------------------------------------

    def _let_pass(self, step: Time, model: Model) -> None:
        for side, began in ((self.a, self._began[0]), (self.b, self._began[1])):
            end = began + model.now + step.seconds
            side.clock.advance(
                max(0.0, end - side.clock.now()), functools.partial(self._keep_busy, side, step.idle)
            )

    def _keep_busy(self, side: Side, idle: Sequence[str]) -> None:
        asked = []
        for conn in side.open_connections():
            if conn not in idle and side.ending(conn) == "open":
                opaque = next(self._opaques)
                frame = frame_of(_PROBE, self._names, opaque, self._announces)
                side.send(conn, frame)
                asked.append((conn, opaque))
        for conn, opaque in asked:
            side.answer(conn, opaque, side.clock.timing.probe)

    def _look_at_clocks(self, model: Model) -> None:
        for side, began in ((self.a, self._began[0]), (self.b, self._began[1])):
            if side.clock.now() - began - model.now > self._slack:
                raise _Stalled

    def _pause(self) -> None:
        """A moment in which what is under way can happen; virtual time is had for nothing."""
        for side in (self.a, self.b):
            side.clock.pause(0.03 if side.is_virtual else 0.001)

    # --- effects behind an answer ---------------------------------------------------------------------------

    def _has_after_effects(self, step: AnyStep) -> bool:
        if isinstance(step, Time | Close):
            return True
        return isinstance(step, Request) and (step.oneway or (self._five and isinstance(step, Unregister)))

    def _settle(
        self, at: int, step: AnyStep, affected: Sequence[AnyRequest], taints: Taints, played: Played
    ) -> None:
        questions: list[AnyRequest] = [ClusterInfo(), Topics(), *affected]
        unanswered = step.conn if isinstance(step, Request) and step.oneway else None
        if unanswered is not None:  # it has begun when what came behind it is answered
            self._ask([msgspec.structs.replace(_PROBE, conn=unanswered)])
        neither = not self.a.is_virtual and not self.b.is_virtual
        if neither or unanswered is not None:  # equal at once may mean that nobody has begun, or is half-way
            for side in (self.a, self.b):
                if not side.is_virtual:
                    side.clock.pause(0.02)
        clock = self._order[0].clock
        end = clock.waiting() + PATIENCE
        if self.a.is_virtual:
            self.a.clock.pause(0.001)
        if self.b.is_virtual:
            self.b.clock.pause(0.001)
        while True:
            found: list[tuple[AnyStep, tuple[Difference, ...]]] = []
            for asked, ours, theirs in self._ask(questions):
                if ours != theirs and (differs := self._differ(asked, ours, theirs)):
                    found.append((asked, differs))
            endings = self._endings()
            if not found and not endings:
                return
            late = clock.waiting() > end
            quirk = self._after_effect(found, endings, step, taints)
            if late or (quirk is not None and clock.waiting() > end - PATIENCE + _BRIEF):
                everything = tuple(one for _, differs in found for one in differs) + endings
                played.divergences.append(
                    Divergence(index=at, step=step, differences=everything, quirk=quirk, settling=True)
                )
                return
            self._pause()

    def _after_effect(
        self,
        found: Sequence[tuple[AnyStep, tuple[Difference, ...]]],
        endings: tuple[Difference, ...],
        step: AnyStep,
        taints: Taints,
    ) -> str | None:
        """What explains all that is different behind a step."""
        by = None
        for asked, differs in (*found, (step, endings)):
            quirk = _explanation(differs, asked, taints, ())
            if differs and quirk is None:
                return None
            by = quirk or by
        return by

    def _endings(self) -> tuple[Difference, ...]:
        """Connections that one of the two has closed and the other has not."""
        conns = sorted({*self.a.open_connections(), *self.b.open_connections()})
        found = []
        for conn in conns:
            ours, theirs = self.a.ending(conn), self.b.ending(conn)
            if ours != theirs:
                found.append(Difference("outcome", ((conn, ours),), ((conn, theirs),)))
        return tuple(found)

    def _look_for_strays(self, at: int, played: Played) -> None:
        if played.unexplained is not None or at == 0:
            return
        strays = [
            [normal(frame, "open", _PROBE, self._names) for _, frame in s.strays()] for s in (self.a, self.b)
        ]
        if strays[0] or strays[1]:
            said = [tuple((str(one),) for one in side) for side in strays]
            played.divergences.append(
                Divergence(
                    index=at - 1,
                    step=_PROBE,
                    differences=(Difference("outcome", said[0], said[1]),),
                    settling=True,
                )
            )

    # --- what is left ---------------------------------------------------------------------------------------

    def _cluster_tables(self, side: Side) -> list[tuple[str, str]]:
        frame = self._ask_one(side, ClusterInfo())
        body = normal(frame, "open", Topics(), self._names).get("body")
        if not isinstance(body, dict):
            return []
        tables = [body.get("brokerAddrTable") or {}, body.get("clusterAddrTable") or {}]
        return [(str(name), "") for table in tables for name in table]

    def _leftovers(self, side: Side) -> list[AnyRequest]:
        """Unregistrations of everything of ours that a server lists."""
        said = self._normal(side, "q", ClusterInfo(), self._ask_one(side, ClusterInfo()))
        body = said.get("body")
        if not isinstance(body, dict):
            return []
        found: list[AnyRequest] = []
        for broker in (body.get("brokerAddrTable") or {}).values():
            symbols = {key: self._names.symbols(str(broker.get(key))) for key in ("cluster", "brokerName")}
            for number, address in (broker.get("brokerAddrs") or {}).items():
                found.append(
                    Unregister(
                        cluster=symbols["cluster"],
                        broker=symbols["brokerName"],
                        address=self._names.symbols(str(address)),
                        id=int(number),
                    )
                )
        return found


def _affected(step: AnyStep, model: Model) -> list[AnyRequest]:
    """Questions that show whether a step has had its effect: the live records that it is about, and where
    it registers something, routes, for filter servers change without a new data version.
    """
    found: list[tuple[str, str, str]] = []
    topics: set[str] = set()
    match step:
        case Unregister():
            found = [(step.cluster, step.broker, step.address)]
        case Register():
            found = [(step.cluster, step.broker, step.address)]
            name = model.names.get(step.broker)
            topics = step.topics.keys() | (set() if name is None else name.topics)
        case Close():
            found = [(lease.cluster, lease.broker, lease.address) for lease in model.on(step.conn)]
    return [
        *(
            QueryVersion(cluster=cluster, broker=broker, address=address, counter=_UNKNOWN_VERSION)
            for cluster, broker, address in found
        ),
        *(Route(topic=topic) for topic in sorted(topics)),
    ]


def _explanation(
    found: tuple[Difference, ...], step: AnyStep, taints: Taints, triggered: Sequence[Quirk]
) -> str | None:
    """The quirk that explains all differences of an answer; the last of them where it takes several.

    An answer of another code is another answer altogether. A dialect that nothing else explains goes with the
    body: what is not there is in no dialect.
    """
    by = None
    for one in sorted(found, key=lambda one: _FIRST.get(one.field, 1)):
        quirk = next((quirk.id for quirk in triggered if one.field in quirk.differs), None)
        named = quirk or taints.explains(one, step)
        if one.field == "code" and named is not None:
            return named
        if named is None and (one.field != "dialect" or by is None):
            return None
        by = named or by
    return by


_FIRST = {"code": 0, "dialect": 2}
