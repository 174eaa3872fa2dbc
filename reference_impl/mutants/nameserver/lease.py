"""Faults of leases and lost connections: who leaves when, and who must stay."""

from harness.wire import ResponseCode
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.routes import DEFAULT_LEASE, RouteTable
from reference_impl.remoting import fields
from reference_impl.remoting.effects import Close, Effect
from reference_impl.remoting.reply import RefusedError, Reply

# -- the end of a connection ---------------------------------------------------------------------------------


@mutant(Endpoint.lost, "A broker stays when its peer closes the connection.")
def broker_outlives_its_connection(original, self, connection, now):
    return []


@mutant(Endpoint.close, "A connection closed by the server removes no broker.")
def server_side_close_keeps_brokers(original, self, connection):
    return [] if self.drop(connection) is None else [Close(connection)]


@mutant(RouteTable.forget_record, "The data version of a lost broker stays known.")
def lost_broker_keeps_its_record(original, self, departure):
    if departure.connection is None:
        original(self, departure)


@mutant(RouteTable.leave_clusters, "The cluster still lists a broker name that has left.")
def lost_broker_keeps_its_cluster(original, self, broker):
    return None


@mutant(RouteTable.drop_topics_of, "The topics of a lost broker stay listed.")
def lost_broker_keeps_its_topics(original, self, broker):
    return None


@mutant(
    RouteTable.owner,
    "The end of an earlier connection removes a broker; the end of its latest does not.",
)
def broker_belongs_to_its_first_connection(original, self, previous, connection):
    return connection if previous is None else previous.connection


@mutant(
    RouteTable.owner,
    "A broker belongs to the newest connection that it has registered over, however long ago.",
)
def broker_belongs_to_its_newest_connection(original, self, previous, connection):
    return connection if previous is None else max(previous.connection, connection)


@after(NameServer.query_data_version, "A data version query reassigns the broker to its connection.")
def query_moves_broker(reply, self, command, connection):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    if record is not None:
        record.connection = connection


@mutant(NameServer53.heartbeat, "A heartbeat reassigns the broker to its connection.")
def heartbeat_moves_broker(original, self, command, connection, now):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    if record is not None:
        record.connection = connection
    return Reply(ResponseCode.SUCCESS)


@mutant(
    RouteTable.departures_of_stranger,
    "The end of a connection without registrations removes the broker that registered last.",
)
def every_lost_connection_removes_a_broker(original, self, peer):
    return [self.departure_of(record) for record in list(self.live.values())[-1:]]


@mutant(
    RouteTable.departures_of_stranger,
    "The end of a client's connection removes a broker that is registered under the client's ip:port.",
    V5,
)
def peer_address_is_taken_for_broker_address(original, self, peer):
    return [self.departure_of(record) for record in self.live.values() if record.address == peer]


@mutant(
    RouteTable.departures_of_stranger,
    "The end of a client's connection removes no broker in 4.9, either.",
    V4,
    name="peer-address-is-no-broker-address-in-4.9",
)
def peer_address_is_no_broker_address(original, self, peer):
    return []


@mutant(RouteTable.lists, "The end of a broker's connection removes its address in every cluster.", V5)
def lost_broker_takes_its_address_everywhere(original, self, broker, record):
    return record.address in broker.addresses.values()


@mutant(RouteTable.remove_entry, "The end of one broker's connection removes its whole broker name.")
def lost_broker_takes_its_whole_name(original, self, broker, departure):
    original(self, broker, departure)
    if departure.id is None:
        broker.addresses.clear()


@mutant(
    RouteTable.leave, "Topics keep write permission where the connection or lease of an acting name ends.", V5
)
def write_permission_outlives_a_lost_master(original, self, departures):
    if any(departure.connection is not None for departure in departures):
        self.without_write = lambda permission: permission
    original(self, departures)
    vars(self).pop("without_write", None)


@mutant(RouteTable.remove_address, "The end of any connection of a name removes its lowest id.")
def lost_slave_takes_its_master(original, self, broker, address):
    if broker.addresses:
        self.remove_id(broker, min(broker.addresses))


@mutant(RouteTable.drop_topics_of, "A topic disappears with the first broker name that served it.")
def topic_ends_with_its_first_lost_broker(original, self, broker):
    for topic, _ in self.queues_of(broker.name):
        del self.topics[topic]
        self.revision += 1


@mutant(RouteTable.may_publish, "A broker that returns with its former data version publishes no topics.")
def departed_version_is_remembered(original, self, broker, registration):
    seen: dict[str, tuple[int, int]] = self.__dict__.setdefault("seen_versions", {})
    version = (registration.version.counter, registration.version.timestamp)
    fresh = self.live_key(registration.cluster, registration.address) not in self.live
    known = seen.get(registration.address) == version
    seen[registration.address] = version
    return original(self, broker, registration) and not (fresh and known)


@mutant(Endpoint.idle_limit, "A connection may be idle forever.")
def idle_connections_stay_open(original, self):
    return None


# -- the end of a lease --------------------------------------------------------------------------------------


@mutant(RouteTable.lease_ended, "A lease never expires.")
def leases_never_end(original, self, record, now):
    return False


@mutant(RouteTable.lease_ended, "A lease of 120 s expires after 119 s.")
def leases_end_at_119_s(original, self, record, now):
    return record.refreshed + record.lease - 1_000 < now


@mutant(RouteTable.lease_ended, "A lease expires after 300 s.")
def leases_end_at_300_s(original, self, record, now):
    return record.refreshed + 300_000 < now


@mutant(Endpoint.scan, "A broker whose lease expires only loses its connection.")
def expired_broker_keeps_its_topics(original, self, now):
    effects: list[Effect] = []
    for record in self.routes.expired(now):
        record.connection = -1
        effects += self.close_expired(record)
    return effects


