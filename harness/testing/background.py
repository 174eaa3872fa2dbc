"""A cluster in a thread with an event loop of its own, and calls into that loop.

1. The thread is a daemon: a test process that dies, or forgets to stop the cluster, does not hang on it.
2. A call waits for its result or for the end of the loop, whichever is first. It never waits for a loop that
   has gone.
3. A process that was forked has the object but not the thread; calls from there are refused.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeAlias, TypeVar

from reference_impl.serve import Cluster, StartError

from .problems import RocketMQError

T = TypeVar("T")

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
        self._thread = threading.Thread(target=self._run, name="rocketmq", daemon=True)

    def start(self) -> Cluster:
        """Returns when all servers are ready. Raises RocketMQError."""
        self._thread.start()
        _first(self._ready, self._ended)
        if self._ready.done():
            return self._ready.result()
        raise self._gone("it could not be started")

    def stop(self) -> None:
        """Ends all servers and the thread. Raises RocketMQError if a server had failed before."""
        if os.getpid() != self._process:
            return
        for _ in range(2):  # the second time hurries a graceful stop
            if self._loop is not None and self._stop is not None and not self._ended.done():
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_STOPS_WITHIN)
        if self._ended.done() and self._ended.exception() is not None:
            raise self._gone("a server had stopped")

    def call(self, function: Callable[[], T]) -> T:
        """The result of a function that is called in the loop; raises what it raises."""
        if threading.current_thread() is self._thread:
            return function()

        async def called() -> T:
            return function()

        return self.wait_for(called)

    def wait_for(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine function that runs in the loop; raises what it raises."""
        if os.getpid() != self._process:
            raise RocketMQError(
                f"the RocketMQ of process {self._process} was used in process {os.getpid()}, which was "
                "forked from it; give the other process rocketmq.namesrv, and ask in the first"
            )
        if self._loop is None or self._ended.done():
            raise self._gone("it has stopped")
        future = asyncio.run_coroutine_threadsafe(function(), self._loop)
        _first(future, self._ended)
        if future.done() and not future.cancelled():
            return future.result()
        raise self._gone("it stopped meanwhile")

    def _gone(self, what: str) -> RocketMQError:
        error = self._ended.exception() if self._ended.done() else None
        problem = RocketMQError(f"RocketMQ: {what}{f': {error}' if error is not None else ''}")
        problem.__cause__ = None if isinstance(error, StartError) else error
        return problem

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
        await self._serving(self._stop, self._ready.set_result)


def _first(*futures: Future[Any]) -> None:
    wait(futures, return_when=FIRST_COMPLETED)
