"""Faults of pops and notifications that wait."""

from msgspec.structs import replace

from harness.wire import ResponseCode
from reference_impl.broker.part import NEVER
from reference_impl.broker.pop import Pops
from reference_impl.broker.pop_notifications import PopNotifications
from reference_impl.broker.pop_waiting import ANY_QUEUE, LATE, PopWaiting
from reference_impl.broker.pulls import Pulls
from reference_impl.broker.store import GetStatus
from reference_impl.mutants.registry import V5, after, mutant


@mutant(PopWaiting.hold, "A pop that finds nothing returns at once.", V5)
def pops_do_not_wait(original, self, waiter, now):
    return LATE if waiter.pops else original(self, waiter, now)


@mutant(PopWaiting.hold, "A notification request returns at once.", V5)
def notifications_do_not_wait(original, self, waiter, now):
    return original(self, waiter, now) if waiter.pops else LATE


@mutant(PopWaiting.wants, "A new message does not end the wait of a pop.", V5)
def arrivals_release_no_pops(original, self, waiter, arrivals):
    return not waiter.pops and original(self, waiter, arrivals)


@mutant(PopWaiting.arrived, "A new message ends the waits of one group only.", V5)
def arrivals_release_pops_of_one_group(original, self, arrivals):
    groups = self._groups
    self._groups = {topic: set(sorted(found)[:1]) for topic, found in groups.items()}
    original(self, arrivals)
    self._groups = groups


@mutant(PopWaiting._places, "A new message ends no wait of a pop if a notification waits, too.", V5)
def arrivals_release_notifications_or_pops(original, self, topic, group, queue_id):
    waiting = [place for place in original(self, topic, group, queue_id) if place in self._waiting]
    return [place for place in waiting if not place[3]] or waiting


@mutant(PopWaiting.next_tick, "The wait of a pop never ends.", V5)
def pops_wait_for_ever(original, self):
    return NEVER


@mutant(PopWaiting.tick, "When the wait of a pop ends, all waits end.", V5)
def waits_of_pops_end_together(original, self, now):
    has_ended = self.next_tick() <= now
    original(self, now)
    for place, waiters in list(self._waiting.items()) if has_ended else ():
        for number, waiter in list(waiters.items()):
            waiter.until = now
            self._release(place, number, now)


@after(Pops.asked, "The wait of a pop is as long as its pollTime, however long ago it was born.", V5)
def waits_of_pops_begin_when_they_arrive(found, now):
    found.born = max(found.born, now)


@mutant(PopWaiting.is_full, "The number of waiting pops has no limit.", V5)
def all_pops_may_wait(original, self, waiting):
    return False


@mutant(PopNotifications.has_any, "A notification always reports hasMsg=false.", V5)
def notifications_say_no(original, self, asked, now):
    return False


@mutant(PopNotifications.has_any, "A notification always reports hasMsg=true.", V5)
def notifications_say_yes(original, self, asked, now):
    return True


@mutant(PopNotifications.has_any, "A notification about queue 0 is about any queue.", V5)
def notifications_of_queue_0_are_of_any(original, self, asked, now):
    return original(self, replace(asked, queue_id=asked.queue_id or -1), now)


@mutant(PopNotifications.has, "To a new group, messages that are gone are something to pop.", V5)
def notifications_count_what_is_gone(original, self, asked, topic, queue_id, now):
    known = self.broker.offsets.offset_of(asked.group, topic, queue_id)
    if known is None:
        return self.broker.store.max_offset(topic, queue_id) > 0
    return original(self, asked, topic, queue_id, now)


@mutant(PopNotifications.wanted, "A notification looks at no tags.", ["5.5"])
def notifications_are_of_all_tags(original, self, ext):
    return None


@mutant(PopNotifications.wanted, "A notification looks at the first of several tags.", ["5.5"])
def notifications_are_of_the_first_tag(original, self, ext):
    return original(self, {**ext, "exp": (ext.get("exp") or "").split(" ")[0]})


@mutant(PopNotifications.has_wanted, "A notification looks for tags in queue 0 alone.", ["5.5"])
def notifications_look_for_tags_in_queue_0(original, self, asked, queue_id, now):
    return not queue_id and original(self, asked, queue_id, now)


@after(PopNotifications.look, "Where too many wait, a notification says that there is nothing.", V5)
def full_is_told_to_pops_alone(reply):
    if reply is not None:
        reply.ext = {**(reply.ext or {}), "pollingFull": "false"}


@mutant(PopWaiting.polling, "Code 200055 counts notifications among the pops.", V5)
def notifications_are_counted_as_pops(original, self, topic, group, queue_id):
    place = (topic, group, max(queue_id, ANY_QUEUE), False)
    return original(self, topic, group, queue_id) + len(self._waiting.get(place, ()))


@mutant(PopNotifications.notify, "The wait of a notification begins when it arrives.", V5)
def waits_of_notifications_begin_when_they_arrive(original, self, command, connection, now):
    ext = {**(command.ext or {}), "bornTime": "0"}
    return original(self, replace(command, ext=ext), connection, now)


@mutant(PopNotifications.has_wanted, "A notification looks for tags in a queue of any length.", ["5.5"])
def notifications_look_for_tags_among_all(original, self, asked, queue_id, now):
    found = self.broker.store.get(asked.topic, queue_id, 0, 1, asked.wanted)
    return found.status is GetStatus.FOUND


@mutant(PopNotifications.has_wanted, "A notification looks for tags among less than 63 messages.", ["5.5"])
def notifications_look_for_tags_among_few(original, self, asked, queue_id, now):
    many = self.broker.store.max_offset(asked.topic, queue_id) >= 63
    return many or original(self, asked, queue_id, now)


