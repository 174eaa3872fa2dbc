"""The anomalies of NameServers, and how they are found (`harness.spec.history.naming`).

- A reading that is excused, but no further back than a guarantee of its own session allows, and then does
  not fit, breaks that guarantee. That writes follow reads is never told: it is about copies that pass on what
  they received, and NameServers do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from harness.spec.history.naming import (
    ANY_TIME,
    ARGUMENT,
    NONE,
    Anomaly,
    Make,
    Naming,
    earlier,
)
from harness.spec.history.register import Get, Put
from harness.spec.linear import ENDLESS, Call, Moment, search
from harness.spec.nameserver.history.operations import (
    GiveTopic,
    Listed,
    Members,
    Registration,
    Routed,
    unanswered,
)

DIVERGENT = "divergent NameServers"
LOST_UPDATE = "lost update of KV"
RESURRECTED = "resurrected pair"

_STALE = "stale read"
_OWN_WRITES = "read your writes broken"
_OWN_READS = "monotonic reads broken"
_IN_TURN = "monotonic writes broken"


ANOMALIES: dict[str, Anomaly] = {
    anomaly.name: anomaly
    for anomaly in (
        Anomaly(
            name="overdue lease",
            kinds=("broker",),
            text=(
                "A broker is still shown although its lease expired so long ago that a scan must have "
                "found it."
            ),
            statement="ns.lease.expired-broker-is-removed",
        ),
        Anomaly(
            name="split identity",
            kinds=("broker",),
            text="An address is shown under several ids of a name, or under one that it never requested.",
            statement="ns.registration.one-id-per-address",
        ),
        Anomaly(
            name="stale version accepted",
            kinds=("broker",),
            text=(
                "A registration took effect that the server had to ignore: another address held the id "
                "with a greater state version, or its queue data came with the stored data version."
            ),
            statement="ns.registration.equal-data-version-keeps-queues",
        ),
        Anomaly(
            name="phantom queue data",
            kinds=("broker",),
            text="Queue data is shown that no master has registered.",
            statement="ns.registration.slave-changes-no-queues",
        ),
        Anomaly(
            name="lost registration",
            kinds=("broker",),
            text=(
                "A registration was answered with success, but everything that follows looks as if it had"
                " not happened."
            ),
            statement="ns.registration.effect-precedes-reply",
        ),
        Anomaly(
            name="ghost topic",
            kinds=("broker",),
            text=(
                "Queue data is shown that was deleted, or whose broker name had left; the broker itself "
                "is not shown."
            ),
            statement="ns.topics.unserved-topic-is-not-listed",
        ),
        Anomaly(
            name="resurrected broker",
            kinds=("broker",),
            text=(
                "A broker is shown that has left, by request or with its connection or its lease, and has "
                "not registered since."
            ),
            statement="ns.concurrency.departures-leave-nothing",
        ),
        Anomaly(
            name="premature expiry",
            kinds=("broker",),
            text="A broker has disappeared, although nothing removed it and its lease had not expired.",
            statement="ns.lease.lease-lasts-its-time",
        ),
        Anomaly(
            name="phantom value",
            kinds=("kv",),
            text="A key has a value that was never put.",
            statement="ns.kv.get-returns-what-was-put",
            argued=False,
        ),
        Anomaly(
            name=LOST_UPDATE,
            kinds=("kv",),
            text=(
                "A put was answered, but everything that follows looks as if it had not happened, or had "
                "been undone."
            ),
            statement="ns.kv.put-overwrites",
        ),
        Anomaly(
            name=RESURRECTED,
            kinds=("kv",),
            text="A key has its value from before its deletion again, without a new put.",
            statement="ns.kv.delete-removes",
        ),
        Anomaly(
            name=_STALE,
            kinds=("broker", "kv"),
            text=(
                "One answer shows a state that had already been replaced before its request was sent; the"
                " others show the current state."
            ),
            statement="ns.routes.reads-see-every-registration",
            late="decisive",
        ),
        Anomaly(
            name=_OWN_WRITES,
            kinds=("broker", "kv"),
            text=(
                "An answer shows the state before a change that the same connection made and saw "
                "answered: a stale read of one's own change."
            ),
            statement="ns.registration.effect-precedes-reply",
            argued=False,
        ),
        Anomaly(
            name=_OWN_READS,
            kinds=("broker", "kv"),
            text="An answer shows a state older than one that the same connection has already seen.",
            statement="ns.routes.reads-see-every-registration",
            argued=False,
        ),
        Anomaly(
            name=_IN_TURN,
            kinds=("kv",),
            text=(
                "One connection sent two puts, the second after the answer to the first. The second value"
                " was seen, and then the first in its place."
            ),
            statement="ns.kv.put-overwrites",
            argued=False,
        ),
        Anomaly(
            name=NONE,
            kinds=("broker", "kv"),
            text="No order of the requests explains the answers, whichever single fault is excused.",
            statement="ns.concurrency.reads-see-what-stays",
            argued=False,
        ),
    )
}

_DIVERGENCE = Anomaly(
    name=DIVERGENT,
    kinds=("server",),
    text=(
        "NameServers disagree about a broker that has registered with each of them, and been "
        "answered by each, since its last other change."
    ),
    statement="ns.routes.reads-see-every-registration",
)
ANOMALIES[DIVERGENT] = _DIVERGENCE


def _of_a_session(name: str, calls: Sequence[Call], decisive: Sequence[Call], make: Make) -> str | None:
    """The guarantee of a session that is broken, where it is one."""
    if name == LOST_UPDATE:
        return _IN_TURN if any(_is_overtaken(put, calls, make) for put in calls) else None
    if name != _STALE:
        return None
    late = {call.number for call in decisive if call.reads}
    others = [call for call in calls if call.number not in late]
    for guarantee, floor in ((_OWN_WRITES, _after_own_writes), (_OWN_READS, _after_own_reads)):
        excused = [
            earlier(call, floor(call, others)) if call.reads and call.number in late else call
            for call in calls
        ]
        if search(make(None), excused, budget=ARGUMENT).answer == "violated":
            return guarantee
    return None


def _after_own_writes(call: Call, others: Sequence[Call]) -> Moment:
    own = (one.end for one in others if one.session == call.session != "" and not one.reads)
    latest = max((end for end in own if end < call.begin), default=ANY_TIME)
    return latest if latest == ANY_TIME else min(call.begin, _behind(latest))


def _behind(moment: Moment) -> Moment:
    """The next moment."""
    seconds, rank = moment
    return (seconds, rank + 0.5) if math.isfinite(rank) else (math.nextafter(seconds, math.inf), -math.inf)


def _after_own_reads(call: Call, others: Sequence[Call]) -> Moment:
    own = (one for one in others if one.session == call.session != "" and one.reads)
    return max((one.begin for one in own if one.end < call.begin), default=ANY_TIME)


def _is_overtaken(put: Call, calls: Sequence[Call], make: Make) -> bool:
    """Whether a put that takes effect behind a later one of its session, which was seen, explains it all."""
    later = [
        one
        for one in calls
        if isinstance(one.action, Put) and one.session == put.session != "" and put.end < one.begin
    ]
    seen = {one.action.value for one in calls if isinstance(one.action, Get)}
    if not isinstance(put.action, Put) or not any(one.action.value in seen for one in later):
        return False
    excused = [msgspec.structs.replace(one, end=ENDLESS) if one is put else one for one in calls]
    return search(make(None), excused, budget=ARGUMENT).answer == "linearizable"


def _never_asked_for(calls: Sequence[Call], decisive: Sequence[Call]) -> str | None:
    """What one reading alone shows: it contains what no call has asked for."""
    held = {(one.action.id, one.action.address) for one in calls if isinstance(one.action, Registration)}
    announced = {
        (topic, (queues[0], queues[1], queues[3]))
        for one in calls
        if isinstance(one.action, Registration | GiveTopic)
        for topic, queues in (
            one.action.topics
            if isinstance(one.action, Registration)
            else ((one.action.topic, one.action.queues),)
        )
    }
    values = {one.action.value for one in calls if isinstance(one.action, Put)}
    for call in decisive:
        match call.action:
            case Members(addresses) | Routed(_, _, addresses) if addresses:
                listed = [address for _, address in addresses]
                if not set(addresses) <= held or len(set(listed)) < len(listed):
                    return "split identity"
            case Listed(number, str() as address) if (number, address) not in held:
                return "split identity"
            case Get(str() as value) if value not in values:
                return "phantom value"
        match call.action:
            case Routed(topic, (_, _, _) as queues) if (topic, queues) not in announced:
                return "phantom queue data"
    return None


NAMING = Naming(anomalies=ANOMALIES, unanswered=unanswered, alone=_never_asked_for, narrower=_of_a_session)
