"""Mutants of the chapter delay."""

import msgspec

from harness.wire.messages import PropertyName, TopicName, decode_message
from reference_impl.broker.delays import Delays
from reference_impl.broker.part import NEVER
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import GetStatus, Put, PutStatus, Store
from reference_impl.broker.timer_metrics import TimerMetrics
from reference_impl.broker.timers import DELETES, Timers
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.remoting.reply import RefusedError


@mutant(Delays.due, "Each delay is half as long as its level specifies.")
def delayed_by_half(original, self, level, stored):
    return stored + (original(self, level, stored) - stored) // 2


@mutant(Sends.complete, "A delayed message loses the property WAIT.", V4)
def delayed_lose_their_wait(original, self, properties, now):
    original(self, properties, now)
    if PropertyName.DELAY_TIME_LEVEL in properties:
        properties.pop(PropertyName.WAIT_STORE_MSG_OK, None)


@mutant(Delays.time_up, "Delayed messages are not delivered.")
def delayed_never(original, self, message):
    return None


@after(Delays.time_up, "A delayed message is delivered with an empty body.")
def delayed_loses_body(found):
    found.body = b""


@after(Delays.time_up, "A delayed message is delivered without properties.")
def delayed_loses_properties(found):
    found.properties = {}


@after(Delays.time_up, "A delayed message is delivered without its flag.")
def delayed_loses_flag(found):
    found.flag = 0


@after(Delays.time_up, "A delayed message is delivered twice.")
def delayed_twice(found, self):
    if found is not None:
        self.broker.store.put(found, self.broker.store.newest())


@after(Delays.level_of, "A level beyond the last one means no delay.")
def delay_level_not_clamped(level, self):
    return level if level <= len(self.config.delays_of_levels()) else 0


@mutant(Delays.due, "The Broker always uses the default delay levels.")
def delay_levels_fixed(original, self, level, stored):
    return stored + (1_000, 5_000, 10_000)[level - 1]


@mutant(Delays.level_of, "A negative level is treated as positive.")
def negative_level_delayed(original, self, message):
    return abs(original(self, message))


@mutant(Delays.level_of, "A level that is not a number means no delay.")
def bad_level_is_no_delay(original, self, message):
    try:
        return original(self, message)
    except RefusedError:
        return 0


@mutant(Sends.success, "The response to a delayed send contains the schedule queue.")
def delayed_reply_names_schedule(original, self, message_id, queue_id, put, key):
    stored = self.broker.store.at(put.physical_offset)
    queue = queue_id if stored is None else stored.queue_id
    return original(self, message_id, queue, put, key)


@mutant(Delays.time_up, "Two adjacent messages of a level swap places.")
def delayed_out_of_order(original, self, message):
    store, first = self.broker.store, message.queue_offset // 2 * 2
    neighbours = store.get(TopicName.SCHEDULE, message.queue_id, first, 2).frames
    if len(neighbours) < 2:
        return original(self, message)
    other = decode_message(neighbours[1 if message.queue_offset == first else 0])
    return original(self, other)


@mutant(Delays._deliver, "What a level holds is delivered with its first message.")
def levels_are_delivered_together(original, self, level, now):
    self.due = lambda *_: now
    original(self, level, now)
    del self.due


@mutant(Delays.due, "All levels wait in a single queue.")
def delays_in_one_line(original, self, level, stored):
    return stored + max(self.config.delays_of_levels()[:5])


@mutant(Delays.time_up, "Messages delayed before a restart are not delivered.")
def delayed_forgotten_at_start(original, self, message):
    if message.store_timestamp < self.broker.started:
        return None
    return original(self, message)


@mutant(Delays._look, "After a restart, delayed messages are delivered again.")
def delivered_come_again_at_start(original, self, level):
    looked: set[int] = self.__dict__.setdefault("looked_at", set())
    if level not in looked:
        looked.add(level)
        self.offsets.pop(level, None)
    return original(self, level)


@mutant(Timers.asked, "A timed message is delivered after half of its delay.", V5)
def timed_early(original, self, message, now):
    time = original(self, message, now)
    return None if time is None else now + (time - now) // 2


def _without(message, *names):
    """A message that names no time in these ways."""
    kept = {name: text for name, text in message.properties.items() if name not in names}
    return msgspec.structs.replace(message, properties=kept)


@mutant(Timers.asked, "Of a moment and a delay, the moment counts.", V5)
def moments_go_before_delays(original, self, message, now):
    if PropertyName.TIMER_DELIVER_MS in message.properties:
        message = _without(message, PropertyName.TIMER_DELAY_SEC, PropertyName.TIMER_DELAY_MS)
    return original(self, message, now)


