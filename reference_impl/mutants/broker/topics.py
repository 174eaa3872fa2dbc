"""Mutants of the chapter topics."""

import msgspec

from harness.wire import ResponseCode
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
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.registrar import Registrar
from reference_impl.broker.store import Store
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import V4, V5, V55, after, mutant
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError, Reply


@after(TopicAdministration.wanted, "A new topic always has eight queues.")
def topics_are_made_with_eight_queues(topic):
    return msgspec.structs.replace(topic, read_queue_nums=8, write_queue_nums=8)


@mutant(TopicAdministration.all_topics, "Code 21 returns only the topics that existed at startup.")
def new_topics_are_not_told(original, self, command, connection, now):
    names = {topic.topic_name for topic in self.broker.topics.system_topics()}
    topics = self.broker.topics
    table = {name: topic for name, topic in topics.table.items() if name in names}
    return Reply(0, ext={}, body=TopicConfigTable(topics.version, table).encode())


@mutant(TopicAdministration.is_news, "An existing topic cannot be changed.")
def topics_do_not_change(original, self, topic):
    return self.broker.topics.get(topic.topic_name or "") is None


@mutant(Registrar.announce, "An administrator's topic is registered only with the next round.")
def new_topics_are_not_announced(original, self, topics, now):
    return


@mutant(Registrar.announce, "An administrator's topic is registered together with all others.")
def new_topics_announced_with_all(original, self, topics, now):
    self.register(now, force=True, check_order=False)


@mutant(TopicAdministration.is_news, "An unchanged topic is registered again.", V5)
def same_topic_announced_again(original, self, topic):
    return True


@mutant(TopicAdministration.fault, "A topic can be created with any name.")
def illegal_topics_are_made(original, self, topic):
    return None


@mutant(Topics.excess, "Topics of groups have no longer names than others.", ["5.5"])
def topics_of_groups_have_short_names(original, self, topic):
    return original(self, topic.lstrip("%"))


@mutant(Profile, "An illegal name is refused with code 29.", V4)
def illegal_topics_are_code_29(profile):
    return msgspec.structs.replace(profile, invalid_parameter=29)


@mutant(Profile, "An illegal name is refused with code 1.", V5)
def illegal_is_code_1(profile):
    return msgspec.structs.replace(profile, invalid_parameter=1)


@mutant(TopicAdministration.update, "An unknown filter type is treated as the default.")
def any_filter_type_is_taken(original, self, command, connection, now):
    ext = command.ext or {}
    if ext.get("topicFilterType") not in ("SINGLE_TAG", "MULTI_TAG"):
        command.ext = {**ext, "topicFilterType": "SINGLE_TAG"}
    return original(self, command, connection, now)


@mutant(TopicAdministration.takes_order, "An administrator's request does not make a topic ordered.", V5)
def order_is_not_kept(original, self):
    return False


@mutant(TopicAdministration.takes_order, "An administrator's request makes a topic ordered.", V4)
def order_is_kept_in_4_9(original, self):
    return True


@mutant(TopicAdministration.change, "Topic attributes are not stored.", V5)
def attributes_are_not_kept(original, self, topics, now):
    return original(self, _bare(topics), now)


@mutant(TopicAdministration.change, "An update without attributes removes those of the topic.", V5)
def updates_without_attributes_drop_them(original, self, topics, now):
    reply = original(self, topics, now)
    for topic in topics:
        known = self.broker.topics.get(topic.topic_name or "")
        if known is not None and not topic.attributes:
            self.broker.topics.put(msgspec.structs.replace(known, attributes={}), now)
    return reply


@mutant(TopicAdministration.change, "A topic with invalid attributes is created without them.", V5)
def any_attribute_is_taken(original, self, topics, now):
    try:
        return original(self, topics, now)
    except RefusedError:
        return original(self, _bare(topics), now)


@mutant(TopicAdministration.change, "PRIORITY is no message type.", ["5.5"])
def topics_have_no_priority(original, self, topics, now):
    if any("PRIORITY" in (topic.attributes or {}).values() for topic in topics):
        raise RefusedError("value is not in set")
    return original(self, topics, now)


@mutant(TopicAdministration.wanted, "Text that is no list of attributes is taken for none.", V5)
def wrong_attributes_are_taken(original, self, name, filter_type, ext):
    try:
        return original(self, name, filter_type, ext)
    except RefusedError:
        return original(self, name, filter_type, {**ext, "attributes": ""})


def _bare(topics: list[TopicConfig]) -> list[TopicConfig]:
    return [msgspec.structs.replace(topic, attributes={}) for topic in topics]


