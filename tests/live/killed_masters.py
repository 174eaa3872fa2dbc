"""Producers that send to a synchronous master while it is killed, and what became of their messages.

Invariants:
- A message counts as acknowledged where the answer was SUCCESS (0): the master says that a slave has it.
- Producers end with the connection; what was not answered by then may be stored or not.
"""

from __future__ import annotations

import hashlib
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

from peers import PORTS, Broker, settled

from harness.session import PeerReset, SocketTransport, TargetDied, connect
from harness.targets.process import Command as Process
from harness.targets.process import ProcessInstance
from harness.wire import Command, FrameBuffer, ResponseCode, decode, encode
from harness.wire.bodies import KvTable
from harness.wire.messages import Message, decode_messages, encode_batch

TOPIC, QUEUES = "BenchmarkTest", 4
"""Every Broker has this topic. Each of its queues has a producer."""
LARGEST_BATCH, LARGEST_BODY = 200, 300
_VERSION = 479
_ANSWERS_WITHIN = 20.0
_IN_STEP_WITHIN = 60.0
_CHUNK = 1 << 20


class OurBroker(Broker):
    """`serve broker`, with a directory, ports and signals like those of Apache's."""

    def __init__(self, line: str, nameserver: str, **settings: str) -> None:
        def arguments(port: int, directory: Path) -> list[str]:
            lines = {
                "brokerIP1": "127.0.0.1",
                "brokerIP2": "127.0.0.1",
                "haListenPort": str(port + 1),
                "storePathRootDir": str(directory / "store"),
                **settings,
            }
            config = directory / "broker.properties"
            config.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
            place = ["--host", "127.0.0.1", "--port", str(port), "--nameserver", nameserver]
            command = str(Path(sys.executable).with_name("rmq-harness"))
            return [command, "serve", "broker", "--profile", line, *place, "-c", str(config)]

        self._instance = ProcessInstance(
            Process(
                name="serve broker",
                description="the reference",
                arguments=arguments,
                environment=lambda _: {},
                warp=1,
                start_within=60.0,
                answer_within=60.0,
                must_answer=True,
                ports=PORTS,
            )
        )


