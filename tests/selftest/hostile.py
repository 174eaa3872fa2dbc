"""Servers that misbehave in one way each, for judging the harness by them. Standard library only.

python hostile.py BEHAVIOUR      prints the port on which it listens, then serves until it is killed
"""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import struct
import sys
import threading
from collections.abc import Callable

_frames = itertools.count()


def never_answers(peer: socket.socket) -> None:
    while peer.recv(65536):
        pass


def closes_at_once(peer: socket.socket) -> None:
    pass


def http(peer: socket.socket) -> None:
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
    while peer.recv(65536):
        pass


def echoes(peer: socket.socket) -> None:
    while data := peer.recv(65536):
        peer.sendall(data)


def always_success(peer: socket.socket) -> None:
    """Says code 0 to every frame, with its opaque, and nothing else."""
    buffered = b""
    while data := peer.recv(65536):
        buffered += data
        while len(buffered) >= 8:
            end = 4 + struct.unpack(">i", buffered[:4])[0]
            if len(buffered) < end:
                break
            frame, buffered = buffered[:end], buffered[end:]
            peer.sendall(success(frame))


def success(frame: bytes) -> bytes:
    header = json.loads(frame[8 : 8 + int.from_bytes(frame[5:8], "big")])
    answer = json.dumps({"code": 0, "flag": 1, "opaque": header["opaque"]}).encode()
    return struct.pack(">ii", 4 + len(answer), len(answer)) + answer


def trickles(peer: socket.socket) -> None:
    """Begins a frame that never ends, a byte every now and then."""
    peer.recv(65536)
    peer.sendall(struct.pack(">ii", 1000, 900))
    with contextlib.suppress(TimeoutError):
        while True:
            peer.settimeout(0.2)
            try:
                if not peer.recv(65536):
                    return
            except TimeoutError:
                peer.sendall(b"{")


def stops_answering(peer: socket.socket) -> None:
    """Says code 0 to the first three frames of all, and nothing to any other."""
    while data := peer.recv(65536):
        if next(_frames) < 3:
            peer.sendall(success(data))


BEHAVIOURS: dict[str, Callable[[socket.socket], None]] = {
    "never-answers": never_answers,
    "closes-at-once": closes_at_once,
    "http": http,
    "echoes": echoes,
    "always-success": always_success,
    "trickles": trickles,
    "stops-answering": stops_answering,
}


def serve(peer: socket.socket, behave: Callable[[socket.socket], None]) -> None:
    with contextlib.suppress(OSError, ValueError, KeyError), peer:
        behave(peer)


def main() -> None:
    behave = BEHAVIOURS[sys.argv[1]]
    server = socket.create_server(("127.0.0.1", 0), backlog=256)
    sys.stdout.write(f"{server.getsockname()[1]}\n")
    sys.stdout.flush()
    while True:
        peer, _ = server.accept()
        threading.Thread(target=serve, args=(peer, behave), daemon=True).start()


if __name__ == "__main__":
    main()
