"""The message store: one log of all messages, and for each queue the list of those that are its own.

Invariants:
- The log is the truth. Queues and key index follow from it, are written later than it, and are made again
  from where the last checkpoint stands. What `commit` handed over survives the end of the process, what
  `flush` did the end of the machine.
- Before a client learns that a message is stored, `commit` has been called (with synchronous flushing:
  `flush`). What is read is what was put, committed or not.
- A StoreError of `commit`, `flush` or `checkpoint` is the end: nothing more may be answered, and the store is
  to be made anew.
- Store timestamps never go back.

Source: DefaultMessageStore, CommitLog, ConsumeQueue of rocketmq-all-4.9.8 and rocketmq-all-5.3.3. Log and
queues are in files as Apache's: what is left of a file of the log is a blank, which is no message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from itertools import islice, pairwise

from harness.wire import WireError
from harness.wire.messages import (
    BLANK_SIZE,
    LineName,
    Message,
    PropertyName,
    SysFlag,
    TopicName,
    blank,
    decode_message,
    encode_message,
    tag_hash,
)

from .checkpoint import Checkpoint
from .config import StoreConfig
from .opening import new_queue, open_files
from .queue import ENTRY, ConsumeQueue
from .raw_log import RawLog
from .recovery import messages_from
from .results import Arrival, GetStatus, Got, Put, PutStatus
from .storage import Space, Storage
from .times import offset_at, stored_at
from .wanted import Wanted

_TOPIC = re.compile(r"[%|a-zA-Z0-9_+-]+")
"""5.x writes `+` into topics of its own."""
_LIGHT_QUEUE = re.compile(r"%LMQ%[^/\0]+")
"""A queue has files of its name."""
_NOT_YET = (TopicName.SCHEDULE, TopicName.TIMER, TopicName.TRANS_HALF)
_RETRY = TopicName.RETRY_PREFIX
_ILLEGAL = Put(PutStatus.MESSAGE_ILLEGAL)
_FULL = Put(PutStatus.SERVICE_NOT_AVAILABLE)
_MOST_AT_ONCE = 32
_FEWEST_LOOKED_AT = 800
"""Entries of a queue that one look goes through at the least, in search of a tag (16 000 bytes)."""
_SPREAD = 4
"""Messages are read in one go where that reads at most so many times their bytes."""
_HEAD = struct.Struct(">I24xq")
"""Of a stored message: total size and physical offset."""
_TRANSACTION = SysFlag.TRANSACTION_ROLLBACK.value
_IN_NO_QUEUE = (SysFlag.TRANSACTION_PREPARED.value, SysFlag.TRANSACTION_ROLLBACK.value)


class Store:
    """Raises StoreError on construction for files that are damaged."""

    def __init__(
        self,
        storage: Storage,
        config: StoreConfig,
        line: LineName,
        *,
        finds_tags: bool = False,
        has_light_queues: bool = False,
    ) -> None:
        files = open_files(storage, config)
        self._storage = storage
        self._config = config
        self.max_message_size = config.max_message_size
        """Of a body, in bytes, from now on."""
        self.is_full = False
        """Whether nothing is stored, because the disk is full."""
        self._line = line
        self._finds_tags = finds_tags
        """Whether messages can be looked for by their tag."""
        self._has_light_queues = has_light_queues
        """Whether messages go to the light queues that they name, beside their own."""
        self._log, self._index, self._queues = files.log, files.index, files.queues
        self.raw = RawLog(self._log, self._follow_copy)
        self._checkpoints = files.checkpoints
        self._covered, self._newest = files.covered, files.newest
        self._uncovered = 0
        self._covering: Iterator[None] | None = None
        """The rest of a checkpoint that is being written."""
        self.arrived: list[Arrival] = []
        """What came since the caller last emptied it."""
        self.catch_up()

    def catch_up(self) -> None:
        """Reads what of the log is behind the last checkpoint, and cuts what is torn."""
        end = self._log.end
        for message in messages_from(self._log, self._covered):
            self._follow(message)
            self._newest = max(self._newest, message.store_timestamp)
        self.arrived.clear()
        if not self._covered == self._log.end == end:
            self.checkpoint()

    # ---------------------------------------------------------------------------------------------- writing

    def put(self, message: Message, now: int) -> Put:
        """Stores a message at the end of its queue; sets its offsets, size, checksum and store timestamp."""
        if self.is_full:
            return _FULL
        self._newest = now = max(now, self._newest)
        if light := self.light_queues(message):
            offsets = (str(self.max_offset(queue, 0)) for queue in light)
            message.properties[PropertyName.LIGHT_OFFSETS] = ",".join(offsets)
        try:
            queue_offset = self.max_offset(message.topic, message.queue_id)
            frame = self._frame(message, self._log.end, queue_offset, now)
            if self._begins_file(len(frame)):
                frame = self._frame(message, self._log.end, queue_offset, now)
        except WireError:
            return _ILLEGAL
        return self._keep(message, frame)

    def put_batch(self, messages: list[Message], now: int) -> list[Put]:
        """Stores messages of one queue one behind the other, all of them or none."""
        if self.is_full:
            return [_FULL] * len(messages)
        for message in messages:  # of several at once, none goes to light queues
            message.properties.pop(PropertyName.LIGHT_OFFSETS, None)
        self._newest = now = max(now, self._newest)
        try:
            frames = self._frames_of(messages, now)
            if self._begins_file(sum(map(len, frames))):
                frames = self._frames_of(messages, now)
        except WireError:
            return [_ILLEGAL] * len(messages)
        return [self._keep(message, frame) for message, frame in zip(messages, frames, strict=True)]

    def _frames_of(self, messages: list[Message], now: int) -> list[bytes]:
        """The bytes of messages of one queue, one behind the other. Raises WireError."""
        queue_offset = self.max_offset(messages[0].topic, messages[0].queue_id) if messages else 0
        end, frames = self._log.end, []
        for message in messages:
            frames.append(self._frame(message, end, queue_offset, now))
            end += message.size
            queue_offset += _is_consumable(message)
        return frames

    def _begins_file(self, size: int) -> bool:
        """Whether the file of the log had no room for `size` bytes: then it is full now, and its rest is a
        blank behind its last message.
        """
        left = self._log.lacks_room(size + BLANK_SIZE)
        if left:
            self._log.append(blank(left))
        return bool(left)

    def _frame(self, message: Message, physical_offset: int, queue_offset: int, now: int) -> bytes:
        """The bytes of a message that has its place. Raises WireError."""
        if len(message.body) > self.max_message_size:
            raise WireError(f"a body of {len(message.body)} bytes")
        if message.topic not in self._queues and not _TOPIC.fullmatch(message.topic):
            raise WireError(f"{message.topic!r} is no topic")
        message.physical_offset, message.store_timestamp = physical_offset, now
        message.queue_offset = queue_offset if _is_consumable(message) else 0
        return self.encoded(message)

    def encoded(self, message: Message) -> bytes:
        """The bytes of a message; sets its size and checksum. Raises WireError."""
        return encode_message(message, self._line)

    def _keep(self, message: Message, frame: bytes) -> Put:
        self._log.append(frame)
        self._follow(message)
        return Put(
            PutStatus.PUT_OK,
            message.physical_offset,
            message.queue_offset,
            message.size,
            message.store_timestamp,
        )

    def _follow(self, message: Message) -> None:
        """What follows from a message of the log: its place in a queue, its keys."""
        topic, properties = message.topic, message.properties
        if _is_consumable(message):
            self._append(message, topic, message.queue_id, message.queue_offset)
            for queue, offset in self._light_places(message):
                self._append(message, queue, 0, offset)
        if not _is_roll_back(message) and (keys := self._keys(properties)):
            self._index.add(topic, keys, message.physical_offset, message.store_timestamp)
        self._uncovered += 1

    def _append(self, message: Message, topic: str, queue_id: int, offset: int) -> None:
        """A message is in a queue."""
        queues = self._queues.setdefault(topic, {})
        queue = queues.get(queue_id)
        if queue is not None and queue.max_offset != offset:
            # The topic was deleted and made again, and the log is read again.
            queue.segments.delete()
            queue = None
        if queue is None:
            queue = new_queue(self._storage, self._config, topic, queue_id, offset)
            queues[queue_id] = queue
        tag = tag_hash(message.properties.get(PropertyName.TAGS))
        queue.append(message.physical_offset, message.size, tag)
        self.arrived.append(Arrival(topic, queue_id, offset, tag, message.properties))

    def light_queues(self, message: Message) -> list[str]:
        """The light queues that a message names; it goes there when it is in its own topic."""
        named = message.properties.get(PropertyName.LIGHT_QUEUES)
        topic = message.topic
        if not self._has_light_queues or named is None or topic in _NOT_YET or topic.startswith(_RETRY):
            return []
        return [queue for queue in named.split(",") if _LIGHT_QUEUE.fullmatch(queue)]

    def _light_places(self, message: Message) -> list[tuple[str, int]]:
        """(light queue, offset in it) of a message that has been stored."""
        queues = self.light_queues(message)
        offsets = message.properties.get(PropertyName.LIGHT_OFFSETS, "").split(",")
        if len(queues) != len(offsets) or not all(offset.isdecimal() for offset in offsets):
            return []
        return [(queue, int(offset)) for queue, offset in zip(queues, offsets, strict=True)]

    def _follow_copy(self, message: Message) -> None:
        """A message that the master has pushed."""
        self._newest = max(self._newest, message.store_timestamp)
        self._follow(message)

    def commit(self) -> None:
        """Hands the log to the storage: what was put survives the end of the process."""
        self._log.commit()
        if self._covering is None and (
            self._uncovered >= self._config.checkpoint_messages
            or self.raw.followed - self._covered >= self._config.checkpoint_bytes
        ):
            self._covering = self._cover()
        if self._covering is not None:
            for _ in islice(self._covering, self._config.checkpoint_files):
                pass

    def flush(self) -> None:
        """Makes the log durable: what was put survives the end of the machine."""
        self._log.flush()

    def checkpoint(self) -> None:
        """Makes all files durable and notes it, so that the next start need not read the log up to here."""
        for _ in self._cover():
            pass

    def _cover(self) -> Iterator[None]:
        """Writes a checkpoint of what there is when this begins: a step for each file, of which there may be
        thousands.
        """
        checkpoint = Checkpoint(
            physical_offset=self.raw.followed,
            newest=self._newest,
            index_end=self._index.segments.end,
            queues={
                topic: {queue_id: queue.max_offset for queue_id, queue in queues.items()}
                for topic, queues in self._queues.items()
            },
        )
        self._covered, self._uncovered = checkpoint.physical_offset, 0
        queues = [queue.segments for queues in self._queues.values() for queue in queues.values()]
        for segments in (self._log, self._index.segments, *queues):
            segments.flush()
            yield
        self._checkpoints.write(checkpoint)
        self._covering = None

    # ---------------------------------------------------------------------------------------------- reading

    def get(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        most: int,
        wanted: Wanted | None = None,
        most_bytes: int = 1 << 18,
    ) -> Got:
        """Stored bytes of at most `most` (and 32) messages of a queue from an offset on, of at most
        `most_bytes`, but one at the least.
        """
        queue = self._queue(topic, queue_id)
        if queue is None:
            return Got(GetStatus.NO_MESSAGE_IN_QUEUE, 0, 0, 0, [])
        low, high = queue.min_offset, queue.max_offset
        if offset < low:
            return Got(GetStatus.OFFSET_TOO_SMALL, low, low, high, [])
        if offset >= high:
            status = GetStatus.OFFSET_OVERFLOW_ONE if offset == high else GetStatus.OFFSET_OVERFLOW_BADLY
            return Got(status, high, low, high, [])
        most = min(most, _MOST_AT_ONCE)
        tags, by_properties = (None, None) if wanted is None else (wanted.tags, wanted.properties)
        looked_at = most if wanted is None else max(_FEWEST_LOOKED_AT, most)
        places: list[tuple[int, int]] = []
        size_of_all = 0
        for physical_offset, size, tag in ENTRY.iter_unpack(queue.read(offset, max(looked_at, 1))):
            if places and (len(places) >= most or size_of_all + size > most_bytes):
                break
            offset += 1
            if (tags is None or tag in tags) and (
                by_properties is None or by_properties(self._properties(physical_offset, size))
            ):
                places.append((physical_offset, size))
                size_of_all += size
        status = GetStatus.FOUND if places else GetStatus.NO_MATCHED_MESSAGE
        return Got(status, offset, low, high, self._frames(places, size_of_all))

    def _properties(self, physical_offset: int, size: int) -> dict[str, str]:
        """The properties of the message at a place."""
        return decode_message(self._log.read(physical_offset, size), check_body=False).properties

    def _frames(self, places: list[tuple[int, int]], size_of_all: int) -> list[bytes]:
        """The bytes at these places: in one go where little lies in between."""
        if len(places) > 1:
            start, end = places[0][0], places[-1][0] + places[-1][1]
            if end - start <= _SPREAD * size_of_all:
                block = self._log.read(start, end - start)
                if len(block) == end - start:
                    return [block[at - start : at - start + size] for at, size in places]
        return [self._log.read(at, size) for at, size in places]

    def raw_at(self, physical_offset: int) -> bytes | None:
        """The stored bytes of the message at an offset of the log; None: no message begins there."""
        if not self._log.start <= physical_offset < self._log.end:
            return None
        head = self._log.read(physical_offset, _HEAD.size)
        if len(head) < _HEAD.size:
            return None
        size, stated = _HEAD.unpack(head)
        if stated != physical_offset:
            return None
        frame = self._log.read(physical_offset, size)
        return frame if len(frame) == size else None

    def at(self, physical_offset: int) -> Message | None:
        """The message at an offset of the log; None: no message begins there."""
        frame = self.raw_at(physical_offset)
        try:
            return None if frame is None else decode_message(frame)
        except WireError:
            return None

    def min_offset(self, topic: str, queue_id: int) -> int:
        """The lowest offset that is kept; 0 for a queue that nothing was ever put into."""
        queue = self._queue(topic, queue_id)
        return 0 if queue is None else queue.min_offset

    def max_offset(self, topic: str, queue_id: int) -> int:
        """The offset that the next message will have."""
        queue = self._queue(topic, queue_id)
        return 0 if queue is None else queue.max_offset

    def physical_range(self) -> tuple[int, int]:
        """From where to where the log goes."""
        return self._log.start, self._log.end

    def newest(self) -> int:
        """Store timestamp of the newest message; 0 without one."""
        return self._newest

    def topics(self) -> dict[str, list[int]]:
        """Ids of the queues that hold or held messages, by topic."""
        return {topic: sorted(queues) for topic, queues in self._queues.items()}

    def timestamp_of(self, topic: str, queue_id: int, offset: int) -> int | None:
        """When the message with that offset was stored; None where there is none."""
        queue = self._queue(topic, queue_id)
        if queue is None or not queue.min_offset <= offset < queue.max_offset:
            return None
        return stored_at(self._log, queue.physical(offset))

    def entries(self, topic: str, queue_id: int, offset: int, most: int) -> list[tuple[int, int, int]]:
        """(physical offset, size, hash of the tag) of at most `most` messages from an offset on."""
        queue = self._queue(topic, queue_id)
        return [] if queue is None or most <= 0 else list(ENTRY.iter_unpack(queue.read(offset, most)))

    def offset_at(self, topic: str, queue_id: int, timestamp: int, *, upper: bool = False) -> int:
        """The offset of the message that was stored at a time: in 4.9 the nearest one, in 5.3 the first that
        was not before it, or with `upper` the last that was not after it.
        """
        queue = self._queue(topic, queue_id)
        return 0 if queue is None else offset_at(self._log, queue, timestamp, self._line, upper=upper)

    def by_key(self, topic: str, key: str, most: int, begin: int, end: int) -> list[int]:
        """Physical offsets, in order, of the newest messages with a key (a word of KEYS, or the unique key)
        that were stored from `begin` to `end`, both included.
        """
        found: list[int] = []
        for physical_offset in self._index.find(topic, key, begin, end):
            if len(found) >= most:
                break
            message = self.at(physical_offset)
            if message is not None and message.topic == topic and key in self._keys(message.properties):
                found.append(physical_offset)
        return sorted(found)

    def index_state(self) -> tuple[int, int]:
        """(store timestamp, physical offset) of the newest message with a key. There must be one."""
        return self._index.newest()

    def _keys(self, properties: dict[str, str]) -> list[str]:
        """By what a message is found: the words of KEYS, its unique key, and its tag as `key_of_tag`."""
        keys = [key for key in properties.get(PropertyName.KEYS, "").split(" ") if key]
        if unique := properties.get(PropertyName.UNIQ_KEY):
            keys.append(unique)
        if self._finds_tags and (tag := properties.get(PropertyName.TAGS)):
            keys.append(key_of_tag(tag))
        return keys

    # --------------------------------------------------------------------------------------------- deleting

    def space(self) -> Space:
        """How full the disk is."""
        return self._storage.space()

    def log_files(self) -> list[int]:
        """Where each file of the log begins."""
        return self._log.files()

    def first_file_since(self, timestamp: int) -> int:
        """Where the first file of the log begins that was last written at a time or later; the last file, if
        none was. (A blank is written when the first message behind it is stored.)
        """
        starts, written = self._log.files(), self._log.written
        for start, following in pairwise(starts):
            if (written[start] if start in written else stored_at(self._log, following)) >= timestamp:
                return start
        return starts[-1] if starts else self._log.start

    def delete_topic(self, topic: str) -> None:
        """Forgets the queues of a topic; its messages stay in the log until that part of it goes."""
        queues = self._queues.pop(topic, None)
        if queues is None:
            return
        self.checkpoint()
        for queue in queues.values():
            queue.segments.delete()

    def delete_empty_queues(self, *, keep: str) -> None:
        """Forgets queues whose messages have all left the log, but those of the topic `keep`."""
        empty = [
            (topic, queue_id)
            for topic, queues in self._queues.items()
            for queue_id, queue in queues.items()
            if topic != keep and queue.min_offset == queue.max_offset
        ]
        if empty:
            self.checkpoint()
        for topic, queue_id in empty:
            self._queues[topic].pop(queue_id).segments.delete()

    def delete_before(self, physical_offset: int) -> None:
        """Deletes the files of the log all of whose bytes are below an offset; lowest offsets rise."""
        if not self._log.has_file_before(physical_offset):
            return
        self.checkpoint()
        self._log.drop_before(physical_offset)
        self._index.rise(self._log.start)
        for queues in self._queues.values():
            for queue in queues.values():
                queue.rise(self._log.start)

    def _queue(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        queues = self._queues.get(topic)
        return None if queues is None else queues.get(queue_id)


def _is_consumable(message: Message) -> bool:
    """Half messages and roll-backs are in the log only."""
    return message.sys_flag & _TRANSACTION not in _IN_NO_QUEUE


def _is_roll_back(message: Message) -> bool:
    return message.sys_flag & _TRANSACTION == SysFlag.TRANSACTION_ROLLBACK.value


def key_of_tag(tag: str) -> str:
    """What a message with that tag is found by, as `IndexService#buildKey` writes it."""
    return f"T#{tag}"
