"""Faults of what precedes the first frame (PROXY protocol, TLS), and of how connections end."""

import ssl

from harness.wire import WireError
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.remoting.preamble import SIGNATURE_V2, length_of_preamble
from reference_impl.remoting.tls import HANDSHAKE, Tls

_FOR_EVER = 1 << 50

# --- PROXY protocol -----------------------------------------------------------------------------------------


@family(Endpoint.preamble)
def _refusing_preamble(rule, original, self, start):
    """Close the connection for a preamble that the rule catches."""
    if rule(bytes(start)):
        raise WireError("a preamble that this server does not accept")
    return original(self, start)


@_refusing_preamble("PROXY protocol version 1 is not understood.", V5)
def proxy_line_refused(start):
    return start.startswith(b"PROXY")


@_refusing_preamble("Of PROXY protocol version 1 only TCP4 is understood.", V5)
def proxy_line_for_ipv4_only(start):
    return start.startswith((b"PROXY U", b"PROXY TCP6"))


@_refusing_preamble("PROXY protocol version 2 is not understood.", V5)
def proxy_header_refused(start):
    return start.startswith(SIGNATURE_V2)


@_refusing_preamble("A PROXY header must have nothing behind its addresses.", V5)
def proxy_extensions_refused(start):
    sizes = {0x11: 12, 0x21: 36, 0x31: 216}
    found = start.startswith(SIGNATURE_V2) and len(start) >= 16
    return found and int.from_bytes(start[14:16], "big") != sizes.get(start[13], 0)


@_refusing_preamble("A PROXY header has extensions behind addresses of IPv4 only.", V5)
def proxy_extensions_for_ipv4_only(start):
    sizes = {0x00: 0, 0x21: 36, 0x31: 216}
    found = start.startswith(SIGNATURE_V2) and len(start) >= 16
    return found and int.from_bytes(start[14:16], "big") > sizes.get(start[13], 1 << 16)


@_refusing_preamble("A PROXY header without addresses, as of a health check, is refused.", V5)
def local_proxy_refused(start):
    return start.startswith(SIGNATURE_V2 + b"\x20")


@after(Endpoint.preamble, "A PROXY preamble split into segments is refused.", V5)
def proxy_preamble_must_come_at_once(length):
    if length is None:
        raise WireError("the preamble is not whole")


@mutant(Endpoint.preamble, "Anything that begins like a PROXY preamble is skipped.", V5)
def malformed_proxy_preamble_passed(original, self, start):
    if start.startswith(SIGNATURE_V2):
        return 16 + int.from_bytes(start[14:16], "big")
    return max(start.find(b"\r\n") + 2, 5) if start.startswith(b"PROXY") else 0


@mutant(Endpoint.preamble, "The addresses in a PROXY line are not looked at.", V5)
def proxy_addresses_are_not_read(original, self, start):
    line = bytes(start).partition(b"\r\n")[0]
    words = line.split(b" ")
    try:
        return original(self, start)
    except WireError:
        if words[:2] == [b"PROXY", b"TCP4"] and len(words) == 6 and int(words[5]) < 65_536:
            return len(line) + 2
        raise


@mutant(Endpoint.frames, "A PROXY line is skipped wherever a frame could begin.", V5)
def proxy_line_anywhere(original, self, buffer, data):
    while not buffer.pending and data.startswith(b"PROXY") and b"\r\n" in data:
        data = data.partition(b"\r\n")[2]
    return original(self, buffer, data)


@mutant(Endpoint.frames, "A PROXY header of version 2 is skipped wherever a frame could begin.", V5)
def proxy_header_anywhere(original, self, buffer, data):
    while not buffer.pending and bytes(data[:12]) == b"\r\n\r\n\0\r\nQUIT\n" and len(data) >= 16:
        data = data[16 + int.from_bytes(data[14:16], "big") :]
    return original(self, buffer, data)


@mutant(Endpoint.preamble, "4.9 accepts a PROXY preamble.", V4)
def proxy_line_passed_in_4_9(original, self, start):
    return length_of_preamble(start)


@mutant(Endpoint.preamble, "A first frame shorter than twelve bytes is dropped.", V5)
def short_first_frame_is_lost(original, self, start):
    end = 4 + int.from_bytes(start[:4], "big")
    return end if end < 12 else original(self, start)


# --- TLS ----------------------------------------------------------------------------------------------------


