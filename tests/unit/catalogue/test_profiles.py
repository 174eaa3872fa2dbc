"""Profiles: what a file inherits, which releases belong to a line, and what does not load."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.catalogue import (
    default_profile,
    nearest_line,
    profile_named,
    profiles,
    release_line,
    specs_directory,
)
from harness.catalogue.errors import CatalogueError
from harness.catalogue.profiles import load_profiles


def loaded(tmp_path: Path, name: str = "5.6", **changes: Any) -> tuple[dict[str, Any], list[str]]:
    """The profiles with one more, and what is wrong with them."""
    specs = tmp_path / "specs"
    for part in ("schema", "profiles"):
        shutil.copytree(specs_directory() / part, specs / part, dirs_exist_ok=True)
    told = {"name": name, "title": "t", "reference": f"{name}.0", "text": "x", "base": "5.5", **changes}
    (specs / "profiles" / f"{name}.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    problems: list[CatalogueError] = []
    found = load_profiles(specs, problems)
    return {one.name: one for one in found}, [str(one) for one in problems]


def test_a_profile_inherits_what_it_does_not_say(tmp_path: Path) -> None:
    found, problems = loaded(tmp_path, scan_interval=7, features=["zones"])
    assert problems == []
    assert list(found) == ["4.9", "5.3", "5.5", "5.6"]
    new, base = found["5.6"], found["5.5"]
    assert (new.scan_interval, base.scan_interval) == (7, 5)
    assert (new.lease, new.engine, new.roles, new.features) == (
        base.lease,
        base.engine,
        base.roles,
        base.features,
    )
    assert (new.title, new.first, new.default) == ("t", "5.6.0", False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"base": "5.4"},
            "specs/profiles/5.6.yaml: there is no base '5.4'; profiles are: 4.9, 5.3, 5.5, 5.6",
        ),
        ({"base": "5.6"}, "its base 5.6 is not older; inherit from an older line"),
        ({"features": ["zone"]}, "there is no feature 'zone'; features are: acting-master"),
        ({"default": True}, "2 profiles say `default: true`; let one profile say it"),
        ({"lease": 0}, "lease: 0 is less than or equal to the minimum of 0"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    assert said in loaded(tmp_path, **changes)[1][0]


def test_the_lines_of_this_installation() -> None:
    assert [one.name for one in profiles()] == ["4.9", "5.3", "5.5"]
    assert [one.name for one in profiles("broker")] == ["4.9", "5.3", "5.5"]
    assert default_profile().name == "5.3"
    assert not profile_named("4.9").has("zones")
    assert profile_named("5.5").has("zones")


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("3.5.8", "4.9"),
        ("4.9.8", "4.9"),
        ("5.0.0", "5.3"),
        ("5.3.3", "5.3"),
        ("5.4.0", "5.5"),
        ("6.0.0", "5.5"),
    ],
)
def test_a_release_belongs_to_a_line(version: str, line: str) -> None:
    assert release_line(version).name == line


def test_the_nearest_line_that_is_known() -> None:
    assert nearest_line("5.5", ["4.9", "5.3"]) == "5.3"
    assert nearest_line("5.3", {"4.9": 1, "5.3": 2}) == "5.3"
    with pytest.raises(KeyError):
        nearest_line("4.9", ["5.3"])
