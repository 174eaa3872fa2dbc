"""Mutants of the chapter pull."""

import msgspec
from msgspec.structs import replace

from harness.wire import FLAG_ONEWAY, RequestCode, ResponseCode
from harness.wire.bodies import Subscription, SubscriptionGroup
from harness.wire.messages import decode_messages, tag_hash
from reference_impl.broker.endpoint import Endpoint
from reference_impl.broker.groups import Groups
from reference_impl.broker.long_polling import LongPolling
from reference_impl.broker.pulls import COMMITS, SUBSCRIBES, WAITS, Pulls
from reference_impl.broker.store import GetStatus, Store, Wanted
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError, Reply

# -- what is asked -------------------------------------------------------------------------------------------


@after(Pulls.asked, "A pull always starts at offset 0.")
def pulls_begin_at_the_beginning(asked):
    asked.offset = 0


@after(Pulls.asked, "A pull always returns up to 32 messages.")
def pulls_give_all_there_is(asked):
    asked.most = 32


@after(Pulls.asked, "A pull commits its offset even without the flag.")
def pulls_always_commit(asked):
    asked.sys_flag = asked.sys_flag | COMMITS


# -- what is found -------------------------------------------------------------------------------------------


@mutant(Pulls.code, "A pull at the end of a queue gets PULL_OFFSET_MOVED.")
def pull_at_the_end_is_moved(original, self, status, offset):
    return (
        ResponseCode.PULL_OFFSET_MOVED
        if status is GetStatus.OFFSET_OVERFLOW_ONE
        else original(self, status, offset)
    )


@mutant(Pulls.code, "In an empty queue, a pull at any offset gets PULL_NOT_FOUND.")
def empty_queues_move_nobody(original, self, status, offset):
    return (
        ResponseCode.PULL_NOT_FOUND
        if status is GetStatus.NO_MESSAGE_IN_QUEUE
        else original(self, status, offset)
    )


@mutant(Pulls.code, "A pull without matching tags gets PULL_NOT_FOUND.")
def nothing_wanted_is_not_found(original, self, status, offset):
    return (
        ResponseCode.PULL_NOT_FOUND
        if status is GetStatus.NO_MATCHED_MESSAGE
        else original(self, status, offset)
    )


@mutant(Pulls.next_offset, "A pull response repeats the requested offset instead of the corrected one.")
def moved_pulls_stay_where_they_are(original, self, asked, got):
    found = got.status in (GetStatus.FOUND, GetStatus.NO_MATCHED_MESSAGE)
    return got.next_offset if found else asked.offset


@mutant(Pulls.answered, "A pull response always contains 0 for both queue bounds.")
def pulls_tell_bounds_of_nothing(original, self, asked, got, group):
    return original(self, asked, msgspec.structs.replace(got, min_offset=0, max_offset=0), group)


# -- what is wanted ------------------------------------------------------------------------------------------


@mutant(Pulls.next_offset, "A consumer goes on behind the last message that it was given.")
def filtered_pulls_go_on_behind_the_last_found(original, self, asked, got):
    if not got.frames:
        return original(self, asked, got)
    return decode_messages(got.frames[-1])[0].queue_offset + 1


@mutant(Pulls.allowed, "A pull from a queue beyond those to write is refused.")
def pulls_are_of_queues_to_write(original, self, code, asked, connection, now):
    topic = self.broker.topics.get(asked.topic)
    if topic is not None and asked.queue_id >= topic.write_queue_nums:
        return Reply(self.profile.invalid_parameter, ext={}, remark=f"queueId[{asked.queue_id}] is illegal, ")
    return original(self, code, asked, connection, now)


@mutant(Pulls.filter, "A pull matches only the first of its tags.")
def only_the_first_tag_counts(original, self, subscription):
    first = msgspec.structs.replace(subscription, code_set=subscription.code_set[:1])
    return original(self, first)


@mutant(Pulls.filter, "A pull ignores its tags.")
def tags_do_not_count(original, self, subscription):
    return None


@mutant(Pulls.filter, "Tags are compared as texts, not by their hash codes.")
def tags_are_compared_as_texts(original, self, subscription):
    wanted = original(self, subscription)
    tags = subscription.tags_set or ()
    return wanted and replace(wanted, properties=lambda properties: properties.get("TAGS") in tags)


