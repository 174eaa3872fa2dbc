"""Whether something takes connections, and whether it answers.

A question of our own before a session exists; nothing is recorded, nothing is judged.
"""

from __future__ import annotations

import contextlib
import socket
import time

from harness.session import PeerReset, RunningClock, TargetDied, Transport, TransportTimeout, connect
from harness.session.tls import TlsTransport
from harness.wire import Command, FrameBuffer, RequestCode, WireError, encode

SILENT = 15.0
"""Real seconds of silence until a server counts as gone that has not ended. One that is only slow, on a busy
machine or with a short queue of connections, must not be taken for dead and started again in the middle of a
check.
"""
_ASK = Command(
    code=RequestCode.GET_ROUTEINFO_BY_TOPIC, opaque=1, version=409, ext={"topic": "nothing-is-called-so"}
)


def takes_connections(host: str, port: int, within: float) -> bool:
    """Whether a connection can be made within these seconds."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=within):
        return True
    return False


def answers(host: str, port: int, within: float, *, tls: bool = False) -> bool:
    """Whether a request is answered with a whole frame within these seconds."""
    return _answered(host, port, within, tls=tls) is True


def refuses(host: str, port: int, within: float) -> bool:
    """Whether a request is answered with a close within these seconds: the server wants TLS."""
    return _answered(host, port, within) is None


def _answered(host: str, port: int, within: float, *, tls: bool = False) -> bool | None:
    """None: the connection was closed."""
    end = time.monotonic() + within
    transport: Transport
    try:
        transport = connect(host, port, within)
    except TargetDied:
        return False
    if tls:
        transport = TlsTransport(transport, RunningClock())
    buffer = FrameBuffer()
    try:
        transport.send(encode(_ASK))
        while (data := transport.receive(max(0.0, end - time.monotonic()))) != b"":
            buffer.feed(data)
            if buffer.next_frame() is not None:
                return True
    except PeerReset:
        return None
    except (TransportTimeout, WireError):
        return False
    finally:
        transport.close("fin")
    return None
