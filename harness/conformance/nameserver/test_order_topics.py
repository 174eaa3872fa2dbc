"""Chapter order-topics: the order configuration (ORDER_TOPIC_CONFIG) in routes and registrations."""

from harness.conformance import Reply, case
from harness.conformance.nameserver.brokers import routed
from harness.conformance.nameserver.settings import ORDER_IS_NOT_RETURNED, ORDER_IS_SHOWN
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
ORDER = "ORDER_TOPIC_CONFIG"


def ordered(ns: NameServerSession) -> Broker:
    """A broker that serves the topics A and B, of which A has an order configuration."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.put_kv(ORDER, broker.topic("A"), f"{broker.name}:8") >> Reply(SUCCESS)
    return broker


@case(kills=["order-configuration-is-never-told", "order-configuration-is-any-topics"], setup=ORDER_IS_SHOWN)
def test_route_tells_configuration(ns: NameServerSession) -> None:
    broker = ordered(ns)
    ns.route(broker.topic("A")).order >> Reply(SUCCESS, f"{broker.name}:8")
    ns.route(broker.topic("B")).order >> Reply(SUCCESS, None)


@case(kills=["order-configuration-is-cached-with-the-route"], setup=ORDER_IS_SHOWN)
def test_route_follows_changes(ns: NameServerSession) -> None:
    broker, client = ordered(ns), ns.connect()
    topic = broker.topic("A")
    ns.route(topic, on=client).order >> Reply(SUCCESS, f"{broker.name}:8")
    ns.put_kv(ORDER, topic, f"{broker.name}:4") >> Reply(SUCCESS)
    ns.route(topic, on=client).order >> Reply(SUCCESS, f"{broker.name}:4")
    ns.delete_kv(ORDER, topic) >> Reply(SUCCESS)
    ns.route(topic, on=client).order >> Reply(SUCCESS, None)


@case(kills=["legacy-flavour-lacks-order"], setup=ORDER_IS_SHOWN)
def test_both_flavours_tell_it(ns: NameServerSession) -> None:
    broker = ordered(ns)
    ns.route(broker.topic("A"), version=400).order >> Reply(SUCCESS, f"{broker.name}:8")
    ns.route(broker.topic("A"), version=479).order >> Reply(SUCCESS, f"{broker.name}:8")


@case(kills=["order-configuration-makes-a-route"], setup=ORDER_IS_SHOWN)
def test_configuration_makes_no_route(ns: NameServerSession) -> None:
    ns.put_kv(ORDER, ns.topic("A"), "broker:8") >> Reply(SUCCESS)
    ns.route(ns.topic("A")) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["order-configuration-of-any-namespace"], setup=ORDER_IS_SHOWN)
def test_other_namespaces_do_not_count(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    routed(ns, broker)
    ns.put_kv(ns.name("namespace"), broker.topic("A"), f"{broker.name}:8") >> Reply(SUCCESS)
    ns.route(broker.topic("A")).order >> Reply(SUCCESS, None)


@case(kills=["order-configuration-names-present-brokers"], setup=ORDER_IS_SHOWN)
def test_absent_brokers_are_shown(ns: NameServerSession) -> None:
    broker = ordered(ns)
    told = f"{broker.name}:8;{ns.name('gone')}:4"
    ns.put_kv(ORDER, broker.topic("A"), told) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).order >> Reply(SUCCESS, told)


@case(kills=["order-table-is-always-returned"], setup=ORDER_IS_NOT_RETURNED)
def test_table_is_held_back_if_configured(ns: NameServerSession) -> None:
    broker = ordered(ns)
    broker.register() >> Reply(SUCCESS, b"")
    broker.sibling().register().master >> Reply(SUCCESS, (broker.address, broker.ha), body=b"")
