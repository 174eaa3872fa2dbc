"""Faults of showing acting masters (5.x)."""

from harness.wire.bodies import BrokerData, ClusterInfo
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, WRITE
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Departure, Queue


def acts(table: RouteTable53, broker: Broker) -> bool:
    """Whether a name has an acting master, whatever its topics."""
    return table.config.support_acting_master and broker.acting_master and MASTER not in broker.addresses


@mutant("acting-master-is-not-shown", "supportActingMaster has no effect.", V5)
def acting_master_is_not_shown(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        return False

    return parts.override("routes", shows_acting_master)


@mutant("acting-master-is-always-shown", "Acting masters are shown without supportActingMaster.", V5)
def acting_master_is_always_shown(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        return broker.acting_master and MASTER not in broker.addresses and not queue.perm & WRITE

    return parts.override("routes", shows_acting_master)


@mutant("highest-slave-acts", "The slave of the highest id is shown as master.", V5)
def highest_slave_acts(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = self.shown_broker(broker)
        if self.shows_acting_master(topic, broker, queue):
            shown.broker_addrs[MASTER] = shown.broker_addrs.pop(max(broker.addresses))
        return shown

    return parts.override("routes", routed_broker)


@mutant("acting-master-keeps-its-id-too", "An acting master is listed under its own id, too.", V5)
def acting_master_keeps_its_id_too(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = RouteTable53.routed_broker(self, topic, broker, queue)
        shown.broker_addrs |= broker.addresses
        return shown

    return parts.override("routes", routed_broker)


@mutant("acting-master-of-writable-topics", "An acting master is shown for topics that can be written.", V5)
def acting_master_of_writable_topics(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        read_only = Queue(queue.read, queue.write, queue.perm & ~WRITE, queue.flag)
        return RouteTable53.shows_acting_master(self, topic, broker, read_only)

    return parts.override("routes", shows_acting_master)


@mutant(
    "acting-master-by-the-first-topic", "A name shows an acting master for all its topics or for none.", V5
)
def acting_master_by_the_first_topic(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        return RouteTable53.shows_acting_master(self, topic, broker, self.queues_of(broker.name)[0][1])

    return parts.override("routes", shows_acting_master)


@mutant("acting-master-without-consent", "A name that did not enable an acting master has one.", V5)
def acting_master_without_consent(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        read_only = not queue.perm & WRITE
        return self.config.support_acting_master and MASTER not in broker.addresses and read_only

    return parts.override("routes", shows_acting_master)


@mutant("one-consent-is-for-all-names", "Once one name of a topic has an acting master, all have.", V5)
def one_consent_is_for_all_names(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        any_acts = any(acts(self, self.brokers[name]) for name in self.topics[topic])
        return any_acts and MASTER not in broker.addresses and not queue.perm & WRITE

    return parts.override("routes", shows_acting_master)


@mutant("acting-master-is-in-cluster-info", "Cluster information shows acting masters.", V5)
def acting_master_is_in_cluster_info(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable53) -> ClusterInfo:
        info = RouteTable53.cluster_info(self)
        for name, shown in info.broker_addr_table.items():
            if acts(self, self.brokers[name]):
                shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(shown.broker_addrs))
        return info

    return parts.override("routes", cluster_info)


@mutant("acting-master-is-in-member-group", "A member group shows the acting master.", V5)
def acting_master_is_in_member_group(parts: Parts) -> Parts:
    def member_addresses(self: RouteTable53, name: str) -> dict[int, str]:
        members = RouteTable53.member_addresses(self, name)
        if members and acts(self, self.brokers[name]):
            members[MASTER] = members.pop(min(members))
        return members

    return parts.override("routes", member_addresses)


@mutant("acting-master-of-member-topics", "Topics by which brokers find each other show acting masters.", V5)
def acting_master_of_member_topics(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        return RouteTable53.shows_acting_master(self, "", broker, queue)

    return parts.override("routes", shows_acting_master)


@mutant("acting-master-stays", "Once shown, an acting master is shown beside the master that comes back.", V5)
def acting_master_stays(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        acted: set[str] = self.__dict__.setdefault("acted", set())
        shown = RouteTable53.routed_broker(self, topic, broker, queue)
        if self.shows_acting_master(topic, broker, queue):
            acted.add(broker.name)
        elif broker.name in acted and len(broker.addresses) > 1:
            slaves = [number for number in broker.addresses if number != MASTER]
            shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(slaves))
        return shown

    return parts.override("routes", routed_broker)


@mutant("acting-master-is-the-first-one", "Whoever acted first for a name is shown for ever.", V5)
def acting_master_is_the_first_one(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = RouteTable53.routed_broker(self, topic, broker, queue)
        if self.shows_acting_master(topic, broker, queue):
            acting: dict[str, str] = self.__dict__.setdefault("acting", {})
            shown.broker_addrs[MASTER] = acting.setdefault(broker.name, shown.broker_addrs[MASTER])
        return shown

    return parts.override("routes", routed_broker)


@mutant(
    "lost-master-keeps-write-permission", "Only a master that unregisters takes write permission along.", V5
)
def lost_master_keeps_write_permission(parts: Parts) -> Parts:
    def leave(self: RouteTable53, departures: list[Departure]) -> None:
        kept = {
            one.brokers: self.queues_of(one.brokers[0])
            for one in departures
            if one.id is None and one.brokers
        }
        RouteTable53.leave(self, departures)
        for (name, *_), queues in kept.items():
            for topic, queue in queues:
                if name in self.topics.get(topic, {}):
                    self.put_queue(topic, name, queue)

    return parts.override("routes", leave)


@mutant("acting-master-needs-a-former-master", "A name that never had a master has no acting one.", V5)
def acting_master_needs_a_former_master(parts: Parts) -> Parts:
    def shows_acting_master(self: RouteTable53, topic: str, broker: Broker, queue: Queue) -> bool:
        publishers = {record.address for record in self.live.values() if topic in record.topics}
        alone = not publishers.isdisjoint(broker.addresses.values())
        return not alone and RouteTable53.shows_acting_master(self, topic, broker, queue)

    return parts.override("routes", shows_acting_master)


@mutant("acting-master-serves-every-zone", "A name with an acting master is in the routes of every zone.", V5)
def acting_master_serves_every_zone(parts: Parts) -> Parts:
    def stays_in_zone(self: NameServer53, broker: BrokerData, zone: str) -> bool:
        known = self.routes.brokers[broker.broker_name or ""]
        return MASTER not in known.addresses or NameServer53.stays_in_zone(self, broker, zone)

    return parts.override("nameserver", stays_in_zone)
