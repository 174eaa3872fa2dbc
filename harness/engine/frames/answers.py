"""What may be answered to a frame, and whether an answer is one of that.

- Pure. Codes and required fields are those of `specs/messages/`; what failed requests are answered with
  is said by the chapters errors and framing.
- What a certain reading of requests for the KV table says is remembered, so that a value that was read
  otherwise than it was sent is seen when it is asked for. What is uncertain makes everything unknown.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from harness.catalogue import Message, messages, profile_named
from harness.engine.frames.reading import Reading
from harness.wire import FLAG_RESPONSE, Command, RequestCode, Serialization, WireError, body_crc32
from harness.wire.bodies import RegisterBody

Happened = Literal["answered", "closed", "silent", "garbled"]

_FRAMING: Final = "wire.framing."
_ERRORS: Final = "ns.errors."
_INT64: Final = range(-(2**63), 2**63)
_JAVA_LONG: Final = re.compile(r"[+-]?[0-9]+")
_NULL_MEMBER: Final = re.compile(rb'"(?:remark|extFields)":null')
_BROKERS: Final = (10, 11, 14, 17, 25, 26, 34, 36, 43, 54, 310, 351, 1001, 1009)
"""Codes of brokers and controllers, see ns.security.codes-of-others-are-not-served."""
_NO_REASON_TO_FAIL: Final = (
    100,
    101,
    102,
    105,
    106,
    205,
    206,
    216,
    219,
    224,
    304,
    311,
    312,
    313,
    319,
    327,
    901,
    904,
)
"""Requests that have no body and fail only where a field is missing, or a setting forbids them; none does."""
_UNCOUNTED_VERSION: Final = (103, 105)
"""Requests whose handling depends on the version of their header."""


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """What the catalogue lets happen because of one frame."""

    statement: str
    """Which is broken where something else happens; empty where the catalogue is silent."""
    why: str = ""
    closes: bool = False
    silent: bool = False
    answers: bool = False
    opaque: int | None = None
    """Of the answer; None where it is not known."""
    codes: frozenset[int] | None = None
    """Of the answer; None for any."""
    values: frozenset[str | None] | None = None
    """Of the KV entry that was asked for (None: there is none); None where it is not known."""
    command: Command | None = None
    """What was certainly said."""
    json: bool = False
    """The request was in JSON."""
    waits: bool = False
    foreign: bool = False
    """What comes back may be of another protocol."""


class Table:
    """The KV table as far as it is known: possible values by namespace and key."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], frozenset[str | None]] = {}

    def of(self, command: Command) -> frozenset[str | None] | None:
        """Possible values of what a request asks for."""
        key = _key_of(command)
        return None if key is None else self._known.get(key)

    def take(self, allowed: Allowed, happened: Happened, answer: Command | None, *, at_once: bool) -> None:
        """Learns from what has happened. `at_once`: one-way requests have been carried out by now."""
        command = allowed.command
        if command is None:
            if not allowed.waits and not (happened == "closed" and not allowed.answers):
                self._known.clear()
            return
        if command.flag & FLAG_RESPONSE or command.code not in (100, 102):
            return
        key = _key_of(command)
        if key is None:
            self._known.clear()
            return
        value = (command.ext or {}).get("value") if command.code == 100 else None
        succeeded = happened == "answered" and answer is not None and answer.code == 0
        if succeeded or (happened == "silent" and command.is_oneway and at_once):
            self._known[key] = frozenset([value])
        else:
            self._known.pop(key, None)

    def forget(self) -> None:
        """Knows nothing any more."""
        self._known.clear()


def _key_of(command: Command) -> tuple[str, str] | None:
    ext = command.ext or {}
    namespace, key = ext.get("namespace"), ext.get("key")
    return (namespace, key) if namespace and key else None


