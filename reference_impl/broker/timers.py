"""Messages that are delivered at any time that their sender names (5.x).

1. A message with one of the properties `TIMER_DELAY_SEC`, `TIMER_DELAY_MS`, `TIMER_DELIVER_MS` waits in a
   topic of the system, and is stored again under its own when its time has come. A time that has passed is no
   delay.
2. Times are kept by the second (`timerPrecisionMs`), and nothing is delivered early.
3. Those that wait are due in any order: their offsets and times are in memory, and `config/timers.json` says
   which of them wait. What was delivered since that was last written is delivered once more after a crash.
   (Apache keeps a log and a wheel in files of their own.)
4. A deletion waits like a message; what waits for the same moment under its topic and unique key (5.5: its
   key alone, by default) is not delivered, and neither is the deletion (`recalls.py`).
5. A slave delivers nothing.

Source: HookUtils#transformTimerMessage, TimerMessageStore, RecallMessageHandle of rocketmq-all-5.3.3;
TimerMessageStore#buildDeleteKey of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire.messages import Message, PropertyName, TopicName, decode_message
from reference_impl.remoting import fields

from .part import NEVER, Part
from .store import GetStatus, PutStatus

if TYPE_CHECKING:
    from .core import Broker

TIMERS: Final = "config/timers.json"
_ENQUEUED: Final = "TIMER_ENQUEUE_MS"
_DEQUEUED: Final = "TIMER_DEQUEUE_MS"
DELETES: Final = "TIMER_DEL_UNIQKEY"
"""The property of a deletion: what it deletes."""
_ASKING: Final = (
    (PropertyName.TIMER_DELAY_SEC, 1_000, True),
    (PropertyName.TIMER_DELAY_MS, 1, True),
    (PropertyName.TIMER_DELIVER_MS, 1, False),
)
"""Property, its unit in ms, whether it counts from now; the first that is there says the time."""


class _Waiting(msgspec.Struct):
    """`offsets` are those below `end` that were not delivered; all from `end` on were not."""

    end: int = 0
    offsets: list[int] = []


class Timers(Part):
    """What waits for its time."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._waiting: list[tuple[int, int]] = []
        """(when it is due, queue offset), a heap."""
        self._end = 0
        """What is stored from this queue offset on is not among it: a slave has got it."""
        self._write_at = NEVER
        if self.profile.v5:
            self._read_again()

    # -- storing ---------------------------------------------------------------------------------------------

    def is_timed(self, message: Message) -> bool:
        """Whether a message names a time; one that was delivered in its time does no longer."""
        properties = message.properties
        return PropertyName.TIMER_OUT_MS not in properties and any(name in properties for name, *_ in _ASKING)

    def schedule(self, message: Message, now: int) -> PutStatus:
        """Make a message one that is delivered later, unless its time has passed. Not PUT_OK: refused."""
        if not self.config.timer_wheel_enable:
            return PutStatus.WHEEL_TIMER_NOT_ENABLE
        time = self.asked(message, now)
        if time is None or time - now > self.config.timer_max_delay_sec * 1_000:
            return PutStatus.WHEEL_TIMER_MSG_ILLEGAL
        if time <= now:
            is_deletion = DELETES in message.properties
            return PutStatus.WHEEL_TIMER_MSG_ILLEGAL if is_deletion else PutStatus.PUT_OK
        message.properties |= {
            PropertyName.TIMER_OUT_MS: str(self.rounded(time)),
            PropertyName.REAL_TOPIC: message.topic,
            PropertyName.REAL_QUEUE_ID: str(message.queue_id),
        }
        message.topic = TopicName.TIMER
        message.queue_id = 0
        return PutStatus.PUT_OK

    def asked(self, message: Message, now: int) -> int | None:
        """The time that a message names, ms since the epoch; None: it is no number."""
        for name, unit, from_now in _ASKING:
            if name in message.properties:
                number = fields.int64(message.properties, name)
                if number is None:
                    return None
                return now + number * unit if from_now else self.broker.of_client(number)
        return None

    def rounded(self, time: int) -> int:
        """What is kept of a time: the end of the second before it."""
        return (time - 1) // self.config.timer_precision_ms * self.config.timer_precision_ms

    def recall_handle(self, message: Message) -> str:
        """The handle by which the sender of a waiting message could recall it."""
        properties = message.properties
        words = (
            "v1",
            properties[PropertyName.REAL_TOPIC],
            self.config.broker_name,
            str(int(properties[PropertyName.TIMER_OUT_MS]) + 1),
            properties.get(PropertyName.UNIQ_KEY, ""),
        )
        return urlsafe_b64encode(" ".join(words).encode()).decode("ascii")

    # -- delivering ------------------------------------------------------------------------------------------

    def expect(self, message: Message) -> None:
        """A message that waits was stored, perhaps behind some that a slave has got."""
        for offset in range(self._end, message.queue_offset):
            self._add(self._message(offset), message.store_timestamp)
        self._end = message.queue_offset + 1
        if self._add(message, message.store_timestamp):
            self._write_at = min(self._write_at, self._later(message.store_timestamp))

    def _add(self, message: Message | None, now: int) -> bool:
        """Whether a message waits."""
        time = None if message is None else fields.int64(message.properties, PropertyName.TIMER_OUT_MS)
        if message is None or time is None:
            return False
        heappush(self._waiting, (self.due(time), message.queue_offset))
        self._counted(message, self._counts(message), now)
        return True

    def due(self, kept: int) -> int:
        """When a message is delivered of whose time `kept` was kept."""
        return kept + self.config.timer_precision_ms

    def next_tick(self) -> int:
        """When the next message is due, or the file is to be written."""
        due = self._waiting[0][0] if self._waiting and self.delivers() else NEVER
        return min(due, self._write_at)

    def tick(self, now: int) -> None:
        """Deliver what is due."""
        while self.delivers() and self._waiting and self._waiting[0][0] <= now:
            self._deliver(self._of_one_moment(), now)
            self._write_at = min(self._write_at, self._later(now))
        if self._write_at <= now:
            self.stop(now)

    def delivers(self) -> bool:
        """Whether what is due is stored again: neither on a slave nor where the disk is full."""
        return not (self.config.is_slave or self.broker.store.is_full)

    def _of_one_moment(self) -> list[Message]:
        """What is due first, and with it all that is due at the same time."""
        due, messages = self._waiting[0][0], []
        while self._waiting and self._waiting[0][0] == due:
            message = self._message(heappop(self._waiting)[1])
            if message is not None:
                messages.append(message)
        return messages

    def _deliver(self, messages: list[Message], now: int) -> None:
        recalled = self.recalled(messages)
        for message in messages:
            delivered = self.broker.delays.time_up(message)
            if DELETES in message.properties or delivered is None or self.key_of(message) in recalled:
                continue
            delivered.properties |= {
                _ENQUEUED: str(message.store_timestamp // 1_000 * 1_000),
                _DEQUEUED: str(now),
            }
            self.broker.store.put(delivered, now)
            self._counted(message, -1, now)

    def recalled(self, messages: list[Message]) -> set[str]:
        """What the deletions among some messages delete."""
        return {message.properties[DELETES] for message in messages if DELETES in message.properties}

    def names_topics(self) -> bool:
        """Whether a deletion names the topic, too."""
        return not self.profile.v55 or self.config.append_topic_for_timer_delete_key

    def deletion_of(self, topic: str, key: str) -> str:
        """How a deletion names the message with a unique key."""
        return f"{topic}+{key}" if self.names_topics() else key

    def key_of(self, message: Message) -> str | None:
        """How a deletion would name a message that waits; None: not at all."""
        key = message.properties.get(PropertyName.UNIQ_KEY)
        return None if key is None else self.deletion_of(message.properties[PropertyName.REAL_TOPIC], key)

    def stop(self, now: int) -> None:
        """Write what waits, if it is not written yet."""
        if self._write_at != NEVER:
            self._write_at = NEVER
            waiting = _Waiting(self._end, sorted(offset for _, offset in self._waiting))
            self.broker.persist(TIMERS, msgspec.json.encode(waiting))

    def _counts(self, message: Message) -> int:
        """What waits more: of a deletion, one message less."""
        return -1 if DELETES in message.properties else 1

    def _counted(self, message: Message, by: int, now: int) -> None:
        self.broker.timer_metrics.changed(message.properties[PropertyName.REAL_TOPIC], by, now)

    def _later(self, now: int) -> int:
        return now + self.config.flush_delay_offset_interval

    def _message(self, offset: int) -> Message | None:
        got = self.broker.store.get(TopicName.TIMER, 0, offset, 1)
        return decode_message(got.frames[0]) if got.status is GetStatus.FOUND else None

    def _read_again(self) -> None:
        """What waits, from the file and from what was stored since it was written."""
        try:
            known = msgspec.json.decode(self.broker.stored.get(TIMERS, b"{}"), type=_Waiting)
        except msgspec.MsgspecError:
            known = _Waiting()
        store = self.broker.store
        least, self._end = store.min_offset(TopicName.TIMER, 0), store.max_offset(TopicName.TIMER, 0)
        for offset in (*known.offsets, *range(max(least, known.end), self._end)):
            self._add(self._message(offset), self.broker.started)
