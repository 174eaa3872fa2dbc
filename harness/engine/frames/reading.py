"""What a frame is to a server, and what must become of its connection.

- Pure. A `Reading` is *certain* where the catalogue leaves no doubt about what the frame says; only then
  anything but harm is judged by what it says.
- What a header is, is decided from the bytes by strict JSON. A text that is none closes the connection where
  no reader could make an object of it, since it does not end like one; of others Apache's engines read more
  than is written down anywhere (fastjson 1 takes ``{"remark":413{}`` and ``}"code":0}`` for objects).

Sources: the statements that are named here, and `harness.wire.dissect`.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal

import msgspec

from harness.catalogue import profile_named
from harness.wire import FRAME_LIMIT, Command, Diagnostic, Serialization, WireError, decode, dissect
from harness.wire.fastjson import Engine

Closing = Literal["must", "may", "no"]
"""Whether the connection is closed because of a frame."""

_FRAMING: Final = "wire.framing."
_JSON: Final = "wire.json."
_INT32: Final = range(-(2**31), 2**31)
_WHOLE: Final = re.compile(r"-?[0-9]+")
_ESCAPED_NAME: Final = re.compile(rb'"[^"]*\\[^"]*"\s*:')
_DEEP: Final = 60
_BEGIN_CHARACTERS: Final = range(0xC0, 0xF8)
_FIXED: Final = 21
_PROXY_2: Final = b"\r\n\r\n\0\r\nQUIT\n"
_TOLD_BY: Final = 12
"""Bytes that tell a PROXY preamble from a frame."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One frame, or what a stream has instead of one."""

    closes: Closing
    statement: str
    """Which says so; empty where the catalogue is silent."""
    command: Command | None = None
    """What it says, where that is known."""
    certain: bool = False
    why: str = ""
    """A few words, for people and for signatures."""
    waits: bool = False
    """It is not whole: nothing happens before more bytes come."""
    foreign: bool = False
    """What comes back may be of another protocol."""


class _Pairs(list[tuple[str, Any]]):
    """A JSON object, repeated names and all."""


def engine_of(profile: str) -> Engine:
    """Who reads JSON there (`harness.wire.fastjson`)."""
    return profile_named(profile).engine


class Stream:
    """What is sent on one connection, cut into frames the way a server must."""

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._data = b""
        self._sent = 0
        self.lost = False
        """Nothing can be said about what follows."""

    def feed(self, data: bytes) -> list[Reading]:
        """The frames that `data` completes; the last reading tells of what is left, if anything is."""
        first = self._sent == 0
        self._sent += len(data)
        if self.lost:
            return []
        if first and (free := _preamble(data, self._profile)):
            self.lost = True
            return [free]
        self._data += data
        found: list[Reading] = []
        while self._data and not self.lost:
            reading, size = _first(self._data, self._profile)
            if reading.waits:
                found.append(reading)
                break
            self.lost = reading.closes == "must"
            self._data = self._data[size:]
            found.append(reading)
        if profile_named(self._profile).has("proxy-protocol") and self._sent < _TOLD_BY:
            return [
                _free("fewer than twelve bytes", "wire.connection.short-first-frame-is-answered-in-the-end")
            ]
        return found

    @property
    def whole(self) -> bool:
        """Whether a frame sent now would be read as one."""
        return not self.lost and not self._data


def _preamble(data: bytes, profile: str) -> Reading | None:
    if data[:1] == b"\x16":
        return msgspec.structs.replace(_free("begins like TLS"), foreign=True)
    if profile_named(profile).has("proxy-protocol") and (
        b"PROXY".startswith(data[:5]) or _PROXY_2.startswith(data[:12])
    ):
        return _free("begins like a PROXY preamble", "wire.connection.malformed-proxy-preamble-closes")
    return None


