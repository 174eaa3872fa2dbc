"""Messages that a test sends itself, without a client library. To be called in the loop."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import count
from typing import Final
from zlib import crc32

import msgspec

from harness.wire import Command, RequestCode
from harness.wire.messages import PropertyName, TopicName, UniqueKey, encode_properties
from reference_impl.serve import Cluster

from .asking import ask
from .durations import Duration, milliseconds
from .messages import Broker, masters
from .problems import OptionError

PRODUCER: Final = "rmq-harness-testing"
"""The group of producers of what a test sends."""
_KEYS: Final = count(1)
_TURNS: Final = count()
_OR: Final = "|"


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message is that was sent. One with a delay gets its place when it is due."""

    id: str
    topic: str
    broker: str
    queue: int
    offset: int


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """A message to be sent."""

    topic: str
    body: bytes
    properties: dict[str, str]
    broker: str | None
    queue: int | None
    sharding: str | None
    delay: Duration | None
    level: int | None


def outgoing(
    topic: str,
    body: object,
    *,
    tags: str | None,
    keys: str | Sequence[str] | None,
    properties: Mapping[str, str] | None,
    delay: Duration | None,
    level: int | None,
    broker: str | None,
    queue: int | None,
    sharding: str | None,
) -> Outgoing:
    """A message that can be sent. A body that is neither bytes nor text is written as JSON.

    Raises OptionError.
    """
    written = dict(properties or {})
    for name, value in written.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise OptionError(f"properties: expected texts, got {name!r}: {value!r}")
    if tags:
        if _OR in tags:
            raise OptionError(f"tags={tags!r}: a message has one tag; '|' is for subscriptions")
        written[PropertyName.TAGS] = tags
    if keys:
        written[PropertyName.KEYS] = keys if isinstance(keys, str) else " ".join(keys)
    if sharding is not None:
        written[PropertyName.SHARDING_KEY] = sharding
    if delay is not None and level is not None:
        raise OptionError("delay and level: expected one of them")
    if sharding is not None and queue is not None:
        raise OptionError("sharding and queue: expected one of them; the sharding key decides the queue")
    written.setdefault(PropertyName.UNIQ_KEY, _key())
    return Outgoing(
        topic=topic,
        body=_bytes(body),
        properties=written,
        broker=broker,
        queue=queue,
        sharding=sharding,
        delay=delay,
        level=level,
    )


async def send(cluster: Cluster, message: Outgoing) -> Sent:
    """Store a message. Raises OptionError, RocketMQError."""
    broker, queue = _place(cluster, message)
    properties = message.properties | _delay(broker, message)
    ext: dict[str, str | None] = {
        "producerGroup": PRODUCER,
        "topic": message.topic,
        "defaultTopic": TopicName.AUTO_CREATE,
        "defaultTopicQueueNums": "4",
        "queueId": str(queue),
        "sysFlag": "0",
        "bornTimestamp": str(broker.shell.now() - broker.shell.now.ahead),
        "flag": "0",
        "properties": encode_properties(properties, False),
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }
    reply = await ask(broker, Command(RequestCode.SEND_MESSAGE, ext=ext, body=message.body))
    told = reply.ext or {}
    return Sent(
        id=message.properties[PropertyName.UNIQ_KEY],
        topic=message.topic,
        broker=broker.endpoint.broker.config.broker_name,
        queue=int(told.get("queueId") or queue),
        offset=int(told.get("queueOffset") or 0),
    )


def _place(cluster: Cluster, message: Outgoing) -> tuple[Broker, int]:
    """Which queue of which Broker."""
    brokers = {broker.endpoint.broker.config.broker_name: broker for broker in masters(cluster)}
    if message.broker is not None and message.broker not in brokers:
        raise OptionError(f"broker={message.broker!r}: expected one of {', '.join(map(repr, brokers))}")
    places = [
        (broker, queue)
        for name, broker in brokers.items()
        if message.broker in (None, name)
        for topic in [broker.endpoint.broker.topics.get(message.topic)]
        if topic is not None
        for queue in range(topic.write_queue_nums)
    ]
    if not places:
        known = {name for broker in brokers.values() for name in broker.endpoint.broker.topics.table}
        near = get_close_matches(message.topic, known, n=1)
        raise OptionError(
            f"topic {message.topic!r} does not exist{f'; did you mean {near[0]!r}?' if near else '.'} "
            f"Make it with rocketmq.topic({message.topic!r})"
        )
    if message.queue is not None:
        found = [place for place in places if place[1] == message.queue]
        if not found:
            most = max(queue for _, queue in places)
            raise OptionError(f"queue={message.queue} of topic {message.topic!r}: expected 0 to {most}")
        return found[0]
    if message.sharding is not None:
        return places[crc32(message.sharding.encode()) % len(places)]
    served = [place for place in places if not place[0].shell.is_paused] or places
    return served[next(_TURNS) % len(served)]


def _delay(broker: Broker, message: Outgoing) -> dict[str, str]:
    levels = broker.endpoint.broker.config.delays_of_levels()
    if message.level is not None:
        if not isinstance(message.level, int) or not 1 <= message.level <= len(levels):
            raise OptionError(f"level={message.level!r}: expected a delay level from 1 to {len(levels)}")
        return {PropertyName.DELAY_TIME_LEVEL: str(message.level)}
    if message.delay is None:
        return {}
    wanted = milliseconds(message.delay)
    if broker.endpoint.broker.profile.v5:
        return {PropertyName.TIMER_DELAY_MS: str(wanted)}
    if wanted in levels:
        return {PropertyName.DELAY_TIME_LEVEL: str(levels.index(wanted) + 1)}
    raise OptionError(
        f"delay={message.delay!r}: 4.9 has levels alone: "
        f"{broker.endpoint.broker.config.message_delay_level}; profile='5.3' has any delay"
    )


def _bytes(body: object) -> bytes:
    if isinstance(body, bytes | bytearray | memoryview):
        found = bytes(body)
    elif isinstance(body, str):
        found = body.encode()
    else:
        try:
            found = msgspec.json.encode(body)
        except (TypeError, ValueError) as error:
            raise OptionError(f"body: expected bytes, a text, or what JSON can say: {error}") from None
    if not found:
        raise OptionError("body: it is empty, which 5.x refuses; expected at least one byte")
    return found


def _key() -> str:
    number = next(_KEYS)
    return UniqueKey("127.0.0.1", os.getpid(), 0, number >> 16, number).encode()
