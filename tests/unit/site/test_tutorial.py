"""`docs/tutorial.md` does what it says: its server is written, its commands run, its lines are printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.S | re.M)
WITHIN = 300


def run(command: str, directory: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "rmq-harness"
    program = [sys.executable, "-c", "import harness.cli; raise SystemExit(harness.cli.main())"]
    ended = subprocess.run(
        [*program, *words[1:]],
        cwd=directory,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    return ended.stdout


def without_numbers(text: str) -> str:
    """How many cases there are changes with the catalogue."""
    return re.sub(r"\b\d+ of \d+\b", "N of N", " ".join(text.split()))


@pytest.mark.skipif(os.name != "posix", reason="exec: targets need POSIX")
def test_the_tutorial(tmp_path: Path) -> None:
    server = tmp_path / "ns.py"
    said = ""
    for kind, text in BLOCKS:
        if kind == "python" and not server.exists():
            server.write_text(text, encoding="utf-8")
        elif kind == "python":
            above, answer, below = re.split(
                r"^(def answer\(.*?\n\n\n)", server.read_text(encoding="utf-8"), flags=re.S | re.M
            )
            assert answer not in text
            server.write_text(f"{above}{text}\n\n{below}", encoding="utf-8")
        elif kind == "sh":
            said = "\n".join(run(line, tmp_path) for line in text.splitlines())
        else:
            assert kind == "text"
            assert without_numbers(text) in without_numbers(said)
