"""Lost races. The reference carries out one request at a time: requests that follow one another, with nothing
done to the table between them, are those that a server without locks might carry out at the same time.
"""

import msgspec

from reference_impl.mutants.registry import mutant
from reference_impl.nameserver.routes import RouteTable

_BESIDE = 1000


@mutant(RouteTable.register, "Of several concurrent registrations, the first is lost.")
def crowd_displaces_its_first(original, self, registration, connection, now):
    moment, first = vars(self).get("first", (None, None))
    registered = original(self, registration, connection, now)
    if moment != now:
        vars(self)["first"] = now, registration.broker
    elif first != registration.broker and first in self.brokers:
        self.forget_name(self.brokers[first])
    return registered


@mutant(RouteTable.still_meant, "A broker that leaves immediately after another one stays listed.")
def departure_behind_another_is_lost(original, self, departure):
    behind, vars(self)["has_left"] = vars(self).get("has_left", False), True
    return original(self, departure) and not behind


@departure_behind_another_is_lost.also(RouteTable.register)
def _(original, self, registration, connection, now):
    vars(self)["has_left"] = False
    return original(self, registration, connection, now)


@mutant(
    RouteTable.register, "Cluster information immediately after a registration contains only its broker name."
)
def cluster_information_shows_the_latest(original, self, registration, connection, now):
    vars(self)["latest"] = registration.broker
    return original(self, registration, connection, now)


@cluster_information_shows_the_latest.also(RouteTable.cluster_info)
def _(original, self):
    info = original(self)
    latest = vars(self).pop("latest", None)
    for name in [name for name in info.broker_addr_table if latest not in (None, name)]:
        del info.broker_addr_table[name]
    return info


@mutant(
    RouteTable.register, "The list of all topics immediately after a registration contains only its topics."
)
def topic_list_shows_the_latest(original, self, registration, connection, now):
    vars(self)["latest"] = registration.topics
    return original(self, registration, connection, now)


@topic_list_shows_the_latest.also(RouteTable.topic_names)
def _(original, self):
    names = original(self)
    latest = vars(self).pop("latest", None)
    return names if latest is None else [name for name in names if name in latest]


@mutant(
    RouteTable.put_address,
    "An address that registers with an id that another one holds gets an id beside it.",
)
def contested_id_has_two_holders(original, self, broker, registration):
    if broker.addresses.get(registration.id, registration.address) == registration.address:
        return original(self, broker, registration)
    broker.addresses[registration.id + _BESIDE] = registration.address
    self.revision += 1
    return False


@mutant(
    RouteTable.connection_lost, "The end of a connection is processed again after each later registration."
)
def old_connections_end_again(original, self, connection, peer):
    for record in self.records_of(connection):
        vars(self).setdefault("ended", {})[record.address] = self.departure_of(record)
    original(self, connection, peer)


@old_connections_end_again.also(RouteTable.register)
def _(original, self, registration, connection, now):
    registered = original(self, registration, connection, now)
    ended = vars(self).get("ended", {}).get(registration.address)
    if ended is not None:
        self.leave([msgspec.structs.replace(ended, connection=None)])
    return registered
