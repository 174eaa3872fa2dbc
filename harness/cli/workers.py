"""Worker processes, and an end of them that does not hang."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_processes(number: int, begin: Callable[[], object] | None = None) -> Iterator[Executor]:
    """This many fresh processes; each calls `begin` first.

    However the block ends, what has not begun is dropped and what runs is waited for: after a shutdown that
    does not wait, CPython's pool may hang when the interpreter ends.
    """
    spawning = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(number, mp_context=spawning, initializer=begin)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
