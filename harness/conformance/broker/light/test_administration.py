"""Chapter light: what tools see of light topics, which of them go, and what is refused."""

from harness.conformance import Between, Containing, Including, Matching, Reply, Silence, case
from harness.conformance.broker.light.lights import (
    LIGHT,
    NOTHING,
    SOON,
    ack,
    bound_group,
    client_info,
    consume,
    consumed,
    fill,
    light_info,
    parent,
    put,
    subscribed,
)
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.session.broker.light import LIGHT as NAMED
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
    topic, light = parent(bk), "light-ü"
    other, group = parent(bk, topic=f"{topic}-2"), bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    before = bk.broker_time()
    fill(bk, topic, light, b"a", b"b")
    fill(bk, topic, "two", b"c")
    fill(bk, other, light, b"d")
    stored = Between(before - 1000, before + 60_000)
    offsets = {"lastUpdateTimestamp": stored, "maxOffset": 2, "minOffset": 0}
    shown = {"subscriber": [{"clientId": client, "group": group}], "topicOffset": offsets}
    named = {"liteTopic": light, "parentTopic": topic, "shardingToBroker": True}
    light_info(bk, topic, light) >> Reply(SUCCESS, {**shown, **named})
    of_parent = asked(bk, RequestCode.GET_PARENT_TOPIC_INFO, topic=topic)
    counts = {
        "groups": [group],
        "liteTopicCount": 2,
        "lmqNum": Between(3, 1 << 31),
        "topic": topic,
        "ttl": -1,
    }
    of_parent >> Reply(SUCCESS, counts)
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
    group, other = bound_group(bk, topic), bound_group(bk, topic)
    client, of_other = subscribed(bk, topic, group, "short"), subscribed(bk, topic, other, "short")
    fill(bk, topic, "short", b"d")
    for of, one in ((group, client), (other, of_other)):
        bk.light_pop(topic, of, one, poll=SOON).bodies >> Reply(SUCCESS, [b"d"])
    bk.send(heavy := bk.topic("heavy")) >> Reply(SUCCESS)
    bk.commit_offset(group, heavy, 0, 0) >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, light, "done") >> Reply(SUCCESS)
    for one, bodies in (("done", [b"e"]), (light, [b"a", b"b", b"c"])):
        fill(bk, topic, one, *bodies)
        consume(bk, topic, group, client, most=1)
    for one, most, done in ((light, 3, 1), ("short", 1, 0), ("done", 1, 1)):
        offsets = Including({"brokerOffset": most, "consumerOffset": done})
        of_one = {"liteTopicOffsetWrapper": offsets, "totalLagCount": most - done}
        lags(bk, group, liteTopic=one) >> Reply(SUCCESS, Including(of_one))
    greatest = [Including({"lagCount": lag, "liteTopic": one}) for one, lag in ((light, 2), ("short", 1))]
    for number in (1, 2, 3):
        of_all = {"lagCountTopK": greatest[:number], "totalLagCount": 3}
        lags(bk, group, topK=str(number)) >> Reply(SUCCESS, Including(of_all))


def lags(bk: BrokerSession, group: str, **ext: str) -> Exchange:
    return asked(bk, RequestCode.GET_LITE_GROUP_INFO, None, group=group, **ext)


