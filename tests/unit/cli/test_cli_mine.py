"""`mine`: wrong options are reported at once; mining nothing is no success; what was read is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="needs Spark: make .venv/.spark, or pip install 'rmq-harness[spark]'")

from harness.cli import main
from harness.cli.mine import _status
from harness.mining.reading import Trouble


def mined(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from harness.cli import main; sys.exit(main())", "mine"]
    return subprocess.run(
        [*command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize("option", ["DIR", "--against"])
def test_a_directory_that_is_not_there_is_usage(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["gone"] if option == "DIR" else [str(tmp_path), "--against", "gone"]
    assert main(["mine", *places, "--out", str(tmp_path / "R")]) == 3
    assert f"{option} gone: no such directory; expected the --out of a campaign" in capsys.readouterr().err


def test_an_unreadable_size_of_memory_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mine", str(tmp_path), "--out", str(tmp_path / "R"), "--memory", "lots"]) == 3
    assert "expected such as 800m or 4g" in capsys.readouterr().err


@pytest.mark.spark
def test_nothing_to_mine_is_inconclusive_and_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "D").mkdir()
    done = mined("D", "--out", "R", "--json", cwd=tmp_path)
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert (answer["conclusion"], answer["runs"]) == ("Nothing was mined", 0)
    assert "not read: D/runs: expected the runs of a campaign" in done.stderr
    assert "There are no runs in D." in (tmp_path / "R/report.html").read_text()


@pytest.mark.parametrize(
    ("runs", "findings", "worse", "unread", "fail_on", "status"),
    [
        (0, 0, 0, 1, (), 2),
        (10, 0, 0, 0, (), 0),
        (10, 3, 1, 0, (), 0),
        (10, 3, 0, 0, ("findings",), 1),
        (10, 3, 0, 0, ("worse",), 0),
        (10, 0, 1, 0, ("findings", "worse"), 1),
        (10, 0, 0, 1, ("findings",), 2),
        (10, 3, 0, 1, ("findings",), 1),
    ],
)
def test_the_exit_status(
    runs: int, findings: int, worse: int, unread: int, fail_on: tuple[str, ...], status: int
) -> None:
    troubles = [Trouble("a", "truncated", "it ends too soon")] * unread
    result: Any = SimpleNamespace(runs=runs, troubles=troubles)
    options: Any = SimpleNamespace(fail_on=fail_on)
    found, why = _status(options, result, findings, worse)
    assert found == status
    assert bool(why) == (status != 0)
