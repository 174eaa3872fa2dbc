"""ARCHITECTURE.md: its picture shows the floors that import-linter enforces, and its paths exist.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/test_architecture.py` draws the picture anew.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import jinja2

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "architecture.svg"
WIDTH, FLOOR, LEFT, GAP = 980, 72, 44, 12

PURPOSES = {
    "harness.cli": "the commands",
    "harness.mining": "campaigns on Spark, statistics, the page of mining",
    "harness.engine": "random programs: generators, executor, oracles, coverage",
    "harness.pytest_plugin": "runs the cases under pytest",
    "harness.findings": "confirm, minimise, write down",
    "harness.pytest_fixtures": "for tests of servers",
    "harness.pytest_rocketmq": "for tests of applications",
    "harness.targets": "systems under test: start, stop, restart",
    "harness.control": "the same over HTTP",
    "harness.testing": "a RocketMQ for tests of applications",
    "harness.remarks": "what is wrong with clients",
    "harness.conformance": "the cases and their expectations",
    "harness.session": "requests, time, names",
    "harness.spec": "what is allowed",
    "harness.report": "records and renderers",
    "reference_impl": "a server of our own",
    "harness.program": "steps as data, damage, minimising",
    "harness.wire": "the codec: frames, headers, bodies",
    "harness.trace": "recorded bytes, captures",
    "harness.catalogue": "specs/, loaded and checked",
}


def layers() -> list[list[str]]:
    """The floors of import-linter, from top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (floors,) = (one["layers"] for one in contracts if one["type"] == "layers")
    return [[name.strip(" ()") for name in re.split("[|:]", floor)] for floor in floors]


def picture() -> str:
    floors = []
    for at, names in enumerate(layers()):
        share = (WIDTH - LEFT - 16 - GAP * (len(names) - 1)) / len(names)
        boxes = [
            {
                "name": name.removeprefix("harness."),
                "purpose": PURPOSES[name],
                "x": round(LEFT + number * (share + GAP)),
                "width": round(share),
            }
            for number, name in enumerate(names)
        ]
        floors.append({"number": len(layers()) - at, "y": 8 + at * FLOOR, "boxes": boxes})
    template = (Path(__file__).parent / "architecture.svg.j2").read_text()
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(template).render(
        width=WIDTH, height=16 + FLOOR * len(floors), floors=floors
    )


def test_the_picture_shows_the_floors() -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        PICTURE.write_text(picture(), encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == picture(), "draw it anew with UPDATE_SNAPSHOTS=1"


def test_every_package_has_a_purpose_and_a_floor() -> None:
    assert {name for floor in layers() for name in floor} == set(PURPOSES)


def test_every_path_in_the_page_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tops = "harness|reference_impl|specs|tests|bench|ci|docs|fixtures"
    paths = re.findall(rf"`((?:{tops})/[^`]*)`", text)
    assert paths
    assert [path for path in paths if "<" not in path and not any(ROOT.glob(path.rstrip("/")))] == []


def test_every_link_between_documents_leads_somewhere() -> None:
    for page in (ROOT / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\(((?!https?:)[^)#]*)(?:#([^)]*))?\)", text):
            file = (page.parent / target).resolve() if target else page
            assert file.exists(), f"{page.name}: {target}"
            if anchor and file.suffix == ".md":
                shown = file.read_text(encoding="utf-8")
                headings = re.findall(r"^#+ (.*)$", shown, re.MULTILINE)
                anchors = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
                anchors |= set(re.findall(r'<a id="([^"]+)">', shown))
                assert anchor in anchors, f"{page.name}: {target}#{anchor}"


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
