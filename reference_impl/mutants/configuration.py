"""Faults of the configuration (codes 318 and 319) and of its file."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.wire import Command, ResponseCode, WireError
from harness.wire.bodies import Properties
from harness.wire.text import java_text
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.config import NOT_IN_49, WITHOUT_EFFECT, Config
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.settings import ALWAYS_REFUSED, Settings
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.values import Value

# -- what is shown -------------------------------------------------------------------------------------------


def _showing(parts: Parts, change: Callable[[Settings, dict[str, str]], dict[str, str]]) -> Parts:
    def pairs(self: Settings) -> dict[str, str]:
        return change(self, parts.settings.pairs(self))

    return parts.override("settings", pairs)


@mutant("settings-are-not-shown", "Code 319 answers without a body.")
def settings_are_not_shown(parts: Parts) -> Parts:
    return _showing(parts, lambda _self, _pairs: {})


@mutant("settings-of-4-9-only", "The settings that came with 5.x are unknown.", V5)
def settings_of_4_9_only(parts: Parts) -> Parts:
    def knows(self: Settings, key: str) -> bool:
        return key not in NOT_IN_49

    return parts.override("settings", knows)


@mutant("inert-settings-are-not-shown", "Code 319 shows the settings only that do something here.")
def inert_settings_are_not_shown(parts: Parts) -> Parts:
    return _showing(
        parts, lambda _self, pairs: {key: pairs[key] for key in pairs if key not in WITHOUT_EFFECT}
    )


@mutant("settings-are-not-sorted", "Code 319 shows the settings in no order.", V5)
def settings_are_not_sorted(parts: Parts) -> Parts:
    return _showing(parts, lambda _self, pairs: dict(sorted(pairs.items(), key=lambda pair: pair[0][::-1])))


@mutant("file-is-ignored", "The server starts with defaults, whatever its file says.")
def file_is_ignored(parts: Parts) -> Parts:
    def refused_keys(self: Settings, listed: str) -> frozenset[str]:
        self.config = Config()
        return parts.settings.refused_keys(self, listed)

    return parts.override("settings", refused_keys)


@mutant("other-keys-are-not-shown", "Keys of the file that no release knows are not shown.")
def other_keys_are_not_shown(parts: Parts) -> Parts:
    return _showing(
        parts, lambda self, pairs: {key: text for key, text in pairs.items() if key in self.fields}
    )


# -- what an update changes ----------------------------------------------------------------------------------


def _updating(parts: Parts, change: Callable[[Settings, Mapping[str, str]], Mapping[str, str]]) -> Parts:
    """What `change` makes of the pairs of an update is what is taken over."""

    def update(self: Settings, pairs: Mapping[str, str]) -> None:
        parts.settings.update(self, change(self, pairs))

    return parts.override("settings", update)


@mutant("update-changes-nothing", "An update is answered with success and changes nothing.")
def update_changes_nothing(parts: Parts) -> Parts:
    return _updating(parts, lambda _self, _pairs: {})


@mutant("update-changes-one-key", "An update changes the first key that it names.")
def update_changes_one_key(parts: Parts) -> Parts:
    return _updating(parts, lambda _self, pairs: dict(list(pairs.items())[:1]))


@mutant("update-forgets-the-one-before", "An update puts back what another one has changed.")
def update_forgets_the_one_before(parts: Parts) -> Parts:
    def update(self: Settings, pairs: Mapping[str, str]) -> None:
        self.config = self.__dict__.setdefault("of_the_start", self.config)
        parts.settings.update(self, pairs)

    return parts.override("settings", update)


@mutant("unknown-keys-are-refused", "An update with a key that the server does not know is refused.")
def unknown_keys_are_refused(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        unknown = [key for key in pairs if key not in self.fields and key not in self.extra]
        return bool(unknown) or parts.settings.refuses(self, pairs)

    return parts.override("settings", refuses)


@mutant("unknown-keys-are-added", "A key that the server does not know is stored and shown.")
def unknown_keys_are_added(parts: Parts) -> Parts:
    def update(self: Settings, pairs: Mapping[str, str]) -> None:
        self.extra |= {key: text for key, text in pairs.items() if key not in self.fields}
        parts.settings.update(self, pairs)

    return parts.override("settings", update)


def _reading(
    parts: Parts, kind_of: type, change: Callable[[str, Callable[[str], Value | None]], Value | None]
) -> Parts:
    """Values of one kind are what `change` makes of the text and of the sound reading."""

    def read(self: Settings, key: str, text: str, kind: Any) -> Value | None:
        def sound(text: str) -> Value | None:
            return parts.settings.read(self, key, text, kind)

        return change(text, sound) if kind is kind_of else sound(text)

    return parts.override("settings", read)


@mutant("bad-number-is-zero", "What is no number is taken for 0.")
def bad_number_is_zero(parts: Parts) -> Parts:
    return _reading(parts, int, lambda text, sound: sound(text) or 0)


@mutant("bad-number-is-refused", "An update with something that is no number is refused whole.")
def bad_number_is_refused(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        bad = [key for key in pairs if key in self.fields and self.read(key, pairs[key], int) is None]
        numbers = [key for key in bad if self.fields[key].type is int]
        return bool(numbers) or parts.settings.refuses(self, pairs)

    return parts.override("settings", refuses)


@mutant("numbers-have-64-bits", "Numbers beyond 32 bits are taken where Apache's server takes an int.")
def numbers_have_64_bits(parts: Parts) -> Parts:
    def wide(text: str, sound: Callable[[str], Value | None]) -> Value | None:
        return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else sound(text)

    return _reading(parts, int, wide)


@mutant("numbers-are-trimmed", "A blank after a number is ignored.")
def numbers_are_trimmed(parts: Parts) -> Parts:
    return _reading(parts, int, lambda text, sound: sound(text.strip()))


@mutant("numbers-have-no-sign", "A number with a sign is none.")
def numbers_have_no_sign(parts: Parts) -> Parts:
    return _reading(parts, int, lambda text, sound: sound(text) if text.isdigit() else None)


@mutant("interval-has-32-bits", "The interval of scans is taken for an int.", V5)
def interval_has_32_bits(parts: Parts) -> Parts:
    def narrow(text: str, sound: Callable[[str], Value | None]) -> Value | None:
        value = sound(text)
        return value if isinstance(value, int) and value < 1 << 31 else None

    return _reading(parts, int, narrow)


@mutant("booleans-are-lower-case", "Only `true` in lower case is true.")
def booleans_are_lower_case(parts: Parts) -> Parts:
    return _reading(parts, bool, lambda text, _sound: text == "true")


@mutant("every-boolean-is-true", "Every word but `false` is true.")
def every_boolean_is_true(parts: Parts) -> Parts:
    return _reading(parts, bool, lambda text, _sound: text != "false")


@mutant("booleans-are-trimmed", "A blank after `true` is ignored.")
def booleans_are_trimmed(parts: Parts) -> Parts:
    return _reading(parts, bool, lambda text, sound: sound(text.strip()))


@mutant("text-is-not-trimmed", "Text keeps the blanks at its end.", V5)
def text_is_not_trimmed(parts: Parts) -> Parts:
    return _reading(parts, str, lambda text, _sound: text)


@mutant("text-is-trimmed", "Text loses the blanks at its end.", ["4.9"])
def text_is_trimmed(parts: Parts) -> Parts:
    return _reading(parts, str, lambda text, _sound: text.strip())


@mutant("update-needs-a-body", "An update without body is refused.")
def update_needs_a_body(parts: Parts) -> Parts:
    def update_config(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(command.body or None, "body")
        return parts.nameserver.update_config(self, command, connection, now)

    return parts.override("nameserver", update_config)


# -- how the text of an update is read -----------------------------------------------------------------------


def _text_read(parts: Parts, read: Callable[[bytes], dict[str, str]]) -> Parts:
    def given_settings(self: NameServer, body: bytes) -> dict[str, str]:
        return read(body)

    return parts.override("nameserver", given_settings)


def _rewritten(parts: Parts, pattern: bytes, by: bytes) -> Parts:
    """The text is read as it should, after every match of the pattern was replaced."""
    return _text_read(parts, lambda body: Properties.decode(re.sub(pattern, by, body)).pairs)


@mutant("remarks-are-read", "The sign of a remark is skipped, and the rest of the line read.")
def remarks_are_read(parts: Parts) -> Parts:
    return _rewritten(parts, rb"(?m)^[ \t]*[#!]", b"")


@mutant("leading-blanks-belong-to-keys", "Blanks before a key are a part of it.")
def leading_blanks_belong_to_keys(parts: Parts) -> Parts:
    return _rewritten(parts, rb"(?m)^[ \t](?=[a-z])", rb"\\ ")


@mutant("only-equals-separates", "A colon or a blank is a part of its key.")
def only_equals_separates(parts: Parts) -> Parts:
    return _rewritten(parts, rb"(?<=[a-z])([: \t])", rb"\\\1")


@mutant("lines-are-not-continued", "A backslash at the end of a line says nothing.")
def lines_are_not_continued(parts: Parts) -> Parts:
    return _rewritten(parts, rb"\\(?=[\r\n])", b"")


@mutant("first-pair-counts", "Of several values for one key the first counts.")
def first_pair_counts(parts: Parts) -> Parts:
    return _text_read(parts, lambda body: Properties.decode(b"\n".join(body.split(b"\n")[::-1])).pairs)


@mutant("escapes-are-kept", "A backslash that ends no line is a character like any other.")
def escapes_are_kept(parts: Parts) -> Parts:
    return _rewritten(parts, rb"\\(?![\r\n])", rb"\\\\")


@mutant("unicode-escapes-are-kept", "`\\u` is an escaped `u`.")
def unicode_escapes_are_kept(parts: Parts) -> Parts:
    return _rewritten(parts, rb"\\u", b"u")


@mutant("bytes-are-utf-8", "The text of an update is read as UTF-8.")
def bytes_are_utf_8(parts: Parts) -> Parts:
    return _text_read(parts, lambda body: Properties.parse(java_text(body)).pairs)


@mutant("malformed-escapes-are-taken", "A malformed escape is read as what it looks like.")
def malformed_escapes_are_taken(parts: Parts) -> Parts:
    return _rewritten(parts, rb"\\u(?![0-9a-fA-F]{4})", b"u")


@mutant(
    "malformed-escapes-end-the-update", "A malformed escape is refused; the lines before it are taken over."
)
def malformed_escapes_end_the_update(parts: Parts) -> Parts:
    def given_settings(self: NameServer, body: bytes) -> dict[str, str]:
        try:
            return parts.nameserver.given_settings(self, body)
        except WireError:
            self.settings.update(parts.nameserver.given_settings(self, body.partition(b"\n")[0]))
            raise

    return parts.override("nameserver", given_settings)


@mutant("malformed-escape-has-no-remark", "The refusal of a malformed escape has no remark.")
def malformed_escape_has_no_remark(parts: Parts) -> Parts:
    def update_config(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.update_config(self, command, connection, now)
        return Reply(reply.code) if reply.code == ResponseCode.SYSTEM_ERROR else reply

    return parts.override("nameserver", update_config)


# -- what an update may not change ---------------------------------------------------------------------------


def _black_listing(parts: Parts, change: Callable[[frozenset[str], str], frozenset[str]]) -> Parts:
    """The black list is what `change` makes of the sound one and of `configBlackList`."""

    def refused_keys(self: Settings, listed: str) -> frozenset[str]:
        return change(parts.settings.refused_keys(self, listed), listed)

    return parts.override("settings", refused_keys)


@mutant("home-can-be-changed", "rocketmqHome can be changed.", V5)
def home_can_be_changed(parts: Parts) -> Parts:
    return _black_listing(parts, lambda sound, _listed: sound - {"rocketmqHome"})


@mutant("black-list-can-be-changed", "configBlackList can be changed.", V5)
def black_list_can_be_changed(parts: Parts) -> Parts:
    return _black_listing(parts, lambda sound, _listed: sound - {"configBlackList"})


@mutant("black-list-is-fixed", "configBlackList is ignored.", V5)
def black_list_is_fixed(parts: Parts) -> Parts:
    return _black_listing(parts, lambda _sound, _listed: ALWAYS_REFUSED)


@mutant("black-list-is-one-key", "configBlackList is taken for one key.", V5)
def black_list_is_one_key(parts: Parts) -> Parts:
    return _black_listing(parts, lambda _sound, listed: ALWAYS_REFUSED | {listed})


@mutant("black-list-replaces-apache-s", "configBlackList says all that is refused.", V5)
def black_list_replaces_apache_s(parts: Parts) -> Parts:
    return _black_listing(parts, lambda _sound, listed: frozenset(listed.split(";")))


@mutant("refused-update-is-carried-out", "A refused update is carried out (apache/rocketmq#7649).")
def refused_update_is_carried_out(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        refused = parts.settings.refuses(self, pairs)
        if refused:
            self.update(pairs)
        return refused

    return parts.override("settings", refuses)


@mutant(
    "refused-keys-are-left-out", "Of a refused update the keys that are not on the black list are changed."
)
def refused_keys_are_left_out(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        refused = parts.settings.refuses(self, pairs)
        if refused:
            self.update({key: text for key, text in pairs.items() if key not in self.black_list})
        return refused

    return parts.override("settings", refuses)


@mutant("black-list-wants-a-value", "A key of the black list is refused if it has a value.")
def black_list_wants_a_value(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        return parts.settings.refuses(self, {key: text for key, text in pairs.items() if text})

    return parts.override("settings", refuses)


@mutant("black-list-ignores-case", "Keys of the black list are refused in any case.")
def black_list_ignores_case(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        return bool({key.lower() for key in self.black_list} & {key.lower() for key in pairs})

    return parts.override("settings", refuses)


@mutant(
    "black-list-reads-the-text", "The black list is looked for in the text: `key=` at the start of a line."
)
def black_list_reads_the_text(parts: Parts) -> Parts:
    def given_settings(self: NameServer, body: bytes) -> dict[str, str]:
        pairs = parts.nameserver.given_settings(self, body)
        written = {line.partition(b"=")[0].decode("latin-1") for line in body.split(b"\n") if b"=" in line}
        if self.settings.refuses(pairs) and self.settings.black_list.isdisjoint(written):
            self.settings.update(pairs)
            return {}
        return pairs

    return parts.override("nameserver", given_settings)


@mutant("refusal-has-another-remark", "The remark of a refused update is not Apache's.", V5)
def refusal_has_another_remark(parts: Parts) -> Parts:
    def update_config(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.update_config(self, command, connection, now)
        return Reply(reply.code, remark="no") if reply.code == ResponseCode.NO_PERMISSION else reply

    return parts.override("nameserver", update_config)


# -- what the server then does -------------------------------------------------------------------------------


@mutant("settings-are-those-of-the-start", "An update is shown and written, and changes nothing else.")
def settings_are_those_of_the_start(parts: Parts) -> Parts:
    def update(self: Settings, pairs: Mapping[str, str]) -> None:
        in_force, self.config = self.config, self.__dict__.get("shown", self.config)
        parts.settings.update(self, pairs)
        self.__dict__["shown"], self.config = self.config, in_force

    def pairs(self: Settings) -> dict[str, str]:
        in_force, self.config = self.config, self.__dict__.get("shown", self.config)
        found = parts.settings.pairs(self)
        self.config = in_force
        return found

    return parts.override("settings", update).override("settings", pairs)


@mutant("routes-are-those-before-the-update", "A route that was asked for before an update is not made anew.")
def routes_are_those_before_the_update(parts: Parts) -> Parts:
    def update(self: Settings, pairs: Mapping[str, str]) -> None:
        parts.settings.update(self, pairs)
        self.revision -= 1

    return parts.override("settings", update)


@mutant("idle-limit-is-that-of-the-start", "Connections are as long idle as the server was started with.")
def idle_limit_is_that_of_the_start(parts: Parts) -> Parts:
    def idle_limit(self: Endpoint) -> int | None:
        limit: int | None = self.__dict__.setdefault("limit", parts.endpoint.idle_limit(self))
        return limit

    return parts.override("endpoint", idle_limit)


# -- the file ------------------------------------------------------------------------------------------------


@mutant("updates-are-not-written", "The configuration is never written.")
def updates_are_not_written(parts: Parts) -> Parts:
    def changed(self: Settings) -> None:
        return None

    return parts.override("settings", changed)


@mutant("first-update-is-written", "The configuration is written once and then no more.")
def first_update_is_written(parts: Parts) -> Parts:
    def changed(self: Settings) -> None:
        self.unwritten = self.revision == 1

    return parts.override("settings", changed)


@mutant("refused-update-is-written", "A refused update is in the file, and so in force after a restart.")
def refused_update_is_written(parts: Parts) -> Parts:
    def refuses(self: Settings, pairs: Mapping[str, str]) -> bool:
        refused = parts.settings.refuses(self, pairs)
        if refused:
            self.__dict__["refused"] = dict(pairs)
            self.changed()
        return refused

    def dump(self: Settings) -> bytes:
        refused = self.__dict__.pop("refused", {})
        return Properties(self.pairs() | refused).encode()

    return parts.override("settings", refuses).override("settings", dump)


@mutant("other-keys-are-not-written", "Keys of the file that no release knows are gone after an update.")
def other_keys_are_not_written(parts: Parts) -> Parts:
    def dump(self: Settings) -> bytes:
        return Properties({key: text for key, text in self.pairs().items() if key in self.fields}).encode()

    return parts.override("settings", dump)


@mutant("values-are-written-as-they-are", "Values are listed and written without escapes.")
def values_are_written_as_they_are(parts: Parts) -> Parts:
    def dump(self: Settings) -> bytes:
        return "".join(f"{key}={text}\n" for key, text in self.pairs().items()).encode()

    return parts.override("settings", dump)
