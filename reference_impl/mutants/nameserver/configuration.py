"""Faults of the configuration (codes 318 and 319) and of its file."""

import re

import msgspec

from harness.wire import ResponseCode, WireError
from harness.wire.bodies import Properties
from harness.wire.text import java_text
from reference_impl.mutants.registry import V4, V5, after, family, mutant
from reference_impl.nameserver.config import NOT_IN_49, WITHOUT_EFFECT, Config
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.settings import ALWAYS_REFUSED, Settings
from reference_impl.remoting.reply import Reply

# -- what is shown -------------------------------------------------------------------------------------------


@mutant(Settings.pairs, "Code 319 answers without a body.")
def settings_are_not_shown(original, self):
    return {}


@mutant(Settings.knows, "The settings introduced in 5.x are unknown.", V5)
def settings_of_4_9_only(original, self, key):
    return key not in NOT_IN_49


@after(Settings.pairs, "Code 319 omits settings without effect.")
def inert_settings_are_not_shown(pairs):
    return {key: pairs[key] for key in pairs if key not in WITHOUT_EFFECT}


@after(Settings.pairs, "Code 319 returns unsorted settings.", V5)
def settings_are_not_sorted(pairs):
    return dict(sorted(pairs.items(), key=lambda pair: pair[0][::-1]))


@mutant(Settings.refused_keys, "The server ignores its settings file.")
def file_is_ignored(original, self, listed):
    self.config = Config()
    return original(self, listed)


@after(Settings.pairs, "Code 319 does not list rocketmqHome.")
def home_is_not_shown(pairs):
    return {key: text for key, text in pairs.items() if key != "rocketmqHome"}


@after(Settings.pairs, "Unknown keys of the file are not listed.")
def other_keys_are_not_shown(pairs, self):
    return {key: text for key, text in pairs.items() if key in self.fields}


# -- what an update changes ----------------------------------------------------------------------------------


@mutant(Settings.update, "An update succeeds and changes nothing.")
def update_changes_nothing(original, self, pairs):
    original(self, {})


@mutant(Settings.update, "An update changes only its first key.")
def update_changes_one_key(original, self, pairs):
    original(self, dict(list(pairs.items())[:1]))


@mutant(Settings.update, "An update reverts the previous one.")
def update_forgets_the_one_before(original, self, pairs):
    self.config = self.__dict__.setdefault("of_the_start", self.config)
    original(self, pairs)


@mutant(NameServer.given_settings, "An update is read up to 64 KiB.")
def updates_end_at_64_kib(original, self, body):
    return original(self, body[: 2**16])


@mutant(Settings.refuses, "An update with a key that the server does not know is refused.")
def unknown_keys_are_refused(original, self, pairs):
    unknown = [key for key in pairs if key not in self.fields and key not in self.extra]
    return bool(unknown) or original(self, pairs)


@mutant(Settings.update, "A key that the server does not know is stored and shown.")
def unknown_keys_are_added(original, self, pairs):
    self.extra |= {key: text for key, text in pairs.items() if key not in self.fields}
    original(self, pairs)


def _reading(kind_of):
    """Values of one kind are what a rule makes of the text and of the sound reading."""

    @family(Settings.read)
    def read(change, original, self, key, text, kind):
        def sound(text):
            return original(self, key, text, kind)

        return change(text, sound) if kind is kind_of else sound(text)

    return read


_reading_number, _reading_boolean, _reading_text = map(_reading, (int, bool, str))


@_reading_number("A value that is not a number is read as 0.")
def bad_number_is_zero(text, sound):
    return sound(text) or 0


@mutant(Settings.refuses, "An update with a non-numeric value is refused as a whole.")
def bad_number_is_refused(original, self, pairs):
    bad = [key for key in pairs if key in self.fields and self.read(key, pairs[key], int) is None]
    numbers = [key for key in bad if self.fields[key].type is int]
    return bool(numbers) or original(self, pairs)


