"""Chapter write-permission: WIPE_WRITE_PERM_OF_BROKER (205) and ADD_WRITE_PERM_OF_BROKER (327)."""

from harness.conformance import Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS


def registered(ns: NameServerSession, perm: int = 6) -> Broker:
    """A broker that has registered with two topics of this permission."""
    broker = ns.broker(topics={"A": (8, 8, perm), "B": (8, 8, perm)})
    broker.register() >> Reply(SUCCESS)
    return broker


def shows(ns: NameServerSession, perms: dict[str, int], hints: tuple[str, ...] = ("A", "B")) -> None:
    """The topics are routed with these permissions, by broker name."""
    queues = {name: (8, 8, perm, 0) for name, perm in perms.items()}
    for hint in hints:
        ns.route(ns.topic(hint)).queues >> Reply(SUCCESS, queues)


# --- 205 ----------------------------------------------------------------------------------------------------


@case(kills=["wipe-sets-four", "wipe-is-ignored", "wipe-takes-one-topic"])
def test_wipe_clears_the_write_bit(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 7), "D": (8, 8, 2)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    for hint, perm in {"A": 4, "B": 4, "C": 5, "D": 0}.items():
        shows(ns, {broker.name: perm}, (hint,))


@case(kills=["wipe-drops-write-queues"])
def test_wipe_keeps_the_numbers(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (3, 5, 6, 2), "B": (3, 5, 6, 2)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (3, 5, 4, 2)})


@case(kills=["wipe-counts-changes", "wipe-counts-nothing"])
def test_wipe_counts_topics(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)


@case(kills=["wipe-takes-every-broker"])
def test_wipe_spares_other_brokers(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    ns.wipe_write_perm(one.name).count >> Reply(SUCCESS, 2)
    shows(ns, {one.name: 4, other.name: 6})


# --- 327 ----------------------------------------------------------------------------------------------------


@case(kills=["add-is-ignored"])
def test_add_sets_the_write_bit(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (8, 8, 4), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 6}, ("A", "B", "C"))


@case(kills=["add-sets-permission-six"])
def test_add_keeps_other_bits(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (8, 8, 5), "B": (8, 8, 2), "C": (8, 8, 3)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 7}, ("A",))
    shows(ns, {broker.name: 2}, ("B",))
    shows(ns, {broker.name: 3}, ("C",))


@case(kills=["add-counts-changes"])
def test_add_counts_topics(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.add_write_perm(broker.name).count >> Reply(SUCCESS, 3)


@case(kills=["add-takes-every-broker"])
def test_add_spares_other_brokers(ns: NameServerSession) -> None:
    one, other = registered(ns, perm=4), registered(ns, perm=4)
    ns.add_write_perm(one.name).count >> Reply(SUCCESS, 2)
    shows(ns, {one.name: 6, other.name: 4})


# --- both ---------------------------------------------------------------------------------------------------


@case(kills=["unknown-broker-is-refused", "absent-broker-is-refused"])
def test_unknown_broker_counts_zero(ns: NameServerSession) -> None:
    for broker in (ns.name("broker"), None):
        ns.wipe_write_perm(broker).count >> Reply(SUCCESS, 0)
        ns.add_write_perm(broker).count >> Reply(SUCCESS, 0)


@case(kills=["permissions-change-behind-the-cache"])
def test_visible_on_every_connection(ns: NameServerSession) -> None:
    broker, client = registered(ns), ns.connect()
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 4, 0)})
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


# --- what undoes a wipe -------------------------------------------------------------------------------------


@case(kills=["equal-version-overwrites-queues"])
def test_equal_version_keeps_wipe(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})


@case(kills=["known-queues-are-never-updated", "any-registration-undoes-wipe"])
def test_changed_version_undoes_wipe(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    broker.register(["A"], broker.newer()) >> Reply(SUCCESS)
    shows(ns, {broker.name: 6}, ("A",))
    shows(ns, {broker.name: 4}, ("B",))


@case(kills=["slave-publishes-topics", "any-registration-undoes-wipe"])
def test_slave_does_not_undo_wipe(ns: NameServerSession) -> None:
    broker = registered(ns)
    slave = broker.sibling(topics=("A", "B"))
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    slave.register(version=slave.newer(5)) >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})


@case(kills=["wipe-is-shown-for-ever"])
def test_wipe_ends_with_the_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})
    broker.unregister() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).eventually() >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    broker.register() >> Reply(SUCCESS)
    shows(ns, {broker.name: 6})
