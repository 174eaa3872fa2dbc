"""Requests, read into what operations take. Everything that can be wrong is said in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from .operations import Operation
from .parameters import arguments
from .problems import ProblemError

LARGEST: Final = 16 << 20
"""Bytes of a body: a message of 4 MiB, the most that Brokers take by default, has room in base64."""
_JSON: Final = "application/json"


def of_query(operation: Operation, query: bytes) -> dict[str, Any]:
    """What a query says. Raises ProblemError, OptionError."""
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise ProblemError(
            "malformed", f"query: expected NAME=VALUE&… in UTF-8 with %XX, got something else: {error}"
        ) from None
    twice = [name for name, number in Counter(name for name, _ in pairs).items() if number > 1]
    if twice:
        raise ProblemError("malformed", f"query: {twice[0]!r} is given twice; expected each name once")
    return _read(operation, dict(pairs), is_strict=False)


def of_body(operation: Operation, media_types: Sequence[str], encoding: str, body: bytes) -> dict[str, Any]:
    """What a body says. Raises ProblemError, OptionError."""
    found = [one.partition(";")[0].strip().lower() for one in media_types]
    if found != [_JSON] or encoding not in ("", "identity"):
        got = " and ".join(media_types) or "none"
        got += f", Content-Encoding {encoding}" if encoding else ""
        raise ProblemError(
            "media-type", f"Content-Type: expected {_JSON}, got {got}; send JSON, also if it is {{}}"
        )
    try:
        given = msgspec.json.decode(body) if body else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProblemError("malformed", f"body: expected a JSON object in UTF-8; {error}") from None
    if not isinstance(given, dict):
        kind = "a list" if isinstance(given, list) else "null" if given is None else f"{given!r:.60}"
        raise ProblemError("malformed", f"body: expected a JSON object, got {kind}; {_takes(operation)}")
    return _read(operation, given, is_strict=True)


def _read(operation: Operation, given: dict[str, Any], *, is_strict: bool) -> dict[str, Any]:
    try:
        return arguments(msgspec.convert(given, operation.parameters, strict=is_strict))
    except (msgspec.ValidationError, RecursionError) as error:
        raise ProblemError("malformed", f"{error}; {_takes(operation)}") from None


def _takes(operation: Operation) -> str:
    fields = msgspec.structs.fields(operation.parameters)
    names = [field.name if field.required else f"[{field.name}]" for field in fields]
    return f"{operation.path} takes {', '.join(names) or 'nothing'}"
