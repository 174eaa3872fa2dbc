"""Mutants of the chapter messages: what is stored is not what was sent, or is written in another way."""

import msgspec

from harness.wire.messages import decode_message
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import V4, V5, family, mutant


@family(Store.encoded)
def _patched(patch, original, self, message):
    """Change the bytes of a message."""
    data = patch(original(self, message))
    message.size = len(data)
    return data


@family(Store.encoded)
def _written(change, original, self, message):
    """Write something else than the place of a message into its bytes."""
    other = decode_message(original(self, message))
    change(other)
    return original(self, other)


@_patched("The magic of a message is DAA320A8.")
def messages_have_another_magic(data):
    return data[:7] + b"\xa8" + data[8:]


@_patched("The size of a message is one byte too large.")
def messages_say_a_larger_size(data):
    return (len(data) + 1).to_bytes(4, "big") + data[4:]


@_patched("The topic length has two bytes, although the magic indicates one.")
def topics_have_a_long_length(data):
    at = 88 + int.from_bytes(data[84:88], "big")
    return (len(data) + 1).to_bytes(4, "big") + data[4:at] + b"\0" + data[at:]


@_patched("The body checksum keeps all 32 bits.")
def checksum_with_the_highest_bit(data):
    return data[:8] + bytes((data[8] | 0x80,)) + data[9:]


@_patched("The checksum of a message is always 0.")
def checksum_is_zero(data):
    return data[:8] + bytes(4) + data[12:]


@mutant(Store.encoded, "A body is decoded as UTF-8 and encoded again.")
def bodies_are_text(original, self, message):
    message.body = message.body.decode("utf-8", "replace").encode()
    return original(self, message)


@mutant(Store.encoded, "A compressed message loses the compressed bit of its system flag.")
def compressed_bodies_are_marked_plain(original, self, message):
    message.sys_flag &= ~1
    return original(self, message)


@mutant(Store.encoded, "The flag of a message is always 0.")
def flags_are_zero(original, self, message):
    message.flag = 0
    return original(self, message)


@_written("Every message contains queue 0.")
def messages_know_queue_0(message):
    message.queue_id = 0


@_written("Every message contains queue offset 0.")
def messages_know_offset_0(message):
    message.queue_offset = 0


@_written("Messages lack their log offset.")
def messages_know_no_place(message):
    message.physical_offset = 0


@mutant(Sends.success, "A message id contains the queue offset instead of the log offset.")
def ids_are_counted(original, self, message_id, queue_id, put, key):
    counted = f"{message_id[:-16]}{put.queue_offset:016X}"
    return original(self, counted, queue_id, put, key)


@mutant(Store.encoded, "The born timestamp is the store timestamp.")
def born_when_stored(original, self, message):
    message.born_timestamp = message.store_timestamp
    return original(self, message)


@mutant(Store.encoded, "The born host is 0.0.0.0.")
def born_nowhere(original, self, message):
    message.born_host = "0.0.0.0:0"
    return original(self, message)


@mutant(Store.encoded, "The store host is 0.0.0.0.")
def stored_nowhere(original, self, message):
    message.store_host = "0.0.0.0:0"
    return original(self, message)


@mutant(Store.encoded, "The store timestamp is the born timestamp.")
def stored_when_born(original, self, message):
    message.store_timestamp = message.born_timestamp
    return original(self, message)


@mutant(Store.encoded, "The reconsume times of a message are always 0.")
def consumed_never(original, self, message):
    message.reconsume_times = 0
    return original(self, message)


@mutant(Store.encoded, "Properties lose characters outside Latin-1.")
def properties_are_latin(original, self, message):
    message.properties = {
        key.encode("latin-1", "replace").decode("latin-1"): value.encode("latin-1", "replace").decode(
            "latin-1"
        )
        for key, value in message.properties.items()
    }
    return original(self, message)


@mutant(Store.encoded, "A property value is cut at the first 0x01.")
def values_end_at_0x01(original, self, message):
    message.properties = {key: value.partition("\1")[0] for key, value in message.properties.items()}
    return original(self, message)


@_patched("The properties do not end with 0x02, as in 4.9.", V5)
def no_last_separator(data):
    return _properties(data, -1)[:-1]


@_patched("The properties end with 0x02, as in 5.3.", V4)
def a_last_separator(data):
    return _properties(data, 1) + b"\2"


def _properties(data: bytes, more: int) -> bytes:
    """A message whose length of properties is larger by `more`."""
    topic_at = 88 + int.from_bytes(data[84:88], "big")
    at = topic_at + 1 + data[topic_at]
    length = int.from_bytes(data[at : at + 2], "big") + more
    return (len(data) + more).to_bytes(4, "big") + data[4:at] + length.to_bytes(2, "big") + data[at + 2 :]


@mutant(Store.put_batch, "All messages of a batch have the flag of the first one.")
def a_batch_has_one_flag(original, self, messages, now):
    for message in messages:
        message.flag = messages[0].flag
    return original(self, messages, now)


@mutant(Store.put_batch, "A batch is stored as one message.")
def a_batch_has_one_body(original, self, messages, now):
    messages[0].body = b"".join(message.body for message in messages)
    return original(self, messages[:1], now)


@mutant(Store.raw_at, "A message found by offset or key lacks its queue.")
def viewed_messages_are_others(original, self, physical_offset):
    data = original(self, physical_offset)
    return None if data is None else data[:12] + b"\xff" * 4 + data[16:]


@mutant(Sends.send_one, "A message of a topic with several tags is not marked.")
def multi_tag_is_not_marked(original, self, command, asked, topic, queue_id, connection, now):
    topic = msgspec.structs.replace(topic, topic_filter_type="SINGLE_TAG")
    return original(self, command, asked, topic, queue_id, connection, now)


@mutant(Sends.send_batch, "A batch for a topic with several tags is not marked.")
def batches_are_not_marked(original, self, command, asked, topic, queue_id, connection, now):
    topic = msgspec.structs.replace(topic, topic_filter_type="SINGLE_TAG")
    return original(self, command, asked, topic, queue_id, connection, now)


@mutant(Sends.send_batch, "Every batch is marked as one with several tags.")
def every_message_is_marked(original, self, command, asked, topic, queue_id, connection, now):
    topic = msgspec.structs.replace(topic, topic_filter_type="MULTI_TAG")
    return original(self, command, asked, topic, queue_id, connection, now)
