"""When each connection last had a heartbeat for each of its groups.

A Broker ends the connection of a member that has sent no heartbeat for one of its groups for 120 s, whatever
else came on it: the other groups of that connection lose the member, too. Source: ConsumerManager and
ProducerManager#scanNotActiveChannel (4.9.8, 5.3.3).
"""

from __future__ import annotations

from harness.program.broker import steps as bk
from harness.wire import Command

SURELY_ALIVE = 100.0
"""Seconds after a heartbeat for which a client is surely a member (`ClientHousekeepingService`: 120 s)."""


class Heartbeats:
    """Those of one Broker's clients."""

    def __init__(self) -> None:
        self._last: dict[str, dict[str, float]] = {}
        """By connection and group: when the last heartbeat was sent that was answered, else the first one."""

    def beat(self, step: bk.Beat, begin: float, answer: Command | None) -> None:
        """34."""
        groups = self._last.setdefault(step.conn, {})
        for group in (*step.groups, *step.producers):
            if answer is not None and not answer.code:
                groups[group] = begin
            else:
                groups.setdefault(group, begin)

    def left(self, step: bk.Leave, answer: Command | None) -> None:
        """35."""
        if answer is not None and not answer.code:
            for group in (step.group, step.producer):
                self._last.get(step.conn, {}).pop(group or "", None)

    def closed(self, conn: str) -> None:
        """A connection ended."""
        self._last.pop(conn, None)

    def restarted(self) -> None:
        """The Broker has forgotten all clients."""
        self._last.clear()

    def may_be_ended(self, conn: str, moment: float) -> bool:
        """Whether the Broker may have ended a connection by a moment."""
        return any(last + SURELY_ALIVE <= moment for last in self._last.get(conn, {}).values())
