"""Several runs side by side: what differs, which release changed it, and the three renderings."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
import pytest
from jsonschema_rs import validate

from harness.catalogue import Fix, specs_directory
from harness.report.matrix import Absent, Change, Column, Matrix, column, matrix, merged, newest_first
from harness.report.matrix_pages import as_object, render_html, render_json, render_markdown, told
from harness.report.results import (
    CaseResult,
    Failure,
    PlannedCase,
    QuirkSummary,
    Run,
    RunEnd,
    RunHeader,
    StatementSummary,
    Verdict,
)

HOSTILE = "<script>alert(1)</script> | `x`"


def statement(slug: str, chapter: str = "kv") -> StatementSummary:
    return StatementSummary(
        id=f"ns.{chapter}.{slug}",
        chapter=chapter,
        level="MUST",
        text="It MUST hold.",
        class_="administration",
    )


def run(
    verdicts: Mapping[str, str],
    *,
    server: str = "",
    fixes: Mapping[str, Fix] | None = None,
    quirks: tuple[QuirkSummary, ...] = (),
    without: tuple[str, ...] = (),
) -> Run:
    """A run with one case for each statement. `without` have no result."""
    known = [statement(slug) for slug in verdicts]
    planned = tuple(
        PlannedCase(name=f"kv.{slug}", chapter="kv", level="MUST", statements=(f"ns.kv.{slug}",))
        for slug in verdicts
    )
    results = tuple(
        CaseResult(
            case=f"kv.{slug}",
            statements=(f"ns.kv.{slug}",),
            chapter="kv",
            level="MUST",
            verdict=Verdict(verdict),
            begun=0.0,
            seconds=0.1,
            failure=Failure(
                statement=f"ns.kv.{slug}",
                text="It MUST hold.",
                expected="reply SUCCESS (0)",
                actual=HOSTILE,
                fixes=(fixes[slug],) if fixes and slug in fixes else (),
            )
            if verdict in ("fail", "quirk")
            else None,
        )
        for slug, verdict in verdicts.items()
        if slug not in without
    )
    header = RunHeader(
        suite="0.1.0",
        target=f"apache:{server.partition('@')[2]}?warp=60" if server else "exec:./my-ns",
        profile="5.3",
        clock="warped",
        started="2026-11-25T03:00:00+00:00",
        cases=planned,
        statements=tuple(known),
        cases_available=len(planned),
        catalogue="abc",
        server=server,
        quirks=quirks,
    )
    end = RunEnd(exit_status=0, why="all measured", seconds=1.0)
    return Run(header=header, results=results, end=None if without else end)


def apache(release: str, state: str, **more: object) -> Column:
    return column("", run({"one": state}, server=f"apache-nameserver@{release}", **more))  # type: ignore[arg-type]


def changes(**states: str) -> list[tuple[str, str]]:
    found = matrix(apache(name[1:].replace("_", "."), state) for name, state in states.items())
    return [(change.does, change.release) for change in found.changes]


def test_releases_come_in_order_and_before_others() -> None:
    mine = column("mine", run({"one": "pass"}))
    found = matrix([mine, apache("5.0.0", "pass"), apache("4.10.0", "pass"), apache("4.9.8", "pass")])
    assert [one.name for one in found.columns] == ["4.9.8", "4.10.0", "5.0.0", "mine"]
    lines = ["Apache, line 4.9", "Apache, line 4.9", "Apache, line 5.3", ""]
    assert [one.group for one in found.columns] == lines


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ({"v4_9_3": "fail", "v4_9_4": "pass"}, [("mends", "4.9.4")]),
        ({"v4_9_3": "pass", "v4_9_4": "quirk", "v4_9_5": "quirk"}, [("breaks", "4.9.4")]),
        ({"v5_0_0": "later", "v5_1_0": "pass"}, [("brings", "5.1.0")]),
        ({"v5_0_0": "fail", "v5_1_0": "blocked", "v5_1_1": "pass"}, [("mends", "5.1.1")]),
        ({"v4_9_3": "fail", "v4_9_4": "fail"}, []),
        ({"v4_9_3": "pass", "v4_9_4": "deviates"}, []),
        ({"v4_8_0": "deviates", "v4_9_4": "quirk", "v5_0_0": "deviates"}, []),
        # 5.0.0 branched off before 4.9.8 mended it: it did not break it.
        (
            {"v4_9_7": "fail", "v4_9_8": "pass", "v5_0_0": "fail", "v5_2_0": "pass"},
            [("mends", "4.9.8"), ("mends", "5.2.0")],
        ),
        ({"v4_9_7": "pass", "v5_0_0": "fail"}, [("breaks", "5.0.0")]),
    ],
)
def test_which_release_changed_what(states: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert changes(**states) == expected


def test_what_comes_broken_is_said_to_be() -> None:
    found = matrix([apache("5.0.0", "later"), apache("5.1.0", "fail"), apache("5.3.3", "pass")])
    assert [(one.does, one.release, one.holds) for one in found.changes] == [
        ("brings", "5.1.0", False),
        ("mends", "5.3.3", True),
    ]


def test_other_servers_have_no_place_in_the_history() -> None:
    found = matrix([apache("5.3.3", "pass"), column("mine", run({"one": "fail"}))])
    assert not found.changes
    assert [row.statement.id for row in found.differing] == ["ns.kv.one"]


def test_a_quirk_that_comes_and_goes_counts_on_every_release_that_has_it() -> None:
    quirk = QuirkSummary(
        id="quirk.x",
        statements=("ns.kv.one",),
        cases=("kv.one",),
        instead="It does not.",
        intermittent="Threads.",
    )
    met = apache("5.3.3", "quirk", quirks=(quirk,))
    missed = apache("5.4.0", "pass", quirks=(quirk,))
    found = matrix([met, missed, apache("5.5.0", "pass")])
    assert [row.states for row in found.rows] == [("quirk", "quirk", "pass")]
    assert [(one.does, one.release) for one in found.changes] == [("mends", "5.5.0")]
    assert [row.states for row in matrix([missed, apache("5.5.0", "pass")]).rows] == [("pass", "pass")]


def test_a_fix_of_the_catalogue_stands_beside_the_release_that_was_measured() -> None:
    fix = {"one": Fix("5.1.2", ("CVE-2023-37582",))}
    found = matrix([apache("5.1.1", "fail", fixes=fix), apache("5.1.4", "pass")])
    assert [told(one) for one in found.changes] == ["mended by 5.1.4 (in 5.1.2, CVE-2023-37582)"]
    assert not found.contradictions
    same = matrix([apache("5.1.1", "fail", fixes=fix), apache("5.1.2", "pass")])
    assert [told(one) for one in same.changes] == ["mended by 5.1.2 (CVE-2023-37582)"]


def test_a_fix_that_the_measurement_contradicts_is_said_and_not_shown() -> None:
    fix = {"one": Fix("5.1.2", ("apache/rocketmq#1",))}
    found = matrix([apache("5.1.2", "fail", fixes=fix), apache("5.1.4", "pass")])
    assert [told(one) for one in found.changes] == ["mended by 5.1.4"]
    (sentence,) = found.contradictions
    assert "5.1.2 (apache/rocketmq#1) mends it; it fails on 5.1.2 and holds on 5.1.4" in sentence


def test_a_change_is_described_in_words() -> None:
    came = Change(release="5.1.0", before="5.0.0", does="brings", statement="ns.kv.one", holds=False)
    assert told(came) == "came with 5.1.0, broken"
    broken = Change(release="5.0.0", before="4.9.8", does="breaks", statement="ns.kv.one")
    assert told(broken) == "broken by 5.0.0"


STATES = {"one": "fail", "two": "pass", "three": "later", "four": "unsupported", "five": "quirk"}


def whole() -> Matrix:
    return matrix(
        [
            column("", run(STATES, server="apache-nameserver@4.9.3")),
            column("", run(STATES, server="apache-nameserver@4.9.4")),
            column("", run({**STATES, "one": "pass"}, server="apache-nameserver@4.9.5")),
            column("mine", run({"one": "fail", "two": "pass"}, without=("two",)), "the record was cut short"),
        ],
        [Absent("4.9.6", "Apache never published this server to Maven Central")],
    )


def test_tallies_have_their_denominator_and_leave_out_what_came_later() -> None:
    first, *_, mine = whole().totals
    assert msgspec.structs.astuple(first) == (1, 1, 1, 1, 1)
    assert first.of == 4
    assert (mine.held, mine.failed, mine.unknown, mine.of) == (0, 1, 1, 2)
    assert first.tone == "fail"
    assert [group.name for group in whole().classes] == ["administration"]


def test_neighbours_that_agree_share_a_column() -> None:
    found = merged(whole())
    assert [one.name for one in found.columns] == ["4.9.3 – 4.9.4", "4.9.5", "mine"]
    assert found.rows[0].states == ("fail", "pass", "fail")
    assert len(found.totals) == len(found.chapters[0].tallies) == 3


def test_the_newest_release_is_first_and_other_servers_last() -> None:
    found = newest_first(whole())
    assert [one.name for one in found.columns] == ["4.9.5", "4.9.4", "4.9.3", "mine"]
    assert found.rows[0].states == ("pass", "fail", "fail", "fail")
    assert found.totals == tuple(whole().totals[number] for number in (2, 1, 0, 3))


def test_alike_lists_what_holds_nowhere() -> None:
    assert [row.statement.id for row in whole().alike] == ["ns.kv.three", "ns.kv.four", "ns.kv.five"]


def test_the_page_shows_every_target_and_obeys_none() -> None:
    page = render_html(whole(), ("rmq-harness", "matrix"))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    for word in ("4.9.3", "mine", "ns.kv.one", "mended by 4.9.5", "the record was cut short", "4.9.6"):
        assert word in page
    words = "1 of 4 hold, 1 failed, 1 with a quirk, 1 not measured, 1 not in this release"
    assert f"<dt>4.9.3, 4.9.4</dt><dd>{words}</dd>" in page


def test_markdown_has_one_cell_for_each_column_in_every_row() -> None:
    text = render_markdown(whole())
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {5, 6}  # a table of verdicts, and those with a last column
    assert "| `ns.kv.one` | ✔ | ✘ | ✘ | mended by 4.9.5 |" in text
    assert "- **mends** `ns.kv.one`" in text
    assert "- ✘ failed: " in text
    assert "| [kv](#kv) |" in text
    assert "- **4.9.6**: Apache never published this server to Maven Central" in text
    blocks = text.split("\n\n")
    assert any(block.startswith("| |") and "| **all** |" in block for block in blocks)


def test_json_is_what_its_schema_says() -> None:
    found = json.loads(render_json(whole()))
    schema = json.loads((specs_directory() / "schema" / "matrix.schema.json").read_text(encoding="utf-8"))
    validate(schema, found)
    verdicts = {"4.9.3": "fail", "4.9.4": "fail", "4.9.5": "pass", "mine": "fail"}
    assert found["statements"][0]["verdicts"] == verdicts
    assert found == msgspec.json.decode(msgspec.json.encode(as_object(whole())))
