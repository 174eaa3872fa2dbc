"""How a request differs from an ordinary one of its code: a phrase for each difference.

Ordinary is what the catalogue says of the code (`specs/messages`): every member of the header, every required
field and every member of the body, of its type, in JSON, from a Java peer. Phrases hold no value that a run
made, so that requests of one kind have the same ones. Pure; nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from harness.catalogue import Member, Message, messages
from harness.wire import Command, Dissection, Serialization, WireError, body_crc32, dissect, frame_size
from harness.wire.code_names import request_words
from harness.wire.codes import RequestCode
from harness.wire.framing import FRAME_LIMIT
from harness.wire.view import json_value, view

RAW: Final = "raw bytes"
SEVERAL: Final = "several frames at once"
_LONG: Final = 255
_UNUSUAL: Final = "a header with members missing or of another type"
_INCOMPLETE: Final = "a header without a member"
_UNREAD: Final = "a header that cannot be read"
OF_HEADERS: Final = (_UNUSUAL, _INCOMPLETE, _UNREAD)
"""Families of differences that a server meets before it knows the code of the request."""
_NAMED_IN_HEADER: Final = "serializeTypeCurrentRPC"
_ODDITIES: Final = {
    "value-coerced": "a header value of another type",
    "language-unknown": "an unknown language",
    "member-unknown": "an unknown header member",
    "member-duplicate": "a header member twice",
    "member-case": "a header member in other case",
    "json-name-unquoted": "an unquoted name in the header",
    "ext-duplicate": "an ext field twice",
    _NAMED_IN_HEADER: "another serialization named in the header",
}
"""Diagnostics of headers that Apache's servers read, and one that they do not make."""
_UNREADABLE: Final = {
    "": ("serialize type unknown", "header empty", "header length too large"),
    "a JSON header that cannot be read": (
        "json malformed",
        "json not an object",
        "json type refused",
        "value malformed",
        "ext not an object",
        "ext key number",
    ),
    "a binary header that cannot be read": (
        "header truncated",
        "header length too small",
        "string length negative",
        "string length too large",
        "ext length too large",
        "ext overrun",
    ),
}
"""Diagnostics of headers that Apache's servers close the connection on, by what the header is written in."""
_OF_TYPES: Final = ("value-coerced", "language-unknown", _NAMED_IN_HEADER)
_VALUES: Final = "null|empty|no number|no boolean|below 0|no int32|no int64"
_SHAPES: Final = "null|no number|no text|no list|no object|below 0"
_UNUSUAL_FIELD: Final = "a field missing or of an unusual value"
_UNUSUAL_BODY: Final = "a body with members missing or of another type"
_FAMILIES: Final = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"header without (?P<which>\w+)", (_INCOMPLETE, _UNUSUAL)),
        (rf"(?P<which>{'|'.join(_ODDITIES[code] for code in _OF_TYPES)})", (_UNUSUAL,)),
        (r"language (?P<which>.+)", ("another language than JAVA",)),
        (r"body without (?P<which>.+)", ("a body without a member", _UNUSUAL_BODY)),
        (rf"body member (?P<which>.+) (?:{_SHAPES})", (_UNUSUAL_BODY,)),
        (r"(?P<which>body that is no object)", (_UNUSUAL_BODY,)),
        (r"body with the extra member (?P<which>.+)", ("a body with an extra member",)),
        (r"without the field (?P<which>.+)", ("a field that is missing", _UNUSUAL_FIELD)),
        (r"no (?P<which>extFields)", ("a field that is missing", _UNUSUAL_FIELD)),
        (r"with the extra field (?P<which>.+)", ("an extra field",)),
        (rf"(?!header |opaque )(?P<which>\S+) (?:{_VALUES})", (_UNUSUAL_FIELD,)),
        *(
            (rf"(?P<which>{'|'.join(traits)})", tuple(filter(None, (kind, _UNREAD))))
            for kind, traits in _UNREADABLE.items()
        ),
    )
)
"""Which differences are of one kind, and what distinguishes them: servers treat many of a kind alike."""
_MOST: Final = 12
"""Phrases for one request."""
_NAMED: Final = 3
"""Fields that no catalogue knows are named up to this number."""
_DEPTH: Final = 6
_SAID_BY_BODY: Final = "compressed"
_WHOLE: Final = ("TopicConfigSerializeWrapper", "TopicConfig")
"""Bodies whose optional members Brokers of a line that has them always send."""
_PARSED: Final = 1 << 16
"""Bytes of a body that is looked into."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_|%.:/@;, -]*")
_NUMBERS: Final = ("int32", "int64")
_LIMITS: Final = {"int32": 1 << 31, "int64": 1 << 63}


def traits_of(command: Command, profile: str, version: int) -> tuple[str, ...]:
    """Of a command that was encoded whole; ``version`` is the one that is ordinary."""
    return _few(_of_command(command, profile, version))


def traits_of_bytes(data: bytes, profile: str, version: int) -> tuple[str, tuple[str, ...]]:
    """The code in words, and the traits, of bytes that were sent as they are: of the first frame in them that
    is not as it should be, else of the first."""
    frames = list(_frames(data))
    shared = [SEVERAL] if len(frames) > 1 else []
    found = [_of_frame(frame, profile, version) for frame in frames[:8]] or [(RAW, ["no bytes"])]
    request, traits = next((one for one in found if one[1]), found[0])
    return request, _few([*shared, *traits])


def families(trait: str) -> tuple[str, ...]:
    """The kinds of difference that one belongs to, the narrower first."""
    return next((family for pattern, family in _FAMILIES if pattern.fullmatch(trait)), ())


def differing(trait: str) -> str:
    """What distinguishes a difference from others of its family: the name of the member or field."""
    found = next((found for pattern, _ in _FAMILIES if (found := pattern.fullmatch(trait))), None)
    return trait if found is None else found["which"].rsplit(".", 1)[-1]


def _few(traits: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(traits))[:_MOST]


def _frames(data: bytes) -> Iterator[bytes]:
    while data:
        try:
            size = frame_size(data) or len(data)
        except WireError:
            size = len(data)
        yield data[:size]
        data = data[size:]


def _of_frame(frame: bytes, profile: str, version: int) -> tuple[str, list[str]]:
    dissection = dissect(frame[:FRAME_LIMIT])
    command = dissection.command
    oddities = [_ODDITIES.get(one.code, one.code.replace("-", " ")) for one in dissection.diagnostics]
    if command is None:
        return RAW, oddities
    if command.serialization == Serialization.JSON:
        oddities += _missing(dissection)
    return request_words(command.code), [*oddities, *_of_command(command, profile, version)]


def _missing(dissection: Dissection) -> Iterator[str]:
    there = {field.name: field.value for field in dissection.fields}
    if there.get(_NAMED_IN_HEADER, "JSON") != "JSON":
        yield _ODDITIES[_NAMED_IN_HEADER]
    for member in messages().header.members:
        if member.name not in there and member.name not in ("extFields", "remark"):
            yield f"header without {member.name}"


def _of_command(command: Command, profile: str, version: int) -> Iterator[str]:
    if command.serialization != Serialization.JSON:
        yield "header in binary form"
    if command.language != "JAVA":
        yield f"language {command.language}"
    if command.version != version:
        yield f"version {'of another release' if 0 < command.version < 1000 else command.version}"
    if command.remark is not None:
        yield "header with a remark"
    if command.is_response:
        yield "marked as a response"
    elif command.flag:
        yield "one-way" if command.is_oneway else "other bits in flag"
    if command.opaque < 0:
        yield "opaque below 0"
    message = _message(command.code)
    if message is None:
        yield "a code that the catalogue does not name"
        return
    yield from _fields(command.ext, message, profile)
    if command.code == RequestCode.REGISTER_BROKER and not _fits(command.body, (command.ext or {})):
        yield "the checksum of another body"
    yield from _body(command, message, profile)


def _fits(body: bytes, ext: Mapping[str, str | None]) -> bool:
    """Whether the checksum is that of the body; one that is absent, 0 or no number is none."""
    text = ext.get("bodyCrc32") or "0"
    return not re.fullmatch(r"-?\d+", text) or int(text) in (0, body_crc32(body))


@cache
def _message(code: int) -> Message | None:
    return next((one for one in messages().messages if one.code == code and not one.sent), None)


def _fields(ext: Mapping[str, str | None] | None, message: Message, profile: str) -> Iterator[str]:
    if ext is None and any(member.required for member in message.request):
        yield "no extFields"
        return
    known = {member.name: member for member in message.request}
    extra = [name for name in ext or {} if name not in known]
    if len(extra) > _NAMED:
        yield "with many extra fields"
    for name, value in (ext or {}).items():
        if name not in known:
            if len(extra) <= _NAMED:
                yield f"with the extra field {name}" if _is_name(name) else "with an extra field"
        elif trait := _text_trait(value, known[name].type):
            yield f"{name} {trait}"
        elif known[name].default == "false" and value == "true" and name != _SAID_BY_BODY:
            yield f"{name} true"
    for member in message.request:
        if member.required and _applies(member, profile) and member.name not in (ext or {}):
            yield f"without the field {member.name}"


def _text_trait(value: str | None, kind: str) -> str:
    if value is None:
        return "null"
    if not value:
        return "empty"
    if kind in _NUMBERS:
        return _number_trait(value, kind)
    if kind == "boolean":
        return "" if value in ("true", "false") else "no boolean"
    if len(value) > _LONG:
        return f"longer than {_LONG}"
    if not value.isascii():
        return "beyond ASCII"
    return "" if _PLAIN.fullmatch(value) else "with other characters than those of names"


def _number_trait(value: str, kind: str) -> str:
    try:
        number = int(value)
    except ValueError:
        return "no number"
    if not -_LIMITS[kind] <= number < _LIMITS[kind]:
        return f"no {kind}"
    return "below 0" if number < 0 else ""


def _body(command: Command, message: Message, profile: str) -> Iterator[str]:
    if not command.body:
        if message.request_body is not None:
            yield "no body"
        return
    if message.request_body is None:
        yield "with a body"
        return
    if len(command.body) > _PARSED:
        yield "a large body"
        return
    seen = view(command, command.code)
    if seen.is_compressed:
        yield "body compressed"
    if seen.problem:
        yield "body that cannot be read"
    if seen.is_compressed or seen.problem:
        return
    yield from (f"body with {trait}" for trait in seen.dialect)
    value = _json_value(command)
    if isinstance(value, Mapping):
        yield from _object(value, message.request_body, "", profile, _DEPTH)
    elif message.request_body in _bodies():
        yield "body that is no object"


def _json_value(command: Command) -> Any:
    """The members that were sent. What a registration is decoded to has those too that were not."""
    if command.code == RequestCode.REGISTER_BROKER:
        try:
            return json_value(command.body)
        except ValueError:
            return None
    seen = view(command, command.code)
    return seen.body if seen.form == "json" else None


def _object(value: Mapping[str, Any], name: str, place: str, profile: str, depth: int) -> Iterator[str]:
    members = _members(name)
    if not members or not depth:
        return
    for member in members.values():
        is_sent = not member.optional or name in _WHOLE
        if is_sent and _applies(member, profile) and member.name not in value:
            yield f"body without {place}{member.name}"
    for key, one in value.items():
        known = members.get(key)
        if known is None:
            yield f"body with the extra member {place}{key}" if _is_name(key) else "body with an extra member"
        else:
            yield from _member(one, known, f"{place}{key}", profile, depth - 1)


def _member(value: Any, member: Member, place: str, profile: str, depth: int) -> Iterator[str]:
    kind = member.type
    if value is None:
        yield f"body member {place} null"
    elif kind in _NUMBERS:
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"body member {place} no number"
        elif value < 0:
            yield f"body member {place} below 0"
    elif kind == "text":
        if not isinstance(value, str):
            yield f"body member {place} no text"
        elif trait := _text_trait(value, kind):
            yield f"body member {place} {trait}"
    elif kind.startswith("list of"):
        items = value if isinstance(value, list) else []
        if not isinstance(value, list):
            yield f"body member {place} no list"
        yield from _inside(items, kind, place, profile, depth)
    elif kind.startswith("map"):
        if not isinstance(value, Mapping):
            yield f"body member {place} no object"
            return
        if kind == "map of text to TopicConfig" and not value:
            yield f"body member {place} empty"
        yield from _inside(list(value.values()), kind, place, profile, depth)
    elif kind in _bodies():
        if isinstance(value, Mapping):
            yield from _object(value, kind, f"{place}.", profile, depth)
        else:
            yield f"body member {place} no object"


def _inside(items: list[Any], kind: str, place: str, profile: str, depth: int) -> Iterator[str]:
    name = kind.rsplit(" ", 1)[-1]
    if name in _bodies():
        for one in items[:8]:
            if isinstance(one, Mapping):
                yield from _object(one, name, f"{place}.*.", profile, depth)


@cache
def _bodies() -> dict[str, dict[str, Member]]:
    return {
        body.name: {member.json or member.name: member for member in body.members}
        for body in messages().bodies
    }


def _members(name: str) -> dict[str, Member]:
    return _bodies().get(name, {})


def _applies(member: Member, profile: str) -> bool:
    return not member.profiles or profile in member.profiles


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w{0,40}", text) is not None
