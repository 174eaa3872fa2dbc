"""Faults that are seen when a server starts again."""

from collections.abc import Callable

from harness.wire import Command
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.reply import Reply

_KEPT = "topics that were there"


@mutant("topics-survive-a-restart", "The topics of before a restart are listed after it.")
def topics_survive_a_restart(parts: Parts) -> Parts:
    def register(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.register(self, command, connection, now)
        for topic in self.routes.topic_names():
            self.kv.put(_KEPT, topic, "")
        self.kv_changed()
        return reply

    def listed(self: NameServer, command: Command, names: Callable[[], list[str]]) -> Reply:
        kept = self.kv.pairs(_KEPT) or {}
        return parts.nameserver.listed(self, command, lambda: sorted({*names(), *kept}))

    return parts.override("nameserver", register).override("nameserver", listed)
