"""Bodies and routes, for the cases about registration."""

import json
import zlib

from harness.conformance import Including, Reply
from harness.session import Broker, NameServerSession
from harness.session.nameserver.views import RegisterExchange
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


UNLIKE = {"A": (3, 5, 4, 1), "B": (7, 2, 6, 2)}
"""Read queues, write queues, permission and flag of two topics, unlike each other and every default."""

FILTERS: list[str | None] = ["f:1", "f:2"]


def unlike_broker(ns: NameServerSession) -> Broker:
    """A broker of which no number is a default, so that a server which loses one is noticed."""
    broker = ns.broker(topics=UNLIKE)
    broker.version = DataVersion(7, 1_700_000_000_001, broker.version.state_version)
    return broker


def unlike_body(broker: Broker) -> RegisterBody:
    """The broker's body, with filter servers."""
    body = broker.body()
    body.filter_servers = FILTERS
    return body


def is_whole(ns: NameServerSession, broker: Broker, *, flags: bool = True, filters: bool = True) -> None:
    """The server has read all that an `unlike_broker` registered. ``flags``, ``filters``: whether the body
    carried any.
    """
    table: object = Including({broker.address: FILTERS}) if filters else {}
    for hint, (read, write, perm, flag) in UNLIKE.items():
        route = ns.route(broker.topic(hint))
        route.queues >> Reply(SUCCESS, Including({broker.name: (read, write, perm, flag if flags else 0)}))
        route.json >> Reply(SUCCESS, Including({"filterServerTable": table}))
    broker.query_version().changed >> Reply(SUCCESS, False)


def state_version(number: int | None) -> DataVersion:
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


def compressed(
    broker: Broker, layout: bytes, *, word: str = "true", crc: int | None = None
) -> RegisterExchange:
    """A registration with a compressed body, as a 4.9 broker announces it: both lines read its layout."""
    return broker.register(body=zlib.compress(layout), crc=crc, ext={"compressed": word}, announces=409)


def layout_of_49(broker: Broker, *lines: str, version: bytes | None = None, filters: bytes = b"[]") -> bytes:
    """The text of a compressed 4.9 body, with topic lines and other parts that may be malformed."""
    parts = [version or broker.version.encode(), *(line.encode() for line in lines), filters]
    sized = [len(part).to_bytes(4, "big") + part for part in parts]
    return sized[0] + len(lines).to_bytes(4, "big") + b"".join(sized[1:])
