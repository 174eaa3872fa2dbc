"""Chapter registration: topics that come and change, and registrations in parts."""

from harness.conformance import Between, Including, Reply, Request, Silence, case
from harness.conformance.broker.registrations import (
    REGISTER,
    all_topics,
    all_topics_with,
    announcement_of,
    next_of_time,
    of_topic,
    with_topic,
)
from harness.conformance.broker.tools import as_json
from harness.conformance.broker.topics.topics import create_topics
from harness.session import BrokerSession, ReceivedExchange
from harness.session.exchange import View
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
NAMES = View("names of topics", lambda reply: sorted(as_json(reply)["topicConfigTable"]))
ONE_TOPIC = RequestCode.REGISTER_TOPIC_IN_NAMESRV
CHUNK = 6
SPLIT = {"enableSplitRegistration": "true", "splitRegistrationSize": str(CHUNK), "forceRegister": "false"}
SINGLE = {"enableSingleTopicRegister": "true"}
SINGLE_AND_RESTRICTED = {"enableSingleTopicRegister": "true", "brokerPermission": "4"}


@case(kills=["new-topic-49-is-announced-alone", "new-topic-49-is-announced-twice"], clock=True)
def test_new_topic_is_announced_with_all(bk: BrokerSession) -> None:
    topic = bk.name("T")
    next_of_time(bk)
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic))
    heard >> Request(REGISTER, flag=FLAG_ONEWAY)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))
    heard.topic("TBW102") >> Request(REGISTER, (8, 8, 7))
    counter = (heard.counter >> Request(REGISTER)).value

    def is_same_table(command: Command) -> bool:
        table = as_json(command)["topicConfigSerializeWrapper"]
        return with_topic(topic)(command) and table["dataVersion"]["counter"] == counter

    bk.nameserver.next(REGISTER, within=5, where=is_same_table) >> Silence()


@case(kills=["new-topic-53-is-announced-with-all"])
def test_new_topic_is_announced_by_itself(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic))
    heard >> Request(REGISTER, flag=0)
    heard.topics >> Request(REGISTER, {topic: (4, 4, 6)})


@case(kills=["new-topic-keeps-the-data-version"])
def test_new_topic_raises_the_data_version(bk: BrokerSession) -> None:
    topics = [bk.name("T"), bk.name("T")]
    for topic in topics:
        bk.send(topic) >> Reply(SUCCESS)
    before = bk.nameserver.next(REGISTER, where=with_topic(topics[0])).counter >> Request(REGISTER)
    after = bk.nameserver.next(REGISTER, where=with_topic(topics[1]))
    after.counter_above(before.value) >> Request(REGISTER, True)


@case(kills=["table-without-new-topics"], clock=True)
def test_new_topic_stays_announced(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter, where=all_topics)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))


def chunks(bk: BrokerSession) -> list[ReceivedExchange]:
    """The three parts of a registration, the rest last.

    Not that of the start: 5.x sends no part of it to a NameServer that it is not connected to yet.
    """
    bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter) >> Request(REGISTER)
    bk.advance(5)  # the other parts of it have come
    whole = bk.mark()
    return [bk.nameserver.next(REGISTER, since=whole, within=30 + bk.jitter) for _ in range(3)]


@case(
    kills=["split-registrations-are-whole", "last-chunk-is-left-out", "chunks-lack-the-first-topic"],
    clock=True,
    setup=SPLIT,
)
def test_is_split_into_chunks(bk: BrokerSession) -> None:
    parts = first, second, rest = chunks(bk)
    first.number_of_topics >> Request(REGISTER, CHUNK)
    second.number_of_topics >> Request(REGISTER, CHUNK)
    rest.number_of_topics >> Request(REGISTER, Between(0, CHUNK - 1))
    registered = [name for part in parts for name in (part.topics >> Request(REGISTER)).value]
    bk.topics().seen_as(NAMES) >> Reply(SUCCESS, sorted(registered))


@case(kills=["chunks-share-their-data-version"], clock=True, setup=SPLIT)
def test_chunks_raise_the_data_version(bk: BrokerSession) -> None:
    first, second, rest = chunks(bk)
    before = first.counter >> Request(REGISTER)
    second.counter >> Request(REGISTER, before.value + 1)
    rest.counter >> Request(REGISTER, before.value + 2)


@case(kills=["chunks-have-data-versions-of-their-own"], clock=True, setup=SPLIT)
def test_chunks_share_the_data_version(bk: BrokerSession) -> None:
    first, second, rest = chunks(bk)
    version = first.counter >> Request(REGISTER)
    second.counter >> Request(REGISTER, version.value)
    rest.counter >> Request(REGISTER, version.value)


def is_empty(command: Command) -> bool:
    return b'"topicConfigTable":{}' in command.body


def is_filled(command: Command) -> bool:
    return not is_empty(command)


