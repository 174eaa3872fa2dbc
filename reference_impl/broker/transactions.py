"""Messages of transactions: consumers see them when their producer commits; a silent producer is asked.

1. A half message is stored in `RMQ_SYS_TRANS_HALF_TOPIC`, with its own topic and queue as properties. An end,
   whichever, leaves a mark with the half message's queue offset in `RMQ_SYS_TRANS_OP_HALF_TOPIC`, stored
   with what is committed. A half message without a mark is open; a restart reads both topics again.
2. A transaction ends once: a second end is answered with success and changes nothing. (Apache delivers a
   second commit again, and a commit behind a roll-back too.)
3. Every `transactionCheckInterval`, each open half message that is older than `transactionTimeOut` is stored
   again, with the times it was asked about as a property, and some producer of its group is asked about that
   copy; the one before it gets a mark. After `transactionCheckMax` times it goes to
   `TRANS_CHECK_MAX_TIME_TOPIC`. An end may name any copy that has the unique key of the newest.
4. A half message that an administrator names (323) is stored once more, as one that no producer was asked
   about.
5. A slave asks no producer. What its master has pushed is gone through when the slave has become the master.

Source: EndTransactionProcessor, TransactionalMessageServiceImpl, TransactionalMessageBridge,
AbstractTransactionalMessageCheckListener of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.messages import (
    Message,
    PropertyName,
    SysFlag,
    TopicName,
    decode_message,
    decode_offset_id,
    encode_message,
    offset_id,
)
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from .part import NEVER, Part
from .store import GetStatus, Put, PutStatus
from .topics import READ, WRITE

if TYPE_CHECKING:
    from .core import Broker

CHECKING_GROUP: Final = "CID_RMQ_SYS_TRANS"
"""The group under which it is stored how far half messages and marks were gone through."""
_UNKNOWN: Final = 0
_COMMIT: Final = SysFlag.TRANSACTION_COMMIT.value
_ROLLBACK: Final = SysFlag.TRANSACTION_ROLLBACK.value
_ENDS: Final = (_UNKNOWN, _COMMIT, _ROLLBACK)
_NOT_RESUMED: Final = f"Exception was thrown when putting message back to {TopicName.TRANS_HALF}."
_MARK: Final = "d"
"""The tag of a mark."""


class Open(msgspec.Struct):
    """A half message without an end."""

    physical_offset: int
    born: int
    stored: int
    key: str | None
    immunity: int | None
    """For how long after its birth its producer is not asked, ms; None: as the settings say."""
    checked: int


class Transactions(Part):
    """Keeps half messages, ends them, and asks their producers (39)."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.open: dict[int, Open] = {}
        """By queue offset, in order."""
        self._copies: dict[str, int] = {}
        """Unique key to the queue offset of the newest copy that is open."""
        self.is_behind = False
        """Whether there is what a master has pushed since it was all gone through."""
        self._check_at = broker.started + self.interval()
        self._asked = 0
        self._read_again()

    # -- the first half --------------------------------------------------------------------------------------

    def prepare(self, message: Message, now: int) -> Put:
        """Store a half message."""
        self.broker.topics.create(TopicName.TRANS_HALF, 1, READ | WRITE, now)
        properties = message.properties
        key = properties.get(PropertyName.UNIQ_KEY)
        if self.profile.v5 and key:
            properties[PropertyName.TRANSACTION_ID] = key
        properties[PropertyName.REAL_TOPIC] = message.topic
        properties[PropertyName.REAL_QUEUE_ID] = str(message.queue_id)
        message.sys_flag &= ~_ROLLBACK
        message.topic = TopicName.TRANS_HALF
        message.queue_id = 0
        put = self.broker.delays.put(message, now)
        if put.status is PutStatus.PUT_OK and message.topic == TopicName.TRANS_HALF:
            self._opened(message)
        return put

    # -- the end ---------------------------------------------------------------------------------------------

    @answers(RequestCode.END_TRANSACTION)
    def end(self, command: Command, connection: int, now: int) -> Reply | None:
        """None: the producer does not know, and gets no answer."""
        ext = command.ext
        how = fields.int32(ext, "commitOrRollback")
        if how not in _ENDS:
            raise RefusedError(f"commitOrRollback is {how}: expected 0 (unknown), 8 (commit), 12 (roll back)")
        if self.refuses_as_slave():
            return Reply(ResponseCode.SLAVE_NOT_AVAILABLE)
        if how == _UNKNOWN:
            return None
        self._catch_up()
        half = self.broker.store.at(fields.int64(ext, "commitLogOffset") or 0)
        fault = self.fault(half, command)
        if half is None or fault is not None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=fault)
        if self.is_too_late(half, command, now):
            return Reply(ResponseCode.ILLEGAL_OPERATION)
        found = self.newest_copy(half)
        if found is None:
            return Reply(ResponseCode.SUCCESS)
        if how == _COMMIT:
            put = self.broker.delays.put(self.committed(half), now)
            if put.status is not PutStatus.PUT_OK:
                return self.not_ended(put.status)
        self._close(found, now)
        return Reply(ResponseCode.SUCCESS)

    def not_ended(self, status: PutStatus) -> Reply:
        """The answer to a commit whose message was not stored."""
        code, remark = self.broker.sends.fault(status)
        if status is PutStatus.SERVICE_NOT_AVAILABLE:
            remark = "Service not available now."
        return Reply(code, remark=remark)

    def refuses_as_slave(self) -> bool:
        """Whether no transaction is ended, because this is a slave."""
        return self.config.is_slave

    def fault(self, half: Message | None, command: Command) -> str | None:
        """Why an end does not fit the half message that it names; None: it does."""
        ext = command.ext
        if half is None or half.topic not in (TopicName.TRANS_HALF, TopicName.SCHEDULE):
            return "Find prepared transaction message failed"
        if half.properties.get(PropertyName.PRODUCER_GROUP) != fields.text(ext, "producerGroup"):
            return "The producer group wrong"
        if half.queue_offset != fields.int64(ext, "tranStateTableOffset"):
            return "The transaction state table offset wrong"
        return None

    def is_too_late(self, half: Message, command: Command, now: int) -> bool:
        """5.3: whether an unsolicited end comes after the time that the message itself named."""
        if not self.profile.v5 or fields.boolean(command.ext, "fromTransactionCheck"):
            return False
        immunity = self.immunity(half)
        return immunity is not None and now - half.born_timestamp > immunity

    def newest_copy(self, half: Message) -> int | None:
        """The queue offset under which a transaction is open; None: it has ended, or is delayed."""
        if half.topic == TopicName.TRANS_HALF and half.queue_offset in self.open:
            return half.queue_offset
        key = half.properties.get(PropertyName.UNIQ_KEY)
        return None if key is None else self._copies.get(key)

    def committed(self, half: Message) -> Message:
        """What is stored for a half message that was committed. It keeps its properties; in 5.5 not those
        that say where it belongs.
        """
        kept = dict(half.properties)
        topic, queue_id = kept[PropertyName.REAL_TOPIC], int(kept[PropertyName.REAL_QUEUE_ID])
        if self.profile.v55:
            del kept[PropertyName.REAL_TOPIC], kept[PropertyName.REAL_QUEUE_ID]
        return Message(
            topic=topic,
            body=half.body,
            properties=kept,
            queue_id=queue_id,
            flag=half.flag,
            sys_flag=half.sys_flag & ~_ROLLBACK | _COMMIT,
            born_timestamp=half.born_timestamp,
            born_host=half.born_host,
            store_host=half.store_host,
            reconsume_times=half.reconsume_times,
            prepared_offset=half.physical_offset,
        )

    def _close(self, offset: int, now: int) -> None:
        """A half message is open no longer: leave the mark."""
        mark = Message(
            topic=TopicName.TRANS_OP_HALF,
            body=self.mark(offset),
            properties={PropertyName.TAGS: _MARK},
            born_timestamp=now,
            born_host=self.config.address,
            store_host=self.config.address,
        )
        self.broker.store.put(mark, now)
        self.forget(offset)

    def mark(self, offset: int) -> bytes:
        """The body of a mark: 5.x gathers offsets, each with a comma behind it."""
        return b"%d," % offset if self.profile.v5 else b"%d" % offset

    def _opened(self, half: Message) -> None:
        key = half.properties.get(PropertyName.UNIQ_KEY)
        self.open[half.queue_offset] = Open(
            physical_offset=half.physical_offset,
            born=half.born_timestamp,
            stored=half.store_timestamp,
            key=key,
            immunity=self.immunity(half),
            checked=_number(half.properties.get(PropertyName.TRANSACTION_CHECK_TIMES)) or 0,
        )
        if key is not None:
            self._copies[key] = half.queue_offset

    def forget(self, offset: int) -> None:
        """A half message is open no longer."""
        found = self.open.pop(offset, None)
        if found is not None and found.key is not None and self._copies.get(found.key) == offset:
            del self._copies[found.key]

    # -- asking back -----------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        """When open half messages are gone through next."""
        return self._check_at if self.broker.delivers() else NEVER

    def tick(self, now: int) -> None:
        """Go through what was open when this began."""
        self._check_at = now + self.interval()
        self._catch_up()
        for offset, half in list(self.open.items()):
            if self.is_to_check(half, now):
                self._check(offset, half, now)
        self._note_progress(now)

    def interval(self) -> int:
        """ms between two rounds."""
        return self.config.transaction_check_interval or (30_000 if self.profile.v5 else 60_000)

    def is_to_check(self, half: Open, now: int) -> bool:
        """Whether a half message is old enough to ask about.

        What its producer says of its age counts only if that is before it was stored.
        """
        immunity = self.config.transaction_time_out if half.immunity is None else half.immunity
        return now - min(half.born, half.stored) >= immunity

    def is_given_up(self, half: Open, now: int) -> bool:
        """Whether a half message is not asked about any more."""
        return (
            half.checked >= self.config.transaction_check_max
            or now - half.born > self.config.file_reserved_time * 3_600_000
        )

    def immunity(self, half: Message) -> int | None:
        """For how long after its birth a half message wants no check, ms."""
        text = half.properties.get(PropertyName.CHECK_IMMUNITY_TIME_IN_SECONDS)
        seconds = _number(text)
        return None if text is None or seconds in (None, -1) else seconds * 1_000

    def producer(self, group: str) -> int | None:
        """The connection of a group's producer that is asked: one after the other."""
        connections = list(self.broker.clients.producers.get(group, ()))
        if not connections:
            return None
        self._asked += 1
        return connections[self._asked % len(connections)]

    def _check(self, offset: int, half: Open, now: int) -> None:
        message = self.broker.store.at(half.physical_offset)
        if message is None:
            self.forget(offset)
        elif self.is_given_up(half, now):
            self._give_up(message, now)
            self._close(offset, now)
        else:
            copy = self.renewed(message, half.checked + 1)
            if self.broker.store.put(copy, now).status is PutStatus.PUT_OK:
                self._close(offset, now)
                self._opened(copy)
                self._ask(copy, message.store_timestamp)

    def renewed(self, half: Message, checked: int) -> Message:
        """The copy of a half message that its producer is asked about."""
        properties = half.properties | {PropertyName.TRANSACTION_CHECK_TIMES: str(checked)}
        return msgspec.structs.replace(half, properties=properties)

    def _ask(self, copy: Message, stored: int) -> None:
        connection = self.producer(copy.properties.get(PropertyName.PRODUCER_GROUP) or "")
        if connection is not None:
            self.broker.push(connection, self.question(copy, stored))

    def question(self, copy: Message, stored: int) -> Command:
        """39: the body is the message as if it were in its own topic, since `stored`, when it was copied."""
        key = copy.properties.get(PropertyName.UNIQ_KEY)
        ext: dict[str, str | None] = {
            "tranStateTableOffset": str(copy.queue_offset),
            "commitLogOffset": str(copy.physical_offset),
            "offsetMsgId": offset_id(copy.store_host, copy.physical_offset),
        }
        if key is not None:
            ext |= {"msgId": key, "transactionId": key}
        if self.profile.v5:
            ext |= {"topic": copy.topic, "bname": self.config.broker_name}
        real = msgspec.structs.replace(
            copy,
            topic=copy.properties[PropertyName.REAL_TOPIC],
            queue_id=int(copy.properties[PropertyName.REAL_QUEUE_ID]),
            store_timestamp=stored,
            properties=copy.properties | {PropertyName.WAIT_STORE_MSG_OK: "false"},
        )
        body = encode_message(real, self.profile.messages)
        return Command(code=RequestCode.CHECK_TRANSACTION_STATE, ext=ext, body=body)

    def _give_up(self, half: Message, now: int) -> None:
        topic = self.broker.topics.create(TopicName.TRANS_CHECK_MAX_TIME, 1, READ | WRITE, now)
        self.broker.store.put(msgspec.structs.replace(half, topic=topic.topic_name or "", queue_id=0), now)

    @answers(RequestCode.RESUME_CHECK_HALF_MESSAGE)
    def resume(self, command: Command, connection: int, now: int) -> Reply:
        """It is named by the id that its send was answered with; its topic is not looked at."""
        message = self.named(fields.text(command.ext, "msgId") or "")
        if message is None or PropertyName.REAL_TOPIC not in message.properties:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=_NOT_RESUMED)
        copy = self.renewed(message, 0)
        copy.topic, copy.queue_id = TopicName.TRANS_HALF, 0
        if self.broker.store.put(copy, now).status is not PutStatus.PUT_OK:
            return Reply(ResponseCode.SYSTEM_ERROR, remark=_NOT_RESUMED)
        self._opened(copy)
        return Reply(ResponseCode.SUCCESS)

    def named(self, message_id: str) -> Message | None:
        """The message with an id; None: there is none."""
        try:
            return self.broker.store.at(decode_offset_id(message_id)[1])
        except WireError:
            return None

    # -- across restarts -------------------------------------------------------------------------------------

    def _note_progress(self, now: int) -> None:
        """What lies before the first open half message need not be read again."""
        store, offsets = self.broker.store, self.broker.offsets
        end = store.max_offset(TopicName.TRANS_HALF, 0)
        first = next(iter(self.open), end)
        noted = {TopicName.TRANS_HALF: first}
        if first == end:
            noted[TopicName.TRANS_OP_HALF] = store.max_offset(TopicName.TRANS_OP_HALF, 0)
        for topic, offset in noted.items():
            if offset and offset != offsets.offset_of(CHECKING_GROUP, topic, 0):
                offsets.commit(CHECKING_GROUP, topic, 0, offset, now)

    def _catch_up(self) -> None:
        if self.is_behind:
            self.is_behind = False
            self.open.clear()
            self._copies.clear()
            self._read_again()

    def _read_again(self) -> None:
        for half in self._stored(TopicName.TRANS_HALF):
            self._opened(half)
        for mark in self._stored(TopicName.TRANS_OP_HALF):
            for word in mark.body.decode("ascii", "replace").split(","):
                ended = _number(word)
                if ended is not None:
                    self.forget(ended)

    def _stored(self, topic: str) -> Iterator[Message]:
        store = self.broker.store
        offset = max(store.min_offset(topic, 0), self.broker.offsets.offset_of(CHECKING_GROUP, topic, 0) or 0)
        while (got := store.get(topic, 0, offset, 32)).status is GetStatus.FOUND:
            yield from map(decode_message, got.frames)
            offset = got.next_offset


def _number(text: str | None) -> int | None:
    return fields.int64({"": text}, "")
