"""What all rendered pages share: filling a template, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.report.templating import filled_markdown


def page(name: str, /, **values: object) -> str:
    """The page that the template ``docs/NAME.md.j2`` makes."""
    return filled_markdown(
        f"report/templates/docs/{name}.md.j2", table=table, profiles_text=profiles_text, **values
    )


def profiles_text(profiles: Sequence[str], all_profiles: Sequence[str]) -> str:
    """Profiles as they are written in a table; nothing where it is all of them."""
    return "" if not profiles or set(profiles) == set(all_profiles) else ", ".join(profiles)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns that are empty in every row; a head that ends with `:` aligns right."""
    listed = [list(row) for row in rows]
    kept = [i for i in range(len(heads)) if i == 0 or any(row[i] for row in listed)]
    lines = [
        "| " + " | ".join(heads[i].rstrip(":") for i in kept) + " |",
        "|" + "|".join("---:" if heads[i].endswith(":") else "---" for i in kept) + "|",
    ]
    return "\n".join(lines + ["| " + " | ".join(row[i] for i in kept) + " |" for row in listed])
