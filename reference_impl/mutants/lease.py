"""Faults of leases and lost connections: who leaves when, and who must stay."""

from harness.wire import Command, ResponseCode
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import DEFAULT_LEASE, RouteTable
from reference_impl.nameserver.state import Broker, Departure, LiveRecord, Registered, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.effects import Close, Effect
from reference_impl.remoting.reply import RefusedError, Reply

# -- the end of a connection ---------------------------------------------------------------------------------


@mutant("broker-outlives-its-connection", "A broker stays when its peer closes the connection.")
def broker_outlives_its_connection(parts: Parts) -> Parts:
    def lost(self: Endpoint, connection: int, now: int) -> list[Effect]:
        return []

    return parts.override("endpoint", lost)


@mutant(
    "server-side-close-keeps-brokers", "A connection that the server itself closes takes no broker with it."
)
def server_side_close_keeps_brokers(parts: Parts) -> Parts:
    def close(self: Endpoint, connection: int) -> list[Effect]:
        return [] if self.drop(connection) is None else [Close(connection)]

    return parts.override("endpoint", close)


@mutant("lost-broker-keeps-its-record", "The data version of a lost broker stays known.")
def lost_broker_keeps_its_record(parts: Parts) -> Parts:
    def forget_record(self: RouteTable, departure: Departure) -> None:
        if departure.connection is None:
            parts.routes.forget_record(self, departure)

    return parts.override("routes", forget_record)


