"""A value that is written and read by several at once, and may be read as any that it can have.

A regular register. A read may give a value whose write had begun before it ended,
unless another write began behind that one and was over before the read began.
"""

from __future__ import annotations

from math import inf

import msgspec


class Write(msgspec.Struct, eq=False):
    """A write of ``value``; None where there is no value. It begins at ``begin`` and is over at ``end``."""

    value: int | None
    begin: float
    end: float
    how: str = ""
    over: float = inf
    """Behind this moment another value is there, because that was read."""


class RegularRegister:
    """The offset of a group in a queue: nothing at first."""

    def __init__(self) -> None:
        self._writes = [Write(None, -inf, -inf)]
        self.written: set[int] = set()
        """All values that were ever written."""
        self.kept = -inf
        """A moment at which the server had written down what there was."""

    def write(self, value: int | None, begin: float, end: float, how: str) -> Write:
        """``end`` is infinite where it is unknown whether it happened; None: there is no value then."""
        if value is not None:
            self.written.add(value)
        write = Write(value, begin, end, how)
        self._writes.append(write)
        return write

    def possible(self, begin: float, end: float) -> list[Write]:
        """The writes that a read of this interval may give."""
        return [
            one
            for one in self._writes
            if one.begin <= end
            and one.over >= begin
            and not any(other.begin > one.end and other.end < begin for other in self._writes)
        ]

    def read(self, value: int | None, begin: float, end: float) -> bool:
        """Whether a read may have given this value; then what it overwrote is not read again."""
        found = [one for one in self.possible(begin, end) if one.value == value]
        if not found:
            return False
        if len(found) == 1:
            for one in self._writes:
                if one is not found[0] and one.end < begin:
                    one.over = min(one.over, begin)
            found[0].end = min(found[0].end, max(end, found[0].begin))
        return True

    def forget(self, since: float, begin: float, end: float) -> None:
        """The server was killed and lost what it had not written down: any value that was there from
        ``since`` on may be there again.
        """
        self._writes = self.possible(since, begin)
        for one in self._writes:
            one.begin, one.end, one.over = begin, end, inf
