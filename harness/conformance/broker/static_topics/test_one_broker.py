"""Chapter static-topics: mappings all of whose queues are on one Broker."""

from typing import Any

from harness.conformance import ABSENT, ANYTHING, Between, Including, Matching, Reply, Request, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.registrations import REGISTER, announcement_of
from harness.conformance.broker.static_topics.mappings import (
    NOT_LEADER,
    continued,
    item,
    mapped,
    mapping,
    mapping_of,
    put,
    shown,
)
from harness.conformance.broker.tools import ERROR, SUCCESS, asked
from harness.session import BrokerSession
from harness.session.exchange import View
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import Message, encode_batch

QUEUE = View("queueId", lambda reply: (reply.ext or {}).get("queueId"))


@case(kills=["static-topics-are-plain", "mappings-lose-a-queue", "mappings-have-one-scope"])
def test_is_shown_as_created(bk: BrokerSession) -> None:
    topic = mapped(bk)
    queues = {"2": [item(bk, 1)], "4": [item(bk, 0)]}
    told = Including({"bname": bk.broker_name, "epoch": 7, "hostedQueues": queues, "totalQueues": 5})
    whole = Including({"mappingDetail": told, "readQueueNums": 2, "writeQueueNums": 2})
    shown(bk, topic) >> Reply(SUCCESS, whole)
    dated = {**item(bk, 1, 30, start=20, end=25, gen=3), "timeOfStart": 2**40, "timeOfEnd": 2**41}
    given = {**mapping(bk, bk.name("static"), {2: [dated]}, 9), "scope": "of_a_test"}
    put(bk, given) >> Reply(SUCCESS)
    detail = Including({**given, "currIdMap": ANYTHING, "hostedQueues": {"2": [dated]}})
    shown(bk, given["topic"]) >> Reply(SUCCESS, Including({"mappingDetail": detail}))
    details = Including({topic: told, given["topic"]: detail})
    tables = {"topicQueueMappingDetailMap": details, "topicQueueMappingInfoMap": {}}
    bk.topics().json >> Reply(SUCCESS, Including(tables))
    without = Reply(SUCCESS, Including({"mappingDetail": ABSENT}))
    asked(bk, RequestCode.GET_TOPIC_CONFIG, topic=topic) >> without
    shown(bk, bk.topic()) >> without


@case(
    kills=[
        "mappings-are-not-registered",
        "mappings-are-registered-as-they-are",
        "mappings-are-registered-as-dirty",
        "mappings-are-registered-by-their-first-parts",
    ]
)
def test_is_registered(bk: BrokerSession) -> None:
    topic = mapped(bk)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic)).seen_as(mapping_of(topic))
    told = {"bname": bk.broker_name, "currIdMap": {"2": 1, "4": 0}, "epoch": 7, "totalQueues": 5}
    told |= {"dirty": False, "scope": "__global__", "topic": topic}
    heard >> Request(REGISTER, told)
    topic, elsewhere = bk.name("static"), bk.name("other")
    here = [item(bk, 0, end=4), item(bk, 1, 100, gen=1)]
    moved = [item(bk, 1, end=9, broker=elsewhere), item(bk, 0, 50, gen=1)]
    left = [item(bk, 0, end=4), item(bk, 3, 60, gen=1, broker=elsewhere)]
    put(bk, mapping(bk, topic, {2: here, 3: moved, 4: left})) >> Reply(SUCCESS)
    heard = bk.nameserver.next(REGISTER, where=announcement_of(topic)).seen_as(mapping_of(topic))
    heard >> Request(REGISTER, Including({"currIdMap": {"2": 1, "3": 0}}))


def version(counter: int, since: int, until: int) -> Any:
    """What GET_ALL_TOPIC_CONFIG (21) tells once mappings have changed so often, the last time between these
    times.
    """
    of_mappings = {"counter": counter, "stateVersion": 0, "timestamp": Between(since, until)}
    return Reply(SUCCESS, Including({"mappingDataVersion": of_mappings}))


