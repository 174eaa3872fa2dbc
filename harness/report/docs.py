"""Renders the catalogue to Markdown that reads as a protocol document: a page for each chapter, one for the
bug reports of the upstream project, and an index.

Rules of this module:

1. Pure but for :func:`write` and :func:`stale`. The same catalogue and cases give the same bytes: no date, no
   path.
2. It knows nothing of how cases are found: they come as data, by the statement that they prove.
3. The directory holds what is rendered and nothing else: a page whose chapter is gone goes too.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from harness.catalogue import LEVELS, Catalogue, Messages, Report, Statement
from harness.report.docs_markup import anchor, plain, source_link, title
from harness.report.docs_messages import message_links, reading_order
from harness.report.docs_quirks import quirk_lines, server_index
from harness.report.text import issue_link

__all__ = ["INDEX", "ProvingCase", "render", "stale", "write"]

INDEX = "README.md"
REPORTS = "reports.md"
_DIFFERENCES = 6


class ProvingCase(msgspec.Struct, frozen=True):
    """A case as far as the document shows it."""

    name: str
    title: str
    kills: tuple[str, ...]
    """Names of the mutants that it must kill."""


Cases = Mapping[str, Sequence[ProvingCase]]
"""The cases of each statement, by its id."""


def render(catalogue: Catalogue, cases: Cases, messages: Messages) -> dict[str, str]:
    """File name -> Markdown text. What names a message leads to it."""
    chapters: dict[str, list[Statement]] = {}
    for statement in catalogue.statements:
        chapters.setdefault(statement.chapter, []).append(statement)
    quirks = quirk_lines(catalogue)
    pages = {
        f"{name}.md": message_links(_chapter(name, statements, cases, quirks), messages)
        for name, statements in chapters.items()
    }
    if catalogue.reports:
        pages[REPORTS] = _reports(catalogue, cases)
    return {INDEX: _index(catalogue, chapters, cases), **pages}


def write(pages: Mapping[str, str], directory: Path) -> list[str]:
    """Make the directory hold exactly these pages; the names of those that changed, came or went."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = [name for name in _names(pages, directory) if _text(directory / name) != pages.get(name)]
    for name in changed:
        if name in pages:
            (directory / name).write_text(pages[name], encoding="utf-8")
        else:
            (directory / name).unlink()
    return changed


