"""The conformance cases, one file or folder for each chapter, and the expectations in which they are written.

A case is a pytest function that proves a statement of the catalogue: the one that its chapter and its name
say. This one, in the chapter lease of NameServers, proves `ns.lease.expired-broker-leaves-route`::

    @case(kills=["never-expires"], clock=True)
    def test_expired_broker_leaves_route(ns):
        broker = ns.broker(topics=["T", "U"])
        broker.register() >> Reply(SUCCESS)
        ns.advance(ns.lease + ns.scan_interval)
        ns.route(broker.topic("T")).eventually() >> Reply(TOPIC_NOT_EXIST)
"""

from harness.conformance.case import Case, case, case_of
from harness.conformance.expect import AnyOf, Closed, Pushed, Reply, Request, Silence, Unchanged
from harness.conformance.matchers import ABSENT, ANYTHING, Between, Containing, Including, Matching

__all__ = [
    "ABSENT",
    "ANYTHING",
    "AnyOf",
    "Between",
    "Case",
    "Closed",
    "Containing",
    "Including",
    "Matching",
    "Pushed",
    "Reply",
    "Request",
    "Silence",
    "Unchanged",
    "case",
    "case_of",
]
