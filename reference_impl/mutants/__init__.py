"""Deliberate faults of the reference, one decision each: what every case and every machine is measured
against.

Rules:
1. A mutant replaces exactly one method of one part (`reference_impl/nameserver/parts.py` says which there
   are).
2. Each chapter has a module here, with the name of its catalogue file (`data_version.py` for
   `data-version.yaml`), and `historical.py` has those that are bugs of real releases; all of them are
   imported with this package, in the order of their names, and mutants keep the order of their definition.
3. A name is given once and never again; it says what the faulty server does.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from reference_impl.nameserver.parts import PARTS, Parts

__all__ = ["MUTANTS", "V5", "Mutant", "apply", "mutant"]

V5 = ("5.3", "5.5")
"""The profiles of the 5.x line: a mutant of what 4.9 does not have is for these."""

Apply: TypeAlias = Callable[[Parts], Parts]


class Mutant(msgspec.Struct, frozen=True):
    """One fault."""

    name: str
    description: str
    """One sentence: what the faulty server does."""
    profiles: tuple[str, ...]
    apply: Apply
    chapter: str
    """The module that defines it."""
    history: str = ""
    """Where it is a bug that releases of Apache's server had: the report, and the releases."""


MUTANTS: dict[str, Mutant] = {}
"""Every mutant by name, in the order of chapter and definition."""


def mutant(
    name: str, description: str, profiles: Sequence[str] = ("4.9", "5.3", "5.5"), history: str = ""
) -> Callable[[Apply], Apply]:
    """Register a function from the parts of a sound server to those of a faulty one.

    Raises ValueError on a bad entry.
    """
    unknown = set(profiles) - set(PARTS)
    if unknown or not profiles:
        raise ValueError(f"mutant {name!r}: profiles {list(profiles)}; expected some of {list(PARTS)}")

    def register(function: Apply) -> Apply:
        if name in MUTANTS:
            raise ValueError(
                f"mutant {name!r} exists already, in {MUTANTS[name].chapter}; names are given once"
            )
        chapter = function.__module__.rpartition(".")[2]
        MUTANTS[name] = Mutant(name, description, tuple(profiles), function, chapter, history)
        return function

    return register


def apply(name: str, parts: Parts) -> Parts:
    """The parts of a mutant.

    Raises KeyError if there is none of that name, ValueError if it does not fit the profile.
    """
    if name not in MUTANTS:
        raise KeyError(f"no mutant {name!r}; there are {', '.join(MUTANTS)}")
    found = MUTANTS[name]
    if parts.profile.name not in found.profiles:
        raise ValueError(
            f"mutant {name!r} is for profile {' and '.join(found.profiles)}, not {parts.profile.name}"
        )
    return found.apply(parts)


for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
