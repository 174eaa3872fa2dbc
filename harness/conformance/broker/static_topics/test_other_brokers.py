"""Chapter static-topics: mapped queues that were, or go on, on another Broker."""

from typing import NamedTuple

from harness.conformance import ABSENT, AnyOf, Including, Matching, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, announcement_of, of_topic
from harness.conformance.broker.static_topics.mappings import NOT_LEADER, item, mapping, mapping_of, put
from harness.conformance.broker.tools import ERROR, SUCCESS
from harness.session import BrokerSession, NameServerView, ReceivedExchange, meanwhile
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, ClusterInfo

CLUSTER = RequestCode.GET_BROKER_CLUSTER_INFO
PULL = RequestCode.PULL_MESSAGE
COMMIT = RequestCode.UPDATE_CONSUMER_OFFSET
COMMITTED = RequestCode.QUERY_CONSUMER_OFFSET
LEAST = RequestCode.GET_MIN_OFFSET
GREATEST = RequestCode.GET_MAX_OFFSET
SEARCH = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
EARLIEST = RequestCode.GET_EARLIEST_MSG_STORETIME
NOT_FOUND = ResponseCode.PULL_NOT_FOUND
OTHER = {"unused": "{nameserver2}"}
"""A second NameServer of the harness is the other Broker."""
FORWARDING = 3
"""Protocol seconds for which another Broker is waited for: `forwardTimeout`."""
BODY = "räumlich".encode() * 8_000
"""More than 64 KiB. No consumer reads from it."""


class Moved(NamedTuple):
    """A topic whose queue 2 was in queues 3 and 1 of another Broker, from 0 and from 50 on, and goes on in
    queue 0 of this Broker at 100. What is 50 is at offset 7 of queue 1.
    """

    topic: str
    to: str
    """The name of the other Broker."""
    other: NameServerView


def moved(bk: BrokerSession, code: int = SUCCESS) -> Moved:
    """When the Broker has been told twice where the other one is, with this code."""
    topic, to, other = bk.name("static"), bk.name("other"), bk.nameservers[1]
    items = [item(bk, 3, broker=to, end=4), item(bk, 1, 50, gen=1, start=7, broker=to)]
    items.append(item(bk, 0, 100, gen=2))
    tell_masters(bk, to, code)
    put(bk, mapping(bk, topic, {2: items})) >> Reply(SUCCESS)
    hear_twice(bk)
    return Moved(topic, to, other)


def tell_masters(bk: BrokerSession, to: str, code: int = SUCCESS, at: int = 1) -> None:
    """The NameServer says, behind one more Broker, at which of the harness's NameServers the one with this
    name is.
    """
    addresses = {0: bk.nameservers[at].address, 1: "192.0.2.1:1"}
    brokers = {f"another-{to}": {0: "192.0.2.1:1"}, to: addresses}
    told = ClusterInfo({name: BrokerData(broker_addrs=at, broker_name=name) for name, at in brokers.items()})
    bk.nameserver.answers(CLUSTER, code, body=told.encode())


def hear_twice(bk: BrokerSession, at: int = 0) -> None:
    """The Broker asks where the others are, and once more: it has taken the first answer."""
    server = bk.nameservers[at]
    asked = server.next(CLUSTER, since=bk.mark(), within=15 + bk.jitter) >> Request(CLUSTER)
    server.next(CLUSTER, since=asked, within=10 + bk.jitter) >> Request(CLUSTER)


def bounds(following: int, low: int, high: int) -> dict[str, str | None]:
    """What a Broker says of its queue in the answer to a pull."""
    return {
        "suggestWhichBrokerId": "0",
        "nextBeginOffset": str(following),
        "minOffset": str(low),
        "maxOffset": str(high),
    }


def heard(one: Moved, code: int, within: float | None = None) -> ReceivedExchange:
    """The next request about the topic that the other Broker gets."""
    return one.other.next(code, within=within, where=of_topic(one.topic))


def forwarded(one: Moved, queue: int, **more: object) -> object:
    """The ext fields of a request as the other Broker gets it."""
    return Including({"topic": one.topic, "bname": one.to, "lo": "false", "queueId": str(queue), **more})


