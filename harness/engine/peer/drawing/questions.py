"""Steps that only ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.engine.peer.drawing.base import BROKERS, CLUSTERS, KEYS, NAMESPACES, TOPICS, Drawing
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.steps import AnyStep


class Questions(Drawing):
    """Draws them, at random and to read everything back."""

    def _ask(self) -> None:
        """One step that only asks."""
        makers: tuple[tuple[Callable[[], AnyStep | None], int], ...] = (
            (self._route, 30),
            (self._cluster_info, 14),
            (self._topics, 6),
            (self._query_version, 14),
            (self._heartbeat, 5),
            (self._member_group, 8),
            (self._kv_question, 6),
            (self._topics_of_cluster, 3),
            (self._system_topics, 2),
            (self._unit, 4),
            (self._configuration, 1),
        )
        make = self._weighted(makers)
        self._add(make())

    def _route(self) -> ns.Route:
        topic = self._one(sorted(self._expected.topics) or TOPICS)
        if self._chance.random() < 0.15:
            topic = self._one(TOPICS)
        zoned = self._has("zones") and self._chance.random() < 0.15
        return ns.Route(
            conn=self._any_conn(),
            topic=topic,
            announces=self._one((None, None, None, 0, 400, 401, 2000)),
            standard=self._weighted(((None, 6), (True, 2), (False, 1))),
            zone_mode=self._one(("true", "TRUE", "false", None)) if zoned else None,
            zone=self._one(("z1", "z2", " ", None)) if zoned else None,
            binary=self._chance.random() < 0.12,
            drop=("topic",) if self._chance.random() < 0.02 else (),
        )

    def _cluster_info(self) -> ns.ClusterInfo:
        return ns.ClusterInfo(conn=self._any_conn(), binary=self._chance.random() < 0.1)

    def _topics(self) -> ns.Topics:
        return ns.Topics(conn=self._any_conn(), binary=self._chance.random() < 0.1)

    def _query_version(self) -> ns.QueryVersion:
        leases = list(self._expected.leases.values())
        if not leases or self._chance.random() < 0.2:
            slot = self._chance.randrange(len(BROKERS))
            return ns.QueryVersion(cluster=self._one(CLUSTERS), broker=BROKERS[slot], address=f"a{slot}0")
        lease = self._one(leases)
        counter, timestamp, state = lease.version
        return ns.QueryVersion(
            conn=self._any_conn(),
            cluster=self._one(CLUSTERS) if self._chance.random() < 0.1 else lease.cluster,
            broker=lease.broker,
            address=lease.address,
            id=lease.id,
            counter=counter + self._one((0, 0, 1)),
            timestamp=max(0, timestamp + self._one((0, 0, 1))),
            state=self._one((state, state + 1, None)) if self._has("state-version") else self._maybe(None, 7),
            lean=self._has("topic-attributes") and self._chance.random() < 0.1,
            form=self._weighted((("json", 12), ("none", 1), ("garbage", 1))),
            binary=self._chance.random() < 0.1,
            drop=(self._one(("clusterName", "brokerAddr", "brokerId")),)
            if self._chance.random() < 0.04
            else (),
        )

    def _heartbeat(self) -> ns.Heartbeat | None:
        leases = list(self._expected.leases.values())
        if not leases:
            return ns.Heartbeat()
        lease = self._one(leases)
        return ns.Heartbeat(cluster=lease.cluster, broker=lease.broker, address=lease.address, id=lease.id)

    def _member_group(self) -> ns.MemberGroup:
        return ns.MemberGroup(cluster=self._one(CLUSTERS), broker=self._one(BROKERS))

    def _kv_question(self) -> ns.Kv:
        namespace = self._one((*NAMESPACES, "nobody's"))
        return ns.Kv(
            code=self._one((101, 101, 219)),
            namespace=namespace,
            key=self._one(KEYS),
            topic=self._one(TOPICS) if namespace == ORDER else None,
            binary=self._chance.random() < 0.1,
            drop=(self._one(("namespace", "key")),) if self._chance.random() < 0.05 else (),
        )

    def _topics_of_cluster(self) -> ns.TopicsOfCluster:
        return ns.TopicsOfCluster(cluster=self._one(CLUSTERS))

    def _system_topics(self) -> ns.SystemTopics:
        return ns.SystemTopics()

    def _unit(self) -> ns.Unit:
        return ns.Unit(code=self._one((311, 312, 313)))

    def _configuration(self) -> ns.Configuration:
        return ns.Configuration()

    def _look(self) -> None:
        """Everything that can be seen of what the round did."""
        self._add(ns.ClusterInfo())
        self._add(ns.Topics())
        for topic in sorted(self._expected.topics):
            self._add(ns.Route(topic=topic))
        for lease in list(self._expected.leases.values())[:8]:
            counter, timestamp, state = lease.version
            self._add(
                ns.QueryVersion(
                    cluster=lease.cluster,
                    broker=lease.broker,
                    address=lease.address,
                    id=lease.id,
                    counter=counter + 1,
                    timestamp=timestamp,
                    state=state if self._has("state-version") else None,
                )
            )

    def _read_back(self, pairs: Sequence[tuple[str, str, str | None]]) -> None:
        for namespace, key, topic in pairs:
            self._add(ns.Kv(code=101, namespace=namespace, key=key, topic=topic))
        for namespace in dict.fromkeys(namespace for namespace, _, _ in pairs):
            self._add(ns.Kv(code=219, namespace=namespace))
