"""How a server answers a request with one unusual ext field: `specs/fields/`, seen on Apache's servers.

A field is given in many *forms*, one at a time: absent, empty, a number beyond its type, and so on
(`forms_of`). The answer is what the wire shows: `code 1`, `silent`,
`closed`. A form
that the table does not name is answered as the ordinary request is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from harness.catalogue.errors import CatalogueError, CatalogueProblems
from harness.catalogue.files import checked, specs_directory
from harness.catalogue.messages import Member, Message
from harness.catalogue.roles import Role

Ext: TypeAlias = Mapping[str, str | None]

ABSENT: Final = "absent"
OTHER_LETTERS: Final = "in other letters"
PADDED: Final = "padded"
_WORDS: Final[Mapping[str, str | None]] = {"empty": "", "blank": " "}
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
"""What such a text begins with; what the caller gives follows, so that nothing has the name already."""


class Form(msgspec.Struct, frozen=True):
    """A field in one form, and the ext fields of the request that carries it."""

    field: str
    name: str
    ext: dict[str, str | None]

    def __str__(self) -> str:
        is_value = self.name in (*_NUMBERS, *_BOOLEANS)
        return f"{self.field}={self.name}" if is_value else f"{self.field} {self.name}"


def forms_of(message: Message, line: str, ordinary: Ext, nonce: str) -> Iterator[Form]:
    """Every form of every field of the message in a release line. `ordinary`: a usual request's fields;
    `nonce`: what makes names new.
    """
    for member in message.request:
        if member.profiles and line not in member.profiles:
            continue
        for name, value in _forms(member, ordinary, nonce):
            others = {key: text for key, text in ordinary.items() if key != member.name}
            yield Form(member.name, name, others | value)


def _forms(member: Member, ordinary: Ext, nonce: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    field = member.name
    if field in ordinary:
        yield ABSENT, {}
        other = field.lower() if field.isupper() else field.upper()
        yield OTHER_LETTERS, {other: ordinary[field]}
        yield PADDED, {field: f" {ordinary[field]} "}
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


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Forms of a field that are not answered as the ordinary request is. `lines`: empty for all recorded."""

    answer: str
    forms: tuple[str, ...]
    lines: tuple[str, ...] = ()


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of one request. `ordinary`: the answer to the ordinary request, sent once more."""

    ordinary: str
    fields: dict[str, tuple[Answer, ...]] = {}


class Unjudged(msgspec.Struct, frozen=True, omit_defaults=True):
    """Forms that no case judges, and why. Empty `fields` or `forms` are all."""

    codes: tuple[int, ...]
    why: str
    fields: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    harmful: bool = False
    """Whether they are not even sent: what they do shows in the answers to others."""

    def covers(self, code: int, field: str, form: str, line: str) -> bool:
        """Whether it speaks of this form."""
        return (
            code in self.codes
            and (not self.fields or field in self.fields)
            and (not self.forms or form in self.forms)
            and (not self.lines or line in self.lines)
        )


class FieldTable(msgspec.Struct, frozen=True):
    """The answers of a role's servers. `recorded`: the release of each line that was asked."""

    recorded: dict[str, str]
    unjudged: tuple[Unjudged, ...]
    requests: dict[int, Asked]

    def answer(self, code: int, field: str, form: str, line: str) -> str | None:
        """How servers of the line answer; None where that is unknown."""
        asked = self.requests.get(code)
        if asked is None or line not in self.recorded:
            return None
        for one in asked.fields.get(field, ()):
            if form in one.forms and (not one.lines or line in one.lines):
                return one.answer
        return asked.ordinary

    def is_judged(self, code: int, field: str, form: str, line: str) -> bool:
        """Whether a server that answers otherwise is wrong."""
        return not any(one.covers(code, field, form, line) for one in self.unjudged)

    def is_harmless(self, code: int, field: str, form: str, line: str) -> bool:
        """Whether a form may be sent to a server that goes on to answer others."""
        return not any(one.harmful and one.covers(code, field, form, line) for one in self.unjudged)


@functools.cache
def field_table(role: Role) -> FieldTable:
    """The table of this installation; read once. Raises `CatalogueProblems`."""
    return load_field_table(specs_directory(), role)


def load_field_table(specs: Path, role: Role) -> FieldTable:
    """The table of a directory like `specs/`.

    Raises:
        CatalogueProblems: it breaks its schema.
    """
    problems: list[CatalogueError] = []
    said = checked(path_of(specs, role), specs, "fields", problems)
    if problems:
        raise CatalogueProblems(problems)
    return msgspec.convert(said, FieldTable, strict=False)


def path_of(specs: Path, role: Role) -> Path:
    """Where the table lies."""
    return specs / "fields" / f"{role}.yaml"


Cells: TypeAlias = Mapping[int, Mapping[str, Mapping[str, str]]]
"""Code -> field -> form -> answer. Field and form of the ordinary request are empty."""


def updated(table: FieldTable, line: str, release: str, seen: Cells) -> FieldTable:
    """The table with what a server of the line was seen to answer in place of what it said of that line.

    Raises ValueError where an ordinary request is answered otherwise than in another line.
    """
    recorded = dict(sorted({**table.recorded, line: release}.items()))
    requests: dict[int, Asked] = {}
    for code in sorted({*table.requests, *seen}):
        known = table.requests.get(code)
        of_line = seen.get(code, {})
        ordinary = of_line.get("", {}).get("", known.ordinary if known else "")
        if known is not None and known.ordinary != ordinary:
            raise ValueError(
                f"{code}: the ordinary request is answered {ordinary}, other lines say {known.ordinary}"
            )
        by_form: dict[tuple[str, str], dict[str, str]] = {}
        for field, answers in known.fields.items() if known else ():
            for one in answers:
                for other in (one.lines or tuple(table.recorded)) if one.forms else ():
                    if other != line:
                        for form in one.forms:
                            by_form.setdefault((field, form), {})[other] = one.answer
        for field, forms in of_line.items():
            for form, answer in forms.items():
                if field and answer != ordinary:
                    by_form.setdefault((field, form), {})[line] = answer
        requests[code] = Asked(ordinary, _grouped(by_form, tuple(recorded)))
    return msgspec.structs.replace(table, recorded=recorded, requests=requests)


def _grouped(
    by_form: Mapping[tuple[str, str], Mapping[str, str]], every: Sequence[str]
) -> dict[str, tuple[Answer, ...]]:
    found: dict[str, dict[tuple[str, tuple[str, ...]], list[str]]] = {}
    for (field, form), by_line in by_form.items():
        for answer in dict.fromkeys(by_line.values()):
            lines = tuple(sorted(line for line, one in by_line.items() if one == answer))
            key = (answer, () if lines == tuple(sorted(every)) else lines)
            found.setdefault(field, {}).setdefault(key, []).append(form)
    return {
        field: tuple(Answer(answer, tuple(forms), lines) for (answer, lines), forms in groups.items())
        for field, groups in found.items()
    }


def requests_with_fields(messages: Iterable[Message], line: str) -> Iterator[Message]:
    """Requests of a line whose ordinary form a case sends, and that have ext fields."""
    for message in messages:
        if message.request and message.owner and (not message.profiles or line in message.profiles):
            yield message
