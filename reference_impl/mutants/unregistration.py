"""Faults of unregistration (code 104): what is removed, what must stay, and when."""

from harness.wire import Command, ResponseCode
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, WRITE, RouteTable
from reference_impl.nameserver.state import Broker, Departure, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply


@mutant("unregistration-is-ignored", "An unregistration is answered with success and removes nothing.")
def unregistration_is_ignored(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", unregister)


@mutant("unregistration-is-late", "An unregistration takes effect with the next one only.", profiles=["4.9"])
def unregistration_is_late(parts: Parts) -> Parts:
    def depart(self: RouteTable, departure: Departure) -> bool:
        waiting: list[Departure] = self.__dict__.setdefault("waiting", [])
        self.leave(waiting)
        waiting[:] = [departure]
        return True

    return parts.override("routes", depart)


@mutant("unknown-broker-is-an-error", "The unregistration of an unknown broker name is refused.")
def unknown_broker_is_an_error(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if self.departure(command).brokers[0] not in self.routes.brokers:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker")
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant("unknown-address-is-an-error", "The unregistration of an unknown address is refused.")
def unknown_address_is_an_error(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        departure = self.departure(command)
        if self.routes.stored_version(departure.cluster, departure.address) is None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="no such address")
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant(
    "unregistration-needs-own-connection",
    "An unregistration counts only on the connection of the registration.",
)
def unregistration_needs_own_connection(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        departure = self.departure(command)
        record = self.routes.live.get(self.routes.live_key(departure.cluster, departure.address))
        if record is not None and record.connection != connection:
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant("one-way-unregistration-is-dropped", "An unregistration that wants no answer has no effect.")
def one_way_unregistration_is_dropped(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if command.is_oneway:
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant(
    "unregistration-needs-the-id",
    "An unregistration with another id than registered is ignored.",
    profiles=V5,
)
def unregistration_needs_the_id(parts: Parts) -> Parts:
    def remove_entry(self: RouteTable, broker: Broker, departure: Departure) -> None:
        if departure.id is None or broker.addresses.get(departure.id) == departure.address:
            self.remove_address(broker, departure.address)

    return parts.override("routes", remove_entry)


@mutant("unregistration-takes-every-name", "An unregistration removes its address from all broker names.")
def unregistration_takes_every_name(parts: Parts) -> Parts:
    def leave(self: RouteTable, departures: list[Departure]) -> None:
        for departure in departures:
            for broker in list(self.brokers.values()):
                self.remove_address(broker, departure.address)
                if not broker.addresses:
                    self.forget_name(broker)
        parts.routes.leave(self, departures)

    return parts.override("routes", leave)


@mutant("unregistration-takes-the-whole-name", "An unregistration removes all addresses of its broker name.")
def unregistration_takes_the_whole_name(parts: Parts) -> Parts:
    def remove_entry(self: RouteTable, broker: Broker, departure: Departure) -> None:
        broker.addresses.clear()
        self.revision += 1

    return parts.override("routes", remove_entry)


@mutant("name-outlives-its-addresses", "A broker name whose last address has left stays listed.")
def name_outlives_its_addresses(parts: Parts) -> Parts:
    def forget_name(self: RouteTable, broker: Broker) -> None:
        self.drop_topics_of(broker)

    return parts.override("routes", forget_name)


@mutant("cluster-keeps-departed-names", "A broker name that has left stays listed under its cluster.")
def cluster_keeps_departed_names(parts: Parts) -> Parts:
    def leave_clusters(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", leave_clusters)


@mutant("empty-cluster-stays", "A cluster stays listed when its last broker name has left.")
def empty_cluster_stays(parts: Parts) -> Parts:
    def drop_cluster(self: RouteTable, cluster: str) -> None:
        return None

    return parts.override("routes", drop_cluster)


@mutant("cluster-leaves-with-first-name", "A cluster vanishes as soon as one of its broker names has left.")
def cluster_leaves_with_first_name(parts: Parts) -> Parts:
    def leave_clusters(self: RouteTable, broker: Broker) -> None:
        self.clusters.pop(broker.cluster, None)

    return parts.override("routes", leave_clusters)


@mutant("topics-outlive-their-broker", "The topics of a broker name that has left stay known.")
def topics_outlive_their_broker(parts: Parts) -> Parts:
    def drop_topics_of(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", drop_topics_of)


@mutant("topic-leaves-with-first-broker", "A topic vanishes as soon as one of its broker names has left.")
def topic_leaves_with_first_broker(parts: Parts) -> Parts:
    def drop_queue(self: RouteTable, topic: str, name: str) -> None:
        self.drop_topic(topic)
        self.revision += 1

    return parts.override("routes", drop_queue)


@mutant(
    "topics-leave-with-any-address", "The topics of a broker name vanish when one of its addresses leaves."
)
def topics_leave_with_any_address(parts: Parts) -> Parts:
    def reduced(self: RouteTable, broker: Broker) -> None:
        self.drop_topics_of(broker)

    return parts.override("routes", reduced)


@mutant("topics-leave-with-master", "The topics of a broker name vanish when its master leaves.")
def topics_leave_with_master(parts: Parts) -> Parts:
    def reduced(self: RouteTable, broker: Broker) -> None:
        if MASTER not in broker.addresses:
            self.drop_topics_of(broker)

    return parts.override("routes", reduced)


@mutant("record-outlives-address", "The data version and the lease of a broker that has left are kept.")
def record_outlives_address(parts: Parts) -> Parts:
    def forget_record(self: RouteTable, departure: Departure) -> None:
        return None

    return parts.override("routes", forget_record)


@mutant("filter-servers-outlive-address", "The filter servers of a broker that has left are kept.")
def filter_servers_outlive_address(parts: Parts) -> Parts:
    def forget_record(self: RouteTable, departure: Departure) -> None:
        self.live.pop(self.live_key(departure.cluster, departure.address), None)

    return parts.override("routes", forget_record)


@mutant("departed-address-is-barred", "An address that has unregistered cannot register again.")
def departed_address_is_barred(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        seen: set[str] = self.__dict__.setdefault("seen", set())
        known = self.live_key(registration.cluster, registration.address) in self.live
        if registration.address in seen and not known:
            return True
        seen.add(registration.address)
        return parts.routes.refuses(self, broker, registration)

    return parts.override("routes", refuses)


@mutant(
    "departed-connection-owns-its-name",
    "The connection of a broker that has unregistered is taken for that of the others of its name.",
)
def departed_connection_owns_its_name(parts: Parts) -> Parts:
    def forget_record(self: RouteTable, departure: Departure) -> None:
        record = self.live.get(self.live_key(departure.cluster, departure.address))
        parts.routes.forget_record(self, departure)
        for name in departure.brokers:
            for address in self.brokers[name].addresses.values() if name in self.brokers else ():
                other = self.live.get(self.live_key(departure.cluster, address))
                if record is not None and other is not None:
                    other.connection = record.connection

    return parts.override("routes", forget_record)


# -- write permission (5.x) ----------------------------------------------------------------------------------


def _take_write(table: RouteTable, broker: Broker) -> None:
    for topic, queue in table.queues_of(broker.name):
        table.set_permission(topic, broker.name, queue, queue.perm & ~WRITE)


@mutant(
    "acting-master-keeps-write",
    "The topics of a name stay writable when its master leaves.",
    profiles=V5,
)
def acting_master_keeps_write(parts: Parts) -> Parts:
    def reduced(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", reduced)


@mutant(
    "write-leaves-with-every-master",
    "Topics lose write permission with their master, acting or not.",
    profiles=V5,
)
def write_leaves_with_every_master(parts: Parts) -> Parts:
    def reduced(self: RouteTable, broker: Broker) -> None:
        if MASTER not in broker.addresses:
            _take_write(self, broker)

    return parts.override("routes", reduced)


@mutant(
    "write-leaves-with-any-address",
    "Topics lose write permission when a slave leaves.",
    profiles=V5,
)
def write_leaves_with_any_address(parts: Parts) -> Parts:
    def reduced(self: RouteTable, broker: Broker) -> None:
        if broker.acting_master:
            _take_write(self, broker)

    return parts.override("routes", reduced)


@mutant(
    "name-leaves-the-named-cluster-only",
    "A broker name that vanishes leaves the cluster that the request names, and no other.",
)
def name_leaves_the_named_cluster_only(parts: Parts) -> Parts:
    def leave(self: RouteTable, departures: list[Departure]) -> None:
        for departure in departures:
            before = {cluster: dict(names) for cluster, names in self.clusters.items()}
            parts.routes.leave(self, [departure])
            if departure.connection is None:
                self.clusters.update({c: names for c, names in before.items() if c != departure.cluster})

    return parts.override("routes", leave)


@mutant(
    "departure-without-id-is-ignored",
    "An unregistration without broker id is answered with success and removes nothing.",
)
def departure_without_id_is_ignored(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if "brokerId" not in (command.ext or {}):
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant(
    "departure-without-id-ends-the-batch",
    "An unregistration without broker id takes the next one with it into nothing.",
)
def departure_without_id_ends_the_batch(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if "brokerId" not in (command.ext or {}):
            self.__dict__["failed"] = True
            return Reply(ResponseCode.SUCCESS)
        if self.__dict__.pop("failed", False):
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


# -- the queue of the worker ---------------------------------------------------------------------------------


@mutant("unregistrations-of-a-full-queue-are-lost", "What finds the queue full is answered as done.", V5)
def unregistrations_of_a_full_queue_are_lost(parts: Parts) -> Parts:
    def depart(self: RouteTable, departure: Departure) -> bool:
        parts.routes.depart(self, departure)
        return True

    return parts.override("routes", depart)


@mutant("refused-unregistrations-are-carried-out", "What finds the queue full is refused and still done.", V5)
def refused_unregistrations_are_carried_out(parts: Parts) -> Parts:
    def depart(self: RouteTable, departure: Departure) -> bool:
        taken = parts.routes.depart(self, departure)
        if not taken:
            self.leaving.append(departure)
        return taken

    return parts.override("routes", depart)


@mutant("bad-unregistration-stops-the-worker", "After one without brokerId no unregistration has an effect.")
def bad_unregistration_stops_the_worker(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.int64(command.ext, "brokerId") is None:
            self.__dict__["stopped"] = True
        if self.__dict__.get("stopped"):
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)


@mutant("bad-unregistration-makes-a-ghost", "One without brokerId takes the lease and leaves the address.")
def bad_unregistration_makes_a_ghost(parts: Parts) -> Parts:
    def unregister(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.int64(command.ext, "brokerId") is None:
            cluster, address = fields.text(command.ext, "clusterName"), fields.text(command.ext, "brokerAddr")
            self.routes.live.pop(self.routes.live_key(cluster or "", address or ""), None)
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.unregister(self, command, connection, now)

    return parts.override("nameserver", unregister)
