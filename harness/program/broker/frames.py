"""What requests to a Broker carry, and what their answers tell that later requests need.

As in `frames`. What a Broker has chosen (where it has put a message) is learnt from
its answers into `Names.places`; a request about a message of which nothing is known names a place where there
is none.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from harness.program.broker.any_request import AnyRequest
from harness.program.broker.filters import text_of
from harness.program.broker.optional_steps import Ack, Allow, Check, Hide, Pop, Recall
from harness.program.broker.static_steps import MapTopic
from harness.program.broker.steps import (
    Back,
    Beat,
    Bound,
    End,
    Find,
    Force,
    Lock,
    Pull,
    Send,
    Switch,
    View,
)
from harness.program.carried import ext_of
from harness.program.names import NOWHERE, Names, Place
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import Properties
from harness.wire.handles import handles_of, new_handle, place_of
from harness.wire.header_fields import SHORT_NAMES, PullFlag
from harness.wire.messages import (
    Message,
    PropertyName,
    SysFlag,
    TopicName,
    decode_message,
    decode_messages,
    encode_batch,
    encode_properties,
    tag_hash,
)

BORN_AT = 1_700_000_000_000
"""Milliseconds: when message ``m0`` was born; each other one a millisecond later by its number."""

STORED = (
    ResponseCode.SUCCESS,
    ResponseCode.FLUSH_DISK_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE,
    ResponseCode.FLUSH_SLAVE_TIMEOUT,
)
"""Codes of answers to sends whose messages are there."""
_LAST_OF_4 = 410
"""Up to this version a peer is of 4.x (`MQVersion`)."""
_EVER = 2**62
_SQL = "SQL92"

_ROLES = {
    "master": {"brokerRole": "ASYNC_MASTER", "brokerId": "0"},
    "slave": {"brokerRole": "SLAVE", "brokerId": "1"},
}
"""Settings of a Broker by its role."""
_SETTINGS = {"filters": "enablePropertyFilter", "recalls": "recallMessageEnable"}
"""Those that `Allow` changes."""
_NO_HANDLE = "none"
"""In place of a handle, where no answer has named one."""
_BROKER = "{broker}"
"""In place of the Broker's name, in a handle of `Names.popped`."""
_ELSEWHERE = "elsewhere"
"""The name of another Broker, which there is not."""
_MAPPED_QUEUES = 16
_NO_POP = f"0 0 0 0 0 none 0 {2**40}"
"""In place of the handle of a message that a group was not given: one of an offset that no queue has."""
_NEVER_LATE = 1 << 53
"""When a request that may not wait was born, in ms: so a Broker never finds it too late."""

Content: TypeAlias = tuple[int, dict[str, str | None], bytes]
"""Code, ext fields, body."""


def born(message: str, names: Names) -> int:
    """When a message was born, in ms."""
    if message in names.births:
        return names.births[message]
    number = "".join(sign for sign in message if sign.isdigit())
    return BORN_AT + int(number or 0) % 1_000_000


def body_of(message: str, size: int, names: Names) -> bytes:
    """The body of a message."""
    return names.name(message).encode() + b"." * size


def properties_of(step: Send, message: str, names: Names) -> dict[str, str]:
    """What a producer says about a message, the system's own words left out."""
    said = {PropertyName.UNIQ_KEY: names.name(message)}
    if step.keys:
        said[PropertyName.KEYS] = " ".join(names.name(key) for key in step.keys)
    if step.tag is not None:
        said[PropertyName.TAGS] = step.tag
    said |= dict(step.said)
    if step.immune:
        said[PropertyName.CHECK_IMMUNITY_TIME_IN_SECONDS] = str(step.immune)
    return said


def asked_about(message: str) -> str:
    """The word in `Names.places` for the copy of a half message that the Broker has asked about last."""
    return f"{message}?"


def retried(message: str, group: str, server: int) -> str:
    """The word in `Names.places` for the copy of a message that is to be tried again by a group, where a
    Broker has put it: a slave that becomes the master puts its own copies elsewhere.
    """
    return f"{message}/{group}/{server}"


