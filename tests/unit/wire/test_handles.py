"""Handles of popped messages: what an answer says of each message, and how requests name it."""

import pytest

from harness.wire import WireError
from harness.wire.handles import handles_of, listed, new_handle, place_of
from harness.wire.messages import Message, PropertyName

EXT = {
    "startOffsetInfo": "0 2 5;1 0 3",
    "msgOffsetInfo": "0 2 5,7;1 0 3",
    "popTime": "1700000000000",
    "invisibleTime": "60000",
    "reviveQid": "4",
}
AGAIN = "3 1690000000000 10000 1 1 b 0 3"
HANDLE = "5 1700000000000 60000 4 0 b 2 7"


def test_each_message_has_the_handle_of_its_property_or_of_the_answer():
    messages = [
        Message(topic="T", body=b"a", queue_id=2, queue_offset=7),
        Message(topic="T", body=b"a", queue_id=0, queue_offset=3, properties={PropertyName.POP_CK: AGAIN}),
    ]
    assert listed(EXT) == [("0", 2, 5, "5"), ("0", 2, 7, "5"), ("1", 0, 3, "3")]
    assert handles_of(EXT, messages, "b") == [HANDLE, AGAIN]


@pytest.mark.parametrize(
    ("ext", "told"),
    [
        (EXT | {"msgOffsetInfo": "0 2 5"}, r"\(2, 7\) is not listed"),
        (EXT | {"popTime": None}, r"\(2, 7\) is not listed"),
        (EXT | {"msgOffsetInfo": "0 3 7"}, "cannot be read"),
        (EXT | {"msgOffsetInfo": "0 2 x"}, "cannot be read"),
        (EXT | {"startOffsetInfo": "0 2"}, "cannot be read"),
    ],
)
def test_a_message_of_which_nothing_is_said_has_none(ext: dict[str, str | None], told: str):
    with pytest.raises(WireError, match=told):
        handles_of(ext, [Message(topic="T", body=b"a", queue_id=2, queue_offset=7)], "b")


def test_a_message_that_is_hidden_for_another_time_has_a_new_handle():
    ext = {"popTime": "1700000009000", "invisibleTime": "30000", "reviveQid": "6"}
    assert new_handle(HANDLE, ext) == "7 1700000009000 30000 6 0 b 2 7"


@pytest.mark.parametrize(("kind", "topic"), [("0", "T"), ("1", "%RETRY%G_T"), ("2", "%RETRY%G+T")])
def test_requests_name_the_topic_in_which_the_message_is(kind: str, topic: str):
    handle = f"5 1700000000000 60000 4 {kind} b 2 7"
    place = {"consumerGroup": "G", "topic": topic, "queueId": "2", "offset": "7", "extraInfo": handle}
    assert place_of(handle, "T", "G") == place
