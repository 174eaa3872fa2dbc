"""The harness as people install it: a wheel in an empty environment, an image."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from clusters import missing
from guides import Reader
from wheels import built

from harness.targets import TargetError

pytestmark = pytest.mark.live

IMAGE = "rmq-harness/harness:latest"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


def environment(directory: Path) -> Path:
    """A new virtual environment: its Python."""
    venv.create(directory, with_pip=True)
    return directory / ("Scripts" if os.name == "nt" else "bin") / "python"


def ran(*command: str | Path, directory: Path, **variables: str) -> str:
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        [*map(str, command)],
        cwd=directory,
        env={**own, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def test_pip_install(wheel: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    ran(python, "-m", "pip", "install", "--quiet", wheel, directory=tmp_path)
    command = python.with_name("rmq-harness")
    assert "CONFORMANT, exit 0" in ran(command, "check", "builtin:", directory=tmp_path)
    assert "catalogue " in ran(command, "--version", directory=tmp_path)


def test_the_guide_for_tests_of_applications(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an empty environment: what the guide imports is installed by what it installs."""
    python = environment(tmp_path / "venv")
    ran(python, "-m", "pip", "install", "--quiet", "rocketmq", wheel, directory=tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    reader = Reader(python, tmp_path)
    assert reader.follow("testing.md") == 5
    assert reader.follow("testing-time.md") == 1


def test_pipx_run(wheel: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    ran(python, "-m", "pip", "install", "--quiet", "pipx", directory=tmp_path)
    pipx = (python, "-m", "pipx", "run", "--spec", str(wheel), "rmq-harness")
    said = ran(
        *pipx,
        "check",
        "builtin:",
        "--role",
        "broker",
        directory=tmp_path,
        PIPX_HOME=str(tmp_path / "pipx"),
        PIPX_DEFAULT_PYTHON=sys.executable,
    )
    assert "CONFORMANT, exit 0" in said


def test_the_image(tmp_path: Path) -> None:
    if shutil.which("docker") is None or not _has_image():
        missing(
            TargetError(
                expected=f"a container engine with the image {IMAGE}",
                got="none",
                do="run ci/engine.sh start, and ci/image/harness/build.sh",
            )
        )
    for role in ("nameserver", "broker"):
        said = ran("docker", "run", "--rm", IMAGE, "check", "builtin:", "--role", role, directory=tmp_path)
        assert "CONFORMANT, exit 0" in said


def _has_image() -> bool:
    return (
        subprocess.run(["docker", "image", "inspect", IMAGE], capture_output=True, check=False).returncode
        == 0
    )
