"""`docs/guides/own-tests.md` does what it says; the plug-in leaves tests of other kinds alone."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "guides" / "own-tests.md").read_text()
WITHIN = 300
FEW = """
from hypothesis import settings
TestMachine.settings = settings(max_examples=3, stateful_step_count=5, deadline=None, derandomize=True)
"""
"""The page says how a machine is given more examples; here it has few."""


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)
    return str(found)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A third party's: its server, and the files of the page."""
    program = Path(sys.executable).with_name("rmq-harness")
    server = tmp_path / "my-nameserver"
    server.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} serve nameserver --profile 5.3 "$@"\n')
    server.chmod(server.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "pytest.ini").write_text(block("ini"))
    return tmp_path


def run(repository: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    ended = subprocess.run(
        command, cwd=repository, capture_output=True, text=True, timeout=WITHIN, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_the_files_of_the_page(repository: Path) -> None:
    (repository / "test_own.py").write_text(block("python") + FEW)
    status, said = run(repository)
    assert status == 0, said
    assert "2 passed" in said


def test_the_commands_of_the_page(repository: Path) -> None:
    (repository / "test_own.py").write_text(block("python") + FEW)
    lines = [line.partition("#")[0].split() for line in block("sh").splitlines()]
    assert [line[0] for line in lines] == ["pytest"] * 3
    # They take the minutes that leases take: what they would run stands for it.
    for line, mine in ((lines[1], False), (lines[2], True)):
        _, said = run(repository, *line[1:], "--collect-only", "--rmq-target", "builtin:5.3")
        assert "test_routes.py::" in said
        assert ("test_own.py::test_a_registered_topic_has_a_route" in said) is mine


def test_cases_and_a_failing_test_of_ones_own_are_no_success(repository: Path) -> None:
    (repository / "test_own.py").write_text("def test_mine():\n    assert False\n")
    arguments = ["harness.conformance", "test_own.py", "--rmq-target", "builtin:5.3"]
    select = ["--select", "ns.routes"]
    status, said = run(repository, *arguments, *select)
    assert status == 1, said
    (repository / "test_own.py").write_text("def test_mine(target, ns):\n    assert target.alive()\n")
    status, said = run(repository, *arguments, *select)
    assert status == 0, said


def test_a_failure_shows_the_frame_and_the_trace(repository: Path) -> None:
    (repository / "test_own.py").write_text(
        "from harness.conformance import Reply\n"
        "def test_mine(ns):\n    ns.route('nothing') >> Reply(0)\n"
        "def test_unjudged(ns):\n    ns.route('nothing')\n"
        "def test_other(ns):\n    ns.route('nothing') >> Reply(17)\n"
    )
    status, said = run(repository, "--rmq-target", "builtin:5.3", "--rmq-out", "out")
    assert status == 1
    assert "1 failed, 2 passed, 1 error" in said, said  # of which one is no question that was judged
    assert "expected reply SUCCESS" in said
    assert "<- decisive" in said
    assert "GET_ROUTEINFO_BY_TOPIC (topic=nothing)" in said
    assert "asked and never judged: 105 GET_ROUTEINFO_BY_TOPIC of nothing" in said
    trace = repository / "out" / "traces" / "test_mine.trace"
    assert str(trace.relative_to(repository)) in said
    assert trace.exists()
    assert not (repository / "out" / "traces" / "test_unjudged.trace").exists()


def test_who_asks_for_nothing_is_not_disturbed(repository: Path) -> None:
    (repository / "test_plain.py").write_text("def test_plain():\n    pass\n")
    server = "exec:does-not-exist {port}"
    status, said = run(repository, "--rmq-target", server)
    assert (status, "1 passed" in said) == (0, True), said
    (repository / "test_plain.py").write_text("def test_plain(ns):\n    pass\n")
    status, said = run(repository, "--rmq-target", server)
    assert status == 1
    assert "could not be started" in said
    status, said = run(repository, "--rmq-target", "builtin:", "--rmq-profile", "9.9")
    assert status == 1
    assert "there are 4.9, 5.3, 5.5" in said
