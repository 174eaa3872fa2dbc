"""Faults of notifications about the smallest id of a broker name (code 905)."""

import msgspec

from harness.wire import FLAG_RESPONSE
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import NewMinimum
from reference_impl.remoting.reply import RefusedError


@mutant(RouteTable53.tell, "Brokers are notified of a smaller id without the setting for it.")
def notifies_by_default(original, self, broker, left, ha_address, recipients):
    number, address = min(broker.addresses.items())
    self.news.append(NewMinimum(number, address, left, ha_address, tuple(recipients)))


@mutant(RouteTable53.smaller_came, "No member is notified of a new smallest id.")
def arrival_is_not_told(original, self, broker, registration):
    return


@mutant(RouteTable53.told_of_arrival, "Only one member is notified of a new smallest id.")
def arrival_told_to_one_member(original, self, broker, registration):
    return original(self, broker, registration)[:1]


@mutant(
    RouteTable53.smaller_came, "Members are notified of a new smallest id only if a slave may act as master."
)
def arrival_told_of_acting_masters_only(original, self, broker, registration):
    if broker.acting_master:
        self.tell(broker, None, registration.ha_address, self.told_of_arrival(broker, registration))


@mutant(RouteTable53.told_of_arrival, "A new member with the smallest id is notified of itself.")
def newcomer_is_told(original, self, broker, registration):
    return list(broker.addresses.values())


def _tell_all(table, registration):
    """Notify every address of a registration's name, unless something was notified anyway."""
    if not table.news:
        broker = table.brokers[registration.broker]
        table.tell(broker, None, registration.ha_address, list(broker.addresses.values()))


@after(RouteTable53.register, "All members are notified of every registration.")
def every_registration_is_told(registered, self, registration):
    if registered is not None:
        _tell_all(self, registration)


@mutant(RouteTable53.register, "The first member of a name is notified of itself.")
def first_registration_is_told(original, self, registration, connection, now):
    is_first = registration.broker not in self.brokers
    registered = original(self, registration, connection, now)
    if registered is not None and is_first:
        _tell_all(self, registration)
    return registered


@mutant(RouteTable53.told_of_arrival, "The only member of a name is not notified of its smaller id.")
def lone_member_is_not_told(original, self, broker, registration):
    return [address for number, address in broker.addresses.items() if number != registration.id]


@mutant(RouteTable53.smallest_left, "No member is notified when the smallest id leaves.")
def departure_is_not_told(original, self, broker, address):
    return


@mutant(RouteTable53.smallest_left, "Only one member is notified when the smallest id leaves.")
def departure_told_to_one_member(original, self, broker, address):
    if broker.acting_master:
        self.tell(broker, address, None, list(broker.addresses.values())[:1])


@mutant(Endpoint.notification, "A notification omits the address that has left.", V5)
def departure_told_without_who_left(original, self, news):
    return original(self, msgspec.structs.replace(news, left=None))


@mutant(
    RouteTable53.smallest_left,
    "Members are notified of a departure even if no slave may act as master.",
)
def departure_told_without_acting_master(original, self, broker, address):
    self.tell(broker, address, None, list(broker.addresses.values()))


@mutant(RouteTable53.leave, "The others are notified of every member that leaves.")
def every_departure_is_told(original, self, departures):
    original(self, departures)
    left = {name: one.address for one in departures for name in one.brokers if name in self.brokers}
    for name, address in left.items() if not self.news else ():
        self.smallest_left(self.brokers[name], address)


@mutant(RouteTable53.leave, "Only departures by request are notified.")
def lost_connection_is_not_told(original, self, departures):
    original(self, departures)
    if any(one.connection is not None for one in departures):
        self.news.clear()


@mutant(Endpoint.notification, "A notification is not a one-way request.", V5)
def notification_wants_an_answer(original, self, news):
    return msgspec.structs.replace(original(self, news), flag=0)


@mutant(Endpoint.notification, "A notification has the response bit.", V5)
def notification_is_a_response(original, self, news):
    return msgspec.structs.replace(original(self, news), flag=FLAG_RESPONSE)


@after(Endpoint.notification, "A notification has its fields in a body too.", V5)
def notification_has_a_body(command):
    return msgspec.structs.replace(command, body=msgspec.json.encode(command.ext))


@mutant(RouteTable53.tell, "A registration fails if a member has a malformed address.")
def unreachable_member_fails_the_registration(original, self, broker, left, ha_address, recipients):
    original(self, broker, left, ha_address, recipients)
    if not all(":" in address for address in recipients):
        raise RefusedError("a member cannot be told")


@mutant(Endpoint.said, "Of the notifications that are due at the same time only the first is sent.", V5)
def one_notification_at_a_time(original, self):
    del self.routes.news[1:]
    return original(self)
