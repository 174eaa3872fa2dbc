"""The results file: what is written is read back, and what is broken is never taken for whole."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.report.results import (
    FILE_NAME,
    CaseResult,
    Failure,
    FieldLine,
    PlannedCase,
    RecordError,
    ResultsWriter,
    Run,
    RunEnd,
    RunHeader,
    Verdict,
    read_run,
)
from harness.report.verdicts import summarize

HEADER = RunHeader(
    suite="0.1.0",
    target="tcp://127.0.0.1:9876",
    profile="4.9",
    clock="real",
    started="2024-05-01T12:00:00+00:00",
    cases=tuple(
        PlannedCase(name=n, chapter="lease", level="MUST", statements=(f"ns.lease.{n}",)) for n in ("a", "b")
    ),
    statements=(),
    cases_available=2,
)
PASS = CaseResult(
    case="a",
    statements=("ns.lease.a",),
    chapter="lease",
    level="MUST",
    verdict=Verdict.PASS,
    begun=0.0,
    seconds=0.25,
)
FAIL = CaseResult(
    case="b",
    statements=("ns.lease.b",),
    chapter="lease",
    level="MUST",
    verdict=Verdict.FAIL,
    begun=0.25,
    seconds=2.0,
    failure=Failure(
        statement="ns.lease.b",
        text="It ends.",
        expected="reply TOPIC_NOT_EXIST",
        actual="reply SUCCESS",
        frame_no=3,
        direction="received",
        frame_hex="0000",
        fields=(FieldLine(name="length", start=0, end=4, value="0", decisive=True),),
        start=0,
        end=4,
    ),
)
END = RunEnd(exit_status=1, why="1 of 2 cases failed", seconds=2.5)


def written(directory: Path) -> Path:
    path = directory / FILE_NAME
    with ResultsWriter(path) as writer:
        for record in (HEADER, PASS, FAIL, END):
            writer.write(record)
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    expected = Run(header=HEADER, results=(PASS, FAIL), end=END)
    path = written(tmp_path)
    assert read_run(path) == read_run(tmp_path) == expected


def test_each_record_is_on_disk_before_the_next(tmp_path: Path) -> None:
    with ResultsWriter(tmp_path / FILE_NAME) as writer:
        writer.write(HEADER)
        writer.write(PASS)
        assert read_run(tmp_path) == Run(header=HEADER, results=(PASS,))


def test_a_record_cut_anywhere_is_never_conclusive(tmp_path: Path) -> None:
    data = written(tmp_path).read_bytes()
    cut_file = tmp_path / "cut.jsonl"
    for cut in range(data.index(b"\n") + 1, len(data)):
        cut_file.write_bytes(data[:cut])
        run = read_run(cut_file)
        assert run.truncated == (data[cut - 1 : cut] != b"\n")
        assert summarize(run).exit_status in (1, 2)
        assert run.end is None


def test_a_green_run_cut_short_is_inconclusive(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with ResultsWriter(path) as writer:
        for record in (HEADER, PASS, msgspec.structs.replace(PASS, case="b")):
            writer.write(record)
    assert summarize(read_run(path)).exit_status == 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"", "line 1: expected the header"),
        (b'{"record":"end","exit_status":0,"why":"","seconds":1}\n', "line 1: expected the header"),
        (b"{}\n", "line 1: not a record of schema 1"),
        (b"[1,2\n", "line 1: not a record of schema 1"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, lines: bytes, message: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(lines)
    with pytest.raises(RecordError, match=message):
        read_run(path)


def test_another_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    data = written(tmp_path).read_bytes()
    assert b'"schema":1' in data
    path.write_bytes(data.replace(b'"schema":1', b'"schema":9'))
    with pytest.raises(RecordError, match=r"written with schema 9, this version reads 1; use the version"):
        read_run(path)


def test_a_case_recorded_twice_or_never_planned_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    header, first, *_ = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([header, first, first, b""]))
    with pytest.raises(RecordError, match="line 3: the case a already has a result"):
        read_run(path)
    path.write_bytes(b"\n".join([header, first.replace(b'"case":"a"', b'"case":"q"'), b""]))
    with pytest.raises(RecordError, match="line 2: the header does not plan the case q"):
        read_run(path)


def test_nothing_follows_the_end(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + path.read_bytes().split(b"\n")[1] + b"\n")
    with pytest.raises(RecordError, match="line 5"):
        read_run(path)


def test_the_writer_keeps_the_order(tmp_path: Path) -> None:
    with ResultsWriter(tmp_path / FILE_NAME) as writer:
        with pytest.raises(RecordError, match="one header, then cases"):
            writer.write(PASS)
        writer.write(HEADER)
        with pytest.raises(RecordError, match="one header, then cases"):
            writer.write(HEADER)
        writer.write(END)
        with pytest.raises(RecordError, match="nothing comes after the end"):
            writer.write(PASS)


def test_a_missing_file_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"cannot be read .*expected the results.jsonl of a run"):
        read_run(tmp_path / "none")


def test_half_a_surrogate_pair_from_a_target_can_be_written(tmp_path: Path) -> None:
    odd = msgspec.structs.replace(FAIL, reason="remark \ud83d")
    assert odd.reason == r"remark \ud83d"
    assert FieldLine(name="remark", start=0, end=1, value="é\udc00").value == r"é\udc00"
    with ResultsWriter(tmp_path / FILE_NAME) as writer:
        writer.write(HEADER)
        writer.write(odd)
    assert read_run(tmp_path).results == (odd,)
