"""What a target is, as far as it matters to those who play on it.

It is known from the URI alone, before anything is started; no caller reads a URI again to
know it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.session import ClockKind

Starts = Literal["at once", "soon", "slowly", "never"]
"""What it costs to start an instance: nothing, less than a second, seconds; or it is not ours to start."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a target from its URI."""

    scheme: str
    """How its URI begins: what quirks are known by."""
    starts: Starts
    warp: float = 1.0
    """Protocol seconds in a real one; 0 where time is virtual."""
    is_here: bool = True
    """Whether it is on this machine, and may be harmed."""

    @property
    def clock(self) -> ClockKind:
        """How its time passes."""
        if not self.warp:
            return "virtual"
        return "real" if self.warp == 1 else "warped"

    @property
    def is_virtual(self) -> bool:
        """Whether time is virtual: it then lives in this process, and a new instance costs nothing."""
        return not self.warp

    @property
    def is_ours(self) -> bool:
        """Whether instances of it can be started, ended and started again."""
        return self.starts != "never"
