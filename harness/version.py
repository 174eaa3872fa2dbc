"""Which version of the harness this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """The version of the installed distribution; `0` in a tree that is not installed."""
    try:
        return installed("rmq-harness")
    except PackageNotFoundError:
        return "0"