@mutant(TopicAdministration.queues, "The status of a topic contains no queues.")
def status_is_empty(original, self, topic):
    return 0


@mutant(TopicAdministration.state_of, "The status of a topic shows 0 for every offset.")
def status_without_offsets(original, self, topic, queue):
    return StoredQueue()


@after(TopicAdministration.state_of, "The status of a queue begins at 0, whatever is gone.")
def status_begins_at_zero(state, self, topic, queue):
    return msgspec.structs.replace(state, min_offset=0)


@after(TopicAdministration.state_of, "The status of a queue has the time of the message before the last.")
def status_of_the_message_before(state, self, topic, queue):
    before = self.broker.store.timestamp_of(topic, queue, state.max_offset - 2)
    return msgspec.structs.replace(state, last_update_timestamp=before or 0)


@after(TopicAdministration.statistics, "An unknown topic has a status.")
def status_of_unknown_is_empty(reply):
    none: dict[MessageQueue, StoredQueue] = {}
    return reply if reply.code == 0 else Reply(0, body=TopicStats(none).encode())


@mutant(TopicAdministration.delete, "Deleting a topic succeeds without removing it.")
def topics_are_not_deleted(original, self, command, connection, now):
    return Reply(0)


@mutant(Store.delete_topic, "Deleting a topic keeps its messages.")
def deleted_topics_keep_messages(original, self, topic):
    return


@mutant(TopicAdministration.delete, "Deleting an unknown topic fails.")
def unknown_topics_cannot_be_deleted(original, self, command, connection, now):
    if self.broker.topics.get((command.ext or {}).get("topic") or "") is None:
        return Reply(17, remark="there is none")
    return original(self, command, connection, now)


@mutant(TopicAdministration.fault_in_deletion, "A system topic can be deleted.")
def system_topics_are_deleted(original, self, topic):
    return None


@mutant(Topics.is_system, "A name that begins as those of the system do is free.")
def beginnings_of_system_topics_are_free(original, self, topic):
    return topic in self.system


@mutant(Topics.excess, "A name of 127 characters is too long.")
def longest_topics_are_too_long(original, self, topic):
    return original(self, f"{topic}x")


# -- several at once, and one of them ------------------------------------------------------------------------


@mutant(Topics.system_topics, "A Broker lacks the topic of half messages in RocksDB.", V55)
def transactions_in_rocksdb_have_one_topic(original, self):
    return [one for one in original(self) if one.topic_name != "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"]


@mutant(Topics.system_topics, "A Broker has a topic for traces, whatever its settings say.")
def every_broker_has_a_trace_topic(original, self):
    return [*original(self), self.made("RMQ_SYS_TRACE_TOPIC", 1)]


@mutant(TopicAdministration.change, "Of several new topics, only the first is created.", V5)
def only_the_first_of_several_topics_is_made(original, self, topics, now):
    return original(self, topics[:1], now)


@mutant(Registrar.announce, "Several new topics are announced one by one.", V5)
def several_topics_are_announced_one_by_one(original, self, topics, now):
    for topic in topics:
        original(self, [topic], now)


@mutant(TopicAdministration.update_several, "Illegal names in a list of topics are skipped.", V5)
def illegal_names_in_a_list_are_skipped(original, self, command, connection, now):
    topics = TopicConfigList.decode(command.body).topic_config_list
    legal = [topic for topic in topics if self.fault(topic.topic_name) is None]
    reply = self.change(legal, now)
    return reply if len(legal) == len(topics) else original(self, command, connection, now)


@mutant(TopicAdministration.one_topic, "Code 351 returns the topic that was created last.", V5)
def newest_topic_is_shown(original, self, command, connection, now):
    return Reply(0, body=document([*self.broker.topics.table.values()][-1].document()))


@after(TopicAdministration.one_topic, "Code 351 for an unknown topic succeeds without a body.", V5)
def unknown_topics_are_shown(reply):
    return Reply(0) if reply.code == ResponseCode.TOPIC_NOT_EXIST else reply


# -- those of the Broker, and those that nobody uses ---------------------------------------------------------


@mutant(TopicAdministration.system_topics, "All topics are listed as system topics.")
def clients_topics_are_system_topics(original, self, command, connection, now):
    return Reply(0, body=TopicList([*self.broker.topics.table]).encode())


@mutant(TopicAdministration.system_topics, "The topic of the cluster is not listed as a system topic.")
def cluster_is_no_system_topic(original, self, command, connection, now):
    names = self.broker.topics.system - {self.config.broker_cluster_name}
    return Reply(0, body=TopicList(sorted(names)).encode())


