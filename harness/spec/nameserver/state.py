"""What a NameServer may hold: values that are never changed, so that a state is copied by naming its tables.

- A table that a state holds is replaced, never written to; what two states share is one object.
- Names, clusters, topics and addresses are those of the target. Times are protocol seconds.
- What happens behind an answer is no state of its own but a `PendingEffect`: it may have happened from one
  moment on and must have happened by another.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import msgspec

from harness.program.nameserver.steps import AnyRequest

At: TypeAlias = tuple[float, float]
"""Something happened at some moment from the first to the second."""

Key: TypeAlias = tuple[str, str]
"""What a live record is found by: cluster and address on 5.x, nothing and address on 4.9."""

Version: TypeAlias = tuple[int, int, int]
"""Counter, timestamp, state version (0 where there is none, and on 4.9)."""

PRESENT: Final = 2**63
"""The timestamp of a data version that a server has taken from its own clock: no 64-bit number, so that no
version that a program sends equals it.
"""

Queue: TypeAlias = tuple[int, int, int, int]
"""Read queues, write queues, permission, system flag."""

ABSENT = None
"""The value of a key that is known to be in no namespace."""


class Broker(msgspec.Struct, frozen=True):
    """A broker name. ``cluster`` is that of its first registration."""

    cluster: str
    ids: dict[int, str]
    acting: bool = False
    zone: str | None = None


class Lease(msgspec.Struct, frozen=True):
    """A live record. It was refreshed at some moment from ``since`` to ``until``; ``conn`` is the connection
    of its latest registration.
    """

    broker: str
    cluster: str
    address: str
    conn: str
    version: Version
    ha: str | None
    length: float
    since: float
    until: float


class Namespace(msgspec.Struct, frozen=True):
    """What is known of a KV namespace. ``exists`` None: unknown. In one that is ``complete`` there is no
    pair that is not in ``pairs``.
    """

    exists: bool | None = None
    pairs: dict[str, str | None] = {}
    complete: bool = False


class PendingEffect(msgspec.Struct, frozen=True):
    """Something that may have happened from ``start`` on, and must have by ``end``; if it is ``uncertain``,
    it never happens after that.
    """

    start: float
    end: float
    step: AnyRequest | None = None
    """A request that is carried out behind what was seen of it; None: the connection is lost."""
    conn: str = ""
    """The connection that it is about."""
    said: Any = None
    """What it was answered, where its answer was seen before it is known when it was carried out."""
    uncertain: bool = False
    keys: tuple[Key, ...] = ()
    """The records that had to go with a connection when it was lost. One that is fresh since may go with it:
    Apache's servers find a broker and remove it in two steps (`RouteInfoManager#onChannelDestroy`,
    `BatchUnregistrationService`)."""


class State(msgspec.Struct):
    """One possible state of a NameServer."""

    brokers: dict[str, Broker] = {}
    clusters: dict[str, frozenset[str]] = {}
    topics: dict[str, dict[str, Queue]] = {}
    """Queue data by topic and broker name."""
    leases: dict[Key, Lease] = {}
    filters: dict[Key, tuple[str, ...]] = {}
    mappings: dict[str, dict[str, tuple[int, bool]]] = {}
    """Epoch by topic and broker name of a static mapping, and whether it must be shown."""
    kv: dict[str, Namespace] = {}
    unnamed: Namespace = Namespace()
    """What is known of a namespace that is not in ``kv``."""
    settings: dict[str, str] = {}
    conns: dict[str, str] = {}
    """The connection that a symbol stands for: the symbol and a number, ``k1#2``."""
    serial: int = 0
    """The last number that was given to a connection."""
    ended: frozenset[str] = frozenset()
    """Connections that the server has closed of itself."""
    pending: tuple[PendingEffect, ...] = ()
    due: float = math.inf
    """Before this moment nothing happens by itself."""

    def copy(self) -> State:
        """Another state with the same tables."""
        return State(
            self.brokers,
            self.clusters,
            self.topics,
            self.leases,
            self.filters,
            self.mappings,
            self.kv,
            self.unnamed,
            self.settings,
            self.conns,
            self.serial,
            self.ended,
            self.pending,
            self.due,
        )

    def with_pending(self, effect: PendingEffect) -> State:
        """The state in which something more is going to happen."""
        other = self.copy()
        other.pending = (*self.pending, effect)
        other.due = min(self.due, effect.start)
        return other


def due(state: State, early: float) -> float:
    """The first moment at which something may happen by itself, ``early`` being how far the clocks may be
    apart.
    """
    moment = min((effect.start for effect in state.pending), default=math.inf)
    for lease in state.leases.values():
        end = lease.since + lease.length - early
        if end < moment:
            moment = end
    return moment
