"""The components of a server: which broker names have to do with each other, and which are judged no more.

- A request about a broker name belongs to one component; if it names things of several, they become one.
- Nothing is guessed: names of which too much is possible are *untracked*, that is, judged no more, and so are
  those that a violation was about. With a component everything is untracked that it may come to touch: what a
  pending request names, and brokers that register over one of its connections.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

from harness.program.nameserver import steps as ns
from harness.spec.nameserver.component import LIMIT, Component, blank, joined, unique
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.nameserver.state import At, State

_NOBODY: frozenset[str] = frozenset()


class Components:
    """The components of one server, and what is untracked."""

    def __init__(self, spec: NameServerSpec) -> None:
        self.all: list[Component] = []
        self.untracked: frozenset[str] = _NOBODY
        """Names, topics and addresses that are judged no more."""
        self.untracked_conns: set[str] = set()
        """Connections that may end with a lease that is not judged."""
        self._spec = spec
        self._everywhere: list[tuple[float, ns.DeleteTopic, At, bool]] = []
        """Requests about all names that may be carried out until a moment: of names that come later, too."""

    def clear(self) -> None:
        """The server has been started again: nothing is left but what is untracked."""
        self.all.clear()
        self._everywhere.clear()

    def concerns_newcomers(self, step: ns.DeleteTopic, at: At, until: float, *, uncertain: bool) -> None:
        """A request about all names may be carried out until a moment, when there may be more of them."""
        self._everywhere.append((until, step, at, uncertain))

    def catch_up(self, now: float) -> None:
        """What was about all names until now is about newcomers no more."""
        if self._everywhere:
            self._everywhere = [one for one in self._everywhere if one[0] >= now]

    def named(self, name: str) -> Component | None:
        """The component of a broker name."""
        return next((component for component in self.all if name in component.names), None)

    def _join(self, components: Sequence[Component]) -> Component | None:
        distinct = [component for i, component in enumerate(components) if component not in components[:i]]
        if not distinct:
            return None
        if len(distinct) > 1:
            for component in distinct:
                self.all.remove(component)
            one = joined(distinct)
            self.all.append(one)
            self.keep(one, one.states)
            return one if one in self.all else None
        return distinct[0]

    def component_for(self, step: ns.AnyRequest, settings: dict[str, str]) -> Component | None:
        """The component that a request about a broker name is about. None where there is none, or no more."""
        spec = self._spec
        if isinstance(step, ns.Permission | ns.MemberGroup):
            return self.named(spec.name(step.broker))
        assert isinstance(step, ns.Register | ns.Unregister | ns.Heartbeat | ns.QueryVersion)
        address = spec.address(step.address)
        if isinstance(step, ns.Heartbeat | ns.QueryVersion):
            return next((component for component in self.all if address in component.addresses), None)
        name = spec.name(step.broker)
        registers = isinstance(step, ns.Register)
        names = {name}
        if isinstance(step, ns.Register):
            names |= {spec.name(broker) for broker, _ in step.mappings.values()}
        concerned = [
            component
            for component in self.all
            if not names.isdisjoint(component.names)
            or address in component.addresses
            or (registers and step.conn in component.symbols)
        ]
        if not registers and not spec.profile.has("brokers-by-cluster"):
            return self._join(concerned)
        if not concerned:
            component = Component([self._newcomer(settings)], set(), set(), set())
            self.all.append(component)
        else:
            found = self._join(concerned)
            if found is None:
                return None
            component = found
        component.names |= names
        component.addresses.add(address)
        if not registers:  # it waits for the worker, and may find who registers before that
            return component
        component.symbols.add(step.conn)
        if component.owners.setdefault(address, name) != name:
            component.shared = True
        return component

    def _newcomer(self, settings: dict[str, str]) -> State:
        """The state of a name that nothing was known of: what is about all names may yet be carried out."""
        state = blank(settings)
        for _, step, at, uncertain in self._everywhere:
            state = self._spec.postponed(state, step, at, uncertain=uncertain)
        return state

    def keep(self, component: Component, states: Iterable[State]) -> None:
        """These states are left of a component."""
        found = unique(states)
        if len(found) != len(component.states) or not all(map(operator.is_, found, component.states)):
            component.states = found  # otherwise it stays at rest
        if len(component.states) > LIMIT:
            self.untrack(component)
        elif component.is_empty:
            self.all.remove(component)

    def untrack(self, component: Component) -> None:
        """Nothing of a component is judged any more."""
        if component in self.all:
            self.all.remove(component)
        touched = {cluster for state in component.states for cluster in state.clusters}
        for step in {
            id(effect.step): effect.step for state in component.states for effect in state.pending
        }.values():
            if step is not None:
                touched |= self._touched(step)
        self.untracked |= component.names | component.addresses | component.topics() | touched
        self.untracked_conns |= component.symbols

    def untrack_all(self, names: Iterable[str]) -> None:
        """Broker names are judged no more, nor the components that they are in."""
        for name in names:
            self.untracked |= {name}
            if (component := self.named(name)) is not None:
                self.untrack(component)

    def _touched(self, step: ns.AnyRequest) -> set[str]:
        """The names that a step changes, or brings."""
        name = self._spec.name
        match step:
            case ns.Register():
                brokers = (broker for broker, _ in step.mappings.values())
                symbols = (step.broker, step.cluster, *step.topics, *step.mappings, *brokers)
                return {self._spec.address(step.address), *map(name, symbols)}
            case ns.RegisterTopic():
                return {name(step.topic), *map(name, step.queues)}
        return set()

    def is_untracked(self, step: ns.AnyRequest) -> bool:
        """Whether a step is about a name that is not judged; what it touches is not judged either."""
        if not self.untracked:
            return False
        spec = self._spec
        names: set[str] = set()
        conn: str | None = None
        match step:
            case ns.Register():
                names = {spec.name(step.broker), spec.address(step.address)}
                names |= {spec.name(broker) for broker, _ in step.mappings.values()}
                conn = step.conn
            case ns.RegisterTopic():
                names = set(map(spec.name, step.queues))
            case ns.Unregister() | ns.Heartbeat() | ns.QueryVersion():
                names = {spec.name(step.broker), spec.address(step.address)}
            case ns.MemberGroup() | ns.Permission():
                names = {spec.name(step.broker)}
        if self.untracked.isdisjoint(names) and conn not in self.untracked_conns:
            return False
        for component in list(self.all):
            if (
                conn in component.symbols
                or not names.isdisjoint(component.names)
                or not names.isdisjoint(component.addresses)
            ):
                self.untrack(component)
        self.untracked |= names | self._touched(step)
        if conn is not None:
            self.untracked_conns.add(conn)
        return True