@mutant(TopicAdministration.clean, "Cleaning removes the messages of topics that exist.")
def cleaning_removes_existing_topics(original, self, command, connection, now):
    for topic in [*self.broker.store.topics()]:
        self.broker.store.delete_topic(topic)
    return original(self, command, connection, now)


# -- deletion, and what outlives it --------------------------------------------------------------------------


@mutant(Offsets.forget, "Deleting a topic keeps the offsets of its groups.", V5)
def deleted_topics_keep_offsets(original, self, *, group=None, topic=None):
    if topic is None:
        original(self, group=group)


@mutant(Offsets.forget, "Deleting a topic forgets all offsets.", V5)
def deletion_forgets_all_offsets(original, self, *, group=None, topic=None):
    self.table.clear()


@mutant(TopicAdministration.delete, "Deleting a topic forgets the offsets of its groups.", V4)
def deletion_forgets_offsets_in_4_9(original, self, command, connection, now):
    self.broker.offsets.forget(topic=(command.ext or {}).get("topic"))
    return original(self, command, connection, now)


@mutant(TopicAdministration.fault_in_deletion, "A topic with an illegal name cannot be deleted.", V5)
def illegal_topics_cannot_be_deleted(original, self, topic):
    return self.fault(topic)


@mutant(TopicAdministration.fault_in_deletion, "A topic without a name can be deleted.", V5)
def topics_without_a_name_are_deleted(original, self, topic):
    return original(self, topic) if topic and topic.strip() else None


@mutant(TopicAdministration.fault_in_deletion, "A topic with an illegal name can be deleted.", V4)
def illegal_topics_are_deleted_in_4_9(original, self, topic):
    return original(self, topic) if self.broker.topics.is_system(topic or "") else None


@mutant(Topics.settle, "Topics are not written to a file.")
def restarts_forget_topics(original, self, now):
    return


@mutant(Topics.of_line, "A restart makes every topic one of type SINGLE_TAG.")
def restarts_lose_members_of_topics(original, self, topic):
    return msgspec.structs.replace(original(self, topic), topic_filter_type="SINGLE_TAG")


@mutant(TopicAdministration.change, "A topic can have the message type MIXED.", V5)
def topics_may_be_mixed(original, self, topics, now):
    for topic in topics:
        if (topic.attributes or {}).get("+message.type") == "MIXED":
            topic.attributes = {"+message.type": "NORMAL"}
    return original(self, topics, now)


@after(Topics.system_topics, "traceTopicEnable=true has no effect.")
def trace_topic_is_never_made(topics, self):
    return [topic for topic in topics if topic.topic_name != self.config.msg_trace_topic_name]


@mutant(Topics.create, "A retry topic keeps order=true when a message is sent back.", V5)
def order_of_retry_topics_stays(original, self, topic, queues, perm, now, *, flag=0, order=False):
    known = self.get(topic)
    return known or original(self, topic, queues, perm, now, flag=flag, order=order)


@mutant(Topics.create, "A retry topic that is there is put again: the data version changes.")
def known_retry_topics_are_put_again(original, self, topic, queues, perm, now, *, flag=0, order=False):
    if topic in self.table:
        self.changed(now)
    return original(self, topic, queues, perm, now, flag=flag, order=order)


@mutant(TopicAdministration.retries_of, "A deleted topic leaves its messages that come again.", V5)
def deleted_topics_leave_what_comes_again(original, self, topic):
    return []


@after(TopicAdministration.retries_of, "A deleted topic leaves retry topics whose names have a plus.", V5)
def deleted_topics_leave_newer_retry_topics(found):
    return [topic for topic in found if "+" not in topic]


@mutant(TopicAdministration.retries_of, "A deleted topic takes along queues that are no topics.", V5)
def deleted_topics_take_what_is_no_topic_along(original, self, topic):
    groups = self.broker.group_administration.groups_of(topic)
    return [f"%RETRY%{group}_{topic}" for group in groups]


@mutant(TopicAdministration.queues, "The status of a topic shows its queues to write.", V5)
def status_of_queues_to_write(original, self, topic):
    return topic.write_queue_nums


@mutant(Topics.put, "A change of a topic that is there is not written.")
def changed_topics_are_not_written(original, self, topic, now):
    was = self._unwritten or topic.topic_name not in self.table
    original(self, topic, now)
    self._unwritten = was


@mutant(Topics.delete, "The deletion of a topic is not written.")
def deleted_topics_are_not_written(original, self, topic, now):
    was = self._unwritten
    found = original(self, topic, now)
    self._unwritten = was
    return found


@after(Topics.__init__, "A Broker of 5.x has the system topics of 4.9 alone.", V5)
def checkpoints_have_no_topic(_, self):
    self.system -= {"CHECKPOINT_TOPIC"}
