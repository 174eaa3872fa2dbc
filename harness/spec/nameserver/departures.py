"""How brokers leave: unregistration, loss of a connection, the end of a lease.

Every function gives the states that the catalogue allows afterwards, the plainest
first; none is changed in place.

Sources: `RouteInfoManager#unregisterBroker` (4.9), `#unRegisterBroker`, `#cleanTopicByUnRegisterRequests`
(5.x), `#onChannelDestroy`, `#scanNotActiveBroker`; statements ns.unregistration.*, ns.lease.*.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.spec.nameserver.state import Broker, Key, State

WRITE = 2


def without_lease(state: State, key: Key) -> State:
    """The live record and the filter servers of an address go."""
    if key not in state.leases and key not in state.filters:
        return state
    other = without_record(state, key)
    other.filters = {k: servers for k, servers in state.filters.items() if k != key}
    return other


def without_record(state: State, key: Key) -> State:
    """The live record of an address goes, and nothing else."""
    other = state.copy()
    other.leases = {k: lease for k, lease in state.leases.items() if k != key}
    return other


def without_queues(state: State, gone: Iterable[tuple[str, str]]) -> State:
    """Queue data of topics and broker names go, and their static mappings with them."""
    other = state.copy()
    topics, mappings = dict(state.topics), dict(state.mappings)
    for topic, broker in gone:
        left = {name: queue for name, queue in topics.get(topic, {}).items() if name != broker}
        mapped = {name: mapping for name, mapping in mappings.get(topic, {}).items() if name != broker}
        for table, rest in ((topics, left), (mappings, mapped)):
            if rest:
                table[topic] = rest  # type: ignore[assignment]
            else:
                table.pop(topic, None)
    other.topics, other.mappings = topics, mappings
    return other


def unregistered_by_address(state: State, name: str, cluster: str, address: str) -> list[State]:
    """104 as 5.x reads it: the address leaves its name whatever the id, the record goes by cluster and
    address.
    """
    key = (cluster, address)
    lease = state.leases.get(key)
    broker = state.brokers.get(name)
    listed = broker is not None and address in broker.ids.values()
    if lease is not None and lease.broker != name:  # the record of another name
        kept = _leave(state, name, address) if listed else _stripped_perhaps(state, name)
        return [without_lease(one, key) for one in kept] + kept
    if not listed:
        return _stripped_perhaps(without_lease(state, key), name)
    found = _with_records(_leave(without_lease(state, key), name, address), name, address)
    if lease is None:  # another cluster than that of its registration
        found = [*reversed(found), state]
    return found


def unregistered_by_id(state: State, name: str, address: str, number: int) -> list[State]:
    """104 as 4.9 reads it: the id leaves its name, and the record goes by its address."""
    key = ("", address)
    lease = state.leases.get(key)
    broker = state.brokers.get(name)
    held = None if broker is None else broker.ids.get(number)
    bare = without_lease(state, key)
    if held == address:
        return _without_id(bare, name, number)
    found = [*_without_id(bare, name, number)] if held is not None else [bare]
    if held is not None:  # it may be asked that both agree
        found.append(bare)
    if broker is not None and address in broker.ids.values():
        found += _leave(bare, name, address)
    if bare is not state and (held is not None or (lease is not None and lease.broker != name)):
        found.append(state)
    return found


def lost(state: State, key: Key) -> list[State]:
    """A live record ends with its connection or its lease, and its address leaves the names that list it."""
    lease = state.leases[key]
    others = [k for k, other in state.leases.items() if k != key and other.address == lease.address]
    found = [without_lease(state, key)]
    for name, broker in state.brokers.items():
        if lease.address not in broker.ids.values():
            continue
        left = [one for before in found for one in _leave(before, name, lease.address)]
        if others:
            # Another record has the address too, under another cluster: it may hold the address.
            left = _with_records(left, name, lease.address) + found
        found = left
    return found


def _with_records(states: list[State], name: str, address: str) -> list[State]:
    """An address that has left its name may have records under other clusters, which may go too."""
    found = []
    for state in states:
        rest = [k for k, lease in state.leases.items() if lease.address == address and lease.broker == name]
        bare = state
        for key in rest:
            bare = without_lease(bare, key)
        found += [state, bare] if rest else [state]
    return found


def _leave(state: State, name: str, address: str) -> list[State]:
    broker = state.brokers[name]
    return _now_has(state, name, broker, {n: held for n, held in broker.ids.items() if held != address})


def _without_id(state: State, name: str, number: int) -> list[State]:
    broker = state.brokers[name]
    return _now_has(state, name, broker, {n: held for n, held in broker.ids.items() if n != number})


def _now_has(state: State, name: str, broker: Broker, ids: dict[int, str]) -> list[State]:
    if not ids:
        return [_vanished(state, name)]
    other = state.copy()
    other.brokers = {**state.brokers, name: msgspec.structs.replace(broker, ids=ids)}
    return _stripped(other, name)


def _vanished(state: State, name: str) -> State:
    """A name goes, from every cluster, with its queue data."""
    other = without_queues(
        state,
        [(topic, name) for topic in {*state.topics, *state.mappings} if _serves(state, topic, name)],
    )
    other.brokers = {n: broker for n, broker in state.brokers.items() if n != name}
    clusters = {cluster: members - {name} for cluster, members in state.clusters.items()}
    other.clusters = {cluster: members for cluster, members in clusters.items() if members}
    return other


def _serves(state: State, topic: str, name: str) -> bool:
    return name in state.topics.get(topic, ()) or name in state.mappings.get(topic, ())


def _stripped(state: State, name: str) -> list[State]:
    """Where an acting master is enabled and no master is left, topics lose their write permission."""
    broker = state.brokers[name]
    if not broker.acting or min(broker.ids) <= 0:
        return [state]
    topics = dict(state.topics)
    for topic, queues in state.topics.items():
        queue = queues.get(name)
        if queue is not None and queue[2] & WRITE:
            topics[topic] = {**queues, name: (queue[0], queue[1], queue[2] & ~WRITE, queue[3])}
    if topics == state.topics:
        return [state]
    other = state.copy()
    other.topics = topics
    return [other]


def _stripped_perhaps(state: State, name: str) -> list[State]:
    """A departure that finds nothing may still be a departure from the name (`reducedBroker`)."""
    if name not in state.brokers:
        return [state]
    return [state, *(one for one in _stripped(state, name) if one is not state)]
