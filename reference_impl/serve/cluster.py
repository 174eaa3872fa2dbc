"""A whole RocketMQ in one process: NameServers, masters, slaves.

1. All of it is the servers that `serve nameserver` and `serve broker` are, in one event loop; they speak to
   each other over sockets, as everywhere.
2. It is ready when every Broker has been accepted by every NameServer, and not before.
3. It stops the Brokers first: they unregister from the NameServers.

`run_cluster` is what the command line calls; `serve_cluster` is the same inside an event loop.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from string import ascii_lowercase
from typing import Any, TypeAlias

import msgspec

from reference_impl.broker import Config as BrokerConfig
from reference_impl.broker import Endpoint as BrokerEndpoint
from reference_impl.nameserver import Config as NameServerConfig
from reference_impl.nameserver import Endpoint as NameServerEndpoint

from .advancing import Pace
from .broker import broker_settings, warn_of
from .clock import Clock
from .looping import run_until_signal
from .ports import Ports
from .problems import EXIT_CONFIGURATION, EXIT_NOT_STARTED, StartError, complain, say
from .runs import Runs
from .server import Server

_READY_WITHIN = 15.0
_LOOK_EVERY = 0.01
_MOST = 26
_OWN = (
    "broker_name",
    "broker_id",
    "ha_listen_port",
    "ha_master_address",
    "namesrv_addr",
    "store_path_root_dir",
)
"""Settings that each Broker of a cluster gets from the cluster."""
_SAID_BY_CLUSTER = "what the cluster says"


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


class Cluster:
    """The servers of a cluster, as they were started last."""

    def __init__(
        self,
        nameservers: list[Server[NameServerEndpoint]],
        brokers: list[Server[BrokerEndpoint]],
        pace: Pace | None = None,
        runs: Runs | None = None,
    ) -> None:
        self.nameservers = nameservers
        self.brokers = brokers
        self.pace = Pace(Clock()) if pace is None else pace
        """How the clock goes that all of them share."""
        self._runs = runs

    @property
    def namesrv(self) -> str:
        """What clients are given: "host:port;host:port"."""
        return ";".join(server.address for server in self.nameservers)

    @property
    def ports(self) -> dict[str, int]:
        """The port of each server, by its name."""
        return {server.name: server.shell.address[1] for server in self.servers}

    @property
    def servers(self) -> list[Server[Any]]:
        """All of them."""
        return [*self.nameservers, *self.brokers]

    def runs(self, name: str) -> bool:
        """Whether a server is there."""
        return self._runs is not None and self._runs.runs(name)

    async def end(self, name: str, *, kill: bool = False) -> None:
        """End one server: it takes its leave, or it is killed. It stays in the lists as it was."""
        assert self._runs is not None
        await self._runs.end(name, kill=kill)

    async def begin(self, name: str, started: Callable[[Server[Any]], None]) -> None:
        """Start a server that was ended: the same port, the same store. `started` gets it before
        any request does.

        When this returns, the NameServers that serve know the Brokers that serve: with one that has come back
        they register at once, and not when their period is over. Raises StartError.
        """
        assert self._runs is not None

        def there(server: Server[Any]) -> None:
            kind: list[Server[Any]] = self.nameservers if server.role == "nameserver" else self.brokers
            kind[[one.name for one in kind].index(name)] = server
            started(server)

        for nameserver in self.nameservers:
            if nameserver.name == name:
                config, port = nameserver.endpoint.settings.config, nameserver.shell.address[1]
                config = msgspec.structs.replace(config, listen_port=port)
                await self._runs.start_nameserver(name, config, there)
        for broker in self.brokers:
            if broker.name == name:
                await self._runs.start_broker(name, broker.endpoint.broker.config, there)
        await self._runs.first(self._acquainted())

    def serves(self, server: Server[Any]) -> bool:
        """Whether a server is there and answers."""
        return self.runs(server.name) and not server.shell.is_paused

    async def _acquainted(self) -> None:
        nameservers = [nameserver for nameserver in self.nameservers if self.serves(nameserver)]
        brokers = [broker for broker in self.brokers if self.serves(broker)]

        def strangers() -> list[Server[BrokerEndpoint]]:
            known = [
                {
                    address
                    for broker in one.endpoint.routes.brokers.values()
                    for address in broker.addresses.values()
                }
                for one in nameservers
            ]
            return [broker for broker in brokers if not all(broker.address in one for one in known)]

        for broker in strangers():
            registrar, shell = broker.endpoint.broker.registrar, broker.shell
            registrar.register(shell.now(), force=True, check_order=False)
            shell.perform(shell.endpoint.work())
        await _soon(strangers)


Beside: TypeAlias = Callable[[Cluster, str], AbstractAsyncContextManager[None]]
"""What lasts as long as all servers are there. It gets the cluster, and what clients are given."""


def run_cluster(
    *,
    profile: str = "5.3",
    size: Size,
    host: str | None = None,
    advertise: str | None = None,
    port: int = 9876,
    broker_port: int | None = None,
    config_file: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    beside: Beside = lambda _, __: nullcontext(),
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit status (0, 3 or 4).

    `port` is that of the first NameServer, 0 any free one; `broker_port`, or `listenPort` in `config_file`,
    is that of the first Broker; all others take free ones, and with `store` the same ones after every start.
    `config_file` holds settings of Brokers, under Apache's names; `advertise` is the IP address that clients
    are given. Without `store` everything is in memory. `beside` lasts as long as all servers are there. When
    all is ready, a line for each server goes to standard output, and last `ready` with what to give to
    clients.
    """
    try:
        size.check()
        settings = broker_settings(profile, config_file, host=host, advertise=advertise, port=broker_port)
        if broker_port is None and "listenPort" not in settings.file:
            settings = msgspec.structs.replace(settings, listen_port=0)
        own = dict.fromkeys(_OWN, _SAID_BY_CLUSTER) | {"broker_role": _role_of_masters(settings)}
        warn_of("cluster", settings, own, config_file)
        if not 0 <= port <= 65_535:
            raise StartError(f"port {port}: expected a number from 0 to 65535", EXIT_CONFIGURATION)
    except StartError as error:
        complain(f"cluster: {error}")
        return error.status

    def given(cluster: Cluster) -> str:
        return ";".join(_at(advertise, nameserver.address) for nameserver in cluster.nameservers)

    def ready(cluster: Cluster) -> None:
        for nameserver in cluster.nameservers:
            say(f"nameserver {profile} on {nameserver.address}")
        for broker in cluster.brokers:
            config = broker.endpoint.broker.config
            number = config.broker_id
            say(f"broker {profile} {config.broker_name}, {broker.role} {number}, on {broker.address}")
        say(f"ready: namesrvAddr={given(cluster)}")

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
            beside=lambda cluster: beside(cluster, given(cluster)),
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
    beside: Callable[[Cluster], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
) -> None:
    """Serve until `stop` is set. `settings` are what all Brokers have in common, the host among it. `beside`
    lasts as long as all servers are there.

    Raises StartError if a server cannot start, or is not ready in time.
    """
    pace = Pace(Clock())
    runs, ports = Runs(profile, pace.now), Ports(store)
    try:
        cluster = Cluster([], [], pace, runs)
        for name, config in _nameservers(size, settings.bind_address, port, ports, store):
            with ports.named(name):
                cluster.nameservers.append(await runs.start_nameserver(name, config))
        for name, broker in _brokers(size, settings, cluster.namesrv, ports, store):
            with ports.named(name):
                cluster.brokers.append(await runs.start_broker(name, broker))
        await runs.first(_registered(cluster.brokers))
        ports.keep(cluster.ports)
        async with beside(cluster):
            ready(cluster)
            await asyncio.wait(
                [runs.failed, stopping := asyncio.create_task(_until(stop))],
                return_when=asyncio.FIRST_COMPLETED,
            )
            stopping.cancel()
            runs.check()
    finally:
        await runs.end_all()