@mutant(Timers.asked, "Of a delay in seconds and one in milliseconds, the latter counts.", V5)
def ms_go_before_seconds(original, self, message, now):
    if PropertyName.TIMER_DELAY_MS in message.properties:
        message = _without(message, PropertyName.TIMER_DELAY_SEC)
    return original(self, message, now)


@mutant(Timers.next_tick, "A timed message is not delivered.", V5)
def timed_never(original, self):
    return 1 << 62


@mutant(Timers.schedule, "The server refuses a delivery time in the past.", V5)
def time_gone_by_refused(original, self, message, now):
    time = self.asked(message, now)
    if time is not None and time <= now:
        return PutStatus.WHEEL_TIMER_MSG_ILLEGAL
    return original(self, message, now)


@mutant(Timers.asked, "The server accepts any delivery time, however far away.", V5)
def time_too_far_taken(original, self, message, now):
    time = original(self, message, now)
    return now if time is None else min(time, now + 86_400_000)


@mutant(Delays.level_of, "The delivery time overrides the delay level.", V5)
def time_goes_before_level(original, self, message):
    return 0 if self.broker.timers.is_timed(message) else original(self, message)


@mutant(Delays.level_of, "4.9 refuses timed messages.", V4)
def times_in_4_9(original, self, message):
    if "TIMER_DELAY_SEC" in message.properties:
        raise RefusedError("no times here")
    return original(self, message)


@after(Delays.table, "Code 45 shows no delay level.")
def progress_of_levels_is_hidden(table):
    return msgspec.structs.replace(table, offset_table={})


@after(Delays.table, "Code 45 always shows 1 for a delay level.")
def progress_of_levels_stays(table):
    return msgspec.structs.replace(table, offset_table=dict.fromkeys(table.offset_table, 1))


@after(Delays.time_up, "A delayed message loses its system flag.")
def delayed_loses_system_flag(message):
    return None if message is None else msgspec.structs.replace(message, sys_flag=0)


@mutant(Timers.schedule, "timerWheelEnable=false has no effect on sends.", V5)
def times_need_no_timer(original, self, message, now):
    status = original(self, message, now)
    return PutStatus.PUT_OK if status is PutStatus.WHEEL_TIMER_NOT_ENABLE else status


@mutant(Delays.put, "With timerWheelEnable=false, delay levels are refused.", V5)
def levels_need_the_timer(original, self, message, now):
    if PropertyName.DELAY_TIME_LEVEL in message.properties and not self.config.timer_wheel_enable:
        return Put(PutStatus.WHEEL_TIMER_NOT_ENABLE)
    return original(self, message, now)


@mutant(Timers._read_again, "A restart loses timed messages.", V5)
def timed_are_forgotten(original, self):
    return None


@mutant(Delays.stop, "How far levels were delivered is not written at an orderly end.")
def progress_of_levels_ends_with_the_broker(original, self, now):
    return


@mutant(Timers.stop, "How far timed messages were delivered is not written at an orderly end.", V5)
def progress_of_timers_ends_with_the_broker(original, self, now):
    if self._write_at <= now:
        original(self, now)


@mutant(Timers.expect, "How far timed messages were delivered is written when none has come for a while.", V5)
def progress_of_timers_is_written_in_quiet_times(original, self, message):
    waits = self._write_at != NEVER
    original(self, message)
    if waits:
        self._write_at = self._later(message.store_timestamp)


@mutant(Timers.tick, "How far timed messages were delivered is written when the next one comes.", V5)
def progress_of_timers_is_written_with_the_next(original, self, now):
    due = self._write_at
    original(self, now)
    if now < due:
        self._write_at = due


@after(Delays.time_up, "A message that was delayed comes from the Broker itself.")
def delayed_come_from_the_broker(delivered, self):
    if delivered is not None and PropertyName.TIMER_OUT_MS not in delivered.properties:
        delivered.born_host = self.config.address


@after(Delays.time_up, "A timed message comes from the Broker itself.", V5)
def timed_come_from_the_broker(delivered, self):
    if delivered is not None and PropertyName.TIMER_OUT_MS in delivered.properties:
        delivered.born_host = self.config.address


@after(Delays.time_up, "A timed message does not say when it was due.", V5)
def timed_do_not_say_when(delivered):
    if delivered is not None:
        delivered.properties.pop(PropertyName.TIMER_OUT_MS, None)


@mutant(Delays.schedule, "A message with a level and a time keeps the time.", V5)
def levels_keep_times(original, self, message, level):
    times = {name: text for name, text in message.properties.items() if name.startswith("TIMER_")}
    original(self, message, level)
    message.properties |= times


@mutant(Delays._look, "A delayed message that has expired holds up those behind it.")
def expired_delays_hold_up(original, self, level):
    low = self.broker.store.min_offset(TopicName.SCHEDULE, level - 1)
    return None if self.offsets.get(level, 0) < low else original(self, level)


