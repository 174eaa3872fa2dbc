"""Mutants of the chapter pull."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.bodies import Subscription, SubscriptionGroup
from reference_impl.broker.groups import Groups
from reference_impl.broker.long_polling import LongPolling
from reference_impl.broker.pulls import COMMITS, SUBSCRIBES, Matches, Pulls
from reference_impl.broker.store import GetStatus
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.registry import after, mutant
from reference_impl.remoting.reply import Reply

# -- what is asked -------------------------------------------------------------------------------------------


@after(Pulls.asked, "A pull gives messages from offset 0 on.")
def pulls_begin_at_the_beginning(asked):
    asked.offset = 0


@after(Pulls.asked, "A pull gives 32 messages, however few it asks for.")
def pulls_give_all_there_is(asked):
    asked.most = 32


@after(Pulls.asked, "A pull commits its offset without the flag, too.")
def pulls_always_commit(asked):
    asked.sys_flag = asked.sys_flag | COMMITS


# -- what is found -------------------------------------------------------------------------------------------


@mutant(Pulls.code, "A pull at the end of its queue is answered with PULL_OFFSET_MOVED.")
def pull_at_the_end_is_moved(original, self, status, offset):
    return (
        ResponseCode.PULL_OFFSET_MOVED
        if status is GetStatus.OFFSET_OVERFLOW_ONE
        else original(self, status, offset)
    )


@mutant(Pulls.code, "In a queue without messages any offset is one to wait at.")
def empty_queues_move_nobody(original, self, status, offset):
    return (
        ResponseCode.PULL_NOT_FOUND
        if status is GetStatus.NO_MESSAGE_IN_QUEUE
        else original(self, status, offset)
    )


@mutant(Pulls.code, "Where no message has the tag, a pull is answered as at the end.")
def nothing_wanted_is_not_found(original, self, status, offset):
    return (
        ResponseCode.PULL_NOT_FOUND
        if status is GetStatus.NO_MATCHED_MESSAGE
        else original(self, status, offset)
    )


@mutant(Pulls.next_offset, "A pull whose offset has moved does not learn the new one.")
def moved_pulls_stay_where_they_are(original, self, asked, got):
    found = got.status in (GetStatus.FOUND, GetStatus.NO_MATCHED_MESSAGE)
    return got.next_offset if found else asked.offset


@mutant(Pulls.answered, "The answer to a pull says that its queue goes from 0 to 0.")
def pulls_tell_bounds_of_nothing(original, self, asked, got, group):
    return original(self, asked, msgspec.structs.replace(got, min_offset=0, max_offset=0), group)


# -- what is wanted ------------------------------------------------------------------------------------------


@mutant(Pulls.filter, "Of several tags that a pull subscribes to, the first counts.")
def only_the_first_tag_counts(original, self, subscription):
    first = msgspec.structs.replace(subscription, code_set=subscription.code_set[:1])
    return original(self, first)


@mutant(Pulls.filter, "A pull gives messages with any tag.")
def tags_do_not_count(original, self, subscription):
    return None


@mutant(Pulls.own_subscription, "A subscription that cannot be read is one to everything.")
def bars_are_a_subscription(original, self, text, kind):
    return original(self, text, kind) or Subscription(sub_string="*")


@after(Pulls.subscription, "A pull of a group that wants nothing of the topic gets everything.")
def pulls_need_no_heartbeat(found):
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.SUBSCRIPTION_NOT_EXIST
    return Subscription(sub_string="*") if is_refused else found


@mutant(Pulls.subscription, "A pull does not need the newest subscription of its group.")
def old_subscriptions_will_do(original, self, asked, group):
    found = original(self, asked, group)
    known = self.broker.clients.subscription(asked.group, asked.topic)
    return known if isinstance(found, Reply) and known is not None else found


@after(Pulls.subscription, "A group gets messages with any tag, whatever its heartbeats say.")
def tags_of_heartbeats_do_not_count(found, asked):
    if isinstance(found, Reply) or asked.sys_flag & SUBSCRIBES:
        return found
    return msgspec.structs.replace(found, sub_string="*")


@after(Pulls.subscription, "A filter in SQL lets everything pass.")
def sql_is_taken_for_everything(found):
    is_sql = isinstance(found, Subscription) and found.expression_type == "SQL92"
    return Subscription(sub_string="*") if is_sql else found


# -- whether it may be ---------------------------------------------------------------------------------------

Allowed = tuple[SubscriptionGroup, Matches | None] | Reply


@mutant(Pulls.allowed, "A pull from a queue that the topic does not have finds nothing.")
def pulls_of_any_queue(original, self, code, asked, connection, now):
    first = msgspec.structs.replace(asked, queue_id=0)
    return original(self, code, first, connection, now)


@mutant(Pulls.allowed, "A topic comes into being by a pull.")
def pulls_create_topics(original, self, code, asked, connection, now):
    self.broker.topics.create(asked.topic, 4, READ | WRITE, now)
    return original(self, code, asked, connection, now)


@mutant(Pulls.allowed, "Messages are given of a topic that may not be read.")
def every_topic_may_be_read(original, self, code, asked, connection, now):
    found = original(self, code, asked, connection, now)
    group = self.broker.groups.find(asked.group, now)
    is_refused = isinstance(found, Reply) and found.code == ResponseCode.NO_PERMISSION
    return (group, None) if is_refused and group is not None else found


@mutant(Groups.may_create, "A group comes into being whether that is wanted or not.")
def groups_come_into_being_anyway(original, self, group):
    return True


# -- waiting -------------------------------------------------------------------------------------------------


@mutant(Pulls.held, "A pull that may wait is answered at once.")
def pulls_do_not_wait(original, self, asked, matches, command, connection, now):
    return Reply(ResponseCode.PULL_NOT_FOUND, ext={"nextBeginOffset": str(asked.offset)})


@mutant(LongPolling.wants, "A pull waits for the next scan, whatever arrives.")
def arrivals_release_nobody(original, self, pull, newest):
    return False


@mutant(LongPolling.is_over, "Only a message ends the wait of a pull.")
def pulls_wait_for_ever(original, self, pull, newest, now):
    return newest > pull.offset


@mutant(LongPolling.settle, "A message in any queue ends the wait of every pull.")
def arrivals_release_all_queues(original, self, now):
    if self.broker.store.arrived:
        self.release_all(now)
    original(self, now)


# -- committing ----------------------------------------------------------------------------------------------


@mutant(Pulls.may_commit, "The offset in a pull does not count.")
def pulls_commit_nothing(original, self):
    return False


@mutant(Pulls.pull_again, "A pull commits its offset again when its wait ends.")
def waiting_pulls_commit_twice(original, self, command, connection, now):
    asked = self.asked(command)
    if asked.sys_flag & COMMITS and asked.committed is not None:
        self.broker.offsets.commit(asked.group, asked.topic, asked.queue_id, asked.committed, now)
    return original(self, command, connection, now)
