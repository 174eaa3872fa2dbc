"""Calls into the event loop of the servers, from other threads.

1. A call waits for its result or for the end of the loop, whichever is first. It never waits for a loop that
   has gone.
2. A process that was forked has the object but not the loop; calls from there are refused.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from reference_impl.serve import StartError

from .problems import RocketMQError

T = TypeVar("T")


class Caller:
    """Made in the thread of the loop. `ended` is done when the loop has ended, with what it has raised."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ended: Future[None]) -> None:
        self._loop = loop
        self._ended = ended
        self._thread = threading.current_thread()
        self._process = os.getpid()

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
        if self._ended.done():
            raise gone("it has stopped", self._ended)
        future = asyncio.run_coroutine_threadsafe(function(), self._loop)
        first(future, self._ended)
        if future.done() and not future.cancelled():
            return future.result()
        raise gone("it stopped meanwhile", self._ended)


def gone(what: str, ended: Future[None]) -> RocketMQError:
    """What is raised where the loop has ended, with the reason."""
    error = ended.exception() if ended.done() else None
    problem = RocketMQError(f"RocketMQ: {what}{f': {error}' if error is not None else ''}")
    problem.__cause__ = None if isinstance(error, StartError) else error
    return problem


def first(*futures: Future[Any]) -> None:
    """Returns when one of them is done."""
    wait(futures, return_when=FIRST_COMPLETED)
