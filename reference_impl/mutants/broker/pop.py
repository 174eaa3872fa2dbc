"""Mutants of the chapter pop."""

from collections.abc import Iterable

from harness.wire import Command
from harness.wire.bodies import AssignmentQuestion, BatchAck, MessageQueue, RequestMode
from harness.wire.broker_codes import BrokerResponse
from harness.wire.messages import Message, PropertyName, TopicName, decode_message
from reference_impl.broker.assignments import Assignments
from reference_impl.broker.part import NEVER
from reference_impl.broker.parts import Parts
from reference_impl.broker.pop import Found, Pop, Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_checkpoints import CheckPoint, CheckPoints, PopOf
from reference_impl.broker.pop_notifications import PopNotifications, Question
from reference_impl.broker.pop_order import PopOrder, Popped
from reference_impl.broker.pop_terms import Handle
from reference_impl.broker.pop_waiting import LATE, PopWaiting, Waiter
from reference_impl.broker.topics import READ, WRITE
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply


def _granted(reply: Reply) -> Reply:
    return Reply(BrokerResponse.SUCCESS, ext=reply.ext)


@mutant("pops-are-of-all-groups", "What one group has popped is popped for all.", V5)
def pops_are_of_all_groups(parts: Parts) -> Parts:
    def asked(self: Pops, command: Command, now: int) -> Pop:
        found = parts.pops.asked(self, command, now)
        found.group = "all"
        return found

    return parts.override("pops", asked)


@mutant("pops-give-all-there-is", "A pop gives as many messages as there are.", V5)
def pops_give_all_there_is(parts: Parts) -> Parts:
    def asked(self: Pops, command: Command, now: int) -> Pop:
        found = parts.pops.asked(self, command, now)
        found.most = max(32, found.most)
        return found

    return parts.override("pops", asked)


@mutant("pops-are-of-the-first-queue", "A pop from any queue is one from the first.", V5)
def pops_are_of_the_first_queue(parts: Parts) -> Parts:
    def asked(self: Pops, command: Command, now: int) -> Pop:
        found = parts.pops.asked(self, command, now)
        found.queue_id = max(0, found.queue_id)
        return found

    return parts.override("pops", asked)


@mutant("pops-have-no-filter", "The tags of a pop do not count.", V5)
def pops_have_no_filter(parts: Parts) -> Parts:
    def asked(self: Pops, command: Command, now: int) -> Pop:
        found = parts.pops.asked(self, command, now)
        found.expression = None
        return found

    return parts.override("pops", asked)


@mutant("popped-is-not-hidden", "What was popped is given to the next one that pops.", V5)
def popped_is_not_hidden(parts: Parts) -> Parts:
    def take(self: Pops, found: Found, topic: str, queue_id: int, now: int) -> None:
        before = self.start(found.pop, topic, queue_id, now)
        parts.pops.take(self, found, topic, queue_id, now)
        self.broker.offsets.commit(found.pop.group, topic, queue_id, before, now)

    return parts.override("pops", take)


@mutant("pops-give-nothing", "No pop gives any message.", V5)
def pops_give_nothing(parts: Parts) -> Parts:
    def keep(self: Pops, of: PopOf, offsets: list[int], found: Found, now: int) -> bool:
        return False

    return parts.override("pops", keep)


@mutant("pops-list-nothing", "The answer to a pop does not say where its messages are.", V5)
def pops_list_nothing(parts: Parts) -> Parts:
    def answered(self: Pops, found: Found, code: int) -> Reply:
        reply = parts.pops.answered(self, found, code)
        reply.ext = {**(reply.ext or {}), "startOffsetInfo": "", "msgOffsetInfo": ""}
        return reply

    return parts.override("pops", answered)


@mutant("pops-say-that-nothing-is-left", "The answer to a pop always says that no message is left.", V5)
def pops_say_that_nothing_is_left(parts: Parts) -> Parts:
    def answered(self: Pops, found: Found, code: int) -> Reply:
        reply = parts.pops.answered(self, found, code)
        reply.ext = {**(reply.ext or {}), "restNum": "0"}
        return reply

    return parts.override("pops", answered)


@mutant("pops-always-begin-at-the-beginning", "Every new group begins with the first message.", V5)
def pops_always_begin_at_the_beginning(parts: Parts) -> Parts:
    def first(self: Pops, pop: Pop, topic: str, queue_id: int) -> int:
        return self.broker.store.min_offset(topic, queue_id)

    return parts.override("pops", first)


