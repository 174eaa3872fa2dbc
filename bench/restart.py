"""`python -m bench.restart`: how long producers are cut off while a cluster restarts, `serve cluster --store`
beside Apache's NameServer and Broker 5.3.3.

How it is measured:
- Producers of Apache's Java client 5.3.3 and Go client 2.1.2, with their defaults, side by side: each sends
  100 bytes, waits for the answer, pauses for 20 ms and sends again.
- A restart ends all servers of a side (SIGTERM, then SIGKILL, alternating) and starts them at the same ports
  with the same files. The gap of a producer is the longest time between two sends that were acknowledged,
  from the signal on; failed sends are those that the producer reports to its caller.
- What is printed is the median and the longest gap of the rounds, and the ratio of the medians.

The Go client waits 3 s for the answer to a send that was under way when its Broker ended, and then sends
again: its gap is no shorter then, however soon the Broker is back.

Needs Java, Maven and Go.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import msgspec

from bench.broker import APACHE, FLUSHING, apache_broker, running, serving
from harness.cli.status import INTERRUPTED
from harness.session import Ending
from harness.targets import TargetError, maven, parse
from harness.targets.process import ProcessInstance

__all__ = ["main"]

GOAL = 3.0
"""Seconds that a gap of ours may last."""
TOPIC = "onward"
ENDINGS: tuple[Ending, ...] = ("term", "kill")
_HERE = Path(__file__).resolve().parent
_AT_WORK = 5
"""Acknowledged sends after which a producer counts as at work."""
_WITHIN = 120.0
_SETTLES_FOR = 3.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0, 4 if a server or a client cannot be started, or 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.restart", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=3, help="restarts of each kind and side (3)")
    rounds = parser.parse_args(arguments).rounds
    if rounds < 1:
        parser.error(f"expected --rounds of 1 or more, got {rounds}")
    try:
        with tempfile.TemporaryDirectory(prefix="rmq-bench-") as home:
            clients = {"Java": _java(Path(home)), "Go": _go(Path(home))}
            apache, ours = (_measure(side, clients, rounds) for side in (_apache, _ours))
    except KeyboardInterrupt:
        print("bench.restart: interrupted, nothing is printed", file=sys.stderr)
        return INTERRUPTED
    except TargetError as error:
        print(f"bench.restart: {error}", file=sys.stderr)
        return 4
    _print(apache, ours, rounds)
    return 0


# -- the servers ---------------------------------------------------------------------------------------------


@contextmanager
def _ours() -> Iterator[list[ProcessInstance]]:
    with running(serving("cluster", lambda home: ["--store", str(home / "store")])) as cluster:
        yield [cluster]


@contextmanager
def _apache() -> Iterator[list[ProcessInstance]]:
    nameserver = parse(f"apache:{APACHE}").start()
    assert isinstance(nameserver, ProcessInstance)
    try:
        with running(apache_broker(f"127.0.0.1:{nameserver.port}", FLUSHING[0])) as broker:
            yield [nameserver, broker]
    finally:
        nameserver.stop()


Side = Callable[[], AbstractContextManager[list[ProcessInstance]]]
"""Servers at work, a NameServer first."""


# -- the clients ---------------------------------------------------------------------------------------------


def _java(home: Path) -> list[str]:
    """The command of the Java producer, without its arguments."""
    classpath = maven.classpath(APACHE, ["rocketmq-tools"])
    program = str(_HERE / "java" / "SendsOnward.java")
    return ["java", "-Xmx256m", f"-Duser.home={home}", "-cp", classpath, program]


def _go(home: Path) -> list[str]:
    """The same of the Go producer, which is built into `home`."""
    if shutil.which("go") is None:
        raise TargetError(expected="go", got="none in PATH", do="install Go, 1.21 or newer")
    project = shutil.copytree(_HERE / "go", home / "onward")
    built = subprocess.run(
        ["sh", "-ec", "go mod tidy && go build -o onward ."],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise TargetError(
            expected="a Go producer", got=built.stderr[-600:], do="see whether modules can be fetched"
        )
    return [str(project / "onward")]


class Producer:
    """A client at work, and when its sends ended."""

    def __init__(self, command: Sequence[str], nameserver: str, said: Path) -> None:
        self._said = said
        self._process = subprocess.Popen(
            [*command, nameserver, TOPIC], stdout=subprocess.PIPE, stderr=said.open("w"), text=True
        )
        self.acknowledged: list[float] = []
        """Seconds since 1970."""
        self.failed: list[str] = []
        """What the client said of each failed send."""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            at, _, said = line.strip().partition(" ")
            if said == "ok":
                self.acknowledged.append(float(at) / 1000)
            else:
                self.failed.append(said)

    def wait_for(self, count: int, since: float) -> None:
        """Waits until so many sends are acknowledged after a time. Raises TargetError if they never are."""
        end = time.time() + _WITHIN
        while len(self.acknowledged) < count or self.acknowledged[-count] <= since:
            if time.time() > end or self._process.poll() is not None:
                said = self.failed[-1:] or [self._said.read_text()[-600:].strip() or "nothing"]
                raise TargetError(
                    expected=f"{count} sends acknowledged within {_WITHIN:g} s",
                    got=said[0],
                    do="see whether the servers serve it",
                )
            time.sleep(0.05)

    def gap(self, since: float) -> float:
        """The longest time without an acknowledged send, in seconds, from a time on."""
        times = [at for at in self.acknowledged if at > since]
        return max(later - earlier for earlier, later in pairwise([since, *times]))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()


@contextmanager
def _producing(command: Sequence[str], nameserver: str) -> Iterator[Producer]:
    with tempfile.TemporaryDirectory(prefix="rmq-bench-") as home:
        producer = Producer(command, nameserver, Path(home) / "stderr")
        try:
            yield producer
        finally:
            producer.close()


# -- what is measured ----------------------------------------------------------------------------------------


class Restart(msgspec.Struct, frozen=True):
    """What one restart was for a producer, and for the servers."""

    gap: float
    """Seconds."""
    failed: int
    """Sends."""
    down: float
    """Seconds from the signal until all servers take connections again."""


Found = Mapping[tuple[Ending, str], list[Restart]]
"""By how the servers ended, and the client."""


def _measure(side: Side, clients: Mapping[str, Sequence[str]], rounds: int) -> Found:
    found: dict[tuple[Ending, str], list[Restart]] = {}
    with ExitStack() as stack:
        servers = stack.enter_context(side())
        nameserver = f"127.0.0.1:{servers[0].port}"
        producers = {
            name: stack.enter_context(_producing(command, nameserver)) for name, command in clients.items()
        }
        pool = stack.enter_context(ThreadPoolExecutor(len(servers)))
        for ending in ENDINGS * rounds:
            _all_at_work(producers.values(), time.time())
            failed = {name: len(one.failed) for name, one in producers.items()}
            began = time.time()
            list(pool.map(lambda one, how=ending: one.restart(how), servers))
            down = time.time() - began
            _all_at_work(producers.values(), time.time())
            for name, one in producers.items():
                restart = Restart(one.gap(began), len(one.failed) - failed[name], down)
                found.setdefault((ending, name), []).append(restart)
    return found


def _all_at_work(producers: Iterable[Producer], since: float) -> None:
    for one in producers:
        one.wait_for(_AT_WORK, since)
    time.sleep(_SETTLES_FOR)


def _print(apache: Found, ours: Found, rounds: int) -> None:
    print(
        f"seconds without an acknowledged send over a restart, median and longest of {rounds}; "
        f"goal {GOAL:g} s for the longest of serve"
    )
    print(f"{'':16} {'Apache ' + APACHE:>22} {'serve cluster --store':>24} {'ratio':>7}")
    for (ending, client), of_ours in ours.items():
        cells, medians = [], []
        for restarts in (apache[ending, client], of_ours):
            gaps = [one.gap for one in restarts]
            medians.append(statistics.median(gaps))
            failed = sum(one.failed for one in restarts)
            cells.append(f"{medians[-1]:.2f} {max(gaps):.2f} {failed} failed")
        verdict = "✔" if max(one.gap for one in of_ours) < GOAL else "✘"
        print(
            f"SIG{ending.upper() + ', ' + client:13} {cells[0]:>22} {cells[1]:>24} {verdict}"
            f"{medians[1] / medians[0]:>6.2f}x"
        )
    for name, found in {f"Apache {APACHE}": apache, "serve": ours}.items():
        for ending in ENDINGS:
            down = statistics.median(
                one.down for (how, _), all_ in found.items() if how == ending for one in all_
            )
            print(f"{name}, SIG{ending.upper()}: takes connections again after {down:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
