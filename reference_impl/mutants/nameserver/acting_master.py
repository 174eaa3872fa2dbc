"""Faults of showing acting masters (5.x)."""

from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import MASTER
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Queue
from reference_impl.nameserver.topic_table import WRITE


def acts(table: RouteTable53, broker: Broker) -> bool:
    """Whether a name has an acting master, whatever its topics."""
    return table.config.support_acting_master and broker.acting_master and MASTER not in broker.addresses


@mutant(RouteTable53.shows_acting_master, "supportActingMaster has no effect.")
def acting_master_is_not_shown(original, self, topic, broker, queue):
    return False


@mutant(RouteTable53.shows_acting_master, "Acting masters are shown without supportActingMaster.")
def acting_master_is_always_shown(original, self, topic, broker, queue):
    return broker.acting_master and MASTER not in broker.addresses and not queue.perm & WRITE


@mutant(RouteTable53.routed_broker, "The slave with the highest id is shown as master.")
def highest_slave_acts(original, self, topic, broker, queue):
    shown = self.shown_broker(broker)
    if self.shows_acting_master(topic, broker, queue):
        shown.broker_addrs[MASTER] = shown.broker_addrs.pop(max(broker.addresses))
    return shown


@mutant(RouteTable53.routed_broker, "The slave that registered first is shown as master.")
def oldest_slave_acts(original, self, topic, broker, queue):
    shown = self.shown_broker(broker)
    if self.shows_acting_master(topic, broker, queue):
        shown.broker_addrs[MASTER] = shown.broker_addrs.pop(next(iter(broker.addresses)))
    return shown


@after(RouteTable53.routed_broker, "An acting master is listed under its own id, too.")
def acting_master_keeps_its_id_too(shown, broker):
    shown.broker_addrs |= broker.addresses


@mutant(RouteTable53.shows_acting_master, "An acting master is shown for writable topics.")
def acting_master_of_writable_topics(original, self, topic, broker, queue):
    read_only = Queue(queue.read, queue.write, queue.perm & ~WRITE, queue.flag)
    return original(self, topic, broker, read_only)


@mutant(RouteTable53.shows_acting_master, "A name shows an acting master for all its topics or for none.")
def acting_master_by_the_first_topic(original, self, topic, broker, queue):
    return original(self, topic, broker, self.queues_of(broker.name)[0][1])


@mutant(RouteTable53.shows_acting_master, "A name that did not enable an acting master has one.")
def acting_master_without_consent(original, self, topic, broker, queue):
    read_only = not queue.perm & WRITE
    return self.config.support_acting_master and MASTER not in broker.addresses and read_only


@mutant(RouteTable53.shows_acting_master, "Once one name of a topic has an acting master, all have.")
def one_consent_is_for_all_names(original, self, topic, broker, queue):
    any_acts = any(acts(self, self.brokers[name]) for name in self.topics[topic])
    return any_acts and MASTER not in broker.addresses and not queue.perm & WRITE


@after(RouteTable53.cluster_info, "Cluster information shows acting masters.", V5)
def acting_master_is_in_cluster_info(info, self):
    for name, shown in info.broker_addr_table.items():
        if acts(self, self.brokers[name]):
            shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(shown.broker_addrs))


@after(RouteTable53.member_addresses, "A member group shows the acting master.", V5)
def acting_master_is_in_member_group(members, self, name):
    if members and acts(self, self.brokers[name]):
        members[MASTER] = members.pop(min(members))


@mutant(RouteTable53.shows_acting_master, "Topics by which brokers find each other show acting masters.")
def acting_master_of_member_topics(original, self, topic, broker, queue):
    return original(self, "", broker, queue)


@mutant(
    RouteTable53.routed_broker, "Once shown, an acting master is shown beside the master that comes back."
)
def acting_master_stays(original, self, topic, broker, queue):
    acted: set[str] = self.__dict__.setdefault("acted", set())
    shown = original(self, topic, broker, queue)
    if self.shows_acting_master(topic, broker, queue):
        acted.add(broker.name)
    elif broker.name in acted and len(broker.addresses) > 1:
        slaves = [number for number in broker.addresses if number != MASTER]
        shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(slaves))
    return shown


@mutant(RouteTable53.routed_broker, "The first acting master of a name is shown forever.")
def acting_master_is_the_first_one(original, self, topic, broker, queue):
    shown = original(self, topic, broker, queue)
    if self.shows_acting_master(topic, broker, queue):
        acting: dict[str, str] = self.__dict__.setdefault("acting", {})
        shown.broker_addrs[MASTER] = acting.setdefault(broker.name, shown.broker_addrs[MASTER])
    return shown


@mutant(RouteTable53.leave, "Only a master that unregisters removes write permission.")
def lost_master_keeps_write_permission(original, self, departures):
    kept = {
        one.brokers: self.queues_of(one.brokers[0]) for one in departures if one.id is None and one.brokers
    }
    original(self, departures)
    for (name, *_), queues in kept.items():
        for topic, queue in queues:
            if name in self.topics.get(topic, {}):
                self.put_queue(topic, name, queue)


@mutant(RouteTable53.shows_acting_master, "A name that never had a master has no acting one.")
def acting_master_needs_a_former_master(original, self, topic, broker, queue):
    publishers = {record.address for record in self.live.values() if topic in record.topics}
    alone = not publishers.isdisjoint(broker.addresses.values())
    return not alone and original(self, topic, broker, queue)


@mutant(NameServer53.stays_in_zone, "A name with an acting master is in the routes of every zone.")
def acting_master_serves_every_zone(original, self, broker, zone):
    known = self.routes.brokers[broker.broker_name or ""]
    return MASTER not in known.addresses or original(self, broker, zone)


@after(
    RouteTable53.queue_of, "A slave that may act as master publishes each number of queues as the other.", V5
)
def acting_slave_swaps_queue_numbers(queue, broker, registration):
    if registration.id == MASTER or not broker.acting_master:
        return queue
    return Queue(queue.write, queue.read, queue.perm, queue.flag)


@mutant(RouteTable53.reduced, "Of several topics of a lost master only the first is served read-only.", V5)
def one_topic_loses_write_permission(original, self, broker):
    _, *others = list(self.queues_of(broker.name))
    original(self, broker)
    for topic, queue in others:
        self.put_queue(topic, broker.name, queue)
