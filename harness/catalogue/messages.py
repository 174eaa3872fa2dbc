"""What there is in the protocol: codes, header members, fields, bodies, byte layouts, times, settings.

Plain data from `specs/messages/`, whose JSON Schema says what each member means.
`profiles` are those from `since` to `until`; empty are all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from harness.catalogue.errors import CatalogueError
from harness.catalogue.profiles import Profile
from harness.catalogue.roles import Role
from harness.catalogue.types import WRITTEN, type_of
from harness.catalogue.versions import within

Profiles = tuple[str, ...]


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A member of a header or a body, a field of a message, or a setting."""

    name: str
    type: str
    text: str
    required: bool = False
    default: str | None = None
    optional: bool = False
    online: bool = False
    json: str | None = None
    profiles: Profiles = ()


class Numbered(msgspec.Struct, frozen=True):
    """A flag, a serialization or a response code. `role`: who alone answers with it, where there is one."""

    number: int
    name: str
    text: str
    role: Role | None = None
    profiles: Profiles = ()


class Header(msgspec.Struct, frozen=True):
    """What every command has."""

    source: str
    members: tuple[Member, ...]
    flags: tuple[Numbered, ...]
    serializations: tuple[Numbered, ...]
    languages: tuple[str, ...]


class Row(msgspec.Struct, frozen=True):
    """Some bytes of a layout. `size`: how many, or the row that says so, or "what is left"."""

    name: str
    size: int | str
    type: str
    text: str
    repeat: str | None = None
    profiles: Profiles = ()


class Layout(msgspec.Struct, frozen=True):
    """Bytes in their order."""

    name: str
    title: str
    text: str
    source: str
    rows: tuple[Row, ...]


class ResponseCodes(msgspec.Struct, frozen=True):
    """The codes of responses."""

    source: str
    codes: tuple[Numbered, ...]


class Message(msgspec.Struct, frozen=True):
    """A request and its response. `role`: who serves it; or sends it, where it is `sent`."""

    code: int
    name: str
    text: str
    source: str
    role: Role = "nameserver"
    profiles: Profiles = ()
    sent: bool = False
    one_way: bool = False
    """It is sent one-way, so that no answer is awaited; of a request that is `sent` only."""
    read_only: bool = False
    """It changes nothing but leases."""
    owner: str | None = None
    """The id of the most basic statement about it: that an ordinary request is answered and does its work."""
    chapter: str | None = None
    request: tuple[Member, ...] = ()
    request_body: str | None = None
    request_body_text: str = ""
    response: tuple[Member, ...] = ()
    response_body: str | None = None
    response_body_text: str = ""
    codes: dict[int, str] = {}


class Body(msgspec.Struct, frozen=True):
    """A JSON object, as a whole body or inside of one."""

    name: str
    text: str
    source: str
    members: tuple[Member, ...]
    profiles: Profiles = ()


class Time(msgspec.Struct, frozen=True):
    """A time or a limit."""

    name: str
    value: str
    source: str
    text: str
    profiles: Profiles = ()


class Settings(msgspec.Struct, frozen=True):
    """What a NameServer can be told in its file, and as Java system properties."""

    source: str
    keys: tuple[Member, ...]
    properties: tuple[Member, ...]
    brokers: tuple[Member, ...]
    """Keys of a Broker's file, those that statements name."""


class Messages(msgspec.Struct, frozen=True):
    """All of `specs/messages/`."""

    header: Header
    layouts: tuple[Layout, ...]
    responses: ResponseCodes
    messages: tuple[Message, ...]
    bodies: tuple[Body, ...]
    times: tuple[Time, ...]
    settings: Settings

    def of(self, role: Role) -> tuple[Message, ...]:
        """Those that one kind of server serves or sends."""
        return tuple(one for one in self.messages if one.role == role)


NOT_JSON = ("properties", "messages")
"""Bodies that are no JSON objects: lines of a properties file, and messages as a Broker stores them."""


