"""A recorded run as today's catalogue reads it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.catalogue import catalogue
from harness.cli import main
from harness.conformance.reread import reread
from harness.report.results import CaseResult, Failure, Run, Verdict, read_run

WAIT = "ns.routes.wait-ends"
CLUSTER = "ns.topic-deletion.cluster-limits-deletion"
IDENTIFIERS = "ns.registration.identifiers-are-required"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out: Path = tmp_path_factory.mktemp("run")
    main(["check", "builtin:5.3", "--select", f"{WAIT},{CLUSTER},{IDENTIFIERS}", "--out", str(out)])
    return read_run(out)


def read_again(run: Run, server: str, case: str, *, expected: str = "x", actual: str = "y") -> CaseResult:
    """The result of a case that failed on this server, read again."""
    old = next(one for one in run.results if one.case == case)
    shown = Failure(statement=old.statements[0], text="It MUST hold.", expected=expected, actual=actual)
    failed = msgspec.structs.replace(old, verdict=Verdict.FAIL, failure=shown)
    header = msgspec.structs.replace(run.header, server=server)
    results = tuple(failed if one is old else one for one in run.results)
    again = reread(msgspec.structs.replace(run, header=header, results=results))
    return next(one for one in again.results if one.case == case)


def test_what_came_later_is_no_failure(run: Run) -> None:
    older = read_again(run, "apache-nameserver@5.0.0", "routes.wait-ends")
    assert (older.verdict, older.failure) == (Verdict.LATER, None)
    assert older.reason == "not in this release: came with 5.1.0"
    newer = read_again(run, "apache-nameserver@5.1.0", "routes.wait-ends")
    assert newer.verdict is Verdict.FAIL
    assert newer.failure is not None
    assert [str(one) for one in newer.failure.fixes] == ["5.3.2 (apache/rocketmq#9182)"]


def test_a_fix_is_named_only_for_releases_of_apaches(run: Run) -> None:
    mended = read_again(run, "apache-nameserver@4.9.3", "topic-deletion.cluster-limits-deletion")
    assert mended.failure is not None
    assert [fix.release for fix in mended.failure.fixes] == ["4.9.4"]
    other = read_again(run, "", "topic-deletion.cluster-limits-deletion")
    assert other.failure is not None
    assert other.failure.fixes == ()


def test_a_failure_that_is_a_known_quirk_by_now_is_one(run: Run) -> None:
    case = "registration.broker-name-is-required"
    texts = {"actual": "reply SUCCESS (0)", "expected": "reply SYSTEM_ERROR (1)"}
    known = read_again(run, "apache-nameserver@5.3.3", case, **texts)
    assert (known.verdict, known.quirk) == (Verdict.QUIRK, "quirk.missing-identifiers-are-accepted")
    assert read_again(run, "", case, **texts).verdict is Verdict.FAIL


def test_statements_are_those_of_today(run: Run) -> None:
    old = msgspec.structs.replace(run.header.statements[0], text="It was so.")
    header = msgspec.structs.replace(run.header, statements=(old, *run.header.statements[1:]))
    found = reread(msgspec.structs.replace(run, header=header)).header.statements[0]
    current = catalogue().statement(found.id)
    assert current is not None
    assert (found.text, found.class_) == (current.text, current.class_)
