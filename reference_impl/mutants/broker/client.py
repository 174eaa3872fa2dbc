"""Mutants of the chapter client."""

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import Subscription
from harness.wire.fastjson import document
from reference_impl.broker.clients import Clients, ConsumerGroup
from reference_impl.broker.filters import Filters
from reference_impl.broker.topics import Topics
from reference_impl.mutants.registry import BEFORE_55, V4, V5, after, mutant
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import RefusedError, Reply

# -- who is there --------------------------------------------------------------------------------------------


@after(Clients.list_consumers, "The member list of a group contains only the first member.")
def only_the_first_member_is_listed(reply, self, command):
    group = self.consumers.get((command.ext or {}).get("consumerGroup") or "")
    if group is not None:
        ids = [client.id for client in group.members.values()]
        reply.body = document({"consumerIdList": ids[:1]})


@after(Clients.list_consumers, "A group without members gets an empty list.")
def nobody_is_an_empty_list(reply):
    if reply.code == ResponseCode.SUCCESS:
        return reply
    return Reply(ResponseCode.SUCCESS, body=document({"consumerIdList": []}))


@mutant(Clients.lost, "A client remains in its groups after its connection ends.")
def lost_clients_stay_members(original, self, connection, now):
    pass


@mutant(Clients.lost, "A client whose connection ends leaves only the first of its groups.")
def lost_clients_leave_their_first_group(original, self, connection, now):
    self._groups_of[connection] = set(sorted(self._groups_of.get(connection, ()))[:1])
    original(self, connection, now)


@mutant(Clients.unregister, "A client that unregisters from a group remains in it.")
def who_leaves_stays(original, self, command, connection, now):
    return Reply(ResponseCode.SUCCESS, ext={})


@mutant(Clients.unregister, "A client that leaves two groups at once leaves that of producers.")
def who_leaves_two_groups_stays_in_one(original, self, command, connection, now):
    ext = dict(command.ext or {})
    if ext.get("producerGroup") is not None:
        ext.pop("consumerGroup", None)
    return original(self, msgspec.structs.replace(command, ext=ext), connection, now)


@mutant(Clients.is_silent, "A client without heartbeats never expires.")
def silent_clients_stay(original, self, client, now):
    return False


@mutant(Clients.is_silent, "A client is kept for 120 s whatever the settings say.", V5)
def clients_are_kept_for_120_s(original, self, client, now):
    return now - client.seen > 120_000


# -- notifications -------------------------------------------------------------------------------------------


@mutant(Clients.tell_members, "Members are not notified of changes in their group.")
def nobody_is_told_of_changes(original, self, name, group):
    pass


@mutant(Clients.stop_consuming, "Members are not notified when another member disconnects.")
def nobody_is_told_of_departures(original, self, name, connection, now):
    original(self, name, connection, now)
    return False


@mutant(Clients.is_told, "Members of a broadcasting group are notified of changes.", V5)
def broadcasting_groups_are_told(original, self, group):
    return True


def _tell(clients, name):
    """Notifies the members of a group, whatever it is and whatever the settings say."""
    for connection in clients.consumers[name].members:
        clients.broker.push(
            connection, Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext={"consumerGroup": name})
        )


