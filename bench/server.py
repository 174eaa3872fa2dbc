"""`python -m bench.server`: request rate of `serve nameserver` beside Apache's NameServer 5.3.3, with the
same client.

How it is measured:
- Both servers are processes on loopback of this machine, started by this run; Apache's with the JVM's own
  choice of compilers and collector (the `apache:` target starts faster with the small compiler only, which
  would flatter us).
- One connection, one request at a time (depth 1) or 64 unanswered ones (depth 64). Requests are encoded
  beforehand with opaques of one width, so that all replies are equally long: the client only counts bytes,
  after it has decoded and checked the first reply, and costs next to nothing.
- Rounds alternate between the servers, after a warm-up of each, so that other load on the machine meets both.
  What is printed is the median of the rounds, the ratio of the medians, and the lowest and highest ratio of a
  round.

Work: a route of a known topic; a broker's registration of 100 topics, repeated as brokers do every 30 s (same
data version, same bytes); and with a data version that changes every time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection
from typing import TypeAlias

import msgspec

from harness.targets import TargetError, maven, process
from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, body_crc32, decode, encode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig, TopicRoute

__all__ = ["main"]

APACHE = "5.3.3"
TOPICS = [f"topic-{number:03d}" for number in range(100)]
GOAL = 2.0
"""How many times Apache's rate is wanted."""
_FIRST_OPAQUE = 100_000_000
_TIMESTAMP = 1_700_000_000_000
_PATIENCE = 10.0
_START_WITHIN = 60.0


Address: TypeAlias = tuple[str, int]


