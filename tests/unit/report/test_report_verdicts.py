"""Verdict arithmetic, exhaustively: every verdict in every company, and each way in which a run can end."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from harness.catalogue import LEVELS, Class, Level
from harness.report.results import CaseResult, PlannedCase, Run, RunEnd, RunHeader, StatementSummary, Verdict
from harness.report.verdicts import (
    MEASURED,
    Conclusion,
    count,
    ending,
    exit_status,
    judge,
    summarize,
)


def test_each_class_has_its_counts_and_its_mark() -> None:
    verdicts = {"a": Verdict.PASS, "b": Verdict.FAIL, "c": Verdict.DEVIATES, "d": Verdict.BLOCKED}
    classes: dict[str, Class] = {"a": "essential", "b": "exactness", "c": "essential", "d": "robustness"}
    summary = summarize(run_of_classes(verdicts, classes, selected=("essential", "exactness")))
    assert {name: (one.holding, one.total, one.mark) for name, one in summary.classes.items()} == {
        "essential": (2, 2, "✔"),
        "administration": (0, 0, "✔"),
        "robustness": (0, 1, "–"),
        "exactness": (0, 1, "✘"),
    }
    assert list(summary.classes) == ["essential", "administration", "robustness", "exactness"]


def test_a_selection_of_classes_says_how_much_of_them_holds() -> None:
    verdicts = {"a": Verdict.PASS, "b": Verdict.QUIRK}
    classes: dict[str, Class] = {"a": "essential", "b": "essential"}
    summary = summarize(run_of_classes(verdicts, classes, selected=("essential",)))
    assert summary.headline == "PARTIAL 2 of 9: essential 1 of 2"


def run_of_classes(
    verdicts: dict[str, Verdict], classes: dict[str, Class], *, selected: tuple[Class, ...]
) -> Run:
    made = run([result(name, verdict) for name, verdict in verdicts.items()])
    header = msgspec.structs.replace(
        made.header,
        classes=selected,
        cases_available=9,
        cases=tuple(msgspec.structs.replace(one, class_=classes[one.name]) for one in made.header.cases),
    )
    results = tuple(msgspec.structs.replace(one, class_=classes[one.case]) for one in made.results)
    end = RunEnd(exit_status=0, why="", seconds=1.0)
    return msgspec.structs.replace(made, header=header, results=results, end=end)


def result(
    name: str, verdict: Verdict, chapter: str = "lease", level: Level = "MUST", begun: float = 0.0
) -> CaseResult:
    return CaseResult(
        case=name,
        statements=(f"ns.{chapter}.{name}",),
        chapter=chapter,
        level=level,
        verdict=verdict,
        begun=begun,
        seconds=0.5,
    )


def run(results: list[CaseResult], planned: int | None = None) -> Run:
    cases = [
        PlannedCase(name=r.case, chapter=r.chapter, level=r.level, statements=r.statements) for r in results
    ]
    cases += [
        PlannedCase(name=f"extra{n}", chapter="kv", level="MUST", statements=(f"ns.kv.extra{n}",))
        for n in range((len(results) if planned is None else planned) - len(results))
    ]
    header = RunHeader(
        suite="0.1.0",
        target="builtin:",
        profile="5.3",
        clock="virtual",
        started="2024-05-01T12:00:00+00:00",
        cases=tuple(cases),
        statements=tuple(
            StatementSummary(id=s, chapter=c.chapter, level=c.level, text="It holds.")
            for c in cases
            for s in c.statements
        ),
        cases_available=len(cases),
    )
    return Run(header=header, results=tuple(results))


def status(*verdicts: Verdict, planned: int | None = None, **how: bool | str) -> int:
    results = [result(f"c{n}", verdict) for n, verdict in enumerate(verdicts)]
    total = len(results) if planned is None else planned
    return exit_status(count(results, total), **how)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("level", "held", "strict", "expected"),
    [
        ("MUST", True, False, Verdict.PASS),
        ("MUST", True, True, Verdict.PASS),
        ("MUST", False, False, Verdict.FAIL),
        ("MUST", False, True, Verdict.FAIL),
        ("SHOULD", True, False, Verdict.PASS),
        ("SHOULD", True, True, Verdict.PASS),
        ("SHOULD", False, False, Verdict.DEVIATES),
        ("SHOULD", False, True, Verdict.FAIL),
        ("MAY", True, False, Verdict.PASS),
        ("MAY", True, True, Verdict.PASS),
        ("MAY", False, False, Verdict.OBSERVED),
        ("MAY", False, True, Verdict.OBSERVED),
    ],
)
def test_a_level_decides_what_a_broken_expectation_means(
    level: Level, held: bool, strict: bool, expected: Verdict
) -> None:
    assert judge(level, held=held, strict=strict) is expected


ALONE = {
    Verdict.PASS: 0,
    Verdict.FAIL: 1,
    Verdict.XFAIL: 0,
    Verdict.XPASS: 1,
    Verdict.QUIRK: 0,
    Verdict.DEVIATES: 0,
    Verdict.OBSERVED: 0,
    Verdict.UNSUPPORTED: 2,
    Verdict.LATER: 2,
    Verdict.BLOCKED: 2,
    Verdict.FLAKY: 2,
    Verdict.ERROR: 4,
}


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_alone(verdict: Verdict) -> None:
    assert status(verdict) == ALONE[verdict]


@pytest.mark.parametrize(("one", "other"), list(product(Verdict, Verdict)))
def test_each_pair_of_verdicts_gives_the_graver_status(one: Verdict, other: Verdict) -> None:
    kinds = {one, other}
    if Verdict.ERROR in kinds:
        expected = 4
    elif kinds & {Verdict.FAIL, Verdict.XPASS}:
        expected = 1
    elif kinds & {Verdict.BLOCKED, Verdict.FLAKY} or not kinds & MEASURED:
        expected = 2
    else:
        expected = 0
    assert status(one, other) == status(other, one) == expected


@pytest.mark.parametrize("verdict", Verdict)
def test_a_case_that_never_ran_is_never_green(verdict: Verdict) -> None:
    assert status(verdict, planned=2) == (ALONE[verdict] or 2)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_record_cut_short_is_never_green(verdict: Verdict) -> None:
    assert status(verdict, complete=False) == (ALONE[verdict] or 2)


@pytest.mark.parametrize("verdict", Verdict)
def test_an_interruption_comes_before_everything(verdict: Verdict) -> None:
    assert status(verdict, interrupted=True, trouble="the target went away", complete=False) == 130


@pytest.mark.parametrize("verdict", Verdict)
def test_a_target_that_cannot_be_reached_comes_before_every_verdict(verdict: Verdict) -> None:
    assert status(verdict, trouble="nothing listens") == 4


def test_nothing_selected_is_inconclusive() -> None:
    assert exit_status(count([], 0)) == (2, "no case was selected")


def test_the_reason_names_its_denominator() -> None:
    verdicts = [Verdict.FAIL, Verdict.FAIL, Verdict.XPASS, Verdict.PASS]
    results = [result(f"c{n}", verdict) for n, verdict in enumerate(verdicts)]
    assert (
        exit_status(count(results, 5))[1] == "2 of 5 cases failed, 1 of 5 cases passed against the baseline"
    )


def test_counts_by_verdict_level_and_chapter() -> None:
    recorded = run(
        [
            result("a", Verdict.PASS, "framing"),
            result("b", Verdict.FAIL, "lease"),
            result("c", Verdict.DEVIATES, "lease", "SHOULD", begun=3.0),
            result("d", Verdict.UNSUPPORTED, "framing", "MAY"),
        ],
        planned=6,
    )
    summary = summarize(recorded)
    assert summary.cases.verdicts == {
        Verdict.PASS: 1,
        Verdict.FAIL: 1,
        Verdict.DEVIATES: 1,
        Verdict.UNSUPPORTED: 1,
    }
    assert (summary.cases.total, summary.cases.done, summary.cases.not_run, summary.cases.measured) == (
        6,
        4,
        2,
        3,
    )
    assert list(summary.chapters) == ["framing", "lease", "kv"]
    assert summary.chapters["lease"].verdicts == {Verdict.FAIL: 1, Verdict.DEVIATES: 1}
    assert summary.chapters["lease"].seconds == 1.0
    assert (summary.chapters["kv"].total, summary.chapters["kv"].not_run) == (2, 2)
    assert list(summary.levels) == list(LEVELS)
    assert summary.levels["MUST"].total == 4
    assert summary.levels["SHOULD"][Verdict.DEVIATES] == 1
    assert (summary.statements_total, summary.statements_selected, summary.statements_measured) == (6, 6, 3)
    assert summary.conclusion is Conclusion.NOT_CONFORMANT


def test_a_case_of_no_plan_is_refused() -> None:
    recorded = run([result("a", Verdict.PASS)])
    stranger = Run(header=recorded.header, results=(*recorded.results, result("z", Verdict.PASS)))
    with pytest.raises(ValueError, match="header does not plan: z"):
        summarize(stranger)


@pytest.mark.parametrize(
    ("how", "conclusion", "code"),
    [
        ({}, Conclusion.CONFORMANT, 0),
        ({"interrupted": True}, Conclusion.INTERRUPTED, 130),
        ({"trouble": "nothing listens on 127.0.0.1:1"}, Conclusion.ERROR, 4),
    ],
)
def test_the_end_of_a_run_and_its_summary_agree(
    how: dict[str, bool | str], conclusion: Conclusion, code: int
) -> None:
    recorded = run([result("a", Verdict.PASS)])
    end = ending(recorded, seconds=1.5, **how)  # type: ignore[arg-type]
    summary = summarize(Run(header=recorded.header, results=recorded.results, end=end))
    assert (end.exit_status, end.why) == (summary.exit_status, summary.why)
    assert (summary.exit_status, summary.conclusion) == (code, conclusion)


def test_a_run_without_an_end_is_inconclusive() -> None:
    summary = summarize(run([result("a", Verdict.PASS)]))
    assert (summary.exit_status, summary.why) == (2, "the record of the run is incomplete")


def test_a_shared_wait_counts_once() -> None:
    begun = [0.0, 0.25, 0.125, 2.0, 2.0]
    assert count([result(f"c{b}", Verdict.PASS, begun=b) for b in begun], 5).seconds == 1.25
    assert count([], 0).seconds == 0.0


@pytest.mark.parametrize(
    ("verdict", "available", "conclusion", "headline"),
    [
        (Verdict.PASS, 1, Conclusion.CONFORMANT, "CONFORMANT"),
        (Verdict.PASS, 415, Conclusion.PARTIAL, "PARTIAL 1 of 415"),
        (Verdict.XFAIL, 1, Conclusion.EXCEPT_KNOWN, "CONFORMANT EXCEPT 1 KNOWN FAILURE"),
        (Verdict.XFAIL, 415, Conclusion.PARTIAL, "PARTIAL 1 of 415 EXCEPT 1 KNOWN FAILURE"),
        (Verdict.FAIL, 415, Conclusion.NOT_CONFORMANT, "NOT CONFORMANT"),
    ],
)
def test_only_a_whole_run_without_known_failures_is_conformant(
    verdict: Verdict, available: int, conclusion: Conclusion, headline: str
) -> None:
    recorded = run([result("a", verdict)])
    header = msgspec.structs.replace(recorded.header, cases_available=available)
    recorded = Run(header=header, results=recorded.results)
    summary = summarize(Run(header=header, results=recorded.results, end=ending(recorded, seconds=1)))
    assert (summary.conclusion, summary.headline) == (conclusion, headline)
