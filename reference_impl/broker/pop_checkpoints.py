"""Which messages were popped and are not acknowledged: until when they are hidden, and how they come again.

1. A pop leaves a checkpoint for each queue that it took from, and an acknowledgement a record, both in the
   topic `rmq_sys_REVIVE_LOG_<cluster>`, before anything of it is answered. What is in memory can be made of
   these records: an unacknowledged message comes again also after a crash.
2. When the time of a checkpoint is over, each of its messages that is not acknowledged is stored again, in
   the group's topic for that; then the checkpoint is done with. A crash in between brings some of them twice.
3. How far the log is done with is kept as the offset of a group of the system. All before the oldest
   checkpoint that lives is.
4. A slave brings nothing back.

(Apache hides the records themselves until their time has come, and takes some seconds longer.)

Source: PopMessageProcessor#buildCkMsg, PopReviveService, PopCheckPoint, AckMsg, BatchAckMsg of
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from harness.wire.fastjson import document
from harness.wire.messages import Message, PropertyName, TopicName, decode_message

from .part import NEVER, Part
from .pop_terms import plain_topic, retry_topic
from .store import GetStatus, PutStatus
from .topics import READ, WRITE

if TYPE_CHECKING:
    from .core import Broker

REVIVE_GROUP: Final = "CID_RMQ_SYS_REVIVE_GROUP"
_CHECKPOINT, _ACK, _ACKS = "ck", "ack", "bAck"
"""Tags of the records."""
_RETRY_QUEUES: Final = 1


class PopOf(NamedTuple):
    """What one pop took from one queue of a topic, for one group."""

    topic: str
    group: str
    queue_id: int
    start: int
    time: int


class CheckPoint(msgspec.Struct, gc=False):
    """Messages that are hidden until `until`."""

    pop: PopOf
    until: int
    left: set[int]
    """Queue offsets that are not acknowledged."""
    revive_queue: int
    place: int
    """Its offset in that queue of the revive log."""
    suspended: bool = False
    """5.5: what comes again counts as not tried."""


class _Record(msgspec.Struct):
    """A record of the revive log, of any kind, under Apache's names."""

    so: int = 0
    pt: int = 0
    it: int = 0
    q: int = 0
    t: str = ""
    c: str = ""
    d: list[int] = []
    ao: int = 0
    aol: list[int] = []
    sp: bool = False

    @property
    def pop(self) -> PopOf:
        return PopOf(self.t, self.c, self.q, self.so, self.pt)


