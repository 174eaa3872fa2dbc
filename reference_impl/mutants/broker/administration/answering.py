"""What faults of this chapter share."""

from harness.wire.fastjson import document, parse
from reference_impl.broker.core import Broker
from reference_impl.mutants.registry import ALL, family


def answered(code, description, profiles=ALL, *, if_refused=False):
    """Answer a request of this code with what the function says: always, or where it was to be refused."""

    @family(Broker.execute)
    def execute(instead, original, self, command, connection, now):
        if command.code != code:
            return original(self, command, connection, now)
        reply = original(self, command, connection, now) if if_refused else None
        return instead() if reply is None or reply.code != 0 else reply

    return execute(description, profiles)


def without(reply, name):
    """The answer without a member of its body."""
    shown = parse(reply.body) if reply.body else None
    if isinstance(shown, dict):
        reply.body = document({**shown, name: []})
    return reply
