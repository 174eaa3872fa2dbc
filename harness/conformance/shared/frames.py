"""Frames that no encoder writes, for the cases about framing and about errors.

Pure functions from parts to bytes. A part that is not given is well-formed; a part that is given is written
as it is, however wrong.
"""

from __future__ import annotations

import json
import re
from struct import Struct

from harness.session import NameServerSession, Query
from harness.wire import RawFrame, Serialization
from harness.wire.versions import V4_9_8

QUERY = NameServerSession.query
"""The request of cases about NameServers in which any request will do."""

OPAQUE = 7
"""The opaque of every frame that is made here. The session's own begin at 1000."""

VERSION = V4_9_8
"""The version that every frame made here announces, as the session's do."""

_FIXED = Struct(">hBhii")
_SHORT = Struct(">H")
_INT = Struct(">i")


def json_frame(header: str | bytes, body: bytes = b"") -> bytes:
    """A frame with this header; text is encoded in UTF-8."""
    return RawFrame(header.encode() if isinstance(header, str) else header, body).encode()


def query_header(query: Query | int = QUERY, more: str = "", /, **members: str | None) -> str:
    """The text of a JSON header with every member that Apache's Java client writes; that of a code alone has
    no ext fields.

    `members` are JSON texts that replace one (`flag='"0"'`) or come behind them (`remark='"why"'`); None
    leaves one out. `more` is text behind the last member, such as a name that occurs twice.
    """
    code, ext = query if isinstance(query, Query) else (query, {})
    ordinary: dict[str, str | None] = {
        "code": f"{code:d}",
        "extFields": json.dumps(ext, separators=(",", ":")) if ext else None,
        "flag": "0",
        "language": '"JAVA"',
        "opaque": f"{OPAQUE}",
        "serializeTypeCurrentRPC": '"JSON"',
        "version": f"{VERSION}",
    }
    written = [f'"{name}":{value}' for name, value in (ordinary | members).items() if value is not None]
    return "{" + ",".join([*written, more] if more else written) + "}"


def bare_names(header: str) -> str:
    """The header with names that have no quotes; texts keep theirs."""
    return re.sub(r'"(\w+)":', r"\1:", header)


def entry(key: str, value: str, *, key_length: int | None = None, value_length: int | None = None) -> bytes:
    """One entry of a binary header's ext fields."""
    name, text = key.encode(), value.encode()
    return b"".join(
        (
            _SHORT.pack(len(name) if key_length is None else key_length),
            name,
            _INT.pack(len(text) if value_length is None else value_length),
            text,
        )
    )


def binary_header(
    query: Query | int = QUERY,
    *entries: bytes,
    language: int = 0,
    version: int = VERSION,
    opaque: int = OPAQUE,
    flag: int = 0,
    remark: bytes = b"",
    remark_length: int | None = None,
    ext_length: int | None = None,
) -> bytes:
    """A binary header with the ext fields of the request and these entries (see `entry`)."""
    code, fields = query if isinstance(query, Query) else (query, {})
    ext = b"".join((*(entry(name, value) for name, value in fields.items()), *entries))
    return b"".join(
        (
            _FIXED.pack(code, language, version, opaque, flag),
            _INT.pack(len(remark) if remark_length is None else remark_length),
            remark,
            _INT.pack(len(ext) if ext_length is None else ext_length),
            ext,
        )
    )


def binary_frame(header: bytes, body: bytes = b"") -> bytes:
    """A frame whose type byte says that the header is binary."""
    return RawFrame(header, body, Serialization.ROCKETMQ).encode()
