"""The model of filters by SQL92, pops and recalls: what is not known for certain is not judged."""

from __future__ import annotations

from harness.program.broker import steps as bk
from harness.program.broker.filters import Compare, Unreadable
from harness.program.broker.optional_steps import Allow, Check, Pop, Recall
from harness.program.step import Restart
from harness.spec.observation import Answered, Unanswered

from .test_tracker import Broker, answer, stored

FIVE = Compare("a", "=", 5)
PULL = bk.Pull(filter=FIVE)
RED, BLUE = bk.Send(said=(("a", "5"),)), bk.Send(message="m1", said=(("a", "x"),))
ENDS = {"nextBeginOffset": "2", "minOffset": "0", "maxOffset": "2"}


def with_messages(jitter: float = 0.0) -> Broker:
    """A Broker that has two messages, of which the first passes the filter."""
    broker = Broker(jitter)
    assert broker.says(RED, stored(0)) == []
    assert broker.says(BLUE, stored(1), since=0) == []
    return broker


def passing(broker: Broker) -> Answered:
    """A pull that gives the first message and passes over the second."""
    found = broker.shows(RED)
    return answer(body=found.command.body, **ENDS)


def test_whether_filters_are_on_is_unknown_until_it_was_said() -> None:
    broker = with_messages()
    assert broker.says(Check(filter=Unreadable()), answer(1)) == []
    broker.says(Allow(), answer())
    assert broker.says(Check(filter=Unreadable()), answer()) == ["filter-can-be-checked"]
    assert broker.says(Check(filter=Unreadable()), answer(23)) == []
    broker.says(Allow(allowed=False), answer())
    assert broker.says(PULL, answer(20, **ENDS)) == ["filter-is-refused-where-it-is-off"]
    assert broker.says(PULL, answer(1)) == []
    broker.says(Restart(how="term"), None)
    assert broker.says(Check(filter=Unreadable()), answer(1)) == []


def test_a_setting_that_was_not_answered_may_be_either() -> None:
    broker = with_messages()
    broker.says(Allow(), answer())
    assert broker.says(Allow(allowed=False), Unanswered()) == []
    assert broker.says(PULL, answer(20, **ENDS)) == ["filter-decides"]
    assert broker.says(Check(), answer(1)) == []
    assert broker.says(Allow(), answer(1)) == ["settings-change"]


def test_a_pull_with_a_filter_gets_what_passes_and_no_more() -> None:
    broker = with_messages()
    broker.says(Allow(), answer())
    assert broker.says(PULL, passing(broker)) == []
    assert broker.says(PULL, broker.shows(RED, BLUE)) == ["filter-decides"]
    assert broker.says(PULL, answer(20, **ENDS)) == ["filter-decides"]


def test_a_message_that_may_not_be_shown_yet_may_be_missing() -> None:
    broker = with_messages(jitter=5.0)
    broker.says(Allow(), answer())
    assert broker.says(PULL, answer(20, **ENDS)) == []
    broker.passes(20)
    assert broker.says(PULL, answer(20, **ENDS)) == ["filter-decides"]


def test_a_pop_gives_each_message_once() -> None:
    broker = with_messages()
    assert broker.says(Pop(most=1), broker.shows(RED)) == []
    assert broker.says(Pop(), answer(210)) == ["popped-is-given-once"]
    assert broker.says(Pop(), broker.shows(RED)) == ["popped-is-given-once"]
    assert broker.says(Pop(group="h1", filter=FIVE), broker.shows(RED)) == []
    assert broker.says(Pop(group="h1"), answer(210)) == []
    assert broker.says(Pop(group="h2", filter=FIVE), broker.shows(RED, BLUE)) == ["filter-of-a-pop-decides"]
    assert broker.says(Pop(group="h3", most=1), broker.shows(RED, BLUE)) == ["pop-is-not-more-than-asked-for"]
    assert broker.says(Pop(group="h4"), answer(1)) == ["popped-is-given-once"]


def test_behind_a_pop_without_answer_or_a_start_nothing_is_known_of_the_group() -> None:
    broker = with_messages()
    assert broker.says(Pop(), Unanswered()) == []
    assert broker.says(Pop(), answer(210)) == []
    assert broker.says(Pop(group="h1"), broker.shows(RED, BLUE)) == []
    broker.says(Restart(how="term"), None)
    assert broker.says(Pop(group="h1"), broker.shows(RED, BLUE)) == []


def test_a_recall_without_a_handle_is_refused() -> None:
    broker = with_messages()
    assert broker.says(Recall(), answer(16)) == []
    broker.says(Allow(what="recalls"), answer())
    assert broker.says(Recall(), answer()) == ["handle-that-is-none-is-refused"]
    assert broker.says(Recall(), answer(604)) == []
    assert broker.says(Recall(topic="T1"), answer(604)) == ["recall-of-no-topic-is-refused"]
    broker.says(Allow(what="recalls", allowed=False), answer())
    assert broker.says(Recall(), answer(604)) == ["recall-is-refused-where-it-is-off"]


def test_a_group_says_its_filter() -> None:
    broker = with_messages()
    broker.says(Allow(), answer())
    beat, pull = bk.Beat(conn="k", groups=("g0",), filter=FIVE, version=3), bk.Pull(subscribes=False)
    broker.says(beat, answer())
    assert broker.says(pull, broker.shows(RED, BLUE)) == ["group-filter-decides"]
    assert broker.says(pull, passing(broker)) == []
    broker.says(bk.Beat(conn="k", groups=("g0",), filter=Unreadable(), version=4), answer())
    assert broker.says(pull, passing(broker)) == ["unreadable-filter-takes-the-old-away"]
    assert broker.says(pull, answer(27)) == []
    broker.says(bk.Beat(conn="k", groups=("g0",), filter=Compare(), version=2), answer())
    assert broker.says(pull, answer(20, **ENDS)) == []
