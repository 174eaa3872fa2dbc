"""Loading `specs/`: what a good directory gives, and what each mistake is said to be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.catalogue import Catalogue, CatalogueProblems, catalogue, load, specs_directory
from harness.catalogue.replaced import successors

Edit = Callable[[dict[str, Any]], None]


def statement(identifier: str = "ns.lease.expires", **changes: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "level": "MUST",
        "until": "5.3",
        "text": "A broker whose lease has run out MUST leave every route.",
        "stimulus": "A registration, then silence.",
        "observable": "Code 17.",
        "source": ["RouteInfoManager#scan, expire (5.3.3)"],
        **changes,
    }


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    directory = empty(tmp_path)
    write(directory, "lease", [statement()])
    return directory


def empty(tmp_path: Path) -> Path:
    """A directory like `specs/` without a statement."""
    directory = tmp_path / "specs"
    for name in ("schema", "profiles"):
        shutil.copytree(specs_directory() / name, directory / name)
    shutil.copy(specs_directory() / "sources.yaml", directory)
    return directory


def write(specs: Path, name: str, items: Any, text: str | None = None) -> None:
    """Write a chapter, or a part of one, and give its chapter the next place in the order."""
    name = name if "/" in name else f"nameserver/{name}"
    path = specs / "statements" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(items) if text is None else text, encoding="utf-8")
    order = specs / "chapters.yaml"
    listed = yaml.safe_load(order.read_text(encoding="utf-8")) if order.exists() else []
    chapter = in_order("/".join(name.split("/")[:2]))
    order.write_text(yaml.safe_dump([*listed, *([] if chapter in listed else [chapter])]), encoding="utf-8")


def in_order(chapter: str, class_: str = "essential") -> dict[str, Any]:
    """The entry of a chapter in the order of the chapters."""
    return {chapter: {"class": class_, "about": "What it is about."}}


def put_in_order(specs: Path, *entries: Any) -> None:
    (specs / "chapters.yaml").write_text(yaml.safe_dump(list(entries)), encoding="utf-8")


def problems(specs: Path) -> list[str]:
    with pytest.raises(CatalogueProblems) as caught:
        load(specs)
    return [str(problem) for problem in caught.value.problems]


def test_a_good_directory(specs: Path) -> None:
    found = load(specs)
    assert isinstance(found, Catalogue)
    assert [one.id for one in found.statements] == ["ns.lease.expires"]
    only = found.statements[0]
    assert (only.chapter, only.level, only.untestable) == ("lease", "MUST", None)
    assert str(only.source[0]) == "RouteInfoManager#scan, #expire (rocketmq-all-5.3.3)"
    assert [profile.name for profile in found.profiles] == ["4.9", "5.3", "5.5"]
    assert found.profile("5.3") is not None
    assert found.profile("6.0") is None
    assert found.statement("ns.lease.expires") is only
    assert found.statement("ns.lease.other") is None


def test_chapters_come_in_the_order_in_which_a_reader_meets_them(specs: Path) -> None:
    write(specs, "shared/framing", [statement("wire.framing.opaque-is-echoed", since="5.3")])
    write(specs, "kv", [statement("ns.kv.get-gives-what-was-put")])
    found = load(specs)
    assert found.chapters == ("lease", "framing", "kv")
    assert [one.chapter for one in found.under("4.9")] == ["lease", "kv"]


def test_a_chapter_may_be_a_directory_of_files(specs: Path) -> None:
    write(specs, "nameserver/kv/2-delete", [statement("ns.kv.b")])
    write(specs, "nameserver/kv/1-put", [statement("ns.kv.a")])
    found = load(specs)
    assert [one.id for one in found.statements] == ["ns.lease.expires", "ns.kv.a", "ns.kv.b"]
    assert found.chapters == ("lease", "kv")


def test_every_chapter_has_a_place_in_the_order(specs: Path) -> None:
    write(specs, "kv", [statement("ns.kv.get-gives-what-was-put")])
    put_in_order(specs, in_order("nameserver/lease"), in_order("nameserver/heartbeat"))
    assert problems(specs) == [
        "specs/statements/nameserver/kv.yaml: its chapter has no place in the order; "
        "name nameserver/kv in chapters.yaml, with its class and what it is about",
        "specs/chapters.yaml nameserver/heartbeat: there is no such chapter; write it, or drop the name",
    ]


def test_a_statement_has_the_class_of_its_chapter_unless_it_says_another(specs: Path) -> None:
    first, second = statement("ns.kv.a"), statement("ns.kv.b", **{"class": "exactness"})
    write(specs, "kv", [first, second])
    put_in_order(
        specs, in_order("nameserver/lease", "robustness"), in_order("nameserver/kv", "administration")
    )
    classes = {one.id: one.class_ for one in load(specs).statements}
    assert classes == {"ns.lease.expires": "robustness", "ns.kv.a": "administration", "ns.kv.b": "exactness"}


@pytest.mark.parametrize(
    "entry",
    [
        "nameserver/lease",
        {"nameserver/lease": "essential"},
        {"nameserver/lease": {"class": "essential"}},
        {"nameserver/lease": {"about": "What it is about."}},
        in_order("nameserver/lease", "needed"),
        in_order("nameserver/lease") | in_order("nameserver/kv"),
        in_order("lease"),
    ],
)
def test_each_chapter_says_its_class_and_what_it_is_about(specs: Path, entry: Any) -> None:
    put_in_order(specs, entry)
    assert any("specs/chapters.yaml item 1" in problem for problem in problems(specs))


def test_statements_stand_under_the_heading_above_them(specs: Path) -> None:
    first, second, third = (statement(f"ns.kv.{name}") for name in "abc")
    write(specs, "kv", [{"heading": "Putting"}, first, second, {"heading": "Deleting"}, third])
    headings = {one.id: one.heading for one in load(specs).statements}
    assert headings == {
        "ns.lease.expires": "",
        "ns.kv.a": "Putting",
        "ns.kv.b": "Putting",
        "ns.kv.c": "Deleting",
    }


def test_no_statement_stands_above_the_first_heading(specs: Path) -> None:
    write(specs, "kv", [statement("ns.kv.a"), {"heading": "Deleting"}, statement("ns.kv.b")])
    assert problems(specs) == [
        "specs/statements/nameserver/kv.yaml: statements stand above the first heading, 'Deleting'; "
        "write a heading above them, too"
    ]


def test_a_chapter_that_is_named_twice_is_a_problem(specs: Path) -> None:
    put_in_order(specs, in_order("nameserver/lease"), in_order("nameserver/lease", "exactness"))
    assert problems(specs) == ["specs/chapters.yaml nameserver/lease: it is there twice; name it once"]


@pytest.mark.parametrize(
    ("bounds", "profiles"),
    [
        ({}, ("4.9", "5.3", "5.5")),
        ({"since": "5.3"}, ("5.3", "5.5")),
        ({"until": "4.9"}, ("4.9",)),
        ({"since": "5.3", "until": "5.3"}, ("5.3",)),
    ],
)
def test_a_statement_holds_from_one_release_line_to_another(
    specs: Path, bounds: dict[str, str], profiles: tuple[str, ...]
) -> None:
    write(specs, "kv", [{**statement("ns.kv.a"), "until": "5.5", **bounds}])
    found = load(specs).statement("ns.kv.a")
    assert found is not None
    assert found.profiles == profiles


def test_a_statement_takes_the_place_of_an_older_one(specs: Path) -> None:
    newer = statement("ns.lease.newer", since="5.5", until="5.5", replaces=["ns.lease.expires"])
    write(specs, "lease", [statement(), newer])
    assert [one.id for one in successors(load(specs).statements)["ns.lease.expires"]] == ["ns.lease.newer"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"since": "5.3"}, "profile 5.3 has both; let the older end with `until` before this one begins"),
        ({"replaces": ["ns.lease.other"]}, "replaces ns.lease.other, which does not exist; correct"),
    ],
)
def test_what_is_replaced_exists_and_has_ended(specs: Path, changes: dict[str, Any], said: str) -> None:
    newer = statement("ns.lease.newer", since="5.5", until="5.5", replaces=["ns.lease.expires"])
    write(specs, "lease", [statement(), newer | changes])
    (found,) = problems(specs)
    assert found.startswith("specs/statements/nameserver/lease.yaml ns.lease.newer: ")
    assert said in found


def test_a_class_that_moved_has_a_file_for_each_version(specs: Path) -> None:
    (specs / "sources.yaml").write_text(
        "tag: v{version}\nclasses: {A: {4.9.8: old/A.java, 5.0.0: new/A.java}}"
    )
    write(specs, "lease", [statement(source=["A#run (4.9.8, 5.3.3)", "A (5.0.0)"])])
    assert [(one.tag, one.path, one.method) for one in load(specs).statements[0].source] == [
        ("v4.9.8", "old/A.java", "run"),
        ("v5.3.3", "new/A.java", "run"),
        ("v5.0.0", "new/A.java", None),
    ]


def test_the_digest_names_the_text(specs: Path) -> None:
    before = load(specs).digest
    assert load(specs).digest == before
    write(specs, "lease", [statement(level="SHOULD")])
    assert load(specs).digest != before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"level": "must"},
            'specs/statements/nameserver/lease.yaml ns.lease.expires: level: "must" is not one of',
        ),
        (
            {"text": "No full stop"},
            'specs/statements/nameserver/lease.yaml ns.lease.expires: text: "No full stop" does not match',
        ),
        ({"since": 4.9}, 'since: 4.9 is not of type "string"'),
        (
            {"text": date(2026, 1, 1)},
            "lease.yaml: says what JSON cannot: Unsupported type: 'date'; put it into",
        ),
        ({"since": "5.3", "until": "4.9"}, "until 4.9 is before since 5.3; swap them"),
        ({"source": ["RouteInfoManager"]}, 'source.0: "RouteInfoManager" does not match'),
        (
            {"source": ["Nowhere (5.3.3)"]},
            "source: no class 'Nowhere'; say in specs/sources.yaml where it lies",
        ),
        ({"observed": ["5.3"]}, 'observed.0: "5.3" does not match'),
        ({"issues": ["#12"]}, 'issues.0: "#12" does not match'),
        ({"colour": "red"}, "Additional properties are not allowed ('colour' was unexpected)"),
        (
            {"id": "lease.expires"},
            'specs/statements/nameserver/lease.yaml lease.expires: id: "lease.expires" does not match',
        ),
        ({"id": "ns.kv.expires"}, "the id belongs to chapter 'kv'; move it to kv.yaml"),
        ({"since": "4.8"}, "profile '4.8' does not exist; profiles are: 4.9, 5.3"),
    ],
)
def test_a_wrong_member_is_named(specs: Path, changes: dict[str, Any], said: str) -> None:
    write(specs, "lease", [statement(**changes)])
    found = problems(specs)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("member", ["id", "level", "text", "stimulus", "observable", "source"])
def test_no_member_may_be_missing(specs: Path, member: str) -> None:
    broken = statement()
    del broken[member]
    write(specs, "lease", [statement("ns.lease.sound"), broken])
    where = "item 2" if member == "id" else "ns.lease.expires"
    assert problems(specs) == [
        f'specs/statements/nameserver/lease.yaml {where}: "{member}" is a required property; '
        "see specs/schema/ for what specs/statements/nameserver/lease.yaml may hold"
    ]


def test_duplicate_ids_are_found_across_files(specs: Path) -> None:
    write(specs, "lease", [statement(), statement()])
    assert (
        "already used in specs/statements/nameserver/lease.yaml; give the statement an id of its own"
        in problems(specs)[0]
    )


def test_a_retired_id_is_never_used_again(specs: Path) -> None:
    retired = [{"id": "ns.lease.expires", "since": "0.1", "why": "split in two"}]
    (specs / "retired.yaml").write_text(yaml.safe_dump(retired), encoding="utf-8")
    assert problems(specs) == [
        "specs/statements/nameserver/lease.yaml ns.lease.expires: this id was retired (split in two); "
        "ids are never reused: choose a new one"
    ]


def test_all_problems_are_said_at_once(specs: Path) -> None:
    write(specs, "lease", [statement(level="x"), statement("ns.lease.b", text="short")])
    write(specs, "kv", {"not": "a list"})
    write(specs, "routes", [], text="- id: [")
    (specs / "profiles" / "5.3.yaml").write_text(
        'name: "5.4"\nbase: "4.9"\ntitle: x\nreference: 5.4.0\ntext: x\n'
    )
    found = "\n".join(problems(specs))
    assert (
        "specs/statements/nameserver/routes.yaml:1: not YAML" in found
        or "specs/statements/nameserver/routes.yaml:2: not YAML" in found
    )
    assert 'specs/statements/nameserver/kv.yaml: {"not":"a list"} is not of type "array"' in found
    assert "ns.lease.expires: level" in found
    assert "ns.lease.b: text" in found
    assert "specs/profiles/5.3.yaml: it is named '5.4'; name the file 5.4.yaml" in found


def test_a_file_that_is_no_text(specs: Path) -> None:
    (specs / "statements" / "nameserver" / "lease.yaml").write_bytes(b"\xff\xfe\x00")
    assert "specs/statements/nameserver/lease.yaml" in problems(specs)[0]


def test_the_catalogue_of_this_installation_loads() -> None:
    found = catalogue()
    assert len(found.statements) >= 90
    assert {one.name for one in found.profiles} == {"4.9", "5.3", "5.5"}
    assert catalogue() is found
