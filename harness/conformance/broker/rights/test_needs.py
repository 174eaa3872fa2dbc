"""Chapter rights: what requests need."""

from collections.abc import Mapping
from typing import Any

from harness.conformance import Reply, case
from harness.conformance.broker.rights.guarded import (
    ACTIONS,
    GUARDED,
    SERVED,
    SUCCESS,
    Asked,
    asks,
    entry,
    has_only,
    needs,
    refused,
    sends,
)
from harness.conformance.broker.signed import ROOT, make
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import RequestCode
from harness.wire.bodies import Heartbeat, LockRequest, MessageQueue
from harness.wire.fastjson import document

PUB, SUB, GET, UPDATE = ("Pub",), ("Sub",), ("Get",), ("Update",)
FULL = {
    "producerGroup": "P",
    "topic": "",
    "defaultTopic": "TBW102",
    "defaultTopicQueueNums": "4",
    "queueId": "0",
    "sysFlag": "0",
    "bornTimestamp": "1700000000000",
    "flag": "0",
    "properties": "",
    "reconsumeTimes": "0",
    "unitMode": "false",
    "batch": "false",
}


def sent(topic: str, group: str = "P") -> dict[str, str]:
    """The fields of a send, by their short names."""
    full = {**FULL, "topic": topic, "producerGroup": group}
    return dict(zip("abcdefghijkm", full.values(), strict=True))


PULL = {
    "queueId": "0",
    "queueOffset": "0",
    "maxMsgNums": "1",
    "sysFlag": "0",
    "commitOffset": "0",
    "suspendTimeoutMillis": "0",
    "subscription": "*",
    "subVersion": "0",
}
"""A pull, but for topic and group."""


