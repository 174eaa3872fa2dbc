"""The codec beside Apache's own: the same frames, one thread each, after warm-up, in one run.

`python -m bench.codec [VERSION]` prints, for each frame, nanoseconds per operation of ours and of Apache's
RemotingCommand on the JVM, and their ratio (1.00 is parity, 2.00 is twice as fast as the JVM). Times are
processor time of one thread, the best of several rounds.
"""

from __future__ import annotations

import subprocess
import sys
import time
import timeit
from pathlib import Path
from typing import NamedTuple

from harness.targets.maven import classpath
from harness.wire import Command, RequestCode, ResponseCode, Serialization, decode, encode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

ROUNDS = 7
ROUND_SECONDS = 0.2
JAVA = Path(__file__).parent / "java" / "CodecBench.java"

REGISTRATION = {
    "brokerName": "broker-a",
    "brokerAddr": "10.0.0.1:10911",
    "clusterName": "DefaultCluster",
    "haServerAddr": "10.0.0.1:10912",
    "brokerId": "0",
    "compressed": "false",
    "bodyCrc32": "1180410345",
}


class Speed(NamedTuple):
    """Nanoseconds per operation."""

    decode: float
    encode: float


def commands() -> dict[str, Command]:
    """What is measured: the header of a registration, and a route as an answer, in both serializations."""
    route = TopicRoute(
        queue_datas=[QueueData("broker-a", 8, 8, 6, 0)],
        broker_datas=[BrokerData("c", "broker-a", {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}, False)],
    ).encode("standard")
    found = {}
    for kind in Serialization:
        found[f"registration/{kind.name}"] = Command(
            RequestCode.REGISTER_BROKER, opaque=10, version=479, ext=dict(REGISTRATION), serialization=kind
        )
        found[f"route/{kind.name}"] = Command(
            ResponseCode.SUCCESS, opaque=10, version=479, flag=1, body=route, serialization=kind
        )
    return found


def measured_here(command: Command) -> Speed:
    """Our codec."""
    frame = encode(command)
    assert decode(frame) == command
    return Speed(_best(lambda: decode(frame)), _best(lambda: encode(command)))


def _best(operation: object) -> float:
    timer = timeit.Timer("operation()", timer=time.process_time, globals={"operation": operation})
    number = 1000
    while timer.timeit(number) < ROUND_SECONDS:
        number *= 2
    return min(timer.repeat(ROUNDS, number)) / number * 1e9


def measured_on_the_jvm(version: str, frames: dict[str, bytes]) -> dict[str, Speed]:
    """Apache's codec of that version."""
    lines = "".join(f"{name} {frame.hex()}\n" for name, frame in frames.items())
    run = subprocess.run(
        ["java", "-cp", classpath(version, ["rocketmq-remoting"]), str(JAVA)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = {}
    for line in run.stdout.splitlines():
        name, decoding, encoding = line.split()
        found[name] = Speed(float(decoding), float(encoding))
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measures both, prints the table."""
    given = sys.argv[1:] if arguments is None else arguments
    version = given[0] if given else "5.3.3"
    measured = commands()
    java = measured_on_the_jvm(version, {name: encode(command) for name, command in measured.items()})
    print(
        f"ns of processor time per frame, one thread, best of {ROUNDS} rounds; JVM: RemotingCommand {version}"
    )
    print(f"{'':24}{'decode':>8}{'JVM':>8}{'ratio':>8}{'encode':>10}{'JVM':>8}{'ratio':>8}")
    for name, command in measured.items():
        ours, theirs = measured_here(command), java[name]
        print(
            f"{name:24}{ours.decode:8.0f}{theirs.decode:8.0f}{theirs.decode / ours.decode:8.2f}"
            f"{ours.encode:10.0f}{theirs.encode:8.0f}{theirs.encode / ours.encode:8.2f}"
        )


if __name__ == "__main__":
    main()
