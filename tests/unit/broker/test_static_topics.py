"""Static topics where no case comes: mappings of one epoch, ends of parts, and parts of other Brokers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import dumps
from reference_impl.broker.mappings import QueuePart
from reference_impl.broker.outbox import Answer, Asking
from reference_impl.broker.static_topics import MAPPINGS_FILE, Mapped
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.reply import Reply

from .driver import STARTED, Asked, make_broker
from .messages import sent

HERE = "broker-a"
OTHER, ADDRESS = "broker-b", "10.0.0.2:10911"
PLACE = {"topic": "T", "queueId": 2}


def part(queue: int, logic: int = 0, **more: Any) -> dict[str, Any]:
    """A part of a mapped queue, as requests have it."""
    return {"bname": HERE, "queueId": queue, "logicOffset": logic, **more}


def put(one: Asked, queues: dict[int, list[dict[str, Any]]], **more: Any) -> Reply:
    """The answer to a mapping of the topic T."""
    header = {
        "topic": "T",
        "defaultTopic": "TBW102",
        "readQueueNums": 4,
        "writeQueueNums": 4,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": "false",
    }
    mapping = {"bname": HERE, "epoch": 7, "hostedQueues": queues, "topic": "T", "totalQueues": 5, **more}
    reply = one.ask(RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC, header, dumps(mapping))
    assert reply is not None
    return reply


def mapped(*parts: dict[str, Any]) -> Asked:
    """A Broker with a topic T whose queue 2 has these parts, and no other queue."""
    one = make_broker("5.3", brokerName=HERE, namesrvAddr="10.0.0.9:9876")
    assert put(one, {2: list(parts)}).code == ResponseCode.SUCCESS
    return one


def number(one: Asked, code: int, name: str, **more: Any) -> str | None:
    """The number of the mapped queue that an answer tells."""
    reply = one.ask(code, {**PLACE, **more})
    assert reply is not None
    assert (reply.code, reply.ext is None) == (ResponseCode.SUCCESS, False)
    return (reply.ext or {})[name]


@pytest.mark.parametrize(
    ("queues", "more", "remark"),
    [
        (
            {2: [part(0)], 4: [part(1)]},
            {"scope": "other"},
            "Can't accept data with unmatched scope other != __global__",
        ),
        ({2: [part(0)]}, {}, "Cannot accept equal epoch with null data"),
        ({2: [part(0)], 4: [part(3)]}, {}, "The new leader is different but epoch equal"),
        ({2: [part(0)], 4: [part(1, gen=1)]}, {}, "The new leader is different but epoch equal"),
        ({2: [part(0)], 4: [part(1, bname="broker-b")]}, {}, "The new leader is different but epoch equal"),
    ],
)
def test_a_mapping_of_the_same_epoch_changes_no_leader(
    queues: dict[int, list[dict[str, Any]]], more: dict[str, Any], remark: str
) -> None:
    one = mapped(part(0))
    assert put(one, {2: [part(0)], 4: [part(1)]}).code == ResponseCode.SUCCESS
    before = one.broker.static_topics.documents()
    reply = put(one, queues, **more)
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, remark)
    assert one.broker.static_topics.documents() == before
    assert put(one, {2: [part(0)], 4: [part(1)], 5: [part(3)]}).code == ResponseCode.SUCCESS


@pytest.mark.parametrize(
    ("index", "asked", "code", "bounds", "told", "expected"),
    [
        (0, 0, ResponseCode.PULL_OFFSET_MOVED, (0, 1, 2), ResponseCode.PULL_OFFSET_MOVED, (1, 1, 100)),
        (
            1,
            0,
            ResponseCode.PULL_OFFSET_MOVED,
            (0, 3, 5),
            ResponseCode.PULL_RETRY_IMMEDIATELY,
            (103, 103, 105),
        ),
        (0, 2, ResponseCode.PULL_NOT_FOUND, (2, 0, 2), ResponseCode.PULL_RETRY_IMMEDIATELY, (100, 100, 100)),
        (1, 5, ResponseCode.PULL_NOT_FOUND, (5, 0, 5), ResponseCode.PULL_NOT_FOUND, (105, 100, 105)),
    ],
)
def test_a_pull_that_finds_nothing_goes_on_in_the_right_part(
    index: int,
    asked: int,
    code: int,
    bounds: tuple[int, int, int],
    told: int,
    expected: tuple[int, int, int],
) -> None:
    one = make_broker("5.3", brokerName=HERE)
    parts = [
        QueuePart(bname=HERE, end_offset=2),
        QueuePart(bname=HERE, queue_id=1, gen=1, logic_offset=100),
    ]
    names = ("nextBeginOffset", "minOffset", "maxOffset")
    reply = Reply(code, remark="why", ext=dict(zip(names, map(str, bounds), strict=True)))
    one.broker.static_topics.told_of(Mapped("T", 2, parts), parts[index], asked, reply)
    assert (reply.code, reply.remark) == (told, None)
    assert reply.ext is not None
    assert tuple(int(reply.ext[name] or "") for name in names) == expected


def test_a_pull_behind_the_only_part_finds_nothing() -> None:
    one = mapped(part(1, 100))
    sent(one, queue=2)
    header = {"consumerGroup": "G", "maxMsgNums": 1, "sysFlag": 4, "subscription": "*"}
    for offset, code, following in (
        (100, ResponseCode.SUCCESS, "101"),
        (101, ResponseCode.PULL_NOT_FOUND, "101"),
    ):
        reply = one.ask(RequestCode.PULL_MESSAGE, {**PLACE, **header, "queueOffset": offset})
        assert reply is not None
        assert reply.ext is not None
        assert (reply.code, reply.ext["nextBeginOffset"]) == (code, following)


def test_a_send_without_a_queue_goes_into_the_first_mapped_one() -> None:
    one = mapped(part(3))
    reply = sent(one, queue=-1)
    assert reply.code == ResponseCode.SUCCESS
    assert one.broker.store.max_offset("T", 3) == 1


def elsewhere(*parts: dict[str, Any]) -> Asked:
    """A Broker that knows where broker-b is, and has a topic T whose queue 2 has these parts."""
    one = mapped(*parts)
    one.pass_time(0)
    cluster = {
        "brokerAddrTable": {OTHER: {"brokerAddrs": {0: ADDRESS, 1: "10.0.0.3:1"}, "brokerName": OTHER}}
    }
    for asking in one.taken(Asking):
        if asking.command.code == RequestCode.GET_BROKER_CLUSTER_INFO:
            asking.done(Command(ResponseCode.SUCCESS, body=dumps(cluster)), one.now)
    return one


def answered(one: Asked, code: int, *answers: Command | None, **more: Any) -> tuple[list[Command], Reply]:
    """What broker-b was asked for a request, and the reply when it had given these answers."""
    assert one.ask(code, {**PLACE, **more}) is None
    asked: list[Command] = []
    for answer in answers:
        (asking,) = one.taken(Asking)
        assert (asking.address, asking.within) == (ADDRESS, 3_000)
        asked.append(asking.command)
        asking.done(answer, one.now)
    (late,) = one.taken(Answer)
    return asked, late.reply


def told(ext: dict[str, Any], code: int = ResponseCode.SUCCESS, body: bytes = b"") -> Command:
    """An answer of broker-b."""
    return Command(code, ext={name: str(value) for name, value in ext.items()}, body=body)


def test_nothing_is_asked_of_a_broker_that_no_nameserver_knows() -> None:
    one = mapped(part(0, bname=OTHER, endOffset=2), part(1, 100, gen=1))
    reply = one.ask(RequestCode.GET_MIN_OFFSET, PLACE)
    assert reply is not None
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, f"cannot find addr for broker {OTHER}")


def test_nameservers_are_asked_every_five_seconds_while_a_mapping_names_another_broker() -> None:
    one = make_broker("5.3", brokerName=HERE, namesrvAddr="10.0.0.9:9876")

    def asked() -> list[str]:
        found = one.taken(Asking)
        return [one.address for one in found if one.command.code == RequestCode.GET_BROKER_CLUSTER_INFO]

    put(one, {2: [part(0)]})
    one.pass_time(20_000)
    assert asked() == []
    put(one, {2: [part(0), part(1, 100, gen=1, bname=OTHER)]}, epoch=8)
    for ms, number in ((0, 1), (4_999, 0), (1, 1), (5_000, 1)):
        one.pass_time(ms)
        assert len(asked()) == number
    one.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    one.pass_time(5_000)
    asked()
    one.pass_time(20_000)
    assert asked() == []


MOVED = (part(3, bname=OTHER, endOffset=4), part(1, 50, gen=1, bname=OTHER), part(0, 100, gen=2))


def test_a_broker_that_is_silent_is_an_error() -> None:
    _, reply = answered(elsewhere(*MOVED), RequestCode.GET_MIN_OFFSET, None)
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, f"{OTHER} did not answer within 3000 ms")


def test_a_refusal_of_the_second_question_is_an_error() -> None:
    answers = (told({}, ResponseCode.QUERY_NOT_FOUND), told({}, ResponseCode.SYSTEM_ERROR))
    code = RequestCode.QUERY_CONSUMER_OFFSET
    asked, reply = answered(elsewhere(*MOVED), code, *answers, consumerGroup="G")
    assert [(one.ext or {})["queueId"] for one in asked] == ["1", "3"]
    assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, f"{OTHER} answered 1: None")


def test_the_signature_of_a_client_is_not_passed_on() -> None:
    signed = {"AccessKey": "key", "Signature": "text", "consumerGroup": "G"}
    code = RequestCode.QUERY_CONSUMER_OFFSET
    (asked,), _ = answered(elsewhere(*MOVED), code, told({"offset": 3}), **signed)
    wanted = {
        "bname": OTHER,
        "consumerGroup": "G",
        "lo": "false",
        "queueId": "1",
        "setZeroIfNotFound": "false",
    }
    assert asked.ext == {"topic": "T", **wanted}


def test_a_queue_whose_last_part_has_no_place_yet_ends_on_the_broker_before() -> None:
    one = elsewhere(*MOVED[:2], part(0, -1, gen=2))
    (asked,), reply = answered(one, RequestCode.GET_MAX_OFFSET, told({"offset": 7}))
    assert ((asked.ext or {})["queueId"], reply.ext) == ("1", {"offset": "57"})


@pytest.mark.parametrize(
    ("answers", "found", "questions"),
    [
        ([{"offset": 3}], "3", [(29, "3")]),
        ([{"offset": 4}, {"offset": 6}, {"offset": 7}], "56", [(29, "3"), (29, "1"), (30, "1")]),
        ([{"offset": 4}, {"offset": 7}, {"offset": 7}], "100", [(29, "3"), (29, "1"), (30, "1")]),
    ],
)
def test_a_time_is_searched_on_one_broker_after_another(
    answers: list[dict[str, int]], found: str, questions: list[tuple[int, str]]
) -> None:
    code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    asked, reply = answered(elsewhere(*MOVED), code, *map(told, answers), timestamp=STARTED)
    assert [(one.code, (one.ext or {})["queueId"]) for one in asked] == questions
    assert asked[0].ext == {
        "topic": "T",
        "queueId": "3",
        "bname": OTHER,
        "lo": "false",
        "timestamp": str(STARTED),
        "boundaryType": "LOWER",
    }
    assert reply.ext == {"offset": found}


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([{"offset": 6}, {"offset": 0}], "55"),
        ([{"offset": 2}, {"offset": 2}, {"offset": 4}, {"offset": 1}], "3"),
        ([{"offset": 2}, {"offset": 2}, {"offset": 1}, {"offset": 1}], "0"),
    ],
)
def test_the_last_message_until_a_time_is_searched_from_the_end_on(
    answers: list[dict[str, int]], found: str
) -> None:
    code, more = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, {"timestamp": STARTED, "boundaryType": "UPPER"}
    asked, reply = answered(elsewhere(*MOVED), code, *map(told, answers), **more)
    assert (asked[0].ext or {})["timestamp"] == str(STARTED + 1)
    assert reply.ext == {"offset": found}


def test_the_last_message_until_a_time_may_be_here() -> None:
    one = mapped(part(0, endOffset=2), part(1, 100, gen=1))
    code, upper = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, {"boundaryType": "UPPER"}
    sent(one, queue=2)
    one.pass_time(1_000)
    sent(one, queue=2)
    for ms, found in ((0, "100"), (999, "100"), (1_000, "101"), (-1, "0")):
        assert number(one, code, "offset", timestamp=STARTED + ms, **upper) == found


def test_another_broker_says_when_its_first_message_was_stored() -> None:
    code = RequestCode.GET_EARLIEST_MSG_STORETIME
    (asked,), reply = answered(elsewhere(*MOVED), code, told({"timestamp": 1_234}))
    assert (asked.ext or {})["queueId"] == "3"
    assert reply.ext == {"timestamp": "1234"}


def test_an_answer_without_the_number_that_was_asked_for_is_an_error() -> None:
    for code, name in (
        (RequestCode.GET_EARLIEST_MSG_STORETIME, "timestamp"),
        (RequestCode.GET_MIN_OFFSET, "offset"),
    ):
        _, reply = answered(elsewhere(*MOVED), code, told({}))
        remark = f"another Broker answered without {name}"
        assert (reply.code, reply.remark) == (ResponseCode.SYSTEM_ERROR, remark)


def test_a_held_pull_goes_to_the_broker_that_has_its_part_now() -> None:
    one = elsewhere(part(0), part(1, 100, gen=1, bname=OTHER), part(2, 200, gen=2))
    header = {"consumerGroup": "G", "maxMsgNums": 1, "sysFlag": 6, "subscription": "*", "queueOffset": 200}
    assert one.ask(RequestCode.PULL_MESSAGE, {**PLACE, **header, "suspendTimeoutMillis": 5_000}) is None
    put(one, {2: [part(0), part(3, 150, gen=1, bname=OTHER), part(2, 300, gen=2)]}, epoch=8)
    one.taken(Asking)
    one.pass_time(5_000)
    (asking,) = [found for found in one.taken(Asking) if found.address == ADDRESS]
    assert (asking.command.ext or {})["queueOffset"] == "50"
    assert one.taken(Answer) == []


@pytest.mark.parametrize("body", [b"{", b'{"brokerAddrTable":{"broker-c":{"brokerAddrs":{0:"10.0.0.9:1"}}}}'])
def test_what_a_nameserver_says_that_is_of_no_use_changes_nothing(body: bytes) -> None:
    one = elsewhere(*MOVED)
    one.pass_time(5_000)
    for asking in one.taken(Asking):
        asking.done(Command(ResponseCode.SUCCESS, body=body), one.now)
    assert one.broker.other_brokers.master(OTHER) == ADDRESS


def test_a_queue_of_which_it_is_not_decided_where_it_begins_has_no_least_offset() -> None:
    assert number(mapped(part(1, -1)), RequestCode.GET_MIN_OFFSET, "offset") == "-1"


def test_a_group_that_consumes_a_queue_of_one_part_has_its_offset() -> None:
    one = mapped(part(1))
    one.broker.offsets.commit("G", "T", 1, 5, one.now)
    assert number(one, RequestCode.QUERY_CONSUMER_OFFSET, "offset", consumerGroup="G") == "5"


def test_a_time_is_searched_in_all_parts_that_are_decided() -> None:
    one = mapped(part(0, endOffset=2), part(1, 100, gen=1))
    search = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    for _ in range(2):
        sent(one, queue=2)
        one.pass_time(1_000)
    assert number(one, search, "offset", timestamp=STARTED + 1_000) == "101"
    assert number(one, search, "offset", timestamp=STARTED) == "100"
    assert number(mapped(part(1, -1)), search, "offset", timestamp=STARTED) == "-1"


def test_the_first_part_says_when_its_first_message_was_stored() -> None:
    one = mapped(part(0))
    earliest = RequestCode.GET_EARLIEST_MSG_STORETIME
    assert number(one, earliest, "timestamp") == "-1"
    sent(one, queue=2)
    assert number(one, earliest, "timestamp") == str(STARTED)


@pytest.mark.parametrize("text", [b"{", b'{"topicQueueMappingInfoMap":{"T":7}}'])
def test_a_file_of_mappings_that_is_damaged_is_refused(text: bytes) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        make_broker("5.3", stored={MAPPINGS_FILE: text})
