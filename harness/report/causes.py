"""Groups the failures of a run into causes: the few explanations that together account for all of them.

Pure, from the record alone. For every failure there are explanations, from general to particular: *every
request with this trait is closed on*, *code 322 is answered 29*, *this member is absent from every answer*,
*what was unregistered is still shown*. One that an outcome as expected contradicts is dropped. Then the
explanation that accounts for most of what is left is taken, again and again, until nothing is left.

What contradicts: an explanation foretells the outcome of every request that it is about, so a request of that
kind with another outcome refutes it. Of the content of an answer nothing is foretold, because it depends on
what the case did before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec

from harness.catalogue import CLASSES, Class
from harness.report.results import (
    CLOSED,
    NO_FLAG,
    SILENCE,
    STRANGE_OPAQUE,
    WRONG_LENGTH,
    CaseResult,
    Change,
    Failure,
    Held,
    Run,
    Verdict,
    Wrong,
)
from harness.report.traits import OF_HEADERS, families

_RANK: Final = {name: rank for rank, name in enumerate(CLASSES)}
SUCCESS: Final = "SUCCESS (0)"
NO_OUTCOMES: Final = (CLOSED, SILENCE, "no answer", "no command", NO_FLAG, STRANGE_OPAQUE, WRONG_LENGTH)
"""What came where no reply did."""
ANY_REFUSAL: Final = "the code of its failure"
"""What was wanted where every refusal has the same wrong code, whatever was to be refused."""
_TOLERATED: Final = 0.3
"""Contradictions for each failure that an explanation accounts for: few faults show without exception."""
_LEAVING: Final = ("time", "closed connection", "restart")
_REMOVING: Final = ("UNREGISTER", "DELETE", "WIPE", "CLEAN")
"""What the names of requests that take something away have in them."""
_UPDATING: Final = ("UPDATE",)
"""What the names of requests have in them that show in whatever is asked afterwards."""
_ENOUGH: Final = 3
"""Failures, or requests, that must look alike where nothing but the stored content is wrong, and requests
where others of their family are served.
"""
_MEMBER: Final = re.compile(r"\w+(\[\])?(\.\*)*$")
_THINGS: Final = {
    "304 GET_SYSTEM_TOPIC_LIST_FROM_NS": "clusters",
    "TOPIC_NOT_EXIST (17)": "topics",
    "queueDatas": "topics",
    "topicList": "topics",
    "brokerDatas": "brokers",
    "brokerAddrTable": "brokers",
    "brokerAddrs": "brokers",
    "clusterAddrTable": "clusters",
    "filterServerTable": "filter servers",
    "topicQueueMappingByBroker": "mappings of static topics",
    "QUERY_NOT_FOUND (22)": "entries of the KV table",
    "table": "entries of the KV table",
}
"""What a server stores, by the members of bodies that show it and by the codes that say it is not there."""
_GONE: Final = ("_NOT_EXIST", "_NOT_FOUND")


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What failures may have in common. A member that is None says nothing."""

    request: str | None = None
    trait: str | None = None
    """How the requests differ from ordinary ones, or the family of such differences."""
    among: tuple[str, ...] = ()
    """Of a family: it is about these differences alone, all that have shown."""
    wanted: str | None = None
    got: str | None = None
    place: str | None = None
    member: str | None = None
    """The innermost member of a body that has a name, wherever bodies have it, and what is in it."""
    change: Change | None = None
    kept: bool | None = None
    """Whether answers show what should be gone (True) or lack what should be there (False)."""
    after: str | None = None
    thing: str | None = None
    """What answers show, or lack, whichever request asks for it."""
    alike: tuple[str, Wrong, tuple[str, ...]] | None = None
    """The same request, the same wrong answer and, where contents depend on it, the same last change before
    it: nothing more in common."""


class Item(msgspec.Struct, frozen=True, dict=True):
    """A failure, or a blocked case that says what it saw."""

    result: CaseResult
    failure: Failure
    wrong: Wrong

    @cached_property
    def request(self) -> str:
        return self.failure.sent.request if self.failure.sent is not None else ""

    @property
    def ordered_traits(self) -> tuple[str, ...]:
        return self.failure.sent.traits if self.failure.sent is not None else ()

    @cached_property
    def traits(self) -> frozenset[str]:
        return frozenset(self.ordered_traits)

    @cached_property
    def kept(self) -> bool | None:
        return kept(self.wrong)

    @cached_property
    def thing(self) -> str:
        return thing_of(self.request, self.wrong)


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


def kept(wrong: Wrong) -> bool | None:
    """Whether the answer shows too much (True) or too little (False) of what the server stores; else None."""
    if wrong.kind == "outcome":
        if wrong.got == SUCCESS and any(word in wrong.wanted for word in _GONE):
            return True
        return False if SUCCESS in wrong.wanted and any(word in wrong.got for word in _GONE) else None
    return {"more": True, "fewer": False}.get(wrong.change or "")


def thing_of(request: str, wrong: Wrong) -> str:
    """What is there too much or too little of: by the code that says that it is not there, or the member."""
    if request in _THINGS:
        return _THINGS[request]
    if wrong.kind == "outcome":
        return _THINGS.get(wrong.wanted if wrong.got == SUCCESS else wrong.got, "")
    names = [name for name in re.findall(r"[A-Za-z]+", wrong.place) if name in _THINGS]
    return _THINGS[names[-1]] if names else ""


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
    if explanation.kept is None or (explanation.after is not None and _removes(explanation.after)):
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


