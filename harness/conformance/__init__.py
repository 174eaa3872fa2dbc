"""The conformance cases, one file for each chapter, and the words in which they are written.

A case is a pytest function that proves one or more statements of the catalogue::

    @case("ns.lease.expired-broker-leaves-route", kills=["never-expires"], clock=True)
    def test_expired_broker_leaves_route(ns):
        \"\"\"A broker whose lease has run out is in no route.\"\"\"
        broker = ns.broker(topics=["T", "U"])
        broker.register() >> Reply(SUCCESS)
        ns.advance(120 + ns.scan_interval)
        ns.route(broker.topic("T")).eventually() >> Reply(TOPIC_NOT_EXIST)
"""

from harness.conformance.case import Case, case, case_of
from harness.conformance.expect import AnyOf, Closed, Reply, Request, Silence, Unchanged
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
    "Reply",
    "Request",
    "Silence",
    "Unchanged",
    "case",
    "case_of",
]
