"""What can be wrong with a target, at its start or at another one.

Every message says what was expected, what was found, why that is so, and what to do.
"""

from __future__ import annotations

from textwrap import indent

from harness.session import Blocked


class TargetError(Blocked):
    """A target cannot be named, reached, started, or ended. No stack trace is needed to understand it."""

    def __init__(self, *, expected: str, got: str, why: str = "", do: str) -> None:
        self.expected = expected
        self.got = got
        self.why = why
        self.do = do
        facts = (("expected", expected), ("got", got), ("why", why), ("do", do))
        lines = (f"{label:<10}{indent(text, ' ' * 10).strip()}" for label, text in facts if text)
        super().__init__("\n".join(lines))