@mutant(Endpoint.secured, "TLS is not understood.")
def no_tls(original, self, first, *, behind_preamble):
    return None


@mutant(Endpoint.secured, "Without TLS a connection is closed, whatever the mode is.")
def tls_only(original, self, first, *, behind_preamble):
    if first != HANDSHAKE:
        raise WireError("TLS is demanded")
    return original(self, first, behind_preamble=behind_preamble)


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


@mutant(Endpoint.secured, "Only one of several TLS records that arrive together is read.")
def tls_reads_one_record(original, self, first, *, behind_preamble):
    sound = original(self, first, behind_preamble=behind_preamble)
    return None if sound is None else _OneRecord(self.certificate())


@mutant(Endpoint.secured, "A failed TLS handshake leaves the connection open.")
def broken_tls_is_waited_for(original, self, first, *, behind_preamble):
    sound = original(self, first, behind_preamble=behind_preamble)
    return None if sound is None else _Patient(self.certificate())


@mutant(Endpoint.secured, "TLS is looked for at the first byte of a connection only.", V5)
def no_tls_behind_proxy(original, self, first, *, behind_preamble):
    return None if behind_preamble else original(self, first, behind_preamble=False)


@mutant(Endpoint.secured, "In mode enforcing, a connection without TLS is served.")
def tls_is_never_enforced(original, self, first, *, behind_preamble):
    return None if first != HANDSHAKE else original(self, first, behind_preamble=behind_preamble)


@mutant(Endpoint.secured, "In mode disabled, TLS is served.")
def tls_is_never_disabled(original, self, first, *, behind_preamble):
    context = self.certificate() if first == HANDSHAKE else None
    return None if context is None else Tls(context)


@mutant(Endpoint.secured, "Without a certificate no connection is served.")
def without_certificate_nothing(original, self, first, *, behind_preamble):
    if self.certificate() is None:
        raise WireError("this server has no certificate")
    return original(self, first, behind_preamble=behind_preamble)


@mutant(Endpoint.certificate, "The certificate is never reloaded.")
def certificate_read_once(original, self):
    found: ssl.SSLContext | None = self.__dict__.get("first_certificate")
    if found is None:
        found = self.__dict__["first_certificate"] = original(self)
    return found


# --- the end of a connection --------------------------------------------------------------------------------


@mutant(Endpoint.half_closed, "A connection stays open after its peer has ended its sending direction.")
def half_close_is_ignored(original, self, connection, now):
    return []


@mutant(Endpoint.idle_limit, "A connection may be idle for 120 seconds, whatever is configured.")
def idle_time_is_fixed(original, self):
    return 120_000


@mutant(Endpoint.idle_limit, "A connection may be idle for half the configured time.")
def idle_setting_is_halved(original, self):
    return (original(self) or 0) // 2 or None


@mutant(Endpoint.farewell, "The server ignores SIGTERM.")
def stop_is_ignored(original, self):
    return _FOR_EVER


@mutant(Endpoint.farewell, "The server always stops immediately.", V5)
def stop_is_never_graceful(original, self):
    return 0


@mutant(Endpoint.is_sent_away, "A stopping server never answers GO_AWAY.", V5)
def stopping_server_serves_everybody(original, self, command):
    return False


@mutant(Endpoint.is_sent_away, "A stopping server answers every client with GO_AWAY.", V5)
def stopping_server_sends_everybody_away(original, self, command):
    return True


@mutant(Endpoint.certificate, "An encrypted private key is not read.")
def key_with_a_password_is_not_read(original, self):
    return None if self.tls.key_password else original(self)


@after(Endpoint.idle_limit, "An idle limit of 0 s ends a connection after 60 s.")
def idle_limit_of_0_is_at_once(limit):
    return 60_000 if limit is None else limit


@after(Endpoint.is_sent_away, "A stopping server executes requests that it answers with GO_AWAY.", V5)
def who_is_sent_away_is_served(away, self, command):
    if away:
        self.nameserver.execute(command, 0, 0)


@mutant(Endpoint.sent_away, "A stopping server leaves refused requests unanswered.", V5)
def who_is_sent_away_is_not_told(original, self):
    return None


@mutant(Endpoint.is_unanswered, "A stopping server answers one-way requests with GO_AWAY.", V5)
def go_away_to_oneway_requests(original, self, command):
    return self._stops_at is None and original(self, command)