async def begin_again(cluster: Cluster) -> None:
    """Forget what all servers have stored, and end all connections; they keep their ports. Returns when
    every Broker has been accepted by every NameServer again.

    Raises StartError if that takes long.
    """
    for nameserver in cluster.nameservers:
        nameserver.shell.begin_again()
    for broker in cluster.brokers:
        broker.shell.begin_again()
    await _registered(cluster.brokers)


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


async def _registered(brokers: list[Server[BrokerEndpoint]]) -> None:
    """Returns when every Broker has been accepted by every NameServer.

    Raises StartError if that takes long.
    """
    await _soon(lambda: [one for one in brokers if not one.endpoint.broker.registrar.is_registered])


async def _soon(strangers: Callable[[], list[Server[BrokerEndpoint]]]) -> None:
    """Returns when there are none. Raises StartError if that takes long."""
    try:
        async with asyncio.timeout(_READY_WITHIN):
            while strangers():
                await asyncio.sleep(_LOOK_EVERY)
    except TimeoutError:
        late = ", ".join(broker.address for broker in strangers())
        raise StartError(
            f"not registered within {_READY_WITHIN:.0f} s: {late}; is the machine busy, or is a "
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


def _role_of_masters(settings: BrokerConfig) -> str:
    return "SYNC_MASTER" if settings.broker_role == "SYNC_MASTER" else "ASYNC_MASTER"


def _brokers(
    size: Size, settings: BrokerConfig, nameservers: str, ports: Ports, store: Path | None
) -> Iterator[tuple[str, BrokerConfig]]:
    first = True
    for letter in ascii_lowercase[: size.masters]:
        for number in range(size.slaves + 1):
            config = msgspec.structs.replace(
                settings,
                broker_name=f"broker-{letter}",
                broker_id=number,
                broker_role="SLAVE" if number else _role_of_masters(settings),
                ha_listen_port=0,
                ha_master_address="",
                namesrv_addr=nameservers,
            )
            name = _broker_name(config)
            directory = "" if store is None else str(store / name)
            said = settings.listen_port if first else 0
            first = False
            yield (
                name,
                msgspec.structs.replace(
                    config, listen_port=said or ports.of(name), store_path_root_dir=directory
                ),
            )


def _nameserver_name(number: int) -> str:
    return f"nameserver-{number}"


def _broker_name(config: BrokerConfig) -> str:
    return f"{config.broker_name}-{config.broker_id}"


def _at(advertised: str | None, address: str) -> str:
    """An address as clients are given it."""
    return address if advertised is None else f"{advertised}:{address.rpartition(':')[2]}"
