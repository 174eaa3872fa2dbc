"""Topics and groups that a test makes. All functions are called in the loop."""

from __future__ import annotations

import asyncio
from typing import Final

from harness.wire import Command, RequestCode
from harness.wire.bodies import SubscriptionGroup
from harness.wire.messages import TopicName
from reference_impl.serve import Cluster

from .asking import ask
from .messages import masters
from .options import queues_of
from .problems import OptionError, RocketMQError

_READ_AND_WRITE: Final = 6
_ROUTED_WITHIN: Final = 5.0
_MOST_RETRIES: Final = 2**31 - 1


async def create_topic(cluster: Cluster, topic: str, queues: int) -> None:
    """Make a topic on all masters, or give it another number of queues. Returns when every NameServer gives
    its route.

    Raises OptionError, RocketMQError.
    """
    queues_of(topic, queues)
    ext: dict[str, str | None] = {
        "topic": topic,
        "defaultTopic": TopicName.AUTO_CREATE,
        "readQueueNums": str(queues),
        "writeQueueNums": str(queues),
        "perm": str(_READ_AND_WRITE),
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    for broker in masters(cluster):
        topics = broker.endpoint.broker.topics
        if fault := topics.fault(topic):
            raise OptionError(f"topic {topic!r}: {fault}")
        if topics.is_system(topic):
            raise OptionError(f"topic {topic!r}: it is one of the system; choose another name")
        await ask(broker, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, ext=dict(ext)))
    await _routed(cluster, topic, queues)


async def create_group(cluster: Cluster, group: str, retries: int) -> None:
    """Make a group of consumers on all masters, or change it. Raises OptionError, RocketMQError."""
    if not group:
        raise OptionError("group '': expected a name")
    if not isinstance(retries, int) or not 0 <= retries <= _MOST_RETRIES:
        raise OptionError(
            f"retries={retries!r} of group {group!r}: expected a number from 0 to {_MOST_RETRIES}"
        )
    for broker in masters(cluster):
        v5 = broker.endpoint.broker.profile.v5
        made = SubscriptionGroup(group_name=group, retry_max_times=retries).of_line(v5)
        await ask(broker, Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=made.encode()))


async def delete_topic(cluster: Cluster, topic: str) -> None:
    """Delete a topic everywhere, with its messages. Raises RocketMQError."""
    for broker in masters(cluster):
        await ask(broker, Command(RequestCode.DELETE_TOPIC_IN_BROKER, ext={"topic": topic}))
    for nameserver in cluster.nameservers:
        nameserver.endpoint.routes.delete_topic(topic)


async def delete_group(cluster: Cluster, group: str) -> None:
    """Delete a group everywhere, with its offsets, retries and dead letters. Raises RocketMQError."""
    ext: dict[str, str | None] = {"groupName": group, "cleanOffset": "true", "removeOffset": "true"}
    for broker in masters(cluster):
        await ask(broker, Command(RequestCode.DELETE_SUBSCRIPTIONGROUP, ext=dict(ext)))
    for topic in (TopicName.RETRY_PREFIX + group, TopicName.DLQ_PREFIX + group):
        await delete_topic(cluster, topic)


async def _routed(cluster: Cluster, topic: str, queues: int) -> None:
    names = [broker.endpoint.broker.config.broker_name for broker in masters(cluster)]

    def lacks() -> list[str]:
        return [
            nameserver.name
            for nameserver in cluster.nameservers
            for known in [nameserver.endpoint.routes.topics.get(topic, {})]
            if any(name not in known or known[name].write != queues for name in names)
        ]

    try:
        async with asyncio.timeout(_ROUTED_WITHIN):
            while lacks():
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise RocketMQError(
            f"topic {topic!r}: {', '.join(lacks())} does not give its route after {_ROUTED_WITHIN:.0f} s; "
            "is it stopped, or a Broker?"
        ) from None
