"""Faults of a server that does not really serve."""

from reference_impl.mutants.registry import mutant
from reference_impl.nameserver.core import NameServer


@mutant(NameServer.execute, "A request for the list of all topics is never answered.")
def topic_list_is_not_answered(original, self, command, connection, now):
    if command.code == 206:
        return None
    return original(self, command, connection, now)
