"""Processes that are started, and surely stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from harness.session import NameServerSession, TargetDied, free_port
from harness.targets import TargetError, attach, parse, watchdog
from harness.targets.process import ProcessInstance

_SERVER = """
import os, pathlib, signal, socket, subprocess, sys, time
port, directory = int(sys.argv[1]), pathlib.Path(sys.argv[2])
mode = sys.argv[3] if len(sys.argv) > 3 else ""
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "slow":
    def end(*_):
        time.sleep(1)
        (directory / "ended").write_text("in order")
        sys.exit()
    signal.signal(signal.SIGTERM, end)
if mode == "family":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (directory / "child").write_text(str(child.pid))
starts = directory / "starts"
starts.write_text(str(int(starts.read_text()) + 1) if starts.exists() else "1")
if mode == "taken" and starts.read_text() != "3":
    sys.exit("cannot bind: Address already in use")
listener = socket.create_server(("127.0.0.1", port))
print("I am", mode or "plain", "at", starts.read_text(), flush=True)
peers = []
while True:
    peer, _ = listener.accept()
    peers.append(peer)
    data = peer.recv(65536)
    if data and mode != "mute":
        header = b'{"code":%s,"flag":1,"opaque":1}' % starts.read_text().encode()
        peer.sendall((4 + len(header)).to_bytes(4, "big") + len(header).to_bytes(4, "big") + header)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "server of a test.py"
    path.write_text(_SERVER)
    return path


@pytest.fixture
def started(script: Path) -> Generator[object]:
    running: list[ProcessInstance] = []

    def start(mode: str = "", options: str = "") -> ProcessInstance:
        instance = parse(f"exec:{sys.executable} '{script}' {{port}} {{dir}} {mode}{options}").start()
        assert isinstance(instance, ProcessInstance)
        running.append(instance)
        return instance

    yield start
    for instance in running:
        instance.stop()


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    return False