@case(
    kills=["lags-of-one-light-message-are-none", "oldest-light-message-is-a-consumed-one"],
    clock=True,
    setup=LIGHT,
)
def test_whole_lag_of_a_light_topic_is_shown(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, other = bound_group(bk, topic), bound_group(bk, topic)
    client = subscribed(bk, topic, group, light)
    before = bk.broker_time()
    first, second = Between(before - 1000, before + 30_000), Between(before + 39_000, before + 120_000)
    fill(bk, topic, light, b"a")
    named = {"liteTopic": light, "parentTopic": topic}
    none = {"earliestUnconsumedTimestamp": -1, "group": other, "totalLagCount": 0}
    lags(bk, other, liteTopic=light) >> Reply(SUCCESS, {**none, **named})
    pop = bk.light_pop(topic, group, client, poll=SOON)
    (handle,) = (pop.handles >> Reply(SUCCESS)).value
    offsets = {"brokerOffset": 1, "consumerOffset": 0, "lastTimestamp": 0, "pullOffset": 0}
    common = {"group": group, "totalLagCount": 1, **named}
    lag = {**common, "earliestUnconsumedTimestamp": first, "liteTopicOffsetWrapper": offsets}
    lags(bk, group, liteTopic=light) >> Reply(SUCCESS, lag)
    bk.advance(40)
    put(bk, topic, light, b"b")
    ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    later = {**offsets, "brokerOffset": 2, "consumerOffset": 1, "lastTimestamp": first}
    lag = {**common, "earliestUnconsumedTimestamp": second, "liteTopicOffsetWrapper": later}
    lags(bk, group, liteTopic=light).eventually() >> Reply(SUCCESS, lag)
    greatest = [{"earliestUnconsumedTimestamp": second, "lagCount": 1, "liteTopic": light}]
    lags(bk, group, topK="1") >> Reply(SUCCESS, Including({"lagCountTopK": greatest}))
    newest = {"lastUpdateTimestamp": second, "maxOffset": 2, "minOffset": 0}
    light_info(bk, topic, light) >> Reply(SUCCESS, Including({"topicOffset": newest}))
    consume(bk, topic, group, client)
    all_done = {**later, "consumerOffset": 2, "lastTimestamp": second}
    nothing = {"earliestUnconsumedTimestamp": -1, "liteTopicOffsetWrapper": all_done, "totalLagCount": 0}
    lags(bk, group, liteTopic=light) >> Reply(SUCCESS, {**common, **nothing})


@case(
    kills=[
        "light-topics-outlive-their-parent",
        "light-topics-go-with-other-parents",
        "light-offsets-go-with-other-parents",
        "light-offsets-outlive-their-parent",
    ],
    setup=LIGHT,
)
def test_go_with_their_parent(bk: BrokerSession) -> None:
    topic, lights = parent(bk), ("one", "two")
    kept, group = parent(bk, topic=f"{topic}-2"), bound_group(bk, topic)
    clients = [subscribed(bk, topic, group, *lights) for _ in range(2)]
    other = bound_group(bk, kept)
    of_other = subscribed(bk, kept, other, "one")
    for name, light in ((topic, "one"), (topic, "two"), (kept, "one")):
        fill(bk, name, light, b"a", b"b")
    for name, of, client in ((topic, group, clients[0]), (kept, other, of_other)):
        consume(bk, name, of, client, most=1)
    bk.light_pop(topic, group, clients[0], poll=SOON).bodies >> Reply(SUCCESS)
    third = parent(bk, topic=f"{topic}-3")
    waits = (third, *consumed(bk, third, "one", b"a", b"b"))
    held = bk.light_pop(*waits, most=1, invisible=600, poll=SOON)
    (handle,) = (held.handles >> Reply(SUCCESS)).value
    bk.delete_topic(topic) >> Reply(SUCCESS)
    parent(bk, topic=topic)
    none = {"subscriber": [], "topicOffset": Including({"maxOffset": 0})}
    for light in lights:
        light_info(bk, topic, light) >> Reply(SUCCESS, Including(none))
        fill(bk, topic, light, b"c")
    bk.subscribe(topic, group, clients[0], *lights) >> Reply(SUCCESS)
    bk.light_pop(topic, group, clients[0], poll=SOON).bodies >> Reply(SUCCESS, [b"c", b"c"])
    bk.light_pop(kept, other, of_other, poll=SOON).bodies >> Reply(SUCCESS, [b"b"])
    bk.light_pop(*waits) >> NOTHING
    ack(bk, third, waits[1], "one", handle) >> Reply(SUCCESS)
    bk.light_pop(*waits, poll=SOON).bodies >> Reply(SUCCESS, [b"b"])


@case(
    kills=[
        "unused-light-topics-stay",
        "light-topics-are-kept-briefly",
        "light-topics-of-all-parents-go",
        "light-topics-that-are-kept-for-no-time-go",
        "light-topics-age-from-their-first-message",
        "light-topics-have-no-shortest-time",
        "subscriptions-outlive-light-topics",
        "offsets-outlive-light-topics",
    ],
    clock=True,
    setup=AGEING,
)
def test_unused_ones_go(bk: BrokerSession) -> None:
    topic, short, lasting, zero = (parent(bk, KEPT_FOR + minutes) for minutes in ("3", "1", "-1", "0"))
    group, client = consumed(bk, topic, "old", b"a", b"b")
    (handle,) = (bk.light_pop(topic, group, client, most=1, poll=SOON).handles >> Reply(SUCCESS)).value
    ack(bk, topic, group, "old", handle) >> Reply(SUCCESS)
    fill(bk, topic, "young", b"1")
    for name in (lasting, zero):
        fill(bk, name, "old", b"x")
    bk.advance(80)
    fill(bk, short, "old", b"y")
    bk.advance(75)
    for name, most in ((topic, 2), (short, 1)):
        judge_end(bk, name, "old", most)
    put(bk, topic, "young", b"2")
    bk.subscribe(topic, group, client, "old") >> Reply(SUCCESS)
    bk.advance(60 + bk.jitter)
    for name, most in ((topic, 0), (short, 0), (lasting, 1), (zero, 1)):
        judge_end(bk, name, "old", most)
    judge_end(bk, topic, "young", 2)
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
    remark = Containing("lite subscription quota exceeded 2")
    refused = Reply(ResponseCode.LITE_SUBSCRIPTION_QUOTA_EXCEEDED, remark=remark)
    bk.subscribe(topic, group, client, "three") >> refused
    client_info(bk, topic, group, client) >> Reply(SUCCESS, Including({"liteTopicCount": 2}))
    bk.subscribe(topic, group, client, "two", action="PARTIAL_REMOVE") >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, "three") >> Reply(SUCCESS)


