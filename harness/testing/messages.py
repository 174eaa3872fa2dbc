"""Messages as a test sees them, read from the stores of the Brokers. All functions are called in the loop.

Source of what properties mean: `harness.wire.messages.PropertyName`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from harness.wire import messages as wire
from harness.wire.messages import PropertyName, SysFlag, TopicName
from reference_impl.broker import Endpoint
from reference_impl.serve import Cluster, Server

Broker: TypeAlias = Server[Endpoint]
Positions: TypeAlias = dict[tuple[str, int], int]
"""How far queues have been read: by name of the Broker and queue, the next offset."""
TransactionState: TypeAlias = Literal["open", "committed", "rolled back", "given up"]

_TRANSACTION = SysFlag.TRANSACTION_ROLLBACK.value
_ZLIB = (0, SysFlag.COMPRESSION_ZLIB.value)
_SHOWN = 60
"""Characters of a body that a failure shows."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One stored message. Times are ms since the epoch."""

    topic: str
    body: bytes
    """As the producer gave it: what a client has compressed with zlib is decompressed."""
    tags: str | None
    keys: tuple[str, ...]
    properties: dict[str, str]
    """All of them, those that clients and Brokers set, too."""
    broker: str
    """Name of the Broker, such as `broker-a`."""
    queue: int
    offset: int
    """In the queue."""
    position: int
    """In the log of the Broker: of two messages, the one that was stored first has the lower one."""
    id: str
    """What clients call `msgId`; copies that are delivered again have the same."""
    born: int
    stored: int
    born_host: str
    """ "ip:port" of the producer; port 0: `send` of the test."""
    attempts: int
    """How often it has been given back by a consumer."""
    transaction: TransactionState | None
    """None: it belongs to none."""

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return msgspec.json.decode(self.body)

    @property
    def sharding_key(self) -> str | None:
        """What clients of 5.x call the message group."""
        return self.properties.get(PropertyName.SHARDING_KEY)

    def __str__(self) -> str:
        """One line."""
        words = [f"{self.topic} {self.broker} queue {self.queue} offset {self.offset}:", shown(self.body)]
        words += [f"tags={self.tags}"] if self.tags else []
        words += [f"keys={' '.join(self.keys)}"] if self.keys else []
        words += [f"attempts={self.attempts}"] if self.attempts else []
        return " ".join(words)


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A message that consumers do not see yet."""

    message: Message
    """Topic and queue are those that it was sent to."""
    why: Literal["delay", "transaction"]
    due: int | None
    """When it is delivered, ms since the epoch; None: when its producer commits."""


def shown(body: bytes) -> str:
    """The beginning of a body, for people."""
    text = repr(body.decode()) if _is_text(body) else body.hex()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(body)} bytes)"


def masters(cluster: Cluster) -> list[Broker]:
    """The Brokers that store messages."""
    return [broker for broker in cluster.brokers if broker.role == "master"]


def messages_of(cluster: Cluster, topic: str, since: Positions | None = None) -> list[Message]:
    """What consumers of a topic can see, oldest first. `since` is where to begin, and is moved on."""
    positions: Positions = {} if since is None else since
    found = [
        message
        for broker in masters(cluster)
        for queue in broker.endpoint.broker.store.topics().get(topic, ())
        for message in _of_queue(broker, topic, queue, positions)
    ]
    return sorted(found, key=age)


def topics_with_messages(cluster: Cluster) -> dict[str, int]:
    """How many messages there are in each topic that is not the system's."""
    counts: dict[str, int] = {}
    for broker in masters(cluster):
        known, store = broker.endpoint.broker.topics, broker.endpoint.broker.store
        for topic, queues in store.topics().items():
            if not known.is_system(topic) and not topic.startswith(TopicName.REVIVE_PREFIX):
                stored = sum(store.max_offset(topic, one) - store.min_offset(topic, one) for one in queues)
                counts[topic] = counts.get(topic, 0) + stored
    return {topic: count for topic, count in counts.items() if count}


def pending_of(cluster: Cluster, topic: str) -> list[Pending]:
    """What was sent to a topic and cannot be seen yet, what is due first coming first."""
    found = [one for broker in masters(cluster) for one in _pending(broker) if one.message.topic == topic]
    return sorted(found, key=lambda one: (one.due is None, one.due or 0, age(one.message)))


def transactions_of(cluster: Cluster, topic: str) -> list[Message]:
    """Every message of a transaction that was sent to a topic, once, with its state."""
    return [
        message for broker in masters(cluster) for message in _transactions(broker) if message.topic == topic
    ]