@case(kills=["mappings-keep-their-version", "refused-mappings-count"], clock=True, own_server=True)
def test_changes_are_counted(bk: BrokerSession) -> None:
    bk.advance(1)
    since = bk.broker_time()
    topic, other = mapped(bk), mapped(bk)
    bk.topics().json >> version(2, since, bk.broker_time())
    bk.advance(1)
    since = bk.broker_time()
    put(bk, mapping(bk, topic, {2: [item(bk, 1)], 4: [item(bk, 0)]}, 9)) >> Reply(SUCCESS)
    until = bk.broker_time()
    bk.topics().json >> version(3, since, until)
    bk.advance(1)
    put(bk, mapping(bk, topic, {4: [item(bk, 1)]}, 6)) >> Reply(ERROR)
    bk.delete_topic(bk.topic()) >> Reply(SUCCESS)
    bk.topics().json >> version(3, since, until)
    since = bk.broker_time()
    bk.delete_topic(other) >> Reply(SUCCESS)
    bk.topics().json >> version(4, since, bk.broker_time())


@case(kills=["mapped-queues-are-their-own", "mapped-sends-tell-where-they-are"])
def test_sends_and_pulls_use_mapped_queues(bk: BrokerSession) -> None:
    topic = mapped(bk)
    for queue, body in ((4, b"four"), (2, b"two"), (4, b"next")):
        bk.send(topic, body, queue) >> Reply(SUCCESS, ext=Including({"queueId": str(queue)}))
    bk.pull(topic, 4).bodies.eventually() >> Reply(SUCCESS, [b"four", b"next"])
    bk.pull(topic, 2).bodies.eventually() >> Reply(SUCCESS, [b"two"])
    bk.pull(topic, 0, ext={"lo": "false"}).bodies >> Reply(SUCCESS, [b"four", b"next"])


@case(kills=["mapped-sends-name-a-queue"])
def test_any_queue_is_one_that_is_mapped(bk: BrokerSession) -> None:
    topic = bk.name("static")
    put(bk, mapping(bk, topic, {4: [item(bk, 0)]})) >> Reply(SUCCESS)
    bk.send(topic, b"any", -1) >> Reply(SUCCESS, ext=Including({"queueId": "4"}))
    bk.pull(topic, 4).bodies.eventually() >> Reply(SUCCESS, [b"any"])
    several = mapped(bk)
    sent = bk.send(several, b"any of two", -1).seen_as(QUEUE)
    queue = (sent >> Reply(SUCCESS, Matching("^[24]$"))).value
    bk.pull(several, int(queue)).bodies.eventually() >> Reply(SUCCESS, [b"any of two"])


@case(kills=["forwarded-sends-are-mapped", "forwarded-requests-are-mapped"])
def test_forwarded_requests_are_about_the_queue_of_the_broker(bk: BrokerSession) -> None:
    topic, group, own = mapped(bk), bk.group(), {"lo": "false"}
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic, b"mapped", 4) >> Reply(SUCCESS)  # in queue 0
    told = Reply(SUCCESS, ext=Including({"queueId": "1"}))
    for _ in range(4):
        bk.send(topic, b"own", 1, code=10, ext=own) >> told
    bk.max_offset(topic, 1, ext=own).offset.eventually() >> Reply(SUCCESS, 4)
    bk.max_offset(topic, 0, ext=own).offset.eventually() >> Reply(SUCCESS, 1)
    bk.max_offset(topic, 2).offset >> Reply(SUCCESS, 4)  # is queue 1
    bk.min_offset(topic, 1, ext=own).offset >> Reply(SUCCESS, 0)
    bk.offset_at(topic, 1, 1, ext=own).offset >> Reply(SUCCESS, 0)
    bk.commit_offset(group, topic, 1, 3, ext=own) >> Reply(SUCCESS)
    bk.committed(group, topic, 1, ext=own).offset >> Reply(SUCCESS, 3)
    bk.committed(group, topic, 2).offset >> Reply(SUCCESS, 3)


@case(kills=["short-sends-are-forwarded"])
def test_sends_with_short_names_are_never_forwarded(bk: BrokerSession) -> None:
    topic, own = mapped(bk), {"lo": "false"}
    batch = encode_batch([Message(topic=topic, body=b"one"), Message(topic=topic, body=b"two")], "5.3")
    told = Reply(SUCCESS, ext=Including({"queueId": "4"}))
    bk.send(topic, b"four", 4, ext=own) >> told  # in queue 0
    bk.send(topic, batch, 4, code=320, batch=True, ext=own) >> told
    bk.send(topic, b"own", 1, ext=own) >> Reply(NOT_LEADER)
    bk.send(topic, batch, 1, code=320, batch=True, ext=own) >> Reply(NOT_LEADER)
    bk.pull(topic, 4).bodies.eventually() >> Reply(SUCCESS, [b"four", b"one", b"two"])


