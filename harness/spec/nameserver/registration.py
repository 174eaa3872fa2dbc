"""What a registration (103) does.

As in `departures`: the states that the catalogue allows, the plainest first. A result
has a word for what the registration was (`Done.was`), by which violations find their invariant.

Sources: `RouteInfoManager#registerBroker` of both lines; statements ns.registration.*, ns.static-topics.*,
ns.topic-deletion.* about registrations. Where Apache's server is known to do otherwise
(`specs/targets`), the catalogue counts.
"""

from __future__ import annotations

import msgspec

from harness.catalogue import Profile
from harness.spec.nameserver.departures import WRITE, without_lease, without_queues, without_record
from harness.spec.nameserver.reading import Announced
from harness.spec.nameserver.state import Broker, Key, Lease, Queue, State, Version


class Registrant(msgspec.Struct, frozen=True):
    """Who registers, in names of the target."""

    name: str
    cluster: str
    address: str
    id: int
    key: Key
    conn: str
    ha: str | None
    length: float
    acting: bool | None
    zone: str | None
    since: float
    until: float


class Done(msgspec.Struct):
    """What became of a registration. ``masters``: what a slave may learn, address and HA address."""

    state: State
    was: str
    refused: bool = False
    masters: tuple[tuple[str, str | None] | None, ...] = (None,)


def registered(state: State, who: Registrant, said: Announced, line: Profile, *, deletes: bool) -> list[Done]:
    """``said`` is in names of the target. ``deletes``: topics that it leaves out go (5.x)."""
    old = state.brokers.get(who.name)
    ids = {} if old is None else old.ids
    rest = {n: held for n, held in ids.items() if held != who.address or n == who.id}
    holder = rest.get(who.id)
    found: list[Done] = []
    if line.has("ranked-registration") and holder is not None and holder != who.address:
        outranked = _outranking(state, who, holder, said.version)
        if outranked:
            found = _ignored(state, who, old, rest)
            if outranked == "surely":
                return found
    if line.has("ranked-registration") and holder is None and len(said.topics) == 1:
        return [*found, Done(state, "lone topic", refused=True)]
    return found + _taken(state, who, said, old, rest, line, deletes=deletes)


def _outranking(state: State, who: Registrant, holder: str, version: Version) -> str:
    """Whether the live holder of the id has a greater state version: surely, perhaps, or not ("")."""
    lease = state.leases.get((who.cluster, holder))
    if lease is not None:
        return "surely" if lease.version[2] > version[2] else ""
    elsewhere = [
        other
        for other in state.leases.values()
        if other.address == holder and other.broker == who.name and other.version[2] > version[2]
    ]
    return "perhaps" if elsewhere else ""


def _outranks(state: State, who: Registrant, holder: str, version: Version) -> bool:
    """Whether it has a greater state version than the holder of its id."""
    lease = state.leases.get((who.cluster, holder))
    return lease is not None and version[2] > lease.version[2]


def _ignored(state: State, who: Registrant, old: Broker | None, rest: dict[int, str]) -> list[Done]:
    """It may lose what it held itself: its record, with its filter servers or without, and its other id."""
    kept = [state]
    if who.key in state.leases:
        kept = [without_record(state, who.key), state]
    if who.key in state.filters:
        kept = [kept[0], without_lease(state, who.key), *kept[1:]]
    if old is not None and rest != old.ids:
        gone = [one.copy() for one in kept]
        for one in gone:
            one.brokers = {**state.brokers, who.name: msgspec.structs.replace(old, ids=rest)}
        kept = [*gone, *kept]
    return [Done(one, "outranked") for one in kept]


