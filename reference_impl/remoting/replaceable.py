"""The classes that a server is made of, so that a mutant can replace one decision of one of them.

A server's `parts.py` has a frozen dataclass on this one: a field for each part, and `profile`.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar

import msgspec

__all__ = ["Replaceable"]

_PartName = TypeVar("_PartName", bound=str)


class Replaceable(Generic[_PartName]):
    """What every `Parts` can do."""

    profile: Any
    """The line of the protocol: a msgspec.Struct of plain values."""

    def revalue(self, **value: Any) -> Self:
        """Parts with another value in the profile. Raises TypeError for a name that it does not have."""
        changes: dict[str, Any] = {"profile": msgspec.structs.replace(self.profile, **value)}
        return replace(self, **changes)  # type: ignore[type-var]

    def override(self, part: _PartName, method: Callable[..., Any]) -> Self:
        """Parts in which one method of one class is replaced by the function of the same name.

        Raises TypeError if the class has no such method or if parameter names differ.
        """
        base: type = getattr(self, part)
        name = method.__name__
        original = getattr(base, name, None)
        if original is None:
            raise TypeError(f"{base.__name__} has no method {name!r}; see {type(self).__module__}")
        expected, given = _parameters(original), _parameters(method)
        if expected != given:
            raise TypeError(f"{base.__name__}.{name} takes {expected}, but the override takes {given}")
        replaced = type(
            base.__name__, (base,), {name: method, "__doc__": base.__doc__, "__module__": base.__module__}
        )
        changes: dict[str, Any] = {part: replaced}
        return replace(self, **changes)  # type: ignore[type-var]


def _parameters(method: Callable[..., Any]) -> str:
    parameters = inspect.signature(method).parameters.values()
    return ", ".join(("*" if p.kind is p.KEYWORD_ONLY else "") + p.name for p in parameters)
