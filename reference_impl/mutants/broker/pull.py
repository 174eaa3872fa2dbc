"""Mutants of the chapter pull."""

from collections.abc import Callable

import msgspec

from harness.wire import Command
from harness.wire.bodies import Subscription, SubscriptionGroup
from harness.wire.broker_codes import BrokerResponse
from reference_impl.broker.groups import Groups
from reference_impl.broker.holding import Held, Holding
from reference_impl.broker.parts import Parts
from reference_impl.broker.pulls import COMMITS, SUBSCRIBES, Matches, Pull, Pulls
from reference_impl.broker.store import GetStatus, Got
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.broker import mutant
from reference_impl.remoting.reply import Reply

# -- what is asked -------------------------------------------------------------------------------------------


def _asking(parts: Parts, change: Callable[[Pull], object]) -> Parts:
    def asked(self: Pulls, command: Command) -> Pull:
        found = parts.pulls.asked(self, command)
        change(found)
        return found

    return parts.override("pulls", asked)


@mutant("pulls-begin-at-the-beginning", "A pull gives messages from offset 0 on.")
def pulls_begin_at_the_beginning(parts: Parts) -> Parts:
    return _asking(parts, lambda asked: setattr(asked, "offset", 0))


@mutant("pulls-give-all-there-is", "A pull gives 32 messages, however few it asks for.")
def pulls_give_all_there_is(parts: Parts) -> Parts:
    return _asking(parts, lambda asked: setattr(asked, "most", 32))


@mutant("pulls-always-commit", "A pull commits its offset without the flag, too.")
def pulls_always_commit(parts: Parts) -> Parts:
    return _asking(parts, lambda asked: setattr(asked, "sys_flag", asked.sys_flag | COMMITS))


# -- what is found -------------------------------------------------------------------------------------------


def _coding(parts: Parts, status: GetStatus, code: int) -> Parts:
    asked_for = status

    def code_of(self: Pulls, status: GetStatus, offset: int) -> int:
        return code if status is asked_for else parts.pulls.code(self, status, offset)

    code_of.__name__ = "code"
    return parts.override("pulls", code_of)


@mutant("pull-at-the-end-is-moved", "A pull at the end of its queue is told that its offset has moved.")
def pull_at_the_end_is_moved(parts: Parts) -> Parts:
    return _coding(parts, GetStatus.OFFSET_OVERFLOW_ONE, BrokerResponse.PULL_OFFSET_MOVED)


@mutant("empty-queues-move-nobody", "In a queue without messages any offset is one to wait at.")
def empty_queues_move_nobody(parts: Parts) -> Parts:
    return _coding(parts, GetStatus.NO_MESSAGE_IN_QUEUE, BrokerResponse.PULL_NOT_FOUND)


@mutant("nothing-wanted-is-not-found", "Where no message has the tag, a pull is answered as at the end.")
def nothing_wanted_is_not_found(parts: Parts) -> Parts:
    return _coding(parts, GetStatus.NO_MATCHED_MESSAGE, BrokerResponse.PULL_NOT_FOUND)


@mutant("moved-pulls-stay-where-they-are", "A pull that is told to go elsewhere is not told where.")
def moved_pulls_stay_where_they_are(parts: Parts) -> Parts:
    def next_offset(self: Pulls, asked: Pull, got: Got) -> int:
        found = got.status in (GetStatus.FOUND, GetStatus.NO_MATCHED_MESSAGE)
        return got.next_offset if found else asked.offset

    return parts.override("pulls", next_offset)


@mutant("pulls-tell-bounds-of-nothing", "A pull is told that its queue goes from 0 to 0.")
def pulls_tell_bounds_of_nothing(parts: Parts) -> Parts:
    def answered(self: Pulls, asked: Pull, got: Got, group: SubscriptionGroup) -> Reply:
        return parts.pulls.answered(
            self, asked, msgspec.structs.replace(got, min_offset=0, max_offset=0), group
        )

    return parts.override("pulls", answered)


# -- what is wanted ------------------------------------------------------------------------------------------


@mutant("only-the-first-tag-counts", "Of several tags that a pull subscribes to, the first counts.")
def only_the_first_tag_counts(parts: Parts) -> Parts:
    def filter(self: Pulls, subscription: Subscription) -> Matches | None:  # noqa: A001
        first = msgspec.structs.replace(subscription, code_set=subscription.code_set[:1])
        return parts.pulls.filter(self, first)

    return parts.override("pulls", filter)


@mutant("tags-do-not-count", "A pull gives messages with any tag.")
def tags_do_not_count(parts: Parts) -> Parts:
    def filter(self: Pulls, subscription: Subscription) -> Matches | None:  # noqa: A001
        return None

    return parts.override("pulls", filter)


@mutant("bars-are-a-subscription", "A subscription that cannot be read is one to everything.")
def bars_are_a_subscription(parts: Parts) -> Parts:
    def own_subscription(self: Pulls, text: str | None, kind: str | None) -> Subscription | None:
        return parts.pulls.own_subscription(self, text, kind) or Subscription(sub_string="*")

    return parts.override("pulls", own_subscription)


def _subscribing(
    parts: Parts, change: Callable[[Pulls, Pull, Subscription | Reply], Subscription | Reply]
) -> Parts:
    def subscription(self: Pulls, asked: Pull, group: SubscriptionGroup) -> Subscription | Reply:
        return change(self, asked, parts.pulls.subscription(self, asked, group))

    return parts.override("pulls", subscription)


@mutant("pulls-need-no-heartbeat", "A pull of a group that wants nothing of the topic gets everything.")
def pulls_need_no_heartbeat(parts: Parts) -> Parts:
    def anything(self: Pulls, asked: Pull, found: Subscription | Reply) -> Subscription | Reply:
        is_refused = isinstance(found, Reply) and found.code == BrokerResponse.SUBSCRIPTION_NOT_EXIST
        return Subscription(sub_string="*") if is_refused else found

    return _subscribing(parts, anything)


