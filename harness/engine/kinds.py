"""The kinds of programs of each role, and the setting in which they play."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from harness.catalogue import Role as RoleName
from harness.catalogue import catalogue
from harness.engine.broker.role import BROKER
from harness.engine.context import DEADLINE, TargetContext
from harness.engine.controller.kind import ControllerKind, refuse_without_controller
from harness.engine.controller.role import CONTROLLER
from harness.engine.frames.corpus import Corpus
from harness.engine.frames.experiment import FrameExperiment
from harness.engine.frames.kind import FramesKind
from harness.engine.frames.play import Limits
from harness.engine.history import HistoryKind
from harness.engine.instances import InstancePool
from harness.engine.kind import Kind
from harness.engine.nameserver.role import NAMESERVER
from harness.engine.pair.kind import PairKind, refuse_without_slaves
from harness.engine.pair.role import PAIR
from harness.engine.role import Role
from harness.engine.stateful import StatefulKind
from harness.findings.deviations import Deviations
from harness.targets import Target

ROLES: Final[Mapping[RoleName, Role]] = {"nameserver": NAMESERVER, "broker": BROKER}


def played_on(kind: str, role: RoleName) -> Role:
    """What the programs of a kind are played on, of a target of a role."""
    return {ControllerKind.name: CONTROLLER, PairKind.name: PAIR}.get(kind, ROLES[role])


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The target of a kind, and how it is played on."""

    target: Target
    role: RoleName = "nameserver"
    profile: str
    quirks: str = ""
    """The server of `--quirks`, where it was given."""
    words: str
    """Decide the names together with the seeds. On a server that others use they must be new for each run."""
    servers: InstancePool | None = None
    """The servers that kinds of whole frames share; None: each kind has its own. They leave servers clean.
    Damaged frames cannot promise that, and always have servers of their own.
    """
    deadline: float = DEADLINE
    """Real seconds for a program; what it waits for by itself does not count."""
    deviations: Deviations | None = None
    """What the target is known to do otherwise, for all kinds; None: nothing."""
    suite: str = ""
    started: float = 0.0
    """Unix time."""
    strict: bool = False
    """Whether damaged frames fail by what only a SHOULD forbids."""
    corpus: Corpus | None = None
    """What damaged frames learn from and add to."""
    memory: int = Limits().memory
    """Resident bytes that a target of ours may have."""

    def context(self, role: Role | None = None) -> TargetContext:
        """A context for one kind; ``role`` is what it plays on, where that is not what the target is. Kinds
        of one role share the servers, unless another kind may have ended the expiry scan of the target.
        """
        alone = role is not None or self.target.waits_alone
        return TargetContext(
            self.target,
            self.profile,
            suite=self.suite,
            started=self.started,
            servers=None if alone else self.servers,
            deadline=self.deadline,
            role=ROLES[self.role] if role is None else role,
            quirks=self.quirks,
            deviations=self.deviations,
        )


def _stateful(setting: Setting) -> Kind:
    return StatefulKind(setting.context(), setting.words)


def _controller(setting: Setting) -> Kind:
    context = setting.context(CONTROLLER)
    _refused(context, refuse_without_controller)
    return ControllerKind(context, setting.words)


def _pair(setting: Setting) -> Kind:
    context = setting.context(PAIR)
    _refused(context, refuse_without_slaves)
    return PairKind(context, setting.words)


def _refused(context: TargetContext, refuse: Callable[[TargetContext], None]) -> None:
    """Raises ``Unsupported`` where a kind cannot be played."""
    try:
        refuse(context)
    except BaseException:
        context.close()
        raise


def _history(setting: Setting) -> Kind:
    return HistoryKind(setting.context(), setting.words)


def _frames(setting: Setting) -> Kind:
    experiment = FrameExperiment(
        setting.target,
        setting.profile,
        levels=_levels(),
        strict=setting.strict,
        limits=Limits(memory=setting.memory),
        words=setting.words,
        suite=setting.suite,
        started=setting.started,
    )
    return FramesKind(experiment, setting.corpus, setting.deviations)


@functools.cache
def _levels() -> Mapping[str, str]:
    return {one.id: one.level for one in catalogue().statements}


KINDS: Final[dict[RoleName, dict[str, Callable[[Setting], Kind]]]] = {
    "nameserver": {
        "stateful": _stateful,
        "frames": _frames,
        "history": _history,
        "controller": _controller,
    },
    "broker": {"stateful": _stateful, "history": _history, "pair": _pair},
}
"""By role and name, in the order in which `fuzz --kind all` takes them. One that cannot be played on a target
raises ``Unsupported`` with the reason.
"""
