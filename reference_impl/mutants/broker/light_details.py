"""Faults of messages in light topics (5.5): of what ends a wait, of what is counted, and of what is over."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from harness.wire import ResponseCode
from harness.wire.messages import Message, TopicName
from reference_impl.broker.light_acks import LightAcks
from reference_impl.broker.light_names import LIGHT_QUEUE, queue_of
from reference_impl.broker.light_pops import LightPops
from reference_impl.broker.light_subscriptions import LightSubscriptions
from reference_impl.broker.light_topics import LightTopics
from reference_impl.broker.part import Part
from reference_impl.broker.pop_order import PopOrder
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import V55, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- what ends a wait ----------------------------------------------------------------------------------------


@mutant(LightAcks.done, "An acknowledged message of a light topic releases no pop.", V55)
def light_acks_release_no_pops(original, self, group, queue, offset, handle, now):
    with _no_pop_released(self):
        return original(self, group, queue, offset, handle, now)


@mutant(LightSubscriptions.join, "Who subscribes to a light topic goes on waiting.", V55)
def light_subscriptions_release_no_pops(original, self, client, queues, now, *, alone, option):
    with _no_pop_released(self):
        original(self, client, queues, now, alone=alone, option=option)


@mutant(PopOrder.tick, "A message of a light topic that can be given again releases no pop.", V55)
def light_messages_that_return_release_no_pops(original, self, now):
    with _no_pop_released(self):
        original(self, now)


@mutant(LightPops.has_more, "A message of a light topic releases pops of one group.", V55)
def light_messages_release_pops_of_one_group(original, self, queue, group=None):
    subscriptions = self.broker.light_subscriptions
    groups = [subscriptions.by_client[client].group for client in subscriptions.of_group(queue)]
    if group is None and groups:
        original(self, queue, groups[0])
    else:
        original(self, queue, group)


@mutant(LightTopics.dispatch, "Who waits for light topics does not look once more.", V55)
def light_dispatches_release_no_pops(original, self, command, connection, now):
    with _no_pop_released(self):
        return original(self, command, connection, now)


@contextmanager
def _no_pop_released(part: Part) -> Iterator[None]:
    """Nothing that happens meanwhile releases a pop."""
    waiting = part.broker.pop_waiting
    before = dict(waiting._more)
    yield
    waiting._more = before


# -- messages ------------------------------------------------------------------------------------------------


@after(Store.light_queues, "A message goes to the first light topic that it names.", V55)
def light_messages_are_in_one_light_topic(found):
    del found[1:]


@mutant(Store.light_queues, "A delayed message is in its light topic before its time.", V55)
def delayed_light_messages_are_there_at_once(original, self, message):
    return original(self, _elsewhere(message) if message.topic == TopicName.SCHEDULE else message)


@mutant(Store.light_queues, "A message that waits for a time is in its light topic before.", V55)
def timed_light_messages_are_there_at_once(original, self, message):
    return original(self, _elsewhere(message) if message.topic == TopicName.TIMER else message)


@mutant(Store.light_queues, "A message that is sent back goes to its light topic again.", V55)
def light_messages_that_are_sent_back_are_there_twice(original, self, message):
    is_retried = message.topic.startswith(TopicName.RETRY_PREFIX)
    return original(self, _elsewhere(message) if is_retried else message)


def _elsewhere(message: Message) -> Message:
    """A message as if it were in an ordinary topic."""
    return replace(message, topic="ordinary")


# -- pops and acknowledgements -------------------------------------------------------------------------------


@mutant(LightPops.take, "A pop gives as many messages of each light topic as it asks for in all.", V55)
def light_pops_count_each_light_topic_apart(original, self, found, queue, now):
    most = found.pop.most
    found.pop.most += len(found.frames)
    original(self, found, queue, now)
    found.pop.most = most


@mutant(LightPops.take, "A pop gives messages of one light topic.", V55)
def light_pops_end_with_one_light_topic(original, self, found, queue, now):
    if not found.frames:
        original(self, found, queue, now)


@mutant(LightPops.asked, "A pop of light topics that lacks a number is refused.", V55)
def light_pops_need_every_number(original, self, ext, now):
    lacking = {"bornTime", "invisibleTime", "maxMsgNum", "pollTime"} - ext.keys()
    if lacking:
        raise RefusedError(f"the custom field <{min(lacking)}> is null")
    return original(self, ext, now)


@mutant(LightAcks.done, "Handles of earlier pops acknowledge messages of light topics.", V55)
def old_light_handles_count(original, self, group, queue, offset, handle, now):
    last = self.broker.pop_order.last.get((queue, group, 0))
    newest = handle if last is None else replace(handle, pop_time=last.pop_time)
    return original(self, group, queue, offset, newest, now)


@mutant(LightAcks.done, "Messages of light topics that the group has not popped are not acknowledged.", V55)
def light_acks_need_a_pop(original, self, group, queue, offset, handle, now):
    if (queue, group, 0) not in self.broker.pop_order.last:
        return Reply(ResponseCode.MESSAGE_ILLEGAL)
    return original(self, group, queue, offset, handle, now)


@mutant(LightAcks.acknowledge, "Handles of pops out of order acknowledge messages of light topics.", V55)
def light_handles_are_of_any_kind(original, self, topic, queue_id, offset, ext, now):
    reply = original(self, topic, queue_id, offset, ext, now)
    is_refused = (reply.remark or "").startswith("ack queue") and queue_id == 0
    return Reply(ResponseCode.SUCCESS) if is_refused else reply


@mutant(LightAcks.hide, "Messages that a light topic does not have are hidden.", V55)
def light_messages_beyond_the_end_are_hidden(original, self, topic, offset, ext, now):
    return original(self, topic, min(offset, 0), ext, now)


@mutant(LightAcks.is_consumed, "Messages of light topics are hidden although they are acknowledged.", V55)
def acknowledged_light_messages_are_hidden(original, self, group, queue, offset):
    return False


@mutant(LightPops.take, "An offset beyond the end of a light topic stays.", V55)
def light_offsets_beyond_the_end_stay(original, self, found, queue, now):
    known = self.broker.offsets.offset_of(found.pop.group, queue, 0) or 0
    if known <= self.broker.store.max_offset(queue, 0):
        original(self, found, queue, now)


@mutant(LightPops.take, "A pop from before the first message of a light topic waits.", V55)
def light_offsets_before_the_first_cost_a_wait(original, self, found, queue, now):
    known = self.broker.offsets.offset_of(found.pop.group, queue, 0) or 0
    low = self.broker.store.min_offset(queue, 0)
    if known < low:
        self.broker.offsets.commit(found.pop.group, queue, 0, low, now)
    else:
        original(self, found, queue, now)


# -- subscriptions -------------------------------------------------------------------------------------------


@mutant(LightSubscriptions.changed, "Who subscribes to no light topic cannot leave one.", V55)
def strangers_cannot_leave_light_topics(original, self, said, connection, now):
    if said.action == "PARTIAL_REMOVE" and said.client_id not in self.by_client:
        return Reply(ResponseCode.ILLEGAL_OPERATION)
    return original(self, said, connection, now)


@mutant(LightSubscriptions.changed, "Who leaves a light topic before any is of no group later on.", V55)
def strangers_leave_light_topics_for_another_group(original, self, said, connection, now):
    if said.action == "PARTIAL_REMOVE" and said.client_id not in self.by_client:
        self.of(said.client_id, "", said.topic, connection, now)
    return original(self, said, connection, now)


@mutant(LightSubscriptions.join, "A light topic has one client of all exclusive groups.", V55)
def groups_share_exclusive_light_topics(original, self, client, queues, now, *, alone, option):
    queues = list(queues)
    for queue in queues if alone else ():
        for other in [one for one in self.of_group(queue) if one != client]:
            self.lose(other, queue, now)
    original(self, client, queues, now, alone=alone, option=option)


@mutant(LightSubscriptions.join, "A client that says an exclusive light topic again keeps it.", V55)
def clients_lose_no_light_topic_to_themselves(original, self, client, queues, now, *, alone, option):
    mine = self.by_client[client].queues
    for queue in queues:
        original(self, client, [queue], now, alone=alone and queue not in mine, option=option)


@mutant(LightSubscriptions.join, "An exclusive light topic is taken from one other client.", V55)
def exclusive_light_topics_are_taken_from_one(original, self, client, queues, now, *, alone, option):
    queues = list(queues)
    for queue in queues if alone else ():
        for other in [one for one in self.of_group(queue, self.by_client[client].group) if one != client][:1]:
            self.lose(other, queue, now)
    original(self, client, queues, now, alone=False, option=option)


@mutant(LightSubscriptions.leave, "When a client leaves a light topic, no other is shown there.", V55)
def last_to_leave_a_light_topic_is_the_first(original, self, client, queues, now):
    queues = list(queues)
    original(self, client, queues, now)
    for queue in queues:
        self._clients.pop(queue, None)


@mutant(LightSubscriptions.leave, "Who leaves a light topic has said nothing.", V55)
def leaving_light_topics_is_no_change(original, self, client, queues, now):
    changed = self.by_client[client].changed
    original(self, client, queues, now)
    self.by_client[client].changed = changed


# -- what is shown, and what ends ----------------------------------------------------------------------------


@mutant(LightSubscriptions.forget, "When a client last popped is shown although it has gone.", V55)
def accesses_of_light_clients_outlive_them(original, self, client, now):
    accessed = self.broker.light_pops.accessed
    before = accessed.get(client, -1)
    original(self, client, now)
    accessed[client] = before


@mutant(LightTopics.light_client, "All light topics of a client are shown.", V55)
def light_topics_of_clients_are_all_shown(original, self, command, connection, now):
    command.ext.pop("maxCount", None)
    return original(self, command, connection, now)


@mutant(LightTopics.lag_of, "A light topic with one message counts as empty.", V55)
def lags_of_one_light_message_are_none(original, self, group, topic, light):
    has_one = self.broker.store.max_offset(queue_of(topic, light), 0) == 1
    return {"liteTopic": light, "totalLagCount": -1} if has_one else original(self, group, topic, light)


@mutant(LightTopics.lag_of, "The oldest message of a lag is one that is consumed.", V55)
def oldest_light_message_is_a_consumed_one(original, self, group, topic, light):
    found = original(self, group, topic, light)
    wrapper = found.get("liteTopicOffsetWrapper")
    return found if wrapper is None else {**found, "earliestUnconsumedTimestamp": wrapper["lastTimestamp"]}


@mutant(LightTopics.lag_of, "A group lacks all messages of a light topic from which it has popped none.", V55)
def light_lags_begin_before_the_first_pop(original, self, group, topic, light):
    found = original(self, group, topic, light)
    if found["totalLagCount"] == 0 and "liteTopicOffsetWrapper" not in found:
        found["totalLagCount"] = self.broker.store.max_offset(queue_of(topic, light), 0)
    return found


@mutant(LightTopics.queues, "Light topics of a parent with a longer name count as those of this one.", V55)
def light_topics_go_with_other_parents(original, self, topic=None):
    begin = LIGHT_QUEUE if topic is None else queue_of(topic, "")[:-1]
    return [one for one in self.broker.store.topics() if one.startswith(begin)]


@mutant(LightTopics.forget, "What groups have consumed of light topics goes with any parent.", V55)
def light_offsets_go_with_other_parents(original, self, topic, now):
    original(self, topic, now)
    for queue in self.queues():
        self.broker.offsets.forget(topic=queue)


@mutant(LightTopics.forget, "What groups have consumed of light topics outlives their parent.", V55)
def light_offsets_outlive_their_parent(original, self, topic, now):
    table = self.broker.offsets.table
    before = {key: dict(offsets) for key, offsets in table.items() if key.startswith(queue_of(topic, ""))}
    original(self, topic, now)
    table.update(before)


@mutant(LightSubscriptions.place, "An offsetOption without a value says nothing.", V55)
def options_without_a_value_change_nothing(original, self, queue, group, option):
    return None if option.type == "OFFSET" and not option.value else original(self, queue, group, option)
