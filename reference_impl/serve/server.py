"""A server that runs inside an event loop, for who looks at it and does things to it there."""

from __future__ import annotations

from typing import Generic, Literal, TypeAlias

import msgspec

from .shell import E, Shell

ServerRole: TypeAlias = Literal["nameserver", "master", "slave"]


class Server(msgspec.Struct, Generic[E], frozen=True):
    """One server of a cluster. It is to be used in its event loop alone."""

    name: str
    """Unique in the cluster: `nameserver-0`, `broker-a-0`."""
    role: ServerRole
    address: str
    """Where clients find it, "host:port"."""
    shell: Shell[E]

    @property
    def endpoint(self) -> E:
        """What decides for it."""
        return self.shell.endpoint
