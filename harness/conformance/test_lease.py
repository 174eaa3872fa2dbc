"""Chapter lease: how long a broker stays that is not heard of, and what the end of its connection means.

Rules of these cases:

* A removal is awaited with `eventually`: 5.x queues it. Before something is said to have stayed, `settle`
  makes sure that nothing is left to be done.
* Time is told from answers (`since=`), never from the moment at which the case happens to look. Where
  something must still be there, the term is named (`advance_short_of`): a slow machine fails nobody.
* A lease that is to run out does so on a busy connection, else it is the idle close that removes the broker;
  the session sees to that.
* A case lets as few leases run out as it can, and changes nothing meanwhile: 4.9.8's scan may not survive
  that.
"""

from harness.conformance import ABSENT, Closed, Including, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import RawFrame, ResponseCode

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

LEASE = 120
"""Protocol seconds for which a broker stays that is not heard of, and an idle connection too."""

MIDWAY = 80
"""Protocol seconds into a lease."""

QUEUES = {"A": (4, 4, 6), "B": (8, 8, 4)}


def registered(ns: NameServerSession) -> Broker:
    """A broker that has registered with two topics."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    return broker


def begun(ns: NameServerSession) -> Broker:
    """A broker whose lease has begun, so that a lease which begins now outlasts it visibly."""
    broker = registered(ns)
    ns.advance(ns.overlap)
    return broker


def pair(ns: NameServerSession) -> tuple[Broker, Broker]:
    """A master with topics of its own numbers, and its slave, both registered."""
    master = ns.broker(topics=QUEUES)
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    return master, slave


def two_names(ns: NameServerSession) -> tuple[Broker, Broker]:
    """Two masters of different names that serve the same topics."""
    one, other = ns.broker(), ns.broker()
    one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    return one, other


def goes(ns: NameServerSession, broker: Broker) -> None:
    """Soon the broker's topics are not routed."""
    ns.route(broker.topic("A")).eventually() >> Reply(TOPIC_NOT_EXIST)


def stays(ns: NameServerSession, broker: Broker) -> None:
    """When everything that was begun is done, the broker is routed as it registered."""
    ns.settle()
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {broker.id: broker.address}})


def only(ns: NameServerSession, master: Broker, left: Broker) -> None:
    """`left` is all that is listed of the name; the master's topics are as it registered them."""
    ns.route(master.topic("A")).addresses >> Reply(SUCCESS, {master.name: {left.id: left.address}})
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (4, 4, 6, 0)})
    ns.route(master.topic("B")).queues >> Reply(SUCCESS, {master.name: (8, 8, 4, 0)})


def nothing_is_left(ns: NameServerSession, broker: Broker) -> None:
    """Neither topics nor name, cluster and data version of the broker are known."""
    ns.topics().among(broker.topics).eventually() >> Reply(SUCCESS, [])
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)
    ns.cluster().names(broker.cluster).eventually() >> Reply(SUCCESS, None)
    asked = broker.query_version(on=ns.connection)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, ABSENT)


# --- the end of a connection --------------------------------------------------------------------------------


@case("ns.lease.closed-connection-removes-broker", kills=["broker-outlives-its-connection"])
def test_closed_connection_removes_broker(ns: NameServerSession) -> None:
    """A broker goes when it closes its connection."""
    broker = registered(ns)
    broker.connection.close()
    goes(ns, broker)


@case("ns.lease.reset-connection-removes-broker", kills=["broker-outlives-its-connection"])
def test_reset_connection_removes_broker(ns: NameServerSession) -> None:
    """A broker goes when it aborts its connection."""
    broker = registered(ns)
    broker.connection.reset()
    goes(ns, broker)


@case("ns.lease.half-closed-connection-removes-broker", kills=["half-close-is-ignored"])
def test_half_closed_connection_removes_broker(ns: NameServerSession) -> None:
    """A broker goes when it ends its sending direction, although it goes on reading."""
    broker = registered(ns)
    broker.connection.half_close()
    goes(ns, broker)