def learnt(step: AnyRequest, answer: Command, names: Names) -> None:
    """Notes where an answer says that messages are, and when one was stored."""
    if answer.code not in STORED if isinstance(step, Send) else answer.code:
        return
    try:
        if isinstance(step, Send):
            _learnt_of_a_send(step, answer.ext or {}, names)
        elif isinstance(step, View):
            names.time = decode_message(answer.body).store_timestamp
        elif isinstance(step, Pull) and step.topic.startswith(TopicName.RETRY_PREFIX):
            for one in decode_messages(answer.body):
                symbol = names.made.get(one.properties.get(PropertyName.UNIQ_KEY, ""), "")
                word = retried(symbol, step.group, step.server)
                names.places[word] = Place(one.physical_offset, one.queue_offset)
        elif isinstance(step, Pop):
            messages = decode_messages(answer.body)
            handles = handles_of(answer.ext or {}, messages, _BROKER)
            for one, handle in zip(messages, handles, strict=True):
                symbol = names.made.get(one.properties.get(PropertyName.UNIQ_KEY, ""), "")
                names.popped[symbol, step.group] = handle
        elif isinstance(step, Hide) and (step.message, step.group) in names.popped:
            handle = names.popped[step.message, step.group]
            names.popped[step.message, step.group] = new_handle(handle, answer.ext or {})
    except (ValueError, WireError):
        return  # the judge of the answer reports it


def learnt_of_a_question(question: Command, names: Names) -> None:
    """Notes which copy of a half message a Broker asks about."""
    ext = question.ext or {}
    symbol = names.made.get(ext.get("msgId") or "")
    if question.code != RequestCode.CHECK_TRANSACTION_STATE or symbol is None:
        return
    try:
        log, queue = int(ext.get("commitLogOffset") or ""), int(ext.get("tranStateTableOffset") or "")
    except ValueError:
        return
    names.places[asked_about(symbol)] = Place(log, queue)


def _learnt_of_a_send(step: Send, ext: dict[str, str | None], names: Names) -> None:
    first = int(ext.get("queueOffset") or 0)
    handle = ext.get("recallHandle")
    if handle is not None:
        names.handles[step.message] = handle
    for number, text in enumerate((ext.get("msgId") or "").split(",")[: len(step.messages)]):
        names.places[step.messages[number]] = Place(int(text[-16:], 16), first + number)


def content_of(step: AnyRequest, names: Names, announces: int) -> Content:
    """What a request carries; ``announces`` is the version of the line."""
    match step:
        case Send():
            return _send(step, names, "4.9" if announces <= _LAST_OF_4 else "5.3")
        case Pull():
            return _pull(step, names)
        case Beat():
            return RequestCode.HEART_BEAT, {}, _heartbeat(step, names)
        case Lock():
            return step.code, {}, _queues(step, names)
        case Switch():
            return RequestCode.UPDATE_BROKER_CONFIG, {}, Properties(_ROLES[step.role]).encode()
        case Force():
            settings = {"forceRegister": str(step.force).lower()}
            return RequestCode.UPDATE_BROKER_CONFIG, {}, Properties(settings).encode()
        case Allow():
            settings = {_SETTINGS[step.what]: str(step.allowed).lower()}
            return RequestCode.UPDATE_BROKER_CONFIG, {}, Properties(settings).encode()
        case Check():
            return step.codes[0], {}, _check(step, names)
        case MapTopic():
            return step.codes[0], ext_of(step, names), _mapping(step, names)
    code, ext = _plain(step, names)
    return code, {name: str(value) for name, value in ext.items()}, b""


