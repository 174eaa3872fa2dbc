"""Chapter send: several messages at once (code 320)."""

import struct

from harness.conformance import ABSENT, Including, Matching, Reply, case
from harness.conformance.broker.whole import (
    OWN,
    QUEUE,
    judge_copy,
    plain_properties,
    send_batch_of_wholes,
    sent_members,
)
from harness.session import BrokerSession
from harness.wire import ResponseCode, body_crc32
from harness.wire.messages import Message, encode_batch

SUCCESS = ResponseCode.SUCCESS
MESSAGE_ILLEGAL = ResponseCode.MESSAGE_ILLEGAL


@case(kills=["batch-code-is-always-a-batch"])
def test_batch_code_with_one_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"just one", code=320).offset >> Reply(SUCCESS, 0)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"just one"])


@case(kills=["batch-tells-its-last-offset", "batch-has-one-tag"])
def test_batch_is_stored_message_by_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"before", queue=1) >> Reply(SUCCESS)
    three = [Message(topic=topic, body=b"%d" % n, properties={"TAGS": f"t{n}"}) for n in range(3)]
    bk.send_batch(topic, three, queue=1).offset >> Reply(SUCCESS, 1)
    pull = bk.pull(topic, queue=1, offset=1)
    tags = pull.seen("tag and offset", _tag_and_offset)
    tags.eventually() >> Reply(SUCCESS, [("t0", 1), ("t1", 2), ("t2", 3)])
    bk.pull(topic, queue=1, offset=1).bodies >> Reply(SUCCESS, [b"0", b"1", b"2"])


def _tag_and_offset(message: Message) -> tuple[str | None, int]:
    return message.properties.get("TAGS"), message.queue_offset


@case(kills=["batch-has-one-id"])
def test_batch_has_an_id_for_each_message(bk: BrokerSession) -> None:
    one = Matching("^[0-9A-F]{32}$")
    bk.send_batch(bk.topic(), [b"a", b"b", b"c"]).ids >> Reply(SUCCESS, (one, one, one))


@case(kills=["batches-lose-their-properties"])
def test_batch_properties_are_those_of_each_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    own = [{"TAGS": "a", "x": "1"}, {"TAGS": "b", "y": "2"}]
    batch = encode_batch([Message(topic=topic, body=b"m", properties=one) for one in own], "5.3")
    common = {"x": "common", "KEYS": "k"}
    bk.send(topic, batch, 1, code=320, batch=True, properties=common) >> Reply(SUCCESS)
    stored = [Including({**one, **common, "CLUSTER": bk.cluster_name}) for one in own]
    bk.pull(topic, queue=1).properties.eventually() >> Reply(SUCCESS, stored)
    bk.find(topic, "k").properties.eventually() >> Reply(SUCCESS, Including(stored))


@case(kills=["batches-hand-on-their-handle"])
def test_handle_of_a_batch_is_of_no_message(bk: BrokerSession) -> None:
    topic = bk.topic()
    bodies = encode_batch([Message(topic=topic, body=body) for body in (b"a", b"b")], "5.3")
    common = {"POP_CK": "a handle", "x": "common"}
    bk.send(topic, bodies, 1, code=320, batch=True, properties=common) >> Reply(SUCCESS)
    stored = Including({"x": "common", "POP_CK": ABSENT})
    bk.pull(topic, queue=1).properties.eventually() >> Reply(SUCCESS, [stored, stored])


@case(kills=["batches-share-their-properties"])
def test_properties_of_the_header_are_of_no_message(bk: BrokerSession) -> None:
    topic, own = bk.topic(), [{"TAGS": "a", "x": "1"}, {"y": "2"}]
    batch = encode_batch([Message(topic=topic, body=b"m", properties=one) for one in own], "5.3")
    common = {"x": "common", "KEYS": "k"}
    bk.send(topic, batch, 1, code=320, batch=True, properties=common) >> Reply(SUCCESS)
    bk.pull(topic, queue=1).properties.eventually() >> Reply(SUCCESS, own)


