"""Which requests a release line serves, by `specs/messages/`."""

from __future__ import annotations

from functools import cache

from harness.catalogue import Profile, messages
from harness.program.nameserver.steps import AnyRequest, Unknown
from harness.program.step import Request
from harness.program.steps import AnyStep


def is_served(step: AnyStep, line: Profile) -> bool:
    """Whether servers of a line know the code of a request; True of what is no request."""
    if isinstance(step, Unknown):
        return step.code in _codes(line.name)
    return type(step) not in _unserved(line.name)


def serves(kind: type[Request], profile: str) -> bool:
    """Whether servers of a line know a request."""
    return not _codes(profile).isdisjoint(kind.codes)


@cache
def _codes(profile: str) -> frozenset[int]:
    known = messages().of("nameserver")
    return frozenset(one.code for one in known if not one.profiles or profile in one.profiles)


@cache
def _unserved(profile: str) -> frozenset[type]:
    """The steps of which no code is served."""
    return frozenset(kind for kind in AnyRequest.__args__ if kind.codes and not serves(kind, profile))
