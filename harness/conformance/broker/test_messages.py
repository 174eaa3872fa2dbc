"""Chapter messages: how messages are stored, as the bodies of pulls show them."""

from harness.conformance import ANYTHING, Between, Including, Reply, case
from harness.conformance.broker.whole import QUEUE, entire, pulled, send_whole
from harness.session import BrokerSession
from harness.wire import ResponseCode
from harness.wire.messages import Message, SysFlag, decode_offset_id, encode_message, offset_id

SUCCESS = ResponseCode.SUCCESS
ALL_BYTES = bytes(range(256))
HIGH_BIT = b"message"
"""Its CRC-32 has the highest bit, which is cut."""


@case(kills=["messages-have-another-magic"])
def test_begin_with_their_size_and_a_magic(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"one") >> Reply(SUCCESS)
    bk.send(topic, b"three") >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.stored("magic", 4, 8).eventually() >> Reply(SUCCESS, [bytes.fromhex("daa320a7")] * 2)


@case(kills=["messages-say-a-larger-size", "topics-have-a-long-length"])
def test_lengths_fill_the_size(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"one", keys="k") >> Reply(SUCCESS)
    bk.send(topic, b"three") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"one", b"three"])


@case(kills=["checksum-with-the-highest-bit", "checksum-is-zero"])
def test_have_the_checksum_of_the_body(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, HIGH_BIT) >> Reply(SUCCESS)
    bk.pull(topic).stored("checksum", 8, 12).eventually() >> Reply(SUCCESS, [bytes.fromhex("36bd307f")])


@case(kills=["bodies-are-text"])
def test_keep_every_byte_of_the_body(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, ALL_BYTES) >> Reply(SUCCESS)
    bk.send(topic, ALL_BYTES * 512) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [ALL_BYTES, ALL_BYTES * 512])


@case(kills=["compressed-bodies-are-marked-plain"])
def test_keep_what_is_compressed(bk: BrokerSession) -> None:
    topic = bk.topic()
    packed = bytes.fromhex("789ccb48cdc9c95728cf2fca4901001a0b045d")
    bk.send(topic, packed, sys_flag=SysFlag.COMPRESSED) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.bodies.eventually() >> Reply(SUCCESS, [packed])
    pull.seen("system flags", lambda one: one.sys_flag) >> Reply(SUCCESS, [1])


@case(kills=["flags-are-zero"])
def test_keep_the_flag(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, flag_of_user=-559038737) >> Reply(SUCCESS)
    bk.pull(topic).seen("flags", lambda one: one.flag).eventually() >> Reply(SUCCESS, [-559038737])


@case(kills=["messages-know-queue-0", "messages-know-offset-0"])
def test_know_their_queue(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    bk.send(topic, queue=2).offset >> Reply(SUCCESS, 1)
    pull = bk.pull(topic, queue=2)
    pull.seen("places", lambda one: (one.topic, one.queue_id, one.queue_offset)).eventually() >> Reply(
        SUCCESS, [(topic, 2, 0), (topic, 2, 1)]
    )


@case(kills=["messages-know-no-place", "ids-are-counted"])
def test_are_where_their_id_says(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, b"first") >> Reply(SUCCESS)
    sent = bk.send(topic, b"second").ids >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1)
    pull.seen("ids", lambda one: offset_id(one.store_host, one.physical_offset)).eventually() >> Reply(
        SUCCESS, list(sent.value)
    )


@case(kills=["born-when-stored"])
def test_were_born_when_the_producer_says(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, born=1_234_567_890_123) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen("born", lambda one: one.born_timestamp).eventually() >> Reply(SUCCESS, [1_234_567_890_123])


@case(kills=["born-nowhere"])
def test_were_born_at_the_peer(bk: BrokerSession) -> None:
    topic = bk.topic()
    producer = bk.connect()
    bk.send(topic, on=producer) >> Reply(SUCCESS)
    bk.pull(topic).seen("born at", lambda one: one.born_host).eventually() >> Reply(SUCCESS, [producer.peer])


@case(kills=["stored-nowhere"])
def test_are_stored_at_the_registered_address(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen("stored at", lambda one: one.store_host).eventually() >> Reply(SUCCESS, [bk.broker_address])


@case(kills=["stored-when-born"], clock=True)
def test_tell_when_they_were_stored(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, born=1) >> Reply(SUCCESS)
    first = bk.pull(topic).seen("stored", lambda one: one.store_timestamp).eventually() >> Reply(SUCCESS)
    bk.advance(60)
    bk.send(topic, born=1) >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1)
    pull.seen("ms later", lambda one: one.store_timestamp - first.value[0]).eventually() >> Reply(
        SUCCESS, [Between(60_000 - 1000 * bk.jitter, 120_000)]
    )


