"""Brokers that are removed, and those that stay."""

from harness.conformance import ABSENT, Reply
from harness.session import Broker, NameServerSession
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
MIDWAY = 80
"""Protocol seconds into a lease."""
ACTING = {"enableActingMaster": True}
QUEUES = {"A": (4, 4, 6), "B": (8, 8, 4)}


def pair(ns: NameServerSession, ext: dict[str, bool] | None = None) -> tuple[Broker, Broker]:
    """A master with topics of its own numbers, and its slave, both registered with these ext fields."""
    master = ns.broker(topics=QUEUES)
    slave = master.sibling()
    master.register(ext=ext) >> Reply(SUCCESS)
    slave.register(ext=ext) >> Reply(SUCCESS)
    return master, slave


def two_names(ns: NameServerSession) -> tuple[Broker, Broker]:
    """Two masters of different names that serve the same topics."""
    one, other = ns.broker(), ns.broker()
    one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    return one, other


def goes(ns: NameServerSession, broker: Broker) -> None:
    """Soon the broker's topics are not routed."""
    ns.route(broker.topic("A")).eventually() >> Reply(TOPIC_NOT_EXIST)


def stays(ns: NameServerSession, broker: Broker) -> None:
    """Once the server has settled, the broker is routed as it registered."""
    ns.settle()
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {broker.id: broker.address}})


def only(ns: NameServerSession, master: Broker, left: Broker, permission: int = 6) -> None:
    """`left` is all that is listed of the name; its topics are as registered, A with this permission."""
    ns.route(master.topic("A")).addresses >> Reply(SUCCESS, {master.name: {left.id: left.address}})
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (4, 4, permission, 0)})
    ns.route(master.topic("B")).queues >> Reply(SUCCESS, {master.name: (8, 8, 4, 0)})


def nothing_is_left(ns: NameServerSession, broker: Broker) -> None:
    """Neither topics nor name, cluster and data version of the broker are known."""
    ns.topics().among(broker.topics).eventually() >> Reply(SUCCESS, [])
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)
    ns.cluster().names(broker.cluster).eventually() >> Reply(SUCCESS, None)
    asked = broker.query_version(on=ns.connection)
    asked.changed >> Reply(SUCCESS, True)
    asked.stored >> Reply(SUCCESS, ABSENT)
