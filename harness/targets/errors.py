"""What can be wrong with a target, at its start or at another one.

Every message says what was expected, what was found, why that is so, and what to do.
"""

from __future__ import annotations

from harness.session import Blocked


class TargetError(Blocked):
    """A target cannot be named, reached, started, or ended. No stack trace is needed to understand it."""

    def __init__(self, *, expected: str, got: str, why: str = "", do: str) -> None:
        self.expected = expected
        self.got = got
        self.why = why
        self.do = do
        lines = [f"expected  {expected}", f"got       {got}"]
        if why:
            lines.append(f"why       {why}")
        lines.append(f"do        {do}")
        super().__init__("\n".join(lines))
