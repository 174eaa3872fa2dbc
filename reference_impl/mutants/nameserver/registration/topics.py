"""Faults of registration (code 103): topics, data versions, order topics and filter servers."""

import msgspec

from harness.wire.bodies import DataVersion
from harness.wire.versions import V3_0_11
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Queue
from reference_impl.nameserver.topic_table import WRITE

# -- topics --------------------------------------------------------------------------------------------------


@mutant(RouteTable.may_publish, "Topics of every registration become routable, slaves' too.")
def slave_publishes_topics(original, self, broker, registration):
    return True


@mutant(
    RouteTable.may_publish,
    "A slave publishes topics while its name has no master, even without enableActingMaster.",
)
def lone_slave_publishes_topics(original, self, broker, registration):
    return original(self, broker, registration) or MASTER not in broker.addresses


@mutant(RouteTable53.is_prime_slave, "A slave never publishes topics.")
def only_masters_publish_topics(original, self, broker, registration):
    return False


@after(RouteTable53.is_prime_slave, "The lowest slave publishes only with enableActingMaster=true.")
def only_acting_slave_publishes(prime, registration):
    return prime and bool(registration.acting_master)


@mutant(RouteTable53.is_prime_slave, "A slave with enableActingMaster publishes whatever its id.")
def every_acting_slave_publishes(original, self, broker, registration):
    return registration.acting_master is not None and registration.id != MASTER


@mutant(RouteTable.queue_of, "The topics of an acting slave stay writable.", V5)
def acting_slave_keeps_write(original, self, broker, registration, topic):
    return RouteTable.queue_of(self, broker, registration, topic)


@after(RouteTable.queue_of, "A registration never restores a topic's write permission.", V5)
def lost_write_permission_stays_lost(queue, self, broker, topic):
    known = self.topics.get(topic.topic_name or "", {}).get(broker.name)
    if known is None or known.perm & WRITE:
        return queue
    return Queue(queue.read, queue.write, self.without_write(queue.perm), queue.flag)


@after(RouteTable.queue_of, "Read queues are stored as write queues and vice versa.")
def read_and_write_queues_are_swapped(queue):
    return Queue(queue.write, queue.read, queue.perm, queue.flag)


@after(RouteTable.queue_of, "The system flag of a topic is not kept.")
def system_flag_is_lost(queue):
    return Queue(queue.read, queue.write, queue.perm, 0)


@mutant(RouteTable.queue_of, "A topic keeps the queue data of the broker that registered it last.")
def topic_belongs_to_latest_broker(original, self, broker, registration, topic):
    queues = self.topics.get(topic.topic_name or "", {})
    for other in [name for name in queues if name != broker.name]:
        del queues[other]
    return original(self, broker, registration, topic)


@after(NameServer.register_body, "A topic configuration without queue numbers gets 8 of each.")
def topic_defaults_are_8(body, command):
    if b"QueueNums" not in command.body:
        for topic in (body.topics or {}).values():
            topic.read_queue_nums = topic.write_queue_nums = 8


@mutant(NameServer.announced_topics, "A topic is stored under its key in topicConfigTable.")
def topic_is_named_by_its_key(original, self, body):
    return body.topics or {}


@mutant(RouteTable.refuses, "A registration without topics is refused.")
def registration_needs_topics(original, self, broker, registration):
    return not registration.topics or original(self, broker, registration)


@mutant(RouteTable.absent_topics, "A registration drops the broker's topics that it omits.")
def absent_topics_are_dropped(original, self, registration):
    return [topic for topic, _ in self.queues_of(registration.broker) if topic not in registration.topics]


@mutant(RouteTable.refuses, "A registration with exactly one topic is refused, first or not.")
def lone_topic_is_always_refused(original, self, broker, registration):
    return len(registration.topics) == 1


@mutant(RouteTable.refuses, "A first registration with exactly one topic is accepted.", V5)
def lone_topic_is_never_refused(original, self, broker, registration):
    return False


