"""What a connection goes through before its bytes are frames: a PROXY preamble, then perhaps TLS.

An entrance is passed once, and a plain connection then costs nothing more; a TLS connection keeps it.
"""

from typing import Protocol

from .tls import Tls


class Gatekeeper(Protocol):
    """Who decides. An `Endpoint` does."""

    def least_bytes(self) -> int:
        """How many bytes must be there before anything is looked at."""
        ...

    def preamble(self, start: bytearray) -> int | None:
        """The length of the preamble, 0 for none, None while that is open; raises WireError."""
        ...

    def secured(self, first: int, *, behind_preamble: bool) -> Tls | None:
        """TLS, if the first byte that is no preamble begins it; raises WireError to end the connection."""
        ...


class Entrance:
    """The outermost layer of one connection."""

    def __init__(self, gatekeeper: Gatekeeper) -> None:
        self._gatekeeper = gatekeeper
        self._start = bytearray()
        self._is_past_preamble = False
        self._had_preamble = False
        self.tls: Tls | None = None
        self.is_passed = False
        """Whether everything from here on is frames, or TLS with frames in it."""

    def enter(self, data: bytes | memoryview) -> bytes | memoryview:
        """The bytes of frames among `data` and what was held back before. Raises WireError."""
        if self.is_passed:
            return data if self.tls is None else self.tls.opened(bytes(data))
        start = self._start
        start += data
        if not self._is_past_preamble:
            if len(start) < self._gatekeeper.least_bytes():
                return b""
            length = self._gatekeeper.preamble(start)
            if length is None:
                return b""
            del start[:length]
            self._is_past_preamble = True
            self._had_preamble = length > 0
        if not start:
            return b""
        self.tls = self._gatekeeper.secured(start[0], behind_preamble=self._had_preamble)
        self.is_passed = True
        self._start = bytearray()
        return bytes(start) if self.tls is None else self.tls.opened(bytes(start))