@mutant("lost-broker-keeps-its-cluster", "The cluster goes on listing a broker name that has left.")
def lost_broker_keeps_its_cluster(parts: Parts) -> Parts:
    def leave_clusters(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", leave_clusters)


@mutant("lost-broker-keeps-its-topics", "The topics of a broker that was lost stay listed.")
def lost_broker_keeps_its_topics(parts: Parts) -> Parts:
    def drop_topics_of(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", drop_topics_of)


@mutant(
    "broker-belongs-to-its-first-connection",
    "The end of a former connection removes a fresh registration, and that of the latest does not.",
)
def broker_belongs_to_its_first_connection(parts: Parts) -> Parts:
    def owner(self: RouteTable, previous: LiveRecord | None, connection: int) -> int:
        return connection if previous is None else previous.connection

    return parts.override("routes", owner)


@mutant(
    "broker-belongs-to-its-newest-connection",
    "A broker belongs to the newest connection that it has registered over, however long ago.",
)
def broker_belongs_to_its_newest_connection(parts: Parts) -> Parts:
    def owner(self: RouteTable, previous: LiveRecord | None, connection: int) -> int:
        return connection if previous is None else max(previous.connection, connection)

    return parts.override("routes", owner)


@mutant("query-moves-broker", "A data version query makes the broker belong to its connection.")
def query_moves_broker(parts: Parts) -> Parts:
    def query_data_version(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.query_data_version(self, command, connection, now)
        record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
        if record is not None:
            record.connection = connection
        return reply

    return parts.override("nameserver", query_data_version)


@mutant(
    "heartbeat-moves-broker",
    "A heartbeat makes the broker belong to its connection.",
    profiles=V5,
)
def heartbeat_moves_broker(parts: Parts) -> Parts:
    def heartbeat(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
        if record is not None:
            record.connection = connection
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", heartbeat)


@mutant(
    "every-lost-connection-removes-a-broker",
    "The end of a connection on which nobody registered removes the broker that registered last.",
)
def every_lost_connection_removes_a_broker(parts: Parts) -> Parts:
    def departures_of_stranger(self: RouteTable, peer: str) -> list[Departure]:
        return [self.departure_of(record) for record in list(self.live.values())[-1:]]

    return parts.override("routes", departures_of_stranger)


@mutant(
    "peer-address-is-taken-for-broker-address",
    "The end of a client's connection removes a broker that is registered under the client's ip:port.",
    profiles=V5,
)
def peer_address_is_taken_for_broker_address(parts: Parts) -> Parts:
    def departures_of_stranger(self: RouteTable, peer: str) -> list[Departure]:
        return [self.departure_of(record) for record in self.live.values() if record.address == peer]

    return parts.override("routes", departures_of_stranger)


@mutant(
    "lost-broker-takes-its-whole-name", "The end of one broker's connection removes its whole broker name."
)
def lost_broker_takes_its_whole_name(parts: Parts) -> Parts:
    def remove_entry(self: RouteTable, broker: Broker, departure: Departure) -> None:
        parts.routes.remove_entry(self, broker, departure)
        if departure.id is None:
            broker.addresses.clear()

    return parts.override("routes", remove_entry)


@mutant("lost-slave-takes-its-master", "The end of any connection of a name removes its lowest id.")
def lost_slave_takes_its_master(parts: Parts) -> Parts:
    def remove_address(self: RouteTable, broker: Broker, address: str) -> None:
        if broker.addresses:
            self.remove_id(broker, min(broker.addresses))

    return parts.override("routes", remove_address)


@mutant("topic-ends-with-its-first-lost-broker", "A topic goes with the first broker name that served it.")
def topic_ends_with_its_first_lost_broker(parts: Parts) -> Parts:
    def drop_topics_of(self: RouteTable, broker: Broker) -> None:
        for topic, _ in self.queues_of(broker.name):
            del self.topics[topic]
            self.revision += 1

    return parts.override("routes", drop_topics_of)


@mutant(
    "departed-version-is-remembered",
    "A broker that comes back with the data version that it had publishes no topics.",
)
def departed_version_is_remembered(parts: Parts) -> Parts:
    def may_publish(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        seen: dict[str, tuple[int, int]] = self.__dict__.setdefault("seen_versions", {})
        version = (registration.version.counter, registration.version.timestamp)
        fresh = self.live_key(registration.cluster, registration.address) not in self.live
        known = seen.get(registration.address) == version
        seen[registration.address] = version
        return parts.routes.may_publish(self, broker, registration) and not (fresh and known)

    return parts.override("routes", may_publish)


@mutant("idle-connections-stay-open", "A connection may be idle for ever.")
def idle_connections_stay_open(parts: Parts) -> Parts:
    def idle_limit(self: Endpoint) -> int | None:
        return None

    return parts.override("endpoint", idle_limit)


# -- the end of a lease --------------------------------------------------------------------------------------


@mutant("leases-never-end", "A lease never runs out.")
def leases_never_end(parts: Parts) -> Parts:
    def lease_ended(self: RouteTable, record: LiveRecord, now: int) -> bool:
        return False

    return parts.override("routes", lease_ended)


@mutant("leases-end-at-119-s", "A lease of 120 s runs out after 119 s.")
def leases_end_at_119_s(parts: Parts) -> Parts:
    def lease_ended(self: RouteTable, record: LiveRecord, now: int) -> bool:
        return record.refreshed + record.lease - 1_000 < now

    return parts.override("routes", lease_ended)


@mutant("leases-end-at-300-s", "A lease runs out after 300 s.")
def leases_end_at_300_s(parts: Parts) -> Parts:
    def lease_ended(self: RouteTable, record: LiveRecord, now: int) -> bool:
        return record.refreshed + 300_000 < now

    return parts.override("routes", lease_ended)


@mutant("expired-broker-keeps-its-topics", "A broker whose lease has run out only loses its connection.")
def expired_broker_keeps_its_topics(parts: Parts) -> Parts:
    def scan(self: Endpoint, now: int) -> list[Effect]:
        effects: list[Effect] = []
        for record in self.routes.expired(now):
            record.connection = -1
            effects += self.close_expired(record)
        return effects

    return parts.override("endpoint", scan)


@mutant("reads-refresh", "Every request on a connection refreshes the leases of the brokers that own it.")
def reads_refresh(parts: Parts) -> Parts:
    def answer(self: Endpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        for record in self.routes.records_of(connection):
            record.refreshed = now
        return parts.endpoint.answer(self, connection, frame, now)

    return parts.override("endpoint", answer)


@mutant("expired-connection-stays-open", "The connection of a broker whose lease has run out stays open.")
def expired_connection_stays_open(parts: Parts) -> Parts:
    def close_expired(self: Endpoint, record: LiveRecord) -> list[Effect]:
        return []

    return parts.override("endpoint", close_expired)


@mutant(
    "registration-does-not-refresh", "A registration with the data version that is stored refreshes nothing."
)
def registration_does_not_refresh(parts: Parts) -> Parts:
    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        key = self.live_key(registration.cluster, registration.address)
        known = self.live.get(key)
        registered = parts.routes.register(self, registration, connection, now)
        if known is not None and self.same_version(known.version, registration.version):
            self.live[key].refreshed = known.refreshed
        return registered

    return parts.override("routes", register)


@mutant("query-does-not-refresh", "A data version query does not refresh the lease.")
def query_does_not_refresh(parts: Parts) -> Parts:
    def query_refreshes(self: NameServer, changed: bool) -> bool:
        return False

    return parts.override("nameserver", query_refreshes)


@mutant(
    "different-version-does-not-refresh",
    "A data version query refreshes the lease only if the version is equal.",
    profiles=V5,
)
def different_version_does_not_refresh(parts: Parts) -> Parts:
    def query_refreshes(self: NameServer, changed: bool) -> bool:
        return not changed

    return parts.override("nameserver", query_refreshes)


@mutant(
    "different-version-refreshes",
    "A data version query refreshes the lease even if the version is different.",
    profiles=["4.9"],
)
def different_version_refreshes(parts: Parts) -> Parts:
    def query_refreshes(self: NameServer, changed: bool) -> bool:
        return True

    return parts.override("nameserver", query_refreshes)


@mutant("expired-broker-takes-its-whole-name", "The end of one lease removes the whole broker name.")
def expired_broker_takes_its_whole_name(parts: Parts) -> Parts:
    def scan(self: Endpoint, now: int) -> list[Effect]:
        effects: list[Effect] = []
        for record in self.routes.expired(now):
            for name in self.routes.departure_of(record).brokers:
                self.routes.brokers[name].addresses = {0: record.address}
            self.routes.depart(self.routes.departure_of(record))
            effects += self.close_expired(record)
        return effects

    return parts.override("endpoint", scan)


@mutant("one-end-ends-all-leases", "When one lease runs out all brokers are removed.")
def one_end_ends_all_leases(parts: Parts) -> Parts:
    def expired(self: RouteTable, now: int) -> list[LiveRecord]:
        ended = parts.routes.expired(self, now)
        return list(self.live.values()) if ended else []

    return parts.override("routes", expired)


# -- timeouts that brokers choose, and heartbeats ------------------------------------------------------------


@mutant(
    "registered-timeout-is-ignored",
    "Every lease lasts 120 s, whatever is registered.",
    profiles=V5,
)
def registered_timeout_is_ignored(parts: Parts) -> Parts:
    def lease_of(self: RouteTable, registration: Registration) -> int:
        return DEFAULT_LEASE

    return parts.override("routes", lease_of)


@mutant("registered-timeout-is-in-seconds", "heartbeatTimeoutMillis is read as seconds.", profiles=V5)
def registered_timeout_is_in_seconds(parts: Parts) -> Parts:
    def lease_of(self: RouteTable, registration: Registration) -> int:
        return DEFAULT_LEASE if registration.lease is None else registration.lease * 1000

    return parts.override("routes", lease_of)


@mutant("registered-timeout-cannot-be-longer", "No lease lasts longer than 120 s.", profiles=V5)
def registered_timeout_cannot_be_longer(parts: Parts) -> Parts:
    def lease_of(self: RouteTable, registration: Registration) -> int:
        return min(DEFAULT_LEASE, parts.routes.lease_of(self, registration))

    return parts.override("routes", lease_of)


@mutant(
    "registered-timeout-is-applied", "heartbeatTimeoutMillis replaces the 120 s of 4.9.", profiles=["4.9"]
)
def registered_timeout_is_applied(parts: Parts) -> Parts:
    def lease_of(self: RouteTable, registration: Registration) -> int:
        return DEFAULT_LEASE if registration.lease is None else registration.lease

    return parts.override("routes", lease_of)


@mutant(
    "first-timeout-is-remembered",
    "A timeout once registered stays when it is left out.",
    profiles=V5,
)
def first_timeout_is_remembered(parts: Parts) -> Parts:
    def lease_of(self: RouteTable, registration: Registration) -> int:
        known = self.live.get(self.live_key(registration.cluster, registration.address))
        if registration.lease is None and known is not None:
            return known.lease
        return parts.routes.lease_of(self, registration)

    return parts.override("routes", lease_of)


@mutant("heartbeat-does-not-refresh", "A heartbeat does not refresh the lease.", profiles=V5)
def heartbeat_does_not_refresh(parts: Parts) -> Parts:
    def heartbeat(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", heartbeat)


@mutant(
    "heartbeat-sets-timeout",
    "A heartbeat's heartbeatTimeoutMills replaces the lease.",
    profiles=V5,
)
def heartbeat_sets_timeout(parts: Parts) -> Parts:
    def heartbeat(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        cluster, address = self.queried_broker(command)
        record = self.routes.live.get(self.routes.live_key(cluster, address))
        timeout = fields.int64(command.ext, "heartbeatTimeoutMills")
        if record is not None and timeout is not None:
            record.lease = timeout
        self.routes.refresh(cluster, address, now)
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", heartbeat)


@mutant("unknown-heartbeat-is-refused", "The heartbeat of an unknown broker is refused.", profiles=V5)
def unknown_heartbeat_is_refused(parts: Parts) -> Parts:
    def heartbeat(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        cluster, address = self.queried_broker(command)
        if self.routes.stored_version(cluster, address) is None:
            raise RefusedError("no such broker")
        self.routes.refresh(cluster, address, now)
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", heartbeat)


@mutant(
    "lost-connection-removes-one-broker",
    "A connection that ends takes one of its brokers with it, and leaves the others.",
)
def lost_connection_removes_one_broker(parts: Parts) -> Parts:
    def records_of(self: RouteTable, connection: int) -> list[LiveRecord]:
        return parts.routes.records_of(self, connection)[:1]

    return parts.override("routes", records_of)


@mutant(
    "lost-broker-is-sought-in-its-cluster",
    "A lost broker is removed only where its name was first registered with its cluster.",
)
def lost_broker_is_sought_in_its_cluster(parts: Parts) -> Parts:
    def lists(self: RouteTable, broker: Broker, record: LiveRecord) -> bool:
        return broker.cluster == record.cluster and parts.routes.lists(self, broker, record)

    return parts.override("routes", lists)


@mutant("filter-servers-outlive-lost-broker", "A broker that is lost leaves its filter servers behind.")
def filter_servers_outlive_lost_broker(parts: Parts) -> Parts:
    def forget_record(self: RouteTable, departure: Departure) -> None:
        kept = dict(self.filters) if departure.connection is not None else {}
        parts.routes.forget_record(self, departure)
        self.filters |= kept

    return parts.override("routes", forget_record)
