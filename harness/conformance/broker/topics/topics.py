"""Topics, and how requests about them are read."""

import json
from typing import Any

from harness.conformance import (
    Including,
)
from harness.session import BrokerSession, Exchange
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import TopicStats

SUCCESS = ResponseCode.SUCCESS
SYSTEM = "SCHEDULE_TOPIC_XXXX"
BLANK = "The specified topic is blank."
CHARACTERS = "contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
CONFLICT = f"The topic[{SYSTEM}] is conflict with system topic."
RESERVED = "rmq_sys_of-no-one"
"""A name that no topic has, but begins as those of the system do."""
ILLEGAL = {
    "": BLANK,
    "a b": f"The specified topic {CHARACTERS}",
    "x" * 128: "The specified topic is longer than topic max length.",
    SYSTEM: CONFLICT,
    RESERVED: f"The topic[{RESERVED}] is conflict with system topic.",
}


def _bounds(reply: Command) -> dict[int, tuple[int, int]] | None:
    if not reply.body:
        return None
    try:
        table = TopicStats.decode(reply.body).offset_table
    except WireError as problem:
        raise NotSo(str(problem)) from problem
    return {queue.queue_id: (state.min_offset, state.max_offset) for queue, state in table.items()}


def status(bk: BrokerSession, topic: str) -> Exchange:
    """GET_TOPIC_STATS_INFO (202), seen as the offsets of each queue."""
    asked = bk.call(RequestCode.GET_TOPIC_STATS_INFO, {"topic": topic}, about=topic)
    return asked.seen_as(
        View("offsets", _bounds, ("offsetTable",), ("minOffset", "maxOffset"), "body.offsetTable by queueId")
    )


def told(topic: str, **members: Any) -> Including:
    """A table of all topics in which this one has these members."""
    return Including({"topicConfigTable": Including({topic: Including(members)})})


def create_topics(bk: BrokerSession, *topics: dict[str, object]) -> Exchange:
    """UPDATE_AND_CREATE_TOPIC_LIST (18), each with all members that Apache's tool sends."""
    ordinary = {
        "readQueueNums": 4,
        "writeQueueNums": 4,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
        "attributes": {},
    }
    body = json.dumps({"topicConfigList": [{**ordinary, **one} for one in topics]}).encode()
    code = RequestCode.UPDATE_AND_CREATE_TOPIC_LIST
    return bk.call(code, None, body, about=", ".join(str(one["topicName"]) for one in topics))