def _first(data: bytes, profile: str) -> tuple[Reading, int]:
    """The frame that a stream begins with, and its size; 0 where the boundary is lost."""
    waits = Reading(
        closes="no", statement=_FRAMING + "fragments-are-reassembled", why="incomplete", waits=True
    )
    if len(data) < 4:
        return waits, 0
    length = int.from_bytes(data[:4], "big", signed=True)
    if length < 0:
        return _closed("negative-length-closes", "length"), 0
    if length > FRAME_LIMIT - 4:
        name = "http-closes" if data[:4] in (b"GET ", b"POST") else "length-beyond-limit-closes"
        return _closed(name, "length"), 0
    if length < 4:
        if len(data) < 4 + length:
            return waits, 0
        return _closed("length-below-header-word-closes", "length"), 4 + length
    if len(data) < 4 + length:
        return waits, 0
    return read(data[: 4 + length], profile), 4 + length


def read(frame: bytes, profile: str) -> Reading:
    """What a whole frame is; its length word is right."""
    kind, size = frame[4], int.from_bytes(frame[5:8], "big")
    if size > len(frame) - 8:
        return _closed("header-beyond-frame-closes", "header length")
    if kind not in (Serialization.JSON, Serialization.ROCKETMQ):
        return _closed("unknown-serialization-closes", "type")
    if not size:
        return _closed("empty-header-closes", "header length")
    if kind == Serialization.ROCKETMQ:
        return _binary(frame, size)
    return _json(frame, frame[8 : 8 + size], profile)


# --- JSON ---------------------------------------------------------------------------------------------------


def _json(frame: bytes, text: bytes, profile: str) -> Reading:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as problem:
        return _invalid_utf8(text[problem.start], _command(frame, profile), profile)
    try:
        members = json.loads(decoded, object_pairs_hook=_Pairs, parse_constant=_no_constant)
    except RecursionError:
        return _free("deep header", "wire.security.deep-header-is-survived")
    except ValueError:
        return _no_strict_json(text, _command(frame, profile), profile)
    if not isinstance(members, _Pairs):
        return _closed("header-that-is-no-object-closes", "no object")
    if text.count(b"[") + text.count(b"{") > _DEEP and _depth(members) > _DEEP:
        return _free("deep header", "wire.security.deep-header-is-survived")
    if _ESCAPED_NAME.search(text):
        return _free("escapes in a name")
    return _members(members, _command(frame, profile), profile)


def _command(frame: bytes, profile: str) -> Command | None:
    """What the codec makes of it; None where Apache refuses it."""
    try:
        return decode(frame, invalid_utf8="replace", engine=engine_of(profile))
    except WireError:
        return None


def _members(members: _Pairs, command: Command | None, profile: str) -> Reading:
    """A header that is strict JSON and an object."""
    verdicts = [_member(name, value, profile) for name, value in members]
    names = [name for name, _ in members]
    if len(set(names)) < len(names) and any(one is not None and one.closes != "no" for one in verdicts):
        return _free("repeated member")  # of two values Apache may well look at one only
    for verdict in verdicts:
        if verdict is not None and verdict.closes == "must":
            return verdict
    for verdict in verdicts:
        if verdict is not None and not verdict.certain and verdict.closes == "may":
            return verdict
    if len(set(names)) < len(names):
        return Reading(
            closes="no", statement=_FRAMING + "repeated-members-do-not-close", why="repeated member"
        )
    for name, why in (("code", "no code"), ("opaque", "no opaque")):
        if name not in names:
            statement = (
                "ns.errors.missing-code-is-zero" if name == "code" else _FRAMING + "missing-opaque-is-served"
            )
            return _free(why, statement)
    if command is None:
        return _free("refused by Apache")
    uncertain = next((verdict for verdict in verdicts if verdict is not None and not verdict.certain), None)
    if uncertain is not None:
        return msgspec.structs.replace(uncertain, command=command)
    odd = next((verdict for verdict in verdicts if verdict is not None), None)
    if odd is not None:
        return msgspec.structs.replace(odd, command=command)
    absent = {"flag", "version", "language", "extFields"} - set(names)
    statement = "optional-members-may-be-absent" if absent else "pipelined-requests-are-all-answered"
    return Reading(closes="no", statement=_FRAMING + statement, command=command, certain=True)


