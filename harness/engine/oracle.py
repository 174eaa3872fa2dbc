"""All that judges a run: what is known of each server, and what no server may ever send.

It sees what the executor gives, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from harness.engine.executor import Unsolicited
from harness.program.steps import AnyStep
from harness.spec import Observation, Violation
from harness.spec.headers import mistyped_answers
from harness.spec.observation import DEATH

_ANSWERED = "wire.sanity.well-formed-request-is-answered"
_ECHOED = "wire.framing.opaque-is-echoed"


class Tracker(Protocol):
    """What is known of one server."""

    @property
    def judged(self) -> Mapping[int, frozenset[str]]:
        """By step: the statements that its answer was held against and has not broken, where that is kept."""
        ...

    def observe(self, seen: Observation) -> list[Violation]:
        """Takes in what was seen and gives what the catalogue does not allow of it."""
        ...


class Oracle:
    """Judges one run, by what is ``known`` of each server."""

    def __init__(self, known: Sequence[Tracker]) -> None:
        self._known = known
        self._told = 0
        self._is_mistyped = False
        """Whether a mistyped header was told: a server that writes one writes all of them so."""

    @property
    def judged(self) -> dict[int, frozenset[str]]:
        """By step: the statements that answers were held against and have not broken."""
        found: dict[int, frozenset[str]] = {}
        for known in self._known:
            found |= known.judged
        return found

    def begins(self, step: AnyStep, moment: float) -> None:
        """Nothing: a NameServer answers when a request takes effect."""

    def observe(self, seen: Sequence[Observation], unsolicited: Sequence[Unsolicited]) -> list[Violation]:
        """What is wrong about observations, and about frames that came uncalled: ``unsolicited`` is the whole
        list of the run, of which the new ones are judged.
        """
        found: list[Violation] = []
        for one in seen:
            found += self._known[one.server].observe(one)
        found += [stray(one) for one in unsolicited[self._told :]]
        self._told = len(unsolicited)
        if not self._is_mistyped and (mistyped := mistyped_answers(seen)):
            self._is_mistyped = True
            found += mistyped
        return found


def died(number: int, problem: str) -> Violation:
    """The server takes no connection any more."""
    return Violation(
        invariant=DEATH,
        statement=_ANSWERED,
        expected="a server that takes connections and answers",
        actual=problem,
        number=number,
    )


def stray(one: Unsolicited) -> Violation:
    """An unsolicited frame came."""
    return Violation(
        invariant="every-answer-was-asked-for",
        statement=_ECHOED,
        expected="nothing but answers to what was asked on the connection",
        actual=str(one.stray),
        number=one.number,
    )
