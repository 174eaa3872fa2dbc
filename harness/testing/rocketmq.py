"""`RocketMQ`: a whole cluster inside the process of a test, as a context manager.

The servers are those of `rmq-harness serve cluster`, in a thread with an event loop of its own; clients of
any language find them at `namesrv`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Self

from reference_impl.serve import Cluster, serve_cluster

from .background import Background
from .calling import Caller
from .options import checked
from .problems import RocketMQError
from .running import Running


class RocketMQ(Running):
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
        options = self._options = checked(
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
        super().__init__(options.profile, options.topics, options.groups)
        self._background: Background | None = None

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
    def _caller(self) -> Caller:
        if self._background is None:
            raise RocketMQError("RocketMQ does not run: use `with RocketMQ() as rocketmq:`, or call start()")
        return self._background.caller

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