@case(kills=["rights-are-not-looked-at", "batches-of-users-need-no-right"], setup=GUARDED)
def test_send_needs_pub_on_its_topic(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, user = bk.topic("Thema-ü"), make(bk, "secret")
    sends(bk, user, topic) >> refused(user, f"Topic:{topic}")
    on = (f"Topic:{topic}",)
    recall = {"topic": topic, "recallHandle": "x"}
    needs(bk, user, Asked(RequestCode.SEND_MESSAGE, {**FULL, "topic": topic}, on, PUB, b"x"))
    needs(bk, user, Asked(RequestCode.SEND_MESSAGE_V2, sent(topic), on, PUB, b"x"))
    has_only(bk, user, entry(on[0], "Sub"))
    for code, ext in (
        (RequestCode.SEND_BATCH_MESSAGE, {**sent(topic), "m": "true"}),
        (RequestCode.RECALL_MESSAGE, recall),
        (RequestCode.END_TRANSACTION, {"topic": topic, "producerGroup": "P"}),
    ):
        asks(bk, user, Asked(code, ext, on, PUB)) >> refused(user, on[0])


@case(kills=["retries-belong-to-no-group", "retries-are-for-who-they-say"], setup=GUARDED)
def test_retry_needs_sub_on_the_group_of_its_topic(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    group, other, user = bk.group(), bk.group(), make(bk, "secret")
    has_only(bk, user, entry(f"Group:{other}", *ACTIONS))
    what = Asked(RequestCode.SEND_MESSAGE_V2, sent(f"%RETRY%{group}", other), (f"Group:{group}",), SUB, b"x")
    asks(bk, user, what) >> refused(user, f"Group:{group}")
    needs(bk, user, what)


@case(
    kills=[
        "pulls-need-no-topic",
        "pulls-need-no-group",
        "heartbeats-need-nothing",
        "heartbeats-need-rights-to-one-group",
        "unlocking-needs-no-topic",
    ],
    setup=GUARDED,
)
def test_consuming_needs_sub_on_topic_and_group(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, group, user = bk.topic(), bk.group("Gruppe-ü"), make(bk, "secret")
    both = {"topic": topic, "consumerGroup": group, "queueId": "0"}
    on_topic, on_group = f"Topic:{topic}", f"Group:{group}"
    pull = {**both, **PULL}
    needs(bk, user, Asked(RequestCode.PULL_MESSAGE, pull, (on_topic, on_group), SUB))
    retry = {**pull, "topic": f"%RETRY%{group}"}
    needs(bk, user, Asked(RequestCode.PULL_MESSAGE, retry, (on_group,), SUB))
    needs(bk, user, Asked(RequestCode.QUERY_CONSUMER_OFFSET, both, (on_topic, on_group), ("Sub", "Get")))
    commit = {**both, "commitOffset": "0"}
    needs(
        bk, user, Asked(RequestCode.UPDATE_CONSUMER_OFFSET, commit, (on_topic, on_group), ("Sub", "Update"))
    )
    needs(
        bk,
        user,
        Asked(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": group}, (on_group,), ("Sub", "Get")),
    )
    queues = [MessageQueue("b", 0, f"%RETRY%{group}"), MessageQueue("b", 0, topic)]
    locked = LockRequest("client", group, queues).encode()
    for code in (RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ):
        needs(bk, user, Asked(code, {}, (on_group, on_topic), SUB, locked))
    second, elsewhere = bk.group("second"), bk.name("elsewhere")
    consumers = [consuming(group, [f"%RETRY%{group}", topic]), consuming(second, [elsewhere])]
    beat = Asked(RequestCode.HEART_BEAT, {}, (on_group, on_topic), SUB, beat_of(bk, consumers[0]))
    needs(bk, user, beat)
    resources = {on_group, on_topic, f"Group:{second}", f"Topic:{elsewhere}"}
    for missing in sorted(resources):
        has_only(bk, user, *(entry(one, "Sub") for one in resources - {missing}))
        several = Asked(RequestCode.HEART_BEAT, {}, (), SUB, beat_of(bk, *consumers))
        asks(bk, user, several) >> refused(user, missing)
    ended = {"clientID": "client", "consumerGroup": group}
    needs(bk, user, Asked(RequestCode.UNREGISTER_CLIENT, ended, (on_group,), SUB))
    popped = (on_group, on_topic)
    for code in (
        RequestCode.POP_MESSAGE,
        RequestCode.ACK_MESSAGE,
        RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
        RequestCode.NOTIFICATION,
    ):
        has_only(bk, user, entry(on_topic, *ACTIONS))
        asks(bk, user, Asked(code, both, popped, SUB)) >> refused(user, on_group)
        has_only(bk, user, entry(on_group, "Sub"))
        asks(bk, user, Asked(code, both, popped, SUB)) >> refused(user, on_topic)


@case(kills=["what-has-no-name-needs-no-right"], setup=GUARDED)
def test_topic_and_group_without_a_name_need_a_right(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, group, user = bk.topic(), bk.group(), make(bk, "secret")
    pull = {"consumerGroup": group, **PULL}
    nameless = {"subString": "*", "subVersion": 0}
    consumer = {**consuming(group, [topic]), "subscriptionDataSet": [nameless]}
    locked = {"clientId": "c", "consumerGroup": group, "mqSet": [{"brokerName": "b", "queueId": 0}]}
    of_none = {"clientId": "c", "mqSet": [{"brokerName": "b", "queueId": 0, "topic": topic}]}
    has_only(bk, user, entry(f"Group:{group}", *ACTIONS), entry(f"Topic:{topic}", *ACTIONS))
    for code, ext, sent_body, resource in (
        (RequestCode.PULL_MESSAGE, pull, b"", "Topic:null"),
        (RequestCode.HEART_BEAT, {}, beat_of(bk, consumer), "Topic:null"),
        (RequestCode.HEART_BEAT, {}, beat_of(bk, {**consumer, "groupName": None}), "Group:null"),
        (RequestCode.LOCK_BATCH_MQ, {}, document(locked), "Topic:null"),
        (RequestCode.LOCK_BATCH_MQ, {}, document(of_none), "Group:null"),
        (RequestCode.UNLOCK_BATCH_MQ, {}, document(locked), "Topic:null"),
    ):
        asks(bk, user, Asked(code, ext, (), SUB, sent_body)) >> refused(user, resource)
    has_only(bk, user, entry("*", *ACTIONS))
    asks(bk, user, Asked(RequestCode.LOCK_BATCH_MQ, {}, (), SUB, document(locked))) >> SERVED
    asks(bk, user, Asked(RequestCode.HEART_BEAT, {}, (), SUB, beat_of(bk, consumer))) >> SERVED


def beat_of(bk: BrokerSession, *consumers: Mapping[str, Any]) -> bytes:
    """The body of a heartbeat."""
    return document({"clientID": bk.name("C"), "consumerDataSet": list(consumers), "producerDataSet": []})


@case(
    kills=["smallest-offsets-need-no-right", "second-resources-are-not-looked-at"],
    setup=GUARDED,
)
def test_administration_needs_actions_on_topics_and_groups(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, second, group, user = bk.topic(), bk.topic(), bk.group(), make(bk, "secret")
    on_topic, on_group = f"Topic:{topic}", f"Group:{group}"
    one_topic = {"topic": topic, "queueId": "0", "timestamp": "0"}
    for code in (
        RequestCode.GET_MAX_OFFSET,
        RequestCode.GET_MIN_OFFSET,
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
        RequestCode.GET_EARLIEST_MSG_STORETIME,
        RequestCode.GET_TOPIC_CONFIG,
        RequestCode.GET_TOPIC_STATS_INFO,
        RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
    ):
        needs(bk, user, Asked(code, one_topic, (on_topic,), GET))
    found = {"topic": topic, "key": "k", "maxNum": "1", "beginTimestamp": "0", "endTimestamp": "1"}
    needs(bk, user, Asked(RequestCode.QUERY_MESSAGE, found, (on_topic,), ("Sub", "Get")))
    retry = {**one_topic, "topic": f"%RETRY%{group}"}
    needs(bk, user, Asked(RequestCode.GET_MAX_OFFSET, retry, (on_group,), GET))
    for code in (RequestCode.QUERY_TOPICS_BY_CONSUMER, RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG):
        needs(bk, user, Asked(code, {"group": group}, (on_group,), GET))
    consumer = {"consumerGroup": group, "clientId": "c"}
    for code in (RequestCode.GET_CONSUMER_CONNECTION_LIST, RequestCode.GET_CONSUMER_RUNNING_INFO):
        needs(bk, user, Asked(code, consumer, (on_group,), GET))
    several = {"consumerGroup": group, "topicList": f"{topic};{second}"}
    three = (on_group, on_topic, f"Topic:{second}")
    needs(bk, user, Asked(RequestCode.GET_CONSUME_STATS, several, three, GET))
    needs(bk, user, Asked(RequestCode.GET_CONSUME_STATS, {**consumer, "topic": topic}, three[:2], GET))
    both = {"topic": topic, "group": group}
    needs(bk, user, Asked(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, both, (on_group, on_topic), GET))
    needs(bk, user, Asked(RequestCode.QUERY_CONSUME_TIME_SPAN, both, (on_topic, on_group), GET))
    corrected = {"filterGroups": f"{group},{bk.name('G')}", "compareGroup": group, "topic": topic}
    groups = [f"Group:{one}" for one in corrected["filterGroups"].split(",")]
    needs(bk, user, Asked(RequestCode.QUERY_CORRECTION_OFFSET, corrected, (*groups, on_topic), GET))
    forbidden = {**both, "readable": "true"}
    needs(
        bk, user, Asked(RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, forbidden, (on_group, on_topic), UPDATE)
    )
    reset = {**both, "timestamp": "0", "isForce": "true"}
    needs(bk, user, Asked(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, reset, (on_group, on_topic), UPDATE))


@case(kills=["making-needs-update", "removing-topics-needs-no-right"], setup=GUARDED)
def test_making_and_removing_need_create_and_delete(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    topic, group, user = bk.name("T"), bk.name("G"), make(bk, "secret")
    made = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": "3",
        "writeQueueNums": "3",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    on = (f"Topic:{topic}",)
    needs(bk, user, Asked(RequestCode.UPDATE_AND_CREATE_TOPIC, made, on, ("Create",)))
    needs(bk, user, Asked(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": topic}, on, ("Delete",)))
    removed = {"groupName": group, "cleanOffset": "false"}
    what = Asked(RequestCode.DELETE_SUBSCRIPTIONGROUP, removed, (f"Group:{group}",), ("Delete",))
    needs(bk, user, what)


@case(kills=["making-users-needs-no-right", "giving-needs-get"], setup=GUARDED)
def test_cluster_needs_get_and_update(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, other, on = make(bk, "secret"), bk.name("U"), (f"Cluster:{bk.cluster_name}",)
    for code, ext in (
        (RequestCode.AUTH_LIST_USER, {}),
        (RequestCode.AUTH_GET_USER, {"username": other}),
        (RequestCode.AUTH_LIST_ACL, {}),
        (RequestCode.GET_ALL_PRODUCER_INFO, {}),
        (RequestCode.GET_BROKER_CONSUME_STATS, {"isOrder": "false"}),
    ):
        needs(bk, user, Asked(code, ext, on, GET))
    has_only(bk, user, entry(on[0], "Get"))
    for code in (
        RequestCode.AUTH_UPDATE_USER,
        RequestCode.AUTH_DELETE_USER,
        RequestCode.AUTH_CREATE_ACL,
        RequestCode.AUTH_UPDATE_ACL,
        RequestCode.AUTH_DELETE_ACL,
    ):
        asks(bk, user, Asked(code, {"username": other}, on, UPDATE)) >> refused(user, on[0])
    said = document({"password": "secret-2"})
    needs(bk, user, Asked(RequestCode.AUTH_CREATE_USER, {"username": other}, on, UPDATE, said))


@case(kills=["settings-need-a-right"], setup=GUARDED)
def test_other_requests_need_nothing(bk: BrokerSession) -> None:
    bk.sign_as(ROOT)
    user, topic = make(bk, "secret"), bk.topic()
    sends(bk, user, topic) >> refused(user, f"Topic:{topic}")
    beat = Heartbeat(client_id=bk.name("C")).encode()
    for code, ext, sent_body in (
        (RequestCode.GET_BROKER_CONFIG, {}, b""),
        (RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, document({"groupName": bk.name("G")})),
        (RequestCode.GET_ALL_TOPIC_CONFIG, {}, b""),
        (RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, {}, b""),
        (RequestCode.UNREGISTER_CLIENT, {"clientID": "c", "producerGroup": "P"}, b""),
        (RequestCode.HEART_BEAT, {}, beat),
    ):
        asks(bk, user, Asked(code, ext, (), (), sent_body)) >> Reply(SUCCESS)
    asks(bk, user, Asked(RequestCode.SEND_REPLY_MESSAGE, FULL, (), ())) >> SERVED
