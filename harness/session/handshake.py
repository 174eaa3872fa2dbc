"""TLS handshakes with a target, also where its time is warped."""

from __future__ import annotations

from collections.abc import Callable

from harness.session.clock import Clock
from harness.session.errors import TooLate
from harness.session.futile import HANDSHAKE, FutileWaits
from harness.session.tls import TlsTransport
from harness.session.transport import PeerReset, Transport, TransportTimeout
from harness.wire import Command, FrameBuffer, WireError, encode

_HANDSHAKES = 8
_HANDSHAKE_TERM = 9.0
"""Protocol seconds; Netty ends a handshake after 10 (`SslHandler`)."""


def secured(
    opened: Callable[[], Transport],
    clock: Clock,
    *,
    probe: Callable[[], Command],
    note: Callable[[str], object],
    futile: FutileWaits,
) -> TlsTransport:
    """A connection on which a TLS handshake has ended, in whichever way.

    ``opened`` makes a connection. Targets give a handshake some 10 s of their time, which may be too short
    where that is warped: where they end one after as long as that, nothing was learnt. A client may take it
    for ended before the server does (TLS 1.3), so there a probe must be answered too.

    Raises ``TooLate`` where no handshake ends in time.
    """
    for _ in range(_HANDSHAKES):
        inner = opened()
        began = clock.now()
        transport = TlsTransport(inner, clock)
        is_brief = futile.is_known(HANDSHAKE)
        agreed = transport.agree(clock.timing.brief if is_brief else clock.timing.answer)
        if agreed or transport.has_ended:
            futile.was_met(HANDSHAKE)
        elif not is_brief and clock.warp:
            futile.was_in_vain(HANDSHAKE)
        if clock.kind != "warped" or (agreed and _is_answered(transport, clock, probe())):
            return transport
        if clock.now() - began < _HANDSHAKE_TERM:
            return transport
        note("a TLS handshake took too long for this warp")
        transport.close("fin")
    raise TooLate("no TLS handshake came to an end in time")


def _is_answered(transport: Transport, clock: Clock, probe: Command) -> bool:
    """Whether a probe is answered before the connection has a number, and a place in the trace."""
    end = clock.waiting() + clock.timing.answer
    transport.send(encode(probe))
    buffer = FrameBuffer()
    try:
        while data := transport.receive(max(0.0, end - clock.waiting())):
            buffer.feed(data)
            if buffer.next_frame() is not None:
                return True
    except (TransportTimeout, PeerReset, WireError):
        pass
    return False
