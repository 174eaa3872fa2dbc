"""What a request needs beside a signature: rights to topics and groups, or an administrator.

1. What is not listed here needs a signature alone.
2. A retry topic belongs to its group: an account that may consume may send and pull there.

(Apache's 4.9.8 asks for no right to send a batch, and lets every account change accounts.)

Source: PlainAccessValidator#parse, Permission of rocketmq-all-4.9.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from harness.wire import Command, RequestCode
from harness.wire.bodies import Heartbeat
from harness.wire.header_fields import SHORT_NAMES
from harness.wire.messages import TopicName
from reference_impl.broker import required
from reference_impl.remoting.fields import Ext

from .accounts import PUB, SUB

ADMIN: Final = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
        RequestCode.DELETE_ACL_CONFIG,
        RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
    }
)
"""Requests of administrators."""
_FULL: Final = {name: name for name in SHORT_NAMES} | {"producerGroup": "group"}
_SENDS: Final[Mapping[int, Mapping[str, str]]] = {
    RequestCode.SEND_MESSAGE: _FULL,
    RequestCode.SEND_MESSAGE_V2: SHORT_NAMES,
    RequestCode.SEND_BATCH_MESSAGE: SHORT_NAMES,
}


class Need(msgspec.Struct, frozen=True):
    """A right to a topic or to a group."""

    kind: str
    """"topic" or "group"."""
    name: str
    right: str


def needs_of(command: Command) -> Iterator[Need]:
    """The rights that a request needs. Raises RefusedError for a heartbeat that cannot be read."""
    ext: Ext = command.ext or {}
    match command.code:
        case RequestCode.SEND_MESSAGE | RequestCode.SEND_MESSAGE_V2 | RequestCode.SEND_BATCH_MESSAGE:
            yield from _of_send(ext, command.code)
        case RequestCode.CONSUMER_SEND_MSG_BACK:
            yield from _of_group(ext.get("group"))
        case RequestCode.PULL_MESSAGE | RequestCode.UPDATE_CONSUMER_OFFSET:
            yield from _to_consume(ext.get("topic"))
            yield from _of_group(ext.get("consumerGroup"))
        case RequestCode.QUERY_MESSAGE:
            yield from _to_consume(ext.get("topic"))
        case RequestCode.UNREGISTER_CLIENT | RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            yield from _of_group(ext.get("consumerGroup"))
        case RequestCode.HEART_BEAT:
            for consumer in required.body(command, Heartbeat.decode, "fastjson").consumer_data_set:
                yield from _of_group(consumer.group_name)
                for subscription in consumer.subscription_data_set:
                    yield from _to_consume(subscription.topic)


def _of_send(ext: Ext, code: int) -> Iterator[Need]:
    topic = ext.get(_SENDS[code]["topic"])
    if topic is not None and topic.startswith(TopicName.RETRY_PREFIX):
        yield from _of_group(ext.get(_SENDS[code]["producerGroup"]))
    elif topic is not None:
        yield Need("topic", topic, PUB)


def _to_consume(topic: str | None) -> Iterator[Need]:
    if topic is None:
        return
    group = topic.removeprefix(TopicName.RETRY_PREFIX)
    yield Need("topic" if group == topic else "group", group, SUB)


def _of_group(group: str | None) -> Iterator[Need]:
    if group is not None:
        yield Need("group", group, SUB)
