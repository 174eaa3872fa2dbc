"""Chapter topic-lists: the topics of a cluster (224), of the server itself (304), of units (311, 312, 313).

A case projects a list on the names that it made, unless it has a server of its own.
"""

from harness.conformance import ANYTHING, Reply, case
from harness.conformance.nameserver.brokers import registered
from harness.conformance.nameserver.settings import LIST_OF_ALL_IS_OFF, LISTS_BY_KIND_ARE_OFF
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
DISABLED = Reply(ResponseCode.SYSTEM_ERROR, b"")


def flagged(ns: NameServerSession, *flags: int) -> Broker:
    """A broker with a topic of each of these system flags, which is called so: T0, T1, …"""
    broker = ns.broker(topics={f"T{flag}": (8, 8, 6, flag) for flag in flags})
    broker.register() >> Reply(SUCCESS)
    return broker


def named(ns: NameServerSession, *flags: int) -> list[str]:
    """The names of those topics."""
    return [ns.topic(f"T{flag}") for flag in flags]


# --- 224 ----------------------------------------------------------------------------------------------------


@case(kills=["cluster-list-has-all-topics", "cluster-list-is-of-one-broker"])
def test_cluster_lists_its_topics(ns: NameServerSession) -> None:
    one = registered(ns, topics=("A", "B"))
    registered(ns, ("A", "C"), one.cluster)
    other = registered(ns, topics=("A", "D"))
    a, b, c, d = (ns.topic(hint) for hint in "ABCD")
    ns.cluster_topics(one.cluster).among([a, b, c, d]) >> Reply(SUCCESS, [a, b, c])
    ns.cluster_topics(other.cluster).among([a, b, c, d]) >> Reply(SUCCESS, [a, d])


@case(kills=["cluster-list-repeats-topics"])
def test_cluster_lists_a_topic_once(ns: NameServerSession) -> None:
    one = registered(ns)
    registered(ns, cluster=one.cluster)
    ns.cluster_topics(one.cluster).among(one.topics) >> Reply(SUCCESS, sorted(one.topics))


@case(kills=["unknown-cluster-is-a-failure"])
def test_unknown_cluster_lists_nothing(ns: NameServerSession) -> None:
    for cluster in (ns.name("cluster"), "", None):
        ns.cluster_topics(cluster).names >> Reply(SUCCESS, [])


@case(kills=["cluster-list-has-broker-names"])
def test_cluster_without_topics_lists_nothing(ns: NameServerSession) -> None:
    broker = registered(ns, topics=())
    ns.cluster_topics(broker.cluster).names >> Reply(SUCCESS, [])


@case(kills=["cluster-list-is-cached-for-a-second"])
def test_cluster_list_is_current(ns: NameServerSession) -> None:
    client, broker = ns.connect(), registered(ns)
    a, b, c = broker.topic("A"), broker.topic("B"), broker.topic("C")
    ns.cluster_topics(broker.cluster, on=client).among([a, b, c]) >> Reply(SUCCESS, [a, b])
    broker.register([a, b, c], broker.newer()) >> Reply(SUCCESS)
    ns.cluster_topics(broker.cluster, on=client).among([a, b, c]) >> Reply(SUCCESS, [a, b, c])
    ns.delete_topic(a) >> Reply(SUCCESS)
    ns.cluster_topics(broker.cluster, on=client).among([a, b, c]) >> Reply(SUCCESS, [b, c])


@case(kills=["cluster-list-goes-by-first-cluster"])
def test_name_in_two_clusters_is_in_both_lists(ns: NameServerSession) -> None:
    one = registered(ns)
    other = ns.broker(1, one.name)
    other.register() >> Reply(SUCCESS)
    for cluster in (one.cluster, other.cluster):
        ns.cluster_topics(cluster).among(one.topics) >> Reply(SUCCESS, sorted(one.topics))


# --- 304 ----------------------------------------------------------------------------------------------------


