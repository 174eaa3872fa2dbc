"""What a body holds, by the code that it goes with: as a value for machines, in one line for people.

A body that cannot be read is shown as text or bytes, with the reason; nothing here raises.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from harness.report.text import visible
from harness.wire import Command
from harness.wire.view import CommandView, view

SHOWN: Final = 160
"""Characters of the line for people."""
_NAMED: Final = 8
"""Topics that are named in it."""


class Body(msgspec.Struct, frozen=True):
    """A body that was read: ``value`` is of the types of JSON."""

    value: Any
    text: str


def body_of(command: Command, asked: int | None) -> Body | None:
    """The body of a command; ``asked`` is the code of the request, its own or the one that it answers.

    None where there is no body.
    """
    seen = view(command, asked)
    match seen.form:
        case "none":
            return None
        case "bytes":
            return Body({"hex": seen.body}, _with_reason(seen))
        case "text":
            return Body(seen.body, _with_reason(seen))
        case "registration":
            return Body(seen.body, _cut(_registration(seen)))
        case "properties":
            return Body(seen.body, _cut(", ".join(f"{key}={value}" for key, value in seen.body.items())))
    line = json.dumps(seen.body, ensure_ascii=False, default=str, separators=(",", ":"))
    return Body(seen.body, _cut(line))


def _registration(seen: CommandView) -> str:
    topics = [topic.get("topicName") or "" for topic in (seen.body.get("topics") or {}).values()]
    named = ", ".join(topics[:_NAMED]) + (", …" if len(topics) > _NAMED else "")
    version = seen.body.get("data_version")
    counter = "none" if version is None else f"counter {version['counter']}, {version['timestamp']}"
    said = f"{len(topics)} topics{': ' if topics else ''}{named} · data version {counter}"
    return f"{said} · {'deflated' if seen.is_compressed else 'JSON'}"


def _with_reason(seen: CommandView) -> str:
    return _cut(f"{seen.problem}: {seen.body[:SHOWN]}" if seen.problem else seen.body[: SHOWN + 1])


def _cut(text: str) -> str:
    shown = visible(text[: SHOWN + 1])  # the rest may be 16 MiB
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
