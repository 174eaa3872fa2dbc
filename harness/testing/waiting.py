"""Waiting for what an application does, and saying what it did instead."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from .durations import Duration, milliseconds
from .messages import Message, Pending, Where
from .problems import OptionError

LOOK_EVERY: Final = 0.005
"""Seconds between two looks."""
_HURRY_EVERY: Final = 0.05
_MOST_SHOWN: Final = 10


class Elsewhere(msgspec.Struct, frozen=True):
    """What there is beside the messages of a topic."""

    exists: bool
    pending: list[Pending]
    topics: dict[str, int]
    """How many messages other topics have."""
    now: int


def wait_until(
    met: Callable[[], bool],
    timeout: Duration,
    hurry: Callable[[], object] = lambda: None,
    look_every: float = LOOK_EVERY,
) -> bool:
    """Look again and again for a time; returns whether the condition was met. `hurry` is called now and then
    in between.
    """
    now = time.monotonic()
    end, hurry_at = now + milliseconds(timeout) / 1000, now + _HURRY_EVERY
    while not met():
        now = time.monotonic()
        if now >= end:
            return False
        if now >= hurry_at:
            hurry()
            hurry_at = now + _HURRY_EVERY
        time.sleep(look_every)
    return True


def counted(count: int) -> int:
    """A number of messages to wait for. Raises OptionError."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise OptionError(f"count={count!r}: expected a number from 1; for none, compare messages() with []")
    return count


def split(messages: list[Message], where: Where | None) -> tuple[list[Message], list[Message]]:
    """Those that meet a condition, and the others."""
    if where is None:
        return messages, []
    found: list[Message] = []
    others: list[Message] = []
    for message in messages:
        (found if where(message) else others).append(message)
    return found, others


def missing(
    topic: str, count: int, timeout: Duration, found: list[Message], others: list[Message], beside: Elsewhere
) -> str:
    """Why a wait was in vain."""
    lines = [f"{len(found)} of {count} messages came to {topic!r} within {_seconds(timeout)}"]
    if not beside.exists:
        lines.append(f"topic {topic!r} does not exist: is its name the one that the application uses?")
    lines += _listed("these came:", found)
    lines += _listed("these came, but are not what was waited for:", others)
    hidden = map(_why(beside.now), beside.pending)
    lines += _listed("these were sent, and consumers do not see them yet:", hidden)
    elsewhere = {name: number for name, number in beside.topics.items() if name != topic}
    if elsewhere:
        told = ", ".join(f"{name} {number}" for name, number in sorted(elsewhere.items()))
        lines.append(f"messages in other topics: {told}")
    elif not (found or others or beside.pending):
        lines.append("no topic has a message: has the application sent anything, and to this server?")
    return "\n".join(lines)


def _listed(title: str, what: Iterable[object]) -> Iterator[str]:
    shown = [str(one) for one in what]
    if shown:
        yield title
        yield from (f"  {one}" for one in shown[:_MOST_SHOWN])
        if len(shown) > _MOST_SHOWN:
            yield f"  … and {len(shown) - _MOST_SHOWN} more"


def _why(now: int) -> Callable[[Pending], str]:
    def told(one: Pending) -> str:
        if one.due is None:
            return f"{one.message}: half of a transaction that its producer has not committed"
        return f"{one.message}: delayed, due in {max(0, one.due - now) / 1000:g} s"

    return told


def _seconds(timeout: Duration) -> str:
    return f"{milliseconds(timeout) / 1000:g} s"
