"""The topics of a Broker: which there are, what they may be called, how they come into being.

1. The table begins with the system topics of the line, and what is stored comes on top.
2. Every change gives the table a new data version: the time, and a counter that grows by one. It is written
   to `config/topics.json` before anything is answered.
3. A topic that comes into being without an administrator is made known through `Broker.topic_created`; what
   an administrator changes, the caller makes known.

Source: TopicConfigManager, TopicValidator of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire.bodies import DataVersion, TopicConfig, TopicConfigTable
from harness.wire.messages import TopicName

from .part import Part
from .tables import FileText, stored_table

if TYPE_CHECKING:
    from .core import Broker

TOPICS_FILE: Final = "config/topics.json"

READ: Final = 4
WRITE: Final = 2
INHERIT: Final = 1
"""Bits of a permission. INHERIT: topics may be made after this one."""

_LONGEST: Final = 127
_LONGEST_OF_GROUPS: Final = 255
"""5.5: of topics of groups, for retries and dead letters."""
_LEGAL: Final = re.compile(r"[%|a-zA-Z0-9_-]+")
_DEFAULT: Final = "TBW102"
_SYSTEM_PREFIX: Final = "rmq_sys_"
_CLOSED: Final = frozenset(
    {
        "SCHEDULE_TOPIC_XXXX",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
    }
)
"""Topics that clients must not send to."""
_OF_ROCKSDB: Final = frozenset({"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"})
"""5.5: as those of transactions, where they are kept in RocksDB. They are there in any case."""
_SYSTEM: Final = _CLOSED | {_DEFAULT, "BenchmarkTest", "RMQ_SYS_TRACE_TOPIC"}
_SYSTEM_53: Final = _SYSTEM | {"CHECKPOINT_TOPIC"}
_RULE: Final = "contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"


class Topics(Part):
    """The table of topics."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.table: dict[str, TopicConfig] = {topic.topic_name or "": topic for topic in self.system_topics()}
        self.system: frozenset[str] = (_SYSTEM_53 if self.profile.v5 else _SYSTEM) | self.table.keys()
        self.version = DataVersion(0, broker.started, 0 if self.profile.v5 else None)
        self._unwritten = False
        stored = stored_table(broker.stored, TOPICS_FILE, TopicConfigTable.decode)
        if stored is not None:
            self.table |= {name: self.of_line(topic) for name, topic in stored.topic_config_table.items()}
            self.version = version_of_line(stored.data_version or self.version, self.profile.v5)

    def of_line(self, topic: TopicConfig) -> TopicConfig:
        """A topic with the members that the line has."""
        return msgspec.structs.replace(
            topic, attributes=(topic.attributes or {}) if self.profile.v5 else None
        )

    # -- looking up ------------------------------------------------------------------------------------------

    def get(self, topic: str) -> TopicConfig | None:
        """A topic; None: there is none of that name."""
        return self.table.get(topic)

    def fault(self, topic: str | None) -> str | None:
        """What is wrong with a topic's name, as a remark; None: nothing."""
        if topic is None or not topic.strip():
            return "The specified topic is blank."
        if not _LEGAL.fullmatch(topic):
            return (
                f"The specified topic: {topic}, {_RULE}"
                if self.profile.v55
                else f"The specified topic {_RULE}"
            )
        return self.excess(topic)

    def excess(self, topic: str) -> str | None:
        """Whether a topic's name is too long, as a remark; None: it is not."""
        if not self.profile.v55:
            return "The specified topic is longer than topic max length." if len(topic) > _LONGEST else None
        limit, what = _LONGEST, f"The specified topic: {topic}, is"
        if topic.startswith((TopicName.RETRY_PREFIX, TopicName.DLQ_PREFIX)):
            limit, what = _LONGEST_OF_GROUPS, f"The specified topic is DLQ or Retry topic: {topic}, and it's"
        return f"{what} longer than topic max length: {limit}" if len(topic) > limit else None

    def is_system(self, topic: str) -> bool:
        """Whether a topic is the system's, which no administrator may change."""
        return topic in self.system or topic.startswith(_SYSTEM_PREFIX)

    def is_closed(self, topic: str) -> bool:
        """Whether clients must not send to a topic."""
        return topic in _CLOSED or (self.profile.v55 and topic in _OF_ROCKSDB)

    # -- coming into being -----------------------------------------------------------------------------------

    def system_topics(self) -> list[TopicConfig]:
        """What there is before anybody has asked for anything."""
        config = self.config
        cluster, name = config.broker_cluster_name, config.broker_name
        both = READ | WRITE
        topics = [self.made("SELF_TEST_TOPIC", 1)]
        if config.auto_create_topic_enable:
            topics.append(self.made(_DEFAULT, config.default_topic_queue_nums, INHERIT | both))
        topics += [
            self.made("BenchmarkTest", 1024),
            self.made(cluster, 16, INHERIT | (both if config.cluster_topic_enable else 0)),
            self.made(name, 1, INHERIT | (both if config.broker_topic_enable else 0)),
            self.made("OFFSET_MOVED_EVENT", 1),
            self.made("SCHEDULE_TOPIC_XXXX", 18),
        ]
        if config.trace_topic_enable:
            topics.append(self.made(config.msg_trace_topic_name, 1))
        topics.append(self.made(f"{cluster}_REPLY_TOPIC", 1))
        if self.profile.v5:
            topics += [
                self.made(f"rmq_sys_REVIVE_LOG_{cluster}", config.revive_queue_num),
                self.made(f"rmq_sys_SYNC_BROKER_MEMBER_{name}", 1, INHERIT),
                self.made("RMQ_SYS_TRANS_HALF_TOPIC", 1),
                self.made("RMQ_SYS_TRANS_OP_HALF_TOPIC", 1),
            ]
            if self.profile.v55:
                topics += [self.made(topic, 1) for topic in sorted(_OF_ROCKSDB)]
            if config.timer_wheel_enable:
                topics.append(self.made("rmq_sys_wheel_timer", 1))
        return topics

    def made(self, topic: str, queues: int, perm: int = READ | WRITE, flag: int = 0) -> TopicConfig:
        """A topic as the line describes it; only 5.x has attributes."""
        return TopicConfig(
            topic_name=topic,
            read_queue_nums=queues,
            write_queue_nums=queues,
            perm=perm,
            topic_sys_flag=flag,
            attributes={} if self.profile.v5 else None,
        )

    def create_by_send(
        self, topic: str, default: str, queues: int, flag: int, now: int
    ) -> TopicConfig | None:
        """The new topic that a send asks for, made after the default topic; None: it may not.

        `queues` is how many the producer would like.
        """
        pattern = self.table.get(default)
        if pattern is None or not self.may_inherit(pattern):
            return None
        count = max(0, min(queues, pattern.write_queue_nums))
        made = self.made(topic, count, pattern.perm & ~INHERIT, flag)
        made.topic_filter_type = pattern.topic_filter_type
        self._appear(made, now)
        return made

    def may_inherit(self, pattern: TopicConfig) -> bool:
        """Whether topics may be made after this one. TBW102 loses that for good if it is not allowed."""
        if pattern.topic_name == _DEFAULT and not self.config.auto_create_topic_enable:
            pattern.perm = READ | WRITE
        return bool(pattern.perm & INHERIT)

    def create(
        self, topic: str, queues: int, perm: int, now: int, *, flag: int = 0, order: bool = False
    ) -> TopicConfig:
        """The topic of that name, made now if there is none: for retries, dead letters and the like.

        5.x also changes the `order` of one that is there.
        """
        known = self.table.get(topic)
        if known is None:
            known = self.made(topic, queues, perm, flag)
            known.order = order
            self._appear(known, now)
        elif self.profile.v5 and known.order != order:
            self.put(msgspec.structs.replace(known, order=order), now)
        return known

    def _appear(self, topic: TopicConfig, now: int) -> None:
        self.put(topic, now)
        self.broker.topic_created(topic, now)

    # -- change ----------------------------------------------------------------------------------------------

    def put(self, topic: TopicConfig, now: int) -> None:
        """Store a topic, new or changed."""
        self.table[topic.topic_name or ""] = topic
        self.changed(now)

    def delete(self, topic: str, now: int) -> None:
        """Forget a topic, if there is one of this name."""
        if self.table.pop(topic, None) is not None:
            self.changed(now)

    def set_order(self, ordered: Collection[str], now: int) -> None:
        """Take over from a NameServer which topics are ordered; 5.x takes the order from none."""
        changed = False
        for name, topic in self.table.items():
            order = self.ordered_now(topic, name in ordered)
            if order != topic.order:
                self.table[name] = msgspec.structs.replace(topic, order=order)
                changed = True
        if changed:
            self.changed(now)

    def ordered_now(self, topic: TopicConfig, is_listed: bool) -> bool:
        """Whether a topic is ordered once a NameServer has said that it is listed as such, or not."""
        return is_listed or (self.profile.v5 and topic.order)

    def changed(self, now: int) -> None:
        """The table has changed."""
        self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1, timestamp=now)
        self._unwritten = True

    def take_over(self, table: Mapping[str, TopicConfig], version: DataVersion) -> None:
        """Replace everything by what a master has, whose line may be another."""
        self.table, self.version = {name: self.of_line(topic) for name, topic in table.items()}, version
        self._unwritten = True

    def document(self) -> TopicConfigTable:
        """Everything, as a body and as a file have it."""
        return TopicConfigTable(self.version, self.table)

    def settle(self, now: int) -> None:
        """What has changed is to be written."""
        if self._unwritten:
            self._unwritten = False
            table = msgspec.structs.replace(self.document(), topic_config_table=dict(self.table))
            self.broker.persist(TOPICS_FILE, FileText(table.document))


def version_of_line(version: DataVersion, v5: bool) -> DataVersion:
    """A data version with the members that a line has."""
    return msgspec.structs.replace(version, state_version=(version.state_version or 0) if v5 else None)
