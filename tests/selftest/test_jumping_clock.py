"""The wall clock of the machine jumps, forwards and backwards, while `fuzz` runs: it ends as ever.

The clock is replaced in every Python process of the run, the server's included: `time.time` and
`time.time_ns` are off by hours that change three times a second. (libfaketime cannot do it: where it leaves
the monotonic clock alone, Python's sleep fails.)
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

SERVED = Path(__file__).with_name("served_mutant.py")
TARGET = f"exec:{sys.executable} {SERVED} 5.3 {{mutant}} {{{{port}}}} {{{{dir}}}}"
JUMPS = """\
import time
_HOURS, _real, _real_ns = (0, 1, -2, 24, -24, 0.01, -1, 9000, -9000), time.time, time.time_ns
def _off():
    return 3600 * _HOURS[int(time.monotonic() * 3) % len(_HOURS)]
time.time = lambda: _real() + _off()
time.time_ns = lambda: _real_ns() + int(_off() * 1e9)
"""


@pytest.fixture
def jumping(tmp_path: Path) -> Mapping[str, str]:
    """The environment of processes whose clock jumps."""
    (tmp_path / "jumps").mkdir()
    (tmp_path / "jumps" / "sitecustomize.py").write_text(JUMPS, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(tmp_path / "jumps")}


def fuzzing(environment: Mapping[str, str], out: Path, mutant: str, *words: str) -> subprocess.Popen[str]:
    # A shell that starts programs in the background makes them ignore SIGINT; this one must hear it.
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from harness.cli import main; sys.exit(main())"
    )
    limits = ["--seed", "1", "--shrink-time", "1s", "--out", str(out), "--json"]
    return subprocess.Popen(
        [sys.executable, "-c", script, "fuzz", TARGET.format(mutant=mutant), *words, *limits],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(run: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    said, complained = run.communicate(timeout=900)
    assert said.strip(), complained
    return run.returncode, msgspec.json.decode(said)


def test_the_clock_does_jump(jumping: Mapping[str, str]) -> None:
    script = (
        "import time; seen = {round(time.time(), -3) for _ in range(20) if time.sleep(0.1) is None}; "
        "print(len(seen))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=jumping, capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) > 2


def test_a_sound_server_is_sound(jumping: Mapping[str, str], tmp_path: Path) -> None:
    status, answer = ended(fuzzing(jumping, tmp_path, "none", "--kind", "all", "--max-examples", "30"))
    assert (answer["findings"], answer["flaky"], answer["unconfirmed"]) == ([], [], []), answer
    assert status in (0, 2), answer  # goals are not all reached in so short a time
    assert all(kind["programs"] > kind["late"] + kind["deaths"] for kind in answer["kinds"]), answer


def test_the_limit_of_time_holds(jumping: Mapping[str, str], tmp_path: Path) -> None:
    _, answer = ended(fuzzing(jumping, tmp_path, "none", "--kind", "frames", "--max-time", "4s"))
    assert 4 <= answer["seconds"] < 120


def test_what_is_wrong_is_found_confirmed_and_kept(jumping: Mapping[str, str], tmp_path: Path) -> None:
    words = ["--kind", "stateful", "--max-examples", "2"]
    status, answer = ended(fuzzing(jumping, tmp_path, "wipe-is-ignored", *words))
    assert status == 1, answer
    assert answer["findings"][0]["confirmed"] == "3 of 3"
    assert (Path(answer["findings"][0]["directory"]) / "finding.json").exists()


def test_an_interrupt_ends_it(jumping: Mapping[str, str], tmp_path: Path) -> None:
    run = fuzzing(jumping, tmp_path, "none", "--kind", "all", "--max-time", "100s")
    record = tmp_path / "fuzz.json"
    while not record.exists():
        assert run.poll() is None, run.communicate()
        try:
            run.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    run.send_signal(signal.SIGINT)
    status, answer = ended(run)
    assert (status, answer["conclusion"]) == (130, "INTERRUPTED"), answer
    assert answer["programs"] > 0
