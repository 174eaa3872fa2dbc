"""Settings of a project are defaults: the command line goes before them, mistakes are explained; `init`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.parser import build_parser
from harness.cli.settings import FILE, KEYS, READERS
from harness.version import version

Run = Callable[..., tuple[int, str, str]]
SETTINGS = """\
target = "builtin:4.9"
role = "broker"
class = ["essential", "robustness"]
select = "offsets"
baseline = "known.yaml"
strict = true
report = ["junit", "html"]
out = "reports"
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        written = capsys.readouterr()
        assert "Traceback" not in written.err + written.out
        return status, written.out, written.err

    return run


@pytest.mark.parametrize(
    ("file", "head"), [(FILE, ""), ("pyproject.toml", '[project]\nname = "x"\n[tool.rmq-harness]\n')]
)
def test_they_are_the_defaults_of_options(run: Run, tmp_path: Path, file: str, head: str) -> None:
    (tmp_path / file).write_text(head + SETTINGS, encoding="utf-8")
    options = build_parser().parse_args(["check"])
    assert (options.target, options.role, options.strict) == ("builtin:4.9", "broker", True)
    assert list(options.classes) == ["essential", "robustness"]
    assert list(options.select) == ["offsets"]
    assert (options.baseline, options.out) == (Path("known.yaml"), Path("reports"))
    assert list(options.report) == ["junit", "html"]
    assert options.profile == ""


def test_the_command_line_goes_before_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(SETTINGS, encoding="utf-8")
    words = ["--role", "nameserver", "--class", "exactness", "--class", "administration", "--out", "here"]
    options = build_parser().parse_args(["check", "builtin:5.3", *words, "--select", "kv,lease"])
    assert (options.target, options.role, options.out) == ("builtin:5.3", "nameserver", Path("here"))
    assert options.classes == ["exactness", "administration"]
    assert options.select == ["kv", "lease"]


def test_other_commands_take_what_is_said_of_the_target_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(SETTINGS, encoding="utf-8")
    options = build_parser().parse_args(["fuzz"])
    assert (options.target, options.role, options.strict) == ("builtin:4.9", "broker", False)
    assert options.out == Path("out/fuzz")
    assert build_parser().parse_args(["selftest"]).role == "nameserver"


def test_every_key_is_an_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("", encoding="utf-8")
    for command, keys in READERS.items():
        assert set(keys) <= set(KEYS)
        parser = build_parser().parse_args([command]).parser
        known = {name.removeprefix("--") for name in parser._option_string_actions} | {"target"}
        assert set(keys) <= known, command


def test_a_run_says_what_it_took_and_does_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('target = "builtin:4.9"\nselect = ["kv"]\n', encoding="utf-8")
    status, out, err = run("check", "--json")
    assert status == 0
    assert err.startswith(f"rmq-harness check: target, select from {FILE}\n")
    assert run("check", "builtin:5.3", "--list")[2].startswith(f"rmq-harness check: select from {FILE}\n")
    answer = json.loads(out)
    assert answer["target"]["uri"] == "builtin:4.9"
    assert run("check", "--failed", "builtin:5.3")[0] == 2  # a target behind --failed is one, here too


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('tagret = "x"', f"{FILE}: unknown key tagret, did you mean target?; expected target, role, profile"),
        ('[tool]\ntarget = "x"', f"{FILE}: unknown key tool"),
        ("target = ", f"{FILE}: it cannot be read: "),
        ("target = 9876", f"{FILE}: target: expected a text, got 9876"),
        ('target = ["builtin:"]', f"{FILE}: target: expected a text, got ['builtin:']"),
        ('role = "nameserve"', f"{FILE}: role: expected nameserver, broker, got 'nameserve'"),
        ('class = ["esential"]', f"{FILE}: class: unknown class 'esential', did you mean essential?"),
        ("class = [1]", f"{FILE}: class: expected a text or a list of texts, got [1]"),
        ("class = []", f"{FILE}: class: expected some of"),
        ('strict = "yes"', f"{FILE}: strict: expected true or false, got 'yes'"),
    ],
)
def test_a_mistake_is_explained(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    status, out, err = run("check")
    assert (status, out) == (3, "")
    assert said in err
    assert run("explain", "322")[0] == 0  # which reads no settings


def test_two_places_are_one_too_many(run: Run, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.rmq-harness]\n", encoding="utf-8")
    status, _, err = run("check")
    assert status == 3
    assert f"{FILE} and [tool.rmq-harness] in pyproject.toml both hold settings" in err


def test_a_project_without_settings_has_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert build_parser().parse_args(["check"]).target == "builtin:"


def test_the_document_names_who_reads_a_key() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs/reference/settings.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in text.splitlines() if line.startswith("| `")]
    written = {
        (command, key)
        for keys, _, commands in rows
        for key in re.findall(r"`(\w+)`", keys)
        for command in re.findall(r"`(\w+)`", commands)
    }
    assert written == {(command, key) for command, keys in READERS.items() for key in keys}


# --- init ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ci", "file"),
    [
        ("github", ".github/workflows/rmq-harness.yml"),
        ("gitlab", ".gitlab/rmq-harness.gitlab-ci.yml"),
        ("jenkins", "rmq-harness.Jenkinsfile"),
        ("none", ""),
    ],
)
def test_init_writes_settings_and_a_job(run: Run, tmp_path: Path, ci: str, file: str) -> None:
    status, out, err = run("init", "--target", "builtin:5.3", "--ci", ci)
    assert (status, err) == (0, "")
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {FILE, file} - {""}
    assert f"wrote {FILE}\n" in out
    assert not file or re.search(
        rf'(rmq-harness==|RMQ_VERSION: "){re.escape(version())}\b',
        (tmp_path / file).read_text(encoding="utf-8"),
    )
    options = build_parser().parse_args(["check"])
    assert (options.target, options.role, options.profile) == ("builtin:5.3", "nameserver", "5.5")


def test_init_without_a_target_says_what_to_write(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("init", "--role", "broker", "--profile", "4.9", "sub")
    assert status == 0
    assert f"{FILE}: its target is an example" in out
    text = (tmp_path / "sub" / FILE).read_text(encoding="utf-8")
    assert 'target = "exec:./my-broker --port {port} --namesrv {nameserver}"\n' in text
    assert 'role = "broker"\nprofile = "4.9"\n' in text


def test_init_replaces_nothing_unless_it_is_asked_to(run: Run, tmp_path: Path) -> None:
    job = tmp_path / ".github" / "workflows" / "rmq-harness.yml"
    job.parent.mkdir(parents=True)
    job.write_text("mine", encoding="utf-8")
    status, out, err = run("init")
    assert (status, out) == (3, "")
    assert "has .github/workflows/rmq-harness.yml already; nothing was written" in err
    assert job.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / FILE).exists()
    assert run("init", "--force")[0] == 0
    assert job.read_text(encoding="utf-8") != "mine"


def test_init_leaves_settings_in_pyproject_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.rmq-harness]\n", encoding="utf-8")
    status, _, err = run("init")
    assert status == 3
    assert "has [tool.rmq-harness] in pyproject.toml already" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "exec:./ns"), "--target: expected"),
        (("--profile", "5.4"), "--profile 5.4: no such profile of a nameserver; did you mean 5.5"),
        (("--ci", "travis"), "invalid choice: 'travis'"),
        (("file",), "expected a directory to write to"),
        (("--role", "broker", "--target", "tcp://127.0.0.1:10911"), "--nameserver HOST:PORT"),
    ],
)
def test_a_mistake_of_init_is_explained(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    status, _, err = run("init", *arguments)
    assert status == 3
    assert said in err
