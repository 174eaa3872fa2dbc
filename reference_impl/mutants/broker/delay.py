"""Mutants of the chapter delay."""

from harness.wire.messages import Message, TopicName, decode_message
from reference_impl.broker.delays import Delays
from reference_impl.broker.parts import Parts
from reference_impl.broker.sends import Sends
from reference_impl.broker.store import Put, PutStatus
from reference_impl.broker.timers import Timers
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import RefusedError, Reply

V4 = ("4.9",)


@mutant("delayed-by-half", "A level's delay is half as long.")
def delayed_by_half(parts: Parts) -> Parts:
    def due(self: Delays, level: int, stored: int) -> int:
        return stored + (parts.delays.due(self, level, stored) - stored) // 2

    return parts.override("delays", due)


@mutant("delayed-never", "Delayed messages are not delivered.")
def delayed_never(parts: Parts) -> Parts:
    def time_up(self: Delays, message: Message) -> Message | None:
        return None

    return parts.override("delays", time_up)


def _delivered(parts: Parts, **changed: object) -> Parts:
    def time_up(self: Delays, message: Message) -> Message | None:
        found = parts.delays.time_up(self, message)
        for name, value in changed.items():
            setattr(found, name, value)
        return found

    return parts.override("delays", time_up)


@mutant("delayed-loses-body", "A delayed message is delivered with an empty body.")
def delayed_loses_body(parts: Parts) -> Parts:
    return _delivered(parts, body=b"")


@mutant("delayed-loses-properties", "A delayed message is delivered without properties.")
def delayed_loses_properties(parts: Parts) -> Parts:
    return _delivered(parts, properties={})


@mutant("delayed-loses-flag", "A delayed message is delivered without the flag of its sender.")
def delayed_loses_flag(parts: Parts) -> Parts:
    return _delivered(parts, flag=0)


@mutant("delayed-twice", "A delayed message is delivered, and once more.")
def delayed_twice(parts: Parts) -> Parts:
    def time_up(self: Delays, message: Message) -> Message | None:
        found = parts.delays.time_up(self, message)
        if found is not None:
            self.broker.store.put(found, self.broker.store.newest())
        return found

    return parts.override("delays", time_up)


@mutant("delay-level-not-clamped", "A level beyond the last one is no delay.")
def delay_level_not_clamped(parts: Parts) -> Parts:
    def level_of(self: Delays, message: Message) -> int:
        level = parts.delays.level_of(self, message)
        return level if level <= len(self.config.delays_of_levels()) else 0

    return parts.override("delays", level_of)


@mutant("delay-levels-fixed", "Levels are those of the default settings.")
def delay_levels_fixed(parts: Parts) -> Parts:
    def due(self: Delays, level: int, stored: int) -> int:
        return stored + (1_000, 5_000, 10_000)[level - 1]

    return parts.override("delays", due)


@mutant("negative-level-delayed", "A level below 0 counts without its sign.")
def negative_level_delayed(parts: Parts) -> Parts:
    def level_of(self: Delays, message: Message) -> int:
        return abs(parts.delays.level_of(self, message))

    return parts.override("delays", level_of)


@mutant("bad-level-is-no-delay", "A level that is no number is no delay.")
def bad_level_is_no_delay(parts: Parts) -> Parts:
    def level_of(self: Delays, message: Message) -> int:
        try:
            return parts.delays.level_of(self, message)
        except RefusedError:
            return 0

    return parts.override("delays", level_of)


@mutant("delayed-reply-names-schedule", "The reply to a delayed message names the queue of its level.")
def delayed_reply_names_schedule(parts: Parts) -> Parts:
    def success(self: Sends, message_id: str, queue_id: int, put: Put, key: str | None) -> Reply:
        stored = self.broker.store.at(put.physical_offset)
        queue = queue_id if stored is None else stored.queue_id
        return parts.sends.success(self, message_id, queue, put, key)

    return parts.override("sends", success)


@mutant("delayed-out-of-order", "Two neighbours of a level change places.")
def delayed_out_of_order(parts: Parts) -> Parts:
    def time_up(self: Delays, message: Message) -> Message | None:
        store, first = self.broker.store, message.queue_offset // 2 * 2
        neighbours = store.get(TopicName.SCHEDULE, message.queue_id, first, 2).frames
        if len(neighbours) < 2:
            return parts.delays.time_up(self, message)
        other = decode_message(neighbours[1 if message.queue_offset == first else 0])
        return parts.delays.time_up(self, other)

    return parts.override("delays", time_up)


@mutant("delays-in-one-line", "All levels wait in one queue, behind one another.")
def delays_in_one_line(parts: Parts) -> Parts:
    def due(self: Delays, level: int, stored: int) -> int:
        return stored + max(self.config.delays_of_levels()[:5])

    return parts.override("delays", due)


@mutant("delayed-forgotten-at-start", "What was delayed before a start is not delivered behind it.")
def delayed_forgotten_at_start(parts: Parts) -> Parts:
    def time_up(self: Delays, message: Message) -> Message | None:
        if message.store_timestamp < self.broker.started:
            return None
        return parts.delays.time_up(self, message)

    return parts.override("delays", time_up)


@mutant("timed-early", "A message that names a time is delivered when half of the wait is over.", V5)
def timed_early(parts: Parts) -> Parts:
    def asked(self: Timers, message: Message, now: int) -> int | None:
        time = parts.timers.asked(self, message, now)
        return None if time is None else now + (time - now) // 2

    return parts.override("timers", asked)


@mutant("timed-never", "A message that names a time is not delivered.", V5)
def timed_never(parts: Parts) -> Parts:
    def next_tick(self: Timers) -> int:
        return 1 << 62

    return parts.override("timers", next_tick)


@mutant("time-gone-by-refused", "A time that has passed is refused.", V5)
def time_gone_by_refused(parts: Parts) -> Parts:
    def schedule(self: Timers, message: Message, now: int) -> PutStatus:
        time = self.asked(message, now)
        if time is not None and time <= now:
            return PutStatus.WHEEL_TIMER_MSG_ILLEGAL
        return parts.timers.schedule(self, message, now)

    return parts.override("timers", schedule)


@mutant("time-too-far-taken", "No time is too far away.", V5)
def time_too_far_taken(parts: Parts) -> Parts:
    def asked(self: Timers, message: Message, now: int) -> int | None:
        time = parts.timers.asked(self, message, now)
        return now if time is None else min(time, now + 86_400_000)

    return parts.override("timers", asked)


@mutant("time-goes-before-level", "Of a level and a time, the time counts.", V5)
def time_goes_before_level(parts: Parts) -> Parts:
    def level_of(self: Delays, message: Message) -> int:
        return 0 if self.broker.timers.is_timed(message) else parts.delays.level_of(self, message)

    return parts.override("delays", level_of)


@mutant("times-in-4-9", "4.9 refuses messages that name a time.", V4)
def times_in_49(parts: Parts) -> Parts:
    def level_of(self: Delays, message: Message) -> int:
        if "TIMER_DELAY_SEC" in message.properties:
            raise RefusedError("no times here")
        return parts.delays.level_of(self, message)

    return parts.override("delays", level_of)
