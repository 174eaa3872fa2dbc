"""Mutants of the chapter retry."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName, TopicName
from harness.wire.versions import V3_4_9
from reference_impl.broker.delays import Delays
from reference_impl.broker.locks import Locks
from reference_impl.broker.retries import Retries
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import PutStatus
from reference_impl.broker.topics import READ, WRITE, Topics
from reference_impl.mutants.registry import BEFORE_55, V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply


@mutant(Retries.send_back, "A message that is sent back is not stored.")
def sent_back_is_lost(original, self, command, connection, now):
    return Reply(0)


@mutant(Retries.level, "A message that is sent back is delivered without delay.")
def sent_back_at_once(original, self, asked, times):
    return 0


@mutant(Retries.level, "The first retry uses level 1.")
def sent_back_at_level_one(original, self, asked, times):
    return asked or 1


@mutant(Retries.level, "Every retry uses level 3.")
def retry_delay_does_not_grow(original, self, asked, times):
    return asked or 3


@after(Retries.returned, "The reconsume times of a retried message are always 0.")
def retries_not_counted(copy):
    copy.reconsume_times = 0


@after(Retries.returned, "A retried message loses its flag.")
def retry_loses_flag(copy):
    copy.flag = 0


@mutant(Retries.returned, "A retried message loses its properties.")
def retry_loses_properties(original, self, message, topic, level):
    message.properties = {}
    return original(self, message, topic, level)


@after(Retries.returned, "A retried message lacks its original topic and id.")
def retry_without_origin(copy):
    del copy.properties[PropertyName.RETRY_TOPIC], copy.properties[PropertyName.ORIGIN_MESSAGE_ID]


@mutant(Retries.returned, "A retried message contains the topic and id of its last retry.")
def origin_of_last_retry(original, self, message, topic, level):
    message.properties.pop(PropertyName.RETRY_TOPIC, None)
    message.properties.pop(PropertyName.ORIGIN_MESSAGE_ID, None)
    return original(self, message, topic, level)


@mutant(Retries.is_dead, "A negative level does not create a dead letter.")
def negative_level_is_retried(original, self, times, limit, level):
    return times >= limit


@mutant(Retries.is_dead, "Only a negative level creates a dead letter.")
def no_limit_of_retries(original, self, times, limit, level):
    return level < 0


@mutant(Retries.limit, "maxReconsumeTimes 0 in a request means the limit of the group.")
def limit_of_no_retries_is_none(original, self, group, asked, version):
    return original(self, group, asked or None, version)


@mutant(Retries.is_dead, "A message becomes a dead letter one retry too early.")
def retry_limit_one_less(original, self, times, limit, level):
    return times + 1 >= limit or level < 0


@mutant(Retries.limit, "The limit in a request applies to every version.")
def limit_of_old_consumers_heeded(original, self, group, asked, version):
    return group.retry_max_times if asked is None else asked


@after(Retries.send_back, "Sending back an unknown message succeeds.")
def missing_message_comes_back(reply):
    return Reply(0) if reply.remark and reply.remark.startswith("look message") else reply


@mutant(Retries.unknown_group, "Sending back a message for an unknown group succeeds.")
def unknown_group_comes_back(original, self, group):
    return Reply(0)


@mutant(Sends.is_dead, "A message sent to a retry topic never becomes a dead letter.")
def sends_to_retry_have_no_limit(original, self, group, times, most, now):
    return original(self, group, times - (10**6), most, now)


@mutant(Sends.retried, "maxReconsumeTimes 0 in a send to a retry topic means the limit of the group.")
def limit_of_no_retries_of_sends_is_none(original, self, message, asked, version, now):
    most = asked.max_reconsume_times or None
    return original(self, message, msgspec.structs.replace(asked, max_reconsume_times=most), version, now)


@mutant(Sends.is_dead, "A message sent to a retry topic gets one retry too many.", V4)
def sends_to_retry_have_one_more(original, self, group, times, most, now):
    return original(self, group, times - 1, most, now)


@mutant(Sends.is_dead, "A message sent to a retry topic gets one retry too few.", V5)
def sends_to_retry_have_one_less(original, self, group, times, most, now):
    return original(self, group, times + 1, most, now)


@mutant(Sends.is_dead, "Locks of a group have no influence on its retries.", V5)
def locks_do_not_count_for_retries(original, self, group, times, most, now):
    return times > most


@mutant(Locks.holds_any, "Expired locks of a group make its retries dead letters.", V5)
def locks_that_are_over_count_for_retries(original, self, group, now):
    return bool(self._locks.get(group))


@mutant(Sends.retried, "A send to the retry topic of an unknown group is stored.")
def sends_to_retry_need_no_group(original, self, message, asked, version, now):
    refused = original(self, message, asked, version, now)
    is_unknown = refused is not None and refused.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    return None if is_unknown else refused


@mutant(Retries.send_back, "Sending back something that is no message succeeds.")
def anything_comes_back(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.code == ResponseCode.SYSTEM_ERROR else reply


@mutant(Retries.send_back, "A Broker that may not be written takes messages back.")
def brokers_always_take_back(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if (reply.remark or "").startswith("the broker[") else reply


@mutant(Retries.send_back, "A group without retry queues has a retry topic.")
def groups_without_queues_retry(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    group = (command.ext or {}).get("group") or ""
    self.broker.topics.create(f"%RETRY%{group}", 1, READ | WRITE, now)
    return reply


@mutant(Retries.send_back, "The permission of a retry topic has no effect.")
def retry_topics_are_always_open(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if (reply.remark or "").startswith("the topic[") else reply


@mutant(Retries.send_back, "A message that is sent back without a field is lost.")
def fields_of_what_comes_back_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(0)


@mutant(Sends.new_topic, "A retry topic is not created without a default topic.")
def retry_topics_need_a_default(original, self, asked, now):
    if self.broker.topics.get(asked.default_topic or "") is None:
        return None
    return original(self, asked, now)


@mutant(Sends.retried, "A dead letter with a level of delay waits for its time.", V5)
def dead_letters_are_delayed(original, self, message, asked, version, now):
    level = message.properties.get(PropertyName.DELAY_TIME_LEVEL)
    refused = original(self, message, asked, version, now)
    if level is not None:
        message.properties[PropertyName.DELAY_TIME_LEVEL] = level
    return refused


@mutant(Sends.retried, "A dead letter of 4.9 is not delayed.", V4)
def dead_letters_49_come_at_once(original, self, message, asked, version, now):
    refused = original(self, message, asked, version, now)
    message.properties.pop(PropertyName.DELAY_TIME_LEVEL, None)
    return refused


@after(Retries.returned, "A message that was sent back comes from the Broker itself.")
def retries_come_from_the_broker(copy, self):
    copy.born_host = self.config.address


@mutant(Sends.retried, "A dead letter is marked as its retry topic says.")
def marks_of_retry_topics_stay(original, self, message, asked, version, now):
    known = self.broker.topics.get(asked.topic)
    refused = original(self, message, asked, version, now)
    if known is not None and known.topic_filter_type == "MULTI_TAG":
        message.sys_flag |= 2
    return refused


@mutant(
    Retries.send_back, "A message that is sent back to a topic whose name is too long is lost.", BEFORE_55
)
def long_topics_lose_messages(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.remark == PutStatus.MESSAGE_ILLEGAL.name else reply


@mutant(Delays.longest, "The topic of a delayed message may have a name of any length.", BEFORE_55)
def delayed_topics_have_any_length(original, self, topic):
    return 32767


@mutant(Delays.longest, "Retry topics have the same limit as other topics.", ["5.3"])
def retry_topics_have_one_limit(original, self, topic):
    return original(self, "")


@mutant(Sends.retried, "A dead letter that was sent comes from the Broker itself.")
def dead_letters_of_sends_come_from_the_broker(original, self, message, asked, version, now):
    refused = original(self, message, asked, version, now)
    if message.topic.startswith(TopicName.DLQ_PREFIX):
        message.born_host = self.config.address
    return refused


@after(Retries.returned, "All messages that come back do so in queue 0.")
def messages_come_back_in_queue_zero(message):
    message.queue_id = 0


@mutant(Retries.limit, "A request without maxReconsumeTimes means 16, whatever its group says.")
def groups_have_no_limit(original, self, group, asked, version):
    found = original(self, group, asked, version)
    return found if found == asked else 16


@mutant(Sends.retried, "A send to a retry topic without maxReconsumeTimes means 16, whatever its group says.")
def sends_to_retry_know_no_group(original, self, message, asked, version, now):
    if asked.max_reconsume_times is None:
        asked.max_reconsume_times = 16
    return original(self, message, asked, version, now)


@mutant(Sends.retried, "The maxReconsumeTimes of a send counts whatever version its header has.")
def limit_of_old_producers_heeded(original, self, message, asked, version, now):
    return original(self, message, asked, V3_4_9, now)


@mutant(Topics.create, "The topic of dead letters has two queues.")
def dead_letters_have_two_queues(original, self, topic, queues, perm, now, *, flag=0, order=False):
    queues = 2 if topic.startswith(TopicName.DLQ_PREFIX) else queues
    return original(self, topic, queues, perm, now, flag=flag, order=order)


@mutant(Topics.create, "The topic of what comes again has one queue.")
def retries_have_one_queue(original, self, topic, queues, perm, now, *, flag=0, order=False):
    queues = 1 if topic.startswith(TopicName.RETRY_PREFIX) else queues
    return original(self, topic, queues, perm, now, flag=flag, order=order)


@mutant(Retries.retry_topic, "The topic of what comes again does not know its unit.")
def retry_topics_know_no_unit(original, self, group, known, *, unit, now):
    return original(self, group, known, unit=False, now=now)


@after(Retries.returned, "A retried message loses its system flag.")
def retries_lose_their_bits(copy):
    copy.sys_flag = 0
