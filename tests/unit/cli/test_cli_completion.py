"""`completion`: each shell takes the script, and completes commands, options and their values."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.parser import COMMANDS

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_shtab_rmq_harness "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
FISH = 'source $argv[1]; complete -C "$argv[2..]" | string split -f1 \\t'
WORDS = [
    (("rmq-harness", ""), set(COMMANDS)),
    (("rmq-harness", "check", "--base"), {"--baseline"}),
    (("rmq-harness", "check", "--role", ""), {"nameserver", "broker"}),
    (("rmq-harness", "serve", "c"), {"cluster"}),
]


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Path:
    """The script for the shell that the test is about."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    assert main(["completion", shell]) == 0
    file = tmp_path / f"completion.{shell}"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    return file


def output_of(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_bash(script: Path, words: tuple[str, ...], expected: set[str]) -> None:
    assert expected <= set(output_of("bash", "--norc", "-c", BASH, "bash", str(script), *words).split())


@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize(("words", "expected"), WORDS)
def test_fish(script: Path, words: tuple[str, ...], expected: set[str]) -> None:
    assert expected <= set(output_of("fish", "--no-config", "-c", FISH, str(script), *words).split())


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh(script: Path) -> None:
    assert script.read_text(encoding="utf-8").startswith("#compdef rmq-harness\n")
    assert output_of("zsh", "-n", str(script)) == ""


@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_every_command_is_in_it(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert all(name in text for name in COMMANDS)