@mutant(Endpoint.answer, "Every request on a connection refreshes the leases of the brokers that own it.")
def reads_refresh(original, self, connection, frame, now):
    for record in self.routes.records_of(connection):
        record.refreshed = now
    return original(self, connection, frame, now)


@mutant(Endpoint.close_expired, "The connection of a broker whose lease expires stays open.")
def expired_connection_stays_open(original, self, record):
    return []


@mutant(RouteTable.register, "A registration with the stored data version refreshes nothing.")
def registration_does_not_refresh(original, self, registration, connection, now):
    key = self.live_key(registration.cluster, registration.address)
    known = self.live.get(key)
    registered = original(self, registration, connection, now)
    if known is not None and self.same_version(known.version, registration.version):
        self.live[key].refreshed = known.refreshed
    return registered


@mutant(NameServer.query_refreshes, "A data version query does not refresh the lease.")
def query_does_not_refresh(original, self, changed):
    return False


@mutant(
    NameServer.query_refreshes, "A data version query refreshes the lease only if the version is equal.", V5
)
def different_version_does_not_refresh(original, self, changed):
    return not changed


@mutant(
    NameServer.query_refreshes,
    "A data version query refreshes the lease even if the version is different.",
    V4,
)
def different_version_refreshes(original, self, changed):
    return True


@mutant(Endpoint.scan, "The end of one lease removes the whole broker name.")
def expired_broker_takes_its_whole_name(original, self, now):
    effects: list[Effect] = []
    for record in self.routes.expired(now):
        for name in self.routes.departure_of(record).brokers:
            self.routes.brokers[name].addresses = {0: record.address}
        self.routes.depart(self.routes.departure_of(record))
        effects += self.close_expired(record)
    return effects


@after(RouteTable.expired, "When one lease expires, all brokers are removed.")
def one_end_ends_all_leases(ended, self):
    return list(self.live.values()) if ended else []


# -- timeouts that brokers choose, and heartbeats ------------------------------------------------------------


@mutant(RouteTable.lease_of, "Every lease lasts 120 s, whatever is registered.", V5)
def registered_timeout_is_ignored(original, self, registration):
    return DEFAULT_LEASE


@mutant(RouteTable.lease_of, "heartbeatTimeoutMillis is read as seconds.", V5)
def registered_timeout_is_in_seconds(original, self, registration):
    return DEFAULT_LEASE if registration.lease is None else registration.lease * 1000


@mutant(RouteTable.lease_of, "No lease lasts longer than 120 s.", V5)
def registered_timeout_cannot_be_longer(original, self, registration):
    return min(DEFAULT_LEASE, original(self, registration))


@mutant(RouteTable.lease_of, "heartbeatTimeoutMillis is cut to 32 bits.", V5)
def registered_timeout_has_32_bits(original, self, registration):
    return original(self, registration) % 2**32


@mutant(RouteTable.lease_of, "heartbeatTimeoutMillis replaces the 120 s of 4.9.", V4)
def registered_timeout_is_applied(original, self, registration):
    return DEFAULT_LEASE if registration.lease is None else registration.lease


@mutant(RouteTable.lease_of, "A registration without a timeout keeps the previous one.", V5)
def first_timeout_is_remembered(original, self, registration):
    known = self.live.get(self.live_key(registration.cluster, registration.address))
    if registration.lease is None and known is not None:
        return known.lease
    return original(self, registration)


@mutant(NameServer53.heartbeat, "A heartbeat does not refresh the lease.")
def heartbeat_does_not_refresh(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(NameServer53.heartbeat, "A heartbeat's heartbeatTimeoutMills replaces the lease.")
def heartbeat_sets_timeout(original, self, command, connection, now):
    cluster, address = self.queried_broker(command)
    record = self.routes.live.get(self.routes.live_key(cluster, address))
    timeout = fields.int64(command.ext, "heartbeatTimeoutMills")
    if record is not None and timeout is not None:
        record.lease = timeout
    self.routes.refresh(cluster, address, now)
    return Reply(ResponseCode.SUCCESS)


@after(RouteTable.expired, "A scan removes one of the brokers whose lease is over.", V5)
def scans_remove_one_broker(records):
    return records[:1]


@after(NameServer53.heartbeat, "A heartbeat sets the lease to 120 s, whatever the broker registered.")
def heartbeat_resets_timeout(reply, self, command):
    record = self.routes.live.get(self.routes.live_key(*self.queried_broker(command)))
    if record is not None:
        record.lease = 120_000


@mutant(NameServer53.heartbeat, "The heartbeat of an unknown broker is refused.")
def unknown_heartbeat_is_refused(original, self, command, connection, now):
    cluster, address = self.queried_broker(command)
    if self.routes.stored_version(cluster, address) is None:
        raise RefusedError("no such broker")
    self.routes.refresh(cluster, address, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(RouteTable.records_of, "The end of a connection removes only one of its brokers.")
def lost_connection_removes_one_broker(original, self, connection):
    return original(self, connection)[:1]


@mutant(
    RouteTable.lists, "A lost broker is removed only where its name was first registered with its cluster."
)
def lost_broker_is_sought_in_its_cluster(original, self, broker, record):
    return broker.cluster == record.cluster and original(self, broker, record)


@mutant(RouteTable.forget_record, "A broker that is lost leaves its filter servers behind.")
def filter_servers_outlive_lost_broker(original, self, departure):
    kept = dict(self.filters) if departure.connection is not None else {}
    original(self, departure)
    self.filters |= kept


@after(RouteTable.expired, "Only one broker is removed at a time.")
def one_lease_ends_at_a_time(found):
    return found[:1]