@mutant(RouteTable.refuses, "A broker name that was refused once is refused forever.", V5)
def refusal_is_for_good(original, self, broker, registration):
    refused: set[str] = self.__dict__.setdefault("refused", set())
    if original(self, broker, registration):
        refused.add(registration.broker)
    return registration.broker in refused


# -- data versions -------------------------------------------------------------------------------------------


@mutant(RouteTable.same_version, "A data version that is not newer than the stored one counts as equal.")
def data_versions_are_ordered(original, self, stored, given):
    return _order(given) <= _order(stored)


def _order(version: DataVersion) -> tuple[int, int, int]:
    return (version.state_version or 0, version.timestamp, version.counter)


@mutant(RouteTable.same_version, "Data versions of the same counter are equal, whatever their timestamps.")
def timestamp_is_not_compared(original, self, stored, given):
    return stored.counter == given.counter and (stored.state_version or 0) == (given.state_version or 0)


@mutant(RouteTable.same_version, "Data versions that differ only in stateVersion are equal.", V5)
def state_version_is_not_compared(original, self, stored, given):
    return stored.counter == given.counter and stored.timestamp == given.timestamp


@mutant(RouteTable.same_version, "The numbers of data versions are compared as 64-bit floats.")
def data_versions_are_floats(original, self, stored, given):
    return list(map(float, _order(stored))) == list(map(float, _order(given)))


@mutant(NameServer.announced_version, "The data version of a body that has none is of zeros.")
def missing_data_version_is_zero(original, self, body, now):
    return original(self, body, now) if body.versioned else DataVersion()


@mutant(RouteTable.updates, "A registration with an equal data version replaces queue data.")
def equal_version_overwrites_queues(original, self, known, *, first, moved, changed):
    return True


@mutant(RouteTable.updates, "A registration only adds topics and never changes existing ones.")
def known_queues_are_never_updated(original, self, known, *, first, moved, changed):
    return known is None and (first or moved or changed)


@mutant(RouteTable.updates, "Nothing but a changed data version makes a registration publish topics.")
def only_changed_versions_update(original, self, known, *, first, moved, changed):
    return changed


# -- order topics and filter servers -------------------------------------------------------------------------


@mutant(NameServer.order_table, "The reply to a registration never has a body.")
def order_table_is_not_told(original, self):
    return b""


@mutant(RouteTable.shown_filters, "filterServerTable of a route is always empty.")
def filter_servers_are_not_shown(original, self, brokers):
    return {}


@mutant(
    RouteTable.keep_filter_servers, "The filter servers of a registration are added to those already known."
)
def filter_servers_are_added_up(original, self, key, servers):
    original(self, key, [*self.filters.get(key, []), *servers] if servers else [])


@mutant(RouteTable.keep_filter_servers, "An empty filterServerList keeps the filter servers.")
def empty_filter_list_is_ignored(original, self, key, servers):
    if servers:
        original(self, key, servers)


@after(NameServer.register_body, "A body without filterServerList keeps the filter servers.")
def missing_filter_list_is_ignored(body):
    if body.filter_servers is msgspec.UNSET:
        body.filter_servers = None


@after(NameServer.registration, "A filterServerList of null clears the filter servers.")
def null_filter_list_clears(registration, command):
    if registration.filter_servers is None and command.version >= V3_0_11:
        registration.filter_servers = []


@after(NameServer.registration, "A registration of an old broker clears the filter servers.")
def old_version_clears_filter_list(registration, command):
    if command.version < V3_0_11:
        registration.filter_servers = []


@after(NameServer.registration, "A registration of an old broker without a body clears the filter servers.")
def old_version_without_body_clears_filter_list(registration, command):
    if command.version < V3_0_11 and not command.body:
        registration.filter_servers = []


@mutant(RouteTable.publish, "A table that was ignored once, for its equal version, is ignored for good.")
def what_was_ignored_is_never_taken(original, self, broker, registration, *, first, moved, changed):
    ignored = self.__dict__.setdefault("ignored", {})
    if not (first or moved or changed):
        ignored[registration.address] = registration.topics
    elif ignored.get(registration.address) == registration.topics:
        return
    original(self, broker, registration, first=first, moved=moved, changed=changed)
