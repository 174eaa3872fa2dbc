"""Chapter lock: queues that one client of a group consumes in order (codes 41 and 42)."""

from harness.conformance import Reply, case
from harness.session import BrokerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
ERROR = ResponseCode.SYSTEM_ERROR
LIVES = 60
"""Protocol seconds for which a lock lasts without being renewed."""


def place(bk: BrokerSession) -> tuple[str, str, list[tuple[str, int]]]:
    """A group, a topic, and two queues of it."""
    topic = bk.topic()
    return bk.group(), topic, [(topic, 0), (topic, 1)]


@case(kills=["locks-are-given-to-all"])
def test_is_given_to_one_client(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, "one", queues[:1]).queues >> Reply(SUCCESS, queues[:1])
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, queues[1:])


@case(kills=["locks-are-of-no-broker"])
def test_names_broker_topic_and_queue(bk: BrokerSession) -> None:
    group, topic, queues = place(bk)
    locked = {"brokerName": bk.broker_name, "queueId": 1, "topic": topic}
    bk.lock(group, "one", queues[1:]).json >> Reply(SUCCESS, {"lockOKMQSet": [locked]})


@case(kills=["locks-are-given-once"])
def test_is_renewed_by_its_holder(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)


@case(kills=["locks-are-of-all-groups"])
def test_is_of_a_group(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.lock(bk.group(), "other", queues).queues >> Reply(SUCCESS, queues)


@case(kills=["locks-are-of-all-brokers"])
def test_is_of_a_broker_name(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.lock(group, "other", queues, broker=bk.name("broker")).queues >> Reply(SUCCESS, queues)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [])


@case(kills=["locks-are-not-given-up", "one-lock-is-given-up"])
def test_is_given_up_by_its_holder(bk: BrokerSession) -> None:
    group, topic, queues = place(bk)
    third = (topic, 2)
    bk.lock(group, "one", [*queues, third]).queues >> Reply(SUCCESS, [*queues, third])
    bk.unlock(group, "one", queues) >> Reply(SUCCESS)
    bk.lock(group, "other", [*queues, third]).queues >> Reply(SUCCESS, queues)


@case(kills=["anybody-gives-up-locks"])
def test_is_not_given_up_by_others(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.unlock(group, "other", queues) >> Reply(SUCCESS)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [])


@case(kills=["locks-last-for-ever", "locks-last-for-half-a-minute"], clock=True)
def test_is_over_after_a_minute(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    locked = bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
    bk.advance_short_of(LIVES, since=locked)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [])
    bk.advance_past(LIVES, since=locked)
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, queues)


@case(kills=["locks-last-from-the-first-request", "whole-groups-are-renewed"], clock=True)
def test_lasts_from_its_renewal(bk: BrokerSession) -> None:
    group, topic, queues = place(bk)
    left, *renewed = [*queues, (topic, 2)]
    bk.lock(group, "one", [left, *renewed]).queues >> Reply(SUCCESS, [left, *renewed])
    bk.advance(LIVES / 2)
    again = bk.lock(group, "one", renewed).queues >> Reply(SUCCESS, renewed)
    bk.advance_short_of(LIVES, since=again)
    bk.lock(group, "other", [left, *renewed]).queues >> Reply(SUCCESS, [left])
    bk.advance_past(LIVES, since=again)
    bk.lock(group, "third", renewed).queues >> Reply(SUCCESS, renewed)


@case(kills=["locks-need-a-topic"])
def test_needs_no_queue(bk: BrokerSession) -> None:
    queue = (bk.name("T"), 7)
    bk.lock(bk.group(), "one", [queue]).queues >> Reply(SUCCESS, [queue])


@case(kills=["no-locks-are-no-answer"])
def test_of_nothing_is_an_empty_list(bk: BrokerSession) -> None:
    bk.lock(bk.group(), "one", []).queues >> Reply(SUCCESS, [])


@case(kills=["locks-need-no-group", "locks-need-no-client", "locks-beside-others-need-no-client"])
def test_without_group_or_client_is_refused(bk: BrokerSession) -> None:
    group, other, queue = bk.group(), bk.group(), (bk.topic(), 1)
    bk.lock(None, "one", [queue]) >> Reply(ERROR)
    bk.unlock(None, "one", [queue]) >> Reply(ERROR)
    bk.lock(group, None, [queue]) >> Reply(ERROR)
    bk.lock(other, "one", [queue]).queues >> Reply(SUCCESS, [queue])
    held = queue[0], 2
    bk.lock(other, "one", [held]).queues >> Reply(SUCCESS, [held])
    bk.lock(other, None, [held, (queue[0], 3)]) >> Reply(ERROR)


@case(kills=["refused-locks-stay"])
def test_refused_request_locks_nothing(bk: BrokerSession) -> None:
    group, _, queues = place(bk)
    bk.lock(group, None, queues) >> Reply(ERROR)
    bk.lock(group, "one", queues).queues >> Reply(SUCCESS, queues)
