"""Writes down what Apache answers to unusual fields and members, for maintainers of `specs/fields/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
import yaml

from harness.catalogue import Role
from harness.catalogue.fields import Answer, Asked, FieldTable, path_of

Cells: TypeAlias = Mapping[int, Mapping[str, Mapping[str, str]]]
"""Code -> field -> form -> answer. Field and form of the ordinary request are empty."""
_ByLine: TypeAlias = dict[tuple[str, str], dict[str, str]]
"""Field and form -> release line -> the answer, where it is not that to the ordinary request."""


def write(table: FieldTable, role: Role) -> None:
    """Replaces the file of the role; the comments at its beginning stay."""
    path = path_of(role)
    head = "".join(line for line in path.read_text(encoding="utf-8").splitlines(True) if line[:1] == "#")
    plain = msgspec.json.decode(msgspec.json.encode(table))
    plain["requests"] = {int(code): asked for code, asked in plain["requests"].items()}
    text = yaml.dump(plain, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    path.write_text(head + text, encoding="utf-8")


def updated(table: FieldTable, line: str, release: str, seen: Cells) -> FieldTable:
    """The table, in which a release line answers as it was seen to. Requests that were not asked stay.

    Raises ValueError where the answer to an ordinary request is not that of the other lines.
    """
    recorded = dict(sorted({**table.recorded, line: release}.items()))
    requests = dict(table.requests)
    for code, fields in seen.items():
        ordinary = fields[""][""]
        known = table.requests.get(code, Asked(ordinary))
        if known.ordinary != ordinary:
            raise ValueError(
                f"{code}: the ordinary request is answered {ordinary}, other lines say {known.ordinary}"
            )
        by_line: _ByLine = {}
        for field, form, other, answer in _known(known, tuple(table.recorded)):
            if other != line:
                by_line.setdefault((field, form), {})[other] = answer
        for field, forms in fields.items():
            for form, answer in forms.items():
                if answer != ordinary:
                    by_line.setdefault((field, form), {})[line] = answer
        requests[code] = Asked(ordinary, _grouped(by_line, tuple(recorded)))
    return msgspec.structs.replace(table, recorded=recorded, requests=dict(sorted(requests.items())))


def _known(asked: Asked, every: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Field, form, line and answer."""
    for field, answers in asked.fields.items():
        for one in answers:
            for form in one.forms:
                for line in one.lines or every:
                    yield field, form, line, one.answer


def _grouped(by_line: _ByLine, every: tuple[str, ...]) -> dict[str, tuple[Answer, ...]]:
    """The forms that are answered alike in the same lines, together."""
    found: dict[str, dict[tuple[str, tuple[str, ...]], list[str]]] = {}
    for (field, form), answers in by_line.items():
        for answer in dict.fromkeys(answers.values()):
            lines = tuple(line for line in every if answers.get(line) == answer)
            found.setdefault(field, {}).setdefault((answer, () if lines == every else lines), []).append(form)
    return {
        field: tuple(Answer(answer, tuple(forms), lines) for (answer, lines), forms in groups.items())
        for field, groups in found.items()
    }
