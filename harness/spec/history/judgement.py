"""What becomes of a history, key by key.

It is never wrong in one direction: what cannot be decided within the budget is ``unknown``, and what too
little is known about is ``unjudged``; both are counted.
"""

from __future__ import annotations

import msgspec

from harness.spec.history.calls import Key
from harness.spec.history.naming import Explained, Make, Naming
from harness.spec.history.timeline import Texts, timeline
from harness.spec.linear import search
from harness.spec.observation import Violation


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a history."""

    violations: tuple[Violation, ...] = ()
    keys: int = 0
    """The number that were judged."""
    calls: int = 0
    explored: int = 0
    """Pairs of (calls, state) that were looked at."""
    unknown: tuple[str, ...] = ()
    """Keys for which the budget did not do."""
    unjudged: tuple[str, ...] = ()
    """Keys about which nothing is said, and why."""


class Judging:
    """Judges keys one after another. ``invariants``: what is broken, by the kind of the key; ``budget`` is
    for each key.
    """

    def __init__(self, naming: Naming, texts: Texts, invariants: dict[str, str], budget: int) -> None:
        self.violations: list[Violation] = []
        self._naming = naming
        self._texts = texts
        self._invariants = invariants
        self._budget = budget
        self._unknown: list[str] = []
        self._unjudged: list[str] = []
        self._keys = self._calls = self._explored = 0

    def take(self, key: Key, make: Make, where: str = "") -> bool:
        """Judges one key; whether it is not wrong. ``where``: of which server it is."""
        if key.unjudged is not None:
            self._unjudged.append(f"{key.name}{where}: {key.unjudged}")
            return True
        verdict = search(make(None), key.calls, budget=self._budget)
        self._keys += 1
        self._calls += len(key.calls)
        self._explored += verdict.explored
        if verdict.answer == "unknown":
            self._unknown.append(f"{key.name}{where}")
        elif verdict.answer == "violated":
            found = self._naming.explained(key.kind, key.calls, make)
            self.violations.append(self._violation(key, found, where))
        return verdict.answer != "violated"

    def judgement(self) -> Judgement:
        """What became of all of them."""
        return Judgement(
            violations=tuple(self.violations),
            keys=self._keys,
            calls=self._calls,
            explored=self._explored,
            unknown=tuple(self._unknown),
            unjudged=tuple(self._unjudged),
        )

    def _violation(self, key: Key, found: Explained, where: str) -> Violation:
        shows = [call for call in found.calls if call.reads] or found.calls
        lines = timeline(found.calls, self._texts)
        return Violation(
            invariant=self._invariants[key.kind],
            statement=found.anomaly.statement,
            expected=f"an order of these calls on {key.name}{where} that explains what each of them saw",
            actual=f"there is none: {found.anomaly.name}. {found.anomaly.text}\n{lines}",
            number=max(call.number for call in shows),
            anomaly=found.anomaly.name,
        )