class Connection:
    """One request at a time."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._transport: SocketTransport = connect(host, int(port))
        self._buffer = FrameBuffer()

    def ask(self, code: int, ext: dict[str, str | None] | None = None, body: bytes = b"") -> Command:
        """Raises OSError or TargetDied where the server ends before its answer is here."""
        self._transport.send(encode(Command(code=code, version=_VERSION, ext=ext, body=body)))
        while (frame := self._buffer.next_frame()) is None:
            data = self._transport.receive(_ANSWERS_WITHIN)
            if not data:
                raise ConnectionError("closed")
            self._buffer.feed(data)
        return decode(frame)

    def log_end(self) -> int:
        """Where the log of a Broker ends."""
        return int(KvTable.decode(self.ask(28).body).table["commitLogMaxOffset"])

    def close(self) -> None:
        self._transport.close("fin")


class Load:
    """Producers of one master, over all its lives."""

    def __init__(self, master: Broker, seed: int) -> None:
        self._master = master
        self._random = random.Random(seed)
        self._numbers = [0] * QUEUES
        self.acknowledged: list[dict[int, int]] = [{} for _ in range(QUEUES)]
        """By queue and offset: the checksum of the body."""
        self.codes: dict[int, int] = {}
        """How often each code was the answer."""

    @property
    def count(self) -> int:
        """Messages that were acknowledged."""
        return sum(map(len, self.acknowledged))

    def until_killed(self, count: int) -> None:
        """Sends until there are `count` acknowledged messages, and kills the master while producers go on."""
        workers = [
            threading.Thread(target=self._produce, args=(queue, self._random.randrange(1 << 30)))
            for queue in range(QUEUES)
        ]
        for worker in workers:
            worker.start()
        while self.count < count and any(worker.is_alive() for worker in workers):
            time.sleep(0.002)
        self._master.kill()
        for worker in workers:
            worker.join()
        assert self.count >= count, (self.count, self.codes)

    def wait_for_the_slave(self) -> None:
        """Returns once a send is acknowledged: the slave follows again."""
        connection = Connection(self._master.address)
        try:
            settled(
                lambda: self._send(connection, 0, [b"is the slave there?"]),
                "a slave follows the master",
                within=_IN_STEP_WITHIN,
            )
        finally:
            connection.close()

    def _produce(self, queue: int, seed: int) -> None:
        source = random.Random(seed)
        try:
            connection = Connection(self._master.address)
            while True:
                size = source.randint(1, LARGEST_BATCH) if source.random() < 0.8 else 1
                bodies = []
                for _ in range(size):
                    self._numbers[queue] += 1
                    filling = source.randbytes(source.randrange(LARGEST_BODY))
                    bodies.append(b"%d of %d " % (self._numbers[queue], queue) + filling)
                self._send(connection, queue, bodies)
        except (OSError, PeerReset, TargetDied):
            return

    def _send(self, connection: Connection, queue: int, bodies: list[bytes]) -> bool:
        """Whether it was acknowledged."""
        is_batch = len(bodies) > 1
        values = ("producers", TOPIC, "TBW102", "4", str(queue), "0", "1700000000000", "0", "", "0", "false")
        ext: dict[str, str | None] = dict(zip("abcdefghijk", values, strict=True))
        ext["m"] = str(is_batch).lower()
        body = (
            encode_batch([Message(topic=TOPIC, body=one) for one in bodies], "5.3") if is_batch else bodies[0]
        )
        reply = connection.ask(320 if is_batch else 310, ext, body)
        self.codes[reply.code] = self.codes.get(reply.code, 0) + 1
        if reply.code != ResponseCode.SUCCESS:
            return False
        first = int((reply.ext or {})["queueOffset"] or "")
        for offset, one in enumerate(bodies, first):
            assert offset not in self.acknowledged[queue], f"offset {offset} of queue {queue} came twice"
            self.acknowledged[queue][offset] = crc32(one)
        return True

    def ends(self) -> list[int]:
        """For each queue, the offset behind the last acknowledged message."""
        return [max(one, default=-1) + 1 for one in self.acknowledged]

    def missing(self, address: str, since: Sequence[int] = (0,) * QUEUES) -> list[str]:
        """Which acknowledged messages a Broker does not serve where they were said to be. `since`: the offset
        of each queue from which on it is asked.
        """
        found = []
        for queue, (wanted, first) in enumerate(zip(self.acknowledged, since, strict=True)):
            served = {one.queue_offset: crc32(one.body) for one in pulled(address, queue, first)}
            found += [
                f"{offset} of queue {queue}"
                for offset, one in wanted.items()
                if offset >= first and served.get(offset) != one
            ]
        return found


def queue_ends(address: str) -> list[str | None]:
    """The offset that the next message of each queue will have, as a Broker says."""
    connection = Connection(address)
    try:
        replies = [connection.ask(30, {"topic": TOPIC, "queueId": str(queue)}) for queue in range(QUEUES)]
    finally:
        connection.close()
    return [(reply.ext or {})["offset"] for reply in replies]


def pulled(address: str, queue: int, offset: int) -> Iterator[Message]:
    """The messages of a queue from an offset on."""
    connection = Connection(address)
    ext: dict[str, str | None] = {"consumerGroup": "group", "topic": TOPIC, "queueId": str(queue)}
    ext |= {"maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0"}
    ext |= {"subscription": "*", "subVersion": "1", "expressionType": "TAG"}
    try:
        while (reply := connection.ask(11, {**ext, "queueOffset": str(offset)})).code == ResponseCode.SUCCESS:
            yield from decode_messages(reply.body)
            offset = int((reply.ext or {})["nextBeginOffset"] or "")
    finally:
        connection.close()


def log_of(broker: Broker) -> tuple[int, str]:
    """Where the log of a Broker ends, and the checksum of it up to there."""
    connection, digest = Connection(broker.address), hashlib.sha256()
    try:
        end = connection.log_end()
    finally:
        connection.close()
    left = end
    for path in broker.log_paths:
        with path.open("rb") as file:
            while left and (data := file.read(min(_CHUNK, left))):
                digest.update(data)
                left -= len(data)
    assert not left, f"{left} bytes of {end} are in no file"
    return end, digest.hexdigest()
