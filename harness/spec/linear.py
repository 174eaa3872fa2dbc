"""Is there an order of overlapping calls that explains what each of them saw? A search with a budget.

- It knows nothing of NameServers: a `Specification` says what a call does to a state, and what may happen
  without a call. Both may leave several states open, or none.
- A call takes effect at one moment between its begin and its end. One that is not required may also never
  have done so: its effect was not observed.
- The answer is never wrong in one direction: ``violated`` means that every order was tried. Where the budget
  ends first, the answer is ``unknown``.

After Wing and Gong (1993); what was tried is remembered as (calls that took effect, state), after Lowe
(2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec

S = TypeVar("S", bound=Hashable)

Moment = tuple[float, float]
"""Protocol seconds, and a rank that orders what happens while a clock stands still."""

ENDLESS: Moment = (math.inf, math.inf)

BUDGET = 20_000
"""Pairs of (calls, state) that are searched before the answer is ``unknown``."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was asked of one key, and what was seen of it."""

    number: int
    """The step that it comes from; several calls may come from one step."""
    action: Any
    """A hashable value that the specification understands."""
    begin: Moment
    end: Moment = ENDLESS
    required: bool = True
    """Whether it surely took effect by its end."""
    reads: bool = False
    """Whether it changes nothing, whatever the state."""
    session: str = ""
    """Who asked: calls of one session come one after another. Empty: unknown."""


class Specification(Protocol[S]):
    """The sequential behaviour of one key."""

    def initial(self) -> S:
        """The state before the first call."""
        ...

    def after(self, state: S, call: Call, latest: float) -> Iterable[S]:
        """The states that a call may lead to; none where what it saw cannot be seen in ``state``.

        It takes effect at or before ``latest`` (protocol seconds).
        """
        ...

    def hidden(self, state: S, earliest: float, latest: float) -> Iterable[S]:
        """The states that one thing leads to which happens by itself between two moments."""
        ...

    def overdue(self, state: S, now: float) -> bool:
        """Whether something should have happened by itself before ``now``, and has not."""
        ...


class Verdict(msgspec.Struct, frozen=True):
    """What a search found."""

    answer: Literal["linearizable", "violated", "unknown"]
    explored: int
    """Pairs of (calls, state) that were looked at."""
    stuck: tuple[int, ...] = ()
    """Where it is violated: numbers of the calls that could not go on when most had been explained."""


class _Node(msgspec.Struct, frozen=True, gc=False):
    done: int
    """The calls that took effect, as bits."""
    earliest: float
    state: Any


def search(spec: Specification[S], calls: Sequence[Call], *, budget: int = BUDGET) -> Verdict:
    """Looks for an order of ``calls`` that ``spec`` allows."""
    return _Search(spec, calls, budget).run()


class _Search:
    def __init__(self, spec: Specification[Any], calls: Sequence[Call], budget: int) -> None:
        self._spec = spec
        self._calls = sorted(calls, key=lambda call: (call.begin, call.end, call.number))
        self._budget = budget
        self._needed = sum(1 << at for at, call in enumerate(self._calls) if call.required)
        self._tried: set[tuple[int, Any]] = set()
        self._furthest = -1
        self._stuck: tuple[int, ...] = ()

    def run(self) -> Verdict:
        stack = [_Node(0, -math.inf, self._spec.initial())]
        while stack:
            node = stack.pop()
            if (node.done, node.state) in self._tried:
                continue
            if len(self._tried) >= self._budget:
                return Verdict("unknown", len(self._tried))
            self._tried.add((node.done, node.state))
            node, open_calls, latest = self._read_on(node)
            if node.done & self._needed == self._needed:
                return Verdict("linearizable", len(self._tried))
            self._remember(node, open_calls)
            stack.extend(self._moves(node, open_calls, latest))
        return Verdict("violated", len(self._tried), self._stuck)

    def _open(self, done: int) -> tuple[list[int], float]:
        """The calls that may be next, and when the next one must have taken effect."""
        found: list[int] = []
        first = ENDLESS
        rest = ~done & ((1 << len(self._calls)) - 1)
        while rest:
            low = rest & -rest
            rest ^= low
            at = low.bit_length() - 1
            call = self._calls[at]
            if call.begin > first:
                break
            found.append(at)
            if call.required and call.end < first:
                first = call.end
        return found, first[0]

    def _read_on(self, node: _Node) -> tuple[_Node, list[int], float]:
        """Lets every read take effect that agrees with the state: to wait with it would open no other way."""
        spec = self._spec
        while True:
            open_calls, latest = self._open(node.done)
            done, earliest = node.done, node.earliest
            for at in open_calls:
                call = self._calls[at]
                if not (call.reads and call.required):
                    continue
                now = max(earliest, call.begin[0])
                if not spec.overdue(node.state, now) and any(
                    True for _ in spec.after(node.state, call, latest)
                ):
                    done, earliest = done | 1 << at, now
            if done == node.done:
                return node, open_calls, latest
            node = _Node(done, earliest, node.state)

    def _moves(self, node: _Node, open_calls: list[int], latest: float) -> list[_Node]:
        """What may come next, the likeliest last."""
        spec = self._spec
        moves = [
            _Node(node.done, node.earliest, state) for state in spec.hidden(node.state, node.earliest, latest)
        ]
        likely: list[tuple[bool, Moment, _Node]] = []
        for at in open_calls:
            call = self._calls[at]
            now = max(node.earliest, call.begin[0])
            if call.reads or spec.overdue(node.state, now):
                continue
            for state in spec.after(node.state, call, latest):
                if call.required or state != node.state:
                    likely.append((call.required, call.end, _Node(node.done | 1 << at, now, state)))
        likely.sort(key=lambda move: (not move[0], move[1]), reverse=True)
        return moves + [move for _, _, move in likely]

    def _remember(self, node: _Node, open_calls: list[int]) -> None:
        explained = (node.done & self._needed).bit_count()
        if explained > self._furthest:
            self._furthest = explained
            self._stuck = tuple(
                sorted({self._calls[at].number for at in open_calls if self._calls[at].required})
            )
