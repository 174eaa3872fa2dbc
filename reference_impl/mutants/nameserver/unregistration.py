"""Faults of unregistration (code 104): what is removed, what must stay, and when."""

from harness.wire import ResponseCode
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Broker, Departure
from reference_impl.nameserver.topic_table import WRITE
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply


@mutant(NameServer.unregister, "An unregistration succeeds and removes nothing.")
def unregistration_is_ignored(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(RouteTable.depart, "An unregistration takes effect only with the next one.", V4)
def unregistration_is_late(original, self, departure):
    waiting: list[Departure] = self.__dict__.setdefault("waiting", [])
    self.leave(waiting)
    waiting[:] = [departure]
    return True


@mutant(NameServer.unregister, "The unregistration of an unknown broker name is refused.")
def unknown_broker_is_an_error(original, self, command, connection, now):
    if self.departure(command).brokers[0] not in self.routes.brokers:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker")
    return original(self, command, connection, now)


@mutant(NameServer.unregister, "The unregistration of an unknown address is refused.")
def unknown_address_is_an_error(original, self, command, connection, now):
    departure = self.departure(command)
    if self.routes.stored_version(departure.cluster, departure.address) is None:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="no such address")
    return original(self, command, connection, now)


@mutant(NameServer.unregister, "An unregistration counts only on the connection of the registration.")
def unregistration_needs_own_connection(original, self, command, connection, now):
    departure = self.departure(command)
    record = self.routes.live.get(self.routes.live_key(departure.cluster, departure.address))
    if record is not None and record.connection != connection:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(NameServer.unregister, "A one-way unregistration has no effect.")
def one_way_unregistration_is_dropped(original, self, command, connection, now):
    if command.is_oneway:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(RouteTable.remove_entry, "An unregistration with another id than registered is ignored.", V5)
def unregistration_needs_the_id(original, self, broker, departure):
    if departure.id is None or broker.addresses.get(departure.id) == departure.address:
        self.remove_address(broker, departure.address)


@mutant(RouteTable.remove_entry, "An id that another address holds takes every address of the name.", V4)
def id_without_address_takes_the_name(original, self, broker, departure):
    if departure.id is not None and broker.addresses.get(departure.id) != departure.address:
        broker.addresses.clear()
    original(self, broker, departure)


@mutant(RouteTable.leave, "An unregistration removes its address from all broker names.")
def unregistration_takes_every_name(original, self, departures):
    for departure in departures:
        for broker in list(self.brokers.values()):
            self.remove_address(broker, departure.address)
            if not broker.addresses:
                self.forget_name(broker)
    original(self, departures)


@mutant(RouteTable.remove_entry, "An unregistration removes all addresses of its broker name.")
def unregistration_takes_the_whole_name(original, self, broker, departure):
    broker.addresses.clear()
    self.revision += 1


@mutant(RouteTable.forget_name, "A broker name whose last address has left stays listed.")
def name_outlives_its_addresses(original, self, broker):
    self.drop_topics_of(broker)


@mutant(RouteTable.leave_clusters, "A broker name that has left stays listed under its cluster.")
def cluster_keeps_departed_names(original, self, broker):
    return None


@mutant(RouteTable.drop_cluster, "A cluster stays listed when its last broker name has left.")
def empty_cluster_stays(original, self, cluster):
    return None


@mutant(RouteTable.leave_clusters, "The first cluster of all stays listed, with its broker names.")
def first_cluster_stays(original, self, broker):
    if broker.name not in self.clusters[next(iter(self.clusters))]:
        original(self, broker)


@mutant(RouteTable.leave_clusters, "A cluster disappears as soon as one of its broker names leaves.")
def cluster_leaves_with_first_name(original, self, broker):
    self.clusters.pop(broker.cluster, None)


@mutant(RouteTable.drop_topics_of, "The topics of a broker name that has left stay known.")
def topics_outlive_their_broker(original, self, broker):
    return None


@mutant(RouteTable.drop_queue, "A topic disappears as soon as one of its broker names leaves.")
def topic_leaves_with_first_broker(original, self, topic, name):
    self.drop_topic(topic)
    self.revision += 1


@mutant(RouteTable.reduced, "The topics of a broker name disappear when one of its addresses leaves.")
def topics_leave_with_any_address(original, self, broker):
    self.drop_topics_of(broker)


@mutant(RouteTable.reduced, "The topics of a broker name disappear when its master leaves.")
def topics_leave_with_master(original, self, broker):
    if MASTER not in broker.addresses:
        self.drop_topics_of(broker)


