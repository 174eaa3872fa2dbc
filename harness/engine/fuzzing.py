"""A fuzzing run: kinds of generators in turn, findings triaged, goals counted, nothing lost.

Invariants:
- Programs come in batches. The seed of the run and the number of the batch decide them, so that a run that
  was ended can be resumed at the next batch.
- Where time is the limit, kinds share the time; otherwise they share the programs. A program that takes long
  leaves the others their share.
- Everything that was seen is on the store before anything is made of it. The record (`fuzz.json`) is written
  after every batch, and at the end, however the run ends.
- A violation that a named quirk of the target explains is counted as that quirk and is no finding.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from harness.engine.kind import Kind, Transition, Tried
from harness.findings.deviations import Deviations
from harness.findings.experiment import Explain, Finding, Flaky, Rate, signature_of
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.report.text import plural
from harness.targets import TargetError

Ending = Literal["done", "interrupted", "died"]
"""The limit was reached; the user ended it; the target takes no connection any more."""

_RECORD = "fuzz.json"
_SPARE, _SHARE = 5.0, 0.1
"""Seconds, and the share of the run's time, for which a finding may still be made smaller and explained after
the end."""
_TURNS = 5
"""Turns that each kind gets at least where time is the limit, as far as its programs are short enough."""
_LATE = 20
"""After this number of late programs in a row the machine is too slow to measure anything."""


class RecordError(ValueError):
    """There is no run of this kind in the directory to go on with; the message says why."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a run ends, whichever comes first. `now` gives seconds since some beginning."""

    now: Callable[[], float]
    seconds: float | None = None
    programs: int | None = None
    """Of this run, all kinds together."""
    batch: int = 10
    """Programs in a batch: kinds take turns, and learn after each. A batch ends with its turn."""


class KindRecord(msgspec.Struct, kw_only=True):
    """What one kind has done."""

    name: str
    probes: int = 0
    """Programs that were played first, to see what the target does otherwise."""
    batches: int = 0
    programs: int = 0
    steps: int = 0
    late: int = 0
    """Programs that the machine was too slow for; nothing seen in them counts."""
    waited: float = 0.0
    """Real seconds that steps have asked for: time that passes, stalls, restarts."""
    deaths: int = 0
    """Programs at the end of which the target took no connection."""
    quirks: dict[str, int] = {}
    """Programs that ended at a named quirk."""
    goals: dict[str, int] = {}
    transitions: list[Transition] = []

    @property
    def missed(self) -> list[str]:
        """Required goals that were not reached."""
        return sorted(goal for goal, times in self.goals.items() if not times)


