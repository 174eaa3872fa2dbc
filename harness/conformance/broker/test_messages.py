"""Chapter messages: how messages are stored, as the bodies of pulls show them."""

from harness.conformance import Between, Including, Reply, case
from harness.session import BrokerSession
from harness.wire import ResponseCode
from harness.wire.messages import Message, SysFlag, encode_message, offset_id

SUCCESS = ResponseCode.SUCCESS
ALL_BYTES = bytes(range(256))
HIGH_BIT = b"message"
"""Its CRC-32 has the highest bit, which is cut."""


@case("bk.messages.begin-with-their-size-and-a-magic", kills=["messages-have-another-magic"])
def test_begin_with_their_size_and_a_magic(bk: BrokerSession) -> None:
    """The body of a pull is one message behind the other, each with its size and a magic in front."""
    topic = bk.topic()
    bk.send(topic, b"one") >> Reply(SUCCESS)
    bk.send(topic, b"three") >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.stored("magic", 4, 8).eventually() >> Reply(SUCCESS, [bytes.fromhex("daa320a7")] * 2)


@case("bk.messages.lengths-fill-the-size", kills=["messages-say-a-larger-size", "topics-have-a-long-length"])
def test_lengths_fill_the_size(bk: BrokerSession) -> None:
    """The fields of a message, with the lengths that they state, are as long as the message says."""
    topic = bk.topic()
    bk.send(topic, b"one", keys="k") >> Reply(SUCCESS)
    bk.send(topic, b"three") >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"one", b"three"])


@case(
    "bk.messages.have-the-checksum-of-the-body", kills=["checksum-with-the-highest-bit", "checksum-is-zero"]
)
def test_have_the_checksum_of_the_body(bk: BrokerSession) -> None:
    """The checksum is CRC-32 of the body without its highest bit."""
    topic = bk.topic()
    bk.send(topic, HIGH_BIT) >> Reply(SUCCESS)
    bk.pull(topic).stored("checksum", 8, 12).eventually() >> Reply(SUCCESS, [bytes.fromhex("36bd307f")])


@case("bk.messages.keep-every-byte-of-the-body", kills=["bodies-are-text"])
def test_keep_every_byte_of_the_body(bk: BrokerSession) -> None:
    """A body is stored as it came, whatever its bytes are."""
    topic = bk.topic()
    bk.send(topic, ALL_BYTES) >> Reply(SUCCESS)
    bk.send(topic, ALL_BYTES * 512) >> Reply(SUCCESS)
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [ALL_BYTES, ALL_BYTES * 512])


@case("bk.messages.keep-what-is-compressed", kills=["compressed-bodies-are-marked-plain"])
def test_keep_what_is_compressed(bk: BrokerSession) -> None:
    """A body that its producer compressed stays so, and says so."""
    topic = bk.topic()
    packed = bytes.fromhex("789ccb48cdc9c95728cf2fca4901001a0b045d")
    bk.send(topic, packed, sys_flag=SysFlag.COMPRESSED) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.bodies.eventually() >> Reply(SUCCESS, [packed])
    pull.seen("system flags", lambda one: one.sys_flag) >> Reply(SUCCESS, [1])


@case("bk.messages.keep-the-flag", kills=["flags-are-zero"])
def test_keep_the_flag(bk: BrokerSession) -> None:
    """The flag of the user is stored as it was sent."""
    topic = bk.topic()
    bk.send(topic, flag_of_user=-559038737) >> Reply(SUCCESS)
    bk.pull(topic).seen("flags", lambda one: one.flag).eventually() >> Reply(SUCCESS, [-559038737])


@case("bk.messages.know-their-queue", kills=["messages-know-queue-0", "messages-know-offset-0"])
def test_know_their_queue(bk: BrokerSession) -> None:
    """A message knows its topic, its queue and its offset there."""
    topic = bk.topic()
    bk.send(topic, queue=2) >> Reply(SUCCESS)
    bk.send(topic, queue=2).offset >> Reply(SUCCESS, 1)
    pull = bk.pull(topic, queue=2)
    pull.seen("places", lambda one: (one.topic, one.queue_id, one.queue_offset)).eventually() >> Reply(
        SUCCESS, [(topic, 2, 0), (topic, 2, 1)]
    )


@case("bk.messages.are-where-their-id-says", kills=["messages-know-no-place", "ids-are-counted"])
def test_are_where_their_id_says(bk: BrokerSession) -> None:
    """The id of the answer is the store host and the offset in the log that the message holds."""
    topic = bk.topic()
    bk.send(topic, b"first") >> Reply(SUCCESS)
    sent = bk.send(topic, b"second").ids >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1)
    pull.seen("ids", lambda one: offset_id(one.store_host, one.physical_offset)).eventually() >> Reply(
        SUCCESS, list(sent.value)
    )


