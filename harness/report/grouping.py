"""Finds the few explanations that together account for all failures of a run.

Pure. For every failure there are explanations, from general to particular. One that an outcome as expected
contradicts is dropped. Then the explanation that accounts for most of what is left is taken, again and again,
until nothing is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from harness.report.explanations import (
    Explanation,
    Item,
    contradictions,
    explanations,
    likenesses,
    removes,
)
from harness.report.results import (
    Held,
    Wrong,
)
from harness.report.traits import OF_HEADERS, families

_TOLERATED: Final = 0.3
"""Contradictions for each failure that an explanation accounts for: few faults show without exception."""
_ENOUGH: Final = 3
"""Failures, or requests, that must look alike where nothing but the stored content is wrong, and requests
where others of their family are served.
"""


def group(items: Iterable[Item], held: Iterable[Held] = ()) -> list[tuple[Explanation, list[Item]]]:
    """The explanations, and which items each accounts for. Every item is in one of them."""
    left = dict(enumerate(items))
    known = Counter(held)
    shown = _shown(left.values())
    never_served = _without_served(shown, known)
    covered, order = _covered(
        left, lambda item: (*_of_shown(item, shown), *_of_shown(item, never_served), *explanations(item))
    )
    plain = Counter(_asked(item) for item in left.values() if not item.traits)
    sound = {
        one: numbers
        for one, numbers in covered.items()
        if _says_enough(one, [left[number] for number in numbers])
        and contradictions(one, known) <= len(numbers) * _TOLERATED
        and (one.trait is None or _is_special([left[number] for number in numbers], plain))
    }
    groups = _taken(left, sound, order)
    return groups + _taken(left, *_covered(left, likenesses))


def _shown(items: Iterable[Item]) -> dict[tuple[str, str], tuple[str, ...]]:
    """By family and outcome, which differences of the family have had that outcome wrongly."""
    found: dict[tuple[str, str], set[str]] = {}
    for item in items:
        if item.wrong.kind == "outcome" and item.kept is None:
            for trait in item.ordered_traits:
                for family in families(trait):
                    found.setdefault((family, item.wrong.got), set()).add(trait)
    return {key: tuple(sorted(traits)) for key, traits in found.items()}


def _without_served(
    shown: Mapping[tuple[str, str], tuple[str, ...]], held: Iterable[Held]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """The same without differences that have had another outcome, rightly."""
    outcomes: dict[str, set[str]] = {}
    for one in held:
        for trait in one.traits:
            outcomes.setdefault(trait, set()).add(one.answer)
    return {
        (family, got): tuple(one for one in traits if outcomes.get(one, set()) <= {got})
        for (family, got), traits in shown.items()
    }


def _of_shown(item: Item, shown: Mapping[tuple[str, str], tuple[str, ...]]) -> Iterator[Explanation]:
    """That it is for a kind of difference, as far as that has had the same outcome: a server that demands
    some fields may do without others.
    """
    got = item.wrong.got
    if item.wrong.kind == "outcome" and item.kept is None:
        kinds = [family for trait in item.ordered_traits for family in reversed(families(trait))]
        for family in dict.fromkeys(kinds):
            if not item.traits.isdisjoint(shown[family, got]):
                yield Explanation(trait=family, among=shown[family, got], got=got)


def _asked(item: Item) -> tuple[str, Wrong]:
    return item.request, item.wrong


def _says_enough(explanation: Explanation, items: list[Item]) -> bool:
    """Whether so much has it in common that it is no chance that the content is wrong in all of it.

    What was not stored is missing whatever is asked; what was not removed may show in one answer alone.
    """
    if explanation.among:
        if explanation.trait in OF_HEADERS and len(_differences(explanation, items)) >= _ENOUGH:
            return True
        return len({item.request for item in items}) >= _ENOUGH
    if explanation.kept is None or (explanation.after is not None and removes(explanation.after)):
        return True
    if explanation.after is None:
        return len(items) >= _ENOUGH
    return len({item.request for item in items}) >= _ENOUGH


def _differences(explanation: Explanation, items: Iterable[Item]) -> set[str]:
    """Which differences of the family these have, each without others of it."""
    found = [item.traits & set(explanation.among) for item in items]
    return {next(iter(one)) for one in found if len(one) == 1}


def _is_special(items: list[Item], plain: Mapping[tuple[str, Wrong], int]) -> bool:
    """Whether it may be the trait: not where as many ordinary requests were answered in the same way."""
    return sum(plain[asked] for asked in {_asked(item) for item in items}) < len(items)


def _covered(
    items: Mapping[int, Item], accounts: Callable[[Item], Iterable[Explanation]]
) -> tuple[dict[Explanation, set[int]], dict[Explanation, int]]:
    """Which items each explanation accounts for, and how particular it is."""
    covered: dict[Explanation, set[int]] = {}
    order: dict[Explanation, int] = {}
    for number, item in items.items():
        for rank, explanation in enumerate(accounts(item)):
            covered.setdefault(explanation, set()).add(number)
            order[explanation] = min(rank, order.get(explanation, rank))
    return covered, order


def _taken(
    left: dict[int, Item], covered: dict[Explanation, set[int]], order: Mapping[Explanation, int]
) -> list[tuple[Explanation, list[Item]]]:
    """Takes the explanation that accounts for most of what is left, the more particular of equal ones."""
    groups = []
    while covered:
        best = max(covered, key=lambda one: (len(covered[one] & left.keys()), order[one]))
        taken = sorted(covered.pop(best) & left.keys())
        if not taken:
            break
        groups.append((best, [left.pop(number) for number in taken]))
    return groups
