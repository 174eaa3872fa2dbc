"""Chapter acting-master: routes of broker names that have lost their master (5.x, supportActingMaster).

Cases about the default ask a server without settings.
"""

from harness.conformance import Reply, case
from harness.conformance.nameserver.settings import ACTING_MASTERS_ARE_SHOWN
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS

ACTING = {"enableActingMaster": True}
READ_ONLY = (8, 8, 4, 0)


def masterless(ns: NameServerSession, *ids: int, topics: tuple[str, ...] = ("A", "B")) -> list[Broker]:
    """The slaves with these ids of a name that may have an acting master, and whose master has left."""
    master = ns.broker(topics=topics)
    slaves = [master.sibling(number, topics=()) for number in ids]
    for broker in (master, *slaves):
        broker.register(ext=ACTING) >> Reply(SUCCESS)
    master.unregister() >> Reply(SUCCESS)
    ns.settle()
    return slaves


def addresses(*brokers: Broker, acting: Broker | None = None) -> dict[int, str]:
    """The addresses by id, that of the acting master under id 0."""
    return {0 if one is acting else one.id: one.address for one in brokers}


@case(
    kills=[
        "acting-master-is-not-shown",
        "highest-slave-acts",
        "oldest-slave-acts",
        "acting-master-keeps-its-id-too",
        "one-topic-loses-write-permission",
    ],
    setup=ACTING_MASTERS_ARE_SHOWN,
)
def test_lowest_slave_is_shown_as_master(ns: NameServerSession) -> None:
    high, low = masterless(ns, 5, 2)
    shown = addresses(low, high, acting=low)
    route = ns.route(ns.topic("A"))
    route.addresses >> Reply(SUCCESS, {low.name: shown})
    for topic in ("A", "B"):
        ns.route(ns.topic(topic)).queues >> Reply(SUCCESS, {low.name: READ_ONLY})


@case(kills=["acting-master-of-writable-topics"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_writable_topics_show_real_ids(ns: NameServerSession) -> None:
    (slave,) = masterless(ns, 1)
    ns.add_write_perm(slave.name) >> Reply(SUCCESS)
    ns.route(ns.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


@case(kills=["acting-master-by-the-first-topic"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_each_topic_for_itself(ns: NameServerSession) -> None:
    (slave,) = masterless(ns, 1)
    ns.register_topic(ns.topic("B"), {slave.name: (8, 8, 6)}) >> Reply(SUCCESS)
    ns.route(ns.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    ns.route(ns.topic("B")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


@case(kills=["acting-master-without-consent", "acting-master-flag-sticks"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_needs_consent_of_latest_registration(ns: NameServerSession) -> None:
    (slave,) = masterless(ns, 1)
    slave.register() >> Reply(SUCCESS)
    route = ns.route(ns.topic("A"))
    route.addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})
    route.queues >> Reply(SUCCESS, {slave.name: READ_ONLY})


@case(kills=["one-consent-is-for-all-names"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_each_name_for_itself(ns: NameServerSession) -> None:
    (acting,) = masterless(ns, 1)
    whole, plain = ns.broker(), ns.broker(2, topics=("A", "B"))
    whole.register(ext=ACTING) >> Reply(SUCCESS)
    plain.register(ext={"enableActingMaster": False}) >> Reply(SUCCESS)
    ns.wipe_write_perm(plain.name) >> Reply(SUCCESS)
    expected = {
        acting.name: {0: acting.address},
        whole.name: {0: whole.address},
        plain.name: {2: plain.address},
    }
    ns.route(ns.topic("A")).addresses >> Reply(SUCCESS, expected)


@case(
    kills=["acting-master-is-in-cluster-info", "acting-master-is-in-member-group"],
    setup=ACTING_MASTERS_ARE_SHOWN,
)
def test_is_in_routes_only(ns: NameServerSession) -> None:
    low, high = masterless(ns, 2, 5)
    ns.route(ns.topic("A")) >> Reply(SUCCESS)
    ns.cluster().addresses(low.name) >> Reply(SUCCESS, addresses(low, high))
    ns.member_group(low.cluster, low.name).addresses >> Reply(SUCCESS, addresses(low, high))


@case(kills=["acting-master-of-member-topics"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_member_topics_show_real_ids(ns: NameServerSession) -> None:
    (slave,) = masterless(ns, 1)
    topic = f"rmq_sys_SYNC_BROKER_MEMBER_{ns.topic('A')}"
    ns.register_topic(topic, {slave.name: (1, 1, 4)}) >> Reply(SUCCESS)
    ns.route(topic).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


@case(kills=["acting-master-stays", "lost-write-permission-stays-lost"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_returning_master_ends_it(ns: NameServerSession) -> None:
    (slave,) = masterless(ns, 1)
    ns.route(ns.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    master = ns.broker(0, slave.name, slave.cluster)
    master.register(ext=ACTING) >> Reply(SUCCESS)
    route = ns.route(ns.topic("A"))
    route.addresses >> Reply(SUCCESS, {slave.name: addresses(master, slave)})
    route.queues >> Reply(SUCCESS, {slave.name: (8, 8, 6, 0)})


@case(kills=["acting-master-is-the-first-one"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_next_slave_takes_over(ns: NameServerSession) -> None:
    low, high = masterless(ns, 2, 5)
    ns.route(ns.topic("A")).addresses >> Reply(SUCCESS, {low.name: addresses(low, high, acting=low)})
    low.unregister() >> Reply(SUCCESS)
    ns.route(ns.topic("A")).addresses.eventually() >> Reply(SUCCESS, {low.name: {0: high.address}})


@case(kills=["lost-master-keeps-write-permission"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_lost_connection_counts_as_leaving(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling(3, topics=())
    master.register(ext=ACTING) >> Reply(SUCCESS)
    slave.register(ext=ACTING) >> Reply(SUCCESS)
    master.connection.close()
    ns.route(ns.topic("A")).addresses.eventually() >> Reply(SUCCESS, {master.name: {0: slave.address}})


@case(
    kills=[
        "acting-master-needs-a-former-master",
        "acting-slave-keeps-write",
        "acting-slave-swaps-queue-numbers",
    ],
    setup=ACTING_MASTERS_ARE_SHOWN,
)
def test_slave_that_never_had_a_master_acts(ns: NameServerSession) -> None:
    slave = ns.broker(4, topics={"A": (3, 5, 6, 2), "B": (8, 8, 6)})
    slave.register(ext=ACTING) >> Reply(SUCCESS)
    route = ns.route(ns.topic("A"))
    route.addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    route.queues >> Reply(SUCCESS, {slave.name: (3, 5, 4, 2)})


@case(kills=["acting-master-serves-every-zone"], setup=ACTING_MASTERS_ARE_SHOWN)
def test_is_a_master_to_the_zone_filter(ns: NameServerSession) -> None:
    slave = ns.broker(1)
    slave.register(ext={**ACTING, "__ZONE_NAME": "z1"}) >> Reply(SUCCESS)
    here, there = ({"__ZONE_MODE": True, "__ZONE_NAME": zone} for zone in ("z1", "z2"))
    ns.route(ns.topic("A"), ext=here).addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    ns.route(ns.topic("A"), ext=there).addresses >> Reply(SUCCESS, {})


@case(kills=["acting-master-is-always-shown"])
def test_is_not_shown_by_default(ns: NameServerSession) -> None:
    low, high = masterless(ns, 2, 5)
    route = ns.route(ns.topic("A"))
    route.addresses >> Reply(SUCCESS, {low.name: addresses(low, high)})
    route.queues >> Reply(SUCCESS, {low.name: READ_ONLY})