def allowed(reading: Reading, profile: str, table: Table) -> Allowed:
    """What may become of a frame."""
    if reading.waits:
        return Allowed(statement=reading.statement, why=reading.why, silent=True, waits=True)
    if reading.closes == "must":
        return Allowed(statement=reading.statement, why=reading.why, closes=True)
    command = reading.command
    if reading.closes == "may" or not reading.certain or command is None:
        return Allowed(
            statement=reading.statement,
            why=reading.why,
            closes=reading.closes == "may",
            silent=True,
            answers=True,
            foreign=reading.foreign,
        )
    is_json = command.serialization is Serialization.JSON
    if command.is_response:
        both = command.flag & 2
        statement = _FRAMING + ("response-bit-outweighs-the-request" if both else "stray-response-is-ignored")
        return Allowed(statement=statement, why=reading.why, silent=True, command=command)
    message = _message(command.code, profile)
    if command.is_oneway:
        statement = (
            _FRAMING + "oneway-is-not-answered" if message else _ERRORS + "unknown-oneway-is-not-answered"
        )
        return Allowed(statement=statement, why=reading.why, silent=True, command=command)
    codes, statement = _codes(command, message, profile)
    return Allowed(
        statement=statement or _served_by(command, reading),
        why=reading.why or ("" if message else "unknown code"),
        answers=True,
        silent=message is None and not profile_named(profile).has("refused-codes"),
        opaque=command.opaque,
        codes=codes,
        values=table.of(command) if command.code == RequestCode.GET_KV_CONFIG else None,
        command=command,
        json=is_json,
    )


def _served_by(command: Command, reading: Reading) -> str:
    if command.flag not in (0, 2) and not reading.why:
        return _FRAMING + "unknown-flag-bits-are-ignored"
    return reading.statement


def _message(code: int, profile: str) -> Message | None:
    for message in messages().of("nameserver"):
        if (
            message.code == code
            and not message.sent
            and (not message.profiles or profile in message.profiles)
        ):
            return message
    return None


def _codes(command: Command, message: Message | None, profile: str) -> tuple[frozenset[int] | None, str]:
    """The codes of the answer, None for any; and the statement, where it is a particular one."""
    if message is None:
        if command.code < 0:
            name = _ERRORS + "negative-code-is-unknown"
        elif command.code in _BROKERS:
            name = "ns.security.codes-of-others-are-not-served"
        elif not profile_named(profile).has("refused-codes"):
            known = {217: "code-217-changes-nothing", 901: "codes-901-and-904-are-unknown"}
            known[904] = known[901]
            name = _ERRORS + known.get(command.code, "unknown-code-is-never-served")
        else:
            name = _ERRORS + "unknown-code-is-refused"
        return frozenset([3]), name
    ext = command.ext or {}
    if command.code == RequestCode.REGISTER_BROKER:
        return _registration(command, profile)
    for field in message.request:
        if field.required and not ext.get(field.name) and (not field.profiles or profile in field.profiles):
            return None, _missing(command.code)
    if command.version < 0 and command.code in _UNCOUNTED_VERSION:
        return None, ""
    if command.code in _NO_REASON_TO_FAIL:
        return frozenset(message.codes) - {1}, ""
    return frozenset(message.codes) | {1}, ""


def _missing(code: int) -> str:
    match code:
        case 104:
            return _ERRORS + "unregistration-without-fields-keeps-the-connection"
        case 901 | 904:
            return _ERRORS + "missing-fields-of-5x-codes-keep-the-connection"
    return _ERRORS + "missing-fields-keep-the-connection"


def _registration(command: Command, profile: str) -> tuple[frozenset[int] | None, str]:
    ext = command.ext or {}
    if command.version < 0:
        return None, ""
    number = ext.get("brokerId")
    if number is None or not _is_long(number):
        return frozenset([1]), _ERRORS + "failed-registration-leaves-nothing"
    names = ("brokerName", "brokerAddr", "clusterName", "haServerAddr")
    if not all(ext.get(name) for name in names):
        return None, _ERRORS + "missing-fields-keep-the-connection"
    compressed = str(ext.get("compressed")).lower() == "true"
    if command.body and command.version >= 37 and not _is_legible(command.body, compressed):
        return frozenset([1]), _ERRORS + "unparsable-body-is-code-1"
    if int(number) >= 0 and _is_intact(command, compressed, profile):
        return frozenset([0]), _registered_by(ext)
    return frozenset([0, 1]), _ERRORS + "failure-keeps-the-connection"


