"""Annotations: one line for what the run came to and each cause, no text of a target as a command."""

from __future__ import annotations

import msgspec
import pytest
import report_samples as samples

from harness.report import annotating
from harness.report.results import Run, Verdict

ERROR = "::error "


def logged(*lines: str) -> Run:
    """A run of which one case failed while the server wrote these lines."""
    whole = samples.run()
    failed = next(one for one in whole.results if one.verdict is Verdict.FAIL)
    return msgspec.structs.replace(whole, results=(msgspec.structs.replace(failed, log=lines),))


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    assert annotating.render(samples.green()) == ""


def test_the_first_line_says_what_the_run_came_to_and_the_others_are_causes() -> None:
    first, *others = annotating.render(samples.run()).splitlines()
    assert first.startswith("::error title=RocketMQ NameServer 5.3%3A ")
    assert 0 < len(others) < 10
    for line in others:
        assert line.startswith(ERROR)
        assert "%0Aagain: rmq-harness " in line


def test_what_a_target_sent_begins_no_command() -> None:
    text = annotating.render(samples.run())
    assert all(line.startswith(ERROR) for line in text.splitlines())
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("panic: unknown field (register.go:88)", "file=register.go,line=88,"),
        ("thread 'main' panicked at src/routes.rs:12:5:", "file=src/routes.rs,line=12,"),
        ('  File "ns/table.py", line 7, in register', "file=ns/table.py,line=7,"),
        ("	at org.example.Table.put(Table.java:31)", "file=Table.java,line=31,"),
        ("it listens at 127.0.0.1:9876", ""),
    ],
)
def test_a_line_of_source_in_the_servers_log_is_its_place(line: str, place: str) -> None:
    cause = annotating.render(logged("ready", line)).splitlines()[1]
    assert cause.startswith(f"{ERROR}{place}title=")
