"""Settings of the reference NameServer, under the names that Apache's `namesrv.properties` uses.

Rules:
1. Only settings that have an effect in the reference exist here; any other key is a warning, never an error,
   so that a file written for Apache can be used as it is.
2. A value of the wrong kind is refused with key, value and what was expected. (Apache ignores it silently at
   runtime and keeps the default; a server that starts with another setting than its file says helps nobody.)
3. Units are those of Apache: see each field.

Source: NamesrvConfig, NettyServerConfig of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["Config", "ConfigError", "Loaded", "parse_properties"]


class ConfigError(ValueError):
    """A configuration file that cannot be used; the text says where, what was found and what was expected."""


class Config(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Effective settings; defaults are Apache's."""

    listen_port: int = 9876
    """TCP port, 0 for any free one."""
    bind_address: str = "0.0.0.0"
    """Address to listen on."""
    kv_config_path: str = ""
    """File of the KV table. Empty: in memory only. (Apache: `<user.home>/namesrv/kvConfig.json`.)"""
    server_channel_max_idle_time_seconds: int = 120
    """For how long a connection may go without a whole frame either way before it is closed; 0: for ever."""
    order_message_enable: bool = False
    """Show `orderTopicConf` in routes."""
    return_order_topic_config_to_broker: bool = True
    """5.3: answer a registration with the order-topic table."""
    scan_not_active_broker_interval: int = 5000
    """5.3: milliseconds between two expiry scans (4.9: fixed)."""
    un_register_broker_queue_capacity: int = 3000
    """5.3: unregistrations that may wait for the worker."""
    support_acting_master: bool = False
    """5.3: show the smallest slave of a name without master as id 0 in routes."""
    delete_topic_with_broker_registration: bool = False
    """5.3: a registration removes the broker's topics that it does not list."""
    enable_all_topic_list: bool = True
    """5.3: answer code 206."""
    enable_topic_list: bool = True
    """5.3: answer codes 224, 311, 312 and 313."""
    need_wait_for_service: bool = False
    """5.3: refuse routes until `waitSecondsForService` have passed since the start."""
    wait_seconds_for_service: int = 45
    """5.3: see `needWaitForService`."""

    @classmethod
    def from_properties(cls, text: str) -> "Loaded":
        """Read the text of a Java `.properties` file. Raises ConfigError on a bad value."""
        pairs = parse_properties(text)
        known = {field.encode_name for field in msgspec.structs.fields(cls)}
        return Loaded(
            cls.of({key: value for key, value in pairs.items() if key in known}),
            tuple(key for key in pairs if key not in known),
        )

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> "Config":
        """The settings of these pairs. Raises ConfigError on an unknown key or a bad value."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(cls)}
        unknown = [key for key in pairs if key not in fields]
        if unknown:
            raise ConfigError(f"{unknown[0]}: no such setting; expected one of {', '.join(sorted(fields))}")
        values: dict[str, Any] = {
            fields[key].name: _value(key, pairs[key], fields[key].type) for key in pairs
        }
        return cls(**values)

    def lines(self) -> list[str]:
        """`key=value` for each setting, sorted by key."""
        names = {field.encode_name: getattr(self, field.name) for field in msgspec.structs.fields(type(self))}
        return [
            f"{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in sorted(names.items())
        ]


class Loaded(msgspec.Struct, frozen=True):
    """A configuration and the keys of its file that have no effect here."""

    config: Config
    without_effect: tuple[str, ...]


def _value(key: str, text: str, kind: Any) -> int | bool | str:
    text = text.strip()
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{key}={text}: expected true or false")
        return text.lower() == "true"
    if kind is int:
        if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
            raise ConfigError(f"{key}={text}: expected a whole number from 0 to 999999999")
        number = int(text)
        if key == "listenPort" and number > 65535:
            raise ConfigError(f"{key}={text}: expected a port from 0 to 65535")
        if key in ("scanNotActiveBrokerInterval", "unRegisterBrokerQueueCapacity") and number == 0:
            raise ConfigError(f"{key}={text}: expected a number greater than 0")
        return number
    return text


_SEPARATOR = re.compile(r"(?<!\\)((?:\\\\)*)[ \t\f]*([=: \t\f])[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.)", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """The key/value pairs of a Java `.properties` text: comments, continuation lines, escapes; a later key
    wins.

    Raises ConfigError for a malformed `\\u` escape, with its line.
    """
    pairs: dict[str, str] = {}
    for number, line in _logical_lines(text):
        match = _SEPARATOR.search(line)
        key, value = (line[: match.end(1)], line[match.end() :]) if match else (line, "")
        pairs[_unescape(key, number)] = _unescape(value, number)
    return pairs


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """(line number, line) with comments and blanks dropped and continued lines joined."""
    lines: list[tuple[int, str]] = []
    pending: str | None = None
    start = 0
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.lstrip(" \t\f")
        if pending is None:
            if not line or line[0] in "#!":
                continue
            start, pending = number, ""
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1]
            continue
        lines.append((start, pending + line))
        pending = None
    if pending is not None:
        lines.append((start, pending))
    return lines


def _unescape(text: str, line: int) -> str:
    def replace(match: re.Match[str]) -> str:
        what = match.group(1)
        if what == "u":
            raise ConfigError(f"line {line}: \\u must be followed by four hexadecimal digits")
        return chr(int(what[1:], 16)) if len(what) == 5 else _PLAIN.get(what, what)

    # Two escapes may be the halves of one character.
    return _ESCAPE.sub(replace, text).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
