"""Mutants of the chapter pop-limits."""

from harness.wire import ResponseCode
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_acks import PopAcks
from reference_impl.broker.pop_checkpoints import CheckPoints
from reference_impl.broker.pop_notifications import PopNotifications
from reference_impl.broker.pop_waiting import FULL, HELD, PopWaiting
from reference_impl.mutants.registry import V5, after, mutant


@mutant(PopWaiting.hold, "maxPopPollingSize has no effect.", V5)
def pops_of_all_groups_are_not_bounded(original, self, waiter, now):
    held = original(self, waiter, now)
    return HELD if held == FULL and self.config.max_pop_polling_size <= self._total else held


@after(PopWaiting._take, "A wait that ends makes room for two.", V5)
def ended_waits_make_room_for_two(waiter, self, place, number):
    self._total -= 1


@after(PopWaiting._take, "A wait that ends makes no room.", V5)
def ended_waits_make_no_room(waiter, self, place, number):
    self._total += 1


@mutant(Pops.keep, "Messages are popped even if that cannot be kept.", V5)
def pops_need_no_record(original, self, of, offsets, found, now):
    original(self, of, offsets, found, now)
    return True


@mutant(PopAcks.hidden_anew, "A message is hidden again even if that cannot be kept.", V5)
def hiding_needs_no_record(original, self, again, offset, invisible, handle, suspended, now):
    original(self, again, offset, invisible, handle, suspended, now)
    return True


@mutant(CheckPoints.add, "Messages can be hidden for longer than timerMaxDelaySec.", V5)
def messages_are_hidden_for_any_time(
    original, self, pop, offsets, invisible, revive_queue, now, *, suspended=False
):
    most = self.config.timer_max_delay_sec * 1_000
    return original(self, pop, offsets, min(invisible, most), revive_queue, now, suspended=suspended)


@mutant(PopNotifications.look_again, "A notification whose topic is deleted is answered as before.", V5)
def notifications_outlive_their_topic(original, self, asked, poll, until, command, connection, now):
    return self.look(asked, poll, until, command, connection, now)


@mutant(Pops.carry_out, "A pop whose topic is deleted is answered as if it existed.", V5)
def pops_outlive_their_topic(original, self, asked, wanted, command, connection, now):
    reply = original(self, asked, wanted, command, connection, now)
    if self.broker.topics.get(asked.topic) is None:
        return self.refusal(ResponseCode.POLLING_TIMEOUT, "")
    return reply


@mutant(PopWaiting._release, "From its fifth minute on a Broker forgets who waits for a deleted topic.", V5)
def waits_for_deleted_topics_are_forgotten(original, self, place, number, now):
    if self.broker.topics.get(place[0]) is None and now - self.broker.started > 300_000:
        self._take(place, number)
    else:
        original(self, place, number, now)


@mutant(CheckPoints._follow, "A restart forgets acknowledgements.", V5)
def acknowledgements_end_with_the_broker(original, self, message):
    if message.properties.get("TAGS") == "ck":
        original(self, message)