@case(kills=["mapped-queues-have-no-leader", "other-queues-are-served"])
def test_leader_alone_serves_a_queue(bk: BrokerSession) -> None:
    topic, group = mapped(bk), bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    bk.send(topic, b"mapped", 4) >> Reply(SUCCESS)
    for queue in (0, 1):
        where = f"{topic}-{queue}"
        remark = f"{where} does not exit in request process of current broker {bk.broker_name}"
        refused = Reply(NOT_LEADER, remark=remark)
        bk.send(topic, b"lost", queue) >> refused
        bk.send_batch(topic, [b"lost", b"lost"], queue) >> refused
        bk.max_offset(topic, queue) >> refused
        bk.offset_at(topic, queue, 1) >> refused
        bk.commit_offset(group, topic, queue, 0) >> refused
        bk.committed(group, topic, queue) >> refused
        remark = f"{where} cannot find mapping item in request process of current broker {bk.broker_name}"
        bk.pull(topic, queue) >> Reply(NOT_LEADER, remark=remark)
        remark = f"{where} is not leader in broker {bk.broker_name}, request code 31"
        bk.min_offset(topic, queue) >> Reply(NOT_LEADER, remark=remark)
    bk.max_offset(topic, 4).offset.eventually() >> Reply(SUCCESS, 1)


@case(
    kills=[
        "mapped-offsets-begin-anew",
        "mapped-queues-have-their-last-part",
        "parts-begin-with-their-queue",
        "mapped-pulls-go-on-behind-their-part",
    ]
)
def test_offsets_go_on_in_another_queue(bk: BrokerSession) -> None:
    topic = continued(bk)
    bk.min_offset(topic, 2).offset >> Reply(SUCCESS, 0)
    bk.max_offset(topic, 2).offset >> Reply(SUCCESS, 102)
    first, last = bk.pull(topic, 2), bk.pull(topic, 2, 100)
    first.bodies >> Reply(SUCCESS, [b"0", b"1"])
    first.bounds >> Reply(SUCCESS, (0, 100))
    first.next_offset >> Reply(SUCCESS, 2, ext=Including({"offsetDelta": "-1"}))
    bk.pull(topic, 2, most=1).next_offset >> Reply(SUCCESS, 1)
    last.bodies.eventually() >> Reply(SUCCESS, [b"100", b"101"])
    last.bounds >> Reply(SUCCESS, (100, 102))
    last.next_offset >> Reply(SUCCESS, 102, ext=Including({"offsetDelta": "97"}))


@case(kills=["mapped-queues-end-with-an-undecided-part", "times-are-searched-in-undecided-parts"])
def test_part_whose_place_is_not_decided_ends_nothing(bk: BrokerSession) -> None:
    topic, own = bk.name("static"), {"lo": "false"}
    put(bk, mapping(bk, topic, {2: [item(bk, 0, start=1)]})) >> Reply(SUCCESS)
    for queue in (0, 1, 1, 1):
        bk.send(topic, b"own", queue, code=10, ext=own) >> Reply(SUCCESS)
    for body in (b"0", b"1"):
        bk.send(topic, body, 2) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 2)
    items = [item(bk, 0, start=1, end=3), item(bk, 1, -1, gen=1, start=3)]
    put(bk, mapping(bk, topic, {2: items}, 8)) >> Reply(SUCCESS)
    bk.max_offset(topic, 1, ext=own).offset.eventually() >> Reply(SUCCESS, 3)  # as that of queue 0
    bk.max_offset(topic, 2).offset >> Reply(SUCCESS, 2)
    for stored in (3, 4):
        bk.max_offset(topic, 1, ext=own).offset.eventually() >> Reply(SUCCESS, stored)
        bk.min_offset(topic, 2).offset >> Reply(SUCCESS, 0)
        bk.pull(topic, 2, 1).bodies >> Reply(SUCCESS, [b"1"])
        bk.offset_at(topic, 2, bk.broker_time() + 3_600_000).offset >> Reply(SUCCESS, 2)
        bk.send(topic, b"early", 2).offset >> Reply(SUCCESS, -1)


