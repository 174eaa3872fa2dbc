"""How far groups have consumed. All functions are called in the loop.

What a group is done with: its committed offset has passed it, no pop still hides it, and no copy of it waits
to be delivered again or is a dead letter. Clients commit when they pull again, every five seconds
(`persistConsumerOffsetInterval`) and when they stop; what is said here is as old as that.

Source: DefaultMQPushConsumerImpl#pullMessage, which commits with the pull (rocketmq-all-4.9.8, 5.3.3).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.wire import messages as wire
from harness.wire.messages import PropertyName, TopicName
from reference_impl.serve import Cluster

from .messages import Broker, Message, age, decoded, identity, masters, messages_of, stored_in


class QueueProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a group has come in one queue."""

    topic: str
    """Also `%RETRY%…` topics, in which messages come again."""
    broker: str
    queue: int
    committed: int | None
    """The offset that the group goes on from; None: it has never said."""
    end: int
    """The offset that the next message will have."""
    hidden: int
    """Messages before `committed` that were popped and are not acknowledged."""
    lag: int
    """Messages that the group is not done with."""


def progress_of(cluster: Cluster, group: str) -> list[QueueProgress]:
    """Every queue of the topics that a group subscribes to or has committed offsets for."""
    return [one for broker in masters(cluster) for one in _of_broker(broker, group)]


def consumed_by(cluster: Cluster, group: str, topic: str | None = None) -> list[Message]:
    """The messages that a group is done with, oldest first: each once, as it was first delivered."""
    unfinished = {message.id for message in dead_letters_of(cluster, group)} | retried_by(cluster, group)
    done = [
        decoded(broker, stored)
        for broker in masters(cluster)
        for of_topic, queue, committed in _queues(broker, group)
        if topic in (None, of_topic) and not of_topic.startswith(TopicName.RETRY_PREFIX)
        for stored, is_done in _told(broker, group, of_topic, queue, committed)
        if is_done and identity(stored) not in unfinished
    ]
    return sorted(done, key=age)


def retried_by(cluster: Cluster, group: str) -> set[str]:
    """The ids of messages that a group is to get again, now or when their time has come."""
    found: set[str] = set()
    for broker in masters(cluster):
        found.update(_delayed_retries(broker, group))
        for topic, queue, committed in _queues(broker, group):
            if topic.startswith(TopicName.RETRY_PREFIX):
                told = _told(broker, group, topic, queue, committed)
                found.update(identity(stored) for stored, is_done in told if not is_done)
    return found


def hurry(cluster: Cluster) -> None:
    """Have clients commit now: every pull that waits is answered with nothing, and the next one says how far
    the client has come.
    """
    for broker in cluster.brokers:
        shell, endpoint = broker.shell, broker.endpoint
        endpoint.now = max(shell.now(), endpoint.now)
        endpoint.broker.long_polling.release_all(endpoint.now)
        shell.perform(endpoint.work())


def dead_letters_of(cluster: Cluster, group: str) -> list[Message]:
    """The messages that were tried in vain too often."""
    return messages_of(cluster, TopicName.DLQ_PREFIX + group)


def _of_broker(broker: Broker, group: str) -> Iterator[QueueProgress]:
    store = broker.endpoint.broker.store
    for topic, queue, committed in _queues(broker, group):
        hidden = len(_hidden(broker, group, topic, queue))
        end = store.max_offset(topic, queue)
        begin = max(committed or 0, store.min_offset(topic, queue))
        yield QueueProgress(
            topic=topic,
            broker=broker.endpoint.broker.config.broker_name,
            queue=queue,
            committed=committed,
            end=end,
            hidden=hidden,
            lag=max(0, end - begin) + hidden,
        )


def _queues(broker: Broker, group: str) -> Iterator[tuple[str, int, int | None]]:
    state = broker.endpoint.broker
    for topic in sorted(_topics(broker, group)):
        config = state.topics.get(topic)
        known = set(range(config.read_queue_nums)) if config is not None else set()
        for queue in sorted(known | set(state.store.topics().get(topic, ()))):
            yield topic, queue, state.offsets.offset_of(group, topic, queue)


def _told(
    broker: Broker, group: str, topic: str, queue: int, committed: int | None
) -> Iterator[tuple[wire.Message, bool]]:
    """The messages of a queue, and whether a group is done with them there."""
    hidden = _hidden(broker, group, topic, queue)
    for stored in stored_in(broker, topic, queue):
        yield stored, stored.queue_offset < (committed or 0) and stored.queue_offset not in hidden


def _topics(broker: Broker, group: str) -> set[str]:
    state = broker.endpoint.broker
    online = state.clients.consumers.get(group)
    found = set() if online is None else set(online.subscriptions)
    for key in state.offsets.table:
        topic, _, of_group = key.partition("@")
        if of_group == group:
            found.add(topic)
    plain = TopicName.RETRY_PREFIX + group
    retried = {plain, *(f"{plain}{mark}{topic}" for topic in found for mark in "_+")}
    return found | {topic for topic in retried if state.topics.get(topic) is not None}


def _hidden(broker: Broker, group: str, topic: str, queue: int) -> set[int]:
    """Offsets of messages that were popped and are not acknowledged."""
    points = broker.endpoint.broker.checkpoints.points
    return {
        offset
        for pop, point in points.items()
        if (pop.group, pop.topic, pop.queue_id) == (group, topic, queue)
        for offset in point.left
    }


def _delayed_retries(broker: Broker, group: str) -> Iterator[str]:
    """The ids of messages that wait for the time at which the group gets them again."""
    plain = TopicName.RETRY_PREFIX + group
    for level, begin in broker.endpoint.broker.delays.offsets.items():
        for stored in stored_in(broker, TopicName.SCHEDULE, level - 1, begin):
            if stored.properties.get(PropertyName.REAL_TOPIC) == plain:
                yield identity(stored)
