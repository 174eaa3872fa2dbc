"""Faults of what is shown of members and of what groups have consumed."""

import json

import msgspec

from harness.wire import RequestCode
from harness.wire.bodies import ConsumedQueue, ConsumeStats, ConsumeStatsList, TopicList
from harness.wire.fastjson import document
from reference_impl.broker.clients import Clients
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply

from .answering import answered, without


@mutant(GroupAdministration.consumers, "The connection list of a consumer group is empty.")
def no_consumers_are_shown(original, self, command, connection, now):
    return without(original(self, command, connection, now), "connectionSet")


@mutant(GroupAdministration.consumers, "The connection list of a group omits its subscriptions.")
def subscriptions_are_not_shown(original, self, command, connection, now):
    return without(original(self, command, connection, now), "subscriptionTable")


@mutant(GroupAdministration.producers, "The connection list of a producer group is empty.")
def no_producers_are_shown(original, self, command, connection, now):
    return without(original(self, command, connection, now), "connectionSet")


@answered(
    RequestCode.GET_CONSUMER_CONNECTION_LIST,
    "A group without online consumers gets an empty list.",
    if_refused=True,
)
def nobody_online_is_success():
    return Reply(0)


@answered(
    RequestCode.GET_PRODUCER_CONNECTION_LIST, "A group without producers gets an empty list.", if_refused=True
)
def unknown_producers_are_success():
    return Reply(0)


@mutant(GroupAdministration.consumed, "The consumption statistics of a group contain no queues.")
def progress_is_empty(original, self, group, topic):
    return {}


@mutant(GroupAdministration.consumed, "The consumption statistics of a group show the queues to write to.")
def progress_in_queues_to_write(original, self, group, topic):
    return self.consumed_of_all(group, topic)


@mutant(GroupAdministration.consumed_of_all, "Code 317 shows the queues to read from.")
def progress_of_all_in_queues_to_read(original, self, group, topic):
    return self.consumed(group, topic)


@mutant(GroupAdministration.consumed_of, "The consumption statistics of a group show 0 for every offset.")
def progress_without_offsets(original, self, group, topic, queue):
    return ConsumedQueue()


@mutant(GroupAdministration.progress, "The server refuses statistics for a group that has consumed nothing.")
def progress_of_unknown_is_refused(original, self, command, connection, now):
    if not self.topics_of((command.ext or {}).get("consumerGroup") or ""):
        return Reply(26, remark="there is none")
    return original(self, command, connection, now)


@mutant(GroupAdministration.groups_of, "The list of groups that consume a topic is empty.")
def groups_of_topic_not_shown(original, self, topic):
    return []


@after(GroupAdministration.all_producers, "Code 328 shows one client of each producer group.")
def one_producer_of_a_group_is_shown(reply):
    data = json.loads(reply.body)["data"]
    return Reply(0, body=document({"data": {group: members[:1] for group, members in data.items()}}))


@after(GroupAdministration.all_producers, "Code 328 shows only the producer group that came last.")
def producers_of_the_newest_group_are_shown(reply):
    data = json.loads(reply.body)["data"]
    return Reply(0, body=document({"data": dict([*data.items()][-1:])}))


@mutant(GroupAdministration.topics_of_group, "Code 343 shows the topics of all groups.", V5)
def topics_of_all_groups_are_shown(original, self, command, connection, now):
    keys = (key.partition("@") for key in self.broker.offsets.table)
    return Reply(0, body=TopicList([topic for topic, _, _ in keys]).encode())


@mutant(GroupAdministration.subscription, "Code 345 shows a subscription, whatever its topic.", V5)
def any_subscription_is_shown(original, self, command, connection, now):
    online = self.broker.clients.consumers.get(command.ext["group"])
    told = {"group": command.ext["group"], "topic": command.ext["topic"]}
    if online is not None and online.subscriptions:
        told["subscriptionData"] = next(iter(online.subscriptions.values())).document()
    return Reply(0, body=document(told))


