"""Chapter administration: parents of light topics, their groups, and what is refused (5.5)."""

from harness.conformance import ABSENT, Between, Containing, Including, Reply, case
from harness.conformance.broker.light.lights import client_info, light_info
from harness.conformance.broker.tools import ERROR, SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.session.exchange import View
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
    counted = dict.fromkeys(("cqTableSize", "offsetTableSize"), Between(0, 1 << 30))
    info = asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(SUCCESS, Including({**WITHOUT, **counted}))
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


@case(
    kills=[
        "light-subscriptions-may-be-none",
        "light-subscriptions-are-not-read",
        "one-light-subscription-is-taken",
    ]
)
def test_light_subscriptions_need_a_body(bk: BrokerSession) -> None:
    code = RequestCode.LITE_SUBSCRIPTION_CTL
    bk.call(code) >> Reply(ILLEGAL, remark="Request body is null.")
    for body in (b"{}", b'{"subscriptionSet":[]}'):
        bk.call(code, None, body) >> Reply(ILLEGAL, remark="LiteSubscriptionCtlRequestBody is empty.")
    topic = parent(bk)
    group = bound_group(bk, topic)
    for member in ("clientId", "group", "topic"):
        lacking, whole, other = bk.name("lacking"), bk.name("whole"), bk.name("other")
        said = {"action": "PARTIAL_ADD", "group": group, "liteTopicSet": [member], "topic": topic}
        several = [
            {**said, "clientId": lacking, member: " "},
            *({**said, "clientId": client} for client in (whole, other)),
        ]
        bk.call(code, None, document({"subscriptionSet": several})) >> Reply(SUCCESS)
        subscribers = Including([{"clientId": client, "group": group} for client in (whole, other)])
        light_info(bk, topic, member) >> Reply(SUCCESS, Including({"subscriber": subscribers}))
        client_info(bk, topic, group, lacking) >> Reply(SUCCESS, Including({"liteTopicCount": -1}))


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


@case(kills=["refused-light-pops-have-no-times"])
def test_every_answer_to_a_light_pop_has_times(bk: BrokerSession) -> None:
    topic, zero = bk.topic(), dict.fromkeys(("invisibleTime", "popTime", "reviveQid"), "0")
    pop(bk, bk.name("T")) >> Reply(NO_TOPIC, ext=zero)
    for most in (16, 33):
        pop(bk, topic, most) >> Reply(INVALID, ext=zero)
    pop(bk, topic, since=605_000) >> Reply(ResponseCode.POLLING_TIMEOUT, ext=zero)


def parent(bk: BrokerSession, attributes: str = "+message.type=LITE", topic: str | None = None) -> str:
    """A parent, made, or a topic, changed."""
    name = topic or bk.name("T")
    bk.create_topic(name, ext={"attributes": attributes}) >> Reply(SUCCESS)
    return name


def parent_info(bk: BrokerSession, topic: str) -> Exchange:
    return asked(bk, RequestCode.GET_PARENT_TOPIC_INFO, topic=topic)


def judge_metas(bk: BrokerSession, meta: str, **shown: object) -> None:
    """What the Broker says of topics, or of groups of topics, among others."""
    asked(bk, RequestCode.GET_BROKER_LITE_INFO) >> Reply(SUCCESS, Including({meta: Including(shown)}))


@case(kills=["parents-go-never", "topics-stay-parents"])
def test_parent_is_made(bk: BrokerSession) -> None:
    topic, other = parent(bk, "+message.type=LITE,+lite.topic.expiration=45"), parent(bk)
    empty = {"liteTopicCount": 0, "lmqNum": 0, "topic": topic}
    parent_info(bk, topic) >> Reply(SUCCESS, {**empty, "ttl": 45})
    judge_metas(bk, "topicMeta", **{topic: 45, other: -1})
    for minutes in ("-1", "43200"):
        parent(bk, f"+lite.topic.expiration={minutes}", topic)
        parent_info(bk, topic) >> Reply(SUCCESS, {**empty, "ttl": int(minutes)})
    for minutes in ("-2", "43201", "x"):
        bk.create_topic(topic, ext={"attributes": f"+lite.topic.expiration={minutes}"}) >> Reply(ERROR)
    parent(bk, "-lite.topic.expiration", topic)
    parent_info(bk, topic) >> Reply(SUCCESS, {**empty, "ttl": -1})
    parent(bk, "+message.type=NORMAL", topic)
    parent_info(bk, topic) >> Reply(INVALID)
    judge_metas(bk, "topicMeta", **{topic: ABSENT, other: -1})


