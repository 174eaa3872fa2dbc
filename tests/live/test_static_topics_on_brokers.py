"""`mqadmin` makes, widens and moves a static topic of two Brokers, ours and Apache's.

Output, files and answers are the same. Apache's client consumes everything in the order of the mapped queues.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import VERSIONS, apache_broker, apache_nameserver, missing, our_cluster
from peers import FIXTURES, JVM, Admin, ask, settled
from test_mqadmin_on_brokers import lines
from test_replication import call

from harness.targets import TargetError, maven
from harness.wire import Command
from harness.wire.fastjson import parse
from harness.wire.messages import decode_messages

pytestmark = pytest.mark.live

VERSION = "5.3.3"
TOPIC, GROUP = "Mapped", "G-mapped"
CLUSTER = {"brokerClusterName": "peers"}
NAMES = ("broker-a", "broker-b")
STEPS = (
    (f"updateStaticTopic -b broker-a -t {TOPIC} -qn 3", 3),
    (f"remappingStaticTopic -b broker-b -t {TOPIC}", 2),
    (f"updateStaticTopic -b broker-a,broker-b -t {TOPIC} -qn 5", 1),
    (f"remappingStaticTopic -b broker-a -t {TOPIC}", 2),
)
"""Each command, and how many messages are sent to each queue after it."""
REFUSED = (
    f"updateStaticTopic -b broker-a -t {TOPIC} -qn 5",
    f"updateStaticTopic -b broker-a -t {TOPIC} -qn 2",
    f"updateStaticTopic -c nowhere -t {TOPIC} -qn 7",
    f"remappingStaticTopic -b nobody -t {TOPIC}",
    "remappingStaticTopic -b broker-a -t Unknown",
    "remappingStaticTopic -b broker-a -t TBW102",
)
SEEN = (f"topicStatus -t {TOPIC}", f"topicRoute -t {TOPIC}")
PULL = {
    "consumerGroup": "CG",
    "topic": TOPIC,
    "maxMsgNums": "32",
    "sysFlag": "4",
    "commitOffset": "0",
    "suspendTimeoutMillis": "0",
    "subscription": "*",
    "subVersion": "1",
    "expressionType": "TAG",
}
OFFSETS = (-1, 0, 2, 3, 5, 9_999, 10_000, 10_001, 10_002, 15_000, 20_000, 20_001, 20_002, 30_000)
WITHIN = 90.0
"""Seconds. A pull that is held by the old owner of a queue is answered after 15 s."""


class Clients:
    """A producer and a consumer of the topic."""

    def __init__(self, nameserver: str, directory: Path) -> None:
        classpath = maven.classpath(VERSION, ["rocketmq-tools"])
        program = str(FIXTURES / "java" / "MappedQueues.java")
        self._process = subprocess.Popen(
            [
                *("java", *JVM, f"-Duser.home={directory}", "-cp", classpath),
                program,
                nameserver,
                TOPIC,
                GROUP,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: list[str] = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._lines.extend(line.strip() for line in self._process.stdout)

    def messages(self, what: str) -> dict[int, list[tuple[int, str]]]:
        """Offsets and bodies of each queue, as they were sent, or as they came ("got")."""
        found: dict[int, list[tuple[int, str]]] = {}
        for line in list(self._lines):
            if line.startswith(f"{what} "):
                _, queue, offset, body = line.split(" ")
                found.setdefault(int(queue), []).append((int(offset), body))
        return found

    def send(self, count: int, word: str) -> None:
        """So many messages to each queue. Returns when the consumer has got all."""
        assert self._process.stdin is not None
        rounds = self._lines.count("all sent") + 1
        self._process.stdin.write(f"{count} {word}\n")
        self._process.stdin.flush()
        settled(lambda: self._lines.count("all sent") == rounds, "everything is sent", within=WITHIN)
        settled(lambda: self.messages("got") == self.messages("sent"), "everything came", within=WITHIN)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._reading.join()


def without_epochs(text: str) -> str:
    """Epochs are milliseconds: the first one, the second one, … take their place."""
    epochs = sorted(set(re.findall(r"\b1\d{12}\b", text)))
    for number, epoch in enumerate(epochs):
        text = text.replace(epoch, str(number))
    return text


def written(output: str) -> list[Any]:
    """The files that a command says it has written; they are taken away."""
    paths = [Path(path) for path in re.findall(r"written to file (\S+)", output)]
    found = [parse(without_epochs(path.read_text()).encode()) for path in paths]
    for path in paths:
        path.unlink()
    return found


def told(address: str, code: int, **ext: str) -> tuple[int, str | None, dict[str, Any], Any]:
    """What a Broker answers: code, remark, ext fields, and its JSON or the bodies of its messages."""
    (reply,) = call(address, VERSION, Command(code=code, opaque=1, ext=ext))
    if reply.body[:1] == b"{":
        body = parse(without_epochs(reply.body.decode()).encode())
    else:
        body = [message.body for message in decode_messages(reply.body)]
    return reply.code, reply.remark, dict(reply.ext or {}), body


def seen(nameserver: str, directory: Path) -> Iterator[tuple[str, Any]]:
    """What there is to compare of a cluster: what was asked for, and what came."""
    brokers = ask(nameserver, 106, 479).body["brokerAddrTable"]
    addresses = {name: brokers[name]["brokerAddrs"]["0"] for name in NAMES}
    with (
        contextlib.closing(Admin(VERSION, directory)) as admin,
        contextlib.ExitStack() as clients,
    ):
        found: Clients | None = None
        for number, (command, count) in enumerate(STEPS):
            output = admin.run(nameserver, command)
            yield command, lines(without_epochs(output), command)
            yield f"files of {command}", written(output)
            for name, address in addresses.items():
                yield f"{name} after {command}", told(address, 351, topic=TOPIC, lo="true")
            if found is None:
                found = clients.enter_context(contextlib.closing(Clients(nameserver, directory)))
            found.send(count, f"round-{number}")
        assert found is not None
        yield "sent", found.messages("sent")
        for command in (*REFUSED, *SEEN):
            output = admin.run(nameserver, command)
            yield command, lines(without_epochs(output), command)
            written(output)
    for name, address in addresses.items():
        for queue in ("1", "4"):
            place = {"topic": TOPIC, "queueId": queue}
            for code in (30, 31):
                yield f"{code} of {queue} at {name}", told(address, code, **place)
            for offset in OFFSETS:
                pulled = told(address, 11, **PULL, queueId=queue, queueOffset=str(offset))
                yield f"pull at {offset} of {queue} from {name}", pulled


@pytest.mark.soak
def test_mqadmin_moves_static_topics_as_on_apache(tmp_path: Path) -> None:
    homes = {name: tmp_path / name for name in ("ours", "theirs")}
    for home in homes.values():
        home.mkdir()
    try:
        with our_cluster(VERSIONS[VERSION], tmp_path, masters=2, **CLUSTER) as nameserver:
            ours = dict(seen(nameserver, homes["ours"]))
        settings = {**CLUSTER, "timerWheelEnable": "true"}
        with (
            apache_nameserver(VERSION) as nameserver,
            apache_broker(VERSION, nameserver, brokerName=NAMES[0], **settings),
            apache_broker(VERSION, nameserver, brokerName=NAMES[1], **settings),
        ):
            theirs = dict(seen(nameserver, homes["theirs"]))
    except TargetError as problem:
        missing(problem)
    assert ours.keys() == theirs.keys()
    assert [(what, ours[what], theirs[what]) for what in theirs if ours[what] != theirs[what]] == []
