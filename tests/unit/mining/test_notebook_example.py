"""The example of `docs/guides/mining.md` runs as it stands, on a campaign with planted bugs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs the extra [spark]: make .venv/.spark")

from bench import planted
from harness.mining.mine import mine
from harness.mining.page.tables import Folder, write_tables

PAGE = Path(__file__).parents[3] / "docs/guides/mining.md"


def test_the_example_runs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    planted.write(tmp_path / "D", 60, campaign="example")
    write_tables(mine(spark, str(tmp_path / "D")).tables, Folder(str(tmp_path / "R")))
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    printed = capsys.readouterr().out
    assert re.search(r"^ *target +statement +failed +runs", printed, re.MULTILINE)
    assert re.search(r"^\S+ +fail +[1-9]", printed, re.MULTILINE)
    assert re.search(r"^(\d+)\s+[1-9]\d*$", printed, re.MULTILINE)
