"""Ports to listen at, which stay free between two servers.

A port is below those that systems give to clients (Linux from 32768 on, others
from 49152 on). A server that is restarted at one of those can find it taken by a client's connection; and a
client that connects there again and again without a listener is connected to itself in the end.
"""

from __future__ import annotations

import contextlib
import errno
import random
import socket
from collections.abc import Sequence

_FROM, _BELOW = 10_240, 32_768
_TRIES = 1000
_CHANCE = random.SystemRandom()
"""Programs side by side must not try the same ones, whatever the seed."""


def free_port(offsets: Sequence[int] = (0,)) -> int:
    """A port that is free at this moment, on any address, as are those at these offsets from it:
    some servers bind all addresses, and more than one port.

    Raises ``OSError`` where none is found.
    """
    for _ in range(_TRIES):
        port = _CHANCE.randrange(_FROM - min(0, *offsets), _BELOW - max(0, *offsets))
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            for offset in offsets:
                probes.enter_context(socket.socket()).bind(("", port + offset))
            return port
    raise OSError(errno.EADDRINUSE, f"none of {_TRIES} ports from {_FROM} to {_BELOW - 1} is free")
