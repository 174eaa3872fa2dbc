"""Chapter concurrency: what several peers do at the same time.

A case sends requests on many connections before it reads any answer. The server may carry them out in any
order, so a case judges only what holds in every order. The numbers are small: the point is that requests
overlap.
"""

from harness.conformance import AnyOf, Reply, case
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS, TOPIC_NOT_EXIST = ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST

CROWD = 12
"""Brokers that do something at the same time."""
ROUNDS = 4
"""How often a race is run: enough to meet both of its ends."""


def crowd(ns: NameServerSession, cluster: str) -> list[Broker]:
    """Brokers of one cluster, each with a connection that is open and a topic of its own."""
    brokers = [ns.broker(cluster=cluster, topics=("all", f"own-{number}")) for number in range(CROWD)]
    for broker in brokers:
        ns.route(broker.topic("all"), on=broker.connection) >> Reply((SUCCESS, TOPIC_NOT_EXIST))
    return brokers


def all_register(brokers: list[Broker]) -> None:
    """All of them register at once."""
    asked = [broker.register() for broker in brokers]
    for one in asked:
        one >> Reply(SUCCESS)


@case(kills=["crowd-displaces-its-first"])
def test_registrations_do_not_displace_each_other(ns: NameServerSession) -> None:
    cluster = ns.name("cluster")
    brokers = crowd(ns, cluster)
    all_register(brokers)
    ns.cluster().names(cluster) >> Reply(SUCCESS, sorted(broker.name for broker in brokers))
    everybody = {broker.name: {0: broker.address} for broker in brokers}
    ns.route(ns.topic("all")).addresses >> Reply(SUCCESS, everybody)
    for number, broker in enumerate(brokers):
        ns.route(ns.topic(f"own-{number}")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["departure-behind-another-is-lost"])
def test_departures_leave_nothing(ns: NameServerSession) -> None:
    cluster = ns.name("cluster")
    brokers = crowd(ns, cluster)
    all_register(brokers)
    asked = [broker.unregister() for broker in brokers[::2]]
    for broker in brokers[1::2]:
        broker.connection.close()
    for one in asked:
        one >> Reply(SUCCESS)
    ns.route(ns.topic("all")).eventually() >> Reply(TOPIC_NOT_EXIST)
    ns.cluster().names(cluster).eventually() >> Reply(SUCCESS, None)
    own = [ns.topic(f"own-{number}") for number in range(CROWD)]
    ns.topics().among(own).eventually() >> Reply(SUCCESS, [])


@case(kills=["cluster-information-shows-the-latest", "topic-list-shows-the-latest"])
def test_reads_see_what_stays(ns: NameServerSession) -> None:
    cluster = ns.name("cluster")
    staying = ns.broker(cluster=cluster, topics=("all", "mine"))
    staying.register() >> Reply(SUCCESS)
    here = {0: staying.address}
    brokers = crowd(ns, cluster)
    for _ in range(ROUNDS):
        coming = [broker.register() for broker in brokers]
        ns.cluster().addresses(staying.name) >> Reply(SUCCESS, here)
        ns.topics().among([staying.topic("mine")]) >> Reply(SUCCESS, [staying.topic("mine")])
        for one in coming:
            one >> Reply(SUCCESS)
        going = [broker.unregister() for broker in brokers]
        ns.route(staying.topic("mine")).addresses >> Reply(SUCCESS, {staying.name: here})
        ns.cluster().addresses(staying.name) >> Reply(SUCCESS, here)
        for request in going:
            request >> Reply(SUCCESS)
        ns.settle()
    ns.route(ns.topic("all")).addresses >> Reply(SUCCESS, {staying.name: here})


@case(kills=["contested-id-has-two-holders"])
def test_contested_id_has_one_holder(ns: NameServerSession) -> None:
    first = ns.broker()
    rivals = [first, *(first.sibling(id=0) for _ in range(3))]
    for _ in range(ROUNDS):
        asked = [rival.register() for rival in rivals]
        for one in asked:
            one >> Reply(SUCCESS)
        held = [Reply(SUCCESS, {0: rival.address}) for rival in rivals]
        ns.cluster().addresses(first.name) >> AnyOf(*held)


@case(kills=["old-connections-end-again"])
def test_returning_broker_is_served(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    for _ in range(ROUNDS):
        broker.connection.close()
        broker.reconnect()
        broker.register() >> Reply(SUCCESS)
    ns.settle()
    broker.register() >> Reply(SUCCESS)
    for topic in broker.topics:
        ns.route(topic).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})