@case("ns.lease.malformed-frame-removes-broker", kills=["server-side-close-keeps-brokers"])
def test_malformed_frame_removes_broker(ns: NameServerSession) -> None:
    """A broker goes with the connection that the server closes because of a malformed frame."""
    broker = registered(ns)
    broker.connection.send_raw(RawFrame(b"", length=1).encode()) >> Closed()
    goes(ns, broker)


@case(
    "ns.lease.lost-broker-leaves-nothing",
    kills=["lost-broker-keeps-its-record", "lost-broker-keeps-its-cluster", "lost-broker-keeps-its-topics"],
)
def test_lost_broker_leaves_nothing(ns: NameServerSession) -> None:
    """A broker that is lost takes its topics, its name, its cluster and its data version with it."""
    broker = registered(ns)
    broker.connection.close()
    nothing_is_left(ns, broker)


@case("ns.lease.older-connection-does-not-count", kills=["broker-belongs-to-its-first-connection"])
def test_older_connection_does_not_count(ns: NameServerSession) -> None:
    """The late close of a former connection does not remove a broker that has registered over a new one."""
    broker = registered(ns)
    former = broker.connection
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    former.close()
    stays(ns, broker)


@case("ns.lease.latest-connection-counts", kills=["broker-belongs-to-its-first-connection"])
def test_latest_connection_counts(ns: NameServerSession) -> None:
    """The close of the latest connection removes a broker although a former one is open."""
    broker = registered(ns)
    former = broker.connection
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    broker.connection.close()
    goes(ns, broker)
    ns.route(broker.topic("B"), on=former) >> Reply(TOPIC_NOT_EXIST)


@case("ns.lease.connection-is-taken-back", kills=["broker-belongs-to-its-newest-connection"])
def test_connection_is_taken_back(ns: NameServerSession) -> None:
    """A broker that returns to an earlier connection no longer depends on the later one."""
    broker = registered(ns)
    later = ns.connect()
    broker.register(on=later) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    later.close()
    stays(ns, broker)


@case("ns.lease.query-does-not-move-broker", kills=["query-moves-broker"])
def test_query_does_not_move_broker(ns: NameServerSession) -> None:
    """A broker does not depend on a connection over which only its data version was queried."""
    broker = registered(ns)
    other = ns.connect()
    broker.query_version(on=other).changed >> Reply(SUCCESS, False)
    other.close()
    stays(ns, broker)


@case("ns.lease.heartbeat-does-not-move-broker", kills=["heartbeat-moves-broker"])
def test_heartbeat_does_not_move_broker(ns: NameServerSession) -> None:
    """A broker does not depend on a connection over which only its heartbeat came."""
    broker = registered(ns)
    other = ns.connect()
    broker.heartbeat(on=other) >> Reply(SUCCESS)
    other.close()
    stays(ns, broker)


@case("ns.lease.unrelated-connection-removes-nothing", kills=["every-lost-connection-removes-a-broker"])
def test_unrelated_connection_removes_nothing(ns: NameServerSession) -> None:
    """A client that comes, asks and goes takes no broker with it."""
    broker, unknown = registered(ns), ns.broker()
    client = ns.connect()
    ns.route(broker.topic("A"), on=client) >> Reply(SUCCESS)
    unknown.query_version(on=client) >> Reply(SUCCESS)
    unknown.unregister(on=client) >> Reply(SUCCESS)
    client.close()
    stays(ns, broker)


@case("ns.lease.peer-address-is-no-broker-address", kills=["peer-address-is-taken-for-broker-address"])
def test_peer_address_is_no_broker_address(ns: NameServerSession) -> None:
    """A client that goes does not take the broker that is registered under the client's own ip:port."""
    client = ns.connect()
    ns.route(ns.topic("A"), on=client) >> Reply(TOPIC_NOT_EXIST)
    broker = ns.broker(address=client.peer)
    broker.register() >> Reply(SUCCESS)
    client.close()
    stays(ns, broker)


