"""One broker name, as calls see it: the specification of a NameServer restricted to that name.

- A registration, a change of permissions and a change of topics take effect at one moment, and so does what a
  route or a member group shows of the name. Cluster information is written without a lock by Apache's
  servers: each of its ids is a reading of its own.
- What a request asks for behind its answer (an unregistration), and what no request asks for (the end of a
  connection is noticed; a lease ends and a scan finds it), takes effect by itself within a term. A fresh
  registration in that term may go with it: Apache's servers find a broker and remove it in two steps
  (`RouteInfoManager#onChannelDestroy`, `BatchUnregistrationService`).
- ``relaxed`` is what a server is excused for the sake of an argument (`anomalies`).

A specification written for one name alone searched in 0.3 to 0.4 of the time: 27,500 pairs of (calls, state)
a second against 15,100, in faulty histories 21,600 against 10,800, and it looked at 0.6 to 0.7 of the pairs.
Judging takes 2 ms of the 6 ms of a history in process.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator

import msgspec

from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import BORN
from harness.spec.linear import Call
from harness.spec.nameserver.expected import Symbols
from harness.spec.nameserver.history.operations import (
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
from harness.spec.nameserver.predictions import Prediction
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.nameserver.state import At, Broker, Key, Lease, PendingEffect, State

MASTER = 0
_WRITE = 2
_NAME, _CLUSTER = "b", "c"


class NameState:
    """A state of the server as far as one name goes; states that are alike are equal.

    ``gone`` is what was there before; kept only where a server is excused for bringing it back.
    """

    __slots__ = ("_hash", "_key", "gone", "state")

    def __init__(self, state: State, gone: State | None = None) -> None:
        self.state = state
        self.gone = gone
        self._key = (_key(state), None if gone is None else _key(gone))
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NameState) and self._key == other._key

    @property
    def ids(self) -> dict[int, Address]:
        """The addresses of the name."""
        return _ids(self.state)

    def queues(self, topic: str) -> ns.Queues | None:
        """The queue data of a topic."""
        return self.state.topics.get(topic, {}).get(_NAME)


def _ids(state: State) -> dict[int, Address]:
    broker = state.brokers.get(_NAME)
    return {} if broker is None else broker.ids


def _key(state: State) -> object:
    broker = state.brokers.get(_NAME)
    return (
        None if broker is None else (broker.acting, *sorted(broker.ids.items())),
        tuple(sorted((topic, queues[_NAME]) for topic, queues in state.topics.items())),
        frozenset(state.leases.values()),
        frozenset(state.pending),
    )


class BrokerSpec:
    """The specification of one broker name.

    ``term`` is how long what happens by itself may take, ``scan`` how long a lease that has ended may go
    unnoticed, both in protocol seconds. No lease that lasts beyond ``end`` is followed. The brokers of a
    ``shared`` connection need not all leave with it.
    """

    def __init__(
        self,
        profile: str,
        *,
        term: float,
        scan: float,
        end: float = -math.inf,
        shared: frozenset[int] = frozenset(),
        relaxed: str | None = None,
    ) -> None:
        self._spec = NameServerSpec(profile, Symbols())
        self._has_state = self._spec.profile.has("state-version")
        self._term = term
        self._scan = scan
        self._end = end
        self._shared = shared
        self._relaxed = relaxed

    def initial(self) -> NameState:
        return NameState(self._spec.start())

    # --- calls ----------------------------------------------------------------------------------------------

    def after(self, held: NameState, call: Call, latest: float) -> Iterable[NameState]:
        action, at = call.action, (call.begin[0], latest)
        match action:
            case Routed() | Writable() | Listed() | Members() | Serves() | Stored():
                return (held,) if self._shows(held, action) else ()
            case Registration():
                return self._register(held, action, at)
            case Notice():
                return self._notice(held, action)
            case Leave():
                step = ns.Unregister(broker=_NAME, cluster=_CLUSTER, address=action.address, id=action.id)
                return self._removed(held, self._spec.unregistered(held.state, step))
            case DropTopic():
                return self._removed(held, (one for one, _ in self._apply(held, action, at)))
            case Changed():
                changed = str(action.changed).lower()
                return [
                    self._held(one, held)
                    for one, said in self._apply(held, action, at)
                    if action.changed is None or said["changed"] == changed
                ]
            case Permissions():
                return [
                    self._held(one, held)
                    for one, said in self._apply(held, action, at)
                    if action.count is None or str(action.count) in said.values()
                ]
            case GiveTopic() | Refresh():
                return [self._held(one, held) for one, _ in self._apply(held, action, at)]
        raise TypeError(f"no action of a broker name: {action!r}")

    def _apply(self, held: NameState, action: object, at: At) -> list[tuple[State, dict[str, str]]]:
        """The states after a request, and the fields of its answer."""
        step = _step(action, self._has_state)
        return [(one.state, _fields(one.prediction)) for one in self._spec.apply(held.state, step, at)]

    def _held(self, state: State, before: NameState) -> NameState:
        """A state whose leases are followed up to the end."""
        for key, lease in state.leases.items():
            if lease.length != math.inf and lease.since + lease.length > self._end:
                endless = msgspec.structs.replace(lease, since=0.0, until=math.inf, length=math.inf)
                state = _with_lease(state, key, endless)
        return NameState(state, before.gone)

    def _shows(self, held: NameState, seen: object) -> bool:
        ids = held.ids
        match seen:
            case Routed(topic, queues, addresses):
                there = held.queues(topic)
                if there is None or queues is None:
                    return there is None and queues is None
                return queues == (there[0], there[1], there[3]) and dict(addresses) == ids
            case Writable(topic, perm):
                there = held.queues(topic)
                return there is not None and there[2] == perm
            case Listed(number, address):
                return ids.get(number) == address
            case Members(addresses):
                return dict(addresses) == ids
            case Serves(topic, listed):
                return (held.queues(topic) is not None) == listed
            case Stored(address, version):
                lease = held.state.leases.get(self._spec.key(_CLUSTER, address))
                return self._comparable(None if lease is None else lease.version) == self._comparable(version)
        raise TypeError(f"nothing that is seen of a broker name: {seen!r}")

    def _comparable(self, version: Version | None) -> tuple[int, ...] | None:
        return version if self._has_state or version is None else version[:2]

    # --- registration ---------------------------------------------------------------------------------------

    def _register(self, held: NameState, asked: Registration, at: At) -> Iterator[NameState]:
        is_taken = False
        for state, was, told in self._registered(held.state, asked, at):
            refused = was == "lone topic"
            if asked.accepted is not None and asked.accepted == refused:
                continue
            is_told = asked.told in (None, told)
            is_taken = is_taken or (is_told and not refused)
            if refused or is_told:
                yield self._held(state, held)
                if was == "outranked":
                    yield self._held(
                        _acting(state, asked), held
                    )  # quirk.ignored-registration-describes-the-name
        if is_taken and self._relaxed == "lost registration":
            yield held

    def _registered(
        self, state: State, asked: Registration, at: At
    ) -> Iterator[tuple[State, str, tuple[str | None, bool]]]:
        """What may come of a registration, excuses included: the state, what it was, and what was told of the
        master.
        """
        step, conn = _step(asked, self._has_state), f"{asked.conn}/{asked.address}"
        states = [state]
        if self._relaxed == "stale version accepted":
            rivals = (asked.address, _ids(state).get(asked.id))
            known = {key: lease for key, lease in state.leases.items() if lease.address not in rivals}
            states.append(_with_leases(state, known))
        for before in states:
            for one in self._spec.apply(before, step, at, conn):
                ext = _fields(one.prediction)
                told = (ext.get("masterAddr"), "haServerAddr" in ext)
                after = one.state
                if before is not state:
                    after = _with_leases(after, {**state.leases, **after.leases})
                yield after, one.was, told
                if one.was in ("lone topic", "outranked"):
                    continue
                if self._relaxed == "split identity":
                    yield _with_ids(after, {**_ids(state), asked.id: asked.address}), one.was, told
                if self._relaxed == "phantom queue data" and not self._publishes(after, asked):
                    yield _with_topics(after, asked), one.was, told

    def _publishes(self, state: State, asked: Registration) -> bool:
        acts = self._spec.profile.has("acting-master") and asked.acting is not None
        return asked.id == MASTER or (acts and asked.id == min(_ids(state)))

    # --- departure ------------------------------------------------------------------------------------------

    def _notice(self, held: NameState, asked: Notice) -> Iterable[NameState]:
        found = [held.state]
        listed = held.ids.values()
        for key, lease in held.state.leases.items():
            if lease.conn == f"{asked.conn}/{lease.address}":
                effect = PendingEffect(0.0, asked.until, conn=lease.conn, keys=(key,))
                going = [one if effect in one.pending else one.with_pending(effect) for one in found]
                stays = asked.conn in self._shared or lease.address not in listed
                found = found + going if stays else going
        return [NameState(one, held.gone) for one in found]

    def _removed(self, held: NameState, found: Iterable[State]) -> Iterator[NameState]:
        """What something has removed from a name, with what it was where a server may bring it back."""
        for state in found:
            after = NameState(state, held.gone)
            resurrects = self._relaxed == "resurrected broker" and held.ids != after.ids
            haunts = self._relaxed == "ghost topic" and held.state.topics != state.topics
            if resurrects or haunts:
                gone = held.state.copy()
                gone.pending = ()
                after = NameState(state, gone)
            yield after

    # --- what happens by itself -----------------------------------------------------------------------------

    def hidden(self, held: NameState, earliest: float, latest: float) -> Iterable[NameState]:
        state = held.state
        for effect in state.pending:
            yield from self._removed(held, self._spec.fired(state, effect, (earliest, latest)))
        for key, lease in state.leases.items():
            if lease.since + lease.length < latest or self._relaxed == "premature expiry":
                effect = PendingEffect(0.0, self._surely_ended(lease), conn=lease.conn, keys=(key,))
                if effect not in state.pending:
                    yield NameState(state.with_pending(effect), held.gone)
        if held.gone is not None:
            yield NameState(self._restored(state, held.gone))

    def _surely_ended(self, lease: Lease) -> float:
        return lease.until + lease.length + self._scan + self._term

    def overdue(self, held: NameState, now: float) -> bool:
        if self._relaxed != "resurrected broker" and any(one.end < now for one in held.state.pending):
            return True
        if self._relaxed == "overdue lease":
            return False
        listed = held.ids.values()
        return any(
            self._surely_ended(lease) < now for lease in held.state.leases.values() if lease.address in listed
        )

    def _restored(self, state: State, gone: State) -> State:
        other = state.copy()
        other.topics = {**gone.topics, **state.topics}
        if self._relaxed == "ghost topic":
            return other
        here = _ids(state)
        back = {number: one for number, one in _ids(gone).items() if one not in here.values()}
        other.leases = {**gone.leases, **state.leases}
        return _with_ids(other, {**back, **here}, gone.brokers.get(_NAME))


def _fields(prediction: Prediction) -> dict[str, str]:
    return prediction.ext if isinstance(prediction.ext, dict) else {}


@functools.lru_cache(maxsize=4096)
def _step(action: object, has_state: bool) -> ns.AnyRequest:
    """The request that an action is."""
    match action:
        case Registration():
            counter, timestamp, number = action.version
            return ns.Register(
                broker=_NAME,
                cluster=_CLUSTER,
                address=action.address,
                id=action.id,
                topics=dict(action.topics),
                counter=counter,
                timestamp=timestamp - BORN,
                state=number if has_state else None,
                lease=round(action.lease * 1000),
                acting=action.acting,
                ha=action.ha,
            )
        case Changed():
            counter, timestamp, number = action.version
            return ns.QueryVersion(
                broker=_NAME,
                cluster=_CLUSTER,
                address=action.address,
                counter=counter,
                timestamp=timestamp - BORN,
                state=number if has_state else None,
            )
        case Permissions():
            return ns.Permission(broker=_NAME, code=327 if action.add else 205)
        case DropTopic():
            return ns.DeleteTopic(topic=action.topic)
        case GiveTopic():
            return ns.RegisterTopic(topic=action.topic, queues={_NAME: action.queues})
        case Refresh():
            return ns.Heartbeat(broker=_NAME, cluster=_CLUSTER, address=action.address)
    raise TypeError(f"no request: {action!r}")


def _with_lease(state: State, key: Key, lease: Lease) -> State:
    return _with_leases(state, {**state.leases, key: lease})


def _with_leases(state: State, leases: dict[Key, Lease]) -> State:
    other = state.copy()
    other.leases = leases
    return other


def _with_ids(state: State, ids: dict[int, Address], known: Broker | None = None) -> State:
    other = state.copy()
    broker = state.brokers.get(_NAME) or known or Broker(_CLUSTER, {})
    other.brokers = {_NAME: msgspec.structs.replace(broker, ids=ids)}
    return other


def _with_topics(state: State, asked: Registration) -> State:
    other = state.copy()
    strip = _WRITE if asked.id != MASTER and asked.acting else 0
    announced = {
        topic: {_NAME: (read, write, perm & ~strip, flag)}
        for topic, (read, write, perm, flag) in asked.topics
    }
    other.topics = {**state.topics, **announced}
    return other


def _acting(state: State, asked: Registration) -> State:
    other = state.copy()
    broker = state.brokers[_NAME]
    other.brokers = {_NAME: msgspec.structs.replace(broker, acting=bool(asked.acting))}
    return other
