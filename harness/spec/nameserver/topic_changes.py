"""What requests do to the queue data of topics: permission (205, 327), deletion (216), registration (217).

As in `departures`: the states that the catalogue allows, the plainest first. Names are those of the target.

Sources: `RouteInfoManager#operateWritePermOfBroker`, `#deleteTopic`, `#registerTopic`; statements
ns.write-permission.*, ns.topic-deletion.*, ns.topic-registration.*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from harness.spec.nameserver.departures import WRITE, without_queues
from harness.spec.nameserver.state import Queue, State

WIPE: Final = 205
_READ = 4
_CHOICES = 8
"""The greatest number of states that one request leaves possible."""


def permitted(state: State, broker: str | None, code: int) -> tuple[int, list[State]]:
    """205 and 327: the number of topics that are concerned, and what may be of them."""
    count, found = 0, [dict(state.topics)]
    for topic, queues in state.topics.items():
        queue = None if broker is None else queues.get(broker)
        if queue is None or broker is None:
            continue
        count += 1
        choices = _permissions(queue, code)
        if len(choices) > 1:
            found = [dict(one) for one in found for _ in choices]
        for i, table in enumerate(found):
            table[topic] = {**queues, broker: choices[i % len(choices)]}
    return count, [_with(state, table) for table in found[:_CHOICES]]


def _permissions(queue: Queue, code: int) -> list[Queue]:
    read, write, perm, flag = queue
    if code == WIPE:
        return [(read, write, perm & ~WRITE, flag)]
    made = (read, write, perm | WRITE, flag)
    return [made] if perm & (_READ | WRITE) else [made, queue]


def _with(state: State, topics: dict[str, dict[str, Queue]]) -> State:
    if topics == state.topics:
        return state
    other = state.copy()
    other.topics = topics
    return other


def deleted(state: State, topic: str, cluster: str | None) -> State:
    """216. ``cluster`` limits it to the broker names of that cluster."""
    brokers: Iterable[str] = state.topics.get(topic, ())
    if cluster is not None:
        members = state.clusters.get(cluster, frozenset())
        brokers = [name for name in brokers if name in members]
    gone = [(topic, name) for name in brokers]
    return without_queues(state, gone) if gone else state


def served(state: State, topic: str, queues: Mapping[str, Queue]) -> State:
    """217: broker names serve a topic by request. A name that is unknown ends the list; where it does so and
    the topic is unknown, too, nothing is stored.
    """
    added: dict[str, Queue] = {}
    for name, queue in queues.items():
        if name not in state.brokers:
            if topic not in state.topics:
                return state
            break
        added[name] = queue
    return with_queues(state, topic, added) if added else state


def with_queues(state: State, topic: str, queues: Mapping[str, Queue]) -> State:
    """The state in which broker names have these queue data of a topic."""
    other = state.copy()
    other.topics = {**state.topics, topic: {**state.topics.get(topic, {}), **queues}}
    return other
