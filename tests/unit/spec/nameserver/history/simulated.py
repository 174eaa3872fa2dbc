"""Histories that are linearizable because they were made so: each step takes effect on a reference
NameServer, in process, at one moment between its sending and its answer.

A history is decided by its seed, profile and mutant; times are made up.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue import profile_named
from harness.engine.nameserver.history_programs import Shape, program_of
from harness.program.chance import chance
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.step import Close, Time
from harness.program.steps import AnyStep
from harness.spec import Answered, Ended, Observation, Unanswered
from harness.wire import decode
from reference_impl.nameserver import PARTS, Config, Parts, Send, build
from reference_impl.nameserver import Close as Closed

__all__ = ["simulated"]


def simulated(
    seed: object,
    profile: str,
    *,
    mutant: str | None = None,
    fault: Callable[[Parts], Parts] | None = None,
    lost: float = 0.0,
    steps: int | None = None,
    shape: Shape | None = None,
) -> tuple[list[Observation], Names]:
    """A history of a program, and the names in it. ``lost`` is the share of answers that never come."""
    source = chance("simulated", str(seed), profile)
    names = Names(source)
    shape = Shape(profile=profile) if shape is None else shape
    program = list(program_of(source, shape))
    while steps is not None and len(program) < steps:
        program = [*program_of(source, shape), *program]
    return _play(program[-steps:] if steps else program, profile, names, source, mutant, lost, fault), names


def _play(program, profile, names, source, mutant, lost, fault) -> list[Observation]:  # type: ignore[no-untyped-def]
    busy = Config.of({"serverChannelMaxIdleTimeSeconds": "100000"}, profile)  # players keep connections busy
    parts = None if fault is None else fault(PARTS[profile])
    endpoint = build(profile, mutant=mutant, config=busy, parts=parts)
    ready: dict[str, float] = {}
    numbers: dict[str, int] = {}
    serial = 0
    start = 1.0
    barrier = 1.0
    planned: list[tuple[float, int, AnyStep, float, float]] = []
    for number, step in enumerate(program):
        if isinstance(step, Time):
            start = barrier = max([barrier, start, *ready.values()]) + step.seconds
            planned.append((barrier, number, step, barrier - step.seconds, barrier))
            continue
        conn = step.conn
        invoked = max(start, ready.get(conn, 0.0)) + source.random() * 0.01
        acts = invoked + source.random() * 0.05
        returned = acts + source.random() * 0.05
        ready[conn] = acts + 0.0001
        planned.append((acts, number, step, invoked, returned))
        if isinstance(step, Close) or step.awaited:
            start = max(start, returned) if source.random() < 0.5 else start + 0.001
        barrier = max(barrier, returned)
    seen = []
    for acts, number, step, invoked, returned in sorted(planned, key=lambda one: one[:2]):
        now = int(acts * 1000)
        while endpoint.next_tick(now) <= now:
            for effect in endpoint.tick(now):
                if isinstance(effect, Closed):
                    symbol = next(symbol for symbol, at in numbers.items() if at == effect.connection)
                    del numbers[symbol]
                    closed = Close(conn=symbol)
                    seen.append(
                        Observation(number=number, step=closed, invoked=0.0, returned=acts, outcome=Ended())
                    )
        outcome = None
        if isinstance(step, Close):
            if step.conn in numbers:
                endpoint.lost(numbers.pop(step.conn), now)
        elif not isinstance(step, Time):
            if step.conn not in numbers:
                serial += 1
                numbers[step.conn] = serial
                endpoint.connected(serial, f"127.0.0.1:{serial + 1000}", now)
            frame = frame_of(step, names, number, profile_named(profile).announces)  # type: ignore[arg-type]
            effects = endpoint.received(numbers[step.conn], frame, now)
            sent = [effect for effect in effects if isinstance(effect, Send)]
            outcome = Answered(decode(sent[0].data)) if sent and source.random() >= lost else Unanswered()
        seen.append(
            Observation(number=number, step=step, invoked=invoked, returned=returned, outcome=outcome)
        )
    return seen
