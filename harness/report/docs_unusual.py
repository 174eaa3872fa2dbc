"""How Apache's servers answer requests with one unusual field or member, rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.catalogue import Message, Role
from harness.catalogue.fields import Asked, FieldTable, Unjudged
from harness.report.docs_markup import page, table
from harness.report.md import code, plain
from harness.wire.code_names import response_name


def unusual_page(
    file: str,
    role: Role,
    asked: FieldTable,
    requests: Sequence[Message],
    pages: Mapping[str, tuple[str, str]],
) -> str:
    """The page of one table of `specs/fields`. `requests`: those of the role, by which codes have names."""
    names = {one.code: one.name for one in requests}
    return page(
        "unusual",
        file=file,
        source=f"fields/{role}.yaml",
        pages=pages,
        recorded=asked.recorded,
        requests=[
            (f"{number} {names[number]}", _named(one.ordinary), table(_HEADS, _rows(one, asked)))
            for number, one in sorted(asked.requests.items())
            if one.fields
        ],
        alike=[
            code(f"{number} {names[number]}")
            for number, one in sorted(asked.requests.items())
            if not one.fields
        ],
        unjudged=[_unjudged(one) for one in asked.unjudged],
    )


_HEADS = ("field or member", "form", "answer", "release lines")


def _rows(asked: Asked, of: FieldTable) -> Iterator[list[str]]:
    for field, answers in asked.fields.items():
        for one in answers:
            lines = one.lines if set(one.lines) != set(of.recorded) else ()
            yield [code(field), ", ".join(map(code, one.forms)), _named(one.answer), ", ".join(lines)]


def _named(answer: str) -> str:
    word, _, number = answer.partition(" ")
    name = response_name(int(number)) if word == "code" else None
    return f"{plain(answer)} ({code(name)})" if name else plain(answer)


def _unjudged(one: Unjudged) -> list[str]:
    return [
        ", ".join(map(str, one.codes)),
        ", ".join(map(code, one.fields)) or "all",
        ", ".join(map(code, one.forms)) or "all",
        ", ".join(one.lines),
        plain(one.why),
        "no" if one.harmful else "yes",
    ]