@mutant(RouteTable.forget_record, "The data version and the lease of a broker that has left are kept.")
def record_outlives_address(original, self, departure):
    return None


@mutant(RouteTable.forget_record, "The filter servers of a broker that has left are kept.")
def filter_servers_outlive_address(original, self, departure):
    self.live.pop(self.live_key(departure.cluster, departure.address), None)


@mutant(RouteTable.refuses, "An address that has unregistered cannot register again.")
def departed_address_is_barred(original, self, broker, registration):
    seen: set[str] = self.__dict__.setdefault("seen", set())
    known = self.live_key(registration.cluster, registration.address) in self.live
    if registration.address in seen and not known:
        return True
    seen.add(registration.address)
    return original(self, broker, registration)


@mutant(
    RouteTable.forget_record,
    "The connection of an unregistered broker counts as that of the others of its name.",
)
def departed_connection_owns_its_name(original, self, departure):
    record = self.live.get(self.live_key(departure.cluster, departure.address))
    original(self, departure)
    for name in departure.brokers:
        for address in self.brokers[name].addresses.values() if name in self.brokers else ():
            other = self.live.get(self.live_key(departure.cluster, address))
            if record is not None and other is not None:
                other.connection = record.connection


# -- write permission (5.x) ----------------------------------------------------------------------------------


def _take_write(table: RouteTable, broker: Broker) -> None:
    for topic, queue in table.queues_of(broker.name):
        table.set_permission(topic, broker.name, queue, queue.perm & ~WRITE)


@mutant(RouteTable.reduced, "The topics of a name stay writable when its master leaves.", V5)
def acting_master_keeps_write(original, self, broker):
    return None


@mutant(RouteTable.reduced, "Topics lose write permission with their master, acting or not.", V5)
def write_leaves_with_every_master(original, self, broker):
    if MASTER not in broker.addresses:
        _take_write(self, broker)


@mutant(RouteTable.reduced, "Topics lose write permission with id 0, whatever id below 0 remains.", V5)
def write_leaves_with_id_0(original, self, broker):
    if broker.acting_master and MASTER not in broker.addresses:
        _take_write(self, broker)


@mutant(RouteTable.reduced, "Topics lose write permission when a slave leaves.", V5)
def write_leaves_with_any_address(original, self, broker):
    if broker.acting_master:
        _take_write(self, broker)


@mutant(
    RouteTable.leave, "A broker name that vanishes leaves the cluster that the request names, and no other."
)
def name_leaves_the_named_cluster_only(original, self, departures):
    for departure in departures:
        before = {cluster: dict(names) for cluster, names in self.clusters.items()}
        original(self, [departure])
        if departure.connection is None:
            self.clusters.update({c: names for c, names in before.items() if c != departure.cluster})


@mutant(NameServer.unregister, "An unregistration without broker id succeeds and removes nothing.")
def departure_without_id_is_ignored(original, self, command, connection, now):
    if "brokerId" not in (command.ext or {}):
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(NameServer.unregister, "An unregistration without broker id also discards the next one.")
def departure_without_id_ends_the_batch(original, self, command, connection, now):
    if "brokerId" not in (command.ext or {}):
        self.__dict__["failed"] = True
        return Reply(ResponseCode.SUCCESS)
    if self.__dict__.pop("failed", False):
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


# -- the queue of the worker ---------------------------------------------------------------------------------


@mutant(RouteTable.depart, "An unregistration that finds the queue full succeeds without effect.", V5)
def unregistrations_of_a_full_queue_are_lost(original, self, departure):
    original(self, departure)
    return True


@after(RouteTable.depart, "An unregistration that finds the queue full is refused and still executed.", V5)
def refused_unregistrations_are_carried_out(taken, self, departure):
    if not taken:
        self.leaving.append(departure)


@mutant(NameServer.unregister, "After an unregistration without brokerId, no other has an effect.")
def bad_unregistration_stops_the_worker(original, self, command, connection, now):
    if fields.int64(command.ext, "brokerId") is None:
        self.__dict__["stopped"] = True
    if self.__dict__.get("stopped"):
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(NameServer.unregister, "An unregistration without brokerId removes the lease and leaves the address.")
def bad_unregistration_makes_a_ghost(original, self, command, connection, now):
    if fields.int64(command.ext, "brokerId") is None:
        cluster, address = fields.text(command.ext, "clusterName"), fields.text(command.ext, "brokerAddr")
        self.routes.live.pop(self.routes.live_key(cluster or "", address or ""), None)
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)
