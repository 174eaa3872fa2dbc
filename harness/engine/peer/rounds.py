"""The run of `diff`: round after round until there are enough steps, and triage of what nothing explains.

Invariants:
- A divergence that nothing explains is confirmed on new servers, shrunk and kept as a finding. One that does
  not show again is flaky, and the run is not called equal.
- So is the death of a server, where both are ours to start again; elsewhere it ends the run.
- A round that stalled is repeated; it counts once.
- Servers are started anew where a round has spoilt them, where too much has been left behind, and, on lines
  without `safe-scan`, before rounds about leases: their expiry scan does not survive concurrent change
  (`RouteInfoManager#scanNotActiveBroker` iterates a `HashMap` without a lock).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import Quirk, profile_named
from harness.engine.peer.comparison import Divergence
from harness.engine.peer.experiment import Compared, PeerExperiment
from harness.engine.peer.generate import Program, round_of
from harness.engine.peer.journal import Entry, Journal
from harness.findings.experiment import Finding
from harness.findings.store import FindingStore
from harness.findings.triage import Budget, triage
from harness.session import TargetDied
from harness.spec.observation import DEATH

_REPEATS = 4
"""How often a round is tried that stalls."""
_HOPELESS = 10
"""How many rounds in a row may stall before the run ends."""
_LEFT_BEHIND = 60
"""Names of earlier rounds that may stand on a server: they are sent with every answer about the whole."""
_LEASES_IN_REAL_TIME = 1200
"""Where time is real a round about leases takes minutes: one in this many rounds is played, not one in 40."""
_LOOK_EVERY = 25
"""Rounds between two looks at what is left behind."""


class Found(msgspec.Struct, kw_only=True):
    """A finding, the round that showed it first, and the divergence of its small program."""

    round: int
    finding: Finding
    divergence: Divergence | None
    """None: a server died."""


class Rounds:
    """A run on two targets. A finding is shrunk with ``attempts`` at most; `most` findings are shrunk."""

    def __init__(
        self,
        experiment: PeerExperiment,
        *,
        seed: str,
        quirks: Sequence[Quirk],
        journal: Journal,
        store: FindingStore,
        now: Callable[[], float] = lambda: 0.0,
        attempts: int = 300,
        most: int = 10,
    ) -> None:
        self.experiment = experiment
        self.findings: list[Found] = []
        self._seed = seed
        self._quirks = quirks
        self._journal = journal
        self._store = store
        self._now = now
        self._attempts = attempts
        self._most = most
        self._fresh = True

    def play(self, steps: int, goes_on: Callable[[], bool]) -> Iterator[Entry]:
        """Plays rounds until there are ``steps`` in all, or `goes_on` says no. Raises ``TargetDied`` for a
        server that is not ours to start again.
        """
        given_up = 0
        while self._journal.steps < steps and goes_on() and given_up < _HOPELESS:
            number = self._journal.entries[-1].round + 1 if self._journal.entries else 0
            entry = self._round(number)
            given_up = given_up + 1 if entry.given_up else 0
            yield entry

    def program(self, program: Program) -> Compared:
        """Plays one program, as it is."""
        return self._repeated(program, Entry(round=0, kind=program.kind, steps=0))

    # --- one round ------------------------------------------------------------------------------------------

    def _round(self, number: int) -> Entry:
        profile = self.experiment.profile
        program = round_of(self._seed, number, profile=profile, quirks=self._quirks)
        entry = Entry(round=number, kind=program.kind, steps=0, explained={}, triggered={}, findings=[])
        if self._is_left_out(program, number):
            entry.left_out = True
            self._journal.add(entry)
            return entry
        is_risky = not profile_named(profile).has("safe-scan")
        before = is_risky and program.kind == "leases" and number % 120 == 0
        if not self._fresh and (before or self._is_littered(number)):
            self._restart(entry)
        self.experiment.seeded.begin(number)
        compared = self._repeated(program, entry)
        if compared.stalled:
            entry.given_up = True
            self._journal.add(entry)
            return entry
        entry.steps = compared.steps
        entry.triggered = compared.triggered
        for one in compared.divergences:
            if one.quirk is not None:
                entry.explained[one.quirk] = entry.explained.get(one.quirk, 0) + 1
        if compared.attempt.violations:
            self._triaged(program, compared, entry)
        self._journal.add(entry)
        return entry

    def _is_left_out(self, program: Program, number: int) -> bool:
        if program.kind == "leases" and self.experiment.in_real_time:
            return number % _LEASES_IN_REAL_TIME != _LEASES_IN_REAL_TIME // 2
        return program.kind == "poison" and not self.experiment.can_restart

    def _repeated(self, program: Program, entry: Entry) -> Compared:
        for _ in range(_REPEATS):
            compared = self.experiment.compare(program.steps)
            self._fresh = False
            if compared.death and not self.experiment.can_restart:
                raise TargetDied(compared.death)
            if compared.spoilt or compared.death:
                self._restart(entry)
            if not compared.stalled:
                break
            entry.repeated += 1
            if self._intermittent(compared) is not None:
                self._restart(entry)  # it may have come to pass meanwhile
        return compared

    def _intermittent(self, compared: Compared) -> Quirk | None:
        """A quirk that a step was about and that shows on some runs only."""
        return next((q for q in self._quirks if q.is_intermittent and q.id in compared.triggered), None)

    def _is_littered(self, number: int) -> bool:
        return (
            self.experiment.can_restart
            and number % _LOOK_EVERY == 0
            and self.experiment.foreign() > _LEFT_BEHIND
        )

    def _restart(self, entry: Entry) -> None:
        if self.experiment.can_restart:
            self.experiment.restart()
            entry.restarted = True
            self._fresh = True

    # --- what nothing explains ------------------------------------------------------------------------------

    def _triaged(self, program: Program, compared: Compared, entry: Entry) -> None:
        quirk = self._intermittent(compared)
        if quirk is not None and self._passes(program, entry):
            entry.explained[quirk.id] = entry.explained.get(quirk.id, 0) + 1
            return
        attempts = self._attempts if len(self.findings) < self._most else 0
        budget = Budget(now=self._now, attempts=attempts, seconds=float("inf"), needed=1, tries=2)
        found = triage(self.experiment, program.steps, compared.attempt, self._store, budget)
        if not isinstance(found, Finding):
            entry.unrepeated += 1
            return
        name = Path(found.directory).name if found.directory is not None else f"finding-{entry.round}"
        entry.findings.append(name)
        if all(one.finding is not found for one in self.findings):
            divergence = self.experiment.divergences.get(found.violation)
            if divergence is not None or found.violation.invariant == DEATH:
                self.findings.append(Found(round=entry.round, finding=found, divergence=divergence))

    def _passes(self, program: Program, entry: Entry) -> bool:
        """Whether a program is equal on new servers, once in a few times."""
        for _ in range(_REPEATS):
            self._restart(entry)
            compared = self._repeated(program, entry)
            if not compared.attempt.violations and not compared.stalled:
                return True
        return False
