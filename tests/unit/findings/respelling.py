"""A man in the middle that says the same in other words: other JSON, another language, other remarks."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from typing import Any

from harness.wire import FrameBuffer

Respell = Callable[[dict[str, Any], bytes], tuple[bytes, bytes]]
"""From the JSON header and the body of an answer to the bytes of both."""

_BARE = re.compile(rb"([{,])(-?\d+):")


def untouched(header: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    return json.dumps(header, ensure_ascii=False).encode(), body


def other_json(header: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    """Escapes, white space, another order of members, numbers as names in quotes."""
    if body[:1] == b"{":
        said = json.loads(_BARE.sub(rb'\1"\2":', body))
        body = json.dumps(_turned(said), ensure_ascii=True, indent=3).encode()
    return json.dumps(_turned(header), ensure_ascii=True, indent=1).encode(), body


def bare_numbers(header: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    """Numbers as names without quotes, with blanks around them."""
    return json.dumps(header).encode(), re.sub(rb'"(-?\d+)":', rb" \1 : ", body)


def other_words(header: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    """Another language and release, and remarks of its own."""
    remark = {"remark": "¡algo!"} if header.get("remark") or header["code"] else {"remark": ""}
    return json.dumps({**header, "language": "GO", "version": 1, **remark}).encode(), body


def _turned(said: Any) -> Any:
    if isinstance(said, dict):
        return {name: _turned(value) for name, value in reversed(said.items())}
    return [_turned(one) for one in reversed(said)] if isinstance(said, list) else said


class Respelling:
    """Listens on a port of its own; answers are respelled, requests go through as they are."""

    def __init__(self, upstream: int, respell: Respell) -> None:
        self._upstream = upstream
        self._respell = respell
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._upstream))
            for source, sink, change in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass, args=(source, sink, change), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, change: bool) -> None:
        buffer = FrameBuffer()
        try:
            while data := source.recv(65536):
                if not change:
                    sink.sendall(data)
                    continue
                buffer.feed(data)
                while (frame := buffer.next_frame()) is not None:
                    sink.sendall(self._changed(frame))
        except OSError:
            pass
        finally:
            for one in (source, sink):
                one.close()

    def _changed(self, frame: bytes) -> bytes:
        length = int.from_bytes(frame[5:8], "big")
        header, body = self._respell(json.loads(frame[8 : 8 + length]), frame[8 + length :])
        sizes = (4 + len(header) + len(body)).to_bytes(4, "big") + len(header).to_bytes(4, "big")
        return sizes + header + body
