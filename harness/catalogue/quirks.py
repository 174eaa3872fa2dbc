"""Known servers and their quirks as values: where a server that is in the world breaks the catalogue.

* A quirk is never a licence: the statement stands, and a server that follows it passes. It only gives a known
  defect of a named server its name, so that a check of that server says `quirk` where it would say `fail`.
* A quirk says narrowly what is seen instead. `seen` gives the case and the whole of what was actually seen;
  `when` gives the steps of a generated program that bring it about and what these may change. Another failure
  of the same statement is still a failure.
* The server and its version decide which quirks apply, however the target is started or reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from harness.catalogue.roles import Role
from harness.catalogue.select import did_you_mean
from harness.catalogue.sources import Source
from harness.catalogue.versions import within

NO_QUIRKS = "none"


class VersionRange(msgspec.Struct, frozen=True, kw_only=True):
    """Releases from `first` to `last`, both of them in it; without `last`, every later one."""

    first: str
    last: str | None = None

    def __contains__(self, version: object) -> bool:
        return isinstance(version, str) and within(version, self.first, self.last)

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


Scope = Literal["nothing", "broker", "address", "holder", "server"]


class When(msgspec.Struct, frozen=True, kw_only=True):
    """How a program brings a quirk about. The JSON Schema says what each member means."""

    steps: tuple[str, ...]
    holds: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    taints: Scope = "nothing"


class Quirk(msgspec.Struct, frozen=True, kw_only=True):
    """One defect of a known server. The JSON Schema says what each member means."""

    id: str
    statements: tuple[str, ...]
    versions: tuple[VersionRange, ...]
    instead: str
    source: tuple[Source, ...]
    observed: tuple[str, ...]
    seen: tuple[Seen, ...] = ()
    when: When | None = None
    issues: tuple[str, ...] = ()
    intermittent: str | None = None
    notes: str | None = None

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases that can see it, each once."""
        return tuple(dict.fromkeys(one.case for one in self.seen))

    @property
    def is_intermittent(self) -> bool:
        """Whether it shows on some runs only."""
        return self.intermittent is not None

    @property
    def differs(self) -> tuple[str, ...]:
        """Fields of the answer to the step that brings it about which may differ."""
        return () if self.when is None else self.when.differs

    @property
    def taints(self) -> Scope:
        """Whose later answers may differ once a program has brought it about."""
        return "nothing" if self.when is None else self.when.taints

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


class UnknownServer(ValueError):  # noqa: N818  (said to people)
    """No such server is known; the message says which ones are."""


def judged_as(asked: str, server: str | None) -> str:
    """The server whose quirks count, as `NAME@VERSION`: what `--quirks` asks for, else what the target is
    known to be. Empty for no server.
    """
    identity = asked or server or NO_QUIRKS
    return "" if identity == NO_QUIRKS else identity


def quirks_of(servers: Iterable[Server], identity: str) -> tuple[Quirk, ...]:
    """The quirks of a server that is named as `NAME@VERSION`.

    Raises:
        UnknownServer: none of the servers has this name, or there is no version.
    """
    name, _, version = identity.partition("@")
    known = {one.name: one for one in servers}
    if name not in known or not version[:1].isdigit():
        forms = ", ".join(f"{one}@VERSION" for one in known)
        hint = did_you_mean(name, known) if name not in known else ""
        raise UnknownServer(f"{NO_QUIRKS} or one of {forms}{hint and f'; {hint}'}")
    return known[name].quirks_of(version)


def explanation(quirks: Iterable[Quirk], case: str, expected: str, actual: str) -> Quirk | None:
    """The quirk that a failure of this case is, or None: then it is a failure like any other."""
    return next((one for one in quirks if any(s.matches(case, expected, actual) for s in one.seen)), None)
