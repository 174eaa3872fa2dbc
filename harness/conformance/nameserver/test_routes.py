"""Chapter routes: what GET_ROUTEINFO_BY_TOPIC (105) answers, and in which JSON.

A case judges a route by the broker names that it made. Only the well-known topic TBW102 may have others,
which it ignores.
"""

from harness.conformance import ABSENT, ANYTHING, Including, Matching, Reply, case
from harness.conformance.nameserver.brokers import registered, routed
from harness.conformance.nameserver.settings import ROUTES_WAIT, ROUTES_WAIT_A_SECOND
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import TopicConfig, TopicQueueMappingInfo

Fields = dict[str, str | bool]

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

OLD, STANDARD, NEW = 400, 401, 479
"""Versions that a client announces: the last without standard JSON, 4.9.4, and 5.3.3."""

IN_ZONE: Fields = {"__ZONE_MODE": True, "__ZONE_NAME": "Z1"}
UNZONED: tuple[Fields, ...] = (
    {"__ZONE_MODE": True},
    {"__ZONE_NAME": "z1"},
    {"__ZONE_MODE": False, "__ZONE_NAME": "z1"},
    {"__ZONE_MODE": True, "__ZONE_NAME": ""},
    {"__ZONE_MODE": True, "__ZONE_NAME": " "},
)
"""Ext fields that name no zone, or ask for none."""


def pair(ns: NameServerSession) -> tuple[Broker, Broker]:
    """A master and its slave, both registered."""
    master = registered(ns)
    slave = master.sibling(5)
    slave.register() >> Reply(SUCCESS)
    shown = {master.name: {0: master.address, 5: slave.address}}
    ns.route(master.topic("A")).addresses >> Reply(SUCCESS, shown)
    return master, slave


# --- whether there is a route -------------------------------------------------------------------------------


@case(kills=["unknown-topic-is-a-failure", "unknown-topic-has-an-empty-route"])
def test_unknown_topic_does_not_exist(ns: NameServerSession) -> None:
    ns.route(ns.topic("A")).text >> Reply(TOPIC_NOT_EXIST, b"")


@case(kills=["unknown-topic-has-no-remark"])
def test_unknown_topic_remark(ns: NameServerSession) -> None:
    topic = ns.topic("A")
    remark = Matching(f"^No topic route info in name server for the topic: {topic}")
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST, remark=remark)


@case(kills=["absent-topic-is-a-failure"])
def test_absent_topic_does_not_exist(ns: NameServerSession) -> None:
    client = ns.connect()
    ns.route(None, on=client) >> Reply(TOPIC_NOT_EXIST)
    ns.route("", on=client) >> Reply(TOPIC_NOT_EXIST)
    ns.topics(on=client) >> Reply(SUCCESS)


@case(kills=["unknown-topic-has-an-empty-route", "departed-brokers-stay-in-queue-data"])
def test_success_is_never_empty(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    topic = one.topic("A")
    one.unregister() >> Reply(SUCCESS)
    ns.route(topic).addresses.eventually() >> Reply(SUCCESS, {other.name: {0: other.address}})
    ns.route(topic).queues >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    other.unregister() >> Reply(SUCCESS)
    ns.route(topic).text.eventually() >> Reply(TOPIC_NOT_EXIST, b"")


@case(kills=["routes-are-cached-for-a-second"])
def test_reads_see_every_registration(ns: NameServerSession) -> None:
    client, broker = ns.connect(), ns.broker()
    ns.route(broker.topic("A"), on=client) >> Reply(TOPIC_NOT_EXIST)
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    broker.register({"A": (8, 8, 4), "B": (8, 8, 4)}, broker.newer()) >> Reply(SUCCESS)
    ns.route(broker.topic("A"), on=client).queues >> Reply(SUCCESS, {broker.name: (8, 8, 4, 0)})


@case(kills=["routes-lose-the-sign"])
def test_each_answer_has_its_opaque(ns: NameServerSession) -> None:
    broker = registered(ns)
    routed(ns, broker)
    for opaque in (-(2**31), -7, 0, 2**31 - 1):
        route = ns.route(broker.topic("A"), opaque=opaque)
        route.addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["reserved-topics-are-not-routed"])
