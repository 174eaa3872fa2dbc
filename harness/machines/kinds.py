"""The table of `--kind`: what of a role can be fuzzed, and how each kind is made.

Rules of this module: a kind is one line of `KINDS`; ``all`` is all of them, batch by batch in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.catalogue import Role as RoleName
from harness.catalogue import catalogue
from harness.machines.broker.role import BROKER
from harness.machines.concurrent import HistoryKind
from harness.machines.frames.kind import FramesKind
from harness.machines.frames.play import FrameExperiment, Limits
from harness.machines.nameserver_role import NAMESERVER
from harness.machines.role import Role
from harness.machines.run import Kind
from harness.machines.servers import Servers
from harness.machines.stage import Stage
from harness.machines.stateful import StatefulKind
from harness.session import ProfileName
from harness.targets import Target

__all__ = ["KINDS", "Setting"]

_ROLES: dict[RoleName, Role] = {"nameserver": NAMESERVER, "broker": BROKER}


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind is made of."""

    target: Target
    role: RoleName = "nameserver"
    profile: ProfileName
    seed: str
    """Decides the programs."""
    words: str
    """Decide the names, which on a server of somebody else's are new for each run."""
    servers: Servers | None = None
    """What several kinds play on; None: each on its own. Programs of peers leave servers clean and have names
    of their own; whoever sends damaged frames cannot promise that, and always has others."""
    suite: str = ""
    started: float = 0.0
    """Unix time."""
    strict: bool = False
    """Whether what only a SHOULD forbids is a failure of damaged frames too."""
    corpus: Path | None = None
    """Where the corpus of damaged frames is; None keeps it in memory."""
    memory: int = Limits().memory
    """Resident bytes that a target of ours may have."""

    def stage(self) -> Stage:
        """A stage for one kind. Kinds share the servers, unless the expiry scan of the target may have
        died of what another kind has done.
        """
        return Stage(
            self.target,
            self.profile,
            suite=self.suite,
            started=self.started,
            servers=None if self.target.waits_alone else self.servers,
            role=_ROLES[self.role],
        )

    def frames(self) -> FramesKind:
        """The kind that sends damaged frames."""
        experiment = FrameExperiment(
            self.target,
            self.profile,
            levels={one.id: one.level for one in catalogue().statements},
            strict=self.strict,
            limits=Limits(memory=self.memory),
            words=self.words,
            suite=self.suite,
            started=self.started,
        )
        return FramesKind(experiment, self.seed, self.corpus)


def _stateful(setting: Setting) -> Kind:
    return StatefulKind(setting.stage(), setting.seed, setting.words)


KINDS: dict[RoleName, dict[str, Callable[[Setting], Kind]]] = {
    "nameserver": {
        "stateful": _stateful,
        "frames": lambda setting: setting.frames(),
        "history": lambda setting: HistoryKind(setting.stage(), setting.seed, setting.words),
    },
    "broker": {"stateful": _stateful},
}
"""By role and name, in the order in which ``all`` takes them."""
