"""Registered brokers, and that a server lists and routes them.

What must be gone at the end of a case was there before: a case that does not look proves nothing on a server
that forgets everything.
"""

from __future__ import annotations

from harness.conformance.expect import Reply
from harness.session import Broker, NameServerSession
from harness.session.nameserver.broker import Topics
from harness.wire import ResponseCode

SUCCESS = ResponseCode.SUCCESS


def registered(ns: NameServerSession, topics: Topics = ("A", "B"), cluster: str | None = None) -> Broker:
    """A master that has registered with these topics."""
    broker = ns.broker(cluster=cluster, topics=topics)
    broker.register() >> Reply(SUCCESS)
    return broker


def listed(ns: NameServerSession, *brokers: Broker) -> None:
    """Cluster information has each broker, which is the only one of its name."""
    for broker in brokers:
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {broker.id: broker.address})


def routed(ns: NameServerSession, *brokers: Broker, topic: str = "A") -> None:
    """The topic of each broker has a route, which leads to no other broker."""
    for broker in brokers:
        route = ns.route(broker.topic(topic))
        route.addresses >> Reply(SUCCESS, {broker.name: {broker.id: broker.address}})
