"""What reports say of causes: the same words and facts on a console, in HTML, Markdown and JSON. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from harness.catalogue import Class
from harness.report.causes import Cause, causes_of
from harness.report.explanations import NO_OUTCOMES, SUCCESS
from harness.report.results import (
    CLOSED,
    NO_FLAG,
    SILENCE,
    STRANGE_OPAQUE,
    UNASKED,
    WRONG_LENGTH,
    Asked,
    BodyForm,
    Failure,
    Run,
    Sent,
)
from harness.report.text import plural
from harness.report.traits import SEVERAL, differing, families

_THEN = {
    "time": "time passed",
    "closed connection": "a connection was closed",
    "restart": "the server was restarted",
}
_T = TypeVar("_T")
_TRAITS = 4
"""Traits that a title names."""
_CODES = 2
"""Requests that a title names."""
_ALTERNATIVES = 3
"""Outcomes to be expected that a title names."""
_AMBIENT = "version of another release"
_AFTER = {
    "time": "after time has passed",
    "closed connection": "after a connection was closed",
    "restart": "after a restart",
}


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """One cause, as every report shows it."""

    number: int
    """From 1, in the order in which they are to be mended."""
    title: str
    class_: Class = msgspec.field(name="class")
    fails: int
    blocks: int
    deed: Sent | None
    """What was done before, where the request only looks at it; and what came then."""
    then: tuple[str, ...]
    request: str
    """Code and name; empty where the target was to speak first."""
    traits: tuple[str, ...]
    """How the request differs from an ordinary one."""
    header: str
    body: str
    body_form: BodyForm
    expected: str
    actual: str
    where: str
    statement: str
    because: str
    """The statement's sentence."""
    again: str
    """The command that shows it again, and little else."""
    shown: str
    """The case that the exchange is taken from."""
    log: tuple[str, ...] = ()
    """What the server wrote while that case ran."""
    cases: tuple[str, ...]
    """All that it makes fail."""
    blocked: tuple[str, ...]


class Causes(msgspec.Struct, frozen=True, kw_only=True):
    """All causes of a run."""

    sentence: str
    """Empty where there is none."""
    causes: tuple[Explained, ...] = ()


def explained(run: Run) -> Causes:
    """The causes of a run in words, what holds back most first."""
    causes = causes_of(run)
    if not causes:
        return Causes(sentence="")
    failed = sum(len(one.failed) for one in causes)
    blocked = sum(len(one.blocked) for one in causes)
    return Causes(
        sentence=_sentence(len(causes), failed, blocked),
        causes=tuple(_explained(number, one) for number, one in enumerate(causes, start=1)),
    )


def holds_back(one: Explained) -> str:
    """``essential · fails 9, blocks 38``."""
    parts = [f"fails {one.fails}"] if one.fails or not one.blocks else []
    return f"{one.class_} · " + ", ".join([*parts, *([f"blocks {one.blocks}"] if one.blocks else [])])


def sent_lines(sent: Sent | Explained) -> list[str]:
    """What was sent, a line for each part; none where nothing was."""
    if not sent.request:
        return []
    body = f"body {'in hex ' if sent.body_form == 'hex' else ''}{sent.body}" if sent.body else ""
    header = [f"header {sent.header}"] if sent.header else []
    return [request_line(sent), *header, *([body] if body else [])]


def request_line(sent: Asked | Explained) -> str:
    """The request, and what is special in it: ``105 GET_ROUTEINFO_BY_TOPIC (under TLS)``."""
    return f"{sent.request} ({', '.join(_cut([*sent.traits]))})" if sent.traits else sent.request


def sent_text(failure: Failure) -> str:
    """What was sent, in lines; empty where nothing was."""
    return "" if failure.sent is None else "\n".join(sent_lines(failure.sent))


def deed_lines(one: Failure | Explained) -> list[str]:
    """What was done before it was sent, a line for each part; none where that is no matter."""
    then = [f"then {_THEN[what]}" if one.deed is not None else _THEN[what] for what in one.then]
    return [*(sent_lines(one.deed) if one.deed is not None else []), *then]


def deed_text(failure: Failure) -> str:
    """The same in one text."""
    return "\n".join(deed_lines(failure))


def _sentence(causes: int, failed: int, blocked: int) -> str:
    counts = [plural(failed, "failure")] if failed or not blocked else []
    counts += [f"{plural(blocked, 'blocked case')}"] if blocked else []
    explains = f"{plural(causes, 'cause')} explain{'s' if causes == 1 else ''} {' and '.join(counts)}."
    return explains if causes == 1 else f"{explains} Start with the first."


