"""Chapter query: searches for messages by key, by unique key and by offset in the log."""

from harness.conformance import ANYTHING, Between, Matching, Reply, case
from harness.conformance.broker.tools import ERROR, asked
from harness.conformance.broker.whole import (
    judge_copy,
    plain_properties,
    pulled,
    send_whole,
    sent_members,
)
from harness.session import BrokerSession, Exchange
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, decode_messages, decode_offset_id

SUCCESS = ResponseCode.SUCCESS
NOT_FOUND = ResponseCode.QUERY_NOT_FOUND
NONE_THERE = "can not find message, maybe time range not correct"
TIME_OF_INDEX, PLACE_OF_INDEX = "indexLastUpdateTimestamp", "indexLastUpdatePhyoffset"


@case(kills=["only-first-key-finds", "keys-find-nothing", "all-keys-are-a-key"])
def test_each_word_of_keys_finds(bk: BrokerSession) -> None:
    topic, one, other = bk.topic(), bk.name("key"), bk.name("key")
    keys = f"{one}  {other} "
    bk.send(topic, b"found", keys=keys) >> Reply(SUCCESS)
    for key in (one, other):
        bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"found"])
    for key in (keys, f"{one} ", ""):
        bk.find(topic, key) >> Reply(NOT_FOUND, remark=NONE_THERE)


@case(kills=["unique-keys-find-nothing", "unique-keys-find-nothing-beside-keys"])
def test_unique_key_finds(bk: BrokerSession) -> None:
    topic, key, other, word = bk.topic(), bk.name("unique"), bk.name("other"), bk.name("word")
    bk.send(topic, b"found", properties={"UNIQ_KEY": key}) >> Reply(SUCCESS)
    bk.send(topic, b"other", keys=word, properties={"UNIQ_KEY": other}) >> Reply(SUCCESS)
    for unique in (True, False):
        bk.find(topic, key, unique=unique).bodies.eventually() >> Reply(SUCCESS, [b"found"])
        for one in (other, word):
            bk.find(topic, one, unique=unique).bodies.eventually() >> Reply(SUCCESS, [b"other"])


@case(kills=["rolled-back-messages-have-keys", "half-messages-have-no-keys"])
def test_key_of_a_roll_back_finds_nothing(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    for bits in (12, 4, 8):
        bk.send(topic, b"%d" % bits, keys=key, sys_flag=bits) >> Reply(SUCCESS)
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"4", b"8"])


@case(kills=["marks-of-unique-keys-in-any-letters"])
def test_mark_of_unique_keys_is_small(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    for body in (b"1", b"2"):
        bk.send(topic, body, keys=key) >> Reply(SUCCESS)
    bk.find(topic, key, most=1, unique=True).bodies.eventually() >> Reply(SUCCESS, [b"1", b"2"])
    search = {"topic": topic, "key": key, "maxNum": "1", "beginTimestamp": "0", "endTimestamp": str(2**62)}
    found = asked(bk, RequestCode.QUERY_MESSAGE, _how_many, **search, _UNIQUE_KEY_QUERY="TRUE")
    found >> Reply(SUCCESS, 1)


def _how_many(reply: Command) -> int:
    return len(decode_messages(reply.body))


@case(kills=["tags-find-nothing", "tags-are-keys"])
def test_tag_finds(bk: BrokerSession) -> None:
    topic, word = bk.topic(), bk.name("word")
    bk.send(topic, b"tag", tags=word) >> Reply(SUCCESS)
    bk.send(topic, b"key", keys=word) >> Reply(SUCCESS)
    bk.send(topic, b"unique", properties={"UNIQ_KEY": word}) >> Reply(SUCCESS)
    bk.send(topic, b"other", tags=f"{word}-other") >> Reply(SUCCESS)
    bk.find(topic, word, kind="T").bodies.eventually() >> Reply(SUCCESS, [b"tag"])
    for kind in ("K", "U", None):
        bk.find(topic, word, kind=kind).bodies.eventually() >> Reply(SUCCESS, [b"key", b"unique"])


@case(kills=["only-one-message-is-found", "newest-message-is-found-first"])
def test_all_with_the_key_are_found(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    for body, queue in ((b"1", 3), (b"2", 0), (b"3", 2)):
        bk.send(topic, body, queue, keys=key) >> Reply(SUCCESS)
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"1", b"2", b"3"])


@case(kills=["all-topics-are-searched"])
def test_other_topics_are_not_searched(bk: BrokerSession) -> None:
    topic, other, key = bk.topic(), bk.topic("other"), bk.name("key")
    bk.send(other, b"other", keys=key) >> Reply(SUCCESS)
    bk.send(topic, b"found", keys=key) >> Reply(SUCCESS)
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"found"])


