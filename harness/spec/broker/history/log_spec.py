"""One queue, as calls see it: a log of messages, a number of which, from the first on, is visible.

- A send appends at one moment, a batch as a whole, and is answered with the offset: it is one that the queue
  had not had before, and the next.
- Readings show what is visible. Apache's servers write queues behind their log: a message becomes visible by
  itself, one by one in the order of the log, within a term of the answer. What was sent without an answer may
  be there, and has no term.
- A pull shows a run of messages that begins at the offset that it asks for: at least one, if one is visible.
- An end that is named is judged by itself (``by_ends``): it is the next offset of what is visible. Beside
  pulls it is only never behind what they have shown: a server may count a message before it shows it.
- ``relaxed`` is what a server is excused for the sake of an argument (`anomalies`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.spec.broker.history.operations import Append, End, Nothing, Restarted, Shown
from harness.spec.linear import Call

LOST = "lost message"
SKIPPED = "skipped message"
OVERDUE = "overdue message"
PHANTOM_OFFSET = "phantom offset"

_HOLE = ""
"""In place of a message: what is there is never shown."""


class LogState(NamedTuple):
    """What a queue has."""

    log: tuple[tuple[str, float], ...] = ()
    """Its messages in the order of their offsets, each with the moment by which it must be visible."""
    visible: int = 0
    since: float = float("-inf")
    """When the Broker, if it was started again, must show what it has."""


class LogSpec:
    """The specification of one queue. ``shown``: messages that any reading has shown."""

    def __init__(
        self, relaxed: str | None = None, *, by_ends: bool = False, shown: frozenset[str] = frozenset()
    ) -> None:
        self._by_ends = by_ends
        self._shown = shown
        self._loses = relaxed == LOST
        self._skips = relaxed == SKIPPED
        self._is_slow = relaxed == OVERDUE
        self._invents = relaxed == PHANTOM_OFFSET

    def initial(self) -> LogState:
        return LogState()

    def after(self, state: LogState, call: Call, latest: float) -> Iterable[LogState]:
        match call.action:
            case Append():
                yield from self._appended(state, call.action)
            case Shown(offset, messages):
                if self._may_show(state, offset, messages):
                    yield state
            case Nothing(offset, beyond):
                if self._end(state) <= offset - beyond:
                    yield state
            case End(offset):
                if self._may_end(state, offset):
                    yield state
            case Restarted(due):
                yield LogState(state.log, 0, due)

    def hidden(self, state: LogState, earliest: float, latest: float) -> Iterable[LogState]:
        if state.visible < len(state.log):
            yield state._replace(visible=state.visible + 1)

    def overdue(self, state: LogState, now: float) -> bool:
        if self._is_slow:
            return False
        return any(
            max(due, state.since) < now for message, due in state.log[state.visible :] if message != _HOLE
        )

    def _appended(self, state: LogState, asked: Append) -> Iterable[LogState]:
        if asked.accepted is False:
            yield state
            return
        log = state.log
        if self._invents and asked.offset is not None and asked.offset > len(log):
            log += ((_HOLE, asked.due),) * (asked.offset - len(log))
        if asked.offset is not None and asked.offset != len(log):
            return
        is_kept = [not self._loses or message in self._shown for message in asked.messages]
        yield state._replace(
            log=log
            + tuple(
                (message if kept else _HOLE, asked.due)
                for message, kept in zip(asked.messages, is_kept, strict=True)
            )
        )

    def _end(self, state: LogState) -> int:
        """Behind the last message that is visible."""
        end = state.visible
        while end and state.log[end - 1][0] == _HOLE:
            end -= 1
        return end

    def _may_show(self, state: LogState, offset: int, messages: tuple[tuple[int, str], ...]) -> bool:
        due = offset
        for place, message in messages:
            if place >= state.visible or state.log[place][0] != message or place < due:
                return False
            if not self._skips and any(one != _HOLE for one, _ in state.log[due:place]):
                return False
            due = place + 1
        return True

    def _may_end(self, state: LogState, offset: int) -> bool:
        if self._invents and offset > len(state.log):
            return True
        if self._by_ends:
            return self._end(state) <= offset <= state.visible
        return self._end(state) <= offset
