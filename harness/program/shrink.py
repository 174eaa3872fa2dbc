"""A failing program, made small: chunks of steps are dropped, then single steps, then fields are made plain.

Pure; the caller says what still fails, and how long to go on. The number of attempts is
bounded; no program is tried twice. A step never gets a trait that it had not (`traits`): what a server makes
of that may be another failure. Waits are not made shorter: one that is just long enough holds on one day
and fails on the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from harness.program.broker.filters import Filter, parts_of
from harness.program.nameserver.steps import Register
from harness.program.step import Time
from harness.program.steps import AnyStep, decode_step, encode_step
from harness.program.traits import traits_of

Fails = Callable[[Sequence[AnyStep]], bool]


class _Budget:
    def __init__(self, fails: Fails, attempts: int, goes_on: Callable[[], bool]) -> None:
        self._fails = fails
        self._left = attempts
        self._goes_on = goes_on
        self._tried: set[str] = set()

    def fails(self, steps: Sequence[AnyStep]) -> bool:
        """Whether steps still fail; without attempts left nothing does."""
        text = "\n".join(map(encode_step, steps))
        if text in self._tried or self._left <= 0 or not self._goes_on():
            return False
        self._tried.add(text)
        self._left -= 1
        return self._fails(steps)


def shrunk(
    steps: Sequence[AnyStep],
    fails: Fails,
    *,
    attempts: int = 400,
    goes_on: Callable[[], bool] = lambda: True,
) -> tuple[AnyStep, ...]:
    """A program as short and plain as could be found that still fails; ``steps`` do."""
    budget = _Budget(fails, attempts, goes_on)
    found = list(steps)
    while True:
        smaller = _ordinary(_fields(_waits(_steps(found, budget), budget), budget), budget)
        if smaller == found:
            return tuple(found)
        found = smaller


def _steps(steps: list[AnyStep], budget: _Budget) -> list[AnyStep]:
    size = max(1, len(steps) // 2)
    while True:
        at = len(steps) - size
        while at > -size:
            rest = steps[: max(0, at)] + steps[at + size :]
            if rest and len(rest) < len(steps) and budget.fails(rest):
                steps = rest
            at -= size
        if size == 1:
            return steps
        size //= 2


def _waits(steps: list[AnyStep], budget: _Budget) -> list[AnyStep]:
    """Waits that follow each other are one wait, which takes as long."""
    at = len(steps) - 1
    while at > 0:
        first, second = steps[at - 1], steps[at]
        if isinstance(first, Time) and isinstance(second, Time):
            idle = tuple(conn for conn in first.idle if conn in second.idle)
            whole = [
                *steps[: at - 1],
                Time(seconds=first.seconds + second.seconds, idle=idle),
                *steps[at + 1 :],
            ]
            if budget.fails(whole):
                steps = whole
        at -= 1
    return steps


def _fields(steps: list[AnyStep], budget: _Budget) -> list[AnyStep]:
    for at in range(len(steps)):
        for field in msgspec.structs.fields(steps[at]):
            if field.name in _NAMES:
                continue
            for value in _candidates(_default(field), getattr(steps[at], field.name)):
                changed = msgspec.structs.replace(steps[at], **{field.name: value})
                if not traits_of(changed) <= traits_of(steps[at]):
                    continue
                candidate = [*steps[:at], changed, *steps[at + 1 :]]
                if budget.fails(candidate):
                    steps = candidate
                    break
    return steps


def _ordinary(steps: list[AnyStep], budget: _Budget) -> list[AnyStep]:
    """What is special and not needed becomes ordinary: names beyond ASCII, registrations with few topics."""
    for odd, plain in _PLAIN.items():
        text = [encode_step(step) for step in steps]
        renamed = [decode_step(line.replace(odd, plain)) for line in text]
        if renamed != steps and budget.fails(renamed):
            steps = renamed
    for at, step in enumerate(steps):
        if isinstance(step, Register) and len(step.topics) < _TOPICS:
            topics = {**step.topics, **dict.fromkeys(_SPARE[: _TOPICS - len(step.topics)], (4, 4, 6, 0))}
            full = [*steps[:at], msgspec.structs.replace(step, topics=topics), *steps[at + 1 :]]
            if budget.fails(full):
                steps = full
    return steps


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default


def _candidates(default: Any, value: Any) -> Iterator[Any]:
    """Plainer values of a field, the plainest first."""
    if value != default:
        yield default
        yield from (simpler for simpler in _simpler(value) if simpler != default)


_TOPICS = 2
_SPARE = ("T8", "T9")
_PLAIN = {
    json.dumps(odd, ensure_ascii=False): json.dumps(plain) for odd, plain in (("bé\\", "b8"), ("Té\\", "T7"))
}
_NAMES = ("broker", "address", "cluster", "topic")
"""To use another name is not plainer."""


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name in value:
            yield {key: item for key, item in value.items() if key != name}
    elif isinstance(value, tuple) and value:
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, element in enumerate(value):
            if isinstance(element, msgspec.Struct):
                for simpler in _simpler(element):
                    yield (*value[:at], simpler, *value[at + 1 :])
    elif isinstance(value, msgspec.Struct):
        yield from parts_of(value) if isinstance(value, Filter) else ()
        for field in msgspec.structs.fields(value):
            if field.name not in _NAMES:
                for simpler in _candidates(_default(field), getattr(value, field.name)):
                    yield msgspec.structs.replace(value, **{field.name: simpler})
