"""Making time run faster."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from harness.targets import TargetError, warp


def test_real_time_needs_nothing() -> None:
    assert warp.environment(1) == {}


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warp, "_NAME", "libnothing.so")
    with pytest.raises(TargetError, match="package faketime"):
        warp.environment(60)


@pytest.mark.usefixtures("faketime")
def test_both_clocks_run_faster() -> None:
    program = (
        "import time; wall, monotonic = time.time(), time.monotonic(); time.sleep(6); "
        "print(time.time() - wall, time.monotonic() - monotonic)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=warp.environment(60),
        capture_output=True,
        text=True,
        timeout=5,
        check=True,
    )
    wall, monotonic = map(float, done.stdout.split())
    assert wall >= 6
    assert monotonic >= 6


@pytest.mark.usefixtures("faketime")
def test_a_process_that_takes_another_s_place_goes_on_at_its_time() -> None:
    assert warp.ahead({"PATH": "x"}, 100, 1) == {"PATH": "x"}
    environment = warp.ahead(warp.environment(10), 1000, 10)
    program = "import time; print(time.time())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert float(done.stdout) >= time.time() + 890  # of 1000 s a tenth has passed here
