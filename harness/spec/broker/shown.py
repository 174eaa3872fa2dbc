"""Which message it is that a Broker shows in a queue, and whether it may be there.

A message is known by its unique key and its body.
"""

from __future__ import annotations

from math import inf

from harness.spec.broker.entries import Entry, Origin, Queue
from harness.spec.broker.invariant_error import InvariantError
from harness.spec.broker.ledger import Ledger
from harness.spec.broker.wholeness import Wholeness
from harness.wire.messages import Message, PropertyName

EARLY: dict[Origin, str] = {
    "send": "acknowledged-is-there",
    "oneway": "oneway-is-there",
    "delay": "delayed-is-not-early",
    "timer": "timed-is-not-early",
    "commit": "half-is-invisible",
    "retry": "retried-is-not-early",
    "dead": "dead-letter-is-kept",
    "copy": "copied-is-there",
}
MISSING: dict[Origin, str] = {
    **EARLY,
    "delay": "delayed-is-delivered",
    "timer": "timed-is-delivered",
    "commit": "commit-delivers",
    "retry": "retried-comes-back",
}
_TWICE: dict[Origin, str] = {
    **EARLY,
    "delay": "delayed-is-delivered-once",
    "timer": "delayed-is-delivered-once",
    "commit": "commit-delivers-once",
}
DEMOTED = "demoted-delivers-no-delay"


def recalled(queue: Queue) -> str:
    """What is broken by a message that was taken back and is there."""
    return "recalled-is-not-delivered" if queue.ended is None else "recalled-stays-so"


class Shown:
    """Finds the entries of messages."""

    def __init__(self, ledger: Ledger, wholeness: Wholeness) -> None:
        self._ledger = ledger
        self._wholeness = wholeness

    def known(self, topic: str, queue: Queue, shown: Message, end: float) -> Entry | None:
        """The entry of a message that was shown in a queue; None where the queue may hold others."""
        key = shown.properties.get(PropertyName.UNIQ_KEY, "")
        text = shown.body.rstrip(b".").decode("latin-1")
        names = self._ledger.names
        symbol = names.made.get(key) or names.made.get(text)
        if symbol is None:
            if not self._ledger.is_known(topic):
                return None
            raise InvariantError(
                "body-is-as-it-was-sent", "a message that was sent", f"{text!r} with key {key!r}"
            )
        entry = queue.at.get(shown.queue_offset)
        if entry is not None and entry.message != symbol:
            if not self._ledger.is_known(topic):
                return None
            raise InvariantError(
                MISSING[entry.origin] if entry.origin != "send" else "acknowledged-is-there",
                f"{names.name(entry.message)} at {shown.queue_offset}",
                f"{key or text} there",
            )
        if entry is None:
            entry = self._new(topic, queue, symbol, shown, end)
        if entry is not None:
            if self._ledger.is_known(topic):
                self._ledger.held |= {EARLY[entry.origin], _TWICE.get(entry.origin, MISSING[entry.origin])}
            self._wholeness.judge(entry, shown)
        return entry

    def _new(self, topic: str, queue: Queue, symbol: str, shown: Message, end: float) -> Entry | None:
        """Finds the entry of a message that is seen for the first time."""
        own = [one for one in queue.entries if one.message == symbol]
        own.sort(key=lambda one: one.tried != shown.reconsume_times)
        free = [one for one in own if one.offset is None]
        free.sort(key=lambda one: (one.tried != shown.reconsume_times, one.latest, one.earliest))
        free.sort(key=lambda one: one.earliest > end)
        if free and free[0].earliest <= end:
            queue.bind(free[0], shown.queue_offset, end)
            if self._ledger.is_known(topic):
                self._is_in_order(queue, free[0])
            return free[0]
        if not self._ledger.is_known(topic):
            return None
        what = f"{self._ledger.names.name(symbol)} at {shown.queue_offset}"
        if free:
            if free[0].recalled:
                raise InvariantError(recalled(queue), "nothing: it was recalled", what)
            if free[0].earliest == inf:
                raise InvariantError(DEMOTED, "nothing: the Broker is a slave", what)
            early = free[0].earliest - end
            raise InvariantError(EARLY[free[0].origin], f"not before {early:.3f} s from then", what)
        if own:
            raise InvariantError(_TWICE[own[0].origin], f"once, at {own[0].offset}", what)
        half = self._ledger.halves.get(symbol)
        if half is not None and topic == half.send.topic:
            if not half.ends:
                raise InvariantError("half-is-invisible", "nothing: it was not committed", what)
            raise InvariantError("rolled-back-is-invisible", "nothing: it was rolled back", what)
        raise InvariantError("acknowledged-is-there", f"nothing: it was not sent to {topic}", what)

    def _is_in_order(self, queue: Queue, entry: Entry) -> None:
        """Whether messages of one level keep their order; behind a restart some may come again."""
        if entry.origin != "delay" or entry.paused or queue.ended is not None:
            return
        for one in queue.entries:
            if one.origin != "delay" or one.paused or one.send.level != entry.send.level:
                continue
            self._in_order(one, entry)
            self._in_order(entry, one)

    def _in_order(self, first: Entry, second: Entry) -> None:
        """Whether of two messages the first lies before the second, if it was sent before."""
        if first.offset is None or second.offset is None or first.sent >= second.began:
            return
        self._ledger.held.add("delayed-keeps-its-order")
        if first.offset > second.offset:
            names = self._ledger.names
            raise InvariantError(
                "delayed-keeps-its-order",
                f"{names.name(first.message)} before {names.name(second.message)}",
                f"it is at {first.offset}, behind {second.offset}",
            )