@_reading_number("64-bit numbers are accepted where Apache's server reads an int.")
def numbers_have_64_bits(text, sound):
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else sound(text)


@_reading_number("A blank after a number is ignored.")
def numbers_are_trimmed(text, sound):
    return sound(text.strip())


@_reading_number("A number with a sign is not a number.")
def numbers_have_no_sign(text, sound):
    return sound(text) if text.isdigit() else None


@_reading_number("The scan interval is read as an int.", V5)
def interval_has_32_bits(text, sound):
    value = sound(text)
    return value if isinstance(value, int) and value < 1 << 31 else None


@_reading_boolean("Only `true` in lower case is true.")
def booleans_are_lower_case(text, _sound):
    return text == "true"


@_reading_boolean("Every word but `false` is true.")
def every_boolean_is_true(text, _sound):
    return text != "false"


@_reading_boolean("A blank after `true` is ignored.")
def booleans_are_trimmed(text, sound):
    return sound(text.strip())


@_reading_text("Text keeps the blanks at its end.", V5)
def text_is_not_trimmed(text, _sound):
    return text


@_reading_text("Text loses the blanks at its end.", V4)
def text_is_trimmed(text, _sound):
    return text.strip()


@mutant(Settings.refused_keys, "Text of the file keeps the blanks at its end.", V5)
def text_of_the_file_is_not_trimmed(original, self, listed):
    self.config = msgspec.structs.replace(
        self.config, product_env_name=self.config.file.get("productEnvName", "")
    )
    return original(self, listed)


@mutant(Settings.refused_keys, "Text of the file loses the blanks at its end.", V4)
def text_of_the_file_is_trimmed(original, self, listed):
    self.config = msgspec.structs.replace(self.config, product_env_name=self.config.product_env_name.strip())
    return original(self, listed)


@mutant(NameServer.update_config, "An update without body is refused.")
def update_needs_a_body(original, self, command, connection, now):
    self.needed(command.body or None, "body")
    return original(self, command, connection, now)


# -- how the text of an update is read -----------------------------------------------------------------------


@mutant(NameServer.given_settings, "The sign of a remark is skipped, and the rest of the line read.")
def remarks_are_read(original, self, body):
    return Properties.decode(re.sub(rb"(?m)^[ \t]*[#!]", b"", body)).pairs


@mutant(NameServer.given_settings, "Blanks before a key are a part of it.")
def leading_blanks_belong_to_keys(original, self, body):
    return Properties.decode(re.sub(rb"(?m)^[ \t](?=[a-z])", rb"\\ ", body)).pairs


@mutant(NameServer.given_settings, "A colon or a blank is a part of its key.")
def only_equals_separates(original, self, body):
    return Properties.decode(re.sub(rb"(?<=[a-z])([: \t])", rb"\\\1", body)).pairs


@mutant(NameServer.given_settings, "A backslash at the end of a line is ignored.")
def lines_are_not_continued(original, self, body):
    return Properties.decode(re.sub(rb"\\(?=[\r\n])", b"", body)).pairs


@mutant(NameServer.given_settings, "A line that continues another one and begins with # is a comment.")
def comments_are_looked_for_in_continued_lines(original, self, body):
    return Properties.decode(re.sub(rb"(?<=\\\n)[#!].*", b"", body)).pairs


@mutant(NameServer.given_settings, "The first of several values for one key applies.")
def first_pair_counts(original, self, body):
    return Properties.decode(b"\n".join(body.split(b"\n")[::-1])).pairs


@mutant(NameServer.given_settings, "A backslash within a line is kept as a character.")
def escapes_are_kept(original, self, body):
    return Properties.decode(re.sub(rb"\\(?![\r\n])", rb"\\\\", body)).pairs


@mutant(NameServer.given_settings, "`\\u` is an escaped `u`.")
def unicode_escapes_are_kept(original, self, body):
    return Properties.decode(re.sub(rb"\\u", b"u", body)).pairs


