"""The causes that a run has found, recognised where they show again.

- An example is one confirmed, minimised divergence. It is known by the request whose answer differed, by the
  kind of difference, and by the kinds of steps that led there; each must be found again in a program, about
  names that the difference is about.
- Examples with one explanation are one cause: what was special in the step that sets the targets apart.
- A cause after which the targets hold different states taints the names that it touches: what is said about
  them afterwards follows from it, and is no news. Most rounds avoid the steps that bring it about.
- There are at most `FORMS` examples of one kind of difference, and at most `MOST` in all; what comes after
  them counts as theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from harness.engine.peer.special import Kind, kind_of, what_of
from harness.engine.peer.taints import touched, words_of
from harness.program.step import Request
from harness.program.steps import AnyStep
from harness.report.divergence import Exchange
from harness.spec.nameserver.expected import ExpectedState

FORMS = 6
MOST = 400
_INDISPENSABLE = frozenset({"REGISTER_BROKER (103)", "UNREGISTER_BROKER (104)", "connection closed"})
"""Without these no program gets anywhere: they are avoided only where something was special."""


class Seen(msgspec.Struct, frozen=True):
    """A kind of difference in the answer to a kind of request."""

    asked: str
    kind: str

    def __str__(self) -> str:
        return f"{self.asked}: {self.kind}"


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A confirmed divergence, minimised."""

    cause: str
    """What the cause is called: equal in all its examples."""
    seen: tuple[Seen, ...]
    """All that differs there, what was looked into first."""
    before: tuple[Kind, ...]
    """Steps that change something, before the decisive one."""
    decisive: Kind
    taints: bool
    """Whether the targets hold different states from then on."""
    exchange: Exchange
    explained: str = ""
    """What explains it: a difference between the releases that the two are of."""
    finding: str = ""
    """Name of its folder; empty where it was not written."""
    confirmed: str = ""

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests that show it, and the step that brings it about."""
        return tuple(dict.fromkeys([self.trigger.what, *(one.asked for one in self.seen)]))

    @property
    def trigger(self) -> Kind:
        """The step that sets the targets apart."""
        return self.before[-1] if self.decisive.is_question and self.before else self.decisive


class Past(msgspec.Struct, frozen=True):
    """A step of a program that may have changed something: its kind, and the names that it touched."""

    kind: Kind
    names: frozenset[str]


class History:
    """The kinds of the steps of a program. They are made out when they are asked for, which is rarely."""

    def __init__(self, steps: Sequence[AnyStep], profile: str) -> None:
        self._steps = steps
        self._expected = ExpectedState(profile)
        self._kinds: list[Past] = []

    def until(self, index: int) -> list[Past]:
        """All steps up to one, which is the last; those before it that change nothing have no names."""
        while len(self._kinds) <= index:
            step = self._steps[len(self._kinds)]
            kind = kind_of(step, self._expected)
            names = set() if kind.is_question else touched("broker", step, self._expected)
            self._kinds.append(Past(kind, frozenset(_telling(names))))
            self._expected.apply(step)
        return self._kinds[: index + 1]


class KnownCauses:
    """What a run knows by now."""

    def __init__(self, examples: Iterable[Example] = ()) -> None:
        self.examples: list[Example] = []
        self._by_seen: dict[Seen, list[Example]] = {}
        self._avoided: dict[str, list[Kind]] = {}
        for example in examples:
            self.add(example)

    @property
    def is_full(self) -> bool:
        """Whether nothing more is looked into."""
        return len(self.examples) >= MOST

    def add(self, example: Example) -> None:
        """Another one is known."""
        self.examples.append(example)
        for one in example.seen:
            self._by_seen.setdefault(one, []).append(example)
        trigger = example.trigger
        if example.taints and (trigger.special or trigger.what not in _INDISPENSABLE):
            self._avoided.setdefault(trigger.what, []).append(trigger)

    def forms(self, seen: Seen) -> int:
        """How many examples there are of a kind of difference."""
        return len(self._by_seen.get(seen, ()))

    def recognised(
        self, seen: Seen, history: Sequence[Past], names: set[str]
    ) -> tuple[Example, frozenset[str]] | None:
        """The example that a difference behind ``history``, whose last step is the decisive one, is like, and
        the names that have to do with it. ``names`` are those that the difference is about.
        """
        examples = self._by_seen.get(seen, [])
        for example in examples:
            touches = _touches(example, history, names)
            if touches is not None:
                return example, touches
        if len(examples) < FORMS:
            return None
        decisive = history[-1]
        nearest = max(examples, key=lambda one: len(one.decisive.special & decisive.kind.special))
        return nearest, decisive.names | names

    def avoids(self, step: AnyStep, expected: ExpectedState) -> bool:
        """Whether a step is known to leave the targets in different states."""
        kinds = self._avoided.get(what_of(step)) if self._avoided else None
        if not kinds:
            return False
        kind = kind_of(step, expected)
        return any(one.is_in(kind) for one in kinds)

    def avoided(self) -> list[str]:
        """The kinds of steps that most rounds avoid."""
        return sorted({str(kind) for kinds in self._avoided.values() for kind in kinds})


def _touches(example: Example, history: Sequence[Past], names: set[str]) -> frozenset[str] | None:
    if not example.decisive.is_in(history[-1].kind):
        return None
    touches = history[-1].names
    for kind in example.before:
        found = [
            past.names
            for past in history[:-1]
            if kind.is_in(past.kind) and (not past.names or past.names & names)
        ]
        if not found:
            return None
        touches = touches.union(*found) if kind is example.before[-1] else touches
    return touches


def cause_of(seen: Seen, before: Sequence[Kind], decisive: Kind, *, settling: bool) -> str:
    """What the cause of a divergence is called, by what was special on the way to it."""
    both = seen.kind.split(" / ")
    if len(both) == 2 and all(map(_refuses, both)):
        return f"both refuse, {seen.kind}"
    if settling:
        return f"after {decisive}"
    if not decisive.is_question or decisive.special or not before:
        return f"{decisive}: {seen.kind}"
    if len(before) == 1 and not before[0].special and before[0].what in _SETUP:
        return f"{decisive}: {seen.kind}"
    telling = [one for one in before[:-1] if one.special]
    return f"after {', then '.join(map(str, [*telling, before[-1]]))}"


_SETUP = frozenset({"REGISTER_BROKER (103)", "PUT_KV_CONFIG (100)"})
"""What has to come first so that there is something to ask about."""


def _refuses(said: str) -> bool:
    """Whether one half of a kind says that an error was answered."""
    return said.endswith(")") and not said.endswith("(0)")


def names_in(step: AnyStep, facts: Iterable[Sequence[str]], known: Iterable[str]) -> set[str]:
    """The names of the program that a request or its answer is about."""
    found = words_of(step) if isinstance(step, Request) else set()
    words = {word for fact in facts for word in fact}
    found |= {name for name in known if name in words or any(name in word.split(":") for word in words)}
    return _telling(found)


def _telling(names: set[str]) -> set[str]:
    """Without clusters: all brokers share them."""
    return {name for name in names if not name.startswith("c")}