def _registered_by(ext: Mapping[str, str | None]) -> str:
    """The statement that says why a registration succeeds in spite of what is odd about it."""
    if ext.get("compressed") not in ("true", "false", None):
        true = str(ext["compressed"]).lower() == "true"
        return _ERRORS + ("boolean-is-true-in-any-case" if true else "any-other-boolean-is-false")
    if not str(ext.get("bodyCrc32", "0")).isdecimal():
        return _ERRORS + "unparsable-optional-number-is-absent"
    if str(ext.get("brokerId")) != str(int(ext["brokerId"] or "0")):
        return _ERRORS + "signed-and-padded-numbers-are-numbers"
    return _ERRORS + "no-ext-fields-is-empty-ext-fields"


def _is_long(text: str) -> bool:
    return bool(_JAVA_LONG.fullmatch(text)) and text.isascii() and int(text) in _INT64


def _is_intact(command: Command, compressed: bool, profile: str) -> bool:
    """Whether the body of a registration is as a broker writes it, of two topics or more, and its checksum
    right or of no account.
    """
    ext = command.ext or {}
    crc = ext.get("bodyCrc32")
    if (
        crc is not None
        and re.fullmatch(r"[+-]?[0-9]+", crc)
        and int(crc) not in (0, body_crc32(command.body))
    ):
        return False
    v5 = profile_named(profile).has("topic-attributes")
    if command.version < 37 or command.version > 600:
        return False
    try:
        body = RegisterBody.decode(command.body, compressed=compressed, version=command.version, v5=v5)
    except WireError:
        return False
    if len(body.topics or {}) < 2 or body.data_version is None:
        return False
    if not compressed:
        return body.encode() == command.body
    return zlib.decompress(command.body) in (body.layout(v5=True), body.layout(v5=False))


def _is_legible(body: bytes, compressed: bool) -> bool:
    """Whether the body of a registration may be one; False only where it cannot."""
    if compressed:
        try:
            zlib.decompressobj().decompress(body, 4)
        except zlib.error:
            return False
        return True
    return body.strip(b" \t\r\n\f\b\0,").endswith(b"}")


def wrong_with(
    answer: Command, frame: bytes, allowed: Allowed, profile: str
) -> Iterator[tuple[str, str, str]]:
    """What an answer breaks: statement, expected, actual. `frame` is its bytes."""
    command = allowed.command
    if not allowed.answers:
        yield allowed.statement, "no answer", f"an answer with code {answer.code}"
        return
    if answer.flag != 1:
        yield _FRAMING + "response-flag-is-one", "flag 1", f"flag {answer.flag}"
    if allowed.json and answer.serialization is not Serialization.JSON:
        yield _FRAMING + "json-is-answered-in-json", "a JSON header", "a binary one"
    null = _NULL_MEMBER.search(frame[8 : len(frame) - len(answer.body)])
    if null is not None and answer.serialization is Serialization.JSON:
        yield _FRAMING + "absent-members-are-omitted", "no member that is null", null[0].decode()
    if allowed.codes is not None and answer.code not in allowed.codes:
        expected = "code " + " or ".join(map(str, sorted(allowed.codes)))
        yield allowed.statement, expected, f"code {answer.code}"
    elif answer.code == 1 and not answer.remark:
        yield _ERRORS + "failure-is-code-1-with-remark", "a remark with code 1", "none"
    elif answer.code == 1 and (answer.body or answer.ext):
        yield (
            _ERRORS + "failure-has-no-payload",
            "neither body nor ext fields",
            f"{len(answer.body)} bytes of body",
        )
    elif (
        answer.code == 3
        and command is not None
        and profile_named(profile).has("refused-codes")
        and str(command.code) not in str(answer.remark)
    ):
        yield (
            _ERRORS + "unknown-code-remark-names-the-code",
            f"a remark with {command.code}",
            str(answer.remark),
        )
    if command is not None and allowed.values is not None:
        found = (answer.ext or {}).get("value") if answer.code == 0 else None
        if answer.code in (0, 22) and found not in allowed.values:
            expected = " or ".join(sorted(map(repr, allowed.values)))
            yield _value_statement(allowed), f"the value {expected}", repr(found)


def _value_statement(allowed: Allowed) -> str:
    if None in (allowed.values or ()):
        return _FRAMING + "null-ext-value-is-absent"
    if any(value and not value.isascii() for value in allowed.values or ()):
        return _FRAMING + "non-ascii-ext-value-survives"
    return _FRAMING + "scalar-ext-values-are-texts"
