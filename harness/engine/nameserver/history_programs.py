"""Programs in which several peers act at the same time, and what is looked at when they have become quiet.

- A program is bursts and a quiet end. The steps of a burst are on different connections as a rule and are all
  sent before any answer is waited for; what they name is little, so that they meet.
- An address belongs to one broker name and a connection to one address, as for real brokers; registrations
  have two topics or none. So no step of a program is one that a named quirk of Apache's server is about.
- At the end time passes until everything that happens behind an answer must have happened, and everything is
  looked at, with nothing else under way. Where that would cost real time, only some programs wait.
- Before the end of a program for several NameServers each broker registers with each of them once more, one
  after another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from harness.catalogue import profile_named
from harness.engine.histories import Meetings
from harness.program.chance import Chance
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Time
from harness.program.steps import AnyStep

_BROKERS = {"b0": ("a0", "a1", "a2"), "b1": ("a10", "a11")}
_USUAL = {"a0": 0, "a1": 1, "a2": 0, "a10": 0, "a11": 1}
_IDS = (0, 1, 2)
_SHARED = ("T0", "T1")
_OWN = {"b0": "T2", "b1": "T3"}
"""A topic that no other name serves, so that the list of all topics tells something of it."""
_KEYS = ("T0", "T1")
_PAIR_CODES: tuple[Literal[100, 101, 102, 219], ...] = (100, 100, 101, 101, 102, 219)
_READERS = ("q0", "q1", "q2", "q3")
_HIGHEST = 2
"""State version that no other registration of a program exceeds."""


class Shape(Meetings, frozen=True, kw_only=True):
    """How programs for a target are made."""

    profile: str
    servers: int = 1
    leases: float = 0.1
    """The share of programs in which a lease runs out."""


def program_of(source: Chance, shape: Shape) -> tuple[AnyStep, ...]:
    """One program, decided by ``source`` and ``shape``."""
    return tuple(_Maker(source, shape).program())


class _Maker:
    def __init__(self, source: Chance, shape: Shape) -> None:
        self._chance = source
        self._shape = shape
        self._profile = profile_named(shape.profile)
        self._counter = 0
        self._lease = False
        self._versions: dict[str, int] = {}
        """The counter of the last data version of an address."""

    def program(self) -> Iterator[AnyStep]:
        self._lease = self._chance.random() < self._shape.leases
        for _ in range(self._chance.randrange(2, self._shape.bursts + 1)):
            yield from self._burst()
            if self._lease and self._chance.random() < 0.5:
                yield Time(seconds=self._chance.choice((20, 60, 100)))
        if self._shape.servers > 1:
            yield from self._once_more()
        yield from self._quiet()

    # --- bursts ---------------------------------------------------------------------------------------------

    def _burst(self) -> Iterator[AnyStep]:
        width = self._chance.randrange(1, self._shape.width + 1)
        for at in range(width):
            step = self._step()
            if isinstance(step, Close):
                yield step
                continue
            yield msgspec.structs.replace(
                step, awaited=at == width - 1, server=self._chance.randrange(self._shape.servers)
            )

    def _step(self) -> ns.AnyRequest | Close:
        broker = self._chance.choice(("b0", "b0", "b1"))
        address = self._chance.choice(_BROKERS[broker])
        kind = self._chance.random()
        if kind < 0.30:
            return self._registration(broker, address)
        if kind < 0.38:
            return ns.Unregister(
                conn=self._chance.choice((*_READERS, self._conn(address))),
                broker=broker,
                address=address,
                id=self._id(address),
            )
        if kind < 0.41:
            return Close(conn=self._conn(address), server=self._chance.randrange(self._shape.servers))
        if kind < 0.45:
            return ns.Permission(conn=self._reader(), broker=broker, code=self._chance.choice((205, 327)))
        if kind < 0.48:
            return ns.DeleteTopic(conn=self._reader(), topic=self._chance.choice((*_SHARED, _OWN[broker])))
        if kind < 0.64:
            return self._pair()
        return self._look(broker, address)

    def _registration(self, broker: str, address: str) -> ns.Register:
        self._counter += 1
        version = self._counter
        if self._chance.random() < 0.25:
            version = self._versions.get(address, version)
        self._versions[address] = version
        everything = (*_SHARED, _OWN[broker])
        topics = self._chance.choice(((), everything[:2], everything[1:], everything, everything))
        return ns.Register(
            conn=self._conn(address),
            broker=broker,
            address=address,
            id=self._id(address),
            topics={topic: self._queues() for topic in topics},
            counter=version,
            state=self._chance.choice((0, 0, 0, 1, _HIGHEST)) if self._profile.has("state-version") else None,
            lease=self._chance.choice((None, None, 30_000))
            if self._lease and self._profile.has("own-lease")
            else None,
            acting=self._chance.choice((None, None, None, True, False))
            if self._profile.has("acting-master")
            else None,
        )

    def _id(self, address: str) -> int:
        """Its own as a rule: `a2` is a rival of `a0`."""
        return _USUAL[address] if self._chance.random() < 0.7 else self._chance.choice(_IDS)

    def _queues(self) -> ns.Queues:
        return (self._chance.choice((4, 8)), 1 + self._counter % 16, self._chance.choice((6, 6, 4)), 0)

    def _pair(self) -> ns.Kv:
        self._counter += 1
        return ns.Kv(
            conn=self._reader(),
            code=self._chance.choice(_PAIR_CODES),
            topic=self._chance.choice((*_KEYS[:1], *_KEYS)),
            value=f"v{self._counter}",
        )

    def _look(self, broker: str, address: str) -> ns.AnyRequest:
        conn = self._chance.choice((*_READERS, self._conn(address)))
        kind = self._chance.randrange(7 if self._profile.has("heartbeats") else 5)
        match kind:
            case 0 | 1:
                return ns.Route(conn=conn, topic=self._chance.choice((*_SHARED, _OWN[broker])))
            case 2:
                return ns.ClusterInfo(conn=conn)
            case 3:
                return ns.Topics(conn=conn)
            case 4:
                return ns.QueryVersion(
                    conn=conn,
                    broker=broker,
                    address=address,
                    counter=self._versions.get(address, 1) + self._chance.choice((0, 0, 1)),
                    state=0 if self._profile.has("state-version") else None,
                )
            case 5:
                return ns.MemberGroup(conn=conn, broker=broker)
        return ns.Heartbeat(conn=conn, broker=broker, address=address)

    def _conn(self, address: str) -> str:
        """Its own connection as a rule; a broker that comes back may have another one."""
        return f"k{address[1:]}" if self._chance.random() < 0.8 else f"l{address[1:]}"

    def _reader(self) -> str:
        return self._chance.choice(_READERS)

    # --- the end --------------------------------------------------------------------------------------------

    def _once_more(self) -> Iterator[AnyStep]:
        """Everybody registers with everybody, in one order."""
        yield Time(seconds=math.ceil(self._shape.term) + 1)
        for broker, addresses in _BROKERS.items():
            for number, address in enumerate(addresses):
                self._counter += 1
                conn = self._conn(address)
                registration = msgspec.structs.replace(
                    self._registration(broker, address),
                    conn=conn,
                    id=number,
                    state=_HIGHEST if self._profile.has("state-version") else None,
                    lease=None,
                )
                for server in range(self._shape.servers):
                    yield msgspec.structs.replace(registration, server=server)

    def _quiet(self) -> Iterator[AnyStep]:
        if self._lease:
            lasts = self._profile.lease + self._profile.scan_interval + 2 * self._shape.term
            yield Time(seconds=math.ceil(lasts) + 1)
        elif self._chance.random() < self._shape.waits:
            yield Time(seconds=math.ceil(self._shape.term) + 1)
        for server in range(self._shape.servers):
            for step in self._everything():
                yield msgspec.structs.replace(step, server=server)

    def _everything(self) -> Iterator[ns.AnyRequest]:
        for topic in (*_SHARED, *_OWN.values()):
            yield ns.Route(topic=topic)
        yield ns.ClusterInfo()
        yield ns.Topics()
        for key in _KEYS:
            yield ns.Kv(code=101, topic=key)
        if self._profile.has("heartbeats"):
            for broker in _BROKERS:
                yield ns.MemberGroup(broker=broker)