@case(kills=["nothing-found-is-success"])
def test_unknown_key_is_not_found(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, keys=bk.name("key")) >> Reply(SUCCESS)
    number = Matching(r"^\d+$")
    told = {TIME_OF_INDEX: number, PLACE_OF_INDEX: number}
    bk.find(topic, bk.name("none")) >> Reply(NOT_FOUND, remark=NONE_THERE, ext=told)


NEAR = 4_000
"""ms. A Broker may know of a message only within which second it was stored."""


@case(kills=["time-of-search-ignored", "search-begins-at-any-time", "search-never-ends"], clock=True)
def test_time_bounds_hold(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    for body in (b"1", b"2", b"3"):
        bk.send(topic, body, 1, keys=key) >> Reply(SUCCESS)
        bk.advance(10)
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"1", b"2", b"3"])
    second, third = (pulled(bk, topic, 1, offset)["store_timestamp"] for offset in (1, 2))
    bk.find(topic, key, end=second + NEAR).bodies >> Reply(SUCCESS, [b"1", b"2"])
    bk.find(topic, key, begin=second - NEAR).bodies >> Reply(SUCCESS, [b"2", b"3"])
    bk.find(topic, key, begin=second - NEAR, end=second + NEAR).bodies >> Reply(SUCCESS, [b"2"])
    bk.find(topic, key, begin=third + NEAR) >> Reply(NOT_FOUND, remark=NONE_THERE)
    bk.find(topic, key, begin=0, end=1) >> Reply(NOT_FOUND, remark=NONE_THERE)


@case(kills=["search-without-limit", "search-finds-any-number"])
def test_not_more_than_requested(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    batch = [Message(topic=topic, body=b"%d" % n, properties={"KEYS": key}) for n in range(70)]
    bk.send_batch(topic, batch) >> Reply(SUCCESS)
    for most, found in ((1, 1), (3, 3), (64, 64), (100, 64)):
        newest = [b"%d" % n for n in range(70 - found, 70)]
        bk.find(topic, key, most=most).bodies.eventually() >> Reply(SUCCESS, newest)


@case(kills=["searches-exclude-their-begin", "searches-exclude-their-end"], clock=True, own_server=True)
def test_time_bounds_are_included(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("key")
    bk.send(topic, b"1", 1, keys=key) >> Reply(SUCCESS)  # A Broker may know the time of the first one alone.
    bk.advance(10)
    bk.send(topic, b"2", 1, keys=key) >> Reply(SUCCESS)
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"1", b"2"])
    first = pulled(bk, topic, 1)["store_timestamp"]
    bk.find(topic, key, begin=first, end=first).bodies >> Reply(SUCCESS, [b"1"])
    bk.find(topic, key, end=first - 1) >> Reply(NOT_FOUND, remark=NONE_THERE)
    bk.find(topic, key, begin=first + 1).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["search-by-unique-key-without-limit"])
def test_not_more_than_32_with_a_unique_key(bk: BrokerSession) -> None:
    topic, key = bk.topic(), bk.name("unique")
    batch = [Message(topic=topic, body=b"%d" % n, properties={"UNIQ_KEY": key}) for n in range(40)]
    bk.send_batch(topic, batch) >> Reply(SUCCESS)
    newest = [b"%d" % n for n in range(8, 40)]
    for most in (1, 64):
        bk.find(topic, key, most=most, unique=True).bodies.eventually() >> Reply(SUCCESS, newest)


@case(
    kills=[
        "index-state-not-told",
        "index-state-is-of-the-future",
        "index-state-is-of-what-was-found",
        "index-state-is-of-messages-without-a-key",
    ],
    clock=True,
    own_server=True,
)
def test_tells_how_far_the_index_is(bk: BrokerSession) -> None:
    topic, other, key = bk.topic(), bk.topic("other"), bk.name("key")
    bk.find(topic, key) >> Reply(NOT_FOUND, ext={TIME_OF_INDEX: "0", PLACE_OF_INDEX: "0"})
    bk.send(topic, b"found", keys=key) >> Reply(SUCCESS)
    bk.advance(1)
    bk.send(other, b"newest", 2, keys=bk.name("key")) >> Reply(SUCCESS)
    newest = pulled(bk, other, 2)
    bk.advance(1)
    bk.send(other, b"rolled back", 3, sys_flag=12) >> Reply(SUCCESS)  # has no key
    told = {
        TIME_OF_INDEX: str(newest["store_timestamp"]),
        PLACE_OF_INDEX: str(newest["physical_offset"]),
    }
    bk.find(topic, key).bodies.eventually() >> Reply(SUCCESS, [b"found"], ext=told)
    bk.find(topic, bk.name("none")) >> Reply(NOT_FOUND, ext={TIME_OF_INDEX: "0", PLACE_OF_INDEX: "0"})


