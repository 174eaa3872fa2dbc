"""From failing runs to distinct findings.

Rules of this module:
- Failures of different targets are different findings. Within a target a program explains another one
  1. that contains it: its letters are found in the other in their order. A run that did the one would have
     ended there, so the other fails of the same, whatever statement it broke;
  2. of the same statement, if what it *does* is contained in what the other does. Looks are left aside, and
     so is the last step: whatever it is, it shows the failure;
  3. if what it does was seen to fail in two different last steps: then what is remembered is wrong, and every
     program that does it fails of the same. Of a single step three are needed: an answer that is wrong by
     itself shows after any single registration.
- A registration is a registration whatever the id, time is time, and a broker is gone whether it was
  unregistered or its connection was closed: the small program may hold either.
- Programs that were made small explain. A run whose program was not is put to the shortest that explains it,
  of those that end in the same step if there are such; else to those of its signature. What nothing explains
  is a finding of its own, one for each signature.
- A finding is told by its shortest program; of several by one that ends in a look at the registrations, since
  what else is answered follows from them, then by one whose statement most of its runs have broken.
  Letters, the least seed, then the least run decide between equal ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from harness.findings.naming import statement_of
from harness.mining.schema import ALPHABET
from harness.program.steps import decode_step

__all__ = ["Cluster", "Failure", "clusters", "explains"]

_TAIL = 12
_LOOKS: Final = frozenset(
    ALPHABET[rule]
    for rule in (
        *("query-version", "route", "cluster-info", "topics", "member-group", "get-kv", "list-kv"),
        *("topics-of-cluster", "system-topics", "unit", "configuration"),
    )
)
_REGISTRATIONS: Final = tuple(ALPHABET[rule] for rule in ("route", "cluster-info", "member-group"))
_ALIKE: Final = str.maketrans(
    {
        ALPHABET["register-slave"]: ALPHABET["register"],
        ALPHABET["long-time"]: ALPHABET["time"],
        ALPHABET["close"]: ALPHABET["unregister"],
    }
)
_SHOWN_BY = {1: 3}
"""So many last steps must have failed before what was done, so many steps, is wrong by itself; else two."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failing run."""

    run_id: str
    campaign: str
    source: str
    kind: str
    target: str
    profile: str
    mutant: str | None
    statement: str
    invariant: str | None
    anomaly: str | None
    seed: int
    steps: int
    failing_step: int | None
    ops: str
    signature: str | None
    shrunk_ops: str | None
    shrunk_program: str | None = None
    confirmed_shown: int | None
    confirmed_tried: int | None

    @property
    def named(self) -> str:
        """The statement that its small program speaks of; that which it has broken, where there is none."""
        if not self.shrunk_program or not self.invariant:
            return self.statement
        try:
            program = [decode_step(line) for line in self.shrunk_program.splitlines()]
        except msgspec.MsgspecError:  # of another harness
            return self.statement
        return statement_of(program, self.invariant, self.statement, self.profile)

    @property
    def played(self) -> str:
        """Letters up to the failing step, that one included."""
        return self.ops if self.failing_step is None else self.ops[: self.failing_step + 1]


class Cluster(msgspec.Struct, frozen=True):
    """A finding: the letters that explain it, and its failures, the one that tells it best first."""

    letters: str
    shrunk: bool
    failures: tuple[Failure, ...]

    @property
    def statements(self) -> list[str]:
        """Those that were decisive, the most frequent first."""
        times = Counter(failure.statement for failure in self.failures)
        return sorted(times, key=lambda one: (-times[one], one))


def explains(program: str, other: str) -> bool:
    """Whether the letters of the one are found in the other, in their order."""
    letters = iter(other)
    return all(letter in letters for letter in program)


