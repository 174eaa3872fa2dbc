"""What the self-test finds wrong with a matrix."""

from __future__ import annotations

import pytest

from harness.cli.killing import Problem, Seen, Task, declared, judge_matrix, run_task
from harness.conformance.loading import LoadedCase, cases
from harness.report.results import Verdict
from reference_impl.mutants import MUTANTS

CASE = next(one for one in cases() if one.name == "cluster.lists-every-address")
OTHER = next(one for one in cases() if one.name == "sanity.well-formed-request-is-answered")
LATER = next(one for one in cases() if one.name == "lease.lost-broker-comes-back")
MUTANT = "cluster-lists-lowest-id-only"


def seen(mutant: str, profile: str = "5.3", case: str = CASE.name, **verdicts: str) -> Seen:
    verdict = Verdict(verdicts.get("verdict", "pass"))
    why = {} if verdict is Verdict.PASS else {case: "why"}
    return Seen(Task("nameserver", profile, mutant, (case,)), {case: verdict}, why)


def problems(*rows: Seen, loaded: tuple[LoadedCase, ...] = (CASE,)) -> list[Problem]:
    return judge_matrix(rows, loaded, "nameserver", ["4.9", "5.3"])


def kinds(*rows: Seen) -> list[str]:
    return [problem.kind for problem in problems(*rows)]


@pytest.mark.parametrize("verdict", ["fail", "deviates", "observed"])
def test_an_unmet_expectation_kills(verdict: str) -> None:
    assert CASE.case.kills == (MUTANT,)
    rows = [seen(MUTANT, profile, verdict=verdict) for profile in ("4.9", "5.3")]
    assert problems(seen(""), *rows) == []


@pytest.mark.parametrize("verdict", ["pass", "blocked", "unsupported"])
def test_what_did_not_notice_killed_nothing(verdict: str) -> None:
    found = problems(seen(""), seen(MUTANT, verdict=verdict))
    assert [problem.kind for problem in found] == ["survivor", "declaration", "case"]
    assert MUTANTS[MUTANT].description in found[0].what
    assert CASE.case.where in found[1].do


def test_a_mutant_must_die_under_every_profile_that_it_names() -> None:
    found = problems(seen(""), seen(MUTANT, verdict="fail"), seen(MUTANT, "4.9"))
    assert [problem.kind for problem in found] == ["survivor"]
    assert "under 4.9" in found[0].what


def test_the_sound_reference_must_pass() -> None:
    found = problems(seen("", verdict="fail"), seen(MUTANT, verdict="fail"))
    assert [problem.kind for problem in found] == ["reference"]
    assert found[0].what == f"{CASE.name} comes to fail on the sound reference 5.3: why"


def test_a_case_that_ends_in_an_error_is_a_problem_whatever_else_kills() -> None:
    row = Seen(
        Task("nameserver", "5.3", MUTANT, (CASE.name, "x")),
        {CASE.name: Verdict.FAIL, "x": Verdict.ERROR},
        {"x": "y"},
    )
    assert kinds(seen(""), row) == ["error"]


def test_a_case_none_of_whose_mutants_was_tried_is_not_judged() -> None:
    found = problems(seen(""), seen(MUTANT, verdict="fail"), loaded=(CASE, OTHER))
    assert found == []


def test_declared_follows_the_profile() -> None:
    assert declared([CASE, OTHER], "nameserver", "5.3", MUTANT) == (CASE.name,)
    assert declared([CASE, OTHER], "nameserver", "7.0", MUTANT) == ()


def test_a_task_runs_its_cases_against_its_mutant() -> None:
    ran = run_task(Task("nameserver", "5.3", MUTANT, (CASE.name, OTHER.name)))
    assert ran.verdicts == {CASE.name: Verdict.FAIL, OTHER.name: Verdict.PASS}
    assert "reply SUCCESS (0)" in ran.why[CASE.name]


def test_one_kill_may_be_enough() -> None:
    ran = run_task(Task("nameserver", "5.3", MUTANT, (OTHER.name, CASE.name, LATER.name), until_killed=True))
    assert list(ran.verdicts) == [OTHER.name, CASE.name]
