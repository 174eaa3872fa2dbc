"""Faults that show only after a while."""

from reference_impl.mutants import mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.effects import Effect

CONNECTIONS = 80


@mutant("connections-run-out", f"After {CONNECTIONS} connections no other one is served.")
def connections_run_out(parts: Parts) -> Parts:
    def connected(self: Endpoint, connection: int, peer: str, now: int) -> list[Effect]:
        used = self.__dict__["used"] = self.__dict__.get("used", 0) + 1
        return (
            self.close(connection)
            if used > CONNECTIONS
            else parts.endpoint.connected(self, connection, peer, now)
        )

    return parts.override("endpoint", connected)
