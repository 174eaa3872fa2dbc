"""Chapter role: what a slave copies from its master."""

from functools import partial

import msgspec

from harness.conformance import ABSENT, ANYTHING, Including, Matching, Pushed, Reply, Request, Silence, case
from harness.conformance.broker.registrations import REGISTER, next_of_time
from harness.conformance.broker.role.changing import (
    MASTER,
    NOTIFY,
    SLAVE,
    SUCCESS,
    slave_is_smallest,
)
from harness.conformance.broker.role.masters import TOLD, TOPICS, WRITTEN_AFTER, table_of, taken_over
from harness.session import Answer, BrokerSession, meanwhile
from harness.session.views import body_member
from harness.wire import RequestCode, ResponseCode

EXCHANGE = RequestCode.EXCHANGE_BROKER_HA_INFO
MODES = RequestCode.GET_ALL_MESSAGE_REQUEST_MODE
DELAYS = RequestCode.GET_ALL_DELAY_OFFSET
OFFSETS = RequestCode.GET_ALL_CONSUMER_OFFSET
ACTING = {**SLAVE, "enableSlaveActingMaster": "true", "unused": "{nameserver2}"}
LEVELS = body_member("offsetTable")
OFFER = {
    "masterHaAddress": Matching(r"^[^:]+:\d+$"),
    "masterAddress": Matching(r"^[^:]+:\d+$"),
    "masterFlushOffset": Matching(r"^-?\d+$"),
}


@case(kills=["master-that-is-gone-is-asked"], clock=True, setup=TOLD)
def test_slave_without_master_stops_asking(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
    told = next_of_time(bk)
    master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)
    bk.nameserver.behaves()
    told = next_of_time(bk, next_of_time(bk))
    master.next(TOPICS, since=told, within=70) >> Silence()


@case(kills=["odd-masters-end-the-asking"], clock=True, setup=TOLD)
def test_slave_passes_over_an_odd_address(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    for odd in ("192.0.2.1:x", "192.0.2.1"):
        bk.nameserver.answers(REGISTER, ext={"masterAddr": odd})
        next_of_time(bk)
        bk.advance(75)
    bk.nameserver.answers(REGISTER, ext={"masterAddr": f"{host}:{int(port) + 2}"})
    told = next_of_time(bk)
    bk.advance(75)
    master.next(TOPICS, since=told, within=15 + bk.jitter) >> Request(TOPICS)


@case(
    kills=["place-to-copy-is-not-said", "place-to-copy-is-where-clients-are"],
    setup={"brokerIP2": "127.0.0.2"},
)
def test_master_says_where_to_copy(bk: BrokerSession) -> None:
    offer = {**OFFER, "masterAddress": bk.broker_address, "masterHaAddress": Matching(r"^127\.0\.0\.2:\d+$")}
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including(offer))


@case(kills=["offers-are-answered-with-an-offer", "master-passes-an-offer-on"])
def test_master_minds_no_offer(bk: BrokerSession) -> None:
    offer = {"masterHaAddress": bk.address(), "masterAddress": bk.address(), "masterFlushOffset": "5"}
    own = Reply(SUCCESS, ext=Including({**OFFER, "masterAddress": bk.broker_address}))
    before = (bk.call(EXCHANGE) >> own).command
    bk.call(EXCHANGE, offer) >> Reply(SUCCESS, ext=ABSENT)
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=before and before.ext)


@case(kills=["master-says-how-far-it-is-now", "master-does-not-say-how-far-it-was"], own_server=True)
def test_master_says_how_far_it_was_at_its_start(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    end = bk.pull(topic).seen("end", lambda one: one.physical_offset + one.size)
    ends = (end.eventually() >> Reply(SUCCESS, [ANYTHING])).value
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including({"masterFlushOffset": "0"}))
    bk.restart()
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including({"masterFlushOffset": str(ends[0])}))


@case(kills=["slave-says-where-to-copy", "place-to-copy-is-not-said"], own_server=True, setup=SLAVE)
def test_slave_does_not_say_where_to_copy(bk: BrokerSession) -> None:
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=ABSENT)
    bk.update_config(MASTER) >> Reply(SUCCESS)
    bk.call(EXCHANGE) >> Reply(SUCCESS, ext=Including(OFFER))


