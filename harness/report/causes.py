"""Groups the failures of a run into causes: the few explanations that together account for all of them.

Pure, from the record alone. An explanation says, for example: *every request with this trait is closed on*,
*code 322 is answered 29*, *this member is absent from every answer*, *what was unregistered is still shown*.
`explanations` makes them and `grouping` chooses among them. Here blocked cases come to the cause that they
wait for, and causes get their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import msgspec

from harness.catalogue import CLASSES, Class
from harness.report.explanations import Explanation, Item, explanations
from harness.report.grouping import group
from harness.report.results import (
    CaseResult,
    Failure,
    Run,
    Verdict,
    Wrong,
)

_RANK: Final = {name: rank for rank, name in enumerate(CLASSES)}


class Cause(msgspec.Struct, frozen=True, dict=True):
    """Failures with one explanation, and the blocked cases that wait for it."""

    explanation: Explanation
    items: tuple[Item, ...]
    """The failures; where there is none, the blocked cases."""
    failed: tuple[CaseResult, ...]
    blocked: tuple[CaseResult, ...]

    @cached_property
    def shown(self) -> Item:
        """The failure that shows it best: that of a statement which blocks others, else of a case that is
        about what failed, else the one with the most ordinary and the shortest request.
        """
        owners = {one.blocked_by for one in self.blocked}
        return min(self.items, key=lambda item: (owners.isdisjoint(item.result.statements), _plainness(item)))

    @property
    def failure(self) -> Failure:
        return self.shown.failure

    @property
    def class_(self) -> Class:
        """The most needed class of what it makes fail or blocks."""
        return min((one.class_ for one in (*self.failed, *self.blocked)), key=_RANK.__getitem__)


def causes_of(run: Run) -> list[Cause]:
    """The causes of a run: by class, then what holds back most first."""
    failing = [item for one in run.results if one.verdict is Verdict.FAIL and (item := _item(one))]
    blocked = [one for one in run.results if one.verdict is Verdict.BLOCKED and one.blocked_by]
    held = [held for one in run.results for held in one.held]
    failed = {item.result.case for item in failing}
    seen = failed | {one.case for one in blocked}
    ends = [
        (item, next(name for name in item.result.ended_in if name in failed))
        for item in failing
        if item.result.case not in item.result.ended_in
        and seen.issuperset(item.result.ended_in)
        and not failed.isdisjoint(item.result.ended_in)
    ]
    ended = [item for item, _ in ends]
    groups = group([item for item in failing if item not in ended], held)
    waiting: dict[int, list[CaseResult]] = {}
    alone: list[Item] = []
    for one in blocked:
        number = _holding(one, groups)
        if number is not None:
            waiting.setdefault(number, []).append(one)
        elif item := _item(one):
            alone.append(item)
    causes = [
        Cause(
            explanation,
            tuple(items),
            tuple(item.result for item in (*items, *_ends_with(items, ends))),
            tuple(waiting.get(number, ())),
        )
        for number, (explanation, items) in enumerate(groups)
    ]
    causes += [
        Cause(explanation, tuple(items), (), tuple(item.result for item in items))
        for explanation, items in group(alone, held)
    ]
    place = {one.case: number for number, one in enumerate(run.results)}
    causes.sort(key=lambda cause: min(place[item.result.case] for item in cause.items))
    return sorted(causes, key=_holds_back)


def _ends_with(items: Iterable[Item], ends: Iterable[tuple[Item, str]]) -> list[Item]:
    """Which failures of the last case say no more than that one of these ended the server, be it first or
    behind cases that are blocked.
    """
    names = {item.result.case for item in items}
    return [end for end, first in ends if first in names]


def _item(result: CaseResult) -> Item | None:
    """None for a blocked case that saw nothing."""
    failure = result.failure
    if failure is None and result.verdict is Verdict.FAIL:
        failure = Failure(
            statement=result.statements[0], text=result.title, expected="that it holds", actual=result.reason
        )
    if failure is None:
        return None
    return Item(result, failure, failure.wrong or Wrong(kind="member", place=failure.statement))


def _holding(blocked: CaseResult, groups: list[tuple[Explanation, list[Item]]]) -> int | None:
    """The number of the group that a blocked case waits for: what it saw is alike, or it builds on its
    statement."""
    if item := _item(blocked):
        mine = set(explanations(item))
        for number, (explanation, _) in enumerate(groups):
            if explanation in mine or (
                explanation.got == item.wrong.got and item.traits & set(explanation.among)
            ):
                return number
    counts = Counter(
        number
        for number, (_, items) in enumerate(groups)
        for one in items
        if blocked.blocked_by in one.result.statements
    )
    return counts.most_common(1)[0][0] if counts else None


def _holds_back(cause: Cause) -> tuple[int, int, int]:
    """The key of the order of causes; equal ones stay in the order of the catalogue."""
    return (_RANK[cause.class_], -len(cause.failed) - len(cause.blocked), -len(cause.failed))


def _plainness(item: Item) -> tuple[bool, bool, int, int, int]:
    sent = item.failure.sent
    is_must = item.result.level == "MUST"
    is_about_it = item.failure.statement in item.result.statements
    size = sent.size if sent is not None else 0
    return (not is_must, not is_about_it, len(item.traits), len(item.failure.after), size)
