"""Faults of what brokers are told about the smallest id of their name (code 905)."""

import msgspec

from harness.wire import FLAG_RESPONSE, Command
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Departure, NewMinimum, Registered, Registration
from reference_impl.remoting.reply import RefusedError


@mutant("notifies-by-default", "Brokers are told of a smaller id without the setting for it.", profiles=V5)
def notifies_by_default(parts: Parts) -> Parts:
    def tell(
        self: RouteTable53, broker: Broker, left: str | None, ha_address: str | None, recipients: list[str]
    ) -> None:
        number, address = min(broker.addresses.items())
        self.news.append(NewMinimum(number, address, left, ha_address, tuple(recipients)))

    return parts.override("routes", tell)


@mutant("arrival-is-not-told", "Nobody is told of a smaller id that has come.", profiles=V5)
def arrival_is_not_told(parts: Parts) -> Parts:
    def smaller_came(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        return

    return parts.override("routes", smaller_came)


@mutant("arrival-told-to-one-member", "One member is told of a smaller id that has come.", profiles=V5)
def arrival_told_to_one_member(parts: Parts) -> Parts:
    def told_of_arrival(self: RouteTable53, broker: Broker, registration: Registration) -> list[str]:
        table: type[RouteTable53] = parts.routes  # type: ignore[assignment]
        return table.told_of_arrival(self, broker, registration)[:1]

    return parts.override("routes", told_of_arrival)


@mutant(
    "arrival-told-of-acting-masters-only",
    "A smaller id that has come is told only where a slave may act as master.",
    profiles=V5,
)
def arrival_told_of_acting_masters_only(parts: Parts) -> Parts:
    def smaller_came(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        if broker.acting_master:
            self.tell(broker, None, registration.ha_address, self.told_of_arrival(broker, registration))

    return parts.override("routes", smaller_came)


@mutant("newcomer-is-told", "Who has come with a smaller id is told so itself.", profiles=V5)
def newcomer_is_told(parts: Parts) -> Parts:
    def told_of_arrival(self: RouteTable53, broker: Broker, registration: Registration) -> list[str]:
        return list(broker.addresses.values())

    return parts.override("routes", told_of_arrival)


def _telling_after(parts: Parts, first: bool) -> Parts:
    """Every registration is told, or every first one of a name."""

    def register(
        self: RouteTable53, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        is_first = registration.broker not in self.brokers
        registered = parts.routes.register(self, registration, connection, now)
        if registered is not None and not self.news and (is_first or not first):
            broker = self.brokers[registration.broker]
            self.tell(broker, None, registration.ha_address, list(broker.addresses.values()))
        return registered

    return parts.override("routes", register)


@mutant("every-registration-is-told", "All members are told of every registration.", profiles=V5)
def every_registration_is_told(parts: Parts) -> Parts:
    return _telling_after(parts, first=False)


@mutant("first-registration-is-told", "The first member of a name is told of itself.", profiles=V5)
def first_registration_is_told(parts: Parts) -> Parts:
    return _telling_after(parts, first=True)


@mutant("lone-member-is-not-told", "The only member of a name is not told of its smaller id.", profiles=V5)
def lone_member_is_not_told(parts: Parts) -> Parts:
    def told_of_arrival(self: RouteTable53, broker: Broker, registration: Registration) -> list[str]:
        return [address for number, address in broker.addresses.items() if number != registration.id]

    return parts.override("routes", told_of_arrival)


@mutant("departure-is-not-told", "Nobody is told that the smallest id has left.", profiles=V5)
def departure_is_not_told(parts: Parts) -> Parts:
    def smallest_left(self: RouteTable53, broker: Broker, address: str) -> None:
        return

    return parts.override("routes", smallest_left)


@mutant("departure-told-to-one-member", "One member is told that the smallest id has left.", profiles=V5)
def departure_told_to_one_member(parts: Parts) -> Parts:
    def smallest_left(self: RouteTable53, broker: Broker, address: str) -> None:
        if broker.acting_master:
            self.tell(broker, address, None, list(broker.addresses.values())[:1])

    return parts.override("routes", smallest_left)


@mutant(
    "departure-told-without-who-left", "It is told which id is the smallest, not who has left.", profiles=V5
)
def departure_told_without_who_left(parts: Parts) -> Parts:
    def notification(self: Endpoint, news: NewMinimum) -> Command:
        return parts.endpoint.notification(self, msgspec.structs.replace(news, left=None))

    return parts.override("endpoint", notification)


@mutant(
    "departure-told-without-acting-master",
    "The departure of the smallest id is told where no slave may act as master.",
    profiles=V5,
)
def departure_told_without_acting_master(parts: Parts) -> Parts:
    def smallest_left(self: RouteTable53, broker: Broker, address: str) -> None:
        self.tell(broker, address, None, list(broker.addresses.values()))

    return parts.override("routes", smallest_left)


@mutant("every-departure-is-told", "The others are told of every member that leaves.", profiles=V5)
def every_departure_is_told(parts: Parts) -> Parts:
    def leave(self: RouteTable53, departures: list[Departure]) -> None:
        parts.routes.leave(self, departures)
        left = {name: one.address for one in departures for name in one.brokers if name in self.brokers}
        for name, address in left.items() if not self.news else ():
            self.smallest_left(self.brokers[name], address)

    return parts.override("routes", leave)


@mutant("lost-connection-is-not-told", "Of departures only those that are asked for are told.", profiles=V5)
def lost_connection_is_not_told(parts: Parts) -> Parts:
    def leave(self: RouteTable53, departures: list[Departure]) -> None:
        parts.routes.leave(self, departures)
        if any(one.connection is not None for one in departures):
            self.news.clear()

    return parts.override("routes", leave)


@mutant("notification-wants-an-answer", "A notification is no one-way request.", profiles=V5)
def notification_wants_an_answer(parts: Parts) -> Parts:
    def notification(self: Endpoint, news: NewMinimum) -> Command:
        return msgspec.structs.replace(parts.endpoint.notification(self, news), flag=0)

    return parts.override("endpoint", notification)


@mutant("notification-is-a-response", "A notification has the response bit.", profiles=V5)
def notification_is_a_response(parts: Parts) -> Parts:
    def notification(self: Endpoint, news: NewMinimum) -> Command:
        return msgspec.structs.replace(parts.endpoint.notification(self, news), flag=FLAG_RESPONSE)

    return parts.override("endpoint", notification)


@mutant("notification-has-a-body", "A notification has its fields in a body too.", profiles=V5)
def notification_has_a_body(parts: Parts) -> Parts:
    def notification(self: Endpoint, news: NewMinimum) -> Command:
        command = parts.endpoint.notification(self, news)
        return msgspec.structs.replace(command, body=msgspec.json.encode(command.ext))

    return parts.override("endpoint", notification)


@mutant(
    "unreachable-member-fails-the-registration",
    "A registration fails where a member has an address that is none.",
    profiles=V5,
)
def unreachable_member_fails_the_registration(parts: Parts) -> Parts:
    def tell(
        self: RouteTable53, broker: Broker, left: str | None, ha_address: str | None, recipients: list[str]
    ) -> None:
        table: type[RouteTable53] = parts.routes  # type: ignore[assignment]
        table.tell(self, broker, left, ha_address, recipients)
        if not all(":" in address for address in recipients):
            raise RefusedError("a member cannot be told")

    return parts.override("routes", tell)
