"""The clock that servers share: that of the wall, unless a test turns it.

1. It shows ms since the epoch and never goes back, whatever is done to the clocks of the machine.
2. It goes as the wall's clock, or it stands still; `to` puts it forward. (`advancing.py` does so.)
3. Servers that keep it tell it of themselves (`join`), so that what they wait for follows it.
4. Clients keep clocks of their own: `of_client` says what a moment of theirs is here.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Protocol

from .outbound import Outbound

_LOOKS = 5
"""At both clocks; the quickest counts, for between the two the process may have had to wait."""


class Server(Protocol):
    """A server that keeps a clock."""

    outbound: Outbound

    def next_tick(self) -> int:
        """When something is due, ms since the epoch; not later than now: at once."""
        ...

    def tick(self) -> None:
        """Do what is due, and look again when something is due next."""
        ...

    def keep_clients(self, *, waits: bool) -> None:
        """Clients that are connected count as heard now; `waits`: what they wait for does not end either."""
        ...

    def finish(self) -> None:
        """Write at once what waits to be written, and send what waits for that."""
        ...

    @property
    def has_unsent(self) -> bool:
        """Whether something waits for a peer to read it."""
        ...

    @property
    def heard(self) -> int:
        """How often something has come from a connection."""
        ...

    @property
    def exchanged(self) -> int:
        """How often it has sent something to another server."""
        ...

    @property
    def told(self) -> int:
        """How many frames time has made it send to clients."""
        ...


class Clock:
    """The time, as a function: ms since the epoch."""

    def __init__(self) -> None:
        self._behind = _behind()
        self._held = 0
        self._set_at = _real()
        """When it was held, let go or put forward, by `time.monotonic_ns`, ..."""
        self._set_to = self._set_at + self._behind
        """... and what it showed then, in ns since the epoch."""
        self._servers: list[Server] = []

    def __call__(self) -> int:
        return self._exactly() // 1_000_000

    @property
    def stands(self) -> bool:
        """Whether it stands still."""
        return self._held > 0

    @property
    def ahead(self) -> int:
        """By how much it is ahead of the wall's clock, in ms."""
        real = _real()
        return (self._at(real) - real - self._behind) // 1_000_000

    @property
    def servers(self) -> tuple[Server, ...]:
        """Those that keep it, in the order in which they joined."""
        return tuple(self._servers)

    def join(self, server: Server) -> None:
        """A server keeps it from now on."""
        self._servers.append(server)

    def leave(self, server: Server) -> None:
        """A server keeps it no more."""
        self._servers.remove(server)

    def of_client(self, moment: int) -> int:
        """What it shows at a moment that a client's clock shows as `moment`, now or nearly now."""
        return moment + self.ahead

    def until(self, moment: int) -> float:
        """Seconds until it shows a moment; `inf`: it stands still."""
        left = moment * 1_000_000 - self._exactly()
        if left <= 0:
            return 0.0
        return inf if self._held else left / 1e9

    def to(self, moment: int) -> None:
        """Put it forward; a moment that has passed changes nothing. What is due is not done by that."""
        real = _real()
        self._set_to, self._set_at = max(self._at(real), moment * 1_000_000), real

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let it stand still, except for `to`."""
        self.hold()
        try:
            yield
        finally:
            self.let_go()

    def hold(self) -> None:
        """Let it stand still, except for `to`, until it is let go as often as it was held."""
        self.to(0)
        self._held += 1

    def let_go(self) -> None:
        """Take back one `hold`."""
        self.to(0)
        self._held -= 1
        for server in self.servers:
            server.tick()

    def _exactly(self) -> int:
        """ns since the epoch."""
        return self._at(_real())

    def _at(self, real: int) -> int:
        return self._set_to if self._held else self._set_to + real - self._set_at


def _real() -> int:
    return time.monotonic_ns()


def _behind() -> int:
    """By how much `time.monotonic_ns` is behind the wall's clock, as clients see it, in ns."""
    looks = []
    for _ in range(_LOOKS):
        before, wall, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        looks.append((after - before, wall - before))
    return min(looks)[1]
