"""What a request needs where users have rights: actions on topics, groups and the cluster.

1. What is not listed here needs nothing: every user may send it.
2. A retry topic belongs to its group.
3. What consumes needs its group even if it says none: Java then writes `null`. Of others, a field that is
   missing asks for nothing.

Source: DefaultAuthorizationContextBuilder, and the annotations of the header classes, of rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from harness.wire import Command, RequestCode
from harness.wire.bodies import Heartbeat, LockRequest
from harness.wire.fastjson import Engine
from harness.wire.messages import TopicName
from reference_impl.broker import required
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext

Actions: TypeAlias = tuple[str, ...]

PUB: Final = "Pub"
SUB: Final = "Sub"
CREATE: Final = "Create"
UPDATE: Final = "Update"
DELETE: Final = "Delete"
GET: Final = "Get"
TOPIC: Final = "Topic"
GROUP: Final = "Group"
CLUSTER: Final = "Cluster"

_SENDS: Final[Mapping[int, str]] = {
    RequestCode.SEND_MESSAGE: "topic",
    RequestCode.SEND_MESSAGE_V2: "b",
    RequestCode.SEND_BATCH_MESSAGE: "b",
}
"""The field of the topic."""
_CONSUMING: Final[Mapping[int, Actions]] = {
    RequestCode.PULL_MESSAGE: (SUB,),
    RequestCode.QUERY_CONSUMER_OFFSET: (SUB, GET),
    RequestCode.UPDATE_CONSUMER_OFFSET: (SUB, UPDATE),
}
"""On the topic, unless it is a retry topic, and on the group."""
_LOCKING: Final = frozenset({RequestCode.LOCK_BATCH_MQ, RequestCode.UNLOCK_BATCH_MQ})
_T: Final = ("topic",)
_G: Final = ("group",)
_C: Final = ("consumerGroup",)
_CLUSTER: Final = ("",)
_NAMED: Final[Mapping[int, tuple[Actions, tuple[str, ...]]]] = {
    RequestCode.RECALL_MESSAGE: ((PUB,), _T),
    RequestCode.END_TRANSACTION: ((PUB,), _T),
    RequestCode.QUERY_MESSAGE: ((SUB, GET), _T),
    RequestCode.CONSUMER_SEND_MSG_BACK: ((SUB,), _G),
    RequestCode.UNREGISTER_CLIENT: ((SUB,), _C),
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: ((SUB, GET), _C),
    RequestCode.POP_MESSAGE: ((SUB,), _C + _T),
    RequestCode.ACK_MESSAGE: ((SUB,), _C + _T),
    RequestCode.PEEK_MESSAGE: ((SUB,), _T + _C),
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME: ((SUB,), _C + _T),
    RequestCode.NOTIFICATION: ((SUB,), _C + _T),
    RequestCode.CONSUME_MESSAGE_DIRECTLY: ((SUB,), _C + _T),
    RequestCode.UPDATE_AND_CREATE_TOPIC: ((CREATE,), _T),
    RequestCode.DELETE_TOPIC_IN_BROKER: ((DELETE,), _T),
    RequestCode.DELETE_SUBSCRIPTIONGROUP: ((DELETE,), ("groupName",)),
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN: ((UPDATE,), _G + _T),
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: ((UPDATE,), _G + _T),
    RequestCode.CLONE_GROUP_OFFSET: ((UPDATE,), ("destGroup", "topic")),
    RequestCode.RESUME_CHECK_HALF_MESSAGE: ((UPDATE,), _T),
    RequestCode.GET_MAX_OFFSET: ((GET,), _T),
    RequestCode.GET_MIN_OFFSET: ((GET,), _T),
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: ((GET,), _T),
    RequestCode.GET_EARLIEST_MSG_STORETIME: ((GET,), _T),
    RequestCode.VIEW_MESSAGE_BY_ID: ((GET,), _T),
    RequestCode.GET_TOPIC_CONFIG: ((GET,), _T),
    RequestCode.GET_TOPIC_STATS_INFO: ((GET,), _T),
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: ((GET,), _T),
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: ((GET,), _T),
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: ((GET,), _G),
    RequestCode.QUERY_TOPICS_BY_CONSUMER: ((GET,), _G),
    RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER: ((GET,), _G + _T),
    RequestCode.GET_CONSUMER_CONNECTION_LIST: ((GET,), _C),
    RequestCode.GET_CONSUMER_RUNNING_INFO: ((GET,), _C),
    RequestCode.GET_CONSUME_STATS: ((GET,), (*_C, *_T, "topicList")),
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: ((GET,), _T + _G),
    RequestCode.QUERY_CONSUME_TIME_SPAN: ((GET,), _T + _G),
    RequestCode.QUERY_CORRECTION_OFFSET: ((GET,), ("filterGroups", "compareGroup", "topic")),
    RequestCode.QUERY_CONSUME_QUEUE: ((GET,), _T + _C),
    RequestCode.POLLING_INFO: ((GET,), _C + _T),
    RequestCode.GET_PRODUCER_CONNECTION_LIST: ((GET,), _CLUSTER),
    RequestCode.VIEW_BROKER_STATS_DATA: ((GET,), _CLUSTER),
    RequestCode.GET_BROKER_CONSUME_STATS: ((GET,), _CLUSTER),
    RequestCode.GET_ALL_PRODUCER_INFO: ((GET,), _CLUSTER),
    RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON: ((GET,), _CLUSTER),
    RequestCode.AUTH_GET_USER: ((GET,), _CLUSTER),
    RequestCode.AUTH_LIST_USER: ((GET,), _CLUSTER),
    RequestCode.AUTH_GET_ACL: ((GET,), _CLUSTER),
    RequestCode.AUTH_LIST_ACL: ((GET,), _CLUSTER),
    RequestCode.AUTH_CREATE_USER: ((UPDATE,), _CLUSTER),
    RequestCode.AUTH_UPDATE_USER: ((UPDATE,), _CLUSTER),
    RequestCode.AUTH_DELETE_USER: ((UPDATE,), _CLUSTER),
    RequestCode.AUTH_CREATE_ACL: ((UPDATE,), _CLUSTER),
    RequestCode.AUTH_UPDATE_ACL: ((UPDATE,), _CLUSTER),
    RequestCode.AUTH_DELETE_ACL: ((UPDATE,), _CLUSTER),
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: ((UPDATE,), _CLUSTER),
    RequestCode.EXCHANGE_BROKER_HA_INFO: ((UPDATE,), _CLUSTER),
    RequestCode.RESET_MASTER_FLUSH_OFFSET: ((UPDATE,), _CLUSTER),
    RequestCode.NOTIFY_BROKER_ROLE_CHANGED: ((UPDATE,), _CLUSTER),
}
"""The actions, one of which is enough, and the fields of what they are on; "" is the cluster."""
_SEPARATORS: Final = {"topicList": ";", "filterGroups": ","}


class Need(msgspec.Struct, frozen=True):
    """One of several actions on one resource."""

    resource: str
    """`Topic:…`, `Group:…` or `Cluster:…`."""
    actions: Actions


def needs_of(command: Command, cluster: str, engine: Engine) -> Iterator[Need]:
    """What a request needs. Raises RefusedError for a body that cannot be read."""
    ext: Ext = command.ext or {}
    code = command.code
    if code in _SENDS:
        name = fields.part_of_key(ext, _SENDS[code])
        yield _of_group(name, (SUB,)) if _is_retry(name) else _of_topic(name, (PUB,))
    elif code in _CONSUMING:
        yield from _to_consume([ext.get("topic")], ext.get("consumerGroup"), _CONSUMING[code])
    elif code == RequestCode.HEART_BEAT:
        for consumer in required.body(command, Heartbeat.decode, engine).consumer_data_set:
            yield _of_group(consumer.group_name or "null", (SUB,))
            yield from _topics_of([one.topic for one in consumer.subscription_data_set], (SUB,))
    elif code in _LOCKING:
        locked = required.body(command, LockRequest.decode, engine)
        yield _of_group(locked.consumer_group or "null", (SUB,))
        yield from _topics_of([queue.topic for queue in locked.mq_set], (SUB,))
    elif code in _NAMED:
        yield from _of_fields(ext, cluster, *_NAMED[code])


def _of_fields(ext: Ext, cluster: str, actions: Actions, names: tuple[str, ...]) -> Iterator[Need]:
    for field in names:
        if not field:
            yield Need(f"{CLUSTER}:{cluster}", actions)
            continue
        value = ext.get(field) or ""
        if not value.strip():
            continue
        separator = _SEPARATORS.get(field)
        for name in [value] if separator is None else filter(None, value.split(separator)):
            is_topic = field.startswith("topic") and not _is_retry(name)
            yield _of_topic(name, actions) if is_topic else _of_group(name, actions)


def _to_consume(topics: list[str | None], group: str | None, actions: Actions) -> Iterator[Need]:
    yield from _topics_of(topics, actions)
    yield _of_group("null" if group is None else group, actions)


def _topics_of(several: list[str | None], actions: Actions) -> Iterator[Need]:
    for name in several:
        if name is None or not _is_retry(name):
            yield _of_topic("null" if name is None else name, actions)


def _is_retry(topic: str) -> bool:
    return topic.startswith(TopicName.RETRY_PREFIX)


def _of_topic(name: str, actions: Actions) -> Need:
    return Need(f"{TOPIC}:{name}", actions)


def _of_group(name: str, actions: Actions) -> Need:
    return Need(f"{GROUP}:{name.removeprefix(TopicName.RETRY_PREFIX)}", actions)
