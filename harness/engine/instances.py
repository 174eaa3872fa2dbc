"""The running servers of a target: started when they are first needed, used again, stopped at the end.

- Where starting costs nothing each program has servers of its own, unless the pool is ``lasting``. Elsewhere
  they are used by programs one after the other, of several kinds if these are given the same `InstancePool`.
- A user that leaves a server in a state that may harm others says so (`doubt`); then the next that asks for
  servers gets new ones, unless it says that it can do with what there is.
- A server that others run is neither started nor stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.session import DEFAULT_SETUP, Instance, Setup, TargetDied, Unsupported
from harness.targets import Target


class InstancePool:
    """The servers of a target; none runs yet. ``lasting`` keeps them even where new ones cost nothing. They
    have the settings of ``setup``, where the target takes any; with ``needs_setup`` no others. All but the
    first have those of ``others``.
    """

    def __init__(
        self,
        target: Target,
        setup: Setup = DEFAULT_SETUP,
        *,
        others: Setup = DEFAULT_SETUP,
        lasting: bool = False,
        needs_setup: bool = False,
    ) -> None:
        self.target = target
        self._setup = setup
        self._others = others
        self._needs_setup = needs_setup
        self._is_renewed = target.capabilities.is_virtual and not lasting
        self._running: list[Instance] = []
        self._is_fresh = False
        self._is_doubtful = False

    def take(
        self, count: int = 1, *, fresh: bool = False, sound: bool = True
    ) -> tuple[Sequence[Instance], bool]:
        """``count`` running servers, and whether they are unused.

        ``fresh`` asks for new ones, ``sound`` for new ones where those that run are doubtful: in vain where
        they are not ours. Raises ``TargetError`` where one does not start, ``ValueError`` where there are
        fewer, ``Unsupported`` where the target takes no settings and needs them.
        """
        capabilities = self.target.capabilities
        if capabilities.is_ours and (self._is_renewed or fresh or (sound and self._is_doubtful)):
            self.close()
        if not self._running:
            self._running.append(self._first())
            self._is_fresh = capabilities.is_ours
        while len(self._running) < count:
            self._running.append(self._another())
        is_fresh, self._is_fresh = self._is_fresh, False
        return self._running[:count], is_fresh

    def death(self) -> str:
        """The last words of a server that takes no connection any more; else nothing."""
        for instance in self._running:
            try:
                if not instance.alive():
                    instance.open().close("fin")
            except TargetDied as problem:
                return str(problem)
        return ""

    def doubt(self) -> None:
        """What runs may not be as a server should be."""
        self._is_doubtful = True

    def close(self) -> None:
        """Stops what runs. May be called more than once."""
        running, self._running, self._is_doubtful = self._running, [], False
        for instance in running:
            instance.stop()

    def _first(self) -> Instance:
        if not self._setup or not self.target.capabilities.is_ours:
            return self.target.start()
        try:
            return self.target.another(self._setup)
        except Unsupported:
            if self._needs_setup:
                raise
            return self.target.start()

    def _another(self) -> Instance:
        try:
            return self.target.another(self._others)
        except Unsupported as problem:
            if self._others:
                raise
            raise ValueError(
                f"expected several servers, got one: {self.target.uri} is not ours to start again; "
                "name a target that is, such as exec:"
            ) from problem