class Work(msgspec.Struct, frozen=True):
    """Requests of equal length whose replies have equal length."""

    name: str
    requests: list[bytes]
    check: Callable[[Command], bool]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0, or 4 if a server cannot be started."""
    options = _options(arguments)
    with ExitStack() as stack:
        try:
            addresses = [_started(command, stack) for command in (_apache(), _ours())]
        except TargetError as error:
            print(f"bench.server: {error}", file=sys.stderr)
            return 4
        _measure(addresses, options.seconds, options.rounds)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.server", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--seconds", type=float, default=0.8, help="length of a round (0.8)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each server for each figure (5)")
    return parser.parse_args(arguments)


def _started(command: process.Command, stack: ExitStack) -> Address:
    instance = process.ProcessInstance(command)
    stack.callback(instance.stop)
    return "127.0.0.1", instance.port


def _apache() -> process.Command:
    def arguments(port: int, home: Path) -> list[str]:
        settings = home / "namesrv.properties"
        settings.write_text(f"listenPort={port}\n", encoding="utf-8")
        heap = ["-Xms512m", "-Xmx512m"]
        server = ["-cp", maven.classpath(APACHE), "org.apache.rocketmq.namesrv.NamesrvStartup"]
        return ["java", *heap, f"-Duser.home={home}", *server, "-c", str(settings)]

    return process.Command(
        name=f"Apache's NameServer {APACHE}",
        description=f"Apache NameServer {APACHE}, the JVM's own choice of compilers and collector",
        arguments=arguments,
        environment=lambda home: {"ROCKETMQ_HOME": str(home)},
        warp=1.0,
        start_within=_START_WITHIN,
        answer_within=_START_WITHIN,
    )


def _ours() -> process.Command:
    root = str(Path(__file__).resolve().parent.parent)
    script = f"import sys; sys.path.insert(0, {root!r}); from harness.cli import main; sys.exit(main())"
    serve = [sys.executable, "-c", script, "serve", "nameserver", "--host", "127.0.0.1"]
    return process.Command(
        name="serve nameserver",
        description="the reference",
        arguments=lambda port, _: [*serve, "--port", str(port)],
        environment=lambda _: {},
        warp=1.0,
        start_within=_START_WITHIN,
        answer_within=_START_WITHIN,
    )


# -- what is asked -------------------------------------------------------------------------------------------


def _registration(versions: int) -> list[bytes]:
    """Registrations of 100 topics, with so many data versions in turn."""
    topics = {
        name: TopicConfig(topic_name=name, read_queue_nums=8, write_queue_nums=8, attributes={})
        for name in TOPICS
    }
    requests = []
    for number in range(max(versions, 64)):
        body = RegisterBody(
            topics=topics,
            data_version=DataVersion(_FIRST_OPAQUE + number % versions, _TIMESTAMP, 0),
            mappings={},
            mapping_data_version=DataVersion(0, _TIMESTAMP, 0),
            mapping_details={},
        ).encode()
        ext: dict[str, str | None] = {
            "brokerAddr": "127.0.0.1:10911",
            "brokerId": "0",
            "brokerName": "broker-a",
            "bodyCrc32": f"{body_crc32(body):010d}",
            "clusterName": "DefaultCluster",
            "compressed": "false",
            "enableActingMaster": "false",
            "haServerAddr": "127.0.0.1:10912",
            "heartbeatTimeoutMillis": "120000",
        }
        requests.append(_request(RequestCode.REGISTER_BROKER, number, ext, body))
    return requests


def _request(code: int, number: int, ext: dict[str, str | None], body: bytes = b"") -> bytes:
    return encode(Command(code=code, opaque=_FIRST_OPAQUE + number, version=479, ext=ext, body=body))


def _works() -> list[Work]:
    ext: dict[str, str | None] = {"acceptStandardJsonOnly": "true", "topic": TOPICS[50]}
    routes = [_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, number, ext) for number in range(1024)]
    return [
        Work("route of a known topic", routes, _is_route),
        Work("registration of 100 topics, as repeated", _registration(1), _is_success),
        Work("registration of 100 topics, new version", _registration(512), _is_success),
    ]


def _is_success(reply: Command) -> bool:
    return reply.code == ResponseCode.SUCCESS and reply.flag == 1


def _is_route(reply: Command) -> bool:
    route = TopicRoute.decode(reply.body)
    queues = [(queue.broker_name, queue.read_queue_nums) for queue in route.queue_datas]
    return _is_success(reply) and queues == [("broker-a", 8)] and len(route.broker_datas) == 1


# -- the client ----------------------------------------------------------------------------------------------


class Client:
    """One connection that keeps a number of requests unanswered, and counts."""

    def __init__(self, address: Address, work: Work) -> None:
        self._socket = create_connection(address, timeout=_PATIENCE)
        self._socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        self._size = len(work.requests[0])
        assert {len(request) for request in work.requests} == {self._size}
        self._requests = memoryview(b"".join(work.requests))
        self._count = len(work.requests)
        self._next = 0
        self._reply = self._checked(work)

    def close(self) -> None:
        self._socket.close()

    def rate(self, depth: int, seconds: float) -> float:
        """Answered requests per second."""
        buffer = bytearray(1 << 20)
        sent = received = answered = 0
        start = time.perf_counter()
        end = start + seconds
        self._send(depth)
        sent = depth
        while answered < sent:
            got = self._socket.recv_into(buffer)
            if not got:
                raise ConnectionError("the server closed the connection")
            received += got
            fresh = received // self._reply - answered
            answered += fresh
            if fresh and time.perf_counter() < end:
                self._send(fresh)
                sent += fresh
        assert received == sent * self._reply, "replies of different lengths"
        return sent / (time.perf_counter() - start)

    def _send(self, count: int) -> None:
        while count:
            part = min(count, self._count - self._next)
            self._socket.sendall(self._requests[self._next * self._size : (self._next + part) * self._size])
            self._next = (self._next + part) % self._count
            count -= part

    def _checked(self, work: Work) -> int:
        """The length of a reply, after the first one was found to be right."""
        self._send(1)
        buffer = FrameBuffer()
        frame = None
        while frame is None:
            buffer.feed(self._socket.recv(1 << 16))
            frame = buffer.next_frame()
        assert work.check(decode(frame)), f"{work.name}: unexpected reply {decode(frame)}"
        return len(frame)


def _measure(addresses: Sequence[Address], seconds: float, rounds: int) -> None:
    works = _works()
    brokers = [Client(address, works[1]) for address in addresses]  # they stay, so that there is a route
    print(f"requests per second, median of {rounds} rounds of {seconds:g} s, alternating; goal {GOAL:g}x")
    print(f"{'':40} {'depth':>5} {'Apache ' + APACHE:>13} {'serve':>10} {'ratio':>7}   rounds")
    for work in works:
        for depth in (1, 64):
            clients = [Client(address, work) for address in addresses]
            for client in clients:
                client.rate(depth, 2 * seconds)
            rates = [[client.rate(depth, seconds) for client in clients] for _ in range(rounds)]
            apache, ours = (statistics.median(column) for column in zip(*rates, strict=True))
            ratios = sorted(mine / theirs for theirs, mine in rates)
            verdict = "✔" if ours / apache >= GOAL else "✘"
            print(
                f"{work.name:40} {depth:>5} {apache:>13,.0f} {ours:>10,.0f} {ours / apache:>6.2f}x {verdict} "
                f"{ratios[0]:.2f}-{ratios[-1]:.2f}",
                flush=True,
            )
            for client in clients:
                client.close()
    for broker in brokers:
        broker.close()


if __name__ == "__main__":
    sys.exit(main())
