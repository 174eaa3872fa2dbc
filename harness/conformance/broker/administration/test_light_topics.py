"""Chapter administration: what is refused about light topics where there are none (5.5)."""

from harness.conformance import Containing, Including, Reply, case
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.wire import RequestCode, ResponseCode
from harness.wire.fastjson import document

NO_TOPIC, NO_GROUP = ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
INVALID, ILLEGAL = ResponseCode.INVALID_PARAMETER, ResponseCode.ILLEGAL_OPERATION
WITHOUT = {
    "storeType": "default",
    "maxLmqNum": 20000,
    **dict.fromkeys(("currentLmqNum", "liteSubscriptionCount", "orderInfoCount", "eventMapSize"), 0),
    "topicMeta": {},
    "groupMeta": {},
}
"""What is said about light topics where there are none."""


@case(kills=["light-topics-need-no-parent", "any-topic-is-a-parent"])
def test_light_topics_need_a_parent(bk: BrokerSession) -> None:
    group = bk.group()
    for topic, refused in (
        (name := bk.name("T"), Reply(NO_TOPIC, remark=f"Topic [{name}] not exist.")),
        (name := bk.topic(), Reply(INVALID, remark=f"Topic [{name}] type not match.")),
    ):
        bk.call(RequestCode.GET_PARENT_TOPIC_INFO, {"topic": topic}) >> refused
        bk.call(RequestCode.GET_LITE_TOPIC_INFO, {"parentTopic": topic, "liteTopic": "light"}) >> refused
        asked = {"parentTopic": topic, "group": group, "clientId": "client"}
        bk.call(RequestCode.GET_LITE_CLIENT_INFO, asked) >> refused


@case(
    kills=["light-topics-are-not-counted", "light-queues-are-counted", "light-offsets-are-counted-by-topic"],
    own_server=True,
)
def test_light_topics_are_counted(bk: BrokerSession) -> None:
    info = asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(SUCCESS, Including(WITHOUT))
    before = dict(info.value)
    topic, group, other = bk.topic(queues=2), bk.group(), bk.group()
    for queue in (0, 1):
        bk.send(topic, queue=queue) >> Reply(SUCCESS)
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 1)
    for name in (group, other):
        bk.create_group(name) >> Reply(SUCCESS)
    for name, queue in ((group, 0), (group, 1), (other, 1)):
        bk.commit_offset(name, topic, queue, 0) >> Reply(SUCCESS)
    grown = {"cqTableSize": before["cqTableSize"] + 1, "offsetTableSize": before["offsetTableSize"] + 2}
    asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(SUCCESS, {**before, **grown})


@case(kills=["light-groups-need-not-exist", "any-group-is-light"])
def test_light_groups_need_a_parent(bk: BrokerSession) -> None:
    group = bk.group()
    bk.create_group(group) >> Reply(SUCCESS)
    for code in (RequestCode.GET_LITE_GROUP_INFO, RequestCode.TRIGGER_LITE_DISPATCH):
        bk.call(code, {"group": "a b"}) >> Reply(NO_GROUP, remark="Group [a b] not exist.")
        bk.call(code, {"group": group}) >> Reply(INVALID, remark=f"Group [{group}] is not a LITE group.")


@case(kills=["light-subscriptions-may-be-none", "light-subscriptions-are-not-read"])
def test_light_subscriptions_need_a_body(bk: BrokerSession) -> None:
    code = RequestCode.LITE_SUBSCRIPTION_CTL
    bk.call(code) >> Reply(ILLEGAL, remark="Request body is null.")
    for body in (b"{}", b'{"subscriptionSet":[]}'):
        bk.call(code, None, body) >> Reply(ILLEGAL, remark="LiteSubscriptionCtlRequestBody is empty.")
    whole = {"action": "PARTIAL_ADD", "clientId": "c", "group": bk.group(), "topic": bk.name("T")}
    lacking = [{**whole, member: " "} for member in ("clientId", "group", "topic")]
    body = b'{"subscriptionSet":[' + b",".join(document(one) for one in lacking) + b"]}"
    bk.call(code, None, body) >> Reply(SUCCESS)


def pop(bk: BrokerSession, topic: str, most: int = 16, *, waits: int = 600_000, since: int = 0) -> Exchange:
    """POP_LITE_MESSAGE (200070) of a client that waits for some ms, and has done so for `since` of them."""
    asked = {"clientId": "client", "consumerGroup": bk.group(), "topic": topic, "maxMsgNum": str(most)}
    times = {"invisibleTime": "60000", "pollTime": str(waits), "bornTime": str(bk.broker_time() - since)}
    return bk.call(RequestCode.POP_LITE_MESSAGE, {**asked, **times}, about=topic)


@case(kills=["light-pops-need-no-light-topic", "light-pops-have-no-limit"])
def test_light_pops_need_a_light_topic(bk: BrokerSession) -> None:
    topic = bk.topic()
    pop(bk, bk.name("T")) >> Reply(NO_TOPIC)
    pop(bk, topic) >> Reply(INVALID, remark=f"the topic [{topic}] message type not match")
    pop(bk, topic, 33) >> Reply(INVALID, remark=Containing("pop message's num is greater than 32"))


@case(kills=["light-pops-are-never-late", "light-pops-are-late-without-a-time"])
def test_late_light_pop_is_not_looked_at(bk: BrokerSession) -> None:
    topic = bk.topic()
    in_time, late = Reply(INVALID, remark=Containing("not match")), Reply(ResponseCode.POLLING_TIMEOUT)
    pop(bk, topic, since=590_000) >> in_time
    pop(bk, topic, since=605_000) >> late
    pop(bk, topic, waits=2**33, since=605_000) >> in_time
    pop(bk, topic, 33, since=605_000) >> late
    pop(bk, bk.name("T"), since=605_000) >> late
    asked = {"clientId": "client", "consumerGroup": bk.group(), "topic": topic, "maxMsgNum": "16"}
    for born, answer in (({}, in_time), ({"bornTime": "0"}, in_time), ({"bornTime": "x"}, late)):
        times = {"invisibleTime": "60000", "pollTime": "600000", **born}
        bk.call(RequestCode.POP_LITE_MESSAGE, {**asked, **times}) >> answer
