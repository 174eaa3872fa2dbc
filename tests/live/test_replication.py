"""A slave of ours copies the log of Apache's Broker, and Apache's slave that of ours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from clusters import VERSIONS, apache_broker, missing, our_broker, our_nameserver
from peers import settled

from harness.session import connect
from harness.targets import TargetError
from harness.wire import Command, FrameBuffer, decode, encode

pytestmark = pytest.mark.live

NUMBERS = {"4.9.8": 409, "5.3.3": 479}
MASTER = {"brokerClusterName": "replicated", "brokerName": "replicated"}
SLAVE = {**MASTER, "brokerRole": "SLAVE", "brokerId": "1", "slaveReadEnable": "true"}
FILE = 1 << 20
SIZES = {"mappedFileSizeCommitLog": str(FILE), "haSendHeartbeatInterval": "1000"}
TOPIC, QUEUES = "BenchmarkTest", 3
"""Every Broker has this topic; a topic of our own would have to be copied first."""
COUNTS = ((1, 1), (2, 400), (3, 400))
"""Seeds and numbers of messages: the slave is there when there is more than one file."""
WITHIN = 60.0


def call(address: str, version: str, *requests: Command) -> list[Command]:
    """What a Broker replies to requests, one after another on one connection."""
    host, _, port = address.rpartition(":")
    transport, buffer, replies = connect(host, int(port)), FrameBuffer(), []
    try:
        for request in requests:
            request.version = NUMBERS[version]
            transport.send(encode(request))
            while (frame := buffer.next_frame()) is None:
                buffer.feed(transport.receive(10.0))
            replies.append(decode(frame))
    finally:
        transport.close("fin")
    return replies


def send(address: str, version: str, seed: int, count: int) -> None:
    """Messages of many sizes, more than fit into a file of the log."""
    source = random.Random(seed)

    def one(number: int) -> Command:
        ext = {"a": "group", "b": TOPIC, "c": "TBW102", "d": "4", "e": str(number % QUEUES), "f": "0"}
        ext |= {
            "g": "1700000000000",
            "h": "0",
            "i": f"KEYS\x01key-{seed}-{number}\x02",
            "j": "0",
            "k": "false",
        }
        return Command(code=310, opaque=number, ext=ext, body=source.randbytes(source.randrange(1, 12_000)))

    replies = call(address, version, *map(one, range(count)))
    assert {reply.code for reply in replies} == {0}


def read(address: str, version: str, queue: int) -> bytes:
    """All messages of a queue, as they are stored."""
    found, offset, code = b"", 0, 0
    while code == 0:
        ext = {"consumerGroup": "group", "topic": TOPIC, "queueId": str(queue), "queueOffset": str(offset)}
        ext |= {"maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0"}
        ext |= {"subscription": "*", "subVersion": "1", "expressionType": "TAG"}
        (reply,) = call(address, version, Command(code=11, opaque=1, ext=ext))
        code, found = reply.code, found + (reply.body or b"")
        offset = int((reply.ext or {}).get("nextBeginOffset") or offset)
    return found


def same(slave: dict[str, bytes], master: dict[str, bytes]) -> bool:
    """Whether both logs are the same, but for what Apache's last file has in advance."""
    pairs = [(slave.get(name, b""), master.get(name, b"")) for name in sorted({*slave, *master})]
    return bool(slave) and all(one.rstrip(b"\0") == other.rstrip(b"\0") for one, other in pairs)


def ours(directory: Path) -> dict[str, bytes]:
    """The files of the log of a Broker of ours."""
    return {path.name: path.read_bytes() for path in sorted((directory / "commitlog").glob("*"))}


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_our_slave_has_the_log_of_apaches_master(version: str, tmp_path: Path) -> None:
    line, store = VERSIONS[version], tmp_path / "ours"
    given = {**SLAVE, **SIZES, "storePathRootDir": str(store), "registerNameServerPeriod": "10000"}
    try:
        with (
            our_nameserver(line, tmp_path) as nameserver,
            apache_broker(version, nameserver, **MASTER, **SIZES) as master,
            our_broker(line, nameserver, tmp_path, **given) as slave,
        ):
            for seed, count in COUNTS:
                send(master.address, version, seed, count)
                settled(lambda: same(ours(store), master.log_files), "the logs are the same", within=WITHIN)
            assert len(ours(store)) > 2
            wanted = [read(master.address, version, queue) for queue in range(QUEUES)]
            assert all(wanted)
            assert [read(slave, version, queue) for queue in range(QUEUES)] == wanted
            master.kill()
            assert [read(slave, version, queue) for queue in range(QUEUES)] == wanted
    except TargetError as problem:
        missing(problem)


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_apaches_slave_has_the_log_of_our_master(version: str, tmp_path: Path) -> None:
    line, store = VERSIONS[version], tmp_path / "ours"
    given = {**MASTER, **SIZES, "storePathRootDir": str(store)}
    try:
        with (
            our_nameserver(line, tmp_path) as nameserver,
            our_broker(line, nameserver, tmp_path, **given) as master,
            apache_broker(version, nameserver, **SLAVE, **SIZES) as slave,
        ):
            for seed, count in COUNTS:
                send(master, version, seed, count)
                settled(lambda: same(slave.log_files, ours(store)), "the logs are the same", within=WITHIN)
            assert len(ours(store)) > 2
            for queue in range(QUEUES):
                wanted = read(master, version, queue)
                assert wanted
                settled(
                    lambda queue=queue, wanted=wanted: read(slave.address, version, queue) == wanted,
                    "the slave serves what its master does",
                )
    except TargetError as problem:
        missing(problem)