@case(kills=["last-chunk-comes-twice"], clock=True, setup={**SPLIT, "splitRegistrationSize": "1"})
def test_remainder_may_be_empty(bk: BrokerSession) -> None:
    filled = bk.nameserver.next(REGISTER, since=bk.mark(), within=40 + bk.jitter, where=is_filled)
    filled.number_of_topics >> Request(REGISTER, 1)
    for _ in range(2):  # the next registration may follow that of the start after 10 s
        rest = bk.nameserver.next(REGISTER, since=bk.mark(), within=40 + bk.jitter, where=is_empty)
        heard = rest >> Request(REGISTER)
        bk.advance(5)
    bk.nameserver.next(REGISTER, since=heard, within=10, where=is_empty) >> Silence()


@case(kills=["split-registrations-ask-first"], clock=True, setup=SPLIT)
def test_split_is_sent_without_asking(bk: BrokerSession) -> None:
    mark = bk.mark()
    bk.nameserver.next(REGISTER, since=mark, within=30 + bk.jitter) >> Request(REGISTER)
    bk.nameserver.next(RequestCode.QUERY_DATA_VERSION, since=mark, within=35) >> Silence()


def queues_of(
    bk: BrokerSession, number: int, perm: int = 6, *, writable: int | None = None, flag: int = 0
) -> object:
    """The queue data of one topic of the Broker in a route."""
    queue = {
        "brokerName": bk.broker_name,
        "readQueueNums": number,
        "writeQueueNums": number if writable is None else writable,
        "perm": perm,
        "topicSysFlag": flag,
    }
    return Including({"queueDatas": [Including(queue)], "brokerDatas": []})


def sized(topic: str, number: int) -> dict[str, object]:
    """A topic of this many queues in a list of topics."""
    return {"topicName": topic, "readQueueNums": number, "writeQueueNums": number}


@case(kills=["single-topics-are-registered-with-the-broker", "single-topic-has-no-queues"], setup=SINGLE)
def test_new_topic_is_registered_singly(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.send(topic) >> Reply(SUCCESS)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard >> Request(ONE_TOPIC, flag=0)
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 4))
    bk.nameserver.next(REGISTER, where=announcement_of(topic)) >> Silence()


@case(
    kills=["administered-topics-are-registered-with-the-broker", "only-the-first-topic-is-registered-singly"],
    setup=SINGLE,
)
def test_changed_topic_is_registered_singly(bk: BrokerSession) -> None:
    topic = bk.topic(queues=2)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 2))
    bk.create_topic(topic, 3, write_queues=7, ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 3, writable=7, flag=2))
    both = {topic: 5, bk.name("U"): 2}
    create_topics(bk, *(sized(name, number) for name, number in both.items())) >> Reply(SUCCESS)
    for name, number in both.items():
        heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(name))
        heard.json >> Request(ONE_TOPIC, queues_of(bk, number))


@case(kills=["single-topics-are-all"], clock=True, setup=SINGLE)
def test_single_topic_joins_the_table(bk: BrokerSession) -> None:
    topic = bk.topic()
    heard = bk.nameserver.next(REGISTER, since=bk.mark(), within=30 + bk.jitter, where=all_topics_with(topic))
    heard.topic(topic) >> Request(REGISTER, (4, 4, 6))


@case(kills=["single-topic-has-its-own-permission"], setup=SINGLE_AND_RESTRICTED)
def test_single_topic_has_what_both_allow(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.create_topic(topic, 2, write_queues=3, ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    heard = bk.nameserver.next(ONE_TOPIC, where=of_topic(topic))
    heard.json >> Request(ONE_TOPIC, queues_of(bk, 2, perm=4, writable=3, flag=2))


@case(
    "bk.registration.changed-permission-is-announced-at-once",
    "bk.registration.change-of-permission-takes-no-order",
    kills=[
        "changed-permission-is-not-announced",
        "changes-of-permission-wait",
        "changes-of-permission-take-the-order",
    ],
    clock=True,
    own_server=True,
    setup={"registerNameServerPeriod": "60000"},
)
def test_change_of_permission(bk: BrokerSession) -> None:
    """A Broker whose permission changes registers at once, and takes no order of topics from the answer."""
    topic = bk.topic()
    first = next_of_time(bk, period=70)
    regular = bk.nameserver.next(REGISTER, since=first, within=70 + bk.jitter, where=all_topics)
    before = regular.counter >> Request(REGISTER)
    bk.nameserver.answers(REGISTER, body=b'{"table":{"%s":"probed:4"}}' % topic.encode())
    changed = bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, since=changed, within=10 + bk.jitter, where=all_topics)
    heard.topic(topic) >> Request(REGISTER, (4, 4, 4))
    heard.counter_above(before.value or 0) >> Request(REGISTER, True)
    bk.advance(2)
    bk.nameserver.behaves()
    unordered = Including({topic: Including({"order": False})})
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": unordered}))
