"""A few steps in a row that bring a situation about which steps chosen one by one seldom do, and look at it.

Each situation is one in which servers go wrong that do all of its steps rightly.
"""

from __future__ import annotations

import msgspec

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.choices import BROKERS, FLAGS, a_lease, a_server
from harness.engine.nameserver.strategies.pick import Pick, Steps
from harness.engine.nameserver.strategies.registering import registers
from harness.engine.nameserver.strategies.registrations import again, queues_of, slave_of
from harness.engine.nameserver.strategies.unregister import departure
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Reconnect, Time
from harness.program.steps import AnyStep

_CROWD = range(12)
_PAIR = {topic: queues_of(topic) for topic in ("T0", "T1")}


def comes_back(pick: Pick, state: ProgramState) -> Steps:
    """A broker that has registered more than others leaves, and returns with less."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    told = again(pick, state, server, lease, counter=lease.version[0] + 1, filters=("f1",))
    if state.has("static-topics") and pick.below(2):
        topic = min(told.topics, default="T0")
        told = msgspec.structs.replace(told, mappings={topic: (lease.broker, 1)}, lease=60_000)
    ways: tuple[AnyStep, ...] = (
        departure(pick, server, lease),
        Close(server=server, conn=lease.conn),
        Time(seconds=state.lease + 11, idle=(lease.conn,)),
    )
    left = pick.one(ways)
    back = msgspec.structs.replace(told, mappings={}, lease=None, filters=None)
    topic = min(back.topics, default="T0")
    return (told, left, back, ns.Route(server=server, topic=topic))


def describes_itself(pick: Pick, state: ProgramState) -> Steps:
    """A broker says of itself what it has not said before, or says it no more."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    told = again(pick, state, server, lease, counter=lease.version[0] + pick.below(2))
    before: Steps = ()
    what = pick.below(5 if state.has("static-topics") else 2)
    if what < 2:
        before = (msgspec.structs.replace(told, filters=pick.one((("f1",), ("f2", "f1")))),)
        how = pick.below(6)
        if how < 3:
            told = msgspec.structs.replace(told, filters=(None, ("f3",), ())[how])
        elif how == 3:
            told = msgspec.structs.replace(told, no_filters=True)
        elif how == 4:
            told = msgspec.structs.replace(told, form="none", topics={})
        else:
            told = msgspec.structs.replace(told, form="bare", announces=10, mappings={})
    elif what == 2:
        told = msgspec.structs.replace(told, zone=pick.one(("z1", "z2", None)))
    elif what == 3:
        told = msgspec.structs.replace(told, acting=pick.one((True, False, None)))
    else:
        told = msgspec.structs.replace(told, lease=pick.one((60_000, None, 200_000)))
    topic = min((before[0] if before else told).topics, default="T0")  # type: ignore[union-attr]
    return (*before, told, ns.Route(server=server, topic=topic))


