"""Which version of the harness this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


@cache
def version() -> str:
    """The version of the installed distribution; `0` in a tree that is not installed."""
    try:
        return installed("rmq-harness")
    except PackageNotFoundError:
        return "0"
