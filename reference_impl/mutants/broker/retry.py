"""Mutants of the chapter retry."""

from harness.wire.messages import PropertyName
from reference_impl.broker.retries import Retries
from reference_impl.broker.sends import Sends
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Retries.send_back, "A message that is sent back is not stored.")
def sent_back_is_lost(original, self, command, connection, now):
    return Reply(0)


@mutant(Retries.level, "A message that is sent back is not delayed.")
def sent_back_at_once(original, self, asked, times):
    return 0


@mutant(Retries.level, "The first retry has level 1.")
def sent_back_at_level_one(original, self, asked, times):
    return asked or 1


@mutant(Retries.level, "Every retry has level 3.")
def retry_delay_does_not_grow(original, self, asked, times):
    return asked or 3


@after(Retries.returned, "A message that is retried has a count of 0.")
def retries_not_counted(copy):
    copy.reconsume_times = 0


@after(Retries.returned, "A message that is retried has lost the flag of its sender.")
def retry_loses_flag(copy):
    copy.flag = 0


@mutant(Retries.returned, "A message that is retried has lost the properties of its sender.")
def retry_loses_properties(original, self, message, topic, level):
    message.properties = {}
    return original(self, message, topic, level)


@after(Retries.returned, "A message that is retried names neither its first topic nor its first id.")
def retry_without_origin(copy):
    del copy.properties[PropertyName.RETRY_TOPIC], copy.properties[PropertyName.ORIGIN_MESSAGE_ID]


@mutant(Retries.returned, "A message that is retried names the topic and id of its last retry.")
def origin_of_last_retry(original, self, message, topic, level):
    message.properties.pop(PropertyName.RETRY_TOPIC, None)
    message.properties.pop(PropertyName.ORIGIN_MESSAGE_ID, None)
    return original(self, message, topic, level)


@mutant(Retries.is_dead, "A negative level does not make a dead letter.")
def negative_level_is_retried(original, self, times, limit, level):
    return times >= limit


@mutant(Retries.is_dead, "Only a negative level makes a dead letter.")
def no_limit_of_retries(original, self, times, limit, level):
    return level < 0


@mutant(Retries.is_dead, "A message is a dead letter one retry too early.")
def retry_limit_one_less(original, self, times, limit, level):
    return times + 1 >= limit or level < 0


@mutant(Retries.limit, "The limit of a request counts whatever its version.")
def limit_of_old_consumers_heeded(original, self, group, asked, version):
    return group.retry_max_times if asked is None else asked


@after(Retries.send_back, "Sending back an unknown message succeeds.")
def missing_message_comes_back(reply):
    return Reply(0) if reply.remark and reply.remark.startswith("look message") else reply


@mutant(Retries.unknown_group, "A message of an unknown group is taken back.")
def unknown_group_comes_back(original, self, group):
    return Reply(0)


@mutant(Sends.is_dead, "What is sent to a retry topic is never a dead letter.")
def sends_to_retry_have_no_limit(original, self, group, times, most, now):
    return original(self, group, times - (10**6), most, now)


@mutant(Sends.is_dead, "What is sent to a retry topic is tried once too often.", V4)
def sends_to_retry_have_one_more(original, self, group, times, most, now):
    return original(self, group, times - 1, most, now)


@mutant(Sends.is_dead, "What is sent to a retry topic is tried once too little.", V5)
def sends_to_retry_have_one_less(original, self, group, times, most, now):
    return original(self, group, times + 1, most, now)
