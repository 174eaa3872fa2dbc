"""Mistakes on the command line: exit status 3, a message that says what was expected, no stack trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        written = capsys.readouterr()
        assert "Traceback" not in written.err + written.out
        return status, written.out, written.err

    return run


MISTAKES = [
    ((), "the following arguments are required: COMMAND"),
    (("chekc",), "unknown command 'chekc', did you mean check?"),
    (("check", "--profil", "5.3"), "unknown option --profil, did you mean --profile"),
    (("check", "--unheard-of"), "unknown option --unheard-of"),
    (("check", "builtin:", "tcp://h:1"), "unknown argument tcp://h:1"),
    (("check", "--profile", "5.4"), "--profile 5.4: no such profile of a nameserver; did you mean 5.5"),
    (("check", "--profile", "nine"), "there are 4.9, 5.3, 5.5"),
    (("check", "--profile"), "expected one argument"),
    (("check", "--level", "musst"), "invalid choice: 'musst'"),
    (("check", "--select", ""), "expected an id, a prefix, a chapter, a glob or tag:…, got nothing"),
    (("check", "--report", "htlm"), "unknown report 'htlm', did you mean html?; expected some of"),
    (("check", "--report", ","), "expected some of"),
    (("check", "-n", "0"), "expected a number of processes from 1 on, or auto, got '0'"),
    (("check", "-n", "two"), "expected a number of processes"),
    (("check", "--deadline", "-1"), "expected seconds, such as 30, got '-1'"),
    (("check", "--deadline", "nan"), "expected seconds"),
    (("check", "bultin:"), "expected  one of builtin:"),
    (("check", "tcp://127.0.0.1"), "tcp://127.0.0.1:9876"),
    (("check", "builtin:5.4"), "builtin:5.3"),
    (("check", "builtin:?mutant=none"), "expected  a mutant of the reference"),
    (("check", ""), "expected  one of builtin:"),
    (("selftest", "--profile", "6"), "no such profile"),
    (("selftest", "--mutant", "leases-never-ends"), "did you mean leases-never-end"),
    (("selftest", "--select", "nothing.matches"), "matches no statement and no case"),
    (("explain",), "the following arguments are required: NAME"),
    (("explain", "ns.cluster.lists-every-adress"), "did you mean ns.cluster.lists-every-address"),
    (("explain", "%%%"), "rmq-harness check --list"),
    (("serve",), "required: SERVER"),
    (("serve", "controller"), "invalid choice: 'controller'"),
    (("serve", "nameserver", "--port", "99999"), "expected a port from 0 (any free one) to 65535"),
    (("report",), "required: RUN_DIR"),
    (("report", "/nonexistent"), "expected the results.jsonl of a run"),
    (("report", ".", "--format", "allure"), "unknown report 'allure'"),
    (("decode",), "required: HEX|FILE"),
    (("decode", "xyz"), "neither hexadecimal digits (in pairs) nor a file"),
    (("decode", "abc"), "neither hexadecimal digits (in pairs) nor a file"),
    (("decode", ""), "neither hexadecimal digits (in pairs) nor a file"),
    (("decode", "."), "is a folder; expected one *.trace in it, found none"),
    (("decode", "a\0b"), "neither hexadecimal digits (in pairs) nor a file"),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_a_mistake_is_explained(run: Run, arguments: tuple[str, ...], said: str) -> None:
    status, out, err = run(*arguments)
    assert status == 3, err
    assert said in err
    assert out == ""


def test_an_out_that_is_a_file_is_explained(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for command in (("check", "--select", "sanity"), ("selftest", "--mutant", "topic-list-is-not-answered")):
        status, _, err = run(*command, "--out", str(file))
        assert status == 3
        assert str(file) in err


def test_a_record_that_is_damaged_is_explained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"record":"nonsense"}\n')
    status, _, err = run("report", str(tmp_path))
    assert status == 3
    assert "line 1" in err


@pytest.mark.parametrize("command", ["", "check", "selftest", "explain", "serve", "report", "decode", "docs"])
def test_help_is_no_mistake(run: Run, command: str) -> None:
    status, out, _ = run(*command.split(), "--help")
    assert status == 0
    assert "usage: rmq-harness" in out


def test_version(run: Run) -> None:
    status, out, _ = run("--version")
    assert status == 0
    assert out.startswith("rmq-harness ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--select", "nothing.matches"),
        ("--exclude", "nothing.matches"),
        ("--select", "*", "--exclude", "*"),
        ("--profile", "4.9", "--select", "ns.cluster.member-group-*"),
    ],
)
def test_nothing_selected_is_inconclusive(run: Run, arguments: tuple[str, ...], tmp_path: Path) -> None:
    status, out, err = run("check", *arguments, "--json", "--out", str(tmp_path))
    assert status == 2
    assert "nothing was measured" in err
    answer = json.loads(out)
    assert (answer["exit_status"], answer["conclusion"]) == (2, "INCONCLUSIVE")
    status, _, _ = run("selftest", "--exclude", "*", "--out", str(tmp_path))
    assert status == 2


def test_a_target_that_is_not_there(run: Run, tmp_path: Path) -> None:
    status, out, err = run("check", "tcp://127.0.0.1:1", "--json", "--out", str(tmp_path))
    assert status == 4
    assert "start the server, or correct the address" in err
    assert json.loads(out)["exit_status"] == 4


def test_a_fault_of_ours_is_one_line_and_a_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("harness.cli.decode._frames", broken)
    status, _, err = run("decode", "00000000")
    assert status == 4
    assert err.startswith("rmq-harness: internal error: ZeroDivisionError: ours.")
    assert err.count("\n") == 1
    assert "Traceback" in Path(err.split(" with ")[1].strip()).read_text()


def test_an_interrupt_is_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.decode._frames", interrupted)
    status, _, err = run("decode", "00000000")
    assert (status, err) == (130, "rmq-harness: interrupted\n")
