"""What should exist on a server while a program runs: the plainest state that the specification allows.

Generators choose their arguments by it; quirks, goals and campaigns say by it what a step is about. It sees
no answer and judges nothing: the same steps give the same state on every target. Names are symbols of the
program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from harness.catalogue import Profile
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import BORN
from harness.program.step import Close, Reconnect, Request, Restart, Time
from harness.program.steps import AnyStep
from harness.spec.nameserver.reading import Announced, announced_by
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.nameserver.state import PRESENT, Broker, Key, Queue, State, Version

_UNSEEN = 30.0
"""Protocol seconds within which a scan sees that a lease has ended: 10, and what a busy machine adds."""
_LEAVING = 20
"""Steps that may pass on a busy machine before a departure that no request waits for is carried out."""
_ORDINARY = (4, 6)
"""Permissions that Apache's servers handle as the catalogue says."""
_CHANGING = (
    ns.Register,
    ns.Unregister,
    ns.Heartbeat,
    ns.QueryVersion,
    ns.Permission,
    ns.DeleteTopic,
    ns.RegisterTopic,
    ns.Configure,
)
"""Requests that change brokers, leases, topics or settings."""


class Live(msgspec.Struct, frozen=True):
    """A live record. The connection is a symbol, and the version is as steps give it; in place of a time that
    the server has taken from its own clock, which no step can give, it has the time 0.
    """

    cluster: str
    address: str
    broker: str
    id: int
    conn: str
    version: Version
    length: float
    since: float
    has_own_time: bool
    """Whether the time of the version is the server's own."""

    def has_version_of(self, step: ns.Register) -> bool:
        """Whether a registration brings the version that is stored."""
        return not self.has_own_time and self.version == (step.counter, step.timestamp, step.state or 0)


class Departed(msgspec.Struct, frozen=True):
    """A broker name as it was before a lease ended or an address left. A server may still hold it: no scan
    may have seen the end of the lease, and ends of connections and one-way requests are carried out later, as
    are all departures on 5.x.
    """

    name: str
    broker: Broker
    clusters: frozenset[str]
    until: float
    last: float
    """The number of the last step for which it counts."""


