"""What the failures of a run may have in common: explanations of each, and what contradicts them.

An explanation foretells the outcome of every request that it is about, so a request of that kind with another
outcome refutes it. Of the content of an answer nothing is foretold, because it depends on what the case did
before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec

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
    Wrong,
)
from harness.report.traits import families

SUCCESS: Final = "SUCCESS (0)"
NO_OUTCOMES: Final = (CLOSED, SILENCE, "no answer", "no command", NO_FLAG, STRANGE_OPAQUE, WRONG_LENGTH)
"""What came where no reply did."""
ANY_REFUSAL: Final = "the code of its failure"
"""What was wanted where every refusal has the same wrong code, whatever was to be refused."""
_LEAVING: Final = ("time", "closed connection", "restart")
_REMOVING: Final = ("UNREGISTER", "DELETE", "WIPE", "CLEAN")
"""What the names of requests that take something away have in them."""
_UPDATING: Final = ("UPDATE",)
"""What the names of requests have in them that show in whatever is asked afterwards."""
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


def member_of(place: str) -> str:
    """The innermost named member of a place in a body, and what follows: `brokerAddrs.*`. Empty elsewhere."""
    found = _MEMBER.search(place) if place.startswith("body.") else None
    return found[0] if found is not None else ""


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
        if last and (not item.kept or removes(last)):
            yield Explanation(kept=item.kept, after=last)


def likenesses(item: Item) -> Iterator[Explanation]:
    """For a failure that nothing explains: it is put together with those that look alike.

    What changed something before counts where the content of the answer depends on it.
    """
    wrong = item.wrong
    depends = wrong.kind != "outcome" or item.kept is not None
    if not depends and wrong.got != SUCCESS and wrong.wanted not in (CLOSED, SILENCE):
        wrong = msgspec.structs.replace(wrong, wanted="")  # what it refuses, it refuses instead of anything
    yield Explanation(alike=(item.request, wrong, item.failure.after[-1:] if depends else ()))


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


def _with_families(traits: Iterable[str]) -> list[str]:
    """The traits and their kinds, the most general first."""
    kinds = [list(reversed(families(one))) for one in traits]
    return list(dict.fromkeys([*(one for kind in kinds for one in kind), *traits]))


def removes(event: str) -> bool:
    return event in _LEAVING or any(word in event for word in _REMOVING)


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