@case(kills=["mapped-queues-end-where-a-part-does", "mapped-pulls-keep-their-remark"])
def test_pull_at_the_end_of_a_part_goes_on(bk: BrokerSession) -> None:
    topic = continued(bk)
    bk.pull(topic, 2, 2).next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 100, remark=ABSENT)
    bk.pull(topic, 2, 102).next_offset >> Reply(ResponseCode.PULL_NOT_FOUND, 102, remark=ABSENT)


@case(kills=["mapped-pulls-go-beyond-their-part"])
def test_pull_ends_with_its_part(bk: BrokerSession) -> None:
    topic = bk.name("static")
    put(bk, mapping(bk, topic, {2: [item(bk, 0, start=2)]})) >> Reply(SUCCESS)
    for body in (b"own", b"own", b"0", b"1", b"beyond", b"beyond"):
        bk.send(topic, body, 0, code=10, ext={"lo": "false"}) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 4)
    items = [item(bk, 0, start=2, end=4), item(bk, 1, 100, gen=1)]
    put(bk, mapping(bk, topic, {2: items}, 8)) >> Reply(SUCCESS)
    bk.pull(topic, 2, most=32).bodies >> Reply(SUCCESS, [b"0", b"1"])


@case(kills=["parts-may-have-no-room"], clock=True)
def test_part_that_ends_where_it_begins_has_no_end(bk: BrokerSession) -> None:
    topic, last, own = bk.name("static"), bk.name("static"), {"lo": "false"}
    items = [item(bk, 0, start=2, end=2), item(bk, 1, 100, gen=1)]
    put(bk, mapping(bk, topic, {2: items})) >> Reply(SUCCESS)
    put(bk, mapping(bk, last, {3: [item(bk, 0, 50, start=2, end=2)]})) >> Reply(SUCCESS)
    for name in (topic, last):
        for body in (b"own", b"own"):
            bk.send(name, body, 0, code=10, ext=own) >> Reply(SUCCESS)
    bk.advance(10)
    between = str(bk.broker_time())
    bk.advance(10)
    for name in (topic, last):
        for body in (b"0", b"1"):
            bk.send(name, body, 0, code=10, ext=own) >> Reply(SUCCESS)
        bk.max_offset(name, 0, ext=own).offset.eventually() >> Reply(SUCCESS, 4)
    pull = bk.pull(topic, 2)
    pull.bodies >> Reply(SUCCESS, [b"0", b"1"])
    pull.next_offset >> Reply(SUCCESS, 2)
    bk.offset_at(topic, 2, between).offset >> Reply(SUCCESS, 0)
    bk.max_offset(last, 3).offset >> Reply(SUCCESS, 52)


@case(kills=["mapped-queues-begin-where-they-end"])
def test_pull_behind_a_queue_of_one_part_finds_nothing(bk: BrokerSession) -> None:
    topic = mapped(bk)
    for body in (b"0", b"1"):
        bk.send(topic, body, 4) >> Reply(SUCCESS)
    bk.max_offset(topic, 4).offset.eventually() >> Reply(SUCCESS, 2)
    for offset in (2, 3, 9_999):
        bk.pull(topic, 4, offset).next_offset >> Reply(ResponseCode.PULL_NOT_FOUND, 2, remark=ABSENT)
        bk.pull(topic, 4, offset).bounds >> Reply(ResponseCode.PULL_NOT_FOUND, (0, 2))


@case(kills=["mapped-queues-of-several-parts-end-like-one"])
def test_pull_behind_a_queue_of_several_parts_is_moved(bk: BrokerSession) -> None:
    topic = continued(bk)
    for offset in (103, 9_999):
        pull = bk.pull(topic, 2, offset)
        pull.next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, 102, remark=ABSENT)
        pull.bounds >> Reply(ResponseCode.PULL_OFFSET_MOVED, (100, 102))
    bk.pull(topic, 2, 102).bounds >> Reply(ResponseCode.PULL_NOT_FOUND, (100, 102))


