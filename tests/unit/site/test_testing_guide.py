"""The guides for tests of applications do what they say: files are written and run, and lines are printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from guides import Reader


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    """The package may be used from a checkout; where it is installed, the option changes nothing."""
    return Reader(Path(sys.executable), tmp_path, "-p", "harness.pytest_rocketmq")


def test_the_guide(reader: Reader) -> None:
    loaded = reader.run("-c", "import rocketmq.client")
    if loaded.returncode != 0:
        pytest.skip(f"the client of the guide cannot be loaded: {loaded.stderr.strip().splitlines()[-1]}")
    assert reader.follow("testing.md") == 5


def test_the_guide_to_clients(reader: Reader) -> None:
    assert reader.follow("clients.md") == 2


def test_the_guide_to_time(reader: Reader) -> None:
    assert reader.follow("testing-time.md") == 1
