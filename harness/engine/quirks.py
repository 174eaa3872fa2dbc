"""Named quirks that are about single steps: all those of Brokers and controllers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.catalogue import Quirk
from harness.program.steps import AnyStep
from harness.spec.quirks import Predicates, QuirksByStep


class StepQuirks:
    """The named quirks that a target may show, where these predicates say what a step is about."""

    def __init__(self, found: Sequence[Quirk], predicates: Predicates[Any]) -> None:
        self._by_step = QuirksByStep(found, predicates)

    def __bool__(self) -> bool:
        return bool(self._by_step)

    def about(self, step: AnyStep, state: Any) -> list[Quirk]:
        """Those that a step is about, where it is carried out now."""
        return self._by_step.triggered_by(step, state)
