"""The reference behind a man in the middle that tells one lie: lying_proxy.py LIE PORT DIRECTORY.

Frames that it does not lie about pass as they are, byte for byte, in both directions.
"""

from __future__ import annotations

import atexit
import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.wire import Command, FrameBuffer, WireError, dissect, encode

Lie = Callable[[int, Command], Command]
"""From the code of a request and its true answer to the false one; the same object where nothing is false."""
SERVED = Path(__file__).with_name("served_mutant.py")


def no_ha_address(asked: int, answer: Command) -> Command:
    """A slave never learns where its master's replication listens."""
    kept = {name: value for name, value in (answer.ext or {}).items() if name != "haServerAddr"}
    return msgspec.structs.replace(answer, ext=kept) if kept != (answer.ext or {}) else answer


def another_number(asked: int, answer: Command) -> Command:
    """Failures have a number of their own."""
    return msgspec.structs.replace(answer, code=29) if answer.code == 1 else answer


def one_more_bit(asked: int, answer: Command) -> Command:
    """Permissions in routes have one more bit."""
    if asked != 105 or not answer.body:
        return answer
    return msgspec.structs.replace(answer, body=answer.body.replace(b'"perm":', b'"perm":1'))


LIES: dict[str, Lie] = {
    "no-ha-address": no_ha_address,
    "another-number": another_number,
    "one-more-bit": one_more_bit,
}


class Between:
    """A connection of a client and one to the reference, and what passes between them."""

    def __init__(self, client: socket.socket, server: socket.socket, lie: Lie) -> None:
        self._client, self._server, self._lie = client, server, lie
        self._asked: dict[int, int] = {}
        """The code of a request, by its opaque."""

    def start(self) -> None:
        for source, to, changed in (
            (self._client, self._server, self._heard),
            (self._server, self._client, self._told),
        ):
            threading.Thread(target=self._pass, args=(source, to, changed), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, changed: Callable[[bytes], bytes]) -> None:
        """Frame by frame; from bytes that are no frame on, as they come."""
        frames = FrameBuffer()
        is_framed = True
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_framed:
                    frames.feed(data)
                    try:
                        while frame := frames.next_frame():
                            to.sendall(changed(bytes(frame)))
                    except WireError:
                        is_framed = False
                        to.sendall(data)
                else:
                    to.sendall(data)
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _heard(self, frame: bytes) -> bytes:
        command = dissect(frame).command
        if command is not None:
            self._asked[command.opaque] = command.code
        return frame

    def _told(self, frame: bytes) -> bytes:
        command = dissect(frame).command
        if command is None or not command.is_response:
            return frame
        false = self._lie(self._asked.get(command.opaque, 0), command)
        return frame if false is command else encode(false)


def main(lie: Lie, port: int, directory: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        behind = taken.getsockname()[1]
    reference = [sys.executable, str(SERVED), "5.3", "none", str(behind), directory]
    served = subprocess.Popen(reference)
    atexit.register(served.kill)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            client, _ = listener.accept()
            Between(client, connected(behind), lie).start()


def connected(port: int) -> socket.socket:
    """A connection to the reference, once it listens."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port))
        time.sleep(0.05)
    sys.exit("the reference behind the proxy does not listen")


if __name__ == "__main__":
    main(LIES[sys.argv[1]], int(sys.argv[2]), sys.argv[3])
