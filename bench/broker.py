"""`python -m bench.broker`: messages per second of `serve broker` beside Apache's Broker 5.3.3, sent and
consumed by the same Java client.

How it is measured:
- Both Brokers are processes on loopback of this machine, with files on the same disk, each with a NameServer
  of ours; Apache's with the JVM's own choice of compilers and collector, and its defaults but for places.
- The client is Apache's, 5.3.3, one JVM for all: 16 threads whose sends of 1 KiB wait for their answers, then
  a new group that consumes all of that from the start, 32 messages at a time.
- Rounds alternate between the Brokers, after a warm-up of each. What is printed is the median of the rounds,
  the ratio of the medians, and the lowest and highest ratio of a round.

With synchronous flushing an answer waits for the disk, which is mostly what is measured then.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from harness.targets import TargetError, maven, process

__all__ = ["APACHE", "FLUSHING", "apache_broker", "main", "running", "serving"]

APACHE = "5.3.3"
GOAL = 0.5
"""How many times Apache's rate is wanted."""
BYTES = 1024
THREADS = 16
FLUSHING = ("ASYNC_FLUSH", "SYNC_FLUSH")
_START_WITHIN = 90.0
_ROOT = Path(__file__).resolve().parent.parent
_HARNESS = (
    sys.executable,
    "-c",
    f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from harness.cli import main; sys.exit(main())",
)
_OPENED = (
    *("--add-opens", "java.base/java.nio=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"),
    *("--add-exports", "java.base/sun.nio.ch=ALL-UNNAMED"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0, or 4 if a server cannot be started."""
    options = _options(arguments)
    print(
        f"messages of {BYTES} bytes per second, median of {options.rounds} rounds of {options.seconds:g} s, "
        f"alternating; goal {GOAL:g}x"
    )
    print(f"{'':30} {'Apache ' + APACHE:>13} {'serve':>10} {'ratio':>7}   rounds")
    try:
        for flushing in FLUSHING:
            with ExitStack() as stack:
                sides = [stack.enter_context(made(flushing)) for made in (_apache, _ours)]
                client = stack.enter_context(_client())
                _measure(client, sides, flushing, options.seconds, options.rounds)
    except TargetError as error:
        print(f"bench.broker: {error}", file=sys.stderr)
        return 4
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.broker", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a round (3)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each Broker for each figure (3)")
    return parser.parse_args(arguments)


# -- the servers ---------------------------------------------------------------------------------------------


@contextmanager
def running(command: process.Command) -> Iterator[process.ProcessInstance]:
    """A process for as long as the block lasts."""
    instance = process.ProcessInstance(command)
    try:
        yield instance
    finally:
        instance.stop()


def serving(
    what: str, more: Callable[[Path], Sequence[str]] = lambda _: (), *, ports: tuple[int, ...] = (0,)
) -> process.Command:
    """How `serve` is started for a role. `more`: further arguments, by the directory that the process has."""
    return process.Command(
        name=f"serve {what}",
        description="the reference",
        arguments=lambda port, home: [*_HARNESS, "serve", what, "--port", str(port), *more(home)],
        environment=lambda _: {},
        warp=1.0,
        start_within=_START_WITHIN,
        answer_within=_START_WITHIN,
        ports=ports,
    )


@contextmanager
def _nameserver() -> Iterator[str]:
    with running(serving("nameserver")) as instance:
        yield f"127.0.0.1:{instance.port}"


def apache_broker(nameserver: str, flushing: str) -> process.Command:
    """How Apache's Broker is started; it registers at a NameServer (``host:port``)."""

    def arguments(port: int, home: Path) -> list[str]:
        settings = {
            **_settings(flushing),
            "listenPort": str(port),
            "haListenPort": str(port + 1),
            "namesrvAddr": nameserver,
            "storePathRootDir": str(home / "store"),
            "storePathCommitLog": str(home / "store" / "commitlog"),
            "diskMaxUsedSpaceRatio": "99",
        }
        config = home / "broker.conf"
        config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        main = ["org.apache.rocketmq.broker.BrokerStartup", "-c", str(config)]
        heap = ["-Xms1g", "-Xmx1g"]
        classpath = maven.classpath(APACHE, ["rocketmq-broker"])
        return ["java", *heap, *_OPENED, f"-Duser.home={home}", "-cp", classpath, *main]

    return process.Command(
        name=f"Apache's Broker {APACHE}",
        description=f"Apache Broker {APACHE}, the JVM's own choice of compilers and collector",
        arguments=arguments,
        environment=lambda home: {"ROCKETMQ_HOME": str(home)},
        warp=1.0,
        start_within=_START_WITHIN,
        answer_within=_START_WITHIN,
        ports=(0, -2),
    )


@contextmanager
def _apache(flushing: str) -> Iterator[str]:
    """The address of a NameServer at which Apache's Broker is registered."""
    with _nameserver() as nameserver, running(apache_broker(nameserver, flushing)):
        yield nameserver


@contextmanager
def _ours(flushing: str) -> Iterator[str]:
    """The address of a NameServer at which our Broker is registered."""
    with _nameserver() as nameserver:

        def places(home: Path) -> list[str]:
            config = home / "broker.conf"
            config.write_text("".join(f"{key}={value}\n" for key, value in _settings(flushing).items()))
            return ["--store", str(home / "store"), "--nameserver", nameserver, "-c", str(config)]

        with running(serving("broker", places, ports=(0, -2))):
            yield nameserver


def _settings(flushing: str) -> dict[str, str]:
    return {
        "flushDiskType": flushing,
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "registerNameServerPeriod": "10000",
    }


# -- the client ----------------------------------------------------------------------------------------------


class Client:
    """A JVM with Apache's client."""

    def __init__(self, java: subprocess.Popen[str], said: Path) -> None:
        self._java = java
        self._said = said

    def do(self, *words: object) -> tuple[float, int]:
        """(messages per second, messages) of one command."""
        assert self._java.stdin is not None
        assert self._java.stdout is not None
        self._java.stdin.write(" ".join(map(str, words)) + "\n")
        self._java.stdin.flush()
        answer = self._java.stdout.readline().split()
        if len(answer) != 2:
            raise TargetError(
                expected="a rate from the Java client",
                got=self._said.read_text()[-600:].strip() or "nothing",
                do="see whether the Broker serves it",
            )
        return float(answer[0]), int(answer[1])


@contextmanager
def _client() -> Iterator[Client]:
    classpath = maven.classpath(APACHE, ["rocketmq-tools"])
    with tempfile.TemporaryDirectory(prefix="rmq-bench-") as home:
        said = Path(home) / "stderr"
        java = subprocess.Popen(
            [
                *("java", "-Xms512m", "-Xmx512m", f"-Duser.home={home}", "-cp", classpath),
                str(_ROOT / "bench" / "java" / "BrokerRates.java"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said.open("w"),
            text=True,
        )
        try:
            yield Client(java, said)
        finally:
            java.kill()
            java.communicate()


class Round(msgspec.Struct, frozen=True):
    """What one round gave, messages per second."""

    sent: float
    consumed: float


def _round(client: Client, nameserver: str, number: int, seconds: float) -> Round:
    topic = f"bench-{number}"
    sent, count = client.do("send", nameserver, topic, seconds, THREADS, BYTES)
    consumed, _ = client.do("consume", nameserver, topic, count, f"group-{number}")
    return Round(sent, consumed)


def _measure(client: Client, sides: Sequence[str], flushing: str, seconds: float, rounds: int) -> None:
    for side in sides:
        _round(client, side, 0, 2 * seconds)
    found = [[_round(client, side, number, seconds) for side in sides] for number in range(1, rounds + 1)]
    for what in ("sent", "consumed"):
        rates = [[getattr(one, what) for one in row] for row in found]
        apache, ours = (statistics.median(column) for column in zip(*rates, strict=True))
        ratios = sorted(mine / theirs for theirs, mine in rates)
        verdict = "✔" if ours / apache >= GOAL else "✘"
        print(
            f"{what + ', ' + flushing:30} {apache:>13,.0f} {ours:>10,.0f} {ours / apache:>6.2f}x {verdict} "
            f"{ratios[0]:.2f}-{ratios[-1]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
