"""Faults of a server that does not really serve."""

import copy

from harness.wire import RequestCode
from reference_impl.mutants.registry import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint

_ESSENTIAL = {
    RequestCode.REGISTER_BROKER,
    RequestCode.UNREGISTER_BROKER,
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
}


@mutant(NameServer.execute, "A request for a route is never answered.")
def routes_are_not_answered(original, self, command, connection, now):
    if command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
        return None
    return original(self, command, connection, now)


@mutant(NameServer.execute, "A request for the list of all topics is never answered.")
def topic_list_is_not_answered(original, self, command, connection, now):
    if command.code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER:
        return None
    return original(self, command, connection, now)


@mutant(Endpoint.execute, "Registrations, their ends and routes are served, and no other request is known.")
def serves_the_essential_only(original, self, command, connection, now):
    if command.code not in _ESSENTIAL:
        return self.nameserver.unknown_request(command)
    return original(self, command, connection, now)


@mutant(Endpoint.execute, "Every request is carried out, and forgotten as soon as it is answered.")
def forgets_everything(original, self, command, connection, now):
    server, controller = self.nameserver, self.controller
    if not hasattr(self, "unspoilt"):
        self.unspoilt = copy.deepcopy((server.routes, server.kv))
    reply = original(self, command, connection, now)
    server.routes, server.kv = copy.deepcopy(self.unspoilt)
    if controller is not None:
        controller.replicas.sets, controller.heartbeats.known = {}, {}
    return reply
