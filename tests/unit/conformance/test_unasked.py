"""Responses that answer nothing: which are wrong, which are late, and which cannot be judged."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.conformance.unasked import unasked_response
from harness.session.outcome import OTHER_OPAQUE, REQUEST, UnsolicitedFrame
from harness.trace import Event, Received, Sent
from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, Command, decode, encode


def frame(opaque: int, flag: int = 0) -> bytes:
    return encode(Command(code=0 if flag == FLAG_RESPONSE else 106, opaque=opaque, flag=flag))


def sent(data: bytes, connection: int = 0) -> Sent:
    return Sent(real=0, protocol=0, connection=connection, data=data)


def received(*opaques: int, connection: int = 0) -> Received:
    data = b"".join(frame(one, FLAG_RESPONSE) for one in opaques)
    return Received(real=0, protocol=0, connection=connection, data=data)


def session(*events: Event, stray: int, why: str = OTHER_OPAQUE) -> Any:
    """One whose last event brought a frame with that opaque, which no request awaits."""
    response = frame(stray, FLAG_RESPONSE)
    unsolicited = UnsolicitedFrame(why, decode(response), response, len(events) - 1)
    return SimpleNamespace(strays=((0, unsolicited),), trace=SimpleNamespace(events=events))


@pytest.mark.parametrize(
    ("before", "words", "change"),
    [
        ([sent(frame(7)), received(7, 7)], "more than there were requests", "repeated"),
        ([sent(frame(7)), received(7), received(7)], "more than there were requests", "repeated"),
        ([sent(frame(7, FLAG_ONEWAY)), received(7)], "to a one-way request", "repeated"),
        ([sent(frame(8)), received(7)], "to no request", "added"),
        ([received(7)], "to no request", "added"),
        ([sent(frame(7), connection=1), received(7)], "to no request", "added"),
    ],
)
def test_what_answers_nothing_is_wrong(before: list[Event], words: str, change: str) -> None:
    found = unasked_response(session(*before, stray=7))
    assert found is not None
    assert words in found.actual
    assert found.wrong.change == change


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([sent(frame(7)), received(7)], id="late"),
        pytest.param([sent(frame(7) + frame(7)), received(7, 7)], id="equal opaques"),
        pytest.param([sent(b"PROXY UNKNOWN\r\n" + frame(7)), received(7, 7)], id="bytes before the frame"),
        pytest.param([sent(frame(8)[:-1] + b"?"), received(7)], id="an unreadable header"),
        pytest.param([sent(frame(7)), received(7), sent(frame(7)), received(7)], id="used again"),
    ],
)
def test_what_may_be_an_answer_is_not_judged(before: list[Event]) -> None:
    assert unasked_response(session(*before, stray=7)) is None


def test_requests_of_the_server_are_judged_by_their_own_statements() -> None:
    assert unasked_response(session(received(7), stray=7, why=REQUEST)) is None
