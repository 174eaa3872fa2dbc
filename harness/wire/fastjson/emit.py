"""Writing the dialect.

- Compact, members in the order of the dict (emitters of typed bodies order them alphabetically, as fastjson
  does for objects with getters), members whose value is None omitted, elements of arrays that are None
  written as `null`.
- Three dialects, told apart only by numeric keys, by escapes, and by integers beyond 53 bits:

  | dialect    | numeric keys | `/`  | not ASCII | large | used for                                      |
  |------------|--------------|------|-----------|-------|-----------------------------------------------|
  | "legacy"   | `{0:…}`      | raw  | raw       | raw   | routes for old clients, cluster info, members |
  | "standard" | `{"0":…}`    | `\\/` | `\\uXXXX`  | text  | routes for clients from V4_9_4 on             |
  | "plain"    | `{"0":…}`    | raw  | raw       | raw   | everything else                               |

fastjson2 writes the same but for escapes: `restated`.

Sources: fastjson 1.2.69 and 1.2.83, fastjson2 2.0.59 run by `fixtures/java/GoldenFrames.java`.
"""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

Dialect = Literal["legacy", "standard", "plain"]

EXACT_IN_DOUBLES: Final = (1 << 53) - 1
"""The largest integer that "standard" writes without quotes."""

_to_json: Final = msgspec.json.Encoder().encode
_MAY_BE_LARGE: Final = re.compile(rb"[0-9]{16}")
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TO_ESCAPE: Final = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]')
_TO_ESCAPE_STANDARD: Final = re.compile(r'["\\/]|[^ -~]')


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return _SHORT.get(char) or f"\\u{ord(char):04X}"


def _escape_standard(found: re.Match[str]) -> str:
    char = found[0]
    if char == "/":
        return "\\/"
    short = _SHORT.get(char)
    if short is not None:
        return short
    point = ord(char)
    if point < 0x10000:
        return f"\\u{point:04X}"
    point -= 0x10000
    return f"\\u{0xD800 | point >> 10:04X}\\u{0xDC00 | point & 0x3FF:04X}"


def quote(text: str, dialect: Dialect = "plain") -> bytes:
    """One string literal, quotes included. A lone surrogate becomes `?`, as Java's encoder writes it."""
    if dialect == "standard":
        return b'"%b"' % _TO_ESCAPE_STANDARD.sub(_escape_standard, text).encode()
    return b'"%b"' % _TO_ESCAPE.sub(_escape, text).encode("utf-8", "replace")


def dumps(value: object, dialect: Dialect = "plain") -> bytes:
    """The text of a value: dict (keys str or int), list, tuple, str, bool, int, float, None, and
    `msgspec.Raw`, which is written as it is.
    """
    out: list[bytes] = []
    _write(value, dialect, out)
    return b"".join(out)


def document(value: object, dialect: Dialect = "plain") -> bytes:
    """As `dumps`, but fast for plain text; maps with numeric keys must come as `msgspec.Raw`, already
    written.
    """
    try:
        text = _to_json(value)
    except UnicodeEncodeError:  # a lone surrogate
        return dumps(value, dialect)
    if (
        text.isascii()
        and b"\\" not in text
        and b"\x7f" not in text
        and b":null" not in text
        and not (dialect == "standard" and (b"/" in text or _MAY_BE_LARGE.search(text)))
    ):
        return text
    return dumps(value, dialect)


_ESCAPES: Final = re.compile(rb"(?:\\u[0-9A-F]{4})+|\\.")


def _restate(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    if escape == b"\\/":
        return b"/"
    if not escape.startswith(b"\\u"):
        return escape
    units = bytes.fromhex(escape.replace(b"\\u", b"").decode())
    text = units.decode("utf-16-be", "surrogatepass")
    return b"".join(
        b"\\u%04x" % ord(char) if char < " " else char.encode("utf-8", "replace") for char in text
    )


def restated(text: bytes) -> bytes:
    """What fastjson2 writes for the value that fastjson 1 has written as `text` (any dialect).

    It escapes nothing but quotes, backslashes and what is below the blank, with hexadecimal digits in lower
    case; "standard" is told from "legacy" only by its quoted numbers.
    """
    return _ESCAPES.sub(_restate, text) if b"\\" in text else text


def _write(value: object, dialect: Dialect, out: list[bytes]) -> None:
    match value:
        case None:
            out.append(b"null")
        case bool():
            out.append(b"true" if value else b"false")
        case int():
            is_large = dialect == "standard" and abs(value) > EXACT_IN_DOUBLES
            out.append(b'"%d"' % value if is_large else b"%d" % value)
        case str():
            out.append(quote(value, dialect))
        case float():
            out.append(repr(value).encode())
        case dict():
            out.append(b"{")
            first = True
            for key, member in value.items():
                if member is None:
                    continue
                if not first:
                    out.append(b",")
                first = False
                if isinstance(key, int):
                    out.append(b"%d:" % key if dialect == "legacy" else b'"%d":' % key)
                else:
                    out.append(quote(key, dialect))
                    out.append(b":")
                _write(member, dialect, out)
            out.append(b"}")
        case list() | tuple():
            out.append(b"[")
            for index, element in enumerate(value):
                if index:
                    out.append(b",")
                _write(element, dialect, out)
            out.append(b"]")
        case msgspec.Raw():
            out.append(bytes(value))
        case _:
            raise TypeError(f"{type(value).__name__} has no form in JSON")
