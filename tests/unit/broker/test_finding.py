"""Looking for messages by key and by place."""

import pytest

from harness.wire import RequestCode
from harness.wire.messages import decode_messages

from .messages import place, sent

EVER = {"beginTimestamp": 0, "endTimestamp": 2**62}


def find(one, key, topic="T", **changes):
    ext = {"topic": topic, "key": key, "maxNum": 10} | EVER | changes
    return one.ask(RequestCode.QUERY_MESSAGE, {name: text for name, text in ext.items() if text is not None})


def bodies(reply):
    return [message.body for message in decode_messages(reply.body)]


def test_messages_are_found_by_each_of_their_keys(asked, profile):
    one = asked(profile)
    sent(one, body=b"1", properties={"KEYS": "a b", "UNIQ_KEY": "U"})
    sent(one, body=b"2", queue=1, properties={"KEYS": "b"})
    sent(one, body=b"3", topic="X", properties={"KEYS": "b"})
    assert bodies(find(one, "a")) == [b"1"]
    assert bodies(find(one, "b")) == [b"1", b"2"]
    assert bodies(find(one, "U", _UNIQUE_KEY_QUERY="true")) == [b"1"]
    assert find(one, "b").ext.keys() == {"indexLastUpdateTimestamp", "indexLastUpdatePhyoffset"}


def test_what_is_not_found_is_said(asked, profile):
    one = asked(profile)
    sent(one, properties={"KEYS": "a"})
    for reply in (find(one, "z"), find(one, "a", topic="X"), find(one, "a", maxNum=0)):
        assert (reply.code, reply.remark) == (22, "can not find message, maybe time range not correct")
        assert reply.ext == {"indexLastUpdateTimestamp": "0", "indexLastUpdatePhyoffset": "0"}


def test_only_messages_of_the_time_asked_for_are_found(asked, profile):
    one = asked(profile)
    for number in b"123":
        sent(one, body=bytes([number]), properties={"KEYS": "a"})
        one.pass_time(1_000)
    start = one.now - 3_000
    found = find(one, "a", beginTimestamp=start + 1_000, endTimestamp=start + 1_999)
    assert bodies(found) == [b"2"]


def test_the_newest_are_found_where_there_are_more(asked, profile):
    one = asked(profile)
    for number in range(70):
        sent(one, body=b"%d" % number, properties={"KEYS": "a"})
    assert bodies(find(one, "a", maxNum=2)) == [b"68", b"69"]
    assert len(bodies(find(one, "a", maxNum=1000))) == 64
    assert len(bodies(find(one, "a", maxNum=1, _UNIQUE_KEY_QUERY="true"))) == 32


@pytest.mark.parametrize("name", ["maxNum", "beginTimestamp", "endTimestamp"])
def test_what_a_search_must_say(asked, profile, name):
    assert find(asked(profile), "a", **{name: None}).code == 1


def test_a_message_is_found_where_its_id_says(asked, profile):
    one = asked(profile)
    sent(one, body=b"1")
    reply = one.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": place(sent(one, body=b"2"))})
    assert (reply.code, bodies(reply)) == (0, [b"2"])


@pytest.mark.parametrize("offset", [1, 10**9, -5])
def test_no_message_is_found_elsewhere(asked, profile, offset):
    one = asked(profile)
    sent(one)
    reply = one.ask(RequestCode.VIEW_MESSAGE_BY_ID, {"offset": offset})
    assert (reply.code, reply.remark) == (1, f"can not find message by the offset, {offset}")


def test_a_place_must_be_given(asked, profile):
    assert asked(profile).ask(RequestCode.VIEW_MESSAGE_BY_ID).code == 1
