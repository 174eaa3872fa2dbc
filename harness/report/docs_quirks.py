"""Known servers and their quirks in the rendered catalogue: a page for each, a line at each statement.

Pure, as `harness.report.docs` is, whose pages it adds to.
"""

from __future__ import annotations

from harness.catalogue import Catalogue, Quirk, Server
from harness.report.docs_markup import anchor, source_link

__all__ = ["quirk_lines", "server_index", "server_pages"]


def server_pages(catalogue: Catalogue) -> dict[str, str]:
    """File name -> Markdown text of the page of each known server."""
    chapters = {one.id: one.chapter for one in catalogue.statements}
    return {_page(server): _server(server, chapters) for server in catalogue.servers}


def quirk_lines(catalogue: Catalogue) -> dict[str, list[str]]:
    """For each statement that a known server breaks: a line for each quirk, with a link to it."""
    lines: dict[str, list[str]] = {}
    for server in catalogue.servers:
        for quirk in server.quirks:
            link = f"[{server.title}, {_releases(quirk)}]({_page(server)}#{anchor(quirk.id)})"
            line = f"{link}: {_plain(quirk.instead)}"
            for statement in quirk.statements:
                lines.setdefault(statement, []).append(line)
    return lines


def server_index(catalogue: Catalogue) -> list[str]:
    """The part of the index about known servers; nothing where none is known."""
    if not catalogue.servers:
        return []
    rows = [
        f"| [{server.title}]({_page(server)}) | {len(server.quirks)} | {_broken(server)} |"
        for server in catalogue.servers
    ]
    return [
        "",
        "## Known servers",
        "",
        "Where a server that is in the world breaks a statement, that is a quirk of it: the statement "
        "stands, and a server that does better passes.",
        "",
        "| server | quirks | statements broken in some release |",
        "|---|---:|---:|",
        *rows,
    ]


def _broken(server: Server) -> int:
    return len({statement for quirk in server.quirks for statement in quirk.statements})


def _server(server: Server, chapters: dict[str, str]) -> str:
    lines = [
        f"# Quirks of {server.title}",
        "",
        f"{_plain(server.text)} Rendered from `specs/targets/{server.name}.yaml`; do not edit. "
        "[All chapters](README.md)",
        "",
        "| quirk | releases | what it does instead |",
        "|---|---|---|",
    ]
    lines += [
        f"| [`{one.id}`](#{anchor(one.id)}) | {_releases(one)} | {_plain(one.instead)} |"
        for one in server.quirks
    ]
    for quirk in server.quirks:
        lines += ["", *_quirk(quirk, chapters)]
    return "\n".join(lines) + "\n"


def _quirk(quirk: Quirk, chapters: dict[str, str]) -> list[str]:
    statements = ", ".join(f"[`{one}`]({chapters.get(one, '')}.md#{anchor(one)})" for one in quirk.statements)
    facts = [
        ("Breaks", statements),
        ("Releases", f"{_releases(quirk)}; observed on {', '.join(quirk.observed)}"),
        ("Source", "; ".join(source_link(source) for source in quirk.source)),
        ("Issues", ", ".join(_issue(issue) for issue in quirk.issues)),
        ("Not seen every time", _plain(quirk.intermittent or "")),
        ("Note", _plain(quirk.notes or "")),
        ("Seen in", ", ".join(f"`{case}`" for case in quirk.cases)),
    ]
    return [
        f"## {quirk.id}",
        "",
        f"> {_plain(quirk.instead)}",
        "",
        *(f"- **{name}:** {text}" for name, text in facts if text),
    ]


def _page(server: Server) -> str:
    return f"{server.name}.md"


def _releases(quirk: Quirk) -> str:
    return ", ".join(map(str, quirk.versions))


def _issue(issue: str) -> str:
    return f"[{issue}](https://github.com/{issue.replace('#', '/issues/')})"


def _plain(text: str) -> str:
    return " ".join(text.split())
