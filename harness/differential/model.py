"""What should exist while a program runs: broker names, leases, connections. It steers and judges nothing.

Rules of this module:
- It follows the catalogue, roughly: what it gets wrong makes a program duller, never a verdict.
- Predicates speak of a step before it is carried out; quirks are matched by their names, so that a quirk can
  be said as data (`specs/divergences.yaml`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy

import msgspec

from harness.program.steps import (
    AnyStep,
    Close,
    Configure,
    DeleteTopic,
    Heartbeat,
    Permission,
    QueryVersion,
    Queues,
    Register,
    RegisterTopic,
    Request,
    Route,
    Time,
    Unregister,
)
from harness.wire import WireError
from harness.wire.bodies import Properties
from harness.wire.codes import V3_0_11, V5_0_0

__all__ = ["DEFAULT_LEASE", "PREDICATES", "Lease", "Model", "Name"]

DEFAULT_LEASE = 120.0
IDLE = 120
"""Protocol seconds after which a target closes a connection that is not used."""
MASTER = 0
_UNSEEN = 30.0
"""Protocol seconds within which a scan sees that a lease has ended: 10, and what a busy machine adds."""
_LEAVING = 20
"""So many steps may pass on a busy machine until a departure that nobody waits for is carried out."""

Version = tuple[int, int, int]
"""Counter, timestamp, state version."""


class Name(msgspec.Struct):
    """A broker name."""

    cluster: str
    ids: dict[int, str]
    clusters: set[str]
    topics: set[str]
    acting: bool = False
    zone: str | None = None


class Lease(msgspec.Struct):
    """A live record."""

    cluster: str
    address: str
    broker: str
    id: int
    conn: str
    version: Version
    length: float
    since: float


class _Lingering(msgspec.Struct):
    """A broker name as it was before a lease ended or an address left. No scan may have seen the one; ends of
    connections and one-way requests are carried out at some later moment, and on 5.x all departures.
    """

    broker: str
    name: Name
    until: float
    last: float


class Model:
    """The state that a program should have brought about. `five` is the 5.x line."""

    def __init__(self, *, five: bool) -> None:
        self.five = five
        self.now = 0.0
        self.names: dict[str, Name] = {}
        self.leases: dict[tuple[str, str], Lease] = {}
        self.mapped: dict[str, set[str]] = {}
        """Topics with static mappings, and the broker names that these are of."""
        self.topics: dict[str, set[str]] = {}
        """Topic -> broker names that serve it."""
        self.odd: set[str] = set()
        """Broker names of which a topic may have a permission other than 4 and 6."""
        self._lingering: list[_Lingering] = []
        self._steps = 0
        self.settings: dict[str, str] = {}
        self.idle: dict[str, int] = {}
        """For how long connections have been left alone."""

    # --- what is known --------------------------------------------------------------------------------------

    def key(self, cluster: str, address: str) -> tuple[str, str]:
        """What a live record is found by."""
        return (cluster if self.five else "", address)

    def lease(self, cluster: str, address: str) -> Lease | None:
        """The live record of an address."""
        return self.leases.get(self.key(cluster, address))

    def on(self, conn: str) -> list[Lease]:
        """The live records whose latest registration came over a connection."""
        return [lease for lease in self.leases.values() if lease.conn == conn]

    def lingering(self) -> list[tuple[str, Name]]:
        """Broker names as they may still be in a target: not every departure may have been carried out."""
        return [
            (one.broker, one.name)
            for one in self._lingering
            if self.now < one.until and self._steps <= one.last
        ]

    def holders(self, step: Register) -> set[str]:
        """The other addresses that have the id of a registration, or may have it yet."""
        names = [(step.broker, self.names[step.broker])] if step.broker in self.names else []
        held = {
            name.ids.get(step.id, step.address)
            for broker, name in (*names, *self.lingering())
            if broker == step.broker
        }
        return held - {step.address}

    def topics_of(self, step: Register) -> dict[str, Queues] | None:
        """The topics that a registration announces; None where it gets no further than its body."""
        announced = V5_0_0 if step.announces is None else step.announces
        if step.drop or announced < 0 or (step.crc == "wrong"):
            return None
        if step.form == "none":
            return {}
        packed = step.form.startswith("compressed")
        if announced < V3_0_11:
            # A whole body read as a bare one has no member that is known.
            return {"bare": step.topics, "json": {}}.get(step.form)
        if packed if step.claims_compressed is None else step.claims_compressed:
            if not packed:
                return None
            sections = step.form == "compressed-5"
            # 4.9 stumbles over the sixth word of a topic, not over what is behind the topics.
            readable = (sections or announced < V5_0_0) if self.five else not (sections and step.topics)
            return step.topics if readable else None
        return {"bare": {}, "json": step.topics}.get(step.form)

    @property
    def deletes_absent_topics(self) -> bool:
        """Whether a registration removes the topics that it does not announce (5.x)."""
        return self.five and self.settings.get("deleteTopicWithBrokerRegistration") == "true"

    def is_registration(self, step: Register) -> bool:
        """Whether a registration gets as far as the route table."""
        return self.topics_of(step) is not None

    def payload(self, step: Register) -> dict[str, Queues]:
        """The topics that a registration announces."""
        return self.topics_of(step) or {}

    def lone_topic(self, step: Register) -> bool:
        """5.x refuses an id that is not listed with exactly one topic."""
        name = self.names.get(step.broker)
        return self.five and (name is None or step.id not in name.ids) and len(self.payload(step)) == 1

    def outranked(self, step: Register) -> bool:
        """5.x ignores a registration for an id whose live holder has a greater state version."""
        name = self.names.get(step.broker)
        held = None if name is None else name.ids.get(step.id)
        if not self.five or held is None or held == step.address:
            return False
        holder = self.lease(step.cluster, held)
        return holder is not None and holder.version[2] > (step.state or 0)

    # --- what happens ---------------------------------------------------------------------------------------

    def apply(self, step: AnyStep) -> None:
        """Carries a step out."""
        self._steps += 1
        match step:
            case Register():
                if self.is_registration(step):
                    self._register(step)
            case Unregister():
                if not step.drop:
                    self._leave(step.cluster, step.address, step.broker, step.id)
            case Heartbeat() if self.five and not step.drop:
                self._refresh(step.cluster, step.address)
            case QueryVersion() if not step.drop:
                self._query(step)
            case DeleteTopic():
                self._delete_topic(step)
            case RegisterTopic() if self.five and step.form == "json":
                self.odd.update(broker for broker, queues in step.queues.items() if queues[2] not in (4, 6))
                if step.queues and all(broker in self.names for broker in step.queues):
                    self._serve(step.topic, step.queues)
            case Close():
                for lease in self.on(step.conn):
                    self._end(lease)
            case Time():
                self._pass(step)
            case Configure():
                self.settings.update(_written(step.lines))

    def _register(self, step: Register) -> None:
        if any(queues[2] not in (4, 6) for queues in self.payload(step).values()):
            self.odd.add(step.broker)
        if self.lone_topic(step):
            return
        name = self.names.get(step.broker)
        if self.outranked(step):
            assert name is not None
            self._forget_ids(name, step.address, but=None)
            self.leases.pop(self.key(step.cluster, step.address), None)
            return
        if name is None:
            name = self.names[step.broker] = Name(step.cluster, {}, set(), set())
        name.clusters.add(step.cluster)
        name.clusters.update(*(old.clusters for broker, old in self.lingering() if broker == step.broker))
        name.acting, name.zone = bool(step.acting), step.zone
        self._forget_ids(name, step.address, but=step.id)
        name.ids[step.id] = step.address
        version = (step.counter, step.timestamp, step.state or 0)
        if step.form == "none":
            version = (0, -1, 0)
        length = DEFAULT_LEASE if step.lease is None or not self.five else step.lease / 1000
        self.leases[self.key(step.cluster, step.address)] = Lease(
            step.cluster, step.address, step.broker, step.id, step.conn, version, length, self.now
        )
        if self.five and step.form in ("json", "compressed-5"):
            # Of any slave: who has the least id may not be sure.
            for topic, (broker, _) in step.mappings.items():
                self.mapped.setdefault(topic, set()).add(broker)
        if step.id == MASTER or (self.five and step.acting is not None and step.id == min(name.ids)):
            payload = self.payload(step)
            if self.deletes_absent_topics and not step.mappings:
                for topic in name.topics - payload.keys():
                    self._drop(topic, step.broker)
                name.topics &= payload.keys()
            for topic in payload:
                self._serve(topic, (step.broker,))

    def _serve(self, topic: str, brokers: Iterable[str]) -> None:
        for broker in brokers:
            self.topics.setdefault(topic, set()).add(broker)
            self.names[broker].topics.add(topic)

    def _forget_ids(self, name: Name, address: str, *, but: int | None) -> None:
        for number in [n for n, held in name.ids.items() if held == address and n != but]:
            del name.ids[number]

    def _refresh(self, cluster: str, address: str) -> None:
        lease = self.lease(cluster, address)
        if lease is not None:
            lease.since = self.now

    def _query(self, step: QueryVersion) -> None:
        lease = self.lease(step.cluster, step.address)
        if lease is None:
            return
        same = lease.version[:2] == (step.counter, step.timestamp) and step.form == "json"
        if self.five or same:
            lease.since = self.now

    def _leave(self, cluster: str, address: str, broker: str, number: int | None) -> None:
        self.leases.pop(self.key(cluster, address), None)
        name = self.names.get(broker)
        if name is None:
            return
        self._lingers(broker, self.now, self._steps + _LEAVING)
        if self.five or number is None:
            self._forget_ids(name, address, but=None)
        else:
            name.ids.pop(number, None)
        if not name.ids:
            del self.names[broker]
            for topic in name.topics:
                self._drop(topic, broker)

    def _drop(self, topic: str, broker: str) -> None:
        brokers = self.topics.get(topic, set())
        brokers.discard(broker)
        if not brokers:
            self.topics.pop(topic, None)

    def _end(self, lease: Lease) -> None:
        """A lost connection or an ended lease."""
        self.leases.pop(self.key(lease.cluster, lease.address), None)
        for broker in [b for b, name in self.names.items() if lease.address in name.ids.values()]:
            self._leave(lease.cluster, lease.address, broker, None)

    def _lingers(self, broker: str, since: float, last: float) -> None:
        """A broker name is going to change: as it is, it may yet be in a target up to a step, ``last``."""
        self._lingering = [one for one in self._lingering if self.now < one.until and self._steps <= one.last]
        self._lingering.append(_Lingering(broker, deepcopy(self.names[broker]), since + _UNSEEN, last))

    def _delete_topic(self, step: DeleteTopic) -> None:
        for broker in list(self.topics.get(step.topic, ())):
            name = self.names.get(broker)
            if not step.cluster or (name is not None and step.cluster in name.clusters):
                self._drop(step.topic, broker)
                if name is not None:
                    name.topics.discard(step.topic)

    def _pass(self, step: Time) -> None:
        for lease in self.ending(step):
            if lease.broker in self.names:
                self._lingers(lease.broker, lease.since + lease.length, math.inf)
            for other in self.on(lease.conn):  # the target closes the connection of an ended lease
                self._end(other)
            self._end(lease)
        self.now += step.seconds
        self.idle = {conn: self.idle.get(conn, 0) + step.seconds for conn in step.idle}

    def ending(self, step: Time) -> list[Lease]:
        """The leases that run out, or whose connection is closed, while time passes."""
        after = self.now + step.seconds
        return [
            lease
            for lease in self.leases.values()
            if lease.since + lease.length < after
            or (lease.conn in step.idle and self.idle.get(lease.conn, 0) + step.seconds > IDLE)
        ]


# --- predicates ---------------------------------------------------------------------------------------------

Predicate = Callable[[Model, AnyStep], bool]


def _departing(model: Model, step: AnyStep) -> list[Lease]:
    """The live records that a step removes."""
    match step:
        case Close():
            return model.on(step.conn)
        case Time():
            return model.ending(step)
        case Unregister():
            lease = model.lease(step.cluster, step.address)
            return [] if lease is None else [lease]
    return []


def _registers(model: Model, step: AnyStep) -> Register | None:
    return step if isinstance(step, Register) and model.is_registration(step) else None


def _lone_topic(model: Model, step: AnyStep) -> bool:
    """103: an id that is not listed comes with exactly one topic; or one that may have left by then: with the
    connection that ends right behind the request, or because its lease is shorter than a program may take.
    """
    found = _registers(model, step)
    if found is None or not model.five or len(model.payload(found)) != 1:
        return False
    lease = model.lease(found.cluster, found.address)
    is_short = lease is not None and lease.length < DEFAULT_LEASE
    return is_short or found.broken is not None or model.lone_topic(found)


def _outranked(model: Model, step: AnyStep) -> bool:
    """103: the id is held by a live address with a greater state version."""
    found = _registers(model, step)
    return found is not None and model.outranked(found)


def _promoted_over_master(model: Model, step: AnyStep) -> bool:
    """103 as master by an address that is listed as a slave, while another address is the master, or may be
    yet.
    """
    found = _registers(model, step)
    name = None if found is None else model.names.get(found.broker)
    if found is None or name is None or found.id != MASTER:
        return False
    return found.address in name.ids.values() and bool(model.holders(found))


def _replaces_address(model: Model, step: AnyStep) -> bool:
    """103: the id is held by another address, or may be yet."""
    found = _registers(model, step)
    return found is not None and bool(model.holders(found))


def _several_clusters(model: Model, step: AnyStep) -> bool:
    """An address leaves a broker name that was registered under more than one cluster; or registers there
    while a lease may end unseen.
    """
    if isinstance(step, Register):
        name = model.names.get(step.broker)
        leases = [lease.length for lease in model.leases.values() if lease.broker == step.broker]
        leases += [] if step.lease is None or not model.five else [step.lease / 1000]
        is_short = any(length < DEFAULT_LEASE for length in leases)
        return is_short and name is not None and {step.cluster} != name.clusters
    brokers = {lease.broker for lease in _departing(model, step)}
    if isinstance(step, Unregister):
        brokers.add(step.broker)
    return any(len(model.names[b].clusters) > 1 for b in brokers if b in model.names)


def _wrong_cluster(model: Model, step: AnyStep) -> bool:
    """104 for a known broker name under another cluster than its own."""
    name = model.names.get(step.broker) if isinstance(step, Unregister) else None
    return name is not None and isinstance(step, Unregister) and step.cluster != name.cluster


def _shared_connection(model: Model, step: AnyStep) -> bool:
    """A connection ends, or a lease on it, over which more than one broker has registered."""
    if isinstance(step, Unregister):
        return False
    return any(len(model.on(lease.conn)) > 1 for lease in _departing(model, step))


def _address_of_another(model: Model, step: AnyStep) -> bool:
    """103: another broker name lists the address already."""
    found = _registers(model, step)
    return found is not None and any(
        found.address in name.ids.values()
        for broker, name in (*model.names.items(), *model.lingering())
        if broker != found.broker
    )


def _mapped_topic_goes(model: Model, step: AnyStep) -> bool:
    """Queue data of a topic with static mappings may go: it is deleted or left out, or its broker leaves,
    be it because its lease is shorter than a program may take.
    """
    if isinstance(step, DeleteTopic):
        return step.topic in model.mapped
    brokers = {lease.broker for lease in _departing(model, step)}
    is_short = isinstance(step, Register) and step.lease is not None and step.lease / 1000 < DEFAULT_LEASE
    if isinstance(step, Register) and is_short and step.mappings:
        return True
    if isinstance(step, Unregister) or (
        isinstance(step, Register) and (is_short or model.deletes_absent_topics)
    ):
        brokers.add(step.broker)
    return any(brokers & mapped for mapped in model.mapped.values())


def _drops_field(model: Model, step: AnyStep) -> bool:
    """An ext field is left out."""
    return isinstance(step, Request) and bool(step.drop)


def _zone_filtered(model: Model, step: AnyStep) -> bool:
    """105 with `__ZONE_MODE` true and a zone."""
    return (
        isinstance(step, Route)
        and (step.zone_mode or "").lower() == "true"
        and bool(step.zone and step.zone.strip())
    )


def _no_data_version(model: Model, step: AnyStep) -> bool:
    """103 in whose body no data version is found: that of an old broker from a newer one, or in reverse."""
    if not isinstance(step, Register) or not model.is_registration(step):
        return False
    old = step.announces is not None and step.announces < V3_0_11
    return step.form == ("json" if old else "bare")


def _mapping_of_equal_version(model: Model, step: AnyStep) -> bool:
    """103 with static-topic mappings and the data version that the address is known with."""
    found = _registers(model, step)
    lease = None if found is None else model.lease(found.cluster, found.address)
    if found is None or lease is None or not found.mappings:
        return False
    return lease.version == (found.counter, found.timestamp, found.state or 0)


def _binary(model: Model, step: AnyStep) -> bool:
    """The header of the request is in ROCKETMQ serialization."""
    return isinstance(step, Request) and step.binary


def _adds_to_other_bits(model: Model, step: AnyStep) -> bool:
    """327 for a broker of which a topic may have a permission other than 4 and 6."""
    return isinstance(step, Permission) and step.code == 327 and step.broker in model.odd


def _lease_ends(model: Model, step: AnyStep) -> bool:
    """Time passes, and a lease runs out."""
    return isinstance(step, Time) and bool(model.ending(step))


def _null_old_body(model: Model, step: AnyStep) -> bool:
    """103 of a version below 37 whose body is null: it says so, or, on 5.x, it is no UTF-8."""
    return (
        isinstance(step, Register)
        and step.announces is not None
        and 0 <= step.announces < V3_0_11
        and (step.form == "null" or (model.five and step.form.startswith("compressed")))
        and step.crc != "wrong"
    )


PREDICATES: dict[str, Predicate] = {
    "lone-topic": _lone_topic,
    "outranked": _outranked,
    "promoted-over-master": _promoted_over_master,
    "replaces-address": _replaces_address,
    "several-clusters": _several_clusters,
    "wrong-cluster": _wrong_cluster,
    "shared-connection": _shared_connection,
    "address-of-another": _address_of_another,
    "mapped-topic-goes": _mapped_topic_goes,
    "drops-field": _drops_field,
    "zone-filtered": _zone_filtered,
    "no-data-version": _no_data_version,
    "binary": _binary,
    "mapping-of-equal-version": _mapping_of_equal_version,
    "adds-to-other-bits": _adds_to_other_bits,
    "lease-ends": _lease_ends,
    "null-old-body": _null_old_body,
}
"""By the name that `specs/divergences.yaml` uses; the docstring of each is its meaning."""


def _written(lines: Sequence[str]) -> dict[str, str]:
    """What a configuration asks for, words that are true in lower case; nothing where it is to be refused."""
    try:
        pairs = Properties.decode("\n".join(lines).encode()).pairs
    except WireError:
        return {}
    if any(key in pairs for key in ("kvConfigPath", "configStorePath", "rocketmqHome", "configBlackList")):
        return {}
    return {key: "true" if value.lower() == "true" else value for key, value in pairs.items()}
