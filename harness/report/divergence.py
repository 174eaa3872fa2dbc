"""One request, and what two targets made of it: the exchange that shows a cause, as plain data.

Names of the program stand where names were made for it, so that a page of many exchanges reads as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from harness.report.bodies import body_of
from harness.report.text import visible
from harness.wire import Command, Serialization
from harness.wire.code_names import request_name, response_name

_LONGEST = 1200
"""Characters of a body or a header that are shown."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A command for people: what it is, its header fields and its body; ``title`` alone where none came."""

    title: str
    header: str = ""
    body: str = ""


class Decisive(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the two say differently."""

    what: str
    a: str
    b: str


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """What was sent to both, what each answered, and the part of it that counts."""

    before: tuple[str, ...]
    """The steps that bring the targets there, in words."""
    step: str
    """The step that shows it, in words."""
    sent: Message
    a: Message
    b: Message
    decisive: tuple[Decisive, ...]
    more: int = 0
    """Things that differ besides."""


def message_of(command: Command, asked: int | None, symbols: Mapping[str, str]) -> Message:
    """A command in words. ``symbols`` are the names that stand for those on the wire."""
    code = int(command.code)
    name = response_name(code) if command.is_response else request_name(code)
    title = f"{name or 'code'} ({code})"
    if command.remark:
        title += f' "{visible(_cut(command.remark, 120))}"'
    ways = [
        *(["one-way"] if command.is_oneway and not command.is_response else []),
        *(["binary header"] if command.serialization is Serialization.ROCKETMQ else []),
    ]
    if ways:
        title += f", {', '.join(ways)}"
    header = _json(command.ext) if command.ext else ""
    return Message(
        title=with_symbols(title, symbols),
        header=_cut(visible(with_symbols(header, symbols)), _LONGEST),
        body=_cut(visible(with_symbols(_body(command, asked), symbols)), _LONGEST),
    )


def with_symbols(text: str, symbols: Mapping[str, str]) -> str:
    """A text in which names of the program stand for those on the wire, the longest first."""
    for name in sorted(symbols, key=len, reverse=True):
        text = text.replace(name, symbols[name])
    return text


def lines(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The exchange as named lines, for a terminal."""
    yield "sent", _line(exchange.sent)
    yield "A", _line(exchange.a)
    yield "B", _line(exchange.b)
    for one in exchange.decisive:
        yield "differs", f"{one.what}: A {one.a or 'empty'} · B {one.b or 'empty'}"
    if exchange.more:
        yield "differs", f"and {exchange.more} more"


def _line(message: Message) -> str:
    parts = [message.title]
    if message.header:
        parts.append(f"header {_cut(message.header, 240)}")
    if message.body:
        parts.append(f"body {_cut(message.body, 240)}")
    return "  ".join(parts)


def _body(command: Command, asked: int | None) -> str:
    data = command.body
    if data[:1] in (b"{", b"["):
        return data.decode("utf-8", "backslashreplace")
    body = body_of(command, asked)
    if body is None:
        return ""
    if isinstance(body.value, dict | list):
        return f"{len(data)} bytes: {_json(body.value)}"
    return body.text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), default=str)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text):,} characters)"
