"""How a mutant is written, and where all of them are listed.

    @mutant(RouteTable.lease_ended, "A lease never runs out.")
    def leases_never_end(original, self, record, now):
        return False

The function stands in for the method. It takes the sound method, called as `original(self, ...)`, and then
what the method takes. The mutant's name is the function's, with hyphens; the leading underscore that a name
needs if it begins with a digit does not count. A method that has been renamed, or that takes other
parameters, is an error when this package is loaded. A mutant that remembers something adds attributes to
`self`. One that changes state by other means than the methods of the route table must add 1 to
`self.revision`: replies are encoded anew when a revision grows, and never otherwise.

The decisions that can be replaced are the methods of the classes that the servers' `parts.py` list.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from reference_impl.remoting.parts import Parts, require_fit

V4 = ("4.9",)
V5 = ("5.3", "5.5")
"""The profiles of the 5.x line: a mutant of what 4.9 does not have is for these."""

_ROLES = {"nameserver": ("nameserver",), "broker": ("broker",), "remoting": ("nameserver", "broker")}
"""Which reference the mutants of a folder break."""
_PROFILES = {"nameserver": (*V4, *V5), "broker": ("4.9", "5.3"), "remoting": (*V4, *V5)}

Function = Callable[..., Any]


class Mutant(msgspec.Struct, frozen=True):
    """One fault."""

    name: str
    description: str
    """One sentence: what the faulty server does."""
    profiles: tuple[str, ...]
    chapter: str
    """The module or the folder that defines it."""
    roles: tuple[str, ...]
    """Which reference it breaks: "nameserver", "broker"."""
    history: str
    """Where it is a bug that releases of Apache's server had: the report, and the releases."""
    changes: list[tuple[Any, Function]]
    """What is replaced, and by what: methods, or the class of the profiles for a value of a profile."""

    def also(self, method: Function) -> Callable[[Function], Function]:
        """Replace a second method: for a fault that takes two."""

        def enter(function: Function) -> Function:
            require_fit(method, function)
            self.changes.append((method, function))
            return function

        return enter

    def applied(self, parts: Parts) -> Parts:
        """The parts of the faulty server."""
        for decision, function in self.changes:
            if isinstance(decision, type):
                parts = replace(parts, profile=function(parts.profile))
            else:
                parts = parts.override(decision, function)
        return parts


MUTANTS: dict[str, Mutant] = {}
"""Every mutant by name."""


def mutant(
    decision: Any,
    description: str,
    profiles: Sequence[str] = (*V4, *V5),
    *,
    history: str = "",
    name: str = "",
) -> Callable[[Function], Mutant]:
    """Register a function as the replacement of a method.

    The decision may also be the class of the profiles: then the function makes another profile of one.
    `name` is for names that are no identifiers. Raises ValueError for a name that exists or profiles that do
    not, TypeError for a function that does not fit.
    """

    def enter(function: Function) -> Mutant:
        folder, chapter = function.__module__.removeprefix(f"{__package__}.").split(".")[:2]
        known = _PROFILES[folder]
        found = Mutant(
            name or function.__name__.lstrip("_").replace("_", "-"),
            description,
            tuple(one for one in profiles if one in known),
            chapter,
            _ROLES[folder],
            history,
            [(decision, function)],
        )
        if not found.profiles or set(profiles) - {*V4, *V5}:
            raise ValueError(
                f"mutant {found.name!r}: profiles {list(profiles)}; expected some of {list(known)}"
            )
        if found.name in MUTANTS:
            where = MUTANTS[found.name].chapter
            raise ValueError(f"mutant {found.name!r} exists already, in {where}; names are given once")
        if not isinstance(decision, type):
            require_fit(decision, function)
        MUTANTS[found.name] = found
        return found

    return enter


def family(replacement: Function) -> Callable[[Function], Function]:
    """Make a decorator for mutants that differ in a rule: `replacement(rule, original, self, ...)`."""

    def of(rule: Function) -> Function:
        made: Any = partial(replacement, rule)
        made.__name__, made.__module__ = rule.__name__, rule.__module__
        return made  # type: ignore[no-any-return]

    return of


def mutants_of(role: str) -> dict[str, Mutant]:
    """Those of one kind of server, by chapter."""
    found = [one for one in MUTANTS.values() if role in one.roles]
    return {one.name: one for one in sorted(found, key=lambda one: one.chapter)}


def apply(name: str, parts: Parts, role: str = "nameserver") -> Parts:
    """The parts of a mutant; `parts` are those of a server of the role.

    Raises KeyError for an unknown name, ValueError for a mutant that does not fit the role or the profile.
    """
    if name not in MUTANTS:
        raise KeyError(f"no mutant {name!r}; there are {', '.join(MUTANTS)}")
    found = MUTANTS[name]
    if role not in found.roles:
        raise ValueError(f"mutant {name!r} is one of a {' and a '.join(found.roles)}, not of a {role}")
    if parts.profile.name not in found.profiles:
        raise ValueError(
            f"mutant {name!r} is for profile {' and '.join(found.profiles)}, not {parts.profile.name}"
        )
    return found.applied(parts)