@case(kills=["batches-come-from-the-broker", "batches-lose-their-bits"])
def test_batch_keeps_what_was_sent(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    sent = sent_members(bk, topic, connection)
    plain = OWN if bk.profile.has("bare-batches") else plain_properties(bk, connection)
    send_batch_of_wholes(bk, topic, connection)
    for offset in (0, 1):
        judge_copy(bk.pull(topic, QUEUE, offset, most=1), "one of a batch", sent, plain)


@case(kills=["batches-go-by-their-total-size", "batches-have-no-magic-code", "batches-have-no-checksums"])
def test_batch_is_read_by_its_lengths(bk: BrokerSession) -> None:
    topic = bk.topic()
    stated = ((0, 1, 2, 3, b"one"), (7, -1, 0, 5, b""), (1_000_000, 0x7FFFFFFF, -9, 6, b"three"))
    body = b""
    for size, magic, checksum, flag, text in stated:
        tags = b"TAGS\1t%d\2" % flag
        body += struct.pack(">5i", size, magic, checksum, flag, len(text)) + text
        body += struct.pack(">h", len(tags)) + tags
    one = Matching("^[0-9A-F]{32}$")
    bk.send(topic, body, 1, code=320, batch=True).ids >> Reply(SUCCESS, (one, one, one))
    pull = bk.pull(topic, 1).seen("body, checksum, flag and tag", _all_of_one)
    stored = [(text, body_crc32(text), flag, f"t{flag}") for *_, flag, text in stated]
    pull.eventually() >> Reply(SUCCESS, stored)


def _all_of_one(message: Message) -> tuple[bytes, int, int, str | None]:
    return message.body, message.body_crc, message.flag, message.properties.get("TAGS")


@case(kills=["batches-may-be-delayed"])
def test_batch_may_not_be_delayed(bk: BrokerSession) -> None:
    topic = bk.topic()
    body = encode_batch([Message(topic=topic, body=b"one")], "5.3")
    bk.send(topic, body, code=320, batch=True) >> Reply(SUCCESS)
    bk.send(topic, body, code=320, batch=True, properties={"DELAY": "1"}) >> Reply(MESSAGE_ILLEGAL)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)


@case(kills=["batches-may-be-of-transactions"])
def test_batch_is_of_no_transaction(bk: BrokerSession) -> None:
    topic = bk.topic()
    for bits in (4, 8, 12):
        bk.send_batch(topic, [b"a", b"b"], sys_flag=bits) >> Reply(MESSAGE_ILLEGAL)
    bk.send_batch(topic, [b"c", b"d"], sys_flag=1).offset >> Reply(SUCCESS, 0)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"c", b"d"])


@case(kills=["batches-are-retried"])
def test_batch_for_a_retry_topic_is_illegal(bk: BrokerSession) -> None:
    topic = f"%RETRY%{bk.group()}"
    remark = f"batch request does not support retry group {topic}"
    bk.send_batch(topic, [b"a", b"b"]) >> Reply(MESSAGE_ILLEGAL, remark=remark)
    bk.send(topic, b"c") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"c"])


@case(kills=["broken-batches-are-taken"])
def test_batch_that_cannot_be_read_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    batch = encode_batch([Message(topic=topic, body=b"a"), Message(topic=topic, body=b"b")], "5.3")
    keyed = encode_batch([Message(topic=topic, body=b"a", properties={"KEYS": "k"})], "4.9")
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    backwards = struct.pack(">9i", 0, 0, 0, 0, -6, 0, 0, 0, 1) + b"x" + bytes(2)  # a body of -6 bytes
    for body in (batch[:-1], b"\0\0\0", keyed[:-1], backwards):
        bk.send(topic, body, code=320, batch=True) >> refused
    bk.send_batch(topic, [b"c", b"d"]) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"c", b"d"])


@case(kills=["batches-share-no-properties-limit"], own_server=True)
def test_batch_properties_over_the_limit_are_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    body = encode_batch([Message(topic=topic, body=b"a", properties={"p": "x" * 20000})], "5.3")
    bk.send(topic, body, code=320, batch=True, properties={"q": "y" * 20000}) >> Reply(MESSAGE_ILLEGAL)
    bk.send(topic, body, code=320, batch=True, properties={"q": "y" * 10000}).offset >> Reply(SUCCESS, 0)
    both = Including({"p": "x" * 20000, "q": "y" * 10000})
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [both])


@case(kills=["stored-batches-have-the-limit-of-bodies"], setup={"maxMessageSize": "1000"})
def test_limit_of_batches_is_that_of_their_bodies(bk: BrokerSession) -> None:
    topic = bk.topic()
    refused = Reply((MESSAGE_ILLEGAL, ResponseCode.SYSTEM_ERROR), remark=Matching("."))
    bk.send_batch(topic, [bytes(301), bytes(302), bytes(332)]) >> refused
    bk.send_batch(topic, [bytes(301), bytes(302), bytes(331)]).offset >> Reply(SUCCESS, 0)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [bytes(301), bytes(302), bytes(331)])


@case(kills=["large-batches-are-illegal"], setup={"maxMessageSize": "1000"})
def test_batch_over_the_limit_is_an_error(bk: BrokerSession) -> None:
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.send_batch(bk.topic(), [bytes(301), bytes(302), bytes(332)]) >> refused


@case(kills=["large-batches-are-errors"], setup={"maxMessageSize": "1000"})
def test_batch_over_the_limit_is_illegal(bk: BrokerSession) -> None:
    bk.send_batch(bk.topic(), [bytes(301), bytes(302), bytes(332)]) >> Reply(MESSAGE_ILLEGAL)


@case(kills=["empty-batches-are-taken"])
def test_empty_batch_is_refused(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"", code=320, batch=True) >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.send_batch(topic, [b"a", b"b"]).offset >> Reply(SUCCESS, 0)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"a", b"b"])
