"""Putting a clock forward, with everything that happens meanwhile at the servers that keep it.

1. It goes from one due time to the next, over all servers. What is due at one moment is done before the next
   one comes: the servers act, and what they send to each other arrives and is answered.
2. It returns when everything due up to then has been done, and what that caused has been sent.
3. Clients' time does not pass. They count as present: connections do not become idle, heartbeats and locks
   count as renewed, what clients wait for goes on being waited for. Or they count as silent for all that
   time, and all of it ends when it would.
4. A server that does not answer others holds time up once, for about a second; from then on, until it answers
   something, what it is asked ends when its time is over.
"""

import asyncio
from collections.abc import Callable, Iterable
from enum import Enum, auto

from .clock import Clock, Server

_TURNS = 3
"""Turns of the loop after which what a server has sent to another has arrived. On loopback one is enough."""
_LOOKS, _FAST_LOOKS, _LOOK = 1_100, 100, 0.001
"""How many looks there are at whether servers have answered and clients have read, how many of them follow
each other at once, and the seconds between the others: a second in all, or as long as the loop needs. A limit
in seconds alone would end too soon where the process gets no time to run."""
_SHARE = 0.005
"""Seconds after which others get a turn of the loop."""
_ROUNDS = 1_000
"""Rounds at one moment after which time goes on all the same."""
_STEP, _LONGEST_STEP = 0.01, 0.1
"""Seconds between two small advances of a clock that goes faster, and for how many one counts at most."""
_REACTIONS = 20
"""The pause that ends the reactions of clients is waited for this many times at most."""


class Pace:
    """How a clock goes: as that of the wall, not at all, or faster; and it can be put forward."""

    def __init__(self, clock: Clock) -> None:
        self.now = clock
        self._turning = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None
        self.speed = 1.0
        """Seconds that pass in one of the wall's clock."""

    async def advance(self, ms: int, *, silent: bool = False, reaction: float = 0.0) -> None:
        """Put the clock forward, when others that do so have done it.

        `silent`: clients count as silent. `reaction` is in seconds: whenever time made a server send
        something to a client, time stands still until no client has sent anything for so long.
        """
        async with self._turning:
            presence = Presence.SILENT if silent else Presence.WAITING
            await _Advance(self.now, presence, reaction).to(self.now() + ms)

    async def run(self, speed: float) -> None:
        """Go at a speed from now on. Any but 0 and 1 is made of many small advances, so that nothing that is
        due in between is late, however busy the machine is; if it is too busy, time passes more slowly.
        """
        async with self._turning:
            if self._running is not None:
                self._running.cancel()
                self._running = None
            if self.speed == 1 != speed:
                self.now.hold()
            elif self.speed != 1 == speed:
                self.now.let_go()
            self.speed = speed
            if speed not in (0, 1):
                self._running = asyncio.create_task(self._run(speed))

    async def _run(self, speed: float) -> None:
        loop = asyncio.get_running_loop()
        before, shown = loop.time(), float(self.now())
        while True:
            await asyncio.sleep(_STEP)
            passed, before = loop.time() - before, loop.time()
            async with self._turning:
                shown = max(shown, self.now()) + min(passed, _LONGEST_STEP) * speed * 1_000
                await _Advance(self.now, Presence.HEARD, 0.0).to(int(shown))


class Presence(Enum):
    """What clients that are connected count as while time passes for servers alone."""

    SILENT = auto()
    HEARD = auto()
    WAITING = auto()
    """They are heard, and what they wait for does not end."""


class _Advance:
    """One move of a clock."""

    def __init__(self, clock: Clock, presence: Presence, reaction: float) -> None:
        self._clock = clock
        self._presence = presence
        self._reaction = reaction
        self._loop = asyncio.get_running_loop()
        self._exchanged = -1
        self._told = self._sum(lambda server: server.told)
        self._shared_at = self._loop.time()

    async def to(self, end: int) -> None:
        clock = self._clock
        with clock.held():
            await self._settle()
            rounds = 0
            while clock.servers:
                dues = [(server.next_tick(), server) for server in clock.servers]
                due = min(due for due, _ in dues)
                if due > end:
                    break
                rounds = rounds + 1 if due <= clock() else 0
                clock.to(clock() + 1 if rounds > _ROUNDS else due)
                await self._moment([server for own, server in dues if own <= clock()])
            clock.to(end)
            await self._moment(clock.servers)
            await self._until(lambda: not any(server.has_unsent for server in clock.servers))

    async def _moment(self, servers: Iterable[Server]) -> None:
        """What is due now at these servers, and what comes of it."""
        for server in servers:
            if self._presence is not Presence.SILENT:
                server.keep_clients(waits=self._presence is Presence.WAITING)
            server.tick()
            server.finish()
        await self._settle()
        if self._loop.time() - self._shared_at > _SHARE:
            await asyncio.sleep(0)
            self._shared_at = self._loop.time()
        if self._reaction and self._told != (told := self._sum(lambda server: server.told)):
            self._told = told
            await self._hear_clients()
            await self._settle()

    async def _settle(self) -> None:
        """Until the servers have nothing more to say to each other."""
        while self._exchanged != (exchanged := self._sum(lambda server: server.exchanged)):
            self._exchanged = exchanged
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            if not await self._until(
                lambda: not any(server.outbound.is_awaiting for server in self._clock.servers)
            ):
                for server in self._clock.servers:
                    server.outbound.doubt()

    async def _until(self, met: Callable[[], bool]) -> bool:
        """Whether it was met before patience was over."""
        for look in range(_LOOKS):
            if met():
                return True
            await asyncio.sleep(0 if look < _FAST_LOOKS else _LOOK)
        return False

    async def _hear_clients(self) -> None:
        """Until no client has sent anything for the pause, or they have sent things for very long."""
        for _ in range(_REACTIONS):
            heard = self._sum(lambda server: server.heard)
            await asyncio.sleep(self._reaction)
            if heard == self._sum(lambda server: server.heard):
                return

    def _sum(self, count: Callable[[Server], int]) -> int:
        return sum(count(server) for server in self._clock.servers)
