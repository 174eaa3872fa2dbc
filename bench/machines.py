"""`python -m bench.machines`: what playing and judging cost beside generating, and beside the bare network.

How it is measured:
- *In process*: the machine of a profile on `builtin:`, and an empty machine with the same rules, strategies
  and seed, which plays nothing and only keeps its picture of what should exist. Both make the same programs,
  so that the ratio of their times is the ratio of their steps per second. Rounds alternate; the first is
  warm-up.
- *Over TCP*: programs that were generated beforehand, against `serve nameserver` on loopback, played, judged
  and tidied up after; beside them a client that sends the same frames over as many connections, encoded
  beforehand, and reads one whole frame for each, knowing nothing else. Programs and client alternate. What
  programs let pass by their own steps (time, stalls, gaps between segments) is no part of the rates and is
  printed by itself. The third figure has the generating in it too.

What is printed is the median of the rounds, with the lowest and the highest ratio of a round.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection, socket

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from harness.machines.nameserver import NameServerMachine
from harness.machines.performance import Performance
from harness.machines.picture import Picture
from harness.machines.stage import Stage
from harness.machines.strategies import look
from harness.program.chance import chance
from harness.program.frames import Names, frame_of
from harness.program.steps import AnyStep, Close, Configure, Reconnect, Restart, Time, Unknown
from harness.session import announced_by
from harness.targets import parse

__all__ = ["main"]

PROFILE = "5.3"
GOAL_IN_PROCESS = 0.5
GOAL_OVER_TCP = 0.4


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns 0."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.machines", description=str(__doc__).partition("\n")[0]
    )
    parser.add_argument("--programs", type=int, default=40, help="programs in a round (40)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (5)")
    options = parser.parse_args([] if arguments is None else arguments)
    _in_process(options.programs, options.rounds)
    _over_tcp(options.programs, options.rounds)
    return 0


class _Playing:
    """Has programs played on a stage, or nowhere."""

    def __init__(self, stage: Stage | None) -> None:
        self._stage = stage
        self.programs: list[tuple[AnyStep, ...]] = []
        self.steps = 0
        self.waited = 0.0

    def begins(self, servers: int, *, seeks: bool) -> Performance | None:
        if self._stage is None:
            return None
        return Performance(self._stage, Names(chance("bench", len(self.programs))), servers=servers)

    def ended(self, performance: Performance) -> None:
        assert not performance.violations, performance.violations
        self.programs.append(tuple(performance.steps))
        self.steps += len(performance.steps)
        self.waited += performance.attempt().waited


class _Looking:
    """What makes an empty machine look at everything too: without anything being played."""

    def teardown(self) -> None:
        picture: Picture = self.picture  # type: ignore[attr-defined]
        for step in look(picture):
            picture.apply(step)


def _run(playing: _Playing, stage: Stage | None, programs: int, round_: int, **changes: object) -> float:
    machine = NameServerMachine.played(stage, PROFILE, playing, **changes)
    if stage is None:
        machine = type("Empty", (_Looking, machine), {})
    began = time.perf_counter()
    run_state_machine_as_test(
        seed(round_)(machine),
        settings=settings(
            max_examples=programs,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    return time.perf_counter() - began


def _in_process(programs: int, rounds: int) -> None:
    stage = Stage(parse(f"builtin:{PROFILE}"), PROFILE)
    full, empty, ratios = [], [], []
    for round_ in range(rounds + 1):
        playing = _Playing(stage)
        seconds = _run(playing, stage, programs, round_)
        nothing = _run(_Playing(None), None, programs, round_)
        if round_:
            full.append(playing.steps / seconds)
            empty.append(playing.steps / nothing)
            ratios.append(nothing / seconds)
    _print("builtin:", "machine", full, "empty machine", empty, ratios, GOAL_IN_PROCESS)


def _over_tcp(programs: int, rounds: int) -> None:
    root = str(Path(__file__).resolve().parent.parent)
    script = f"import sys; sys.path.insert(0, {root!r}); from harness.cli import main; sys.exit(main())"
    serve = [sys.executable, "-c", script, "serve", "nameserver", "--profile", PROFILE]
    words = shlex.join([*serve, "--host", "127.0.0.1", "--port", "{port}"])
    stage = Stage(parse(f"exec:{words}"), PROFILE)
    try:
        (server,), _ = stage.servers.take()
        made = _Playing(stage)
        plain = {"servers": 1, "restarts": False, "waits_once_in": 10**9}
        _run(made, stage, programs, 0, **plain)
        bare, played, whole, ratios = [], [], [], []
        waited = 0.0
        for round_ in range(1, rounds + 1):
            bare.append(_ping_pong(server.open().remote, made.programs, round_))
            steps, asked, began = 0, 0.0, time.perf_counter()
            for at, program in enumerate(made.programs):
                performance = Performance(stage, Names(chance("tcp", round_, at)))
                for step in program:
                    performance.do(step)
                steps += len(performance.steps)
                assert not performance.violations, performance.violations
                performance.leave()
                asked += performance.attempt().waited
            played.append(steps / (time.perf_counter() - began - asked))
            waited += asked
            again = _Playing(stage)
            seconds = _run(again, stage, programs, round_, **plain)
            whole.append(again.steps / (seconds - again.waited))
            ratios.append(played[-1] / bare[-1])
        _print("over TCP", "played and judged", played, "bare ping-pong", bare, ratios, GOAL_OVER_TCP)
        print(
            f"{'':<10} generated, played and judged {statistics.median(whole):.0f} steps/s; "
            f"{waited / rounds:.1f} s a round that programs let pass"
        )
    finally:
        stage.close()


def _ping_pong(address: str, programs: Sequence[Sequence[AnyStep]], round_: int) -> float:
    """Round trips per second with the frames of the programs, each sent alone and answered by one frame."""
    host, _, port = address.rpartition(":")
    work: list[list[tuple[str, bytes]]] = []
    for at, program in enumerate(programs):
        names = Names(chance("ping", round_, at))
        work.append(
            [
                (step.conn, b"")
                if isinstance(step, Close)
                else (step.conn, frame_of(step, names, number, announced_by(PROFILE)))
                for number, step in enumerate(program)
                if isinstance(step, Close)
                or not (isinstance(step, Reconnect | Restart | Time | Configure | Unknown) or step.oneway)
            ]
        )
    began = time.perf_counter()
    for frames in work:
        connections: dict[str, socket] = {}
        for conn, frame in frames:
            if not frame:
                if conn in connections:
                    connections.pop(conn).close()
                continue
            if conn not in connections:
                connections[conn] = create_connection((host, int(port)))
                connections[conn].setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            connection = connections[conn]
            connection.sendall(frame)
            data = connection.recv(65536)
            while len(data) < 4 + int.from_bytes(data[:4], "big"):
                data += connection.recv(65536)
        for connection in connections.values():
            connection.close()
    seconds = time.perf_counter() - began
    return sum(bool(frame) for frames in work for _, frame in frames) / seconds


def _print(
    where: str,
    one: str,
    first: Sequence[float],
    other: str,
    second: Sequence[float],
    ratios: Sequence[float],
    goal: float,
) -> None:
    rates = f"{one} {statistics.median(first):.0f} steps/s, {other} {statistics.median(second):.0f}/s"
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    print(f"{where:<10} {rates}: ratio {spread}, goal {goal:g}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
