"""Loading `specs/`: what a good directory gives, and what each mistake is said to be."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.catalogue import Catalogue, CatalogueProblems, catalogue, load, specs_directory

Edit = Callable[[dict[str, Any]], None]


def statement(identifier: str = "ns.lease.expires", **changes: Any) -> dict[str, Any]:
    return {
        "id": identifier,
        "level": "MUST",
        "profiles": ["4.9", "5.3"],
        "text": "A broker whose lease has run out MUST leave every route.",
        "stimulus": "A registration, then silence.",
        "observable": "Code 17.",
        "source": [
            {"tag": "rocketmq-all-5.3.3", "path": "a/b/RouteInfoManager.java", "method": "scan, expire"}
        ],
        **changes,
    }


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    directory = tmp_path / "specs"
    for name in ("schema", "profiles"):
        shutil.copytree(specs_directory() / name, directory / name)
    (directory / "statements").mkdir()
    write(directory, "lease", [statement()])
    return directory


def write(specs: Path, chapter: str, items: Any) -> None:
    (specs / "statements" / f"{chapter}.yaml").write_text(yaml.safe_dump(items), encoding="utf-8")


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
    write(specs, "kv", [statement("ns.kv.get-gives-what-was-put")])
    write(specs, "framing", [statement("wire.framing.opaque-is-echoed", profiles=["5.3"])])
    write(specs, "zebra", [statement("ns.zebra.last")])
    found = load(specs)
    assert found.chapters == ("framing", "lease", "kv", "zebra")
    assert [one.chapter for one in found.under("4.9")] == ["lease", "kv", "zebra"]


def test_the_digest_names_the_text(specs: Path) -> None:
    before = load(specs).digest
    assert load(specs).digest == before
    write(specs, "lease", [statement(level="SHOULD")])
    assert load(specs).digest != before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"level": "must"}, "specs/statements/lease.yaml ns.lease.expires: level: 'must' is not one of"),
        (
            {"text": "No full stop"},
            "specs/statements/lease.yaml ns.lease.expires: text: 'No full stop' does not match",
        ),
        ({"profiles": []}, "profiles: [] should be non-empty"),
        ({"profiles": [4.9]}, "profiles.0: 4.9 is not of type 'string'"),
        ({"source": [{"tag": "x"}]}, "source.0: 'path' is a required property"),
        ({"observed": ["5.3"]}, "observed.0: '5.3' does not match"),
        ({"issues": ["#12"]}, "issues.0: '#12' does not match"),
        ({"colour": "red"}, "Additional properties are not allowed ('colour' was unexpected)"),
        (
            {"id": "lease.expires"},
            "specs/statements/lease.yaml lease.expires: id: 'lease.expires' does not match",
        ),
        ({"id": "ns.kv.expires"}, "the id belongs to chapter 'kv'; move it to kv.yaml"),
        ({"profiles": ["4.8"]}, "profile '4.8' does not exist; profiles are: 4.9, 5.3"),
    ],
)
def test_a_wrong_member_is_named(specs: Path, changes: dict[str, Any], said: str) -> None:
    write(specs, "lease", [statement(**changes)])
    found = problems(specs)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("member", ["id", "level", "profiles", "text", "stimulus", "observable", "source"])
def test_no_member_may_be_missing(specs: Path, member: str) -> None:
    broken = statement()
    del broken[member]
    write(specs, "lease", [statement("ns.lease.sound"), broken])
    where = "item 2" if member == "id" else "ns.lease.expires"
    assert problems(specs) == [
        f"specs/statements/lease.yaml {where}: '{member}' is a required property; "
        "see specs/schema/ for what specs/statements/lease.yaml may hold"
    ]


def test_duplicate_ids_are_found_across_files(specs: Path) -> None:
    write(specs, "lease", [statement(), statement()])
    assert (
        "already used in specs/statements/lease.yaml; give the statement an id of its own"
        in problems(specs)[0]
    )


def test_a_retired_id_is_never_used_again(specs: Path) -> None:
    retired = [{"id": "ns.lease.expires", "since": "0.1", "why": "split in two"}]
    (specs / "retired.yaml").write_text(yaml.safe_dump(retired), encoding="utf-8")
    assert problems(specs) == [
        "specs/statements/lease.yaml ns.lease.expires: this id was retired (split in two); "
        "ids are never reused: choose a new one"
    ]


def test_all_problems_are_said_at_once(specs: Path) -> None:
    write(specs, "lease", [statement(level="x"), statement("ns.lease.b", text="short")])
    write(specs, "kv", {"not": "a list"})
    (specs / "statements" / "routes.yaml").write_text("- id: [", encoding="utf-8")
    (specs / "profiles" / "5.3.yaml").write_text(
        'name: "5.4"\ntitle: x\nreference: 5.4.0\nroles: [nameserver]\ntext: x\n'
    )
    found = "\n".join(problems(specs))
    assert (
        "specs/statements/routes.yaml:1: not YAML" in found
        or "specs/statements/routes.yaml:2: not YAML" in found
    )
    assert "specs/statements/kv.yaml: {'not': 'a list'} is not of type 'array'" in found
    assert "ns.lease.expires: level" in found
    assert "ns.lease.b: text" in found
    assert "specs/profiles/5.3.yaml: it is named '5.4'; name the file 5.4.yaml" in found


def test_an_empty_catalogue_is_no_catalogue(specs: Path) -> None:
    (specs / "statements" / "lease.yaml").unlink()
    assert "no statement" in problems(specs)[0]


def test_a_file_that_is_no_text(specs: Path) -> None:
    (specs / "statements" / "lease.yaml").write_bytes(b"\xff\xfe\x00")
    assert "specs/statements/lease.yaml" in problems(specs)[0]


def test_the_catalogue_of_this_installation_loads() -> None:
    found = catalogue()
    assert len(found.statements) >= 90
    assert {one.name for one in found.profiles} == {"4.9", "5.3", "5.5"}
    assert catalogue() is found
