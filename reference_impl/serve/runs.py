"""The servers of a cluster, each in a task of its own, by name.

1. A server that ends without having been asked to is the end of all: `failed` is done then, and `check`
   raises what it has raised.
2. A server that was ended can be started again: on the same port, and with what it had stored, in memory too.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from reference_impl.broker import Config as BrokerConfig
from reference_impl.broker import Endpoint as BrokerEndpoint
from reference_impl.nameserver import Config as NameServerConfig
from reference_impl.nameserver import Endpoint as NameServerEndpoint

from .broker import Memory, serve_broker
from .clock import Clock
from .nameserver import serve_nameserver
from .server import Server
from .shell import Shell

_T = TypeVar("_T")


class _Run(msgspec.Struct):
    task: asyncio.Task[None]
    stop: asyncio.Event


class Runs:
    """`clock` is that of all servers."""

    def __init__(self, profile: str, clock: Clock) -> None:
        self._profile = profile
        self._clock = clock
        self._runs: dict[str, _Run] = {}
        self._memories: dict[str, Memory] = {}
        self._kept: dict[str, dict[str, bytes]] = {}
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start_nameserver(
        self,
        name: str,
        config: NameServerConfig,
        started: Callable[[Server[NameServerEndpoint]], None] = lambda _: None,
    ) -> Server[NameServerEndpoint]:
        """A NameServer that has started; `started` gets it before any request does. Raises StartError."""
        ready: asyncio.Future[Server[NameServerEndpoint]] = asyncio.get_running_loop().create_future()

        def there(shell: Shell[NameServerEndpoint]) -> None:
            host, port = shell.address
            server = Server(name, "nameserver", f"{reachable(host)}:{port}", shell)
            started(server)
            ready.set_result(server)

        stop = asyncio.Event()
        serving = serve_nameserver(
            profile=self._profile,
            config=config,
            stop=stop,
            ready=there,
            clock=self._clock,
            memory=self._kept.setdefault(name, {}),
        )
        self._run(name, asyncio.create_task(serving), stop)
        return await self.first(ready)

    async def start_broker(
        self,
        name: str,
        config: BrokerConfig,
        started: Callable[[Server[BrokerEndpoint]], None] = lambda _: None,
    ) -> Server[BrokerEndpoint]:
        """A Broker that has started, and is not registered yet; `started` gets it before any request does.
        Raises StartError.
        """
        ready: asyncio.Future[Server[BrokerEndpoint]] = asyncio.get_running_loop().create_future()

        def there(shell: Shell[BrokerEndpoint]) -> None:
            address = shell.endpoint.broker.config.address
            server = Server(name, "slave" if config.broker_id else "master", address, shell)
            started(server)
            ready.set_result(server)

        stop = asyncio.Event()
        serving = serve_broker(
            profile=self._profile,
            config=config,
            stop=stop,
            ready=there,
            clock=self._clock,
            memory=self._memories.setdefault(name, Memory()),
        )
        self._run(name, asyncio.create_task(serving), stop)
        return await self.first(ready)

    async def first(self, awaited: Awaitable[_T]) -> _T:
        """What is awaited; raises what a server raises before it is there."""
        wanted = asyncio.ensure_future(awaited)
        try:
            both: list[asyncio.Future[Any]] = [wanted, self.failed]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            self.check()
            return await wanted
        finally:
            wanted.cancel()

    def check(self) -> None:
        """Raises what a server has raised."""
        for run in self._runs.values():
            if run.task.done():
                run.task.result()

    def runs(self, name: str) -> bool:
        """Whether a server is there."""
        return name in self._runs

    async def end(self, name: str, *, kill: bool = False) -> None:
        """End one server: it takes its leave, or it does not. Raises StartError if its store fails."""
        run = self._runs.pop(name)
        if kill:
            run.task.cancel()
        else:
            run.stop.set()
        await asyncio.wait([run.task])
        if not run.task.cancelled():
            run.task.result()

    async def end_all(self) -> None:
        """Tell all servers to stop, Brokers before NameServers, and wait for them."""
        for is_broker in (True, False):
            runs = [run for name, run in self._runs.items() if (name in self._memories) is is_broker]
            for run in runs:
                run.stop.set()
            await asyncio.gather(*(run.task for run in runs), return_exceptions=True)

    def _run(self, name: str, task: asyncio.Task[None], stop: asyncio.Event) -> None:
        self._runs[name] = _Run(task, stop)
        task.add_done_callback(lambda _: self._ended(name, task))

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        run = self._runs.get(name)
        if run is not None and run.task is task and not self.failed.done():
            self.failed.set_result(None)


def reachable(host: str) -> str:
    """An address at which one that listens there is found on this machine."""
    return "127.0.0.1" if host in ("0.0.0.0", "::", "") else host
