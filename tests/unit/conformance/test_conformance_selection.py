"""Which cases a run takes and in which order; what does not fit together is said, all of it at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from conformance_samples import module

from harness.catalogue import Catalogue, CatalogueError, Level, Profile, Source, Statement
from harness.conformance import case
from harness.conformance.loading import LoadedCase, cases, problems
from harness.conformance.selection import Choice, select


def statement(identifier: str, level: Level = "MUST", *profiles: str, **more: Any) -> Statement:
    return Statement(
        id=identifier,
        chapter=identifier.split(".")[1],
        level=level,
        profiles=profiles or ("4.9", "5.3"),
        text="Something MUST hold.",
        stimulus="x",
        observable="y",
        source=(Source("tag", "path/Class.java", "method"),),
        **more,
    )


CATALOGUE = Catalogue(
    statements=(
        statement("wire.sanity.answers"),
        statement("ns.kv.get"),
        statement("ns.kv.list", "SHOULD", tags=("listing",)),
        statement("ns.lease.expires", "MUST", "5.3"),
        statement("ns.lease.old", "MAY", "4.9"),
        statement("wire.endurance.lives"),
    ),
    profiles=tuple(Profile(name=line, title="t", reference=f"{line}.0", text="x") for line in ("4.9", "5.3")),
    digest="d",
)


def a_case(*statements: str, **more: Any) -> Any:
    @case(*statements, **{"kills": ["m"], **more})
    def test_function(ns: object) -> None:
        """Something holds."""

    return test_function


LOADED = cases(
    [
        module("endurance", test_lives=a_case("wire.endurance.lives")),
        module("kv", test_get=a_case("ns.kv.get"), test_list_all=a_case("ns.kv.list", "ns.kv.get")),
        module("lease", test_expires=a_case("ns.lease.expires", clock=True), test_old=a_case("ns.lease.old")),
        module("sanity", test_answers=a_case("wire.sanity.answers")),
    ]
)


def names(profile: str = "5.3", **choice: Any) -> list[str]:
    return [one.name for one in select(CATALOGUE, LOADED, profile, Choice(**choice)).cases]


def test_sanity_is_first_and_endurance_last() -> None:
    assert names() == ["sanity.answers", "kv.get", "kv.list-all", "lease.expires", "endurance.lives"]


def test_a_case_applies_where_one_of_its_statements_does() -> None:
    assert names("4.9") == ["sanity.answers", "kv.get", "kv.list-all", "lease.old", "endurance.lives"]


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({"include": ("ns.kv.list",)}, ["kv.list-all"]),
        ({"include": ("kv.get",)}, ["kv.get"]),
        ({"include": ("ns.kv.get",)}, ["kv.get", "kv.list-all"]),
        ({"include": ("tag:listing",)}, ["kv.list-all"]),
        ({"include": ("kv",), "exclude": ("ns.kv.list",)}, ["kv.get"]),
        ({"include": ("kv", "lease")}, ["kv.get", "kv.list-all", "lease.expires"]),
    ],
)
def test_what_was_selected_runs_between_the_first_and_the_last(
    choice: dict[str, Any], chosen: list[str]
) -> None:
    assert names(**choice) == ["sanity.answers", *chosen, "endurance.lives"]


def test_the_strictest_statement_gives_a_case_its_level() -> None:
    assert names(level="MUST") == [
        "sanity.answers",
        "kv.get",
        "kv.list-all",
        "lease.expires",
        "endurance.lives",
    ]
    assert "lease.old" not in names("4.9", level="SHOULD")
    assert "lease.old" in names("4.9", level="MAY")
    levels = {one.name: one.level for one in select(CATALOGUE, LOADED, "4.9", Choice()).planned}
    assert (levels["kv.list-all"], levels["lease.old"]) == ("MUST", "MAY")


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({"classes": ("robustness",)}, ["kv.get"]),
        ({"classes": ("essential", "robustness")}, ["kv.get", "kv.list-all", "lease.expires"]),
        ({"classes": ("robustness",), "exclude": ("kv.get",)}, []),
        ({"classes": ("robustness",), "include": ("lease",)}, []),
    ],
)
def test_classes_narrow_a_selection(choice: dict[str, Any], chosen: list[str]) -> None:
    # `list-all` proves `get` too, but only its own statement is as strict as the case.
    other = {"ns.kv.get": {"class_": "robustness", "level": "SHOULD"}, "ns.kv.list": {"level": "MUST"}}
    statements = tuple(msgspec.structs.replace(one, **other.get(one.id, {})) for one in CATALOGUE.statements)
    found = select(msgspec.structs.replace(CATALOGUE, statements=statements), LOADED, "5.3", Choice(**choice))
    assert [one.name for one in found.cases if one.chapter in ("kv", "lease")] == chosen
    assert all(one.class_ in choice["classes"] for one in found.planned if one.chapter in ("kv", "lease"))


def test_a_selection_that_leaves_nothing_is_empty() -> None:
    assert names("4.9", include=("ns.lease.expires",)) == []
    assert names(exclude=("*",)) == []


def test_a_filter_that_matches_nothing_is_said_with_what_was_nearest() -> None:
    unmatched = select(
        CATALOGUE, LOADED, "5.3", Choice(("ns.lease.expire", "kv"), ("nothing.matches",))
    ).unmatched
    assert unmatched == (
        "--select ns.lease.expire matches no statement and no case; "
        "did you mean ns.lease.expires or lease.expires?",
        "--exclude nothing.matches matches no statement and no case",
    )


def test_the_plan_carries_what_reports_need() -> None:
    made = select(CATALOGUE, LOADED, "5.3", Choice(include=("ns.kv.list",)))
    assert made.available == 5
    assert [one.name for one in made.planned] == [one.name for one in made.cases]
    assert [one.id for one in made.statements] == [one.id for one in CATALOGUE.under("5.3")]
    assert made.statements[0].source == ("Class#method (tag)",)
    assert made.planned[1].statements == ("ns.kv.list", "ns.kv.get")


def test_everything_fits() -> None:
    assert problems(CATALOGUE, LOADED, {"m"}) == []


def test_all_problems_are_listed_at_once() -> None:
    loaded = [
        *cases(
            [
                module("a", test_b=a_case("ns.kv.lits", kills=["mm", "zzz"])),
                module("c", test_d=a_case("ns.kv.unseen")),
            ]
        ),
        *(one for one in LOADED if one.chapter != "lease"),
    ]
    unseen = Catalogue(
        (*CATALOGUE.statements, statement("ns.kv.unseen", untestable="needs a full disk")),
        CATALOGUE.profiles,
        "d",
    )
    found = [str(problem).partition(": ")[2] for problem in problems(unseen, loaded, {"m", "mx"})]
    written = "harness/conformance/nameserver/lease/"
    assert found == [
        "case test_function proves ns.kv.lits, which is not in the catalogue; "
        "did you mean ns.kv.list or ns.kv.get?",
        "case test_function proves ns.kv.unseen, which says that it is untestable; "
        "drop `untestable` from the statement, or the case",
        "case test_function kills 'mm', which is no mutant; did you mean m?",
        "case test_function kills 'zzz', which is no mutant; write the mutant in reference_impl/mutants/",
        f"no case proves it; write one in {written}, or say `untestable: why`",
        f"no case proves it; write one in {written}, or say `untestable: why`",
    ]


def test_a_test_function_that_is_no_case_does_not_load() -> None:
    def test_forgotten(ns: object) -> None:
        """Something holds."""

    with pytest.raises(CatalogueError, match="no case"):
        cases([module("kv", test_forgotten=test_forgotten)])


def test_the_cases_of_this_installation_have_names_of_their_own() -> None:
    found: list[LoadedCase] = cases()
    assert len({one.name for one in found}) == len(found) >= 90
    assert {"sanity", "endurance"} <= {one.chapter for one in found}
