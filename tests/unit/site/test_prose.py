"""`ci/prose.py`: it finds what we do not write, and where; code is left out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from document_pages import ROOT

pytest.importorskip("proselint", reason="proselint is not installed; `make lint` installs it")
SPEC = importlib.util.spec_from_file_location("prose", ROOT / "ci" / "prose.py")
assert SPEC is not None
assert SPEC.loader is not None
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)


def findings(directory: Path, text: str) -> list[str]:
    page = directory / "page.md"
    page.write_text(text, encoding="utf-8")
    return list(prose.findings(page, "page.md"))


def test_words_that_we_avoid_are_found_with_their_line(tmp_path: Path) -> None:
    assert findings(tmp_path, "# A title\n\n- Nobody\n  knows.\n") == [
        "page.md:3: 'Nobody': name who does not"
    ]


def test_proselint_is_asked(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, "# A title\n\nIt stays.\n\nIt stays for ever.\n")
    assert found.startswith("page.md:5: 'for ever' is archaic.")


def test_code_is_left_out(tmp_path: Path) -> None:
    assert findings(tmp_path, "# A title\n\n`nobody` stays.\n\n```text\nfor ever\n```\n") == []