@case(kills=["system-list-lacks-clusters", "system-list-lacks-brokers", "system-list-has-topics"])
def test_system_list_has_clusters_and_brokers(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    names = sorted([one.cluster, one.name, other.cluster, other.name])
    ns.system_topics().among([*names, *one.topics]) >> Reply(SUCCESS, names)


@case(kills=["system-list-repeats-names"])
def test_system_list_has_a_name_once(ns: NameServerSession) -> None:
    cluster = ns.name("cluster")
    one = ns.broker(name=cluster, cluster=cluster)
    one.register() >> Reply(SUCCESS)
    other = ns.broker(1, cluster)
    other.register() >> Reply(SUCCESS)
    ns.system_topics().among([cluster, other.cluster]) >> Reply(SUCCESS, sorted([cluster, other.cluster]))


@case(kills=["system-list-keeps-what-it-had"])
def test_system_list_is_current(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.system_topics().among([broker.name]) >> Reply(SUCCESS, [broker.name])
    broker.unregister() >> Reply(SUCCESS)
    ns.system_topics().among([broker.name, broker.cluster]).eventually() >> Reply(SUCCESS, [])


@case(
    "ns.topic-lists.system-list-of-nothing-is-empty",
    "ns.topic-lists.system-list-has-an-address",
    "ns.order-topics.no-table-without-namespace",
    kills=[
        "system-list-has-an-address-always",
        "system-list-lacks-address",
        "system-list-has-masters-only",
        "order-table-is-always-told",
    ],
    own_server=True,
)
def test_server_that_has_just_started(ns: NameServerSession) -> None:
    """A server without brokers lists nothing, with one its address; it has no order configuration."""
    ns.system_topics().names >> Reply(SUCCESS, [])
    ns.system_topics().address >> Reply(SUCCESS, None)
    master, slave = ns.broker(), ns.broker(3)
    master.register() >> Reply(SUCCESS, b"")
    ns.system_topics().address >> Reply(SUCCESS, master.address)
    master.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, None)
    slave.register() >> Reply(SUCCESS, b"")
    ns.system_topics().address >> Reply(SUCCESS, slave.address)


# --- 311, 312, 313 ------------------------------------------------------------------------------------------


@case(kills=["unit-list-is-of-the-other-bit", "system-flag-is-lost"])
def test_unit_topics(ns: NameServerSession) -> None:
    flagged(ns, 0, 1, 2, 3)
    ns.unit_topics().among(named(ns, 0, 1, 2, 3)) >> Reply(SUCCESS, named(ns, 1, 3))


@case(kills=["unit-sub-list-is-of-the-other-bit"])
def test_unit_subscription_topics(ns: NameServerSession) -> None:
    flagged(ns, 0, 1, 2, 3)
    ns.unit_sub_topics().among(named(ns, 0, 1, 2, 3)) >> Reply(SUCCESS, named(ns, 2, 3))


@case(kills=["unit-sub-only-list-has-units"])
def test_unit_subscription_topics_that_are_no_units(ns: NameServerSession) -> None:
    flagged(ns, 0, 1, 2, 3)
    ns.unit_sub_only_topics().among(named(ns, 0, 1, 2, 3)) >> Reply(SUCCESS, named(ns, 2))


@case(kills=["unit-lists-compare-the-whole-flag"])
def test_other_bits_do_not_count(ns: NameServerSession) -> None:
    flagged(ns, 4, 5, 6, 7)
    topics = named(ns, 4, 5, 6, 7)
    ns.unit_topics().among(topics) >> Reply(SUCCESS, named(ns, 5, 7))
    ns.unit_sub_topics().among(topics) >> Reply(SUCCESS, named(ns, 6, 7))
    ns.unit_sub_only_topics().among(topics) >> Reply(SUCCESS, named(ns, 6))


@case(kills=["unit-lists-have-topics-of-one-broker"])
def test_brokers_that_agree_decide(ns: NameServerSession) -> None:
    flagged(ns, 1, 2)
    flagged(ns, 1, 2)
    ns.unit_topics().among(named(ns, 1, 2)) >> Reply(SUCCESS, named(ns, 1))
    ns.unit_sub_only_topics().among(named(ns, 1, 2)) >> Reply(SUCCESS, named(ns, 2))


@case(kills=["flags-of-brokers-are-combined"])
def test_one_of_differing_flags_counts(ns: NameServerSession) -> None:
    topic = ns.topic("T")
    for flag in (1, 2):
        ns.broker(topics={"T": (8, 8, 6, flag), f"U{flag}": (8, 8, 6)}).register() >> Reply(SUCCESS)
    unit = (ns.unit_topics().among([topic]) >> Reply(SUCCESS)).value
    others = [] if unit else [topic]
    ns.unit_sub_topics().among([topic]) >> Reply(SUCCESS, others)
    ns.unit_sub_only_topics().among([topic]) >> Reply(SUCCESS, others)


@case(kills=["compressed-topics-are-unit-topics"])
def test_compressed_registration_has_no_flags(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"T1": (8, 8, 6, 1), "T2": (8, 8, 6, 2)})
    broker.register(compressed=True) >> Reply(SUCCESS)
    ns.route(broker.topic("T1")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    ns.unit_topics().among(broker.topics) >> Reply(SUCCESS, [])
    ns.unit_sub_topics().among(broker.topics) >> Reply(SUCCESS, [])


@case(kills=["217-loses-the-flag"])
def test_registered_topic_counts(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.register_topic(ns.topic("T1"), {broker.name: (8, 8, 6, 1)}) >> Reply(SUCCESS)
    ns.unit_topics().among(named(ns, 1)) >> Reply(SUCCESS, named(ns, 1))


@case(kills=["lists-have-a-null-address", "lists-count-their-topics"])
def test_lists_have_no_other_member(ns: NameServerSession) -> None:
    cluster = registered(ns).cluster
    for ask in (ns.topics, ns.unit_topics, ns.unit_sub_topics, ns.unit_sub_only_topics):
        ask().json >> Reply(SUCCESS, {"topicList": ANYTHING})
    for name in (cluster, ns.name("cluster")):
        ns.cluster_topics(name).json >> Reply(SUCCESS, {"topicList": ANYTHING})


# --- lists that are switched off ----------------------------------------------------------------------------


@case(
    kills=["lists-by-kind-are-always-given", "enable-topic-list-is-for-clusters-only"],
    setup=LISTS_BY_KIND_ARE_OFF,
)
def test_enable_topic_list_switches_kinds_off(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.cluster_topics(broker.cluster) >> DISABLED
    ns.unit_topics() >> DISABLED
    ns.unit_sub_topics() >> DISABLED
    ns.unit_sub_only_topics() >> DISABLED


@case(
    kills=["enable-topic-list-is-for-all-lists", "system-list-can-be-disabled"], setup=LISTS_BY_KIND_ARE_OFF
)
def test_enable_topic_list_leaves_the_rest(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))
    ns.system_topics().among([broker.name]) >> Reply(SUCCESS, [broker.name])


@case(kills=["lists-that-are-off-say-nothing"], setup=LISTS_BY_KIND_ARE_OFF)
def test_remark_of_a_list_that_is_off(ns: NameServerSession) -> None:
    ns.cluster_topics(ns.name("cluster")) >> Reply(ResponseCode.SYSTEM_ERROR, remark="disable")


@case(kills=["list-of-all-is-always-given"], setup=LIST_OF_ALL_IS_OFF)
def test_enable_all_topic_list_switches_206_off(ns: NameServerSession) -> None:
    registered(ns)
    ns.topics() >> DISABLED


@case(
    kills=["enable-all-topic-list-is-for-all-lists", "system-list-can-be-disabled"], setup=LIST_OF_ALL_IS_OFF
)
def test_enable_all_topic_list_leaves_the_rest(ns: NameServerSession) -> None:
    broker = flagged(ns, 1, 3)
    ns.cluster_topics(broker.cluster).among(broker.topics) >> Reply(SUCCESS, named(ns, 1, 3))
    ns.unit_topics().among(broker.topics) >> Reply(SUCCESS, named(ns, 1, 3))
    ns.unit_sub_topics().among(broker.topics) >> Reply(SUCCESS, named(ns, 3))
    ns.unit_sub_only_topics().among(broker.topics) >> Reply(SUCCESS, [])
    ns.system_topics().among([broker.name]) >> Reply(SUCCESS, [broker.name])
    ns.route(broker.topic("T1")) >> Reply(SUCCESS)
