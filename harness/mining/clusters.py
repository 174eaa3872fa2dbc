"""From failing runs to distinct findings.

Rules of this module:
- Failures of different statements or targets are different findings. Among the others a program explains
  those that contain it: the letters of the one are found in the other in the same order.
- Programs that were made small explain; a run whose program was not is put to the shortest that explains it.
  What no program explains is a finding of its own, one for each statement and target: `contrast` says more.
- A finding is told by its shortest program; the least seed, then the least run, decides between equal ones.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

__all__ = ["Cluster", "Failure", "clusters", "explains"]

_TAIL = 12


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failing run."""

    run_id: str
    campaign: str
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
    shrunk_ops: str | None
    confirmed_shown: int | None
    confirmed_tried: int | None

    @property
    def played(self) -> str:
        """Letters up to the failing step, that one included."""
        return self.ops if self.failing_step is None else self.ops[: self.failing_step + 1]


class Cluster(msgspec.Struct, frozen=True):
    """A finding: the letters that explain it, and its failures, the one that tells it best first."""

    letters: str
    shrunk: bool
    failures: tuple[Failure, ...]


def explains(program: str, other: str) -> bool:
    """Whether the letters of the one are found in the other, in their order."""
    letters = iter(other)
    return all(letter in letters for letter in program)


def clusters(failures: Iterable[Failure]) -> list[Cluster]:
    """The most frequent first, then by target, statement and letters."""
    groups: defaultdict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.target, failure.statement].append(failure)
    found = [cluster for group in groups.values() for cluster in _clusters(group)]
    return sorted(
        found,
        key=lambda one: (
            -len(one.failures),
            one.failures[0].target,
            one.failures[0].statement,
            len(one.letters),
            one.letters,
        ),
    )


def _clusters(group: Sequence[Failure]) -> list[Cluster]:
    """Of one statement and target."""
    times = Counter(failure.shrunk_ops for failure in group if failure.shrunk_ops)
    roots: list[str] = []
    root_of: dict[str, str] = {}
    for letters in sorted(times, key=lambda one: (len(one), one)):
        root_of[letters] = next((root for root in roots if explains(root, letters)), letters)
        if root_of[letters] == letters:
            roots.append(letters)
    patterns = [(root, re.compile(".*".join(map(re.escape, root)))) for root in roots]
    members: defaultdict[str, list[Failure]] = defaultdict(list)
    rest: list[Failure] = []
    for failure in group:
        if failure.shrunk_ops:
            members[root_of[failure.shrunk_ops]].append(failure)
            continue
        played = failure.played
        root = next((root for root, pattern in patterns if pattern.search(played)), None)
        (rest if root is None else members[root]).append(failure)
    found = [Cluster(root, True, _ordered(found)) for root, found in members.items()]
    if rest:
        first = _ordered(rest)
        found.append(Cluster(first[0].played[-_TAIL:], False, first))
    return found


def _ordered(failures: Sequence[Failure]) -> tuple[Failure, ...]:
    def key(one: Failure) -> tuple[int, int, int, str]:
        return (
            one.shrunk_ops is None,
            len(one.shrunk_ops or one.played),
            one.seed,
            one.run_id,
        )

    return tuple(sorted(failures, key=key))