def decoded(broker: Broker, stored: wire.Message) -> Message:
    """A message as a test sees it."""
    properties = stored.properties
    is_committed = stored.sys_flag & _TRANSACTION == SysFlag.TRANSACTION_COMMIT
    return Message(
        topic=stored.topic,
        body=_plain(stored),
        tags=properties.get(PropertyName.TAGS),
        keys=tuple(properties.get(PropertyName.KEYS, "").split()),
        properties=properties,
        broker=broker.endpoint.broker.config.broker_name,
        queue=stored.queue_id,
        offset=stored.queue_offset,
        position=stored.physical_offset,
        id=identity(stored),
        born=stored.born_timestamp,
        stored=stored.store_timestamp,
        born_host=stored.born_host,
        attempts=stored.reconsume_times,
        transaction="committed" if is_committed else None,
    )


def identity(stored: wire.Message) -> str:
    """The id that all copies of a message share."""
    properties = stored.properties
    return (
        properties.get(PropertyName.UNIQ_KEY)
        or properties.get(PropertyName.ORIGIN_MESSAGE_ID)
        or wire.offset_id(stored.store_host, stored.physical_offset)
    )


def stored_in(broker: Broker, topic: str, queue: int, begin: int = 0) -> Iterator[wire.Message]:
    """The messages of a queue from an offset on."""
    store = broker.endpoint.broker.store
    offset = max(begin, store.min_offset(topic, queue))
    while offset < store.max_offset(topic, queue):
        got = store.get(topic, queue, offset, 32)
        yield from (wire.decode_message(frame) for frame in got.frames)
        offset = got.next_offset


def _of_queue(broker: Broker, topic: str, queue: int, positions: Positions) -> Iterable[Message]:
    place = broker.name, queue
    found = [decoded(broker, stored) for stored in stored_in(broker, topic, queue, positions.get(place, 0))]
    positions[place] = broker.endpoint.broker.store.max_offset(topic, queue)
    return found


def _pending(broker: Broker) -> Iterator[Pending]:
    state = broker.endpoint.broker
    now = broker.shell.now()
    for level, begin in state.delays.offsets.items():
        for stored in stored_in(broker, TopicName.SCHEDULE, level - 1, begin):
            due = state.delays.due(level, stored.store_timestamp)
            yield Pending(message=_real(broker, stored), why="delay", due=due)
    for stored in stored_in(broker, TopicName.TIMER, 0):
        due = int(stored.properties.get(PropertyName.TIMER_OUT_MS, "0"))
        if due > now:
            yield Pending(message=_real(broker, stored), why="delay", due=due)
    for message in _transactions(broker):
        if message.transaction == "open":
            yield Pending(message=message, why="transaction", due=None)


def _transactions(broker: Broker) -> Iterator[Message]:
    state = broker.endpoint.broker
    halves = {identity(half): half for half in stored_in(broker, TopicName.TRANS_HALF, 0)}
    given_up = {identity(one) for one in stored_in(broker, TopicName.TRANS_CHECK_MAX_TIME, 0)}
    committed = _committed(broker, {_real_topic(half) for half in halves.values()})
    for key, half in halves.items():
        known: TransactionState = "rolled back"
        if half.queue_offset in state.transactions.open:
            known = "open"
        elif key in committed:
            known = "committed"
        elif key in given_up:
            known = "given up"
        yield msgspec.structs.replace(_real(broker, half), transaction=known)


def _committed(broker: Broker, topics: Iterable[str]) -> set[str]:
    queues = broker.endpoint.broker.store.topics()
    return {
        identity(stored)
        for topic in topics
        for queue in queues.get(topic, ())
        for stored in stored_in(broker, topic, queue)
        if stored.sys_flag & _TRANSACTION == SysFlag.TRANSACTION_COMMIT
    }


def _real(broker: Broker, stored: wire.Message) -> Message:
    """A message that lies in a topic of the system, as one of the topic that it was sent to."""
    queue = int(stored.properties.get(PropertyName.REAL_QUEUE_ID, "0"))
    return msgspec.structs.replace(decoded(broker, stored), topic=_real_topic(stored), queue=queue)


def _real_topic(stored: wire.Message) -> str:
    return stored.properties.get(PropertyName.REAL_TOPIC, stored.topic)


def _plain(stored: wire.Message) -> bytes:
    kind = stored.sys_flag & SysFlag.COMPRESSION_TYPE
    if not stored.sys_flag & SysFlag.COMPRESSED or kind not in _ZLIB:
        return stored.body
    try:
        return zlib.decompress(stored.body)
    except zlib.error:
        return stored.body


def _is_text(body: bytes) -> bool:
    try:
        return body.decode().isprintable()
    except UnicodeDecodeError:
        return False


def age(message: Message) -> tuple[int, str, int]:
    """What messages are sorted by. Those of one millisecond and of two Brokers have no order."""
    return message.stored, message.broker, message.position


Where: TypeAlias = Callable[[Message], object]
"""A condition on messages: met where it gives something true."""
