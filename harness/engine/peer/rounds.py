"""The run of `diff`: round after round until there are enough steps, and triage of what nothing explains.

Invariants:
- A divergence that nothing explains ends its round. It is confirmed on new servers, minimised and known from
  then on (`learning`): where its cause shows again the round goes on behind it, and most rounds avoid it. One
  that does not show again is flaky, and the run is not called equal.
- The plainest requests are looked into first, once anything has differed, so that what differs in all answers
  is not blamed on what came before one of them.
- So is the death of a server, where both are ours to start again; elsewhere it ends the run.
- A round that stalled is repeated; it counts once.
- What has been learnt when the run ends in the middle of a round is kept; the round counts as given up.
- Servers are started anew where a round has spoilt them, where too much has been left behind, and, on lines
  without `safe-scan`, before rounds about leases: their expiry scan does not survive concurrent change
  (`RouteInfoManager#scanNotActiveBroker` iterates a `HashMap` without a lock).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from harness.catalogue import Quirk, profile_named
from harness.engine.peer.causes import Example
from harness.engine.peer.experiment import Compared, PeerExperiment
from harness.engine.peer.generate import Program, plainest, round_of
from harness.engine.peer.journal import Entry, Journal
from harness.engine.peer.learning import Learner
from harness.findings.folder import name_of
from harness.findings.store import FindingStore
from harness.session import TargetDied

_REPEATS = 4
"""How often a round is tried that stalls."""
_HOPELESS = 10
"""How many rounds in a row may stall before the run ends."""
_LEFT_BEHIND = 60
"""Names of earlier rounds that may stand on a server: they are sent with every answer about the whole."""
_LEASES_IN_REAL_TIME = 1200
"""Where time is real a round about leases takes minutes: one in this many rounds is played, not one in 40."""
_PLAIN_CAUSES = 40
"""How many causes the plainest requests may show."""
_LOOK_EVERY = 25
"""Rounds between two looks at what is left behind."""


class Rounds:
    """A run on two targets. A finding is minimised with ``attempts`` at most. ``releases`` are the references
    of the lines that the targets are of, where these are two.
    """

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
        releases: PeerExperiment | None = None,
    ) -> None:
        self.experiment = experiment
        self.store = store
        self._seed = seed
        self._quirks = quirks
        self._journal = journal
        for example in journal.examples:
            experiment.causes.add(example)
        self._learner = Learner(experiment, store, now=now, attempts=attempts, releases=releases)
        self._is_primed = bool(journal.examples)
        self._fresh = True
        self._goes_on: Callable[[], bool] = lambda: True

    def play(self, steps: int, goes_on: Callable[[], bool]) -> Iterator[Entry]:
        """Plays rounds until there are ``steps`` in all, or `goes_on` says no. Raises ``TargetDied`` for a
        server that is not ours to start again.
        """
        given_up = 0
        self._goes_on = goes_on
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
        known = self.experiment.causes
        program = round_of(self._seed, number, profile=profile, quirks=self._quirks, known=known.avoids)
        entry = Entry(round=number, kind=program.kind, steps=0)
        if self._is_left_out(program, number):
            entry.left_out = True
            self._journal.add(entry)
            return entry
        is_risky = not profile_named(profile).has("safe-scan")
        before = is_risky and program.kind == "leases" and number % 120 == 0
        if not self._fresh and (before or self._is_littered(number)):
            self._restart(entry)
        self.experiment.seeded.begin(number)
        try:
            self._played(program, entry)
        except KeyboardInterrupt:
            entry.given_up = True
            if entry.learnt:
                self._journal.add(entry)
            raise
        self._journal.add(entry)
        return entry

    def _played(self, program: Program, entry: Entry) -> None:
        """Plays a round, and looks into what nothing explains."""
        compared = self._repeated(program, entry)
        if compared.attempt.violations and not self._is_primed and self._prime(entry):
            compared = self._repeated(program, entry)
        if compared.stalled:
            entry.given_up = True
            return
        entry.steps = compared.steps
        entry.triggered = compared.triggered
        entry.asked = compared.asked
        for one in compared.divergences:
            if one.quirk is not None:
                entry.explained[one.quirk] = entry.explained.get(one.quirk, 0) + 1
            elif one.cause is not None:
                times = entry.followed if one.follows else entry.seen
                times[one.cause] = times.get(one.cause, 0) + 1
        if compared.attempt.violations:
            self._triaged(program, compared, entry)

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

    def _prime(self, entry: Entry) -> bool:
        """Looks into all that differs in the plainest requests, before anything else is blamed. Whether it is
        anything.
        """
        self._is_primed = True
        program = plainest(self.experiment.profile)
        for _ in range(_PLAIN_CAUSES):
            if not self._goes_on():
                break
            compared = self.experiment.compare(program.steps)
            if not compared.attempt.violations or not self._learnt(program, compared, entry):
                break
        return bool(entry.learnt)

    def _triaged(self, program: Program, compared: Compared, entry: Entry) -> None:
        quirk = self._intermittent(compared)
        if quirk is not None and self._passes(program, entry):
            entry.explained[quirk.id] = entry.explained.get(quirk.id, 0) + 1
            return
        if not self._learnt(program, compared, entry):
            entry.unrepeated += 1

    def _learnt(self, program: Program, compared: Compared, entry: Entry) -> bool:
        """Looks into the divergence that ended a program; whether it showed again."""
        found = self._learner.look_into(program.steps, compared.attempt)
        if isinstance(found, Example):
            entry.learnt.append(found)
            entry.seen[found.cause] = entry.seen.get(found.cause, 0) + 1
        elif found is not None:
            died = found.violation
            entry.deaths[name_of(found.signature)] = f"at step {died.number + 1}: {died.actual}"
        return found is not None

    def _passes(self, program: Program, entry: Entry) -> bool:
        """Whether a program is equal on new servers, once in a few times."""
        for _ in range(_REPEATS):
            self._restart(entry)
            compared = self._repeated(program, entry)
            if not compared.attempt.violations and not compared.stalled:
                return True
        return False
