"""`ci/`: the steps of the GitHub action and of the GitLab template, run in a shell as CI runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CI = Path(__file__).resolve().parents[3] / "ci"
BROKEN = "builtin:5.3?mutant=lost-connection-removes-one-broker"


@pytest.fixture
def bin_directory(tmp_path: Path) -> Path:
    """The commands that the steps call: the harness as it is here, and a pip that only talks."""
    directory = tmp_path / "bin"
    directory.mkdir()
    harness = f'exec "{sys.executable}" -c "import sys; from harness.cli import main; sys.exit(main())" "$@"'
    python = f'if [ "$1" = -m ]; then shift 2; echo pip "$@"; else exec "{sys.executable}" "$@"; fi'
    for name, line in (("rmq-harness", harness), ("python", python)):
        file = directory / name
        file.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        file.chmod(0o755)
    return directory


def run(
    script: str, bin_directory: Path, directory: Path, environment: dict[str, str], shell: str = "bash"
) -> subprocess.CompletedProcess[str]:
    path = f"{bin_directory}{os.pathsep}{os.environ['PATH']}"
    python_path = os.environ.get("PYTHONPATH", "")
    return subprocess.run(
        [shell, *(("--noprofile", "--norc", "-e") if shell == "bash" else ("-e",)), "-c", script],
        cwd=directory,
        env={**environment, "PATH": path, "PYTHONPATH": python_path, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# --- GitHub -------------------------------------------------------------------------------------------------


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CI / "github" / "action.yml").read_text(encoding="utf-8"))
    return loaded


def evaluated(text: str, inputs: dict[str, str], outputs: dict[str, str]) -> str:
    """The text with its `${{ … }}` filled in, as the runner does."""

    def value(found: re.Match[str]) -> str:
        kind, _, name = found[1].strip().partition(".")
        return inputs[name] if kind == "inputs" else outputs[name.rpartition(".")[2]]

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


class Job:
    """One use of the action: its shell steps in their order; steps that use other actions are passed over."""

    def __init__(self, bin_directory: Path, directory: Path, **inputs: str) -> None:
        self.directory = directory
        self.outputs: dict[str, str] = {}
        self.said: dict[str, str] = {}
        described = action()["inputs"]
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert set(given) <= set(described)
        self.inputs = {name: given.get(name, one.get("default", "")) for name, one in described.items()}
        self.status = 0
        for step in action()["runs"]["steps"]:
            if "run" in step and not self.status:
                self._step(step, bin_directory)

    def _step(self, step: dict[str, Any], bin_directory: Path) -> None:
        summary, output = self.directory / "step-summary.md", self.directory / "output"
        environment = {
            name: evaluated(text, self.inputs, self.outputs) for name, text in step.get("env", {}).items()
        }
        files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
        done = run(step["run"], bin_directory, self.directory, {**environment, **files})
        self.said[step["name"]] = done.stdout + done.stderr
        self.status = done.returncode
        if output.exists():
            self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())

    @property
    def summary(self) -> str:
        return (self.directory / "step-summary.md").read_text(encoding="utf-8")


def test_the_action_is_made_as_github_wants_it() -> None:
    found = action()
    assert set(found) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert found["runs"]["using"] == "composite"
    for one in found["inputs"].values():
        assert set(one) <= {"description", "required", "default"}
        assert isinstance(one.get("default", ""), str)
    for one in found["outputs"].values():
        assert set(one) == {"description", "value"}
    for step in found["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash", step
        # What a user gives is a variable of the environment, and never a part of a script.
        assert "${{" not in step.get("run", "")
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])


def test_a_sound_server(bin_directory: Path, tmp_path: Path) -> None:
    job = Job(bin_directory, tmp_path, target="builtin:5.3", arguments="--select\nkv", version="1.2.3")
    assert job.status == 0, job.said
    assert "install --disable-pip-version-check rmq-harness==1.2.3" in job.said["Install rmq-harness"]
    assert job.outputs == {"status": "0", "conclusion": "PARTIAL"}
    assert re.match(r"## ☑️ PARTIAL \d+ of \d+ · RocketMQ NameServer 5.3", job.summary)
    names = {file.name for file in (tmp_path / "rmq-harness-out").iterdir()}
    assert names >= {"summary.md", "report.html", "result.json", "junit.xml", "badge.svg", "results.jsonl"}


def test_a_broken_one_fails_in_its_last_step_only(bin_directory: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("[]\n", encoding="utf-8")
    job = Job(
        bin_directory,
        tmp_path,
        target=BROKEN,
        profile="5.3",
        strict="true",
        baseline="known.yaml",
        arguments="--select\nns.lease.shared-connection-removes-every-broker\n",
    )
    assert job.status == 1
    assert list(job.said) == ["Install rmq-harness", "Check", "Conclude"]
    assert job.outputs["conclusion"] == "NOT CONFORMANT"
    assert "::error title=RocketMQ NameServer::NOT CONFORMANT, exit 1" in job.said["Check"]
    assert "**`ns.lease.shared-connection-removes-every-broker`**" in job.summary


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({"target": "builtin:9.9"}, 3, "a profile after builtin:"),
        ({"target": "builtin:5.3", "baseline": "nothing.yaml"}, 3, "nothing.yaml: cannot be read"),
        ({"target": "builtin:5.3", "arguments": "--select\nnothing"}, 2, "matches no statement and no case"),
    ],
)
def test_what_cannot_begin_says_so_and_is_not_taken_for_an_earlier_run(
    bin_directory: Path, tmp_path: Path, inputs: dict[str, str], status: int, told: str
) -> None:
    Job(bin_directory, tmp_path, target="builtin:5.3", arguments="--select\nkv")
    (tmp_path / "step-summary.md").unlink()
    job = Job(bin_directory, tmp_path, **inputs)
    assert job.status == status
    assert job.outputs == {"status": str(status), "conclusion": ""}
    assert job.summary.startswith("## rmq-harness: nothing was measured")
    assert told in job.summary
    assert not (tmp_path / "rmq-harness-out" / "badge.svg").exists()


def test_no_input_is_read_by_the_shell(bin_directory: Path, tmp_path: Path) -> None:
    hostile = "exec:'$(touch owned); touch owned' `touch owned` --port {port}"
    job = Job(
        bin_directory,
        tmp_path,
        target=hostile,
        arguments="--select\n$(touch owned)",
        profile='"; touch owned',
    )
    assert job.status == 3
    assert not (tmp_path / "owned").exists()


# --- GitLab -------------------------------------------------------------------------------------------------


def template() -> dict[str, Any]:
    text = (CI / "gitlab" / "rmq-harness.gitlab-ci.yml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)[".rmq-harness"]
    return loaded


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize(
    ("variables", "status"),
    [
        ({"RMQ_TARGET": "builtin:5.3", "RMQ_ARGUMENTS": "--select\nkv"}, 0),
        (
            {
                "RMQ_TARGET": BROKEN,
                "RMQ_PROFILE": "5.3",
                "RMQ_STRICT": "true",
                "RMQ_ARGUMENTS": "--select\nns.lease.shared-connection-removes-every-broker",
            },
            1,
        ),
        ({"RMQ_TARGET": ""}, 3),
    ],
)
def test_the_gitlab_job(
    bin_directory: Path, tmp_path: Path, shell: str, variables: dict[str, str], status: int
) -> None:
    job = template()
    environment = {**job["variables"], **variables}
    script = "\n".join([*job["before_script"], *job["script"]])
    done = run(script, bin_directory, tmp_path, environment, shell)
    assert done.returncode == status, done.stdout + done.stderr
    junit = tmp_path / job["artifacts"]["reports"]["junit"].replace("$RMQ_OUT", environment["RMQ_OUT"])
    assert junit.exists() is (status in (0, 1))
    assert job["artifacts"]["when"] == "always"
    assert set(environment) == set(job["variables"])