@mutant(Delays._look, "Two delayed messages that have expired hold up those behind them.")
def two_expired_delays_hold_up(original, self, level):
    low = self.broker.store.min_offset(TopicName.SCHEDULE, level - 1)
    return None if self.offsets.get(level, 0) < low - 1 else original(self, level)


@after(Delays.time_up, "A timed message forgets which time its producer asked for.", V5)
def timed_forget_what_was_asked(delivered):
    for name in ("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"):
        if delivered is not None and name in delivered.properties:
            delivered.properties[name] = "0"


@mutant(Timers.rounded, "The time of a timed message is not rounded to a second.", V5)
def timed_have_milliseconds(original, self, time):
    return time - time % 1_000 + 1


@mutant(Store.put, "A timed message says that it was taken from the timer a minute later.", V5)
def timed_are_taken_later(original, self, message, now):
    if "TIMER_DEQUEUE_MS" in message.properties:
        message.properties["TIMER_DEQUEUE_MS"] = str(now + 60_000)
    return original(self, message, now)


@mutant(Timers.is_timed, "A message that was delivered in its time is delayed again.", V5)
def times_that_are_over_delay_again(original, self, message):
    without = {name: value for name, value in message.properties.items() if name != PropertyName.TIMER_OUT_MS}
    return original(self, msgspec.structs.replace(message, properties=without))


@mutant(Delays._deliver, "The message behind one that has expired is delivered at the time of that one.")
def expired_delays_hurry_the_next(original, self, level, now):
    got = self.broker.store.get(TopicName.SCHEDULE, level - 1, self.offsets.get(level, 0), 1)
    original(self, level, now)
    if got.status is not GetStatus.FOUND and level in self._due:
        self._levels = [0 if one == level - 1 else delay for one, delay in enumerate(self._levels)]
        self._due[level] = now


@mutant(Delays.schedule, "A Broker of 4.9 removes times from a message with a level.", V4)
def levels_remove_times_in_4_9(original, self, message, level):
    original(self, message, level)
    for name in [name for name in message.properties if name.startswith("TIMER_")]:
        del message.properties[name]


@mutant(TimerMetrics.changed, "Messages that wait in a timer are not counted.", V5)
def timers_are_not_counted(original, self, topic, by, now):
    pass


@mutant(TimerMetrics.changed, "Messages that a timer has delivered are still counted.", V5)
def timers_are_counted_for_ever(original, self, topic, by, now):
    original(self, topic, max(0, by), now)


@after(TimerMetrics.table, "Counts of messages in a timer have the time 0.", V5)
def timers_are_counted_at_no_time(table):
    counts = table["timingCount"]
    return {**table, "timingCount": {topic: {**one, "timeStamp": 0} for topic, one in counts.items()}}


@mutant(Delays.put, "Messages that wait by a level count as messages in a timer.", V5)
def levels_are_timers(original, self, message, now):
    if message.properties.get("DELAY") and message.topic in self.broker.topics.table:
        self.broker.timer_metrics.changed(message.topic, 1, now)
    return original(self, message, now)


@mutant(TimerMetrics.progress, "The progress of timers is written in half as many bytes.", V5)
def timers_do_not_tell_how_far_they_are(original, self, now):
    return original(self, now)[:28]


@mutant(TimerMetrics.progress, "Timers are told to be a minute ahead.", V5)
def timers_are_ahead(original, self, now):
    return original(self, now + 60_000)


@mutant(TimerMetrics.progress, "The version of how far timers are begins with its time.", V5)
def timers_tell_their_version_elsewhere(original, self, now):
    told = original(self, now)
    return told[:32] + told[40:48] + told[32:40] + told[48:]


@mutant(Delays._expect, "The progress of a level begins below 0.")
def progress_begins_below_0(original, self, level, stored):
    self.offsets.setdefault(level, -1)
    original(self, level, stored)


@mutant(Timers.asked, "A delivery time more than a day away is too far.", V5)
def times_are_near(original, self, message, now):
    time = original(self, message, now)
    return None if time is None or time > now + 86_400_000 else time


@mutant(Timers.schedule, "A deletion whose time has passed is stored.", V5)
def deletions_of_the_past_are_stored(original, self, message, now):
    status = original(self, message, now)
    return PutStatus.PUT_OK if DELETES in message.properties else status


@mutant(Store.put, "A timed message says that it came into the timer years before.", V5)
def timed_were_stored_long_ago(original, self, message, now):
    if "TIMER_ENQUEUE_MS" in message.properties:
        message.properties["TIMER_ENQUEUE_MS"] = str(now // 1_001 * 1_000)
    return original(self, message, now)
