"""Chapter configuration: what the server does under other settings, and the file that keeps them."""

import itertools
from collections.abc import Callable
from typing import Any

from harness.conformance import ABSENT, ANYTHING, Closed, Including, Reply, Unchanged, case
from harness.conformance.nameserver.configuration.values import IDLE, STARTED
from harness.session import Connection, NameServerSession
from harness.session.exchange import Exchange
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS

SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR

NO_PERMISSION = ResponseCode.NO_PERMISSION

TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

QUERY = RequestCode.GET_BROKER_CLUSTER_INFO

ORDER = "ORDER_TOPIC_CONFIG"


def warmed(ns: NameServerSession) -> Connection:
    """A new connection on which a request was answered."""
    connection = ns.connect()
    connection.call(QUERY) >> Reply(SUCCESS)
    return connection


# -- what the server then does -------------------------------------------------------------------------------


@case(kills=["settings-are-those-of-the-start", "routes-are-those-before-the-update"], apart=True)
def test_order_is_shown_from_then_on(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    topic, shown = broker.topic("A"), f"{broker.name}:4"
    ns.put_kv(ORDER, topic, shown) >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": ABSENT}))
    ns.update_config("orderMessageEnable=true") >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": shown}))
    ns.update_config("orderMessageEnable=false") >> Reply(SUCCESS)
    ns.route(topic).json >> Reply(SUCCESS, Including({"orderTopicConf": ABSENT}))


@case(kills=["changes-of-routes-and-settings-cancel", "changes-of-routes-and-entries-cancel"], apart=True)
def test_routes_are_current_beside_other_changes(ns: NameServerSession) -> None:
    broker, namespace = ns.broker(), ns.name("KV")
    broker.register() >> Reply(SUCCESS)
    topic = broker.topic("A")
    beside: tuple[Callable[[str], Exchange], ...] = (
        lambda text: ns.update_config(f"productEnvName={text}"),
        lambda text: ns.put_kv(namespace, "key", text),
    )
    for queues, (change, times) in enumerate(itertools.product(beside, (1, 2, 3)), 10):
        ns.route(topic) >> Reply(SUCCESS)
        broker.register({"A": (queues, queues, 6)}, broker.newer(queues)) >> Reply(SUCCESS)
        for number in range(times):
            change(f"v{number}") >> Reply(SUCCESS)
        ns.route(topic).queues >> Reply(SUCCESS, {broker.name: (queues, queues, 6, 0)})


@case(kills=["settings-are-those-of-the-start"], apart=True)
def test_order_is_returned_until_then(ns: NameServerSession) -> None:
    broker = ns.broker()
    ns.put_kv(ORDER, broker.topic("A"), f"{broker.name}:4") >> Reply(SUCCESS)
    broker.register().json >> Reply(SUCCESS, Including({"table": Including({broker.topic("A"): ANYTHING})}))
    ns.update_config("returnOrderTopicConfigToBroker=false") >> Reply(SUCCESS)
    broker.register().body >> Reply(SUCCESS, b"")
    ns.update_config("returnOrderTopicConfigToBroker=true") >> Reply(SUCCESS)


@case(kills=["settings-are-those-of-the-start"], apart=True)
def test_topics_are_listed_until_then(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.update_config("enableAllTopicList=false") >> Reply(SUCCESS)
    ns.topics() >> Reply(SYSTEM_ERROR)
    call_topics_of(ns, broker.cluster) >> Reply(SUCCESS)
    ns.update_config("enableAllTopicList=true\nenableTopicList=false") >> Reply(SUCCESS)
    ns.topics() >> Reply(SUCCESS)
    call_topics_of(ns, broker.cluster) >> Reply(SYSTEM_ERROR)
    ns.update_config("enableTopicList=true") >> Reply(SUCCESS)


def call_topics_of(ns: NameServerSession, cluster: str) -> Any:
    return ns.connect().call(RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": cluster})


@case(kills=["settings-are-those-of-the-start"], apart=True)
def test_acting_master_is_shown_from_then_on(ns: NameServerSession) -> None:
    slave = ns.broker(id=1)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})
    ns.update_config("supportActingMaster=true") >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {0: slave.address}})
    ns.update_config("supportActingMaster=false") >> Reply(SUCCESS)
    ns.route(slave.topic("A")).addresses >> Reply(SUCCESS, {slave.name: {1: slave.address}})