@case(
    kills=[
        "other-brokers-are-not-pulled-from",
        "other-brokers-hear-mapped-offsets",
        "one-other-broker-is-known",
        "other-brokers-hear-signatures",
    ],
    clock=True,
    setup=OTHER,
)
def test_pulls_read_other_brokers(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(PULL, ext=bounds(11, 8, 12), body=BODY)
    told = {"nextBeginOffset": "54", "minOffset": "51", "maxOffset": "100", "offsetDelta": "43"}
    signed = {"AccessKey": "key", "Signature": "of the client"}
    pulled = bk.pull(one.topic, 2, 52, suspend=60, sys_flag=5, commit=51, ext=signed)
    pulled >> Reply(SUCCESS, ext=Including(told), body=BODY)
    unsigned = dict.fromkeys(signed, ABSENT)
    sent = forwarded(one, 1, queueOffset="9", maxMsgNums="32", sysFlag="4", **unsigned)
    heard(one, PULL) >> Request(PULL, ext=sent)
    one.other.answers(PULL, ext=bounds(4, 1, 5), body=BODY)
    told = {"nextBeginOffset": "4", "minOffset": "1", "maxOffset": "100", "offsetDelta": "0"}
    bk.pull(one.topic, 2, 3) >> Reply(SUCCESS, ext=Including(told), body=BODY)
    heard(one, PULL) >> Request(PULL, ext=forwarded(one, 3, queueOffset="3", maxMsgNums="4"))


@case(kills=["errors-say-where-brokers-are"], clock=True, setup=OTHER)
def test_error_says_of_no_broker_where_it_is(bk: BrokerSession) -> None:
    one = moved(bk, ERROR)
    one.other.answers(LEAST, ext={"offset": "2"})
    bk.min_offset(one.topic, 2) >> Reply(ERROR)
    tell_masters(bk, one.to)
    hear_twice(bk)
    bk.min_offset(one.topic, 2).offset >> Reply(SUCCESS, 2)


@case(kills=["other-brokers-have-three-seconds"], clock=True, setup={**OTHER, "forwardTimeout": "20000"})
def test_other_broker_is_waited_for_as_long_as_it_is_set(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.ignores(LEAST)
    least = bk.min_offset(one.topic, 2, on=bk.connect())
    meanwhile(least, 2 * FORWARDING + bk.jitter) >> Silence()
    bk.advance(20 + bk.jitter)
    least >> Reply(ERROR)


@case(kills=["masters-of-other-brokers-stay"], clock=True, setup=OTHER)
def test_master_that_moves_is_asked_where_it_is(bk: BrokerSession) -> None:
    one = moved(bk)
    for where, least in ((1, 2), (0, 3), (1, 2)):
        bk.nameservers[where].answers(LEAST, ext={"offset": str(least)})
        tell_masters(bk, one.to, at=where)
        hear_twice(bk)
        bk.min_offset(one.topic, 2).offset >> Reply(SUCCESS, least)


def has_least(bk: BrokerSession, one: Moved, offset: int) -> None:
    """The other Broker is asked for the least offset of the topic, and its answer is passed on."""
    bk.min_offset(one.topic, 2).offset >> Reply(SUCCESS, offset)
    heard(one, LEAST) >> Request(LEAST, ext=forwarded(one, 3))


@case(kills=["slaves-pass-for-masters", "masters-that-became-slaves-are-asked"], clock=True, setup=OTHER)
def test_slave_of_another_broker_is_not_asked(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(LEAST, ext={"offset": "2"})
    has_least(bk, one, 2)
    addresses = {1: one.other.address, 2: "192.0.2.1:1"}
    told = ClusterInfo({one.to: BrokerData(broker_addrs=addresses, broker_name=one.to)})
    bk.nameserver.answers(CLUSTER, body=told.encode())
    hear_twice(bk)
    bk.min_offset(one.topic, 2) >> Reply(ERROR)
    heard(one, LEAST, 1) >> Silence()
    tell_masters(bk, one.to)
    hear_twice(bk)
    has_least(bk, one, 2)


@case(kills=["masters-are-forgotten-with-each-answer"], clock=True, setup=OTHER)
def test_master_that_a_nameserver_loses_is_asked(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(LEAST, ext={"offset": "2"})
    third = bk.name("third")
    for names in ((), (third,)):
        table = {name: BrokerData(broker_addrs={0: "192.0.2.1:1"}, broker_name=name) for name in names}
        bk.nameserver.answers(CLUSTER, body=ClusterInfo(table).encode())
        hear_twice(bk)
        has_least(bk, one, 2)


@case(kills=["restarts-end-the-search-for-masters"], clock=True, own_server=True, setup=OTHER)
def test_other_broker_is_asked_after_a_restart(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(LEAST, ext={"offset": "2"})
    bk.restart()
    hear_twice(bk)
    has_least(bk, one, 2)


@case(
    kills=["masters-are-asked-of-the-first-nameserver"],
    clock=True,
    setup={"namesrvAddr": "{nameserver};{nameserver2}"},
)
def test_masters_are_asked_of_the_next_nameserver(bk: BrokerSession) -> None:
    topic, to = bk.name("static"), bk.name("other")
    put(bk, mapping(bk, topic, {2: [item(bk, 3, broker=to, end=4), item(bk, 0, 100, gen=1)]})) >> Reply(
        SUCCESS
    )
    for number, least in ((0, 2), (1, 3), (0, 1)):
        up, down = bk.nameservers[number], bk.nameservers[1 - number]
        up.comes_up()
        down.goes_down()
        told = ClusterInfo({to: BrokerData(broker_addrs={0: up.address}, broker_name=to)})
        up.answers(CLUSTER, body=told.encode())
        up.answers(LEAST, ext={"offset": str(least)})
        hear_twice(bk, at=number)
        bk.min_offset(topic, 2).offset >> Reply(SUCCESS, least)


@case(kills=["queues-of-other-brokers-end"], clock=True, setup=OTHER)
def test_pull_at_the_end_on_another_broker_goes_on(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(PULL, NOT_FOUND, ext=bounds(4, 0, 4), remark="OFFSET_OVERFLOW_ONE")
    for offset, begin in ((4, 50), (54, 100)):
        pull = bk.pull(one.topic, 2, offset, suspend=60)
        pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, begin, remark=ABSENT)
    bk.pull(one.topic, 2, 100).next_offset >> Reply(NOT_FOUND, 100, remark=ABSENT)


@case(kills=["failures-of-other-brokers-are-answers"], clock=True, setup=OTHER)
def test_other_broker_that_fails_is_an_error(bk: BrokerSession) -> None:
    one, group = moved(bk), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for code in (ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SYSTEM_ERROR):
        for request in (PULL, LEAST, COMMIT, COMMITTED):
            one.other.answers(request, code, remark="no")
        bk.pull(one.topic, 2, 52) >> Reply(ERROR)
        bk.min_offset(one.topic, 2) >> Reply(ERROR)
        bk.committed(group, one.topic, 2) >> Reply(ERROR)
        bk.commit_offset(group, one.topic, 2, 52) >> Reply(ERROR)
    one.other.ignores(PULL)
    pull = bk.pull(one.topic, 2, 52, on=bk.connect())
    bk.advance(FORWARDING + bk.jitter)
    pull >> Reply(ERROR)
    unknown = bk.name("unknown")
    items = [item(bk, 3, broker=unknown), item(bk, 0, 100, gen=3)]
    put(bk, mapping(bk, one.topic, {4: items}, 8)) >> Reply(SUCCESS)
    bk.pull(one.topic, 4, 1) >> Reply(ERROR)


@case(kills=["other-brokers-hear-no-commits", "other-brokers-keep-mapped-offsets"], clock=True, setup=OTHER)
def test_commits_go_to_the_broker_of_their_part(bk: BrokerSession) -> None:
    one, group = moved(bk), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    one.other.answers(COMMIT)
    bk.commit_offset(group, one.topic, 2, 52) >> Reply(SUCCESS)
    sent = forwarded(one, 1, commitOffset="9", consumerGroup=group)
    heard(one, COMMIT) >> Request(COMMIT, ext=sent)
    bk.commit_offset(group, one.topic, 2, 101) >> Reply(SUCCESS)
    bk.committed(group, one.topic, 0, ext={"lo": "false"}).offset >> Reply(SUCCESS, 1)
    heard(one, COMMIT, 1) >> Silence()


@case(
    kills=[
        "other-brokers-know-no-commits",
        "commits-on-other-brokers-are-as-they-are",
    ],
    clock=True,
    setup=OTHER,
)
def test_committed_offsets_are_asked_of_other_brokers(bk: BrokerSession) -> None:
    one, group = moved(bk), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    one.other.answers(COMMITTED, ext={"offset": "10"})
    bk.committed(group, one.topic, 2).offset >> Reply(SUCCESS, 53)
    sent = forwarded(one, 1, consumerGroup=group, setZeroIfNotFound="false")
    heard(one, COMMITTED) >> Request(COMMITTED, ext=sent)
    one.other.answers(COMMITTED, ResponseCode.QUERY_NOT_FOUND)
    bk.committed(group, one.topic, 2) >> Reply(ResponseCode.QUERY_NOT_FOUND)
    for queue in (1, 3):
        heard(one, COMMITTED) >> Request(COMMITTED, ext=forwarded(one, queue))
    bk.commit_offset(group, one.topic, 2, 101) >> Reply(SUCCESS)
    bk.committed(group, one.topic, 2).offset >> Reply(SUCCESS, 101)
    heard(one, COMMITTED, 1) >> Silence()


def begun_here(bk: BrokerSession, one: Moved) -> Moved:
    """A topic whose queue 2 had no message in queue 3 of the other Broker, and is here from offset 1 on."""
    topic = bk.name("begun")
    items = [item(bk, 3, broker=one.to, end=0), item(bk, 0, 1, gen=1)]
    put(bk, mapping(bk, topic, {2: items})) >> Reply(SUCCESS)
    return one._replace(topic=topic)


@case(
    kills=["least-offsets-are-of-the-last-part", "empty-first-parts-have-no-least-offset"],
    clock=True,
    setup=OTHER,
)
def test_least_offset_is_that_of_the_first_part(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(LEAST, ext={"offset": "2"})
    for topic, least in ((one, 2), (begun_here(bk, one), 0)):
        bk.min_offset(topic.topic, 2).offset >> Reply(SUCCESS, least)
        heard(topic, LEAST) >> Request(LEAST, ext=forwarded(topic, 3))


@case(
    kills=["earliest-times-are-of-the-mapped-number", "empty-first-parts-have-no-earliest-time"],
    clock=True,
    setup=OTHER,
)
def test_earliest_time_is_that_of_the_first_part(bk: BrokerSession) -> None:
    one = moved(bk)
    one.other.answers(EARLIEST, ext={"timestamp": "1700000000123"})
    for topic in (one, begun_here(bk, one)):
        bk.earliest_time(topic.topic, 2) >> Reply(SUCCESS, ext={"timestamp": "1700000000123"})
        heard(topic, EARLIEST) >> Request(EARLIEST, ext=forwarded(topic, 3))


@case(kills=["other-brokers-are-not-searched"], clock=True, setup=OTHER)
def test_time_is_searched_on_other_brokers(bk: BrokerSession) -> None:
    one = moved(bk)
    bk.send(one.topic, b"100", 2).offset >> Reply(SUCCESS, 100)
    bk.max_offset(one.topic, 2).offset.eventually() >> Reply(SUCCESS, 101)
    one.other.answers(GREATEST, ext={"offset": "5"})
    one.other.answers(SEARCH, ext={"offset": "3"})
    bk.offset_at(one.topic, 2, 1700000000456).offset >> Reply(SUCCESS, 3)
    heard(one, SEARCH) >> Request(SEARCH, ext=forwarded(one, 3, timestamp="1700000000456"))


@case(kills=["other-brokers-are-asked-for-the-lower-end"], clock=True, setup=OTHER)
def test_last_message_of_a_time_is_searched_on_other_brokers(bk: BrokerSession) -> None:
    one, time = moved(bk), 1700000000456
    one.other.answers(GREATEST, ext={"offset": "5"})
    one.other.answers(LEAST, ext={"offset": "0"})
    one.other.answers(SEARCH, ext={"offset": "3"})
    bk.offset_at(one.topic, 2, time, ext={"boundaryType": "upper"}) >> Reply(SUCCESS)
    upper = forwarded(one, 1, timestamp=str(time), boundaryType=Matching("^(?i:upper)$"))
    lower = forwarded(one, 1, timestamp=str(time + 1), boundaryType=Matching("^(?i:lower)$"))
    is_of_topic = of_topic(one.topic)
    there = one.other.next(
        SEARCH, where=lambda asked: is_of_topic(asked) and (asked.ext or {}).get("queueId") == "1"
    )
    there >> AnyOf(Request(SEARCH, ext=upper), Request(SEARCH, ext=lower))


@case(
    "bk.static-topics.last-message-of-a-time-is-searched-in-all-parts",
    kills=["other-brokers-have-no-last-times"],
    clock=True,
    setup=OTHER,
)
def test_last_message_of_a_time_is_on_another_broker(bk: BrokerSession) -> None:
    """The part from 50 on begins at 7 there, where 8 is the first message left."""
    one, time = moved(bk), 1700000000456
    one.other.answers(GREATEST, ext={"offset": "12"})
    one.other.answers(LEAST, ext={"offset": "8"})
    one.other.answers(SEARCH, ext={"offset": "9"})
    found = bk.offset_at(one.topic, 2, time, ext={"boundaryType": "upper"}).offset
    # 9 is the first message that is later, or the last one that is not.
    found >> AnyOf(Reply(SUCCESS, 51), Reply(SUCCESS, 52))


@case(kills=["leaders-without-an-offset-take-nothing", "offsets-of-leaders-stay-unknown"])
def test_new_leader_takes_messages_before_its_offset_is_known(bk: BrokerSession) -> None:
    topic, to = bk.name("static"), bk.name("other")
    old = item(bk, 3, broker=to)
    put(bk, mapping(bk, topic, {2: [old, item(bk, 1, -1, gen=1)]})) >> Reply(SUCCESS)
    bk.send(topic, b"early", 2) >> Reply(SUCCESS, ext=Including({"queueId": "2", "queueOffset": "-1"}))
    put(bk, mapping(bk, topic, {2: [old, item(bk, 1, 100, gen=1)]})) >> Reply(SUCCESS)
    bk.send(topic, b"late", 2).offset >> Reply(SUCCESS, 101)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 102)
    bk.pull(topic, 2, 100).bodies.eventually() >> Reply(SUCCESS, [b"early", b"late"])


@case(kills=["old-leaders-go-on", "old-leaders-lose-their-messages"])
def test_old_leader_refuses_and_keeps_what_it_has(bk: BrokerSession) -> None:
    topic, to = bk.name("static"), bk.name("other")
    put(bk, mapping(bk, topic, {2: [item(bk, 1)], 4: [item(bk, 0)]})) >> Reply(SUCCESS)
    for body in (b"0", b"1"):
        bk.send(topic, body, 2) >> Reply(SUCCESS)
    items = [item(bk, 1), item(bk, 3, -1, gen=1, broker=to)]
    put(bk, mapping(bk, topic, {2: items, 4: [item(bk, 0)]}, 8)) >> Reply(SUCCESS)
    for epoch, led in ((7, {"2": 1, "4": 0}), (8, {"4": 0})):
        announced = bk.nameserver.next(REGISTER, where=announcement_of(topic)).seen_as(mapping_of(topic))
        announced >> Request(REGISTER, Including({"currIdMap": led, "epoch": epoch}))
    bk.send(topic, b"lost", 2) >> Reply(NOT_LEADER)
    bk.max_offset(topic, 2) >> Reply(NOT_LEADER)
    bk.pull(topic, 2) >> Reply(NOT_LEADER)
    own = {"lo": "false"}
    bk.pull(topic, 1, ext=own).bodies.eventually() >> Reply(SUCCESS, [b"0", b"1"])
    bk.max_offset(topic, 1, ext=own).offset >> Reply(SUCCESS, 2)


@case(kills=["held-pulls-keep-their-queue"], clock=True)
def test_held_pull_is_refused_when_its_queue_goes(bk: BrokerSession) -> None:
    topic, to = bk.name("static"), bk.name("other")
    put(bk, mapping(bk, topic, {2: [item(bk, 1)]})) >> Reply(SUCCESS)
    pull = bk.pull(topic, 2, suspend=10, on=bk.connect())
    items = [item(bk, 1), item(bk, 3, -1, gen=1, broker=to)]
    put(bk, mapping(bk, topic, {2: items}, 8)) >> Reply(SUCCESS)
    bk.advance(15 + bk.jitter)
    pull >> Reply(NOT_LEADER)
