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


@case(
    "ns.write-permission.wipe-clears-the-write-bit",
    kills=["wipe-sets-four", "wipe-is-ignored", "wipe-takes-one-topic"],
)
def test_wipe_clears_the_write_bit(ns: NameServerSession) -> None:
    """After a wipe no topic of the broker is writable; other bits are as they were."""
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 7), "D": (8, 8, 2)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    for hint, perm in {"A": 4, "B": 4, "C": 5, "D": 0}.items():
        shows(ns, {broker.name: perm}, (hint,))


@case("ns.write-permission.wipe-keeps-the-numbers", kills=["wipe-drops-write-queues"])
def test_wipe_keeps_the_numbers(ns: NameServerSession) -> None:
    """A wipe changes nothing of a topic but its permission."""
    broker = ns.broker(topics={"A": (3, 5, 6, 2), "B": (3, 5, 6, 2)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (3, 5, 4, 2)})


@case("ns.write-permission.wipe-counts-topics", kills=["wipe-counts-changes", "wipe-counts-nothing"])
def test_wipe_counts_topics(ns: NameServerSession) -> None:
    """A wipe tells how many topics the broker has, also where none changes."""
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)


@case("ns.write-permission.wipe-spares-other-brokers", kills=["wipe-takes-every-broker"])
def test_wipe_spares_other_brokers(ns: NameServerSession) -> None:
    """A wipe of one broker leaves the same topics writable on another."""
    one, other = registered(ns), registered(ns)
    ns.wipe_write_perm(one.name).count >> Reply(SUCCESS, 2)
    shows(ns, {one.name: 4, other.name: 6})


# --- 327 ----------------------------------------------------------------------------------------------------


@case("ns.write-permission.add-sets-the-write-bit", kills=["add-is-ignored"])
def test_add_sets_the_write_bit(ns: NameServerSession) -> None:
    """Adding write permission makes every topic of the broker that can be read writable."""
    broker = ns.broker(topics={"A": (8, 8, 4), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 6}, ("A", "B", "C"))


@case("ns.write-permission.add-keeps-other-bits", kills=["add-sets-permission-six"])
def test_add_keeps_other_bits(ns: NameServerSession) -> None:
    """Adding write permission makes no topic readable that was not, and drops nothing else."""
    broker = ns.broker(topics={"A": (8, 8, 5), "B": (8, 8, 2), "C": (8, 8, 3)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 7}, ("A",))
    shows(ns, {broker.name: 2}, ("B",))
    shows(ns, {broker.name: 3}, ("C",))


@case("ns.write-permission.add-counts-topics", kills=["add-counts-changes"])
def test_add_counts_topics(ns: NameServerSession) -> None:
    """Adding tells how many topics the broker has, also where none changes."""
    broker = ns.broker(topics={"A": (8, 8, 6), "B": (8, 8, 4), "C": (8, 8, 6)})
    broker.register() >> Reply(SUCCESS)
    ns.add_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.add_write_perm(broker.name).count >> Reply(SUCCESS, 3)


@case("ns.write-permission.add-spares-other-brokers", kills=["add-takes-every-broker"])
def test_add_spares_other_brokers(ns: NameServerSession) -> None:
    """Adding for one broker leaves the same topics read-only on another."""
    one, other = registered(ns, perm=4), registered(ns, perm=4)
    ns.add_write_perm(one.name).count >> Reply(SUCCESS, 2)
    shows(ns, {one.name: 6, other.name: 4})


# --- both ---------------------------------------------------------------------------------------------------


@case(
    "ns.write-permission.unknown-broker-counts-zero",
    kills=["unknown-broker-is-refused", "absent-broker-is-refused"],
)
def test_unknown_broker_counts_zero(ns: NameServerSession) -> None:
    """For a broker that nobody knows, or that is not named, both succeed and touch nothing."""
    for broker in (ns.name("broker"), None):
        ns.wipe_write_perm(broker).count >> Reply(SUCCESS, 0)
        ns.add_write_perm(broker).count >> Reply(SUCCESS, 0)


@case("ns.write-permission.visible-on-every-connection", kills=["permissions-change-behind-the-cache"])
def test_visible_on_every_connection(ns: NameServerSession) -> None:
    """A client that asks again sees at once what was wiped and added over another connection."""
    broker, client = registered(ns), ns.connect()
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 4, 0)})
    ns.add_write_perm(broker.name) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


# --- what undoes a wipe -------------------------------------------------------------------------------------


@case("ns.write-permission.equal-version-keeps-wipe", kills=["equal-version-overwrites-queues"])
def test_equal_version_keeps_wipe(ns: NameServerSession) -> None:
    """A broker that registers as before stays wiped."""
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})


@case(
    "ns.write-permission.changed-version-undoes-wipe",
    kills=["known-queues-are-never-updated", "any-registration-undoes-wipe"],
)
def test_changed_version_undoes_wipe(ns: NameServerSession) -> None:
    """A new data version brings back what it says, for the topics that it carries."""
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    broker.register(["A"], broker.newer()) >> Reply(SUCCESS)
    shows(ns, {broker.name: 6}, ("A",))
    shows(ns, {broker.name: 4}, ("B",))


@case(
    "ns.write-permission.slave-does-not-undo-wipe",
    kills=["slave-publishes-topics", "any-registration-undoes-wipe"],
)
def test_slave_does_not_undo_wipe(ns: NameServerSession) -> None:
    """What a slave registers does not make its master's topics writable."""
    broker = registered(ns)
    slave = broker.sibling(topics=("A", "B"))
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    slave.register(version=slave.newer(5)) >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})


@case("ns.write-permission.wipe-ends-with-the-broker", kills=["wipe-is-shown-for-ever"])
def test_wipe_ends_with_the_broker(ns: NameServerSession) -> None:
    """A broker that has left and comes back is as writable as it registers."""
    broker = registered(ns)
    ns.wipe_write_perm(broker.name) >> Reply(SUCCESS)
    shows(ns, {broker.name: 4})
    broker.unregister() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).eventually() >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    broker.register() >> Reply(SUCCESS)
    shows(ns, {broker.name: 6})
