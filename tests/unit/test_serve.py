"""The shell on loopback: it starts, answers, stops, and says what is wrong."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.wire import Command, FrameBuffer, decode, encode
from harness.wire.bodies import Properties, RegisterBody, TopicConfig
from reference_impl import serve
from reference_impl.nameserver import Config
from reference_impl.remoting.endpoint import RemotingEndpoint

ROOT = str(Path(__file__).resolve().parents[2])
RUN = f"import sys; sys.path.insert(0, {ROOT!r}); from reference_impl.serve import run; sys.exit(run(%s))"
PATIENCE = 15.0


class Server:
    """`run(...)` in a process of its own."""

    def __init__(self, **options: Any) -> None:
        arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN % arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.ready = self.process.stdout.readline()
        self.port = int(self.ready.partition("127.0.0.1:")[2].partition(",")[0] or 0)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit status and standard error."""
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors


Start = Callable[..., Server]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Server] = []

    def start_one(**options: Any) -> Server:
        started.append(Server(**{"host": "127.0.0.1", "port": 0, **options}))
        return started[-1]

    yield start_one
    for server in started:
        server.process.kill()
        server.process.communicate()


def ask(connection: socket.socket, command: Command) -> Command:
    connection.sendall(encode(command))
    return receive(connection, FrameBuffer())


def receive(connection: socket.socket, buffer: FrameBuffer) -> Command:
    while (frame := buffer.next_frame()) is None:
        data = connection.recv(65_536)
        assert data, "the server closed the connection"
        buffer.feed(data)
    return decode(frame)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_starts_answers_and_stops(start: Start, how: signal.Signals) -> None:
    server = start()
    assert "nameserver 5.5 ready on 127.0.0.1:" in server.ready
    with server.connect() as connection:
        answer = ask(connection, Command(code=106, opaque=3))
        assert (answer.code, answer.opaque, answer.version) == (0, 3, 513)
        assert server.stop(how) == (0, "")


def test_both_profiles(start: Start) -> None:
    with start(profile="4.9").connect() as connection:
        assert ask(connection, Command(code=106)).version == 409


def test_an_unregistration_takes_effect_without_further_traffic(start: Start) -> None:
    server = start()
    body = RegisterBody({"TA": TopicConfig("TA"), "TB": TopicConfig("TB")}).encode()
    identity: dict[str, str | None] = {
        "brokerName": "b",
        "brokerAddr": "a:1",
        "clusterName": "c",
        "brokerId": "0",
    }
    with server.connect() as connection, server.connect() as other:
        assert ask(connection, Command(code=103, version=479, ext=identity, body=body)).code == 0
        assert ask(other, Command(code=105, version=479, ext={"topic": "TA"})).code == 0
        assert ask(connection, Command(code=104, ext=identity)).code == 0
        assert ask(other, Command(code=105, ext={"topic": "TA"})).code == 17
        ask(connection, Command(code=103, version=479, ext=identity, body=body))
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
        assert ask(other, Command(code=105, ext={"topic": "TA"})).code == 17