def explanations(item: Item) -> Iterator[Explanation]:
    """From the most general to the most particular."""
    wrong, request = item.wrong, item.request
    last = item.failure.after[-1] if item.failure.after else ""
    if any(word in last for word in _UPDATING):
        yield Explanation(after=last)
    if wrong.kind == "outcome" and item.kept is None:
        yield from _of_outcome(wrong, request, _with_families(item.ordered_traits))
    elif wrong.kind != "outcome":
        for trait in item.ordered_traits:
            yield Explanation(request=request, trait=trait)
        if member := member_of(wrong.place):
            yield Explanation(member=member, change=wrong.change)
        yield Explanation(place=wrong.place, change=wrong.change)
        yield Explanation(request=request, place=wrong.place, change=wrong.change)
    if wrong.got == SUCCESS:
        yield Explanation(got=SUCCESS)
    if item.kept is not None:
        if item.thing:
            yield Explanation(kept=item.kept, thing=item.thing)
        if last and (not item.kept or _removes(last)):
            yield Explanation(kept=item.kept, after=last)


def member_of(place: str) -> str:
    """The innermost named member of a place in a body, and what follows: `brokerAddrs.*`. Empty elsewhere."""
    found = _MEMBER.search(place) if place.startswith("body.") else None
    return found[0] if found is not None else ""


def _with_families(traits: Iterable[str]) -> list[str]:
    """The traits and their kinds, the most general first."""
    kinds = [list(reversed(families(one))) for one in traits]
    return list(dict.fromkeys([*(one for kind in kinds for one in kind), *traits]))


def _removes(event: str) -> bool:
    return event in _LEAVING or any(word in event for word in _REMOVING)


def likenesses(item: Item) -> Iterator[Explanation]:
    """For a failure that nothing explains: it is put together with those that look alike.

    What changed something before counts where the content of the answer depends on it.
    """
    wrong = item.wrong
    depends = wrong.kind != "outcome" or item.kept is not None
    if not depends and wrong.got != SUCCESS and wrong.wanted not in (CLOSED, SILENCE):
        wrong = msgspec.structs.replace(wrong, wanted="")  # what it refuses, it refuses instead of anything
    yield Explanation(alike=(item.request, wrong, item.failure.after[-1:] if depends else ()))


def _of_outcome(wrong: Wrong, request: str, traits: list[str]) -> Iterator[Explanation]:
    if wrong.wanted in (CLOSED, SILENCE):
        yield Explanation(wanted=wrong.wanted)
        for trait in traits:
            yield Explanation(trait=trait, wanted=wrong.wanted)
    if wrong.got in NO_OUTCOMES:
        yield Explanation(got=wrong.got)
    if _is_refusal(wrong.got) and any(map(_is_refusal, _alternatives(wrong.wanted))):
        yield Explanation(wanted=ANY_REFUSAL, got=wrong.got)
    if wrong.got != SUCCESS:
        for refusal in _alternatives(wrong.wanted) - {SUCCESS, *NO_OUTCOMES}:
            yield Explanation(wanted=refusal, got=wrong.got)
    for trait in traits:
        yield Explanation(trait=trait, got=wrong.got)
    if wrong.wanted not in (CLOSED, SILENCE):
        for trait in traits:
            yield Explanation(trait=trait, wanted=wrong.wanted, got=wrong.got)
    yield Explanation(request=request, wanted=wrong.wanted, got=wrong.got)
    for trait in traits:
        yield Explanation(request=request, trait=trait, got=wrong.got)
    yield Explanation(request=request, got=wrong.got)


def _is_refusal(outcome: str) -> bool:
    return outcome not in (SUCCESS, *NO_OUTCOMES)


def _alternatives(wanted: str) -> set[str]:
    return set(wanted.split(" or "))


def contradictions(explanation: Explanation, held: Mapping[Held, int]) -> int:
    """In how many cases a request had an outcome that the explanation rules out.

    Where an explanation is about many kinds of requests, kinds are counted and not cases: one kind that is
    treated otherwise is one exception, however often it is sent.
    """
    if explanation.kept is not None or (explanation.got is None and explanation.wanted is None):
        return 0
    if explanation.got == WRONG_LENGTH and explanation.request is None and explanation.trait is None:
        return 0  # which answers have a wrong length depends on what is in them
    against = {
        one: cases
        for one, cases in held.items()
        if _speaks_of(explanation, one) and _refutes(explanation, one.answer)
    }
    if explanation.wanted == ANY_REFUSAL and against:
        return sum(held.values())  # one right code is enough: each code has a cause of its own then
    is_of_numbers = explanation.request is None and explanation.trait is None and explanation.wanted
    is_of_family = explanation.trait is not None and not any(explanation.trait in one.traits for one in held)
    if is_of_numbers or is_of_family:
        return len({one.traits for one in against})
    return sum(against.values())


def _speaks_of(explanation: Explanation, held: Held) -> bool:
    if explanation.among:
        return not set(explanation.among).isdisjoint(held.traits)
    return (explanation.request is None or explanation.request == held.request) and (
        explanation.trait is None or explanation.trait in _with_families(held.traits)
    )


def _refutes(explanation: Explanation, answer: str) -> bool:
    if explanation.wanted == ANY_REFUSAL:
        return _is_refusal(answer) and answer != explanation.got
    if explanation.wanted is not None:
        return answer in _alternatives(explanation.wanted)
    if explanation.got == SUCCESS and explanation.request is None and explanation.trait is None:
        return answer not in (SUCCESS, *NO_OUTCOMES)
    return answer != explanation.got


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
