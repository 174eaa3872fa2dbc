"""The table of `--kind`: what can be fuzzed, and how each kind is made.

Rules of this module: a kind is one line of `KINDS`; ``all`` is all of them, batch by batch in turn.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.machines.run import Kind
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulKind
from harness.session import ProfileName
from harness.targets import Target

__all__ = ["KINDS", "Setting"]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind is made of."""

    target: Target
    profile: ProfileName
    seed: str
    """Decides the programs."""
    words: str
    """Decide the names, which on a server of somebody else's are new for each run."""
    suite: str = ""
    started: float = 0.0
    """Unix time."""

    def stage(self) -> Stage:
        """A stage of its own; nothing runs on it yet."""
        return Stage(self.target, self.profile, suite=self.suite, started=self.started)


KINDS: dict[str, Callable[[Setting], Kind]] = {
    "stateful": lambda setting: StatefulKind(setting.stage(), setting.seed, setting.words),
}
"""By name, in the order in which ``all`` takes them."""
