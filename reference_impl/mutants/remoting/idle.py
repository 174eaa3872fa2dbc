"""Faults of connections on which nothing is said."""

from reference_impl.mutants.registry import mutant
from reference_impl.remoting.endpoint import RemotingEndpoint


@mutant(RemotingEndpoint.idle_limit, "An idle connection is never closed.")
def idle_never_closed(original, self):
    return None


@mutant(RemotingEndpoint.idle_limit, "A connection is closed after 110 idle seconds.")
def idle_closed_early(original, self):
    return 110_000


@mutant(RemotingEndpoint.idle_limit, "A connection is closed after 140 idle seconds.")
def idle_closed_late(original, self):
    return 140_000


@mutant(RemotingEndpoint.is_activity, "Only answered requests keep a connection from becoming idle.")
def idle_unless_answered(original, self, frames, responses):
    return responses > 0


@mutant(RemotingEndpoint.is_activity, "Any byte keeps a connection from becoming idle.")
def idle_counts_bytes(original, self, frames, responses):
    return True
