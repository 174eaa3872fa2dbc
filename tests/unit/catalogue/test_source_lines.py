"""Links to Apache's source lead to a line: `specs/lines.yaml`, and how `ci/source_lines.py` finds one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from harness.catalogue import Source, catalogue
from harness.catalogue.sources import Sources
from harness.report.md import source_url

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("source_lines", ROOT / "ci" / "source_lines.py")
assert SPEC is not None
assert SPEC.loader is not None
source_lines = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(source_lines)

JAVA = """\
public class Table {
    private final int limit = 3;

    public Table(int size) {
        this.put(size);
    }

    // put is called once
    public synchronized Map<String, Integer> put(
        int size) {
        return new Table(put(size));
    }
}
"""


@pytest.mark.parametrize(
    ("method", "line"),
    [("put", 9), ("Table", 4), ("limit", 2), ("Inner#put", 9), ("gone", None), ("size", None)],
)
def test_a_method_is_found_where_it_is_declared(method: str, line: int | None) -> None:
    assert source_lines.line_of(method, JAVA.splitlines()) == line


def test_a_source_has_the_line_of_its_first_method() -> None:
    sources = Sources("t-{version}", {"A": "x/A.java"}, {"t-1.0.0": {"A": {"put": 9, "get": 4}}})
    (one, other) = sources.named(["A#get, put (1.0.0, 2.0.0)"])
    assert source_url(one).endswith("/blob/t-1.0.0/x/A.java#L4")
    assert source_url(other).endswith("/blob/t-2.0.0/x/A.java")


def test_most_sources_have_a_line() -> None:
    """Some methods have another name in one of the releases; new ones have none until the script has run."""
    named: set[Source] = {source for one in catalogue().statements for source in one.source if source.method}
    without = {one for one in named if one.line is None}
    assert len(without) * 10 < len(named), "run ci/source_lines.py with a clone of Apache's repository"