@case(
    "bk.static-topics.pull-of-what-is-gone-is-moved",
    "bk.static-topics.pull-of-what-is-gone-of-a-later-part-goes-on",
    kills=["mapped-pulls-are-never-moved", "mapped-pulls-of-later-parts-are-moved"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_pull_of_what_is_gone_is_moved(bk: BrokerSession) -> None:
    """A pull before the first message that is left goes on there."""
    topic = mapped(bk)
    bk.send(topic, b"0", 2).offset >> Reply(SUCCESS, 0)
    low = begins_late(bk, topic, 4)
    pull = bk.pull(topic, 4, low - 1)
    pull.next_offset >> Reply(ResponseCode.PULL_OFFSET_MOVED, low)
    pull.bounds >> Reply(ResponseCode.PULL_OFFSET_MOVED, (low, 6))
    items = [item(bk, 1, end=1), item(bk, 0, 100, gen=1)]
    put(bk, mapping(bk, topic, {2: items, 4: [item(bk, 0)]}, 8)) >> Reply(SUCCESS)
    pull = bk.pull(topic, 2, 100 + low - 1)
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 100 + low)
    bk.pull(topic, 2, 100 + low, most=1).next_offset >> Reply(SUCCESS, 101 + low)


@case(kills=["mapped-commits-are-of-the-last-part", "mapped-commits-are-as-they-are"])
def test_committed_offsets_are_mapped(bk: BrokerSession) -> None:
    topic, group, late = continued(bk), bk.group("early"), bk.group("late")
    for name, offset in ((group, 1), (late, 101)):
        bk.create_group(name) >> Reply(SUCCESS)
        bk.commit_offset(name, topic, 2, offset) >> Reply(SUCCESS)
    bk.committed(group, topic, 2).offset >> Reply(SUCCESS, 1)
    bk.committed(late, topic, 2).offset >> Reply(SUCCESS, 101)
    bk.committed(group, topic, 0, ext={"lo": "false"}).offset >> Reply(SUCCESS, 2)
    bk.committed(late, topic, 1, ext={"lo": "false"}).offset >> Reply(SUCCESS, 4)
    bk.committed(bk.group("none"), topic, 2) >> Reply(ResponseCode.QUERY_NOT_FOUND)


@case(kills=["old-mappings-are-taken", "mappings-stay", "mappings-have-one-scope"])
def test_older_mapping_is_refused(bk: BrokerSession) -> None:
    topic = mapped(bk)
    older = mapping(bk, topic, {4: [item(bk, 1)]}, 6)
    put(bk, older) >> Reply(ERROR, remark="Can't accept data with small epoch 6 < 7")
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": Including({"epoch": 7})}))
    newer = mapping(bk, topic, {2: [item(bk, 1)], 4: [item(bk, 0)]}, 9)
    remark = "Can't accept data with unmatched scope of_a_test != __global__"
    put(bk, {**newer, "scope": "of_a_test"}) >> Reply(ERROR, remark=remark)
    put(bk, newer) >> Reply(SUCCESS)
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": Including({"epoch": 9})}))
    put(bk, older, force="true") >> Reply(SUCCESS)
    queues = {"2": [item(bk, 1)], "4": [item(bk, 1)]}
    forced = Including({"epoch": 6, "hostedQueues": queues})
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": forced}))


@case(kills=["mappings-do-not-survive", "mappings-begin-with-the-backup"], own_server=True)
def test_survives_a_kill(bk: BrokerSession) -> None:
    topic = continued(bk)
    versions = Including({"mappingDataVersion": Including({"counter": 2})})
    bk.topics().json >> Reply(SUCCESS, versions)
    bk.restart("kill")
    bk.topics().json.eventually() >> Reply(SUCCESS, versions)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 102)
    bk.send(topic, b"102", 2).offset >> Reply(SUCCESS, 102)
    bk.pull(topic, 2, 102).bodies.eventually() >> Reply(SUCCESS, [b"102"])


@case(kills=["mappings-outlive-their-topic"])
def test_mapping_goes_with_its_topic(bk: BrokerSession) -> None:
    topic = mapped(bk)
    bk.delete_topic(topic) >> Reply(SUCCESS)
    bk.create_topic(topic, 2) >> Reply(SUCCESS)
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": ABSENT}))
    bk.send(topic, b"plain", 1).offset >> Reply(SUCCESS, 0)