@case(kills=["disabled-groups-subscribe", "disabled-groups-pop-light-messages"], setup=LIGHT)
def test_groups_must_be_allowed_to_consume(bk: BrokerSession) -> None:
    topic, group, client = parent(bk), bk.group(), bk.name("client")
    attributes, refused = {"+lite.bind.topic": topic}, Containing("Consumer group is not allowed to consume.")
    bk.create_group(group, consumeEnable=False, attributes=attributes) >> Reply(SUCCESS)
    for action in ("PARTIAL_ADD", "COMPLETE_ADD"):
        bk.subscribe(topic, group, client, "light", action=action) >> Reply(ILLEGAL, remark=refused)
    bk.light_pop(topic, group, client) >> Reply(
        ResponseCode.NO_PERMISSION, remark=f"subscription group no permission, {group}"
    )
    bk.create_group(group, consumeEnable=True) >> Reply(SUCCESS)
    bk.subscribe(topic, group, client, "light") >> Reply(SUCCESS)


@case(
    kills=[
        "light-acks-beyond-the-end-count",
        "any-group-acknowledges-light-messages",
        "light-acks-are-of-any-queue",
        "light-acks-are-of-anything",
        "light-handles-are-of-any-kind",
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
    ack(bk, topic, group, light, handles[0], queueId="1") >> Reply(INVALID, remark="ack queue illegal.")
    ack(bk, topic, group, light, handles[0].replace(" 999 ", " 3 ")) >> Reply(INVALID)
    ack(bk, topic, bound_group(bk, parent(bk)), light, handles[0]) >> Reply(INVALID)
    for offset in ("2", "3"):
        ack(bk, topic, group, light, handles[0], offset=offset) >> Reply(ResponseCode.MESSAGE_ILLEGAL)
    for _ in range(2):
        ack(bk, topic, group, light, handles[0]) >> Reply(SUCCESS)


@case(
    kills=["light-messages-beyond-the-end-are-hidden", "acknowledged-light-messages-are-hidden"], setup=LIGHT
)
def test_hiding_needs_a_message(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a", b"b")
    pop = bk.light_pop(topic, group, client, most=1, poll=SOON)
    (handle,) = (pop.handles >> Reply(SUCCESS)).value
    nothing = Including(dict.fromkeys(("invisibleTime", "popTime", "reviveQid"), "0"))
    beyond, unknown = {NAMED: light, "offset": "3"}, {NAMED: "unknown", "offset": "1"}
    for named in (beyond, unknown):
        bk.hide(topic, group, handle, 300, ext=named) >> Reply(NO_MESSAGE, ext=nothing)
    ack(bk, topic, group, light, handle) >> Reply(SUCCESS)
    bk.hide(topic, group, handle, 300, ext={NAMED: light}) >> Reply(SUCCESS, ext=nothing)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"b"])


@case(kills=["accesses-of-light-clients-outlive-them"], setup=LIGHT)
def test_access_of_a_client_is_shown(bk: BrokerSession) -> None:
    topic, light = parent(bk), "light"
    group, client = consumed(bk, topic, light, b"a")
    before = bk.broker_time()
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"a"])
    popped = Including({"lastAccessTime": Between(before - 1000, before + 60_000)})
    client_info(bk, topic, group, client) >> Reply(SUCCESS, popped)
    bk.subscribe(topic, group, client, action="COMPLETE_REMOVE") >> Reply(SUCCESS)
    gone = Including({"lastAccessTime": -1, "liteTopicCount": -1})
    client_info(bk, topic, group, client) >> Reply(SUCCESS, gone)


@case(kills=["light-topics-of-clients-are-all-shown"], setup=LIGHT)
def test_number_of_shown_light_topics_can_be_limited(bk: BrokerSession) -> None:
    topic = parent(bk)
    group = bound_group(bk, topic)
    named = {"clientId": subscribed(bk, topic, group, "one", "two", "three"), "group": group}
    for most, number in ((1, 1), (2, 2), (3, 3), (4, 3)):
        sent = {**named, "parentTopic": topic, "maxCount": str(most)}
        shown = [Matching(rf"^%LMQ%\${topic}\$(one|two|three)$")] * number
        info = asked(bk, RequestCode.GET_LITE_CLIENT_INFO, None, **sent)
        info >> Reply(SUCCESS, Including({"liteTopicCount": 3, "liteTopicSet": shown}))
    for nonsense in ("0", "-1"):
        sent = {**named, "parentTopic": topic, "maxCount": nonsense}
        bk.call(RequestCode.GET_LITE_CLIENT_INFO, sent) >> Reply(ResponseCode.SYSTEM_ERROR)
