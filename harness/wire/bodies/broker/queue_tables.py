"""Tables with a queue as key: bodies that a Broker answers its tools with (202, 208, 222, 223, 317), and
what clients answer it (221).

fastjson writes such a key as an object, which is no JSON: `{"offsetTable":{{"brokerName":"b","queueId":0,
"topic":"T"}:{…}}}`. Reading takes it as it is written, compact and with its members in this order.

Source: TopicStatsTable, ConsumeStats, ConsumeStatsList, ResetOffsetBody, GetConsumerStatusBody of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from harness.wire.bodies.broker.locks import MessageQueue
from harness.wire.bodies.json_body import without_none
from harness.wire.errors import WireError
from harness.wire.fastjson import document, dumps

_T = TypeVar("_T")
_TEXT: Final = rb'"(?:[^"\\]|\\.)*"'
_KEY: Final = re.compile(rb'\{"brokerName":%b,"queueId":-?[0-9]+,"topic":%b\}(?=:)' % (_TEXT, _TEXT))


class StoredQueue(msgspec.Struct, rename="camel", frozen=True):
    """What is stored in a queue. `last_update_timestamp`: of the newest message, ms; 0 without one."""

    last_update_timestamp: int = 0
    max_offset: int = 0
    min_offset: int = 0


class ConsumedQueue(msgspec.Struct, rename="camel", frozen=True):
    """How far a group has consumed a queue. `last_timestamp`: of the message consumed last, ms; 0: none.

    `pull_offset` is of 5.x; None leaves it out.
    """

    broker_offset: int = 0
    consumer_offset: int = 0
    last_timestamp: int = 0
    pull_offset: int | None = None


class TopicStats(msgspec.Struct, rename="camel"):
    """Answer to 202. `topic_put_tps` is of 5.x; None leaves it out."""

    offset_table: dict[MessageQueue, StoredQueue] = {}
    topic_put_tps: float | None = None

    def encode(self) -> bytes:
        """The body."""
        table = queue_table(self.offset_table)
        return document(without_none({"offsetTable": table, "topicPutTps": self.topic_put_tps}))

    @classmethod
    def decode(cls, data: bytes) -> TopicStats:
        """Raises `WireError`."""
        found = _read(data, _TopicStats)
        return cls(_by_queue(found.offset_table), found.topic_put_tps)


class ConsumeStats(msgspec.Struct, rename="camel"):
    """Answer to 208. `consume_tps`: messages per second."""

    consume_tps: float = 0.0
    offset_table: dict[MessageQueue, ConsumedQueue] = {}

    def encode(self) -> bytes:
        """The body."""
        return document({"consumeTps": self.consume_tps, "offsetTable": queue_table(self.offset_table)})

    @classmethod
    def decode(cls, data: bytes) -> ConsumeStats:
        """Raises `WireError`."""
        found = _read(data, _ConsumeStats)
        return cls(found.consume_tps, _by_queue(found.offset_table))


class ConsumeStatsList(msgspec.Struct, rename="camel"):
    """Answer to 317: for each group an object with one member, the group's progress in each of its topics.

    `total_diff`: messages that are not consumed yet. `total_inflight_diff` is of 5.x; None leaves it out.
    """

    broker_addr: str = ""
    consume_stats_list: list[dict[str, list[ConsumeStats]]] = []
    total_diff: int = 0
    total_inflight_diff: int | None = None

    def encode(self) -> bytes:
        """The body."""
        groups = [
            {group: [msgspec.Raw(one.encode()) for one in stats] for group, stats in entry.items()}
            for entry in self.consume_stats_list
        ]
        told = {
            "brokerAddr": self.broker_addr,
            "consumeStatsList": groups,
            "totalDiff": self.total_diff,
            "totalInflightDiff": self.total_inflight_diff,
        }
        return document(without_none(told))

    @classmethod
    def decode(cls, data: bytes) -> ConsumeStatsList:
        """Raises `WireError`."""
        found = _read(data, _ConsumeStatsList)
        groups = [
            {
                group: [ConsumeStats(one.consume_tps, _by_queue(one.offset_table)) for one in stats]
                for group, stats in entry.items()
            }
            for entry in found.consume_stats_list
        ]
        return cls(found.broker_addr, groups, found.total_diff, found.total_inflight_diff)


class QueueOffsets(msgspec.Struct, rename="camel"):
    """Answer to 222: the offset from which each queue is consumed now."""

    offset_table: dict[MessageQueue, int] = {}

    def encode(self) -> bytes:
        """The body."""
        return document({"offsetTable": queue_table(self.offset_table)})

    @classmethod
    def decode(cls, data: bytes) -> QueueOffsets:
        """Raises `WireError`."""
        return cls(_by_queue(_read(data, _QueueOffsets).offset_table))


class ConsumerStatus(msgspec.Struct, rename="camel"):
    """Answer to 221 and to 223: from where queues are consumed; by the client that is asked, and by each of
    them, by their ids.
    """

    consumer_table: dict[str, dict[MessageQueue, int]] = {}
    message_queue_table: dict[MessageQueue, int] = {}

    def encode(self) -> bytes:
        """The body."""
        consumers = {client: queue_table(table) for client, table in self.consumer_table.items()}
        return document(
            {"consumerTable": consumers, "messageQueueTable": queue_table(self.message_queue_table)}
        )

    @classmethod
    def decode(cls, data: bytes) -> ConsumerStatus:
        """Raises `WireError`."""
        found = _read(data, _ConsumerStatus)
        consumers = {client: _by_queue(table) for client, table in found.consumer_table.items()}
        return cls(consumers, _by_queue(found.message_queue_table))


def plain_tables(data: bytes) -> Any:
    """Any such body as plain Python; a queue's name is its key as text. Raises `WireError`."""
    return _read(data, Any)