@case("ns.lease.lost-master-leaves-slaves", kills=["lost-broker-takes-its-whole-name"])
def test_lost_master_leaves_slaves(ns: NameServerSession) -> None:
    """A master that is lost leaves its slave and its topics."""
    master, slave = pair(ns)
    master.connection.close()
    ns.settle()
    only(ns, master, slave)


@case(
    "ns.lease.lost-slave-leaves-master",
    kills=["lost-broker-takes-its-whole-name", "lost-slave-takes-its-master"],
)
def test_lost_slave_leaves_master(ns: NameServerSession) -> None:
    """A slave that is lost leaves its master."""
    master, slave = pair(ns)
    slave.connection.close()
    ns.settle()
    only(ns, master, master)


@case("ns.lease.lost-broker-leaves-others", kills=["topic-ends-with-its-first-lost-broker"])
def test_lost_broker_leaves_others(ns: NameServerSession) -> None:
    """A broker that is lost leaves its topics with the others that serve them."""
    one, other = two_names(ns)
    one.connection.close()
    ns.route(one.topic("A")).queues.eventually() >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    ns.route(one.topic("A")).addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


@case("ns.lease.shared-connection-removes-every-broker", kills=["lost-connection-removes-one-broker"])
def test_shared_connection_removes_every_broker(ns: NameServerSession) -> None:
    """Three brokers of one connection go together with it."""
    shared = ns.connect()
    brokers = [ns.broker(on=shared) for _ in range(3)]
    since = [broker.register() >> Reply(SUCCESS) for broker in brokers]
    shared.close()
    ns.while_lasts(LEASE, since[0])
    for broker in brokers:
        ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case("ns.lease.lost-broker-of-other-cluster-is-removed", kills=["lost-broker-is-sought-in-its-cluster"])
def test_lost_broker_of_other_cluster_is_removed(ns: NameServerSession) -> None:
    """A slave goes with its connection, although it named another cluster than its master."""
    master = ns.broker()
    slave = master.sibling()
    since = master.register() >> Reply(SUCCESS)
    slave.register(cluster=ns.name("other")) >> Reply(SUCCESS)
    slave.connection.close()
    ns.while_lasts(LEASE, since)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {0: master.address})


@case("ns.lease.lost-broker-comes-back", kills=["departed-version-is-remembered"])
def test_lost_broker_comes_back(ns: NameServerSession) -> None:
    """A broker that was lost is served again when it registers as before."""
    broker = registered(ns)
    broker.connection.close()
    goes(ns, broker)
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    stays(ns, broker)
    ns.route(broker.topic("B")) >> Reply(SUCCESS)


@case("ns.lease.lost-broker-takes-filter-servers", kills=["filter-servers-outlive-lost-broker"])
def test_lost_broker_takes_filter_servers(ns: NameServerSession) -> None:
    """A broker that was lost finds none of its filter servers when it comes back."""
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.connection.close()
    goes(ns, broker)
    broker.reconnect()
    broker.register(filters=None) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).filters >> Reply(SUCCESS, {})


@case(
    "ns.lease.idle-connection-removes-broker",
    kills=["idle-connections-stay-open", "server-side-close-keeps-brokers"],
    clock=True,
)
def test_idle_connection_removes_broker(ns: NameServerSession) -> None:
    """A broker goes with its idle connection, although its lease was renewed over another."""
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since, idle=(broker.connection,))
    broker.query_version(on=ns.connection).changed >> Reply(SUCCESS, False)
    ns.advance_past(LEASE, since, idle=(broker.connection,))
    broker.connection.closes() >> Closed()
    goes(ns, broker)


# --- the end of a lease -------------------------------------------------------------------------------------


