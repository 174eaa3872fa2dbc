"""NO_COLOR: on a terminal, commands write no colour."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "import sys; from harness.cli import main; sys.exit(main())"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10\d)(?:;\d+)*m")


def on_a_terminal(directory: Path, *arguments: str, status: int = 0, **variables: str) -> str:
    """What a command writes where its output is a terminal."""
    ours, theirs = pty.openpty()
    environment = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=directory,
        env={**environment, "TERM": "xterm-256color", **variables},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # Linux: the other end is closed
        while data := os.read(ours, 65_536):
            written += data
    os.close(ours)
    assert process.wait(60) == status, written
    return written.decode("utf-8")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("check", "builtin:", "--select", "sanity"), 0),
        (("fuzz", "builtin:", "--max-examples", "1", "--kind", "stateful"), 2),
        (("explain", "322"), 0),
        (("decode", "00"), 1),
    ],
    ids=["check", "fuzz", "explain", "decode"],
)
def test_no_colour_where_none_is_wanted(arguments: tuple[str, ...], status: int, tmp_path: Path) -> None:
    assert not COLOUR.search(on_a_terminal(tmp_path, *arguments, status=status, NO_COLOR="1"))


def test_colour_where_nothing_is_said(tmp_path: Path) -> None:
    assert COLOUR.search(on_a_terminal(tmp_path, "check", "builtin:", "--select", "sanity"))
