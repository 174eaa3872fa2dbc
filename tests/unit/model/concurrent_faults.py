"""Servers that lose races: each is sound while requests come one after another, or nearly so.

Rules of this module: a fault acts where something else was done to the same name a moment before, so that no
case that asks one thing after another would see most of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.nameserver import Parts
from reference_impl.nameserver.kv import KvTable
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Broker, Departure, Queue, Registered, Registration

__all__ = ["FAULTS"]

MOMENT = 60
"""Milliseconds within which two requests meet."""

FAULTS: dict[str, tuple[Callable[[Parts], Parts], set[str]]] = {}
"""By name: what makes the faulty server, and the anomalies of which one must be seen."""


def fault(*anomalies: str) -> Callable[[Callable[[Parts], Parts]], Callable[[Parts], Parts]]:
    """Enters a fault under the name of its function."""

    def enter(make: Callable[[Parts], Parts]) -> Callable[[Parts], Parts]:
        FAULTS[make.__name__.replace("_", "-")] = (make, set(anomalies))
        return make

    return enter


def _meets(self: RouteTable, name: str, now: int) -> bool:
    """Whether the name was registered a moment ago; remembers that it is now."""
    seen: dict[str, int] = self.__dict__.setdefault("seen", {})
    met = now - seen.get(name, -MOMENT) < MOMENT
    seen[name] = now
    return met


@fault("lost registration", "premature expiry", "stale read")
def registration_beside_another_is_dropped(parts: Parts) -> Parts:
    """Lost update: the later of two registrations of one name is answered and forgotten."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        if _meets(self, registration.broker, now):
            return Registered()
        return parts.routes.register(self, registration, connection, now)

    return parts.override("routes", register)


@fault("premature expiry", "lost registration")
def registration_beside_another_displaces_the_rest(parts: Parts) -> Parts:
    """The whole record of the name is replaced by one that was read before."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        met = _meets(self, registration.broker, now)
        answer = parts.routes.register(self, registration, connection, now)
        broker = self.brokers.get(registration.broker)
        if met and broker is not None:
            for number in [n for n, a in broker.addresses.items() if a != registration.address]:
                del broker.addresses[number]
                self.revision += 1
        return answer

    return parts.override("routes", register)


@fault("split identity")
def promotion_beside_a_registration_keeps_the_old_entry(parts: Parts) -> Parts:
    """The old entry is sought in a copy."""

    def forget_other_ids(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return len(broker.addresses) < 2 and parts.routes.forget_other_ids(self, broker, registration)

    return parts.override("routes", forget_other_ids)


@fault("stale version accepted")
def state_version_is_checked_too_early(parts: Parts) -> Parts:
    """The holder is looked up before it has registered."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        self.__dict__["met"] = _meets(self, registration.broker, now)
        return parts.routes.register(self, registration, connection, now)

    def conflicts(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return not self.__dict__["met"] and parts.routes.conflicts(self, broker, registration)

    return parts.override("routes", register).override("routes", conflicts)


@fault("phantom queue data")
def slave_beside_a_registration_publishes(parts: Parts) -> Parts:
    """Whether it is a master is taken from the request before."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        self.__dict__["met"] = _meets(self, registration.broker, now)
        return parts.routes.register(self, registration, connection, now)

    def may_publish(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return bool(self.__dict__["met"]) or parts.routes.may_publish(self, broker, registration)

    return parts.override("routes", register).override("routes", may_publish)


@fault("resurrected broker")
def every_second_departure_is_lost(parts: Parts) -> Parts:
    """The worker takes two and does one."""

    def leave(self: RouteTable, departures: list[Departure]) -> None:
        at = self.__dict__["left"] = self.__dict__.get("left", 0) + 1
        parts.routes.leave(self, departures if at % 2 else [])

    return parts.override("routes", leave)


@fault("premature expiry", "lost registration")
def departure_is_done_twice(parts: Parts) -> Parts:
    """Once when it is asked for, and once again with a later one."""

    def leave(self: RouteTable, departures: list[Departure]) -> None:
        again: list[Departure] = self.__dict__.get("again", [])
        self.__dict__["again"] = list(departures)
        parts.routes.leave(self, [*again, *departures])

    return parts.override("routes", leave)


@fault("ghost topic")
def deletion_beside_a_registration_is_undone(parts: Parts) -> Parts:
    """The topic is put back from a copy of the table."""

    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        _meets(self, registration.broker, now)
        self.__dict__["late"] = now
        kept = self.__dict__.pop("kept", None)
        if kept is not None and kept[0] not in self.topics and all(name in self.brokers for name in kept[1]):
            self.topics[kept[0]] = kept[1]
            self.revision += 1
        return parts.routes.register(self, registration, connection, now)

    def delete_topic(self: RouteTable, topic: str) -> None:
        if topic in self.topics:
            self.__dict__["kept"] = (topic, dict(self.topics[topic]))
        parts.routes.delete_topic(self, topic)

    return parts.override("routes", register).override("routes", delete_topic)


@fault("stale read", "lost registration", "no order")
def members_are_those_of_the_request_before(parts: Parts) -> Parts:
    """A reader has the copy that another one made."""

    def member_addresses(self: RouteTable, name: str) -> dict[int, str]:
        copies: dict[str, dict[int, str]] = self.__dict__.setdefault("copies", {})
        before = copies.get(name)
        copies[name] = parts.routes.member_addresses(self, name)
        return copies[name] if before is None else before

    return parts.override("routes", member_addresses)


@fault("no order", "stale read", "phantom queue data")
def permission_reaches_one_topic(parts: Parts) -> Parts:
    """The lock is let go behind the first topic, and the rest is forgotten."""

    def wipe_write_permission(self: RouteTable, name: str) -> int:
        queues: list[tuple[str, Queue]] = list(self.queues_of(name))
        for topic, queue in queues[:1]:
            self.set_permission(topic, name, queue, self.without_write(queue.perm))
        return len(queues)

    return parts.override("routes", wipe_write_permission)


@fault("lost update of KV")
def put_behind_a_put_is_lost(parts: Parts) -> Parts:
    """The later of two writers finds the file locked."""

    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        again = self.__dict__.get("last") == key
        self.__dict__["last"] = None if again else key
        if not again:
            parts.kv.put(self, namespace, key, value)

    return parts.override("kv", put)


@fault("resurrected pair", "lost update of KV")
def deletion_behind_a_put_is_lost(parts: Parts) -> Parts:
    """The pair is put back by the writer that still holds the table."""

    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        self.__dict__["last"] = key
        parts.kv.put(self, namespace, key, value)

    def delete(self: KvTable, namespace: str, key: str) -> None:
        if self.__dict__.pop("last", None) != key:
            parts.kv.delete(self, namespace, key)

    return parts.override("kv", put).override("kv", delete)


@fault("stale read", "lost update of KV")
def readers_have_a_copy(parts: Parts) -> Parts:
    """Every third get is answered from the table as it was at the get before."""

    def get(self: KvTable, namespace: str | None, key: str | None) -> str | None:
        copies: dict[Any, str | None] = self.__dict__.setdefault("copies", {})
        at = self.__dict__["gets"] = self.__dict__.get("gets", 0) + 1
        current = parts.kv.get(self, namespace, key)
        old, copies[key] = copies.get(key, current), current
        return old if at % 3 == 0 else current

    return parts.override("kv", get)
