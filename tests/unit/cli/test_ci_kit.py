"""The GitHub action and the jobs in `ci/`: their steps, run in a shell as CI runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
CI = ROOT / "ci"
BROKEN = "builtin:5.3?mutant=lost-connection-removes-one-broker"
PINNED = re.compile(r"actions/[a-z-]+@[0-9a-f]{40}")

PYTHON = f"""\
#!/bin/sh
# A Python whose virtual environments hold the harness as it is here, and whose pip only talks.
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$(dirname "$0")/rmq-harness" "$3/bin/" ;;
  "-m pip") shift 2; echo pip "$@" ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""
HARNESS = f"""\
#!/bin/sh
exec "{sys.executable}" -c "import sys; from harness.cli import main; sys.exit(main())" "$@"
"""


@pytest.fixture
def bin_directory(tmp_path: Path) -> Path:
    """The commands that the steps call."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name, text in (("python3", PYTHON), ("rmq-harness", HARNESS)):
        file = directory / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
    return directory


def run(
    script: str, bin_directory: Path, directory: Path, environment: dict[str, str], shell: str = "bash"
) -> subprocess.CompletedProcess[str]:
    path = f"{bin_directory}{os.pathsep}{os.environ['PATH']}"
    python_path = os.environ.get("PYTHONPATH", str(ROOT))
    return subprocess.run(
        [shell, *(("--noprofile", "--norc", "-e") if shell == "bash" else ("-e",)), "-c", script],
        cwd=directory,
        env={**environment, "PATH": path, "PYTHONPATH": python_path, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def settings(directory: Path, text: str) -> None:
    (directory / "rmq-harness.toml").write_text(text, encoding="utf-8")


# --- GitHub -------------------------------------------------------------------------------------------------


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


class Job:
    """One use of the action: its shell steps in their order; steps that use other actions are passed over."""

    def __init__(self, bin_directory: Path, directory: Path, **inputs: str) -> None:
        self.directory = directory
        self.outputs: dict[str, str] = {}
        """Of the step `check`."""
        self.said: dict[str, str] = {}
        described = action()["inputs"]
        assert set(inputs) <= set(described)
        self._known = {f"inputs.{name}": inputs.get(name, one["default"]) for name, one in described.items()}
        self._known["steps.python.outputs.python-path"] = str(bin_directory / "python3")
        self.status = 0
        for step in action()["runs"]["steps"]:
            if "run" in step and not self.status:
                self._step(step, bin_directory)

    def _step(self, step: dict[str, Any], bin_directory: Path) -> None:
        output = self.directory / f"output-{step.get('id', 'last')}"
        output.unlink(missing_ok=True)
        environment = {name: self._evaluated(text) for name, text in step.get("env", {}).items()}
        environment |= {
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.directory / "step-summary.md"),
            "RUNNER_TEMP": str(self.directory / "temp"),
        }
        done = run(step["run"], bin_directory, self.directory, environment)
        self.said[step["name"]] = done.stdout + done.stderr
        self.status = done.returncode
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
        found = dict(line.split("=", 1) for line in lines)
        self._known |= {f"steps.{step['id']}.outputs.{name}": value for name, value in found.items()}
        if step.get("id") == "check":
            self.outputs = found

    def _evaluated(self, text: str) -> str:
        """The text with its `${{ … }}` filled in, as the runner does."""
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: self._known[found[1].strip()], text)

    @property
    def summary(self) -> str:
        return (self.directory / "step-summary.md").read_text(encoding="utf-8")


def test_the_action_is_made_as_github_wants_it() -> None:
    found = action()
    assert set(found) == {"name", "description", "branding", "inputs", "outputs", "runs"}
    assert len(found["description"]) <= 125  # of a marketplace
    assert found["runs"]["using"] == "composite"
    for one in found["inputs"].values():
        assert set(one) == {"description", "default"}
        assert isinstance(one["default"], str)
    for one in found["outputs"].values():
        assert set(one) == {"description", "value"}
    for step in found["runs"]["steps"]:
        assert "uses" in step or step["shell"] == "bash", step
        # What a user gives is a variable of the environment, and never a part of a script.
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize(
    "file",
    [ROOT / "action.yml", CI / "github" / "rmq-harness.yml", *(ROOT / ".github" / "workflows").glob("*.yml")],
    ids=lambda file: file.name,
)
def test_actions_of_others_are_named_by_a_commit_and_its_release(file: Path) -> None:
    used = re.findall(r"^ +(?:- )?uses: (\S+)(.*)", file.read_text(encoding="utf-8"), re.MULTILINE)
    for name, comment in used:
        if name != "./":
            assert PINNED.fullmatch(name), name
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), name
    assert used


def test_the_action_installs_what_it_was_called_as_and_leaves_the_python_of_the_job_alone() -> None:
    steps = {step["name"]: step for step in action()["runs"]["steps"]}
    assert steps["Python"]["with"]["update-environment"] is False
    assert "GITHUB_PATH" not in (ROOT / "action.yml").read_text(encoding="utf-8")
    assert '"$GITHUB_ACTION_PATH"' in steps["Install rmq-harness"]["run"]


def test_a_sound_server(bin_directory: Path, tmp_path: Path) -> None:
    inputs = {"target": "builtin:5.3", "class": "administration", "arguments": "--select\nkv"}
    job = Job(bin_directory, tmp_path, **inputs)
    assert job.status == 0, job.said
    installed = job.said["Install rmq-harness"].split()
    assert installed[-1] == str(ROOT)
    versions = Path(installed[installed.index("-c") + 1]).read_text(encoding="utf-8").splitlines()
    assert all(re.match(r"[\w.-]+==\S+( ;.*)?$", line) for line in versions)
    assert any(line.startswith("hypothesis==") for line in versions)
    assert job.outputs == {"status": "0", "conclusion": "PARTIAL"}
    assert re.match(r"## ☑️ PARTIAL \d+ of \d+.* · RocketMQ NameServer 5.3", job.summary)
    assert "::error" not in job.said["Check"]
    names = {file.name for file in (tmp_path / "rmq-harness-out").iterdir()}
    assert names >= {"summary.md", "report.html", "result.json", "junit.xml", "badge.svg", "results.jsonl"}


def test_a_broken_one_fails_in_its_last_step_only_and_its_causes_are_annotations(
    bin_directory: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known.yaml"
    known.write_text("[]\n", encoding="utf-8")
    job = Job(
        bin_directory,
        tmp_path,
        target=BROKEN,
        role="nameserver",
        profile="5.3",
        strict="true",
        baseline="known.yaml",
        arguments="--select\nns.lease.shared-connection-removes-every-broker\n",
    )
    assert job.status == 1
    assert list(job.said) == ["Places", "Install rmq-harness", "Check", "Conclude"]
    assert job.outputs["conclusion"] == "NOT CONFORMANT"
    marks = [line for line in job.said["Check"].splitlines() if line.startswith("::")]
    assert marks[0].startswith("::error title=RocketMQ NameServer 5.3%3A NOT CONFORMANT::")
    assert len(marks) == 2
    assert "(ns.lease.shared-connection-removes-every-broker)" in marks[1]
    assert "**`ns.lease.shared-connection-removes-every-broker`**" in job.summary


def test_settings_of_the_project_are_taken(bin_directory: Path, tmp_path: Path) -> None:
    settings(tmp_path, 'target = "builtin:4.9"\nselect = ["kv"]\n')
    job = Job(bin_directory, tmp_path)
    assert (job.status, job.outputs["conclusion"]) == (0, "PARTIAL"), job.said
    assert "RocketMQ NameServer 4.9" in job.summary


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({}, 3, "no target: give the input target"),
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
    assert f"::error title=rmq-harness::nothing was measured, exit {status}" in job.said["Check"]
    assert not (tmp_path / "rmq-harness-out" / "badge.svg").exists()


def test_no_input_is_read_by_the_shell(bin_directory: Path, tmp_path: Path) -> None:
    hostile = "exec:'$(touch owned); touch owned' `touch owned` --port {port}"
    job = Job(
        bin_directory,
        tmp_path,
        target=hostile,
        arguments="--select\n$(touch owned)",
        profile='"; touch owned',
        role="$(touch owned)",
    )
    assert job.status == 3
    assert not (tmp_path / "owned").exists()


# --- GitLab -------------------------------------------------------------------------------------------------


def template() -> dict[str, Any]:
    text = (CI / "gitlab" / "rmq-harness.gitlab-ci.yml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)[".rmq-harness"]
    return loaded


def test_the_gitlab_job_takes_what_the_action_takes() -> None:
    inputs = {name.upper() for name in action()["inputs"]} - {"ARTIFACT", "PYTHON-VERSION"}
    variables = {name.removeprefix("RMQ_") for name in template()["variables"] if name.startswith("RMQ_")}
    assert variables == inputs | {"PACKAGE", "VERSION"}


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize(
    ("variables", "toml", "status"),
    [
        ({"RMQ_TARGET": "builtin:5.3", "RMQ_ARGUMENTS": "--select\nkv"}, "", 0),
        ({"RMQ_CLASS": "administration"}, 'target = "builtin:4.9"\nselect = ["kv"]\n', 0),
        (
            {
                "RMQ_TARGET": BROKEN,
                "RMQ_ROLE": "nameserver",
                "RMQ_PROFILE": "5.3",
                "RMQ_STRICT": "true",
                "RMQ_ARGUMENTS": "--select\nns.lease.shared-connection-removes-every-broker",
            },
            "",
            1,
        ),
        ({}, "", 3),
    ],
)
def test_the_gitlab_job(
    bin_directory: Path, tmp_path: Path, shell: str, variables: dict[str, str], toml: str, status: int
) -> None:
    job = template()
    settings(tmp_path, toml)
    environment = {**job["variables"], **variables}
    script = "\n".join([*job["before_script"], *job["script"]]).replace("/tmp/", f"{tmp_path}/")
    done = run(script, bin_directory, tmp_path, environment, shell)
    assert done.returncode == status, done.stdout + done.stderr
    assert "pip install --disable-pip-version-check rmq-harness\n" in done.stdout
    junit = tmp_path / job["artifacts"]["reports"]["junit"].replace("$RMQ_OUT", environment["RMQ_OUT"])
    assert junit.exists() is (status in (0, 1))
    assert job["artifacts"]["when"] == "always"
    assert set(environment) == set(job["variables"])


# --- jobs that `init` writes --------------------------------------------------------------------------------


def steps_of_github() -> str:
    workflow = yaml.safe_load((CI / "github" / "rmq-harness.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["conformance"]["steps"]
    return "\n".join(step["run"] for step in steps if "run" in step)


def steps_of_jenkins() -> str:
    text = (CI / "jenkins" / "Jenkinsfile").read_text(encoding="utf-8")
    found = re.search(r"sh '''\n(.*?)'''", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("script", [steps_of_github(), steps_of_jenkins()], ids=["github", "jenkins"])
@pytest.mark.parametrize(("target", "status"), [("builtin:5.3", 0), (BROKEN, 1)])
def test_a_job_does_what_the_settings_say(
    bin_directory: Path, tmp_path: Path, script: str, target: str, status: int
) -> None:
    settings(tmp_path, f'target = "{target}"\nselect = ["lease.shared-connection-removes-every-broker"]\n')
    environment = {
        "GITHUB_STEP_SUMMARY": str(tmp_path / "step-summary.md"),
        "RUNNER_TEMP": str(tmp_path),
        "WORKSPACE_TMP": str(tmp_path),
    }
    done = run(script, bin_directory, tmp_path, environment)
    assert done.returncode == status, done.stdout + done.stderr
    assert (tmp_path / "rmq-harness-out" / "junit.xml").exists()