@case("bk.messages.were-born-when-the-producer-says", kills=["born-when-stored"])
def test_were_born_when_the_producer_says(bk: BrokerSession) -> None:
    """The time at which a message was born is the producer's."""
    topic = bk.topic()
    bk.send(topic, born=1_234_567_890_123) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen("born", lambda one: one.born_timestamp).eventually() >> Reply(SUCCESS, [1_234_567_890_123])


@case("bk.messages.were-born-at-the-peer", kills=["born-nowhere"])
def test_were_born_at_the_peer(bk: BrokerSession) -> None:
    """The host at which a message was born is the other end of the producer's connection."""
    topic = bk.topic()
    producer = bk.connect()
    bk.send(topic, on=producer) >> Reply(SUCCESS)
    bk.pull(topic).seen("born at", lambda one: one.born_host).eventually() >> Reply(SUCCESS, [producer.peer])


@case("bk.messages.are-stored-at-the-registered-address", kills=["stored-nowhere"])
def test_are_stored_at_the_registered_address(bk: BrokerSession) -> None:
    """The store host is the address that the Broker registers."""
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen("stored at", lambda one: one.store_host).eventually() >> Reply(SUCCESS, [bk.broker_address])


@case("bk.messages.tell-when-they-were-stored", kills=["stored-when-born"], clock=True)
def test_tell_when_they_were_stored(bk: BrokerSession) -> None:
    """The time of storing is the Broker's, in milliseconds."""
    topic = bk.topic()
    bk.send(topic, born=1) >> Reply(SUCCESS)
    first = bk.pull(topic).seen("stored", lambda one: one.store_timestamp).eventually() >> Reply(SUCCESS)
    bk.advance(60)
    bk.send(topic, born=1) >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1)
    pull.seen("ms later", lambda one: one.store_timestamp - first.value[0]).eventually() >> Reply(
        SUCCESS, [Between(60_000 - 1000 * bk.jitter, 120_000)]
    )


@case("bk.messages.count-how-often-they-were-consumed", kills=["consumed-never"])
def test_count_how_often_they_were_consumed(bk: BrokerSession) -> None:
    """How often a message has come back is stored as the send says."""
    topic = bk.topic()
    bk.send(topic, reconsumed=3) >> Reply(SUCCESS)
    bk.pull(topic).seen("times", lambda one: one.reconsume_times).eventually() >> Reply(SUCCESS, [3])


@case("bk.messages.keep-properties", kills=["properties-are-latin", "values-end-at-0x01"])
def test_keep_properties(bk: BrokerSession) -> None:
    """Properties are stored as they were sent: any text, also 0x01 in a value."""
    topic = bk.topic()
    given = {"clé": "värde 中 \U0001f600", "a": "b\1c", "blank": " ", "long": "x" * 3000}
    bk.send(topic, properties=given) >> Reply(SUCCESS)
    bk.pull(topic).properties.eventually() >> Reply(SUCCESS, [Including(given)])


@case("bk.messages.properties-end-with-0x02", kills=["no-last-separator"])
def test_properties_end_with_0x02(bk: BrokerSession) -> None:
    """Behind the last property there is a separator."""
    topic = bk.topic()
    bk.send(topic, properties={"a": "b"}) >> Reply(SUCCESS)
    bk.pull(topic).stored("last byte", -1).eventually() >> Reply(SUCCESS, [b"\2"])


@case("bk.messages.properties-end-with-a-value", kills=["a-last-separator"])
def test_properties_end_with_a_value(bk: BrokerSession) -> None:
    """Behind the last property there is no separator."""
    topic = bk.topic()
    bk.send(topic, properties={"a": "b"}) >> Reply(SUCCESS)
    pull = bk.pull(topic)
    pull.seen(
        "superfluous bytes", lambda one: one.size - len(encode_message(one, "4.9"))
    ).eventually() >> Reply(SUCCESS, [0])


@case("bk.messages.of-a-batch-keep-what-is-their-own", kills=["a-batch-has-one-flag", "a-batch-has-one-body"])
def test_of_a_batch_keep_what_is_their_own(bk: BrokerSession) -> None:
    """Messages of a batch are stored one by one, each with its flag, its body and its properties."""
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


@case("bk.messages.are-the-same-however-they-are-found", kills=["viewed-messages-are-others"])
def test_are_the_same_however_they_are_found(bk: BrokerSession) -> None:
    """A message has the same bytes in a pull, in a view by its offset, and in what a search by key finds."""
    topic = bk.topic()
    bk.send(topic, keys="k") >> Reply(SUCCESS)
    pulled = bk.pull(topic).body.eventually() >> Reply(SUCCESS)
    place = bk.pull(topic).seen("places", lambda one: one.physical_offset) >> Reply(SUCCESS)
    bk.view(place.value[0]).body >> Reply(SUCCESS, pulled.value)
    bk.find(topic, "k").body.eventually() >> Reply(SUCCESS, pulled.value)
