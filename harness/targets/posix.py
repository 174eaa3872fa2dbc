"""What needs a POSIX system says so before it begins."""

from __future__ import annotations

import os
import sys

from harness.targets.errors import TargetError

_NAMES = {"win32": "Windows"}


def require_posix(what: str, do: str = "run it there") -> None:
    """Raises ``TargetError`` where processes have no groups and cannot fork, as on Windows.

    ``what`` needs that; ``do`` is what a person can do instead.
    """
    if not hasattr(os, "fork"):
        raise TargetError(
            expected=f"Linux, macOS or WSL for {what}", got=_NAMES.get(sys.platform, sys.platform), do=do
        )


def require_posix_to_start() -> None:
    """Raises ``TargetError`` where the harness can start no server and be sure to end it."""
    require_posix(
        "a target that the harness starts", "start the server yourself and name it as tcp://HOST:PORT"
    )