def clusters(failures: Iterable[Failure]) -> list[Cluster]:
    """The most frequent first, then by target, the shortest, statement and letters."""
    targets: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        targets[failure.target].append(failure)
    found = [cluster for group in targets.values() for cluster in _clusters(group)]
    return sorted(
        found,
        key=lambda one: (
            -len(one.failures),
            one.failures[0].target,
            len(one.letters),
            one.failures[0].statement,
            one.letters,
            one.failures[0].run_id,
        ),
    )


class _Program(NamedTuple):
    """A small program: what is compared of it."""

    size: int
    letters: str
    statement: str
    does: str
    """Its letters but the last, without looks."""


def _program(letters: str, statement: str) -> _Program:
    plain = letters.translate(_ALIKE)
    return _Program(len(plain), plain, statement, "".join(one for one in plain[:-1] if one not in _LOOKS))


def _clusters(group: Sequence[Failure]) -> list[Cluster]:
    """Of one target."""
    small = sorted({_program(one.shrunk_ops, one.statement) for one in group if one.shrunk_ops})
    root_of = _roots(small)
    members: defaultdict[_Program | str, list[Failure]] = defaultdict(list)
    by_signature: defaultdict[str, Counter[_Program]] = defaultdict(Counter)
    rest: list[Failure] = []
    for failure in group:
        if failure.shrunk_ops:
            root = root_of[_program(failure.shrunk_ops, failure.statement)]
            members[root].append(failure)
            by_signature[failure.signature or failure.statement][root] += 1
        else:
            rest.append(failure)
    for failure in rest:
        signature = failure.signature or failure.statement
        alike = by_signature[signature]
        played = failure.played.translate(_ALIKE)
        explaining = [one for one in small if explains(one.letters, played)]
        shown_alike = [one for one in explaining if one.letters[-1] == played[-1]]
        if explaining:
            members[root_of[(shown_alike or explaining)[0]]].append(failure)
        elif alike:
            members[min(alike, key=lambda one: (-alike[one], one))].append(failure)
        else:
            members[signature].append(failure)
    return [_cluster(failures) for failures in members.values()]


def _roots(small: Sequence[_Program]) -> dict[_Program, _Program]:
    """Each program with the one that stands for all that fail of the same; shorter ones come first."""
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for one in small:
        shown[one.does].add(one.letters[-1])
    remembered = {does for does, last in shown.items() if does and len(last) >= _SHOWN_BY.get(len(does), 2)}

    def explained(one: _Program, other: _Program) -> bool:
        if explains(one.letters, other.letters):
            return True
        alike = one.statement == other.statement and one.does != ""
        return (alike or one.does in remembered) and explains(one.does, other.does)

    root_of: dict[_Program, _Program] = {}
    for number, other in enumerate(small):
        roots = {root_of[one] for one in small[:number] if explained(one, other)}
        root = min(roots, default=other)
        root_of[other] = root
        for one, before in root_of.items():
            if before in roots:
                root_of[one] = root
    # What does the same as a later one, and is no shorter, was not asked about it.
    for one in small:
        for other in small:
            if root_of[one] != root_of[other] and one.does in remembered and explains(one.does, other.does):
                root, gone = sorted((root_of[one], root_of[other]))
                root_of.update({each: root for each, before in root_of.items() if before == gone})
    return root_of


def _cluster(failures: Sequence[Failure]) -> Cluster:
    times = Counter(failure.statement for failure in failures)

    def key(one: Failure) -> tuple[bool, int, bool, int, str, int, str]:
        letters = one.shrunk_ops or one.played
        plain = letters if one.shrunk_ops else ""
        is_aside = letters[-1:] not in _REGISTRATIONS
        return (
            *(one.shrunk_ops is None, len(letters), is_aside, -times[one.statement]),
            *(plain, one.seed, one.run_id),
        )

    ordered = tuple(sorted(failures, key=key))
    best = ordered[0]
    return Cluster(best.shrunk_ops or best.played[-_TAIL:], best.shrunk_ops is not None, ordered)
