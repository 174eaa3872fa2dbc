"""Delivering messages to a group once more, by setting its offsets back.

A Broker of 5.x sets offsets itself: the next pull is told of it, and still commits what it brings along. One
of 4.9 asks the members of the group, who do it when they like (Java's client after ten seconds) and need not
say so. Either way, what is committed may be of the first time until a member has pulled from the beginning;
so that is waited for.

Source: AdminBrokerProcessor#resetOffset, MQClientInstance#resetOffset (rocketmq-all-4.9.8);
PullMessageProcessor#processRequest, tryCommitOffset (rocketmq-all-5.3.3).
"""

from __future__ import annotations

from typing import Final

from harness.wire import Command, RequestCode
from reference_impl.broker.pulls import COMMITS
from reference_impl.remoting import fields
from reference_impl.serve import Cluster

from .asking import ask
from .messages import Broker, masters
from .requests import Request, Requests

PATIENCE: Final = 60
"""Seconds that members have to begin again."""
LOOK_EVERY: Final = 0.05
"""Seconds between two looks whether they have begun."""
_PULLS: Final = (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE)
_SEEKS: Final = "CONSUME_ACTIVELY"
"""The kind of consumer whose application decides when it pulls, and from where."""


async def set_back(cluster: Cluster, topic: str, group: str) -> bool:
    """Ask for it. Returns whether there are members that begin again by themselves. Raises RocketMQError."""
    ext: dict[str, str | None] = {"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}
    for broker in masters(cluster):
        await ask(broker, Command(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, ext=dict(ext)))
    return any(_has_members(broker, topic, group) for broker in masters(cluster))


def has_begun(cluster: Cluster, topic: str, group: str, asked: Requests) -> bool:
    """Whether members have begun to consume every queue with a message from its beginning, by what they have
    asked since. If so, a queue that they have not committed an offset of since then is set back once more. To
    be called in the loop.
    """
    queues = [
        (broker, queue, broker.endpoint.broker.store.min_offset(topic, queue))
        for broker in masters(cluster)
        for queue in broker.endpoint.broker.store.topics().get(topic, ())
    ]
    least = {(broker.name, str(queue)): str(offset) for broker, queue, offset in queues}
    mine = [one for one in asked if (one.ext.get("topic"), one.ext.get("consumerGroup")) == (topic, group)]
    popped = {one.server for one in mine if one.code == RequestCode.POP_MESSAGE}
    pulled, committed = _begun(mine, least)
    for broker, queue, _ in queues:
        waits = broker.endpoint.broker.offsets.is_reset(group, topic, queue)
        if (broker.name, str(queue)) not in pulled and (waits or broker.name not in popped):
            return False
    for broker, queue, offset in queues:
        if (broker.name, str(queue)) in pulled - committed:
            broker.endpoint.broker.offsets.commit(group, topic, queue, offset, broker.shell.now())
    return True


def _has_members(broker: Broker, topic: str, group: str) -> bool:
    online = broker.endpoint.broker.clients.consumers.get(group)
    return online is not None and online.consume_type != _SEEKS and topic in online.subscriptions


def _begun(
    mine: list[Request], least: dict[tuple[str, str], str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The queues, by server and number, that were pulled from their beginning, and those of them for which an
    offset was committed after that.
    """
    pulled: set[tuple[str, str]] = set()
    committed: set[tuple[str, str]] = set()
    for one in mine:
        place = one.server, one.ext.get("queueId") or ""
        is_pull = one.code in _PULLS
        commits = is_pull and (fields.int32(one.ext, "sysFlag") or 0) & COMMITS
        if place in pulled and (commits or one.code == RequestCode.UPDATE_CONSUMER_OFFSET):
            committed.add(place)
        if is_pull and one.ext.get("queueOffset") == least.get(place):
            pulled.add(place)
    return pulled, committed
