"""Chapter topic-registration: REGISTER_TOPIC_IN_NAMESRV (217), which only 5.x knows."""

import json

from harness.conformance import ABSENT, AnyOf, Reply, case
from harness.conformance.nameserver.brokers import registered, routed
from harness.session import NameServerSession
from harness.wire import ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST


@case(kills=["217-is-ignored", "217-swaps-queue-numbers", "217-takes-one-queue-data"])
def test_topic_becomes_routable(ns: NameServerSession) -> None:
    one, other, topic = registered(ns), registered(ns), ns.topic("N")
    ns.register_topic(topic, {one.name: (1, 2, 4, 3), other.name: (5, 6, 6, 0)}) >> Reply(SUCCESS)
    route = ns.route(topic)
    route.queues >> Reply(SUCCESS, {one.name: (1, 2, 4, 3), other.name: (5, 6, 6, 0)})
    route.addresses >> Reply(SUCCESS, {one.name: {0: one.address}, other.name: {0: other.address}})
    ns.topics().among([topic]) >> Reply(SUCCESS, [topic])


@case(kills=["217-reads-64-kib"])
def test_long_body_is_read(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    body = TopicRoute(order_topic_conf="x" * 70_000, queue_datas=[QueueData(broker.name, 1, 2, 4)])
    ns.register_topic(topic, body=body.encode()) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, 0)})


@case(kills=["217-is-answered-with-the-route"])
def test_reply_is_plain(ns: NameServerSession) -> None:
    broker = registered(ns)
    routed(ns, broker)
    ns.register_topic(ns.topic("N"), {broker.name: (8, 8, 6)}) >> Reply(SUCCESS, b"", ext={}, remark=ABSENT)


@case(kills=["217-takes-unknown-brokers", "217-passes-over-unknown-brokers"])
def test_unknown_broker_gives_nothing(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    for names in ([ns.name("broker")], [broker.name, ns.name("broker")], [ns.name("broker"), broker.name]):
        ns.register_topic(topic, dict.fromkeys(names, (8, 8, 6))) >> Reply(SUCCESS)
        ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among([topic]) >> Reply(SUCCESS, [])


@case(kills=["217-takes-unknown-brokers"])
def test_unknown_broker_joins_no_known_topic(ns: NameServerSession) -> None:
    broker, unknown = registered(ns), ns.name("broker")
    topic = broker.topic("A")
    ns.register_topic(topic, {unknown: (1, 1, 6)}) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case(kills=["217-is-all-or-nothing", "217-passes-over-unknown-brokers"])
def test_known_topic_takes_what_precedes_unknown_broker(ns: NameServerSession) -> None:
    one, other, third = registered(ns), registered(ns), registered(ns)
    queues = {one.name: (1, 1, 4), ns.name("broker"): (2, 2, 6), other.name: (3, 3, 4)}
    ns.register_topic(one.topic("A"), queues) >> Reply(SUCCESS)
    kept = (8, 8, 6, 0)
    expected = {one.name: (1, 1, 4, 0), other.name: kept, third.name: kept}
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, expected)


@case(kills=["217-changes-no-known-topic"])
def test_known_topic_is_changed(ns: NameServerSession) -> None:
    one, other = registered(ns), ns.broker(topics=("C", "D"))
    other.register() >> Reply(SUCCESS)
    ns.register_topic(one.topic("A"), {one.name: (1, 2, 4, 1), other.name: (3, 4, 6)}) >> Reply(SUCCESS)
    expected = {one.name: (1, 2, 4, 1), other.name: (3, 4, 6, 0)}
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, expected)


@case(kills=["217-replaces-the-topic"])
def test_other_brokers_stay(ns: NameServerSession) -> None:
    one, other = registered(ns), registered(ns)
    ns.register_topic(one.topic("A"), {one.name: (1, 1, 4)}) >> Reply(SUCCESS)
    ns.route(one.topic("A")).queues >> Reply(SUCCESS, {one.name: (1, 1, 4, 0), other.name: (8, 8, 6, 0)})


@case(kills=["217-needs-a-body", "217-empties-the-topic"])
def test_nothing_given_changes_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    for body in (b"", b"null", b"{}", b'{"queueDatas":[]}', b'{"queueDatas":null}'):
        ns.register_topic(ns.topic("N"), body=body) >> Reply(SUCCESS)
        ns.register_topic(broker.topic("A"), body=body) >> Reply(SUCCESS)
    ns.route(ns.topic("N")) >> Reply(TOPIC_NOT_EXIST)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case(kills=["217-without-topic-is-for-the-empty-topic"])
def test_no_topic_changes_nothing(ns: NameServerSession) -> None:
    broker = registered(ns)
    allowed = AnyOf(Reply(SUCCESS), deviates=[Reply(SYSTEM_ERROR)])
    ns.register_topic(None, {broker.name: (8, 8, 6)}) >> allowed
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 2)


@case(kills=["217-forgives-malformed-bodies"])
def test_malformed_body_is_refused(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    for body in (b"{{", f'{{"queueDatas":[{{"brokerName":"{broker.name}"'.encode()):
        ns.register_topic(topic, body=body) >> Reply(SYSTEM_ERROR)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["217-registers-brokers"])
