"""Faults of the settings and of the information about the running server."""

import re

import msgspec

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import KvTable
from harness.wire.broker_settings import broker_settings
from reference_impl.broker.core import Broker
from reference_impl.broker.runtime import Runtime
from reference_impl.broker.settings import Settings
from reference_impl.mutants.registry import BEFORE_55, V4, V5, after, mutant
from reference_impl.remoting.reply import Reply

from .answering import answered


@answered(RequestCode.GET_BROKER_CONFIG, "Code 26 answers without a body.")
def broker_settings_are_not_shown():
    return Reply(0)


@answered(RequestCode.UPDATE_BROKER_CONFIG, "Code 25 changes nothing.")
def broker_settings_do_not_change():
    return Reply(0)


@mutant(Settings.take, "An update with a number that cannot be read changes nothing.")
def bad_numbers_spoil_updates(original, self, pairs, now):
    if all(pairs.get(name, "0").isdecimal() for name in ("maxMessageSize", "fileReservedTime")):
        original(self, pairs, now)


@mutant(Settings.update, "An update is read up to 64 KiB.")
def broker_updates_end_at_64_kib(original, self, command, connection, now):
    return original(self, msgspec.structs.replace(command, body=command.body[: 2**16]), connection, now)


@mutant(Settings.refuses, "Every setting can be changed.", V5)
def broker_black_list_ignored(original, self, pairs):
    return False


@answered(RequestCode.GET_BROKER_RUNTIME_INFO, "Code 28 answers with an empty table.")
def state_is_not_shown():
    return Reply(0, body=KvTable().encode())


@after(Runtime.information, "The runtime information gives the present as the time of the start.")
def state_begins_with_each_question(found, now):
    found["bootTimestamp"] = str(now)


@mutant(Runtime.running, "The runtime information tells no minutes.")
def broker_has_run_for_less_than_a_minute(original, self, now):
    return re.sub(r"\d+ minutes", "0 minutes", original(self, now))


@mutant(Runtime.running, "A minute of the runtime information has 59 seconds.")
def minutes_have_59_seconds(original, self, now):
    seconds = (now - self.broker.started) // 1_000 % 59
    return re.sub(r"\d+ seconds", f"{seconds} seconds", original(self, now))


@after(Runtime.information, "The runtime information omits the Broker's release.")
def state_without_version(found):
    del found["brokerVersionDesc"]


@after(Runtime.information, "The runtime information omits the number of the Broker's release.", BEFORE_55)
def state_without_number_of_version(found):
    del found["brokerVersion"]


@mutant(Broker.unknown_request, "The server does not answer an unknown request code.")
def unknown_codes_are_not_answered(original, self, command):
    return None


def _rewritten(original, pattern, by, self, command, connection, now):
    """An update whose text was changed first."""
    body = re.sub(pattern, by, command.body or b"")
    return original(self, msgspec.structs.replace(command, body=body), connection, now)


@mutant(Settings.update, "A colon or a blank in an update is a part of its key.")
def broker_updates_know_only_equals(original, *given):
    return _rewritten(original, rb"(?<=[a-z])([: \t])", rb"\\\1", *given)


@mutant(Settings.update, "The sign of a comment in an update is skipped, and the rest of the line read.")
def broker_updates_know_no_comments(original, *given):
    return _rewritten(original, rb"(?m)^[ \t]*[#!]", b"", *given)


@mutant(Settings.update, "A backslash at the end of a line of an update is ignored.")
def broker_updates_are_not_continued(original, *given):
    return _rewritten(original, rb"\\(?=[\r\n])", b"", *given)


@mutant(Settings.update, "A backslash within a line of an update is kept.")
def broker_updates_keep_escapes(original, *given):
    return _rewritten(original, rb"\\(?![\r\nu])", rb"\\\\", *given)


@mutant(Settings.update, "The first of several values for one key of an update applies.")
def broker_updates_take_the_first_pair(original, self, command, connection, now):
    lines = (command.body or b"").split(b"\n")
    if any(line.endswith((b"\\", b"\\\r")) for line in lines):
        return original(self, command, connection, now)
    turned = msgspec.structs.replace(command, body=b"\n".join(lines[::-1]))
    return original(self, turned, connection, now)


@mutant(Settings.refuses, "A key of the black list may be changed to nothing.", V5)
def broker_black_list_lets_empty_values_pass(original, self, pairs):
    return original(self, {key: text for key, text in pairs.items() if text})


