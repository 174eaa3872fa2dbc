"""Chapter lease: what the end of a connection removes."""

from harness.conformance import Closed, Reply, case
from harness.conformance.nameserver.brokers import listed, registered
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
from harness.session import NameServerSession
from harness.wire import RawFrame


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


@case(kills=["write-permission-outlives-a-lost-master"])
def test_lost_acting_master_takes_write_permission(ns: NameServerSession) -> None:
    master, slave = pair(ns, ACTING)
    master.connection.close()
    ns.settle()
    only(ns, master, slave, permission=4)


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
