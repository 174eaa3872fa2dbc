"""Faults that show only after a while."""

from reference_impl.mutants.registry import mutant
from reference_impl.nameserver.endpoint import Endpoint

CONNECTIONS = 80


@mutant(Endpoint.connected, f"After {CONNECTIONS} connections no other one is served.")
def connections_run_out(original, self, connection, peer, now):
    used = self.__dict__["used"] = self.__dict__.get("used", 0) + 1
    return self.close(connection) if used > CONNECTIONS else original(self, connection, peer, now)
