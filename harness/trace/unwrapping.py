"""From connections under TLS to what they carried, with the secrets that one end has written down.

- Events come out as they went in, but for those of connections that begin with a handshake whose secrets are
  in the key log (the NSS format of ``SSLKEYLOGFILE``; TLS 1.2 and 1.3): their bytes come out in clear.
- What can no longer be decrypted, because bytes are missing or are no records, is reported once on its
  connection; nothing that follows there is guessed at.
- Handshakes and ciphers are scapy's to know; of records this module knows the head alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.trace.events import Closed, Note, Opened, Received, Sent
from harness.trace.packets import CaptureError
from harness.trace.reassembly import By, Missing, Seen

_HANDSHAKE: Final = b"\x16\x03"
_APPLICATION: Final = 23
_TYPES: Final = range(20, 25)
"""Change cipher spec, alert, handshake, application data, heartbeat."""
_TLS13: Final = 0x0304
_HEAD: Final = 5
"""Bytes before a record: type, version and length."""


class _Wrapped:
    """A connection under TLS. ``session`` is scapy's, as the end sees it that ``sender`` sends to."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.sender: By = "us"
        self.buffers: dict[By, bytearray] = {"us": bytearray(), "target": bytearray()}
        self.is_known: bool | None = None
        """Whether the key log has its secrets; None until the first record has shown whose it is."""
        self.is_lost = False


class Unwrapping:
    """Give it events; it gives events. Raises ``CaptureError`` where the key log cannot be read, or where
    scapy or what it decrypts with is not installed.
    """

    def __init__(self, log: Path) -> None:
        self.decrypted = 0
        """Connections whose secrets were there."""
        try:
            import cryptography
            from scapy.layers.tls.record import TLS
            from scapy.layers.tls.session import parse_nss_keys, tlsSession
        except ImportError as problem:
            raise CaptureError(
                "decrypting needs scapy and cryptography, which are not installed: "
                "pip install 'rmq-harness[pcap]'"
            ) from problem
        assert cryptography
        logging.getLogger("scapy").setLevel(logging.CRITICAL)  # errors are reported in our own words
        self._record: Any = TLS
        self._session: Any = tlsSession
        try:
            keys = parse_nss_keys(log.read_text("ascii"))
        except OSError as problem:
            raise CaptureError(f"{log}: the key log cannot be read: {problem.strerror}") from problem
        except ValueError as problem:
            raise CaptureError(f"{log}: {_EXPECTED}: {problem}") from problem
        if not any(keys.values()):
            raise CaptureError(f"{log}: {_EXPECTED}, found none")
        self._keys = keys
        self._randoms = {random for secrets in keys.values() for random in secrets}
        self._connections: dict[int, _Wrapped | None] = {}
        """None: not under TLS."""

    def add(self, seen: Seen) -> Iterator[Seen]:
        """What is known by this event."""
        if isinstance(seen, Opened | Note):
            yield seen
        elif isinstance(seen, Sent | Received):
            yield from self._bytes(seen)
        else:
            wrapped = self._connections.get(seen.connection)
            if isinstance(seen, Missing) and wrapped is not None and wrapped.is_known:
                yield from self._lost(wrapped, seen, "bytes were not captured")
            else:
                yield seen
            if isinstance(seen, Closed) and seen.how != "half":
                self._connections.pop(seen.connection, None)

    def _bytes(self, seen: Sent | Received) -> Iterator[Seen]:
        by: By = "us" if isinstance(seen, Sent) else "target"
        if seen.connection not in self._connections:
            begins = by == "us" and seen.data.startswith(_HANDSHAKE)
            self._connections[seen.connection] = self._begun() if begins else None
        wrapped = self._connections[seen.connection]
        if wrapped is None or wrapped.is_known is False:
            yield seen
            return
        if wrapped.is_lost:
            return
        buffer = wrapped.buffers[by]
        buffer += seen.data
        while len(buffer) >= _HEAD:
            if buffer[0] not in _TYPES or buffer[1] != _HANDSHAKE[1]:
                yield from self._lost(wrapped, seen, "what came is no record")
                return
            end = _HEAD + int.from_bytes(buffer[3:_HEAD], "big")
            if len(buffer) < end:
                return
            record = bytes(buffer[:end])
            del buffer[:end]
            try:
                carried = self._carried(wrapped, by, record)
            except Exception as problem:  # whatever scapy makes of bytes that are no records
                yield from self._lost(wrapped, seen, f"{type(problem).__name__}: {problem}")
                return
            if wrapped.is_known is None:
                wrapped.is_known = wrapped.session.client_random in self._randoms
                if not wrapped.is_known:
                    yield msgspec.structs.replace(seen, data=record + bytes(buffer))
                    return
                self.decrypted += 1
            if carried is None:
                yield from self._lost(wrapped, seen, "a record cannot be decrypted")
                return
            if carried:
                yield msgspec.structs.replace(seen, data=carried)

    def _begun(self) -> _Wrapped:
        session = self._session()
        session.nss_keys = self._keys
        return _Wrapped(session)

    def _carried(self, wrapped: _Wrapped, by: By, record: bytes) -> bytes | None:
        """What a record carries for the application; None where it cannot be decrypted."""
        if by != wrapped.sender:
            wrapped.session, wrapped.sender = wrapped.session.mirror(), by
        packet = self._record(record, tls_session=wrapped.session)
        wrapped.session = packet.tls_session
        is_application = record[0] == _APPLICATION
        if is_application and wrapped.session.tls_version == _TLS13 and not hasattr(packet, "inner"):
            return None
        inside = getattr(packet, "inner", packet)
        messages = getattr(inside, "msg", [])
        if any(type(one).__name__ in ("_TLSEncryptedContent", "Raw") for one in messages):
            return None
        return b"".join(bytes(one.data) for one in messages if type(one).__name__ == "TLSApplicationData")

    def _lost(self, wrapped: _Wrapped, seen: Sent | Received | Missing, why: str) -> Iterator[Seen]:
        if wrapped.is_lost:
            return
        wrapped.is_lost = True
        yield Note(
            real=seen.real,
            protocol=seen.protocol,
            connection=seen.connection,
            text=f"what follows under TLS cannot be decrypted: {why}",
        )


_EXPECTED: Final = (
    "expected a key log, lines such as CLIENT_RANDOM and CLIENT_TRAFFIC_SECRET_0 (SSLKEYLOGFILE)"
)
