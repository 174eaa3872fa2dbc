"""The unusual forms of an ext field: absent, empty, a number beyond its type, and so on.

Those of the members of bodies: `harness.catalogue.body_forms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from harness.catalogue.messages import Member, Message

Ext: TypeAlias = Mapping[str, str | None]

OTHER_LETTERS: Final = "in other letters"
ALL_FIELDS: Final = "extFields"
"""What stands for a field where all of them are absent together."""
_WORDS: Final = {"empty": "", "blank": " "}
_NUMBERS: Final = (
    "-1",
    "0",
    "+1",
    "1.0",
    "0x1",
    "x",
    "2147483647",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
)
_BOOLEANS: Final = ("true", "false", "TRUE", "1", "yes")
_LONGEST: Final = 300
_TEXTS: Final = {"beyond ASCII": "ü€😀", "of 300 characters": "x" * _LONGEST}
"""What such a text begins with. A nonce follows, so that nothing has this name yet."""


class Form(msgspec.Struct, frozen=True):
    """A field, or a member of the body, in one form, and the request that carries it."""

    field: str
    name: str
    ext: dict[str, str | None] | None
    body: bytes | None = None
    """None: that of the ordinary request."""

    def __str__(self) -> str:
        is_value = self.name in (*_NUMBERS, *_BOOLEANS)
        return f"{self.field}={self.name}" if is_value else f"{self.field} {self.name}"


def forms_of(message: Message, line: str, ordinary: Ext, nonce: str) -> Iterator[Form]:
    """Every form of every field that the message has in a release line, and at last no field at all.

    `ordinary` are the ext fields of an ordinary request; `nonce` makes names unique.
    """
    for member in message.request:
        if member.profiles and line not in member.profiles:
            continue
        for name, value in _forms(member, ordinary, nonce):
            others = {key: text for key, text in ordinary.items() if key != member.name}
            yield Form(member.name, name, others | value)
    if ordinary:
        yield Form(ALL_FIELDS, "absent", None)


def _forms(member: Member, ordinary: Ext, nonce: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    field = member.name
    if field in ordinary:
        yield "absent", {}
        other = field.lower() if field.isupper() else field.upper()
        yield OTHER_LETTERS, {other: ordinary[field]}
        yield "padded", {field: f" {ordinary[field]} "}
    for name, value in _WORDS.items():
        yield name, {field: value}
    if member.type.startswith("int"):
        for number in _NUMBERS:
            yield number, {field: number}
    elif member.type == "boolean":
        for word in _BOOLEANS:
            yield word, {field: word}
    else:
        for name, text in _TEXTS.items():
            yield name, {field: f"{text}{nonce}"[-_LONGEST:]}