@case(kills=["ids-find-next-message"])
def test_message_id_finds(bk: BrokerSession) -> None:
    topic = bk.topic()
    first = bk.send(topic, b"1").ids >> Reply(SUCCESS)
    bk.send(topic, b"2").ids >> Reply(SUCCESS)
    bk.view(decode_offset_id(first.value[0])[1]).bodies.eventually() >> Reply(SUCCESS, [b"1"])


@case(kills=["empty-place-is-success"])
def test_offset_without_a_message_is_refused(bk: BrokerSession) -> None:
    for offset in (10**12, -5):
        remark = f"can not find message by the offset, {offset}"
        bk.view(offset) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)


@case(kills=["waiting-messages-not-shown"])
def test_waiting_message_is_found_by_id(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, b"later", properties={"DELAY": "18"}).ids >> Reply(SUCCESS)
    view = bk.view(decode_offset_id(sent.value[0])[1])
    view.seen("topic and body", lambda one: (one.topic, one.body)).eventually() >> Reply(
        SUCCESS, [("SCHEDULE_TOPIC_XXXX", b"later")]
    )


@case(kills=["waiting-messages-lose-properties"])
def test_waiting_message_is_whole(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    plain = plain_properties(bk, connection)
    sent = sent_members(bk, topic, connection)
    place = decode_offset_id(send_whole(bk, topic, connection, DELAY="18"))[1]
    judge_copy(bk.view(place), "delayed by a level, waiting", sent, plain, level=18)


@case(kills=["fields-of-queries-may-be-missing", "fields-of-views-may-be-missing"])
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    sent = bk.send(topic, b"found", keys="k").ids >> Reply(SUCCESS)
    numbers = {"maxNum": "9", "beginTimestamp": "0", "endTimestamp": str(2**63 - 1)}
    said = {"topic": topic, "key": "k", **numbers}
    place = {"offset": str(decode_offset_id(sent.value[0])[1])}
    bk.find(topic, "k").bodies.eventually() >> Reply(SUCCESS, [b"found"])
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    for code, given in ((RequestCode.QUERY_MESSAGE, said), (RequestCode.VIEW_MESSAGE_BY_ID, place)):
        for name in given.keys() - {"topic", "key"}:
            for wrong in (None, "x"):
                bk.call(code, {**given, name: wrong}) >> refused
        bk.call(code, given) >> Reply(SUCCESS)
    for name in ("topic", "key"):
        bk.call(RequestCode.QUERY_MESSAGE, {**said, name: None}) >> Reply(NOT_FOUND)


@case(kills=["end-of-the-log-is-success"], own_server=True)
def test_end_of_the_log_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"a") >> Reply(SUCCESS)
    ends = bk.pull(topic).seen("offset and size", lambda one: (one.physical_offset, one.size))
    ((begin, size),) = (ends.eventually() >> Reply(SUCCESS, [ANYTHING])).value
    for offset in (begin + size - 3, begin + size):
        remark = f"can not find message by the offset, {offset}"
        bk.view(offset) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.view(begin).bodies >> Reply(SUCCESS, [b"a"])


def statistic(bk: BrokerSession, name: str, key: str) -> Exchange:
    return asked(bk, RequestCode.VIEW_BROKER_STATS_DATA, statsName=name, statsKey=key)


@case(kills=["statistics-have-no-days"])
def test_statistics_are_shown(bk: BrokerSession) -> None:
    topic, batches = bk.topic(), bk.topic("batches")
    bk.send_batch(batches, [b"a", b"b"]) >> Reply(SUCCESS)
    statistic(bk, "TOPIC_PUT_NUMS", batches) >> Reply(SUCCESS)
    bk.send(topic) >> Reply(SUCCESS)
    sizes = bk.pull(topic).seen("size", lambda one: one.size)
    (size,) = (sizes.eventually() >> Reply(SUCCESS, [ANYTHING])).value
    for name, most in (("TOPIC_PUT_NUMS", 1), ("TOPIC_PUT_SIZE", size)):
        # A Broker looks at its counters at times of its own, so the message may be in the numbers or not.
        numbers = dict.fromkeys(("avgpt", "sum", "tps"), Between(0, most))
        shown = dict.fromkeys(("statsDay", "statsHour", "statsMinute"), numbers)
        statistic(bk, name, topic) >> Reply(SUCCESS, shown)


@case(kills=["every-statistic-is-shown"])
def test_unknown_statistics_are_refused(bk: BrokerSession) -> None:
    topic, other = bk.topic(), bk.topic("other")
    bk.send(topic) >> Reply(SUCCESS)
    for name, key in (("TOPIC_PUT_NUMS", other), ("NONE", topic)):
        statistic(bk, name, key) >> Reply(ERROR, remark=f"The stats <{name}> <{key}> not exist")
    statistic(bk, "TOPIC_PUT_NUMS", topic) >> Reply(SUCCESS)
