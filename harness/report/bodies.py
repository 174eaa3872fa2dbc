"""What a body holds, by the code that it goes with: as a value for machines, in one line for people.

Rules of this module: pure, and it never raises. A body that cannot be read is shown as text or bytes, with
the reason.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from harness.report.text import visible
from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import NullBodyError, Properties, RegisterBody
from harness.wire.codes import V5_0_0
from harness.wire.fastjson import ParseError, parse
from harness.wire.text import java_text

__all__ = ["Body", "body_of"]

SHOWN: Final = 160
"""Characters of the line for people."""
_NAMED: Final = 8
"""Topics that are named in it."""
_SETTINGS: Final = (RequestCode.UPDATE_NAMESRV_CONFIG, RequestCode.GET_NAMESRV_CONFIG)


class Body(msgspec.Struct, frozen=True):
    """A body that was read: ``value`` is of the types of JSON."""

    value: Any
    text: str


def body_of(command: Command, asked: int | None) -> Body | None:
    """The body of a command; ``asked`` is the code of the request, its own or the one that it answers.

    None where there is no body.
    """
    if not command.body:
        return None
    try:
        if asked == RequestCode.REGISTER_BROKER and not command.is_response:
            return _registration(command)
        if asked in _SETTINGS:
            pairs = Properties.parse(java_text(command.body)).pairs
            return Body(dict(pairs), _cut(", ".join(f"{key}={value}" for key, value in pairs.items())))
    except (WireError, NullBodyError, ValueError) as problem:
        return _bytes(command.body, f"not as it should be: {problem}")
    if command.body.lstrip()[:1] in (b"{", b"["):
        try:
            value = parse(command.body)
            return Body(
                value, _cut(json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":")))
            )
        except (ParseError, UnicodeDecodeError, ValueError, RecursionError):
            return _bytes(command.body, "not the JSON that it begins like")
    return _bytes(command.body, "")


def _registration(command: Command) -> Body:
    compressed = ((command.ext or {}).get("compressed") or "").lower() == "true"
    body = RegisterBody.decode(
        command.body, compressed=compressed, version=command.version, v5=command.version >= V5_0_0
    )
    topics = [topic.topic_name or "" for topic in (body.topics or {}).values()]
    named = ", ".join(topics[:_NAMED]) + (", …" if len(topics) > _NAMED else "")
    version = body.data_version
    counter = "none" if version is None else f"counter {version.counter}, {version.timestamp}"
    said = f"{len(topics)} topics{': ' if topics else ''}{named} · data version {counter}"
    how = "deflated" if compressed else "JSON"
    return Body(msgspec.to_builtins(body, str_keys=True), _cut(f"{said} · {how}"))


def _bytes(body: bytes, problem: str) -> Body:
    try:
        text = body.decode()
        value: Any = text
    except UnicodeDecodeError:
        text, value = body[:SHOWN].hex(), {"hex": body.hex()}
    return Body(value, _cut(f"{problem}: {text}" if problem else text))


def _cut(text: str) -> str:
    shown = visible(text[: SHOWN + 1])  # the rest may be 16 MiB
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
