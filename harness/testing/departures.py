"""Servers that leave and return, because a test says so or because a seed has drawn it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from reference_impl.serve import Cluster, Server

from .problems import RocketMQError

_T = TypeVar("_T")

How: TypeAlias = Literal["stop", "kill", "pause"]


class Loop(Protocol):
    """The event loop of a cluster."""

    def _call(self, function: Callable[[Cluster], _T]) -> _T: ...
    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, _T]]) -> _T: ...
    def _started(self, server: Server[Any]) -> None: ...


class Departures:
    """The servers of one cluster, one of which leaves or returns at a time."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._away: set[str] = set()
        self._moving = asyncio.Lock()

    # -- what tests call -------------------------------------------------------------------------------------

    def leave(self, name: str, how: How) -> None:
        """A server leaves. Raises RocketMQError if there is none of that name, or it has been stopped."""

        async def leave(cluster: Cluster) -> None:
            _found(cluster, name)
            if not await self.left(name, how):
                raise RocketMQError(f"{name} has been stopped already; start it before it can {how}")

        self._loop._wait_for(leave)

    def come_back(self, name: str) -> None:
        """A server is back, if it was away. Raises RocketMQError."""
        self._loop._wait_for(lambda _: self.returned(name))

    def bring_back(self) -> None:
        """All servers that are away are back. Raises RocketMQError."""
        for name in list(self._away):
            self.come_back(name)

    def absences(self) -> Absences:
        """For those that a seed draws."""
        return Absences(self, self._loop)

    # -- in the loop -----------------------------------------------------------------------------------------

    async def left(self, name: str, how: How) -> bool:
        """Whether a server has left: not where it has been stopped already."""
        async with self._moving:
            cluster = self._loop._call(_itself)
            if not cluster.runs(name):
                return False
            if how == "pause":
                _found(cluster, name).shell.pause()
            else:
                await cluster.end(name, kill=how == "kill")
            self._away.add(name)
            return True

    async def returned(self, name: str) -> None:
        """A server is back, and known to the NameServers. Raises RocketMQError, StartError."""
        async with self._moving:
            cluster = self._loop._call(_itself)
            server = _found(cluster, name)
            if cluster.runs(name):
                server.shell.resume()
            else:
                await cluster.begin(name, self._loop._started)
            self._away.discard(name)


class Absences:
    """Servers that leave and return by themselves.

    A server that is to leave while it is away, or not quite back, leaves once it is back: killed in a pause,
    it would lose what it has carried out.
    """

    def __init__(self, departures: Departures, loop: Loop) -> None:
        self._departures = departures
        self._loop = loop
        self._tasks: list[asyncio.Task[None]] = []
        self._leaving: set[str] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._over = asyncio.Event()

    def begin(self, name: str, how: How, seconds: float) -> None:
        """A server leaves in the next turn of the loop, and returns after some seconds. In the loop."""
        if how != "pause":
            self._leaving.add(name)
        self._tasks.append(asyncio.get_running_loop().create_task(self._absence(name, how, seconds)))

    def is_leaving(self, name: str) -> bool:
        """Whether a server is about to end. In the loop."""
        return name in self._leaving

    def end(self) -> None:
        """All of them are back. Raises RocketMQError where one cannot start."""

        async def ended(_: Cluster) -> None:
            self._over.set()
            await asyncio.gather(*self._tasks)

        self._loop._wait_for(ended)

    async def _absence(self, name: str, how: How, seconds: float) -> None:
        async with self._turns[name]:
            try:
                has_left = await self._departures.left(name, how)
            finally:
                self._leaving.discard(name)
            if has_left:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), seconds)
                await self._departures.returned(name)


def _itself(cluster: Cluster) -> Cluster:
    return cluster


def _found(cluster: Cluster, name: str) -> Server[Any]:
    for server in cluster.servers:
        if server.name == name:
            return server
    known = ", ".join(server.name for server in cluster.servers)
    raise RocketMQError(f"there is no server {name}; the cluster has {known}")