def _plain(step: AnyRequest, names: Names) -> tuple[int, dict[str, Any]]:
    """Requests without a body."""
    match step:
        case End():
            place = names.places.get(step.message, NOWHERE)
            if step.asked:
                place = names.places.get(asked_about(step.message), place)
            return RequestCode.END_TRANSACTION, {
                "producerGroup": names.name(step.group),
                "tranStateTableOffset": place.queue,
                "commitLogOffset": place.log,
                "commitOrRollback": step.verdict,
                "fromTransactionCheck": "true" if step.asked else "false",
                "msgId": names.name(step.message),
                "transactionId": names.name(step.message),
            }
        case Back():
            place = names.places.get(step.message, NOWHERE)
            if step.again:
                place = names.places.get(retried(step.message, step.group, step.server), NOWHERE)
            return RequestCode.CONSUMER_SEND_MSG_BACK, {
                "offset": place.log,
                "group": names.name(step.group),
                "delayLevel": step.level,
                "originMsgId": names.name(step.message),
                "originTopic": names.name(step.topic),
                "unitMode": "false",
                "maxReconsumeTimes": step.most,
            }
        case Find():
            found: dict[str, Any] = {
                "topic": names.name(step.topic),
                "key": names.name(step.key),
                "maxNum": step.most,
                "beginTimestamp": 0,
                "endTimestamp": _EVER,
            }
            return RequestCode.QUERY_MESSAGE, found | ({"_UNIQUE_KEY_QUERY": "true"} if step.unique else {})
        case View():
            return RequestCode.VIEW_MESSAGE_BY_ID, {"offset": names.places.get(step.message, NOWHERE).log}
        case Pop():
            return RequestCode.POP_MESSAGE, _pop(step, names)
        case Ack():
            return RequestCode.ACK_MESSAGE, _popped(step, names)
        case Hide():
            hidden = {"invisibleTime": step.hidden * 1000}
            return RequestCode.CHANGE_MESSAGE_INVISIBLETIME, {**_popped(step, names), **hidden}
        case Recall():
            return RequestCode.RECALL_MESSAGE, {
                "producerGroup": names.name(step.group),
                "topic": names.name(step.topic),
                "recallHandle": names.handles.get(step.message, _NO_HANDLE),
            }
    code = step.code if isinstance(step, Bound) else step.codes[0]
    return code, dict(ext_of(step, names))


def _send(step: Send, names: Names, line: Literal["4.9", "5.3"]) -> Content:
    properties: dict[str, str] = {}
    if step.immune and names.time is not None:
        names.births.setdefault(step.message, names.time)
    body = body_of(step.message, step.size, names)
    if step.more:
        batch = [
            Message(
                topic=step.topic,
                body=body_of(one, step.size, names),
                flag=step.flag,
                properties=properties_of(step, one, names),
            )
            for one in step.messages
        ]
        body = encode_batch(batch, line)
    else:
        properties = properties_of(step, step.message, names)
    if step.level:
        properties[PropertyName.DELAY_TIME_LEVEL] = str(step.level)
    if step.after:
        properties[PropertyName.TIMER_DELAY_SEC] = str(step.after)
    if not step.waits:
        properties[PropertyName.WAIT_STORE_MSG_OK] = "false"
    if step.half:
        properties[PropertyName.TRANSACTION_PREPARED] = "true"
        properties[PropertyName.PRODUCER_GROUP] = names.name(step.group)
    ext = {
        "producerGroup": names.name(step.group),
        "topic": names.name(step.topic),
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "4",
        "queueId": str(step.queue),
        "sysFlag": str(int(SysFlag.TRANSACTION_PREPARED) if step.half else 0),
        "bornTimestamp": str(born(step.message, names)),
        "flag": str(step.flag),
        "properties": encode_properties(properties, True),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "true" if step.more else "false",
    }
    code = RequestCode.SEND_BATCH_MESSAGE if step.more else RequestCode.SEND_MESSAGE_V2
    if step.long and not step.more:
        return RequestCode.SEND_MESSAGE, {**ext}, body
    return code, {SHORT_NAMES[name]: value for name, value in ext.items()}, body