@mutant(Settings.update, "Settings are updated although their text cannot be read.")
def broken_settings_are_taken(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(0) if reply.code == ResponseCode.SYSTEM_ERROR else reply


@mutant(Settings.take, "The settings that 4.9 does not have cannot be changed.", V5)
def settings_of_the_later_line_are_unknown(original, self, pairs, now):
    original(self, {key: text for key, text in pairs.items() if key in broker_settings("4.9")}, now)


@after(Settings.show, "Settings that the line does not have are shown.", V4)
def settings_of_the_later_line_are_taken(reply):
    reply.body += b"litePullMessageEnable=false\n"


@after(Settings.pairs, "Only the settings that do something are shown.")
def settings_that_do_nothing_are_hidden(found, self):
    return {key: text for key, text in found.items() if key not in self.in_force.extra}


@after(Settings.pairs, "Of the settings of the file that do nothing, one alone is shown with its value.")
def one_setting_of_the_file_is_shown(found, self):
    known = broker_settings(self.profile.name)
    given = [key for key in self.config.file if key in known and key not in self.in_force.fields]
    return found | {key: known[key].default or "" for key in given[1:]}


@after(Settings.pairs, "Settings that are empty at first are never shown.")
def addresses_are_not_shown(found):
    for key in ("haMasterAddress", "namesrvAddr"):
        found.pop(key, None)


@after(Settings.pairs, "Addresses that have no value are shown as empty ones.")
def addresses_without_a_value_are_shown(found):
    found.setdefault("haMasterAddress", "")


@after(Settings.pairs, "A time is shown with its unit.")
def times_are_shown_with_units(found):
    found["waitTimeMillsInSendQueue"] += "ms"


@after(Settings.pairs, "A setting begins with another default than Apache's.", BEFORE_55)
def defaults_of_another_broker(found):
    found["syncFlushTimeout"] = "6000"


@mutant(Settings.take, "A setting takes any value.")
def settings_take_any_value(original, self, pairs, now):
    original(self, pairs, now)
    extra = self.in_force.extra
    extra |= {key: text for key, text in pairs.items() if key in extra}


@mutant(Settings.take, "A setting that does nothing cannot be changed.")
def settings_that_do_nothing_stay(original, self, pairs, now):
    original(self, {key: text for key, text in pairs.items() if key in self.in_force.fields}, now)


@after(Runtime.information, "The runtime information has no delay levels.")
def levels_are_not_among_the_state(found):
    return {key: value for key, value in found.items() if not key.startswith("scheduleMessageOffset")}


@after(Runtime.information, "All messages that wait for their level count as delivered.")
def all_levels_count_as_delivered(found):
    levels = {key: value for key, value in found.items() if key.startswith("scheduleMessageOffset")}
    return found | {key: f"{value.split(',')[1]},{value.split(',')[1]}" for key, value in levels.items()}


@after(Runtime.information, "The state lacks what 5.x adds to it.", V5)
def state_lacks_what_5x_adds(found):
    return {key: value for key, value in found.items() if not key.startswith(("ack", "litePull", "timer"))}


@after(Runtime.information, "The state counts messages, and not their bytes.")
def state_counts_no_bytes(found):
    return found | {"putMessageSizeTotal": "0", "putMessageAverageSize": "0.0"}


@mutant(Settings.update, "An update of the settings without a body is refused.")
def settings_need_a_body(original, self, command, connection, now):
    return original(self, command, connection, now) if command.body else Reply(ResponseCode.SYSTEM_ERROR)


@after(Runtime.information, "The number of messages and what is to be flushed are exchanged.")
def state_swaps_totals(found):
    one, other = "putMessageTimesTotal", "remainHowManyDataToFlush"
    found[one], found[other] = found[other], found[one]


@mutant(Runtime.information, "The totals leave out the first topic.")
def state_counts_one_topic(original, self, now):
    found, store = original(self, now), self.broker.store
    last = list(store.topics().items())[1:]
    count = sum(store.max_offset(topic, queue) for topic, queues in last for queue in queues)
    return found | dict.fromkeys(("msgPutTotalTodayNow", "putMessageTimesTotal"), str(count))


@mutant(Runtime.earliest, "The time of the oldest message is that of the newest one.", V5)
def oldest_message_is_the_newest(original, self):
    return self.broker.store.newest() or original(self)


@mutant(Settings.take, "A change of the settings leaves their version as it is.")
def settings_keep_their_version(original, self, pairs, now):
    version = self.version
    original(self, pairs, now)
    self.version = version


@after(Runtime.information, "The state lacks the rate of messages that were transferred.")
def state_lacks_a_rate(found):
    for name in ("getTransferedTps", "getTransferredTps"):
        found.pop(name, None)