@case(kills=["bound-groups-are-not-shown", "models-of-groups-are-any-text"])
def test_groups_are_bound_to_parents(bk: BrokerSession) -> None:
    topic, other, unknown = parent(bk), parent(bk), f"{bk.name('T')}-ü"
    group, stray = bk.group(), bk.group()
    kept = {
        "lite.sub.model": "Exclusive",
        "lite.sub.client.quota": "11",
        "lite.sub.client.max.event.cnt": "12",
        "lite.sub.reset.offset.exclusive": "true",
        "lite.sub.reset.offset.unsubscribe": "FALSE",
    }
    bound = {"lite.bind.topic": topic, **kept}
    bk.create_group(group, attributes={f"+{key}": value for key, value in bound.items()}) >> Reply(SUCCESS)
    shown = asked(bk, RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, group=group)
    shown >> Reply(SUCCESS, Including({"attributes": bound}))
    bk.create_group(stray, attributes={"+lite.bind.topic": unknown}) >> Reply(SUCCESS)
    for key, value in (
        ("lite.sub.model", "shared"),
        ("lite.sub.client.quota", "x"),
        ("lite.sub.client.max.event.cnt", "9"),
        ("lite.sub.reset.offset.exclusive", "no"),
    ):
        bk.create_group(group, attributes={f"+{key}": value}) >> Reply(ERROR)
    judge_metas(bk, "groupMeta", **{topic: [group], other: ABSENT, unknown: [stray]})
    parent_info(bk, topic) >> Reply(SUCCESS, Including({"groups": [group]}))
    bk.create_group(group, attributes={"+lite.bind.topic": other}) >> Reply(SUCCESS)
    judge_metas(bk, "groupMeta", **{topic: ABSENT, other: [group]})
    parent_info(bk, topic) >> Reply(SUCCESS, Including({"groups": ABSENT}))


@case(kills=["unused-light-topics-are-unknown"])
def test_unused_light_topic_is_shown(bk: BrokerSession) -> None:
    topic = parent(bk)
    info = asked(bk, RequestCode.GET_LITE_TOPIC_INFO, parentTopic=topic, liteTopic="Thema-ü")
    info >> Reply(
        SUCCESS,
        {
            "liteTopic": "Thema-ü",
            "parentTopic": topic,
            "shardingToBroker": True,
            "subscriber": [],
            "topicOffset": {"lastUpdateTimestamp": 0, "maxOffset": 0, "minOffset": 0},
        },
    )


def bound_group(bk: BrokerSession, topic: str) -> str:
    group = bk.group()
    bk.create_group(group, attributes={"+lite.bind.topic": topic}) >> Reply(SUCCESS)
    return group


@case(kills=["light-groups-lack-nothing", "light-groups-need-no-number"])
def test_light_group_is_shown(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, code = bound_group(bk, topic), RequestCode.GET_LITE_GROUP_INFO
    common = {"earliestUnconsumedTimestamp": -1, "group": group, "parentTopic": topic}
    of_all = {**common, "lagCountTopK": [], "lagTimestampTopK": [], "totalLagCount": 0}
    asked(bk, code, group=group, topK="5") >> Reply(SUCCESS, of_all)
    of_one = {**common, "liteTopic": "Thema-ü", "totalLagCount": -1}
    asked(bk, code, group=group, liteTopic="Thema-ü") >> Reply(SUCCESS, of_one)
    for lacking in ({}, {"topK": "0"}, {"topK": "-1"}):
        bk.call(code, {"group": group, **lacking}) >> Reply(ERROR)
    bk.call(RequestCode.TRIGGER_LITE_DISPATCH, {"group": group}) >> Reply(SUCCESS)


@case(kills=["idle-light-clients-are-unknown"])
def test_idle_light_client_is_shown(bk: BrokerSession) -> None:
    topic = parent(bk)
    group, client = bound_group(bk, topic), "Gerät-ü"
    named = {"clientId": client, "group": group, "parentTopic": topic}
    info = asked(bk, RequestCode.GET_LITE_CLIENT_INFO, clientId=client, group=group, parentTopic=topic)
    info >> Reply(SUCCESS, {**named, "lastAccessTime": -1, "lastConsumeTime": 0, "liteTopicCount": -1})


@case(kills=["any-group-pops-light-messages", "light-pops-find-nothing-never"])
def test_light_pops_need_a_bound_group(bk: BrokerSession) -> None:
    topic, group = parent(bk), bk.group()
    for one, most in ((bound_group(bk, parent(bk)), "5"), (group, "7")):
        refused = light_pop(bk, topic, one)
        refused >> Reply(INVALID, remark=f"subscription bind topic not match, {one}")
        client = {"parentTopic": topic, "group": one, "clientId": "Gerät-ü", "maxCount": most}
        no_match = f"Subscription [{one}]-[{topic}] not match."
        bk.call(RequestCode.GET_LITE_CLIENT_INFO, client) >> Reply(INVALID, remark=no_match)
    bk.send(topic) >> Reply(SUCCESS)
    before = bk.broker_time()
    popped = light_pop(bk, topic, bound_group(bk, topic))
    expected = {"invisibleTime": "61234", "orderCountInfo": "", "reviveQid": "999"}
    none = Reply(ResponseCode.POLLING_TIMEOUT, remark="NO_MESSAGE_IN_QUEUE", ext=Including(expected))
    popped >> none
    popped.seen_as(POPPED_AT) >> Reply(ResponseCode.POLLING_TIMEOUT, Between(before - 1000, before + 60_000))


POPPED_AT = View("popTime", lambda command: int((command.ext or {}).get("popTime") or 0))


def light_pop(bk: BrokerSession, topic: str, group: str) -> Exchange:
    """POP_LITE_MESSAGE (200070) of a client that does not wait."""
    asked = {"clientId": "client", "consumerGroup": group, "topic": topic, "maxMsgNum": "8"}
    times = {"invisibleTime": "61234", "pollTime": "0", "bornTime": "0"}
    return bk.call(RequestCode.POP_LITE_MESSAGE, {**asked, **times}, about=topic)
