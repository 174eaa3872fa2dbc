"""A whole RocketMQ in one process: NameServers, masters, slaves.

1. All of it is the servers that `serve nameserver` and `serve broker` are, in one event loop; they speak to
   each other over sockets, as everywhere.
2. It is ready when every Broker has been accepted by every NameServer, and not before.
3. It stops the Brokers first: they unregister from the NameServers.

`run_cluster` is what the command line calls; `serve_cluster` is the same inside an event loop.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import TypeVar

import msgspec

from reference_impl.broker import Config as BrokerConfig
from reference_impl.broker import Endpoint
from reference_impl.nameserver import Config as NameServerConfig

from .broker import broker_settings, serve_broker
from .looping import run_until_signal
from .nameserver import serve_nameserver
from .ports import Ports
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError, complain, say

_READY_WITHIN = 15.0
_LOOK_EVERY = 0.01
_MOST = 26

_T = TypeVar("_T")


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """Of how many servers a cluster is made."""

    nameservers: int = 1
    masters: int = 1
    slaves: int = 0
    """For each master."""

    def check(self) -> None:
        """Raises StartError."""
        for name, value, least in (
            ("nameservers", self.nameservers, 1),
            ("masters", self.masters, 1),
            ("slaves", self.slaves, 0),
        ):
            if not least <= value <= _MOST:
                raise StartError(
                    f"--{name} {value}: expected a number from {least} to {_MOST}", EXIT_CONFIGURATION
                )


class Cluster(msgspec.Struct, frozen=True):
    """Where the servers of a cluster are."""

    nameservers: list[str]
    """ "host:port"."""
    brokers: dict[str, dict[int, str]]
    """By broker name and id."""


def run_cluster(
    *,
    profile: str = "5.3",
    size: Size,
    host: str | None = None,
    port: int = 9876,
    config_file: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit status (0, 3 or 4).

    `port` is that of the first NameServer, 0 any free one; all others take free ones, and with `store` the
    same ones after every start. `config_file` holds settings of Brokers, under Apache's names. Without
    `store` everything is in memory. When all is ready, a line for each server goes to standard output, and
    last `ready` with what to give to clients.
    """
    try:
        size.check()
        settings = broker_settings(profile, config_file, host=host, port=0)
        if not 0 <= port <= 65_535:
            raise StartError(f"port {port}: expected a number from 0 to 65535", EXIT_CONFIGURATION)
    except StartError as error:
        complain(f"cluster: {error}")
        return error.status

    def ready(cluster: Cluster) -> None:
        for address in cluster.nameservers:
            say(f"nameserver {profile} on {address}")
        for name, addresses in cluster.brokers.items():
            for number, address in addresses.items():
                role = "slave" if number else "master"
                say(f"broker {profile} {name}, {role} {number}, on {address}")
        say(f"ready: namesrvAddr={';'.join(cluster.nameservers)}")

    return run_until_signal(
        "cluster",
        lambda stop: serve_cluster(
            profile=profile,
            size=size,
            port=port,
            settings=settings,
            store=None if store is None else Path(store),
            stop=stop,
            ready=ready,
        ),
    )


async def serve_cluster(
    *,
    profile: str = "5.3",
    size: Size,
    port: int = 0,
    settings: BrokerConfig,
    store: Path | None = None,
    stop: asyncio.Event,
    ready: Callable[[Cluster], None],
) -> None:
    """Serve until `stop` is set. `settings` are what all Brokers have in common, the host among it.

    Raises StartError if a server cannot start, or is not ready in time.
    """
    names, brokers, ports = _Servers(), _Servers(), Ports(store)
    try:
        addresses: list[str] = []
        for name, config in _nameservers(size, settings.bind_address, port, ports, store):
            with ports.named(name):
                addresses.append(await _nameserver(names, profile, config))
        endpoints: list[Endpoint] = []
        for name, broker in _brokers(size, settings, ";".join(addresses), ports, store):
            with ports.named(name):
                endpoints.append(await _broker(brokers, profile, broker))
        await brokers.first(_registered(endpoints))
        ports.keep(_kept(addresses, endpoints))
        ready(_cluster(addresses, endpoints))
        await asyncio.wait(
            [*names.tasks, *brokers.tasks, stopping := asyncio.create_task(_until(stop))],
            return_when=asyncio.FIRST_COMPLETED,
        )
        stopping.cancel()
        names.check()
        brokers.check()
    finally:
        await brokers.stop()
        await names.stop()


