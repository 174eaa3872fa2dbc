"""A process that was started and takes no connection yet: how long it is worth waiting for."""

from __future__ import annotations

import time

from harness.targets.process_group import Group, look

_LOOKS = 0.25
"""Real seconds between two looks at what it does."""
_IDLE_ELSEWHERE = 2.0
"""Real seconds after which one that is idle and listens at other ports alone will not listen at its own."""


class Starting:
    """A process group that should listen at ``port``.

    ``ports`` are those that it listens at, counted from ``port``. It is given up after ``within`` real
    seconds; those in which it works, as a compiler does, do not count, until ``at_most`` have passed.
    """

    def __init__(
        self, group: int, port: int, ports: tuple[int, ...], *, within: float, at_most: float
    ) -> None:
        self._group = group
        self._port = port
        self._ports = {port + offset for offset in ports}
        self._within, self._at_most = within, max(within, at_most)
        self._began = self._looked = self._worked = time.monotonic()
        self._last = Group(0, True, ())

    def problem(self) -> str:
        """Why it is given up; empty while it is not. To be called again and again."""
        now = time.monotonic()
        if now - self._looked < _LOOKS:
            return ""
        found, self._looked = look(self._group), now
        if found.is_working or found.ticks != self._last.ticks:
            self._worked = now
        self._last = found
        where = self._elsewhere(found)
        if where and now - self._worked > _IDLE_ELSEWHERE:
            return (
                f"it listens at {where}, and not at 127.0.0.1:{self._port}; "
                "{port} in the command is the port that it must listen at"
            )
        if now - self._began > min(self._at_most, self._worked - self._began + self._within):
            return f"no connection at port {self._port} within {now - self._began:.1f} s"
        return ""

    def _elsewhere(self, found: Group) -> str:
        """Where it listens instead: at its port of another address, or at ports that are not its own."""
        near = [one for one in found.listens_at if one.endswith(f":{self._port}")]
        far = [one for one in found.listens_at if int(one.rpartition(":")[2]) not in self._ports]
        return ", ".join(near or far)
