"""The message format: round trips, what it refuses, identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import WireError
from harness.wire.messages import (
    MESSAGE_MAGIC_V2,
    LineName,
    Message,
    SysFlag,
    UniqueKey,
    decode_batch,
    decode_message,
    decode_messages,
    decode_offset_id,
    decode_properties,
    encode_batch,
    encode_message,
    encode_properties,
    host_bytes,
    host_text,
    tag_hash,
)

LINES = st.sampled_from(["4.9", "5.3"])
TEXT = st.text(st.characters(blacklist_characters="\1\2", blacklist_categories=("Cs",)), max_size=12)
PROPERTIES = st.dictionaries(TEXT.filter(bool), TEXT.filter(bool), max_size=4)
HOSTS = st.sampled_from(["127.0.0.1:10911", "0.0.0.0:0", "[::1]:10911", "[2001:db8::7]:65535"])
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
MESSAGES = st.builds(
    Message,
    topic=st.from_regex(r"[%|a-zA-Z0-9_-]{1,127}", fullmatch=True),
    body=st.binary(max_size=40),
    properties=PROPERTIES,
    queue_id=INT32,
    flag=INT32,
    sys_flag=st.integers(0, 0xF),
    born_timestamp=INT64,
    born_host=HOSTS,
    store_timestamp=INT64,
    store_host=HOSTS,
    queue_offset=INT64,
    physical_offset=INT64,
    reconsume_times=INT32,
    prepared_offset=INT64,
)
SAMPLE = bytes.fromhex(
    "0000006fdaa320a73610a686000000030000000000000000000000070000000000000100000000000000018bcfe568007f000001"
    "0000c3500000018bcfe568017f00000100002a9f0000000000000000000000000000000568656c6c6f0154000e61016202544147"
    "53015461674102"
)


@given(MESSAGES, LINES)
def test_what_is_written_is_read_again(message: Message, line: LineName) -> None:
    data = encode_message(message, line)
    read = decode_message(b"before" + data + b"behind", 6)
    bits = (SysFlag.BORN_HOST_V6 if "[" in message.born_host else 0) | (
        SysFlag.STORE_HOST_V6 if "[" in message.store_host else 0
    )
    assert read.sys_flag == message.sys_flag | bits
    read.sys_flag = message.sys_flag
    assert read == message
    assert read.size == len(data)


@given(st.lists(MESSAGES, max_size=3), LINES)
def test_a_batch_is_read_again(messages: list[Message], line: LineName) -> None:
    plain = [Message(topic="T", flag=m.flag, body=m.body, properties=m.properties) for m in messages]
    assert decode_batch(encode_batch(messages, line), "T") == plain


@given(st.integers(0, len(SAMPLE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_read_or_refused(at: int, change: int) -> None:
    data = bytearray(SAMPLE)
    data[at] ^= change
    try:
        decode_messages(bytes(data))
    except WireError as error:
        assert str(error)


@given(st.integers(1, len(SAMPLE) - 1))
def test_a_message_that_ends_early_is_refused(length: int) -> None:
    with pytest.raises(WireError):
        decode_message(SAMPLE[:length])
    with pytest.raises(WireError):
        decode_messages(SAMPLE + SAMPLE[:length])


@given(st.binary(max_size=60))
def test_a_batch_of_any_bytes_is_read_or_refused(data: bytes) -> None:
    try:
        assert all(message.topic == "T" for message in decode_batch(data, "T"))
    except WireError as error:
        assert "batch" in str(error)


def test_a_body_whose_checksum_is_another_is_refused_where_it_is_checked() -> None:
    data = SAMPLE.replace(b"hello", b"hallo")
    with pytest.raises(WireError, match="checksum"):
        decode_message(data)
    assert decode_message(data, check_body=False).body == b"hallo"


def test_only_5_3_has_topics_of_more_than_127_bytes() -> None:
    message = Message(topic="t" * 128, body=b"b")
    with pytest.raises(WireError, match="topic of 128 bytes"):
        encode_message(message, "4.9")
    data = encode_message(message, "5.3")
    assert data[4:8] == MESSAGE_MAGIC_V2.to_bytes(4, "big")
    assert decode_message(data) == message


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (Message(topic="T", body=b"", properties={"k": "v" * 32767}), "properties of 32770 bytes"),
        (Message(topic="T", body=b"", queue_id=2**31), "does not fit"),
        (Message(topic="T", body=b"", born_host="localhost:1"), "no host"),
        (Message(topic="T", body=b"", store_host="127.0.0.1"), "no host"),
    ],
)
def test_what_the_format_cannot_carry_is_refused(message: Message, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        encode_message(message, "5.3")


def test_the_bits_for_ipv6_follow_the_hosts() -> None:
    message = decode_message(encode_message(Message(topic="T", body=b"", sys_flag=0x30), "5.3"))
    assert message.sys_flag == 0


def test_a_value_may_be_empty_to_the_writer_and_is_nothing_to_the_reader() -> None:
    assert encode_properties({"a": "", "b": "c"}, v5=True) == "a\1\2b\1c\2"
    assert encode_properties({"a": "", "b": "c"}, v5=False) == "a\1\2b\1c"
    assert encode_properties({}, v5=True) == ""
    assert decode_properties("a\1\2b\1c\2") == {"b": "c"}


@given(PROPERTIES, st.booleans())
def test_properties_are_read_again(properties: dict[str, str], v5: bool) -> None:
    assert decode_properties(encode_properties(properties, v5)) == properties


@given(HOSTS)
def test_hosts_are_read_again(host: str) -> None:
    assert host_text(host_bytes(host)) == host


@pytest.mark.parametrize("text", ["", "7F00", "zz" * 16, "7F00000100002A9F00000000000001000"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(WireError, match="is no message id"):
        decode_offset_id(text)
    with pytest.raises(WireError, match="is no unique key"):
        UniqueKey.decode(text)


@pytest.mark.parametrize("address", ["10.0.0.1", "2001:db8::7"])
def test_a_unique_key_is_read_again(address: str) -> None:
    key = UniqueKey(address, process=65535, loader=0xFFFFFFFF, since_month=2_678_399_999, counter=65535)
    assert UniqueKey.decode(key.encode()) == key
    assert len(key.encode()) == (32 if "." in address else 56)


def test_no_tag_has_the_hash_0() -> None:
    assert tag_hash(None) == tag_hash("") == 0


@pytest.mark.parametrize(
    ("at", "length", "reason"),
    [
        (0, b"\0\0\0W", "a message of 87 bytes is shorter than its fixed fields"),
        (84, b"\0\0\0\x7f", "a body of 127 bytes"),
        (93, b"\x78", "a topic of 120 bytes goes beyond the message"),
        (95, b"\0\x0d", "properties of 13 bytes where 14 are left"),
    ],
)
def test_lengths_that_contradict_each_other_are_refused(at: int, length: bytes, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        decode_message(SAMPLE[:at] + length + SAMPLE[at + len(length) :])