@after(GroupAdministration.subscription, "Code 345 never has a subscription.", V5)
def subscription_of_group_is_hidden(reply):
    told = json.loads(reply.body)
    told.pop("subscriptionData", None)
    return Reply(0, body=document(told))


@mutant(GroupAdministration.progress, "A blank topic is one.")
def progress_in_a_blank_topic(original, self, command, connection, now):
    topic = (command.ext or {}).get("topic")
    blank = topic is not None and topic != topic.strip()
    return Reply(0, body=ConsumeStats().encode()) if blank else original(self, command, connection, now)


@mutant(GroupAdministration.progress, "The last time is that of the next message.")
def progress_has_the_time_of_the_next(original, self, command, connection, now):
    stats = ConsumeStats.decode(original(self, command, connection, now).body)
    store = self.broker.store
    for queue, state in list(stats.offset_table.items()):
        at = store.timestamp_of(queue.topic, queue.queue_id, state.consumer_offset)
        stats.offset_table[queue] = msgspec.structs.replace(state, last_timestamp=at or 0)
    return Reply(0, body=stats.encode())


@after(GroupAdministration.progress_of_all, "Code 317 shows the group that was created last.")
def progress_of_one_group_is_shown(reply):
    told = ConsumeStatsList.decode(reply.body)
    told.consume_stats_list = told.consume_stats_list[-1:]
    return Reply(0, body=told.encode())


@after(GroupAdministration.progress_of_all, "Code 317 does not show the group that was there first.")
def progress_lacks_the_first_group(reply):
    told = ConsumeStatsList.decode(reply.body)
    told.consume_stats_list = told.consume_stats_list[1:]
    return Reply(0, body=told.encode())


@after(GroupAdministration.progress_of_all, "In code 317, totalDiff is always 0.")
def total_difference_is_left_out(reply):
    told = ConsumeStatsList.decode(reply.body)
    told.total_diff = 0
    return Reply(0, body=told.encode())


@mutant(GroupAdministration.progress_of_all, "Code 317 shows all topics, ordered or not.", V5)
def progress_in_all_topics_is_shown(original, self, command, connection, now):
    return original(self, msgspec.structs.replace(command, ext={"isOrder": "false"}), connection, now)


@mutant(Clients.stop_producing, "A producer that leaves its group is still shown.")
def who_produces_no_more_is_shown(original, self, group, connection):
    return


@mutant(Clients.stop_producing, "When one producer leaves a group, no other is shown.")
def who_leaves_takes_all_producers_along(original, self, group, connection):
    self.producers.pop(group, None)


@mutant(Clients.stop_producing, "A group whose producers have left is shown without producers.", V5)
def groups_without_producers_are_shown(original, self, group, connection):
    self.producers.get(group, {}).pop(connection, None)


@mutant(Clients.lost, "A producer is shown after its connection has ended.", V5)
def lost_producers_are_shown(original, self, connection, now):
    before = {group: dict(members) for group, members in self.producers.items()}
    original(self, connection, now)
    self.producers = before


@after(GroupAdministration.groups_of_topic, "300 leaves out the first group.")
def first_group_of_topic_is_hidden(reply):
    reply.body = document({"groupList": msgspec.json.decode(reply.body)["groupList"][1:]})


@after(GroupAdministration.groups_of_topic, "300 leaves out the last group.")
def last_group_of_topic_is_hidden(reply):
    reply.body = document({"groupList": msgspec.json.decode(reply.body)["groupList"][:-1]})


@mutant(GroupAdministration.is_shown, "Progress is shown in topics to which a group subscribes no longer.")
def progress_in_topics_given_up_is_shown(original, self, group, topic):
    return True


@mutant(GroupAdministration.is_shown, "No progress is shown of a group that is online without subscriptions.")
def groups_without_subscriptions_show_no_progress(original, self, group, topic):
    online = self.broker.clients.consumers.get(group)
    return online is None or topic in online.subscriptions
