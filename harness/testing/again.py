"""Delivering messages to a group once more, by setting its offsets back.

A Broker of 5.x sets offsets itself, and the next pull learns of it. One of 4.9 asks the members of the group,
who do it when they like (Java's client after ten seconds) and need not say so: their pulls show it.

Source: AdminBrokerProcessor#resetOffset, MQClientInstance#resetOffset (rocketmq-all-4.9.8).
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode
from reference_impl.serve import Cluster

from .asking import ask
from .messages import masters
from .requests import Requests

PATIENCE: Final = 60
"""Seconds that members have to begin again."""


async def set_back(cluster: Cluster, topic: str, group: str) -> bool:
    """Ask for it. Returns whether it is done now: otherwise members will do it. Raises RocketMQError."""
    ext: dict[str, str | None] = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    is_done = True
    for broker in masters(cluster):
        await ask(broker, Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, ext=dict(ext)))
        is_done = is_done and broker.endpoint.broker.resets.resets_itself()
    return is_done


def has_begun(cluster: Cluster, topic: str, group: str, pulls: Requests) -> bool:
    """Whether members have pulled every queue with a message from its beginning. If so, its offsets are set
    back here, too, so that what is committed is of the second time. To be called in the loop.
    """
    begun = {
        (pull.server, pull.ext.get("queueId"), pull.ext.get("queueOffset"))
        for pull in pulls
        if (pull.ext.get("topic"), pull.ext.get("consumerGroup")) == (topic, group)
    }
    queues = [
        (broker, queue, broker.endpoint.broker.store.min_offset(topic, queue))
        for broker in masters(cluster)
        for queue in broker.endpoint.broker.store.topics().get(topic, ())
    ]
    if any((broker.name, str(queue), str(least)) not in begun for broker, queue, least in queues):
        return False
    for broker, queue, least in queues:
        broker.endpoint.broker.offsets.commit(group, topic, queue, least, broker.shell.now())
    return True
