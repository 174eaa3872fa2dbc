"""`diff` from the outside: exit status, output for people and for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main


def test_equal_targets_end_well(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [
        "diff",
        "builtin:5.3",
        "builtin:5.3",
        "--steps",
        "300",
        "--seed",
        "7",
        "--out",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "seed 7" in said
    assert "NOTHING UNEXPLAINED, exit 0" in said
    assert main([*arguments, "--resume", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["steps"] >= 300
    assert answer["unexplained"] == 0


def test_a_finding_fails_and_can_be_played(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    faulty = "builtin:4.9?mutant=wipe-is-ignored"
    arguments = [
        "diff",
        "builtin:4.9",
        faulty,
        "--steps",
        "3000",
        "--seed",
        "7",
        "--out",
        str(tmp_path),
        "--json",
    ]
    assert main(arguments) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["conclusion"] == "DIVERGENT"
    assert answer["causes"][0]["times"] >= 1
    assert "WIPE_WRITE_PERM_OF_BROKER (205)" in answer["causes"][0]["name"]
    assert "<h1>" in (tmp_path / "report.html").read_text()
    assert "WIPE_WRITE_PERM_OF_BROKER (205)" in (tmp_path / "report.md").read_text()
    folder = answer["findings"][0]["directory"]
    assert main(["replay", folder]) == 0
    assert "the failure shows again" in capsys.readouterr().out
    assert main(["replay", folder, "builtin:4.9"]) == 1
    assert "the failure does not show" in capsys.readouterr().out
    program = Path(folder) / "program.jsonl"
    assert main(["diff", "builtin:4.9", faulty, "--program", str(program)]) == 1
    assert "only B" in capsys.readouterr().out
    assert main(["diff", "builtin:4.9", "builtin:4.9", "--program", str(program)]) == 0


def test_two_lines_differ_as_their_references_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "builtin:5.3", "builtin:4.9", "--steps", "300", "--seed", "7"]) == 0
    said = capsys.readouterr().out
    assert "profile 4.9" in said
    assert "differences between the releases" in said
    assert "enableActingMaster" in said


def test_how_an_answer_is_written_is_compared_when_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "program.jsonl"
    program.write_text('{"program":1,"profile":"5.3"}\n{"do":"unknown"}\n')
    pair = ["builtin:5.3", "builtin:5.3?mutant=unknown-code-without-remark"]
    arguments = ["diff", *pair, "--program", str(program)]
    assert main(arguments) == 0
    assert main([*arguments, "--compare", "exact"]) == 1
    assert "remark" in capsys.readouterr().out


MISTAKES = [
    (("builtin:5.3",), "the following arguments are required: TARGET_B"),
    (("builtin:5.3", "bultin:"), "expected  one of builtin:"),
    (("builtin:5.3", "builtin:5.3", "--compare", "most"), "invalid choice: 'most'"),
    (("builtin:5.3", "builtin:5.3", "--profile", "6"), "there are 4.9, 5.3, 5.5"),
    (("builtin:5.3", "builtin:5.3", "--steps", "0"), "expected a whole number from 1 to 1000000000"),
    (("builtin:5.3", "builtin:5.3", "--max-time", "soon"), "expected a duration"),
    (("builtin:5.3", "builtin:5.3", "--resume"), "--resume needs the --out and the --seed"),
    (("builtin:5.3", "builtin:5.3", "--program", "/nonexistent"), "cannot be read"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes_are_said(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main(["diff", *arguments]) == 3
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_a_log_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.cli.diff.LOG_EVERY", 0.0)
    assert main(["diff", "builtin:5.3", "builtin:5.3", "--steps", "100", "--seed", "7"]) == 0
    (*_, last) = [line for line in capsys.readouterr().out.splitlines() if " s · " in line]
    assert "of 100 steps, " in last and "s left" in last
