"""The clock of a server that was started from the command line."""

import time
from collections.abc import Callable


def epoch_clock() -> Callable[[], int]:
    """ms since the epoch, never going back."""
    offset = time.time_ns() - time.monotonic_ns()
    return lambda: (time.monotonic_ns() + offset) // 1_000_000
