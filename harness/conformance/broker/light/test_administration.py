"""Chapter light: what tools see of light topics, which of them go, and what is refused."""

from harness.conformance import Between, Including, Reply, Silence, case
from harness.conformance.broker.light.lights import (
    LIGHT,
    SOON,
    ack,
    bound_group,
    client_info,
    consumed,
    fill,
    light_info,
    parent,
    put,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession
from harness.wire import RequestCode, ResponseCode

INVALID, ILLEGAL = ResponseCode.INVALID_PARAMETER, ResponseCode.ILLEGAL_OPERATION
AGEING = {**LIGHT, "minLiteTTl": "120000", "liteTtlCheckInterval": "10000"}
"""A Broker that keeps light topics for 120 s at least, and looks every 10 s for those that go."""
KEPT_FOR = "+message.type=LITE,+lite.topic.expiration="
"""Attributes of a parent, up to the minutes for which its light topics are kept."""
FEW = {**LIGHT, "maxLiteSubscriptionCount": "2"}
NO_MESSAGE = ResponseCode.NO_MESSAGE


@case(
    kills=[
        "light-subscribers-are-not-shown",
        "light-topics-are-of-all-parents",
        "light-topics-of-clients-are-not-shown",
    ],
    setup=LIGHT,
)
def test_messages_and_subscribers_are_shown(bk: BrokerSession) -> None:
    topic, other, light = parent(bk), parent(bk), "light-ü"
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    before = bk.broker_time()
    fill(bk, topic, light, b"a", b"b")
    fill(bk, topic, "two", b"c")
    fill(bk, other, light, b"d")
    stored = Between(before - 1000, before + 60_000)
    offsets = {"lastUpdateTimestamp": stored, "maxOffset": 2, "minOffset": 0}
    shown = {"subscriber": [{"clientId": client, "group": group}], "topicOffset": offsets}
    light_info(bk, topic, light) >> Reply(SUCCESS, Including(shown))
    of_parent = asked(bk, RequestCode.GET_PARENT_TOPIC_INFO, topic=topic)
    of_parent >> Reply(SUCCESS, Including({"liteTopicCount": 2}))
    subscribes = {"liteTopicCount": 1, "liteTopicSet": [f"%LMQ%${topic}${light}"]}
    client_info(bk, topic, group, client) >> Reply(SUCCESS, Including(subscribes))


@case(kills=["light-subscriptions-are-not-counted"], own_server=True, setup=LIGHT)
def test_all_are_counted(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    grown = {"currentLmqNum": 2, "liteSubscriptionCount": 4, "offsetTableSize": 1, "orderInfoCount": 1}
    some = Including(dict.fromkeys(grown, Between(0, 1 << 31)))
    info = asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(SUCCESS, some)
    before = dict(info.value)
    client = subscribed(bk, topic, group, "one", "two", "three")
    subscribed(bk, topic, group, "one")
    fill(bk, topic, "two", b"a")
    fill(bk, topic, "three", b"b")
    bk.light_pop(topic, group, client, most=1, poll=SOON) >> Reply(SUCCESS)
    asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(
        SUCCESS, Including({name: before[name] + more for name, more in grown.items()})
    )


@case(
    kills=["light-lags-are-all", "greatest-light-lag-is-the-total", "light-lags-are-all-listed"], setup=LIGHT
)
def test_lags_of_a_group_are_shown(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, code = bound_group(bk, topic), RequestCode.GET_LITE_GROUP_INFO
    client = subscribed(bk, topic, group, light)
    fill(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=1, poll=SOON)
    (handle,) = (pop.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, "two") >> Reply(SUCCESS)
    fill(bk, topic, "two", b"d")
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS)
    wrapper = Including({"brokerOffset": 3, "consumerOffset": 1})
    of_one = {"liteTopicOffsetWrapper": wrapper, "totalLagCount": 2}
    asked(bk, code, group=group, liteTopic=light) >> Reply(SUCCESS, Including(of_one))
    greatest = [Including({"lagCount": 2, "liteTopic": light})]
    of_all = {"lagCountTopK": greatest, "totalLagCount": 3}
    asked(bk, code, group=group, topK="1") >> Reply(SUCCESS, Including(of_all))


@case(kills=["light-topics-outlive-their-parent"], setup=LIGHT)
def test_go_with_their_parent(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b")
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.delete_topic(topic) >> Reply(SUCCESS)
    parent(bk, topic=topic)
    none = {"subscriber": [], "topicOffset": Including({"maxOffset": 0})}
    light_info(bk, topic, light) >> Reply(SUCCESS, Including(none))
    fill(bk, topic, light, b"c")
    bk.subscribe(topic, group, client, light) >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"c"])


@case(
    kills=[
        "unused-light-topics-stay",
        "light-topics-are-kept-briefly",
        "light-topics-of-all-parents-go",
        "light-topics-age-from-their-first-message",
        "light-topics-have-no-shortest-time",
        "subscriptions-outlive-light-topics",
        "offsets-outlive-light-topics",
    ],
    clock=True,
    setup=AGEING,
)
def test_unused_ones_go(bk: BrokerSession) -> None:
    topic, short, lasting = (parent(bk, KEPT_FOR + minutes) for minutes in ("3", "1", "-1"))
    group, client = consumed(bk, topic, "old", b"a", b"b")
    (handle,) = (bk.light_pop(topic, group, client, most=1, poll=SOON).handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, "old", handle) >> Reply(SUCCESS)
    fill(bk, topic, "young", b"1")
    fill(bk, lasting, "old", b"x")
    bk.advance(80)
    fill(bk, short, "old", b"y")
    bk.advance(75)
    for name, most in ((topic, 2), (short, 1)):
        judge_end(bk, name, "old", most)
    put(bk, topic, "young", b"2")
    bk.subscribe(topic, group, client, "old") >> Reply(SUCCESS)
    bk.advance(60 + bk.jitter)
    for name, light, most in ((topic, "old", 0), (topic, "young", 2), (short, "old", 0), (lasting, "old", 1)):
        judge_end(bk, name, light, most)
    light_info(bk, topic, "old") >> Reply(SUCCESS, Including({"subscriber": []}))
    fill(bk, topic, "old", b"c")
    bk.subscribe(topic, group, client, "old") >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["clients-are-told-of-light-topics-that-go"], clock=True, setup=AGEING)
