"""Which requests a fault happens to, as a test says it, with clear errors."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias, TypedDict

from harness.wire import RequestCode, ResponseCode
from reference_impl.serve.faults import WORDS, Selector

Code: TypeAlias = str | int
"""A request code by number, by name, or a word for several ("send")."""

_LEAST_CODE: Final = -(2**31)
_MOST_CODE: Final = 2**31 - 1
_WORDS: Final = ", ".join(WORDS)
_ANSWERS: Final = {code.name: code.value for code in ResponseCode}
_REQUESTS: Final = {code.name: code.value for code in RequestCode}


class Where(TypedDict, total=False):
    """What selects a request, beside its code."""

    topic: str
    queue: int
    group: str
    """Of producers or of consumers."""
    client: str
    """Its id, which Brokers know from its first heartbeat on."""
    server: str
    """ "broker-a" or "broker-a-0", "nameserver" or "nameserver-0"."""
    times: int
    """How many requests meet the fault; without it, all do until it ends."""


class Which(Where, total=False):
    """What selects a request."""

    code: Code | Collection[Code]
    """Without it, every request that is about a topic or a group."""


def selector(which: Mapping[str, Any]) -> Selector:
    """The selector of what a test gives. Raises TypeError and ValueError."""
    wanted = {name: which.get(name) for name in ("topic", "queue", "group", "client", "server")}
    for name, value in wanted.items():
        kind = int if name == "queue" else str
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise TypeError(f"{name}={value!r}: expected {'a number' if kind is int else 'a text'}")
    times = which.get("times")
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise ValueError(f"times={times!r}: expected a number from 1, or no times for all until it ends")
    code = which.get("code")
    return Selector(codes=None if code is None else codes(code), **wanted)


def codes(given: Code | Collection[Code]) -> frozenset[int]:
    """Request codes. Raises ValueError."""
    if isinstance(given, str | int):
        return _codes(given)
    return frozenset().union(*map(_codes, given))


def _codes(given: Code) -> frozenset[int]:
    if isinstance(given, int):
        return frozenset({int(given)})
    if given in WORDS:
        return WORDS[given]
    if given in _REQUESTS:
        return frozenset({_REQUESTS[given]})
    if given in _ANSWERS:
        raise ValueError(f"code={given!r} is the code of an answer, expected a request's: {_expected()}")
    raise ValueError(f"code={given!r}: expected {_expected()}{_near(given, [*WORDS, *_REQUESTS])}")


def answer_code(given: Code) -> int:
    """The code of an answer. Raises ValueError."""
    if isinstance(given, int):
        if not _LEAST_CODE <= given <= _MOST_CODE:
            raise ValueError(f"answer={given}: expected a number from {_LEAST_CODE} to {_MOST_CODE}")
        return int(given)
    if given in _ANSWERS:
        return _ANSWERS[given]
    raise ValueError(
        f"answer={given!r}: expected the number or name of a response code, as 2 or 'SYSTEM_BUSY'"
        f"{_near(given, list(_ANSWERS))}"
    )


def _expected() -> str:
    return f"the number or name of a request, as 310 or 'SEND_MESSAGE_V2', or one of {_WORDS}"


def _near(given: str, known: list[str]) -> str:
    near = difflib.get_close_matches(given.upper(), known, 1) or difflib.get_close_matches(given, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