@mutant(NameServer.given_settings, "The text of an update is decoded as UTF-8.")
def bytes_are_utf_8(original, self, body):
    return Properties.parse(java_text(body)).pairs


@mutant(NameServer.given_settings, "A malformed escape is read literally.")
def malformed_escapes_are_taken(original, self, body):
    return Properties.decode(re.sub(rb"\\u(?![0-9a-fA-F]{4})", b"u", body)).pairs


@mutant(NameServer.given_settings, "A malformed escape is refused after applying the lines before it.")
def malformed_escapes_end_the_update(original, self, body):
    try:
        return original(self, body)
    except WireError:
        self.settings.update(original(self, body.partition(b"\n")[0]))
        raise


@after(NameServer.update_config, "The refusal of a malformed escape has no remark.")
def malformed_escape_has_no_remark(reply):
    return Reply(reply.code) if reply.code == ResponseCode.SYSTEM_ERROR else reply


# -- what an update may not change ---------------------------------------------------------------------------


@mutant(Settings.refused_keys, "rocketmqHome can be changed.", V5)
def home_can_be_changed(original, self, listed):
    return original(self, listed) - {"rocketmqHome"}


@mutant(Settings.refused_keys, "configBlackList can be changed.", V5)
def black_list_can_be_changed(original, self, listed):
    return original(self, listed) - {"configBlackList"}


@mutant(Settings.refused_keys, "configBlackList is ignored.", V5)
def black_list_is_fixed(original, self, listed):
    return ALWAYS_REFUSED


@mutant(Settings.refused_keys, "configBlackList is read as a single key.", V5)
def black_list_is_one_key(original, self, listed):
    return ALWAYS_REFUSED | {listed}


@mutant(Settings.refused_keys, "configBlackList replaces Apache's list.", V5)
def black_list_replaces_apache_s(original, self, listed):
    return frozenset(listed.split(";"))


@after(Settings.refuses, "A refused update is executed (apache/rocketmq#7649).")
def refused_update_is_carried_out(refused, self, pairs):
    if refused:
        self.update(pairs)


@mutant(Settings.refused_keys, "A configBlackList of semicolons names the empty key.", V5)
def semicolons_list_the_empty_key(original, self, listed):
    return original(self, listed) | {""}


@mutant(Settings.refused_keys, "An empty configBlackList names no key.", V5)
def empty_black_list_lists_nothing(original, self, listed):
    return original(self, listed or ";")


@after(NameServer.given_settings, "A line of one backslash at the end of an update is skipped.", V5)
def lone_backslash_is_nothing(pairs, body):
    is_lone = re.search(rb"(^|\n)\\\n?$", body)
    return {key: value for key, value in pairs.items() if key} if is_lone else pairs


@after(NameServer.given_settings, "A line of one backslash before a remark names the empty key.", V5)
def lone_backslash_outlives_a_remark(pairs, body):
    return pairs | {"": ""} if re.search(rb"(^|\n)\\\n#[^\n]*\\$", body) else pairs


@after(Settings.refuses, "A refused update still changes keys that are not on the black list.")
def refused_keys_are_left_out(refused, self, pairs):
    if refused:
        self.update({key: text for key, text in pairs.items() if key not in self.black_list})


@mutant(Settings.refuses, "A key of the black list is refused if it has a value.")
def black_list_wants_a_value(original, self, pairs):
    return original(self, {key: text for key, text in pairs.items() if text})


@mutant(Settings.refuses, "Keys of the black list are refused in any case.")
def black_list_ignores_case(original, self, pairs):
    return bool({key.lower() for key in self.black_list} & {key.lower() for key in pairs})