@mutant(Clients.unregister, "Members of a broadcasting group are notified of one that unregisters.", V5)
def broadcasting_groups_are_told_who_leaves(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    name = (command.ext or {}).get("consumerGroup")
    if name in self.consumers and self.consumers[name].is_broadcasting:
        _tell(self, name)
    return reply


@after(Clients.leave_all, "Members of a broadcasting group are notified of one whose connection ends.", V5)
def broadcasting_groups_are_told_who_is_lost(left, self):
    for name in left:
        if self.consumers[name].is_broadcasting:
            _tell(self, name)


@mutant(Clients.is_told, "Members of a broadcasting group are not notified of changes.", V4)
def broadcasting_groups_of_4_9_are_not_told(original, self, group):
    return not group.is_broadcasting


@after(Clients.leave_all, "A group that is to be quiet is not notified of a member whose connection ends.")
def quiet_groups_are_not_told_who_is_lost(left, self):
    known = self.broker.groups.table
    return [name for name in left if name not in known or known[name].notify_consumer_ids_changed_enable]


@after(Clients.leave_all, "A quiet Broker notifies members of one whose connection ends.")
def quiet_brokers_tell_who_is_lost(left, self):
    for name in left:
        if not self.config.notify_consumer_ids_changed_enable:
            _tell(self, name)


@mutant(Clients.tick, "Members are notified of one that was silent for too long.")
def silent_members_are_told_of(original, self, now):
    before = {name: len(group.members) for name, group in self.consumers.items()}
    original(self, now)
    for name, group in self.consumers.items():
        if before[name] != len(group.members):
            self.tell_members(name, group)


@mutant(Clients.subscribe, "Members are not notified when the group subscribes to another topic.")
def new_topics_are_no_change(original, self, group, subscriptions):
    original(self, group, subscriptions)
    return False


@mutant(Clients.join, "Members are notified of every heartbeat.")
def every_heartbeat_is_told(original, self, group, name, client, connection, now):
    original(self, group, name, client, connection, now)
    return True


# -- what they want ------------------------------------------------------------------------------------------


@mutant(Clients.subscribe, "The last heartbeat replaces a subscription even if it is older.")
def older_subscriptions_replace_newer(original, self, group, subscriptions):
    before = set(group.subscriptions)
    group.subscriptions = {one.topic or "": one for one in subscriptions}
    return set(group.subscriptions) != before


@mutant(Clients.consume, "A heartbeat does not create the retry topic of its group.")
def groups_have_no_retry_topic(original, self, data, client, connection, now, *, without_sub):
    original(self, data, client, connection, now, without_sub=without_sub)
    self.broker.topics.delete(f"%RETRY%{data.group_name}", now)


@mutant(Topics.create, "A retry topic has one queue, whatever retryQueueNums of its group says.")
def retry_topics_have_one_queue(original, self, topic, queues, perm, now, *, flag=0, order=False):
    queues = 1 if topic.startswith("%RETRY%") else queues
    return original(self, topic, queues, perm, now, flag=flag, order=order)


@after(Clients.heartbeat, "The heartbeat response has no ext fields.", V5)
def short_heartbeats_are_not_known(reply):
    reply.ext = None


@mutant(
    Clients.fingerprint_changed,
    "The heartbeat response never reports a changed fingerprint.",
    V5,
)
def fingerprints_never_change(original, self, group, fingerprint):
    return False


@mutant(Clients.subscribe, "A subscription that a group gives up stays.")
def subscriptions_only_grow(original, self, group, subscriptions):
    known = dict(group.subscriptions)
    changed = original(self, group, subscriptions)
    group.subscriptions = {**known, **group.subscriptions}
    return changed


@mutant(Clients.subscribe, "Of the subscriptions that a group gives up at once one goes.")
def subscriptions_shrink_by_one(original, self, group, subscriptions):
    known = dict(group.subscriptions)
    changed = original(self, group, subscriptions)
    for topic in [one for one in known if one not in group.subscriptions][1:]:
        group.subscriptions[topic] = known[topic]
    return changed


# -- groups that may not come into being ---------------------------------------------------------------------


@mutant(Clients.consume, "A consumer of a group that does not exist is not registered.", V4)
def consumers_of_no_group_are_none(original, self, data, client, connection, now, *, without_sub):
    if self.broker.groups.find(data.group_name, now) is not None:
        original(self, data, client, connection, now, without_sub=without_sub)


@mutant(Clients.consume, "A consumer of a group that does not exist is registered.", V5)
def consumers_of_no_group_are_listed(original, self, data, client, connection, now, *, without_sub):
    original(self, data, client, connection, now, without_sub=without_sub)
    if data.group_name not in self.consumers:
        group = ConsumerGroup(data.consume_type, data.message_model, data.consume_from_where)
        self.consumers[data.group_name] = group
        self.join(group, data.group_name, client, connection, now)


@mutant(Clients.consume, "A heartbeat is refused because of one group that does not exist.", V5)
def unknown_groups_end_a_heartbeat(original, self, data, client, connection, now, *, without_sub):
    if self.broker.groups.find(data.group_name, now) is None:
        raise RefusedError("there is no such group")
    original(self, data, client, connection, now, without_sub=without_sub)


# -- who leaves, and whose heartbeats count ------------------------------------------------------------------


def _telling(original, self, command, connection, now, *, most):
    """A client unregisters; of the others, this many are notified, whatever the group says; None: all."""
    consumer = (command.ext or {}).get("consumerGroup")
    if consumer is None:
        return original(self, command, connection, now)
    self.stop_consuming(consumer, connection, now)
    group = self.consumers.get(consumer)
    if group is not None:
        members = dict(list(group.members.items())[:most])
        self.tell_members(consumer, msgspec.structs.replace(group, members=members))
    return Reply(ResponseCode.SUCCESS, ext={})


@mutant(Clients.unregister, "Members are not notified when another member unregisters.")
def nobody_is_told_who_leaves(original, self, command, connection, now):
    return _telling(original, self, command, connection, now, most=0)


@mutant(Clients.unregister, "Only the first member is notified when another member unregisters.")
def the_first_member_is_told_who_leaves(original, self, command, connection, now):
    return _telling(original, self, command, connection, now, most=1)


@mutant(Clients.unregister, "Members of a group that is to be quiet are notified of one that unregisters.")
def quiet_groups_are_told_who_leaves(original, self, command, connection, now):
    return _telling(original, self, command, connection, now, most=None)


@mutant(
    Clients.unregister,
    "In a group that was deleted none is notified of one that leaves.",
)
def members_of_deleted_groups_are_not_notified(original, self, command, connection, now):
    known = self.broker.groups.find((command.ext or {}).get("consumerGroup") or "", now) is not None
    return _telling(original, self, command, connection, now, most=None if known else 0)


@mutant(Clients.consume, "Members of a group that wants no notifications get one when a member joins.")
def quiet_groups_are_told_who_joins(original, self, data, client, connection, now, *, without_sub):
    original(self, data, client, connection, now, without_sub=without_sub)
    config = self.broker.groups.find(data.group_name, now)
    if config is not None and not config.notify_consumer_ids_changed_enable:
        self.tell_members(data.group_name, self.consumers[data.group_name])


def _named(original, self, command, connection, now, *, member):
    """A heartbeat in which every group of a kind has a name."""
    beat = msgspec.json.decode(command.body)
    for one in beat.get(member) or ():
        one.setdefault("groupName", "DEFAULT")
    command = msgspec.structs.replace(command, body=msgspec.json.encode(beat))
    return original(self, command, connection, now)


@mutant(Clients.heartbeat, "A consumer group without a name has a default name.")
def consumers_need_no_group(original, self, command, connection, now):
    return _named(original, self, command, connection, now, member="consumerDataSet")


@mutant(Clients.heartbeat, "A producer group without a name has a default name.")
def producers_need_no_group(original, self, command, connection, now):
    return _named(original, self, command, connection, now, member="producerDataSet")


@mutant(Clients.produce, "A producer is removed 120 s after its first heartbeat.")
def first_heartbeats_of_producers_count(original, self, group, client, connection, now):
    if connection not in self.producers.get(group, {}):
        original(self, group, client, connection, now)


@mutant(Clients.consume, "A Broker of 4.9 takes withoutSub=true into account.", V4)
def short_heartbeats_count_in_49(original, self, data, client, connection, now, *, without_sub):
    original(self, data, client, connection, now, without_sub=True)


@after(Clients.heartbeat, "A Broker of 4.9 says that it knows short heartbeats.", V4)
def heartbeats_49_are_told_of_the_short_form(reply):
    return Reply(ResponseCode.SUCCESS, ext={"IS_SUPPORT_HEART_BEAT_V2": "true"})


@mutant(Clients.consume, "A Broker of 5.x ignores withoutSub=true.", V5)
def short_heartbeats_are_whole(original, self, data, client, connection, now, *, without_sub):
    original(self, data, client, connection, now, without_sub=False)


@mutant(Clients.consume, "A short heartbeat does not keep its consumer.", V5)
def short_heartbeats_do_not_count(original, self, data, client, connection, now, *, without_sub):
    group = self.consumers.get(data.group_name or "")
    known = None if group is None else group.members.get(connection)
    seen = now if known is None else known.seen
    original(self, data, client, connection, now, without_sub=without_sub)
    if without_sub and known is not None:
        known.seen = seen


@mutant(Clients.consume, "A short heartbeat of a client that is no member is passed over.", V5)
def short_heartbeats_need_a_member(original, self, data, client, connection, now, *, without_sub):
    group = self.consumers.get(data.group_name or "")
    if not without_sub or (group is not None and connection in group.members):
        original(self, data, client, connection, now, without_sub=without_sub)


@mutant(Clients.heartbeat, "A heartbeat with names in single quotes is refused.")
def heartbeats_are_strict_json(original, self, command, connection, now):
    try:
        msgspec.json.decode(command.body)
    except msgspec.DecodeError:
        return Reply(ResponseCode.SYSTEM_ERROR)
    return original(self, command, connection, now)


@after(Clients.subscribes_in_order, "The retry topic of a group is never ordered.", V5)
def retry_topics_are_never_ordered(found):
    return False


@after(Clients.subscribes_in_order, "The retry topic of a group is always ordered.", V5)
def retry_topics_are_always_ordered(found):
    return True


@mutant(Clients.consume, "A group consumes as its first heartbeat said, whatever later ones say.")
def groups_consume_as_at_first(original, self, data, client, connection, now, *, without_sub):
    group = self.consumers.get(data.group_name or "")
    if group is not None:
        said = (group.consume_type, group.message_model, group.consume_from_where)
        data.consume_type, data.message_model, data.consume_from_where = said
    original(self, data, client, connection, now, without_sub=without_sub)


@mutant(Clients.join, "Only the first heartbeat of a consumer keeps it.")
def first_heartbeats_of_consumers_count(original, self, group, name, client, connection, now):
    known = group.members.get(connection)
    return original(self, group, name, client, connection, now if known is None else known.seen)


@mutant(Clients.consume, "A subscription without a version gets 0 and not the time of its heartbeat.")
def subscriptions_without_version_are_oldest(original, self, data, client, connection, now, *, without_sub):
    for one in data.subscription_data_set:
        one.sub_version = one.sub_version or 0
    original(self, data, client, connection, now, without_sub=without_sub)


@after(Filters.check, "A subscription by tags cannot be checked.")
def tags_cannot_be_checked(reply):
    return Reply(ResponseCode.SYSTEM_ERROR) if reply.code == ResponseCode.SUCCESS else reply


@after(Filters.to_check, "A subscription without a type of expression is of an unknown one.")
def nothing_cannot_be_checked(found):
    kind = found and found.expression_type
    return Subscription(expression_type=kind or "null", sub_string=found and found.sub_string)


@after(Filters.check, "Every filter can be checked, and none is refused.")
def every_filter_passes(reply):
    return Reply(ResponseCode.SUCCESS)


@mutant(Filters.check, "A subscription that cannot be read can be served.")
def checks_need_no_json(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(Filters.check, "A check without a body is refused.", V5)
def checks_need_a_body(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else Reply(ResponseCode.SYSTEM_ERROR)


@mutant(
    Profile, "JSON is read as up to 5.3, by fastjson 1.", ["5.5"], name="bodies-of-brokers-are-read-as-in-5.3"
)
def _as_in_53(profile):
    return msgspec.structs.replace(profile, engine="fastjson")


@mutant(
    Profile,
    "JSON is read as from 5.4 on, by fastjson2.",
    BEFORE_55,
    name="bodies-of-brokers-are-read-as-in-5.5",
)
def _as_in_55(profile):
    return msgspec.structs.replace(profile, engine="fastjson2")


@mutant(Clients.stop_producing, "When one producer leaves its group, all of them do.")
def who_produces_leaves_with_all_others(original, self, group, connection):
    self.producers.pop(group, None)


@mutant(Clients.unregister, "A client that leaves a group without members is refused.")
def unknown_groups_cannot_be_left(original, self, command, connection, now):
    group = (command.ext or {}).get("consumerGroup")
    if group is not None and group not in self.consumers:
        return Reply(ResponseCode.SYSTEM_ERROR)
    return original(self, command, connection, now)


@mutant(Clients.subscribe, "A subscription replaces one with the same subVersion.")
def subscriptions_replace_those_of_their_version(original, self, group, subscriptions):
    for one in subscriptions:
        old = group.subscriptions.get(one.topic)
        if old is not None and old.sub_version == one.sub_version:
            group.subscriptions[one.topic] = one
    return original(self, group, subscriptions)


@mutant(
    Clients.tell_members, "Members are notified whatever notifyConsumerIdsChangedEnable of the Broker is."
)
def brokers_are_never_quiet(original, self, name, group):
    if self.config.notify_consumer_ids_changed_enable or not self.is_told(group):
        original(self, name, group)
        return
    for connection in group.members:
        self.broker.push(
            connection, Command(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext={"consumerGroup": name})
        )


@mutant(Clients.heartbeat, "A heartbeat with withoutSub=true is short, even without a fingerprint.", V5)
def heartbeats_without_a_fingerprint_are_short(original, self, command, connection, now):
    command.body = command.body.replace(b'"withoutSub":true', b'"withoutSub":true,"heartbeatFingerprint":7')
    return original(self, command, connection, now)


@mutant(Clients.consume, "A heartbeat with a fingerprint is short, even without withoutSub=true.", V5)
def heartbeats_with_a_fingerprint_are_short(original, self, data, client, connection, now, *, without_sub):
    short = without_sub or bool(self._fingerprints.get(data.group_name))
    return original(self, data, client, connection, now, without_sub=short)


@mutant(Clients.consume, "The retry topic that a heartbeat creates does not know its unit.")
def retry_topics_of_heartbeats_know_no_unit(original, self, data, client, connection, now, *, without_sub):
    data.unit_mode = False
    return original(self, data, client, connection, now, without_sub=without_sub)


@mutant(Clients.join, "A connection stays listed under the first clientID of its heartbeats.")
def connections_keep_their_first_name(original, self, group, name, client, connection, now):
    known = group.members.get(connection)
    if known is not None:
        client = msgspec.structs.replace(client, id=known.id)
    return original(self, group, name, client, connection, now)