class Record(msgspec.Struct, kw_only=True):
    """A run, as it is kept in its directory."""

    target: str
    profile: str
    seed: str
    quirks: str = ""
    """`--quirks`, where it was said."""
    seconds: float = 0.0
    kinds: list[KindRecord] = []

    @property
    def programs(self) -> int:
        """Of all kinds."""
        return sum(kind.programs for kind in self.kinds)

    @property
    def steps(self) -> int:
        """Of all kinds."""
        return sum(kind.steps for kind in self.kinds)

    @property
    def waited(self) -> float:
        """Of all kinds."""
        return sum(kind.waited for kind in self.kinds)


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a run."""

    kind: str
    programs: int
    steps: int
    seconds: float
    findings: int
    flaky: int
    missed: int
    goals: int
    doing: str = ""
    """What takes long just now."""


class _Enough(Exception):  # noqa: N818  (control flow)
    """The limit is reached."""


class Fuzzing:
    """A run. ``record`` is the one to go on with; `heard` gets the progress. Where the target is not
    ours to start again (``is_ours``), its death ends the run.
    """

    def __init__(
        self,
        kinds: Sequence[Kind],
        record: Record,
        store: FindingStore,
        budget: Budget,
        limits: Limits,
        *,
        explain: Explain | None = None,
        deviations: Deviations | None = None,
        is_ours: bool = True,
        out: Path | None = None,
        heard: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.record = record
        self.trouble = ""
        """Why the record could not be written, where it could not."""
        self.death = ""
        """What was seen when the target had died."""
        self.slowness = "the machine is too slow for the target's clock"
        """Why no program was in time, where none was."""
        self._kinds = kinds
        self._had = {kind.name: 0.0 for kind in kinds}
        """What each kind has had of what the kinds share: seconds or batches."""
        self._store = store
        self._budget = budget
        self._limits = limits
        self._explain = explain
        self._deviations = Deviations() if deviations is None else deviations
        self._deviations.learn(store.findings)
        self._is_ours = is_ours
        self._out = out
        self._heard = heard
        self._is_met = False
        """Whether the target has played anything in this run: what was never there has not died."""
        self._began = limits.now()
        if limits.seconds is not None:
            until = self._began + limits.seconds + min(budget.seconds, max(_SPARE, limits.seconds * _SHARE))
            self._budget = msgspec.structs.replace(budget, until=until)
        self._before = (record.seconds, record.programs)
        self._late_in_a_row = 0
        known = {one.name: one for one in record.kinds}
        for kind in kinds:
            if kind.name not in known:
                known[kind.name] = KindRecord(name=kind.name)
                record.kinds.append(known[kind.name])
            elif known[kind.name].goals:
                kind.take_over(known[kind.name].goals, known[kind.name].transitions)
        self._records = known

    def run(self) -> Ending:
        """Until a limit, an interrupt, or the death of the target. Raises TargetError, and writes nothing, if
        there is no target to begin with.
        """
        ending: Ending = "done"
        try:
            for kind in self._kinds:
                self._probe(kind)
            while self._goes_on():
                self._take_turn(min(self._kinds, key=lambda kind: self._had[kind.name]))
        except _Enough:
            pass
        except KeyboardInterrupt:
            ending = "interrupted"
        except _Died:
            ending = "died"
        except TargetError as problem:
            if not self._is_met:
                raise
            ending, self.death = "died", str(problem)
        self._note()
        return ending

    # --- programs -------------------------------------------------------------------------------------------

    def _goes_on(self) -> bool:
        limits = self._limits
        if limits.programs is not None and self.record.programs - self._before[1] >= limits.programs:
            return False
        return limits.seconds is None or limits.now() - self._began < limits.seconds

    def _probe(self, kind: Kind) -> None:
        """Sees what the target does otherwise, so that programs go round it."""
        record = self._records[kind.name]
        for number, program in list(enumerate(kind.probes()))[record.probes :]:
            record.probes += 1
            self._judge(kind, record, kind.probe(program, number))
            if not self._goes_on():
                raise _Enough
        if self._deviations.left_out:
            self._tell(kind, f"left out: {', '.join(map(str, self._deviations.left_out))}")

    def _take_turn(self, kind: Kind) -> None:
        limits, began = self._limits, self._limits.now()
        if limits.seconds is None:
            self._batch(kind, until=None)
            self._had[kind.name] += 1
        else:
            self._batch(kind, until=began + limits.seconds / len(self._kinds) / _TURNS)
            self._had[kind.name] += limits.now() - began

    def _batch(self, kind: Kind, until: float | None) -> None:
        record = self._records[kind.name]
        number, record.batches = record.batches, record.batches + 1
        for at in range(self._size()):
            self._tried(kind, record, kind.run(f"{self.record.seed}/{number}/{at}"))
            if until is not None and self._limits.now() >= until:
                break
        kind.settle()
        self._note()

    def _size(self) -> int:
        size = self._limits.batch
        left = self._limits.programs
        return size if left is None else min(size, max(1, left - self.record.programs + self._before[1]))

    def _tried(self, kind: Kind, record: KindRecord, tried: Tried) -> None:
        attempt = tried.attempt
        record.programs += 1
        record.steps += attempt.stepped
        record.waited += attempt.waited
        self._tell(kind)
        self._judge(kind, record, tried)
        if not self._goes_on():
            raise _Enough

    def _judge(self, kind: Kind, record: KindRecord, tried: Tried) -> None:
        """What a program has come to."""
        self._is_met = True
        attempt = tried.attempt
        if attempt.ended == "late":
            record.late += 1
            self._late_in_a_row += 1
            if self._late_in_a_row >= _LATE:
                raise _Enough
        else:
            self._late_in_a_row = 0
        if attempt.ended == "died":
            record.deaths += 1
            self.death = attempt.violations[-1].actual if attempt.violations else ""
            if not self._is_ours:
                self._keep_unconfirmed(kind, tried)
                raise _Died
        if tried.quirk is not None:
            record.quirks[tried.quirk] = record.quirks.get(tried.quirk, 0) + 1
        elif attempt.violations and attempt.ended != "late":
            known = self._store.known(tried.program, attempt.violations[0])
            if known is not None:
                self._store.again(known)
                return
            self._tell(kind, f"confirming {attempt.violations[0].statement}")
            found = triage(kind.experiment, tried.program, attempt, self._store, self._budget, self._explain)
            self._deviations.learn(self._store.findings)
            self._tell(kind, _told(found))

    def _keep_unconfirmed(self, kind: Kind, tried: Tried) -> None:
        """Keeps what a target died of that is not ours to start again."""
        if tried.attempt.violations:
            violation = tried.attempt.violations[0]
            seen = Flaky(
                signature=signature_of(tried.program, violation),
                violation=violation,
                program=tried.program,
                confirmed=Rate(0, 0),
            )
            self._store.keep("unconfirmed", seen, kind.experiment, (tried.attempt,))

    # --- telling --------------------------------------------------------------------------------------------

    def _tell(self, kind: Kind, doing: str = "") -> None:
        goals = kind.reached()
        self._heard(
            Progress(
                kind=kind.name,
                programs=self.record.programs,
                steps=self.record.steps,
                seconds=self._limits.now() - self._began,
                findings=len(self._store.findings),
                flaky=len(self._store.flaky),
                goals=len(goals),
                missed=sum(not times for times in goals.values()),
                doing=doing,
            )
        )

    def _note(self) -> None:
        """Writes the record down."""
        self.record.seconds = self._before[0] + self._limits.now() - self._began
        for kind in self._kinds:
            record = self._records[kind.name]
            record.goals, record.transitions = kind.reached(), kind.transitions()
        if self._out is None or self.trouble:
            return
        path = self._out / _RECORD
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(path.name + ".partial")
            partial.write_bytes(msgspec.json.format(msgspec.json.encode(self.record), indent=1))
            partial.replace(path)
        except OSError as problem:
            self.trouble = f"{path}: {problem.strerror or problem}"
            with contextlib.suppress(OSError):
                path.with_name(path.name + ".partial").unlink(missing_ok=True)


class _Died(Exception):  # noqa: N818  (control flow)
    """The target is gone and not ours to start again."""


def _told(found: Finding | Flaky) -> str:
    if isinstance(found, Finding):
        return (
            f"{found.signature.statement}: confirmed {found.confirmed}, {plural(len(found.program), 'step')}"
        )
    if not found.confirmed.tried:
        return f"{found.signature.statement}: flaky before, not tried again"
    return f"{found.signature.statement}: showed {found.confirmed} times, flaky"


def read_record(out: Path, target: str, profile: str, seed: str, quirks: str = "") -> Record:
    """The record of a run to go on with. Raises ``RecordError`` where there is none, or another one."""
    path = out / _RECORD
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except OSError as problem:
        raise RecordError(f"{path}: expected the record of a run: {problem.strerror}") from problem
    except msgspec.MsgspecError as problem:
        raise RecordError(f"{path}: expected the record of a run: {problem}") from problem
    for what, found, given in (
        ("target", record.target, target),
        ("profile", record.profile, profile),
        ("seed", record.seed, seed),
        ("quirks", record.quirks or "its own", quirks or "its own"),
    ):
        if found != given:
            raise RecordError(f"{path}: it is of {what} {found}, not {given}")
    return record
