"""The catalogue against the reference, mutants against the cases, plain pytest: each as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.catalogue import messages
from harness.conformance.running import RESTARTS
from harness.report.results import Verdict, read_run
from harness.wire import RequestCode
from harness.wire.code_names import request_words

PROGRAM = "import sys; from harness.cli import main; sys.exit(main())"
# A shell that starts programs in the background makes them ignore SIGINT; one that is to be interrupted must
# hear it.
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
ROOT = Path(__file__).parents[2]


def rmq(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


NOT_ASKED: dict[str, set[int]] = {"nameserver": set(), "broker": set()}
"""Requests of the catalogue about which it says nothing yet, and which the reference does not serve."""


@pytest.mark.parametrize(
    ("role", "profile"),
    [
        ("nameserver", "5.5"),
        ("broker", "5.5"),
        # Self-tests run every case on the reference of each line, too.
        *(pytest.param(role, line, marks=pytest.mark.soak) for role in NOT_ASKED for line in ("4.9", "5.3")),
    ],
)
def test_the_reference_conforms(role: str, profile: str, tmp_path: Path) -> None:
    ended = rmq("check", f"builtin:{profile}", "--role", role, "--strict", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert answer["conclusion"] == "CONFORMANT"
    assert (answer["role"], answer["profile"]) == (role, profile)
    run = read_run(tmp_path / "out")
    assert {one.verdict for one in run.results} == {Verdict.PASS}
    asked = {held.request for one in run.results for held in one.held}
    known = [one for one in messages().of(role) if not one.sent and profile in (one.profiles or (profile,))]
    not_asked = {one.code for one in known if request_words(one.code) not in asked}
    assert not_asked == NOT_ASKED[role] & {one.code for one in known}
    assert len(run.results) == len(run.header.cases) == run.header.cases_available


@pytest.mark.parametrize(("role", "chapter"), [("nameserver", "cluster"), ("broker", "bk.lock")])
def test_every_mutant_of_a_chapter_is_killed_and_every_case_kills(
    role: str, chapter: str, tmp_path: Path
) -> None:
    # Those of all chapters take minutes: `make selftest`, of which `make measures` is made.
    ended = rmq("selftest", "--role", role, "--select", chapter, "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert answer["problems"] == []
    assert answer["mutants"]["killed"] == answer["mutants"]["tried"] > answer["cases"] > 10


def test_workers_give_the_same_verdicts(tmp_path: Path) -> None:
    target = "builtin:5.3?mutant=leases-never-end"
    verdicts = []
    chapters = "lease,registration,routes,kv,framing"
    for number in ("1", "2"):
        ended = rmq("check", target, "-n", number, "--out", number, "--select", chapters, cwd=tmp_path)
        assert ended.returncode == 1, ended.stderr
        verdicts.append({one.case: one.verdict for one in read_run(tmp_path / number).results})
    assert verdicts[0] == verdicts[1]
    assert Verdict.FAIL in verdicts[0].values()


def broken_server(at: Path, *, when: str, ending: str) -> str:
    """The command of a NameServer that runs `ending` instead of a request for which `when` holds."""
    at.write_text(
        "import itertools, os, pathlib, signal, sys\n"
        "from reference_impl import serve\n"
        "from reference_impl.remoting.requests import RequestTable\n"
        "sound, executed = RequestTable.execute, itertools.count()\n"
        "def execute(self, command, connection, now):\n"
        f"    if {when}:\n"
        f"        {ending}\n"
        "    return sound(self, command, connection, now)\n"
        "RequestTable.execute = execute\n"
        "serve.run(host='127.0.0.1', port=int(sys.argv[1]))\n"
    )
    return f"exec:{sys.executable} {at} {{port}}"


def test_a_server_that_keeps_dying_fails_the_last_case_and_blocks_the_rest(tmp_path: Path) -> None:
    # Every life ends at its hundredth request; the cases that come later must not be taken for conformant.
    target = broken_server(tmp_path / "server.py", when="next(executed) == 100", ending="os._exit(9)")
    excluded = "kv,routes,framing,configuration,lease,controller,notification,json"
    ended = rmq("check", target, "--deadline", "10", "--exclude", excluded, "--json", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    results = read_run(tmp_path / "out").results
    by_case = {one.case: one for one in results}
    assert by_case["endurance.serves-after-everything"].verdict is Verdict.FAIL
    given_up = [one for one in results if f"had gone {RESTARTS + 1} times" in one.reason]
    assert len(given_up) > 100
    assert {one.verdict for one in given_up} == {Verdict.BLOCKED}


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (
            "os._exit(9)",
            f"gone during {{}}, but lives through each alone: {sys.executable} {{}} ended with status 9; "
            "it wrote last: nameserver 5.5",
        ),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "stopped answering during {}, but lives through each alone"),
    ],
)
def test_a_server_that_ends_once_is_started_again(ending: str, words: str, tmp_path: Path) -> None:
    mark, server, wiping = tmp_path / "ended", tmp_path / "server.py", RequestCode.WIPE_WRITE_PERM_OF_BROKER
    target = broken_server(
        server,
        when=f"command.code == {wiping:d} and not os.path.exists({str(mark)!r})",
        ending=f"pathlib.Path({str(mark)!r}).touch(); {ending}",
    )
    chapters = "sanity,cluster,errors,routes,topic-lists,write-permission,endurance"
    ended = rmq("check", target, "--profile", "5.5", "--select", chapters, cwd=tmp_path)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    results = read_run(tmp_path / "out").results
    (failed,) = [one for one in results if one.verdict is Verdict.FAIL]
    assert failed.case == "endurance.serves-after-everything"
    others = {one.verdict for one in results if one is not failed}
    assert others == {Verdict.PASS, Verdict.UNSUPPORTED}
    hit = re.search(r"during (write-permission\.\S+),", failed.reason)
    assert hit is not None, failed.reason
    assert failed.reason.startswith(f"the target had {words.format(hit[1], server)}")


def test_a_mutant_that_dies_in_two_cases_costs_these_two(tmp_path: Path) -> None:
    ended = rmq("check", "builtin:5.3?mutant=refused-registration-is-listed", cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    results = {one.case: one for one in read_run(tmp_path / "out").results}
    one, other = [one.case for one in results.values() if one.ended_in == (one.case,)]
    assert results[one].verdict is results[other].verdict is Verdict.FAIL
    assert [one for one in results.values() if one.verdict is Verdict.BLOCKED] == []
    assert one in results["endurance.serves-after-everything"].reason
    assert other in results["endurance.serves-after-everything"].reason


def plain_pytest(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("--pyargs", "harness.conformance", "-p", "harness.pytest_plugin"),
            *arguments,
        ],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_plain_pytest_runs_the_cases_with_our_exit_status(tmp_path: Path) -> None:
    options = ("--target", "builtin:4.9", "--select", "cluster", "--rmq-out", "record")
    ended = plain_pytest(*options, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "11 passed" in ended.stdout
    assert read_run(tmp_path / "record").header.profile == "4.9"


def test_plain_pytest_shows_what_failed(tmp_path: Path) -> None:
    target = "builtin:5.3?mutant=cluster-lists-lowest-id-only"
    ended = plain_pytest("--target", target, "--profile", "5.3", "--select", "cluster", cwd=tmp_path)
    assert ended.returncode == 1
    assert "expected   reply SUCCESS (0)" in ended.stdout
    assert "Traceback" not in ended.stdout


def test_plain_pytest_counts_what_it_left_out_itself(tmp_path: Path) -> None:
    ended = plain_pytest("-k", "lists_every_address", "--rmq-out", "record", cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [one.case for one in read_run(tmp_path / "record").results] == ["cluster.lists-every-address"]


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--target", "nonsense"), 4, "expected  one of builtin:"),
        (("--profile", "7"), 4, "no such profile"),
        (("--target", "tcp://127.0.0.1:1"), 4, "start the server"),
        (("--select", "nothing.matches"), 4, "matches no statement"),
        (("-k", "nothing_matches"), 2, "deselected"),
    ],
)
def test_plain_pytest_explains_mistakes(
    options: tuple[str, ...], status: int, said: str, tmp_path: Path
) -> None:
    ended = plain_pytest(*options, cwd=tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert said in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


def test_any_test_of_a_user_may_ask_for_a_session(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from harness.conformance import Reply\n"
        "def test_mine(ns):\n"
        "    ns.call(206) >> Reply(0)\n"
        "def test_forgotten(ns):\n"
        "    ns.call(206)\n"
    )
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "harness.pytest_plugin",
            "-p",
            "no:cacheprovider",
            "test_mine.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "2 passed, 1 error" in ended.stdout, ended.stdout + ended.stderr
    assert "asked and never judged" in ended.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_reports_what_it_had_measured(number: signal.Signals, tmp_path: Path) -> None:
    code = "from reference_impl import serve; serve.run(host='127.0.0.1', port={port})"
    target = f'exec:{sys.executable} -c "{code}"'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", HEARING + PROGRAM, "check", target, "--select", "sanity,lease"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        record = tmp_path / "out" / "results.jsonl"
        deadline = time.monotonic() + 60
        while not (record.exists() and record.read_bytes().count(b"\n") > 1) and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130, out
    assert "INTERRUPTED, exit 130" in out
    run = read_run(tmp_path / "out")
    assert run.end is not None
    assert run.end.interrupted
    assert 1 <= len(run.results) < len(run.header.cases)
