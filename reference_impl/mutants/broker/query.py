"""Mutants of the chapter query."""

import msgspec

from harness.wire import ResponseCode
from harness.wire.messages import PropertyName, TopicName, decode_message, decode_messages
from reference_impl.broker.message_query import MessageQuery
from reference_impl.broker.statistics import Statistics
from reference_impl.broker.store import Store
from reference_impl.mutants.registry import BEFORE_55, after, mutant
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply


@mutant(MessageQuery.by_key, "A search by key finds nothing.")
def keys_find_nothing(original, self, command, connection, now):
    command.ext = (command.ext or {}) | {"key": "nobody has this"}
    return original(self, command, connection, now)


@mutant(MessageQuery.by_key, "A search ignores its time bounds.")
def time_of_search_ignored(original, self, command, connection, now):
    command.ext = (command.ext or {}) | {"beginTimestamp": "0", "endTimestamp": str(2**62)}
    return original(self, command, connection, now)


@mutant(Store.by_key, "A search ignores from which time on messages are wanted.")
def search_begins_at_any_time(original, self, topic, key, most, begin, end):
    return original(self, topic, key, most, 0, end)


@mutant(Store.by_key, "A search finds messages up to now, unless it ends before there were any.")
def search_never_ends(original, self, topic, key, most, begin, end):
    return original(self, topic, key, most, begin, end if end < 10 else 2**63 - 1)


@mutant(MessageQuery.by_key, "A search returns at most one message.")
def only_one_message_is_found(original, self, command, connection, now):
    command.ext = (command.ext or {}) | {"maxNum": "1"}
    return original(self, command, connection, now)


@mutant(MessageQuery.by_key, "A search ignores maxNum.")
def search_without_limit(original, self, command, connection, now):
    command.ext = (command.ext or {}) | {"maxNum": "64"}
    return original(self, command, connection, now)


@mutant(MessageQuery.most, "The mark of a unique key may be in any letters.", BEFORE_55)
def marks_of_unique_keys_in_any_letters(original, self, command):
    ext = command.ext or {}
    mark = (ext.get("_UNIQUE_KEY_QUERY") or "").lower()
    return original(self, msgspec.structs.replace(command, ext={**ext, "_UNIQUE_KEY_QUERY": mark}))


@mutant(MessageQuery.most, "A search finds as many messages as maxNum says.")
def search_finds_any_number(original, self, command):
    return max(original(self, command), fields.int32(command.ext, "maxNum") or 0)


@mutant(MessageQuery.most, "A search by unique key finds 64 messages.")
def search_by_unique_key_without_limit(original, self, command):
    return 64 if "_UNIQUE_KEY_QUERY" in (command.ext or {}) else original(self, command)


@mutant(MessageQuery.by_key, "A search by unique key finds nothing.")
def unique_keys_find_nothing(original, self, command, connection, now):
    command.ext = (command.ext or {}) | ({"key": ""} if "_UNIQUE_KEY_QUERY" in (command.ext or {}) else {})
    return original(self, command, connection, now)


@after(Store._keys, "A message that has KEYS is not found by its unique key.")
def unique_keys_find_nothing_beside_keys(keys, properties):
    return keys[:-1] if properties.get(PropertyName.KEYS) and PropertyName.UNIQ_KEY in properties else keys


@mutant(Store._follow, "Roll-backs are found by their keys.")
def rolled_back_messages_have_keys(original, self, message):
    original(self, message)
    if message.sys_flag & 12 == 12 and (keys := self._keys(message.properties)):
        self._index.add(message.topic, keys, message.physical_offset, message.store_timestamp)


@mutant(Store._follow, "Half messages are not found by their keys.")
def half_messages_have_no_keys(original, self, message):
    is_half = message.sys_flag & 12 == 4
    original(self, msgspec.structs.replace(message, properties={}) if is_half else message)


@mutant(Store.by_key, "A search does not find what was stored when it begins.")
def searches_exclude_their_begin(original, self, topic, key, most, begin, end):
    return original(self, topic, key, most, begin + 1, end)


@mutant(Store.by_key, "A search does not find what was stored when it ends.")
def searches_exclude_their_end(original, self, topic, key, most, begin, end):
    return original(self, topic, key, most, begin, end - 1)


@mutant(Store.by_key, "A search matches only the first word of KEYS.")
def only_first_key_finds(original, self, topic, key, most, begin, end):
    found = original(self, topic, key, most, begin, end)
    messages = ((offset, self.at(offset)) for offset in found)
    return [
        offset
        for offset, one in messages
        if one is not None and (one.properties.get("KEYS") or key).split(" ")[0] == key
    ]


@mutant(Store._keys, "A message is found by its words, and by all of them together.")
def all_keys_are_a_key(original, self, properties):
    return [*original(self, properties), properties.get(PropertyName.KEYS) or "none"]


