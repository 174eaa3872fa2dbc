"""TLS of one connection, as bytes in and bytes out.

1. No socket: encrypted bytes come and go through memory, so that every shell has TLS, in virtual time too.
2. The caller makes the context and reads its files; here it is only used.
3. What waits inside is at most one incomplete record (16 KiB) and what was not taken by `sealed` yet.

Source: TlsModeHandler of NettyRemotingServer (rocketmq-all-5.3.3), HandshakeHandler (rocketmq-all-4.9.8).
"""

import ssl

HANDSHAKE = 0x16
"""The first byte of a TLS connection: a record of type handshake. No frame that is allowed begins with it."""

_CHUNK = 65_536


class Tls:
    """The server's end of a TLS connection."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._leaving, server_side=True)
        self._is_agreed = False
        self.is_over = False
        """Whether TLS has failed, or the peer has ended it: the connection is to end too."""

    def opened(self, data: bytes) -> bytes:
        """What encrypted bytes say; what is to be answered to them comes out of `sealed`."""
        self._arrived.write(data)
        parts: list[bytes] = []
        try:
            if not self._is_agreed:
                self._tls.do_handshake()
                self._is_agreed = True
            while part := self._tls.read(_CHUNK):
                parts.append(part)
            self.is_over = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:  # no TLS, a handshake without a common version, a broken record, the peer's end
            self.is_over = True
        return b"".join(parts)

    def sealed(self, data: bytes) -> bytes:
        """`data` encrypted, behind everything that TLS itself has to say."""
        if data and not self.is_over:
            self._tls.write(data)
        return self._leaving.read()
