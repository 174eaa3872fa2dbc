"""`--kind history`: programs of peers that act at the same time, and the experiment that does them again.

Rules of this module:
- A program is played to its end and judged as a whole (`harness.model.history`): what overlaps can only be
  judged when all of it is known.
- Programs stay away from whatever a named quirk of Apache's server is about. The one that time can show all
  the same, an expiry scan that has died of a race (4.x), is told as that quirk.
- Real overlap needs a server that is asked over sockets. In virtual time requests of several connections are
  sent before any answer is taken, and are carried out in that order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.findings.experiment import Attempt, Ended
from harness.machines.histories import Shape, program_of
from harness.machines.judge import died
from harness.machines.known import at_most
from harness.machines.picture import Picture
from harness.machines.proofs import proven
from harness.machines.run import Tell, Tried, counted
from harness.machines.stage import Stage
from harness.model import Observed, Violation
from harness.model.history import Judgement, judge
from harness.model.judged import judged_in_a_history
from harness.program.chance import Chance, chance
from harness.program.frames import Names
from harness.program.steps import AnyStep, Close, Kv, Register, Request, Unregister
from harness.session import TargetDied, TooLate
from harness.session.errors import CaseTimeout

__all__ = ["HistoryExperiment", "HistoryKind"]

_PATIENCE = 4.0
"""Waiting seconds within which what happens behind an answer must have happened; twice what cases wait, since
a history makes the server busy.
"""
_VIRTUAL_PATIENCE = 2.0
_COSTLY = 0.01
"""The share of programs that wait where that costs real time: one wait is as long as thousands of requests.
In half as many leases run out.
"""
_SEVERAL = 0.04
"""The share of programs for two servers, where the second costs something."""
_FAST = 10
"""From this warp on, leases may run out."""

_RIVALS = "rivals register at once"
_BESIDE = "a broker leaves beside a registration of its name"
_WRITERS = "a pair is written twice at once"
_BACK = "a broker closes and is back in the next burst"
_UNDECIDED = "a key that the budget did not do for"
_REQUIRED = (_RIVALS, _BESIDE, _WRITERS, _BACK)


def _term(stage: Stage) -> float:
    nature = stage.nature
    return _VIRTUAL_PATIENCE if nature.is_virtual else _PATIENCE * nature.warp


class HistoryExperiment:
    """Plays programs that are given, on a stage. Names are new each time, and decided by ``words``."""

    kind = "history"

    def __init__(self, stage: Stage, words: str) -> None:
        self.judged = Counter[str]()
        """Keys that were judged, and those that were not: ``keys``, ``unknown``, ``unjudged``."""
        self._stage = stage
        self._words = words
        self._quirks = stage.role.quirks(stage.profile, stage.nature.scheme)
        self._attempts = 0

    @property
    def target(self) -> str:
        return self._stage.target.uri

    @property
    def profile(self) -> str:
        return self._stage.profile

    def names(self) -> Names:
        """Names that nobody has used: other kinds of one run play on the same servers."""
        self._attempts += 1
        return Names(chance("names", self.kind, self._words, self._attempts))

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool) -> Attempt:
        """Plays a program to its end and judges it; what a named quirk of the target explains is no
        violation. Raises ``TargetError``.
        """
        attempt, quirk = self.play(program, fresh=fresh, sound=False)
        return attempt if quirk is None else msgspec.structs.replace(attempt, violations=())

    def play(
        self, program: Sequence[AnyStep], *, fresh: bool = False, sound: bool = True
    ) -> tuple[Attempt, str | None]:
        """The same, with the quirk that explains all violations; ``sound`` is that of `Servers.take`."""
        names = self.names()
        servers = 1 + max((getattr(step, "server", 0) for step in program), default=0)
        player, jitters, _ = self._stage.player(servers, names, fresh=fresh, sound=sound, case=self.kind)
        picture = Picture(five=self.profile != "4.9", servers=servers)
        seen: list[Observed] = []
        passing: dict[str, None] = {}
        ended: Ended = "whole"
        violations: tuple[Violation, ...] = ()
        stepped = 0
        try:
            for step in program:
                stepped += 1
                about = self._quirks.about(at_most(step, self._stage.nature), picture)
                passing |= {quirk.id: None for quirk in about if quirk.passing}
                picture.apply(step)
                seen += player.play(step)
            seen += player.finish()
        except TargetDied as problem:
            ended, violations = "died", (died(stepped - 1, str(problem)),)
        except (TooLate, CaseTimeout):
            ended = "late"
        except KeyboardInterrupt:
            ended = "interrupted"
        else:
            violations = self._judged(seen, names, max(jitters)).violations
        quirk = None
        try:
            quirk = proven(player, servers, passing) if ended == "whole" and violations else None
        except (TooLate, CaseTimeout):
            ended, violations = "late", ()
        self._stage.leave(player, picture, ended=ended, well=not violations)
        attempt = Attempt(
            violations=violations,
            trace=player.trace,
            ended=ended,
            stepped=stepped,
            waited=player.waited,
            observed=tuple(seen),
            judged=judged_in_a_history(seen) if ended == "whole" else {},
        )
        return attempt, quirk

    def _judged(self, seen: Sequence[Observed], names: Names, jitter: float) -> Judgement:
        found = judge(seen, self.profile, names, jitter=jitter, term=_term(self._stage))
        self.judged["keys"] += found.keys
        self.judged["unknown"] += len(found.unknown)
        self.judged["unjudged"] += len(found.unjudged)
        return found


class HistoryKind:
    """Programs in which peers meet, against a target: ``seed`` decides programs, ``words`` names."""

    name = "history"

    def __init__(self, stage: Stage, seed: str, words: str) -> None:
        self.experiment = HistoryExperiment(stage, words)
        self._stage = stage
        self._seed = seed
        self._goals = Counter[str]()
        self._shape = Shape(
            profile=stage.profile,
            term=_term(stage),
            waits=1.0 if stage.nature.is_virtual else _COSTLY,
            leases=0.1 if stage.nature.is_virtual else _COSTLY / 2 if stage.nature.warp >= _FAST else 0.0,
        )

    @property
    def traits(self) -> str:
        """What of the target its programs depend on."""
        shape = self._shape
        servers = 1 + self._stage.nature.is_ours
        return f"term={shape.term:g} waits={shape.waits:g} leases={shape.leases:g} servers={servers}"

    def batch(self, number: int, programs: int, tell: Tell) -> None:
        source = chance("history", self._seed, self._stage.profile, number)
        for _ in range(programs):
            tell(self.one(source))

    def one(self, source: Chance) -> Tried:
        """Plays one program, decided by ``source`` alone."""
        nature = self._stage.nature
        several = nature.is_ours and source.random() < (0.125 if nature.is_virtual else _SEVERAL)
        shape = msgspec.structs.replace(self._shape, servers=2 if several else 1)
        program = program_of(source, shape)
        goals = _goals(program)
        before = self.experiment.judged["unknown"]
        attempt, quirk = self.experiment.play(program)
        self._goals.update(goals)
        self._goals[_UNDECIDED] += self.experiment.judged["unknown"] - before
        return Tried(program=program, attempt=attempt, quirk=quirk, goals=tuple(sorted(goals)))

    def reached(self) -> dict[str, int]:
        return counted(+self._goals, _REQUIRED)

    def transitions(self) -> list[tuple[str, str, str, int]]:
        return []

    def take_over(self, goals: dict[str, int], transitions: Sequence[tuple[str, str, str, int]]) -> None:
        self._goals.update(goals)

    def close(self) -> None:
        self._stage.close()


def _goals(program: Sequence[AnyStep]) -> set[str]:
    """Which meetings a program has."""
    found: set[str] = set()
    closed: set[str] = set()
    for burst in _bursts(program):
        registered = [step for step in burst if isinstance(step, Register)]
        if any(
            one.address != other.address
            and (one.server, one.broker, one.id) == (other.server, other.broker, other.id)
            for one in registered
            for other in registered
        ):
            found.add(_RIVALS)
        leaving = [step for step in burst if isinstance(step, Unregister)]
        if any((a.server, a.broker) == (b.server, b.broker) for a in registered for b in leaving):
            found.add(_BESIDE)
        written = [
            (step.server, step.topic) for step in burst if isinstance(step, Kv) and step.code in (100, 102)
        ]
        if len(set(written)) < len(written):
            found.add(_WRITERS)
        if any(step.conn in closed for step in registered):
            found.add(_BACK)
        closed = {step.conn for step in burst if isinstance(step, Close)}
    return found


def _bursts(program: Sequence[AnyStep]) -> list[list[AnyStep]]:
    """The steps that are under way together; a close ends what it stands behind."""
    bursts: list[list[AnyStep]] = [[]]
    for step in program:
        bursts[-1].append(step)
        if not isinstance(step, Request) or step.awaited:
            bursts.append([])
    return bursts
