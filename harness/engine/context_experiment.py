"""What experiments on one target context have in common: its target, its profile, and new names each time."""

from __future__ import annotations

from typing import ClassVar

from harness.engine.context import TargetContext
from harness.engine.kind import SeededNames
from harness.program.names import Names


class ContextExperiment:
    """Plays given programs on a context, each under new names that ``words`` decide."""

    kind: ClassVar[str]

    def __init__(self, context: TargetContext, words: str) -> None:
        self.seeded = SeededNames(self.kind, words)
        self._context = context

    @property
    def target(self) -> str:
        """The URI."""
        return self._context.target.uri

    @property
    def profile(self) -> str:
        """The profile that the target is judged by."""
        return self._context.profile

    def names(self) -> Names:
        """New names."""
        return self.seeded.next()