@case(kills=["consumed-never"])
def test_count_how_often_they_were_consumed(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, reconsumed=3) >> Reply(SUCCESS)
    bk.pull(topic).seen("times", lambda one: one.reconsume_times).eventually() >> Reply(SUCCESS, [3])


@case(kills=["properties-are-latin", "values-end-at-0x01"])
def test_keep_properties(bk: BrokerSession) -> None:
    topic = bk.topic()
    given = {"clé": "värde 中 \U0001f600", "a": "b\1c", "blank": " ", "long": "x" * 3000}
    bk.send(topic, properties=given) >> Reply(SUCCESS)
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [Including(given)])


@case(kills=["no-last-separator"])
def test_properties_end_with_0x02(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"a": "b"}) >> Reply(SUCCESS)
    bk.pull(topic).stored("last byte", -1).eventually() >> Reply(SUCCESS, [b"\2"])


@case(kills=["a-last-separator"])
def test_properties_end_with_a_value(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, properties={"a": "b"}) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen(
        "superfluous bytes", lambda one: one.size - len(encode_message(one, "4.9"))
    ).eventually() >> Reply(SUCCESS, [0])


@case(kills=["a-batch-has-one-flag", "a-batch-has-one-body"])
def test_of_a_batch_keep_what_is_their_own(bk: BrokerSession) -> None:
    topic = bk.topic()
    batch = [
        Message(topic=topic, body=b"one", flag=1, properties={"KEYS": "k1"}),
        Message(topic=topic, body=b"two", flag=2, properties={"TAGS": "t2"}),
    ]
    bk.send_batch(topic, batch, queue=1).offset >> Reply(SUCCESS, 0)
    pull = bk.pull(topic, queue=1)
    pull.seen("messages", lambda one: (one.queue_offset, one.flag, one.body)).eventually() >> Reply(
        SUCCESS, [(0, 1, b"one"), (1, 2, b"two")]
    )
    pull.properties >> Reply(SUCCESS, [Including({"KEYS": "k1"}), Including({"TAGS": "t2"})])


@case(kills=["viewed-messages-are-others"])
def test_are_the_same_however_they_are_found(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic, keys="k") >> Reply(SUCCESS)
    pulled = bk.pull(topic).body.eventually() >> Reply(SUCCESS)
    place = bk.pull(topic).seen("places", lambda one: one.physical_offset) >> Reply(SUCCESS, [ANYTHING])
    bk.view(place.value[0]).body >> Reply(SUCCESS, pulled.value)
    bk.find(topic, "k").body.eventually() >> Reply(SUCCESS, pulled.value)


@case(kills=["multi-tag-is-not-marked", "batches-are-not-marked", "every-message-is-marked"])
def test_of_a_topic_with_several_tags_say_so(bk: BrokerSession) -> None:
    topic, other = bk.name("T"), bk.topic("U")
    bk.create_topic(topic, filter_type="MULTI_TAG") >> Reply(SUCCESS)
    for one, flags in ((topic, SysFlag.MULTI_TAGS.value), (other, 0)):
        bk.send(one, b"alone") >> Reply(SUCCESS)
        bk.send_batch(one, [b"first", b"second"]) >> Reply(SUCCESS)
        pull = bk.pull(one)
        pull.bodies.eventually() >> Reply(SUCCESS, [b"alone", b"first", b"second"])
        pull.seen("system flags", lambda message: message.sys_flag) >> Reply(SUCCESS, [flags] * 3)


@case(kills=["searched-messages-lose-properties", "viewed-messages-lose-properties"])
def test_are_the_same_in_every_answer(bk: BrokerSession) -> None:
    topic, connection = bk.topic(), bk.connect()
    bk.send(topic, queue=QUEUE) >> Reply(SUCCESS)
    place = decode_offset_id(send_whole(bk, topic, connection))[1]
    message = pulled(bk, topic, QUEUE, 1)
    bk.find(topic, "k").seen("message", entire).eventually() >> Reply(SUCCESS, [message])
    bk.view(place).seen("message", entire) >> Reply(SUCCESS, [message])


@case(kills=["lite-pulls-change-messages", "popped-messages-have-no-time"])
def test_are_the_same_in_every_answer_of_5x(bk: BrokerSession) -> None:
    topic, connection = bk.topic(queues=1), bk.connect()
    bk.send(topic, b"first") >> Reply(SUCCESS)
    send_whole(bk, topic, connection, 0)
    messages = [pulled(bk, topic, 0, offset) for offset in range(2)]
    bk.pull(topic, code=361).seen("messages", entire) >> Reply(SUCCESS, messages)
    bk.pop(topic, bk.group(), most=2).seen("messages", entire) >> Reply(SUCCESS, messages)