def lets_a_lease_end(pick: Pick, state: ProgramState) -> Steps:
    """A lease is refreshed, or is not, and just goes on, or has just ended."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    told = again(pick, state, server, lease)
    length = state.lease
    if pick.below(2):
        asked = pick.one((20, 200, 60))
        told = msgspec.structs.replace(told, lease=asked * 1000)
        length = asked if state.has("own-lease") else length  # 4.9 does not know that a broker may ask for it
    counter, timestamp, state_version = lease.version
    asks = ns.QueryVersion(
        server=server,
        conn=lease.conn,
        cluster=lease.cluster,
        broker=lease.broker,
        address=lease.address,
        counter=counter + pick.below(2),
        timestamp=timestamp,
        state=state_version if state.has("state-version") else None,
    )
    beats = ns.Heartbeat(
        server=server,
        conn=lease.conn,
        cluster=lease.cluster,
        broker=lease.broker,
        address=lease.address,
        id=lease.id,
        lease=pick.one((None, 20_000)),
    )
    refreshes = pick.one((told, asks, beats if state.has("heartbeats") else asks))
    half = length // 2
    ends = pick.one((length - half + 15, length - half - 3, length + 15, length - 3))
    if pick.below(3) == 2:
        first = Time(seconds=1 + pick.below(5))  # a look at the leases may come at any time
        return (first, told, Time(seconds=pick.one((length - 1, length + 12))), ns.ClusterInfo(server=server))
    return (told, Time(seconds=half), refreshes, Time(seconds=ends), ns.ClusterInfo(server=server))


def maps_a_topic(pick: Pick, state: ProgramState) -> Steps:
    """A broker maps a static topic, and maps it anew, or drops it, or another one maps it too (5.x)."""
    found = a_lease(pick, state, lambda lease: lease.id == 0)
    if found is None:
        return registers(pick, state)
    server, lease = found
    counter = lease.version[0] + 1
    told = again(pick, state, server, lease, counter=counter)
    topic = min(told.topics, default="T0")
    told = msgspec.structs.replace(
        told, topics={"T0": queues_of("T0"), **told.topics}, mappings={topic: (lease.broker, 2)}
    )
    if pick.once_in(4):
        plain = {name: queues for name, queues in told.topics.items() if name not in FLAGS}
        told = msgspec.structs.replace(told, form="compressed-5", topics=plain)
    other = pick.one([one for one in BROKERS if one != lease.broker])
    what = pick.below(9)
    after: Steps
    if what == 0:
        after = (msgspec.structs.replace(told, counter=counter + 1, mappings={topic: (lease.broker, 1)}),)
    elif what == 1:
        after = (msgspec.structs.replace(told, mappings={topic: (lease.broker, 3)}),)
    elif what == 2:
        after = (msgspec.structs.replace(told, counter=counter + 1, mappings={}),)
    elif what == 3:
        after = (ns.DeleteTopic(server=server, topic=topic), told)
    elif what == 4:
        after = (ns.DeleteTopic(server=server, topic=topic), msgspec.structs.replace(told, mappings={}))
    elif what == 5:
        slave = slave_of(pick, state, server, lease)
        after = (msgspec.structs.replace(slave, mappings={topic: (lease.broker, 5)}, acting=None),)
    elif what == 6:
        other_told = ns.Register(
            server=server,
            conn=f"k{BROKERS.index(other)}0",
            cluster=lease.cluster,
            broker=other,
            address=f"a{BROKERS.index(other)}0",
            topics=told.topics,
            counter=counter,
            state=told.state,
            mappings={topic: (other, 7)},
        )
        after = (other_told,)
    elif what == 7:
        after = (msgspec.structs.replace(told, counter=counter + 1, mappings={topic: (other, 4)}),)
    else:
        fewer = {name: queues for name, queues in told.topics.items() if name == topic}
        after = (
            ns.Configure(server=server, lines=("deleteTopicWithBrokerRegistration=true",)),
            msgspec.structs.replace(told, counter=counter + 1, topics=fewer),
        )
    return (told, *after, ns.Route(server=server, topic=topic))


def loses_its_master(pick: Pick, state: ProgramState) -> Steps:
    """A master with slaves that may act for it leaves them (5.x)."""
    server = a_server(pick, state)
    master, _ = _neighbours(pick, state, server)
    numbers = pick.one(((1, 2), (3, 1), (2, 5)))
    acting = pick.one((True, True, None, False))
    slaves = [
        msgspec.structs.replace(master, conn=f"k0{at}", address=f"a0{at}", id=number, acting=acting)
        for at, number in enumerate(numbers, 1)
    ]
    ends: tuple[AnyStep, ...] = (
        ns.Unregister(server=server, conn="k00", address="a00"),
        Close(server=server, conn="k00"),
    )
    steps: list[AnyStep] = [msgspec.structs.replace(master, acting=acting), *slaves, pick.one(ends)]
    if pick.below(3) < 2:
        steps.insert(0, ns.Configure(server=server, lines=("supportActingMaster=true",)))
    shown: tuple[AnyStep, ...] = (
        ns.Route(server=server, topic="T0"),
        ns.ClusterInfo(server=server),
        ns.MemberGroup(server=server),
    )
    return (*steps, Time(seconds=3), pick.one(shown))


def serves_a_zone(pick: Pick, state: ProgramState) -> Steps:
    """Brokers are in zones, and a client asks in one of them, as 4.9 does not know."""
    server = a_server(pick, state)
    first, second = _neighbours(pick, state, server)
    zones = pick.one((("z1", "z2"), ("z1", None), ("Z1", "z1"), ("z2", None)))
    first = msgspec.structs.replace(first, zone=zones[0])
    more = pick.below(3)
    if more == 1:
        first = msgspec.structs.replace(first, filters=("f1",))
    elif more == 2:
        first = msgspec.structs.replace(first, mappings={"T0": ("b0", 1)})
    brokers: list[AnyStep] = [first, msgspec.structs.replace(second, zone=zones[1])]
    if pick.once_in(3):
        brokers[1] = msgspec.structs.replace(second, zone=zones[1], id=1, acting=True)
    if state.has("acting-master") and pick.once_in(4):
        brokers.append(ns.Configure(server=server, lines=("supportActingMaster=true",)))
    route = ns.Route(
        server=server,
        topic="T0",
        zone_mode=pick.one(("true", "TRUE", "false", None)),
        zone=pick.one(("z1", "z3", "z2", None)),
    )
    return (*brokers, route)


def crowds(pick: Pick, state: ProgramState) -> Steps:
    """More brokers come, or one of them comes more often, than a server may have been tried with."""
    server = a_server(pick, state)
    crowd = [
        ns.Register(
            server=server,
            conn=f"k{50 + number}",
            broker=f"b{50 + number}",
            address=f"a{50 + number}",
            topics={f"T{50 + number}": queues_of(""), "T0": queues_of("")},
            state=0 if state.has("state-version") else None,
        )
        for number in _CROWD
    ]
    what = pick.below(3)
    if what == 0:
        asks: tuple[AnyStep, ...] = (ns.ClusterInfo(server=server), ns.Topics(server=server))
        return (*crowd, pick.one(asks))
    if what == 1:
        gone = [
            ns.Unregister(server=server, conn=one.conn, broker=one.broker, address=one.address)
            for one in crowd
        ]
        return (*crowd, *gone, ns.ClusterInfo(server=server))
    steps: list[AnyStep] = [crowd[0]]
    for times in range(5):
        steps.append(Reconnect(server=server, conn="k50", old=f"k50-{times}"))
        steps.append(msgspec.structs.replace(crowd[0], counter=2 + times))
    return (*steps, ns.Route(server=server, topic="T50"))


def is_seen_elsewhere(pick: Pick, state: ProgramState) -> Steps:
    """Something of a broker comes over another connection than its own, and one of the two ends."""
    found = a_lease(pick, state)
    if found is None:
        return registers(pick, state)
    server, lease = found
    own, other = lease.conn, f"{lease.conn}-old"
    told = again(pick, state, server, lease)
    counter, timestamp, state_version = lease.version
    what = pick.below(4 if state.has("heartbeats") else 3)
    steps: list[AnyStep] = [told]
    if what == 0:
        steps.append(Reconnect(server=server, conn=own, old=other))
        steps += [told, msgspec.structs.replace(told, conn=other)]
    elif what == 1:
        steps.append(
            ns.QueryVersion(
                server=server,
                conn=other,
                cluster=lease.cluster,
                broker=lease.broker,
                address=lease.address,
                counter=counter,
                timestamp=timestamp,
                state=state_version if state.has("state-version") else None,
            )
        )
    elif what == 2:
        slot = (BROKERS.index(lease.broker) + 1) % len(BROKERS) if lease.broker in BROKERS else 0
        beside = msgspec.structs.replace(told, broker=BROKERS[slot], address=f"a{slot}0", id=0)
        steps.append(beside)
    else:
        steps.append(
            ns.Heartbeat(
                server=server,
                conn=other,
                cluster=lease.cluster,
                broker=lease.broker,
                address=lease.address,
                id=lease.id,
            )
        )
    return (*steps, Close(server=server, conn=pick.one((own, other))), ns.ClusterInfo(server=server))


def _neighbours(pick: Pick, state: ProgramState, server: int) -> tuple[ns.Register, ns.Register]:
    """The masters of two names that serve the same topics."""
    first = ns.Register(
        server=server,
        conn="k00",
        address="a00",
        topics=_PAIR,
        counter=1 + pick.below(3),
        state=0 if state.has("state-version") else None,
    )
    return first, msgspec.structs.replace(first, conn="k10", broker="b1", address="a10")