def queue_table(table: Mapping[MessageQueue, Any]) -> msgspec.Raw:
    """The text of such a table, ready to be a member of a document."""
    entries = (document(queue.document()) + b":" + dumps(_plain(value)) for queue, value in table.items())
    return msgspec.Raw(b"{" + b",".join(entries) + b"}")


def _plain(value: Any) -> Any:
    found = msgspec.to_builtins(value)
    return without_none(found) if isinstance(found, dict) else found


class _TopicStats(msgspec.Struct, rename="camel"):
    offset_table: dict[str, StoredQueue] = {}
    topic_put_tps: float | None = None


class _ConsumeStats(msgspec.Struct, rename="camel"):
    consume_tps: float = 0.0
    offset_table: dict[str, ConsumedQueue] = {}


class _ConsumeStatsList(msgspec.Struct, rename="camel"):
    broker_addr: str = ""
    consume_stats_list: list[dict[str, list[_ConsumeStats]]] = []
    total_diff: int = 0
    total_inflight_diff: int | None = None


class _QueueOffsets(msgspec.Struct, rename="camel"):
    offset_table: dict[str, int] = {}


class _ConsumerStatus(msgspec.Struct, rename="camel"):
    consumer_table: dict[str, dict[str, int]] = {}
    message_queue_table: dict[str, int] = {}


def _read(data: bytes, kind: Any) -> Any:
    """The body with its keys in quotes, which is JSON."""
    quoted = _KEY.sub(lambda found: document(found[0].decode("utf-8", "replace")), data)
    try:
        return msgspec.json.decode(quoted, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WireError(f"the body is no table of queues: {error}") from error


def _by_queue(table: Mapping[str, _T]) -> dict[MessageQueue, _T]:
    try:
        return {msgspec.json.decode(key, type=MessageQueue): value for key, value in table.items()}
    except msgspec.MsgspecError as error:
        raise WireError(f"a key of the table is no queue: {error}") from error
