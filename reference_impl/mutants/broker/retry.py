"""Mutants of the chapter retry."""

from harness.wire import Command
from harness.wire.bodies import SubscriptionGroup, TopicConfig
from harness.wire.messages import Message, PropertyName
from reference_impl.broker.parts import Parts
from reference_impl.broker.retries import Retries
from reference_impl.broker.sends import Sends
from reference_impl.mutants.broker import V5, mutant
from reference_impl.remoting.reply import Reply

V4 = ("4.9",)


@mutant("sent-back-is-lost", "A message that is sent back is not stored.")
def sent_back_is_lost(parts: Parts) -> Parts:
    def send_back(self: Retries, command: Command, connection: int, now: int) -> Reply:
        return Reply(0)

    return parts.override("retries", send_back)


def _level(parts: Parts, first: int, *, always: bool = False) -> Parts:
    def level(self: Retries, asked: int, times: int) -> int:
        return first if always else asked or first

    return parts.override("retries", level)


@mutant("sent-back-at-once", "A message that is sent back is not delayed.")
def sent_back_at_once(parts: Parts) -> Parts:
    return _level(parts, 0, always=True)


@mutant("sent-back-at-level-one", "The first retry has level 1.")
def sent_back_at_level_one(parts: Parts) -> Parts:
    return _level(parts, 1)


@mutant("retry-delay-does-not-grow", "Every retry has level 3.")
def retry_delay_does_not_grow(parts: Parts) -> Parts:
    return _level(parts, 3)


def _returned(parts: Parts, **changed: object) -> Parts:
    def returned(self: Retries, message: Message, topic: TopicConfig, level: int) -> Message:
        copy = parts.retries.returned(self, message, topic, level)
        for name, value in changed.items():
            setattr(copy, name, value)
        return copy

    return parts.override("retries", returned)


@mutant("retries-not-counted", "A message that comes back says that it was never tried.")
def retries_not_counted(parts: Parts) -> Parts:
    return _returned(parts, reconsume_times=0)


@mutant("retry-loses-flag", "A message that comes back has lost the flag of its sender.")
def retry_loses_flag(parts: Parts) -> Parts:
    return _returned(parts, flag=0)


@mutant("retry-loses-properties", "A message that comes back has lost the properties of its sender.")
def retry_loses_properties(parts: Parts) -> Parts:
    def returned(self: Retries, message: Message, topic: TopicConfig, level: int) -> Message:
        message.properties = {}
        return parts.retries.returned(self, message, topic, level)

    return parts.override("retries", returned)


@mutant("retry-without-origin", "A message that comes back does not say where from.")
def retry_without_origin(parts: Parts) -> Parts:
    def returned(self: Retries, message: Message, topic: TopicConfig, level: int) -> Message:
        copy = parts.retries.returned(self, message, topic, level)
        del copy.properties[PropertyName.RETRY_TOPIC], copy.properties[PropertyName.ORIGIN_MESSAGE_ID]
        return copy

    return parts.override("retries", returned)


@mutant("origin-of-last-retry", "A message that comes back names the topic and id of its last retry.")
def origin_of_last_retry(parts: Parts) -> Parts:
    def returned(self: Retries, message: Message, topic: TopicConfig, level: int) -> Message:
        message.properties.pop(PropertyName.RETRY_TOPIC, None)
        message.properties.pop(PropertyName.ORIGIN_MESSAGE_ID, None)
        return parts.retries.returned(self, message, topic, level)

    return parts.override("retries", returned)


@mutant("negative-level-is-retried", "A negative level does not make a dead letter.")
def negative_level_is_retried(parts: Parts) -> Parts:
    def is_dead(self: Retries, times: int, limit: int, level: int) -> bool:
        return times >= limit

    return parts.override("retries", is_dead)


@mutant("no-limit-of-retries", "Only a negative level makes a dead letter.")
def no_limit_of_retries(parts: Parts) -> Parts:
    def is_dead(self: Retries, times: int, limit: int, level: int) -> bool:
        return level < 0

    return parts.override("retries", is_dead)


@mutant("retry-limit-one-less", "A message is a dead letter one retry too early.")
def retry_limit_one_less(parts: Parts) -> Parts:
    def is_dead(self: Retries, times: int, limit: int, level: int) -> bool:
        return times + 1 >= limit or level < 0

    return parts.override("retries", is_dead)


@mutant("limit-of-old-consumers-heeded", "The limit of a request counts whatever its version.")
def limit_of_old_consumers_heeded(parts: Parts) -> Parts:
    def limit(self: Retries, group: SubscriptionGroup, asked: int | None, version: int) -> int:
        return group.retry_max_times if asked is None else asked

    return parts.override("retries", limit)


@mutant("missing-message-comes-back", "A message that there is not is sent back with success.")
def missing_message_comes_back(parts: Parts) -> Parts:
    def send_back(self: Retries, command: Command, connection: int, now: int) -> Reply:
        reply = parts.retries.send_back(self, command, connection, now)
        return Reply(0) if reply.remark and reply.remark.startswith("look message") else reply

    return parts.override("retries", send_back)


@mutant("unknown-group-comes-back", "A message of a group that there is not is taken back.")
def unknown_group_comes_back(parts: Parts) -> Parts:
    def unknown_group(self: Retries, group: str) -> Reply:
        return Reply(0)

    return parts.override("retries", unknown_group)


def _dead_at(parts: Parts, more: int) -> Parts:
    def is_dead(self: Sends, group: str, times: int, most: int, now: int) -> bool:
        return parts.sends.is_dead(self, group, times + more, most, now)

    return parts.override("sends", is_dead)


@mutant("sends-to-retry-have-no-limit", "What is sent to a retry topic is never a dead letter.")
def sends_to_retry_have_no_limit(parts: Parts) -> Parts:
    return _dead_at(parts, -(10**6))


@mutant("sends-to-retry-have-one-more", "What is sent to a retry topic is tried once too often.", V4)
def sends_to_retry_have_one_more(parts: Parts) -> Parts:
    return _dead_at(parts, -1)


@mutant("sends-to-retry-have-one-less", "What is sent to a retry topic is tried once too little.", V5)
def sends_to_retry_have_one_less(parts: Parts) -> Parts:
    return _dead_at(parts, 1)
