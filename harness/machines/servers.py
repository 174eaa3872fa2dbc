"""The running servers of a target: started when they are first needed, used again, stopped at the end.

Rules of this module:
- Where starting costs nothing each program has servers of its own. Elsewhere they are used by programs one
  after the other, of several kinds if these are given the same `Servers`.
- Whoever leaves a server in a state that may harm others says so (`doubt`); then the next who asks for
  servers gets new ones, unless he says that he can do with what there is.
- A server that is somebody else's is neither started nor stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.session import Instance, Unsupported
from harness.targets import Target

__all__ = ["Servers"]


class Servers:
    """The servers of a target; none runs yet."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._running: list[Instance] = []
        self._is_fresh = False
        self._is_doubtful = False

    def take(
        self, count: int = 1, *, fresh: bool = False, sound: bool = True
    ) -> tuple[Sequence[Instance], bool]:
        """So many running servers, and whether nobody has used them before.

        ``fresh`` asks for new ones, ``sound`` for new ones where those that run are doubtful: in vain where
        they are not ours. Raises ``TargetError`` where one does not start, ``ValueError`` where there are not
        so many.
        """
        nature = self.target.nature
        if nature.is_ours and (nature.is_virtual or fresh or (sound and self._is_doubtful)):
            self.close()
        if not self._running:
            self._running.append(self.target.start())
            self._is_fresh = nature.is_ours
        while len(self._running) < count:
            self._running.append(self._another())
        is_fresh, self._is_fresh = self._is_fresh, False
        return self._running[:count], is_fresh

    def doubt(self) -> None:
        """What runs may not be as a server should be."""
        self._is_doubtful = True

    def close(self) -> None:
        """Stops what runs. May be called more than once."""
        running, self._running, self._is_doubtful = self._running, [], False
        for instance in running:
            instance.stop()

    def _another(self) -> Instance:
        try:
            return self.target.another()
        except Unsupported as problem:
            raise ValueError(
                f"expected several servers, got one: {self.target.uri} is not ours to start again; "
                "name a target that is, such as exec:"
            ) from problem
