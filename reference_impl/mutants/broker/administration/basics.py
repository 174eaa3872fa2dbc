"""Faults of groups, progress, settings and tables."""

import json

import msgspec

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import ConsumedQueue, ConsumeStatsList, KvTable, MessageQueue, TopicList
from harness.wire.broker_settings import broker_settings
from harness.wire.fastjson import document, parse
from reference_impl.broker.clients import Clients
from reference_impl.broker.core import Broker
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.groups import Groups
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.resets import Resets
from reference_impl.broker.runtime import Runtime
from reference_impl.broker.settings import Settings
from reference_impl.broker.topic_administration import TopicAdministration
from reference_impl.mutants.registry import ALL, BEFORE_55, V4, V5, after, family, mutant
from reference_impl.remoting.reply import Reply


def answered(code, description, profiles=ALL, *, if_refused=False):
    """Answer a request of this code with what the function says: always, or where it was to be refused."""

    @family(Broker.execute)
    def execute(instead, original, self, command, connection, now):
        if command.code != code:
            return original(self, command, connection, now)
        reply = original(self, command, connection, now) if if_refused else None
        return instead() if reply is None or reply.code != 0 else reply

    return execute(description, profiles)


@mutant(Groups.put, "A new group has default settings, whatever the request contains.")
def groups_are_made_with_defaults(original, self, group, now):
    original(self, self.made(group.group_name or ""), now)


@mutant(Groups.put, "What is true of a group stays true.", V5)
def groups_never_lose_a_flag(original, self, group, now):
    known = self.table.get(group.group_name or "")
    if known is not None and known.consume_message_orderly:
        group = msgspec.structs.replace(group, consume_message_orderly=True)
    original(self, group, now)


@answered(
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP,
    "A request without a body to create a group succeeds.",
    BEFORE_55,
    if_refused=True,
)
def empty_groups_are_made():
    return Reply(0)


