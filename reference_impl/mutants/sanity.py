"""Faults of a server that does not really serve."""

from harness.wire import Command
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.reply import Reply


@mutant("topic-list-is-not-answered", "A request for the list of all topics is never answered.")
def topic_list_is_not_answered(parts: Parts) -> Parts:
    def execute(self: NameServer, command: Command, connection: int, now: int) -> Reply | None:
        if command.code == 206:
            return None
        return parts.nameserver.execute(self, command, connection, now)

    return parts.override("nameserver", execute)
