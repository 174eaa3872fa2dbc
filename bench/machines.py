"""`python -m bench.machines`: what playing and judging cost beside generating, and beside the bare network.

How it is measured:
- *In process*: programs of a profile, made, played and judged on `builtin:`; beside them the same programs
  only made. Rounds alternate; the first is warm-up.
- *Over TCP*: programs that were generated beforehand, against `serve nameserver` on loopback, played, judged
  and tidied up after; beside them a client that sends the same frames over as many connections, encoded
  beforehand, and reads one whole frame for each, knowing nothing else. Programs and client alternate. What
  programs let pass by their own steps (time, stalls, gaps between segments) is no part of the rates and is
  printed by itself.

What is printed is the median of the rounds, with the lowest and the highest ratio of a round.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection, socket

import msgspec

from harness.catalogue import profile_named
from harness.engine.context import TargetContext
from harness.engine.generator import Bounds, Generator
from harness.engine.kind import Tried
from harness.engine.program_run import ProgramRun
from harness.engine.rules import RULES
from harness.engine.stateful import StatefulKind
from harness.program.chance import Chance, chance
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.nameserver.steps import Configure, Unknown
from harness.program.step import Close, Reconnect, Restart, Time
from harness.program.steps import AnyStep
from harness.targets import parse

__all__ = ["main"]

PROFILE = "5.3"
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


def _in_process(programs: int, rounds: int) -> None:
    kind = StatefulKind(TargetContext(parse(f"builtin:{PROFILE}"), PROFILE), "bench")
    played, made, ratios = [], [], []
    for round_ in range(rounds + 1):
        seeds = [f"{round_}/{at}" for at in range(programs)]
        steps, seconds = _timed(lambda seed: _sound(kind.run(seed)), seeds)
        generated, alone = _timed(kind.program, seeds)
        assert steps == generated
        if round_:
            played.append(steps / seconds)
            made.append(steps / alone)
            ratios.append(alone / seconds)
    _print("builtin:", "made, played and judged", played, "made", made, ratios)


def _over_tcp(programs: int, rounds: int) -> None:
    root = str(Path(__file__).resolve().parent.parent)
    script = f"import sys; sys.path.insert(0, {root!r}); from harness.cli import main; sys.exit(main())"
    serve = [sys.executable, "-c", script, "serve", "nameserver", "--profile", PROFILE]
    words = shlex.join([*serve, "--host", "127.0.0.1", "--port", "{port}"])
    context = TargetContext(parse(f"exec:{words}"), PROFILE)
    bounds = msgspec.structs.replace(Bounds.of(context), servers=1, restarts=False, waits_once_in=10**9)
    generator, made = Generator(RULES["nameserver"], bounds, profile_named(PROFILE)), []
    for number in range(programs):
        made.append(_made(generator, context, chance("bench", number)))
    try:
        (server,), _ = context.servers.take()
        bare, played, ratios = [], [], []
        waited = 0.0
        for round_ in range(1, rounds + 1):
            bare.append(_ping_pong(server.open().remote, made, round_))
            steps, asked, began = 0, 0.0, time.perf_counter()
            for at, program in enumerate(made):
                program_run = ProgramRun(context, Names(chance("tcp", round_, at)))
                for step in program:
                    program_run.do(step)
                steps += len(program_run.steps)
                assert not program_run.violations, program_run.violations
                program_run.leave()
                asked += program_run.attempt().waited
            played.append(steps / (time.perf_counter() - began - asked))
            waited += asked
            ratios.append(played[-1] / bare[-1])
        _print("over TCP", "played and judged", played, "bare ping-pong", bare, ratios, GOAL_OVER_TCP)
        print(f"{'':<10} {waited / rounds:.1f} s a round that programs let pass")
    finally:
        context.close()


def _timed(work: Callable[[str], Sequence[AnyStep]], seeds: Sequence[str]) -> tuple[int, float]:
    """How many steps were made, and how long it took."""
    began = time.perf_counter()
    return sum(len(work(seed)) for seed in seeds), time.perf_counter() - began


def _sound(tried: Tried) -> Sequence[AnyStep]:
    assert not tried.attempt.violations, tried.attempt.violations
    return tried.program


def _made(generator: Generator, context: TargetContext, source: Chance) -> tuple[AnyStep, ...]:
    """A program for one server, reading back included."""
    steps, expected = list[AnyStep](), context.role.state(PROFILE, 1)
    for step in generator.steps(source, generator.allowance(source), expected):
        steps.append(step)
        expected.apply(step)
    return (*steps, *context.role.look(expected, moment=0))


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
                else (step.conn, frame_of(step, names, number, profile_named(PROFILE).announces))
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
    goal: float | None = None,
) -> None:
    rates = f"{one} {statistics.median(first):.0f} steps/s, {other} {statistics.median(second):.0f}/s"
    spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
    print(f"{where:<10} {rates}: ratio {spread}" + ("" if goal is None else f", goal {goal:g}"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
