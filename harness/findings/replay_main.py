"""The rest of a script that stands alone: sockets, a clock, a command line, a verdict.

It is copied into the script behind `harness.findings.replay_core`, and is Python 3.8, standard library, too.
Nothing of the harness imports it; only here may a script read a clock or open a socket.
"""

from __future__ import annotations

import argparse
import random
import socket
import ssl
import struct
import subprocess
import sys
import time
from typing import Any

from harness.findings.replay_core import Line, NotOurs, Player, lines_of

REPRODUCED, NOT_REPRODUCED, USAGE, UNREACHABLE = 1, 0, 3, 4


class SocketLine:
    """A TCP connection."""

    def __init__(self, peer: socket.socket) -> None:
        self._socket = peer
        host, port = peer.getsockname()[:2]
        self.local = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def send(self, data: bytes) -> None:
        try:
            self._socket.settimeout(5.0)
            self._socket.sendall(data)
        except OSError:
            pass  # that it is gone is seen when receiving

    def receive(self, seconds: float) -> bytes | None:
        try:
            self._socket.settimeout(max(seconds, 0.0001))
            return self._socket.recv(65536)
        except (socket.timeout, ssl.SSLWantReadError):  # noqa: UP041  (Python 3.8)
            return None
        except OSError:
            return b""

    def close(self, how: str) -> None:
        try:
            if how == "half":
                self._socket.shutdown(socket.SHUT_WR)
                return
            if how == "reset":
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._socket.close()
        except OSError:
            pass


class Sockets:
    """Running servers; a protocol second takes 1 / speed real ones."""

    def __init__(self, servers: list[tuple[str, int]], speed: float, restart: str) -> None:
        self._servers = servers
        self._speed = speed
        self._restart = restart

    def connect(self, server: int, preamble: bytes, tls: bool, controller: bool = False) -> Line:
        """A new connection. A script about a controller is given where that listens."""
        try:
            peer = socket.create_connection(self._servers[server], timeout=5.0)
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.sendall(preamble)
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                peer = context.wrap_socket(peer)
        except OSError as problem:
            raise ConnectionError(f"{self._servers[server]}: {problem}") from problem
        return SocketLine(peer)

    def now(self, server: int) -> float:
        return time.monotonic() * self._speed

    def elapsed(self, server: int) -> float:
        return time.monotonic()

    def waiting(self, server: int, seconds: float) -> float:
        return seconds / self._speed

    def advance(self, server: int, seconds: float) -> None:
        time.sleep(seconds / self._speed)

    def restart(self, server: int, how: str) -> None:
        if not self._restart:
            raise NotOurs("the server is restarted in between: say how with --restart COMMAND")
        subprocess.run([*self._restart.split(), str(server), how], check=True, timeout=120)


def run(record: dict[str, Any], arguments: list[str]) -> int:
    """Does it again and says what came of it."""
    parser = argparse.ArgumentParser(
        description=record["title"], epilog="exit status: 1 it reproduces, 0 it does not, 4 no server there"
    )
    count = record["servers"]
    parser.add_argument("servers", nargs=count, metavar="HOST:PORT", help="where the server listens")
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="N", help="its clock runs N times as fast"
    )
    parser.add_argument(
        "--restart", default="", metavar="COMMAND", help="ends and starts server NUMBER again"
    )
    try:
        options = parser.parse_args(arguments)
        servers = [_address(text) for text in options.servers]
        if not options.speed > 0:
            raise ValueError("--speed must be above 0")
    except ValueError as problem:
        sys.stderr.write(f"{problem}\n")
        return USAGE
    except SystemExit as end:
        return USAGE if end.code else 0
    player = Player(record, Sockets(servers, options.speed, options.restart), random.SystemRandom().randrange)
    say(record["title"], f"expected  {record['expected']}", f"seen      {record['actual']}", "")
    try:
        for row in player.play():
            if row.counts or not row.same:
                say(*lines_of(row))
    except (ConnectionError, NotOurs) as problem:
        sys.stderr.write(f"it could not be done again: {problem}\n")
        return UNREACHABLE
    finally:
        player.close()
    return told(player, record["must"])


def told(player: Player, must: list[int]) -> int:
    """The verdict: it reproduces where the way to the failure is the same, and the decisive fact shows."""
    missing = [number for number in must if number >= len(player.rows) or not player.rows[number].holds]
    if player.behind > 2:
        say("", f"it ran up to {player.behind:.1f} protocol seconds behind; what depends on time may differ")
    if missing:
        say("", _why(player, missing), "NOT REPRODUCED")
        return NOT_REPRODUCED
    say("", "the answer that decides is wrong in the same way", "REPRODUCED")
    return REPRODUCED


def _why(player: Player, missing: list[int]) -> str:
    rows = [player.rows[number] for number in missing if number < len(player.rows)]
    earlier = [row for row in rows if not row.decisive]
    if earlier:
        return f"the way there is another: {earlier[0].action.get('what')}"
    return "the answer that decides is not wrong in that way"


def say(*lines: str) -> None:
    for line in lines:
        text = line + "\n"
        sys.stdout.write(
            text.encode(sys.stdout.encoding or "ascii", "replace").decode(sys.stdout.encoding or "ascii")
        )
    sys.stdout.flush()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"expected HOST:PORT, got {text}")
    return host.strip("[]"), int(port)
