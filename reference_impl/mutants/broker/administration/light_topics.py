"""Faults of what is answered about light topics (5.5)."""

from msgspec.structs import replace

from harness.wire import RequestCode, ResponseCode
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.light_pops import LightPops
from reference_impl.broker.light_subscriptions import LightSubscriptions
from reference_impl.broker.light_topics import LightTopics
from reference_impl.mutants.registry import V55, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

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


@after(LightSubscriptions.subscriptions, "No subscription to light topics is read.", V55)
def light_subscriptions_are_not_read(found):
    found.clear()


@after(LightSubscriptions.subscriptions, "Of several subscriptions the first that lacks nothing counts.", V55)
def one_light_subscription_is_taken(found):
    whole = [
        one for one in found if all((name or "").strip() for name in (one.client_id, one.group, one.topic))
    ]
    found[:] = whole[:1] or found


@mutant(LightPops.pop, "A pop of light topics needs no light topic.", V55)
def light_pops_need_no_light_topic(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    no_match = reply is not None and (reply.remark or "").endswith("not match")
    return Reply(ResponseCode.POLLING_TIMEOUT) if no_match else reply


@mutant(LightPops.is_too_late, "A pop of light topics is never too late.", V55)
def light_pops_are_never_late(original, self, born, poll, now):
    return False


@mutant(LightPops.born, "A pop of light topics that does not say when it began is too late.", V55)
def light_pops_are_late_without_a_time(original, self, ext, now):
    return original(self, {"bornTime": "1", **ext}, now)


@mutant(LightPops.pop, "A pop of light topics may ask for any number.", V55)
def light_pops_have_no_limit(original, self, command, connection, now):
    command.ext["maxMsgNum"] = "1"
    return original(self, command, connection, now)


@mutant(LightPops.times, "A refusal of a pop of light topics does not say the queue.", V55)
def refused_light_pops_have_no_times(original, self, invisible, popped, revived):
    found = original(self, invisible, popped, revived)
    return found if revived else {}


@after(LightTopics.parents, "Light topics never go.", V55)
def parents_go_never(found):
    for name in found:
        found[name] = -1


@mutant(LightTopics.parents, "A topic that was a parent stays one.", V55)
def topics_stay_parents(original, self):
    self.seen = {**getattr(self, "seen", {}), **original(self)}
    return self.seen


@after(LightTopics.groups, "Groups of parents are not shown.", V55)
def bound_groups_are_not_shown(found):
    found.clear()


@mutant(GroupAdministration.wanted, "What a group is for light topics may be any text.", V55)
def models_of_groups_are_any_text(original, self, group):
    try:
        return original(self, group)
    except RefusedError:
        attributes = {key: value for key, value in (group.attributes or {}).items() if "lite" not in key}
        return original(self, replace(group, attributes=attributes))


@mutant(LightTopics.light_topic, "A light topic that is not used is unknown.", V55)
def unused_light_topics_are_unknown(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.TOPIC_NOT_EXIST) if reply.code == ResponseCode.SUCCESS else reply


@mutant(LightTopics.light_client, "A client that subscribes to nothing is unknown.", V55)
def idle_light_clients_are_unknown(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.INVALID_PARAMETER) if reply.code == ResponseCode.SUCCESS else reply


@mutant(LightTopics.light_group, "What a group lacks of one light topic is nothing.", V55)
def light_groups_lack_nothing(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    reply.body = reply.body.replace(b'"totalLagCount":-1', b'"totalLagCount":0')
    return reply


@mutant(LightTopics.light_group, "Nothing is said of a group if no number is asked for.", V55)
def light_groups_need_no_number(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(LightPops.refused, "Every group pops light messages.", V55)
def any_group_pops_light_messages(original, self, ext, now):
    reply = original(self, ext, now)
    return None if reply is not None and (reply.remark or "").startswith("subscription bind") else reply


@mutant(LightPops.pop, "A pop of light topics that finds nothing succeeds.", V55)
def light_pops_find_nothing_never(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    reply.code = ResponseCode.SUCCESS if reply.remark == "NO_MESSAGE_IN_QUEUE" else reply.code
    return reply