def test_broker_data_are_ignored(ns: NameServerSession) -> None:
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


@case(kills=["217-reads-standard-json-only"])
def test_legacy_json_is_read(ns: NameServerSession) -> None:
    broker = registered(ns)
    body = TopicRoute(
        [QueueData(broker.name, 8, 8, 6)], [BrokerData(broker.cluster, broker.name, {0: broker.address})]
    )
    ns.register_topic(ns.topic("N"), body=body.encode("legacy")) >> Reply(SUCCESS)
    ns.route(ns.topic("N")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case(kills=["equal-version-overwrites-queues"])
def test_equal_version_keeps_it(ns: NameServerSession) -> None:
    broker = registered(ns)
    ns.register_topic(broker.topic("A"), {broker.name: (1, 1, 4)}) >> Reply(SUCCESS)
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (1, 1, 4, 0)})


@case(kills=["known-queues-are-never-updated"])
def test_changed_version_replaces_it(ns: NameServerSession) -> None:
    broker = registered(ns)
    for topic in (broker.topic("A"), ns.topic("N")):
        ns.register_topic(topic, {broker.name: (1, 1, 4)}) >> Reply(SUCCESS)
    broker.register(version=broker.newer()) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    ns.route(ns.topic("N")).queues >> Reply(SUCCESS, {broker.name: (1, 1, 4, 0)})


@case(kills=["topics-outlive-their-broker"])
def test_topic_leaves_with_its_broker(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    ns.register_topic(topic, {broker.name: (8, 8, 6)}) >> Reply(SUCCESS)
    broker.unregister() >> Reply(SUCCESS)
    ns.route(topic).eventually() >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among([topic]) >> Reply(SUCCESS, [])


@case(kills=["wipe-takes-one-topic"])
def test_counts_as_the_brokers(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    ns.register_topic(topic, {broker.name: (8, 8, 6)}) >> Reply(SUCCESS)
    ns.cluster_topics(broker.cluster).among([topic]) >> Reply(SUCCESS, [topic])
    ns.wipe_write_perm(broker.name).count >> Reply(SUCCESS, 3)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (8, 8, 4, 0)})


@case(kills=["217-needs-a-master"])
def test_slaves_name_is_known(ns: NameServerSession) -> None:
    slave = ns.broker(1)
    slave.register() >> Reply(SUCCESS)
    ns.register_topic(ns.topic("N"), {slave.name: (8, 8, 4)}) >> Reply(SUCCESS)
    ns.route(ns.topic("N")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


@case(kills=["217-reads-strict-members-only"])
def test_numbers_may_be_text(ns: NameServerSession) -> None:
    one, other, topic = registered(ns), registered(ns), ns.topic("N")
    names = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    queues = [
        {"brokerName": one.name, **dict(zip(names, ("1", "2", "4", "3"), strict=True))},
        {"brokerName": other.name, **dict(zip(names, (5, "6", 6, None), strict=True)), "more": {}},
    ]
    body = {"queueDatas": queues, "brokerDatas": None, "orderTopicConf": 5}
    ns.register_topic(topic, body=json.dumps(body).encode()) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {one.name: (1, 2, 4, 3), other.name: (5, 6, 6, 0)})


@case(kills=["217-gives-the-permission-of-a-new-topic", "217-gives-the-queues-of-a-new-topic"])
def test_missing_numbers_are_zero(ns: NameServerSession) -> None:
    one, other, topic = registered(ns), registered(ns), ns.topic("N")
    nulls = dict.fromkeys(("readQueueNums", "writeQueueNums", "perm", "topicSysFlag"))
    for queue in ({"brokerName": one.name}, {"brokerName": other.name, **nulls}):
        ns.register_topic(topic, body=json.dumps({"queueDatas": [queue]}).encode()) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, dict.fromkeys((one.name, other.name), (0, 0, 0, 0)))


@case(kills=["217-takes-text-for-a-list"])
def test_text_for_a_list_is_refused(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    queues = [QueueData(broker.name, 1, 2, 4)]
    body = TopicRoute(queues, filter_server_table={"x": [""]}).encode()
    ns.register_topic(topic, body=body.replace(b'[""]', b'""')) >> Reply(SYSTEM_ERROR)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.register_topic(topic, body=body) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, 0)})


@case(kills=["topic-registrations-that-are-no-utf-8-are-read"])
def test_no_utf_8_changes_nothing(ns: NameServerSession) -> None:
    broker, topic = registered(ns), ns.topic("N")
    body = TopicRoute(order_topic_conf="?", queue_datas=[QueueData(broker.name, 1, 2, 4)]).encode()
    changed_nothing = AnyOf(Reply(SUCCESS), Reply(SYSTEM_ERROR))
    ns.register_topic(topic, body=body.replace(b"?", b"\xff")) >> changed_nothing
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.register_topic(topic, body=body.replace(b"?", b"\xc3\xbf")) >> Reply(SUCCESS)
    ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, 0)})
