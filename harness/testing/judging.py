"""What a test may demand of an application's whole behaviour. Pure functions: each says what is wrong.

`handled` is what the application has recorded of the messages that it handled, in order; `by` gives for a
stored message what the application records of it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeAlias

from .messages import Message
from .progress import QueueProgress

By: TypeAlias = Callable[[Message], Hashable]

_MOST_SHOWN: Final = 10


def identity_of(message: Message) -> Hashable:
    """What clients call `msgId`."""
    return message.id


def unconsumed(
    messages: list[Message],
    consumed: list[Message],
    retried: set[str],
    dead: list[Message],
    progress: list[QueueProgress],
) -> str:
    """Which messages a group is not done with, and why; empty: it has consumed all of them."""
    if not messages:
        return "there is no message, so this proves nothing; has the application sent any?"
    done = {message.id for message in consumed}
    left = [message for message in messages if message.id not in done]
    if not left:
        return ""
    why = dict.fromkeys(retried, "waits to be tried again")
    why |= {message.id: "is a dead letter" for message in dead}
    committed = {(one.topic, one.broker, one.queue): one.committed for one in progress}
    lines = [f"{len(left)} of {len(messages)} messages are not consumed:"]
    for message in left[:_MOST_SHOWN]:
        offset = committed.get((message.topic, message.broker, message.queue))
        told = "the group has committed no offset" if offset is None else f"the group is at offset {offset}"
        lines.append(f"  {message} — {why.get(message.id, told)}")
    return "\n".join(_cut(lines, len(left)))


def out_of_order(messages: list[Message], handled: Iterable[Hashable], by: By) -> str:
    """Where messages of one sharding key were handled in another order than they were sent in; empty:
    nowhere. Of what was handled several times, the first time counts.
    """
    first: dict[Hashable, int] = {}
    for at, value in enumerate(handled):
        first.setdefault(value, at)
    lanes: dict[str, list[Message]] = {}
    for message in messages:
        if message.sharding_key is not None:
            lanes.setdefault(message.sharding_key, []).append(message)
    if not any(len(lane) > 1 for lane in lanes.values()):
        return "no two messages have the same sharding key, so this proves nothing"
    if not any(by(message) in first for lane in lanes.values() for message in lane):
        return _unknown(messages, first, by)
    lines = [line for key, lane in lanes.items() for line in _disorder(key, lane, first, by)]
    return "\n".join(_cut(["handled out of order:", *lines], len(lines))) if lines else ""


def delivered_in_vain(
    transactions: list[Message], messages: list[Message], handled: Iterable[Hashable], by: By
) -> str:
    """Which messages were handled though their transaction was not committed; empty: none."""
    ended = [one for one in transactions if one.transaction != "committed"]
    if not ended:
        return "no transaction was rolled back or left open, so this proves nothing"
    visible = {message.id for message in messages}
    values = set(handled)
    wrong = [one for one in ended if by(one) in values or one.id in visible]
    lines = [f"  {one} — its transaction is {one.transaction}" for one in wrong]
    title = f"{len(wrong)} messages were delivered that must not be:"
    return "\n".join(_cut([title, *lines], len(lines))) if wrong else ""


def changed(before: object, after: object) -> str:
    """How a second delivery has changed what an application keeps; empty: not at all."""
    if before == after:
        return ""
    lines = ["the second delivery of the same messages has changed the state of the application:"]
    if isinstance(before, dict) and isinstance(after, dict):
        lines += [
            f"  {key!r}: {before.get(key, '(absent)')!r} became {after.get(key, '(absent)')!r}"
            for key in dict.fromkeys([*before, *after])
            if key not in before or key not in after or before[key] != after[key]
        ]
    else:
        lines += [f"  before: {before!r}", f"  after:  {after!r}"]
    return "\n".join(_cut(lines, len(lines) - 1))


def _disorder(key: str, lane: list[Message], first: dict[Hashable, int], by: By) -> list[str]:
    lines = []
    latest: Message | None = None
    for message in lane:
        at = first.get(by(message))
        if at is None:
            continue
        if latest is not None and at < first[by(latest)]:
            lines.append(f"  key {key!r}: {message} was handled before {latest}")
        else:
            latest = message
    return lines


def _unknown(messages: list[Message], first: dict[Hashable, int], by: By) -> str:
    shown = next(iter(first), "nothing")
    return (
        f"nothing of what was handled (such as {shown!r}) is a message of the topic (such as "
        f"{by(messages[0])!r}); say with `by` what the application records of a message"
    )


def _cut(lines: list[str], number: int) -> list[str]:
    """The first line and as many as are shown."""
    kept = lines[: _MOST_SHOWN + 1]
    return kept if number <= _MOST_SHOWN else [*kept, f"  … and {number - _MOST_SHOWN} more"]
