"""Mutants of the chapter messages: what is stored is not what was sent, or is written in another way."""

from collections.abc import Callable

from harness.wire.messages import Message, decode_message
from reference_impl.broker.parts import Parts
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import Put, Store
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

V4 = ("4.9",)


def _patched(parts: Parts, patch: Callable[[bytes], bytes]) -> Parts:
    """Messages whose bytes are others."""

    def encoded(self: Store, message: Message) -> bytes:
        data = patch(parts.store.encoded(self, message))
        message.size = len(data)
        return data

    return parts.override("store", encoded)


def _changed(parts: Parts, change: Callable[[Message], None]) -> Parts:
    """Messages that are changed when they have their place."""

    def encoded(self: Store, message: Message) -> bytes:
        change(message)
        return parts.store.encoded(self, message)

    return parts.override("store", encoded)


def _written(parts: Parts, change: Callable[[Message], None]) -> Parts:
    """Messages whose bytes say something else than where they are."""

    def encoded(self: Store, message: Message) -> bytes:
        other = decode_message(parts.store.encoded(self, message))
        change(other)
        return parts.store.encoded(self, other)

    return parts.override("store", encoded)


@mutant("messages-have-another-magic", "The magic of a message is DAA320A8.")
def messages_have_another_magic(parts: Parts) -> Parts:
    return _patched(parts, lambda data: data[:7] + b"\xa8" + data[8:])


@mutant("messages-say-a-larger-size", "A message says that it has one byte more than it has.")
def messages_say_a_larger_size(parts: Parts) -> Parts:
    return _patched(parts, lambda data: (len(data) + 1).to_bytes(4, "big") + data[4:])


@mutant("topics-have-a-long-length", "The length of a topic has two bytes, behind the magic that says one.")
def topics_have_a_long_length(parts: Parts) -> Parts:
    def patch(data: bytes) -> bytes:
        at = 88 + int.from_bytes(data[84:88], "big")
        return (len(data) + 1).to_bytes(4, "big") + data[4:at] + b"\0" + data[at:]

    return _patched(parts, patch)


@mutant("checksum-with-the-highest-bit", "The checksum of a body has all of its 32 bits.")
def checksum_with_the_highest_bit(parts: Parts) -> Parts:
    return _patched(parts, lambda data: data[:8] + bytes((data[8] | 0x80,)) + data[9:])


@mutant("checksum-is-zero", "Messages have no checksum.")
def checksum_is_zero(parts: Parts) -> Parts:
    return _patched(parts, lambda data: data[:8] + bytes(4) + data[12:])


@mutant("bodies-are-text", "A body is read as UTF-8 and written again.")
def bodies_are_text(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.body = message.body.decode("utf-8", "replace").encode()

    return _changed(parts, change)


@mutant(
    "compressed-bodies-are-marked-plain", "The system flag of a message does not say that it is compressed."
)
def compressed_bodies_are_marked_plain(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.sys_flag &= ~1

    return _changed(parts, change)


@mutant("flags-are-zero", "The flag of a message is not kept.")
def flags_are_zero(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.flag = 0

    return _changed(parts, change)


@mutant("messages-know-queue-0", "Every message says that it is in queue 0.")
def messages_know_queue_0(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.queue_id = 0

    return _written(parts, change)


@mutant("messages-know-offset-0", "Every message says that it is the first of its queue.")
def messages_know_offset_0(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.queue_offset = 0

    return _written(parts, change)


@mutant("messages-know-no-place", "Messages do not hold their offset in the log.")
def messages_know_no_place(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.physical_offset = 0

    return _written(parts, change)


@mutant("ids-are-counted", "The id of a message holds its offset in the queue, not that in the log.")
def ids_are_counted(parts: Parts) -> Parts:
    def success(self: Sends, message_id: str, queue_id: int, put: Put, key: str | None) -> Reply:
        counted = f"{message_id[:-16]}{put.queue_offset:016X}"
        return parts.sends.success(self, counted, queue_id, put, key)

    return parts.override("sends", success)


@mutant("born-when-stored", "A message was born when it was stored.")
def born_when_stored(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.born_timestamp = message.store_timestamp

    return _changed(parts, change)


@mutant("born-nowhere", "The host at which a message was born is 0.0.0.0.")
def born_nowhere(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.born_host = "0.0.0.0:0"

    return _changed(parts, change)


@mutant("stored-nowhere", "The host at which a message is stored is 0.0.0.0.")
def stored_nowhere(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.store_host = "0.0.0.0:0"

    return _changed(parts, change)


@mutant("stored-when-born", "The time at which a message was stored is that at which it was born.")
def stored_when_born(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.store_timestamp = message.born_timestamp

    return _changed(parts, change)


@mutant("consumed-never", "How often a message has come back is not kept.")
def consumed_never(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.reconsume_times = 0

    return _changed(parts, change)


@mutant("properties-are-latin", "Of properties only what is Latin-1 is kept.")
def properties_are_latin(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.properties = {
            key.encode("latin-1", "replace").decode("latin-1"): value.encode("latin-1", "replace").decode(
                "latin-1"
            )
            for key, value in message.properties.items()
        }

    return _changed(parts, change)


@mutant("values-end-at-0x01", "The value of a property ends in front of the first 0x01 in it.")
def values_end_at_0x01(parts: Parts) -> Parts:
    def change(message: Message) -> None:
        message.properties = {key: value.partition("\1")[0] for key, value in message.properties.items()}

    return _changed(parts, change)


@mutant("no-last-separator", "Behind the last property there is no 0x02, as in 4.9.", V5)
def no_last_separator(parts: Parts) -> Parts:
    return _patched(parts, lambda data: _properties(data, -1)[:-1])


@mutant("a-last-separator", "Behind the last property there is 0x02, as in 5.3.", V4)
def a_last_separator(parts: Parts) -> Parts:
    return _patched(parts, lambda data: _properties(data, 1) + b"\2")


def _properties(data: bytes, more: int) -> bytes:
    """A message that says that its properties have so many bytes more."""
    topic_at = 88 + int.from_bytes(data[84:88], "big")
    at = topic_at + 1 + data[topic_at]
    length = int.from_bytes(data[at : at + 2], "big") + more
    return (len(data) + more).to_bytes(4, "big") + data[4:at] + length.to_bytes(2, "big") + data[at + 2 :]


@mutant("a-batch-has-one-flag", "All messages of a batch have the flag of the first.")
def a_batch_has_one_flag(parts: Parts) -> Parts:
    def put_batch(self: Store, messages: list[Message], now: int) -> list[Put]:
        for message in messages:
            message.flag = messages[0].flag
        return parts.store.put_batch(self, messages, now)

    return parts.override("store", put_batch)


@mutant("a-batch-has-one-body", "A batch is stored as one message.")
def a_batch_has_one_body(parts: Parts) -> Parts:
    def put_batch(self: Store, messages: list[Message], now: int) -> list[Put]:
        messages[0].body = b"".join(message.body for message in messages)
        return parts.store.put_batch(self, messages[:1], now)

    return parts.override("store", put_batch)


@mutant("viewed-messages-are-others", "A message that is found by offset or key has lost its queue.")
def viewed_messages_are_others(parts: Parts) -> Parts:
    def raw_at(self: Store, physical_offset: int) -> bytes | None:
        data = parts.store.raw_at(self, physical_offset)
        return None if data is None else data[:12] + b"\xff" * 4 + data[16:]

    return parts.override("store", raw_at)
