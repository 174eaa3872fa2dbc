"""From failing runs to distinct findings.

- Failures of different targets are different findings. Within a target, failures with one explanation are one
  finding: the statement that cases have shown most tellingly to be broken (`Finding.also_fails`). Failures
  that no case explains are one finding where they break the same invariant in the same way.
- Only programs that were made small have an explanation. A run whose program was not goes to a finding of its
  signature, else of its invariant: to one whose small program its own contains, if there is one, then to the
  one with most runs. What nothing explains is a finding of its own.
- A finding is represented by its shortest program; of several, on NameServers, by one that ends in a look at
  the registrations, since other answers follow from them, then by one whose statement most of its runs have
  broken. Letters, the least seed, then the least run decide between equal ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from harness.catalogue import Role
from harness.mining.schema import ALPHABETS

_TAIL = 12
_REGISTRATIONS: Final = ("route", "cluster-info", "member-group")
_FIRST: Final[dict[Role, frozenset[str]]] = {
    "nameserver": frozenset(ALPHABETS["nameserver"][rule] for rule in _REGISTRATIONS),
    "broker": frozenset(),
}
"""By role: letters of looks from which other answers follow."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failing run."""

    run_id: str
    campaign: str
    source: str
    kind: str
    role: Role = "nameserver"
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
    also_fails: list[str] | None = None

    @property
    def explanation(self) -> str:
        """The statement that a case has shown to be broken; the broken one itself where no case has."""
        return self.also_fails[0] if self.also_fails else self.statement

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


Key = tuple[str, ...]
"""What failures of one finding have in common."""


def _clusters(group: Sequence[Failure]) -> list[Cluster]:
    """Of one target."""
    members: defaultdict[Key, list[Failure]] = defaultdict(list)
    for failure in group:
        if failure.shrunk_ops:
            members[_key(failure)].append(failure)
    explained = {key: tuple(failures) for key, failures in members.items()}
    for failure in group:
        if not failure.shrunk_ops:
            members[_nearest(failure, explained) or _key(failure)].append(failure)
    return [_cluster(failures) for failures in members.values()]


def _key(failure: Failure) -> Key:
    if failure.also_fails:
        return (failure.explanation,)
    return (failure.statement, failure.invariant or "", failure.anomaly or "")


def _nearest(
    failure: Failure, explained: dict[tuple[str, ...], tuple[Failure, ...]]
) -> tuple[str, ...] | None:
    """The finding that a run belongs to whose program was not made small."""

    def of(name: str) -> dict[Key, int]:
        """Findings with failures that are equal in an attribute, and how many."""
        value = getattr(failure, name)
        times = {key: sum(getattr(one, name) == value for one in found) for key, found in explained.items()}
        return {key: count for key, count in times.items() if count and value}

    alike = of("signature") or of("invariant")

    def contained(key: Key) -> bool:
        return any(explains(one.shrunk_ops or "", failure.played) for one in explained[key])

    return min(alike, key=lambda key: (not contained(key), -alike[key], key), default=None)


def _cluster(failures: Sequence[Failure]) -> Cluster:
    times = Counter(failure.statement for failure in failures)

    def key(one: Failure) -> tuple[bool, int, bool, int, str, int, str]:
        letters = one.shrunk_ops or one.played
        plain = letters if one.shrunk_ops else ""
        is_aside = letters[-1:] not in _FIRST[one.role]
        return (
            *(one.shrunk_ops is None, len(letters), is_aside, -times[one.statement]),
            *(plain, one.seed, one.run_id),
        )

    ordered = tuple(sorted(failures, key=key))
    best = ordered[0]
    return Cluster(best.shrunk_ops or best.played[-_TAIL:], best.shrunk_ops is not None, ordered)