class ExpectedState:
    """The state of one server that a program should have brought about."""

    def __init__(self, profile: str) -> None:
        self.spec = NameServerSpec(profile, Symbols())
        self.state: State = self.spec.start()
        self.now = 0.0
        self.idle: dict[str, int] = {}
        """Protocol seconds for which connections have been left alone."""
        self.mapped: dict[str, set[str]] = {}
        """Topics for which static mappings were announced, and the broker names that these are of. Not every
        announcement counts, and a server may keep what has gone."""
        self.odd: set[str] = set()
        """Broker names that have announced a permission other than 4 and 6 for a topic."""
        self._departed: list[Departed] = []
        self._also: dict[str, frozenset[str]] = {}
        """Clusters of a name that left and is back, in which a server may list it still."""
        self._steps = 0
        self._live: dict[Key, Live] = {}
        self._live_of: State | None = None

    # --- what exists ----------------------------------------------------------------------------------------

    @property
    def profile(self) -> Profile:
        """The release line of the server."""
        return self.spec.profile

    @property
    def brokers(self) -> Mapping[str, Broker]:
        """By name."""
        return self.state.brokers

    @property
    def topics(self) -> Mapping[str, Mapping[str, Queue]]:
        """Queue data by topic and broker name."""
        return self.state.topics

    @property
    def settings(self) -> Mapping[str, str]:
        """What settings are now."""
        return self.state.settings

    @property
    def leases(self) -> Mapping[Key, Live]:
        """The live records."""
        if self._live_of is not self.state:
            self._live, self._live_of = _live(self.state), self.state
        return self._live

    def lease(self, cluster: str, address: str) -> Live | None:
        """The live record of an address."""
        return self.leases.get(self.spec.key(cluster, address))

    def on(self, conn: str) -> list[Live]:
        """The live records whose latest registration came over a connection."""
        return [lease for lease in self.leases.values() if lease.conn == conn]

    def topics_of(self, broker: str) -> list[str]:
        """The topics that a broker name serves, sorted."""
        return sorted(topic for topic, queues in self.state.topics.items() if broker in queues)

    def clusters_of(self, broker: str) -> frozenset[str]:
        """The clusters that list a broker name, or may do so still."""
        return _clusters(self.state, broker) | self._also.get(broker, frozenset())

    def departed(self) -> list[Departed]:
        """What has left, and may still be in a server."""
        return [one for one in self._departed if self.now < one.until and self._steps <= one.last]

    def holders(self, step: ns.Register) -> set[str]:
        """The other addresses that have the id of a registration, or may have it yet."""
        names = [one.broker for one in self.departed() if one.name == step.broker]
        if step.broker in self.state.brokers:
            names.append(self.state.brokers[step.broker])
        return {name.ids.get(step.id, step.address) for name in names} - {step.address}

    def announced(self, step: ns.Register) -> Announced | None:
        """What a registration announces; None where it is refused for its header or its body."""
        return None if step.drop else announced_by(step, self.profile)

    def ending(self, step: Time) -> list[Live]:
        """The leases that run out, or whose connection is closed, while time passes."""
        after = self.now + step.seconds
        return [
            lease
            for lease in self.leases.values()
            if lease.since + lease.length < after
            or (lease.conn in step.idle and self.idle.get(lease.conn, 0) + step.seconds > self.profile.idle)
        ]

    # --- what happens ---------------------------------------------------------------------------------------

    def apply(self, step: AnyStep) -> None:
        """Carries a step out: of what the specification allows, the plainest."""
        self._steps += 1
        match step:
            case Time():
                self._pass(step)
            case Close():
                self._leave(step)
            case Reconnect():
                if step.old != step.conn:
                    self._leave(Close(server=step.server, conn=step.old))
                self._carry_out(step)
            case Restart():
                self._carry_out(step)
                self.idle, self.mapped, self.odd = {}, {}, set()
                self._departed, self._also = [], {}
            case Request() if step.broken is not None:
                self._leave(Close(server=step.server, conn=step.conn))
            case ns.Unregister():
                self._leave(step)
            case ns.Register():
                self._register(step)
            case ns.RegisterTopic():
                self.odd.update(name for name, queue in step.queues.items() if queue[2] not in _ORDINARY)
                self._carry_out(step)
            case _:
                if isinstance(step, _CHANGING):
                    self._carry_out(step)

    def _carry_out(self, step: AnyStep) -> None:
        at = (self.now, self.now)
        after = next(iter(self.spec.apply(self.state, step, at)))
        self.state = self.spec.settled(after.state, self.now)

    def _register(self, step: ns.Register) -> None:
        said = self.announced(step)
        if said is not None:
            if any(queue[2] not in _ORDINARY for queue in said.topics.values()):
                self.odd.add(step.broker)
            for topic, (broker, _) in said.mappings.items():
                self.mapped.setdefault(topic, set()).add(broker)
        self._carry_out(step)
        also = [one.clusters for one in self.departed() if one.name == step.broker]
        if also and step.broker in self.state.brokers:
            self._also[step.broker] = self._also.get(step.broker, frozenset()).union(*also)

    def _leave(self, step: ns.Unregister | Close) -> None:
        before = self.state
        self._carry_out(step)
        self._note_departures(before, self.now + _UNSEEN, self._steps + _LEAVING)

    def _pass(self, step: Time) -> None:
        before = self.state
        ended = max((one.since + one.length for one in self.ending(step)), default=self.now)
        self.now += step.seconds
        idle = {conn: self.idle.get(conn, 0) + step.seconds for conn in step.idle}
        for conn, seconds in idle.items():
            if seconds > self.profile.idle:
                self.state = self.spec.idled(self.state, conn, (self.now, self.now))
        self.idle = idle
        self.state = self.spec.settled(self.state, self.now)
        self._note_departures(before, ended + _UNSEEN, math.inf)

    def _note_departures(self, before: State, until: float, last: float) -> None:
        if before.brokers is self.state.brokers:
            return
        self._departed = self.departed()
        for name, broker in before.brokers.items():
            if self.state.brokers.get(name) is not broker:
                self._departed.append(Departed(name, broker, _clusters(before, name), until, last))
                if name not in self.state.brokers:
                    self._also.pop(name, None)


class Symbols(Names):
    """Names that are their own symbols."""

    def __init__(self) -> None:
        pass

    def name(self, symbol: str) -> str:
        return symbol

    def address(self, symbol: str) -> str:
        return symbol

    def is_ours(self, text: str) -> bool:
        return True


def _live(state: State) -> dict[Key, Live]:
    symbols = {conn: symbol for symbol, conn in state.conns.items()}
    found = {}
    for key, lease in state.leases.items():
        broker = state.brokers.get(lease.broker)
        ids = {} if broker is None else broker.ids
        counter, timestamp, number = lease.version
        found[key] = Live(
            lease.cluster,
            lease.address,
            lease.broker,
            next((one for one, held in ids.items() if held == lease.address), 0),
            symbols.get(lease.conn) or lease.conn.rpartition("#")[0],
            (counter, (0 if timestamp == PRESENT else timestamp) - BORN, number),
            lease.length,
            lease.since,
            timestamp == PRESENT,
        )
    return found


def _clusters(state: State, broker: str) -> frozenset[str]:
    return frozenset(cluster for cluster, members in state.clusters.items() if broker in members)
