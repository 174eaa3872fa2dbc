"""A session that is about the controller of a NameServer alone."""

from __future__ import annotations

from harness.session.connection import Connection
from harness.session.nameserver.session import LEADING, NameServerSession


class ControllerSession(NameServerSession):
    """As a ``NameServerSession``; every connection goes to the controller."""

    def connect(self, *, preamble: bytes = b"", tls: bool = False) -> Connection:
        """A new connection to the controller, as `connect_to_controller`: without preamble and TLS."""
        return self.connect_to_controller()

    def _has_no_controller(self) -> bool:
        """As for every session; but whether the server serves otherwise is only seen from outside."""
        return not self.futile.has_come(LEADING) and self._nameserver.alive()