def _member(name: str, value: Any, profile: str) -> Reading | None:
    """What a member makes of the frame; None where nothing is to be said."""
    match name:
        case "code" | "opaque" | "flag" | "version":
            return _number(name, value, profile)
        case "extFields":
            return _ext(value, profile)
        case "language":
            return _language(value)
        case "remark":
            if value is None:
                return _served("null-members-are-absent", "null remark")
            if value == "":
                return _served("empty-remark-is-accepted", "empty remark")
            return None if isinstance(value, str) else _free("remark that is no text")
        case "serializeTypeCurrentRPC":
            if not isinstance(value, str):
                return _free("serialization that is no text")
            return (
                None
                if value == "JSON"
                else _served("header-serialization-name-is-ignored", "other serialization")
            )
        case "body":
            return _free("body in a header")
        case "@type":
            if engine_of(profile) == "fastjson2":
                return _served("type-member-is-ignored", "@type", _JSON)
            return _free("@type")
    if name.startswith(("$", "@")):
        return _free("name with a meaning to fastjson")
    if _folded(name) in _KNOWN:
        return (
            _free("name in another case")
            if engine_of(profile) == "fastjson"
            else _served("names-are-case-sensitive", name, _JSON)
        )
    return _served("unknown-members-are-ignored", "unknown member")


_KNOWN: Final = ("code", "opaque", "flag", "version", "extfields", "language", "remark", "body")


def _folded(name: str) -> str:
    return re.sub("[_-]", "", name).lower()


def _number(name: str, value: Any, profile: str) -> Reading | None:
    why = f"{name} as {type(value).__name__}"
    match value:
        case bool():
            return _free(why)
        case int():
            return None if value in _INT32 else _closed("number-out-of-range-closes", f"{name} out of range")
        case None:
            if name in ("flag", "version"):
                return _served("null-members-are-absent", f"null {name}")
            return _free(f"null {name}")
        case str():
            if _WHOLE.fullmatch(value) and int(value) in _INT32:
                return _served("numeric-strings-are-numbers", why)
            if (
                value
                and not re.search(r"[0-9+\-.,]", value)
                and value not in ("null", "true", "false", "NULL")
            ):
                return _closed("text-for-a-number-closes", why)
            return _free(why)
        case _Pairs():
            if engine_of(profile) == "fastjson2":
                return _free(why)
            return _closed("array-or-object-for-a-number-closes", f"{name} as object", _JSON)
        case list():
            if len(value) != 1 and all(type(one) is int for one in value):
                return _closed("text-for-a-number-closes", why)
            if engine_of(profile) == "fastjson2":
                return _free(why)
            return _closed("array-or-object-for-a-number-closes", why, _JSON)
    return _free(why)


def _ext(value: Any, profile: str) -> Reading | None:
    match value:
        case None:
            return _served("null-members-are-absent", "null ext fields")
        case _Pairs():
            return _entries(value)
        case "" | "null":
            return _free("ext fields as text")
        case [_Pairs()] if engine_of(profile) == "fastjson2":
            return _free("ext fields as array of one")
    return _closed("ext-fields-that-are-no-object-close", f"ext fields as {type(value).__name__}")


def _entries(entries: _Pairs) -> Reading | None:
    keys = [key for key, _ in entries]
    if len(set(keys)) < len(keys):
        return _free("repeated ext field")
    served: Reading | None = None
    for key, value in entries:
        if key.startswith(("$", "@")):
            return _free("key with a meaning to fastjson")
        if isinstance(value, list):
            return _free("structured ext value", _FRAMING + "structured-ext-values-are-texts")
        if value is None:
            served = served or _served("null-ext-value-is-absent", "null ext value")
        elif isinstance(value, float) or value == 0:
            served = _served("scalar-ext-values-are-texts", "fraction as ext value", certain=False)
        elif not isinstance(value, str):
            served = served or _served("scalar-ext-values-are-texts", "scalar ext value")
        elif not value.isascii():
            served = served or _served("non-ascii-ext-value-survives", "ext value that is not ASCII")
    return served


