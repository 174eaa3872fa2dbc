"""Mutants of the chapter sanity."""

from harness.wire import Command
from harness.wire.broker_codes import BrokerRequest
from reference_impl.broker.core import Broker
from reference_impl.broker.parts import Parts
from reference_impl.mutants.broker import mutant
from reference_impl.remoting.reply import Reply


@mutant("broker-heartbeat-not-answered", "A heartbeat is not answered.")
def broker_heartbeat_not_answered(parts: Parts) -> Parts:
    def execute(self: Broker, command: Command, connection: int, now: int) -> Reply | None:
        if command.code == BrokerRequest.HEART_BEAT:
            return None
        return parts.broker.execute(self, command, connection, now)

    return parts.override("broker", execute)
