"""The guides for tests of applications do what they say: files are written and run, and lines are printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)
FILE = re.compile(r"`(\w+\.py)`")
PLUGIN = ["-p", "harness.pytest_rocketmq"]
"""The package may be used from a checkout; where it is installed, this changes nothing."""


def run(words: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=directory,
        env={**os.environ, "HOME": str(directory), "PYTEST_ADDOPTS": ""},  # the client writes its log there
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def said_by(command: str, directory: Path) -> str:
    """What a command of the page prints."""
    match shlex.split(command):
        case ["pip", "install", *_]:
            return ""
        case ["pytest", *files]:
            return run(["-m", "pytest", *PLUGIN, *files], directory).stdout
        case ["python", file]:
            return run([file], directory).stdout
        case ["rmq-harness", *words]:
            done = run(["-c", "import harness.cli; raise SystemExit(harness.cli.main())", *words], directory)
            return done.stdout + done.stderr
    raise AssertionError(f"{command}: this test does not know it")


def plain(text: str) -> str:
    """Without the marks of pytest at the beginning of lines."""
    return " ".join(re.sub(r"^E\s", "", text, flags=re.M).split())


def test_the_guide(tmp_path: Path) -> None:
    loaded = run(["-c", "import rocketmq.client"], tmp_path)
    if loaded.returncode != 0:
        pytest.skip(f"the client of the guide cannot be loaded: {loaded.stderr.strip().splitlines()[-1]}")
    assert followed("testing.md", tmp_path) == 5


def test_the_guide_to_clients(tmp_path: Path) -> None:
    assert followed("clients.md", tmp_path) == 2


def test_the_guide_to_time(tmp_path: Path) -> None:
    assert followed("testing-time.md", tmp_path) == 1


def followed(guide: str, tmp_path: Path) -> int:
    """How many texts a guide shows, each of which its commands have printed."""
    page = (GUIDES / guide).read_text(encoding="utf-8")
    said, end, shown = "", 0, 0
    for block in BLOCK.finditer(page):
        kind, text = block[1], block[2]
        if kind == "python":
            name = FILE.findall(page[end : block.start()])[-1]
            with (tmp_path / name).open("a", encoding="utf-8") as file:
                file.write(text + "\n\n")
        elif kind == "sh":
            said = "\n".join(said_by(line, tmp_path) for line in text.splitlines())
        else:
            assert kind == "text"
            assert plain(text) in plain(said), said
            shown += 1
        end = block.end()
    return shown
