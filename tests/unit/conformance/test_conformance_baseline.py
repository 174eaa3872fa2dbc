"""Baselines: what a file may hold, what an entry makes of a result, what people have to complete."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import msgspec
import pytest

from harness.catalogue import catalogue
from harness.conformance.baseline import Baseline, BaselineError, Entry, in_force, read, written
from harness.conformance.loading import cases
from harness.report.results import CaseResult, Failure, Run, RunHeader, Verdict

PROFILES = ("4.9", "5.3")
TODAY = date(2030, 6, 1)
CASE, STATEMENT = "lease.closed-connection-removes-broker", "ns.lease.closed-connection-removes-broker"
GOOD = f"""\
- id: {STATEMENT}
  reason: The broker closes it by itself.
  link: https://example.org/7
  expires: 2030-12-31
  profile: 5.3
"""


def entry(identifier: str = STATEMENT, expires: date = date(2030, 12, 31), **more: str) -> Entry:
    link = "https://example.org/7"
    return Entry(id=identifier, reason="So it is.", link=link, expires=expires, where="known.yaml:1", **more)


def result(verdict: Verdict, failure: bool = False, **changes: object) -> CaseResult:
    found = Failure(statement=STATEMENT, text="It goes.", expected="reply X", actual="reply\x1bY")
    plain = CaseResult(
        case=CASE,
        statements=(STATEMENT,),
        chapter="lease",
        level="MUST",
        verdict=verdict,
        begun=0.0,
        seconds=0.0,
        failure=found if failure else None,
    )
    return msgspec.structs.replace(plain, **changes)


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def said(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(BaselineError) as caught:
        read(file(tmp_path, text), PROFILES)
    return [problem.partition("known.yaml")[2] for problem in caught.value.problems]


def test_a_good_file(tmp_path: Path) -> None:
    only = read(file(tmp_path, GOOD), PROFILES)[0]
    assert (only.id, only.profile, only.expires) == (STATEMENT, "5.3", date(2030, 12, 31))
    assert only.where.endswith("known.yaml:1")


@pytest.mark.parametrize("text", ["", "[]\n", "# nothing is known\n"])
def test_nothing_may_be_known(tmp_path: Path, text: str) -> None:
    assert read(file(tmp_path, text), PROFILES) == ()


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("- id: [", [":1: not YAML"]),
        ("id: x", [": expected a list of entries"]),
        ("- just text", [":1: expected an entry with id"]),
        (
            GOOD.replace("reason: The broker closes it by itself.", 'reason: ""'),
            [":2: reason is empty: expected one sentence"],
        ),
        (GOOD.replace("https://example.org/7", "TODO"), [":3: link 'TODO': expected a URL"]),
        (GOOD.replace("2030-12-31", "next year"), [":4: expires 'next year': expected a date"]),
        (GOOD.replace("2030-12-31", "20301231"), [":4: expires '20301231': expected a date"]),
        (GOOD.replace("profile: 5.3", "profile: 6.0"), [":5: profile '6.0' does not exist"]),
        (
            GOOD.replace("reason:", "reasn:"),
            [":2: an entry has no 'reasn'; did you mean reason?", ":1: reason"],
        ),
        ("- id: x\n", [":1: reason is missing", ":1: link is missing", ":1: expires is missing"]),
        (GOOD + GOOD, [":6: " + STATEMENT + " stands at"]),
        (
            "- id: {a: 1}\n  reason: [x]\n",
            [":1: id is no text", ":2: reason is no text", ":1: link", ":1: exp"],
        ),
    ],
)
def test_everything_that_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str, problems: list[str]
) -> None:
    found = said(tmp_path, text)
    assert len(found) == len(problems), found
    for line, start in zip(found, problems, strict=True):
        assert line.startswith(start), found


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="No such file"):
        read(tmp_path / "nothing.yaml", PROFILES)


@pytest.mark.parametrize(
    ("verdict", "failure", "settled"),
    [
        (Verdict.FAIL, True, Verdict.XFAIL),
        (Verdict.PASS, False, Verdict.XPASS),
        (Verdict.DEVIATES, False, Verdict.XPASS),
        (Verdict.DEVIATES, True, Verdict.DEVIATES),
        (Verdict.QUIRK, True, Verdict.QUIRK),
        (Verdict.UNSUPPORTED, False, Verdict.UNSUPPORTED),
        (Verdict.BLOCKED, False, Verdict.BLOCKED),
        (Verdict.ERROR, False, Verdict.ERROR),
    ],
)
@pytest.mark.parametrize("identifier", [CASE, STATEMENT])
def test_what_an_entry_makes_of_a_result(
    identifier: str, verdict: Verdict, failure: bool, settled: Verdict
) -> None:
    known = Baseline("known.yaml", (entry(identifier),))
    found = known.settled(result(verdict, failure))
    assert found.verdict is settled
    if settled is Verdict.XFAIL:
        assert found.reason == "known until 2030-12-31: So it is. (https://example.org/7)"
        assert found.failure is not None
    if settled is Verdict.XPASS:
        assert found.reason.startswith("known.yaml:1 says that")


def test_other_cases_are_left_alone() -> None:
    failed = result(Verdict.FAIL, True)
    assert Baseline("known.yaml", (entry("ns.lease.other"),)).settled(failed) is failed


def force(*entries: Entry, profile: str = "5.3") -> Baseline:
    return in_force(
        "known.yaml", entries, catalogue=catalogue(), loaded=cases(), profile=profile, today=TODAY
    )


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (entry(expires=date(2030, 5, 31)), f"known.yaml:1: {STATEMENT} expired on 2030-05-31"),
        (entry("ns.lease.closd-connection-removes-broker"), f"no case; did you mean {STATEMENT}"),
        (entry("ns.errors.unknown-code-is-answered"), "is not of profile 5.3; write `profile: 4.9`"),
        (entry("errors.unknown-code-is-answered"), "is not of profile 5.3; write `profile: 4.9`"),
    ],
)
def test_an_entry_that_no_longer_counts_is_reported(one: Entry, told: str) -> None:
    found = force(one)
    assert found.entries == ()
    assert len(found.stale) == 1
    assert told in found.stale[0]


def test_on_its_last_day_an_entry_still_counts_and_other_profiles_are_passed_over() -> None:
    last = entry(expires=TODAY)
    found = force(last, entry("ns.nowhere.at-all", profile="4.9"))
    assert (found.entries, found.stale) == ((last,), ())


def recorded(*results: CaseResult) -> Run:
    header = RunHeader(
        suite="0.1.0",
        target="builtin:",
        profile="5.3",
        clock="virtual",
        started="",
        cases=(),
        statements=(),
        cases_available=1,
    )
    return Run(header=header, results=results)


def test_what_is_written_cannot_be_used_before_somebody_has_said_why(tmp_path: Path) -> None:
    text, new = written(recorded(result(Verdict.FAIL, True)), (), TODAY)
    assert new == 1
    assert "\x1b" not in text
    assert [line.split(": ")[1].split()[0] for line in said(tmp_path, text)] == ["reason", "link"]
    done = text.replace('reason: ""', 'reason: "It: is"').replace('link: ""', "link: https://example.org")
    only = read(file(tmp_path, done), PROFILES)[0]
    assert (only.id, only.reason, only.profile) == (CASE, "It: is", "5.3")
    assert only.expires == date(2030, 8, 30)


def test_what_people_wrote_is_kept_where_it_is_not_refuted(tmp_path: Path) -> None:
    other = entry("ns.kv.put-overwrites")
    text, new = written(recorded(result(Verdict.XFAIL, True)), (entry(), other), TODAY)
    assert new == 0
    kept = read(file(tmp_path, text), PROFILES)
    assert [(one.id, one.reason, one.link) for one in kept] == [
        (one.id, one.reason, one.link) for one in (entry(), other)
    ]
    text, _ = written(recorded(result(Verdict.XPASS)), (entry(),), TODAY)
    assert read(file(tmp_path, text), PROFILES) == ()
