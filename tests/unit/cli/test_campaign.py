"""`campaign`: what is refused, and a whole one on this machine."""

import io
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from harness.cli import main
from harness.cli.bar import Line
from harness.cli.campaign import _Shown
from harness.mining.campaign import Progress
from harness.session import RunningClock

MUTANT = "failure-without-remark"


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = main(["campaign", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say how many"),
        (["tcp://192.0.2.1:9876", "--runs", "1"], "say --allow-remote"),
        (["builtin:5.3", "builtin:5.3", "--runs", "1"], "named twice"),
        (["builtin:5.3", "--profile", "4.9", "--runs", "1"], "say builtin:4.9"),
        (["--mutant", "no-such-mutant", "--runs", "1"], "there is no mutant"),
        (["--runs", "1", "--kind", "stateless"], "no such kind of a nameserver"),
        (["builtin:4.9", "--runs", "1", "--kind", "controller"], "have no controller"),
        (["--runs", "1", "--shrink", "-1"], "from 0 to"),
        (["--runs", "1", "--from", "x"], "plays nothing"),
        (["--from", "/nowhere"], "expected what check, fuzz or diff leave"),
        (
            ["--role", "broker", "--runs", "1", "--kind", "frames"],
            "of a broker; expected stateful",
        ),
        (["--role", "broker", "--runs", "1", "--mutant", "leases-never-end"], "there is no mutant"),
        (["--role", "broker", "--runs", "1", "--quirks", "apache-nameserver@5.3.3"], "apache-broker@VERSION"),
        (["--role", "broker", "--runs", "1", "tcp://127.0.0.1:1"], "say --nameserver HOST:PORT"),
        (["--nameserver", "127.0.0.1:1", "--runs", "1"], "leave --nameserver out"),
    ],
)
def test_what_cannot_be_asked_is_reported(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", *arguments, "--out", str(tmp_path)]) == 3
    assert said in capsys.readouterr().err


def test_a_target_that_does_not_start_is_reported_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["campaign", "exec:/nowhere/at-all {port}", "--runs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 4
    assert "nowhere" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_campaign_is_played_once_and_gone_on_with(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark is not None
    few = [
        "builtin:5.3",
        "--mutant",
        MUTANT,
        "--seed",
        "15",
        "--chunk",
        "4",
        "--attempts",
        "30",
        "--out",
        str(tmp_path),
    ]
    status, first = _json(capsys, *few, "--runs", "6")
    assert (status, first["played"], first["runs"]) == (1, 12, 12)
    assert first["targets"]["builtin:5.3"] == {"pass": 6}
    assert first["targets"][f"builtin:5.3?mutant={MUTANT}"]["fail"] > 0
    status, again = _json(capsys, *few, "--runs", "6")
    assert (status, again["played"], again["targets"]) == (1, 0, first["targets"])
    status, more = _json(capsys, *few, "--runs", "9")
    assert (more["played"], more["runs"]) == (6, 18)
    seeds = [
        seed
        for file in tmp_path.glob("runs/*/target=builtin%3A5.3/*.parquet")
        for seed in pq.read_table(file, columns=["seed"], partitioning=None)["seed"].to_pylist()
    ]
    assert sorted(seeds) == list(range(15, 24))
    assert main(["campaign", *few, "--runs", "9", "--deadline", "9"]) == 3
    assert "deadline: 120.0 there, 9.0 now" in capsys.readouterr().err


def test_a_campaign_on_brokers_is_of_brokers(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark is not None
    asked = ["builtin:5.3", "--runs", "3", "--out", str(tmp_path)]
    status, answer = _json(capsys, *asked, "--role", "broker")
    assert (status, answer["role"], answer["runs"]) == (0, "broker", 3)
    (file,) = tmp_path.glob("runs/*/*/*.parquet")
    rows = pq.read_table(file, partitioning=None).to_pylist()
    assert {row["role"] for row in rows} == {"broker"}
    assert all(any("send" in rule for rule in row["rule"]) and any(row["statements"]) for row in rows)
    assert main(["campaign", *asked]) == 3
    assert "role: broker there, nameserver now" in capsys.readouterr().err


def test_the_time_is_kept_and_what_was_played_stays(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark is not None

    class Clock(RunningClock):
        """An hour passes once the first runs are there: how long they take depends on the machine."""

        def waiting(self) -> float:
            return super().waiting() + 3600 * any(tmp_path.glob("index/*/*/*.parquet"))

    monkeypatch.setattr("harness.cli.campaign.RunningClock", Clock)
    asked = ["--runs", "4000", "--chunk", "20", "--max-time", "3000", "--out", str(tmp_path)]
    status, answer = _json(capsys, "builtin:5.3", *asked)
    assert (status, answer["conclusion"]) == (0, "NOTHING FOUND")
    assert 0 < answer["runs"] == answer["played"] < 4000
    assert "time was over" in answer["why"]
    assert not list((tmp_path / ".partial").rglob("*.parquet"))


def test_an_interrupt_before_the_first_run_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.campaign.session", interrupted)
    status, answer = _json(capsys, "builtin:5.3", "--runs", "3", "--out", str(tmp_path))
    assert (status, answer["conclusion"], answer["played"]) == (130, "INTERRUPTED", 0)
    assert "no run had come to its end" in answer["why"]


@pytest.mark.parametrize("sign", ["manifest/*/campaign.json", "index/*/*/*.parquet"])
def test_an_interrupt_loses_no_run_that_was_played(
    sign: str, spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spark is not None
    over = threading.Event()

    def interrupt() -> None:
        while not list(tmp_path.glob(sign)) and not over.wait(0.05):
            pass
        if not over.wait(1.0):
            os.kill(os.getpid(), signal.SIGTERM)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    asked = ["--runs", "100000", "--chunk", "20", "--out", str(tmp_path)]
    try:
        status, answer = _json(capsys, "builtin:5.3", *asked)
    finally:
        over.set()
        interrupting.join()
    assert (status, answer["conclusion"]) == (130, "INTERRUPTED")
    rows = [pq.read_metadata(file).num_rows for file in tmp_path.glob("runs/*/*/*.parquet")]
    assert answer["runs"] == answer["played"] == sum(rows) < 100_000
    assert ("what was played is kept" if rows else "no run had come to its end") in answer["why"]
    assert not list((tmp_path / ".partial").rglob("*.parquet"))


def test_a_log_has_a_line_for_each_tenth_and_twice_a_minute() -> None:
    log = io.StringIO()
    shown = _Shown(Line(Console(file=log, width=200)))
    for at, runs in [(0, 0), (20, 0), (30, 0), (40, 1), (59, 5), (60, 5), (62, 10), (80, 12), (93, 13)]:
        outcomes = {"pass": runs} if runs else {}
        shown.show(Progress(runs=runs, of_runs=100, steps=9 * runs, seconds=float(at), outcomes=outcomes))
    lines = log.getvalue().splitlines()
    assert [line.split(" · ")[0].strip() for line in lines] == ["30 s", "60 s", "62 s", "93 s"]
    assert lines[0].strip() == "30 s · 0 of 100 runs"
    assert "10 of 100 runs" in lines[2] and "left" in lines[2]
