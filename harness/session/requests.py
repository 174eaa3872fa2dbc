"""From what a case says to a command.

Ext values become the strings that a Java peer writes (``true``, ``false``, decimal
numbers); a field that is not given is not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypedDict

from harness.wire import Command, Serialization
from harness.wire.code_names import request_words

Ext = Mapping[str, str | int | bool | None] | None
"""Ext fields. None as a value is sent as a null, which is something else than leaving the field out."""


class Query(NamedTuple):
    """A request without a body; `call(*query)` sends it."""

    code: int
    ext: dict[str, str]


class BrokerHeader(TypedDict, total=False):
    """Members of the header that a case may set; what it leaves out is the session's."""

    opaque: int
    flag: int
    language: str | None
    serialization: Serialization
    remark: str | None


class HeaderFields(BrokerHeader, total=False):
    """The same with the version, for requests that have no other ``version``."""

    version: int
    """Ordinal of the release that the sender announces; 409 is 4.9.8, 479 is 5.3.3."""


def command(code: int, ext: Ext, body: bytes, header: HeaderFields, *, opaque: int, version: int) -> Command:
    """One command; ``opaque`` and ``version`` stand in for what ``header`` does not set."""
    return Command(
        code=int(code),
        opaque=header.get("opaque", opaque),
        flag=header.get("flag", 0),
        language=header.get("language", "JAVA"),
        version=header.get("version", version),
        remark=header.get("remark"),
        ext=None if ext is None else {name: _text(value) for name, value in ext.items()},
        body=body,
        serialization=header.get("serialization", Serialization.JSON),
    )


def request_title(code: int, about: str = "") -> str:
    """What reports call a request: ``322 QUERY_DATA_VERSION of broker-x``, or ``request 9999``."""
    return f"{request_words(int(code))} of {about}" if about else request_words(int(code))


def fields(**values: str | int | bool | None) -> dict[str, str | int | bool | None]:
    """Ext fields without those that are None."""
    return {name: value for name, value in values.items() if value is not None}


def _text(value: str | int | bool | None) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None else str(value)
