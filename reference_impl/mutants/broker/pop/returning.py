"""Faults of acknowledgements, and of messages that return without one."""

import re

from msgspec.structs import replace

from harness.wire import ResponseCode
from harness.wire.bodies import BatchAcks
from harness.wire.messages import Message, TopicName
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_checkpoints import CheckPoints
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply


def _granted(reply: Reply) -> Reply:
    return Reply(ResponseCode.SUCCESS, ext=reply.ext)


@mutant(CheckPoints.over, "An unacknowledged message is not redelivered.", V5)
def popped_is_lost(original, self, point, now):
    self.acknowledge(point.pop, sorted(point.left), now)


@mutant(CheckPoints.add, "A popped message is hidden for half of the requested time.", V5)
def hidden_for_half(original, self, pop, offsets, invisible, revive_queue, now, *, suspended=False):
    return original(self, pop, offsets, invisible // 2, revive_queue, now, suspended=suspended)


@after(CheckPoints.again, "Redelivery does not increase the reconsume times.", V5)
def comes_again_uncounted(found, message):
    found.reconsume_times = message.reconsume_times


@mutant(CheckPoints.acknowledge, "Acknowledging one message acknowledges the whole pop.", V5)
def one_ack_is_for_all(original, self, pop, offsets, now):
    everything = range(pop.start, pop.start + 64) if offsets else ()
    original(self, pop, list(everything), now)


@mutant(CheckPoints.revive, "A retry topic that a pop brings about permits nothing.", V5)
def retry_topics_of_pops_cannot_be_read(original, self, point, message, now):
    known = set(self.broker.topics.table)
    original(self, point, message, now)
    for name in self.broker.topics.table.keys() - known:
        self.broker.topics.table[name].perm = 1


@mutant(CheckPoints.read_again, "A restart loses unacknowledged messages.", V5)
def checkpoints_are_forgotten(original, self):
    return None


@mutant(PopAcks.done, "Acknowledgements have no effect.", V5)
def acks_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.done, "A redelivered message cannot be acknowledged.", V5)
def acks_of_what_came_again_do_not_count(original, self, of, offsets, revive_queue, connection, now):
    if of.topic.startswith(TopicName.RETRY_PREFIX):
        return Reply(ResponseCode.SUCCESS)
    return original(self, of, offsets, revive_queue, connection, now)


@mutant(PopAcks.meant, "Batch acknowledgements have no effect.", V5)
def acks_of_several_do_not_count(original, self, ack):
    of, _, revive_queue = original(self, ack)
    return of, [], revive_queue


