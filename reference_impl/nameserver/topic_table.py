"""The topics of the route table: who serves them, with which queues. Pure state.

Rules that hold after every call:
1. A topic without queue data does not exist.
2. A static-topic mapping exists only beside the queue data of its topic, or until its broker name goes.
3. `revision` grows with every change that a route can show: equal revisions, equal routes.

Where Apache's server does what no client can rely on, this table does the sane thing:
- A static-topic mapping goes with the queue data that it belongs to. (5.x keeps it for ever.)
- Where brokers disagree about the system flag of a topic, that of the broker that came first counts. (Apache
  looks at one of them, whichever its hash table gives first.)

Source: RouteInfoManager, TopicSysFlag of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections.abc import Callable, Iterable

from harness.wire.bodies import TopicQueueMappingInfo

from .state import Broker, Queue

READ, WRITE = 4, 2
"""Bits of `perm`."""
_UNIT, _UNIT_SUB = 1, 2
"""Bits of `topicSysFlag`."""


class TopicTable:
    """The part of a route table that is about topics; a route table adds brokers, leases and departures."""

    def __init__(self) -> None:
        self.revision = 0
        self.topics: dict[str, dict[str, Queue]] = {}
        self.brokers: dict[str, Broker] = {}
        self.clusters: dict[str, dict[str, None]] = {}
        self.mappings: dict[str, dict[str, TopicQueueMappingInfo]] = {}

    # -- queue data ------------------------------------------------------------------------------------------

    def queues_of(self, name: str) -> list[tuple[str, Queue]]:
        """(topic, queue data) of everything that a broker name serves."""
        return [(topic, queues[name]) for topic, queues in self.topics.items() if name in queues]

    def put_queue(self, topic: str, name: str, queue: Queue) -> None:
        """Store the queue data of a topic on one broker name."""
        queues = self.topics.setdefault(topic, {})
        if queues.get(name) != queue:
            queues[name] = queue
            self.revision += 1

    def drop_queue(self, topic: str, name: str) -> None:
        """Drop the queue data of a topic on one broker name; without any left the topic goes."""
        queues = self.topics[topic]
        if queues.pop(name, None) is not None:
            self.revision += 1
        self.drop_mapping(topic, name)
        if not queues:
            self.drop_topic(topic)

    def drop_mapping(self, topic: str, name: str) -> None:
        """Drop the static-topic mapping that belonged to queue data that are no more."""
        mappings = self.mappings.get(topic)
        if mappings is not None:
            mappings.pop(name, None)
            if not mappings:
                del self.mappings[topic]

    def drop_topic(self, topic: str) -> None:
        """A topic has lost its last broker name."""
        del self.topics[topic]

    # -- deletion --------------------------------------------------------------------------------------------

    def delete_topic(self, topic: str) -> None:
        """Drop a topic from every broker name that serves it; an unknown one is nothing to do."""
        for name in list(self.topics.get(topic, ())):
            self.drop_queue(topic, name)

    def delete_topic_in(self, topic: str, cluster: str) -> None:
        """Drop a topic from the broker names that a cluster lists."""
        for name in [name for name in self.topics.get(topic, ()) if name in self.clusters.get(cluster, ())]:
            self.drop_queue(topic, name)

    # -- write permission ------------------------------------------------------------------------------------

    def wipe_write_permission(self, name: str) -> int:
        """Clear the write bit of a broker name's topics; returns how many topics it has."""
        return self._permit(name, self.without_write)

    def add_write_permission(self, name: str) -> int:
        """Set the write bit of a broker name's topics; returns how many topics it has."""
        return self._permit(name, self.with_write)

    def _permit(self, name: str, change: Callable[[int], int]) -> int:
        queues = self.queues_of(name)
        for topic, queue in queues:
            self.set_permission(topic, name, queue, change(queue.perm))
        return len(queues)

    def set_permission(self, topic: str, name: str, queue: Queue, perm: int) -> None:
        """Store another permission for a topic on one broker name."""
        if perm != queue.perm:
            self.topics[topic][name] = Queue(queue.read, queue.write, perm, queue.flag)
            self.revision += 1

    def without_write(self, perm: int) -> int:
        """What 205 makes of a permission: the other bits stay."""
        return perm & ~WRITE

    def with_write(self, perm: int) -> int:
        """What 327 makes of a permission: the other bits stay."""
        return perm | WRITE

    # -- lists -----------------------------------------------------------------------------------------------

    def topic_names(self) -> list[str]:
        """Every topic."""
        return list(self.topics)

    def topics_in(self, cluster: str) -> list[str]:
        """The topics that a broker name of a cluster serves, each once; none for an unknown cluster."""
        names = self.clusters.get(cluster, {})
        return [topic for topic, queues in self.topics.items() if not names.keys().isdisjoint(queues)]

    def system_names(self) -> list[str]:
        """The names of all clusters and of all broker names that they list, each once."""
        return list(dict.fromkeys([*self.clusters, *(n for names in self.clusters.values() for n in names)]))

    def some_address(self) -> str | None:
        """The address of some broker, or None if there is none."""
        return next((a for broker in self.brokers.values() for a in broker.addresses.values()), None)

    def unit_topics(self) -> list[str]:
        """The topics whose flag has the unit bit."""
        return self._flagged(lambda flag: bool(flag & _UNIT))

    def unit_sub_topics(self) -> list[str]:
        """The topics whose flag has the unit-subscription bit."""
        return self._flagged(lambda flag: bool(flag & _UNIT_SUB))

    def unit_sub_only_topics(self) -> list[str]:
        """The topics whose flag has the unit-subscription bit without the unit bit."""
        return self._flagged(lambda flag: flag & (_UNIT | _UNIT_SUB) == _UNIT_SUB)

    def _flagged(self, wanted: Callable[[int], bool]) -> list[str]:
        return [topic for topic, queues in self.topics.items() if wanted(self.flag_of(queues.values()))]

    def flag_of(self, queues: Iterable[Queue]) -> int:
        """The system flag of a topic, given its queue data on every broker name."""
        return next(iter(queues)).flag
