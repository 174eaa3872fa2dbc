"""A server seen as components that have nothing to do with each other, each with its own possible states.

- A component holds the broker names that share an address or a connection; most components hold one. So what
  is open about one name does not multiply with what is open about another.
- What an answer says about the names of a component is judged with the states of that component alone.
- Pairs and settings belong to no component: those are in a state of their own that every component is given.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.spec.nameserver.answers import Answer
from harness.spec.nameserver.predictions import ClusterView, RouteView
from harness.spec.nameserver.state import At, Namespace, State

LIMIT = 40
"""The greatest number of possible states of a component."""

_NO_PAIRS: dict[str, Namespace] = {}
_NOTHING_KEPT = Namespace(False, {}, complete=True)


class Rest(msgspec.Struct, frozen=True, eq=False):
    """States of which nothing more comes by itself for a while: all that may have happened is among them."""

    states: list[State]
    settings: dict[str, str]
    at: At
    """When that was found."""
    ends: float
    """A step that is sent later finds something that must have happened."""
    begins: float
    """A step that returns then or later finds something that may have happened."""

    def lasts(self, now: At) -> bool:
        """Whether that is so at another moment."""
        return now == self.at or (now[0] <= self.ends and self.at[1] <= now[1] < self.begins)


class Component(msgspec.Struct, eq=False):
    """Broker names, the addresses and connections that they have used, and what may be of them."""

    states: list[State]
    names: set[str]
    addresses: set[str]
    symbols: set[str]
    owners: dict[str, str] = {}
    """The name that has registered an address."""
    shared: bool = False
    """Whether two names have registered one address. The catalogue says little of what becomes of them."""
    rest: Rest | None = None
    """Of the states that it had when that was found, which may be others by now."""

    @property
    def due(self) -> float:
        """Before this moment nothing happens by itself."""
        return min(state.due for state in self.states)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it is left, nor will come."""
        return all(
            not (state.brokers or state.leases or state.pending or state.filters or state.mappings)
            for state in self.states
        )

    def topics(self) -> set[str]:
        """The topics that it may serve."""
        return {topic for state in self.states for topic in (*state.topics, *state.mappings)}

    def is_at_rest(self, settings: dict[str, str], now: At) -> bool:
        """Whether its states are those that they were when nothing more could come of them by itself."""
        rest = self.rest
        return (
            rest is not None and rest.states is self.states and rest.settings is settings and rest.lasts(now)
        )

    def told(self, settings: dict[str, str]) -> list[State]:
        """Its states under settings."""
        if all(state.settings is settings for state in self.states):
            return self.states
        return [state if state.settings is settings else _under(state, settings) for state in self.states]


def _under(state: State, settings: dict[str, str]) -> State:
    other = state.copy()
    other.settings = settings
    return other


def blank(settings: dict[str, str]) -> State:
    """The state of a component in which nothing is registered."""
    return State(kv=_NO_PAIRS, unnamed=_NOTHING_KEPT, settings=settings)


def unregistered(settings: dict[str, str]) -> Component:
    """A component of which nothing was ever registered."""
    return Component([blank(settings)], set(), set(), set())


def unique(states: Iterable[State]) -> list[State]:
    """Each state once."""
    found: list[State] = []
    for state in states:
        if not any(state is other or state == other for other in found):
            found.append(state)
    return found


def joined(components: list[Component]) -> Component:
    """One component of several, which turned out to have to do with each other."""
    first = components[0]
    for other in components[1:]:
        first.states = [_both(one, two) for one in first.states for two in other.states]
        first.names |= other.names
        first.addresses |= other.addresses
        first.symbols |= other.symbols
        first.owners.update(other.owners)
        first.shared = first.shared or other.shared
    return first


def _both(one: State, two: State) -> State:
    state = one.copy()
    state.brokers = one.brokers | two.brokers
    state.leases = one.leases | two.leases
    state.filters = one.filters | two.filters
    state.conns = one.conns | two.conns
    state.clusters = dict(one.clusters)
    for cluster, members in two.clusters.items():
        state.clusters[cluster] = members | one.clusters.get(cluster, frozenset())
    state.topics = dict(one.topics)
    for topic, queues in two.topics.items():
        state.topics[topic] = {**one.topics.get(topic, {}), **queues}
    state.mappings = dict(one.mappings)
    for topic, mapped in two.mappings.items():
        state.mappings[topic] = {**one.mappings.get(topic, {}), **mapped}
    state.ended = one.ended | two.ended
    state.pending = one.pending + tuple(effect for effect in two.pending if effect not in one.pending)
    state.serial = max(one.serial, two.serial)
    state.due = min(one.due, two.due)
    return state


def restricted(said: Answer, component: Component) -> Answer:
    """What an answer says about the names of a component."""
    body = said.body
    if isinstance(body, RouteView):
        view = RouteView(
            {name: queue for name, queue in body.queues.items() if name in component.names},
            {name: broker for name, broker in body.brokers.items() if name in component.names},
            {address: found for address, found in body.filters.items() if address in component.addresses},
            None,
            {name: epoch for name, epoch in body.mappings.items() if name in component.names},
        )
        return Answer(said.code, said.remark, said.ext, view)
    if isinstance(body, ClusterView):
        clusters = {cluster: members & component.names for cluster, members in body.clusters.items()}
        return Answer(
            said.code,
            said.remark,
            said.ext,
            ClusterView(
                {name: broker for name, broker in body.brokers.items() if name in component.names},
                {cluster: members for cluster, members in clusters.items() if members},
            ),
        )
    return said
