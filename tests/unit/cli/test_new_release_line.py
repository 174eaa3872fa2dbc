"""A release line is one file: 5.6, which differs from 5.5 in one setting, is checked, fuzzed and rendered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.catalogue import specs_directory

LINE = """\
name: "5.6"
title: RocketMQ 5.6 NameServer
base: "5.5"
reference: 5.6.0
text: As 5.5, but leases are looked at every 7 seconds.
scan_interval: 7
"""


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    directory = tmp_path / "specs"
    shutil.copytree(specs_directory(), directory)
    (directory / "profiles" / "5.6.yaml").write_text(LINE, encoding="utf-8")
    return directory


def said(specs: Path, *arguments: str, status: int = 0) -> str:
    """What a command prints that ends with a status."""
    done = subprocess.run(
        [sys.executable, "-c", "import harness.cli; raise SystemExit(harness.cli.main())", *arguments],
        cwd=specs.parent,
        env={**os.environ, "RMQ_HARNESS_SPECS": str(specs)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_it_is_checked(specs: Path) -> None:
    printed = said(specs, "check", "builtin:5.6", "--select", "lease,routes,json", "--out", "out")
    assert "profile 5.6" in printed
    assert "0 failed" in printed


def test_it_is_fuzzed(specs: Path) -> None:
    few = ("--max-examples", "15", "--seed", "1", "--out", "out")
    printed = said(specs, "fuzz", "builtin:5.6", *few, status=2)  # too few for every goal
    assert "profile 5.6" in printed
    assert "0 findings" in printed


def test_it_is_compared(specs: Path) -> None:
    printed = said(specs, "diff", "builtin:5.5", "builtin:5.6", "--profile", "5.6", "--steps", "500")
    assert "0 causes unexplained" in printed


def test_it_is_rendered(specs: Path) -> None:
    said(specs, "docs")
    assert "RocketMQ 5.6 NameServer" in (specs / "rendered" / "README.md").read_text(encoding="utf-8")
    assert "only 5.3, 5.5, 5.6" in (specs / "rendered" / "lease.md").read_text(encoding="utf-8")
    said(specs, "docs", "--check")


@pytest.mark.spark
def test_it_is_played_in_a_campaign(specs: Path) -> None:
    pytest.importorskip("pyspark")
    arguments = (
        "campaign",
        "builtin:5.6",
        "--runs",
        "2",
        "--chunk",
        "2",
        "--master",
        "local[1]",
        "--out",
        "out",
    )
    assert "2 pass" in said(specs, *arguments)
