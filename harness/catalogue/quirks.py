"""Known servers and their quirks as values: where a server that is in the world breaks the catalogue.

Rules of this module:

* A quirk is never a licence: the statement stands, and a server that follows it passes. It only gives a known
  defect of a named server its name, so that a check of that server says `quirk` where it would say `fail`.
* A quirk says what is seen instead, narrowly: by case, and by the whole of what was actually seen. Another
  failure of the same statement is still a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from harness.catalogue.roles import Role
from harness.catalogue.statements import Source

Version = tuple[int, ...]


class VersionRange(msgspec.Struct, frozen=True, kw_only=True):
    """Releases from `first` to `last`, both of them in it; without `last`, every later one."""

    first: str
    last: str | None = None

    def __contains__(self, version: object) -> bool:
        if not isinstance(version, str):
            return False
        number = numbers(version)
        return numbers(self.first) <= number and (self.last is None or number <= numbers(self.last))

    def __str__(self) -> str:
        """`5.0.0 to 5.3.3`, `5.0.0 and later`."""
        if self.last is None:
            return f"{self.first} and later"
        return self.first if self.first == self.last else f"{self.first} to {self.last}"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a case sees of a quirk: regular expressions for the whole of its `actual` and its `expected`.

    A dot matches no line break: a frame that came beside what was asked for, which is told on a line of its
    own, is no part of a quirk unless the pattern says so.
    """

    case: str
    actual: str
    expected: str | None = None

    def matches(self, case: str, expected: str, actual: str) -> bool:
        """Whether a failure of this case, with these two texts of its report, is the quirk."""
        return (
            case == self.case
            and re.fullmatch(self.actual, actual) is not None
            and (self.expected is None or re.fullmatch(self.expected, expected) is not None)
        )


class Quirk(msgspec.Struct, frozen=True, kw_only=True):
    """One defect of a known server. The JSON Schema says what each member means."""

    id: str
    statements: tuple[str, ...]
    versions: tuple[VersionRange, ...]
    instead: str
    seen: tuple[Seen, ...]
    source: tuple[Source, ...]
    observed: tuple[str, ...]
    candidates: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    intermittent: str | None = None
    notes: str | None = None

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases that can see it, each once."""
        return tuple(dict.fromkeys(one.case for one in self.seen))

    def applies_to(self, version: str) -> bool:
        """Whether this release of the server has the quirk."""
        return any(version in one for one in self.versions)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is in the world, and where it breaks the catalogue."""

    name: str
    title: str
    text: str
    quirks: tuple[Quirk, ...]
    role: Role = "nameserver"

    def quirks_of(self, version: str) -> tuple[Quirk, ...]:
        """The quirks of one release."""
        return tuple(one for one in self.quirks if one.applies_to(version))


def explanation(quirks: Iterable[Quirk], case: str, expected: str, actual: str) -> Quirk | None:
    """The quirk that a failure of this case is, or None: then it is a failure like any other."""
    return next((one for one in quirks if any(s.matches(case, expected, actual) for s in one.seen)), None)


def numbers(version: str) -> Version:
    """`5.3.3` -> (5, 3, 3). What follows the numbers (`-SNAPSHOT`) says nothing about quirks."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