def test_special_names_are_plain_names(ns: NameServerSession) -> None:
    broker = ns.broker()
    retry = f"%RETRY%{broker.topic('group')}"
    topics = [
        TopicConfig(topic_name=topic, read_queue_nums=2, write_queue_nums=2) for topic in ("TBW102", retry)
    ]
    broker.register(body=broker.body_of(*topics).encode()) >> Reply(SUCCESS)
    ns.route("TBW102").queues >> Reply(SUCCESS, Including({broker.name: (2, 2, 6, 0)}))
    ns.route(retry).queues >> Reply(SUCCESS, {broker.name: (2, 2, 6, 0)})


@case(kills=["routes-survive-a-restart"], own_server=True)
def test_do_not_survive_a_restart(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.route(broker.topic("A")) >> Reply(SUCCESS)
    ns.restart()
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


# --- what a route says --------------------------------------------------------------------------------------


@case(
    kills=[
        "read-and-write-queues-are-swapped",
        "system-flag-is-lost",
        "routes-show-fours",
        "historical-system-flag-is-misspelt",
    ]
)
def test_numbers_are_exact(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (3, 5, 4, 2), "B": (16, 1, 6, 0)})
    broker.register() >> Reply(SUCCESS)
    route = ns.route(broker.topic("A"))
    route.queues >> Reply(SUCCESS, {broker.name: (3, 5, 4, 2)})
    names = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    route.queue_members >> Reply(SUCCESS, {broker.name: Including(names)})
    ns.route(broker.topic("B")).queues >> Reply(SUCCESS, {broker.name: (16, 1, 6, 0)})


@case(kills=["route-has-one-broker", "route-has-one-queue-data"])
def test_every_broker_name_once(ns: NameServerSession) -> None:
    one = ns.broker(topics={"A": (1, 2, 6), "B": (1, 2, 6)})
    other = ns.broker(topics={"A": (3, 4, 4), "B": (3, 4, 4)})
    one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    route = ns.route(one.topic("A"))
    route.queues >> Reply(SUCCESS, {one.name: (1, 2, 6, 0), other.name: (3, 4, 4, 0)})
    route.addresses >> Reply(SUCCESS, {one.name: {0: one.address}, other.name: {0: other.address}})


@case(kills=["route-lists-lowest-id-only"])
def test_every_id_is_listed(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    second = master.sibling(1)
    second.register() >> Reply(SUCCESS)
    addresses = {0: master.address, 1: second.address, 5: slave.address}
    ns.route(master.topic("A")).addresses >> Reply(SUCCESS, {master.name: addresses})


@case(kills=["route-lacks-cluster"])
def test_broker_data_names_itself(ns: NameServerSession) -> None:
    broker = registered(ns)
    told = Including({"brokerName": broker.name, "cluster": broker.cluster})
    ns.route(broker.topic("A")).brokers >> Reply(SUCCESS, {broker.name: told})


@case(kills=["slave-is-shown-as-master"])
def test_slaves_keep_their_ids(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    master.unregister() >> Reply(SUCCESS)
    ns.route(master.topic("A")).addresses.eventually() >> Reply(SUCCESS, {master.name: {5: slave.address}})
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})


@case(kills=["empty-filter-server-table-is-left-out"])
def test_filter_server_table_is_present(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=[]) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, Including({"filterServerTable": {}}))


@case(kills=["order-configuration-is-always-told"])
def test_no_order_configuration_by_default(ns: NameServerSession) -> None:
    broker = registered(ns)
    topic = broker.topic("A")
    ns.forget_kv("ORDER_TOPIC_CONFIG", topic)
    ns.put_kv("ORDER_TOPIC_CONFIG", topic, f"{broker.name}:8") >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": ABSENT}))


