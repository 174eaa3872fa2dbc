"""Servers that misbehave end with a verdict: never a hang, never 0."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HOSTILE = Path(__file__).parent / "hostile.py"
BOUND = 120.0  # seconds; alone on a machine each takes a few


@pytest.fixture
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with subprocess.Popen([sys.executable, str(HOSTILE), request.param], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def check(target: str, out: Path, *more: str) -> tuple[int, dict[str, object], str]:
    program = "import sys; from harness.cli import main; sys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "check", target, "--json", "--out", str(out), *more],
        capture_output=True,
        timeout=BOUND,
        check=False,
    )
    result = json.loads(ended.stdout)
    return ended.returncode, result, ended.stderr.decode()


@pytest.mark.parametrize(
    "port",
    [
        "never-answers",
        "closes-at-once",
        "http",
        "echoes",
        "always-success",
        "stops-answering",
        # Three waits of 12 s, the longest for a frame that goes on arriving.
        pytest.param("trickles", marks=pytest.mark.soak),
    ],
    indirect=True,
)
def test_a_hostile_server_is_not_conformant(port: int, tmp_path: Path) -> None:
    # Cases that wait for a lease are left out: in real time they would wait their two minutes.
    status, result, errors = check(f"tcp://127.0.0.1:{port}", tmp_path, "--select", "sanity,errors,cluster")
    assert status == 1, errors
    assert result["conclusion"] == "NOT CONFORMANT"
    assert result["exit_status"] == 1
    assert "Traceback" not in errors
