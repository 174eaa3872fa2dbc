"""Chapter lease: when a silent broker is removed, and what the end of its connection means.

* `eventually` waits for a removal: 5.x queues it. Before a case judges that something stayed, `settle` waits
  until the server has nothing left to do.
* Time counts from answers (`since=`), never from the moment at which the case looks. Where something must
  still be there, the case names the term (`advance_short_of`), so that a slow machine causes no failure.
* A lease runs out on a busy connection, or else the idle close would remove the broker; the session keeps
  connections busy.
* A case lets as few leases run out as possible, and changes nothing meanwhile: 4.9.8's scan may not survive
  that.
"""

from harness.conformance import ABSENT, Closed, Including, Reply, case
from harness.conformance.nameserver.brokers import listed, registered, routed
from harness.session import Broker, NameServerSession
from harness.wire import RawFrame, ResponseCode

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

MIDWAY = 80
"""Protocol seconds into a lease."""

QUEUES = {"A": (4, 4, 6), "B": (8, 8, 4)}


def begun(ns: NameServerSession) -> Broker:
    """A broker whose lease began earlier, so that a lease which begins now visibly outlasts it."""
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
    """Once the server has settled, the broker is routed as it registered."""
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


@case(kills=["broker-outlives-its-connection"])
def test_closed_connection_removes_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.close()
    goes(ns, broker)


@case(kills=["broker-outlives-its-connection"])
def test_reset_connection_removes_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.reset()
    goes(ns, broker)


@case(kills=["half-close-is-ignored"])
def test_half_closed_connection_removes_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.half_close()
    goes(ns, broker)


@case(kills=["server-side-close-keeps-brokers"])
def test_malformed_frame_removes_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.send_raw(RawFrame(b"", length=1).encode()) >> Closed()
    goes(ns, broker)


@case(kills=["lost-broker-keeps-its-record", "lost-broker-keeps-its-cluster", "lost-broker-keeps-its-topics"])
def test_lost_broker_leaves_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.close()
    nothing_is_left(ns, broker)


@case(kills=["broker-belongs-to-its-first-connection"])
def test_older_connection_does_not_count(ns: NameServerSession) -> None:
    broker = registered(ns)
    former = broker.connection
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    former.close()
    stays(ns, broker)


@case(kills=["broker-belongs-to-its-first-connection"])
def test_latest_connection_counts(ns: NameServerSession) -> None:
    broker = registered(ns)
    former = broker.connection
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    broker.connection.close()
    goes(ns, broker)
    ns.route(broker.topic("B"), on=former) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["broker-belongs-to-its-newest-connection"])
def test_connection_is_taken_back(ns: NameServerSession) -> None:
    broker = registered(ns)
    later = ns.connect()
    broker.register(on=later) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    later.close()
    stays(ns, broker)


@case(kills=["query-moves-broker"])
def test_query_does_not_move_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    other = ns.connect()
    broker.query_version(on=other).changed >> Reply(SUCCESS, False)
    other.close()
    stays(ns, broker)


@case(kills=["heartbeat-moves-broker"])
def test_heartbeat_does_not_move_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    other = ns.connect()
    broker.heartbeat(on=other) >> Reply(SUCCESS)
    other.close()
    stays(ns, broker)


@case(kills=["every-lost-connection-removes-a-broker"])
def test_unrelated_connection_removes_nothing(ns: NameServerSession) -> None:
    broker, unknown = registered(ns), ns.broker()
    client = ns.connect()
    ns.route(broker.topic("A"), on=client) >> Reply(SUCCESS)
    unknown.query_version(on=client) >> Reply(SUCCESS)
    unknown.unregister(on=client) >> Reply(SUCCESS)
    client.close()
    stays(ns, broker)


@case(kills=["peer-address-is-taken-for-broker-address"])
def test_peer_address_is_no_broker_address(ns: NameServerSession) -> None:
    client = ns.connect()
    ns.route(ns.topic("A"), on=client) >> Reply(TOPIC_NOT_EXIST)
    broker = ns.broker(address=client.peer)
    broker.register() >> Reply(SUCCESS)
    client.close()
    stays(ns, broker)


@case(kills=["lost-broker-takes-its-address-everywhere"])
def test_address_in_another_cluster_stays(ns: NameServerSession) -> None:
    lost = ns.broker(cluster=ns.name("cluster-1"))
    other = ns.broker(address=lost.address, cluster=ns.name("cluster-2"))
    beside = ns.broker(cluster=lost.cluster)
    for broker in (lost, other, beside):
        broker.register() >> Reply(SUCCESS)
    lost.connection.close()
    ns.cluster().addresses(lost.name).eventually() >> Reply(SUCCESS, None)
    for broker in (other, beside):
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    other.unregister() >> Reply(SUCCESS)