def messages_of(said: dict[str, Any], profiles: Sequence[Profile]) -> Messages:
    """What a file says that its schema has accepted."""
    data = _spanned(said, profiles, None)
    header = data["header"]
    numbered = {
        **data,
        "header": {**header, "flags": [{**flag, "number": flag["bit"]} for flag in header["flags"]]},
        "responses": {
            **data["responses"],
            "codes": [{**code, "number": code["code"]} for code in data["responses"]["codes"]],
        },
    }
    return msgspec.convert(numbered, Messages, str_keys=True)


def _spanned(said: Any, profiles: Sequence[Profile], role: Role | None) -> Any:
    """The same, with profiles in place of the release lines that something is there since and until."""
    if isinstance(said, list):
        return [_spanned(one, profiles, role) for one in said]
    if not isinstance(said, dict):
        return said
    role = said.get("role", role)
    found = {key: _spanned(value, profiles, role) for key, value in said.items()}
    since, until = found.pop("since", None), found.pop("until", None)
    if since or until:
        of_role = [one.name for one in profiles if role is None or role in one.roles]
        found["profiles"] = [name for name in of_role if within(name, since, until)]
    return found


def unknown_lines(said: Any, name: str, profiles: Sequence[Profile]) -> Iterator[CatalogueError]:
    """The release lines that something is there since or until, and that do not exist."""
    if isinstance(said, dict | list):
        for one in said if isinstance(said, list) else said.values():
            yield from unknown_lines(one, name, profiles)
    known = [one.name for one in profiles]
    for bound in ("since", "until"):
        if isinstance(said, dict) and said.get(bound, known[0]) not in known:
            wrong = f"profile {said[bound]!r} does not exist"
            yield CatalogueError(name, wrong, f"profiles are: {', '.join(known)}")


def problems_of(messages: Messages, name: str, chapters: list[str]) -> Iterator[CatalogueError]:
    """What a schema cannot see: chapters, bodies and rows that do not exist, and what is there
    twice.
    """
    bodies = {body.name for body in messages.bodies} | {*NOT_JSON}
    for message in messages.messages:
        for body in (message.request_body, message.response_body):
            if body is not None and body not in bodies:
                known = ", ".join(sorted(bodies))
                yield CatalogueError(f"{name} {message.code}", f"no body {body!r}", f"bodies are: {known}")
        yield from _unknown_types(f"{name} {message.code}", (*message.request, *message.response), bodies)
        if message.chapter is not None and message.chapter not in chapters:
            known = ", ".join(chapters)
            where = f"{name} {message.code}"
            yield CatalogueError(where, f"no chapter {message.chapter!r}", f"chapters are: {known}")
    for one in messages.bodies:
        yield from _unknown_types(f"{name} {one.name}", one.members, bodies)
    for layout in messages.layouts:
        seen = ["what is left"]
        for row in layout.rows:
            for other in (row.size, row.repeat):
                if isinstance(other, str) and other not in seen:
                    where = f"{name} {layout.name}.{row.name}"
                    yield CatalogueError(where, f"no row {other!r} before it", "name a row that is")
            seen.append(row.name)
    named: list[tuple[str, list[int | str]]] = [
        ("message", [message.code for message in messages.messages]),
        ("body", [body.name for body in messages.bodies]),
        ("setting", [key.name for key in (*messages.settings.keys, *messages.settings.properties)]),
        ("setting of Brokers", [key.name for key in messages.settings.brokers]),
    ]
    for kind, names in named:
        for twice in sorted(str(one) for one, times in Counter(names).items() if times > 1):
            yield CatalogueError(name, f"{kind} {twice} is there twice", "say it once")


def _unknown_types(where: str, members: Sequence[Member], bodies: set[str]) -> Iterator[CatalogueError]:
    for member in members:
        try:
            type_of(member.type, bodies)
        except ValueError as problem:
            yield CatalogueError(f"{where}.{member.name}", str(problem), WRITTEN)
