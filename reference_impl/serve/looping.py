"""The event loop of a server that was started from the command line: uvloop where it is installed."""

import asyncio
import contextlib
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
            with contextlib.suppress(NotImplementedError):  # Windows
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await serving(stop)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(served())
    except StartError as error:
        complain(f"{name}: {error}")
        return error.status
    except KeyboardInterrupt:  # where the loop cannot handle signals
        pass
    return 0


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """A loop that hands over what it has read before it reads again, which a proactor does not."""
    try:
        import uvloop
    except ImportError:
        return asyncio.SelectorEventLoop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