def stale(pages: Mapping[str, str], directory: Path) -> list[str]:
    """What is not as it would be rendered now, a line for each difference shown. Empty when all is well."""
    found = []
    for name in _names(pages, directory):
        old, new = _text(directory / name), pages.get(name)
        if old == new:
            continue
        if old is None or new is None:
            found.append(f"{name}: {'missing' if old is None else 'no longer rendered'}")
            continue
        lines = [
            line
            for line in difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        found.append(f"{name}: {len(lines)} lines differ")
        found += [f"  {line}" for line in lines[:_DIFFERENCES]]
        if len(lines) > _DIFFERENCES:
            found.append(f"  … {_DIFFERENCES} of {len(lines)} shown")
    return found


def _names(pages: Mapping[str, str], directory: Path) -> list[str]:
    return sorted({*pages, *(path.name for path in directory.glob("*.md"))})


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


# the index ------------------------------------------------------------------------------------------


def _index(catalogue: Catalogue, chapters: Mapping[str, Sequence[Statement]], cases: Cases) -> str:
    statements = catalogue.statements
    proven = sum(1 for one in statements if cases.get(one.id))
    untestable = sum(1 for one in statements if one.untestable is not None)
    lines = [
        "# The remoting protocol of Apache RocketMQ, as NameServers and Brokers must speak it",
        "",
        "Rendered from `specs/`; do not edit. Each statement has an id that never changes its meaning, "
        "a level (MUST, SHOULD, MAY as in RFC 2119), the profiles under which it applies, and its source in "
        "Apache's code.",
        "",
        f"{len(statements)} statements: {_levels(statements)}. {proven} of {len(statements)} are proven by a "
        f"case, {untestable} of {len(statements)} say why no case can prove them.",
        "",
        "## Profiles",
        "",
        "| profile | statements | what it is |",
        "|---|---:|---|",
    ]
    for profile in catalogue.profiles:
        number = len(catalogue.under(profile.name))
        text = f"{plain(profile.title)}: {plain(profile.text)}"
        lines.append(f"| `{profile.name}` | {number} of {len(statements)} | {text} |")
    lines += reading_order()
    lines += [
        "",
        "## Chapters",
        "",
        "| chapter | MUST | SHOULD | MAY | in all |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, listed in chapters.items():
        numbers = [str(sum(one.level == level for one in listed)) for level in LEVELS]
        lines.append(f"| [{title(name)}]({name}.md) | {' | '.join(numbers)} | {len(listed)} |")
    lines += server_index(catalogue)
    if catalogue.reports:
        lines += [
            "",
            f"What became of {len(catalogue.reports)} bug reports: [{REPORTS}]({REPORTS}).",
        ]
    lines += ["", "## Statements", ""]
    for name, listed in chapters.items():
        lines += [f"### {title(name)}", ""]
        lines += [
            f"- [`{one.id}`]({name}.md#{anchor(one.id)}) {one.level}: {plain(one.text)}" for one in listed
        ]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


# bug reports ----------------------------------------------------------------------------------------


def _reports(catalogue: Catalogue, cases: Cases) -> str:
    reports = catalogue.reports
    spoken = sum(one.untestable is None for one in reports)
    lines = [
        "# Upstream bug reports",
        "",
        f"{len(reports)} reports about NameServers. Statements speak of {spoken} of them; the others say why "
        "none does. `rmq-harness check TARGET --select tag:TAG` runs the cases of a report, `rmq-harness "
        "explain TAG` tells about it. Rendered from `specs/reports.yaml`; do not edit. "
        f"[All chapters]({INDEX})",
        "",
    ]
    for report in reports:
        lines += _report(report, catalogue.tagged(*report.tags), cases)
    return "\n".join(lines).rstrip("\n") + "\n"


def _report(report: Report, statements: Sequence[Statement], cases: Cases) -> list[str]:
    proving = list(dict.fromkeys(case.name for one in statements for case in cases.get(one.id, ())))
    listed = [f"[`{one.id}`]({one.chapter}.md#{anchor(one.id)}) {one.level}" for one in statements]
    facts = [
        ("Reported as", ", ".join(_issue(issue) for issue in report.issues) or "nothing; found in the code"),
        ("Fixed", plain(report.fixed)),
        ("Tags", ", ".join(f"`{tag}`" for tag in report.tags)),
        ("No statement", plain(report.untestable or "")),
        ("Statements", "".join(f"\n  - {one}" for one in listed)),
        ("Cases", ", ".join(f"`{name}`" for name in proving)),
    ]
    return [
        f"## {report.tags[0]}",
        "",
        f"> {plain(report.title)}",
        "",
        *(f"- **{name}:** {text}".replace(":** \n", ":**\n") for name, text in facts if text),
        "",
    ]


# a chapter ------------------------------------------------------------------------------------------


def _chapter(
    name: str, statements: Sequence[Statement], cases: Cases, quirks: Mapping[str, Sequence[str]]
) -> str:
    lines = [
        f"# {title(name)}",
        "",
        f"{len(statements)} statement{'s' if len(statements) != 1 else ''}: {_levels(statements)}. "
        f"Rendered from `specs/statements/{_file(name)}`; do not edit. [All chapters]({INDEX})",
        "",
    ]
    for statement in statements:
        lines += _statement(statement, cases.get(statement.id, ()), quirks.get(statement.id, ()))
    return "\n".join(lines).rstrip("\n") + "\n"


def _file(chapter: str) -> str:
    """Where a chapter is, below `specs/statements`."""
    slug = chapter.removeprefix("broker-")
    return f"{slug}.yaml" if slug == chapter else f"broker/{slug}.yaml"


def _statement(statement: Statement, cases: Sequence[ProvingCase], quirks: Sequence[str]) -> list[str]:
    facts = [
        ("Sent", plain(statement.stimulus)),
        ("Seen", plain(statement.observable)),
        ("Source", "; ".join(source_link(source) for source in statement.source)),
        ("Observed on", f"Apache {', '.join(statement.observed)}" if statement.observed else "no server yet"),
        ("Issues", ", ".join(_issue(issue) for issue in statement.issues)),
        ("Note", plain(statement.notes or "")),
        ("Not tested", plain(statement.untestable or "")),
        ("Quirks", "".join(f"\n  - {quirk}" for quirk in quirks)),
        ("Cases", "".join(f"\n  - `{case.name}`: {plain(case.title)}" for case in cases)),
        (
            "Mutants",
            ", ".join(f"`{name}`" for name in dict.fromkeys(m for case in cases for m in case.kills)),
        ),
    ]
    return [
        f"## {statement.id}",
        "",
        f"**{statement.level}** · profile {', '.join(f'`{profile}`' for profile in statement.profiles)}",
        "",
        f"> {plain(statement.text)}",
        "",
        *(f"- **{name}:** {text}".replace(":** \n", ":**\n") for name, text in facts if text),
        "",
    ]


def _issue(issue: str) -> str:
    return f"[{issue}]({issue_link(issue)})"


def _levels(statements: Sequence[Statement]) -> str:
    counts = [(sum(one.level == level for one in statements), level) for level in LEVELS]
    return ", ".join(f"{number} {level}" for number, level in counts if number)
