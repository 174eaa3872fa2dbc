"""Faults of deleting topics: code 216, and registrations that delete by leaving out."""

from collections.abc import Sequence

from harness.wire import Command, ResponseCode
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Queue, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 216 -----------------------------------------------------------------------------------------------------


@mutant("deletion-is-ignored", "216 deletes nothing.")
def deletion_is_ignored(parts: Parts) -> Parts:
    def delete_topic(self: RouteTable, topic: str) -> None:
        return None

    return parts.override("routes", delete_topic)


@mutant("deletion-takes-one-broker", "216 deletes a topic from one of the brokers that serve it.")
def deletion_takes_one_broker(parts: Parts) -> Parts:
    def delete_topic(self: RouteTable, topic: str) -> None:
        for name in list(self.topics.get(topic, ()))[:1]:
            self.drop_queue(topic, name)

    return parts.override("routes", delete_topic)


@mutant("deletion-takes-every-topic-of-its-brokers", "216 deletes all topics of the brokers that serve one.")
def deletion_takes_every_topic_of_its_brokers(parts: Parts) -> Parts:
    def delete_topic(self: RouteTable, topic: str) -> None:
        for name in list(self.topics.get(topic, ())):
            self.drop_topics_of(self.brokers[name])

    return parts.override("routes", delete_topic)


@mutant("broker-leaves-with-its-last-topic", "A broker without topics leaves.")
def broker_leaves_with_its_last_topic(parts: Parts) -> Parts:
    def delete_topic(self: RouteTable, topic: str) -> None:
        names = list(self.topics.get(topic, ()))
        parts.routes.delete_topic(self, topic)
        for name in names:
            if not self.queues_of(name):
                self.forget_name(self.brokers[name])

    return parts.override("routes", delete_topic)


