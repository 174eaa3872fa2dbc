"""What the commands answer, for people and for machines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.results import read_run
from harness.wire import Command, encode


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    written = capsys.readouterr()
    return status, written.out, written.err


def test_check_records_reports_and_says_where(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(
        capsys, "check", "--select", "cluster", "--report", "html,json,junit", "--out", str(tmp_path)
    )
    assert status == 0, err
    assert re.search(r"PARTIAL \d+ of \d+, exit 0", out)
    assert err == ""
    for name in ("report.html", "result.json", "junit.xml", "results.jsonl"):
        assert (tmp_path / name).stat().st_size
    recorded = read_run(tmp_path)
    assert recorded.end is not None
    assert recorded.header.cases[0].name == "sanity.well-formed-request-is-answered"
    assert recorded.header.profile == "5.5"
    assert len(recorded.results) == len(recorded.header.cases)


def test_the_profile_comes_from_the_target(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(
        capsys, "check", "builtin:4.9", "--select", "sanity", "--out", str(tmp_path), "--json"
    )
    assert status == 0
    assert json.loads(out)["profile"] == "4.9"


def test_a_failure_is_shown_recorded_and_told_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = "builtin:5.3?mutant=cluster-lists-lowest-id-only"
    status, out, err = run(capsys, "check", target, "--select", "cluster", "--json", "--out", str(tmp_path))
    assert status == 1
    assert "NOT CONFORMANT, exit 1" in err
    answer = json.loads(out)
    assert answer["exit_status"] == 1
    failed = [one for one in read_run(tmp_path).results if one.failure is not None]
    assert failed
    for one in failed:
        assert one.failure is not None
        assert one.trace is not None
        assert (tmp_path / one.trace).exists()
        assert f"'{target}'" in one.failure.replay

    status, again, _ = run(capsys, "report", str(tmp_path), "--format", "console,json")
    assert status == 1
    assert "NOT CONFORMANT, exit 1" in again
    assert json.loads((tmp_path / "result.json").read_text()) == answer
    status, paths, _ = run(capsys, "report", str(tmp_path), "--format", "html")
    assert paths == f"{tmp_path}/report.html\n"


def test_traces_of_an_earlier_run_do_not_stay(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "old.trace").write_text("x")
    run(capsys, "check", "--select", "sanity", "--out", str(tmp_path))
    assert not list((tmp_path / "traces").iterdir())


def test_list_prints_and_runs_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(capsys, "check", "--list", "--select", "cluster", "--out", str(tmp_path / "no"))
    assert status == 0
    assert "cluster.lists-every-address" in out
    assert "MUST" in out
    assert not (tmp_path / "no").exists()
    status, out, _ = run(capsys, "check", "--list", "--select", "cluster", "--json")
    listed = json.loads(out)
    assert {"case", "class", "level", "profiles", "title", "statements", "chapter"} == set(listed["cases"][0])


def test_explain_a_statement_a_case_and_a_mutant(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain", "ns.cluster.lists-every-address")
    assert status == 0
    for word in ("MUST", "RouteInfoManager", "cluster.lists-every-address", "cluster-lists-lowest-id-only"):
        assert word in out
    status, out, _ = run(capsys, "explain", "cluster.lists-every-address", "--json")
    assert json.loads(out)["proves"] == ["ns.cluster.lists-every-address"]
    status, out, _ = run(capsys, "explain", "issue-5374", "--json")
    assert "ns.unregistration.late-unregistration-of-old-master-is-harmless" in out
    assert "historical-5374-late-unregister-removes-new-master" in out
    status, out, _ = run(capsys, "explain", "cluster-lists-lowest-id-only", "--json")
    assert "cluster.lists-every-address" in json.loads(out)["killed by"]


def test_selftest_of_one_mutant(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, err = run(
        capsys,
        "selftest",
        *("--mutant", "cluster-lists-lowest-id-only", "--select", "ns.cluster.lists-every-address"),
        *("--profile", "5.3", "-n", "1", "--out", str(tmp_path), "--json"),
    )
    assert status == 0, err
    answer = json.loads(out)
    assert answer["mutants"] == {"total": 1, "tried": 1, "killed": 1, "historical": 0}
    assert answer == json.loads((tmp_path / "selftest.json").read_text())
    assert "cluster.lists-every-address*" in (tmp_path / "selftest.txt").read_text()


FRAME = encode(Command(code=105, opaque=7, ext={"topic": "T"}, body=b"x"))


@pytest.mark.parametrize("form", ["hex", "spaced", "0x", "file", "hex file"])
def test_decode_takes_hex_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str) -> None:
    path = tmp_path / "frames"
    given = {"hex": FRAME.hex(), "spaced": FRAME.hex(" "), "0x": "0x" + FRAME.hex().upper()}.get(
        form, str(path)
    )
    path.write_bytes(FRAME if form == "file" else FRAME.hex("\n").encode())
    status, out, _ = run(capsys, "decode", given, "--json")
    assert status == 0
    fields = {one["name"]: one for one in json.loads(out)["frames"][0]["fields"]}
    assert fields["code"]["value"] == 105
    assert fields["extFields.topic"]["value"] == "T"
    assert FRAME[fields["body"]["start"] : fields["body"]["end"]] == b"x"


def test_decode_cuts_a_stream_and_shows_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "decode", (FRAME + FRAME + b"HTTP/1.1 400").hex())
    assert status == 1
    assert out.count("frame at byte") == 3
    assert "Apache closes the connection" in out
    assert "\x1b" not in out


def test_no_setting_of_the_users_pytest_has_a_say(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --unheard-of\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('must not be imported')\n")
    environment = {**os.environ, "PYTEST_ADDOPTS": "--unheard-of", "PYTEST_PLUGINS": "no_such_plugin"}
    program = "import sys; from harness.cli import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "check", "--select", "sanity"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()


DROPPED = """\
import argparse, gc, signal, sys, time
import harness.cli

def collected(phase, info):
    gc.callbacks.remove(collected)
    signal.raise_signal(signal.SIGINT)

def run(options):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.callbacks.append(collected)
    gc.collect()
    print("it was dropped", flush=True)
    time.sleep(60)
    return 0

class Parser:
    def parse_args(self, arguments):
        return argparse.Namespace(run=run, settings="")

harness.cli.build_parser = Parser
sys.exit(harness.cli.main([]))
"""


def test_an_interrupt_that_python_drops_comes_again() -> None:
    command = [sys.executable, "-c", DROPPED]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "it was dropped\n",
        "rmq-harness: interrupted\n",
    )
