"""Faults of what precedes the first frame (PROXY protocol, TLS), and of how connections end."""

import ssl
from collections.abc import Callable, Iterator

from harness.wire import Command, FrameBuffer, WireError
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.effects import Effect
from reference_impl.remoting.preamble import SIGNATURE_V2, length_of_preamble
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.tls import HANDSHAKE, Tls

_FOR_EVER = 1 << 50

# --- PROXY protocol -----------------------------------------------------------------------------------------


def _refusing_preamble(parts: Parts, rule: Callable[[bytes], bool]) -> Parts:
    def preamble(self: Endpoint, start: bytearray) -> int | None:
        if rule(bytes(start)):
            raise WireError("a preamble that this server does not accept")
        return parts.endpoint.preamble(self, start)

    return parts.override("endpoint", preamble)


@mutant("proxy-line-refused", "PROXY protocol version 1 is not understood.", profiles=V5)
def proxy_line_refused(parts: Parts) -> Parts:
    return _refusing_preamble(parts, lambda start: start.startswith(b"PROXY"))


@mutant("proxy-line-for-ipv4-only", "Of PROXY protocol version 1 only TCP4 is understood.", profiles=V5)
def proxy_line_for_ipv4_only(parts: Parts) -> Parts:
    return _refusing_preamble(parts, lambda start: start.startswith((b"PROXY U", b"PROXY TCP6")))


@mutant("proxy-header-refused", "PROXY protocol version 2 is not understood.", profiles=V5)
def proxy_header_refused(parts: Parts) -> Parts:
    return _refusing_preamble(parts, lambda start: start.startswith(SIGNATURE_V2))


@mutant("proxy-extensions-refused", "A PROXY header must have nothing behind its addresses.", profiles=V5)
def proxy_extensions_refused(parts: Parts) -> Parts:
    def has_more(start: bytes) -> bool:
        sizes = {0x11: 12, 0x21: 36, 0x31: 216}
        found = start.startswith(SIGNATURE_V2) and len(start) >= 16
        return found and int.from_bytes(start[14:16], "big") != sizes.get(start[13], 0)

    return _refusing_preamble(parts, has_more)


@mutant(
    "local-proxy-refused", "A PROXY header without addresses, as of a health check, is refused.", profiles=V5
)
def local_proxy_refused(parts: Parts) -> Parts:
    return _refusing_preamble(parts, lambda start: start.startswith(SIGNATURE_V2 + b"\x20"))


@mutant("proxy-preamble-must-come-at-once", "A PROXY preamble that comes in pieces is refused.", profiles=V5)
def proxy_preamble_must_come_at_once(parts: Parts) -> Parts:
    def preamble(self: Endpoint, start: bytearray) -> int | None:
        length = parts.endpoint.preamble(self, start)
        if length is None:
            raise WireError("the preamble is not whole")
        return length

    return parts.override("endpoint", preamble)


@mutant("malformed-proxy-preamble-passed", "Whatever begins like a PROXY preamble is skipped.", profiles=V5)
def malformed_proxy_preamble_passed(parts: Parts) -> Parts:
    def preamble(self: Endpoint, start: bytearray) -> int | None:
        if start.startswith(SIGNATURE_V2):
            return 16 + int.from_bytes(start[14:16], "big")
        return max(start.find(b"\r\n") + 2, 5) if start.startswith(b"PROXY") else 0

    return parts.override("endpoint", preamble)


@mutant("proxy-line-anywhere", "A PROXY line is skipped wherever a frame could begin.", profiles=V5)
def proxy_line_anywhere(parts: Parts) -> Parts:
    def frames(self: Endpoint, buffer: FrameBuffer, data: bytes) -> Iterator[bytes]:
        while not buffer.pending and data.startswith(b"PROXY") and b"\r\n" in data:
            data = data.partition(b"\r\n")[2]
        return parts.endpoint.frames(self, buffer, data)

    return parts.override("endpoint", frames)


@mutant(
    "proxy-line-passed-in-4-9", "A PROXY preamble is understood, which 4.9 does not know.", profiles=["4.9"]
)
def proxy_line_passed_in_4_9(parts: Parts) -> Parts:
    def preamble(self: Endpoint, start: bytearray) -> int | None:
        return length_of_preamble(start)

    return parts.override("endpoint", preamble)


@mutant(
    "short-first-frame-is-lost", "A first frame that ends before the twelfth byte is forgotten.", profiles=V5
)
def short_first_frame_is_lost(parts: Parts) -> Parts:
    def preamble(self: Endpoint, start: bytearray) -> int | None:
        end = 4 + int.from_bytes(start[:4], "big")
        return end if end < 12 else parts.endpoint.preamble(self, start)

    return parts.override("endpoint", preamble)


# --- TLS ----------------------------------------------------------------------------------------------------


