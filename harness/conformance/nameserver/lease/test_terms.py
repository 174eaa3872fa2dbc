"""Chapter lease: how long a silent broker stays, and what refreshes its lease."""

from harness.conformance import Closed, Including, Reply, case
from harness.conformance.nameserver.brokers import listed, registered, routed
from harness.conformance.nameserver.lease.losing import (
    ACTING,
    MIDWAY,
    SUCCESS,
    TOPIC_NOT_EXIST,
    goes,
    nothing_is_left,
    only,
    pair,
    stays,
    two_names,
)
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode


def begun(ns: NameServerSession) -> Broker:
    """A broker whose lease began earlier, so that a lease which begins now visibly outlasts it."""
    broker = registered(ns)
    ns.advance(ns.overlap)
    return broker


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


@case(kills=["write-permission-outlives-a-lost-master"], ends_leases=True)
def test_end_of_acting_master_takes_write_permission(ns: NameServerSession) -> None:
    master, slave = pair(ns, ACTING)
    ns.advance(ns.overlap)
    since = slave.register(ext=ACTING) >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    only(ns, master, slave, permission=4)


@case(kills=["one-end-ends-all-leases"], ends_leases=True)
def test_lease_of_others_goes_on(ns: NameServerSession) -> None:
    one, other = two_names(ns)
    ns.advance(ns.overlap)
    since = other.register() >> Reply(SUCCESS)
    ns.advance_short_of(ns.lease, since)
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    ns.route(one.topic("A")).addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


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