class _Servers:
    """Servers of one kind, each in a task that ends on request."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self._stops: list[asyncio.Event] = []

    def start(self, serving: Callable[[asyncio.Event], Coroutine[None, None, None]]) -> None:
        """Start a server: `serving(stop)`."""
        self._stops.append(asyncio.Event())
        self.tasks.append(asyncio.create_task(serving(self._stops[-1])))

    async def first(self, awaited: "Awaitable[_T]") -> _T:
        """What is awaited; raises what a server raises before it is there."""
        wanted = asyncio.ensure_future(awaited)
        try:
            await asyncio.wait([wanted, *self.tasks], return_when=asyncio.FIRST_COMPLETED)
            self.check()
            return await wanted
        finally:
            wanted.cancel()

    def check(self) -> None:
        """Raises what a server has raised."""
        for task in self.tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        """Tell all servers to stop, and wait for them."""
        for stop in self._stops:
            stop.set()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


async def _nameserver(servers: _Servers, profile: str, config: NameServerConfig) -> str:
    """The address of a NameServer that has started."""
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def started(host: str, port: int) -> None:
        ready.set_result(f"{_reachable(host)}:{port}")

    servers.start(lambda stop: serve_nameserver(profile=profile, config=config, stop=stop, ready=started))
    return await servers.first(ready)


async def _broker(servers: _Servers, profile: str, config: BrokerConfig) -> Endpoint:
    """A Broker that has started."""
    ready: asyncio.Future[Endpoint] = asyncio.get_running_loop().create_future()
    servers.start(
        lambda stop: serve_broker(profile=profile, config=config, stop=stop, ready=ready.set_result)
    )
    return await servers.first(ready)


async def _registered(endpoints: list[Endpoint]) -> None:
    """Returns when every Broker has been accepted by every NameServer.

    Raises StartError if that takes long.
    """
    try:
        async with asyncio.timeout(_READY_WITHIN):
            while not all(endpoint.broker.registrar.is_registered for endpoint in endpoints):
                await asyncio.sleep(_LOOK_EVERY)
    except TimeoutError:
        late = [e.broker.config.address for e in endpoints if not e.broker.registrar.is_registered]
        raise StartError(
            f"not registered within {_READY_WITHIN:.0f} s: {', '.join(late)}; is the machine busy, or is a "
            "setting wrong?",
            EXIT_NOT_STARTED,
        ) from None


def _nameservers(
    size: Size, host: str, port: int, ports: Ports, store: Path | None
) -> Iterator[tuple[str, NameServerConfig]]:
    for number in range(size.nameservers):
        name = _nameserver_name(number)
        yield (
            name,
            NameServerConfig(
                bind_address=host,
                listen_port=port if port and not number else ports.of(name),
                kv_config_path="" if store is None else str(store / name / "kvConfig.json"),
            ),
        )


def _brokers(
    size: Size, settings: BrokerConfig, nameservers: str, ports: Ports, store: Path | None
) -> Iterator[tuple[str, BrokerConfig]]:
    for letter in ascii_lowercase[: size.masters]:
        for number in range(size.slaves + 1):
            config = msgspec.structs.replace(
                settings,
                broker_name=f"broker-{letter}",
                broker_id=number,
                broker_role="SLAVE" if number else "ASYNC_MASTER",
                broker_ip1=_reachable(settings.bind_address),
                broker_ip2=_reachable(settings.bind_address),
                namesrv_addr=nameservers,
            )
            name = _broker_name(config)
            directory = "" if store is None else str(store / name)
            yield (
                name,
                msgspec.structs.replace(config, listen_port=ports.of(name), store_path_root_dir=directory),
            )


def _nameserver_name(number: int) -> str:
    return f"nameserver-{number}"


def _broker_name(config: BrokerConfig) -> str:
    return f"{config.broker_name}-{config.broker_id}"


def _kept(nameservers: list[str], endpoints: list[Endpoint]) -> dict[str, int]:
    """The port of each server, by its name."""
    configs = [endpoint.broker.config for endpoint in endpoints]
    return {
        _nameserver_name(number): int(address.rpartition(":")[2])
        for number, address in enumerate(nameservers)
    } | {_broker_name(config): config.listen_port for config in configs}


def _reachable(host: str) -> str:
    """An address at which one that listens there is found on this machine."""
    return "127.0.0.1" if host in ("0.0.0.0", "::", "") else host


def _cluster(nameservers: list[str], endpoints: list[Endpoint]) -> Cluster:
    brokers: dict[str, dict[int, str]] = {}
    for endpoint in endpoints:
        config = endpoint.broker.config
        brokers.setdefault(config.broker_name, {})[config.broker_id] = config.address
    return Cluster(nameservers, brokers)