@mutant(
    "pops-begin-at-the-end",
    "A new group that says so begins with the last message, however near the first one is.",
    V5,
)
def pops_begin_at_the_end(parts: Parts) -> Parts:
    def first(self: Pops, pop: Pop, topic: str, queue_id: int) -> int:
        known = parts.pops.first(self, pop, topic, queue_id)
        return max(known, self.broker.store.max_offset(topic, queue_id) - 1) if pop.init_mode else known

    return parts.override("pops", first)


@mutant("pops-of-any-number", "A pop may ask for any number of messages.", V5)
def pops_of_any_number(parts: Parts) -> Parts:
    def is_too_much(self: Pops, most: int) -> bool:
        return False

    return parts.override("pops", is_too_much)


@mutant("late-pops-are-carried-out", "A pop is carried out although nobody waits for its answer.", V5)
def late_pops_are_carried_out(parts: Parts) -> Parts:
    def is_too_late(self: Pops, asked: Pop, now: int) -> bool:
        return False

    return parts.override("pops", is_too_late)


@mutant("pops-of-any-topic", "A topic comes into being by a pop.", V5)
def pops_of_any_topic(parts: Parts) -> Parts:
    def place_refused(
        self: Pops, group: str, topic: str, queue_id: int, connection: int, now: int
    ) -> Reply | None:
        self.broker.topics.create(topic, 4, READ | WRITE, now)
        return parts.pops.place_refused(self, group, topic, queue_id, connection, now)

    return parts.override("pops", place_refused)


@mutant("pops-of-any-queue", "A queue that the topic does not have is popped from.", V5)
def pops_of_any_queue(parts: Parts) -> Parts:
    def place_refused(
        self: Pops, group: str, topic: str, queue_id: int, connection: int, now: int
    ) -> Reply | None:
        return parts.pops.place_refused(self, group, topic, -1, connection, now)

    return parts.override("pops", place_refused)


@mutant("pops-of-every-topic", "A topic that may not be read is popped from.", V5)
def pops_of_every_topic(parts: Parts) -> Parts:
    def place_refused(
        self: Pops, group: str, topic: str, queue_id: int, connection: int, now: int
    ) -> Reply | None:
        refused = parts.pops.place_refused(self, group, topic, queue_id, connection, now)
        is_allowed = refused is None or refused.code == BrokerResponse.NO_PERMISSION
        return None if is_allowed else refused

    return parts.override("pops", place_refused)


@mutant("comes-again-elsewhere", "A message that comes again has the topic in which it does.", V5)
def comes_again_elsewhere(parts: Parts) -> Parts:
    def as_given(self: Pops, frame: bytes, found: Found, topic: str, start: int) -> bytes:
        return frame

    return parts.override("pops", as_given)


@mutant("comes-again-without-handle", "A message that comes again has no handle.", V5)
def comes_again_without_handle(parts: Parts) -> Parts:
    def as_given(self: Pops, frame: bytes, found: Found, topic: str, start: int) -> bytes:
        message = decode_message(parts.pops.as_given(self, frame, found, topic, start))
        message.properties.pop(PropertyName.POP_CK, None)
        return self.broker.store.encoded(message)

    return parts.override("pops", as_given)


@mutant("popped-is-lost", "A message that was popped and not acknowledged does not come again.", V5)
def popped_is_lost(parts: Parts) -> Parts:
    def over(self: CheckPoints, point: CheckPoint, now: int) -> None:
        self.acknowledge(point.pop, sorted(point.left), now)

    return parts.override("checkpoints", over)


