"""Chapter topic-registration: REGISTER_TOPIC_IN_NAMESRV (217), which only 5.x knows."""

from harness.conformance import ABSENT, AnyOf, Including, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST


def registered(ns: NameServerSession) -> Broker:
    """A broker that has registered with two topics."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    return broker


@case(
    "ns.topic-registration.topic-becomes-routable",
    kills=["217-is-ignored", "217-swaps-queue-numbers", "217-takes-one-queue-data"],
)
def test_topic_becomes_routable(ns: NameServerSession) -> None:
    """A topic is routed with the queue data that were given for it, and listed."""
    one, other, topic = registered(ns), registered(ns), ns.topic("N")
    ns.register_topic(topic, {one.name: (1, 2, 4, 3), other.name: (5, 6, 6, 0)}) >> Reply(SUCCESS)
    route = ns.route(topic)
    route.queues >> Reply(SUCCESS, {one.name: (1, 2, 4, 3), other.name: (5, 6, 6, 0)})
    route.addresses >> Reply(SUCCESS, {one.name: {0: one.address}, other.name: {0: other.address}})
    ns.topics().among([topic]) >> Reply(SUCCESS, [topic])


@case("ns.topic-registration.reply-is-plain", kills=["217-is-answered-with-the-route"])
def test_reply_is_plain(ns: NameServerSession) -> None:
    """The answer has neither a body nor ext fields nor a remark."""
    broker = registered(ns)
    ns.register_topic(ns.topic("N"), {broker.name: (8, 8, 6)}) >> Reply(SUCCESS, b"", ext={}, remark=ABSENT)


@case(
    "ns.topic-registration.unknown-broker-gives-nothing",
    kills=["217-takes-unknown-brokers", "217-passes-over-unknown-brokers"],
)
def test_unknown_broker_gives_nothing(ns: NameServerSession) -> None:
    """A new topic that names a broker which nobody has registered is not created, on no broker."""
    broker, topic = registered(ns), ns.topic("N")
    for names in ([ns.name("broker")], [broker.name, ns.name("broker")], [ns.name("broker"), broker.name]):
        ns.register_topic(topic, dict.fromkeys(names, (8, 8, 6))) >> Reply(SUCCESS)
        ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among([topic]) >> Reply(SUCCESS, [])


@case("ns.topic-registration.unknown-broker-joins-no-known-topic", kills=["217-takes-unknown-brokers"])
def test_unknown_broker_joins_no_known_topic(ns: NameServerSession) -> None:
    """An unknown broker does not get into the route of a topic that exists."""
    broker, unknown = registered(ns), ns.name("broker")
    topic = broker.topic("A")
    ns.register_topic(topic, {unknown: (1, 1, 6)}) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case(
    "ns.topic-registration.known-topic-takes-what-precedes-unknown-broker",
    kills=["217-is-all-or-nothing", "217-passes-over-unknown-brokers"],
)
def test_known_topic_takes_what_precedes_unknown_broker(ns: NameServerSession) -> None:
    """For a topic that exists, queue data before that of an unknown broker count, those after it do not."""
    one, other, third = registered(ns), registered(ns), registered(ns)
    queues = {one.name: (1, 1, 4), ns.name("broker"): (2, 2, 6), other.name: (3, 3, 4)}
    ns.register_topic(one.topic("A"), queues) >> Reply(SUCCESS)
    kept = (8, 8, 6, 0)
    expected = {one.name: (1, 1, 4, 0), other.name: kept, third.name: kept}
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, expected)


@case("ns.topic-registration.known-topic-is-changed", kills=["217-changes-no-known-topic"])
def test_known_topic_is_changed(ns: NameServerSession) -> None:
    """Queue data of a topic that exists are replaced, and brokers are added to it."""
    one, other = registered(ns), ns.broker(topics=("C", "D"))
    other.register() >> Reply(SUCCESS)
    ns.register_topic(one.topic("A"), {one.name: (1, 2, 4, 1), other.name: (3, 4, 6)}) >> Reply(SUCCESS)
    expected = {one.name: (1, 2, 4, 1), other.name: (3, 4, 6, 0)}
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, expected)


@case("ns.topic-registration.other-brokers-stay", kills=["217-replaces-the-topic"])
def test_other_brokers_stay(ns: NameServerSession) -> None:
    """Brokers that serve a topic and are not named go on serving it as before."""
    one, other = registered(ns), registered(ns)
    ns.register_topic(one.topic("A"), {one.name: (1, 1, 4)}) >> Reply(SUCCESS)
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, {one.name: (1, 1, 4, 0), other.name: (8, 8, 6, 0)})


@case(
    "ns.topic-registration.nothing-given-changes-nothing", kills=["217-needs-a-body", "217-empties-the-topic"]
)
def test_nothing_given_changes_nothing(ns: NameServerSession) -> None:
    """Without queue data the request succeeds and changes nothing."""
    broker = registered(ns)
    for body in (b"", b"null", b"{}", b'{"queueDatas":[]}', b'{"queueDatas":null}'):
        ns.register_topic(ns.topic("N"), body=body) >> Reply(SUCCESS)
        ns.register_topic(broker.topic("A"), body=body) >> Reply(SUCCESS)
    ns.route(ns.topic("N")) >> Reply(TOPIC_NOT_EXIST)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case("ns.topic-registration.no-topic-changes-nothing", kills=["217-without-topic-is-for-the-empty-topic"])
def test_no_topic_changes_nothing(ns: NameServerSession) -> None:
    """Without a topic nothing is registered."""
    broker = registered(ns)
    allowed = AnyOf(Reply(SUCCESS), deviates=[Reply(SYSTEM_ERROR)])
    ns.register_topic(None, {broker.name: (8, 8, 6)}) >> allowed
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 2)


@case("ns.topic-registration.malformed-body-is-refused", kills=["217-forgives-malformed-bodies"])
def test_malformed_body_is_refused(ns: NameServerSession) -> None:
    """A body that is no JSON object is answered with SYSTEM_ERROR, and nothing is registered."""
    broker, topic = registered(ns), ns.topic("N")
    for body in (b"{{", f'{{"queueDatas":[{{"brokerName":"{broker.name}"'.encode()):
        ns.register_topic(topic, body=body) >> Reply(SYSTEM_ERROR)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)


@case("ns.topic-registration.broker-data-are-ignored", kills=["217-registers-brokers"])
def test_broker_data_are_ignored(ns: NameServerSession) -> None:
    """Broker data in the body make no broker, and change none."""
    broker, stranger = registered(ns), ns.broker()
    body = TopicRoute(
        [QueueData(broker.name, 8, 8, 6)],
        [
            BrokerData(broker.cluster, broker.name, {0: stranger.address}),
            BrokerData(stranger.cluster, stranger.name, {0: stranger.address}),
        ],
    )
    ns.register_topic(ns.topic("N"), body=body.encode()) >> Reply(SUCCESS)
    ns.cluster().addresses(stranger.name) >> Reply(SUCCESS, None)
    ns.route(ns.topic("N")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case("ns.topic-registration.legacy-json-is-read", kills=["217-reads-standard-json-only"])
def test_legacy_json_is_read(ns: NameServerSession) -> None:
    """A body with unquoted broker ids, as a broker of 5.x writes it, is read."""
    broker = registered(ns)
    body = TopicRoute(
        [QueueData(broker.name, 8, 8, 6)], [BrokerData(broker.cluster, broker.name, {0: broker.address})]
    )
    ns.register_topic(ns.topic("N"), body=body.encode("legacy")) >> Reply(SUCCESS)
    ns.route(ns.topic("N")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case("ns.topic-registration.equal-version-keeps-it", kills=["equal-version-overwrites-queues"])
def test_equal_version_keeps_it(ns: NameServerSession) -> None:
    """A broker that registers as before leaves as it is what was given to its topic."""
    broker = registered(ns)
    ns.register_topic(broker.topic("A"), {broker.name: (1, 1, 4)}) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (1, 1, 4, 0)})


@case("ns.topic-registration.changed-version-replaces-it", kills=["known-queues-are-never-updated"])
def test_changed_version_replaces_it(ns: NameServerSession) -> None:
    """A broker that registers anew overrides what was given, for the topics that it carries."""
    broker = registered(ns)
    for topic in (broker.topic("A"), ns.topic("N")):
        ns.register_topic(topic, {broker.name: (1, 1, 4)}) >> Reply(SUCCESS)
    broker.register(version=broker.newer()) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    ns.route(ns.topic("N")).queues >> Reply(SUCCESS, {broker.name: (1, 1, 4, 0)})


@case("ns.topic-registration.topic-leaves-with-its-broker", kills=["topics-outlive-their-broker"])
def test_topic_leaves_with_its_broker(ns: NameServerSession) -> None:
    """What was given goes with the broker."""
    broker, topic = registered(ns), ns.topic("N")
    ns.register_topic(topic, {broker.name: (8, 8, 6)}) >> Reply(SUCCESS)
    broker.unregister() >> Reply(SUCCESS)
    ns.route(topic).eventually() >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among([topic]) >> Reply(SUCCESS, [])


@case("ns.topic-registration.counts-as-the-brokers", kills=["wipe-takes-one-topic"])
def test_counts_as_the_brokers(ns: NameServerSession) -> None:
    """What was given is the broker's: it loses write permission with it and is a topic of its cluster."""
    broker, topic = registered(ns), ns.topic("N")
    ns.register_topic(topic, {broker.name: (8, 8, 6)}) >> Reply(SUCCESS)
    ns.cluster_topics(broker.cluster).json >> Reply(SUCCESS, {"topicList": Including([topic])})
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (8, 8, 4, 0)})


@case("ns.topic-registration.slaves-name-is-known", kills=["217-needs-a-master"])
def test_slaves_name_is_known(ns: NameServerSession) -> None:
    """A broker name that only a slave has is known too."""
    slave = ns.broker(1)
    slave.register() >> Reply(SUCCESS)
    ns.register_topic(ns.topic("N"), {slave.name: (8, 8, 4)}) >> Reply(SUCCESS)
    ns.route(ns.topic("N")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})
