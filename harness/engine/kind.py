"""A kind of programs: what makes the program of a seed, plays it and counts what it reached.

Invariants:
- A seed, the kind and what the target allows decide a program; what ran before decides nothing, in whatever
  process. `Kind.settle` is the exception: a kind that learns makes other programs afterwards.
- `fuzz` plays batches of seeds, a campaign plays ranges of them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import msgspec

from harness.findings.experiment import Attempt, Experiment
from harness.program.chance import chance
from harness.program.names import Names
from harness.program.steps import AnyStep, encode_step

Program = tuple[AnyStep, ...]
Seed = int | str
Transition = tuple[str, str, str, int]
"""Kind of step, state before, state after, how often."""

_GOES_ROUND = 8
"""All programs but one in this many leave out what is known to bring deviations about."""
_SAMPLE = 12
"""How many programs tell one generator from another."""


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """A program that was played."""

    program: Program
    attempt: Attempt
    quirk: str | None = None
    """The named quirk of the target that explains its violations."""
    goals: tuple[str, ...] = ()
    """The goals it reached, by id."""


class SeededNames:
    """Makes new names for every attempt; the words, the seed and the number of the attempt decide them.

    Kinds of one run play on the same servers, so that the kind decides them too.
    """

    def __init__(self, kind: str, words: str) -> None:
        self._kind = kind
        self._words = words
        self._seed: Seed = ""
        self._attempts = 0

    def begin(self, seed: Seed) -> None:
        """Goes on with the names of a seed."""
        self._seed, self._attempts = seed, 0

    def next(self) -> Names:
        """The names of the next attempt."""
        self._attempts += 1
        return Names(chance("names", self._kind, self._words, self._seed, self._attempts))


def goes_round(kind: str, seed: Seed) -> bool:
    """Whether the program of a seed leaves out what is known to bring deviations about."""
    return chance("goes round", kind, seed).randrange(_GOES_ROUND) > 0


class Kind(ABC):
    """One kind of programs against one target. What it starts for a program serves those after it."""

    name: ClassVar[str]
    """Its name on the command line."""
    experiment: Experiment
    """Repeats the programs of the seed that was played last."""

    def __init__(self) -> None:
        self.goals = Counter[str]()
        """How often each goal was reached."""
        self.moves = Counter[tuple[str, str, str]]()
        """Transitions, where the kind counts them."""

    @abstractmethod
    def program(self, seed: Seed) -> Program:
        """The program of a seed, where the target is known for no quirk and violates nothing."""

    @abstractmethod
    def run(self, seed: Seed) -> Tried:
        """Plays the program of a seed. Raises ``TargetError``."""

    @abstractmethod
    def close(self) -> None:
        """Stops whatever it started. May be called more than once."""

    @property
    def depends_on(self) -> str:
        """What else the programs depend on: properties of the target, versions of libraries."""
        return ""

    @cached_property
    def generator(self) -> str:
        """Names the population of its programs, by a digest of the first few and what else they depend on."""
        sample = "\n".join(encode_step(step) for seed in range(_SAMPLE) for step in self.program(seed))
        digest = hashlib.blake2b(sample.encode(), digest_size=4).hexdigest()
        return f"{self.name}-{digest} {self.depends_on}".rstrip()

    def broken_off(self) -> Tried | None:
        """What a run that was broken off had played, where that is known. What it left goes with `close`."""
        return None

    def probes(self) -> Sequence[Program]:
        """Small programs that show, before all others, what the target does otherwise."""
        return ()

    def probe(self, program: Program, number: int) -> Tried:
        """Plays such a program. Raises ``TargetError``."""
        raise NotImplementedError

    def settle(self) -> None:  # noqa: B027  (most kinds learn nothing)
        """Learns from the programs of a batch that is over."""

    def required(self) -> Sequence[str]:
        """The goals that a run should reach."""
        return ()

    def reached(self) -> dict[str, int]:
        """How often each goal was reached, zeros of the required ones included."""
        return {**dict.fromkeys(self.required(), 0), **self.goals}

    def transitions(self) -> list[Transition]:
        """The transitions that were counted."""
        return [(*three, times) for three, times in sorted(self.moves.items())]

    def take_over(self, goals: dict[str, int], transitions: Sequence[Transition]) -> None:
        """Goes on counting from what an earlier run reached."""
        self.goals.update(goals)
        self.moves.update({(kind, old, new): times for kind, old, new, times in transitions})