@mutant(Store.by_key, "A search returns messages of all topics.")
def all_topics_are_searched(original, self, topic, key, most, begin, end):
    found = [original(self, one, key, most, begin, end) for one in self.topics()]
    return sorted(offset for offsets in found for offset in offsets)


@after(MessageQuery.by_key, "A search without results succeeds.")
def nothing_found_is_success(reply):
    return Reply(0, ext=reply.ext, body=reply.body)


@after(MessageQuery.by_key, "The search response has no ext fields.")
def index_state_not_told(reply):
    reply.ext = {}


@after(MessageQuery.by_offset, "A view by offset returns the next message.")
def ids_find_next_message(reply, self):
    if not reply.body:
        return reply
    message = decode_message(reply.body)
    return Reply(0, body=self.broker.store.raw_at(message.physical_offset + message.size) or b"")


@mutant(MessageQuery.by_offset, "A view of an offset without a message succeeds.")
def empty_place_is_success(original, self, command, connection, now):
    return Reply(0, body=original(self, command, connection, now).body)


@after(MessageQuery.by_offset, "A delayed message cannot be viewed by its offset.")
def waiting_messages_not_shown(reply):
    waits = reply.body and decode_message(reply.body).topic == TopicName.SCHEDULE
    return Reply(1, remark="waits") if waits else reply


def _forgiving(original, self, command, connection, now):
    try:
        return original(self, command, connection, now)
    except RefusedError:
        return Reply(ResponseCode.SUCCESS)


@mutant(MessageQuery.by_key, "A query by key that lacks a field finds nothing.")
def fields_of_queries_may_be_missing(original, self, command, connection, now):
    return _forgiving(original, self, command, connection, now)


@mutant(MessageQuery.by_offset, "A query by place that lacks its field finds nothing.")
def fields_of_views_may_be_missing(original, self, command, connection, now):
    return _forgiving(original, self, command, connection, now)


@mutant(MessageQuery.by_offset, "A view of an offset at the end of the log succeeds.")
def end_of_the_log_is_success(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    offset = int((command.ext or {}).get("offset") or 0)
    return Reply(0) if 0 < self.broker.store.physical_range()[1] - offset < 4 else reply


@after(Store.by_key, "A search returns the newest message first.")
def newest_message_is_found_first(found):
    return found[::-1]


@after(MessageQuery.by_key, "The answer to a search says that the index ends a second later.")
def index_state_is_of_the_future(reply):
    at = int(reply.ext["indexLastUpdateTimestamp"])
    reply.ext["indexLastUpdateTimestamp"] = str(at + 1_000)


@mutant(MessageQuery.by_key, "The index is as new as the newest message, be it without a key.")
def index_state_is_of_messages_without_a_key(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    if reply.code == 0:
        reply.ext["indexLastUpdateTimestamp"] = str(self.broker.store.newest)
    return reply


@after(MessageQuery.by_key, "The answer to a search says that the index ends with the last message found.")
def index_state_is_of_what_was_found(reply):
    if reply.body:
        found = decode_messages(reply.body)[-1]
        reply.ext["indexLastUpdatePhyoffset"] = str(found.physical_offset)


def _without(name, reply, store, topic=None):
    """The answer, whose messages (of this topic) lack a property."""
    frames = []
    for message in decode_messages(reply.body):
        if topic in (None, message.topic):
            message.properties.pop(name, None)
        frames.append(store.encoded(message))
    reply.body = b"".join(frames)


@after(MessageQuery.by_key, "Messages that a search finds lack their unique key.")
def searched_messages_lose_properties(reply, self):
    _without(PropertyName.UNIQ_KEY, reply, self.broker.store)


@after(MessageQuery.by_offset, "A message that is viewed lacks its unique key.")
def viewed_messages_lose_properties(reply, self):
    _without(PropertyName.UNIQ_KEY, reply, self.broker.store)


@after(MessageQuery.by_offset, "A delayed message that is viewed does not say to which queue it goes.")
def waiting_messages_lose_properties(reply, self):
    _without(PropertyName.REAL_QUEUE_ID, reply, self.broker.store, TopicName.SCHEDULE)


@after(Statistics.data, "Statistics have no numbers of the last day.")
def statistics_have_no_days(shown):
    del shown["statsDay"]


@mutant(Statistics.exists, "Every statistic exists.")
def every_statistic_is_shown(original, self, name, key):
    return True


@mutant(MessageQuery.key, "A search by tag looks for a key.", ["5.5"])
def tags_find_nothing(original, self, ext):
    return ext.get("key") or ""


@mutant(MessageQuery.key, "Every search is for a tag.", ["5.5"])
def tags_are_keys(original, self, ext):
    return original(self, {**ext, "indexType": "T"})