@case(kills=["new-master-is-not-asked"], own_server=True, setup=ACTING)
def test_new_master_is_asked_where_to_copy(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    slave_is_smallest(bk)
    bk.call(NOTIFY, {"minBrokerId": "0", "minBrokerAddr": master.address}) >> Reply(SUCCESS)
    asked = master.next(EXCHANGE, within=10 + bk.jitter)
    asked >> Request(EXCHANGE, ext=Including({"masterHaAddress": ABSENT}), flag=0)


@case(
    kills=["new-masters-are-asked-once", "errors-of-new-masters-are-followed"],
    clock=True,
    own_server=True,
    setup=ACTING,
)
def test_new_master_that_says_nothing_is_asked_again(bk: BrokerSession) -> None:
    master, copied, other = bk.nameservers[1], bk.master(), bk.master()
    offers = [
        {"masterHaAddress": one.address, "masterAddress": master.address, "masterFlushOffset": "0"}
        for one in (copied, other)
    ]
    prepared = (
        partial(master.ignores, EXCHANGE),
        partial(master.answers, EXCHANGE, ResponseCode.SYSTEM_ERROR, ext=offers[1]),
        partial(master.answers, EXCHANGE, ext=offers[0]),
    )
    for prepare in prepared:
        prepare()
        slave_is_smallest(bk)
        bk.call(NOTIFY, {"minBrokerId": "0", "minBrokerAddr": master.address}) >> Reply(SUCCESS)
        master.next(EXCHANGE, within=10 + bk.jitter) >> Request(EXCHANGE)
        bk.advance(5)
    copied.next_report(within=15).offset >> Pushed(0)
    other.next_report(within=0) >> Silence()


@case(kills=["offers-say-who-is-asked"], clock=True, own_server=True, setup=TOLD)
def test_offer_does_not_say_who_is_asked(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    address = f"{host}:{int(port) + 2}"
    offer = {"masterHaAddress": f"{host}:1", "masterAddress": address, "masterFlushOffset": "0"}
    bk.call(EXCHANGE, offer) >> Reply(SUCCESS)
    master.next(TOPICS, within=75) >> Silence()
    bk.nameserver.answers(REGISTER, ext={"masterAddr": address})
    told = next_of_time(bk)
    master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)


def smallest_is(bk: BrokerSession, number: int) -> None:
    """Notifies a slave that this id is now the smallest of its name."""
    told = {"minBrokerId": str(number), "minBrokerAddr": "127.0.0.1:1", "haBrokerAddr": "127.0.0.1:2"}
    bk.call(NOTIFY, told) >> Reply(SUCCESS)


@case(
    kills=["new-masters-release-nothing", "new-smallest-ids-release-pulls", "new-masters-release-once"],
    own_server=True,
    setup={**ACTING, "slaveReadEnable": "true"},
)
def test_new_master_releases_pulls(bk: BrokerSession) -> None:
    slave_is_smallest(bk)
    bk.pull("BenchmarkTest") >> Reply(ResponseCode.PULL_NOT_FOUND)
    for others in ((2, 1), (1,)):
        held = [bk.pull("BenchmarkTest", queue, suspend=60, on=bk.connect()) for queue in (0, 1)]
        for number in others:
            smallest_is(bk, number)
            for pull in held:
                meanwhile(pull, 1) >> Silence()
        smallest_is(bk, 0)
        for pull in held:
            pull >> Reply(ResponseCode.PULL_NOT_FOUND, ext=Including({"suggestWhichBrokerId": "0"}))


@case(
    kills=["masters-follow-the-smallest-id"],
    setup={**MASTER, "enableSlaveActingMaster": "true", "unused": "{nameserver2}"},
)
def test_master_follows_no_smallest_id(bk: BrokerSession) -> None:
    topic, since = bk.topic(), bk.mark()
    held = bk.pull(topic, 3, suspend=60, on=bk.connect())
    for number, address in ((1, "192.0.2.1:1"), (0, bk.nameservers[1].address)):
        bk.call(NOTIFY, {"minBrokerId": str(number), "minBrokerAddr": address}) >> Reply(SUCCESS)
    meanwhile(held, 4) >> Silence()
    bk.nameservers[1].next(EXCHANGE, since=since, within=1) >> Silence()
    bk.send(topic, b"later", 3).offset >> Reply(SUCCESS, 0)
    held.bodies >> Reply(SUCCESS, [b"later"])


OFTEN = {**ACTING, "registerNameServerPeriod": "20000", "registerBrokerTimeoutMills": "1000"}
"""Apache's slave asks its master between two registrations, so these must not take long."""


def asked_master(bk: BrokerSession) -> tuple[str, Answer]:
    """The address of a master that the slave asks, of which it does not hear again; and the last request."""
    master = bk.nameservers[1]
    host, _, port = master.address.rpartition(":")
    address = f"{host}:{int(port) + 2}"
    bk.nameserver.answers(REGISTER, ext={"masterAddr": address})
    told = next_of_time(bk)
    bk.nameserver.ignores(REGISTER)
    return address, master.next(TOPICS, since=told, within=90 + bk.jitter) >> Request(TOPICS)


@case(kills=["master-that-has-left-is-asked"], clock=True, own_server=True, setup=OFTEN)
def test_master_that_has_left_is_not_asked(bk: BrokerSession) -> None:
    address, asked = asked_master(bk)
    slave_is_smallest(bk, left=address)
    bk.nameservers[1].next(TOPICS, since=asked, within=75) >> Silence()


@case(kills=["master-that-has-left-is-copied"], clock=True, own_server=True, setup=OFTEN)
def test_master_that_has_left_is_not_copied(bk: BrokerSession) -> None:
    copied, master = bk.master(), bk.address()
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master, "haServerAddr": copied.address})
    copied.next_report(within=50).offset >> Pushed(0)
    bk.nameserver.ignores(REGISTER)
    slave_is_smallest(bk, left=master)
    copied.leaves()
    copied.next_report(within=12) >> Silence()


