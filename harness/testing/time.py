"""Time as a test turns it: that of all servers of a cluster. Clients keep their own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from reference_impl.serve import Cluster

from .durations import Duration, milliseconds
from .problems import OptionError

T = TypeVar("T")

FASTEST: Final = 1_000
"""The greatest speed: leases and time-outs of seconds must not end while the machine is merely busy."""
_LONGEST: Final = "366d"


class Time:
    """The clock of the servers, and what turns it. Where that is done is the subclass's."""

    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine function that runs in the loop of the servers."""
        raise NotImplementedError

    @property
    def now(self) -> datetime:
        """The time of the servers."""

        async def shown(cluster: Cluster) -> int:
            return cluster.pace.now()

        return datetime.fromtimestamp(self._wait_for(shown) / 1_000, UTC)

    def advance(self, duration: Duration, *, reaction: Duration = 0, silent_clients: bool = False) -> None:
        """Put the servers' clock forward: all that is due meanwhile happens now, in its order.

        Returns when what it caused has been sent. `duration` is a text such as "2h", "1h30m" or "250ms", a
        number of seconds, or a timedelta; 366 days at most.

        What clients do about it comes when they do it, and that is mostly after the advance. With `reaction`
        (of the test's time) it is within: whenever something was sent to a client, the clock stands still
        until no client has sent anything for so long.

        Clients that are connected count as present all the time, though they have sent no heartbeat. With
        `silent_clients` they count as silent: their connections and their locks expire when they would.

        Raises OptionError.
        """
        by, pause = milliseconds(duration), milliseconds(reaction) / 1_000
        if by > milliseconds(_LONGEST):
            raise OptionError(f"advance({duration!r}): expected {_LONGEST} at most")
        self._wait_for(lambda cluster: cluster.pace.advance(by, silent=silent_clients, reaction=pause))

    def freeze(self) -> None:
        """Let the servers' clock stand still until `speed` is set; `advance` goes on working."""
        self._run(0.0)

    @property
    def speed(self) -> float:
        """How many seconds pass for the servers in a second of the test: 1, unless it was set; 0: frozen.

        It can be set, to a number above 0 and up to 1000. Raises OptionError.
        """

        async def set_to(cluster: Cluster) -> float:
            return cluster.pace.speed

        return self._wait_for(set_to)

    @speed.setter
    def speed(self, speed: float) -> None:
        if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= FASTEST:
            raise OptionError(
                f"speed={speed!r}: expected a number above 0, up to {FASTEST}; freeze() stops it"
            )
        self._run(float(speed))

    def _run(self, speed: float) -> None:
        self._wait_for(lambda cluster: cluster.pace.run(speed))
