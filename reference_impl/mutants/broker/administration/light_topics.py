"""Faults of what is answered about light topics (5.5)."""

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.light_topics import LightTopics
from reference_impl.mutants.registry import V55, after, mutant
from reference_impl.remoting.reply import Reply

from .answering import answered


@after(LightTopics.topics_with_queues, "No topic with queues is counted.", V55)
def light_topics_are_not_counted(found):
    return 0


@mutant(LightTopics.topics_with_queues, "Queues are counted, not topics.", V55)
def light_queues_are_counted(original, self):
    return sum(len(queues) for queues in self.broker.store.topics().values())


@mutant(LightTopics.pairs_with_offsets, "Topics with offsets are counted, not pairs of topic and group.", V55)
def light_offsets_are_counted_by_topic(original, self):
    return len({key.partition("@")[0] for key in self.broker.offsets.table})


@mutant(LightTopics.no_parent, "What is asked about light topics of an unknown topic succeeds.", V55)
def light_topics_need_no_parent(original, self, topic):
    reply = original(self, topic)
    return Reply(ResponseCode.SUCCESS) if reply.code == ResponseCode.TOPIC_NOT_EXIST else reply


@mutant(LightTopics.no_parent, "Every topic may have light topics.", V55)
def any_topic_is_a_parent(original, self, topic):
    reply = original(self, topic)
    return Reply(ResponseCode.SUCCESS) if reply.code == ResponseCode.INVALID_PARAMETER else reply


@mutant(LightTopics.light_group, "What is asked about a group that does not exist succeeds.", V55)
def light_groups_need_not_exist(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    unknown = reply.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    return Reply(ResponseCode.SUCCESS) if unknown else reply


@mutant(LightTopics.light_group, "Every group may consume light topics.", V55)
def any_group_is_light(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.SUCCESS) if reply.code == ResponseCode.INVALID_PARAMETER else reply


@answered(RequestCode.LITE_SUBSCRIPTION_CTL, "No subscription to light topics is one, too.", V55)
def light_subscriptions_may_be_none():
    return Reply(ResponseCode.SUCCESS)


@after(LightTopics.subscriptions, "No subscription to light topics is read.", V55)
def light_subscriptions_are_not_read(found):
    found.clear()


@mutant(LightTopics.pop, "A pop of light topics needs no light topic.", V55)
def light_pops_need_no_light_topic(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    no_match = (reply.remark or "").endswith("not match")
    return Reply(ResponseCode.POLLING_TIMEOUT) if no_match else reply


@mutant(LightTopics.is_too_late, "A pop of light topics is never too late.", V55)
def light_pops_are_never_late(original, self, born, poll, now):
    return False


@mutant(LightTopics.born, "A pop of light topics that does not say when it began is too late.", V55)
def light_pops_are_late_without_a_time(original, self, ext, now):
    return original(self, {"bornTime": "1", **ext}, now)


@mutant(LightTopics.pop, "A pop of light topics may ask for any number.", V55)
def light_pops_have_no_limit(original, self, command, connection, now):
    command.ext["maxMsgNum"] = "1"
    return original(self, command, connection, now)
