"""How a mutant is written, and where all of them are listed.

    @mutant(RouteTable.lease_ended, "A lease never runs out.")
    def leases_never_end(original, self, record, now):
        return False

The function stands in for the method. It takes the sound method, called as `original(self, ...)`, and then
what the method takes. `@after` is for functions that change what the sound method returns:

    @after(RouteTable.shown_broker, "Broker data never has zoneName.", V5)
    def zone_is_not_told(shown):
        shown.zone_name = None

The mutant's name is the function's, with hyphens; the leading underscore that a name needs if it begins with
a digit does not count. It applies to the profiles whose server has the method, or to those of them that are
named. A method that has been renamed, or that takes other parameters, is an error when this package is
loaded. A mutant that remembers something adds attributes to `self`. One that changes state by other means
than the methods of the route table must add 1 to `self.revision`: replies are encoded anew when a revision
grows, and never otherwise.

The decisions that can be replaced are the methods of the classes that the servers' `parts.py` list.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import msgspec

from reference_impl.broker.parts import PARTS as BROKER
from reference_impl.nameserver.parts import PARTS as NAMESERVER
from reference_impl.remoting.parts import Parts, parameters, require_fit
from reference_impl.remoting.profiles import Profile

V4 = ("4.9",)
V5 = ("5.3", "5.5")
"""The profiles of the 5.x line."""
V55 = ("5.5",)
ALL = (*V4, *V5)
BEFORE_55 = ("4.9", "5.3")
"""The profiles of up to 5.3."""

_ROLES = {"nameserver": ("nameserver",), "broker": ("broker",), "remoting": ("nameserver", "broker")}
"""Which reference the mutants of a folder break."""
_PARTS = {"nameserver": NAMESERVER, "broker": BROKER, "remoting": NAMESERVER}

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
    decision: Any, description: str, profiles: Sequence[str] = ALL, *, history: str = "", name: str = ""
) -> Callable[[Function], Mutant]:
    """Register a function as the replacement of a method.

    The decision may also be the class of the profiles: then the function makes another profile of one.
    `name` is for names that are no identifiers. Raises ValueError for a name that exists or profiles that do
    not, TypeError for a function that does not fit.
    """

    def enter(function: Function) -> Mutant:
        folder, chapter = function.__module__.removeprefix(f"{__package__}.").split(".")[:2]
        known = [one for one, parts in _PARTS[folder].items() if decision is Profile or parts.has(decision)]
        found = Mutant(
            name or function.__name__.lstrip("_").replace("_", "-"),
            description,
            tuple(one for one in profiles if one in known),
            chapter,
            _ROLES[folder],
            history,
            [(decision, function)],
        )
        if not found.profiles or set(profiles) - {*ALL}:
            raise ValueError(f"mutant {found.name!r}: profiles {list(profiles)}; expected some of {known}")
        if found.name in MUTANTS:
            where = MUTANTS[found.name].chapter
            raise ValueError(f"mutant {found.name!r} exists already, in {where}; names are given once")
        if decision is not Profile:
            require_fit(decision, function)
        MUTANTS[found.name] = found
        return found

    return enter


Family: TypeAlias = Callable[..., Callable[[Function], Mutant]]
"""`(description, profiles=ALL)`: the decorator for one mutant of a family."""


def family(decision: Any) -> Callable[[Function], Family]:
    """Mutants of one decision that differ in a rule: `replacement(rule, original, self, ...)`.

    The replacement becomes the decorator under which the rules are written.
    """

    def of(replacement: Function) -> Family:
        def variant(description: str, profiles: Sequence[str] = ALL) -> Callable[[Function], Mutant]:
            def enter(rule: Function) -> Mutant:
                made: Any = partial(replacement, rule)
                made.__name__, made.__module__ = rule.__name__, rule.__module__
                return mutant(decision, description, profiles)(made)

            return enter

        return variant

    return of


def after(decision: Any, description: str, profiles: Sequence[str] = ALL) -> Callable[[Function], Mutant]:
    """Register a rule for what a method returns: it changes that in place, or returns something else.

    The rule takes what the sound method returned, and by name those parameters of the method that it needs.
    """
    names = [name.lstrip("*") for name in parameters(decision)]

    @family(decision)
    def changed(rule: Function, original: Function, *given: Any, **named: Any) -> Any:
        found = original(*given, **named)
        values = dict(zip(names, given, strict=False)) | named
        other = rule(found, *(values[name] for name in parameters(rule)[1:]))
        return found if other is None else other

    def enter(rule: Function) -> Mutant:
        if unknown := set(parameters(rule)[1:]) - set(names):
            raise TypeError(
                f"{rule.__name__} asks for {sorted(unknown)}; {decision.__qualname__} has {names}"
            )
        return changed(description, profiles)(rule)

    return enter


def mutants_of(role: str) -> dict[str, Mutant]:
    """Those of one kind of server, by chapter."""
    found = [one for one in MUTANTS.values() if role in one.roles]
    return {one.name: one for one in sorted(found, key=lambda one: one.chapter)}


def problem_with(mutant: Mutant, profile: str) -> str | None:
    """Why the mutant is none of that profile, or None."""
    if profile in mutant.profiles:
        return None
    return f"mutant {mutant.name!r} is for profile {' and '.join(mutant.profiles)}, not {profile}"


def apply(name: str, parts: Parts, role: str = "nameserver") -> Parts:
    """The parts of a mutant; `parts` are those of a server of the role.

    Raises KeyError for an unknown name, ValueError for a mutant that does not fit the role or the profile.
    """
    if name not in MUTANTS:
        raise KeyError(f"no mutant {name!r}; there are {', '.join(MUTANTS)}")
    found = MUTANTS[name]
    if role not in found.roles:
        raise ValueError(f"mutant {name!r} is one of a {' and a '.join(found.roles)}, not of a {role}")
    if problem := problem_with(found, parts.profile.name):
        raise ValueError(problem)
    return found.applied(parts)
