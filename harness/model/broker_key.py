"""One broker name, as calls see it: its addresses, its queue data, and the leases of its addresses.

Rules of this module:
- A registration, a change of permissions and a change of topics take effect at one moment, and so does what a
  route or a member group shows of the name. Cluster information is written without a lock by Apache's
  servers: each of its ids is a reading of its own.
- What a request asks for behind its answer (an unregistration), and what nobody asks for (the end of a
  connection is noticed; a lease ends and a scan finds it), takes effect by itself within a term. A fresh
  registration in that term may go with it: Apache's servers find a broker and remove it in two steps
  (`RouteInfoManager#onChannelDestroy`, `BatchUnregistrationService`).
- Where the catalogue leaves an outcome open, each of them is a state.
- ``relaxed`` is what a server is excused for the sake of an argument (`harness.model.anomalies`).

Source: RouteInfoManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3; chapters registration, unregistration,
lease and write permission of the catalogue.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.model.actions import (
    Address,
    Changed,
    DropTopic,
    GiveTopic,
    Leave,
    Listed,
    Members,
    Notice,
    Permissions,
    Refresh,
    Registration,
    Routed,
    Serves,
    Stored,
    Version,
    Writable,
)
from harness.model.linear import Call
from harness.program.steps import Queues

__all__ = ["MASTER", "BrokerKey", "BrokerState"]

WRITE = 2
READ_WRITE = 6
MASTER = 0


# --- the state ----------------------------------------------------------------------------------------------


class Live(NamedTuple):
    """The lease of an address. It began between two moments."""

    address: Address
    version: Version
    conn: int
    ha: bool
    length: float
    since: float
    until: float


class Due(NamedTuple):
    """An address that is going to leave, for the sake of a connection."""

    address: Address
    conn: int
    until: float


class BrokerState(NamedTuple):
    """A broker name."""

    ids: tuple[tuple[int, Address], ...] = ()
    queues: tuple[tuple[str, Queues], ...] = ()
    live: tuple[Live, ...] = ()
    acting: bool = False
    due: tuple[Due, ...] = ()
    gone: BrokerState | None = None
    """What was there before; kept only where a server is excused for bringing it back."""


def _alive(state: BrokerState, address: Address) -> Live | None:
    return next((live for live in state.live if live.address == address), None)


def _without(state: BrokerState, address: Address) -> tuple[Live, ...]:
    return tuple(live for live in state.live if live.address != address)


def _put(queues: tuple[tuple[str, Queues], ...], topic: str, value: Queues) -> tuple[tuple[str, Queues], ...]:
    return tuple(sorted([*((t, q) for t, q in queues if t != topic), (topic, value)]))


def _read_only(queues: Queues) -> Queues:
    return (queues[0], queues[1], queues[2] & ~WRITE, queues[3])


class BrokerKey:
    """The specification of one broker name.

    ``term`` is how long what happens by itself may take, ``scan`` how long a lease that has ended may go
    unnoticed, both in protocol seconds. No lease that lasts beyond ``end`` is followed. The brokers of a
    ``shared`` connection need not all leave with it.
    """

    def __init__(
        self,
        *,
        five: bool,
        term: float,
        scan: float,
        end: float = -math.inf,
        shared: frozenset[int] = frozenset(),
        relaxed: str | None = None,
    ) -> None:
        self._five = five
        self._term = term
        self._scan = scan
        self._end = end
        self._shared = shared
        self._relaxed = relaxed

    def initial(self) -> BrokerState:
        return BrokerState()

    # --- calls ----------------------------------------------------------------------------------------------

    def after(self, state: BrokerState, call: Call, latest: float) -> Iterable[BrokerState]:
        action = call.action
        match action:
            case Routed() | Writable() | Listed() | Members() | Serves() | Stored():
                return (state,) if self._shows(state, action) else ()
            case Registration():
                return self._register(state, action, call.begin[0], latest)
            case Leave():
                return self._leave(state, action)
            case Notice():
                return self._notice(state, action)
            case Permissions():
                return self._permit(state, action)
            case DropTopic():
                return self._drop(state, action.topic)
            case GiveTopic():
                put = _put(state.queues, action.topic, action.queues)
                return (state._replace(queues=put) if state.ids else state,)
            case Refresh():
                return (self._refreshed(state, action.address, call.begin[0], latest),)
            case Changed():
                return self._compare(state, action, call.begin[0], latest)
        raise TypeError(f"no action of a broker name: {action!r}")

    def _shows(self, state: BrokerState, seen: object) -> bool:
        match seen:
            case Routed(topic, queues, addresses):
                held = dict(state.queues).get(topic)
                if held is None or queues is None:
                    return held is None and queues is None
                return queues == (held[0], held[1], held[3]) and addresses == state.ids
            case Writable(topic, perm):
                held = dict(state.queues).get(topic)
                return held is not None and held[2] == perm
            case Listed(number, address):
                return dict(state.ids).get(number) == address
            case Members(addresses):
                return addresses == state.ids
            case Serves(topic, listed):
                return any(name == topic for name, _ in state.queues) == listed
            case Stored(address, version):
                live = _alive(state, address)
                return (None if live is None else self._comparable(live.version)) == (
                    None if version is None else self._comparable(version)
                )
        raise TypeError(f"nothing that is seen of a broker name: {seen!r}")

    def _comparable(self, version: Version) -> tuple[int, ...]:
        return version if self._five else version[:2]

    # --- registration ---------------------------------------------------------------------------------------

    def _register(
        self, state: BrokerState, asked: Registration, since: float, until: float
    ) -> Iterator[BrokerState]:
        ids = dict(state.ids)
        refused = self._five and asked.id not in ids and len(asked.topics) == 1
        if asked.accepted is not None and asked.accepted == refused:
            return
        if refused:
            yield state
            return
        if self._relaxed == "lost registration":
            yield state
        if self._outranked(state, ids.get(asked.id), asked):
            if asked.told in (None, (None, False)):
                ids_left = tuple((i, a) for i, a in state.ids if a != asked.address)
                ignored = state._replace(ids=ids_left, live=_without(state, asked.address))
                yield ignored
                yield ignored._replace(
                    acting=bool(asked.acting)
                )  # quirk outranked-registration-leaves-traces
            if self._relaxed != "stale version accepted":
                return
        for registered in self._taken(state, asked, since, until):
            if asked.told in (None, self._told(registered, asked)):
                yield registered

    def _outranked(self, state: BrokerState, held: Address | None, asked: Registration) -> bool:
        if not self._five or held is None or held == asked.address:
            return False
        holder = _alive(state, held)
        return holder is not None and holder.version[2] > asked.version[2]

    def _taken(
        self, state: BrokerState, asked: Registration, since: float, until: float
    ) -> Iterator[BrokerState]:
        before = dict(state.ids)
        kept = {i: a for i, a in before.items() if a != asked.address or i == asked.id}
        first = asked.id not in kept
        moved = len(kept) < len(before)
        ids = {**kept, asked.id: asked.address}
        previous = _alive(state, asked.address)
        changed = previous is None or self._comparable(previous.version) != self._comparable(asked.version)
        publishes = asked.id == MASTER or (self._five and asked.acting is not None and asked.id == min(ids))
        lease = asked.lease
        if since + lease > self._end:
            since, until, lease = 0.0, math.inf, math.inf
        live = Live(asked.address, asked.version, asked.conn, asked.ha, lease, since, until)
        taken = state._replace(
            ids=tuple(sorted(ids.items())),
            live=tuple(sorted((*_without(state, asked.address), live))),
            acting=bool(asked.acting),
        )
        for queues in self._queues_after(state, asked, publishes, first or changed, moved):
            yield taken._replace(queues=queues)
            if self._relaxed == "split identity":
                both = {**before, asked.id: asked.address}
                yield taken._replace(queues=queues, ids=tuple(sorted(both.items())))

    def _queues_after(
        self, state: BrokerState, asked: Registration, publishes: bool, renews: bool, moved: bool
    ) -> Iterator[tuple[tuple[str, Queues], ...]]:
        everything = self._published(state, asked, everything=True)
        if publishes and renews:
            yield everything
            return
        yield self._published(state, asked, everything=False) if publishes else state.queues
        # 4.9: the promoted slave's version may be taken for one that is published already.
        if (publishes and (moved or self._relaxed == "stale version accepted")) or (
            not publishes and self._relaxed == "phantom queue data"
        ):
            yield everything

    def _published(
        self, state: BrokerState, asked: Registration, *, everything: bool
    ) -> tuple[tuple[str, Queues], ...]:
        queues = dict(state.queues)
        strip = asked.id != MASTER and bool(asked.acting)
        for topic, announced in asked.topics:
            if everything or (self._five and topic not in queues):
                queues[topic] = _read_only(announced) if strip else announced
        return tuple(sorted(queues.items()))

    def _told(self, state: BrokerState, asked: Registration) -> tuple[str | None, bool]:
        master = dict(state.ids).get(MASTER)
        record = None if asked.id == MASTER or master is None else _alive(state, master)
        return (None, False) if record is None else (record.address, record.ha)

    # --- departure ------------------------------------------------------------------------------------------

    def _leave(self, state: BrokerState, asked: Leave) -> Iterator[BrokerState]:
        live = _without(state, asked.address)
        by_address = tuple((i, a) for i, a in state.ids if a != asked.address)
        yield self._reduced(state, by_address, live)
        if self._five and by_address == state.ids:
            yield state._replace(live=live)  # without a master, one that was not there may count as leaving
        if not self._five:
            by_id = tuple((i, a) for i, a in state.ids if i != asked.id)
            if by_id != by_address:
                yield self._reduced(state, by_id, live)
                yield state._replace(live=live)

    def _reduced(
        self, state: BrokerState, ids: tuple[tuple[int, Address], ...], live: tuple[Live, ...]
    ) -> BrokerState:
        queues, acting = state.queues, state.acting
        if not ids and state.ids:
            queues, acting = (), False
        elif acting and ids and min(ids)[0] > MASTER:
            queues = tuple((topic, _read_only(held)) for topic, held in queues)
        return self._remembering(state, state._replace(ids=ids, live=live, queues=queues, acting=acting))

    def _notice(self, state: BrokerState, asked: Notice) -> Iterable[BrokerState]:
        found = [state]
        listed = {address for _, address in state.ids}
        for live in state.live:
            if live.conn == asked.conn:
                due = Due(live.address, live.conn, asked.until)
                going = [one._replace(due=tuple(sorted({*one.due, due}))) for one in found]
                stays = asked.conn in self._shared or live.address not in listed
                found = found + going if stays else going
        return found

    # --- topics ---------------------------------------------------------------------------------------------

    def _permit(self, state: BrokerState, asked: Permissions) -> Iterable[BrokerState]:
        if asked.count not in (None, len(state.queues)):
            return ()
        queues = tuple(
            (topic, (read, write, READ_WRITE if asked.add else perm & ~WRITE, flag))
            for topic, (read, write, perm, flag) in state.queues
        )
        return (state._replace(queues=queues),)

    def _drop(self, state: BrokerState, topic: str) -> Iterable[BrokerState]:
        dropped = state._replace(queues=tuple((t, q) for t, q in state.queues if t != topic))
        return (self._remembering(state, dropped),)

    # --- leases ---------------------------------------------------------------------------------------------

    def _refreshed(self, state: BrokerState, address: Address, since: float, until: float) -> BrokerState:
        live = _alive(state, address)
        if live is None or live.length == math.inf:
            return state
        fresh = live._replace(since=since, until=until)
        return state._replace(live=tuple(sorted((*_without(state, address), fresh))))

    def _compare(
        self, state: BrokerState, asked: Changed, since: float, until: float
    ) -> Iterable[BrokerState]:
        live = _alive(state, asked.address)
        changed = live is None or self._comparable(live.version) != self._comparable(asked.version)
        if asked.changed not in (None, changed):
            return ()
        if self._five or not changed:
            return (self._refreshed(state, asked.address, since, until),)
        return (state,)

    # --- what happens by itself -----------------------------------------------------------------------------

    def hidden(self, state: BrokerState, earliest: float, latest: float) -> Iterable[BrokerState]:
        for due in state.due:
            rest = tuple(other for other in state.due if other != due)
            live = _alive(state, due.address)
            ids = tuple((i, a) for i, a in state.ids if a != due.address)
            yield self._reduced(state, ids, _without(state, due.address))._replace(due=rest)
            if live is None or live.conn != due.conn:
                yield state._replace(due=rest)  # it has come back, and may stay
        for live in state.live:
            if live.since + live.length < latest or self._relaxed == "premature expiry":
                due = Due(live.address, live.conn, self._surely_ended(live))
                if due not in state.due:
                    yield state._replace(due=tuple(sorted((*state.due, due))))
        if state.gone is not None:
            yield self._restored(state, state.gone)

    def _surely_ended(self, live: Live) -> float:
        return live.until + live.length + self._scan + self._term

    def overdue(self, state: BrokerState, now: float) -> bool:
        if self._relaxed != "resurrected broker" and any(due.until < now for due in state.due):
            return True
        if self._relaxed == "overdue lease":
            return False
        listed = {address for _, address in state.ids}
        return any(self._surely_ended(one) < now for one in state.live if one.address in listed)

    def _remembering(self, before: BrokerState, after: BrokerState) -> BrokerState:
        resurrects = self._relaxed == "resurrected broker" and before.ids != after.ids
        if resurrects or (self._relaxed == "ghost topic" and before.queues != after.queues):
            return after._replace(gone=before._replace(gone=None, due=()))
        return after

    def _restored(self, state: BrokerState, gone: BrokerState) -> BrokerState:
        queues = tuple(sorted({**dict(gone.queues), **dict(state.queues)}.items()))
        if self._relaxed == "ghost topic":
            return state._replace(queues=queues, gone=None)
        held = {address for _, address in state.ids}
        back = {number: address for number, address in gone.ids if address not in held}
        live = tuple(one for one in gone.live if _alive(state, one.address) is None)
        return state._replace(
            ids=tuple(sorted({**back, **dict(state.ids)}.items())),
            queues=queues,
            live=tuple(sorted((*state.live, *live))),
            gone=None,
        )
