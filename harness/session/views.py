"""What is compared of replies, whatever the server is.

Invariants:
- A view is a plain Python value made of strings, numbers, tuples, lists and dicts, so that it prints as it
  compares.
- Collections come from hash tables: a view sorts them or makes them a mapping.
- An empty body shows as None. A body that is not made as it should be is ``NotSo``, with the path of the
  culprit: it becomes an unmet expectation, never an exception.
"""

from __future__ import annotations

from typing import Any, Self

from harness.session.exchange import Exchange, NotSo, View
from harness.wire import Command, WireError
from harness.wire.view import json_value, settings, standard_json


def json_of(reply: Command) -> Any:
    """The body as plain Python; None where there is none."""
    return json_value(reply.body) if reply.body else None


def body_member(*names: str, of: type = object) -> View:
    """View: one member of the body, by the names that lead to it; it must be there, and of this type."""

    def read(reply: Command) -> Any:
        found = json_of(reply)
        for number, name in enumerate(names, 1):
            if not isinstance(found, dict) or name not in found:
                raise NotSo(f"no {'.'.join(names[:number])}", names[: number - 1], names[:number])
            found = found[name]
        if not isinstance(found, of):
            raise NotSo(f"{'.'.join(names)} is {found!r}", names, names, "of another type")
        return found

    return View(".".join(names), read, names)


class JsonExchange(Exchange):
    """A request whose reply has a JSON body."""

    @property
    def json(self) -> Self:
        """View: the whole body as plain Python (names are str, also numeric ones)."""
        return self.seen_as(View("body as JSON", json_of, ()))

    @property
    def strict_json(self) -> Self:
        """View: as ``json``, but only what every parser of standard JSON (RFC 8259) would read."""
        return self.seen_as(View("body as standard JSON", _strict_json, ()))

    @property
    def text(self) -> Self:
        """View: the body's bytes, to compare how it is written."""
        return self.seen_as(View("body as text", lambda reply: reply.body, ()))


class ConfigExchange(Exchange):
    """Code 319: Java properties text, taken for UTF-8, escapes resolved."""

    @property
    def settings(self) -> Self:
        """View: ``{key: value}``."""
        return self.seen_as(View("settings", _settings, (), said="settings"))

    def among(self, *keys: str) -> Self:
        """View: ``{key: value}`` of these keys; a key that is not listed has None."""

        def read(reply: Command) -> dict[str, str | None]:
            settings = _settings(reply)
            return {key: settings.get(key) for key in keys}

        return self.seen_as(View(", ".join(keys), read, (), said="settings"))

    @property
    def keys(self) -> Self:
        """View: the keys, in the order of their lines."""
        return self.seen_as(
            View("keys", lambda reply: list(_settings(reply)), (), said="keys of the settings")
        )

    @property
    def is_sorted(self) -> Self:
        """View: whether the lines are sorted by key; None where there are too few to tell."""

        def read(reply: Command) -> bool | None:
            keys = list(_settings(reply))
            return keys == sorted(keys) if len(keys) > 1 else None

        return self.seen_as(View("sorted", read, (), said="settings sorted by key"))


def _settings(reply: Command) -> dict[str, str]:
    try:
        return settings(reply.body)
    except WireError as problem:
        raise NotSo(f"no properties text: {problem}") from problem


def _strict_json(reply: Command) -> Any:
    try:
        return standard_json(reply.body) if reply.body else None
    except WireError as problem:
        raise NotSo(str(problem)) from problem
