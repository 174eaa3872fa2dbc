"""Chapter names: every request knows names beyond ASCII, and ids beyond 32 bits."""

from harness.conformance import Including, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import TopicQueueMappingInfo

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
QUERY_NOT_FOUND = ResponseCode.QUERY_NOT_FOUND

SERVED = (16, 16, 6, 0)
"""The queues of a topic about which a broker says nothing."""
FAR = 2**33 + 7
"""An id that needs more than 32 bits."""


def topic_of(ns: NameServerSession) -> str:
    """A topic of this session, beyond ASCII."""
    return f"{ns.topic('T')}-é中"


def register(broker: Broker, ns: NameServerSession) -> Broker:
    """The broker, registered with two topics, one of them beyond ASCII."""
    broker.register(body=broker.body_of(topic_of(ns), ns.topic("B")).encode()) >> Reply(SUCCESS)
    return broker


def named(ns: NameServerSession, broker_id: int = 0) -> Broker:
    """A broker whose name and cluster are beyond ASCII."""
    name, cluster = f"{ns.name('broker')}-é中", f"{ns.name('cluster')}-ü\U0001f600"
    return ns.broker(broker_id, name=name, cluster=cluster)


def registered(ns: NameServerSession, broker_id: int = 0) -> Broker:
    """A registered broker whose name, cluster and topic are beyond ASCII."""
    return register(named(ns, broker_id), ns)


def like(ns: NameServerSession, broker: Broker) -> Broker:
    """A second registered broker, whose name is equal to the other's in its ASCII part."""
    return register(ns.broker(name=broker.name.replace("é中", "ö文"), cluster=broker.cluster), ns)


@case(kills=["104-knows-ascii-alone", "104-has-32-bit-ids"])
def test_unregistration_finds_the_broker(ns: NameServerSession) -> None:
    near = registered(ns, broker_id=FAR % 2**32)
    far = near.sibling(id=FAR)
    other = like(ns, near)
    far.register() >> Reply(SUCCESS)
    far.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(near.name).eventually() >> Reply(SUCCESS, {near.id: near.address})
    ns.settle()
    ns.cluster().addresses(other.name) >> Reply(SUCCESS, {other.id: other.address})


@case(kills=["205-knows-ascii-alone", "327-knows-ascii-alone"])
def test_write_permission_is_that_of_the_broker(ns: NameServerSession) -> None:
    one = registered(ns)
    other = like(ns, one)
    ns.wipe_write_perm(one.name).count >> Reply(SUCCESS, 2)
    ns.route(topic_of(ns)).queues >> Reply(SUCCESS, {one.name: (16, 16, 4, 0), other.name: SERVED})
    ns.add_write_perm(one.name) >> Reply(SUCCESS)
    ns.route(topic_of(ns)).queues >> Reply(SUCCESS, {one.name: SERVED, other.name: SERVED})


@case(kills=["216-knows-ascii-alone"])
def test_deletion_finds_the_topic(ns: NameServerSession) -> None:
    broker, topic = registered(ns), topic_of(ns)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: SERVED})
    ns.delete_topic(topic) >> Reply(SUCCESS)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["216-knows-ascii-alone"])
def test_deletion_finds_the_cluster(ns: NameServerSession) -> None:
    broker, topic = registered(ns), topic_of(ns)
    ns.delete_topic(topic, broker.cluster) >> Reply(SUCCESS)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["217-knows-ascii-alone"])
def test_topic_is_registered(ns: NameServerSession) -> None:
    broker, topic = registered(ns), f"{ns.topic('N')}-é中"
    for flag in (2, 3):
        ns.register_topic(topic, {broker.name: (1, 2, 4, flag)}) >> Reply(SUCCESS)
        ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, flag)})


@case(kills=["224-knows-ascii-alone"])
def test_topics_are_those_of_the_cluster(ns: NameServerSession) -> None:
    broker = registered(ns)
    topics = sorted((ns.topic("B"), topic_of(ns)))
    ns.cluster_topics(broker.cluster).among(topics) >> Reply(SUCCESS, topics)


@case(kills=["322-knows-ascii-alone"])
def test_version_is_that_of_the_broker(ns: NameServerSession) -> None:
    one = registered(ns)
    other = like(ns, one)
    other.register(version=other.newer()) >> Reply(SUCCESS)
    one.query_version(id=FAR).changed >> Reply(SUCCESS, False)
    other.query_version(one.version, id=FAR + 1).changed >> Reply(SUCCESS, True)


@case(kills=["901-knows-ascii-alone"])
def test_members_are_those_of_the_name(ns: NameServerSession) -> None:
    broker = registered(ns)
    group = ns.member_group(broker.cluster, broker.name)
    group.addresses >> Reply(SUCCESS, {broker.id: broker.address})


@case(kills=["904-knows-ascii-alone"], clock=True)
def test_heartbeat_is_that_of_the_broker(ns: NameServerSession) -> None:
    broker = registered(ns)
    since = broker.register(ext={"heartbeatTimeoutMillis": 65_000}) >> Reply(SUCCESS)
    ns.advance_short_of(65, since)
    since = broker.heartbeat() >> Reply(SUCCESS)
    ns.advance_short_of(65, since)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {broker.id: broker.address})


@case(kills=["zones-are-ascii"])
def test_zone_is_that_of_the_broker(ns: NameServerSession) -> None:
    here, there = ns.broker(), ns.broker()
    for broker, zone in ((here, "zone-é中"), (there, "zone-ö文")):
        broker.register(ext={"__ZONE_NAME": zone}) >> Reply(SUCCESS)
    route = ns.route(here.topic("A"), ext={"__ZONE_MODE": "true", "__ZONE_NAME": "zone-é中"})
    route.addresses >> Reply(SUCCESS, {here.name: {0: here.address}})
    route.brokers >> Reply(SUCCESS, {here.name: Including({"zoneName": "zone-é中"})})


@case(kills=["mappings-are-ascii"])
def test_mapping_survives(ns: NameServerSession) -> None:
    broker, topic = named(ns), topic_of(ns)
    body = broker.body_of(topic, ns.topic("B"))
    mapping = TopicQueueMappingInfo(topic, broker.name, 9, FAR, True, "scope-é中", {3: 5, 4: 7})
    body.mappings = {topic: mapping}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    shown = {
        "bname": broker.name,
        "currIdMap": {"3": 5, "4": 7},
        "dirty": True,
        "epoch": FAR,
        "scope": "scope-é中",
        "topic": topic,
        "totalQueues": 9,
    }
    ns.route(topic).mappings >> Reply(SUCCESS, {broker.name: shown})


@case(kills=["filter-servers-are-ascii"])
def test_filter_servers_survive(ns: NameServerSession) -> None:
    broker = ns.broker()
    filters = [f"{ns.name('filter')}-é中:3000"]
    broker.register(filters=[*filters]) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).filters >> Reply(SUCCESS, {broker.address: filters})


@case(kills=["102-knows-ascii-alone"])
def test_deletion_finds_the_pair(ns: NameServerSession) -> None:
    namespace = f"{ns.name('space')}-é中"
    for key in ("ké", "kö"):
        ns.put_kv(namespace, key, key) >> Reply(SUCCESS)
    ns.delete_kv(namespace, "ké") >> Reply(SUCCESS)
    ns.get_kv(namespace, "ké") >> Reply(QUERY_NOT_FOUND)
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"kö": "kö"})
