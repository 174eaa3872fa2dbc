"""A view of a shared cluster with topics and groups of its own: what a test gets from the fixture `rocketmq`.

The real name of `orders` is `orders-T1`, with the number of the view. It is what an application is given;
to the view, both names mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

from harness.wire.messages import TopicName
from reference_impl.serve import Cluster

from . import administration
from .clients import Client
from .faults import Faults
from .options import QUEUES
from .problems import OptionError
from .recording import Recorded
from .rocketmq import RocketMQ
from .view import RETRIES, View

T = TypeVar("T")

_NUMBERS = count(1)
_PREFIXES = (TopicName.RETRY_PREFIX, TopicName.DLQ_PREFIX)


class OwnNames(View):
    """The view. `close` deletes its topics and groups."""

    def __init__(self, server: RocketMQ) -> None:
        self.server = server
        """The cluster, for what concerns all of it."""
        self.fault = Faults(server, self._known_name)
        """Begins faults of requests and answers, by the names of this view."""
        self._mark = f"-T{next(_NUMBERS)}"
        self._topics: dict[str, str] = {}
        self._groups: dict[str, str] = {}
        self._since = self._next_frame()

    @property
    def namesrv(self) -> str:
        """What clients are given as address of the NameServers: "host:port;host:port"."""
        return self.server.namesrv

    def topic(self, name: str, queues: int = QUEUES) -> str:
        real = super().topic(name, queues)
        self._topics[name] = real
        return real

    def group(self, name: str, retries: int = RETRIES) -> str:
        real = super().group(name, retries)
        self._groups[name] = real
        return real

    def close(self) -> None:
        """Delete what was made here, with its messages; end its faults, bring back servers that are away, and
        let time go at its own speed.

        Raises FaultNotMetError for a fault that was to be met and was not.
        """
        self.speed = 1

        async def deleted(cluster: Cluster) -> None:
            for topic in self._topics.values():
                await administration.delete_topic(cluster, topic)
            for group in self._groups.values():
                await administration.delete_group(cluster, group)

        try:
            self.fault.end_all()
        finally:
            self.server.bring_back()
            self._wait_for(deleted)

    def _call(self, function: Callable[[Cluster], T]) -> T:
        return self.server._call(function)

    def _wait_for(self, function: Callable[[Cluster], Coroutine[Any, Any, T]]) -> T:
        return self.server._wait_for(function)

    def _look(self, function: Callable[[Cluster, Recorded], T], since: int = 0) -> T:
        return self.server._look(function, max(since, self._since))

    def _next_frame(self) -> int:
        return self.server._next_frame()

    def _new_name(self, name: str) -> str:
        return name if name.endswith(self._mark) else name + self._mark

    def _real_name(self, name: str) -> str:
        names = self._topics | self._groups
        if name in names:
            return names[name]
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                return prefix + self._real_name(name.removeprefix(prefix))
        if name in names.values():
            return name
        known = ", ".join(map(repr, names)) or "none yet"
        raise OptionError(
            f"{name!r} is neither a topic nor a group of this test, which has {known}; make it with "
            f"rocketmq.topic({name!r}) or rocketmq.group({name!r}); what tests share is at rocketmq.server"
        )

    def _known_name(self, name: str) -> str:
        """The real name of a topic or group of this view, or the name of another."""
        return (self._topics | self._groups).get(name, name)

    def _is_mine(self, client: Client) -> bool:
        topics, groups = set(self._topics.values()), set(self._groups.values())
        return any(
            group in groups or not topics.isdisjoint(subscribed)
            for group, subscribed in client.consumes.items()
        ) or not groups.isdisjoint(client.produces)
