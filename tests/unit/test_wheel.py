"""The wheel alone, without the checkout: it holds all that the commands read."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from wheels import ROOT, built

MAIN = "import sys; from harness.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(built(directory)) as wheel:
        wheel.extractall(directory / "here")
    return directory / "here"


def run(unpacked: Path, directory: Path, *arguments: str, script: str = MAIN) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_not_the_checkout_that_runs(unpacked: Path, tmp_path: Path) -> None:
    script = "import harness, reference_impl; print(harness.__file__, reference_impl.__file__)"
    assert str(ROOT) not in run(unpacked, tmp_path, script=script)


def test_a_check_with_every_report(unpacked: Path, tmp_path: Path) -> None:
    reports = "html,json,junit,markdown,badge,annotations"
    said = run(unpacked, tmp_path, "check", "builtin:", "--class", "essential", "--report", reports)
    assert "· 0 failed · 0 blocked ·" in said


@pytest.mark.parametrize("ci", ["github", "gitlab", "jenkins"])
def test_init_finds_the_jobs(unpacked: Path, tmp_path: Path, ci: str) -> None:
    assert "wrote rmq-harness.toml" in run(unpacked, tmp_path, "init", "--ci", ci)


def test_the_catalogue_is_that_of_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    script = "from harness.catalogue import catalogue; print(catalogue().digest)"
    assert run(unpacked, tmp_path, script=script) == run(ROOT, tmp_path, script=script)


def test_pytest_finds_the_fixtures_of_the_package(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        'def test_it(rocketmq):\n    assert rocketmq.topic("orders").startswith("orders-T")\n'
    )
    script = "import sys, pytest; sys.exit(pytest.main(['-q', 'test_it.py']))"
    assert "1 passed" in run(unpacked, tmp_path, script=script)


def test_its_metadata_names_what_is_true(unpacked: Path) -> None:
    (metadata,) = unpacked.glob("*.dist-info/METADATA")
    text = metadata.read_text(encoding="utf-8")
    assert "License-Expression: Apache-2.0\n" in text
    assert "OWNER" not in text.partition("\n\n")[0]