@mutant("old-subscriptions-will-do", "A pull does not need the newest subscription of its group.")
def old_subscriptions_will_do(parts: Parts) -> Parts:
    def old(self: Pulls, asked: Pull, found: Subscription | Reply) -> Subscription | Reply:
        known = self.broker.clients.subscription(asked.group, asked.topic)
        return known if isinstance(found, Reply) and known is not None else found

    return _subscribing(parts, old)


@mutant("tags-of-heartbeats-do-not-count", "A group gets messages with any tag, whatever its heartbeats say.")
def tags_of_heartbeats_do_not_count(parts: Parts) -> Parts:
    def all_tags(self: Pulls, asked: Pull, found: Subscription | Reply) -> Subscription | Reply:
        if isinstance(found, Reply) or asked.sys_flag & SUBSCRIBES:
            return found
        return msgspec.structs.replace(found, sub_string="*")

    return _subscribing(parts, all_tags)


@mutant("sql-is-taken-for-everything", "A filter in SQL lets everything pass.")
def sql_is_taken_for_everything(parts: Parts) -> Parts:
    def everything(self: Pulls, asked: Pull, found: Subscription | Reply) -> Subscription | Reply:
        is_sql = isinstance(found, Subscription) and found.expression_type == "SQL92"
        return Subscription(sub_string="*") if is_sql else found

    return _subscribing(parts, everything)


# -- whether it may be ---------------------------------------------------------------------------------------

Allowed = tuple[SubscriptionGroup, Matches | None] | Reply


@mutant("pulls-of-any-queue", "A pull from a queue that the topic does not have finds nothing.")
def pulls_of_any_queue(parts: Parts) -> Parts:
    def allowed(self: Pulls, code: int, asked: Pull, connection: int, now: int) -> Allowed:
        first = msgspec.structs.replace(asked, queue_id=0)
        return parts.pulls.allowed(self, code, first, connection, now)

    return parts.override("pulls", allowed)


@mutant("pulls-create-topics", "A topic comes into being by a pull.")
def pulls_create_topics(parts: Parts) -> Parts:
    def allowed(self: Pulls, code: int, asked: Pull, connection: int, now: int) -> Allowed:
        self.broker.topics.create(asked.topic, 4, READ | WRITE, now)
        return parts.pulls.allowed(self, code, asked, connection, now)

    return parts.override("pulls", allowed)


@mutant("every-topic-may-be-read", "Messages are given of a topic that may not be read.")
def every_topic_may_be_read(parts: Parts) -> Parts:
    def allowed(self: Pulls, code: int, asked: Pull, connection: int, now: int) -> Allowed:
        found = parts.pulls.allowed(self, code, asked, connection, now)
        group = self.broker.groups.find(asked.group, now)
        is_refused = isinstance(found, Reply) and found.code == BrokerResponse.NO_PERMISSION
        return (group, None) if is_refused and group is not None else found

    return parts.override("pulls", allowed)


@mutant("groups-come-into-being-anyway", "A group comes into being whether that is wanted or not.")
def groups_come_into_being_anyway(parts: Parts) -> Parts:
    def may_create(self: Groups, group: str) -> bool:
        return True

    return parts.override("groups", may_create)


# -- waiting -------------------------------------------------------------------------------------------------


@mutant("pulls-do-not-wait", "A pull that may wait is answered at once.")
def pulls_do_not_wait(parts: Parts) -> Parts:
    def held(
        self: Pulls, asked: Pull, matches: Matches | None, command: Command, connection: int, now: int
    ) -> Reply | None:
        return Reply(BrokerResponse.PULL_NOT_FOUND, ext={"nextBeginOffset": str(asked.offset)})

    return parts.override("pulls", held)


@mutant("arrivals-release-nobody", "A pull waits for the next scan, whatever arrives.")
def arrivals_release_nobody(parts: Parts) -> Parts:
    def wants(self: Holding, pull: Held, newest: dict[int, int]) -> bool:
        return False

    return parts.override("holding", wants)


@mutant("pulls-wait-for-ever", "Only a message ends the wait of a pull.")
def pulls_wait_for_ever(parts: Parts) -> Parts:
    def is_over(self: Holding, pull: Held, newest: int, now: int) -> bool:
        return newest > pull.offset

    return parts.override("holding", is_over)


@mutant("arrivals-release-all-queues", "A message in any queue ends the wait of every pull.")
def arrivals_release_all_queues(parts: Parts) -> Parts:
    def settle(self: Holding, now: int) -> None:
        if self.broker.store.arrived:
            self.release_all(now)
        parts.holding.settle(self, now)

    return parts.override("holding", settle)


# -- committing ----------------------------------------------------------------------------------------------


@mutant("pulls-commit-nothing", "The offset in a pull does not count.")
def pulls_commit_nothing(parts: Parts) -> Parts:
    def may_commit(self: Pulls) -> bool:
        return False

    return parts.override("pulls", may_commit)


@mutant("waiting-pulls-commit-twice", "A pull commits its offset again when its wait ends.")
def waiting_pulls_commit_twice(parts: Parts) -> Parts:
    def pull_again(self: Pulls, command: Command, connection: int, now: int) -> Reply:
        asked = self.asked(command)
        if asked.sys_flag & COMMITS and asked.committed is not None:
            self.broker.offsets.commit(asked.group, asked.topic, asked.queue_id, asked.committed, now)
        return parts.pulls.pull_again(self, command, connection, now)

    return parts.override("pulls", pull_again)
