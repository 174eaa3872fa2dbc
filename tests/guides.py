"""Follows a guide for tests of applications: writes files, runs commands, compares what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

GUIDES = Path(__file__).parents[1] / "docs" / "guides"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)
_FILE = re.compile(r"`(\w+\.py)`")


class Reader:
    """Somebody with a Python and an empty directory. `options` are given to pytest."""

    def __init__(self, python: Path, directory: Path, *options: str) -> None:
        self._python = python
        self._directory = directory
        self._options = options

    def follow(self, guide: str) -> int:
        """How many texts a guide shows, each of which its commands have printed."""
        page = (GUIDES / guide).read_text(encoding="utf-8")
        said, end, shown = "", 0, 0
        for block in _BLOCK.finditer(page):
            kind, text = block[1], block[2]
            if kind == "python":
                name = _FILE.findall(page[end : block.start()])[-1]
                with (self._directory / name).open("a", encoding="utf-8") as file:
                    file.write(text + "\n\n")
            elif kind == "sh":
                said = "\n".join(self._said_by(line) for line in text.splitlines())
            else:
                assert kind == "text"
                assert _plain(text) in _plain(said), said
                shown += 1
            end = block.end()
        return shown

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with these arguments."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        done = subprocess.run(
            [self._python, *words],
            cwd=self._directory,
            env={**kept, "HOME": str(self._directory)},  # the client writes its log there
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode >= 0, f"{words} ended by signal {-done.returncode}:\n{done.stderr}"
        return done

    def _said_by(self, command: str) -> str:
        match shlex.split(command):
            case ["python3", "-m", "venv", _] | [".", _] | ["pip", "install", *_]:
                return ""
            case ["pytest", *files]:
                return self.run("-m", "pytest", *self._options, *files).stdout
            case ["python", file]:
                return self.run(file).stdout
            case ["rmq-harness", *words]:
                done = self.run("-c", "import harness.cli; raise SystemExit(harness.cli.main())", *words)
                return done.stdout + done.stderr
        raise AssertionError(f"{command}: this test does not know it")


def _plain(text: str) -> str:
    """Without the marks of pytest at the beginning of lines."""
    return " ".join(re.sub(r"^E\s", "", text, flags=re.M).split())
