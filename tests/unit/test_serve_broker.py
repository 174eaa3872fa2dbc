"""A Broker and a cluster as processes on loopback: they start, serve, keep, stop, and say what is wrong."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.session import free_port
from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.bodies import ClusterInfo, TopicRoute
from reference_impl import serve

ROOT = str(Path(__file__).resolve().parents[2])
HEAD = f"import sys; sys.path.insert(0, {ROOT!r})\nfrom reference_impl.serve import *\n"
FULL_DISK = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
)
PATIENCE = 20.0


class Process:
    """`run_broker(...)` or `run_cluster(...)` in a process of its own; it is ready when this is made."""

    def __init__(self, call: str, before: str = "") -> None:
        script = f"{HEAD}{before}sys.exit({call})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.said: list[str] = []
        while not self.said or "ready" not in self.said[-1]:
            line = self.process.stdout.readline()
            assert line, f"it has ended: {self.said} {self.process.communicate()}"
            self.said.append(line.rstrip("\n"))

    @property
    def port(self) -> int:
        """Of a Broker."""
        return int(self.said[-1].partition("127.0.0.1:")[2].partition(",")[0])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit status and standard error."""
        self.process.send_signal(how)
        return self.end()

    def end(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


Start = Callable[..., Process]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Process] = []

    def start_one(call: str, **more: str) -> Process:
        started.append(Process(call, **more))
        return started[-1]

    yield start_one
    for one in started:
        one.process.kill()
        one.process.communicate()


def broker(**options: Any) -> str:
    given = {"host": "127.0.0.1", "port": 0, **options}
    return f"run_broker({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def cluster(store: Path | None = None, port: int = 0, **size: int) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in size.items())
    return f"run_cluster(size=Size({sizes}), port={port}, store={None if store is None else str(store)!r})"


