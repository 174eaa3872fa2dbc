"""Faults of deleting topics: code 216, and registrations that delete by leaving out."""

from harness.wire import ResponseCode
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 216 -----------------------------------------------------------------------------------------------------


@mutant(RouteTable.delete_topic, "216 deletes nothing.")
def deletion_is_ignored(original, self, topic):
    return None


@mutant(RouteTable.delete_topic, "216 deletes a topic from one of the brokers that serve it.")
def deletion_takes_one_broker(original, self, topic):
    for name in list(self.topics.get(topic, ()))[:1]:
        self.drop_queue(topic, name)


@mutant(RouteTable.delete_topic, "216 deletes all topics of the brokers that serve one.")
def deletion_takes_every_topic_of_its_brokers(original, self, topic):
    for name in list(self.topics.get(topic, ())):
        self.drop_topics_of(self.brokers[name])


@mutant(RouteTable.delete_topic, "A broker without topics leaves.")
def broker_leaves_with_its_last_topic(original, self, topic):
    names = list(self.topics.get(topic, ()))
    original(self, topic)
    for name in names:
        if not self.queues_of(name):
            self.forget_name(self.brokers[name])


@after(NameServer.delete_topic, "The answer to 216 has the topic as an ext field.")
def deletion_is_answered_with_the_topic(reply, command):
    reply.ext = {"topic": fields.text(command.ext, "topic")}


@mutant(NameServer.delete_topic, "216 of a topic without brokers is TOPIC_NOT_EXIST.")
def deletion_of_unknown_topic_is_refused(original, self, command, connection, now):
    known = fields.text(command.ext, "topic") in self.routes.topics
    reply = original(self, command, connection, now)
    return reply if known else Reply(ResponseCode.TOPIC_NOT_EXIST)


@mutant(NameServer.delete_topic, "216 without a topic deletes all of them.")
def deletion_without_topic_takes_all(original, self, command, connection, now):
    if fields.text(command.ext, "topic") is None:
        for topic in list(self.routes.topics):
            self.routes.delete_topic(topic)
    return original(self, command, connection, now)


@mutant(RouteTable.delete_topic_in, "216 of one cluster deletes nothing.")
def deletion_in_a_cluster_is_ignored(original, self, topic, cluster):
    return None


@mutant(RouteTable.delete_topic_in, "216 of a cluster deletes from one of its brokers.")
def deletion_in_a_cluster_takes_one_broker(original, self, topic, cluster):
    for name in [name for name in self.topics.get(topic, ()) if name in self.clusters[cluster]][:1]:
        self.drop_queue(topic, name)


@mutant(RouteTable.delete_topic_in, "216 of an unknown cluster deletes from all of them.")
def unknown_cluster_deletes_everywhere(original, self, topic, cluster):
    if cluster not in self.clusters:
        self.delete_topic(topic)
    original(self, topic, cluster)


@mutant(NameServer.delete_topic, "216 treats an empty clusterName as the name of a cluster.")
def empty_cluster_is_a_cluster(original, self, command, connection, now):
    if fields.text(command.ext, "clusterName") == "":
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(RouteTable.put_queue, "A removed topic can never be registered again.")
def deleted_topics_stay_away(original, self, topic, name, queue):
    seen: set[str] = self.__dict__.setdefault("seen", set())
    if topic in self.topics or topic not in seen:
        seen.add(topic)
        original(self, topic, name, queue)


# -- deletion by leaving out (5.x, deleteTopicWithBrokerRegistration) ----------------------------------------


@mutant(RouteTable53.absent_topics, "deleteTopicWithBrokerRegistration has no effect.")
def absent_topics_always_stay(original, self, registration):
    return ()


@mutant(
    RouteTable53.absent_topics, "A registration deletes omitted topics only with a different data version."
)
def absent_topics_go_with_a_changed_version(original, self, registration):
    stored = self.stored_version(registration.cluster, registration.address)
    if stored is not None and self.same_version(stored, registration.version):
        return ()
    return original(self, registration)


@mutant(RouteTable53.absent_topics, "A registration without topics deletes none.")
def empty_table_deletes_nothing(original, self, registration):
    return original(self, registration) if registration.topics else ()


@mutant(RouteTable53.drop_queue, "A topic that one broker omits is deleted on all.", V5)
def absent_topics_go_from_every_broker(original, self, topic, name):
    for other in [one for one in self.topics.get(topic, ()) if one in self.brokers]:
        original(self, topic, other)


@mutant(RouteTable53.describe, "A topic that a slave omits is deleted, too.")
def slaves_delete_absent_topics(original, self, broker, registration):
    for topic in self.absent_topics(registration):
        self.drop_queue(topic, broker.name)
    original(self, broker, registration)


@mutant(
    RouteTable53.absent_topics,
    "A registration with static-topic mappings deletes the topics that it omits.",
)
def mappings_do_not_save_absent_topics(original, self, registration):
    if not self.config.delete_topic_with_broker_registration:
        return ()
    return [topic for topic, _ in self.queues_of(registration.broker) if topic not in registration.topics]