# A server of its own: up to 5.2.0 the first route that Apache's server found ended its readiness for ever
# (#9182), and a case before this one may have asked for one.
@case(kills=["settings-are-those-of-the-start"], own_server=True)
def test_routes_wait_from_then_on(ns: NameServerSession) -> None:
    topic = ns.topic("A")
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("needWaitForService=true\nwaitSecondsForService=86400") >> Reply(SUCCESS)
    ns.route(topic) >> Reply(SYSTEM_ERROR)
    ns.update_config("waitSecondsForService=0") >> Reply(SUCCESS)
    ns.route(topic) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("waitSecondsForService=45\nneedWaitForService=false") >> Reply(SUCCESS)


@case(kills=["settings-are-those-of-the-start"], apart=True)
def test_absent_topics_go_from_then_on(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A", "B", "C"])
    broker.register() >> Reply(SUCCESS)
    broker.register(topics=["A", "B"], version=broker.newer(1)) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> Reply(SUCCESS)
    ns.update_config("deleteTopicWithBrokerRegistration=true") >> Reply(SUCCESS)
    broker.register(topics=["A", "B"], version=broker.newer(2)) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> Reply(TOPIC_NOT_EXIST)
    ns.update_config("deleteTopicWithBrokerRegistration=false") >> Reply(SUCCESS)


@case(
    kills=["idle-limit-is-that-of-the-start", "latest-idle-limit-alone-is-watched"],
    clock=True,
    own_server=True,
)
def test_idle_limit_is_that_of_acceptance(ns: NameServerSession) -> None:
    before = warmed(ns)
    ns.update_config("serverChannelMaxIdleTimeSeconds=30") >> Reply(SUCCESS)
    during = warmed(ns)
    ns.update_config("serverChannelMaxIdleTimeSeconds=150") >> Reply(SUCCESS)
    after = warmed(ns)
    ns.update_config("serverChannelMaxIdleTimeSeconds=120") >> Reply(SUCCESS)
    ns.advance(60, idle=[before, during, after])
    during.call(QUERY) >> Closed()
    before.call(QUERY) >> Reply(SUCCESS)
    after.call(QUERY) >> Reply(SUCCESS)


@case(kills=["no-idle-limit-is-that-by-default"], clock=True, own_server=True)
def test_idle_limit_may_be_none(ns: NameServerSession) -> None:
    limited, unlimited = warmed(ns), []
    for seconds in (0, -1):
        ns.update_config(f"{IDLE}={seconds}") >> Reply(SUCCESS)
        unlimited.append(warmed(ns))
    began = ns.mark()
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.connection.close()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)
    ns.advance_past(ns.profile.idle, began, idle=(limited, *unlimited))
    limited.call(QUERY) >> Closed()
    for connection in unlimited:
        connection.call(QUERY) >> Reply(SUCCESS)


# -- the file ------------------------------------------------------------------------------------------------


@case(
    "ns.configuration.update-survives-a-restart",
    "ns.configuration.refused-update-does-not-come-with-a-restart",
    "ns.lifecycle.routes-do-not-survive-a-restart",
    kills=[
        "topics-survive-a-restart",
        "updates-are-not-written",
        "first-update-is-written",
        "refused-update-is-written",
        "other-keys-are-not-written",
    ],
    setup=STARTED,
    own_server=True,
)
def test_update_survives_a_restart(ns: NameServerSession) -> None:
    """After a restart, updates are in force, refused updates are not, and no route is left."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.topics().among([broker.topic("A")]) >> Reply(SUCCESS, [broker.topic("A")])
    ns.update_config(f"{IDLE}=122\nmine=changed") >> Reply(SUCCESS)
    ns.update_config("orderMessageEnable=true") >> Reply(SUCCESS)
    before = ns.config().settings >> Reply(SUCCESS)
    ns.update_config(f"{IDLE}=123\nkvConfigPath=/x") >> Reply(NO_PERMISSION)
    ns.restart()
    ns.config().settings >> Unchanged(before)
    ns.config().among(IDLE, "mine") >> Reply(SUCCESS, {IDLE: "122", "mine": "changed"})
    ns.update_config("kvConfigPath=/x") >> Reply(NO_PERMISSION)
    ns.topics().among([broker.topic("A")]) >> Reply(SUCCESS, [])
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, ABSENT)


@case(kills=["values-are-written-as-they-are", "updates-are-not-written"], setup=STARTED, own_server=True)
def test_line_break_stays_within_its_value(ns: NameServerSession) -> None:
    ns.update_config(r"productEnvName=a\norderMessageEnable\=true") >> Reply(SUCCESS)
    ns.restart()
    shown = {"productEnvName": "a\norderMessageEnable=true", "orderMessageEnable": "false"}
    ns.config().among("productEnvName", "orderMessageEnable") >> Reply(SUCCESS, shown)
