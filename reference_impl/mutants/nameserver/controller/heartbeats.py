"""Faults of heartbeats."""

import msgspec

from reference_impl.mutants.registry import V5, after, family, mutant
from reference_impl.nameserver.controller import Controller, Heartbeats
from reference_impl.nameserver.endpoint import Endpoint


@mutant(Heartbeats.is_over, "A heartbeat counts for ever.", V5)
def heartbeats_count_for_ever(original, self, live, now):
    return False


@mutant(Heartbeats.is_over, "A heartbeat counts for half of its time.", V5)
def heartbeats_count_for_half(original, self, live, now):
    return now - live.heard > live.beat.lasts // 2


@mutant(Heartbeats.hear, "A further heartbeat renews nothing.", V5)
def heartbeat_is_not_renewed(original, self, identity, beat, connection, now):
    live = self.known.get(identity)
    original(self, identity, beat, connection, now if live is None else live.heard)


@after(Controller.beat, "A heartbeat that says nothing else counts for two minutes.", V5)
def heartbeats_count_two_minutes_by_default(beat, command):
    if "heartbeatTimeoutMills" not in (command.ext or {}):
        beat.lasts = 120_000


@mutant(Controller.heartbeat, "A heartbeat without id is of id 1.", V5)
def heartbeat_without_id_is_of_id_one(original, self, command, connection, now):
    whole = {"brokerId": "1"} | (command.ext or {})
    return original(self, msgspec.structs.replace(command, ext=whole), connection, now)


def _any(table, now, is_meant):
    return any(is_meant(one) and not table.is_over(live, now) for one, live in table.known.items())


@mutant(Heartbeats.lives, "A heartbeat is of every Broker of the name.", V5)
def heartbeat_is_of_the_name(original, self, identity, now):
    return _any(self, now, lambda one: one[1] == identity[1])


@mutant(Heartbeats.lives, "A heartbeat counts in every cluster.", V5)
def heartbeat_is_of_any_cluster(original, self, identity, now):
    return _any(self, now, lambda one: one[1:] == identity[1:])


@mutant(Heartbeats.lives, "A heartbeat is of every Broker with the id.", V5)
def heartbeat_is_of_the_id(original, self, identity, now):
    return _any(self, now, lambda one: one[2] == identity[2])


@mutant(Heartbeats.ended, "A Broker lives on when its connection ends.", V5)
def broker_lives_without_connection(original, self, connection):
    return {}


@mutant(Heartbeats.over, "The Broker that was heard first of all never expires.", V5)
def first_of_all_brokers_never_expires(original, self, now):
    first = [*self.known.items()][:1]
    over = original(self, now)
    for identity, live in first:
        over.pop(identity, None)
        self.known = {identity: live, **self.known}
    return over


@mutant(Heartbeats.ended, "The end of a connection is the end of all Brokers.", V5)
def end_of_connection_ends_all(original, self, connection):
    gone, self.known = self.known, {}
    return gone


@after(Controller.look_at_heartbeats, "The connection of a Broker stays when its heartbeat has run out.", V5)
def expired_broker_keeps_its_connection(connections):
    return []


@mutant(
    Controller.look_at_heartbeats,
    "The connection of a Broker without an id stays when its heartbeat has run out.",
    V5,
)
def expired_broker_without_id_keeps_its_connection(original, self, now):
    kept = {
        live.connection
        for (_, name, _), live in self.heartbeats.known.items()
        if self.replicas.get(name) is None
    }
    return [one for one in original(self, now) if one not in kept]


@family(Endpoint.connected_to_controller)
def _limited(change, original, self, connection, peer, now):
    """Gives connections to the controller another time for which they may be idle."""
    limit = change(self.idle_limit())
    self.idle_limit = lambda: limit
    effects = original(self, connection, peer, now)
    del self.idle_limit
    return effects


@_limited("The controller closes no connection that is idle.", V5)
def controller_keeps_idle_connections(limit):
    return None


@_limited("The controller closes connections that are idle for half of the time.", V5)
def controller_closes_idle_connections_early(limit):
    return limit // 2