class Client:
    """A connection and what is asked on it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._buffer = FrameBuffer()
        self._opaque = 0

    def ask(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"") -> Command:
        self._opaque += 1
        written = None if ext is None else {name: str(value) for name, value in ext.items()}
        self.socket.sendall(encode(Command(code, opaque=self._opaque, version=479, ext=written, body=body)))
        while (frame := self._buffer.next_frame()) is None:
            data = self.socket.recv(65_536)
            assert data, "the server closed the connection"
            self._buffer.feed(data)
        answer = decode(frame)
        assert answer.opaque == self._opaque
        return answer

    def send(self, topic: str, body: bytes) -> Command:
        return self.ask(310, {**SEND, "b": topic, "e": 0}, body)

    def pull(self, topic: str) -> Command:
        return self.ask(11, {**PULL, "topic": topic})


SEND = {"a": "PG", "c": "TBW102", "d": 4, "f": 0, "g": 1, "h": 0, "i": "", "j": 0, "k": "false"}
PULL = {
    "consumerGroup": "CG",
    "queueId": 0,
    "queueOffset": 0,
    "maxMsgNums": 32,
    "sysFlag": 4,
    "commitOffset": 0,
    "suspendTimeoutMillis": 0,
    "subscription": "*",
    "subVersion": 0,
}


def nameserver_of(process: Process) -> int:
    return int(process.said[0].rpartition(":")[2])


def test_a_cluster_is_ready_when_all_are_registered_and_stops_when_told(start: Start) -> None:
    process = start(cluster(nameservers=2, masters=2, slaves=1))
    *servers, last = process.said
    assert len(servers) == 6
    assert last.startswith("ready: namesrvAddr=127.0.0.1:")
    for line in servers[:2]:
        info = ClusterInfo.decode(Client(int(line.rpartition(":")[2])).ask(106).body)
        for name in ("broker-a", "broker-b"):
            assert sorted(info.broker_addr_table[name].broker_addrs) == [0, 1]
            for number, address in info.broker_addr_table[name].broker_addrs.items():
                role = "slave" if number else "master"
                assert f"broker 5.3 {name}, {role} {number}, on {address}" in servers
    assert process.stop() == (0, "")


def test_a_cluster_with_a_store_keeps_its_ports_and_messages(start: Start, tmp_path: Path) -> None:
    process = start(cluster(tmp_path, nameservers=2, slaves=1))
    said = process.said
    client = Client(int(said[2].rpartition(":")[2]))
    assert client.send("T", b"hello").code == 0
    assert process.stop() == (0, "")
    again = start(cluster(tmp_path, nameservers=2, slaves=1))
    assert again.said == said
    assert b"hello" in Client(int(said[2].rpartition(":")[2])).pull("T").body
    assert again.stop() == (0, "")
    more = start(cluster(tmp_path, nameservers=2, masters=2, slaves=1))
    assert {*said[:-1]} < {*more.said}


def test_a_port_that_is_given_goes_before_the_one_that_was_kept(start: Start, tmp_path: Path) -> None:
    first = start(cluster(tmp_path))
    first.stop()
    port = free_port((0, -2, 1))
    second = start(cluster(tmp_path, port))
    assert nameserver_of(second) == port != nameserver_of(first)
    assert second.said[1] == first.said[1]


def test_a_kept_port_that_another_process_has(start: Start, tmp_path: Path) -> None:
    first = start(cluster(tmp_path))
    first.stop()
    port = int(first.said[1].rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        status, said = run(cluster(tmp_path))
    assert status == serve.EXIT_NOT_STARTED
    assert f"broker-a-0 had port {port} in the last run" in said
    assert "Traceback" not in said


def test_kept_ports_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text('{"broker-a-0": "x"}')
    status, said = run(cluster(tmp_path))
    assert status == serve.EXIT_CONFIGURATION
    assert "ports.json: Expected `int`, got `str`" in said
    assert "Delete it, and the servers take free ports" in said


def test_what_is_sent_to_a_cluster_is_pulled_from_it(start: Start) -> None:
    process = start(cluster())
    client = Client(int(process.said[1].rpartition(":")[2]))
    assert client.send("T", b"hello").code == 0
    answer = client.pull("T")
    assert answer.code == 0
    assert b"hello" in answer.body
    route = Client(nameserver_of(process)).ask(105, {"topic": "T"})
    assert TopicRoute.decode(route.body).queue_datas[0].broker_name == "broker-a"


def test_the_vip_port_serves_all_but_pulls(start: Start) -> None:
    port = start(broker()).port
    fast = Client(port - 2)
    assert fast.send("T", b"hello").code == 0
    assert fast.pull("T").code == 3
    assert Client(port).pull("T").code == 0


@pytest.mark.parametrize("flushing", ["SYNC_FLUSH", "ASYNC_FLUSH"])
def test_what_was_answered_is_there_after_a_kill(start: Start, tmp_path: Path, flushing: str) -> None:
    settings = tmp_path / "broker.conf"
    settings.write_text(f"flushDiskType={flushing}\n")
    options = {"store": str(tmp_path / "store"), "config_file": str(settings)}
    first = start(broker(**options))
    client = Client(first.port)
    for number in range(20):
        assert client.send("T", b"message %d;" % number).code == 0
    first.stop(signal.SIGKILL)
    again = Client(start(broker(**options)).port)
    assert all(b"message %d;" % number in again.pull("T").body for number in range(20))


def test_settings_without_effect_are_named(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    settings.write_text("sendMessageThreadPoolNums=9\nbrokerName=b\ntls.server.mode=disabled\n")
    process = start(broker(config_file=str(settings)))
    assert process.stop() == (0, f"broker: no effect in {settings}: sendMessageThreadPoolNums\n")


def test_settings_of_the_file_that_something_goes_before_are_named(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    settings.write_text("listenPort=10911\nbrokerIP1=192.0.2.1\nnamesrvAddr=a:1\n")
    process = start(broker(config_file=str(settings), advertise="192.0.2.7", nameservers="a:1"))
    expected = {
        f"broker: brokerIP1=192.0.2.1 in {settings} has no effect: it is 192.0.2.7",
        f"broker: listenPort=10911 in {settings} has no effect: it is 0",
    }
    assert set(process.stop()[1].splitlines()) == expected


def test_clients_are_given_the_address_that_is_advertised(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    settings.write_text("brokerName=mine\n")
    given = f"host='0.0.0.0', advertise='192.0.2.7', port=0, config_file={str(settings)!r}"
    process = start(f"run_cluster(size=Size(), {given})")
    address, _, port = process.said[-1].partition("namesrvAddr=")[2].partition(":")
    assert address == "192.0.2.7"
    table = ClusterInfo.decode(Client(int(port)).ask(106).body).broker_addr_table
    assert table["broker-a"].broker_addrs[0].startswith("192.0.2.7:")
    remark = f"cluster: brokerName=mine in {settings} has no effect: it is what the cluster says\n"
    assert process.stop() == (0, remark)


def test_who_listens_everywhere_without_an_address_for_clients_is_warned(start: Start) -> None:
    status, errors = start(broker(host="0.0.0.0")).stop()
    assert status == 0
    assert "--advertise" in errors


def test_the_first_broker_of_a_cluster_has_the_port_of_the_file(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "broker.conf"
    port = free_port((0, -2, 1))
    settings.write_text(f"listenPort={port}\n")
    process = start(f"run_cluster(size=Size(masters=2), port=0, config_file={str(settings)!r})")
    table = ClusterInfo.decode(Client(nameserver_of(process)).ask(106).body).broker_addr_table
    assert table["broker-a"].broker_addrs[0] == f"127.0.0.1:{port}"
    assert table["broker-b"].broker_addrs[0] != f"127.0.0.1:{port}"


def test_a_clean_stop_unregisters(start: Start, tmp_path: Path) -> None:
    names = start(cluster())
    addresses = f"127.0.0.1:{nameserver_of(names)}"
    settings = tmp_path / "broker.conf"
    settings.write_text("brokerName=other\n")
    other = start(broker(config_file=str(settings), nameservers=addresses))
    client = Client(nameserver_of(names))
    while "other" not in ClusterInfo.decode(client.ask(106).body).broker_addr_table:
        assert other.process.poll() is None
    other.stop()
    assert "other" not in ClusterInfo.decode(client.ask(106).body).broker_addr_table


def test_a_store_that_cannot_be_written_ends_the_broker_and_nothing_is_answered(
    start: Start, tmp_path: Path
) -> None:
    process = start(broker(store=str(tmp_path / "store")), before=FULL_DISK)
    client = Client(process.port)
    with pytest.raises((AssertionError, ConnectionError), match=r"closed|reset"):
        for _ in range(20):
            assert client.send("T", b"x" * 1000).code == 0
    status, errors = process.end()
    assert status == serve.EXIT_NOT_STARTED
    assert "cannot be written" in errors
    assert "Traceback" not in errors


def run(call: str) -> tuple[int, str]:
    """Exit status and everything that was printed, of a start that fails."""
    done = subprocess.run(
        [sys.executable, "-c", f"{HEAD}sys.exit({call})"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_vip_port_that_is_taken(tmp_path: Path) -> None:
    port = free_port((0, 2))
    with socket.create_server(("127.0.0.1", port)):
        status, said = run(broker(port=port + 2))
    assert status == serve.EXIT_NOT_STARTED
    assert f"cannot listen on 127.0.0.1:{port}" in said


def test_a_store_that_another_process_has(start: Start, tmp_path: Path) -> None:
    start(broker(store=str(tmp_path)))
    status, said = run(broker(store=str(tmp_path)))
    assert status == serve.EXIT_NOT_STARTED
    assert "used by another process" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("call", "content", "said"),
    [
        (broker(port=70_000), "", "expected 0, or a number from 3"),
        (broker(port=2), "", "expected 0, or a number from 3"),
        (broker(profile="5.6"), "", "unknown profile '5.6'"),
        (broker(nameservers="here"), "", "expected host:port"),
        (broker(config_file="{file}"), "brokerRole=KING", "brokerRole"),
        (broker(config_file="{file}"), "listenPort=x", "listenPort=x"),
        (broker(config_file="{file}/none"), "", "cannot be read"),
        (cluster(masters=0), "", "--masters 0"),
        (cluster(slaves=99), "", "--slaves 99"),
    ],
)
def test_a_mistake_ends_in_one_clear_line(tmp_path: Path, call: str, content: str, said: str) -> None:
    (tmp_path / "file").write_text(content)
    status, text = run(call.replace("{file}", str(tmp_path / "file")))
    assert status == serve.EXIT_CONFIGURATION
    assert said in text
    assert len(text.splitlines()) == 1


def test_the_settings_are_printed(tmp_path: Path) -> None:
    status, said = run(broker(port=1234, nameservers="a:1", store=str(tmp_path), print_config=True))
    assert status == 0
    expected = {"listenPort=1234", "namesrvAddr=a:1", f"storePathRootDir={tmp_path}", "brokerIP1=127.0.0.1"}
    assert expected <= set(said.splitlines())