@mutant(PopAcks.acknowledge_all, "An empty batch acknowledgement succeeds.", V5)
def acks_of_nothing_succeed(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.acknowledge, "An offset that the queue does not have can be acknowledged.", V5)
def acks_of_any_offset(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


@mutant(PopAcks.hide, "An offset that the queue does not have can be hidden.", V5)
def anything_can_be_hidden(original, self, command, connection, now):
    return _granted(original(self, command, connection, now))


def _is_gone(self, command):
    topic, queue_id, offset = self.message(command.ext or {})
    return 0 <= offset < self.broker.store.min_offset(topic, queue_id)


@mutant(PopAcks.acknowledge, "A message that is gone can be acknowledged.", V5)
def what_is_gone_is_acknowledged(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return _granted(reply) if _is_gone(self, command) else reply


@mutant(PopAcks.hide, "A message that is gone can be hidden.", V5)
def what_is_gone_is_hidden(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return _granted(reply) if _is_gone(self, command) else reply


@after(PopAcks.hide, "A refusal to hide a message names the time of its pop.", V5)
def refused_hiding_tells_of_the_pop(reply, now):
    if reply.code != ResponseCode.SUCCESS and reply.ext:
        reply.ext["popTime"] = str(now)


@mutant(PopAcks.hidden_anew, "The invisible time of a message cannot be extended.", V5)
def hidden_for_no_longer(original, self, again, offset, invisible, handle, suspended, now):
    least = min(invisible, handle.invisible)
    return original(self, again, offset, least, handle, suspended, now)


@mutant(PopAcks.hidden_anew, "Messages that were suspended count as tried.", ["5.5"])
def suspended_are_counted(original, self, again, offset, invisible, handle, suspended, now):
    return original(self, again, offset, invisible, handle, False, now)


@mutant(PopAcks.hidden_anew, "Messages that were hidden for longer never count as tried.", ["5.5"])
def hidden_are_not_counted(original, self, again, offset, invisible, handle, suspended, now):
    return original(self, again, offset, invisible, handle, True, now)


@mutant(PopAcks.done, "An old handle remains valid after the invisible time changes.", V5)
def old_handles_are_worth_something(original, self, of, offsets, revive_queue, connection, now):
    for pop in list(self.broker.checkpoints.points):
        if (pop.topic, pop.group, pop.queue_id) == (of.topic, of.group, of.queue_id):
            self.broker.checkpoints.acknowledge(pop, offsets, now)
    return Reply(ResponseCode.SUCCESS)


@after(CheckPoints.again, "A redelivered message has only the properties of its pops.", V5)
def comes_again_without_its_past(found):
    found.properties = {"1ST_POP_TIME": found.properties["1ST_POP_TIME"]}


@after(CheckPoints.again, "Every redelivery sets the time of the first pop anew.", V5)
def comes_again_with_a_new_first_pop(found, point):
    found.properties["1ST_POP_TIME"] = str(point.pop.time)


@mutant(
    CheckPoints.revive, "Messages are redelivered in the older retry topic whatever the settings say.", V5
)
def comes_again_in_the_older_topic(original, self, point, message, now):
    pop = point.pop
    if not pop.topic.startswith(TopicName.RETRY_PREFIX):
        pop = pop._replace(topic=f"{TopicName.RETRY_PREFIX}{pop.group}_{pop.topic}")
    original(self, replace(point, pop=pop), message, now)


@mutant(CheckPoints.revive, "A redelivered message releases no waiting pop.", V5)
def what_comes_again_releases_no_pops(original, self, point, message, now):
    before = dict(self.broker.pop_waiting._more)
    original(self, point, message, now)
    self.broker.pop_waiting._more = before


@after(PopAcks.hide, "The answer to code 200053 has the popTime of the previous handle.", V5)
def new_handles_are_the_old_ones(reply, command):
    if reply.code == ResponseCode.SUCCESS:
        reply.ext = {**(reply.ext or {}), "popTime": command.ext["extraInfo"].split(" ")[1]}


@after(PopAcks.hide, "The answer to code 200053 names another queue of the log than the pop did.", V5)
def new_handles_name_another_queue_of_the_log(reply):
    if reply.code == ResponseCode.SUCCESS:
        reply.ext = {**(reply.ext or {}), "reviveQid": "77"}


@mutant(PopAcks.meant, "An entry of a batch acknowledgement without a kind is about the topic itself.", V5)
def acks_without_a_kind_are_of_the_topic(original, self, ack):
    return original(self, replace(ack, retry=ack.retry or "0"))


@mutant(PopAcks.acknowledge_all, "An entry of a batch acknowledgement must have all of its numbers.", V5)
def acks_need_all_numbers(original, self, command, connection, now):
    body = command.body or b""
    if not all(re.search(rb'"%s":\s*\d' % name, body) for name in (b"so", b"q", b"rq", b"it", b"pt")):
        raise RefusedError("a number is missing")
    return original(self, command, connection, now)


@mutant(PopAcks.meant, "Without its time, a batch acknowledgement is about the latest pop.", V5)
def acks_need_no_time(original, self, ack):
    of, offsets, revive_queue = original(self, ack)
    for pop in self.broker.checkpoints.points:
        if not ack.pop_time and (pop.topic, pop.group) == (of.topic, of.group):
            of = pop
    return of, offsets, revive_queue


@mutant(PopAcks.meant, "A batch acknowledgement looks into topics of the older names alone.", V5)
def acks_of_several_are_of_the_older_topic(original, self, ack):
    return original(self, replace(ack, retry=ack.retry and ack.retry.replace("2", "1")))


@mutant(PopAcks.meant, "A batch acknowledgement looks into topics of the names that are in use.", V5)
def acks_of_several_are_of_the_topics_in_use(original, self, ack):
    kind = "2" if self.config.enable_retry_topic_v2 else "1"
    return original(self, replace(ack, retry=kind) if ack.retry in ("1", "2") else ack)


@mutant(PopAcks.acknowledge, "A handle has a queue and an offset in any case.", V5)
def handles_need_a_queue(original, self, command, connection, now):
    if len((command.ext["extraInfo"] or "").split(" ")) < 7:
        raise RefusedError("the handle has no queue")
    return original(self, command, connection, now)


@mutant(PopAcks.acknowledge, "Any text is a valid handle.", V5)
def handles_may_be_anything(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@handles_may_be_anything.also(PopAcks.hide)
def _(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.acknowledge_all, "Batch acknowledgements that cannot be read succeed.", V5)
def acks_that_cannot_be_read_succeed(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@after(PopAcks.acknowledge_all, "A batch acknowledgement of what was not popped in order succeeds.", V5)
def ordered_acks_of_several_are_not_refused(reply):
    return _granted(reply) if reply.code == ResponseCode.MESSAGE_ILLEGAL else reply


@mutant(PopAcks.acknowledge_all, "Of a batch acknowledgement, only the first entry counts.", V5)
def one_ordered_ack_of_several_counts(original, self, command, connection, now):
    asked = BatchAcks.decode(command.body)
    asked.acks = asked.acks[:1]
    return original(self, replace(command, body=asked.encode()), connection, now)


@mutant(PopAcks.acknowledge_all, "A batch acknowledgement is answered as its last entry alone.", V5)
def last_ordered_ack_of_several_decides(original, self, command, connection, now):
    reply, asked = original(self, command, connection, now), BatchAcks.decode(command.body or b"{}")
    if len(asked.acks) < 2:
        return reply
    asked.acks = asked.acks[-1:]
    return original(self, replace(command, body=asked.encode()), connection, now)


@mutant(PopAcks.done_in_order, "An ordered acknowledgement sets the offset back to its message.", V5)
def ordered_acks_count_again(original, self, queue, offset, pop_time, connection, now):
    topic, group, queue_id = queue
    before = self.broker.offsets.offset_of(group, topic, queue_id)
    if before is not None and offset < before:
        self.broker.offsets.commit(group, topic, queue_id, offset, now)
        return None
    return original(self, queue, offset, pop_time, connection, now)


@after(CheckPoints.again, "A message that comes again was born at its producer.", V5)
def revived_come_from_the_producer(again, message):
    again.born_host = message.born_host


@mutant(CheckPoints.over, "A popped message that has expired comes again without a body.", V5)
def expired_come_again_empty(original, self, point, now):
    for offset in point.left:
        if offset < self.broker.store.min_offset(point.pop.topic, point.pop.queue_id):
            self.revive(point, Message(topic=point.pop.topic, body=b""), now)
    original(self, point, now)


@mutant(PopAcks.acknowledge, "An acknowledgement that lacks a field succeeds.", V5)
def fields_of_acks_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(PopAcks.hide, "A request to hide a message for longer that lacks a field succeeds.", V5)
def fields_of_hiding_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@after(PopAcks.acknowledge, "An acknowledgement of the offset of the next message is refused.", V5)
def acks_at_the_end_are_refused(reply, self, command):
    ext = command.ext or {}
    end = self.broker.store.max_offset(ext.get("topic") or "", int(ext.get("queueId") or 0))
    is_last = reply.code == ResponseCode.SUCCESS and ext.get("offset") == str(end)
    return Reply(ResponseCode.NO_MESSAGE) if is_last else reply


@mutant(Pops.first, "A group that begins at the end gets only the last message that comes again.", V5)
def only_the_newest_comes_again(original, self, pop, topic, queue_id):
    first = original(self, pop, topic, queue_id)
    return max(first, self.broker.store.max_offset(topic, queue_id) - 1) if pop.init_mode else first


@mutant(PopAcks.queue_refused, "An acknowledgement in a queue beyond those to write is refused.", V5)
def acks_are_of_queues_to_write(original, self, topic, queue_id, connection):
    known = self.broker.topics.get(topic)
    if known is not None and queue_id >= known.write_queue_nums:
        return Reply(ResponseCode.MESSAGE_ILLEGAL, remark="no queue to write to")
    return original(self, topic, queue_id, connection)


def _with_share(self, original, share, *parts):
    config, self.broker.config = self.config, replace(self.config, pop_from_retry_probability=share)
    found = original(self, *parts)
    self.broker.config = config
    return found


@mutant(Pops.retry_topic, "With enableRetryTopicV2, pops look into the topics of the newer names alone.", V5)
def newer_brokers_look_into_newer_topics_alone(original, self, asked, number):
    return original(self, asked, 1)


@mutant(Pops.retry_topic, "With enableRetryTopicV2, pops look into the topics of the older names alone.", V5)
def newer_brokers_look_into_older_topics_alone(original, self, asked, number):
    return original(self, asked, 0)


@mutant(CheckPoints.revive, "The topic of what comes again is made anew each time.", V5)
def retry_topics_of_pops_are_made_anew(original, self, point, message, now):
    topic = point.pop.topic
    if topic.startswith(TopicName.RETRY_PREFIX):
        self.broker.topics.create(topic, 1, READ | WRITE, now)
    original(self, point, message, now)


@mutant(CheckPoints.over, "A message comes again to a group that has been deleted.", V5)
def comes_again_to_deleted_groups(original, self, point, now):
    known, groups = self.broker.groups.find(point.pop.group, now), self.broker.groups.table
    if known is None:
        groups[point.pop.group] = self.broker.groups.made(point.pop.group)
    original(self, point, now)
    if known is None:
        del groups[point.pop.group]


@mutant(Pops.find, "popFromRetryProbability counts as 0.", V5)
def what_comes_again_is_always_last(original, self, asked, wanted, topic, now):
    return _with_share(self, original, 0, asked, wanted, topic, now)


@mutant(Pops.find, "popFromRetryProbability counts as 100.", V5)
def what_comes_again_is_always_first(original, self, asked, wanted, topic, now):
    return _with_share(self, original, 100, asked, wanted, topic, now)


@mutant(CheckPoints.revive, "A group has no offset in the topic of what comes again.", V5)
def retry_topics_of_pops_have_no_offset(original, self, point, message, now):
    before = dict(self.broker.offsets.table)
    original(self, point, message, now)
    self.broker.offsets.table = before


@mutant(CheckPoints.revive, "A group begins in queue 1 of the topic of what comes again.", V5)
def retry_topics_of_pops_begin_in_queue_1(original, self, point, message, now):
    before = set(self.broker.offsets.table)
    original(self, point, message, now)
    for key in set(self.broker.offsets.table) - before:
        self.broker.offsets.table[key] = {1: 0}
