"""Deliberate faults of the reference, one decision each: what every case and every machine is measured
against.

Rules:
1. A mutant replaces exactly one method of one part (`reference_impl/nameserver/parts.py` says which there
   are).
2. Each chapter has a module here, with the name of its catalogue file (`data_version.py` for
   `data-version.yaml`), and `historical.py` has those that are bugs of real releases; all of them are
   imported with this package, in the order of their names, and mutants keep the order of their definition.
3. A name is given once and never again; it says what the faulty server does.
4. Those of the reference Broker are in `broker`. A fault of what both servers share, their endpoint, is
   written once and says both roles.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec

from reference_impl.nameserver.parts import PARTS, Parts
from reference_impl.remoting.replaceable import Replaceable

__all__ = ["BOTH", "MUTANTS", "NAMESERVER", "V5", "Mutant", "apply", "mutant", "mutants_of", "register"]

V5 = ("5.3", "5.5")
"""The profiles of the 5.x line: a mutant of what 4.9 does not have is for these."""

Apply: TypeAlias = Callable[[Parts], Parts]
NAMESERVER = ("nameserver",)
BOTH = ("nameserver", "broker")


class Mutant(msgspec.Struct, frozen=True):
    """One fault."""

    name: str
    description: str
    """One sentence: what the faulty server does."""
    profiles: tuple[str, ...]
    apply: Callable[[Any], Any]
    """From the parts of a server of its roles to the faulty ones."""
    chapter: str
    """The module that defines it; one about Brokers alone begins with `broker_`."""
    roles: tuple[str, ...] = NAMESERVER
    """Which reference it breaks: "nameserver", "broker"."""
    history: str = ""
    """Where it is a bug that releases of Apache's server had: the report, and the releases."""


AnyParts = TypeVar("AnyParts", bound=Replaceable[Any])

MUTANTS: dict[str, Mutant] = {}
"""Every mutant by name, in the order of chapter and definition."""


def mutant(
    name: str,
    description: str,
    profiles: Sequence[str] = ("4.9", "5.3", "5.5"),
    history: str = "",
    roles: tuple[str, ...] = NAMESERVER,
) -> Callable[[Apply], Apply]:
    """Register a function from the parts of a sound server to those of a faulty one.

    Raises ValueError on a bad entry.
    """

    def enter(function: Apply) -> Apply:
        chapter = function.__module__.rpartition(".")[2]
        register(
            Mutant(name, description, tuple(profiles), function, chapter, roles, history), known=tuple(PARTS)
        )
        return function

    return enter


def register(one: Mutant, known: Sequence[str]) -> None:
    """Enters a mutant; `known` are the profiles that there are. Raises ValueError on a bad entry."""
    if set(one.profiles) - set(known) or not one.profiles:
        raise ValueError(
            f"mutant {one.name!r}: profiles {list(one.profiles)}; expected some of {list(known)}"
        )
    if one.name in MUTANTS:
        raise ValueError(
            f"mutant {one.name!r} exists already, in {MUTANTS[one.name].chapter}; names are given once"
        )
    MUTANTS[one.name] = one


def mutants_of(role: str) -> dict[str, Mutant]:
    """Those of one kind of server, in their order."""
    return {name: one for name, one in MUTANTS.items() if role in one.roles}


def apply(name: str, parts: AnyParts, role: str = "nameserver") -> AnyParts:
    """The parts of a mutant; `parts` are those of a server of the role.

    Raises KeyError if there is none of that name, ValueError if it does not fit role or profile.
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
    mutated: AnyParts = found.apply(parts)
    return mutated


for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
