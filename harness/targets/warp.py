"""Making a process's time run faster, with libfaketime.

The library is preloaded into the target alone; wall clock and monotonic clock run
alike, so that timers, schedulers and leases all do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.targets.errors import TargetError

HIGHEST = 100.0
"""At more, the 120 s after which targets close idle connections are too short to be avoided surely."""

_PLACES = (
    "usr/lib/*/faketime",
    "usr/lib/faketime",
    "usr/lib64/faketime",
    "usr/local/lib/faketime",
    "usr/local/lib/*/faketime",
)
_NAME = "libfaketimeMT.so.1"


def environment(warp: float) -> dict[str, str]:
    """What to add to a process's environment so that its time runs ``warp`` times as fast; nothing for 1.

    Raises ``TargetError`` where libfaketime is not installed. It has no effect on programs that do not ask
    the C library for the time (those made by Go, and statically linked ones).
    """
    if warp == 1:
        return {}
    root = Path("/")
    for place in _PLACES:
        for library in sorted(root.glob(f"{place}/{_NAME}")):
            return {"LD_PRELOAD": str(library), "FAKETIME": f"+0 x{warp:g}"}
    raise TargetError(
        expected=f"libfaketime, to run the target's time {warp:g} times as fast",
        got=f"no {_NAME} in {', '.join('/' + place for place in _PLACES)}",
        do="install it (package faketime), or leave out ?warp= and wait in real time",
    )


def ahead(environment: Mapping[str, str], passed: float, warp: float) -> dict[str, str]:
    """The environment of a process that takes the place of one that began ``passed`` protocol seconds ago.

    Its time of day goes on from there, where that of a new process would begin at the real one again.
    """
    if "FAKETIME" not in environment:
        return dict(environment)
    return {**environment, "FAKETIME": f"+{passed * (1 - 1 / warp):.3f} x{warp:g}"}