@mutant("deletion-is-answered-with-the-topic", "The answer to 216 has the topic as an ext field.")
def deletion_is_answered_with_the_topic(parts: Parts) -> Parts:
    def delete_topic(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.delete_topic(self, command, connection, now)
        reply.ext = {"topic": fields.text(command.ext, "topic")}
        return reply

    return parts.override("nameserver", delete_topic)


@mutant("deletion-of-unknown-topic-is-refused", "216 of a topic that nobody serves is TOPIC_NOT_EXIST.")
def deletion_of_unknown_topic_is_refused(parts: Parts) -> Parts:
    def delete_topic(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        known = fields.text(command.ext, "topic") in self.routes.topics
        reply = parts.nameserver.delete_topic(self, command, connection, now)
        return reply if known else Reply(ResponseCode.TOPIC_NOT_EXIST)

    return parts.override("nameserver", delete_topic)


@mutant("deletion-without-topic-takes-all", "216 that names no topic deletes all of them.")
def deletion_without_topic_takes_all(parts: Parts) -> Parts:
    def delete_topic(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "topic") is None:
            for topic in list(self.routes.topics):
                self.routes.delete_topic(topic)
        return parts.nameserver.delete_topic(self, command, connection, now)

    return parts.override("nameserver", delete_topic)


@mutant("deletion-in-a-cluster-is-ignored", "216 of one cluster deletes nothing.")
def deletion_in_a_cluster_is_ignored(parts: Parts) -> Parts:
    def delete_topic_in(self: RouteTable, topic: str, cluster: str) -> None:
        return None

    return parts.override("routes", delete_topic_in)


@mutant("deletion-in-a-cluster-takes-one-broker", "216 of a cluster deletes from one of its brokers.")
def deletion_in_a_cluster_takes_one_broker(parts: Parts) -> Parts:
    def delete_topic_in(self: RouteTable, topic: str, cluster: str) -> None:
        for name in [name for name in self.topics.get(topic, ()) if name in self.clusters[cluster]][:1]:
            self.drop_queue(topic, name)

    return parts.override("routes", delete_topic_in)


@mutant("unknown-cluster-deletes-everywhere", "216 of a cluster that nobody knows deletes from all of them.")
def unknown_cluster_deletes_everywhere(parts: Parts) -> Parts:
    def delete_topic_in(self: RouteTable, topic: str, cluster: str) -> None:
        if cluster not in self.clusters:
            self.delete_topic(topic)
        parts.routes.delete_topic_in(self, topic, cluster)

    return parts.override("routes", delete_topic_in)


@mutant("empty-cluster-is-a-cluster", "216 takes an empty clusterName for the name of a cluster.")
def empty_cluster_is_a_cluster(parts: Parts) -> Parts:
    def delete_topic(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "clusterName") == "":
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.delete_topic(self, command, connection, now)

    return parts.override("nameserver", delete_topic)


@mutant("deleted-topics-stay-away", "A topic that was there and is no more is never taken over again.")
def deleted_topics_stay_away(parts: Parts) -> Parts:
    def put_queue(self: RouteTable, topic: str, name: str, queue: Queue) -> None:
        seen: set[str] = self.__dict__.setdefault("seen", set())
        if topic in self.topics or topic not in seen:
            seen.add(topic)
            parts.routes.put_queue(self, topic, name, queue)

    return parts.override("routes", put_queue)


# -- deletion by leaving out (5.x, deleteTopicWithBrokerRegistration) ----------------------------------------


@mutant("absent-topics-always-stay", "deleteTopicWithBrokerRegistration has no effect.", profiles=V5)
def absent_topics_always_stay(parts: Parts) -> Parts:
    def absent_topics(self: RouteTable53, registration: Registration) -> Sequence[str]:
        return ()

    return parts.override("routes", absent_topics)


@mutant(
    "absent-topics-go-with-a-changed-version",
    "A registration deletes what it leaves out only under another data version.",
    profiles=V5,
)
def absent_topics_go_with_a_changed_version(parts: Parts) -> Parts:
    def absent_topics(self: RouteTable53, registration: Registration) -> Sequence[str]:
        stored = self.stored_version(registration.cluster, registration.address)
        if stored is not None and self.same_version(stored, registration.version):
            return ()
        return RouteTable53.absent_topics(self, registration)

    return parts.override("routes", absent_topics)


@mutant("empty-table-deletes-nothing", "A registration without topics deletes none.", profiles=V5)
def empty_table_deletes_nothing(parts: Parts) -> Parts:
    def absent_topics(self: RouteTable53, registration: Registration) -> Sequence[str]:
        return RouteTable53.absent_topics(self, registration) if registration.topics else ()

    return parts.override("routes", absent_topics)


@mutant("absent-topics-go-from-every-broker", "What one broker leaves out is deleted on all.", profiles=V5)
def absent_topics_go_from_every_broker(parts: Parts) -> Parts:
    def drop_queue(self: RouteTable53, topic: str, name: str) -> None:
        for other in [one for one in self.topics.get(topic, ()) if one in self.brokers]:
            RouteTable53.drop_queue(self, topic, other)

    return parts.override("routes", drop_queue)


@mutant("slaves-delete-absent-topics", "What a slave leaves out is deleted, too.", profiles=V5)
def slaves_delete_absent_topics(parts: Parts) -> Parts:
    def describe(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        for topic in self.absent_topics(registration):
            self.drop_queue(topic, broker.name)
        RouteTable53.describe(self, broker, registration)

    return parts.override("routes", describe)


@mutant(
    "mappings-do-not-save-absent-topics",
    "What a registration leaves out is deleted also if it carries static-topic mappings.",
    profiles=V5,
)
def mappings_do_not_save_absent_topics(parts: Parts) -> Parts:
    def absent_topics(self: RouteTable53, registration: Registration) -> Sequence[str]:
        if not self.config.delete_topic_with_broker_registration:
            return ()
        return [topic for topic, _ in self.queues_of(registration.broker) if topic not in registration.topics]

    return parts.override("routes", absent_topics)
