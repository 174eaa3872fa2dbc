"""The reference under a flood of random and mutated frames: does it live, in bounded memory, and serve?

The server runs in a process of its own, the flood in another, and a well-behaved client in this one: it
registers a broker and asks for its route all along, and looks at every answer. Nothing here is a ratio: the
figures are how long the client waited, and how much memory the server had at its peak.

    python -m bench.flood [FRAMES [SEED]]
"""

from __future__ import annotations

import contextlib
import json
import random
import selectors
import socket
import statistics
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from harness.wire import Command, FrameBuffer, RawFrame, RequestCode, Serialization, decode, encode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig
from harness.wire.requests import REQUESTS

FRAMES = 1_000_000
CONNECTIONS = 200
DRIBBLERS = 40
"""Connections of those that send frames of 16 MiB in pieces, and never end one."""
PATIENCE = 60.0
_LARGEST = 16_777_212
_PIECE = 65_536
_EVERY = 0.05


class Outcome(msgspec.Struct):
    """What a flood came to."""

    frames: int
    seconds: float
    connections: int
    kinds: dict[str, int]
    resident: int
    """Bytes of memory of the server at its peak."""
    resident_before: int
    waits: list[float]
    """Seconds that each answer to the well-behaved client took."""
    wrong: list[str]
    """What it was told that was not so."""


def flood(frames: int, seed: int, connections: int = CONNECTIONS, dribblers: int = DRIBBLERS) -> Outcome:
    """Run it. Raises AssertionError if the server does not live through it."""
    run = "import sys; from reference_impl.serve import run; sys.exit(run(host='127.0.0.1', port=0))"
    server = subprocess.Popen([sys.executable, "-c", run], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().partition("127.0.0.1:")[2].partition(",")[0])
        before = _peak(server.pid)
        client = _Client(port)
        arguments = [str(argument) for argument in (port, frames, seed, connections, dribblers)]
        with subprocess.Popen(
            [sys.executable, "-m", "bench.flood", "--send", *arguments], stdout=subprocess.PIPE, text=True
        ) as sender:
            while sender.poll() is None:
                client.ask()
                time.sleep(_EVERY)
            assert sender.stdout is not None
            sent = json.loads(sender.stdout.read())
        client.ask()
        assert server.poll() is None, f"the server ended with status {server.returncode}"
        return Outcome(
            **sent, resident=_peak(server.pid), resident_before=before, waits=client.waits, wrong=client.wrong
        )
    finally:
        server.terminate()
        server.wait(PATIENCE)


