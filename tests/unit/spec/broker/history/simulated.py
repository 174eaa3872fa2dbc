"""Histories of a Broker that are linearizable because they were made so: each step takes effect on a
reference Broker, in process, at one moment between its sending and its answer.

A history is decided by its seed, profile and fault; times are made up.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue import profile_named
from harness.engine.broker.history_programs import Shape, program_of
from harness.program.chance import chance
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.step import Close, Time
from harness.program.steps import AnyStep
from harness.spec import Answered, Observation, Unanswered
from harness.wire import decode
from reference_impl.broker import PARTS, Config, Parts, build
from reference_impl.remoting.effects import Send
from tests.unit.broker.driver import FirstChoice

__all__ = ["simulated"]


def simulated(
    seed: object,
    profile: str,
    *,
    fault: Callable[[Parts], Parts] | None = None,
    lost: float = 0.0,
    shape: Shape | None = None,
) -> tuple[list[Observation], Names]:
    """A history of a program, and the names in it. ``lost`` is the share of answers that never come."""
    source = chance("simulated", str(seed), profile)
    names = Names(source)
    program = program_of(source, Shape(restarts=0.0) if shape is None else shape)
    parts = PARTS[profile] if fault is None else fault(PARTS[profile])
    endpoint = build(profile, config=Config(), parts=parts, chance=FirstChoice(), started=0)
    ready: dict[str, float] = {}
    numbers: dict[str, int] = {}
    start = barrier = 1.0
    planned: list[tuple[float, int, AnyStep, float, float]] = []
    for number, step in enumerate(program):
        if isinstance(step, Time):
            start = barrier = max([barrier, start, *ready.values()]) + step.seconds
            planned.append((barrier, number, step, barrier - step.seconds, barrier))
            continue
        conn = step.conn  # type: ignore[union-attr]
        invoked = max(start, ready.get(conn, 0.0)) + source.random() * 0.01
        acts = invoked + source.random() * 0.05
        returned = acts + source.random() * 0.05
        ready[conn] = acts + 0.0001
        planned.append((acts, number, step, invoked, returned))
        barrier = max(barrier, returned)
        if isinstance(step, Close) or step.awaited:  # type: ignore[union-attr]
            start = barrier if source.random() < 0.8 else start + 0.001
    seen = []
    for acts, number, step, invoked, returned in sorted(planned, key=lambda one: one[:2]):
        now = int(acts * 1000)
        while endpoint.next_tick(now) <= now:
            endpoint.tick(now)
        outcome: Answered | Unanswered | None = None
        if isinstance(step, Close):
            if step.conn in numbers:
                endpoint.lost(numbers.pop(step.conn), now)
        elif not isinstance(step, Time):
            conn = step.conn  # type: ignore[union-attr]
            if conn not in numbers:
                numbers[conn] = number + 1
                endpoint.connected(number + 1, f"127.0.0.1:{number + 1001}", now)
            frame = frame_of(step, names, number, profile_named(profile).announces)  # type: ignore[arg-type]
            sent = [one for one in endpoint.received(numbers[conn], frame, now) if isinstance(one, Send)]
            if sent and source.random() >= lost:
                outcome = Answered(decode(sent[0].data))
            elif not step.oneway:  # type: ignore[union-attr]
                outcome = Unanswered()
        seen.append(
            Observation(number=number, step=step, invoked=invoked, returned=returned, outcome=outcome)
        )
    return seen, names