@case(
    "ns.lease.expired-broker-is-removed",
    "ns.lease.expired-broker-leaves-nothing",
    kills=["leases-never-end", "leases-end-at-300-s", "expired-broker-keeps-its-topics"],
    ends_leases=True,
)
def test_expired_broker_is_removed(ns: NameServerSession) -> None:
    """A broker that is not refreshed is removed with all that it had, although its connection is busy."""
    broker = registered(ns)
    ns.advance_past(LEASE)
    goes(ns, broker)
    nothing_is_left(ns, broker)


@case("ns.lease.reads-do-not-refresh", kills=["reads-refresh"], ends_leases=True)
def test_reads_do_not_refresh(ns: NameServerSession) -> None:
    """Whatever a broker reads over its connection, its lease runs out."""
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since)
    ns.route(broker.topic("A"), on=broker.connection) >> Reply(SUCCESS)
    ns.cluster(on=broker.connection) >> Reply(SUCCESS)
    ns.topics(on=broker.connection) >> Reply(SUCCESS)
    ns.get_kv(broker.name, "key", on=broker.connection) >> Reply(ResponseCode.QUERY_NOT_FOUND)
    ns.advance_past(LEASE, since)
    goes(ns, broker)


@case(
    "ns.lease.expired-connection-is-closed",
    "ns.lease.expired-broker-comes-back",
    kills=["expired-connection-stays-open", "departed-version-is-remembered"],
    ends_leases=True,
)
def test_expired_connection_is_closed(ns: NameServerSession) -> None:
    """With its lease a broker loses its connection; over a new one it is served again."""
    broker = registered(ns)
    ns.advance_past(LEASE)
    broker.connection.closes() >> Closed()
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    stays(ns, broker)
    ns.route(broker.topic("B")) >> Reply(SUCCESS)


@case("ns.lease.lease-lasts-its-time", kills=["leases-end-at-119-s"], clock=True)
def test_lease_lasts_its_time(ns: NameServerSession) -> None:
    """At no place between two scans does a lease end before its time."""
    brokers = [ns.broker() for _ in range(int(ns.scan_interval))]
    answers = []
    for broker in brokers:
        answers.append(broker.register() >> Reply(SUCCESS))
        ns.advance(1)
    for broker, since in zip(brokers, answers, strict=True):
        ns.advance_short_of(LEASE, since)
        ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, Including({broker.name: {0: broker.address}}))
        broker.register() >> Reply(SUCCESS)


@case("ns.lease.registration-refreshes", kills=["registration-does-not-refresh"], clock=True)
def test_registration_refreshes(ns: NameServerSession) -> None:
    """A broker that registers again with an equal data version has a whole lease before it."""
    broker = begun(ns)
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.new-connection-has-a-new-lease", kills=["registration-does-not-refresh"], clock=True)
def test_new_connection_has_a_new_lease(ns: NameServerSession) -> None:
    """The lease of a former connection does not end that of a broker which has registered over a new one."""
    broker = begun(ns)
    broker.reconnect()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.equal-version-query-refreshes", kills=["query-does-not-refresh"], clock=True)
def test_equal_version_query_refreshes(ns: NameServerSession) -> None:
    """A broker that asks about the version that it registered has a whole lease before it."""
    broker = begun(ns)
    since = broker.query_version().changed >> Reply(SUCCESS, False)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.different-version-query-refreshes", kills=["different-version-does-not-refresh"], clock=True)
def test_different_version_query_refreshes(ns: NameServerSession) -> None:
    """A broker that asks about a version that it has not registered yet has a whole lease before it."""
    broker = begun(ns)
    since = broker.query_version(broker.newer()).changed >> Reply(SUCCESS, True)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case(
    "ns.lease.different-version-query-does-not-refresh",
    kills=["different-version-refreshes"],
    ends_leases=True,
)
def test_different_version_query_does_not_refresh(ns: NameServerSession) -> None:
    """A broker that asks about another version and then does not register is removed in its time."""
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since)
    broker.query_version(broker.newer()).changed >> Reply(SUCCESS, True)
    ns.advance_past(LEASE, since)
    goes(ns, broker)


