"""`.properties` text is read as Java reads it: vectors by Java (fixtures/README.md), and what we write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import WireError
from harness.wire.bodies import Properties

VECTORS = Path(__file__).parents[2] / "fixtures" / "properties" / "java-17.json"
TEXT = st.text(max_size=12)


def load() -> list[Any]:
    vectors: list[Any] = json.loads(VECTORS.read_text("ascii"))["vectors"]
    return vectors


def test_there_are_vectors_of_both_kinds() -> None:
    assert len({vector["hex"] for vector in load() if vector["pairs"] is None}) > 50
    assert len({vector["hex"] for vector in load() if vector["pairs"]}) > 200


@pytest.mark.parametrize("vector", load(), ids=lambda vector: vector["hex"] or "empty")
def test_read_as_java_reads(vector: Any) -> None:
    data = bytes.fromhex(vector["hex"])
    if vector["pairs"] is None:
        with pytest.raises(WireError, match=r"line \d+: .*four hexadecimal digits"):
            Properties.load(data)
    else:
        assert Properties.load(data).pairs == vector["pairs"]


@given(pairs=st.dictionaries(TEXT, TEXT, max_size=4))
def test_what_is_written_is_read_back(pairs: dict[str, str]) -> None:
    data = Properties(pairs).encode()
    assert Properties.load(data).pairs == pairs
    assert Properties.decode(data).pairs == pairs


def test_a_body_beyond_ascii_is_read_as_iso_8859_1() -> None:
    assert Properties.decode("a=é\nb=\\u00e9".encode()).pairs == {"a": "Ã©", "b": "é"}
    assert Properties.decode(b"a=\xff").pairs == {"a": "ï¿½"}  # U+FFFD, in UTF-8, read as ISO-8859-1
    assert Properties.load(b"a=\xff").pairs == {"a": "ÿ"}