@case(
    kills=[
        "route-lacks-acting-master",
        "acting-master-is-always-false",
        "routes-keep-what-a-name-says-of-itself",
    ]
)
def test_acting_master_is_shown(ns: NameServerSession) -> None:
    plain, acting = registered(ns), ns.broker()
    for enabled in (True, False):
        acting.register(ext={"enableActingMaster": enabled}) >> Reply(SUCCESS)
        told = {plain.name: False, acting.name: enabled}
        expected = {name: Including({"enableActingMaster": value}) for name, value in told.items()}
        ns.route(plain.topic("A")).brokers >> Reply(SUCCESS, expected)


@case(kills=["mappings-are-not-kept", "mapping-is-shown-for-every-topic"])
def test_static_mapping_is_shown(ns: NameServerSession) -> None:
    broker = ns.broker()
    topic = broker.topic("A")
    body = broker.body()
    body.mappings = {topic: TopicQueueMappingInfo(topic, broker.name, 2, 5, curr_id_map={0: 1})}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    told = Including(
        {"bname": broker.name, "currIdMap": {"0": 1}, "epoch": 5, "topic": topic, "totalQueues": 2}
    )
    ns.route(topic).json >> Reply(SUCCESS, Including({"topicQueueMappingByBroker": {broker.name: told}}))
    ns.route(broker.topic("B")).json >> Reply(SUCCESS, Including({"topicQueueMappingByBroker": ABSENT}))


@case(kills=["mappings-are-never-dropped"])
def test_static_mapping_goes_with_its_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    body, topic = broker.body(), broker.topic("A")
    body.mappings = {topic: TopicQueueMappingInfo(topic, broker.name, 2, 5, curr_id_map={0: 1})}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    broker.unregister() >> Reply(SUCCESS)
    ns.route(topic).eventually() >> Reply(TOPIC_NOT_EXIST)
    broker.register() >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"topicQueueMappingByBroker": ABSENT}))


