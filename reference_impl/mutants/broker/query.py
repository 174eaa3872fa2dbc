"""Mutants of the chapter query."""

from collections.abc import Callable

from harness.wire import Command
from harness.wire.messages import TopicName, decode_message
from reference_impl.broker.finding import Finding
from reference_impl.broker.parts import Parts
from reference_impl.broker.store import Store
from reference_impl.mutants.broker import mutant
from reference_impl.remoting.reply import Reply


def _asked(parts: Parts, change: "Callable[[dict[str, str | None]], dict[str, str | None]]") -> Parts:
    def by_key(self: Finding, command: Command, connection: int, now: int) -> Reply:
        command.ext = change(dict(command.ext or {}))
        return parts.finding.by_key(self, command, connection, now)

    return parts.override("finding", by_key)


@mutant("keys-find-nothing", "A search by key finds nothing.")
def keys_find_nothing(parts: Parts) -> Parts:
    return _asked(parts, lambda ext: ext | {"key": "nobody has this"})


@mutant("time-of-search-ignored", "The times of a search are not looked at.")
def time_of_search_ignored(parts: Parts) -> Parts:
    return _asked(parts, lambda ext: ext | {"beginTimestamp": "0", "endTimestamp": str(2**62)})


@mutant("only-one-message-is-found", "A search finds one message.")
def only_one_message_is_found(parts: Parts) -> Parts:
    return _asked(parts, lambda ext: ext | {"maxNum": "1"})


@mutant("search-without-limit", "A search finds as much as there is.")
def search_without_limit(parts: Parts) -> Parts:
    return _asked(parts, lambda ext: ext | {"maxNum": "64"})


@mutant("unique-keys-find-nothing", "A search by unique key finds nothing.")
def unique_keys_find_nothing(parts: Parts) -> Parts:
    return _asked(parts, lambda ext: ext | ({"key": ""} if "_UNIQUE_KEY_QUERY" in ext else {}))


@mutant("only-first-key-finds", "A message is found by the first word of its KEYS only.")
def only_first_key_finds(parts: Parts) -> Parts:
    def by_key(self: Store, topic: str, key: str, most: int, begin: int, end: int) -> list[int]:
        found = parts.store.by_key(self, topic, key, most, begin, end)
        messages = ((offset, self.at(offset)) for offset in found)
        return [
            offset
            for offset, one in messages
            if one is not None and (one.properties.get("KEYS") or key).split(" ")[0] == key
        ]

    return parts.override("store", by_key)


@mutant("all-topics-are-searched", "A search finds messages of all topics.")
def all_topics_are_searched(parts: Parts) -> Parts:
    def by_key(self: Store, topic: str, key: str, most: int, begin: int, end: int) -> list[int]:
        found = [parts.store.by_key(self, one, key, most, begin, end) for one in self.topics()]
        return sorted(offset for offsets in found for offset in offsets)

    return parts.override("store", by_key)


@mutant("nothing-found-is-success", "A search that finds nothing is answered with success.")
def nothing_found_is_success(parts: Parts) -> Parts:
    def by_key(self: Finding, command: Command, connection: int, now: int) -> Reply:
        reply = parts.finding.by_key(self, command, connection, now)
        return Reply(0, ext=reply.ext, body=reply.body)

    return parts.override("finding", by_key)


@mutant("index-state-not-told", "The answer to a search has no ext fields.")
def index_state_not_told(parts: Parts) -> Parts:
    def by_key(self: Finding, command: Command, connection: int, now: int) -> Reply:
        reply = parts.finding.by_key(self, command, connection, now)
        reply.ext = {}
        return reply

    return parts.override("finding", by_key)


def _shown(parts: Parts, change: "Callable[[Finding, Reply], Reply]") -> Parts:
    def by_offset(self: Finding, command: Command, connection: int, now: int) -> Reply:
        return change(self, parts.finding.by_offset(self, command, connection, now))

    return parts.override("finding", by_offset)


@mutant("ids-find-next-message", "An offset finds the message behind the one that it names.")
def ids_find_next_message(parts: Parts) -> Parts:
    def change(self: Finding, reply: Reply) -> Reply:
        if not reply.body:
            return reply
        message = decode_message(reply.body)
        return Reply(0, body=self.broker.store.raw_at(message.physical_offset + message.size) or b"")

    return _shown(parts, change)


@mutant("empty-place-is-success", "A place without a message is answered with success.")
def empty_place_is_success(parts: Parts) -> Parts:
    return _shown(parts, lambda _, reply: Reply(0, body=reply.body))


@mutant("waiting-messages-not-shown", "A message that waits is not found by its offset.")
def waiting_messages_not_shown(parts: Parts) -> Parts:
    def change(self: Finding, reply: Reply) -> Reply:
        waits = reply.body and decode_message(reply.body).topic == TopicName.SCHEDULE
        return Reply(1, remark="waits") if waits else reply

    return _shown(parts, change)
