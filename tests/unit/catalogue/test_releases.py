"""Which release a statement comes with, and which one mends a failure of it."""

from __future__ import annotations

import pytest

from harness.catalogue import Fix, Report, Statement, fixes, missing_from, release_of


def statement(**members: object) -> Statement:
    return Statement(
        **{  # type: ignore[arg-type]
            "id": "ns.kv.x",
            "chapter": "kv",
            "level": "MUST",
            "profiles": ("4.9", "5.3"),
            "text": "It MUST hold.",
            "stimulus": "x",
            "observable": "y",
            "source": (),
            **members,
        }
    )


@pytest.mark.parametrize(
    ("came", "release", "missing"),
    [
        (["5.1.4"], "5.0.0", "5.1.4"),
        (["5.1.4"], "5.1.4", ""),
        (["5.1.4"], "5.5.0", ""),
        (["5.1.4"], "4.9.8", "5.1.4"),
        (["4.9.4"], "4.9.3", "4.9.4"),
        (["4.9.4"], "5.0.0", ""),
        (["4.9.8", "5.2.0"], "5.1.4", "5.2.0"),
        (["4.9.8", "5.2.0"], "4.9.7", "4.9.8"),
        (["4.9.8", "5.2.0"], "5.4.0", ""),
        (["4.10.0"], "4.9.8", "4.10.0"),
        ([], "4.3.0", ""),
        (["5.1.4"], "", ""),
    ],
)
def test_the_release_that_a_statement_comes_with(came: list[str], release: str, missing: str) -> None:
    assert missing_from([statement(came=tuple(came))], release) == missing


def test_of_several_statements_the_latest_decides() -> None:
    both = [statement(came=("5.1.0",)), statement(came=("5.1.4",))]
    assert missing_from(both, "5.0.0") == "5.1.4"


def test_only_releases_of_apaches_have_a_place_in_the_order() -> None:
    assert release_of("apache-nameserver@5.0.0") == "5.0.0"
    assert release_of("") == release_of("another@1.0.0") == ""


REPORTS = (
    Report(title="A.", issues=("apache/rocketmq#4263", "apache/rocketmq#4268"), fixed=("4.9.4",)),
    Report(title="B.", issues=("CVE-2023-37582",), fixed=("4.9.7", "5.1.2")),
    Report(title="C.", name="lost-broker", fixed=("5.1.2",)),
    Report(title="D.", issues=("apache/rocketmq#1",), outcome="open"),
)


def test_a_failure_names_the_release_that_mends_it_and_what_it_was_reported_as() -> None:
    about = statement(issues=("apache/rocketmq#4263",))
    assert fixes(about, REPORTS, "4.9.3") == (Fix("4.9.4", ("apache/rocketmq#4263",)),)
    assert str(fixes(about, REPORTS, "4.9.3")[0]) == "4.9.4 (apache/rocketmq#4263)"
    assert fixes(about, REPORTS, "4.9.4") == fixes(about, REPORTS, "5.0.0") == ()
    assert fixes(about, REPORTS, "") == ()


def test_each_line_has_a_fix_of_its_own() -> None:
    about = statement(issues=("CVE-2023-37582",), tags=("lost-broker",))
    assert fixes(about, REPORTS, "5.1.1") == (Fix("5.1.2", ("CVE-2023-37582",)),)
    assert fixes(about, REPORTS, "4.9.5") == (
        Fix("4.9.7", ("CVE-2023-37582",)),
        Fix("5.1.2"),
    )
    assert fixes(about, REPORTS, "5.1.2") == ()


def test_what_is_open_names_no_release() -> None:
    assert fixes(statement(issues=("apache/rocketmq#1",)), REPORTS, "4.9.3") == ()
