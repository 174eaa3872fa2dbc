"""Faults that are seen when a server starts again."""

from reference_impl.mutants.registry import after
from reference_impl.nameserver.core import NameServer

_KEPT = "topics that were there"


@after(NameServer.register, "Topics from before a restart are still listed.")
def topics_survive_a_restart(reply, self):
    for topic in self.routes.topic_names():
        self.kv.put(_KEPT, topic, "")
    self.kv_changed()


@topics_survive_a_restart.also(NameServer.listed)
def _(original, self, command, names):
    kept = self.kv.pairs(_KEPT) or {}
    return original(self, command, lambda: sorted({*names(), *kept}))
