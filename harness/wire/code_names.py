"""The names of codes: NameServers and Brokers number in one space."""

from __future__ import annotations

from typing import Final

from harness.wire.codes import RequestCode, ResponseCode

_REQUESTS: Final = {one.value: one.name for one in RequestCode}
_RESPONSES: Final = {one.value: one.name for one in ResponseCode}


def request_name(code: int) -> str | None:
    """The name of a request code, or None."""
    return _REQUESTS.get(code)


def response_name(code: int) -> str | None:
    """The name of a response code, or None."""
    return _RESPONSES.get(code)


def request_words(code: int) -> str:
    """``322 QUERY_DATA_VERSION``, or ``request 9`` where there is no name for it."""
    name = request_name(code)
    return f"request {code}" if name is None else f"{code} {name}"
