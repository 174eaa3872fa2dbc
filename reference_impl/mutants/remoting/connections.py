"""Servers that serve connections in a way of their own."""

from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@mutant(RemotingEndpoint._sending, "A connection is closed behind each answer.")
def answers_close_the_connection(original, self, connection, known, frames):
    return [*original(self, connection, known, frames), *(self.close(connection) if frames else [])]


@mutant(RemotingEndpoint.answer, "Requests are answered on the oldest connection only.")
def one_connection_at_a_time_is_served(original, self, connection, frame, now):
    return original(self, connection, frame, now) if connection == min(self._connections) else None