@mutant(PopNotifications.look, "The wait of a notification request never ends without a message.", V5)
def notifications_wait_for_ever(original, self, asked, poll, until, command, connection, now):
    return original(self, asked, poll, NEVER, command, connection, now)


@mutant(PopNotifications.has_any, "A notification does not count messages that are redelivered.", V5)
def notifications_are_of_the_topic_alone(original, self, asked, now):
    queues = self.broker.topics.get(asked.topic).read_queue_nums
    return any(self.has(asked, asked.topic, queue, now) for queue in range(queues))


@mutant(PopNotifications.has_any, "A notification tells of the queues to write.", V5)
def notifications_are_of_queues_to_write(original, self, asked, now):
    topic = self.broker.topics.get(asked.topic)
    if asked.queue_id >= 0 or topic is None:
        return original(self, asked, now)
    return any(self.has(asked, asked.topic, queue, now) for queue in range(topic.write_queue_nums))


@mutant(PopNotifications.refused, "Codes 200054 and 200055 are not refused for any topic or queue.", V5)
def questions_about_any_topic(original, self, asked, connection, now):
    return None


@mutant(PopWaiting._places, "A message releases no pop that waits for one queue.", V5)
def pops_wait_for_any_queue_only(original, self, topic, group, queue_id):
    return [place for place in original(self, topic, group, queue_id) if place[2] == ANY_QUEUE]


@mutant(PopWaiting.has_more, "Messages that one pop leaves release no other waiting pop.", V5)
def what_is_left_releases_no_pops(original, self, topic, group, queue_id):
    return None


@mutant(PopWaiting.wants, "Of messages that arrive together, the last one alone ends waits of pops.", V5)
def last_arrival_alone_ends_waits_of_pops(original, self, waiter, arrivals):
    return original(self, waiter, arrivals[-1:])


@mutant(PopWaiting.wants, "Of messages that arrive together, the first one alone ends waits of pops.", V5)
def first_arrival_alone_ends_waits_of_pops(original, self, waiter, arrivals):
    return original(self, waiter, arrivals[:1])


@mutant(PopWaiting.has_more, "Messages that one pop leaves release only pops of any queue.", V5)
def what_is_left_releases_pops_of_any_queue(original, self, topic, group, queue_id):
    original(self, topic, group, ANY_QUEUE)


@after(Pops.refusal, "The refusal of a pop has no fields.", V5)
def refused_pops_have_no_numbers(reply):
    reply.ext = None


@after(PopNotifications.notify, "A notification that is refused tells of messages.", V5)
def refused_notifications_say_yes(reply):
    if reply is not None and reply.code != ResponseCode.SUCCESS:
        reply.ext = {"hasMsg": "true", "pollingFull": "true"}


@after(PopNotifications.polling, "The refusal of code 200055 counts a pop.", V5)
def refused_questions_say_one(reply):
    if reply.code != ResponseCode.SUCCESS:
        reply.ext = {"pollingNum": "1"}


@mutant(PopNotifications.refused, "A Broker that may not be read answers codes 200054 and 200055.", V5)
def questions_to_any_broker(original, self, asked, connection, now):
    refused = original(self, asked, connection, now)
    return None if refused is not None and refused.code == ResponseCode.NO_PERMISSION else refused


@mutant(PopWaiting.lost, "A waiting pop gets a message after its connection has ended.", V5)
def lost_pops_get_messages(original, self, connection, now):
    return None


@mutant(PopWaiting.lost, "Of the pops that wait on a connection which ends, one is dropped.", V5)
def lost_pops_get_messages_but_one(original, self, connection, now):
    for number, place in list(self._of.get(connection, {}).items())[:1]:
        self._take(place, number)


@mutant(PopNotifications.has, "A notification ignores that ordered pops block a queue.", V5)
def notifications_know_no_order(original, self, asked, topic, queue_id, now):
    return original(self, replace(asked, order=False), topic, queue_id, now)


@after(PopNotifications.asked, "A notification ignores which attempt it is of.", V5)
def notifications_know_no_attempts(found):
    found.attempt = None


@mutant(PopNotifications.refused, "The refusal of a notification names another client.", V5)
def refused_notifications_name_another(original, self, asked, connection, now):
    return original(self, asked, -1, now)


@mutant(PopWaiting.arrived, "Of messages that arrive together, those of the first queue alone end pops.", V5)
def first_of_several_queues_releases_pops(original, self, arrivals):
    whole = list(arrivals)
    original(self, [one for one in whole if one[:2] == whole[0][:2]])


@mutant(PopWaiting.lost, "A connection that was answered a pull is not seen to end.", V5)
def answered_connections_wait_on(original, self, connection, now):
    if connection not in vars(self).get("answered", ()):
        original(self, connection, now)


@answered_connections_wait_on.also(Pulls.pull_again)
def _(original, self, command, connection, now):
    vars(self.broker.pop_waiting).setdefault("answered", set()).add(connection)
    return original(self, command, connection, now)


@mutant(PopWaiting.lost, "A connection that was answered a pop is not seen to end.", V5)
def answered_pops_wait_on(original, self, connection, now):
    if connection not in vars(self).get("answered", ()):
        original(self, connection, now)


@answered_pops_wait_on.also(PopWaiting._release)
def _(original, self, place, number, now):
    vars(self).setdefault("answered", set()).add(self._waiting[place][number].connection)
    original(self, place, number, now)
