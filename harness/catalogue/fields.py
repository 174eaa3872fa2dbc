"""How a server answers a request with one unusual ext field, with none of its ext fields, or with one unusual
member of its body, as seen on Apache's servers: `specs/fields/`.

One field or member at a time is given in one of its forms (`harness.catalogue.field_forms`,
`body_forms`). The answer is what the wire shows: `code 1`, `silent`, `closed`. A form that the table does not
name is answered as the ordinary request is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from harness.catalogue.files import sound, specs_directory
from harness.catalogue.messages import NOT_JSON, Message
from harness.catalogue.roles import Role


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Forms of a field that are not answered as the ordinary request is. `lines`: empty for all recorded."""

    answer: str
    forms: tuple[str, ...]
    lines: tuple[str, ...] = ()


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of one request. `ordinary`: the answer to the ordinary request, sent once more.

    Members of the body are among the fields, by their path: ``body.dataVersion.counter``.
    """

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
    """The table of this installation; read once.

    Raises:
        CatalogueProblems: it breaks its schema.
    """
    said = sound(path_of(role), specs_directory(), "fields")
    return msgspec.convert(said, FieldTable, strict=False)


def path_of(role: Role) -> Path:
    """Where the table lies."""
    return specs_directory() / "fields" / f"{role}.yaml"


def requests_with_fields(messages: Iterable[Message], line: str) -> Iterator[Message]:
    """Requests of a line whose ordinary form a case sends, and that have ext fields or a JSON body."""
    for message in messages:
        has_body = message.request_body not in (None, *NOT_JSON)
        has_fields = any(not one.profiles or line in one.profiles for one in message.request)
        if (has_fields or has_body) and message.owner and (not message.profiles or line in message.profiles):
            yield message
