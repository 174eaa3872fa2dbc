"""Servers that lose races: each is sound while requests come one after another, or nearly so.

A fault acts where something else was done to the same name a moment before, so that no
case that asks one thing after another would see most of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.mutants import Mutant
from reference_impl.nameserver import Parts
from reference_impl.nameserver.kv import KvTable
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Broker, Departure, Queue, Registered, Registration

__all__ = ["FAULTS"]

MOMENT = 60
"""Milliseconds within which two requests meet."""

FAULTS: dict[str, tuple[Callable[[Parts], Parts], set[str]]] = {}
"""By name: what makes the faulty server, and the anomalies of which one must be seen."""


def fault(method: Any, *anomalies: str) -> Callable[[Callable[..., Any]], Mutant]:
    """Enters a fault under the name of its function; it is written as a mutant is."""

    def enter(function: Callable[..., Any]) -> Mutant:
        name = function.__name__.replace("_", "-")
        found = Mutant(name, "", ("4.9", "5.3"), "concurrency", ("nameserver",), "", [(method, function)])
        FAULTS[name] = (found.applied, set(anomalies))
        return found

    return enter


def _meets(self: RouteTable, name: str, now: int) -> bool:
    """Whether the name was registered a moment ago; remembers that it is now."""
    seen: dict[str, int] = self.__dict__.setdefault("seen", {})
    met = now - seen.get(name, -MOMENT) < MOMENT
    seen[name] = now
    return met


@fault(RouteTable.register, "lost registration", "premature expiry", "stale read")
def registration_beside_another_is_dropped(
    original: Any, self: RouteTable, registration: Registration, connection: int, now: int
) -> Registered | None:
    """Lost update: the later of two registrations of one name is answered and forgotten."""
    if _meets(self, registration.broker, now):
        return Registered()
    return original(self, registration, connection, now)


@fault(RouteTable.register, "premature expiry", "lost registration")
def registration_beside_another_displaces_the_rest(
    original: Any, self: RouteTable, registration: Registration, connection: int, now: int
) -> Registered | None:
    """The whole record of the name is replaced by one that was read before."""
    met = _meets(self, registration.broker, now)
    answer = original(self, registration, connection, now)
    broker = self.brokers.get(registration.broker)
    if met and broker is not None:
        for number in [n for n, a in broker.addresses.items() if a != registration.address]:
            del broker.addresses[number]
            self.revision += 1
    return answer


@fault(RouteTable.forget_other_ids, "split identity")
def promotion_beside_a_registration_keeps_the_old_entry(
    original: Any, self: RouteTable, broker: Broker, registration: Registration
) -> bool:
    """The old entry is sought in a copy."""
    return len(broker.addresses) < 2 and original(self, broker, registration)


@fault(RouteTable.register, "stale version accepted")
def state_version_is_checked_too_early(
    original: Any, self: RouteTable, registration: Registration, connection: int, now: int
) -> Registered | None:
    """The holder is looked up before it has registered."""
    self.__dict__["met"] = _meets(self, registration.broker, now)
    return original(self, registration, connection, now)


@state_version_is_checked_too_early.also(RouteTable.conflicts)
def _(original: Any, self: RouteTable, broker: Broker, registration: Registration) -> bool:
    return not self.__dict__["met"] and original(self, broker, registration)


@fault(RouteTable.register, "phantom queue data")
def slave_beside_a_registration_publishes(
    original: Any, self: RouteTable, registration: Registration, connection: int, now: int
) -> Registered | None:
    """Whether it is a master is taken from the request before."""
    self.__dict__["met"] = _meets(self, registration.broker, now)
    return original(self, registration, connection, now)


@slave_beside_a_registration_publishes.also(RouteTable.may_publish)
def _(original: Any, self: RouteTable, broker: Broker, registration: Registration) -> bool:
    return bool(self.__dict__["met"]) or original(self, broker, registration)


@fault(RouteTable.leave, "resurrected broker")
def every_second_departure_is_lost(original: Any, self: RouteTable, departures: list[Departure]) -> None:
    """The worker takes two and does one."""
    at = self.__dict__["left"] = self.__dict__.get("left", 0) + 1
    original(self, departures if at % 2 else [])


@fault(RouteTable.leave, "premature expiry", "lost registration")
def departure_is_done_twice(original: Any, self: RouteTable, departures: list[Departure]) -> None:
    """Once when it is asked for, and once again with a later one."""
    again: list[Departure] = self.__dict__.get("again", [])
    self.__dict__["again"] = list(departures)
    original(self, [*again, *departures])


@fault(RouteTable.register, "ghost topic")
def deletion_beside_a_registration_is_undone(
    original: Any, self: RouteTable, registration: Registration, connection: int, now: int
) -> Registered | None:
    """The topic is put back from a copy of the table."""
    _meets(self, registration.broker, now)
    self.__dict__["late"] = now
    kept = self.__dict__.pop("kept", None)
    if kept is not None and kept[0] not in self.topics and all(name in self.brokers for name in kept[1]):
        self.topics[kept[0]] = kept[1]
        self.revision += 1
    return original(self, registration, connection, now)


@deletion_beside_a_registration_is_undone.also(RouteTable.delete_topic)
def _(original: Any, self: RouteTable, topic: str) -> None:
    if topic in self.topics:
        self.__dict__["kept"] = (topic, dict(self.topics[topic]))
    original(self, topic)


@fault(RouteTable.member_addresses, "stale read", "lost registration", "no order")
def members_are_those_of_the_request_before(original: Any, self: RouteTable, name: str) -> dict[int, str]:
    """A reader has the copy that another one made."""
    copies: dict[str, dict[int, str]] = self.__dict__.setdefault("copies", {})
    before = copies.get(name)
    copies[name] = original(self, name)
    return copies[name] if before is None else before


@fault(RouteTable.wipe_write_permission, "no order", "stale read", "phantom queue data")
def permission_reaches_one_topic(original: Any, self: RouteTable, name: str) -> int:
    """The lock is let go behind the first topic, and the rest is forgotten."""
    queues: list[tuple[str, Queue]] = list(self.queues_of(name))
    for topic, queue in queues[:1]:
        self.set_permission(topic, name, queue, self.without_write(queue.perm))
    return len(queues)


@fault(KvTable.put, "lost update of KV")
def put_behind_a_put_is_lost(
    original: Any, self: KvTable, namespace: str, key: str, value: str | None
) -> None:
    """The later of two writers finds the file locked."""
    again = self.__dict__.get("last") == key
    self.__dict__["last"] = None if again else key
    if not again:
        original(self, namespace, key, value)


@fault(KvTable.put, "resurrected pair", "lost update of KV")
def deletion_behind_a_put_is_lost(
    original: Any, self: KvTable, namespace: str, key: str, value: str | None
) -> None:
    """The pair is put back by the writer that still holds the table."""
    self.__dict__["last"] = key
    original(self, namespace, key, value)


@deletion_behind_a_put_is_lost.also(KvTable.delete)
def _(original: Any, self: KvTable, namespace: str, key: str) -> None:
    if self.__dict__.pop("last", None) != key:
        original(self, namespace, key)


@fault(KvTable.get, "stale read", "lost update of KV")
def readers_have_a_copy(original: Any, self: KvTable, namespace: str | None, key: str | None) -> str | None:
    """Every third get is answered from the table as it was at the get before."""
    copies: dict[Any, str | None] = self.__dict__.setdefault("copies", {})
    at = self.__dict__["gets"] = self.__dict__.get("gets", 0) + 1
    current = original(self, namespace, key)
    old, copies[key] = copies.get(key, current), current
    return old if at % 3 == 0 else current
