"""The page about the control port: its commands run as they are shown, and it names every operation."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from document_pages import ROOT, shell_lines
from unit.control.port import Port

from harness.control.operations import OPERATIONS

PAGE = ROOT / "docs/reference/control.md"


def test_the_requests_that_it_shows(port: Port, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed (Debian: apt install curl)")
    said = ""
    for line in shell_lines(PAGE):
        if line.startswith("curl"):
            command = line.replace("127.0.0.1:8080", f"127.0.0.1:{port.port}")
            done = subprocess.run(
                ["sh", "-c", f"{command} -sS --fail-with-body"], capture_output=True, text=True, check=True
            )
            said += done.stdout
    assert '"text":"a book"' in said


def test_it_names_every_operation() -> None:
    """Faults have a page of their own, and so have servers."""
    named = set(re.findall(r"/(\w*(?:/\w+)?)", PAGE.read_text(encoding="utf-8")))
    left = {one.name for one in OPERATIONS if one.tag not in ("faults", "servers")} - named
    assert left == set()