class _Client:
    """A broker and a client as they should be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._buffer = FrameBuffer()
        self._asked = 0
        self.waits: list[float] = []
        self.wrong: list[str] = []

    def ask(self) -> None:
        """Registers now and then, and asks for the route."""
        if self._asked % 20 == 0:
            self._answer(_register("good", "10.9.9.9:10911", ["good-topic", "good-2"]))
        self._asked += 1
        reply = self._answer(
            Command(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, version=479, ext={"topic": "good-topic"})
        )
        told = json.loads(reply.body)["brokerDatas"] if reply.code == 0 else reply.remark
        right = [{"brokerAddrs": {"0": "10.9.9.9:10911"}, "brokerName": "good", "cluster": "c"}]
        if not isinstance(told, list) or [{k: b[k] for k in right[0]} for b in told] != right:
            self.wrong.append(f"the route of good-topic is {told}")

    def _answer(self, request: Command) -> Command:
        begun = time.monotonic()
        self._socket.sendall(encode(request))
        while (frame := self._buffer.next_frame()) is None:
            data = self._socket.recv(65_536)
            assert data, "the server closed the connection of the well-behaved client"
            self._buffer.feed(data)
        self.waits.append(time.monotonic() - begun)
        return decode(frame)


# -- the flood itself, in a process of its own --------------------------------------------------------------


def _register(
    name: str, address: str, topics: list[str], number: int = 0, body: bytes | None = None
) -> Command:
    ext: dict[str, str | None] = {
        "brokerName": name,
        "brokerAddr": address,
        "clusterName": "c",
        "haServerAddr": address,
        "brokerId": str(number),
    }
    if body is None:
        table = {topic: TopicConfig(topic) for topic in topics}
        body = RegisterBody(table, data_version=DataVersion(1, 1, 0)).encode()
    else:
        ext["compressed"] = "true"
    return Command(code=RequestCode.REGISTER_BROKER, version=479, ext=ext, body=body)


class _Frames:
    """An endless supply of frames, from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._good = [encode(command) for command in self._commands()]
        compressed = zlib.compress(b"\0" * 100_000_000)
        self._bombs = [
            encode(_register("bomb", "10.0.0.1:1", [], body=body))
            for body in (
                compressed,
                zlib.compress(compressed),
                zlib.compress(struct.pack(">i", 2**31 - 1) * 100),
                zlib.compress(struct.pack(">i", -1) * 100),
                zlib.compress(struct.pack(">i", 2) + b"{}" + struct.pack(">i", 2**31 - 1)),
                compressed[: len(compressed) // 2],
            )
        ]
        self._large = [
            RawFrame(header, body).encode()
            for header, body in (
                (b'{"code":103,"version":479,"extFields":{"brokerAddr":"a:1"}}', b"[" * 1_000_000),
                (b'{"code":103,"version":479,"extFields":{"brokerAddr":"a:1"}}', b"[[],[]," * 300_000),
                (
                    b'{"code":103,"version":479,"extFields":{"brokerAddr":"a:1"}}',
                    b'{"a":"' + b"x" * 4_000_000,
                ),
                (b'{"code":105,"extFields":{"topic":"' + b"t" * 2_000_000 + b'"}}', b""),
                (b"{code:206,extFields:{" + b"k:1," * 300_000 + b"}}", b""),
                (b'{"code":206,"remark":' + b"1" * 1_000_000 + b"}", b""),
                (b'{"code":101,"extFields":' + b'{"a":' * 200_000, b""),
            )
        ]
        self._kinds: list[tuple[str, int, Callable[[], bytes]]] = [
            ("as they should be", 20_000, self._sound),
            ("mutated, lengths right", 45_000, self._mutated),
            ("mutated anywhere", 8_000, self._broken),
            ("random header and body", 20_000, self._random_parts),
            ("random bytes", 6_900, self._noise),
            ("inflating bodies", 60, lambda: self._random.choice(self._bombs)),
            ("megabytes, deep or long", 40, lambda: self._random.choice(self._large)),
        ]
        self.count: Counter[str] = Counter()

    def __iter__(self) -> Iterator[bytes]:
        names, weights, makers = zip(*self._kinds, strict=True)
        order = range(len(names))
        while True:
            for at in self._random.choices(order, weights, k=1000):
                self.count[names[at]] += 1
                yield makers[at]()

    def _commands(self) -> Iterator[Command]:
        for number in range(48):
            name, address = f"b{number % 16}", f"10.0.0.{number}:10911"
            topics = [f"t{number + at}" for at in range(number % 7)]
            yield _register(name, address, topics, number % 3)
            compressed = RegisterBody({"t": TopicConfig("t")}, data_version=DataVersion(1, 1, 0))
            yield _register(name, address, [], body=compressed.encode_compressed(v5=True))
            ext: dict[str, str | None] = {
                "brokerName": name,
                "brokerAddr": address,
                "clusterName": "c",
                "brokerId": str(number % 3),
                "topic": f"t{number}",
                "namespace": "n",
                "key": f"k{number % 8}",
                "value": "v",
            }
            for code, form in REQUESTS.items():
                changed = code in (RequestCode.UPDATE_NAMESRV_CONFIG, RequestCode.REGISTER_BROKER)
                if form.role == "nameserver" and not changed:
                    for kind in Serialization:
                        yield Command(code=code, version=479, opaque=number, ext=ext, serialization=kind)

    def _sound(self) -> bytes:
        return self._random.choice(self._good)

    def _mutated(self) -> bytes:
        """Some bytes of header or body changed; the lengths stay as they are."""
        frame = bytearray(self._sound())
        for _ in range(self._random.randint(1, 4)):
            frame[self._random.randrange(8, len(frame))] = self._random.randrange(256)
        return bytes(frame)

    def _broken(self) -> bytes:
        frame = bytearray(self._sound())
        for _ in range(self._random.randint(1, 4)):
            frame[self._random.randrange(len(frame))] = self._random.randrange(256)
        return bytes(frame[: self._random.randint(4, len(frame))])

    def _random_parts(self) -> bytes:
        header = self._random.randbytes(self._random.randint(0, 60))
        if self._random.random() < 0.7:
            text = header.hex()
            code = self._random.choice((self._random.randint(-5, 1000), self._random.randint(100, 330)))
            ext = {"topic": text, "brokerName": text}
            header = json.dumps({"code": code, "opaque": 7, "extFields": ext}).encode()
        body = self._random.randbytes(self._random.randint(0, 200))
        return RawFrame(header, body, self._random.choice((0, 0, 0, 1, 5))).encode()

    def _noise(self) -> bytes:
        return self._random.randbytes(self._random.randint(1, 300))


class _Sender:
    """One connection of the flood; a new one when the server has closed it."""

    def __init__(self, port: int, dribbles: bool) -> None:
        self._port = port
        self._dribbles = dribbles
        self._left = 0
        self.opened = 0
        self.waiting = b""
        self.connect()

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self._port), PATIENCE)
        self.socket.setblocking(False)
        self.opened += 1
        self.waiting = b""
        self._left = 0

    def fill(self, frames: Iterator[bytes]) -> int:
        """Takes what to send next; returns how many frames that begins."""
        if self._dribbles:
            if self._left > _PIECE:
                self.waiting = bytes(_PIECE)
                self._left -= _PIECE
                return 0
            if self._left == 0:
                self.waiting = struct.pack(">i", _LARGEST)
                self._left = _LARGEST
                return 1
            return 0  # one piece short of its end, for ever
        parts = [next(frames) for _ in range(20)]
        self.waiting = b"".join(parts)
        return len(parts)