def _taken(
    state: State,
    who: Registrant,
    said: Announced,
    old: Broker | None,
    rest: dict[int, str],
    line: Profile,
    *,
    deletes: bool,
) -> list[Done]:
    lease = state.leases.get(who.key)
    holder = rest.get(who.id)
    changed = lease is None or lease.version != said.version
    first = old is None or holder is None
    ids = {**rest, who.id: who.address}
    was = _kind(who, old, holder, first=first, changed=changed)
    ranked = line.has("ranked-registration")
    if was == "replaced" and ranked and holder is not None and _outranks(state, who, holder, said.version):
        was = "outranking"

    other = state.copy()
    other.brokers = {
        **state.brokers,
        who.name: Broker(who.cluster if old is None else old.cluster, ids, bool(who.acting), who.zone),
    }
    members = state.clusters.get(who.cluster, frozenset())
    if who.name not in members:
        other.clusters = {**state.clusters, who.cluster: members | {who.name}}

    prime = line.has("acting-master") and who.acting is not None and who.id != 0 and who.id == min(ids)
    if who.id == 0 or prime:
        if deletes and not said.mappings:
            absent = [
                (t, who.name) for t, q in other.topics.items() if who.name in q and t not in said.topics
            ]
            if absent:
                other = without_queues(other, absent)
        results = _published(
            other,
            who,
            said,
            strip=prime and bool(who.acting),
            first=first,
            changed=changed,
            contested=holder is not None and holder != who.address,
            listed=old is not None and who.address in old.ids.values(),
            adds=line.has("missing-topics"),
        )
    else:
        results = [other]
        was = was if changed or first else "equal slave"
    masters = _masters(other, who, ids)
    for one in results:
        one.leases = {**one.leases, who.key: _lease(who, said.version)}
        if said.filters is not None:
            filters = {k: servers for k, servers in one.filters.items() if k != who.key}
            if said.filters:
                filters[who.key] = said.filters
            one.filters = filters
    return [Done(one, was, masters=masters) for one in results]


def _kind(who: Registrant, old: Broker | None, holder: str | None, *, first: bool, changed: bool) -> str:
    if old is not None and who.address in old.ids.values() and holder != who.address:
        return "promoted" if who.id == 0 else "demoted" if old.ids.get(0) == who.address else "moved"
    if holder is not None and holder != who.address:
        return "replaced"
    if who.id != 0:
        return "slave"
    return "first" if first else "changed" if changed else "equal"


def _lease(who: Registrant, version: Version) -> Lease:
    return Lease(
        who.name,
        who.cluster,
        who.address,
        who.conn,
        version,
        who.ha,
        who.length,
        who.since,
        who.until,
    )


def _published(
    state: State,
    who: Registrant,
    said: Announced,
    *,
    strip: bool,
    first: bool,
    changed: bool,
    contested: bool,
    listed: bool,
    adds: bool,
) -> list[State]:
    """Topics and mappings of a registration that counts for its name. ``adds``: missing ones surely."""
    if first or changed:
        return [_with_topics(state, who.name, said, strip=strip)]
    missing = {t: q for t, q in said.topics.items() if who.name not in state.topics.get(t, ())}
    added = _with_topics(state, who.name, said, strip=strip, only=missing)
    if contested:
        # An address that takes the id from another one, with a data version that it is known with.
        everything = _with_topics(state, who.name, said, strip=strip)
        ignored = [state.copy()] if not adds and not listed else []
        return [everything, added, *ignored]
    if adds or not missing:
        return [added]
    return [state.copy(), added]


def _with_topics(
    state: State, name: str, said: Announced, *, strip: bool, only: dict[str, Queue] | None = None
) -> State:
    """All topics and mappings that are said, or those of some topics alone."""
    other = state.copy()
    topics = said.topics if only is None else only
    if topics:
        tables = dict(state.topics)
        for topic, (read, write, perm, flag) in topics.items():
            queue = (read, write, perm & ~WRITE if strip else perm, flag)
            tables[topic] = {**tables.get(topic, {}), name: queue}
        other.topics = tables
    if said.mappings:
        mappings = dict(state.mappings)
        for topic, (broker, epoch) in said.mappings.items():
            if only is None or topic in only:
                firm = broker in other.topics.get(topic, ())
                mappings[topic] = {**mappings.get(topic, {}), broker: (epoch, firm)}
        other.mappings = mappings
    return other


def _masters(state: State, who: Registrant, ids: dict[int, str]) -> tuple[tuple[str, str | None] | None, ...]:
    master = ids.get(0)
    if who.id == 0 or master is None:
        return (None,)
    lease = state.leases.get((who.key[0], master))
    if lease is not None:
        return ((master, lease.ha),)
    elsewhere = [other for other in state.leases.values() if other.address == master]
    return (None, *((master, other.ha) for other in elsewhere))
