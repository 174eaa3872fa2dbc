"""Which lines of a server's log a report quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.targets.server_log import MOST, ServerLog, excerpt, last_words


def test_only_lines_written_since_are_quoted(tmp_path: Path) -> None:
    path = tmp_path / "target.log"
    path.write_text("before\n")
    log = ServerLog(path)
    with path.open("a") as file:
        file.write("panic: unknown field  \n\n\tgoroutine 7\n")
    assert log.quoted() == ("panic: unknown field", "    goroutine 7")


def test_colours_of_a_terminal_are_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "target.log"
    path.touch()
    log = ServerLog(path)
    path.write_text("\x1b[2m12:01\x1b[0m \x1b[1;33m WARN\x1b[0m no room\n\x1b[0m\n")
    assert log.quoted() == ("12:01  WARN no room",)
    assert last_words(path.read_text()) == "12:01  WARN no room"


def test_bytes_that_are_no_text_are_quoted_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "target.log"
    path.touch()
    log = ServerLog(path)
    path.write_bytes(b"bad \xff byte\n")
    assert log.quoted() == ("bad \ufffd byte",)


def test_a_server_without_a_log_has_no_lines(tmp_path: Path) -> None:
    assert ServerLog(None).quoted() == ()
    assert ServerLog(tmp_path / "gone.log").quoted() == ()


def test_many_lines_are_cut_to_those_from_the_trouble_on() -> None:
    lines = [*(f"request {number}" for number in range(50)), "Traceback", *(f"at {n}" for n in range(40))]
    quoted = excerpt(lines)
    assert len(quoted) == MOST
    assert quoted[:2] == ("Traceback", "at 0")
    assert quoted[-1] == "at 39"
    assert quoted[8] == "… 22 lines …"


def test_many_harmless_lines_are_cut_to_the_last() -> None:
    assert excerpt([f"request {number}" for number in range(50)])[0] == f"request {50 - MOST}"


def test_a_long_line_is_cut() -> None:
    (line,) = excerpt(["x" * 1000])
    assert line == "x" * 300 + "…"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("listening\nbye\n\n", "bye"),
        ("ready\npanic: nil map\n\ngoroutine 1 [running]:\n\tmain.go:12 +0x1d\n", "panic: nil map"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'topic'\n", "KeyError: 'topic'"),
        (
            "thread 'main' panicked at src/main.rs:2:5:\nno room\nnote: x",
            "thread 'main' panicked at src/main.rs:2:5: no room",
        ),
    ],
)
def test_last_words_say_what_went_wrong(text: str, words: str) -> None:
    assert last_words(text) == words