@case(kills=["peer-address-is-no-broker-address-in-4.9"])
def test_peer_address_is_a_broker_address(ns: NameServerSession) -> None:
    client = ns.connect()
    ns.route(ns.topic("A"), on=client) >> Reply(TOPIC_NOT_EXIST)
    broker, other = ns.broker(address=client.peer), ns.broker()
    broker.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    client.close()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)
    stays(ns, other)


@case(kills=["lost-broker-takes-its-whole-name"])
def test_lost_master_leaves_slaves(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    master.connection.close()
    ns.settle()
    only(ns, master, slave)


@case(kills=["lost-broker-takes-its-whole-name", "lost-slave-takes-its-master"])
def test_lost_slave_leaves_master(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    slave.connection.close()
    ns.settle()
    only(ns, master, master)


@case(kills=["topic-ends-with-its-first-lost-broker"])
def test_lost_broker_leaves_others(ns: NameServerSession) -> None:
    one, other = two_names(ns)
    one.connection.close()
    ns.route(one.topic("A")).queues.eventually() >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    ns.route(one.topic("A")).addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


@case(kills=["lost-connection-removes-one-broker"])
def test_shared_connection_removes_every_broker(ns: NameServerSession) -> None:
    shared = ns.connect()
    brokers = [ns.broker(on=shared) for _ in range(3)]
    since = [broker.register() >> Reply(SUCCESS) for broker in brokers]
    listed(ns, *brokers)
    shared.close()
    ns.while_lasts(ns.lease, since[0])
    for broker in brokers:
        ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["lost-broker-is-sought-in-its-cluster"])
def test_lost_broker_of_other_cluster_is_removed(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    since = master.register() >> Reply(SUCCESS)
    slave.register(cluster=ns.name("other")) >> Reply(SUCCESS)
    slave.connection.close()
    ns.while_lasts(ns.lease, since)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {0: master.address})


@case(kills=["departed-version-is-remembered"])
def test_lost_broker_comes_back(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.connection.close()
    goes(ns, broker)
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    stays(ns, broker)
    ns.route(broker.topic("B")) >> Reply(SUCCESS)


@case(kills=["filter-servers-outlive-lost-broker"])
def test_lost_broker_takes_filter_servers(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.connection.close()
    goes(ns, broker)
    broker.reconnect()
    broker.register(filters=None) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).filters >> Reply(SUCCESS, {})


@case(kills=["idle-connections-stay-open", "server-side-close-keeps-brokers"], clock=True)
def test_idle_connection_removes_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since, idle=(broker.connection,))
    broker.query_version(on=ns.connection).changed >> Reply(SUCCESS, False)
    ns.advance_past(ns.lease, since, idle=(broker.connection,))
    broker.connection.closes() >> Closed()
    goes(ns, broker)


# --- the end of a lease -------------------------------------------------------------------------------------


@case(
    "ns.lease.expired-broker-is-removed",
    "ns.lease.expired-broker-leaves-nothing",
    kills=[
        "leases-never-end",
        "leases-end-at-300-s",
        "expired-broker-keeps-its-topics",
        "one-lease-ends-at-a-time",
    ],
    ends_leases=True,
)
def test_expired_broker_is_removed(ns: NameServerSession) -> None:
    """Brokers that are not refreshed are removed with all their data, even if their connections are busy."""
    brokers = [registered(ns) for _ in range(3)]
    ns.advance_past(ns.lease)
    for broker in brokers:
        goes(ns, broker)
        nothing_is_left(ns, broker)


@case(kills=["reads-refresh"], ends_leases=True)
def test_reads_do_not_refresh(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since)
    ns.route(broker.topic("A"), on=broker.connection) >> Reply(SUCCESS)
    ns.cluster(on=broker.connection) >> Reply(SUCCESS)
    ns.topics(on=broker.connection) >> Reply(SUCCESS)
    ns.get_kv(broker.name, "key", on=broker.connection) >> Reply(ResponseCode.QUERY_NOT_FOUND)
    ns.advance_past(ns.lease, since)
    goes(ns, broker)


@case(kills=["expired-connection-stays-open"], ends_leases=True)
def test_expired_connection_is_closed(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.advance_past(ns.lease)
    broker.connection.closes() >> Closed()


@case(kills=["departed-version-is-remembered"], ends_leases=True)
def test_expired_broker_comes_back(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.advance_past(ns.lease)
    goes(ns, broker)
    broker.reconnect()
    broker.register() >> Reply(SUCCESS)
    stays(ns, broker)
    ns.route(broker.topic("B")) >> Reply(SUCCESS)


@case(kills=["leases-end-at-119-s"], clock=True)
def test_lease_lasts_its_time(ns: NameServerSession) -> None:
    brokers = [ns.broker() for _ in range(int(ns.scan_interval))]
    answers = []
    for broker in brokers:
        answers.append(broker.register() >> Reply(SUCCESS))
        ns.advance(1)
    for broker, since in zip(brokers, answers, strict=True):
        ns.advance_short_of(ns.lease, since)
        ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, Including({broker.name: {0: broker.address}}))
        broker.register() >> Reply(SUCCESS)


@case(kills=["registration-does-not-refresh"], clock=True)
def test_registration_refreshes(ns: NameServerSession) -> None:
    broker = begun(ns)
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["registration-does-not-refresh"], clock=True)
def test_new_connection_has_a_new_lease(ns: NameServerSession) -> None:
    broker = begun(ns)
    broker.reconnect()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["query-does-not-refresh"], clock=True)