def _explained(number: int, cause: Cause) -> Explained:
    failure = cause.failure
    sent = failure.sent or Sent(request="")
    return Explained(
        number=number,
        title=title(cause),
        class_=cause.class_,
        fails=len(cause.failed),
        blocks=len(cause.blocked),
        deed=failure.deed,
        then=failure.then,
        request=sent.request,
        traits=sent.traits,
        header=sent.header,
        body=sent.body,
        body_form=sent.body_form,
        expected=failure.expected,
        actual=failure.actual,
        where=failure.where or "none: nothing was received",
        statement=failure.statement,
        because=failure.text,
        again=failure.replay,
        shown=cause.shown.result.case,
        log=cause.shown.result.log,
        cases=tuple(one.case for one in cause.failed),
        blocked=tuple(one.case for one in cause.blocked),
    )


def title(cause: Cause) -> str:
    """What the failures of the cause have in common, in one sentence, without any text of a target."""
    first, ended_in = cause.items[0].failure, cause.items[0].result.ended_in
    if ended_in:
        return f"The server does not live through {', '.join(_cut([*ended_in]))}"
    if first.wrong is None:
        return f"{first.statement} does not hold"
    sentence = _Title(cause).sentence()
    return sentence[:1].upper() + sentence[1:]


class _Title:
    """A title in the making: what all the items of a cause share."""

    def __init__(self, cause: Cause) -> None:
        self._items = cause.items
        self._requests = list(dict.fromkeys(item.request for item in cause.items))
        self._wanted = cause.explanation.wanted or _shared_alternative(
            item.wrong.wanted for item in cause.items
        )
        self._got = cause.explanation.got or _shared(item.wrong.got for item in cause.items)
        self._after, self._kept = cause.explanation.after, cause.explanation.kept
        self._about, self._thing = cause.explanation.trait, cause.explanation.thing
        self._among = cause.explanation.among
        self._member = cause.explanation.member
        self._places = len({item.wrong.place for item in cause.items})

    def sentence(self) -> str:
        wrong = self._items[0].wrong
        if self._after is not None and self._kept is None:
            return f"answers after {self._after} are not what it should have made them"
        kept = _shared(item.kept for item in self._items)
        if (
            self._member is None
            and kept is not None
            and len({(item.wrong.place, item.wrong.got) for item in self._items}) > 1
        ):
            return self._of_content(kept)
        if wrong.kind == "outcome":
            return self._of_outcome()
        return self._of_answer()

    def _of_outcome(self) -> str:
        if self._requests == [""]:
            return self._unasked()
        asked, got, wanted = self._asked(), self._got, self._wanted
        if wanted == CLOSED:
            came = f"is answered {got}" if got not in (None, *NO_OUTCOMES) else "does not"
            return f"{asked} should close the connection, and {came}"
        if wanted == SILENCE and got in (SILENCE, "no answer"):
            return f"{asked} should get no answer, and keeps later requests from getting one"
        if wanted == SILENCE:
            answered = "is answered" if got is None else f"is answered {got}"
            came = "closes the connection" if got == CLOSED else answered
            return f"{asked} should get no answer, and {came}"
        is_short = wanted is not None and wanted.count(" or ") < _ALTERNATIVES
        instead = f" instead of {wanted}" if is_short else ""
        if got == CLOSED:
            return f"{asked} closes the connection{instead}"
        if got in (SILENCE, "no answer") and SEVERAL in self._shared_traits():
            return "of several requests that arrive together, not all are answered"
        if got in (SILENCE, "no answer"):
            return f"{asked} gets no answer{instead}"
        if got == NO_FLAG:
            return f"the answer to {asked} lacks the response bit of its flag"
        if got == STRANGE_OPAQUE:
            return f"the answer to {asked} has another opaque than the request"
        if got == WRONG_LENGTH:
            return f"{asked} is answered with a frame whose lengths are wrong"
        if got == "no command":
            return f"{asked} is answered with bytes that are no command"
        if got == SUCCESS:
            return f"{asked} is accepted{instead}"
        verb = "is refused with" if wanted == SUCCESS else "is answered"
        return f"{asked} {verb} {got or 'other codes'}{instead}"

    def _of_answer(self) -> str:
        asked, wrong = self._asked(), self._items[0].wrong
        if self._requests == [""]:
            asked = f"what the server sends of its own accord ({wrong.wanted})"
            answer = asked
        else:
            answer = f"the answer to {asked}"
        if wrong.kind == "unreadable":
            return f"{answer} cannot be read"
        if wrong.place == UNASKED:
            is_second = _shared(item.wrong.change for item in self._items) == "repeated"
            return (
                f"{asked} gets one answer too many"
                if is_second
                else "the server sends responses to no request"
            )
        if self._places > 1 and self._member is None:
            return f"{answer} has wrong content in {self._places} places"
        place = wrong.place if self._places == 1 else self._member
        match _shared(item.wrong.change for item in self._items):
            case "not in UTF-8":
                return f"the {place} of {answer} is not in UTF-8"
            case "not a JSON integer" | "not a JSON string" as change:
                what = change.removeprefix("not ")
                what = f"{what.removeprefix('a ')}s" if place and " " in place else what
                return f"{answer} does not write {place} as {what}"
            case "absent":
                return f"{answer} lacks {place}"
            case "added":
                return f"{answer} has {place}, which should be absent"
            case "more":
                return f"{answer} has too much in {place}"
            case "repeated":
                return f"{answer} has an entry twice in {place}"
            case "fewer":
                return f"{answer} has too little in {place}"
            case "others":
                return f"{answer} has other entries than expected in {place}"
            case "in another order":
                return f"{answer} has the entries of {place} in another order"
            case "of another type":
                return f"{answer} has {place} of another type"
            case _:
                return f"{answer} has a wrong value of {place}"

    def _of_content(self, kept: bool) -> str:
        after = self._after
        when = "" if after is None else f" {_AFTER.get(after, f'after {after}')}"
        thing = f"{self._thing} that" if self._thing else "what"
        what = f"still has {thing} should be gone" if kept else f"lacks {thing} should be there"
        return f"the answer to {self._asked()} {what}{when}"

    def _unasked(self) -> str:
        if self._wanted == CLOSED:
            return "the server does not close a connection that it should close"
        if self._got in (SILENCE, "no answer"):
            return f"the server does not send {self._wanted or 'what it should'} of its own accord"
        return (
            f"the server sends {self._got or 'something else'} instead of {self._wanted or 'what it should'}"
        )

    def _asked(self) -> str:
        """The request, or how many there are, and what is special in all of them."""
        traits = self._traits()
        special = f" ({', '.join(traits)})" if traits else ""
        if len(self._requests) <= _CODES:
            return " or ".join(one or "no request" for one in self._requests) + special
        if traits and not self._is_of_family():
            return f"every request{special}"
        return f"a request with any of {len(self._requests)} codes{special}"

    def _traits(self) -> list[str]:
        """What is special in all the requests, or else what is of one kind in each of them."""
        if self._about is None and len(self._items) > 1 and self._items[0].wrong.kind != "outcome":
            return []
        if self._about is not None and self._is_of_family():
            return self._of_family(self._about)
        shared = self._shared_traits()
        named = [one for one in self._items[0].ordered_traits if one in shared]
        return _cut([one for one in named if one != _AMBIENT or one == self._about])

    def _shared_traits(self) -> frozenset[str]:
        return frozenset.intersection(*(item.traits for item in self._items))

    def _is_of_family(self) -> bool:
        """Whether it is a kind of difference that they share, and none of the differences."""
        return self._about is not None and self._about not in self._shared_traits()

    def _of_family(self, family: str) -> list[str]:
        among = self._among
        found = Counter(
            one
            for item in self._items
            for one in item.ordered_traits
            if family in families(one) and (not among or one in among)
        )
        names = list(dict.fromkeys(differing(one) for one, _ in found.most_common()))
        return [f"{family}: {', '.join(_cut(names))}"]


def _cut(traits: list[str]) -> list[str]:
    more = len(traits) - _TRAITS
    return traits[:_TRAITS] + ([f"and {more} more"] if more > 0 else [])


def _shared_alternative(outcomes: Iterable[str]) -> str | None:
    """What all would have accepted: the one text, or the one of the alternatives that all of them name."""
    distinct = set(outcomes)
    if len(distinct) == 1:
        return distinct.pop()
    return _shared(set.intersection(*(set(one.split(" or ")) for one in distinct)))


def _shared(values: Iterable[_T]) -> _T | None:
    """The one value that all have, or None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
