"""Chapter topic-deletion: DELETE_TOPIC_IN_NAMESRV (216), and registrations that delete by leaving out."""

from harness.conformance import AnyOf, Reply, case
from harness.conformance.nameserver.brokers import registered, routed
from harness.conformance.nameserver.settings import ABSENT_TOPICS_GO
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import TopicQueueMappingInfo

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
SERVED = (8, 8, 6, 0)


def serve(ns: NameServerSession, hint: str, *brokers: Broker) -> None:
    """The topic's route has exactly the queue data of these brokers."""
    expected = Reply(SUCCESS, {one.name: SERVED for one in brokers}) if brokers else Reply(TOPIC_NOT_EXIST)
    ns.route(ns.topic(hint)).queues >> expected


# --- 216 ----------------------------------------------------------------------------------------------------


@case(kills=["deletion-is-ignored", "deletion-takes-one-broker"])
def test_topic_is_gone(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    ns.delete_topic(one.topic("A")) >> Reply(SUCCESS)
    serve(ns, "A")
    ns.topics().among(one.topics) >> Reply(SUCCESS, [one.topic("B")])
    ns.cluster_topics(other.cluster).among(one.topics) >> Reply(SUCCESS, [one.topic("B")])


@case(kills=["deletion-takes-every-topic-of-its-brokers"])
def test_other_topics_stay(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    ns.delete_topic(one.topic("A")) >> Reply(SUCCESS)
    serve(ns, "B", one, other)


@case(kills=["broker-leaves-with-its-last-topic"])
def test_brokers_stay(ns: NameServerSession) -> None:
    broker = registered(ns)
    for topic in broker.topics:
        ns.delete_topic(topic) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [broker.cluster])
    broker.query_version().changed >> Reply(SUCCESS, False)
    broker.register(["C", "D"], broker.newer()) >> Reply(SUCCESS)
    serve(ns, "C", broker)


@case(kills=["deletion-is-answered-with-the-topic"])
def test_reply_is_plain(ns: NameServerSession) -> None:
    broker = registered(ns)
    routed(ns, broker)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS, b"", ext={})


@case(kills=["deletion-of-unknown-topic-is-refused"])
def test_unknown_topic_is_a_success(ns: NameServerSession) -> None:
    broker = registered(ns)
    routed(ns, broker)
    ns.delete_topic(ns.topic("nothing")) >> Reply(SUCCESS)
    ns.delete_topic(ns.topic("nothing"), broker.cluster) >> Reply(SUCCESS)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)


@case(kills=["deletion-without-topic-takes-all"])
def test_nothing_named_changes_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    allowed = AnyOf(Reply(SUCCESS), deviates=[Reply(ResponseCode.SYSTEM_ERROR)])
    ns.delete_topic(None) >> allowed
    ns.delete_topic(None, broker.cluster) >> allowed
    ns.topics().among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))


@case(kills=["routes-are-cached-for-a-second"])
def test_visible_on_every_connection(ns: NameServerSession) -> None:
    broker, client = registered(ns), ns.connect()
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: SERVED})
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client) >> Reply(TOPIC_NOT_EXIST)


# --- 216 of one cluster -------------------------------------------------------------------------------------


@case(kills=["historical-4263-deletion-ignores-the-cluster", "deletion-in-a-cluster-is-ignored"])
def test_cluster_limits_deletion(ns: NameServerSession) -> None:
    here, there = registered(ns), registered(ns)
    ns.delete_topic(here.topic("A"), here.cluster) >> Reply(SUCCESS)
    serve(ns, "A", there)
    serve(ns, "B", here, there)


@case(kills=["deletion-in-a-cluster-takes-one-broker"])
def test_cluster_means_all_its_brokers(ns: NameServerSession) -> None:
    one, there = registered(ns), registered(ns)
    other = ns.broker(cluster=one.cluster)
    other.register() >> Reply(SUCCESS)
    ns.delete_topic(one.topic("A"), one.cluster) >> Reply(SUCCESS)
    serve(ns, "A", there)
    ns.delete_topic(one.topic("A"), there.cluster) >> Reply(SUCCESS)
    serve(ns, "A")
    ns.topics().among(one.topics) >> Reply(SUCCESS, [one.topic("B")])


@case(kills=["unknown-cluster-deletes-everywhere"])
def test_unknown_cluster_deletes_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.delete_topic(broker.topic("A"), ns.name("cluster")) >> Reply(SUCCESS)
    serve(ns, "A", broker)


@case(kills=["empty-cluster-is-a-cluster"])
def test_empty_cluster_is_none(ns: NameServerSession) -> None:
    registered(ns), registered(ns)
    ns.delete_topic(ns.topic("A"), "") >> Reply(SUCCESS)
    serve(ns, "A")


# --- what brings a topic back -------------------------------------------------------------------------------


@case(kills=["deleted-topics-stay-away"])
def test_changed_version_brings_topic_back(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    broker.register({"A": (3, 5, 4, 2), "B": (8, 8, 6)}, broker.newer()) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (3, 5, 4, 2)})


@case(kills=["only-changed-versions-update"])
def test_equal_version_brings_topic_back(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    serve(ns, "A", broker)


@case(kills=["slave-publishes-topics"])
def test_slave_brings_nothing_back(ns: NameServerSession) -> None:
    master = registered(ns)
    slave = master.sibling(topics=("A", "B"))
    slave.register() >> Reply(SUCCESS)
    ns.delete_topic(master.topic("A")) >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    serve(ns, "A")


# --- deletion by leaving out --------------------------------------------------------------------------------


@case(kills=["absent-topics-always-stay", "absent-topics-go-with-a-changed-version"], setup=ABSENT_TOPICS_GO)
def test_absent_topics_go_if_configured(ns: NameServerSession) -> None:
    broker = registered(ns, ("A", "B", "C"))
    broker.register(["A", "B"], broker.newer()) >> Reply(SUCCESS)
    serve(ns, "C")
    broker.version = broker.newer()
    broker.register(["A"]) >> Reply(SUCCESS)
    serve(ns, "B")
    serve(ns, "A", broker)


@case(kills=["empty-table-deletes-nothing"], setup=ABSENT_TOPICS_GO)
def test_empty_table_deletes_all_if_configured(ns: NameServerSession) -> None:
    broker = registered(ns)
    broker.register([], broker.newer()) >> Reply(SUCCESS)
    serve(ns, "A")
    serve(ns, "B")
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["absent-topics-go-from-every-broker"], setup=ABSENT_TOPICS_GO)
def test_absent_topics_of_others_stay(ns: NameServerSession) -> None:
    one, other = registered(ns, ("A", "B", "C")), registered(ns, ("A", "B", "C"))
    one.register(["A", "B"], one.newer()) >> Reply(SUCCESS)
    serve(ns, "C", other)


@case(kills=["slaves-delete-absent-topics"], setup=ABSENT_TOPICS_GO)
def test_slave_deletes_nothing(ns: NameServerSession) -> None:
    master = registered(ns)
    slave = master.sibling(topics=())
    slave.register() >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    serve(ns, "A", master)


@case(kills=["mappings-do-not-save-absent-topics"], setup=ABSENT_TOPICS_GO)
def test_static_mappings_prevent_deletion(ns: NameServerSession) -> None:
    broker = registered(ns, ("A", "B", "C"))
    body = broker.body(["A"], broker.newer())
    body.mappings = {broker.topic("A"): TopicQueueMappingInfo(broker.topic("A"), broker.name, 2)}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    serve(ns, "C", broker)
