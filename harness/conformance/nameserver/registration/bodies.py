"""Bodies and routes, for the cases about registration."""

import json

from harness.conformance import Including, Reply
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import DataVersion, RegisterBody, TopicQueueMappingInfo

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

NO_MASTER = (None, None)
"""masterAddr and haServerAddr of a reply that has neither."""


def is_unknown(ns: NameServerSession, broker: Broker) -> None:
    """Neither name nor cluster nor topics of the broker are known."""
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [])
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)


def serves(ns: NameServerSession, broker: Broker, hint: str, *numbers: int) -> None:
    """The topic's route has these numbers of the broker: read and write queues, permission, system flag."""
    ns.route(broker.topic(hint)).queues >> Reply(SUCCESS, Including({broker.name: numbers}))


def state_version(number: int) -> DataVersion:
    return DataVersion(1, 1_700_000_000_000, number)


def compact_json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def with_mapping(broker: Broker) -> RegisterBody:
    """The broker's body with a static-topic mapping for topic A."""
    topic, body = broker.topic("A"), broker.body()
    mapping = TopicQueueMappingInfo(
        topic=topic, bname=broker.name, total_queues=2, epoch=5, curr_id_map={0: 1}
    )
    body.mappings = {topic: mapping}
    return body