def test_an_update_is_in_the_configuration_file_before_its_answer(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "ns.properties"
    settings.write_text("# a remark\nmine=1\n")
    options = {"config_file": str(settings), "kv_file": str(tmp_path / "kv.json")}
    server = start(**options)
    pair: dict[str, str | None] = {"namespace": "n", "key": "k", "value": "v"}
    with server.connect() as connection:
        connection.sendall(encode(Command(code=100, opaque=1, ext=pair)))
        connection.sendall(encode(Command(code=318, opaque=2, body=b"mine=2\nproductEnvName=a\\\\b")))
        buffer = FrameBuffer()
        assert [receive(connection, buffer).code for _ in range(2)] == [0, 0]
        kept = Properties.load(settings.read_bytes()).pairs
        assert (kept["mine"], kept["productEnvName"]) == ("2", "a\\b")
        server.stop(signal.SIGKILL)
    server = start(**options)
    with server.connect() as connection:
        assert Properties.decode(ask(connection, Command(code=319)).body).pairs == kept
        assert ask(connection, Command(code=101, ext=pair)).ext == {"value": "v"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kv.json", "ns.properties"]


def test_an_idle_connection_is_closed(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "ns.properties"
    settings.write_text("serverChannelMaxIdleTimeSeconds=1\nserverWorkerThreads=9\n")
    server = start(config_file=str(settings))
    with server.connect() as connection:
        assert ask(connection, Command(code=106)).code == 0
        assert connection.recv(1) == b""
    assert "no effect in" in server.stop()[1]


def test_a_malformed_frame_ends_its_connection_only(start: Start) -> None:
    server = start()
    with server.connect() as victim, server.connect() as other:
        victim.sendall(encode(Command(code=106, opaque=1)) + b"GET / HTTP/1.1\r\n\r\n")
        buffer = FrameBuffer()
        assert receive(victim, buffer).opaque == 1
        assert victim.recv(1) == b""
        assert ask(other, Command(code=106)).code == 0


def test_the_kv_table_survives_a_restart(start: Start, tmp_path: Path) -> None:
    stored = tmp_path / "kv" / "kvConfig.json"
    put: dict[str, str | None] = {"namespace": "n", "key": "k", "value": "v"}
    first = start(kv_file=str(stored))
    with first.connect() as connection:
        assert ask(connection, Command(code=100, ext=put)).code == 0
        assert json.loads(stored.read_bytes()) == {"configTable": {"n": {"k": "v"}}}
    first.stop(signal.SIGKILL)
    with start(kv_file=str(stored)).connect() as connection:
        assert ask(connection, Command(code=101, ext=put)).ext == {"value": "v"}
    assert [path.name for path in stored.parent.iterdir()] == ["kvConfig.json"]


def test_a_kv_file_that_cannot_be_written_is_said_and_answered(start: Start, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    server = start(kv_file=str(tmp_path / "occupied" / "kv.json"))
    put: dict[str, str | None] = {"namespace": "n", "key": "k", "value": "v"}
    with server.connect() as connection:
        assert ask(connection, Command(code=100, ext=put)).code == 0
    status, errors = server.stop()
    assert status == 0
    assert "cannot be written" in errors


def test_a_peer_that_does_not_read_costs_bounded_memory(start: Start) -> None:
    """Its requests stay in the network: it can send no more than buffers hold."""
    server = start()
    topics = {f"topic-{number}": TopicConfig(f"topic-{number}") for number in range(2000)}
    identity: dict[str, str | None] = {
        "brokerName": "b",
        "brokerAddr": "a",
        "clusterName": "c",
        "brokerId": "0",
    }
    with server.connect() as broker, server.connect() as greedy:
        body = RegisterBody(topics).encode()
        assert ask(broker, Command(code=103, version=479, ext=identity, body=body)).code == 0
        greedy.settimeout(0.5)
        requests = encode(Command(code=206)) * 1000
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 100_000_000:
                sent += greedy.send(requests)
        assert ask(broker, Command(code=106)).code == 0
        assert _resident(server.process.pid) < 120_000_000


def _resident(pid: int) -> int:
    """Bytes of memory of a process; 0 where that cannot be said."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmRSS" in line)


def run(**options: Any) -> tuple[int, str]:
    """Exit status and everything that was printed, of a start that fails."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    done = subprocess.run(
        [sys.executable, "-c", RUN % arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_an_occupied_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        status, said = run(host="127.0.0.1", port=occupied.getsockname()[1])
    assert status == serve.EXIT_NOT_STARTED
    assert "cannot listen on 127.0.0.1:" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("options", "content", "status", "said"),
    [
        ({"port": 70_000}, None, serve.EXIT_CONFIGURATION, "expected a number from 0 to 65535"),
        ({"profile": "6.0"}, None, serve.EXIT_CONFIGURATION, "unknown profile '6.0'"),
        ({"config_file": "{dir}/missing"}, None, serve.EXIT_CONFIGURATION, "No such file"),
        ({"config_file": "{dir}/file"}, "listenPort=x", serve.EXIT_CONFIGURATION, "listenPort=x: expected"),
        ({"kv_file": "{dir}/file", "port": 0}, "{", serve.EXIT_NOT_STARTED, "cannot be read"),
        ({"kv_file": "{dir}", "port": 0}, None, serve.EXIT_NOT_STARTED, "cannot be read"),
        ({"host": "no.such.host.invalid", "port": 0}, None, serve.EXIT_NOT_STARTED, "cannot listen"),
    ],
)
def test_a_mistake_ends_in_one_clear_line(
    tmp_path: Path, options: dict[str, Any], content: str | None, status: int, said: str
) -> None:
    if content is not None:
        (tmp_path / "file").write_text(content)
    filled = {
        name: value.replace("{dir}", str(tmp_path)) if isinstance(value, str) else value
        for name, value in options.items()
    }
    found, text = run(**filled)
    assert found == status
    assert said in text
    assert len(text.splitlines()) == 1


def test_the_settings_are_printed(tmp_path: Path) -> None:
    settings = tmp_path / "ns.properties"
    settings.write_text("listenPort=1\norderMessageEnable=true\nmine=x\n")
    status, said = run(port=1234, config_file=str(settings), profile="4.9", print_config=True)
    assert status == 0
    lines = ["listenPort=1234", "orderMessageEnable=true", "mine=x", f"configStorePath={settings}"]
    assert set(lines) <= set(said.splitlines())


def test_it_runs_inside_a_loop_of_one_s_own() -> None:
    async def session() -> Command:
        stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        config = Config(listen_port=0, bind_address="127.0.0.1")
        serving = asyncio.create_task(
            serve.serve_nameserver(
                config=config, stop=stop, ready=lambda shell: ready.set_result(shell.address)
            )
        )
        reader, writer = await asyncio.open_connection(*await ready)
        writer.write(encode(Command(code=106, opaque=5)))
        head = await reader.readexactly(4)
        answer = decode(head + await reader.readexactly(int.from_bytes(head, "big")))
        stop.set()
        await serving
        writer.close()
        return answer

    assert asyncio.run(session()).opaque == 5


def test_an_exception_costs_the_connection_that_it_was_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a built-in target that endures (`InProcess.endures`), by which generated faults are judged."""
    question = encode(Command(code=106))
    sound = RemotingEndpoint.answer

    def stumbles(endpoint: RemotingEndpoint, connection: int, frame: bytes, now: int) -> bytes | None:
        if connection == 1:
            raise KeyError("T0")
        return sound(endpoint, connection, frame, now)

    async def session() -> tuple[bytes, bytes]:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        config = Config(listen_port=0, bind_address="127.0.0.1")
        serving = asyncio.create_task(
            serve.serve_nameserver(
                config=config, stop=stop, ready=lambda shell: ready.set_result(shell.address)
            )
        )
        place = await ready
        first, second = await asyncio.open_connection(*place), await asyncio.open_connection(*place)
        for _, writer in (first, second):
            writer.write(question)
        seen = await first[0].read(), await second[0].read(4)
        stop.set()
        await serving
        for _, writer in (first, second):
            writer.close()
        return seen

    monkeypatch.setattr(RemotingEndpoint, "answer", stumbles)
    ended, answered = asyncio.run(asyncio.wait_for(session(), PATIENCE))
    assert ended == b""
    assert len(answered) == 4


def test_it_speaks_tls(start: Start) -> None:
    server = start()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with server.connect() as plain, context.wrap_socket(server.connect()) as secured:
        assert ask(secured, Command(code=106)).code == 0
        assert ask(plain, Command(code=106)).code == 0


def test_a_graceful_stop_sends_newer_peers_away_and_a_second_signal_ends_it(
    start: Start, tmp_path: Path
) -> None:
    settings = tmp_path / "ns.properties"
    settings.write_text("enableShutdownGracefully=true\nshutdownWaitTimeSeconds=600\n")
    server = start(config_file=str(settings))
    with server.connect() as connection:
        server.process.send_signal(signal.SIGTERM)
        while ask(connection, Command(code=106, version=479)).code == 0:
            pass
        assert ask(connection, Command(code=106, version=475)).code == 0
        assert server.stop() == (0, "")
        assert connection.recv(1) == b""


def test_it_notifies_brokers_and_does_not_wait_for_those_that_are_gone(start: Start, tmp_path: Path) -> None:
    settings = tmp_path / "ns.properties"
    settings.write_text("notifyMinBrokerIdChanged=true\n")
    server = start(config_file=str(settings))
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_server(("127.0.0.1", 0)) as closed,
        server.connect() as connection,
    ):
        listener.settimeout(PATIENCE)
        here, gone = (f"127.0.0.1:{one.getsockname()[1]}" for one in (listener, closed))
        closed.close()
        body = RegisterBody({"TA": TopicConfig("TA"), "TB": TopicConfig("TB")}).encode()
        for number, address in ((3, here), (2, gone), (1, "nowhere"), (0, "nowhere:at-all")):
            identity: dict[str, str | None] = {
                "brokerName": "b",
                "brokerAddr": address,
                "clusterName": "c",
                "brokerId": str(number),
            }
            assert ask(connection, Command(code=103, version=479, ext=identity, body=body)).code == 0
        told, _ = listener.accept()
        with told:
            buffer = FrameBuffer()
            heard = [receive(told, buffer) for _ in range(3)]
    assert [(one.code, one.flag, (one.ext or {})["minBrokerId"]) for one in heard] == [
        (905, 2, "2"),
        (905, 2, "1"),
        (905, 2, "0"),
    ]


@pytest.mark.parametrize("run", [serve.run, serve.run_broker])
@pytest.mark.parametrize(
    ("in_file", "host", "expected"),
    [
        ("", None, "127.0.0.1"),
        ("bindAddress=0.0.0.0\n", None, "0.0.0.0"),
        ("bindAddress=0.0.0.0\n", "127.0.0.2", "127.0.0.2"),
    ],
)
def test_it_listens_on_loopback_by_default(
    run: Callable[..., int],
    in_file: str,
    host: str | None,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "server.properties"
    file.write_text(in_file, encoding="utf-8")
    assert run(profile="5.3", host=host, config_file=file, print_config=True) == 0
    assert f"bindAddress={expected}\n" in capsys.readouterr().out
