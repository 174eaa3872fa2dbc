"""Light topics (5.5): what cases do not ask."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import PropertyName, decode_messages
from reference_impl.broker.light_names import queue_of

from .driver import Asked, make_broker
from .messages import sent

QUEUE = queue_of("T", "light")
CONSUMED = {"consumerGroup": "G", "topic": "T", "liteTopic": "light", "queueId": 0}


def with_messages(number: int, **attributes: str) -> Asked:
    """A Broker with a parent, a group of it with these attributes, a client of it, and messages."""
    one = make_broker("5.5", enableLmq=True, enableMultiDispatch=True)
    parent = {"topic": "T", "defaultTopic": "TBW102", "attributes": "+message.type=LITE"}
    counts = {"readQueueNums": 4, "writeQueueNums": 4, "perm": 6, "topicFilterType": "SINGLE_TAG"}
    more = {"topicSysFlag": 0, "order": "false"}
    assert one.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, parent | counts | more).code == 0
    said = {"+lite.bind.topic": "T", **{f"+lite.sub.{name}": value for name, value in attributes.items()}}
    group = json.dumps({"groupName": "G", "consumeEnable": True, "attributes": said}).encode()
    assert one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group).code == 0
    for body in range(number):
        sent(one, body=b"%d" % body, properties={PropertyName.LIGHT_TOPIC: "light"})
    return one


def subscribe(one: Asked, subscription: Any) -> ResponseCode:
    body = json.dumps({"subscriptionSet": [subscription]}).encode()
    reply = one.ask(RequestCode.LITE_SUBSCRIPTION_CTL, {}, body)
    assert reply is not None
    return ResponseCode(reply.code)


def subscription(**changes: Any) -> dict[str, Any]:
    names = {"clientId": "C", "group": "G", "topic": "T", "liteTopicSet": ["light"]}
    return {"action": "PARTIAL_ADD", **names, **changes}


def popped(one: Asked) -> list[bytes]:
    ext = {"clientId": "C", "consumerGroup": "G", "topic": "T", "maxMsgNum": 32, "invisibleTime": 1000}
    reply = one.ask(
        RequestCode.POP_LITE_MESSAGE, ext | {"pollTime": 0, "bornTime": one.now, "attemptId": "a"}
    )
    return [] if reply is None else [message.body for message in decode_messages(reply.body)]


def test_an_offset_beyond_the_messages_is_set_right_by_a_pop() -> None:
    one = with_messages(2)
    assert subscribe(one, subscription()) == ResponseCode.SUCCESS
    one.broker.offsets.commit("G", QUEUE, 0, 9, one.now)
    popped(one)
    assert one.broker.offsets.offset_of("G", QUEUE, 0) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        subscription(action="NONE"),
        subscription(action=None),
        subscription(offsetOption=7),
        subscription(offsetOption={"type": "NONE", "value": 1}),
    ],
)
def test_a_subscription_that_cannot_be_read_is_an_error(wrong: Any) -> None:
    one = with_messages(0)
    assert subscribe(one, wrong) == ResponseCode.SYSTEM_ERROR


def test_a_light_topic_cannot_begin_at_a_time() -> None:
    one = with_messages(2)
    option = {"type": "TIMESTAMP", "value": 1}
    assert subscribe(one, subscription(offsetOption=option)) == ResponseCode.SUCCESS
    assert popped(one) == [b"0", b"1"]


def test_what_is_consumed_or_is_not_there_is_not_hidden() -> None:
    one = with_messages(2)
    handle = f"0 {one.now} 1000 999 0 broker 0 0"
    ext = CONSUMED | {"extraInfo": handle, "invisibleTime": 1000}
    code = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
    assert one.ask(code, ext | {"offset": 7}).code == ResponseCode.NO_MESSAGE
    one.broker.offsets.commit("G", QUEUE, 0, 2, one.now)
    assert one.ask(code, ext | {"offset": 1}).ext["popTime"] == "0"


def test_of_a_group_that_has_consumed_nothing_no_lag_is_shown_and_who_waits_is_looked_after() -> None:
    one = with_messages(2)
    shown = one.ask(RequestCode.GET_LITE_GROUP_INFO, {"group": "G", "liteTopic": "light"})
    assert json.loads(shown.body)["totalLagCount"] == 0
    assert one.ask(RequestCode.TRIGGER_LITE_DISPATCH, {"group": "G"}).code == ResponseCode.SUCCESS
