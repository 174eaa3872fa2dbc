"""`init`: settings and a job of a CI, for the project of a server."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

from harness.catalogue import Role, did_you_mean, newest_profile
from harness.cli.options.shared import lines
from harness.cli.output import say
from harness.cli.parser import Usage
from harness.cli.settings import FILE, read_settings
from harness.targets import TargetError, parse
from harness.version import version

_EXAMPLES: dict[Role, str] = {
    "nameserver": "exec:./my-nameserver --port {port}",
    "broker": "exec:./my-broker --port {port} --namesrv {nameserver}",
}
_SETTINGS = """\
# What `rmq-harness check` and `rmq-harness fuzz` do in this directory. The command line goes before it.
{settings}

# Failures that are known: rmq-harness check --write-baseline known.yaml
# baseline = "known.yaml"
# Some classes alone: essential, administration, robustness, exactness
# class = ["essential"]
"""


class _Job(NamedTuple):
    """The job of a CI."""

    source: str
    """Its file in `ci/`."""
    place: str
    """Where it goes in the project."""
    then: str
    """What is left to do."""
    newest: str = "install --quiet rmq-harness"
    """What takes the newest harness. What is written takes this one: a newer one judges more."""
    this: str = "install --quiet rmq-harness=={version}"


_JOBS = {
    "github": _Job(
        "github/rmq-harness.yml",
        ".github/workflows/rmq-harness.yml",
        "put the build of your server into it",
    ),
    "gitlab": _Job(
        "gitlab/rmq-harness.gitlab-ci.yml",
        ".gitlab/rmq-harness.gitlab-ci.yml",
        "include it in .gitlab-ci.yml as its first lines say",
        newest='RMQ_VERSION: ""  ',
        this='RMQ_VERSION: "{version}"  ',
    ),
    "jenkins": _Job(
        "jenkins/Jenkinsfile",
        "rmq-harness.Jenkinsfile",
        "name it in a job of Jenkins, or copy its stages into yours",
    ),
}


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    settings = {
        "target": options.target or _EXAMPLES[options.role],
        "role": options.role,
        "profile": _profile(options.profile, options.role),
        "nameserver": options.nameserver,
    }
    _try_to_read(settings["target"], options.role, options.nameserver)
    job = _JOBS.get(options.ci)
    files = {FILE: _written(settings)}
    if job is not None:
        files[job.place] = _pinned(job)
    if not options.force:
        _refuse_to_replace(options.directory, list(files))
    _write(options.directory, files)
    if not options.target:
        say(f"{FILE}: its target is an example; write the command that starts your server")
    if job is not None:
        say(f"{job.place}: {job.then}")
    return 0


def _profile(name: str, role: Role) -> str:
    known = lines(role)
    if name and name not in known:
        hint = did_you_mean(name, known, f"there are {', '.join(known)}")
        raise Usage(f"rmq-harness init: --profile {name}: no such profile of a {role}; {hint}")
    return name or newest_profile(role).name


def _try_to_read(target: str, role: Role, nameserver: str) -> None:
    try:
        parse(target, role, nameserver)
    except TargetError as problem:
        raise Usage(f"rmq-harness init: --target: {problem}") from None


def _written(settings: dict[str, str]) -> str:
    # A text in JSON is one in TOML, too.
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if value]
    return _SETTINGS.format(settings="\n".join(lines))


def _pinned(job: _Job) -> str:
    """The job, with the version of the harness that writes it."""
    text = (_kit() / job.source).read_text(encoding="utf-8")
    return text.replace(job.newest, job.this.format(version=version()))


def _kit() -> Path:
    """The jobs: inside this package where it is installed, in `ci/` in a checkout."""
    installed = Path(__file__).parent / "ci"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[2] / "ci"


def _refuse_to_replace(directory: Path, names: list[str]) -> None:
    there = [name for name in names if (directory / name).exists()]
    if not there and read_settings(directory) is not None:
        there = ["[tool.rmq-harness] in pyproject.toml"]
    if there:
        raise Usage(
            f"rmq-harness init: {directory.resolve()} has {' and '.join(there)} already; nothing was "
            "written. Say --force to replace what is there"
        )


def _write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise Usage(
                f"rmq-harness init: {path}: {error.strerror}; expected a directory to write to"
            ) from None
        say(f"wrote {path}")
