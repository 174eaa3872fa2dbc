"""The model of popped messages on a late clock: it allows what may be, and no more."""

from __future__ import annotations

from harness.program.broker import steps as bk
from harness.program.broker.optional_steps import Ack, Hide, Pop
from harness.program.step import Restart
from harness.spec.broker.hidden import RECOVERY, REVIVAL, WRITTEN
from harness.spec.observation import Unanswered

from .test_tracker import Broker, answer, stored

SEND = bk.Send()
POP = Pop(hidden=60)
NONE = answer(210)
JITTER = 2.0


def popped(jitter: float = JITTER) -> Broker:
    """A Broker that has given its message to a group, two seconds after the beginning."""
    broker = Broker(jitter)
    assert broker.says(SEND, stored(0)) == []
    assert broker.says(POP, broker.shows(SEND)) == []
    return broker


def test_it_comes_again_when_its_time_is_over_give_or_take_the_jitter() -> None:
    for seconds, wrong in ((55, ["popped-is-hidden"]), (58, [])):
        broker = popped()
        broker.passes(seconds)
        assert broker.says(POP, broker.comes_again(SEND, tried=1)) == wrong


def test_it_may_be_missing_until_it_surely_came_again() -> None:
    for seconds, wrong in ((60 + REVIVAL, []), (60 + REVIVAL + 2, ["popped-returns"])):
        broker = popped()
        broker.passes(seconds)
        assert broker.says(POP, NONE) == wrong


def test_each_return_is_counted_and_it_is_the_message_that_was_sent() -> None:
    broker = popped()
    broker.passes(90)
    assert broker.says(POP, broker.comes_again(SEND, tried=2)) == ["returned-is-counted"]
    broker = popped()
    other = bk.Send(message="m7")
    assert broker.says(POP, broker.comes_again(other, tried=1, body=b"x")) == ["returned-keeps-the-message"]


def test_an_acknowledged_message_does_not_come_again() -> None:
    broker = popped()
    assert broker.says(Ack(), answer()) == []
    broker.passes(90)
    assert broker.says(POP, NONE) == []
    assert broker.says(POP, broker.comes_again(SEND, tried=1)) == ["done-with-does-not-return"]


def test_a_handle_is_taken_as_long_as_the_message_is_hidden() -> None:
    for step in (Ack(), Hide()):
        assert popped().says(step, answer(208)) == ["handle-is-taken"]
        late = popped()
        late.passes(58)
        assert late.says(step, answer(208)) == []


def test_a_request_without_an_answer_may_have_been_carried_out() -> None:
    for step in (Ack(), Hide()):
        broker = popped()
        assert broker.says(step, Unanswered()) == []
        broker.passes(100)
        assert broker.says(POP, NONE) == []
        assert broker.says(POP, broker.comes_again(SEND, tried=1)) == []


def test_it_is_hidden_from_the_last_request_on() -> None:
    broker = popped()
    broker.passes(30)
    assert broker.says(Hide(hidden=60), answer()) == []
    broker.passes(30)
    assert broker.says(POP, broker.comes_again(SEND, tried=1)) == ["popped-is-hidden"]


def test_a_start_takes_time_and_what_was_popped_just_before_is_unknown() -> None:
    for waits, seconds, wrong in (
        (WRITTEN + 3, RECOVERY, []),
        (WRITTEN + 3, RECOVERY + 5, ["popped-returns"]),
        (1, RECOVERY + 5, []),
    ):
        broker = popped()
        broker.passes(waits)
        broker.says(Restart(how="kill"), None)
        broker.passes(seconds)
        assert broker.says(POP, NONE) == wrong
