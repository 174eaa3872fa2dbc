"""Faults of messages in light topics (5.5)."""

import msgspec

from harness.wire import ResponseCode
from reference_impl.broker.light_acks import LightAcks
from reference_impl.broker.light_pops import LightPops
from reference_impl.broker.light_subscriptions import LightSubscriptions
from reference_impl.broker.light_topics import LightTopics
from reference_impl.broker.pop_order import PopOrder
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import V55, after, mutant
from reference_impl.remoting.reply import Reply


@after(Store.light_queues, "No message goes to a light topic.", V55)
def light_messages_stay_with_their_parent(found):
    found.clear()


@mutant(LightPops.asked, "A pop of light topics gives more than it is asked for.", V55)
def light_pops_ignore_the_most(original, self, ext, now):
    asked = original(self, ext, now)
    asked.most += 1
    return asked


@mutant(LightAcks.done, "Messages of light topics that are acknowledged come again.", V55)
def light_acks_do_nothing(original, self, group, queue, offset, handle, now):
    return Reply(ResponseCode.SUCCESS)


@mutant(LightPops.blocks, "A light topic gives messages before those given are acknowledged.", V55)
def light_topics_are_not_in_order(original, self, queue, pop, now):
    return False


@mutant(LightPops.take, "Messages of light topics are given once, whether or not they are acknowledged.", V55)
def light_messages_never_return(original, self, found, queue, now):
    before = len(found.frames)
    original(self, found, queue, now)
    offset = self.broker.offsets.offset_of(found.pop.group, queue, 0) or 0
    self.broker.offsets.commit(found.pop.group, queue, 0, offset + len(found.frames) - before, now)


@mutant(LightPops.counts, "Messages of light topics that come again count as new.", V55)
def light_tries_are_not_counted(original, self, given, messages):
    return ["0"] * messages


@mutant(LightSubscriptions.queues_of, "Who subscribes to one light topic gets all of the parent.", V55)
def light_topics_are_one(original, self, client):
    mine = self.by_client.get(client)
    return [] if mine is None else self.broker.light_topics.queues(mine.topic)


@mutant(LightPops.find, "What is not acknowledged of one light topic blocks all.", V55)
def one_light_topic_blocks_all(original, self, asked, client, now):
    last = self.broker.pop_order.last
    blocked = any(group == asked.group and self.blocks(queue, asked, now) for queue, group, _ in last)
    return original(self, asked, "" if blocked else client, now)


@mutant(PopOrder.give, "What one group was given of a light topic, another is not.", V55)
def groups_of_light_topics_share(original, self, queue, offsets, invisible, attempt, now):
    topic, group, _ = queue
    if topic.startswith("%LMQ%"):
        for other in [one for one in self.broker.groups.table if one != group]:
            self.broker.offsets.commit(other, topic, 0, offsets[-1] + 1, now)
    return original(self, queue, offsets, invisible, attempt, now)


@mutant(LightSubscriptions.queues_of, "Clients that subscribe to nothing pop from all light topics.", V55)
def light_pops_need_no_subscription(original, self, client):
    return original(self, client) or self.broker.light_topics.queues()


@mutant(
    LightSubscriptions.leave, "Who subscribed once to a light topic goes on to be given its messages.", V55
)
def light_subscriptions_stay(original, self, client, queues, now):
    return None


@mutant(LightPops.carry_out, "Pops of light topics do not wait.", V55)
def light_pops_do_not_wait(original, self, asked, client, command, connection, now):
    asked.poll = 0
    return original(self, asked, client, command, connection, now)


@mutant(LightPops.has_more, "Messages in light topics release no pops.", V55)
def light_messages_release_no_pops(original, self, queue, group=None):
    return None


@mutant(LightAcks.hide, "Messages of light topics cannot be hidden for longer.", V55)
def light_messages_stay_hidden_as_before(original, self, topic, offset, ext, now):
    ext = {**ext, "liteTopic": "-", "offset": "0"}
    return original(self, topic, 0, ext, now)


