"""What other commands have recorded becomes rows, and nothing is made up."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.cli import main
from harness.mining.errors import MiningError
from harness.mining.recorded import read_recorded
from harness.mining.schema import arrow_schema
from harness.program.steps import decode_step

MUTANT = "builtin:5.3?mutant=leases-never-end"
LEVEL = "bk.delay.level-is-waited-for"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of check, fuzz and diff."""
    out = tmp_path_factory.mktemp("records")
    assert main(["check", MUTANT, "--select", "ns.lease", "--out", str(out / "check")]) == 1
    limits = ["--max-examples", "30", "--attempts", "20"]
    assert (
        main(["fuzz", MUTANT, "--kind", "stateful", "--seed", "7", *limits, "--out", str(out / "fuzz")]) == 1
    )
    sides = ["builtin:5.3", MUTANT]
    assert main(["diff", *sides, "--steps", "400", "--seed", "1", "--out", str(out / "diff")]) == 1
    return out


def test_cases_are_runs_that_judge_their_statements(records: Path) -> None:
    rows = [row for row, _ in read_recorded(records / "check", "c")]
    failing = [row for row in rows if row["outcome"] == "fail"]
    assert 0 < len(failing) < len(rows)
    assert all(row["statement"] in row["statements"][0] and row["invariant"] for row in failing)
    assert len({row["seed"] for row in rows}) == len(rows)
    assert {row["kind"] for row in rows} == {"case"}


def test_findings_are_the_programs_as_they_were_found(records: Path) -> None:
    found = read_recorded(records / "fuzz", "c")
    assert found
    for row, trace in found:
        assert row["outcome"] == "fail" and trace is not None
        assert row["failing_step"] == row["steps"] - 1
        assert row["signature"].startswith(row["statement"])
        assert len(row["shrunk_ops"]) == len(
            [decode_step(line) for line in row["shrunk_program"].splitlines()]
        )


def test_rounds_are_runs_of_their_number(records: Path) -> None:
    rows = [row for row, _ in read_recorded(records / "diff", "c")]
    assert [row["seed"] for row in rows] == sorted(row["seed"] for row in rows)
    assert {row["outcome"] for row in rows} >= {"fail"}
    assert all(row["target"] == MUTANT and row["statement"] is None for row in rows)


def test_all_of_them_lie_in_one_data_set(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = records / "set"
    arguments = [
        "campaign",
        "--from",
        *(str(records / one) for one in ("check", "fuzz", "diff")),
        "--out",
        str(out),
    ]
    assert main(arguments) == main(arguments) == 0
    assert "recorded runs" in capsys.readouterr().out
    files = sorted(out.glob("runs/**/*.parquet"))
    assert [file.name.split("-")[0] for file in files] == ["case", "diff", "stateful"]
    for file in files:
        assert pq.read_schema(file).equals(arrow_schema())


@pytest.fixture(scope="module")
def of_brokers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of check and fuzz of a Broker."""
    out = tmp_path_factory.mktemp("brokers")
    broker = ["builtin:5.3?mutant=delayed-by-half", "--role", "broker"]
    assert main(["check", *broker, "--select", LEVEL, "--out", str(out / "check")]) == 1
    limits = ["--seed", "7", "--max-examples", "30", "--attempts", "20"]
    assert main(["fuzz", *broker, *limits, "--out", str(out / "fuzz")]) == 1
    return out


def test_records_of_brokers_are_runs_on_brokers(of_brokers: Path) -> None:
    cases = [row for row, _ in read_recorded(of_brokers / "check", "c")]
    findings = [row for row, _ in read_recorded(of_brokers / "fuzz", "c")]
    assert cases and findings
    assert {row["role"] for row in (*cases, *findings)} == {"broker"}
    assert {LEVEL} <= {row["statement"] for row in cases}
    for row in findings:
        assert len(row["shrunk_ops"]) == len(row["shrunk_program"].splitlines())
    generators = {row["generator"] for row in (*cases, *findings)}
    assert all("role=broker" in one for one in generators)


def test_a_campaign_is_of_one_role(
    records: Path, of_brokers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, other = str(of_brokers / "check"), str(records / "check")
    into = ["--out", str(tmp_path)]
    assert main(["campaign", "--from", first, "--role", "broker", *into]) == 0
    assert main(["campaign", "--from", first, "--role", "nameserver", *into]) == 3
    assert "its runs are of role broker, not nameserver; leave --role out" in capsys.readouterr().err
    assert main(["campaign", "--from", other, *into]) == 3
    said = "of role nameserver, and campaign check there has runs of role broker: say another --name"
    assert said in capsys.readouterr().err
    assert main(["campaign", "--from", other, "--name", "others", *into]) == 0


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MiningError, match="expected what check, fuzz or diff leave") as refused:
        read_recorded(tmp_path, "c")
    assert refused.value.status == 3
