"""Reports made from a recorded run on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import report_samples as samples

from harness.report.results import ResultsWriter, read_run
from harness.report.write import FORMATS, load_traces, write_reports
from harness.trace import write_trace


def recorded(directory: Path) -> Path:
    run = samples.run()
    with ResultsWriter(directory / "results.jsonl") as writer:
        assert run.end is not None
        writer.write(run.header)
        for result in run.results:
            writer.write(result)
        writer.write(run.end)
    (directory / "traces").mkdir()
    write_trace(directory / "traces" / "promotion.trace", samples.TRACE)
    return directory


def test_every_format_is_made_from_the_record_alone(tmp_path: Path) -> None:
    run = read_run(recorded(tmp_path))
    assert run == samples.run()
    written = write_reports(run, [name for name in FORMATS if name != "badge"], tmp_path)
    names = ["report.html", "result.json", "junit.xml", "summary.md", "annotations.txt"]
    assert [path.name for path in written.paths] == names
    assert written.refused == []
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["exit_status"] == 4
    assert "▲ decisive, #9" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_traces_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    directory = recorded(tmp_path)
    assert load_traces(samples.run(), directory) == {"traces/promotion.trace": samples.TRACE}
    (directory / "traces" / "promotion.trace").write_bytes(b"no trace\n")
    assert load_traces(samples.run(), directory) == {}


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        write_reports(samples.run(), ["pdf"], tmp_path)
