"""The projects of the guide for other languages: their files are saved, their commands run, their tests pass.

Needs Maven, Go, Node with npm, the registries that have their clients, and for Testcontainers a container
engine with the image of `ci/image/harness/build.sh`; says so where one is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import UNREACHABLE, missing
from document_pages import ROOT

from harness.targets import TargetError, engine

pytestmark = pytest.mark.live

PAGE = ROOT / "docs/guides/testing-any-language.md"
IMAGE = "rmq-harness/server:latest"
SAVED = re.compile(r"^Save this as `([\w./-]+)`:\n\n```\w+\n(.*?)^```", re.S | re.M)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.S | re.M)
SHOWN = re.compile(r"^```text\n(.*?)^```", re.S | re.M)
CAUSE = re.compile(r"\[ERROR\]|Caused by:|Exception:|^not ok|--- FAIL|panic:")
WITHIN = 600
COMMAND = 'exec "{python}" -c "import sys; from harness.cli import main; sys.exit(main())" "$@"'

PROJECTS = {
    "JUnit 5 with Testcontainers": ("mvn",),
    "JUnit 5 without Docker": ("mvn",),
    "Go": ("go",),
    "Node": ("node", "npm"),
    "Spring Boot": ("mvn",),
}
"""By heading: the programs that a reader has."""
IN_SOAK = {"Go", "Node", "Spring Boot"}
"""Two need newer programs than CI installs, and the last one fetches a hundred libraries."""


def section(heading: str) -> str:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]


def environment(directory: Path) -> dict[str, str]:
    """What a reader has: the command in the path. Ryuk, which tidies up after Testcontainers, is an image of
    a registry; the containers of the guide end with its tests.

    On a machine that looks like a container (it has `/.dockerenv`), Testcontainers takes the gateway of the
    engine's bridge for the host, which an engine that has just been installed does not name, and then fetches
    an image to find out. The engine runs here, so its host is this one.
    """
    programs = directory / "programs"
    programs.mkdir()
    command = programs / "rmq-harness"
    command.write_text(f"#!/bin/sh\n{COMMAND.format(python=sys.executable)}\n")
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TESTCONTAINERS_RYUK_DISABLED": "true",
        "TESTCONTAINERS_HOST_OVERRIDE": "localhost",
    }


def causes(said: str) -> str:
    """The lines that say why: Spring's report of its context, thousands of lines, is behind them."""
    return "\n".join([line for line in said.splitlines() if CAUSE.search(line)][:60])


@pytest.mark.parametrize(
    "heading",
    [pytest.param(one, marks=[pytest.mark.soak] if one in IN_SOAK else []) for one in PROJECTS],
)
def test_a_project_of_the_guide_passes_its_tests(heading: str, tmp_path: Path) -> None:
    text = section(heading)
    for program in PROJECTS[heading]:
        if shutil.which(program) is None:
            missing(TargetError(expected=program, got="none in PATH", do=f"install {program}"))
    if "rmq-harness/server" in text and engine.inspect(IMAGE) is None:
        missing(TargetError(expected=f"image {IMAGE}", got="none", do="run ci/image/harness/build.sh"))
    project = tmp_path / "project"
    for name, content in SAVED.findall(text):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (commands,) = COMMANDS.findall(text)
    done = subprocess.run(
        ["sh", "-ec", commands],
        cwd=project,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode != 0 and (found := UNREACHABLE.search(said)):
        missing(TargetError(expected="a registry", got=found[0][:200], do="connect this machine"))
    assert done.returncode == 0, causes(said) or said[-5000:]
    (shown,) = SHOWN.findall(text)
    assert shown.strip() in said


def test_every_project_is_tried() -> None:
    assert re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), re.M) == list(PROJECTS)
