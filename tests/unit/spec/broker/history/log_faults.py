"""Brokers that lose races, and some that are only slow: each is sound while requests come one after another.

A fault acts where something else was done to the same queue a moment before, so that no
case that asks one thing after another would see most of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.wire import Command
from harness.wire.messages import Message
from reference_impl.broker import Parts
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.store import GetStatus, Got, Put, Store
from reference_impl.mutants.registry import Mutant
from reference_impl.remoting.reply import Reply

__all__ = ["FAULTS", "SLOW"]

MOMENT = 60
"""Milliseconds within which two requests meet."""

FAULTS: dict[str, tuple[Callable[[Parts], Parts], set[str]]] = {}
"""By name: what makes the faulty Broker, and the anomalies of which one must be seen."""
SLOW: dict[str, Callable[[Parts], Parts]] = {}
"""Brokers with which nothing is wrong."""


def fault(method: Any, *anomalies: str) -> Callable[[Callable[..., Any]], Mutant]:
    """Enters a fault under the name of its function; it is written as a mutant is."""

    def enter(function: Callable[..., Any]) -> Mutant:
        name = function.__name__.replace("_", "-")
        found = Mutant(name, "", ("4.9", "5.3"), "history", ("broker",), "", [(method, function)])
        if anomalies:
            FAULTS[name] = (found.applied, set(anomalies))
        else:
            SLOW[name] = found.applied
        return found

    return enter


def _times(self: Any, what: object) -> int:
    """How often this was done, this time included."""
    counts: dict[object, int] = self.__dict__.setdefault("times", {})
    counts[what] = counts.get(what, 0) + 1
    return counts[what]


def _meets(self: Store, message: Message, now: int) -> bool:
    """Whether a message was stored in the same queue a moment ago; remembers that one is now."""
    last: dict[object, int] = self.__dict__.setdefault("last", {})
    place = message.topic, message.queue_id
    met = now - last.get(place, -MOMENT) < MOMENT
    last[place] = now
    return met


# --- sends --------------------------------------------------------------------------------------------------


@fault(Store.put_batch, "inconsistent offsets", "lost message")
def batch_loses_its_last(original: Any, self: Store, messages: list[Message], now: int) -> list[Put]:
    """The last message of a batch is answered and not stored."""
    puts: list[Put] = original(self, messages[:-1], now)
    return [*puts, puts[-1]]


@fault(Store.put, "inconsistent offsets", "lost message")
def send_beside_another_is_lost(original: Any, self: Store, message: Message, now: int) -> Put:
    """Two sends reserve one place; the later one is answered with it and forgotten."""
    last: Put | None = self.__dict__.get("latest")
    if _meets(self, message, now) and last is not None:
        return last
    put: Put = original(self, message, now)
    self.__dict__["latest"] = put
    return put


@fault(Store.put, "duplicate message")
def send_beside_another_is_stored_twice(original: Any, self: Store, message: Message, now: int) -> Put:
    """It is tried again although it was stored."""
    put: Put = original(self, message, now)
    if _meets(self, message, now):
        original(self, message, now)
    return put


@fault(Store.put, "inconsistent offsets")
def answers_of_two_sends_are_swapped(original: Any, self: Store, message: Message, now: int) -> Put:
    """The second of two that meet is answered with the place of the first."""
    put: Put = original(self, message, now)
    if _meets(self, message, now):
        return Put(put.status, put.physical_offset, put.queue_offset - 1, put.size, put.store_timestamp)
    return put


@fault(Store.put, "phantom offset", "inconsistent offsets")
def every_seventh_answer_is_beyond_the_end(original: Any, self: Store, message: Message, now: int) -> Put:
    """Now and then the answer names an offset far beyond the end."""
    put: Put = original(self, message, now)
    if _times(self, "put") % 7 == 0:
        return Put(put.status, put.physical_offset, put.queue_offset + 64, put.size, put.store_timestamp)
    return put


# --- pulls --------------------------------------------------------------------------------------------------


@fault(Store.get, "skipped message")
def every_third_pull_skips_one(original: Any, self: Store, *asked: Any) -> Got:
    """It begins behind the message at its offset, where there are several."""
    got: Got = original(self, *asked)
    if len(got.frames) > 1 and _times(self, "get") % 3 == 0:
        return Got(got.status, got.next_offset, got.min_offset, got.max_offset, got.frames[1:])
    return got


@fault(Store.get, "nonmonotonic read", "overdue message")
def every_third_pull_reads_a_copy(original: Any, self: Store, *asked: Any) -> Got:
    """It finds the queue as it was at its beginning: empty."""
    got: Got = original(self, *asked)
    if got.frames and _times(self, "get") % 3 == 0:
        return Got(GetStatus.OFFSET_OVERFLOW_ONE, asked[2], 0, got.max_offset, [])
    return got


@fault(Offsets.greatest, "nonmonotonic read", "overdue message")
def every_third_end_is_behind(
    original: Any, self: Offsets, command: Command, connection: int, now: int
) -> Reply | None:
    """The end in an answer goes back by one."""
    reply: Reply = original(self, command, connection, now)
    assert reply.ext is not None
    if _times(self, "end") % 3 == 0 and reply.ext["offset"] != "0":
        reply.ext["offset"] = str(int(reply.ext["offset"] or 0) - 1)
    return reply


# --- offsets of groups --------------------------------------------------------------------------------------


@fault(Offsets.commit, "lost commit")
def every_fourth_commit_is_forgotten(
    original: Any, self: Offsets, group: str, topic: str, queue_id: int, offset: int, now: int
) -> None:
    """It is answered, and was not noted."""
    if _times(self, "commit") % 4:
        original(self, group, topic, queue_id, offset, now)


@fault(Offsets.commit, "lost commit", "stale commit")
def commit_beside_a_commit_goes_back(
    original: Any, self: Offsets, group: str, topic: str, queue_id: int, offset: int, now: int
) -> None:
    """What was there before is put back by a writer that had read it."""
    before = self.offset_of(group, topic, queue_id)
    original(self, group, topic, queue_id, offset, now)
    if before is not None and _times(self, "commit") % 2:
        original(self, group, topic, queue_id, before, now)


@fault(Offsets.offset_of, "stale commit", "lost commit")
def every_third_reader_has_a_copy(
    original: Any, self: Offsets, group: str, topic: str, queue_id: int
) -> int | None:
    """It is answered with what the reader before was answered with."""
    copies: dict[object, int | None] = self.__dict__.setdefault("copies", {})
    current = original(self, group, topic, queue_id)
    old, copies[group, topic, queue_id] = copies.get((group, topic, queue_id), current), current
    shown: int | None = old if _times(self, "read") % 3 == 0 else current
    return shown


@fault(Offsets.commit, "phantom commit")
def commits_are_added_up(
    original: Any, self: Offsets, group: str, topic: str, queue_id: int, offset: int, now: int
) -> None:
    """Two writers add to what they find."""
    original(self, group, topic, queue_id, offset + 1000, now)


# --- what is no fault ---------------------------------------------------------------------------------------


@fault(Pulls.pull)
def queues_are_written_a_second_later(
    original: Any, self: Pulls, command: Command, connection: int, now: int
) -> Reply | None:
    """Pulls show what is stored a second later; the ends that are told run ahead."""
    self.broker.store.__dict__["now"] = now
    reply: Reply | None = original(self, command, connection, now)
    return reply


@queues_are_written_a_second_later.also(Store._append)
def _(original: Any, self: Store, message: Message, topic: str, queue_id: int, offset: int) -> None:
    stored: dict[object, list[int]] = self.__dict__.setdefault("stored", {})
    stored.setdefault((topic, queue_id), []).append(message.store_timestamp)
    original(self, message, topic, queue_id, offset)


@queues_are_written_a_second_later.also(Store.get)
def _(original: Any, self: Store, topic: str, queue_id: int, offset: int, *asked: Any) -> Got:
    stored: list[int] = self.__dict__.get("stored", {}).get((topic, queue_id), [])
    end = sum(moment <= self.__dict__["now"] - 1000 for moment in stored)
    if offset < end:
        got: Got = original(self, topic, queue_id, offset, *asked)
        return Got(got.status, min(got.next_offset, end), 0, end, got.frames[: end - offset])
    if not end:
        return Got(GetStatus.NO_MESSAGE_IN_QUEUE, 0, 0, 0, [])
    beyond = offset > end
    return Got(GetStatus.OFFSET_OVERFLOW_BADLY if beyond else GetStatus.OFFSET_OVERFLOW_ONE, end, 0, end, [])
