"""The loop of a person at work: `-x`, `--failed`, `--fast`, `--list`."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import check as command
from harness.cli import main
from harness.cli.status import INTERRUPTED
from harness.conformance.plan import CheckOptions
from harness.report.results import Verdict, read_run

BROKEN = "builtin:5.3?mutant=cluster-lists-lowest-id-only"
SERVED = (
    f"exec:{sys.executable} -c 'import sys; from harness.cli import main; sys.exit(main())' "
    "serve nameserver --host 127.0.0.1 --port {port}"
)


def check(capsys: pytest.CaptureFixture[str], out: Path, *arguments: str) -> tuple[int, str]:
    status = main(["check", *arguments, "--out", str(out)])
    written = capsys.readouterr()
    # Where lines are folded depends on the interpreter's path, which is part of the target's name.
    return status, " ".join((written.out + written.err).split())


def failed(out: Path) -> list[str]:
    return [one.case for one in read_run(out).results if one.verdict is Verdict.FAIL]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_stops_at_its_first_failure(
    workers: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, text = check(capsys, tmp_path, BROKEN, "--select", "cluster,kv", "-x", "-n", workers)
    run = read_run(tmp_path)
    assert status == 1, text
    assert run.end is not None
    assert run.end.stopped
    assert failed(tmp_path)
    assert len(run.results) < len(run.header.cases)
    assert "stopped at the first failure (-x)" in text
    assert "NOT CONFORMANT, exit 1" in text


def test_a_run_without_failures_does_not_stop(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, text = check(capsys, tmp_path, "--select", "cluster", "-x")
    assert status == 0
    assert "stopped" not in text


def test_only_what_failed_runs_again_until_it_passes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check(capsys, tmp_path, BROKEN, "--select", "cluster")
    first = failed(tmp_path)
    waiting = [one.case for one in read_run(tmp_path).results if one.verdict is Verdict.BLOCKED]
    assert first
    status, text = check(capsys, tmp_path, BROKEN, "--failed")
    assert status == 1, text
    assert failed(tmp_path) == first
    header = read_run(tmp_path).header
    assert header.only_failed
    assert header.not_tried_again[Verdict.PASS] > 0
    line = f"not tried again (--failed): {header.not_tried_again[Verdict.PASS]} passed"
    assert line in text
    assert header.profile == "5.3"
    assert {one.name for one in header.cases} == {
        *first,
        *waiting,
        "sanity.well-formed-request-is-answered",
        "sanity.connections-are-served-beside-each-other",
        "endurance.serves-after-everything",
    }
    status, text = check(capsys, tmp_path, "builtin:5.3", "--failed")
    assert status == 0, text
    assert "PARTIAL" in text
    status, text = check(capsys, tmp_path, "builtin:5.3", "--failed")
    assert status == 2
    assert f"no case failed, was blocked or flaky in the record in {tmp_path}" in text


def test_a_run_of_something_else_does_not_forget_what_failed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check(capsys, tmp_path, BROKEN, "--select", "cluster")
    first = failed(tmp_path)
    check(capsys, tmp_path, BROKEN, "--select", "kv.put-overwrites")
    check(capsys, tmp_path, BROKEN, "--failed")
    assert failed(tmp_path) == first


def test_the_failures_of_another_directory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    check(capsys, tmp_path / "a", BROKEN, "--select", "cluster")
    check(capsys, tmp_path / "b", BROKEN, "--failed", str(tmp_path / "a"))
    assert failed(tmp_path / "b") == failed(tmp_path / "a")


def test_a_target_behind_failed_is_the_target(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    check(capsys, tmp_path, BROKEN, "--select", "cluster")
    status, text = check(capsys, tmp_path, "--failed", BROKEN)
    assert status == 1, text
    assert read_run(tmp_path).header.target == BROKEN


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "run without --failed first"),
        (("elsewhere",), "elsewhere: cannot be read"),
    ],
)
def test_failed_without_a_record_is_a_mistake(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, text = check(capsys, tmp_path / "none", "--failed", *arguments)
    assert status == 3
    assert message in text


def test_failed_with_the_record_of_another_role_is_a_mistake(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check(capsys, tmp_path, "--select", "sanity")
    status, text = check(capsys, tmp_path, "--failed", "--role", "broker")
    assert status == 3
    assert "say --role nameserver" in text


def test_fast_leaves_out_what_waits_in_real_time(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, text = check(capsys, tmp_path, SERVED, "--select", "lease,cluster", "--fast")
    header = read_run(tmp_path).header
    assert status == 0, text
    assert header.waiting_left_out > 5
    assert not any(one.waits for one in header.cases)
    assert f"{header.waiting_left_out} that wait left out (--fast)" in text
    assert "PARTIAL" in text
    assert "real time" in text
    assert "one shared wait" not in text


def test_fast_leaves_nothing_out_where_time_is_virtual(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check(capsys, tmp_path, "--select", "lease", "--fast")
    header = read_run(tmp_path).header
    assert header.waiting_left_out == 0
    assert any(one.waits for one in header.cases)


def test_fast_that_leaves_nothing_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    case = "lease.expired-broker-is-removed"
    status, text = check(capsys, tmp_path, SERVED, "--select", case, "--fast")
    assert status == 2
    assert "--fast leaves these out" in text


def test_a_list_that_is_piped_has_one_line_for_a_case(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["check", "--list", "--select", "cluster", "--out", str(tmp_path)]) == 0
    written = capsys.readouterr()
    lines = written.out.splitlines()
    assert written.err.startswith(f"{len(lines)} of ")
    (one,) = [line for line in lines if line.startswith("cluster.lists-every-address ")]
    assert re.fullmatch(r"\S+ +administration +MUST +4\.9,5\.3,5\.5 +Cluster information MUST .*\.", one)


@pytest.mark.parametrize(("target", "profile"), [("exec:./ns --more", "4.9"), ("builtin:5.3", "")])
def test_failed_keeps_the_profile_unless_the_target_has_one(
    target: str, profile: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check(capsys, tmp_path, "builtin:4.9?mutant=cluster-lists-lowest-id-only", "--select", "cluster")
    asked = CheckOptions(target=target)
    found = command._failed(argparse.Namespace(failed=str(tmp_path), out=tmp_path), asked)
    assert found.profile == profile
    assert set(failed(tmp_path)) <= set(found.names or ())


def test_the_reader_of_the_output_may_leave(tmp_path: Path) -> None:
    entry = [sys.executable, "-c", "import sys; from harness.cli import main; sys.exit(main())"]
    check = subprocess.Popen(
        [*entry, "check", "builtin:", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert check.stdout is not None
    assert check.stdout.readline().startswith(b"rmq-harness")
    check.stdout.close()
    assert check.stderr is not None
    said = check.stderr.read().decode()
    assert check.wait() == INTERRUPTED, said
    assert "Traceback" not in said
    assert "INTERNALERROR" not in said