@after(LightAcks.hide, "Code 200053 of a message of a light topic answers the time that it asks for.", V55)
def changed_light_times_are_told_as_asked(reply, ext):
    if reply.ext["reviveQid"] != "0":
        reply.ext["invisibleTime"] = ext.get("invisibleTime")


@mutant(LightSubscriptions.is_exclusive, "Every light topic has several clients of a group.", V55)
def exclusive_light_topics_are_shared(original, self, group, now):
    return False


@mutant(LightSubscriptions.lose, "Who loses a light topic is not told.", V55)
def lost_light_topics_are_not_told(original, self, client, queue, now):
    self.leave(client, [queue], now)


@mutant(LightSubscriptions.is_exclusive, "Every light topic has one client.", V55)
def light_topics_have_one_client(original, self, group, now):
    return True


@mutant(LightSubscriptions.changed, "Saying all light topics adds to those before.", V55)
def all_light_topics_are_more(original, self, said, connection, now):
    if said.action == "COMPLETE_ADD":
        said = msgspec.structs.replace(said, action="PARTIAL_ADD")
    return original(self, said, connection, now)


@mutant(LightSubscriptions.subscriptions, "A subscription whose version is a text names nothing.", V55)
def odd_subscriptions_name_nothing(original, self, command):
    said = original(self, command)
    is_odd = b'"version":"' in command.body
    return [msgspec.structs.replace(one, light_topics=[]) for one in said or ()] if is_odd else said


@mutant(LightSubscriptions.is_silent, "Subscriptions to light topics stay for ever.", V55)
def light_subscriptions_never_end(original, self, one, now):
    return False


@mutant(LightSubscriptions.is_silent, "Subscriptions to light topics go too early.", V55)
def light_subscriptions_end_early(original, self, one, now):
    return True


@mutant(LightSubscriptions.of_group, "A message ends no wait of clients that subscribe to everything.", V55)
def messages_end_no_wildcard_waits(original, self, queue, group=None):
    named = self._clients.get(queue, ())
    return [one for one in original(self, queue, group) if one in named]


@mutant(LightTopics.forget, "Light topics outlive their parent.", V55)
def light_topics_outlive_their_parent(original, self, topic, now):
    return None


@mutant(LightSubscriptions.count, "No subscription to a light topic is counted.", V55)
def light_subscriptions_are_not_counted(original, self):
    return 0


@mutant(LightSubscriptions.shown, "No subscriber of a light topic is shown.", V55)
def light_subscribers_are_not_shown(original, self, queue):
    return []


@mutant(LightTopics.queues, "Light topics of all parents count as those of each.", V55)
def light_topics_are_of_all_parents(original, self, topic=None):
    return original(self, None)