def _send(port: int, frames: int, seed: int, connections: int, dribblers: int) -> dict[str, object]:
    """Send this number of frames."""
    begun, sent = time.monotonic(), 0
    source = _Frames(seed)
    endless = iter(source)
    senders = [_Sender(port, number < dribblers) for number in range(connections)]
    selector = selectors.DefaultSelector()
    both = selectors.EVENT_READ | selectors.EVENT_WRITE
    for sender in senders:
        selector.register(sender.socket, both, sender)
    while sent < frames:
        for key, events in selector.select(1):
            sender = key.data
            try:
                if events & selectors.EVENT_READ and not sender.socket.recv(_PIECE):
                    raise ConnectionResetError
                if events & selectors.EVENT_WRITE:
                    if not sender.waiting:
                        sent += sender.fill(endless)
                    if sender.waiting:
                        sender.waiting = sender.waiting[sender.socket.send(sender.waiting) :]
            except BlockingIOError:
                continue
            except OSError:
                selector.unregister(sender.socket)
                sender.socket.close()
                sender.connect()
                selector.register(sender.socket, both, sender)
    for sender in senders:
        sender.socket.close()
    return {
        "frames": sent,
        "seconds": time.monotonic() - begun,
        "connections": sum(sender.opened for sender in senders),
        "kinds": dict(source.count),
    }


def _peak(pid: int) -> int:
    """Bytes of memory that a process had at its peak; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def main(frames: int = FRAMES, seed: int = 1) -> None:
    """Prints what a flood came to."""
    outcome = flood(frames, seed)
    waits = sorted(outcome.waits)
    print(
        f"{outcome.frames:,} frames (seed {seed}) on {CONNECTIONS} connections at a time, "
        f"{outcome.connections:,} in all, in {outcome.seconds:.0f} s"
    )
    print("  " + ", ".join(f"{count:,} {kind}" for kind, count in outcome.kinds.items()))
    print(
        f"  memory of the server: {outcome.resident / 1e6:.0f} MB at its peak, "
        f"{outcome.resident_before / 1e6:.0f} MB before"
    )
    print(
        f"  well-behaved client: {len(waits):,} answers, {len(outcome.wrong)} wrong; waited "
        f"{_ms(statistics.median(waits))} in the median, {_ms(waits[len(waits) * 99 // 100])} in 99 of 100 "
        f"cases, {_ms(waits[-1])} at most"
    )
    for wrong in outcome.wrong[:5]:
        print(f"  {wrong}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--send"]:
        print(json.dumps(_send(*map(int, sys.argv[2:7]))))
    else:
        main(*map(int, sys.argv[1:3]))
