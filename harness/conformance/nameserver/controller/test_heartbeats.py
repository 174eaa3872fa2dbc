"""Chapter controller: which Brokers live."""

from __future__ import annotations

from harness.conformance import Closed, Including, Reply, case
from harness.conformance.nameserver.controller.replicas import Replica, replicas
from harness.conformance.nameserver.settings import CONTROLLER
from harness.session import NameServerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
LASTS = 120
"""Seconds of heartbeats that are to run out."""
LASTS_SHORTER = 40
BY_DEFAULT = 10
HALFWAY = 60
"""Seconds after which a connection is used that is not to be idle."""


def alive(ns: NameServerSession, *living: Replica, of: Replica) -> None:
    """Exactly these Brokers of a name live."""
    ns.replicas(of.name).alive(of.name).eventually() >> Reply(SUCCESS, [one.id for one in living])


@case(
    kills=["heartbeats-count-for-ever", "heartbeats-count-for-half", "heartbeat-is-not-renewed"],
    setup=CONTROLLER,
    clock=True,
)
def test_heartbeat_counts_for_its_time(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    first = one.beats(LASTS) >> Reply(SUCCESS)
    two.beats(LASTS) >> Reply(SUCCESS)
    ns.advance_short_of(LASTS / 2, first)
    renewed = two.beats(LASTS) >> Reply(SUCCESS)
    ns.advance_short_of(LASTS, first)
    ns.replicas(one.name).alive(one.name) >> Reply(SUCCESS, [1, 2])
    ns.advance_past(LASTS, first)
    ns.while_lasts(LASTS, renewed)
    ns.replicas(one.name).alive(one.name) >> Reply(SUCCESS, [2])


@case(kills=["first-heartbeat-says-how-long"], setup=CONTROLLER, clock=True)
def test_latest_heartbeat_says_how_long(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    for replica, earlier, later in ((one, LASTS, LASTS_SHORTER), (two, LASTS_SHORTER, LASTS)):
        replica.beats(earlier) >> Reply(SUCCESS)
        replica.beats(later) >> Reply(SUCCESS)
    alive(ns, one, two, of=one)
    ns.advance(LASTS_SHORTER + LASTS_SHORTER / 2)
    alive(ns, two, of=one)


@case(kills=["heartbeats-count-two-minutes-by-default"], setup=CONTROLLER, clock=True)
def test_heartbeat_counts_ten_seconds_by_default(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=1)
    two.beats(None) >> Reply(SUCCESS)
    ns.advance(2 * BY_DEFAULT)
    alive(ns, one, of=one)


@case(kills=["heartbeat-without-id-is-of-id-one"], setup=CONTROLLER)
def test_heartbeat_needs_an_id(ns: NameServerSession) -> None:
    (one,) = replicas(ns, 1, living=0)
    ext = {"clusterName": one.cluster, "brokerName": one.name, "brokerAddr": one.address}
    without = one.connection.call(RequestCode.BROKER_HEARTBEAT, ext, about="without brokerId")
    without >> Reply(ResponseCode.CONTROLLER_INVALID_REQUEST)
    alive(ns, of=one)
    one.beats() >> Reply(SUCCESS)
    alive(ns, one, of=one)


@case(
    kills=["heartbeat-is-of-the-name", "heartbeat-is-of-any-cluster", "heartbeat-is-of-the-id"],
    setup=CONTROLLER,
)
def test_heartbeat_is_of_one_id_of_one_cluster(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    other, _ = replicas(ns, 2, living=0)
    two.beats() >> Reply(SUCCESS)
    Replica(ns, one.name, ns.name("cluster"), 1).beats() >> Reply(SUCCESS)
    alive(ns, two, of=one)
    alive(ns, of=other)


@case(kills=["broker-lives-without-connection", "end-of-connection-ends-all"], setup=CONTROLLER)
def test_end_of_connection_ends_life(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2)
    alive(ns, one, two, of=one)
    two.leaves()
    alive(ns, one, of=one)


@case(
    kills=[
        "expired-broker-keeps-its-connection",
        "expired-broker-without-id-keeps-its-connection",
        "first-of-all-brokers-never-expires",
    ],
    setup=CONTROLLER,
    clock=True,
)
def test_connection_of_an_expired_broker_is_closed(ns: NameServerSession) -> None:
    one, two = replicas(ns, 2, living=0)
    without_id = Replica(ns, ns.name("replicas"), one.cluster, 1)
    for leaving in (without_id, two):
        leaving.beats(LASTS_SHORTER) >> Reply(SUCCESS)
    one.beats() >> Reply(SUCCESS)
    ns.advance(2 * LASTS_SHORTER)
    for left in (without_id, two):
        left.connection.closes() >> Closed()
    alive(ns, one, of=one)


@case(
    kills=["controller-keeps-idle-connections", "controller-closes-idle-connections-early"],
    setup=CONTROLLER,
    clock=True,
)
def test_idle_connection_is_closed(ns: NameServerSession) -> None:
    (one,) = replicas(ns, 1, living=0)
    silent, asked, asking = (ns.connect_to_controller() for _ in range(3))
    known = Reply(SUCCESS, ext=Including({"nextBrokerId": "2"}))
    since = ns.next_broker_id(one.name, one.cluster, on=asked) >> known
    ns.next_broker_id(one.name, one.cluster, on=asking) >> known
    ns.advance_short_of(HALFWAY, since, idle=(silent, asked, asking))
    ns.next_broker_id(one.name, one.cluster, on=asking) >> known
    ns.advance_past(ns.profile.idle, since, idle=(silent, asked, asking))
    for idle in (silent, asked):
        idle.closes() >> Closed()
    ns.next_broker_id(one.name, one.cluster, on=asking) >> known
