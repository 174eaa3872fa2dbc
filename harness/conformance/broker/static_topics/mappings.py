"""Mappings of static topics, as an administrator puts them."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance import Reply
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession, Exchange
from harness.session.exchange import View
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.fastjson import document, parse

STATIC = RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC
NOT_LEADER = ResponseCode.NOT_LEADER_FOR_QUEUE
Items = Sequence[Mapping[str, Any]]


def item(
    bk: BrokerSession,
    queue: int,
    logic: int = 0,
    *,
    gen: int = 0,
    start: int = 0,
    end: int = -1,
    broker: str | None = None,
) -> dict[str, Any]:
    """A queue of this Broker, or of another one, in which messages of a mapped queue are, from the offset
    `logic` on.
    """
    return {
        "bname": broker or bk.broker_name,
        "endOffset": end,
        "gen": gen,
        "logicOffset": logic,
        "queueId": queue,
        "startOffset": start,
        "timeOfEnd": -1,
        "timeOfStart": -1,
    }


def mapping(bk: BrokerSession, topic: str, queues: Mapping[int, Items], epoch: int = 7) -> dict[str, Any]:
    """Of a topic with five queues, of which these are on this Broker."""
    return {
        "bname": bk.broker_name,
        "currIdMap": {},
        "dirty": False,
        "epoch": epoch,
        "hostedQueues": {number: list(items) for number, items in queues.items()},
        "scope": "__global__",
        "topic": topic,
        "totalQueues": 5,
    }


def put(bk: BrokerSession, given: Mapping[str, Any], **ext: str) -> Exchange:
    """UPDATE_AND_CREATE_STATIC_TOPIC (513), with two queues on this Broker."""
    header = {
        "topic": given["topic"],
        "defaultTopic": "TBW102",
        "readQueueNums": "2",
        "writeQueueNums": "2",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    return bk.call(STATIC, {**header, **ext}, document(given), about=given["topic"])


def mapped(bk: BrokerSession) -> str:
    """A static topic: its queue 4 is queue 0 of this Broker, its queue 2 is queue 1."""
    topic = bk.name("static")
    put(bk, mapping(bk, topic, {4: [item(bk, 0)], 2: [item(bk, 1)]})) >> Reply(SUCCESS)
    return topic


def continued(bk: BrokerSession, apart: float = 0) -> str:
    """A static topic whose queue 2 has two messages in queue 0 of this Broker, and two more in its queue 1,
    from 100 on, these protocol seconds later. Before them, queue 0 has a message of its own, and queue 1 has
    three. If they are apart, queue 0 has a message of its own behind them, too.
    """
    topic = bk.name("static")
    put(bk, mapping(bk, topic, {2: [item(bk, 0, start=1)]})) >> Reply(SUCCESS)
    for queue in (0, 1, 1, 1):
        bk.send(topic, b"own", queue, code=10, ext={"lo": "false"}) >> Reply(SUCCESS)
    for body in (b"0", b"1"):
        bk.send(topic, body, 2) >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 2)
    if apart:
        bk.send(topic, b"own", 0, code=10, ext={"lo": "false"}) >> Reply(SUCCESS)
        bk.advance(apart)
    items = [item(bk, 0, start=1, end=3), item(bk, 1, 100, gen=1, start=3)]
    put(bk, mapping(bk, topic, {2: items}, 8)) >> Reply(SUCCESS)
    for number in (100, 101):
        bk.send(topic, b"%d" % number, 2).offset >> Reply(SUCCESS, number)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 102)
    return topic


def shown(bk: BrokerSession, topic: str) -> Exchange:
    """GET_TOPIC_CONFIG (351) with lo=true, which asks for the mapping, too."""
    return asked(bk, RequestCode.GET_TOPIC_CONFIG, topic=topic, lo="true")


def mapping_of(topic: str) -> View:
    """View of a registration: the mapping of a topic."""

    def read(command: Command) -> Any:
        found: Any = parse(command.body)
        return found["topicConfigSerializeWrapper"]["topicQueueMappingInfoMap"].get(topic)

    return View("mapping", read)
