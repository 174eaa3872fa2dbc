"""The parts of a server: which broker names have to do with each other, and which are judged no more.

Rules of this module:
- A request about a broker name belongs to one part; where it names what belongs to several, they become one.
- Nothing is guessed: names of which too much is possible are *muted*, which is to say judged no more, and so
  are those that a violation was about. With a part everything is muted that it may come to touch: what a
  request names that is yet to be carried out, and who registers over one of its connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.model.parts import LIMIT, Part, blank, joined, unique
from harness.model.registry import Registry
from harness.model.state import At, State
from harness.program.steps import (
    AnyRequest,
    DeleteTopic,
    Heartbeat,
    MemberGroup,
    Permission,
    QueryVersion,
    Register,
    RegisterTopic,
    Unregister,
)

__all__ = ["Partition"]

_NOBODY: frozenset[str] = frozenset()


class Partition:
    """The parts of one server, and what is muted."""

    def __init__(self, registry: Registry) -> None:
        self.parts: list[Part] = []
        self.muted: frozenset[str] = _NOBODY
        """Names, topics and addresses that are judged no more."""
        self.muted_conns: set[str] = set()
        """Connections that may end with a lease that is not judged."""
        self._registry = registry
        self._everywhere: list[tuple[float, DeleteTopic, At, bool]] = []
        """Requests about all names that may be carried out until a moment: of names that come later, too."""

    def clear(self) -> None:
        """The server has been started again: nothing is left but what is muted."""
        self.parts.clear()
        self._everywhere.clear()

    def concerns_newcomers(self, step: DeleteTopic, at: At, until: float, *, doubtful: bool) -> None:
        """A request about all names may be carried out until a moment, when there may be more of them."""
        self._everywhere.append((until, step, at, doubtful))

    def catch_up(self, now: float) -> None:
        """What was about all names until now is about newcomers no more."""
        if self._everywhere:
            self._everywhere = [late for late in self._everywhere if late[0] >= now]

    def named(self, name: str) -> Part | None:
        """The part of a broker name."""
        return next((part for part in self.parts if name in part.names), None)

    def _join(self, parts: Sequence[Part]) -> Part | None:
        distinct = [part for i, part in enumerate(parts) if part not in parts[:i]]
        if not distinct:
            return None
        if len(distinct) > 1:
            for part in distinct:
                self.parts.remove(part)
            one = joined(distinct)
            self.parts.append(one)
            self.keep(one, one.states)
            return one if one in self.parts else None
        return distinct[0]

    def part_for(self, step: AnyRequest, settings: dict[str, str]) -> Part | None:
        """The part that a request about a broker name is about. None where there is none, or no more."""
        registry = self._registry
        if isinstance(step, Permission | MemberGroup):
            return self.named(registry.name(step.broker))
        assert isinstance(step, Register | Unregister | Heartbeat | QueryVersion)
        address = registry.address(step.address)
        if isinstance(step, Heartbeat | QueryVersion):
            return next((part for part in self.parts if address in part.addresses), None)
        name = registry.name(step.broker)
        registers = isinstance(step, Register)
        names = {name}
        if isinstance(step, Register):
            names |= {registry.name(broker) for broker, _ in step.mappings.values()}
        concerned = [
            part
            for part in self.parts
            if not names.isdisjoint(part.names)
            or address in part.addresses
            or (registers and step.conn in part.symbols)
        ]
        if not registers and not registry.five:
            return self._join(concerned)
        if not concerned:
            part = Part([self._newcomer(settings)], set(), set(), set())
            self.parts.append(part)
        else:
            found = self._join(concerned)
            if found is None:
                return None
            part = found
        part.names |= names
        part.addresses.add(address)
        if not registers:  # it waits for the worker, and may find who registers before that
            return part
        part.symbols.add(step.conn)
        if part.owners.setdefault(address, name) != name:
            part.shared = True
        return part

    def _newcomer(self, settings: dict[str, str]) -> State:
        """The state of a name that nothing was known of: what is about all names may yet be carried out."""
        state = blank(settings)
        for _, step, at, doubtful in self._everywhere:
            state = self._registry.postponed(state, step, at, doubtful=doubtful)
        return state

    def keep(self, part: Part, states: Iterable[State]) -> None:
        """These states are left of a part."""
        part.states = unique(states)
        if len(part.states) > LIMIT:
            self.mute(part)
        elif part.is_empty:
            self.parts.remove(part)

    def mute(self, part: Part) -> None:
        """Nothing of a part is judged any more."""
        if part in self.parts:
            self.parts.remove(part)
        touched = {cluster for state in part.states for cluster in state.clusters}
        for step in {id(late.step): late.step for state in part.states for late in state.late}.values():
            if step is not None:
                touched |= self._touched(step)
        self.muted |= part.names | part.addresses | part.topics() | touched
        self.muted_conns |= part.symbols

    def mute_all(self, names: Iterable[str]) -> None:
        """Broker names are judged no more, nor the parts that they are in."""
        for name in names:
            self.muted |= {name}
            if (part := self.named(name)) is not None:
                self.mute(part)

    def _touched(self, step: AnyRequest) -> set[str]:
        """The names that a step changes, or brings."""
        name = self._registry.name
        match step:
            case Register():
                brokers = (broker for broker, _ in step.mappings.values())
                symbols = (step.broker, step.cluster, *step.topics, *step.mappings, *brokers)
                return {self._registry.address(step.address), *map(name, symbols)}
            case RegisterTopic():
                return {name(step.topic), *map(name, step.queues)}
        return set()

    def is_muted(self, step: AnyRequest) -> bool:
        """Whether a step is about a name that is not judged; what it touches is not judged either."""
        if not self.muted:
            return False
        registry = self._registry
        names: set[str] = set()
        conn: str | None = None
        match step:
            case Register():
                names = {registry.name(step.broker), registry.address(step.address)}
                names |= {registry.name(broker) for broker, _ in step.mappings.values()}
                conn = step.conn
            case RegisterTopic():
                names = set(map(registry.name, step.queues))
            case Unregister() | Heartbeat() | QueryVersion():
                names = {registry.name(step.broker), registry.address(step.address)}
            case MemberGroup() | Permission():
                names = {registry.name(step.broker)}
        if self.muted.isdisjoint(names) and conn not in self.muted_conns:
            return False
        for part in list(self.parts):
            if (
                conn in part.symbols
                or not names.isdisjoint(part.names)
                or not names.isdisjoint(part.addresses)
            ):
                self.mute(part)
        self.muted |= names | self._touched(step)
        if conn is not None:
            self.muted_conns.add(conn)
        return True