class CheckPoints(Part):
    """The checkpoints that live."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.topic = TopicName.REVIVE_PREFIX + self.config.broker_cluster_name
        self.points: dict[PopOf, CheckPoint] = {}
        """Those that live."""
        self._due: list[tuple[int, PopOf]] = []
        """A heap. A checkpoint that is done with stays in it until its time."""
        self._living: dict[int, dict[int, PopOf]] = {}
        """By queue of the log, then by place, oldest first."""
        self._turn = 0
        if self.profile.v5:
            self.read_again()

    # -- what is popped --------------------------------------------------------------------------------------

    def next_queue(self) -> int:
        """The queue of the revive log for the next pop: one after the other."""
        self._turn += 1
        return (self._turn - 1) % self.config.revive_queue_num

    def add(
        self,
        pop: PopOf,
        offsets: list[int],
        invisible: int,
        revive_queue: int,
        now: int,
        *,
        suspended: bool = False,
    ) -> bool:
        """Messages are hidden for `invisible` ms. False: that is too long, or cannot be kept."""
        if invisible > self.config.timer_max_delay_sec * 1_000:
            return False
        record = {
            "bm": 0,
            "bn": self.config.broker_name,
            "c": pop.group,
            "d": [offset - pop.start for offset in offsets],
            "it": invisible,
            "n": len(offsets),
            "pt": pop.time,
            "q": pop.queue_id,
            "so": pop.start,
            "t": pop.topic,
        } | ({"sp": suspended} if self.profile.v55 else {})
        place = self._record(record, _CHECKPOINT, revive_queue, now)
        if place is None:
            return False
        self._live(CheckPoint(pop, pop.time + invisible, set(offsets), revive_queue, place, suspended))
        heappush(self._due, (pop.time + invisible, pop))
        return True

    def acknowledge(self, pop: PopOf, offsets: list[int], now: int) -> None:
        """Messages of a pop are done with; those that it did not give do not count."""
        point = self.points.get(pop)
        done = [] if point is None else sorted(point.left.intersection(offsets))
        if point is None or not done:
            return
        record = {"c": pop.group, "pt": pop.time, "q": pop.queue_id, "so": pop.start, "t": pop.topic}
        record["bn"] = self.config.broker_name
        if len(done) == 1:
            self._record({"ao": done[0], **record}, _ACK, point.revive_queue, now)
        else:
            self._record({"ao": -1, "aol": done, **record}, _ACKS, point.revive_queue, now)
        point.left.difference_update(done)
        if not point.left:
            self._done(point, now)

    def _record(self, record: dict[str, Any], tag: str, queue_id: int, now: int) -> int | None:
        """Store a record. Its offset in its queue; None: the store refuses it."""
        message = Message(
            topic=self.topic,
            body=document(record),
            properties={PropertyName.TAGS: tag},
            queue_id=queue_id,
            born_timestamp=now,
            born_host=self.config.address,
            store_host=self.config.address,
        )
        put = self.broker.store.put(message, now)
        return put.queue_offset if put.status is PutStatus.PUT_OK else None

    def _live(self, point: CheckPoint) -> None:
        self.points[point.pop] = point
        self._living.setdefault(point.revive_queue, {})[point.place] = point.pop

    def _done(self, point: CheckPoint, now: int) -> None:
        """A checkpoint is done with, and perhaps all of the log up to the next one."""
        del self.points[point.pop]
        living = self._living[point.revive_queue]
        was_oldest = next(iter(living)) == point.place
        del living[point.place]
        if was_oldest:
            end = self.broker.store.max_offset(self.topic, point.revive_queue)
            done = next(iter(living), end) - 1
            self.broker.offsets.commit(REVIVE_GROUP, self.topic, point.revive_queue, done, now)

    # -- what comes again ------------------------------------------------------------------------------------

    def next_tick(self) -> int:
        """When the next checkpoint's time is over."""
        return self._due[0][0] if self._due and self.broker.delivers() else NEVER

    def tick(self, now: int) -> None:
        """Bring back what was not acknowledged in time."""
        while self._due and self._due[0][0] <= now:
            until, pop = heappop(self._due)
            point = self.points.get(pop)
            if point is not None and point.until == until:
                self.over(point, now)

    def over(self, point: CheckPoint, now: int) -> None:
        """The time of a checkpoint is over. Without its topic or its group, nothing comes again."""
        pop = point.pop
        known = self.broker.topics.get(plain_topic(pop.group, pop.topic))
        if known is not None and self.broker.groups.find(pop.group, now) is not None:
            for offset in sorted(point.left):
                got = self.broker.store.get(pop.topic, pop.queue_id, offset, 1)
                if got.status is GetStatus.FOUND:
                    self.revive(point, decode_message(got.frames[0]), now)
        self.acknowledge(pop, sorted(point.left), now)

    def revive(self, point: CheckPoint, message: Message, now: int) -> None:
        """Store a message once more for its group."""
        pop = point.pop
        topic = pop.topic
        if not topic.startswith(TopicName.RETRY_PREFIX):
            topic = retry_topic(pop.group, topic, v2=self.config.enable_retry_topic_v2)
        if self.broker.topics.get(topic) is None:
            self.broker.topics.create(topic, _RETRY_QUEUES, READ | WRITE, now)
            if self.broker.offsets.offset_of(pop.group, topic, 0) is None:
                self.broker.offsets.commit(pop.group, topic, 0, 0, now)
        self.broker.store.put(self.again(message, topic, point), now)
        self.broker.pop_waiting.has_more(plain_topic(pop.group, topic), pop.group, -1)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def again(self, message: Message, topic: str, point: CheckPoint) -> Message:
        """What is stored for a message that comes again."""
        properties = dict(message.properties)
        if message.reconsume_times == 0 or PropertyName.FIRST_POP_TIME not in properties:
            properties[PropertyName.FIRST_POP_TIME] = str(point.pop.time)
        if self.profile.v55:
            properties[PropertyName.ORIGIN_GROUP] = point.pop.group
        return Message(
            topic=topic,
            body=message.body,
            properties=properties,
            queue_id=0,
            flag=message.flag,
            sys_flag=message.sys_flag,
            born_timestamp=message.born_timestamp,
            born_host=self.config.address,
            store_host=self.config.address,
            reconsume_times=message.reconsume_times + (0 if point.suspended else 1),
        )

    # -- after a start ---------------------------------------------------------------------------------------

    def read_again(self) -> None:
        """What the log says since the oldest checkpoint that lived when its offset was written."""
        for queue_id in range(self.config.revive_queue_num):
            done = self.broker.offsets.offset_of(REVIVE_GROUP, self.topic, queue_id)
            offset = max(self.broker.store.min_offset(self.topic, queue_id), -1 if done is None else done + 1)
            while (got := self.broker.store.get(self.topic, queue_id, offset, 32)).status is GetStatus.FOUND:
                offset = got.next_offset
                for frame in got.frames:
                    self._follow(decode_message(frame))
        self._due = [(point.until, pop) for pop, point in self.points.items()]
        heapify(self._due)

    def _follow(self, message: Message) -> None:
        try:
            record = msgspec.json.decode(message.body, type=_Record)
        except msgspec.MsgspecError:
            return  # no record: any client may send to this topic
        if message.properties.get(PropertyName.TAGS) == _CHECKPOINT:
            left = {record.so + more for more in record.d}
            until = record.pt + record.it
            place = message.queue_offset
            self._live(CheckPoint(record.pop, until, left, message.queue_id, place, record.sp))
            return
        point = self.points.get(record.pop)
        if point is not None:
            point.left.difference_update(record.aol or (record.ao,))
            if not point.left:
                self._done(point, self.broker.started)