def test_equal_version_query_refreshes(ns: NameServerSession) -> None:
    broker = begun(ns)
    since = broker.query_version().changed >> Reply(SUCCESS, False)
    ns.advance_short_of(ns.lease, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)


@case(kills=["different-version-does-not-refresh"], clock=True)
def test_different_version_query_refreshes(ns: NameServerSession) -> None:
    broker = begun(ns)
    since = broker.query_version(broker.newer()).changed >> Reply(SUCCESS, True)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["different-version-refreshes"], ends_leases=True)
def test_different_version_query_does_not_refresh(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(MIDWAY, since)
    broker.query_version(broker.newer()).changed >> Reply(SUCCESS, True)
    ns.advance_past(ns.lease, since)
    goes(ns, broker)


@case(kills=["expired-broker-takes-its-whole-name"], ends_leases=True)
def test_slave_lease_ends_alone(ns: NameServerSession) -> None:
    master, _ = pair(ns)
    ns.advance(ns.overlap)
    since = master.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    only(ns, master, master)


@case(kills=["expired-broker-takes-its-whole-name"], ends_leases=True)
def test_master_lease_ends_alone(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    ns.advance(ns.overlap)
    since = slave.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    only(ns, master, slave)


@case(kills=["one-end-ends-all-leases"], ends_leases=True)
def test_lease_of_others_goes_on(ns: NameServerSession) -> None:
    one, other = two_names(ns)
    ns.advance(ns.overlap)
    since = other.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    ns.route(one.topic("A")).addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


# --- timeouts that brokers choose, and heartbeats -----------------------------------------------------------


@case(
    kills=["registered-timeout-is-ignored", "registered-timeout-is-in-seconds", "scans-remove-one-broker"],
    ends_leases=True,
)
def test_registered_timeout_shortens(ns: NameServerSession) -> None:
    others = [ns.broker(topics=(f"S{number}", f"T{number}")) for number in range(2)]
    for other in others:
        other.register(ext={"heartbeatTimeoutMillis": 60_000}) >> Reply(SUCCESS)
    listed(ns, *others)
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": 60_000}) >> Reply(SUCCESS)
    ns.advance_short_of(60, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.advance_past(60, since)
    ns.settle()
    for other in others:
        ns.cluster().addresses(other.name) >> Reply(SUCCESS, None)
    goes(ns, broker)


@case(kills=["registered-timeout-cannot-be-longer"], ends_leases=True)
def test_registered_timeout_lengthens(ns: NameServerSession) -> None:
    asked = ns.lease + ns.overlap
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": int(asked * 1000)}) >> Reply(SUCCESS)
    ns.advance_short_of(asked, since)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.advance_past(asked, since)
    goes(ns, broker)


@case(kills=["registered-timeout-has-32-bits"], clock=True)
def test_registered_timeout_has_64_bits(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": 2**32 + 10_000}) >> Reply(SUCCESS)
    ns.advance_past(10, since)
    routed(ns, broker)


@case(kills=["registered-timeout-is-applied"], clock=True)
def test_registered_timeout_is_not_known(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register(ext={"heartbeatTimeoutMillis": 30_000}) >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["first-timeout-is-remembered"], clock=True)
def test_latest_registration_sets_timeout(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(ext={"heartbeatTimeoutMillis": 30_000}) >> Reply(SUCCESS)
    since = broker.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["heartbeat-does-not-refresh"], clock=True)
def test_heartbeat_refreshes(ns: NameServerSession) -> None:
    broker = begun(ns)
    since = broker.heartbeat() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["heartbeat-sets-timeout", "heartbeat-resets-timeout"], ends_leases=True)
def test_heartbeat_keeps_timeout(ns: NameServerSession) -> None:
    short, broker = ns.broker(topics=("S", "T")), registered(ns)
    short.register(ext={"heartbeatTimeoutMillis": 60_000}) >> Reply(SUCCESS)
    ended = short.heartbeat() >> Reply(SUCCESS)
    since = broker.heartbeat(ext={"heartbeatTimeoutMills": 30_000}) >> Reply(SUCCESS)
    ns.advance_past(60, ended)
    ns.route(short.topic("S")).eventually() >> Reply(TOPIC_NOT_EXIST)
    ns.advance_short_of(ns.lease, since)
    routed(ns, broker)


@case(kills=["heartbeat-registers", "unknown-heartbeat-is-refused"])
def test_heartbeat_creates_nothing(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.heartbeat() >> Reply(SUCCESS)
    ns.settle()
    nothing_is_left(ns, broker)
