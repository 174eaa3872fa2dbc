"""Programs of damaged frames, as often as they are asked for, and the servers that carry them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from harness.engine.frames.play import FrameAttempt, Limits, Reaction
from harness.engine.instances import InstancePool
from harness.engine.kind import SeededNames
from harness.findings.experiment import Attempt
from harness.program.names import Names
from harness.program.steps import AnyStep
from harness.session import Instance, NameServerInstance, NameServerSession
from harness.targets import Target


class FrameExperiment:
    """Programs of damaged frames against a target.

    `levels` gives the levels of statements; what only a SHOULD forbids is a violation with `strict`.
    ``words`` decide the names.
    """

    kind = "frames"

    def __init__(
        self,
        target: Target,
        profile: str,
        *,
        levels: Mapping[str, str],
        strict: bool = False,
        limits: Limits | None = None,
        words: str = "",
        suite: str = "",
        started: float = 0.0,
    ) -> None:
        self.profile: str = profile
        self.reactions: list[Reaction] = []
        """Of the latest attempt."""
        self._target = target
        self._levels = levels
        self._strict = strict
        self._limits = limits or Limits()
        self.seeded = SeededNames(self.kind, words)
        self._suite = suite
        self._started = started
        self._servers = InstancePool(target)

    @property
    def target(self) -> str:
        return self._target.uri

    def attempt(self, program: Sequence[AnyStep], *, fresh: bool = False) -> Attempt:
        (instance,), _ = self._servers.take(fresh=fresh)
        one = FrameAttempt(instance, self, self.seeded.next())
        attempt = one.play(program)
        self.reactions = one.reactions
        if self._target.capabilities.is_ours and (attempt.ended == "died" or one.is_frozen):
            self.close()
        return attempt

    def close(self) -> None:
        """Ends the target."""
        self._servers.close()

    def session(self, instance: Instance, names: Names) -> NameServerSession:
        """A session for one attempt."""
        return NameServerSession(
            cast(NameServerInstance, instance),
            self.profile,
            seed=names.nonce,
            case=self.kind,
            target=self.target,
            suite=self._suite,
            started=self._started,
            deadline=120.0,
        )

    def counts(self, statement: str) -> bool:
        """Whether breaking a statement is a violation."""
        level = self._levels.get(statement, "MUST")
        return level == "MUST" or (self._strict and level == "SHOULD")

    @property
    def limits(self) -> Limits:
        return self._limits
