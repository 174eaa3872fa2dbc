"""What the record before says to the next run."""

from __future__ import annotations

from pathlib import Path

import msgspec
from unit.report import report_samples as samples

from harness.conformance.last_record import failed_before, last_record, not_failing, still_failing
from harness.conformance.loading import cases
from harness.report.results import PlannedCase, ResultsWriter, Run, Verdict

A, B, C, D = (one.name for one in cases(role="nameserver")[:4])


def record(results: dict[str, Verdict], planned: tuple[str, ...], before: tuple[str, ...] = ()) -> Run:
    header = msgspec.structs.replace(
        samples.header(),
        cases=tuple(PlannedCase(name=one, chapter="c", level="MUST", statements=("s",)) for one in planned),
        failed_before=before,
    )
    plain = samples.results()[0]
    made = (msgspec.structs.replace(plain, case=name, verdict=verdict) for name, verdict in results.items())
    return Run(header=header, results=tuple(made))


def test_what_failed_was_blocked_or_flaky_is_tried_again() -> None:
    verdicts = {A: Verdict.FAIL, B: Verdict.PASS, C: Verdict.BLOCKED, D: Verdict.QUIRK}
    assert still_failing(record(verdicts, (A, B, C, D))) == (A, C)


def test_what_is_not_tried_again_is_counted_together_with_what_was_left_out_before() -> None:
    run = record({A: Verdict.FAIL, B: Verdict.PASS, C: Verdict.UNSUPPORTED}, (A, B, C))
    assert not_failing(run) == {Verdict.PASS: 1, Verdict.UNSUPPORTED: 1}
    header = msgspec.structs.replace(run.header, not_tried_again={Verdict.PASS: 4, Verdict.DEVIATES: 2})
    again = msgspec.structs.replace(run, header=header)
    assert not_failing(again) == {Verdict.PASS: 5, Verdict.DEVIATES: 2, Verdict.UNSUPPORTED: 1}


def test_a_case_that_was_not_run_has_failed_only_if_it_had_before() -> None:
    assert still_failing(record({A: Verdict.FAIL}, (A, B, C), before=(B,))) == (A, B)


def test_a_failure_that_a_later_selection_left_out_is_not_forgotten() -> None:
    assert still_failing(record({A: Verdict.PASS}, (A,), before=(A, D))) == (D,)


def test_only_failures_of_the_same_target_are_carried_on() -> None:
    run = record({A: Verdict.FAIL}, (A,), before=("no.case-is-called-so",))
    header = run.header
    assert failed_before(run, header.target, header.role, header.profile) == (A,)
    assert failed_before(run, "tcp://h:1", header.role, header.profile) == ()
    assert failed_before(run, header.target, "broker", header.profile) == ()
    assert failed_before(None, header.target, header.role, header.profile) == ()


def test_no_record_is_no_mistake(tmp_path: Path) -> None:
    assert last_record(tmp_path) is None
    run = record({A: Verdict.FAIL}, (A,))
    with ResultsWriter(tmp_path / "results.jsonl") as writer:
        for one in (run.header, *run.results):
            writer.write(one)
    assert last_record(tmp_path) == run