@mutant("hidden-for-half", "A message that was popped is hidden for half of its time.", V5)
def hidden_for_half(parts: Parts) -> Parts:
    def add(
        self: CheckPoints, pop: PopOf, offsets: list[int], invisible: int, revive_queue: int, now: int
    ) -> bool:
        return parts.checkpoints.add(self, pop, offsets, invisible // 2, revive_queue, now)

    return parts.override("checkpoints", add)


@mutant("comes-again-uncounted", "A message that comes again does not say so.", V5)
def comes_again_uncounted(parts: Parts) -> Parts:
    def again(self: CheckPoints, message: Message, topic: str, popped: int) -> Message:
        found = parts.checkpoints.again(self, message, topic, popped)
        found.reconsume_times = message.reconsume_times
        return found

    return parts.override("checkpoints", again)


@mutant("one-ack-is-for-all", "One acknowledgement is of all that the pop gave.", V5)
def one_ack_is_for_all(parts: Parts) -> Parts:
    def acknowledge(self: CheckPoints, pop: PopOf, offsets: list[int], now: int) -> None:
        everything = range(pop.start, pop.start + 64) if offsets else ()
        parts.checkpoints.acknowledge(self, pop, list(everything), now)

    return parts.override("checkpoints", acknowledge)


@mutant("checkpoints-are-forgotten", "What was popped is forgotten by a restart.", V5)
def checkpoints_are_forgotten(parts: Parts) -> Parts:
    def read_again(self: CheckPoints) -> None:
        return None

    return parts.override("checkpoints", read_again)


@mutant("acks-do-not-count", "Acknowledgements have no effect.", V5)
def acks_do_not_count(parts: Parts) -> Parts:
    def done(
        self: PopAcks, of: PopOf, offsets: list[int], revive_queue: int, connection: int, now: int
    ) -> Reply:
        return Reply(BrokerResponse.SUCCESS)

    return parts.override("pop_acks", done)


@mutant("acks-of-what-came-again-do-not-count", "A message that came again cannot be acknowledged.", V5)
def acks_of_what_came_again_do_not_count(parts: Parts) -> Parts:
    def done(
        self: PopAcks, of: PopOf, offsets: list[int], revive_queue: int, connection: int, now: int
    ) -> Reply:
        if of.topic.startswith(TopicName.RETRY_PREFIX):
            return Reply(BrokerResponse.SUCCESS)
        return parts.pop_acks.done(self, of, offsets, revive_queue, connection, now)

    return parts.override("pop_acks", done)


@mutant("acks-of-several-do-not-count", "An acknowledgement of several messages at once has no effect.", V5)
def acks_of_several_do_not_count(parts: Parts) -> Parts:
    def meant(self: PopAcks, ack: BatchAck) -> tuple[PopOf, list[int], int]:
        of, _, revive_queue = parts.pop_acks.meant(self, ack)
        return of, [], revive_queue

    return parts.override("pop_acks", meant)


@mutant("acks-of-nothing-succeed", "A request that acknowledges no message is a success.", V5)
def acks_of_nothing_succeed(parts: Parts) -> Parts:
    def acknowledge_all(self: PopAcks, command: Command, connection: int, now: int) -> Reply:
        return _granted(parts.pop_acks.acknowledge_all(self, command, connection, now))

    return parts.override("pop_acks", acknowledge_all)


@mutant("acks-of-any-offset", "What a queue never had can be acknowledged.", V5)
def acks_of_any_offset(parts: Parts) -> Parts:
    def acknowledge(self: PopAcks, command: Command, connection: int, now: int) -> Reply:
        return _granted(parts.pop_acks.acknowledge(self, command, connection, now))

    return parts.override("pop_acks", acknowledge)


@mutant("anything-can-be-hidden", "What a queue does not have can be hidden.", V5)
def anything_can_be_hidden(parts: Parts) -> Parts:
    def hide(self: PopAcks, command: Command, connection: int, now: int) -> Reply:
        return _granted(parts.pop_acks.hide(self, command, connection, now))

    return parts.override("pop_acks", hide)


@mutant("hidden-for-no-longer", "A message is never hidden for longer than at first.", V5)
def hidden_for_no_longer(parts: Parts) -> Parts:
    def hidden_anew(
        self: PopAcks, again: PopOf, offset: int, invisible: int, handle: Handle, now: int
    ) -> bool:
        least = min(invisible, handle.invisible)
        return parts.pop_acks.hidden_anew(self, again, offset, least, handle, now)

    return parts.override("pop_acks", hidden_anew)


@mutant(
    "old-handles-are-worth-something",
    "A message that was hidden anew can be acknowledged by its first handle.",
    V5,
)
def old_handles_are_worth_something(parts: Parts) -> Parts:
    def done(
        self: PopAcks, of: PopOf, offsets: list[int], revive_queue: int, connection: int, now: int
    ) -> Reply:
        for pop in list(self.broker.checkpoints.points):
            if (pop.topic, pop.group, pop.queue_id) == (of.topic, of.group, of.queue_id):
                self.broker.checkpoints.acknowledge(pop, offsets, now)
        return Reply(BrokerResponse.SUCCESS)

    return parts.override("pop_acks", done)


@mutant("pops-do-not-wait", "A pop that finds nothing is answered at once.", V5)
def pops_do_not_wait(parts: Parts) -> Parts:
    def hold(self: PopWaiting, waiter: Waiter, now: int) -> str:
        return LATE if waiter.pops else parts.pop_waiting.hold(self, waiter, now)

    return parts.override("pop_waiting", hold)


@mutant("notifications-do-not-wait", "A notification is answered at once.", V5)
def notifications_do_not_wait(parts: Parts) -> Parts:
    def hold(self: PopWaiting, waiter: Waiter, now: int) -> str:
        return parts.pop_waiting.hold(self, waiter, now) if waiter.pops else LATE

    return parts.override("pop_waiting", hold)


@mutant("arrivals-release-no-pops", "No message ends the wait of a pop.", V5)
def arrivals_release_no_pops(parts: Parts) -> Parts:
    def wants(self: PopWaiting, waiter: Waiter, tags: Iterable[int]) -> bool:
        return not waiter.pops and parts.pop_waiting.wants(self, waiter, tags)

    return parts.override("pop_waiting", wants)


@mutant("pops-wait-for-ever", "The wait of a pop never ends.", V5)
def pops_wait_for_ever(parts: Parts) -> Parts:
    def next_tick(self: PopWaiting) -> int:
        return NEVER

    return parts.override("pop_waiting", next_tick)


@mutant("all-pops-may-wait", "There is no limit to how many pops wait.", V5)
def all_pops_may_wait(parts: Parts) -> Parts:
    def is_full(self: PopWaiting, waiting: int) -> bool:
        return False

    return parts.override("pop_waiting", is_full)


@mutant("notifications-say-no", "A notification always says that there is nothing to pop.", V5)
def notifications_say_no(parts: Parts) -> Parts:
    def has_any(self: PopNotifications, asked: Question, now: int) -> bool:
        return False

    return parts.override("pop_notifications", has_any)


@mutant("notifications-say-yes", "A notification always says that there is something to pop.", V5)
def notifications_say_yes(parts: Parts) -> Parts:
    def has_any(self: PopNotifications, asked: Question, now: int) -> bool:
        return True

    return parts.override("pop_notifications", has_any)


@mutant(
    "ordered-pops-do-not-block",
    "Messages are popped although those before them are not acknowledged.",
    V5,
)
def ordered_pops_do_not_block(parts: Parts) -> Parts:
    def blocks(self: PopOrder, queue: Popped, attempt: str | None, now: int) -> bool:
        return False

    return parts.override("pop_order", blocks)


@mutant("ordered-acks-free-nothing", "Acknowledgements of what was popped in order have no effect.", V5)
def ordered_acks_free_nothing(parts: Parts) -> Parts:
    def acknowledge(self: PopOrder, queue: Popped, offset: int, pop_time: int) -> int | None:
        return None

    return parts.override("pop_order", acknowledge)


@mutant(
    "ordered-pops-go-on",
    "In order, everything before an acknowledgement and behind it counts as consumed.",
    V5,
)
def ordered_pops_go_on(parts: Parts) -> Parts:
    def acknowledge(self: PopOrder, queue: Popped, offset: int, pop_time: int) -> int | None:
        consumed = parts.pop_order.acknowledge(self, queue, offset, pop_time)
        return self.last[queue].offsets[-1] + 1 if consumed is not None and consumed >= 0 else consumed

    return parts.override("pop_order", acknowledge)


@mutant(
    "ordered-acks-of-anything",
    "In order, any message can be acknowledged by any handle of its queue.",
    V5,
)
def ordered_acks_of_anything(parts: Parts) -> Parts:
    def acknowledge(self: PopOrder, queue: Popped, offset: int, pop_time: int) -> int | None:
        consumed = parts.pop_order.acknowledge(self, queue, offset, pop_time)
        return None if consumed == -1 else consumed

    return parts.override("pop_order", acknowledge)


@mutant("modes-need-no-topic", "How a group consumes can be said of topics that there are not.", V5)
def modes_need_no_topic(parts: Parts) -> Parts:
    def set_mode(self: Assignments, command: Command, connection: int, now: int) -> Reply:
        return Reply(BrokerResponse.SUCCESS)

    return parts.override("assignments", set_mode)


@mutant("queues-are-everybodys", "Every member of a group gets all queues.", V5)
def queues_are_everybodys(parts: Parts) -> Parts:
    def divided(
        self: Assignments, queues: list[MessageQueue], members: list[str], client: str, strategy: str
    ) -> list[MessageQueue]:
        return queues

    return parts.override("assignments", divided)


@mutant("modes-do-not-count", "What was said about how a group consumes has no effect.", V5)
def modes_do_not_count(parts: Parts) -> Parts:
    def mode(self: Assignments, group: str, topic: str) -> RequestMode:
        return RequestMode(group, "PULL", 0, topic)

    return parts.override("assignments", mode)


@mutant("who-is-no-member-gets-all", "For a group without members, all queues are told.", V5)
def who_is_no_member_gets_all(parts: Parts) -> Parts:
    def share(
        self: Assignments, asked: AssignmentQuestion, queues: list[MessageQueue], mode: RequestMode
    ) -> list[MessageQueue] | None:
        return parts.assignments.share(self, asked, queues, mode) or queues

    return parts.override("assignments", share)


@mutant("modes-are-forgotten", "What was said about how a group consumes is forgotten by a restart.", V5)
def modes_are_forgotten(parts: Parts) -> Parts:
    def keep(self: Assignments) -> None:
        return None

    return parts.override("assignments", keep)
