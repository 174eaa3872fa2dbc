"""Every ext field of each request and every member of its body in unusual forms, from `specs/fields/`; and
what requests do whose objects have members that no server knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.conformance import Including, Reply, case
from harness.conformance.broker.light.lights import LIGHT, SOON, bound_group, fill, parent
from harness.conformance.broker.pop.popping import HIDDEN, filled, popped
from harness.conformance.broker.topics.topics import create_topics, told
from harness.conformance.field_cases import Proven, field_cases
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.spec.broker.hidden import REVIVAL
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BatchAck, BatchAcks

SUCCESS = ResponseCode.SUCCESS

globals().update(
    field_cases(
        "broker",
        __name__,
        fields=Proven(
            "bk.fields.unusual-forms-are-answered-as-apache-does",
            later="bk.fields.unusual-forms-of-5x-requests-are-answered-as-apache-does",
            newest="bk.fields.unusual-forms-of-newer-requests-are-answered-as-apache-does",
            earlier="bk.fields.unusual-forms-of-4x-requests-are-answered-as-apache-does",
        ),
        members=Proven(
            "bk.fields.unusual-members-are-answered-as-apache-does",
            later="bk.fields.unusual-members-of-5x-requests-are-answered-as-apache-does",
            newest="bk.fields.unusual-members-of-newer-requests-are-answered-as-apache-does",
        ),
    )
)


def grown(body: Mapping[str, Any]) -> bytes:
    """A JSON body each of whose objects begins with a member that no server knows."""
    return json.dumps(_grown(body)).encode()


def _grown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"unknownMember": {"of": [1]}, **{name: _grown(member) for name, member in value.items()}}
    return [_grown(one) for one in value] if isinstance(value, list) else value


@case(kills=["unknown-members-hide-queues"])
def test_locks_with_unknown_members_are_given(bk: BrokerSession) -> None:
    group, topic = bk.group(), bk.topic()
    first, second = ({"brokerName": bk.broker_name, "queueId": one, "topic": topic} for one in (1, 2))
    asked = {"clientId": "one", "consumerGroup": group, "mqSet": [first, second]}
    bk.call(RequestCode.LOCK_BATCH_MQ, None, grown(asked)) >> Reply(SUCCESS)
    queues = [(topic, number) for number in range(4)]
    bk.lock(group, "other", queues).queues >> Reply(SUCCESS, [(topic, 0), (topic, 3)])
    bk.call(RequestCode.UNLOCK_BATCH_MQ, None, grown({**asked, "mqSet": [second]})) >> Reply(SUCCESS)
    bk.lock(group, "third", queues).queues >> Reply(SUCCESS, [(topic, 2)])


@case(kills=["unknown-members-hide-consumers"])
def test_heartbeats_with_unknown_members_count(bk: BrokerSession) -> None:
    group, topic, (client, connection) = bk.group(), bk.topic(), bk.client()
    first = "CONSUME_FROM_FIRST_OFFSET"
    wants = consuming(
        group, {topic: "A || B"}, version=7, broadcasts=True, kind="CONSUME_ACTIVELY", start=first
    )
    beat = {"clientID": client, "consumerDataSet": [wants], "producerDataSet": [{"groupName": bk.group("p")}]}
    bk.call(RequestCode.HEART_BEAT, {}, grown(beat), on=connection) >> Reply(SUCCESS)
    shown = {
        "consumeFromWhere": first,
        "consumeType": "CONSUME_ACTIVELY",
        "messageModel": "BROADCASTING",
        "subscriptionTable": {topic: wants["subscriptionDataSet"][0]},
    }
    bk.consumer_connections(group).json >> Reply(SUCCESS, Including(shown))


@case(kills=["unknown-members-hide-the-mode"])
def test_modes_with_unknown_members_are_set(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    mode = {"consumerGroup": group, "mode": "POP", "popShareQueueNum": 3, "topic": topic}
    bk.call(RequestCode.SET_MESSAGE_REQUEST_MODE, None, grown(mode)) >> Reply(SUCCESS)
    shown = {"messageRequestModeMap": Including({topic: {group: mode}})}
    bk.request_modes().json >> Reply(SUCCESS, Including(shown))


@case(kills=["unknown-members-hide-acks"], clock=True)
def test_acks_with_unknown_members_count(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c", queue=2)
    start, time, hidden, revive, *_ = popped(bk, topic, group, 3)[0].split(" ")
    entry = BatchAck(
        consumer_group=group,
        topic=topic,
        retry="0",
        queue_id=2,
        start_offset=int(start),
        revive_queue_id=int(revive),
        pop_time=int(time),
        invisible_time=int(hidden),
        bits=BatchAck.bits_of([0, 2]),
    )
    acks = json.loads(BatchAcks([entry], bk.broker_name).encode())
    bk.call(RequestCode.BATCH_ACK_MESSAGE, None, grown(acks), about=topic) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"b"])


@case(kills=["unknown-members-hide-topics"])
def test_topics_with_unknown_members_are_made(bk: BrokerSession) -> None:
    one, other = bk.name("T"), bk.name("T")
    more = {"unknownMember": {"of": [1]}}
    made = {"readQueueNums": 3, "writeQueueNums": 5, "perm": 4, "topicSysFlag": 2, "order": True}
    create_topics(bk, {**more, "topicName": one, **made}, {**more, "topicName": other}) >> Reply(SUCCESS)
    bk.topics().json >> Reply(SUCCESS, told(one, **made))
    bk.topics().json >> Reply(SUCCESS, told(other, readQueueNums=4))


@case(kills=["unknown-members-hide-subscriptions"], setup=LIGHT)
def test_light_subscriptions_with_unknown_members_count(bk: BrokerSession) -> None:
    topic, light, client = parent(bk), "light-ü", bk.name("client")
    group = bound_group(bk, topic)
    fill(bk, topic, light, b"a", b"b", b"c")
    subscription = {
        "action": "PARTIAL_ADD",
        "clientId": client,
        "group": group,
        "liteTopicSet": [light],
        "offsetOption": {"type": "OFFSET", "value": 1},
        "topic": topic,
        "version": 1,
    }
    body = grown({"subscriptionSet": [subscription]})
    bk.call(RequestCode.LITE_SUBSCRIPTION_CTL, None, body) >> Reply(SUCCESS)
    bk.light_pop(topic, group, client, poll=SOON).bodies >> Reply(SUCCESS, [b"b", b"c"])
