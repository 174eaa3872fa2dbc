"""Memory and disk of `serve broker` while messages keep coming: what a server that is left running needs.

`python -m bench.memory [--messages N] [--where disk|memory] [--plot FILE.png]` has producers send messages
with bodies of 100 bytes (a million), most of them in batches, to a Broker that keeps them on disk and deletes
its files as soon as it may, and to one that keeps them in memory. It looks each second how much memory the
process has, how long the log is and how much of the disk the store takes; it prints that after each tenth,
and draws all of it. Nothing here is a ratio: what matters is whether the columns grow.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.bodies import KvTable
from harness.wire.messages import Message, encode_batch, encode_properties

MESSAGES = 1_000_000
BODY = bytes(100)
TOPIC, QUEUES = "BenchmarkTest", 4
"""Each has a producer, with a connection of its own."""
SINGLE, BATCHES, BATCH = 10, 2, 95
"""What a producer sends at once: messages of their own, and batches of so many."""
AT_ONCE = SINGLE + BATCHES * BATCH
TENTHS = 10
RETENTION = f"""\
mappedFileSizeCommitLog={32 << 20}
fileReservedTime=0
cleanResourceInterval=1000
deleteWhen={";".join(f"{hour:02d}" for hour in range(24))}
"""
SHORT = f"inMemoryLogBytes={64 << 20}\n"
SETTINGS = {
    "disk": ("on disk, files of 32 MiB that are deleted as soon as they may be", RETENTION),
    "memory": ("in memory, a log of 64 MiB", SHORT),
}
EVERY = 1.0
"""Seconds between two looks."""
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


def properties(number: int) -> dict[str, str]:
    """What a Java producer says of a message."""
    return {"UNIQ_KEY": f"7F000001000118B4AAC2{number:012X}", "WAIT": "true", "TAGS": "TagA"}


def send(queue: int, numbers: range) -> Command:
    """A send of a Java producer: of one message, or a batch."""
    is_batch = len(numbers) > 1
    messages = [Message(topic="", body=BODY, properties=properties(number)) for number in numbers]
    text = "" if is_batch else encode_properties(messages[0].properties, v5=True)
    now = str(int(time.time() * 1000))
    values = (
        "producers",
        TOPIC,
        "TBW102",
        "4",
        str(queue),
        "0",
        now,
        "0",
        text,
        "0",
        "false",
        None,
        str(is_batch).lower(),
    )
    ext: dict[str, str | None] = dict(zip("abcdefghijklm", values, strict=True))
    code = RequestCode.SEND_BATCH_MESSAGE if is_batch else RequestCode.SEND_MESSAGE_V2
    return Command(code=code, ext=ext, body=encode_batch(messages, "5.3") if is_batch else BODY)


class Producers:
    """Send `messages` in all, each producer to a queue of its own."""

    def __init__(self, port: int, messages: int) -> None:
        self._port = port
        self._rounds = messages // (AT_ONCE * QUEUES)
        self._sent = [0] * QUEUES
        self._failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._run, args=(queue,)) for queue in range(QUEUES)]
        for thread in self._threads:
            thread.start()

    @property
    def sent(self) -> int:
        """Messages that were acknowledged."""
        return sum(self._sent)

    def work(self, seconds: float) -> bool:
        """Whether there is more to send after this time. Raises what a producer has met."""
        self._threads[0].join(seconds)
        if self._failures:
            raise self._failures[0]
        return any(thread.is_alive() for thread in self._threads)

    def _run(self, queue: int) -> None:
        client = Client(self._port)
        try:
            for _ in range(self._rounds):
                first = (self._sent[queue] * QUEUES) + queue * AT_ONCE
                client.ask(list(requests(queue, first)))
                self._sent[queue] += AT_ONCE
        except BaseException as problem:
            self._failures.append(problem)


def requests(queue: int, first: int) -> Iterator[Command]:
    """Sends of `AT_ONCE` messages."""
    singles = first + SINGLE
    for number in range(first, singles):
        yield send(queue, range(number, number + 1))
    for start in range(singles, first + AT_ONCE, BATCH):
        yield send(queue, range(start, start + BATCH))


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


class Sample(msgspec.Struct, frozen=True):
    """What a Broker needs at a moment; sizes in MiB."""

    seconds: float
    sent: int
    memory: float
    log: float
    disk: float


def measure(root: Path, messages: int, *options: str) -> list[Sample]:
    """Sends, looks each second, and prints a row for each tenth."""
    print(f"{'messages':>12}{'per second':>12}{'memory, MiB':>14}{'log, MiB':>12}{'disk, MiB':>12}")
    samples: list[Sample] = []
    with served(*options) as (pid, port):
        client, began, printed, goes_on = Client(port), time.perf_counter(), -1, True
        producers = Producers(port, messages)
        while goes_on:
            goes_on = producers.work(EVERY)
            state, sent = client.state(), producers.sent
            log = (int(state["commitLogMaxOffset"]) - max(int(state["commitLogMinOffset"]), 0)) / (1 << 20)
            found = Sample(time.perf_counter() - began, sent, resident(pid), log, disk(root))
            samples.append(found)
            tenth = sent * TENTHS // messages
            if tenth > printed or not goes_on:
                printed = tenth
                row = (
                    f"{sent:12}{sent / found.seconds:12.0f}{found.memory:14.1f}{log:12.1f}{found.disk:12.1f}"
                )
                print(row, flush=True)
    return samples


def draw(found: dict[str, list[Sample]], path: Path) -> None:
    """Memory and disk over the messages that were sent, for each Broker. Needs the extra `spark`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.5 * len(found)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (where, samples) in zip(
        figure.subplots(len(found), squeeze=False)[:, 0], found.items(), strict=True
    ):
        sent = [one.sent / 1e6 for one in samples]
        axes.plot(sent, [one.memory for one in samples], "-", label="memory of the process")
        axes.plot(sent, [one.log for one in samples], "--", label="log")
        axes.plot(sent, [one.disk for one in samples], ":", label="files of the store")
        axes.set(
            title=f"serve broker, messages {where}",
            xlabel="million messages sent",
            ylabel="MiB",
            ylim=(0, None),
        )
        axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures both Brokers and prints."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.memory", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--messages", type=int, default=MESSAGES, help="how many are sent to each (1000000)")
    parser.add_argument("--where", choices=SETTINGS, help="only this Broker (both)")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of each second")
    options = parser.parse_args(arguments)
    if options.messages < AT_ONCE * QUEUES:
        parser.error(f"--messages {options.messages}: at least {AT_ONCE * QUEUES}: they are sent at once")
    if options.plot is not None and not options.plot.absolute().parent.is_dir():
        parser.error(f"--plot {options.plot}: no directory {options.plot.parent}; make it first")
    found = {}
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as directory:
        root = Path(directory)
        for where in [options.where] if options.where else SETTINGS:
            title, settings = SETTINGS[where]
            (root / f"{where}.conf").write_text(settings)
            store = root / where
            print(title)
            kept = ["--store", str(store)] if where == "disk" else []
            found[title] = measure(store, options.messages, *kept, "-c", str(root / f"{where}.conf"))
    if options.plot is not None:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
