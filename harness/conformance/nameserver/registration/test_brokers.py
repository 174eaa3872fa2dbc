"""Chapter registration: the broker, its cluster, and the answer to the registrant."""

from harness.conformance import Including, Reply, Silence, case
from harness.conformance.nameserver.brokers import listed
from harness.conformance.nameserver.registration.bodies import NO_MASTER, is_unknown, serves
from harness.session import NameServerSession
from harness.wire import FLAG_ONEWAY, ResponseCode, Serialization
from harness.wire.bodies import DataVersion

SUCCESS = ResponseCode.SUCCESS


# --- the broker and its cluster -----------------------------------------------------------------------------


@case(kills=["registration-is-not-kept"])
def test_master_appears_in_cluster_info(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.cluster().names(broker.cluster) >> Reply(SUCCESS, [broker.name])


@case(kills=["registration-needs-topics"])
def test_empty_topic_table_registers_broker(ns: NameServerSession) -> None:
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["registration-needs-topics"])
def test_no_body_registers_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=b"") >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    broker.query_version(DataVersion(0, 0, ns.first_state_version)).changed >> Reply(SUCCESS, False)


@case(kills=["registration-is-not-kept", "known-queues-are-never-updated"])
def test_effect_precedes_reply(ns: NameServerSession) -> None:
    broker, other = ns.broker(), ns.connect()
    for read_queues in range(1, 6):
        topics = {"A": (read_queues, 1, 6), "B": (1, 1, 6)}
        broker.register(topics, broker.newer(read_queues)) >> Reply(SUCCESS)
        route = ns.route(broker.topic("A"), on=other)
        route.queues >> Reply(SUCCESS, {broker.name: (read_queues, 1, 6, 0)})


@case(kills=["one-way-registration-is-dropped"])
def test_one_way_registration_takes_effect(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(flag=FLAG_ONEWAY) >> Silence()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, {0: broker.address})


@case(kills=["heartbeat-registers"])
def test_heartbeat_registers_nothing(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.heartbeat() >> Reply(SUCCESS)
    is_unknown(ns, broker)


@case(kills=["cluster-follows-latest-registration"])
def test_cluster_is_fixed_by_first_registrant(ns: NameServerSession) -> None:
    broker, second = ns.broker(), ns.name("second")
    broker.register() >> Reply(SUCCESS)
    broker.register(cluster=second, version=broker.newer()) >> Reply(SUCCESS)
    shown = Including({"cluster": broker.cluster})
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, shown)
    ns.route(broker.topic("A")).brokers >> Reply(SUCCESS, {broker.name: shown})
    broker.unregister() >> Reply(SUCCESS)
    broker.unregister(cluster=second) >> Reply(SUCCESS)


@case(kills=["name-has-one-cluster"])
def test_name_is_listed_in_each_cluster(ns: NameServerSession) -> None:
    broker, second = ns.broker(cluster=ns.name("cluster-1")), ns.name("cluster-2")
    broker.register() >> Reply(SUCCESS)
    broker.register(cluster=second, version=broker.newer()) >> Reply(SUCCESS)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [broker.cluster, second])
    broker.unregister() >> Reply(SUCCESS)
    broker.unregister(cluster=second) >> Reply(SUCCESS)


@case(kills=["address-belongs-to-one-name", "new-name-of-an-address-publishes-nothing"])
def test_same_address_under_two_names(ns: NameServerSession) -> None:
    first = ns.broker()
    second = ns.broker(address=first.address, cluster=first.cluster, topics=("C", "D"))
    first.register() >> Reply(SUCCESS)
    third = ns.broker(address=first.address, cluster=first.cluster, topics=("E", "F"))
    latest = second.newer()
    second.register(version=latest) >> Reply(SUCCESS)
    third.register(version=latest) >> Reply(SUCCESS)
    for broker, topic in ((first, "A"), (second, "C"), (third, "E")):
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: first.address})
        serves(ns, broker, topic, 8, 8, 6, 0)
    for broker in (third, second, first):
        broker.unregister() >> Reply(SUCCESS)


# --- the answer to the registrant ---------------------------------------------------------------------------


@case(kills=["master-is-told-itself"])
def test_master_learns_no_master_address(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register().master >> Reply(SUCCESS, NO_MASTER)
    listed(ns, broker)
    broker.register().master >> Reply(SUCCESS, NO_MASTER)


@case(kills=["slave-is-told-nothing", "master-addresses-are-swapped", "long-binary-answers-have-one-field"])
def test_slave_learns_master_address(ns: NameServerSession) -> None:
    for host in ("", "größe.", "主" * 90):
        master = ns.broker(address=host + ns.address(), ha=host + ns.address())
        master.register() >> Reply(SUCCESS)
        for serialization in Serialization:
            told = master.sibling().register(serialization=serialization)
            told.master >> Reply(SUCCESS, (master.address, master.ha))


@case(kills=["slave-is-told-itself"])
def test_slave_without_master_learns_no_address(ns: NameServerSession) -> None:
    slave = ns.broker(id=1)
    slave.register().master >> Reply(SUCCESS, NO_MASTER)
    listed(ns, slave)


@case(kills=["first-master-is-remembered"])
def test_slave_learns_new_master_address(ns: NameServerSession) -> None:
    old = ns.broker()
    slave, new = old.sibling(), old.sibling(id=0)
    old.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    old.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(old.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    new.register() >> Reply(SUCCESS)
    slave.register().master >> Reply(SUCCESS, (new.address, new.ha))


@case(kills=["first-master-is-remembered"])
def test_slave_learns_no_departed_master(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    master.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    slave.register().master >> Reply(SUCCESS, NO_MASTER)


@case(kills=["order-table-is-not-told"])
def test_order_topic_table_is_in_reply(ns: NameServerSession) -> None:
    key, master = ns.name("ordered"), ns.broker()
    ns.forget_kv("ORDER_TOPIC_CONFIG", key)
    ns.put_kv("ORDER_TOPIC_CONFIG", key, "broker:4") >> Reply(SUCCESS)
    told = Reply(SUCCESS, {"table": Including({key: "broker:4"})})
    master.register().json >> told
    master.sibling().register().json >> told