class _Halves(frozenset[int]):
    def __contains__(self, code):
        return any((code ^ one) & 0xFFFF == 0 for one in self)


@mutant(Pulls.filter, "Only the lower 16 bits of the hash codes of tags are compared.")
def tags_are_compared_by_half_their_code(original, self, subscription):
    wanted = original(self, subscription)
    return wanted and replace(wanted, tags=_Halves(wanted.tags))


@mutant(Pulls.filter, "The hash codes of a subscription are made of its texts, whatever its codeSet says.")
def texts_of_heartbeats_count(original, self, subscription):
    codes = [tag_hash(tag) for tag in subscription.tags_set or ()]
    return original(self, replace(subscription, code_set=codes))


@mutant(Pulls.own_subscription, "An invalid subscription matches everything.")
def bars_are_a_subscription(original, self, text, kind):
    return original(self, text, kind) or Subscription(sub_string="*")


@mutant(Pulls.own_subscription, "No tag behind a leading bar counts.")
def bars_in_front_hide_tags(original, self, text, kind):
    found = original(self, text, kind)
    if found is None or not (text or "").lstrip().startswith("||"):
        return found
    return msgspec.structs.replace(found, tags_set=[], code_set=[])


@after(Pulls.subscription, "A pull of a group without a subscription to the topic returns everything.")
def pulls_need_no_heartbeat(found):
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.SUBSCRIPTION_NOT_EXIST
    return Subscription(sub_string="*") if is_refused else found


@mutant(Pulls.subscription, "A pull accepts an outdated subscription of its group.")
def old_subscriptions_will_do(original, self, asked, group):
    found = original(self, asked, group)
    online = self.broker.clients.consumers.get(asked.group)
    known = None if online is None else online.subscriptions.get(asked.topic)
    return known if isinstance(found, Reply) and known is not None else found


@after(Pulls.subscription, "A pull ignores the tags from its group's heartbeat.")
def tags_of_heartbeats_do_not_count(found, asked):
    if isinstance(found, Reply) or asked.sys_flag & SUBSCRIBES:
        return found
    return msgspec.structs.replace(found, sub_string="*")


@after(Pulls.subscription, "An SQL filter matches everything.")
def sql_is_taken_for_everything(found):
    is_sql = isinstance(found, Subscription) and found.expression_type == "SQL92"
    return Subscription(sub_string="*") if is_sql else found


# -- whether it may be ---------------------------------------------------------------------------------------

Allowed = tuple[SubscriptionGroup, Wanted | None] | Reply


@mutant(Pulls.allowed, "A pull from a queue that the topic does not have finds nothing.")
def pulls_of_any_queue(original, self, code, asked, connection, now):
    first = msgspec.structs.replace(asked, queue_id=0)
    return original(self, code, first, connection, now)


@mutant(Pulls.allowed, "A pull creates a missing topic.")
def pulls_create_topics(original, self, code, asked, connection, now):
    self.broker.topics.create(asked.topic, 4, READ | WRITE, now)
    return original(self, code, asked, connection, now)


@mutant(Pulls.allowed, "A pull ignores missing read permission.")
def every_topic_may_be_read(original, self, code, asked, connection, now):
    found = original(self, code, asked, connection, now)
    group = self.broker.groups.find(asked.group, now)
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.NO_PERMISSION
    return (group, None) if is_refused and group is not None else found


@mutant(Groups.may_create, "Unknown groups are created even if that is disabled.")
def groups_come_into_being_anyway(original, self, group):
    return True


@mutant(Groups.may_create, "Groups of the system are created only where all groups are.")
def groups_of_the_system_are_refused(original, self, group):
    return self.config.auto_create_subscription_group and original(self, group)


@mutant(Groups.may_create, "A group is one of the system if it has the prefix anywhere in its name.")
def groups_of_the_system_are_called_anything(original, self, group):
    return "CID_RMQ_SYS_" in group or original(self, group)


@mutant(Groups.may_create, "Groups of the system are always created.", V5)
def groups_of_the_system_always_come(original, self, group):
    return group.startswith("CID_RMQ_SYS_") or original(self, group)


# -- waiting -------------------------------------------------------------------------------------------------


@mutant(Pulls.held, "A pull that may wait returns at once.")
def pulls_do_not_wait(original, self, asked, wanted, command, connection, now):
    return Reply(ResponseCode.PULL_NOT_FOUND, ext={"nextBeginOffset": str(asked.offset)})


