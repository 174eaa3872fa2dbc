"""`ci/prose.py`: it finds what we do not write, and where; code is left out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from document_pages import ROOT

for library in ("proselint", "spellchecker"):
    pytest.importorskip(library, reason=f"{library} is not installed; `make lint` installs it")
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


def test_words_are_spelt_as_a_dictionary_has_them(tmp_path: Path) -> None:
    assert findings(tmp_path, "# A title\n\nAn unregistration is recieved.\n") == [
        "page.md:3: 'recieved' is misspelt, or a term that ci/words.txt lacks"
    ]


def test_names_are_no_words(tmp_path: Path) -> None:
    names = "brokerAddr, BrokerData, ACK, wire.sanity.x, goes-to-every-nameserver, a/b.pcap, v4x and 12ms"
    assert findings(tmp_path, f"# A title\n\nSee {names}.\n") == []


def test_a_term_that_no_page_needs_goes() -> None:
    assert list(prose.needless({"an", "unregistration"}, {"unregistration", "regstration", "page"})) == [
        "ci/words.txt: 'page' is a word of the dictionary",
        "ci/words.txt: 'regstration' is on no page",
    ]
