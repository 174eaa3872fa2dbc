"""Messages that are delivered later, by a level of delay.

1. Everything that is stored goes through `put`: what is to be delayed goes to a topic of the system instead,
   with its own topic and queue as properties, and is stored again under these when its time has come.
2. A level is a queue of `SCHEDULE_TOPIC_XXXX` and has one delay, so its messages are due in order. How far
   each was delivered is in `config/delayOffset.json`; what was delivered since that was last written is
   delivered once more after a crash.
3. The delay runs from the time at which the message was stored. Nothing is delivered early.
4. A slave delivers nothing.

Source: CommitLog#asyncPutMessage of rocketmq-all-4.9.8, HookUtils#handleScheduleMessage of
rocketmq-all-5.3.3, ScheduleMessageService of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import DataVersion, DelayOffsets
from harness.wire.messages import Message, PropertyName, SysFlag, TopicName, decode_message
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from .part import NEVER, Part
from .store import GetStatus, Put, PutStatus
from .tables import as_file, stored_table

if TYPE_CHECKING:
    from .core import Broker

DELAY_OFFSETS: Final = "config/delayOffset.json"
_TIMES: Final = (PropertyName.TIMER_DELIVER_MS, PropertyName.TIMER_DELAY_SEC, PropertyName.TIMER_DELAY_MS)
_ASKING: Final = frozenset((PropertyName.DELAY_TIME_LEVEL, *_TIMES))
"""A message without any of these is not delayed."""
_LONGEST, _LONGEST_RETRY = 127, 255
_TRANSACTION: Final = SysFlag.TRANSACTION_ROLLBACK.value
_OPEN: Final = (SysFlag.TRANSACTION_PREPARED.value, SysFlag.TRANSACTION_ROLLBACK.value)


class Delays(Part):
    """What is stored, and what is due."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        stored = stored_table(broker.stored, DELAY_OFFSETS, DelayOffsets.decode) or DelayOffsets()
        self.offsets = dict(stored.offset_table)
        """Level to the offset of the first message that was not delivered."""
        self._version = stored.data_version or DataVersion(0, broker.started, 0)
        self._levels = self.config.delays_of_levels()
        self._due: dict[int, int] = {}
        self._write_at = NEVER
        for level in range(1, len(self._levels) + 1):
            self._look(level)

    @answers(RequestCode.GET_ALL_DELAY_OFFSET)
    def all_offsets(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.table().encode())

    def table(self) -> DelayOffsets:
        """What is written and told."""
        version = self._version if self.profile.v5 else None
        return DelayOffsets(offset_table=dict(sorted(self.offsets.items())), data_version=version)

    def adopt(self, table: DelayOffsets) -> None:
        """Take over how far a master has delivered."""
        self.offsets.update(table.offset_table)
        self._version = table.data_version or self._version
        self._write()

    # -- storing ---------------------------------------------------------------------------------------------

    def put(self, message: Message, now: int) -> Put:
        """Store a message, now or for later. Raises RefusedError for a delay that is no number.

        Its topic, queue and properties are those of what was stored when this returns.
        """
        if len(message.topic) > self.longest(message.topic):
            return Put(PutStatus.MESSAGE_ILLEGAL)
        if _ASKING.isdisjoint(message.properties) or message.sys_flag & _TRANSACTION in _OPEN:
            return self.broker.store.put(message, now)
        level = self.level_of(message)
        if level > 0:
            self.schedule(message, min(level, len(self._levels)))
        elif self.profile.v5 and self.broker.timers.is_timed(message):
            status = self.broker.timers.schedule(message, now)
            if status is not PutStatus.PUT_OK:
                return Put(status)
        put = self.broker.store.put(message, now)
        if put.status is PutStatus.PUT_OK:
            if message.topic == TopicName.SCHEDULE:
                self._expect(message.queue_id + 1, put.store_timestamp)
            elif message.topic == TopicName.TIMER:
                self.broker.timers.expect(message)
        return put

    def longest(self, topic: str) -> int:
        """The longest name, in bytes, that the topic of a stored message may have."""
        return _LONGEST_RETRY if self.profile.v5 and topic.startswith(TopicName.RETRY_PREFIX) else _LONGEST

    def level_of(self, message: Message) -> int:
        """The level of delay that a message asks for; 0 or less: none."""
        text = message.properties.get(PropertyName.DELAY_TIME_LEVEL)
        if text is None:
            return 0
        try:
            return int(text)
        except ValueError as error:
            raise RefusedError(f"the delay level {text[:40]!r} is no number") from error

    def schedule(self, message: Message, level: int) -> None:
        """Make a message one that is delivered later."""
        properties = message.properties
        if self.profile.v5:
            for name in _TIMES:
                properties.pop(name, None)
        properties[PropertyName.DELAY_TIME_LEVEL] = str(level)
        properties[PropertyName.REAL_TOPIC] = message.topic
        properties[PropertyName.REAL_QUEUE_ID] = str(message.queue_id)
        message.topic = TopicName.SCHEDULE
        message.queue_id = level - 1

    # -- delivering ------------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        """When the next message is due, or the file is to be written."""
        if not self.broker.delivers():
            return self._write_at
        return min(self._write_at, min(self._due.values(), default=NEVER))

    def tick(self, now: int) -> None:
        """Deliver what is due."""
        if self.broker.delivers():
            for level in [level for level, due in self._due.items() if due <= now]:
                self._deliver(level, now)
        if self._write_at <= now:
            self._write()

    def stop(self, now: int) -> None:
        """Write how far messages were delivered, if it is not written yet."""
        if self._write_at != NEVER:
            self._write()

    def _write(self) -> None:
        self._write_at = NEVER
        self.broker.persist(DELAY_OFFSETS, as_file(self.table().document()))

    def due(self, level: int, stored: int) -> int:
        """When a message of a level that was stored at `stored` is delivered."""
        return stored + self._levels[level - 1]

    def time_up(self, message: Message) -> Message | None:
        """What is stored when the time of a message has come; None: nothing.

        It keeps its properties, the level of delay too.
        """
        properties = message.properties
        topic, queue = properties.get(PropertyName.REAL_TOPIC), properties.get(PropertyName.REAL_QUEUE_ID)
        if topic is None or queue is None or topic == TopicName.TRANS_HALF:
            return None
        return Message(
            topic=topic,
            body=message.body,
            properties=properties,
            queue_id=int(queue),
            flag=message.flag,
            sys_flag=message.sys_flag,
            born_timestamp=message.born_timestamp,
            born_host=message.born_host,
            store_host=message.store_host,
            reconsume_times=message.reconsume_times,
        )

    def _deliver(self, level: int, now: int) -> None:
        del self._due[level]
        while (message := self._look(level)) is not None and self._due[level] <= now:
            delivered = self.time_up(message)
            if delivered is not None:
                self.broker.store.put(delivered, now)
            del self._due[level]
            self.offsets[level] += 1
            self._write_at = min(self._write_at, now + self.config.flush_delay_offset_interval)

    def _look(self, level: int) -> Message | None:
        """The first message of a level that was not delivered; notes when it is due."""
        got = self.broker.store.get(TopicName.SCHEDULE, level - 1, self.offsets.get(level, 0), 1)
        if got.status in (GetStatus.OFFSET_TOO_SMALL, GetStatus.OFFSET_OVERFLOW_BADLY):
            self.offsets[level] = got.next_offset
            got = self.broker.store.get(TopicName.SCHEDULE, level - 1, got.next_offset, 1)
        if got.status is not GetStatus.FOUND:
            return None
        message = decode_message(got.frames[0])
        self._expect(level, message.store_timestamp)
        return message

    def _expect(self, level: int, stored: int) -> None:
        self.offsets.setdefault(level, 0)
        self._due.setdefault(level, self.due(level, stored))
