"""Mutants of the chapter offset."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.fastjson import document, parse
from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.offsets import Offsets
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- of groups -----------------------------------------------------------------------------------------------


@mutant(Offsets.commit, "A commit of a smaller offset is ignored.")
def smaller_offsets_do_not_count(original, self, group, topic, queue_id, offset, now):
    if offset >= (self.offset_of(group, topic, queue_id) or 0):
        original(self, group, topic, queue_id, offset, now)


@mutant(Offsets.offset_of, "All groups share the offsets of a queue.")
def offsets_are_of_all_groups(original, self, group, topic, queue_id):
    return next(
        (
            offsets[queue_id]
            for key, offsets in self.table.items()
            if key.startswith(f"{topic}@") and queue_id in offsets
        ),
        None,
    )


@mutant(Offsets.offset_of, "All queues of a topic share a group's offset.")
def offsets_are_of_all_queues(original, self, group, topic, queue_id):
    return next(iter(self.table.get(f"{topic}@{group}", {}).values()), None)


@mutant(Offsets.offset_of, "A query returns a negative offset that was committed.")
def negative_commits_are_offsets(original, self, group, topic, queue_id):
    return self.table.get(f"{topic}@{group}", {}).get(queue_id)


@mutant(Offsets.starts_at_zero, "A group that never committed begins at 0, where messages were, too.")
def queues_that_begin_late_start_at_zero(original, self, topic, queue_id):
    return original(self, topic, queue_id) or self.broker.store.min_offset(topic, queue_id) > 0


@mutant(Offsets.update, "One-way commits are ignored.")
def oneway_commits_are_dropped(original, self, command, connection, now):
    if command.is_oneway:
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(Offsets.starts_at_zero, "A query for a group that never committed always answers QUERY_NOT_FOUND.")
def groups_never_start_at_zero(original, self, topic, queue_id):
    return False


@mutant(Offsets.query, "A query ignores setZeroIfNotFound.", V5)
def groups_always_start_at_zero(original, self, command, connection, now):
    ext = {**(command.ext or {}), "setZeroIfNotFound": None}
    return original(self, msgspec.structs.replace(command, ext=ext), connection, now)


@after(Offsets.starts_at_zero, "A group that never committed begins at 0 in queues without messages.", V5)
def queues_without_messages_have_offsets(found):
    return True


def _unless(code, refused):
    return None if refused is not None and refused.code == code else refused


@mutant(Offsets.update_refused, "An unknown group can commit offsets.", V5)
def unknown_groups_may_commit(original, self, group, topic, queue_id, offset):
    return _unless(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, original(self, group, topic, queue_id, offset))


@mutant(Offsets.update_refused, "Offsets can be committed for an unknown topic.", V5)
def unknown_topics_may_be_committed(original, self, group, topic, queue_id, offset):
    return _unless(ResponseCode.TOPIC_NOT_EXIST, original(self, group, topic, queue_id, offset))


# -- of queues -----------------------------------------------------------------------------------------------


@mutant(Offsets.greatest, "GET_MAX_OFFSET returns the offset of the last message.")
def max_offset_is_that_of_the_last_message(original, self, command, connection, now):
    return self.told("offset", max(0, self.broker.store.max_offset(*self.queue(command)) - 1))


@mutant(Offsets.least, "GET_MIN_OFFSET returns the greatest offset.")
def min_offset_is_the_greatest(original, self, command, connection, now):
    return self.greatest(command, connection, now)


@mutant(Offsets.queue, "The server refuses offset queries for an unknown topic.")
def offsets_of_nothing_are_refused(original, self, command):
    topic, queue_id = original(self, command)
    if self.broker.topics.get(topic) is None:
        raise RefusedError(f"no topic {topic}")
    return topic, queue_id


@mutant(Offsets.search, "Every timestamp maps to the first offset.")
def every_time_is_the_beginning(original, self, command, connection, now):
    return self.told("offset", 0)


@mutant(Offsets.earliest, "Code 32 returns when the last message of the queue was stored.")
def earliest_time_is_that_of_the_last_message(original, self, command, connection, now):
    topic, queue_id = self.queue(command)
    store = self.broker.store
    found = store.timestamp_of(topic, queue_id, store.max_offset(topic, queue_id) - 1)
    return self.told("timestamp", -1 if found is None else found)


@after(Offsets.earliest, "Code 32 returns 0 for a queue without messages.")
def earliest_time_of_nothing_is_zero(reply):
    return msgspec.structs.replace(reply, ext={"timestamp": "0"}) if reply.ext["timestamp"] == "-1" else reply


# -- cloned --------------------------------------------------------------------------------------------------


@mutant(GroupAdministration.clone_offsets, "Code 314 succeeds without effect.")
def offsets_are_not_cloned(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(GroupAdministration.clone_offsets, "Code 314 without a topic copies the offsets of every topic.")
def every_topic_is_cloned_without_one(original, self, command, connection, now):
    ext = command.ext or {}
    for topic in [ext["topic"]] if ext.get("topic") else self.topics_of(ext["srcGroup"]):
        original(self, msgspec.structs.replace(command, ext={**ext, "topic": topic}), connection, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(GroupAdministration.clone_offsets, "Code 314 ignores the topic that it names.")
def offsets_in_all_topics_are_cloned(original, self, command, connection, now):
    for topic in self.topics_of(command.ext["srcGroup"]):
        ext = {**command.ext, "topic": topic}
        original(self, msgspec.structs.replace(command, ext=ext), connection, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(GroupAdministration.clone_offsets, "Code 314 copies the offset of one queue only.")
def one_queue_is_cloned(original, self, command, connection, now):
    key = f"{command.ext['topic']}@{command.ext['srcGroup']}"
    for queue, offset in [*self.broker.offsets.table.get(key, {}).items()][:1]:
        self.broker.offsets.commit(command.ext["destGroup"], command.ext["topic"], queue, offset, now)
    return Reply(ResponseCode.SUCCESS)


@mutant(GroupAdministration.clone_offsets, "Code 314 takes the offsets away from the group that had them.")
def cloning_moves(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    self.broker.offsets.table.pop(f"{command.ext['topic']}@{command.ext['srcGroup']}", None)
    return reply


@mutant(GroupAdministration.clone_offsets, "After code 314 both groups share their offsets.")
def cloned_offsets_are_shared(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    topic, table = command.ext.get("topic"), self.broker.offsets.table
    if (known := table.get(f"{topic}@{command.ext['srcGroup']}")) is not None:
        table[f"{topic}@{command.ext['destGroup']}"] = known
    return reply


@mutant(GroupAdministration.clone_offsets, "Code 314 leaves what destGroup has in other queues.")
def cloned_offsets_are_added(original, self, command, connection, now):
    key, table = f"{command.ext.get('topic')}@{command.ext['destGroup']}", self.broker.offsets.table
    before = dict(table.get(key, {}))
    reply = original(self, command, connection, now)
    if before:
        table[key] = before | table[key]
    return reply


@mutant(GroupAdministration.clone_offsets, "Code 314 takes every group for one that is offline.")
def every_topic_is_cloned(original, self, command, connection, now):
    command.ext = {**command.ext, "offline": "true"}
    return original(self, command, connection, now)


@mutant(GroupAdministration.clone_offsets, "Code 314 does not look at `offline`.")
def no_other_topic_is_cloned(original, self, command, connection, now):
    command.ext = {**command.ext, "offline": "false"}
    return original(self, command, connection, now)


# -- times ---------------------------------------------------------------------------------------------------


@mutant(Store.offset_at, "A time between two messages belongs to the earlier one.", V5)
def times_between_belong_to_the_earlier(original, self, topic, queue_id, timestamp, *, upper=False):
    return original(self, topic, queue_id, timestamp, upper=True)


@mutant(Store.offset_at, "A time after the last message belongs to that message.", V5)
def late_times_belong_to_the_last(original, self, topic, queue_id, timestamp, *, upper=False):
    return min(original(self, topic, queue_id, timestamp, upper=upper), self.max_offset(topic, queue_id) - 1)


@mutant(Store.offset_at, "A time between two messages belongs to the later one.", V4)
def times_between_belong_to_the_later(original, self, topic, queue_id, timestamp, *, upper=False):
    found = original(self, topic, queue_id, timestamp, upper=upper)
    return found + ((self.timestamp_of(topic, queue_id, found) or timestamp) < timestamp)


@mutant(Store.offset_at, "The upper bound of a time is its lower bound.", V5)
def upper_bounds_are_lower(original, self, topic, queue_id, timestamp, *, upper=False):
    return original(self, topic, queue_id, timestamp)


@mutant(Store.offset_at, "The upper bound of a time is one too high.", V5)
def upper_bounds_are_one_more(original, self, topic, queue_id, timestamp, *, upper=False):
    return original(self, topic, queue_id, timestamp, upper=upper) + upper


# -- all of them ---------------------------------------------------------------------------------------------


@family(Offsets.all_offsets)
def _told(change, original, self, command, connection, now):
    table = parse(original(self, command, connection, now).body)
    change(table)
    return Reply(ResponseCode.SUCCESS, body=document(table))


@_told("Code 43 does not name the first topic of a group.", V5)
def the_first_topic_is_not_named(table):
    for topics in table["groupTopicMap"].values():
        del topics[0]


@_told("Code 43 names the topics of one group.", V5)
def topics_of_one_group_are_named(table):
    table["groupTopicMap"] = dict(list(table["groupTopicMap"].items())[:1])


@_told("Code 43 returns one offset of each topic.")
def offsets_of_one_queue_are_told(table):
    for key, offsets in table["offsetTable"].items():
        table["offsetTable"][key] = dict(list(offsets.items())[:1])


# -- what a commit needs, and where it goes ------------------------------------------------------------------


@mutant(Offsets.update_refused, "A commit without a queue is one for queue 0.", V5)
def commits_need_no_queue(original, self, group, topic, queue_id, offset):
    return original(self, group, topic, queue_id or 0, offset)


@mutant(Offsets.update_refused, "A commit without an offset is refused with SYSTEM_ERROR.", V5)
def commits_need_no_offset(original, self, group, topic, queue_id, offset):
    return original(self, group, topic, queue_id, offset or 0)


@mutant(Offsets.stop, "A Broker that stops does not write the offsets of one-way commits.")
def stops_forget_oneway_commits(original, self, now):
    pass


@mutant(Offsets.commit, "The data version of offsets never changes.", V5)
def versions_of_offsets_stay(original, self, group, topic, queue_id, offset, now):
    before = self.version
    original(self, group, topic, queue_id, offset, now)
    self.version = before


@mutant(Offsets.commit, "Each commit changes the data version of offsets.", V5)
def versions_of_offsets_count_every_commit(original, self, group, topic, queue_id, offset, now):
    original(self, group, topic, queue_id, offset, now)
    self.version = msgspec.structs.replace(self.version, counter=self.version.counter + 1)


@mutant(Offsets.commit, "The data version of offsets changes with the 499th commit.", V5)
def versions_of_offsets_count_too_early(original, self, group, topic, queue_id, offset, now):
    self._commits = self._commits or 1
    original(self, group, topic, queue_id, offset, now)


@mutant(Offsets.update, "A commit without a topic counts for the topic null.", V5)
def commits_need_no_topic(original, self, command, connection, now):
    if (command.ext or {}).get("topic") is None:
        return Reply(ResponseCode.SUCCESS, ext={})
    return original(self, command, connection, now)


@mutant(Offsets.update, "4.9 refuses a commit without a topic.", V4)
def commits_49_need_a_topic(original, self, command, connection, now):
    if (command.ext or {}).get("topic") is None:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="no topic")
    return original(self, command, connection, now)


def _forgives(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS, ext={"offset": "0", "timestamp": "-1"})


@mutant(Offsets.greatest, "The greatest offset of a queue that is not named is 0.")
def max_of_nothing_is_zero(original, self, command, connection, now):
    return _forgives(original, self, command, connection, now)


@mutant(Offsets.least, "The lowest offset of a queue that is not named is 0.")
def min_of_nothing_is_zero(original, self, command, connection, now):
    return _forgives(original, self, command, connection, now)


@mutant(Offsets.earliest, "The earliest time of a queue that is not named is -1.")
def time_of_nothing_is_none(original, self, command, connection, now):
    return _forgives(original, self, command, connection, now)


@mutant(Offsets.search, "A search by a time that is no number finds offset 0.")
def search_in_nothing_finds_zero(original, self, command, connection, now):
    return _forgives(original, self, command, connection, now)


@mutant(Offsets.query, "The offset of a group in a queue that is not named is 0.")
def offset_of_nothing_is_zero(original, self, command, connection, now):
    return _forgives(original, self, command, connection, now)


@mutant(Offsets.offset_of, "A committed offset 0 is taken for none.", V5)
def zero_is_no_offset(original, self, group, topic, queue_id):
    return original(self, group, topic, queue_id) or None


@after(Offsets.least, "The answer with the lowest offset has no remark.", V5)
def least_offsets_have_no_remark(reply):
    reply.remark = None


@mutant(Offsets.forget, "A group that is deleted keeps its resets.", V5)
def forgotten_groups_keep_resets(original, self, *, group=None, topic=None):
    kept, self._resets = self._resets, {}
    original(self, group=group, topic=topic)
    self._resets = kept


@mutant(Offsets.slowest, "A correction is the greatest offset of all groups.")
def corrections_are_those_of_the_fastest(original, self, topic, left_out):
    found = original(self, topic, left_out)
    tables = [table for key, table in self.table.items() if key.startswith(f"{topic}@")]
    return {queue: max(table.get(queue, 0) for table in tables) for queue in found}


@mutant(Offsets.slowest, "A correction counts the offsets of groups in all topics.")
def corrections_mix_topics(original, self, topic, left_out):
    found = [original(self, key.partition("@")[0], left_out) for key in self.table]
    return {
        queue: min(one[queue] for one in found if queue in one) for queue in original(self, topic, left_out)
    }


@after(Offsets.slowest, "A correction is answered for queue 0 alone.")
def corrections_forget_queues(found):
    return {queue: offset for queue, offset in found.items() if queue == 0}


@mutant(Offsets.slowest, "A correction leaves no group out.")
def corrections_count_all_groups(original, self, topic, left_out):
    return original(self, topic, [])


@mutant(Offsets.slowest, "A correction leaves the first of several groups out.")
def corrections_leave_one_group_out(original, self, topic, left_out):
    return original(self, topic, left_out[:1])


@mutant(Offsets.slowest, "Groups that a correction leaves out lose their offsets.")
def corrections_forget_groups(original, self, topic, left_out):
    for group in left_out:
        self.forget(group=group)
    return original(self, topic, left_out)


@mutant(Offsets.slowest, "Code 308 counts offsets that lie before the first message of a queue.")
def corrections_count_what_is_gone(original, self, topic, left_out):
    tables = [
        table
        for key, table in self.table.items()
        if key.partition("@")[0] == topic and key.partition("@")[2] not in left_out
    ]
    return {queue: min(one[queue] for one in tables if queue in one) for table in tables for queue in table}
