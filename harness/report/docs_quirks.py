"""Where Apache breaks a statement: the lines that say so beside the statement and beside the message."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.catalogue import Catalogue, Message, Statement
from harness.report.md import anchor, one_line

QuirkLines = Mapping[str, Sequence[str]]
"""A line for each quirk, with a link to it, by the id of the statement that it breaks."""


def quirk_lines(catalogue: Catalogue) -> QuirkLines:
    """The lines about the quirks of all known servers."""
    lines: dict[str, list[str]] = {}
    for server in catalogue.servers:
        for quirk in server.quirks:
            releases = ", ".join(map(str, quirk.versions))
            link = f"[{server.title}, {releases}]({server.name}.md#{anchor(quirk.id)})"
            for statement in quirk.statements:
                lines.setdefault(statement, []).append(f"{link}: {one_line(quirk.instead)}")
    return lines


def quirks_of_message(message: Message, statements: Sequence[Statement], lines: QuirkLines) -> list[str]:
    """The lines, each once, of the statements that are in the chapter of a message and name its code."""
    code = re.compile(rf"\b{message.code}\b")
    about = (one for one in statements if one.chapter == message.chapter and code.search(one.stimulus))
    return list(dict.fromkeys(line for one in about for line in lines.get(one.id, ())))