@mutant(LongPolling.wants, "A waiting pull ignores new messages until the next scan.")
def arrivals_release_nobody(original, self, pull, arrivals):
    return False


@mutant(LongPolling.wants, "A message ends the wait of a pull that wants another tag.")
def unwanted_tags_end_waits(original, self, pull, arrivals):
    return original(self, pull, arrivals) or (pull.wanted is not None and pull.wanted.tags is not None)


@mutant(LongPolling.wants, "A message ends the wait of a pull whose SQL it does not pass.")
def unwanted_properties_end_waits(original, self, pull, arrivals):
    return original(self, pull, arrivals) or (pull.wanted is not None and pull.wanted.properties is not None)


@mutant(LongPolling.is_over, "Only a message ends the wait of a pull.")
def pulls_wait_for_ever(original, self, pull, newest, now):
    return newest > pull.offset


@mutant(Pulls.wait, "Without long polling, pulls do not wait.")
def pulls_never_wait_shortly(original, self, asked):
    return original(self, asked) if self.config.long_polling_enable else 0


@pulls_never_wait_shortly.also(LongPolling.period)
def _(original, self):
    return original(self) if self.config.long_polling_enable else 1


@mutant(LongPolling.settle, "A message in any queue ends the wait of every pull.")
def arrivals_release_all_queues(original, self, now):
    if self.broker.store.arrived:
        self.release_all(now)
    original(self, now)


# -- committing ----------------------------------------------------------------------------------------------


@mutant(Pulls.may_commit, "A pull ignores its commit offset.")
def pulls_commit_nothing(original, self):
    return False


@mutant(Pulls.pull_again, "A pull commits its offset again when its wait ends.")
def waiting_pulls_commit_twice(original, self, command, connection, now):
    asked = self.asked(command)
    if asked.sys_flag & COMMITS and asked.committed is not None:
        self.broker.offsets.commit(asked.group, asked.topic, asked.queue_id, asked.committed, now)
    return original(self, command, connection, now)


# -- of lite consumers ---------------------------------------------------------------------------------------


@mutant(Pulls.pull, "A lite pull always starts at offset 0.", V5)
def lite_pulls_begin_at_the_beginning(original, self, command, connection, now):
    if command.code == RequestCode.LITE_PULL_MESSAGE:
        command = msgspec.structs.replace(command, ext={**command.ext, "queueOffset": "0"})
    return original(self, command, connection, now)


@mutant(Pulls.pull, "A lite pull is never held.", V5)
def lite_pulls_are_not_held(original, self, command, connection, now):
    if command.code == RequestCode.LITE_PULL_MESSAGE:
        flag = int(command.ext["sysFlag"]) & ~WAITS
        command = msgspec.structs.replace(command, ext={**command.ext, "sysFlag": str(flag)})
    return original(self, command, connection, now)


@mutant(Pulls.pull, "litePullMessageEnable=false has no effect.", V5)
def lite_pulls_cannot_be_forbidden(original, self, command, connection, now):
    return original(self, msgspec.structs.replace(command, code=RequestCode.PULL_MESSAGE), connection, now)


# -- who is woken --------------------------------------------------------------------------------------------


@mutant(LongPolling._release, "A message ends the wait of only one pull.")
def arrivals_release_one(original, self, queue, is_released, now):
    released = []

    def is_first(pull):
        if is_released(pull):
            released.append(pull)
        return released == [pull]

    original(self, queue, is_first, now)


@mutant(LongPolling._release, "Of the pulls of a connection a message ends the wait of only one.")
def arrivals_release_one_of_a_connection(original, self, queue, is_released, now):
    released = []

    def is_first(pull):
        if not is_released(pull) or pull.connection in released:
            return False
        released.append(pull.connection)
        return True

    original(self, queue, is_first, now)


@mutant(LongPolling.wants, "Of messages that arrive together only the last ends waits.")
def last_arrival_alone_ends_waits(original, self, pull, arrivals):
    return original(self, pull, arrivals[-1:])


@mutant(Pulls.wait, "A pull waits for 15 s, however long it asks for.")
def pulls_wait_fifteen_seconds(original, self, asked):
    return 15_000