@mutant(GroupAdministration.update, "A request without a body to create a group is refused.", ["5.5"])
def groups_without_body_are_refused(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else Reply(ResponseCode.SYSTEM_ERROR)


@answered(RequestCode.DELETE_SUBSCRIPTION_GROUP, "Deleting a group succeeds without removing it.")
def groups_are_not_deleted():
    return Reply(0)


@mutant(TopicAdministration.clean_queues, "Cleaning removes queues that still have messages.")
def cleaning_removes_queues_in_use(original, self, command, connection, now):
    for topic in [*self.broker.store.topics()]:
        self.broker.store.delete_topic(topic)
    return original(self, command, connection, now)


@answered(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE, "The server refuses to clean queues.")
def cleaning_of_queues_is_refused():
    return Reply(1)


def _without(reply, name):
    """The answer without a member of its body."""
    shown = parse(reply.body) if reply.body else None
    if isinstance(shown, dict):
        reply.body = document({**shown, name: []})
    return reply


@mutant(GroupAdministration.consumers, "The connection list of a consumer group is empty.")
def no_consumers_are_shown(original, self, command, connection, now):
    return _without(original(self, command, connection, now), "connectionSet")


@mutant(GroupAdministration.consumers, "The connection list of a group omits its subscriptions.")
def subscriptions_are_not_shown(original, self, command, connection, now):
    return _without(original(self, command, connection, now), "subscriptionTable")


@mutant(GroupAdministration.producers, "The connection list of a producer group is empty.")
def no_producers_are_shown(original, self, command, connection, now):
    return _without(original(self, command, connection, now), "connectionSet")


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
    config = self.broker.topics.get(topic)
    return {
        MessageQueue(self.config.broker_name, queue, topic): self.consumed_of(group, topic, queue)
        for queue in range(0 if config is None else config.write_queue_nums)
    }


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


@mutant(Offsets.reset, "The server answers a reset without changing offsets.", V5)
def resets_change_nothing(original, self, group, topic, queue_id, offset, now):
    return


@answered(
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    "Resetting an unknown topic or group succeeds.",
    V5,
    if_refused=True,
)
def resets_of_unknown_succeed():
    return Reply(0)


@answered(
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    "A reset succeeds although no consumer is online.",
    V4,
    if_refused=True,
)
def resets_need_nobody():
    return Reply(0)


@answered(RequestCode.GET_BROKER_CONFIG, "Code 26 answers without a body.")
def broker_settings_are_not_shown():
    return Reply(0)


@answered(RequestCode.UPDATE_BROKER_CONFIG, "Code 25 changes nothing.")
def broker_settings_do_not_change():
    return Reply(0)


@mutant(Settings.update, "An update is read up to 64 KiB.")
def broker_updates_end_at_64_kib(original, self, command, connection, now):
    return original(self, msgspec.structs.replace(command, body=command.body[: 2**16]), connection, now)


@mutant(Settings.refuses, "Every setting can be changed.", V5)
def broker_black_list_ignored(original, self, pairs):
    return False


@answered(RequestCode.GET_BROKER_RUNTIME_INFO, "Code 28 answers with an empty table.")
def state_is_not_shown():
    return Reply(0, body=KvTable().encode())


@after(Runtime.information, "The runtime information gives the present as the time of the start.")
def state_begins_with_each_question(found, now):
    found["bootTimestamp"] = str(now)


@after(Runtime.information, "The runtime information omits the Broker's release.")
def state_without_version(found):
    del found["brokerVersionDesc"]


@after(Runtime.information, "The runtime information omits the number of the Broker's release.", BEFORE_55)
def state_without_number_of_version(found):
    del found["brokerVersion"]


@mutant(Broker.unknown_request, "The server does not answer an unknown request code.")
def unknown_codes_are_not_answered(original, self, command):
    return None


# -- one group, and all of them ------------------------------------------------------------------------------


@mutant(GroupAdministration.one_group, "Code 352 returns the group that was created last.", V5)
def newest_group_is_shown(original, self, command, connection, now):
    return Reply(0, body=document([*self.broker.groups.table.values()][-1].document()))


@mutant(GroupAdministration.one_group, "Code 352 creates no group.", V5)
def group_that_is_asked_for_is_unknown(original, self, command, connection, now):
    known = self.broker.groups.table.get(command.ext["group"])
    return Reply(26) if known is None else Reply(0, body=document(known.document()))


@after(GroupAdministration.one_group, "Code 352 for an unknown group succeeds without a body.", V5)
def unknown_group_is_shown(reply):
    return Reply(0) if reply.code else reply


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


@after(GroupAdministration.progress_of_all, "Code 317 shows the group that was created last.")
def progress_of_one_group_is_shown(reply):
    told = ConsumeStatsList.decode(reply.body)
    told.consume_stats_list = told.consume_stats_list[-1:]
    return Reply(0, body=told.encode())


@after(GroupAdministration.progress_of_all, "In code 317, totalDiff is always 0.")
def total_difference_is_left_out(reply):
    told = ConsumeStatsList.decode(reply.body)
    told.total_diff = 0
    return Reply(0, body=told.encode())


@mutant(GroupAdministration.progress_of_all, "Code 317 shows all topics, ordered or not.", V5)
def progress_in_all_topics_is_shown(original, self, command, connection, now):
    return original(self, msgspec.structs.replace(command, ext={"isOrder": "false"}), connection, now)


@mutant(Offsets.take_reset, "A reset offset is returned to every pull from then on.", V5)
def resets_are_told_for_ever(original, self, group, topic, queue_id):
    offset = original(self, group, topic, queue_id)
    if offset is not None:
        self.reset(group, topic, queue_id, offset, 0)
    return offset


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


@mutant(Offsets.take_reset, "After the reset of several queues, only one of them is reported.", V5)
def one_reset_queue_is_told(original, self, group, topic, queue_id):
    offset = original(self, group, topic, queue_id)
    self._resets.pop(f"{topic}@{group}", None)
    return offset


@mutant(Offsets.take_reset, "A reset offset is returned to a pull of any group.", V5)
def resets_are_told_to_all_groups(original, self, group, topic, queue_id):
    for key in list(self._resets):
        name, _, of = key.partition("@")
        if name == topic:
            return original(self, of, topic, queue_id)
    return None


@mutant(Offsets.is_reset, "Commits count although a reset has not been returned to the consumer.", V5)
def commits_undo_resets(original, self, group, topic, queue_id):
    return False


@mutant(Settings.update, "Settings are updated although their text cannot be read.")
def broken_settings_are_taken(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.code == ResponseCode.SYSTEM_ERROR else reply


@mutant(Settings.take, "The settings that 4.9 does not have cannot be changed.", V5)
def settings_of_the_later_line_are_unknown(original, self, pairs, now):
    original(self, {key: text for key, text in pairs.items() if key in broker_settings("4.9")}, now)


@after(Settings.show, "Settings that the line does not have are shown.", V4)
def settings_of_the_later_line_are_taken(reply):
    reply.body += b"litePullMessageEnable=false\n"


@after(Settings.pairs, "Only the settings that do something are shown.")
def settings_that_do_nothing_are_hidden(found, self):
    return {key: text for key, text in found.items() if key not in self.in_force.extra}


@after(Settings.pairs, "A time is shown with its unit.")
def times_are_shown_with_units(found):
    found["waitTimeMillsInSendQueue"] += "ms"


@after(Settings.pairs, "A setting begins with another default than Apache's.", BEFORE_55)
def defaults_of_another_broker(found):
    found["syncFlushTimeout"] = "6000"


@mutant(Settings.take, "A setting takes any value.")
def settings_take_any_value(original, self, pairs, now):
    original(self, pairs, now)
    extra = self.in_force.extra
    extra |= {key: text for key, text in pairs.items() if key in extra}


@mutant(Settings.take, "A setting that does nothing cannot be changed.")
def settings_that_do_nothing_stay(original, self, pairs, now):
    original(self, {key: text for key, text in pairs.items() if key in self.in_force.fields}, now)


# -- all that a group is -------------------------------------------------------------------------------------


@mutant(Groups.put, "A group keeps the members that 4.9 has too, and no others.", V5)
def groups_lose_members_of_5x(original, self, group, now):
    original(self, group.of_line(False).of_line(True), now)


@mutant(Groups.put, "A group has members that only 5.x knows.", V4)
def groups_have_members_of_5x(original, self, group, now):
    original(self, group.of_line(True), now)


@mutant(Groups.fault, "A group can be created with any name.", ["5.5"])
def groups_have_any_name(original, self, group):
    return None


@mutant(Groups.fault, "Names of groups have no limit.", ["5.5"])
def groups_have_long_names(original, self, group):
    return original(self, group and group[:100])


@mutant(Groups.fault, "Names of groups have at most 100 characters.", ["5.5"])
def groups_have_shorter_names(original, self, group):
    return original(self, group) or ("The name is too long." if group and len(group) > 100 else None)


@mutant(Groups.settle, "Groups are not written to a file.")
def restarts_forget_groups(original, self, now):
    return


# -- groups that are refused, and deleted --------------------------------------------------------------------


@mutant(GroupAdministration.update, "A group without a name gets a default name.")
def groups_need_no_name(original, self, command, connection, now):
    if command.body:
        body = msgspec.json.encode({"groupName": "DEFAULT", **msgspec.json.decode(command.body)})
        command = msgspec.structs.replace(command, body=body)
    return original(self, command, connection, now)


def _cleaning(original, self, command, connection, now, *, said):
    ext = {**(command.ext or {}), "cleanOffset": said, "removeOffset": said}
    return original(self, msgspec.structs.replace(command, ext=ext), connection, now)


@mutant(GroupAdministration.delete, "The deletion of a group keeps its offsets, even on request.")
def deletion_keeps_offsets_of_groups(original, self, command, connection, now):
    return _cleaning(original, self, command, connection, now, said="false")


@mutant(GroupAdministration.delete, "The deletion of a group always forgets its offsets.")
def deletion_always_forgets_offsets_of_groups(original, self, command, connection, now):
    return _cleaning(original, self, command, connection, now, said="true")


@mutant(Groups.delete, "The deletion of an unknown group changes the data version of groups.")
def deletion_of_unknown_groups_is_a_change(original, self, group, now):
    found = original(self, group, now)
    if not found:
        self.changed(now)
    return found


@mutant(Resets.reset_here, "A reset of one queue resets all of them.", V5)
def resets_are_of_all_queues(original, self, command, topic, group, timestamp, now):
    ext = {key: value for key, value in (command.ext or {}).items() if key != "queueId"}
    return original(self, msgspec.structs.replace(command, ext=ext), topic, group, timestamp, now)


@mutant(Resets.reset_here, "A reset that goes beyond the queue succeeds.", V5)
def resets_go_anywhere(original, self, command, topic, group, timestamp, now):
    reply = original(self, command, topic, group, timestamp, now)
    is_beyond = (reply.remark or "").startswith("Target offset")
    return Reply(ResponseCode.SUCCESS, body=self.table(topic, {}).encode()) if is_beyond else reply


@mutant(Resets.reset_here, "A reset of no queue succeeds.", V5)
def resets_need_queues(original, self, command, topic, group, timestamp, now):
    reply = original(self, command, topic, group, timestamp, now)
    is_none = (reply.remark or "").startswith("No queues")
    return Reply(ResponseCode.SUCCESS, body=self.table(topic, {}).encode()) if is_none else reply


@after(Runtime.information, "The runtime information has no delay levels.")
def levels_are_not_among_the_state(found):
    return {key: value for key, value in found.items() if not key.startswith("scheduleMessageOffset")}


@mutant(Settings.update, "An update of the settings without a body is refused.")
def settings_need_a_body(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else Reply(ResponseCode.SYSTEM_ERROR)


@after(GroupAdministration.groups_of_topic, "300 leaves out the first group.")
def first_group_of_topic_is_hidden(reply):
    reply.body = document({"groupList": msgspec.json.decode(reply.body)["groupList"][1:]})


@after(GroupAdministration.groups_of_topic, "300 leaves out the last group.")
def last_group_of_topic_is_hidden(reply):
    reply.body = document({"groupList": msgspec.json.decode(reply.body)["groupList"][:-1]})


@after(Runtime.information, "The number of messages and what is to be flushed are exchanged.")
def state_swaps_totals(found):
    one, other = "putMessageTimesTotal", "remainHowManyDataToFlush"
    found[one], found[other] = found[other], found[one]


@mutant(Runtime.information, "The totals leave out the first topic.")
def state_counts_one_topic(original, self, now):
    found, store = original(self, now), self.broker.store
    last = list(store.topics().items())[1:]
    count = sum(store.max_offset(topic, queue) for topic, queues in last for queue in queues)
    return found | dict.fromkeys(("msgPutTotalTodayNow", "putMessageTimesTotal"), str(count))


@mutant(GroupAdministration.update, "The text `null` in place of a boolean means false.", BEFORE_55)
def null_in_quotes_is_false(original, self, command, connection, now):
    body = command.body.replace(b'"null"', b"false")
    return original(self, msgspec.structs.replace(command, body=body), connection, now)


@mutant(GroupAdministration.is_shown, "Progress is shown in topics to which a group subscribes no longer.")
def progress_in_topics_given_up_is_shown(original, self, group, topic):
    return True


@mutant(Resets.at, "A reset to a time goes to the beginning of each queue.", V5)
def resets_to_a_time_go_to_the_beginning(original, self, topic, queue, timestamp):
    return original(self, topic, queue, min(timestamp, 0))


@mutant(Runtime.earliest, "The time of the oldest message is that of the newest one.", V5)
def oldest_message_is_the_newest(original, self):
    return self.broker.store.newest() or original(self)


@mutant(Settings.take, "A change of the settings leaves their version as it is.")
def settings_keep_their_version(original, self, pairs, now):
    version = self.version
    original(self, pairs, now)
    self.version = version


@after(Runtime.information, "The state lacks the rate of messages that were transferred.")
def state_lacks_a_rate(found):
    for name in ("getTransferedTps", "getTransferredTps"):
        found.pop(name, None)


@mutant(Groups.put, "A change of a group that is there is not written.")
def changed_groups_are_not_written(original, self, group, now):
    was = self._unwritten or group.group_name not in self.table
    original(self, group, now)
    self._unwritten = was


@mutant(Groups.delete, "The deletion of a group is not written.")
def deleted_groups_are_not_written(original, self, group, now):
    was = self._unwritten
    found = original(self, group, now)
    self._unwritten = was
    return found