@mutant(LightTopics.light_client, "The light topics of a client are not shown.", V55)
def light_topics_of_clients_are_not_shown(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    reply.body = reply.body.replace(b'"liteTopicSet"', b'"liteTopics"')
    return reply


@mutant(LightTopics.lag_of, "What a group lacks of a light topic is all that is there.", V55)
def light_lags_are_all(original, self, group, topic, light):
    found = original(self, group, topic, light)
    wrapper = found.get("liteTopicOffsetWrapper")
    return found if wrapper is None else {**found, "totalLagCount": wrapper["brokerOffset"]}


@mutant(LightTopics.greatest_lags, "Of all that a group lacks, the greatest alone is counted.", V55)
def greatest_light_lag_is_the_total(original, self, group, most):
    found = original(self, group, most)
    return {**found, "totalLagCount": max((one["lagCount"] for one in found["lagCountTopK"]), default=0)}


@mutant(LightTopics.greatest_lags, "More light topics are listed than asked for.", V55)
def light_lags_are_all_listed(original, self, group, most):
    return original(self, group, most + 1)


@mutant(LightSubscriptions.is_full, "There is no limit of subscriptions to light topics.", V55)
def light_subscriptions_have_no_limit(original, self):
    return False


@mutant(LightSubscriptions.refused, "Groups that may not consume subscribe to light topics.", V55)
def disabled_groups_subscribe(original, self, group, now, *, is_partial):
    reply = original(self, group, now, is_partial=is_partial)
    return None if reply is not None and reply.code == ResponseCode.ILLEGAL_OPERATION else reply


@mutant(LightPops.group_refused, "Groups that may not consume pop from light topics.", V55)
def disabled_groups_pop_light_messages(original, self, group, topic, now):
    reply = original(self, group, topic, now)
    return None if reply is not None and reply.code == ResponseCode.NO_PERMISSION else reply


@mutant(LightAcks.is_beyond, "Offsets that a light topic has not reached are acknowledged.", V55)
def light_acks_beyond_the_end_count(original, self, queue, offset):
    return False


@mutant(LightAcks.done, "Acknowledgements in a light topic undo a reset.", V55)
def light_acks_undo_resets(original, self, group, queue, offset, handle, now):
    resets, self.broker.offsets._resets = self.broker.offsets._resets, {}
    reply = original(self, group, queue, offset, handle, now)
    self.broker.offsets._resets = resets
    return reply


@mutant(LightAcks.acknowledge, "Any group acknowledges messages of light topics.", V55)
def any_group_acknowledges_light_messages(original, self, topic, queue_id, offset, ext, now):
    reply = original(self, topic, queue_id, offset, ext, now)
    return Reply(ResponseCode.SUCCESS) if (reply.remark or "").startswith("group type") else reply


@mutant(LightAcks.acknowledge, "Messages of light topics are acknowledged in any queue.", V55)
def light_acks_are_of_any_queue(original, self, topic, queue_id, offset, ext, now):
    return original(self, topic, 0, offset, ext, now)


@mutant(LightAcks.done, "Messages of light topics are acknowledged that no pop gave.", V55)
def light_acks_are_of_anything(original, self, group, queue, offset, handle, now):
    reply = original(self, group, queue, offset, handle, now)
    return Reply(ResponseCode.SUCCESS) if reply.code == ResponseCode.MESSAGE_ILLEGAL else reply


@mutant(Store.catch_up, "After a restart light topics are empty.", V55)
def light_topics_are_not_read_again(original, self):
    has, self._has_light_queues = self._has_light_queues, False
    original(self)
    self._has_light_queues = has


@mutant(LightSubscriptions.takes_all, "No group consumes all light topics of its parent.", V55)
def wildcard_groups_are_like_others(original, self, group, now):
    return False


@mutant(
    LightSubscriptions.takes_all,
    "A group that has the attribute for it consumes all light topics, be it false.",
    V55,
)
def wildcard_is_any_value(original, self, group, now):
    found = self.broker.groups.find(group, now)
    return found is not None and "lite.sub.wildcard" in (found.attributes or {})


@mutant(LightSubscriptions.queues_of, "Who consumes all light topics is not given those of later.", V55)
def wildcard_clients_get_what_is_there(original, self, client):
    found, mine = original(self, client), self.by_client.get(client)
    if mine is None or client not in self._of_all.get(mine.topic, ()):
        return found
    return self.__dict__.setdefault("_found_first", {}).setdefault(client, found)


@mutant(LightSubscriptions.queues_of, "Who consumes all light topics is given those of every parent.", V55)
def wildcard_clients_have_every_parent(original, self, client):
    found, mine = original(self, client), self.by_client.get(client)
    takes_all = mine is not None and client in self._of_all.get(mine.topic, ())
    return self.broker.light_topics.queues() if takes_all else found


@mutant(LightSubscriptions.forget, "Who consumed all light topics once goes on to be given messages.", V55)
def wildcard_clients_stay(original, self, client, now):
    mine = self.by_client.get(client)
    if mine is None or client not in self._of_all.get(mine.topic, ()):
        original(self, client, now)


@mutant(LightSubscriptions.shown, "Clients that consume all light topics are shown one by one.", V55)
def wildcard_clients_are_shown_apart(original, self, queue):
    clients = self.of_group(queue)
    return [{"clientId": client, "group": self.by_client[client].group} for client in clients]


@mutant(LightTopics.light_client, "A client that consumes all light topics is shown as group@parent.", V55)
def wildcard_clients_are_shown_under_their_group(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    topic, group = command.ext["parentTopic"], command.ext["group"]
    reply.body = reply.body.replace(f"{topic}@{group}".encode(), f"{group}@{topic}".encode())
    return reply


@mutant(LightSubscriptions.refused, "A group that consumes all light topics may name single ones.", V55)
def wildcard_groups_name_light_topics(original, self, group, now, *, is_partial):
    return original(self, group, now, is_partial=False)


@mutant(LightSubscriptions.place, "Where a subscription wants to begin is not looked at.", V55)
def light_subscriptions_begin_where_they_are(original, self, queue, group, option):
    return None


@mutant(LightSubscriptions.place, "A subscription to begin with the last messages counts from the end.", V55)
def light_tails_count_from_the_end(original, self, queue, group, option):
    if option.type == "TAIL_N":
        return max(0, self.broker.store.max_offset(queue, 0) - option.value)
    return original(self, queue, group, option)


@mutant(LightSubscriptions.place, "Every policy begins a light topic with its first message.", V55)
def light_policies_are_one(original, self, queue, group, option):
    return 0 if option.type == "POLICY" else original(self, queue, group, option)


@mutant(LightSubscriptions.go_on, "What was popped before blocks a group that begins elsewhere.", V55)
def old_light_pops_block_new_places(original, self, queue, group, offset, now):
    self.broker.offsets.commit(group, queue, 0, offset, now)


@mutant(LightSubscriptions.begins_anew, "A group never begins a light topic anew.", V55)
def light_groups_never_begin_anew(original, self, group, when, now):
    return False


@mutant(LightSubscriptions.begins_anew, "A group always begins a light topic anew.", V55)
def light_groups_always_begin_anew(original, self, group, when, now):
    return True


@mutant(LightTopics.is_over, "Light topics stay without messages.", V55)
def unused_light_topics_stay(original, self, queue, minutes, now):
    return False


@mutant(LightTopics.is_over, "Light topics are kept for the shortest time alone.", V55)
def light_topics_are_kept_briefly(original, self, queue, minutes, now):
    return original(self, queue, min(minutes, 1), now)


@mutant(LightTopics.is_over, "Light topics of all parents go.", V55)
def light_topics_of_all_parents_go(original, self, queue, minutes, now):
    return original(self, queue, minutes if minutes > 0 else 1, now)


@mutant(LightTopics.is_over, "Light topics go at once that are kept for 0 minutes.", V55)
def light_topics_that_are_kept_for_no_time_go(original, self, queue, minutes, now):
    return original(self, queue, 1 if minutes == 0 else minutes, now)


@mutant(LightTopics.is_over, "Light topics go as long after their first message as after the last.", V55)
def light_topics_age_from_their_first_message(original, self, queue, minutes, now):
    stored = self.broker.store.timestamp_of(queue, 0, 0) or 0
    return minutes > 0 and now - stored > minutes * 60_000


@mutant(LightTopics.is_over, "There is no shortest time for which light topics are kept.", V55)
def light_topics_have_no_shortest_time(original, self, queue, minutes, now):
    store = self.broker.store
    stored = store.timestamp_of(queue, 0, store.max_offset(queue, 0) - 1) or 0
    return minutes > 0 and now - stored > minutes * 60_000


@mutant(LightTopics.drop, "Subscriptions to light topics that have gone stay.", V55)
def subscriptions_outlive_light_topics(original, self, queue, now):
    kept = dict(self.broker.light_subscriptions._clients.get(queue, {}))
    original(self, queue, now)
    for client in kept:
        self.broker.light_subscriptions.join(client, [queue], now, alone=False)


@mutant(LightTopics.drop, "What groups consumed of light topics that have gone is kept.", V55)
def offsets_outlive_light_topics(original, self, queue, now):
    kept = {key: dict(of) for key, of in self.broker.offsets.table.items() if key.startswith(queue + "@")}
    original(self, queue, now)
    self.broker.offsets.table.update(kept)


@mutant(LightTopics.drop, "Clients are told of light topics that have gone.", V55)
def clients_are_told_of_light_topics_that_go(original, self, queue, now):
    for client in self.broker.light_subscriptions.of_group(queue):
        self.broker.light_subscriptions.lose(client, queue, now)
    original(self, queue, now)