@mutant(LongPolling.is_over, "A scan releases no pull because of messages that its filter does not want.")
def scans_release_nothing_new(original, self, pull, newest, now):
    return original(self, pull, min(newest, pull.offset), now)


@mutant(LongPolling.tick, "A scan looks at the pulls of one queue.")
def scans_look_at_one_queue(original, self, now):
    held = dict(self._held)
    self._held = dict(list(held.items())[:1])
    looked = set(self._held)
    original(self, now)
    self._held |= {queue: pulls for queue, pulls in held.items() if queue not in looked}
    self._scan_at = now + self.period()


# -- where the next pull goes --------------------------------------------------------------------------------


@mutant(
    Pulls.suggested, "Pulls are sent to the Broker of their group although slaves are not to be read from."
)
def groups_are_sent_elsewhere(original, self, group):
    return group.broker_id


@mutant(Pulls.suggested, "Pulls are never sent to the Broker of their group.")
def groups_are_kept_here(original, self, group):
    return 0


@mutant(LongPolling._release, "A one-way pull that was held is answered.", V5)
def oneway_pulls_are_answered(original, self, queue, is_released, now):
    for pull in self._held[queue]:
        pull.command = msgspec.structs.replace(pull.command, flag=pull.command.flag & ~FLAG_ONEWAY)
    original(self, queue, is_released, now)


@mutant(LongPolling.lost, "A connection that ends takes all pulls of its queues along.")
def lost_connections_end_every_wait(original, self, connection, now):
    for queue in self._of.get(connection, {}):
        self._held.pop(queue, None)
    self._of.pop(connection, None)


@mutant(LongPolling._release, "Pulls that have waited count as waiting for ever.")
def pulls_that_waited_count(original, self, queue, is_released, now):
    before = self.count
    original(self, queue, is_released, now)
    self.count = before


@mutant(LongPolling.hold, "A consumer whose pull waits stays in its groups when its connection ends.")
def consumers_that_waited_stay(original, self, pull, now):
    original(self, pull, now)
    self.broker.clients._groups_of.pop(pull.connection, None)


# -- who may not pull ----------------------------------------------------------------------------------------


@mutant(Pulls.allowed, "A Broker that may not be read answers pulls.")
def brokers_are_always_read(original, self, code, asked, connection, now):
    found = original(self, code, asked, connection, now)
    group = self.broker.groups.find(asked.group, now)
    by_broker = isinstance(found, Reply) and (found.remark or "").startswith("the broker[")
    return (group, None) if by_broker and group is not None else found


@after(Pulls.subscription, "consumeBroadcastEnable=false has no effect.")
def every_group_may_broadcast(found):
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.NO_PERMISSION
    return Subscription(sub_string="*") if is_refused else found


@mutant(Pulls.subscription, "consumeBroadcastEnable=false forbids all pulls.")
def no_group_may_broadcast(original, self, asked, group):
    if group.consume_broadcast_enable or asked.sys_flag & SUBSCRIBES:
        return original(self, asked, group)
    return self.forbidden(4, "")


@after(Pulls.forbidden, "forbiddenType is always 1.", V5)
def refusals_do_not_say_who_forbids(reply):
    reply.ext = {"forbiddenType": "1"}


# -- what is wrong about a pull ------------------------------------------------------------------------------


@after(Pulls.subscription, "A filter of an unknown kind matches everything.")
def unknown_filters_match_everything(found):
    is_unknown = isinstance(found, Subscription) and found.expression_type == "NONE"
    return Subscription(sub_string="*") if is_unknown else found


@mutant(Pulls.pull, "A pull that lacks a field is answered with PULL_NOT_FOUND.")
def fields_of_pulls_may_be_missing(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.PULL_NOT_FOUND, ext={})


@mutant(Pulls.check, "A pull of fewer than no messages gets none.", V4)
def fewer_than_none_are_pulled(original, self, asked):
    original(self, msgspec.structs.replace(asked, most=max(0, asked.most)))


@mutant(Pulls.check, "A pull with maxMsgNums 0 is refused.")
def pulls_of_none_are_refused(original, self, asked):
    original(self, asked)
    if not asked.most:
        raise RefusedError("maxMsgNums is 0")


@after(Pulls.asked, "A pull with maxMsgNums 0 returns as many messages as there are.")
def pulls_of_none_get_all(asked):
    asked.most = asked.most or 32


