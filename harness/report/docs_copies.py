"""Messages that a Broker makes out of others, rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.catalogue.copies import MEMBERS, Copy
from harness.report.docs_markup import page
from harness.report.md import anchor, code, plain


def copies_page(copies: Sequence[Copy], pages: Mapping[str, tuple[str, str]]) -> str:
    """The page of `specs/copies.yaml`."""
    rows = [
        [
            plain(one.name),
            "<br>".join(code(f"{member} {text}") for member, text in one.members.items()) or "none",
            "<br>".join(_properties(one)) or "none",
            f"[{code(one.statement)}](broker-{one.statement.split('.')[1]}.md#{anchor(one.statement)})",
        ]
        for one in copies
    ]
    return page("copies", pages=pages, members=MEMBERS, rows=rows)


def _properties(copy: Copy) -> Iterator[str]:
    for key, text in copy.properties.items():
        yield code(f"{key}={_value(text)}")
    for line, more in copy.later.items():
        for key, text in more.items():
            yield f"{code(f'{key}={_value(text)}')} (since {line})"
    for line, more in copy.earlier.items():
        for key, text in more.items():
            yield f"{code(f'{key}={_value(text)}')} (until {line})"


def _value(text: str) -> str:
    return f"/{text[1:]}/" if text.startswith("~") else text
