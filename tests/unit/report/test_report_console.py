"""The console: what a person reads, on a terminal and off it."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
import report_samples as samples
from report_golden import check

from harness.report.console import Console
from harness.report.results import Run, Sent, Verdict


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(run: Run, stream: io.StringIO | None = None, **environ: str) -> str:
    stream = stream if stream is not None else io.StringIO()
    width = int(environ.pop("WIDTH", "0")) or None
    console = Console(stream, environ=environ, width=width)
    console.start(run.header)
    for result in run.results:
        console.case(result)
    summary = console.finish(run.end, ["out/report.html"])
    if run.end is not None:
        assert summary.exit_status == run.end.exit_status
    return stream.getvalue()


@pytest.mark.parametrize("name", ["run", "green", "interrupted", "unreachable"])
def test_golden(name: str) -> None:
    check(f"console-{name}.txt", shown(getattr(samples, name)()))


def test_off_a_terminal_there_is_no_escape_code_and_no_long_line() -> None:
    text = shown(samples.run(), TERM="xterm-256color", FORCE_COLOR="1", COLUMNS="200")
    assert "\x1b" not in text
    assert "\x00" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_terminal_gets_colour_and_progress() -> None:
    text = shown(samples.run(), Terminal(), TERM="xterm-256color")
    assert "\x1b[1;31m" in text
    assert "of 10 cases" in text


def test_no_color_leaves_no_style() -> None:
    text = shown(samples.run(), Terminal(), TERM="xterm-256color", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*m", text)


def test_a_dumb_terminal_gets_plain_text() -> None:
    assert "\x1b" not in shown(samples.run(), Terminal(), TERM="dumb")


def test_a_wide_terminal_does_not_stretch_it_and_a_narrow_one_wraps_it() -> None:
    wide = shown(samples.run(), Terminal(), TERM="dumb", WIDTH="200")
    assert max(map(len, wide.splitlines())) <= 120
    narrow = shown(samples.run(), Terminal(), TERM="dumb", WIDTH="60")
    words = [line for line in narrow.splitlines() if len(line) > 72]
    assert words == []


def test_a_stream_that_cannot_say_everything_still_gets_everything_else() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", write_through=True)
    console = Console(stream, environ={})
    run = samples.run()
    console.start(run.header)
    for result in run.results:
        console.case(result)
    console.finish(run.end)
    text = raw.getvalue().decode("ascii")
    assert "x ns.registration.one-record-per-address" in text
    assert "#9 <- cluster information" in text


def test_a_chapter_appears_as_soon_as_it_is_finished() -> None:
    run = samples.run()
    stream = io.StringIO()
    console = Console(stream, environ={})
    console.start(run.header)
    framing, errors, rest = run.results[:2], run.results[2:5], run.results[5:]
    for result in errors[:-1]:
        console.case(result)
    assert "errors " not in stream.getvalue()
    for result in (*errors[-1:], *framing):
        console.case(result)
    lines = stream.getvalue().splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["errors", "framing"]
    for result in rest:
        console.case(result)
    console.finish(run.end)


def test_a_log_gets_a_line_where_nothing_else_was_printed_for_long() -> None:
    run = samples.run()
    stream = io.StringIO()
    console = Console(stream, environ={})
    console.passed(2.0, "exec:go run .")
    console.passed(4.0, "exec:go run .")
    console.passed(5.0, "exec:go run .")
    assert stream.getvalue() == "starting exec:go run ., 4 s so far\n"
    cases = tuple(msgspec.structs.replace(case, expected=10.0) for case in run.header.cases)
    console.start(msgspec.structs.replace(run.header, cases=cases))
    begun = stream.getvalue()
    assert f"(about 1 min {10 * len(cases) - 60} s)" in begun
    for second in range(1, 20):
        console.passed(float(second))
        if second == 3:
            console.case(run.results[2])
    console.passed(31.0)
    first, second_line = stream.getvalue().removeprefix(begun).splitlines()
    assert (
        first == f"1 of {len(cases)} cases after 16 s · 1 failed · about 1 min {10 * len(cases) - 70} s left"
    )
    assert second_line.startswith(f"1 of {len(cases)} cases after 31 s")


def test_a_run_that_stopped_at_its_first_failure_says_so() -> None:
    run = samples.run()
    assert run.end is not None
    text = shown(
        Run(header=run.header, results=run.results, end=msgspec.structs.replace(run.end, stopped=True))
    )
    assert f"stopped at the first failure (-x), 1 of {len(run.header.cases)} not run" in text


def test_an_answer_of_several_lines_stays_readable_in_one() -> None:
    run = samples.run()
    deviates = next(r for r in run.results if r.verdict is Verdict.DEVIATES)
    assert deviates.failure is not None
    failure = msgspec.structs.replace(
        deviates.failure, actual='no answer\n#2 ← a response, remark "a\u23ceb"'
    )
    planned = tuple(msgspec.structs.replace(run.header.cases[0], name=f"case{n}") for n in range(4))
    results = tuple(
        msgspec.structs.replace(deviates, case=one.name, chapter="framing", failure=failure)
        for one in planned
    )
    header = msgspec.structs.replace(run.header, cases=planned, cases_available=4)
    text = " ".join(shown(Run(header=header, results=results)).split())
    assert 'actual no answer; #2 ← a response, remark "a⏎b"' in text
    assert "\\n" not in text


def test_what_was_not_tried_again_is_counted_beside_the_totals() -> None:
    run = samples.run()
    header = msgspec.structs.replace(
        run.header, only_failed=True, not_tried_again={Verdict.PASS: 195, Verdict.UNSUPPORTED: 55}
    )
    text = shown(Run(header=header, results=run.results, end=run.end))
    assert "\nnot tried again (--failed): 195 passed · 55 unsupported\n" in text


def test_many_failures_are_shown_in_short_and_counted() -> None:
    run = samples.run()
    failed = next(r for r in run.results if r.failure is not None)
    planned = tuple(msgspec.structs.replace(run.header.cases[0], name=f"case{n}") for n in range(40))
    results = tuple(msgspec.structs.replace(failed, case=f"case{n}", chapter="framing") for n in range(40))
    header = msgspec.structs.replace(run.header, cases=planned, cases_available=40)
    text = shown(Run(header=header, results=results))
    assert "1 cause explains 40 failures." in text
    assert text.count("  expected   ") == 1
    assert "40 failures in short" in text
    assert text.count("✘ case") == 40


def test_many_deviations_are_shown_in_short_with_the_request_and_what_is_special_in_it() -> None:
    run = samples.run()
    deviates = next(r for r in run.results if r.verdict is Verdict.DEVIATES)
    planned = tuple(msgspec.structs.replace(run.header.cases[0], name=f"case{n}") for n in range(4))
    results = tuple(msgspec.structs.replace(deviates, case=one.name, chapter="framing") for one in planned)
    header = msgspec.structs.replace(run.header, cases=planned, cases_available=4)
    text = " ".join(shown(Run(header=header, results=results)).split())
    assert "4 deviate, of 4 cases, in short; --select ID shows one in full" in text
    assert "case0, case1, case2, case3: 9999 (unknown code); expected reply REQUEST" in text


def test_a_failure_alone_is_shown_in_full_with_what_was_sent() -> None:
    run = samples.run()
    failed = next(r for r in run.results if r.failure is not None)
    assert failed.failure is not None
    sent = Sent(request="9999 NO_SUCH", header='{"code":9999}', body="cafe", body_form="hex", size=20)
    alone = msgspec.structs.replace(failed, failure=msgspec.structs.replace(failed.failure, sent=sent))
    text = shown(Run(header=run.header, results=(alone,)))
    assert "cause" not in text
    assert (
        '  sent       9999 NO_SUCH\n             header {"code":9999}\n             body in hex cafe\n'
        in text
    )


def test_an_endless_value_is_cut_and_says_of_how_many() -> None:
    run = samples.run()
    failed = next(r for r in run.results if r.verdict is Verdict.FAIL)
    assert failed.failure is not None
    long = msgspec.structs.replace(
        failed, failure=msgspec.structs.replace(failed.failure, actual="x" * 50_000)
    )
    results = tuple(long if r.case == failed.case else r for r in run.results)
    assert "(1000 of 50000 characters" in shown(Run(header=run.header, results=results)).replace(
        "\n", " "
    ).replace("             ", "")