@mutant(Pulls.allowed, "An empty expressionType is not supported.")
def empty_type_is_no_tag(original, self, code, asked, connection, now):
    if asked.expression_type == "":
        return Reply(ResponseCode.SYSTEM_ERROR, remark="the type is not supported")
    return original(self, code, asked, connection, now)


@mutant(Store.get, "A pull with a tag returns up to 32 messages, however few it requests.")
def filtered_pulls_give_all_there_is(
    original, self, topic, queue_id, offset, most, wanted=None, most_bytes=1 << 18
):
    most = most if wanted is None else 32
    return original(self, topic, queue_id, offset, most, wanted, most_bytes)


@mutant(Store.get, "A pull returns any number of bytes.")
def pulls_give_any_number_of_bytes(
    original, self, topic, queue_id, offset, most, wanted=None, most_bytes=1 << 18
):
    return original(self, topic, queue_id, offset, most, wanted, 1 << 30)


@after(Pulls.of_line, "The answer to a pull does not have the system flag of the topic.", V5)
def system_flags_of_topics_are_not_told(reply):
    reply.ext["topicSysFlag"] = "0"


@after(Pulls.pull, "The answer to a lite pull says that the queue ends after its first message.", V5)
def lite_pulls_do_not_know_the_end(reply, command):
    if command.code == RequestCode.LITE_PULL_MESSAGE and reply is not None and reply.ext:
        reply.ext["maxOffset"] = "1"


@after(Pulls.pull, "A lite pull returns messages without the time when they were stored.", V5)
def lite_pulls_change_messages(reply, command, self):
    if command.code == RequestCode.LITE_PULL_MESSAGE and reply is not None and reply.body:
        messages = decode_messages(reply.body)
        encoded = self.broker.store.encoded
        reply.body = b"".join(encoded(replace(one, store_timestamp=0)) for one in messages)


@mutant(LongPolling.settle, "Of messages that are stored together, the first one alone ends waits.")
def first_of_a_batch_releases(original, self, now):
    del self.broker.store.arrived[1:]
    original(self, now)


@mutant(Pulls.records_moves, "Corrections of offsets are not kept.", V4)
def corrections_are_not_kept(original, self):
    return False


@mutant(Pulls.record_move, "The message about a correction has no key.", V4)
def kept_corrections_have_no_key(original, self, asked, offset, now):
    group, asked.group = asked.group, ""
    original(self, asked, offset, now)
    asked.group = group


@after(Pulls.see, "Refusals do not say where to read about them.")
def refusals_tell_of_no_page(text):
    return "None"


@mutant(LongPolling.settle, "Of messages that arrive together, those of the first queue alone end waits.")
def first_of_several_queues_releases(original, self, now):
    arrived = self.broker.store.arrived
    self.broker.store.arrived = [one for one in arrived if one[:2] == arrived[0][:2]]
    original(self, now)


# -- the VIP port --------------------------------------------------------------------------------------------

_LATER = {
    RequestCode.POP_MESSAGE,
    RequestCode.PEEK_MESSAGE,
    RequestCode.NOTIFICATION,
    RequestCode.POLLING_INFO,
    RequestCode.POP_LITE_MESSAGE,
}


@mutant(Endpoint.is_for_main_port, "The VIP port serves pulls.")
def fast_port_serves_pulls(original, self, command):
    return command.code != RequestCode.PULL_MESSAGE and original(self, command)


@mutant(Endpoint.is_for_main_port, "The VIP port serves lite pulls.", V5)
def fast_port_serves_lite_pulls(original, self, command):
    return command.code != RequestCode.LITE_PULL_MESSAGE and original(self, command)


@mutant(Endpoint.is_for_main_port, "The VIP port serves all that reads messages but for pulls.", V5)
def fast_port_serves_what_came_later(original, self, command):
    return command.code not in _LATER and original(self, command)


@mutant(Endpoint.is_for_main_port, "The VIP port takes no messages.")
def fast_port_takes_no_messages(original, self, command):
    return command.code == RequestCode.SEND_MESSAGE_V2 or original(self, command)


@mutant(Endpoint.left, "A client whose connection to the VIP port ends stays in its groups.")
def clients_of_the_fast_port_stay(original, self, connection, peer):
    if connection not in self._fast:
        original(self, connection, peer)
