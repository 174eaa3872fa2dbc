"""Which connections a server may have ended by itself, and which it must have.

A connection ends with a lease that began on it, and when nothing has come over it for the idle time of the
profile. Connections have the symbols of the program.
"""

from __future__ import annotations

from harness.program.step import Time
from harness.spec.nameserver.component import Component
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.last_operations import LastOperations
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.nameserver.state import At
from harness.spec.nameserver.terms import PROMPT
from harness.spec.observation import Observation

_BUSY = 60.0
"""Protocol seconds for which a connection that is kept busy may be quiet."""


class ConnectionEnds:
    """What is known of the ends of connections. ``jitter``: protocol seconds by which the target may act
    late.
    """

    def __init__(
        self, spec: NameServerSpec, components: Components, past: LastOperations, jitter: float
    ) -> None:
        self.is_restless = False
        """Whether connections may be ended sooner than the profile says."""
        self._spec = spec
        self._components = components
        self._past = past
        self._jitter = jitter
        self._used: dict[str, At] = {}
        self._idling: set[str] = set()
        self._ending: set[str] = set()
        """Connections that the target may have ended: a lease has, or nothing came over them."""
        self._over: dict[str, str] = {}
        """Connections that the target must have ended, and the invariants that say so."""

    def used(self, conn: str, at: At) -> None:
        """Something was sent over it that was not its end."""
        self._used[conn] = at

    def is_busy(self, conn: str) -> None:
        """It does not lie idle any more."""
        self._idling.discard(conn)

    def time_passed(self, step: Time, returned: float) -> None:
        """Those that the step lets idle lie idle from now on; all others were kept busy."""
        for conn in list(self._used):
            if conn in step.idle:
                self._idling.add(conn)
            elif conn not in self._idling:
                self._used[conn] = (returned - _BUSY, returned)

    def catch_up(self, seen: Observation) -> None:
        """Connections over which nothing has come for so long that the server may have closed them."""
        idle = self._spec.profile.idle
        for conn in sorted(self._idling):
            since, until = self._used.get(conn, (seen.returned, seen.returned))
            if since + idle > seen.returned:
                continue
            at = (since + idle, until + idle + self._jitter)
            self._ending.add(conn)
            surely = until + idle + self._jitter + PROMPT < seen.invoked
            for component in self._components.all:
                if conn in component.symbols:
                    self._idled(component, conn, at, seen.number, surely=surely)
            if surely:
                self._idling.discard(conn)
                if not self.is_restless and conn in self._used:
                    self._over[conn] = "idle-connection-is-closed"

    def _idled(self, component: Component, conn: str, at: At, number: int, *, surely: bool) -> None:
        for state in component.states:
            for lease in state.leases.values():
                if lease.conn == state.conns.get(conn):
                    self._past.was(component, lease.broker, "idle", number)
        closed = [self._spec.idled(state, conn, at) for state in component.states]
        self._components.keep(component, closed if surely else [*component.states, *closed])

    def leases_ended(self, component: Component) -> None:
        """The connections of the component that the target may have ended by itself, and those that it must
        have.
        """
        states = component.states
        if not any(state.ended for state in states):
            return
        self._ending |= {
            symbol
            for state in states
            if state.ended
            for symbol, conn in state.conns.items()
            if conn in state.ended
        }
        for symbol in component.symbols - self._over.keys():
            if all(state.conns.get(symbol) in state.ended for state in states):
                self._over[symbol] = "expired-connection-is-closed"

    def closed(self, conn: str) -> None:
        """The program has closed it."""
        self._idling.discard(conn)
        self._ending.discard(conn)
        self._over.pop(conn, None)
        self._used.pop(conn, None)
        self._components.untracked_conns.discard(conn)

    def seen_to_end(self, conn: str) -> None:
        """The target has ended it. Its end is judged: that it is noticed again says nothing more."""
        self._ending.add(conn)
        self._over.pop(conn, None)
        self._used.pop(conn, None)

    def restarted(self) -> None:
        """The server was started again."""
        self._used.clear()
        self._idling.clear()
        self._over.clear()

    def renamed(self, conn: str, old: str) -> None:
        """Another symbol stands for a connection from now on."""
        over = self._over.pop(conn, None)
        self._over.pop(old, None)
        if over is not None:
            self._over[old] = over
        used = self._used.pop(conn, None)
        self._used.pop(old, None)
        if used is not None:
            self._used[old] = used
        for some in (self._idling, self._ending, self._components.untracked_conns):
            some.discard(old)
            if conn in some:
                some.remove(conn)
                some.add(old)

    def outlived(self, conn: str) -> str | None:
        """The invariant that says that the target must have ended it, the first time that this is asked: it
        was idle for too long, or a lease on it has run out.
        """
        name = self._over.pop(conn, None)
        return None if conn in self._components.untracked_conns else name

    def may_have_ended(self, conn: str, seen: Observation) -> bool:
        """Whether the target may have ended it by itself."""
        since = self._used.get(conn, (seen.invoked, 0.0))[0]
        return conn in self._ending or since + self._spec.profile.idle - 1 < seen.returned