@after(NameServer.given_settings, "The black list is looked for in the text: `key=` at the start of a line.")
def black_list_reads_the_text(pairs, self, body):
    written = {line.partition(b"=")[0].decode("latin-1") for line in body.split(b"\n") if b"=" in line}
    if self.settings.refuses(pairs) and self.settings.black_list.isdisjoint(written):
        self.settings.update(pairs)
        return {}
    return pairs


@after(NameServer.update_config, "The remark of a refused update is not Apache's.", V5)
def refusal_has_another_remark(reply):
    return Reply(reply.code, remark="no") if reply.code == ResponseCode.NO_PERMISSION else reply


# -- what the server then does -------------------------------------------------------------------------------


@mutant(Settings.update, "An update is shown and written, and changes nothing else.")
def settings_are_those_of_the_start(original, self, pairs):
    in_force, self.config = self.config, self.__dict__.get("shown", self.config)
    original(self, pairs)
    self.__dict__["shown"], self.config = self.config, in_force


@settings_are_those_of_the_start.also(Settings.pairs)
def _(original, self):
    in_force, self.config = self.config, self.__dict__.get("shown", self.config)
    found = original(self)
    self.config = in_force
    return found


@mutant(Settings.update, "Routes encoded before an update are not rebuilt.")
def routes_are_those_before_the_update(original, self, pairs):
    original(self, pairs)
    self.revision -= 1


@mutant(NameServer.route_reply, "As many updates as changes of routes hide these changes.")
def changes_of_routes_and_settings_cancel(original, self, topic, standard, now):
    return _kept(original, self, topic, standard, now, self.routes.revision - self.settings.revision)


@mutant(NameServer.route_reply, "As many entries of the KV table as changes of routes hide these changes.")
def changes_of_routes_and_entries_cancel(original, self, topic, standard, now):
    return _kept(original, self, topic, standard, now, self.routes.revision - self.kv.revision)


def _kept(original, self, topic, standard, now, revision):
    """The reply that was encoded at the same revision, whatever has changed since."""
    if self.__dict__.get("kept_at") == revision:
        self._encoded_at = self.routes.revision + self.kv.revision + self.settings.revision
    self.__dict__["kept_at"] = revision
    return original(self, topic, standard, now)


@mutant(Endpoint.idle_limit, "The idle limit of connections never changes after startup.")
def idle_limit_is_that_of_the_start(original, self):
    limit: int | None = self.__dict__.setdefault("limit", original(self))
    return limit


@mutant(Endpoint._idle, "Connections with an older idle limit stay for as long as those with the latest one.")
def latest_idle_limit_alone_is_watched(original, self):
    limits = self._awake
    self._awake = dict(list(limits.items())[-1:])
    found = original(self)
    self._awake = limits
    return found


@mutant(Endpoint.idle_limit, "An idle limit of 0 or less is the default.")
def no_idle_limit_is_that_by_default(original, self):
    return original(self) or 120_000


# -- the file ------------------------------------------------------------------------------------------------


@mutant(Settings.changed, "Updates are never written to the file.")
def updates_are_not_written(original, self):
    return None


@mutant(Settings.changed, "Only the first update is written to the file.")
def first_update_is_written(original, self):
    self.unwritten = self.revision == 1


@after(Settings.refuses, "A refused update is written to the file and applies after a restart.")
def refused_update_is_written(refused, self, pairs):
    if refused:
        self.__dict__["refused"] = dict(pairs)
        self.changed()


@refused_update_is_written.also(Settings.dump)
def _(original, self):
    refused = self.__dict__.pop("refused", {})
    return Properties(self.pairs() | refused).encode()


@mutant(Settings.dump, "An update drops keys of the file that no release knows.")
def other_keys_are_not_written(original, self):
    return Properties({key: text for key, text in self.pairs().items() if key in self.fields}).encode()


@mutant(Settings.dump, "Values are listed and written without escapes.")
def values_are_written_as_they_are(original, self):
    return "".join(f"{key}={text}\n" for key, text in self.pairs().items()).encode()