def test_client_is_not_told_what_goes(bk: BrokerSession) -> None:
    topic = parent(bk, f"{KEPT_FOR}1")
    group, (client, connection) = bound_group(bk, topic), bk.client()
    bk.subscribe(topic, group, client, "light", on=connection) >> Reply(SUCCESS)
    fill(bk, topic, "light", b"a")
    bk.advance(140 + bk.jitter)
    judge_end(bk, topic, "light", 0)
    connection.next_request(RequestCode.NOTIFY_UNSUBSCRIBE_LITE) >> Silence()


def judge_end(bk: BrokerSession, topic: str, light: str, most: int) -> None:
    """How many messages a light topic has had since it was made; 0: it is not there."""
    has = Including({"topicOffset": Including({"maxOffset": most})})
    light_info(bk, topic, light).eventually() >> Reply(SUCCESS, has)


@case(kills=["light-subscriptions-have-no-limit"], own_server=True, setup=FEW)
def test_subscriptions_have_a_limit(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    client = subscribed(bk, topic, group, "one", "two")
    refused = Reply(ResponseCode.LITE_SUBSCRIPTION_QUOTA_EXCEEDED)
    bk.subscribe(topic, group, client, "three") >> refused
    client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": 2}))
    bk.subscribe(topic, group, client, "two", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, "three") >> Reply(SUCCESS)


@case(kills=["disabled-groups-subscribe", "disabled-groups-pop-light-messages"], setup=LIGHT)
def test_groups_must_be_allowed_to_consume(bk: BrokerSession) -> None:
    topic, group, client = parent(bk), bk.group(), bk.name("client")
    attributes = {"+lite.bind.topic": topic}
    bk.create_group(group, consumeEnable=False, attributes=attributes) >> Reply(SUCCESS)
    for action in ("PARTIAL_ADD", "COMPLETE_ADD"):
        bk.subscribe(topic, group, client, "light", action=action) >> Reply(ILLEGAL)
    bk.light_pop(topic, group, client) >> Reply(ResponseCode.NO_PERMISSION)
    bk.create_group(group, consumeEnable=True) >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, "light") >> Reply(SUCCESS)


@case(
    kills=[
        "light-acks-beyond-the-end-count",
        "any-group-acknowledges-light-messages",
        "light-acks-are-of-any-queue",
        "light-acks-are-of-anything",
    ],
    setup=LIGHT,
)
def test_acks_need_a_popped_message(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b", b"c")
    pop = bk.light_pop(topic, group, client, most=2, poll=SOON)
    handles = (pop.handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, light, handles[0], offset="4") >> Reply(NO_MESSAGE)
    ack(bk, topic, group, "unknown", handles[1]) >> Reply(NO_MESSAGE)
    ack(bk, topic, group, light, handles[0], queueId="1") >> Reply(INVALID)
    ack(bk, topic, bound_group(bk, parent(bk)), light, handles[0]) >> Reply(INVALID)
    ack(bk, topic, group, light, handles[0], offset="2") >> Reply(ResponseCode.MESSAGE_ILLEGAL)
    for _ in range(2):
        ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)
