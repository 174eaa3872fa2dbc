"""Mutants of the chapter sanity."""

from harness.wire import RequestCode
from reference_impl.broker.core import Broker
from reference_impl.mutants.registry import mutant


@mutant(Broker.execute, "The Broker does not answer heartbeats.")
def broker_heartbeat_not_answered(original, self, command, connection, now):
    if command.code == RequestCode.HEART_BEAT:
        return None
    return original(self, command, connection, now)
