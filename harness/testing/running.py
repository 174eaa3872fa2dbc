"""A running cluster, and what a test asks of it and does to it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from reference_impl.serve import Cluster, Server, StartError, begin_again

from .administration import create_group, create_topic
from .calling import Caller
from .problems import RocketMQError
from .recording import Recorded, Recorder, recorded
from .servers import ServerFaults
from .view import RETRIES, View

T = TypeVar("T")


class Running(View, ServerFaults):
    """The cluster. `topics` (number of queues by name) and `groups` are there from the start, and after
    `reset`. `_caller` is the subclass's.
    """

    def __init__(self, profile: str, topics: Mapping[str, int], groups: Sequence[str]) -> None:
        super().__init__()
        self.profile = profile
        """The release line that is spoken."""
        self._topics = topics
        self._groups = groups
        self._cluster = Cluster([], [])
        """Its servers are used in the loop alone: in what `_call` and `_wait_for` are given."""
        self._recorder = Recorder()

    @property
    def _caller(self) -> Caller:
        """What calls into the loop of the servers. Raises RocketMQError."""
        raise NotImplementedError

    @property
    def namesrv(self) -> str:
        """What clients are given as address of the NameServers: "host:port;host:port"."""
        return self._call(lambda cluster: cluster.namesrv)

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
        return self._caller.call(lambda: function(self._cluster))

    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine function that runs in the loop."""
        try:
            return self._caller.wait_for(lambda: function(self._cluster))
        except StartError as error:
            raise RocketMQError(str(error)) from None

    def _look(self, function: Callable[[Cluster, Recorded], T], since: int = 0) -> T:
        return self._call(lambda cluster: function(cluster, recorded(self._recorder, self.profile, since)))

    def _next_frame(self) -> int:
        return self._call(lambda _: self._recorder.end)

    async def _furnished(self, cluster: Cluster) -> None:
        """The recorder listens, faults can begin, and what was given at the start is there."""
        self._recorder.attach(cluster)
        for server in cluster.servers:
            self.layers.attach(server.name, server.shell)
        for topic, queues in self._topics.items():
            await create_topic(cluster, topic, queues)
        for group in self._groups:
            await create_group(cluster, group, RETRIES)

    async def _begun_again(self, cluster: Cluster) -> None:
        await cluster.pace.run(1.0)
        await begin_again(cluster)
        self._recorder.forget()
        await self._furnished(cluster)

    def _started(self, server: Server[Any]) -> None:
        super()._started(server)
        self._recorder.observe(server)
