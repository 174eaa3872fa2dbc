"""Memory and disk of `serve broker` while messages keep coming: what a server that is left running needs.

`python -m bench.memory [MESSAGES]` sends messages with bodies of 100 bytes (a million), first to a Broker
that keeps them on disk and deletes its files as soon as it may, then to one that keeps them in memory. After
each tenth it prints how much memory the process has, how long the log is and how much of the disk the store
takes. Nothing here is a ratio: what matters is whether the columns grow.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.bodies import KvTable

MESSAGES = 1_000_000
BODY = bytes(100)
QUEUES = 4
AT_ONCE = 200
"""Sends that wait for their answers together."""
TENTHS = 10
RETENTION = f"""\
mappedFileSizeCommitLog={32 << 20}
fileReservedTime=0
cleanResourceInterval=1000
deleteWhen={";".join(f"{hour:02d}" for hour in range(24))}
"""
SHORT = f"inMemoryLogBytes={64 << 20}\n"
_READY = re.compile(r"ready on \S+?:(\d+)")


class Client:
    """One connection, whose requests are answered in order."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._frames = FrameBuffer()
        self._number = 0

    def ask(self, commands: list[Command]) -> list[Command]:
        """Send requests in one go, and wait for all answers. Raises AssertionError for a refusal."""
        data = []
        for command in commands:
            self._number += 1
            command.opaque = self._number
            data.append(encode(command))
        self._socket.sendall(b"".join(data))
        answers: list[Command] = []
        while len(answers) < len(commands):
            self._frames.feed(self._socket.recv(1 << 16))
            while (frame := self._frames.next_frame()) is not None:
                answers.append(decode(frame))
        assert all(answer.code == ResponseCode.SUCCESS for answer in answers), answers[0]
        return answers

    def state(self) -> dict[str, str]:
        """GET_BROKER_RUNTIME_INFO (28)."""
        return KvTable.decode(self.ask([Command(code=RequestCode.GET_BROKER_RUNTIME_INFO)])[0].body).table


def send(number: int) -> Command:
    """A send of a Java producer."""
    now = str(int(time.time() * 1000))
    properties = f"UNIQ_KEY\x017F000001000118B4AAC2{number:012X}\x02WAIT\x01true\x02TAGS\x01TagA\x02"
    values = (
        "producers",
        "BenchmarkTest",
        "TBW102",
        "4",
        str(number % QUEUES),
        "0",
        now,
        "0",
        properties,
        "0",
    )
    ext: dict[str, str | None] = dict(zip("abcdefghij", values, strict=True))
    return Command(code=RequestCode.SEND_MESSAGE_V2, ext=ext, body=BODY)


@contextmanager
def served(*options: str) -> Iterator[tuple[int, int]]:
    """(process id, port) of a Broker."""
    run = "import sys; from harness.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, "serve", "broker", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = _READY.search(process.stdout.readline())
            assert ready is not None
            yield process.pid, int(ready[1])
        finally:
            process.terminate()


def resident(pid: int) -> float:
    """MiB of memory that a process has now; 0 where that cannot be read."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / (1 << 20)


def disk(root: Path) -> float:
    """MiB of the files below a directory."""
    return sum(path.stat().st_size for path in root.glob("**/*") if path.is_file()) / (1 << 20)


def measure(root: Path, messages: int, *options: str) -> None:
    """Sends, and prints a row for each tenth."""
    print(f"{'messages':>12}{'per second':>12}{'memory, MiB':>14}{'log, MiB':>12}{'disk, MiB':>12}")
    with served(*options) as (pid, port):
        client, sent, began = Client(port), 0, time.perf_counter()
        for tenth in range(TENTHS + 1):
            while sent < messages * tenth // TENTHS:
                client.ask([send(number) for number in range(sent, sent + AT_ONCE)])
                sent += AT_ONCE
            state, seconds = client.state(), time.perf_counter() - began
            log = (int(state["commitLogMaxOffset"]) - max(int(state["commitLogMinOffset"]), 0)) / (1 << 20)
            row = f"{sent:12}{sent / seconds:12.0f}{resident(pid):14.1f}{log:12.1f}{disk(root):12.1f}"
            print(row, flush=True)


def main(messages: int = MESSAGES) -> None:
    """Measures both Brokers and prints."""
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as directory:
        root = Path(directory)
        for where, settings in (("disk", RETENTION), ("memory", SHORT)):
            (root / f"{where}.conf").write_text(settings)
        store = root / "store"
        print("on disk, files of 32 MiB that are deleted as soon as they may be")
        measure(store, messages, "--store", str(store), "-c", str(root / "disk.conf"))
        print("in memory, a log of 64 MiB")
        measure(root / "none", messages, "-c", str(root / "memory.conf"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