def _ends(pid: int, within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while _runs(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not _runs(pid)


def test_its_uri_says_it_all(started) -> None:
    assert started().description == ""


def test_it_is_started_and_stopped(started) -> None:
    instance = started()
    directory = instance._directory
    assert instance.alive()
    assert os.getpgid(instance.pid) == instance.pid != os.getpgid(0)
    assert "I am plain at 1" in instance.output()
    instance.stop()
    assert not instance.alive()
    assert not _runs(instance.pid)
    assert not directory.exists()
    assert "I am plain at 1" in instance.output()
    instance.stop()


def test_a_restart_keeps_port_and_directory(started) -> None:
    instance = started()
    port, pid = instance.port, instance.pid
    instance.restart()
    assert instance.port == port
    assert instance.pid != pid
    assert "I am plain at 2" in instance.output()


def test_a_restart_waits_for_an_end_in_order(started, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while it writes down what it has, it would be judged by what is lost."""
    monkeypatch.setattr("harness.targets.process._GRACE", 0.1)
    instance = started("slow")
    instance.restart()
    assert (instance._directory / "ended").read_text() == "in order"
    assert "I am slow at 2" in instance.output()


def test_a_restart_of_a_target_that_does_not_end_is_reported(
    started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.targets.process._ENDS_WITHIN", 0.2)
    monkeypatch.setattr("harness.targets.process._GRACE", 0.1)
    instance = started("stubborn")
    with pytest.raises(TargetError, match=r"to end within 0\.2 s of SIGTERM[^$]*--exclude"):
        instance.restart()
    assert not _runs(instance.pid)
    instance.restart("kill")
    assert "I am stubborn at 2" in instance.output()


def test_restarting_an_ended_process_sends_no_signal(started, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = started()
    instance.stop()
    asked: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _: asked.append(group))
    with pytest.raises(OSError, match=r"rmq-harness-"):  # its directory is gone
        instance.restart("kill")  # the number of its process may be another's by now
    assert asked == []


def test_one_that_will_not_end_is_made_to(started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.process._GRACE", 0.2)
    instance = started("stubborn")
    instance.stop()
    assert not _runs(instance.pid)


def test_one_that_is_interrupted_before_it_is_known_ends_too(
    started, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its watchdog is busy and has not said yet whom it has started: killed, it would leave that behind."""
    instance = started()
    pid, instance._pid = instance.pid, 0
    watchdog = instance._process.pid
    os.kill(watchdog, signal.SIGSTOP)
    monkeypatch.setattr("harness.targets.process._GRACE", -2.9)
    instance.stop()
    os.kill(watchdog, signal.SIGCONT)
    assert _ends(pid)


def test_one_whose_owner_has_gone_before_it_is_known_ends_too() -> None:
    command = [sys.executable, "-I", "-S", watchdog.__file__, "{}", "3", "sleep", "60"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin and process.stdout
    process.stdin.close()
    process.stdout.close()
    process.stdin = process.stdout = None
    _, said = process.communicate(timeout=30)  # until the command has let go of standard error, too
    assert (process.returncode, said) == (128 + signal.SIGTERM, b"")


def test_its_children_end_with_it(started) -> None:
    instance = started("family")
    child = int((instance._directory / "child").read_text())
    assert _runs(child)
    instance.stop()
    assert _ends(child)


def test_a_port_that_was_taken_in_between_is_given_up(started) -> None:
    instance = started("taken")
    assert "I am taken at 3" in instance.output()


def test_one_that_never_answers_is_started_all_the_same(started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.command._ANSWER_WITHIN", 0.2)
    assert started("mute").alive()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false {port}", "ended with status 1 before it listened at port"),
        ("sh -c 'echo no such option >&2; exit 3' {port}", "it wrote: no such option"),
        ("/nonexistent/ns {port}", "no such file"),
    ],
)
def test_one_that_does_not_start_says_why(command: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse(f"exec:{command}").start()
    assert message in str(caught.value)


def test_one_that_does_not_listen_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.command._START_WITHIN", 0.3)
    with pytest.raises(TargetError, match="no connection at port"):
        parse("exec:sleep 600 {port}").start()


def test_a_dead_target_is_not_one_that_refuses(started) -> None:
    instance = started()
    os.kill(instance.pid, signal.SIGKILL)
    assert _ends(instance.pid)
    with pytest.raises(TargetDied, match=r"status 137 \(SIGKILL\); it wrote last: I am plain"):
        for _ in range(50):
            instance.open().close("fin")
            time.sleep(0.02)
    assert not instance.alive()


def test_another_process_may_use_it(started) -> None:
    instance = started()
    shared = instance.shared()
    other = attach(shared)
    assert other.alive()
    assert other.clock.warp == 1
    other.stop()
    assert instance.alive()


def test_it_does_not_outlive_a_killed_harness(script: Path) -> None:
    program = (
        "import sys, time\n"
        "from harness.targets import parse\n"
        "instance = parse(sys.argv[1]).start()\n"
        "print(instance.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    uri = f"exec:{sys.executable} '{script}' {{port}} {{dir}} family"
    root = Path(__file__).resolve().parents[3]
    harness = subprocess.Popen(
        [sys.executable, "-c", program, uri],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert harness.stdout is not None
    pid = int(harness.stdout.readline())
    assert _runs(pid)
    harness.kill()
    harness.wait()
    harness.stdout.close()
    assert _ends(pid)


def test_the_reference_as_a_server() -> None:
    root = Path(__file__).resolve().parents[3]
    program = 'from reference_impl.serve import run; run(profile="4.9", port={port})'
    command = f"env PYTHONPATH={root} {sys.executable} -c '{program}'"
    instance = parse(f"exec:{command}").start()
    try:
        with NameServerSession(instance, "4.9") as ns:
            answer = ns.cluster().outcome()
            assert "SUCCESS (0)" in str(answer)
    finally:
        instance.stop()


def test_it_runs_in_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ns.py").write_text(_SERVER)
    monkeypatch.chdir(tmp_path)
    instance = parse(f"exec:{sys.executable} ns.py {{port}} {{dir}}").start()
    try:
        assert (instance._directory / "starts").read_text() == "1"
        assert Path(f"/proc/{instance.pid}/cwd").readlink() == tmp_path
    finally:
        instance.stop()
    assert [one.name for one in tmp_path.iterdir()] == ["ns.py"]


def test_its_output_is_kept_over_restarts(script: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    target = parse(f"exec:{sys.executable} '{script}' {{port}} {{dir}}", logs=logs)
    instances = [target.start(), target.another()]
    instances[0].restart()
    for instance in instances:
        instance.stop()
    assert (logs / "target.log").read_text() == "I am plain at 1\nI am plain at 2\n"
    assert (logs / "target-2.log").read_text() == "I am plain at 1\n"
    assert instances[0].output() == "I am plain at 2\n"


def test_a_server_that_listens_elsewhere_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.starting._IDLE_ELSEWHERE", 0.3)
    port = free_port((0,))
    program = f'import socket, time; s = socket.create_server(("127.0.0.1", {port})); time.sleep(600)'
    with pytest.raises(TargetError, match=rf"it listens at 127\.0\.0\.1:{port}, and not at"):
        parse(f"exec:{sys.executable} -c '{program}' {{port}}").start()


def test_one_that_works_gets_more_time(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`go run .` compiles first."""
    monkeypatch.setattr("harness.targets.command._START_WITHIN", 0.6)
    works = "import time; end = time.process_time() + 1.2\nwhile time.process_time() < end: pass\n"
    script.write_text(works + _SERVER)
    target = parse(f"exec:{sys.executable} '{script}' {{port}} {{dir}}")
    instance = target.start()
    instance.stop()
    with pytest.raises(TargetError, match="no connection at port"):
        target.another()


@pytest.mark.parametrize(
    ("command", "got"),
    [
        ("./ns {port}", "no such file (the current directory is "),
        ("./plain {port}", "a file that is not executable"),
        ("./folder {port}", "a directory"),
        ("no-such-command {port}", "no such command on the PATH"),
    ],
)
def test_a_command_that_is_no_program_is_not_started(
    command: str, got: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError) as caught:
        parse(f"exec:{command}").start()
    assert got in caught.value.got


def test_wrong_options_of_a_command_are_reported() -> None:
    with pytest.raises(TargetError) as caught:
        parse("exec:sh -c 'echo \"unknown option: --port\" >&2; exit 2' {port}").start()
    assert caught.value.do.startswith("correct the options after exec:; this was run in ")


def _rests(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return state.stdout.startswith("T")


def test_a_server_that_may_rest_does_not_run_until_it_wakes_and_ends_in_order(started) -> None:
    instance = started()
    instance.rest()
    assert not _rests(instance.pid)
    instance._command = msgspec.structs.replace(instance._command, may_rest=True)
    instance.rest()
    assert _rests(instance.pid)
    assert instance.alive()
    instance.wake()
    assert not _rests(instance.pid)
    instance.rest()
    process = instance._process
    instance.stop()
    assert process.returncode == 128 + signal.SIGTERM
