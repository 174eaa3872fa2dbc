"""The members of a frame that a server sends, and the frame without one of them, or with another value in it.

A place is text: `ext.masterAddr`, `body.brokerDatas[].brokerAddrs{}`, `messages.queue_id`,
`messages.properties.KEYS`. Entries of a list share a place, and so do entries of a map (an object with a name
that is no Java identifier, is very long, or has a capital). A name that is an object, as Apache writes some,
has the place `body.offsetTable{key}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from harness.wire import Command, WireError
from harness.wire.fastjson import Node, ParseError
from harness.wire.fastjson.parse import Parser
from harness.wire.messages import Message, decode_messages, encode_message

MISSING, CHANGED, SHORT = "missing", "changed", "without the last"
Lie: TypeAlias = tuple[str, str]
"""A place, and what is done to it."""

_MEMBER = re.compile(r"[a-z][A-Za-z]{0,39}\Z")
_KEY, _ENTRIES = "{key}", ("}", "]")
_DERIVED = ("size", "body_crc")
"""Fields of a message that follow from the others."""


def lies_about(command: Command) -> Iterator[Lie]:
    """Every lie that can be told about a frame; some may come twice."""
    for name in command.ext or {}:
        yield f"ext.{name}", MISSING
        yield f"ext.{name}", CHANGED
    if (root := _json(command.body)) is not None:
        yield from _lies_about_node(root, "body")
    elif messages := _messages(command.body):
        yield from _lies_about_messages(messages)


def lied(command: Command, lie: Lie, line: str) -> Command:
    """The command with the lie in it; the same object where there is nothing to lie about."""
    place, what = lie
    part, _, rest = place.partition(".")
    if part == "ext":
        return _lied_ext(command, rest, what)
    if part.startswith("body"):
        root = _json(command.body)
        body = command.body if root is None else _shown(root, command.body, "body", lie)
    else:
        body = _lied_messages(command.body, rest, what, line)
    return command if body == command.body else msgspec.structs.replace(command, body=body)


def values_in(command: Command) -> Iterator[tuple[str, str | int | float | bool]]:
    """Each value in the ext fields and the JSON body of a frame, with its place. Ext fields are text."""
    for name, text in (command.ext or {}).items():
        if text is not None:
            yield f"ext.{name}", text
    if (root := _json(command.body)) is not None:
        yield from _values_in_node(root, "body")


def _values_in_node(node: Node, place: str) -> Iterator[tuple[str, str | int | float | bool]]:
    if node.kind in ("true", "false"):
        yield place, node.kind == "true"
    elif node.kind in ("string", "number") and isinstance(node.value, str | int | float):
        yield place, node.value
    for name, _ in node.members:
        if name.members:
            yield from _values_in_node(name, f"{place}{_KEY}")
    for at, child in _children(node, place):
        yield from _values_in_node(child, at)


def _lied_ext(command: Command, name: str, what: str) -> Command:
    ext = dict(command.ext or {})
    if name not in ext:
        return command
    if what == MISSING:
        del ext[name]
    else:
        ext[name] = _other_text(ext[name])
    return msgspec.structs.replace(command, ext=ext)


def _other_text(text: str | None) -> str:
    if text is not None and re.fullmatch(r"-?\d+", text):
        return str(int(text) + 1)
    return {"true": "false", "false": "true"}.get(text or "", f"{text or ''}x")


class _Reader(Parser):
    """Reads maps whose names are objects too: queues, as Apache writes them."""

    def name(self, at: int) -> Node:
        if self.text[at : at + 1] != "{":
            return super().name(at)
        node = self.object(at, 1)
        node.value = self.text[at : node.end]
        return node


def _json(body: bytes) -> Node | None:
    """What the body says as JSON; None if it is none, or a bare value."""
    try:
        root = _Reader(body, None).document() if body[:1] in (b"{", b"[") else None
    except ParseError:
        return None
    return root


def _messages(body: bytes) -> list[Message]:
    try:
        return decode_messages(body)
    except WireError:
        return []


def _lies_about_node(node: Node, place: str) -> Iterator[Lie]:
    if node.members or node.elements:
        if not place.endswith(_ENTRIES) and place != "body":
            yield place, MISSING
        if node.kind == "array" or _is_map(node):
            yield place, SHORT
        for name, _ in node.members:
            if name.members:
                yield from _lies_about_node(name, f"{place}{_KEY}")
        for at, child in _children(node, place):
            yield from _lies_about_node(child, at)
    else:
        if not place.endswith(_ENTRIES) and place != "body":
            yield place, MISSING
        if node.kind not in ("null", "array", "object"):
            yield place, CHANGED


def _children(node: Node, place: str) -> Iterator[tuple[str, Node]]:
    is_map = _is_map(node)
    for name, value in node.members:
        yield (f"{place}{{}}" if is_map else f"{place}.{name.value}"), value
    for element in node.elements:
        yield f"{place}[]", element


def _is_map(node: Node) -> bool:
    return any(not _MEMBER.match(str(name.value)) for name, _ in node.members)


def _shown(node: Node, source: bytes, place: str, lie: Lie) -> bytes:
    """The JSON of a node, with the lie in it."""
    at, what = lie
    parts: list[bytes] = []
    names = [
        _shown(name, source, f"{place}{_KEY}", lie) + b":"
        if name.members
        else source[name.start : name.end] + b":"
        for name, _ in node.members
    ]
    for number, (inside, child) in enumerate(_children(node, place)):
        if inside == at and what == MISSING:
            continue
        parts.append((names[number] if names else b"") + _shown(child, source, inside, lie))
    if place == at and what == SHORT:
        parts = parts[:-1]
    if node.kind == "object":
        return b"{" + b",".join(parts) + b"}"
    if node.kind == "array":
        return b"[" + b",".join(parts) + b"]"
    text = source[node.start : node.end]
    return _other_value(node, text) if place == at and what == CHANGED else text


def _other_value(node: Node, text: bytes) -> bytes:
    if node.kind == "string":
        return text[:-1] + b"x" + text[-1:]
    if isinstance(node.value, int | float) and node.kind == "number":
        return str(node.value + 1).encode()
    return {"true": b"false", "false": b"true"}.get(node.kind, text)


def _lies_about_messages(messages: list[Message]) -> Iterator[Lie]:
    yield "messages", SHORT
    for field in Message.__struct_fields__:
        if field not in (*_DERIVED, "properties"):
            yield f"messages.{field}", CHANGED
    for message in messages:
        for name in message.properties:
            yield f"messages.properties.{name}", MISSING
            yield f"messages.properties.{name}", CHANGED


def _lied_messages(body: bytes, field: str, what: str, line: str) -> bytes:
    messages = _messages(body)
    kept = messages[:-1] if what == SHORT else messages
    try:
        return b"".join(_lied_message(one, field, what, line) for one in kept) if messages else body
    except WireError:  # it says what the format cannot carry
        return body


def _lied_message(message: Message, field: str, what: str, line: str) -> bytes:
    kind, _, name = field.partition(".")
    changes: dict[str, object] = {}
    if kind:
        changes[kind] = _other_field(getattr(message, kind), kind, name, what)
    changed = msgspec.structs.replace(message, **changes)
    return encode_message(changed, "4.9" if line == "4.9" else "5.3")


def _other_field(value: Any, kind: str, name: str, what: str) -> object:
    if kind == "properties":
        others = {key: text for key, text in value.items() if key != name or what != MISSING}
        return {key: _other_text(text) if key == name else text for key, text in others.items()}
    if kind.endswith("_host"):
        host, _, port = value.rpartition(":")
        return f"{host}:{int(port) + 1}"
    return value + (b"x" if isinstance(value, bytes) else "x" if isinstance(value, str) else 1)
