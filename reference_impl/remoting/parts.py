"""The classes that a server is made of, so that a mutant can replace one decision of one of them.

A decision is a method of one of these classes, named by reference (`RouteTable.lease_ended`). The reference
may be a method of a base class: what is replaced is the method of the class that the profile uses.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import CO_VARARGS
from typing import Any, Self

from .profiles import Profile


@dataclass(frozen=True)
class Parts:
    """The classes of a server, by name, and its line of the protocol."""

    profile: Profile
    classes: Mapping[str, type[Any]]

    def __getitem__(self, name: str) -> type[Any]:
        return self.classes[name]

    def override(self, method: Callable[..., Any], function: Callable[..., Any]) -> Self:
        """Parts in which `function(original, self, ...)` stands in for a method.

        Raises TypeError if no class here, or more than one, has the method, or if the parameters differ.
        """
        found = list(self._with(method))
        if len(found) != 1:
            raise TypeError(f"{method.__qualname__} belongs to {len(found)} of the parts; expected one")
        part, base = found[0]
        name = method.__name__
        original = getattr(base, name)
        require_fit(original, function)

        def replacement(self: Any, *args: Any, **named: Any) -> Any:
            return function(original, self, *args, **named)

        members = {name: replacement, "__doc__": base.__doc__, "__module__": base.__module__}
        faulty = type(base.__name__, (base,), members)
        return replace(self, classes={**self.classes, part: faulty})

    def has(self, method: Callable[..., Any]) -> bool:
        """Whether any of the classes has the method."""
        return id(method) in self._methods

    @cached_property
    def _methods(self) -> frozenset[int]:
        """The ids of all members of the classes: the registry of mutants asks thousands of times."""
        bases = {base for kind in self.classes.values() for base in kind.__mro__}
        return frozenset(id(member) for base in bases for member in vars(base).values())

    def _with(self, method: Callable[..., Any]) -> Iterator[tuple[str, type]]:
        for name, kind in self.classes.items():
            if any(vars(base).get(method.__name__) is method for base in kind.__mro__):
                yield name, kind


def require_fit(method: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Raises TypeError unless the function takes `original` and then what the method takes, or anything."""
    expected, given = ["original", *parameters(method)], parameters(function)
    if expected != given and not _takes_anything(function):
        takes, has = ", ".join(expected), ", ".join(given)
        raise TypeError(f"what replaces {method.__qualname__} takes ({takes}), not ({has})")


def parameters(function: Any) -> list[str]:
    """The names of a function's parameters; `*` is in front of those that are given by name only."""
    bound = 0
    if isinstance(function, partial):
        bound, function = len(function.args), function.func
    code = function.__code__
    positional, every = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    return [*code.co_varnames[bound:positional], *(f"*{name}" for name in code.co_varnames[positional:every])]


def _takes_anything(function: Any) -> bool:
    code = (function.func if isinstance(function, partial) else function).__code__
    return bool(code.co_flags & CO_VARARGS)