@case("ns.lease.slave-lease-ends-alone", kills=["expired-broker-takes-its-whole-name"], ends_leases=True)
def test_slave_lease_ends_alone(ns: NameServerSession) -> None:
    """A slave whose lease runs out leaves its master."""
    master, _ = pair(ns)
    ns.advance(ns.overlap)
    since = master.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    only(ns, master, master)


@case("ns.lease.master-lease-ends-alone", kills=["expired-broker-takes-its-whole-name"], ends_leases=True)
def test_master_lease_ends_alone(ns: NameServerSession) -> None:
    """A master whose lease runs out leaves its slave and its topics."""
    master, slave = pair(ns)
    ns.advance(ns.overlap)
    since = slave.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    only(ns, master, slave)


@case("ns.lease.lease-of-others-goes-on", kills=["one-end-ends-all-leases"], ends_leases=True)
def test_lease_of_others_goes_on(ns: NameServerSession) -> None:
    """A broker whose lease runs out leaves its topics with the others that serve them."""
    one, other = two_names(ns)
    ns.advance(ns.overlap)
    since = other.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    ns.route(one.topic("A")).addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


# --- timeouts that brokers choose, and heartbeats -----------------------------------------------------------


@case(
    "ns.lease.registered-timeout-shortens",
    kills=["registered-timeout-is-ignored", "registered-timeout-is-in-seconds"],
    ends_leases=True,
)
def test_registered_timeout_shortens(ns: NameServerSession) -> None:
    """A broker that asks for 60 s stays for 60 s and goes after them."""
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": 60_000}) >> Reply(SUCCESS)
    ns.advance_short_of(60, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.advance_past(60, since)
    goes(ns, broker)


@case(
    "ns.lease.registered-timeout-lengthens", kills=["registered-timeout-cannot-be-longer"], ends_leases=True
)
def test_registered_timeout_lengthens(ns: NameServerSession) -> None:
    """A broker that asks for more than 120 s stays for so long, and goes afterwards."""
    asked = LEASE + ns.overlap
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": int(asked * 1000)}) >> Reply(SUCCESS)
    ns.advance_short_of(asked, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.advance_past(asked, since)
    goes(ns, broker)


@case("ns.lease.registered-timeout-is-not-known", kills=["registered-timeout-is-applied"], clock=True)
def test_registered_timeout_is_not_known(ns: NameServerSession) -> None:
    """A broker that asks a 4.9 server for 30 s stays longer."""
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": 30_000}) >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.latest-registration-sets-timeout", kills=["first-timeout-is-remembered"], clock=True)
def test_latest_registration_sets_timeout(ns: NameServerSession) -> None:
    """A broker that no longer asks for 30 s stays longer."""
    broker = ns.broker()
    broker.register(ext={"heartbeatTimeoutMillis": 30_000}) >> Reply(SUCCESS)
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.heartbeat-refreshes", kills=["heartbeat-does-not-refresh"], clock=True)
def test_heartbeat_refreshes(ns: NameServerSession) -> None:
    """A broker whose heartbeat has come, over whatever connection, has a whole lease before it."""
    broker = begun(ns)
    since = broker.heartbeat(on=ns.connection) >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.heartbeat-keeps-timeout", kills=["heartbeat-sets-timeout"], clock=True)
def test_heartbeat_keeps_timeout(ns: NameServerSession) -> None:
    """A timeout in a heartbeat does not shorten the lease that was registered."""
    broker = registered(ns)
    since = broker.heartbeat(ext={"heartbeatTimeoutMills": 30_000}) >> Reply(SUCCESS)
    ns.advance_short_of(LEASE, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case("ns.lease.heartbeat-creates-nothing", kills=["heartbeat-registers", "unknown-heartbeat-is-refused"])
def test_heartbeat_creates_nothing(ns: NameServerSession) -> None:
    """The heartbeat of an unknown broker is answered and leaves no trace."""
    broker = ns.broker()
    broker.heartbeat() >> Reply(SUCCESS)
    ns.settle()
    nothing_is_left(ns, broker)
