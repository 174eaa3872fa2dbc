"""`RocketMQ`: a whole cluster inside the process of a test, as a context manager.

The servers are those of `rmq-harness serve cluster`, in a thread with an event loop of its own; clients of
any language find them at `namesrv`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from reference_impl.serve import Cluster, Server, begin_again, serve_cluster

from .administration import create_group, create_topic
from .background import Background
from .options import checked
from .problems import RocketMQError
from .recording import Recorded, Recorder, recorded
from .servers import ServerFaults
from .view import RETRIES, View

T = TypeVar("T")


class RocketMQ(View, ServerFaults):
    """A RocketMQ that lives as long as a `with` block.

        with RocketMQ(topics=["orders"]) as rocketmq:
            application = Application(namesrv=rocketmq.namesrv)

    `profile` is the release line: "5.5", "5.3" or "4.9". `masters`, `slaves` (of each master) and
    `nameservers` say how many servers there are; `port` is that of the first NameServer, 0 any free one.
    `topics` (names, or number of queues by name) and `groups` are there from the start, and after `reset`.
    Messages are in memory, or in the directory `store`. `config` holds settings of Brokers under Apache's
    names, as in `broker.conf`.

    Raises OptionError at once for what cannot be used, and RocketMQError if the cluster does not start.
    """

    def __init__(
        self,
        *,
        profile: str = "5.3",
        masters: int = 1,
        slaves: int = 0,
        nameservers: int = 1,
        port: int = 0,
        topics: Iterable[str] | Mapping[str, int] = (),
        groups: Iterable[str] = (),
        store: str | os.PathLike[str] | None = None,
        config: Mapping[str, str | int | bool] | None = None,
    ) -> None:
        super().__init__()
        self._options = checked(
            profile=profile,
            masters=masters,
            slaves=slaves,
            nameservers=nameservers,
            port=port,
            topics=topics,
            groups=groups,
            store=store,
            config=config,
        )
        self._background: Background | None = None
        self._cluster = Cluster([], [])
        """Its servers are used in the loop alone: in what `_call` and `_wait_for` are given."""
        self._recorder = Recorder()

    # -- beginning and end -----------------------------------------------------------------------------------

    def start(self) -> Self:
        """Returns when every Broker is known to every NameServer."""
        if self._background is not None:
            raise RocketMQError("RocketMQ runs already; make another object for a second cluster")
        background = Background(self._serving)
        self._cluster = background.start()
        self._background = background
        try:
            self._wait_for(self._furnished)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Ends all servers; again, it does nothing."""
        background, self._background = self._background, None
        if background is not None:
            background.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.fault.end_all(error)
        finally:
            self.stop()

    @property
    def namesrv(self) -> str:
        """What clients are given as address of the NameServers: "host:port;host:port"."""
        self._running()
        return self._cluster.namesrv

    def reset(self) -> None:
        """Make everything as it was after the start: no messages, the topics and groups that were given at
        the start, no connection of a client, no fault, time at its own speed. Servers and ports stay; clients
        connect again by themselves. Raises FaultNotMetError for a fault that was to be met and was not.
        """
        try:
            self.fault.end_all()
        finally:
            self.bring_back()
            self._wait_for(self._begun_again)

    # -- what modules of this package use --------------------------------------------------------------------

    def _call(self, function: Callable[[Cluster], T]) -> T:
        """The result of a function that is called in the loop, where the servers may be looked at."""
        return self._running().call(lambda: function(self._cluster))

    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine function that runs in the loop."""
        return self._running().wait_for(lambda: function(self._cluster))

    def _recorded(self, since: int = 0) -> Recorded:
        return self._call(lambda _: recorded(self._recorder, self._options.profile, since))

    def _next_frame(self) -> int:
        return self._call(lambda _: self._recorder.end)

    async def _furnished(self, cluster: Cluster) -> None:
        """The recorder listens, faults can begin, and what was given at the start is there."""
        self._recorder.attach(cluster)
        for server in cluster.servers:
            self.layers.attach(server.name, server.shell)
        for topic, queues in self._options.topics.items():
            await create_topic(cluster, topic, queues)
        for group in self._options.groups:
            await create_group(cluster, group, RETRIES)

    async def _begun_again(self, cluster: Cluster) -> None:
        await cluster.pace.run(1.0)
        await begin_again(cluster)
        self._recorder.forget()
        await self._furnished(cluster)

    def _started(self, server: Server[Any]) -> None:
        super()._started(server)
        self._recorder.observe(server)

    def _running(self) -> Background:
        if self._background is None:
            raise RocketMQError("RocketMQ does not run: use `with RocketMQ() as rocketmq:`, or call start()")
        return self._background

    async def _serving(self, stop: asyncio.Event, ready: Callable[[Cluster], None]) -> None:
        options = self._options
        await serve_cluster(
            profile=options.profile,
            size=options.size,
            port=options.port,
            settings=options.settings,
            store=options.store,
            stop=stop,
            ready=ready,
        )
