"""Random programs, damaged frames and concurrent peers against Apache's own NameServer: nothing is found that
has no name. And what is wrong with a server in a process of its own is found, confirmed and shown again.

Skipped with the reason where Java, Maven's repository or libfaketime is missing; a failure instead where
RMQ_REQUIRE_LIVE=1 is set.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from harness.cli.status import HARNESS_FAILED
from harness.targets import parse
from harness.targets.process import ProcessInstance

pytestmark = pytest.mark.live

SERVED = Path(__file__).parents[1] / "selftest" / "served_mutant.py"
WARP = 60


MINUTES = pytest.mark.soak


@pytest.mark.parametrize(
    ("version", "kind", "examples", "time"),
    [
        pytest.param("4.9.8", "all", "30", "90s", marks=MINUTES),
        ("5.3.3", "all", "30", "10m"),  # it ends by number, however slow the machine is
        pytest.param("4.9.8", "all", "100000", "10m", marks=MINUTES),
        pytest.param("5.3.3", "all", "100000", "10m", marks=MINUTES),
        pytest.param("5.3.3", "controller", "100000", "10m", marks=MINUTES),
    ],
)
def test_nothing_is_found(
    version: str, kind: str, examples: str, time: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ["--max-examples", examples, "--max-time", time, "--shrink-time", "10s"]
    words = ["fuzz", f"apache:{version}?warp=20", "--kind", kind, "--seed", "live", *limits]
    status = main([*words, "--out", str(tmp_path), "--json"])
    written = capsys.readouterr()
    if status == HARNESS_FAILED and os.environ.get("RMQ_REQUIRE_LIVE") != "1":
        pytest.skip(written.err)
    assert status in (0, 2), written.out + written.err  # goals are not all reached in so short a time
    answer = msgspec.json.decode(written.out)
    assert answer["findings"] == [], written.out
    kinds = {one["name"]: one for one in answer["kinds"]}
    played = {"controller"} if kind == "controller" else {"stateful", "frames", "history"}
    assert played <= kinds.keys()
    assert ("controller" in kinds) == (version != "4.9.8")
    assert all(kinds[one]["programs"] > kinds[one]["late"] + kinds[one]["deaths"] for one in played), (
        written.out
    )


def test_a_wrong_server_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = f"exec:{sys.executable} {SERVED} 5.3 topics-outlive-their-broker {{port}} {{dir}}?warp={WARP}"
    limits = ["--max-examples", "2", "--max-time", "60s", "--shrink-time", "10s"]
    words = ["fuzz", target, "--profile", "5.3", "--kind", "stateful", "--seed", "1", *limits]
    status = main([*words, "--out", str(tmp_path), "--json"])
    answer = msgspec.json.decode(capsys.readouterr().out)
    assert status == 1, answer
    found = answer["findings"][0]
    assert found["confirmed"] == "3 of 3"
    again = parse(target).start()
    assert isinstance(again, ProcessInstance)
    try:
        script = Path(found["directory"]) / "reproduce.py"
        where = [f"127.0.0.1:{again.port}", "--speed", str(WARP)]
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(script), *where],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        again.stop()
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stdout.endswith("\nREPRODUCED\n")
