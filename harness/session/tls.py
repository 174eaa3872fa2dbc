"""TLS over any transport: what the target sends and takes is encrypted, what the harness sees is not.

- In memory, so that it works over a socket and in process alike, and never waits by itself.
- No certificate is verified: a case looks at it.
- What the peer sends that is no TLS is passed on as it is, so that it is shown, not swallowed. A TLS alert
  ends the conversation, as the close does that follows it.
"""

from __future__ import annotations

import ssl

from harness.session.clock import Clock
from harness.session.transport import PeerReset, Transport, TransportTimeout
from harness.trace import How

_CHUNK = 65_536
_ALERT = 0x15


class TlsTransport:
    """A client's end of TLS. The handshake begins at once, and ends in `agree` or while receiving."""

    def __init__(self, inner: Transport, clock: Clock) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self._inner = inner
        self._clock = clock
        self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._leaving)
        self._waiting = bytearray()
        self._plain = bytearray()
        self._is_agreed = False
        self._is_over = False
        self._is_other = False
        """Whether the peer does not speak TLS."""
        self._reset: PeerReset | None = None
        self._read()

    @property
    def local(self) -> str:
        return self._inner.local

    @property
    def remote(self) -> str:
        return self._inner.remote

    @property
    def is_agreed(self) -> bool:
        """Whether the handshake has come to a good end."""
        return self._is_agreed

    @property
    def has_ended(self) -> bool:
        """Whether the peer has ended the connection, or speaks no TLS."""
        return self._is_over or self._is_other or self._reset is not None

    @property
    def certificate(self) -> bytes | None:
        """The peer's certificate (DER); None until the handshake is over."""
        return self._tls.getpeercert(binary_form=True) if self._is_agreed else None

    def agree(self, timeout: float) -> bool:
        """Carries the handshake to its end, within these waiting seconds. False where it has not come
        to a good one.
        """
        end = self._clock.waiting() + timeout
        try:
            while not (self._is_agreed or self._is_over or self._is_other):
                self._take(end)
        except TransportTimeout:
            pass
        except PeerReset as problem:
            self._reset = problem
        return self._is_agreed

    def send(self, data: bytes) -> bool:
        self._waiting += data
        return self._flush()

    def receive(self, timeout: float) -> bytes:
        end = self._clock.waiting() + timeout
        if self._reset is not None:
            raise self._reset
        while not (self._plain or self._is_over):
            self._take(end)
        plain = bytes(self._plain)
        self._plain.clear()
        return plain

    def close(self, how: How) -> None:
        self._inner.close(how)

    def _take(self, end: float) -> None:
        """Takes what comes next from the peer."""
        data = self._inner.receive(max(0.0, end - self._clock.waiting()))
        if not data:
            self._is_over = True
        elif self._is_other:
            self._plain += data
        else:
            self._arrived.write(data)
            try:
                self._read()
            except ssl.SSLError:
                self._is_over = data[0] == _ALERT
                self._is_other = not self._is_over
                if self._is_other:
                    self._plain += data

    def _read(self) -> None:
        """Makes of the bytes that have arrived what they say; carries the handshake on."""
        try:
            if not self._is_agreed:
                self._tls.do_handshake()
                self._is_agreed = True
            self._flush()
            while part := self._tls.read(_CHUNK):
                self._plain += part
            self._is_over = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._is_over = True
        self._flush()

    def _flush(self) -> bool:
        if self._is_agreed and self._waiting and not self._is_over:
            self._tls.write(self._waiting)
            self._waiting.clear()
        leaving = self._leaving.read()
        return self._inner.send(leaving) if leaving else True