@case(kills=["filter-servers-of-masters-only"])
def test_filter_servers_of_every_address(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling(topics=())
    master.register(filters=["f:1", "f:2"]) >> Reply(SUCCESS)
    slave.register(filters=["f:3"]) >> Reply(SUCCESS)
    expected = {master.address: ["f:1", "f:2"], slave.address: ["f:3"]}
    ns.route(master.topic("A")).filters >> Reply(SUCCESS, expected)


@case(kills=["filter-servers-of-everyone"])
def test_filter_servers_of_its_brokers_only(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker(topics=("C", "D"))
    one.register(filters=["f:1"]) >> Reply(SUCCESS)
    other.register(filters=["f:2"]) >> Reply(SUCCESS)
    ns.route(one.topic("A")).filters >> Reply(SUCCESS, {one.address: ["f:1"]})


# --- in which JSON ------------------------------------------------------------------------------------------


@case(
    kills=["standard-json-only-on-request", "historical-4473-no-standard-json", "first-client-sets-the-json"]
)
def test_standard_json_for_new_clients(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    topic = master.topic("B")
    same = (ns.route(topic, version=OLD).json >> Reply(SUCCESS)).value
    ns.route(topic, version=STANDARD).strict_json >> Reply(SUCCESS, same)
    ns.route(topic, version=NEW).strict_json >> Reply(SUCCESS, same)
    ns.route(topic, version=NEW).addresses >> Reply(
        SUCCESS, {master.name: {0: master.address, 5: slave.address}}
    )


@case(kills=["standard-json-only-for-new-clients", "standard-json-flag-is-case-sensitive"])
def test_standard_json_on_request(ns: NameServerSession) -> None:
    master, _ = pair(ns)
    topic = master.topic("A")
    same = (ns.route(topic, version=OLD).json >> Reply(SUCCESS)).value
    ns.route(topic, True, version=0).strict_json >> Reply(SUCCESS, same)
    ns.route(topic, ext={"acceptStandardJsonOnly": "TRUE"}, version=0).strict_json >> Reply(SUCCESS, same)


@case(kills=["older-clients-are-refused"])
def test_older_clients_can_read(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    addresses = {master.name: {0: master.address, 5: slave.address}}
    ns.route(master.topic("A"), version=OLD).addresses >> Reply(SUCCESS, addresses)
    ns.route(master.topic("A"), version=0).addresses >> Reply(SUCCESS, addresses)


@case(kills=["standard-flavour-lacks-filter-servers", "legacy-flavour-lacks-slaves"])
def test_flavours_are_equal(ns: NameServerSession) -> None:
    master = ns.broker(name=f"{ns.name('broker')}-é")
    master.register(filters=["10.1.1.1:3000"]) >> Reply(SUCCESS)
    master.sibling().register() >> Reply(SUCCESS)
    topic = master.topic("A")
    ns.route(topic).addresses >> Reply(SUCCESS, {master.name: ANYTHING})
    legacy = (ns.route(topic, version=0).json >> Reply(SUCCESS)).value
    ns.route(topic, version=NEW).json >> Reply(SUCCESS, legacy)
    ns.route(topic, True, version=0).json >> Reply(SUCCESS, legacy)


@case(kills=["standard-flavour-is-ascii", "legacy-flavour-is-latin-1"])
def test_non_ascii_names_survive(ns: NameServerSession) -> None:
    edges = "\uffff\U00010000\U0010ffff"
    broker = ns.broker(name=f"{ns.name('broker')}-é中{edges}", cluster=f"{ns.name('cluster')}-ü\U0001f600")
    topic, second = f"{broker.topic('T')}-é中", broker.topic("A")
    broker.register(body=broker.body_of(topic, second).encode()) >> Reply(SUCCESS)
    told = {broker.name: Including({"brokerName": broker.name, "cluster": broker.cluster})}
    ns.route(topic, version=0).brokers >> Reply(SUCCESS, told)
    ns.route(topic, version=NEW).brokers >> Reply(SUCCESS, told)


# --- zones --------------------------------------------------------------------------------------------------


@case(kills=["zone-name-is-enough", "zone-mode-is-enough", "zones-are-not-distinguished"])
def test_zone_needs_both_fields(ns: NameServerSession) -> None:
    broker = registered(ns)
    everything = {broker.name: {0: broker.address}}
    for ext in UNZONED:
        ns.route(broker.topic("A"), ext=ext).addresses >> Reply(SUCCESS, everything)


@case(
    kills=[
        "zones-are-ignored",
        "zones-are-case-sensitive",
        "zone-keeps-all-queue-data",
        "masters-without-zone-serve-every-zone",
    ]
)
def test_zone_keeps_its_masters(ns: NameServerSession) -> None:
    here, there, nowhere = ns.broker(), ns.broker(), ns.broker()
    here.register(ext={"__ZONE_NAME": "z1"}) >> Reply(SUCCESS)
    there.register(ext={"__ZONE_NAME": "z2"}) >> Reply(SUCCESS)
    nowhere.register() >> Reply(SUCCESS)
    route = ns.route(here.topic("A"), ext=IN_ZONE)
    route.addresses >> Reply(SUCCESS, {here.name: {0: here.address}})
    route.queues >> Reply(SUCCESS, {here.name: (8, 8, 6, 0)})


@case(kills=["zone-drops-slaves-without-master"])
def test_zone_keeps_slaves_without_master(ns: NameServerSession) -> None:
    master, slave = pair(ns)
    master.unregister() >> Reply(SUCCESS)
    ns.settle()
    ns.route(master.topic("A"), ext=IN_ZONE).addresses >> Reply(SUCCESS, {master.name: {5: slave.address}})


@case(kills=["zone-route-is-legacy-json"])
def test_zone_route_is_standard_json(ns: NameServerSession) -> None:
    broker = ns.broker()
    zone: Fields = {"__ZONE_MODE": True, "__ZONE_NAME": "east"}
    broker.register(ext={"__ZONE_NAME": "east"}) >> Reply(SUCCESS)
    routed(ns, broker)
    same = (ns.route(broker.topic("A"), ext=zone, version=OLD).json >> Reply(SUCCESS)).value
    ns.route(broker.topic("A"), True, ext=zone, version=0).strict_json >> Reply(SUCCESS, same)
    ns.route(broker.topic("A"), ext=zone, version=STANDARD).strict_json >> Reply(SUCCESS, same)


@case(kills=["unknown-topic-has-an-empty-route"])
def test_zone_of_unknown_topic(ns: NameServerSession) -> None:
    ns.route(ns.topic("A"), ext=IN_ZONE) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["zone-mode-is-case-sensitive"])
def test_zone_mode_ignores_case(ns: NameServerSession) -> None:
    away = ns.broker()
    away.register(ext={"__ZONE_NAME": "z2"}) >> Reply(SUCCESS)
    for mode in ("true", "TRUE", "True"):
        ext = {"__ZONE_MODE": mode, "__ZONE_NAME": "z1"}
        ns.route(away.topic("A"), ext=ext).addresses >> Reply(SUCCESS, {})


@case(kills=["zone-without-brokers-does-not-exist"])
def test_zone_without_brokers_is_a_success(ns: NameServerSession) -> None:
    away = ns.broker()
    away.register(ext={"__ZONE_NAME": "z2"}) >> Reply(SUCCESS)
    route = ns.route(away.topic("A"), ext=IN_ZONE)
    route.addresses >> Reply(SUCCESS, {})
    route.queues >> Reply(SUCCESS, {})


@case(kills=["zone-keeps-all-filter-servers"])
def test_zone_drops_filter_servers(ns: NameServerSession) -> None:
    here, there = ns.broker(), ns.broker()
    here.register(ext={"__ZONE_NAME": "z1"}, filters=["f:1"]) >> Reply(SUCCESS)
    there.register(ext={"__ZONE_NAME": "z2"}, filters=["f:2"]) >> Reply(SUCCESS)
    ns.route(here.topic("A"), ext=IN_ZONE).filters >> Reply(SUCCESS, {here.address: ["f:1"]})


@case(kills=["zone-drops-mappings"])
def test_zone_keeps_mappings_of_its_brokers(ns: NameServerSession) -> None:
    here = ns.broker()
    topic, body = here.topic("A"), here.body()
    body.mappings = {topic: TopicQueueMappingInfo(topic, here.name, 2, 5)}
    here.register(body=body.encode(), ext={"__ZONE_NAME": "z1"}) >> Reply(SUCCESS)
    told = Including({here.name: Including({"epoch": 5})})
    ns.route(topic, ext=IN_ZONE).mappings >> Reply(SUCCESS, told)


# --- routes that wait ---------------------------------------------------------------------------------------


@case(kills=["routes-do-not-wait", "unknown-topics-do-not-wait"], setup=ROUTES_WAIT)
def test_wait_refuses_every_route(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.route(broker.topic("A")).text >> Reply(ResponseCode.SYSTEM_ERROR, b"")
    ns.route(ns.topic("nothing")) >> Reply(ResponseCode.SYSTEM_ERROR)
    ns.route(broker.topic("A"), ext=IN_ZONE) >> Reply(ResponseCode.SYSTEM_ERROR)


@case(kills=["wait-has-no-remark"], setup=ROUTES_WAIT)
def test_wait_remark(ns: NameServerSession) -> None:
    ns.route(ns.topic("A")) >> Reply(ResponseCode.SYSTEM_ERROR, remark="name server not ready")


@case(kills=["everything-waits"], setup=ROUTES_WAIT)
def test_wait_is_for_routes_only(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.topics().among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))
    ns.cluster_topics(broker.cluster).among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))
    broker.query_version().changed >> Reply(SUCCESS, False)
    broker.heartbeat() >> Reply(SUCCESS)
    broker.unregister() >> Reply(SUCCESS)


@case(
    kills=["routes-wait-for-ever", "historical-9182-first-route-ends-readiness"],
    clock=True,
    setup=ROUTES_WAIT_A_SECOND,
)
def test_wait_ends(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.advance(1)
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})
    ns.route(ns.topic("nothing")) >> Reply(TOPIC_NOT_EXIST)
