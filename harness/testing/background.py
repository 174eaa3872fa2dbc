"""A cluster in a thread with an event loop of its own.

The thread is a daemon: a test process that dies, or forgets to stop the cluster, does not hang on it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeAlias

from reference_impl.serve import Cluster

from .calling import Caller, first, gone

Serving: TypeAlias = Callable[[asyncio.Event, Callable[[Cluster], None]], Coroutine[Any, Any, None]]
"""Serves until the event is set; calls the function once all servers are ready."""

_STOPS_WITHIN = 10.0
"""Seconds, after which a stop is hurried."""


class Background:
    """The thread. `serving` is called in its loop."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._process = os.getpid()
        self._ready: Future[Cluster] = Future()
        self._ended: Future[None] = Future()
        """Set when the loop has ended, with what a server has raised."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._caller: Caller | None = None
        self._thread = threading.Thread(target=self._run, name="rocketmq", daemon=True)

    def start(self) -> Cluster:
        """Returns when all servers are ready. Raises RocketMQError."""
        self._thread.start()
        first(self._ready, self._ended)
        if self._ready.done():
            return self._ready.result()
        raise gone("it could not be started", self._ended)

    @property
    def caller(self) -> Caller:
        """What calls into the loop, once it has started."""
        assert self._caller is not None
        return self._caller

    def stop(self) -> None:
        """Ends all servers and the thread. Raises RocketMQError if a server had failed before."""
        if os.getpid() != self._process:
            return
        for _ in range(2):  # the second time hurries a graceful stop
            if self._loop is not None and self._stop is not None and not self._ended.done():
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_STOPS_WITHIN)
        if self._ended.done() and self._ended.exception() is not None:
            raise gone("a server had stopped", self._ended)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
                runner.run(self._served())
        except BaseException as error:  # it is raised in the thread that asks next
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _served(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._caller = Caller(self._loop, self._ended)
        await self._serving(self._stop, self._ready.set_result)
