"""Steps about static topics (5.x): mappings, and where a mapped queue begins by time.

A mapped queue has up to three parts: queue 0, 1, … of the Broker by its place in ``queues``; queue 8, 9, … of
the Broker if it goes on there; and a queue of another Broker if it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from harness.program.broker.steps import BrokerRequest
from harness.program.step import name, plain
from harness.wire import RequestCode

BEGINS = (0, 100, 200)
"""Where the parts of a mapped queue begin in it."""
_OF_SECOND_PARTS = 8
"""The first queue of the Broker that is the second part of a mapped one."""
_QUEUES = "16"


class StaticPart(msgspec.Struct, frozen=True):
    """A part of a mapped queue: ``queue`` of the Broker, None where it is another one's."""

    begin: int
    queue: int | None


class MapTopic(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="map-topic"):
    """513: a static topic is made, or its mapping is changed."""

    letters: ClassVar = "S"
    codes: ClassVar = (RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,)
    carries: ClassVar = {
        "topic": name("topic"),
        "defaultTopic": "TBW102",
        "readQueueNums": _QUEUES,
        "writeQueueNums": _QUEUES,
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }

    topic: str = "S0"
    queues: tuple[int, ...] = (4,)
    """Mapped queues."""
    goes_on: tuple[int, ...] = ()
    """Those that go on in another queue of the Broker."""
    gone: tuple[int, ...] = ()
    """Those that go on at another Broker."""
    epoch: int = 1

    def parts(self, number: int) -> Iterator[StaticPart]:
        """Those of a mapped queue, in order."""
        at = self.queues.index(number)
        yield StaticPart(BEGINS[0], at)
        if number in self.goes_on:
            yield StaticPart(BEGINS[1], _OF_SECOND_PARTS + at)
        if number in self.gone:
            yield StaticPart(BEGINS[2], None)

    def leads(self, number: int) -> bool:
        """Whether the Broker has the last part of a mapped queue."""
        return number in self.queues and number not in self.gone


class Search(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="search"):
    """29: the first message of a queue behind a time that is before all."""

    letters: ClassVar = "I"
    codes: ClassVar = (RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,)
    carries: ClassVar = {"topic": name("topic"), "queueId": plain("queue"), "timestamp": "1"}

    topic: str = "S0"
    queue: int = 4