@case(kills=["mappings-may-be-odd"])
def test_mapping_that_cannot_be_is_refused(bk: BrokerSession) -> None:
    topic, beyond = bk.name("static"), "The max logic offset does not increase monotonically"
    for items, remark in (
        ([item(bk, -1)], "The field is illegal, should not be negative"),
        ([item(bk, 0, gen=-1)], "The field is illegal, should not be negative"),
        ([item(bk, 0, start=-1)], "The field is illegal, should not be negative"),
        ([item(bk, 0, -1), item(bk, 1, gen=1)], "The non-latest item has negative logic offset"),
        ([item(bk, 0, gen=1), item(bk, 1, 5, gen=1)], "The gen does not increase monotonically"),
        ([item(bk, 0, end=-2)], "The endOffset is smaller than the start offset"),
        ([item(bk, 0, 5), item(bk, 1, 5, gen=1)], "The base logic offset does not increase monotonically"),
        ([item(bk, 0, start=5, end=3)], "The endOffset is smaller than the start offset"),
        ([item(bk, 0, end=5), item(bk, 1, 5, gen=1)], beyond),
        ([item(bk, 0, 2, start=10, end=13), item(bk, 1, 5, gen=1)], beyond),
    ):
        put(bk, mapping(bk, topic, {3: items})) >> Reply(ERROR, remark=remark)
        put(bk, mapping(bk, topic, {2: [item(bk, 1)], 3: items})) >> Reply(ERROR, remark=remark)
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": ABSENT}))
    items = [item(bk, 0, 2, start=10, end=12), item(bk, 1, 5, gen=1)]
    put(bk, mapping(bk, topic, {3: items})) >> Reply(SUCCESS)
    shown(bk, topic) >> Reply(
        SUCCESS, Including({"mappingDetail": Including({"hostedQueues": {"3": items}})})
    )


@case(kills=["equal-epochs-change-leaders", "equal-epochs-move-starts"])
def test_equal_epoch_keeps_leaders(bk: BrokerSession) -> None:
    topic = mapped(bk)
    without = mapping(bk, topic, {4: [item(bk, 0)]})
    put(bk, without) >> Reply(ERROR, remark="Cannot accept equal epoch with null data")
    others = item(bk, 0), item(bk, 1, gen=1), item(bk, 1, broker=bk.name("other")), item(bk, 1, start=1)
    for leader in others:
        other = mapping(bk, topic, {4: [item(bk, 0)], 2: [leader]})
        put(bk, other) >> Reply(ERROR, remark="The new leader is different but epoch equal")
    queues = {"2": [item(bk, 1)], "4": [item(bk, 0)]}
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": Including({"hostedQueues": queues})}))
    more = mapping(bk, topic, {4: [item(bk, 0)], 2: [item(bk, 1)], 3: [item(bk, 0)]})
    put(bk, {**more, "unknown": "x" * 70_000}) >> Reply(SUCCESS)
    queues["3"] = [item(bk, 0)]
    shown(bk, topic) >> Reply(SUCCESS, Including({"mappingDetail": Including({"hostedQueues": queues})}))


@case(kills=["times-are-of-the-first-part"], clock=True)
def test_time_is_searched_in_all_parts(bk: BrokerSession) -> None:
    topic = continued(bk)
    bk.advance(10)
    between = str(bk.broker_time())
    bk.advance(10)
    bk.send(topic, b"102", 2).offset >> Reply(SUCCESS, 102)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 103)
    bk.offset_at(topic, 2, 1).offset >> Reply(SUCCESS, 0)
    bk.offset_at(topic, 2, between).offset >> Reply(SUCCESS, 102)


@case(kills=["last-times-are-of-the-first-part", "last-times-are-of-the-last-part"], clock=True)
def test_last_message_of_a_time_is_searched_in_all_parts(bk: BrokerSession) -> None:
    topic, upper = continued(bk, apart=20), {"boundaryType": "upper"}
    one = bk.pull(topic, 2, 1, most=1).seen("stored", lambda message: message.store_timestamp)
    between = (one >> Reply(SUCCESS, [Between(1, 1 << 62)])).value[0] + 10_000
    bk.offset_at(topic, 2, between, ext=upper).offset >> Reply(SUCCESS, 1)
    bk.offset_at(topic, 2, bk.broker_time(), ext=upper).offset >> Reply(SUCCESS, 101)


@case(kills=["static-topics-have-any-name"])
def test_illegal_name_is_refused(bk: BrokerSession) -> None:
    name = f"{bk.name('static')} x"
    put(bk, mapping(bk, name, {2: [item(bk, 0)]})) >> Reply(ResponseCode.INVALID_PARAMETER)
    shown(bk, name) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