@mutant("no-tls", "TLS is not understood.")
def no_tls(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        return None

    return parts.override("endpoint", secured)


@mutant("tls-only", "Without TLS a connection is closed, whatever the mode is.")
def tls_only(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        if first != HANDSHAKE:
            raise WireError("TLS is demanded")
        return parts.endpoint.secured(self, first, behind_preamble=behind_preamble)

    return parts.override("endpoint", secured)


class _OneRecord(Tls):
    """Takes one record of what has arrived, and the others when more arrives."""

    def opened(self, data: bytes) -> bytes:
        self.__dict__.setdefault("kept", bytearray()).extend(data)
        kept: bytearray = self.__dict__["kept"]
        end = 5 + int.from_bytes(kept[3:5], "big")
        record = bytes(kept[:end])
        del kept[:end]
        return super().opened(record)


class _Patient(Tls):
    """Takes a failure for something that will become better."""

    def opened(self, data: bytes) -> bytes:
        plain = super().opened(data)
        self.is_over = False
        return plain


def _with_tls(parts: Parts, kind: type[Tls]) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        if parts.endpoint.secured(self, first, behind_preamble=behind_preamble) is None:
            return None
        context = self.certificate()
        assert context is not None  # it was there a moment ago
        return kind(context)

    return parts.override("endpoint", secured)


@mutant("tls-reads-one-record", "Of the TLS records that arrive together one is read.")
def tls_reads_one_record(parts: Parts) -> Parts:
    return _with_tls(parts, _OneRecord)


@mutant("broken-tls-is-waited-for", "A TLS handshake that has failed leaves the connection open.")
def broken_tls_is_waited_for(parts: Parts) -> Parts:
    return _with_tls(parts, _Patient)


@mutant("no-tls-behind-proxy", "TLS is looked for at the first byte of a connection only.", profiles=V5)
def no_tls_behind_proxy(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        return None if behind_preamble else parts.endpoint.secured(self, first, behind_preamble=False)

    return parts.override("endpoint", secured)


@mutant("tls-is-never-enforced", "In mode enforcing, a connection without TLS is served.")
def tls_is_never_enforced(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        return (
            None
            if first != HANDSHAKE
            else parts.endpoint.secured(self, first, behind_preamble=behind_preamble)
        )

    return parts.override("endpoint", secured)


@mutant("tls-is-never-disabled", "In mode disabled, TLS is served.")
def tls_is_never_disabled(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        context = self.certificate() if first == HANDSHAKE else None
        return None if context is None else Tls(context)

    return parts.override("endpoint", secured)


@mutant("without-certificate-nothing", "Without a certificate no connection is served.")
def without_certificate_nothing(parts: Parts) -> Parts:
    def secured(self: Endpoint, first: int, *, behind_preamble: bool) -> Tls | None:
        if self.certificate() is None:
            raise WireError("this server has no certificate")
        return parts.endpoint.secured(self, first, behind_preamble=behind_preamble)

    return parts.override("endpoint", secured)


@mutant("certificate-read-once", "The certificate is read once and kept for ever.")
def certificate_read_once(parts: Parts) -> Parts:
    def certificate(self: Endpoint) -> ssl.SSLContext | None:
        found: ssl.SSLContext | None = self.__dict__.get("first_certificate")
        if found is None:
            found = self.__dict__["first_certificate"] = parts.endpoint.certificate(self)
        return found

    return parts.override("endpoint", certificate)


# --- the end of a connection --------------------------------------------------------------------------------


@mutant("half-close-is-ignored", "A connection stays open whose sending direction the peer has ended.")
def half_close_is_ignored(parts: Parts) -> Parts:
    def half_closed(self: Endpoint, connection: int, now: int) -> list[Effect]:
        return []

    return parts.override("endpoint", half_closed)


@mutant("idle-time-is-fixed", "A connection may be idle for 120 seconds, whatever is configured.")
def idle_time_is_fixed(parts: Parts) -> Parts:
    def idle_limit(self: Endpoint) -> int | None:
        return 120_000

    return parts.override("endpoint", idle_limit)


@mutant("idle-setting-is-halved", "A connection may be idle for half the configured time.")
def idle_setting_is_halved(parts: Parts) -> Parts:
    def idle_limit(self: Endpoint) -> int | None:
        return (parts.endpoint.idle_limit(self) or 0) // 2 or None

    return parts.override("endpoint", idle_limit)


def _farewell(parts: Parts, milliseconds: int) -> Parts:
    def farewell(self: Endpoint) -> int:
        return milliseconds

    return parts.override("endpoint", farewell)


@mutant("stop-is-ignored", "A server that is asked to stop goes on.")
def stop_is_ignored(parts: Parts) -> Parts:
    return _farewell(parts, _FOR_EVER)


@mutant(
    "stop-is-never-graceful",
    "A server that is asked to stop ends at once, whatever is configured.",
    profiles=V5,
)
def stop_is_never_graceful(parts: Parts) -> Parts:
    return _farewell(parts, 0)


@mutant("stopping-server-serves-everybody", "A server that is to stop sends nobody away.", profiles=V5)
def stopping_server_serves_everybody(parts: Parts) -> Parts:
    def is_sent_away(self: Endpoint, command: Command) -> bool:
        return False

    return parts.override("endpoint", is_sent_away)


@mutant("stopping-server-sends-everybody-away", "A server that is to stop serves nobody.", profiles=V5)
def stopping_server_sends_everybody_away(parts: Parts) -> Parts:
    def is_sent_away(self: Endpoint, command: Command) -> bool:
        return True

    return parts.override("endpoint", is_sent_away)


@mutant(
    "who-is-sent-away-is-served", "A stopping server carries out what it answers with GO_AWAY.", profiles=V5
)
def who_is_sent_away_is_served(parts: Parts) -> Parts:
    def is_sent_away(self: Endpoint, command: Command) -> bool:
        away = parts.endpoint.is_sent_away(self, command)
        if away:
            self.nameserver.execute(command, 0, 0)
        return away

    return parts.override("endpoint", is_sent_away)


@mutant("who-is-sent-away-is-not-told", "A stopping server does not answer who is to go away.", profiles=V5)
def who_is_sent_away_is_not_told(parts: Parts) -> Parts:
    def sent_away(self: Endpoint) -> Reply | None:
        return None

    return parts.override("endpoint", sent_away)


@mutant("go-away-to-oneway-requests", "A stopping server answers one-way requests with GO_AWAY.", profiles=V5)
def go_away_to_oneway_requests(parts: Parts) -> Parts:
    def is_unanswered(self: Endpoint, command: Command) -> bool:
        return self._stops_at is None and parts.endpoint.is_unanswered(self, command)

    return parts.override("endpoint", is_unanswered)
