"""Topics as administrators see and change them.

1. A topic that an administrator makes or changes is announced to the NameServers at once; one that he deletes
   is not, for the tools tell the NameServers themselves.
2. System topics cannot be changed.

Source: AdminBrokerProcessor, TopicConfigManager, CreateTopicRequestHeader of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import (
    MessageQueue,
    StoredQueue,
    TopicConfig,
    TopicConfigList,
    TopicConfigTable,
    TopicList,
    TopicStats,
)
from harness.wire.fastjson import document
from harness.wire.messages import TopicName
from reference_impl.remoting import fields
from reference_impl.remoting.fields import Ext
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .attributes import MESSAGE_TYPE, altered, of_topics, parsed
from .light_names import LIGHT_QUEUE
from .pages import TOPICS
from .part import Part

SLAVE_REMARK: Final = (
    "Can't modify topic or subscription group from slave broker, please execute it from master broker."
)
FILTER_TYPES: Final = ("SINGLE_TAG", "MULTI_TAG")


class TopicAdministration(Part):
    """Makes, changes, shows and deletes topics."""

    # -- making and changing ---------------------------------------------------------------------------------

    @answers(RequestCode.UPDATE_AND_CREATE_TOPIC)
    def update(self, command: Command, connection: int, now: int) -> Reply:
        if self.refuses_as_slave():
            return Reply(ResponseCode.SYSTEM_ERROR, remark=SLAVE_REMARK)
        ext = command.ext or {}
        filter_type = fields.text(ext, "topicFilterType")
        if filter_type not in FILTER_TYPES:
            raise RefusedError(f"topicFilterType = [{filter_type}] value invalid")
        name = required.text(ext, "topic") if self.profile.v5 else fields.text(ext, "topic")
        fault = self.fault(name)
        if fault is not None:
            return Reply(self.profile.invalid_parameter, remark=fault)
        return self.change([self.wanted(name or "", filter_type, ext)], now)

    @answers(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, v5=True)
    def update_several(self, command: Command, connection: int, now: int) -> Reply:
        """All of them or none."""
        topics = required.body(command, TopicConfigList.decode, self.profile.engine).topic_config_list
        for topic in topics:
            fault = self.fault(topic.topic_name)
            if fault is not None:
                return Reply(self.profile.invalid_parameter, remark=fault)
        return self.change(topics, now)

    def change(self, topics: list[TopicConfig], now: int) -> Reply:
        """Store and announce topics whose names are good. One that is there as it is wanted is left alone."""
        table = self.broker.topics
        wanted = []
        for topic in topics:
            if self.profile.v5:
                if (topic.attributes or {}).get(f"+{MESSAGE_TYPE}") == "MIXED":
                    remark = "MIXED message type is not supported."
                    return Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
                known = table.get(topic.topic_name or "")
                current = None if known is None else known.attributes or {}
                attributes = altered(current, topic.attributes or {}, of_topics(self.profile))
                wanted.append(msgspec.structs.replace(topic, attributes=attributes))
            else:
                wanted.append(topic)
        wanted = [topic for topic in wanted if self.is_news(topic)]
        for topic in wanted:
            table.put(topic, now)
        if wanted:
            self.broker.registrar.announce(wanted, now)
        return Reply(ResponseCode.SUCCESS)

    def wanted(self, name: str, filter_type: str, ext: Ext) -> TopicConfig:
        """The topic that a request describes; its attributes are still changes."""
        return TopicConfig(
            topic_name=name,
            read_queue_nums=required.int32(ext, "readQueueNums"),
            write_queue_nums=required.int32(ext, "writeQueueNums"),
            perm=required.int32(ext, "perm"),
            topic_filter_type=filter_type,
            topic_sys_flag=fields.int32(ext, "topicSysFlag") or 0,
            order=self.takes_order() and fields.boolean(ext, "order") is True,
            attributes=parsed(fields.text(ext, "attributes") or "") if self.profile.v5 else None,
        )

    @answers(RequestCode.DELETE_TOPIC_IN_BROKER)
    def delete(self, command: Command, connection: int, now: int) -> Reply:
        """The deletion of an unknown topic succeeds."""
        if self.refuses_as_slave():
            return Reply(ResponseCode.SYSTEM_ERROR, remark=SLAVE_REMARK)
        name = fields.text(command.ext, "topic")
        fault = self.fault_in_deletion(name)
        if fault is not None:
            return Reply(self.profile.invalid_parameter, remark=fault)
        self.broker.light_topics.forget(name or "", now)
        for topic in (name or "", *self.retries_of(name or "")):
            self.broker.topics.delete(topic, now)
            self.broker.static_topics.forget(topic, now)
            self.broker.store.delete_topic(topic)
            if self.profile.v5:
                self.broker.offsets.forget(topic=topic)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)
    def clean_queues(self, command: Command, connection: int, now: int) -> Reply:
        """Queues without a message in the log."""
        self.broker.store.delete_empty_queues(keep=TopicName.SCHEDULE)
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.CLEAN_UNUSED_TOPIC)
    def clean(self, command: Command, connection: int, now: int) -> Reply:
        """Queues of topics that no longer exist."""
        for topic in self.broker.store.topics().keys() - self.broker.topics.table.keys():
            if not self.broker.topics.is_system(topic) and not topic.startswith(LIGHT_QUEUE):
                self.broker.store.delete_topic(topic)
        return Reply(ResponseCode.SUCCESS)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def refuses_as_slave(self) -> bool:
        """Whether nothing can be changed, because this is a slave: 5.x changes it all the same."""
        return self.config.is_slave and not self.profile.v5

    def fault(self, topic: str | None) -> str | None:
        """Why an administrator may not have a topic of that name; None: he may."""
        fault = self.broker.topics.fault(topic)
        if fault is None and self.broker.topics.is_system(topic or ""):
            return f"The topic[{topic}] is conflict with system topic."
        return fault

    def fault_in_deletion(self, topic: str | None) -> str | None:
        """Why a topic may not be deleted; 5.x does not look at its characters."""
        if (
            self.profile.v5
            and topic is not None
            and topic.strip()
            and not self.broker.topics.is_system(topic)
        ):
            return None
        return self.fault(topic)

    def takes_order(self) -> bool:
        """Whether an administrator says if a topic is ordered."""
        return self.profile.v5

    def is_news(self, topic: TopicConfig) -> bool:
        """Whether a topic differs from what is known of it; 4.9 takes everything for news."""
        return not self.profile.v5 or topic != self.broker.topics.get(topic.topic_name or "")

    def retries_of(self, topic: str) -> list[str]:
        """5.x: the topics for what POP consumers of a topic try again; they go with it."""
        if not self.profile.v5:
            return []
        table, retry = self.broker.topics.table, TopicName.RETRY_PREFIX
        groups = self.broker.group_administration.groups_of(topic)
        names = (f"{retry}{group}{between}{topic}" for group in groups for between in "+_")
        return [name for name in names if name in table]

    # -- answers --------------------------------------------------------------------------------------------

    @answers(RequestCode.GET_ALL_TOPIC_CONFIG)
    def all_topics(self, command: Command, connection: int, now: int) -> Reply:
        """The whole table, for slaves and tools; of 5.5, also a part of it."""
        topics, pages = self.broker.topics, self.broker.pages
        table = pages.part_of(topics.table, TOPICS, command.ext or {}, topics.version)
        told = TopicConfigTable(data_version=topics.version, topic_config_table=table).document()
        if self.profile.v5:
            static = self.broker.static_topics
            told |= {
                "mappingDataVersion": static.version.document(),
                "topicQueueMappingDetailMap": static.documents(),
                "topicQueueMappingInfoMap": {},
            }
            told = dict(sorted(told.items()))
        ext = pages.total_of(topics.table, TOPICS)
        return Reply(ResponseCode.SUCCESS, ext=ext, body=document(told))

    @answers(RequestCode.GET_TOPIC_CONFIG, v5=True)
    def one_topic(self, command: Command, connection: int, now: int) -> Reply:
        name = required.text(command.ext or {}, "topic")
        topic = self.broker.topics.get(name)
        if topic is None:
            remark = f"No topic in this broker. topic: {name}"
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        told = topic.document()
        static = self.broker.static_topics
        if name in static.table and fields.boolean(command.ext, "lo") is True:
            told = dict(sorted({**told, "mappingDetail": static.document(static.table[name])}.items()))
        return Reply(ResponseCode.SUCCESS, body=document(told))

    @answers(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
    def system_topics(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=TopicList(sorted(self.broker.topics.system)).encode())

    @answers(RequestCode.GET_TOPIC_STATS_INFO)
    def statistics(self, command: Command, connection: int, now: int) -> Reply:
        """How far the queues of a topic go."""
        name = required.text(command.ext or {}, "topic")
        topic = self.broker.topics.get(name)
        if topic is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=f"topic[{name}] not exist")
        table = {
            MessageQueue(self.config.broker_name, queue, name): self.state_of(name, queue)
            for queue in range(self.queues(topic))
        }
        rate = 0.0 if self.profile.v5 else None
        return Reply(ResponseCode.SUCCESS, body=TopicStats(table, rate).encode())

    def queues(self, topic: TopicConfig) -> int:
        """How many queues of a topic are shown; 5.x shows those too that are only read."""
        return max(topic.write_queue_nums, topic.read_queue_nums if self.profile.v5 else 0)

    def state_of(self, topic: str, queue: int) -> StoredQueue:
        """What is stored in a queue."""
        store = self.broker.store
        end = store.max_offset(topic, queue)
        newest = store.timestamp_of(topic, queue, end - 1) or 0
        return StoredQueue(newest, end, store.min_offset(topic, queue))
