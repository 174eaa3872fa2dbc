"""Values of `harness.testing` as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

import msgspec

from harness import testing
from harness.testing.fault import Met
from harness.testing.servers import Away


class Message(testing.Message, frozen=True, kw_only=True):
    """One stored message. `body` is base64, `text` the same as UTF-8, or null where it is none. Times are ms
    since the epoch.
    """

    as_text: str | None = msgspec.field(name="text")


class Pending(testing.Pending, frozen=True, kw_only=True):
    """A message that consumers do not see yet. `due` is when it is delivered, ms since the epoch; null: when
    its producer commits.
    """

    message: Message


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that has begun, and the requests that have met it so far."""

    id: int
    title: str
    met: list[Met]


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A server of the cluster."""

    name: str
    role: Literal["nameserver", "master", "slave"]
    address: str
    serves: bool
    """Whether it is there and answers."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What runs here. `namesrv` is what clients are given as address of the NameServers."""

    version: str
    profile: str
    namesrv: str
    servers: list[Server]


class Wanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A condition on messages: all that is given is so. `key` is one of the keys of a message."""

    text: str | None = None
    tags: str | None = None
    key: str | None = None
    id: str | None = None
    properties: dict[str, str] = {}

    def meets(self, message: testing.Message) -> bool:
        """Whether a message is so."""
        return (
            self.text in (None, _text(message))
            and self.tags in (None, message.tags)
            and (self.key is None or self.key in message.keys)
            and self.id in (None, message.id)
            and self.properties.items() <= message.properties.items()
        )


By: TypeAlias = Literal["id", "keys", "text"]
"""What an application records of the messages that it handles. `keys` are joined by blanks."""


def recorded(by: By, message: testing.Message) -> str | None:
    """What is recorded of a message."""
    match by:
        case "id":
            return message.id
        case "keys":
            return " ".join(message.keys)
    return _text(message)


SHAPES: Final[Mapping[Any, Any]] = {
    testing.Message: Message,
    testing.Pending: Pending,
    testing.Requests: list[testing.Request],
    Away: None,
    type(None): None,
}


def shape_of(kind: Any) -> Any:
    """The type that stands in JSON for a type of `harness.testing`."""
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        return list[shape_of(item)]  # type: ignore[misc]
    return SHAPES.get(kind, kind)


def shaped(value: object) -> object:
    """A value as one of its `shape_of`."""
    match value:
        case testing.Message():
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            return Message(**fields, as_text=_text(value))
        case testing.Pending():
            return Pending(message=_message(value.message), why=value.why, due=value.due)
        case list() | testing.Requests():
            return [shaped(one) for one in value]
    return value


def _message(message: testing.Message) -> Message:
    found = shaped(message)
    assert isinstance(found, Message)
    return found


def _text(message: testing.Message) -> str | None:
    try:
        return message.text
    except UnicodeDecodeError:
        return None
