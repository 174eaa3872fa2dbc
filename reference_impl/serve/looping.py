"""The event loop of a server that was started from the command line: uvloop where it is installed."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any

from .problems import StartError, complain


def run_until_signal(name: str, serving: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> int:
    """Run `serving(stop)`, with `stop` set by SIGTERM and SIGINT; returns the exit status.

    A StartError becomes one line that begins with `name`.
    """

    async def served() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            _call_at(number, stop.set)
        await serving(stop)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(served())
    except StartError as error:
        complain(f"{name}: {error}")
        return error.status
    return 0


def _call_at(number: int, call: Callable[[], None]) -> None:
    """Has the running loop call that at each such signal."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, call)
    except NotImplementedError:  # Windows: the signal is seen at the next tick of the server
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """A loop that hands over what it has read before it reads again, which a proactor does not."""
    try:
        import uvloop
    except ImportError:
        return asyncio.SelectorEventLoop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
