"""Every command of ours that a document shows is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from document_pages import PAGES, ROOT, shell_lines

from harness.cli.parser import build_parser


def commands(page: Path) -> Iterator[str]:
    for line in shell_lines(page):
        found = re.search(r"(?:^|[\s/])rmq-harness (.*)", line)
        if found and not line.lstrip().startswith("#"):
            yield found[1]


SHOWN = [(page, one) for page in PAGES for one in commands(page)]


@pytest.mark.parametrize(("page", "command"), SHOWN, ids=lambda one: getattr(one, "stem", None))
def test_a_command_that_is_shown_is_taken(page: Path, command: str) -> None:
    words = shlex.split(command, comments=True)
    end = next(
        (at for at, word in enumerate(words) if word in ("|", "&&", ";", ">", "2>&1", "&")), len(words)
    )
    assert build_parser().parse_args(words[:end]).command == words[0], page.relative_to(ROOT)


def test_commands_are_shown() -> None:
    assert {one.split()[0] for _, one in SHOWN} >= {"check", "fuzz", "serve", "explain", "decode"}