def _pull(step: Pull, names: Names) -> Content:
    flags = PullFlag.SUBSCRIPTION if step.subscribes else 0
    flags |= (0 if step.commit is None else PullFlag.COMMIT) | (PullFlag.SUSPEND if step.suspend else 0)
    ext: dict[str, str | None] = {
        "consumerGroup": names.name(step.group),
        "topic": names.name(step.topic),
        "queueId": str(step.queue),
        "queueOffset": str(step.offset),
        "maxMsgNums": str(step.most),
        "sysFlag": str(flags),
        "commitOffset": str(step.commit or 0),
        "suspendTimeoutMillis": str(step.suspend * 1000),
        "subVersion": str(step.version),
        "expressionType": "TAG",
    }
    if step.filter is not None:
        ext["expressionType"] = _SQL
    if step.subscribes:
        ext["subscription"] = _expression(step)
    return RequestCode.PULL_MESSAGE, ext, b""


def _expression(step: Pull | Beat) -> str:
    """What a pull or a heartbeat says that is wanted."""
    return " || ".join(step.tags) or "*" if step.filter is None else text_of(step.filter)


def _pop(step: Pop, names: Names) -> dict[str, Any]:
    ext: dict[str, Any] = {
        "consumerGroup": names.name(step.group),
        "topic": names.name(step.topic),
        "queueId": step.queue,
        "maxMsgNums": step.most,
        "invisibleTime": step.hidden * 1000,
        "pollTime": 0,
        "bornTime": _NEVER_LATE,
        "initMode": 0,
        "order": "false",
    }
    return ext if step.filter is None else ext | {"expType": _SQL, "exp": text_of(step.filter)}


def _popped(step: Ack | Hide, names: Names) -> dict[str, Any]:
    handle = names.popped.get((step.message, step.group), _NO_POP).replace(_BROKER, names.broker)
    return {**place_of(handle, names.name(step.topic), names.name(step.group))}


def _check(step: Check, names: Names) -> bytes:
    subscription = _subscription(Beat(filter=step.filter, version=1), names.name("T0"))
    client = {"clientId": names.name("c0"), "group": names.name("g0")}
    return msgspec.json.encode(client | {"subscriptionData": subscription})


def _mapping(step: MapTopic, names: Names) -> bytes:
    hosted = {
        number: [
            {
                "bname": _ELSEWHERE if part.queue is None else names.broker,
                "gen": generation,
                "queueId": part.queue or 0,
                "logicOffset": part.begin,
                "startOffset": 0,
                "endOffset": -1,
                "timeOfStart": -1,
                "timeOfEnd": -1,
            }
            for generation, part in enumerate(step.parts(number))
        ]
        for number in step.queues
    }
    return msgspec.json.encode(
        {
            "topic": names.name(step.topic),
            "bname": names.broker,
            "epoch": step.epoch,
            "scope": "__global__",
            "dirty": False,
            "totalQueues": _MAPPED_QUEUES,
            "currIdMap": {},
            "hostedQueues": hosted,
        }
    )


def _subscription(step: Beat, topic: str) -> dict[str, Any]:
    """What a heartbeat says that is wanted of a topic."""
    tags = step.tags if step.filter is None else ()
    return {
        "classFilterMode": False,
        "codeSet": [tag_hash(tag) for tag in tags],
        "expressionType": "TAG" if step.filter is None else _SQL,
        "subString": _expression(step),
        "subVersion": step.version,
        "tagsSet": list(tags),
        "topic": topic,
    }


def _heartbeat(step: Beat, names: Names) -> bytes:
    subscriptions = [_subscription(step, names.name(topic)) for topic in step.topics]
    consumers = [
        {
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "groupName": names.name(group),
            "messageModel": "CLUSTERING",
            "subscriptionDataSet": subscriptions,
            "unitMode": False,
        }
        for group in step.groups
    ]
    return msgspec.json.encode(
        {
            "clientID": names.name(step.client),
            "consumerDataSet": consumers,
            "producerDataSet": [{"groupName": names.name(group)} for group in step.producers],
        }
    )


def _queues(step: Lock, names: Names) -> bytes:
    topic = names.name(step.topic)
    return msgspec.json.encode(
        {
            "clientId": names.name(step.client),
            "consumerGroup": names.name(step.group),
            "mqSet": [{"brokerName": "broker", "queueId": one, "topic": topic} for one in step.queues],
        }
    )
