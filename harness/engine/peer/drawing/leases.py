"""Leases that run out, leases that are kept, and connections that lie idle.

Leases run out only where it is beyond doubt: ``SLACK`` seconds of delay at any place change nothing of what
is expected.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.peer.drawing.questions import Questions
from harness.engine.peer.drawing.registrations import Registrations
from harness.program.nameserver import steps as ns
from harness.program.step import Time
from harness.spec.nameserver.expected import Live

SLACK = 20
"""Protocol seconds by which the targets' clocks may run ahead of the program's in a round about leases."""
_LATE = 15
"""Protocol seconds by which a target may act late at x60 (`Timing.jitter`)."""


class Leases(Registrations, Questions):
    """Draws steps about time."""

    def _let_time_pass(self) -> None:
        how = self._one(("nobody", "some", "some", "idle", "short" if self._has("own-lease") else "some"))
        if how != "short":
            for lease in [lease for lease in self._expected.leases.values() if lease.length < self._lease]:
                self._leave(lease)
        everybody = list(self._expected.leases.values())
        scan = int(self._expected.profile.scan_interval)
        idle: tuple[str, ...] = ()
        match how:
            case "nobody":
                self._refresh(everybody)
                self._add(Time(seconds=int(self._lease) - SLACK))
            case "short":
                self._refresh([lease for lease in everybody if lease.length >= self._lease])
                self._add(Time(seconds=60 + scan + _LATE + SLACK))
            case _:
                leaving = [
                    lease
                    for lease in everybody
                    if lease.length == self._lease and how == "some" and self._chance.random() < 0.5
                ]
                if how == "idle":
                    self._add(ns.Route(conn="k9"))
                    idle = ("k9", *(lease.conn for lease in everybody if self._chance.random() < 0.3))
                self._refresh(everybody)
                self._add(Time(seconds=70, idle=idle))
                self._refresh([lease for lease in everybody if lease not in leaving], idle)
                self._add(Time(seconds=int(self._lease) + scan + _LATE + SLACK - 70, idle=idle))
        self._look()

    def _leave(self, lease: Live) -> None:
        self._add(
            ns.Unregister(
                conn=lease.conn,
                cluster=lease.cluster,
                broker=lease.broker,
                address=lease.address,
                id=lease.id,
            )
        )

    def _refresh(self, leases: Sequence[Live], idle: Sequence[str] = ()) -> None:
        """Renews leases; a connection that is to lie idle is not used for it."""
        for lease in leases:
            counter, timestamp, state = lease.version
            given = state if self._has("state-version") else None
            cluster, broker, address, number = lease.cluster, lease.broker, lease.address, lease.id
            conn = "q" if lease.conn in idle else lease.conn
            how = self._chance.randrange(3 if self._has("heartbeats") else 2)
            if how == 0 and conn == lease.conn:
                # The same once more: nothing new for the topic table.
                self._add(
                    ns.Register(
                        conn=lease.conn,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        id=number,
                        counter=counter,
                        timestamp=timestamp,
                        state=given,
                        lease=int(lease.length * 1000) if lease.length != self._lease else None,
                    )
                )
            elif how < 2:
                self._add(
                    ns.QueryVersion(
                        conn=conn,
                        cluster=cluster,
                        broker=broker,
                        address=address,
                        id=number,
                        counter=counter,
                        timestamp=timestamp,
                        state=given,
                    )
                )
            else:
                self._add(ns.Heartbeat(conn=conn, cluster=cluster, broker=broker, address=address, id=number))
