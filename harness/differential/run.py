"""A differential run: round after round until there are enough steps, and what becomes of each divergence.

Rules of this module:
- A divergence that nothing explains is repeated, first on the same servers, then on new ones. What shows
  again is shrunk and written down; what does not is counted, and the run is not called equal.
- A round that stalled is repeated; it counts once. So is one that diverged for want of a quiet server.
- Servers are started anew where a round has spoilt them, where too much has been left behind, and, on 4.x,
  before rounds about leases: its expiry scan does not survive concurrent change
  (`RouteInfoManager#scanNotActiveBroker` iterates a `HashMap` without a lock).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.differential.duel import Divergence, Duel, Played
from harness.differential.generate import Program, round_of, usual
from harness.differential.quirks import Quirk
from harness.differential.record import Entry, Journal, write_program
from harness.program.shrink import shrunk
from harness.program.steps import AnyStep, Configure
from harness.session import Unsupported

__all__ = ["Finding", "Run"]

_REPEATS = 4
"""How often a round is tried that stalls."""
_HOPELESS = 10
"""So many rounds in a row that stall end a run."""
_LEFT_BEHIND = 60
"""Names of earlier rounds that may stand on a server: they are sent with every answer about the whole."""
_LEASES_IN_REAL_TIME = 1200
"""Where time is real a round about leases takes minutes: one in so many rounds is played, not one in 40."""
_LOOK_EVERY = 25
"""Rounds between two looks at what is left behind."""


class Finding(msgspec.Struct, kw_only=True):
    """A divergence that nothing explains and that shows again."""

    round: int
    divergence: Divergence
    program: Program
    original: Program
    directory: str | None = None


class Run:
    """A run on two sides. `attempts` bounds the work on a finding; it is done for `most` findings at most."""

    def __init__(
        self,
        duel: Duel,
        *,
        profile: str,
        seed: str,
        quirks: Sequence[Quirk],
        journal: Journal,
        out: Path | None,
        attempts: int = 300,
        most: int = 10,
    ) -> None:
        self.duel = duel
        self.findings: list[Finding] = []
        self._profile = profile
        self._seed = seed
        self._quirks = quirks
        self._journal = journal
        self._out = out
        self._attempts = attempts
        self._most = most
        self._fresh = True
        self._can_restart = True
        self._seen: set[tuple[str, ...]] = set()

    def rounds(self, steps: int, goes_on: Callable[[], bool]) -> Iterator[Entry]:
        """Plays rounds until there are ``steps`` in all, or `goes_on` says no."""
        given_up = 0
        while self._journal.steps < steps and goes_on() and given_up < _HOPELESS:
            number = self._journal.entries[-1].round + 1 if self._journal.entries else 0
            entry = self._round(number)
            given_up = given_up + 1 if entry.given_up else 0
            yield entry

    def program(self, program: Program) -> Played:
        """Plays one program, as it is."""
        return self._repeated(program, Entry(round=0, kind=program.kind, steps=0))

    # --- one round ------------------------------------------------------------------------------------------

    def _round(self, number: int) -> Entry:
        program = round_of(self._seed, number, profile=self._profile, quirks=self._quirks)
        entry = Entry(round=number, kind=program.kind, steps=0, explained={}, triggered={}, findings=[])
        if self._is_left_out(program, number):
            entry.left_out = True
            self._journal.add(entry)
            return entry
        before = self._profile == "4.9" and program.kind == "leases" and number % 120 == 0
        if not self._fresh and (before or self._is_littered(number)):
            self._restart(entry)
        played = self._repeated(program, entry)
        if played.stalled:
            entry.given_up = True
            self._journal.add(entry)
            return entry
        entry.steps = played.steps
        entry.triggered = played.triggered
        for one in played.divergences:
            if one.quirk is not None:
                entry.explained[one.quirk] = entry.explained.get(one.quirk, 0) + 1
        if played.unexplained is not None:
            self._pursue(number, program, played, played.unexplained, entry)
        self._journal.add(entry)
        return entry

    def _is_left_out(self, program: Program, number: int) -> bool:
        if program.kind == "leases" and self.duel.in_real_time:
            return number % _LEASES_IN_REAL_TIME != _LEASES_IN_REAL_TIME // 2
        return program.kind == "poison" and not self._can_restart

    def _repeated(self, program: Program, entry: Entry) -> Played:
        for _ in range(_REPEATS):
            played = self._play(program, entry)
            if not played.stalled:
                break
            entry.repeated += 1
            if any(quirk.passing and quirk.id in played.triggered for quirk in self._quirks):
                self._restart(entry)  # it may have come to pass meanwhile
        return played

    def _play(self, program: Program, entry: Entry) -> Played:
        """One performance, and the servers ready for the next."""
        played = self.duel.play(program)
        self._fresh = False
        self.duel.configure(_defaults(program.steps))
        failed = played.stalled or played.unexplained is not None
        if played.spoilt is not None or (failed and not self.duel.sweep()):
            self._restart(entry)
        return played

    def _is_littered(self, number: int) -> bool:
        return self._can_restart and number % _LOOK_EVERY == 0 and self.duel.foreign() > _LEFT_BEHIND

    def _restart(self, entry: Entry) -> None:
        try:
            self.duel.restart()
        except Unsupported:
            self._can_restart = False
            return
        entry.restarted = True
        self._fresh = True

    # --- what nothing explains ------------------------------------------------------------------------------

    def _pursue(
        self, number: int, program: Program, played: Played, divergence: Divergence, entry: Entry
    ) -> None:
        passing = next((q for q in self._quirks if q.passing and q.id in played.triggered), None)
        if passing is not None and self._passes(program, entry):
            entry.explained[passing.id] = entry.explained.get(passing.id, 0) + 1
            return
        shows = self._shows_again(program, entry)
        if shows is None:
            entry.unrepeated += 1
            self._keep(f"unrepeated-{number}", program, divergence)
            return
        signature = shows.signature
        small, seen = program, shows
        if signature not in self._seen and len(self.findings) < self._most:
            self._seen.add(signature)
            small, seen = self._shrunk(program, signature, shows, entry)
        name = f"finding-{number}"
        kept = self._keep(name, small, seen, program)
        entry.findings.append(name)
        self.findings.append(
            Finding(round=number, divergence=seen, program=small, original=program, directory=kept)
        )

    def _passes(self, program: Program, entry: Entry) -> bool:
        """Whether a program is equal on new servers, once in a few times."""
        for _ in range(_REPEATS):
            self._restart(entry)
            played = self._repeated(program, entry)
            if played.unexplained is None and not played.stalled:
                return True
        return False

    def _shows_again(self, program: Program, entry: Entry) -> Divergence | None:
        found = self._repeated(program, entry).unexplained
        if found is None:
            self._restart(entry)
            found = self._repeated(program, entry).unexplained
        return found

    def _shrunk(
        self, program: Program, signature: tuple[str, ...], shows: Divergence, entry: Entry
    ) -> tuple[Program, Divergence]:
        seen = shows

        def fails(steps: Sequence[AnyStep]) -> bool:
            nonlocal seen
            found = self._repeated(msgspec.structs.replace(program, steps=tuple(steps)), entry).unexplained
            if found is None or found.signature != signature:
                return False
            seen = found
            return True

        small = shrunk(program.steps[: shows.index + 1], fails, attempts=self._attempts)
        return msgspec.structs.replace(program, steps=small), seen

    def _keep(
        self, name: str, program: Program, divergence: Divergence, original: Program | None = None
    ) -> str | None:
        if self._out is None:
            return None
        directory = self._out / "findings" / name
        write_program(directory / "program.jsonl", program)
        if original is not None:
            write_program(directory / "original.jsonl", original)
        (directory / "divergence.json").write_bytes(
            msgspec.json.format(msgspec.json.encode(divergence), indent=2)
        )
        return str(directory)


def _defaults(steps: Sequence[AnyStep]) -> list[str]:
    """What takes the settings back that steps have changed."""
    names = dict.fromkeys(
        line.partition("=")[0] for step in steps if isinstance(step, Configure) for line in step.lines
    )
    return [f"{name}={usual(name)}" for name in names]