def _language(value: Any) -> Reading | None:
    match value:
        case "JAVA":
            return None
        case None:
            return _served("null-members-are-absent", "null language")
        case str():
            return _served("any-language-name-is-served", "language name")
        case bool():
            return _free("language as bool")
        case int() if 0 <= value <= 12:
            return _served("language-ordinal-is-served", "language number")
    return _free(f"language as {type(value).__name__}")


def _invalid_utf8(wrong: int, command: Command | None, profile: str) -> Reading:
    """Of a text whose first character that is none begins with the byte ``wrong``."""
    if engine_of(profile) == "fastjson2":
        if wrong in _BEGIN_CHARACTERS:
            return _free("invalid UTF-8")  # as many bytes as it announces are taken, whatever they are
        return _closed("byte-that-begins-no-character-closes", "invalid UTF-8")
    if profile_named(profile).has("strict-utf8"):
        return _closed("invalid-utf8-closes", "invalid UTF-8")
    if command is None:
        return _free("invalid UTF-8 and no JSON")
    # What the bytes become is known, but where they stand is not: a name may be meant.
    return Reading(
        closes="no", statement=_FRAMING + "invalid-utf8-is-replaced", command=command, why="invalid UTF-8"
    )


def _no_strict_json(text: bytes, command: Command | None, profile: str) -> Reading:
    stripped = text.strip(b" \t\r\n\f\b\0,")
    if command is not None or stripped.endswith(b"}"):
        return _free("loose JSON", _FRAMING + "loose-punctuation-is-accepted")
    try:
        json.JSONDecoder().raw_decode(text.decode().lstrip())
    except (ValueError, RecursionError):
        return _closed("broken-json-header-closes", "no JSON")
    if engine_of(profile) == "fastjson2":
        return _free("text behind the header")
    return _closed("text-after-header-object-closes", "text behind the header")


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        below: list[Any] = []
        for one in level:
            if isinstance(one, _Pairs):
                below += [item for _, item in one]
            elif isinstance(one, list):
                below += one
        level = below
    return depth


# --- binary -------------------------------------------------------------------------------------------------

_MAY: Final = {
    "ext-length-negative": _FRAMING + "binary-negative-ext-length-is-no-map",
    "header-spare-bytes": _FRAMING + "binary-spare-header-bytes-begin-the-body",
    "ext-duplicate": _FRAMING + "binary-repeated-key-last-wins",
}


def _binary(frame: bytes, size: int) -> Reading:
    if size < _FIXED:
        return _closed("binary-header-too-short-closes", "header too short")
    found = dissect(frame)
    if found.command is None:
        return _refused(found.fatal[0])
    certain, statement, why = True, _FRAMING + "binary-request-is-served", ""
    for odd in found.diagnostics:
        match odd.code:
            case "language-unknown":
                statement, why = _FRAMING + "binary-unknown-language-is-served", "unknown language"
            case "ext-value-empty":
                statement, why = _FRAMING + "binary-zero-length-is-null", "value of no bytes"
            case _:
                return _free(odd.code, _MAY.get(odd.code, ""))
    return Reading(closes="no", statement=statement, command=found.command, certain=certain, why=why)


def _refused(fatal: Diagnostic) -> Reading:
    part = fatal.message.partition(" ")[0]
    match fatal.code:
        case "ext-length-too-large":
            return _closed("binary-ext-length-beyond-header-closes", "ext length")
        case "string-length-negative" | "string-length-too-large":
            if part == "remark":
                return _closed("binary-bad-remark-length-closes", "remark length")
            if fatal.message.startswith("extFields key "):
                return _closed("binary-bad-key-length-closes", "key length")
            return _closed("binary-bad-value-length-closes", "value length")
    return _free(fatal.code)


# --- verdicts -----------------------------------------------------------------------------------------------


def _closed(name: str, why: str, prefix: str = _FRAMING) -> Reading:
    return Reading(closes="must", statement=prefix + name, why=why)


def _served(name: str, why: str, prefix: str = _FRAMING, *, certain: bool = True) -> Reading:
    return Reading(closes="no", statement=prefix + name, certain=certain, why=why)


def _free(why: str, statement: str = "") -> Reading:
    return Reading(closes="may", statement=statement, why=why)