@case(kills=["masters-leave-with-any-broker"], clock=True, own_server=True, setup=OFTEN)
def test_master_is_asked_when_another_has_left(bk: BrokerSession) -> None:
    _, asked = asked_master(bk)
    slave_is_smallest(bk, left="127.0.0.1:1")
    bk.nameservers[1].next(TOPICS, since=asked, within=90 + bk.jitter) >> Request(TOPICS)


@case(
    kills=["masters-topics-are-ignored", "masters-topics-are-not-kept", "masters-older-topics-are-ignored"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_topics(bk: BrokerSession) -> None:
    topic, first = bk.name("T"), bk.name("U")
    asked = taken_over(bk, table_of(77, first, 3))
    table = Including({first: ANYTHING, "BenchmarkTest": ABSENT})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    taken_over(bk, table_of(5, topic, 5), asked)
    made = {"readQueueNums": 5, "writeQueueNums": 6, "perm": 4, "topicFilterType": "MULTI_TAG", "order": True}
    table = Including({topic: Including(made), "BenchmarkTest": ABSENT})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": table}))
    bk.nameserver.behaves()
    bk.advance(WRITTEN_AFTER)
    bk.restart("kill")
    table = Including({topic: Including(made), "BenchmarkTest": ANYTHING})
    bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": table}))


@case(
    kills=["masters-topics-are-always-taken", "counters-of-topics-are-compared-alone"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_looks_at_the_version_of_topics(bk: BrokerSession) -> None:
    first, second, third, fourth = (bk.name(letter) for letter in "TUVW")
    asked = taken_over(bk, table_of(77, first, 5))
    shown = Including({first: ANYTHING})
    version = Including({"counter": 77, "timestamp": 1_700_000_000_077})
    whole = Including({"dataVersion": version, "topicConfigTable": shown})
    bk.topics().json.eventually() >> Reply(SUCCESS, whole)
    asked = taken_over(bk, table_of(77, second, 6), asked)
    asked = taken_over(bk, table_of(77, second, 6), asked)
    bk.topics().json >> Reply(SUCCESS, Including({"topicConfigTable": shown}))
    for name, later in ((third, 0), (fourth, 1)):
        asked = taken_over(bk, table_of(76, name, 7, later=later), asked)
        shown = Including({**dict.fromkeys((first, second, third), ABSENT), name: ANYTHING})
        bk.topics().json.eventually() >> Reply(SUCCESS, Including({"topicConfigTable": shown}))


@case(
    kills=[
        "masters-groups-are-ignored",
        "masters-groups-are-not-kept",
        "masters-offsets-are-ignored",
        "masters-offsets-are-not-kept",
        "masters-offsets-only-rise",
    ],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_groups_and_offsets(bk: BrokerSession) -> None:
    topic, group, master = bk.name("T"), bk.group(), bk.nameservers[1]
    version = {"counter": 78, "timestamp": 1_700_000_000_078, "stateVersion": 0}
    members = {"groupName": group, "retryMaxTimes": 5, "consumeEnable": False}
    groups = {"dataVersion": version, "subscriptionGroupTable": {group: members}}
    table = {f"{topic}@{group}": {"0": 5, "3": 7}}
    greater = {f"{topic}@{group}": {"0": 9, "3": 6}}
    master.answers(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, body=msgspec.json.encode(groups))
    master.answers(OFFSETS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": greater}))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = next_of_time(bk)
    code = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
    master.next(code, since=told, within=90 + bk.jitter) >> Request(code)
    taken = Including({"subscriptionGroupTable": Including({group: Including(members)})})
    bk.groups().json.eventually() >> Reply(SUCCESS, taken)
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": Including(greater)}))
    master.answers(OFFSETS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": table}))
    master.next(OFFSETS, since=bk.mark(), within=90 + bk.jitter) >> Request(OFFSETS)
    bk.offsets().json.eventually() >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))
    bk.nameserver.behaves()
    bk.advance(WRITTEN_AFTER)
    bk.restart("kill")
    bk.groups().json.eventually() >> Reply(SUCCESS, taken)
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including(table)}))


@case(
    kills=[
        "masters-modes-are-ignored",
        "masters-modes-are-added",
        "masters-null-modes-are-none",
        "masters-modes-are-not-kept",
    ],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_request_modes(bk: BrokerSession) -> None:
    master, asked = bk.nameservers[1], None
    first, second = modes_of(bk, "POP", 3), modes_of(bk, "PULL", 5)
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    for told, shown in ((first, first), (None, first), (second, second)):
        body = msgspec.json.encode({"messageRequestModeMap": told})
        master.answers(MODES, body=body.replace(b":5", b':"5"'))
        since = asked or next_of_time(bk)
        asked = master.next(MODES, since=since, within=90 + bk.jitter) >> Request(MODES)
        if told is None:  # what it made of that is sure when it asks once more
            asked = master.next(MODES, since=asked, within=90 + bk.jitter) >> Request(MODES)
        bk.request_modes().json.eventually() >> Reply(SUCCESS, {"messageRequestModeMap": shown})
    bk.nameserver.behaves()
    bk.advance(WRITTEN_AFTER)
    bk.restart("kill")
    bk.request_modes().json.eventually() >> Reply(SUCCESS, {"messageRequestModeMap": second})


def modes_of(bk: BrokerSession, mode: str, shared: int) -> dict[str, object]:
    """The mode of one group, as a master tells it."""
    topic, group = bk.name("T"), bk.group()
    one = {"consumerGroup": group, "mode": mode, "popShareQueueNum": shared, "topic": topic}
    return {topic: {group: one}}


@case(kills=["errors-of-masters-are-answers"], clock=True, own_server=True, setup=TOLD)
def test_slave_takes_nothing_from_an_error(bk: BrokerSession) -> None:
    group, master, groups = bk.group(), bk.nameservers[1], RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
    key, version = f"{bk.name('T')}@{group}", {"counter": 81, "timestamp": 1, "stateVersion": 0}
    tables: dict[int, dict[str, object]] = {
        RequestCode.GET_ALL_CONSUMER_OFFSET: {"offsetTable": {key: {"2": 6}}},
        DELAYS: {"offsetTable": {"3": 5}},
        groups: {"subscriptionGroupTable": {group: {"groupName": group}}},
    }
    for code, table in tables.items():
        body = msgspec.json.encode({"dataVersion": version, **table})
        master.answers(code, ResponseCode.SYSTEM_ERROR, remark="of a test", body=body)
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    asked = next_of_time(bk)
    for _ in range(2):  # when they come again, the first answers were taken
        asked = master.next(groups, since=asked, within=90 + bk.jitter) >> Request(groups)
    unknown = Including({"subscriptionGroupTable": Including({group: ABSENT})})
    bk.groups().json >> Reply(SUCCESS, unknown)
    bk.offsets().json >> Reply(SUCCESS, Including({"offsetTable": Including({key: ABSENT})}))
    bk.call(DELAYS).seen_as(LEVELS) >> Reply(SUCCESS, Including({"3": ABSENT}))
    body = msgspec.json.encode({"dataVersion": version, **tables[groups]})
    master.answers(groups, body=body)
    master.next(groups, since=asked, within=90 + bk.jitter) >> Request(groups)
    known = Including({"subscriptionGroupTable": Including({group: ANYTHING})})
    bk.groups().json.eventually() >> Reply(SUCCESS, known)


@case(kills=["masters-versions-of-offsets-are-ignored"], clock=True, own_server=True, setup=TOLD)
def test_slave_takes_over_the_version_of_offsets(bk: BrokerSession) -> None:
    code, master = RequestCode.GET_ALL_CONSUMER_OFFSET, bk.nameservers[1]
    version = {"counter": 80, "timestamp": 1_700_000_000_080, "stateVersion": 0}
    topic, group = bk.name("T"), bk.group()
    table = {f"{topic}@{group}": {"1": 4}}
    master.answers(code, body=msgspec.json.encode({"dataVersion": version, "offsetTable": table}))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    master.next(code, since=next_of_time(bk), within=90 + bk.jitter) >> Request(code)
    bk.committed(group, topic, 1).offset.eventually() >> Reply(SUCCESS, 4)
    bk.offsets().json >> Reply(SUCCESS, Including({"dataVersion": version}))


@case(
    kills=["masters-delays-are-ignored", "masters-delays-are-not-kept", "masters-delays-are-taken-once"],
    clock=True,
    own_server=True,
    setup=TOLD,
)
def test_slave_takes_over_delays(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    version = {"counter": 79, "timestamp": 1_700_000_000_079, "stateVersion": 0}
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    for delivered in (4, 5):
        levels = {"3": delivered, "7": 2}
        master.answers(DELAYS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": levels}))
        told = next_of_time(bk)
        master.next(DELAYS, since=told, within=90 + bk.jitter) >> Request(DELAYS)
        bk.call(DELAYS).seen_as(LEVELS).eventually() >> Reply(SUCCESS, Including(levels))
    bk.nameserver.behaves()
    bk.advance(WRITTEN_AFTER)
    bk.restart("kill")
    bk.call(DELAYS).seen_as(LEVELS).eventually() >> Reply(SUCCESS, Including({"3": ANYTHING, "7": ANYTHING}))
    counter = body_member("dataVersion", "counter", of=int)
    bk.call(DELAYS).seen_as(counter) >> Reply(SUCCESS, 79)


@case(kills=["slaves-reset-offsets"], own_server=True)
def test_demoted_broker_resets_no_offset(bk: BrokerSession) -> None:
    topic, group = bk.topic(queues=1), bk.group()
    bk.create_group(group, retryMaxTimes=5) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 1) >> Reply(SUCCESS)
    bk.update_config(SLAVE) >> Reply(SUCCESS)
    reset = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark="Can not reset offset in slave broker")
    bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset) >> refused
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 1)


@case(kills=["null-delays-are-none"], clock=True, own_server=True, setup=TOLD)
def test_slave_passes_over_delays_that_are_null(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    version = {"counter": 79, "timestamp": 1_700_000_000_079, "stateVersion": 0}
    master.answers(DELAYS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": {"3": 5}}))
    bk.nameserver.answers(REGISTER, ext={"masterAddr": master.address})
    told = master.next(DELAYS, since=next_of_time(bk), within=90 + bk.jitter) >> Request(DELAYS)
    bk.call(DELAYS).seen_as(LEVELS).eventually() >> Reply(SUCCESS, Including({"3": 5}))
    master.answers(DELAYS, body=msgspec.json.encode({"dataVersion": version, "offsetTable": None}))
    for _ in range(2):
        told = master.next(DELAYS, since=told, within=90 + bk.jitter) >> Request(DELAYS)
    bk.call(DELAYS).seen_as(LEVELS) >> Reply(SUCCESS, Including({"3": 5}))


@case(kills=["every-slave-asks-a-new-master"], own_server=True, setup={**SLAVE, "unused": "{nameserver2}"})
def test_slave_that_never_acts_asks_no_new_master(bk: BrokerSession) -> None:
    master = bk.nameservers[1]
    slave_is_smallest(bk)
    bk.call(NOTIFY, {"minBrokerId": "0", "minBrokerAddr": master.address}) >> Reply(SUCCESS)
    master.next(EXCHANGE, within=10 + bk.jitter) >> Silence()
    bk.max_offset("BenchmarkTest").offset >> Reply(SUCCESS, 0)
