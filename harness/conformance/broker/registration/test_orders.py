"""Chapter registration: orders of topics in answers: after a change of a topic, and said once more."""

from harness.conformance import Including, Reply, Request, case
from harness.conformance.broker.registrations import (
    EVERY_SECOND,
    REGISTER,
    all_topics,
    announcement_of,
    next_of_time,
)
from harness.session import BrokerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
SELDOM = {"registerNameServerPeriod": "60000"}


def listed_topic(bk: BrokerSession) -> str:
    """A name that answers to registrations list from now on; all topics are next registered in a minute."""
    topic, first = bk.name("T"), next_of_time(bk, period=70)
    bk.nameserver.next(REGISTER, since=first, within=70 + bk.jitter, where=all_topics) >> Request(REGISTER)
    bk.nameserver.answers(REGISTER, body=b'{"table":{"%s":"probed:4"}}' % topic.encode())
    return topic


def ordered_by_announcement(bk: BrokerSession, topic: str) -> None:
    """The announcement of a topic has been answered; the topic becomes ordered."""
    bk.nameserver.next(REGISTER, where=announcement_of(topic)) >> Request(REGISTER)
    ordered = Including({topic: Including({"order": True})})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": ordered}))
    bk.nameserver.behaves()


@case(kills=["changes-of-topics-take-no-order"], clock=True, own_server=True, setup=SELDOM)
def test_change_of_a_topic_takes_the_order(bk: BrokerSession) -> None:
    topic = listed_topic(bk)
    bk.create_topic(topic) >> Reply(SUCCESS)
    ordered_by_announcement(bk, topic)


@case(kills=["changes-of-topics-take-no-order"], clock=True, own_server=True, setup=SELDOM)
def test_new_topic_takes_the_order(bk: BrokerSession) -> None:
    topic = listed_topic(bk)
    bk.send(topic) >> Reply(SUCCESS)
    ordered_by_announcement(bk, topic)


@case(
    "bk.registration.order-is-taken-over",
    kills=["first-registrations-take-no-order"],
    clock=True,
    own_server=True,
    setup=SELDOM,
)
def test_first_registration_takes_the_order(bk: BrokerSession) -> None:
    """A Broker takes over the order of topics from the answer to its first registration, too."""
    topic = bk.topic()
    bk.nameserver.next(REGISTER, where=announcement_of(topic)) >> Request(REGISTER)
    bk.nameserver.answers(REGISTER, body=b'{"table":{"%s":"probed:4"}}' % topic.encode())
    stopped = bk.mark()
    bk.advance(1)
    bk.restart()
    told = bk.nameserver.next(REGISTER, since=stopped, within=600, where=all_topics) >> Request(REGISTER)
    heard = bk.nameserver.next(REGISTER, since=told, within=70 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)


@case(kills=["known-orders-raise-the-data-version"], clock=True, own_server=True, setup=EVERY_SECOND)
def test_known_order_keeps_the_data_version(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.nameserver.answers(REGISTER, body=b'{"table":{"%s":"probed:4"}}' % topic.encode())
    told = next_of_time(bk, period=40)
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    heard.ordered(topic) >> Request(REGISTER, True)
    ordered = heard.counter >> Request(REGISTER)
    told = next_of_time(bk, ordered, 10)
    heard = bk.nameserver.next(REGISTER, since=told, within=10 + bk.jitter, where=all_topics)
    heard.counter >> Request(REGISTER, ordered.value)
