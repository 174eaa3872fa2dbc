"""What an operation takes, made of the signature of a method: a struct that JSON is read into."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

from harness.testing.durations import Duration, milliseconds
from harness.testing.judging import By as PythonBy
from harness.testing.messages import Where
from harness.testing.problems import OptionError

from . import shapes

LONGEST_WAIT: Final = "10m"
"""What `timeout` may be at most."""
_STANDS_FOR: Final[Mapping[Any, Any]] = {
    Duration: str | float,
    Duration | None: str | float | None,
    Where | None: shapes.Wanted | None,
    PythonBy: shapes.By,
    Iterable[Hashable]: list[str | int],
    Iterable[str]: Sequence[str],
    object: Any,
}
"""What JSON has for what a method takes."""


def parameters_of(
    name: str, method: Callable[..., Any], more: Mapping[str, tuple[Any, Any]], required: frozenset[str]
) -> type[msgspec.Struct]:
    """The struct, under a name. `more` are fields that the method has not, with their defaults; fields of
    `required` need a value though the method does not say so.
    """
    hints = get_type_hints(method)
    fields: list[Any] = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        hint = hints[parameter.name]
        if parameter.kind is parameter.VAR_KEYWORD:
            fields += _of_typed_dict(get_args(hint)[0], required)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            fields.append((parameter.name, list[hint]))  # type: ignore[valid-type]
        elif parameter.default is parameter.empty:
            fields.append((parameter.name, _STANDS_FOR.get(hint, hint)))
        else:
            default = "id" if hint == PythonBy else parameter.default
            fields.append((parameter.name, _STANDS_FOR.get(hint, hint), default))
    fields += [(field, kind, default) for field, (kind, default) in more.items()]
    return struct_of(name, fields)


def struct_of(name: str, fields: list[Any]) -> type[msgspec.Struct]:
    """A struct that refuses what it does not know."""
    words = "".join(word.capitalize() for word in name.replace("/", "_").split("_"))
    return msgspec.defstruct(words, fields, kw_only=True, frozen=True, forbid_unknown_fields=True)


def arguments(given: msgspec.Struct) -> dict[str, Any]:
    """What a method is given, by name. Raises OptionError."""
    found = {}
    for name in given.__struct_fields__:
        value = getattr(given, name)
        if name == "timeout" and milliseconds(value) > milliseconds(LONGEST_WAIT):
            raise OptionError(f"timeout={value!r}: expected {LONGEST_WAIT} at most")
        if value is not msgspec.UNSET:
            found[name] = _argument(name, value)
    return found


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, shapes.Wanted):
        return value.meets
    return partial(shapes.recorded, value) if name == "by" else value


def _of_typed_dict(kind: Any, required: frozenset[str]) -> list[Any]:
    assert is_typeddict(kind) and get_origin(kind) is None
    return [
        (name, hint) if name in required else (name, hint | msgspec.UnsetType, msgspec.UNSET)
        for name, hint in get_type_hints(kind).items()
    ]
