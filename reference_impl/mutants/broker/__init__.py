"""Deliberate faults of the reference Broker, a module for each chapter of `specs/statements/broker`.

The rules are those of the package above; the parts are those of `reference_impl/broker/parts.py`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TypeAlias

from reference_impl.broker.parts import PARTS, Parts
from reference_impl.mutants import Mutant, register

__all__ = ["V5", "mutant"]

V5 = ("5.3",)
"""The profile of the 5.x line: a mutant of what 4.9 does not have is for this one."""

Apply: TypeAlias = Callable[[Parts], Parts]


def mutant(
    name: str, description: str, profiles: Sequence[str] = ("4.9", "5.3"), history: str = ""
) -> Callable[[Apply], Apply]:
    """Register a function from the parts of a sound Broker to those of a faulty one.

    Raises ValueError on a bad entry.
    """

    def enter(function: Apply) -> Apply:
        chapter = f"broker_{function.__module__.rpartition('.')[2]}"
        register(
            Mutant(name, description, tuple(profiles), function, chapter, ("broker",), history),
            known=tuple(PARTS),
        )
        return function

    return enter


for _module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
