"""What holds of every page: one design, valid, readable by everybody, and whole on a phone."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import browser
import pytest
from all_pages import PAGES
from pages import Page, mistakes_of, style_of

PACKAGE = Path(__file__).resolve().parents[3] / "harness"
BASE = "report/templates/page.html.j2"
PALETTE = (PACKAGE / "report/templates/palette.css").read_text(encoding="utf-8")
SCHEMES = dict(zip(("light", "dark", "print"), re.findall(r":root \{([^}]*)\}", PALETTE), strict=True))
TEXT = ("ink", "soft", "pass", "fail", "warn", "info", "none", "error")


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> str:
    return PAGES[request.param]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, browser.Measured]:
    return browser.measured(PAGES, tmp_path_factory.mktemp("browser"))


def test_it_is_valid(page: str) -> None:
    assert mistakes_of(page) == []


def test_it_has_a_language_a_title_and_landmarks(page: str) -> None:
    parsed = Page(page)
    tags = [tag for tag, _ in parsed.elements]
    assert [attrs["lang"] for tag, attrs in parsed.elements if tag == "html"] == ["en"]
    assert parsed.texts["title"][0].endswith(" · rmq-harness")
    assert [tags.count(one) for one in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]


def test_its_first_link_skips_to_the_results(page: str) -> None:
    parsed = Page(page)
    first = next(attrs for tag, attrs in parsed.elements if tag == "a")
    assert first["href"] == "#main"
    assert ("main", {"id": "main"}) in parsed.elements


def test_its_headings_go_down_one_at_a_time(page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(page).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))


def test_it_loads_nothing_and_obeys_no_target(page: str) -> None:
    names = {name for _, attrs in Page(page).elements for name in attrs}
    assert not {"src", "srcset", "action", "poster"} & names
    assert "url(" not in page and "@import" not in page
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page


def test_nothing_is_said_to_the_mouse_alone(page: str) -> None:
    """A title that is shown to who points at something says nothing that stands nowhere else."""
    assert all("title" not in attrs for _, attrs in Page(page).elements)


def test_counts_agree_with_their_nouns(page: str) -> None:
    text = " ".join(itertools.chain.from_iterable(Page(page).texts.values()))
    nouns = "cases|causes|failures|findings|steps|programs|rounds|targets|statements|answers|deaths|times"
    assert not re.findall(rf"(?<![\d,.])1 (?:more |other )?(?:{nouns})\b", text)
    assert not re.findall(rf"\b0 (?:{nouns.replace('s|', '|').removesuffix('s')})\b(?!s)", text)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in ("unreachable", "interrupted")])
def test_what_is_wrong_stands_before_what_is_counted(name: str) -> None:
    headings = re.findall(r"<h2>(.*?) ?<small>", PAGES[name])
    if "Causes" in headings:
        assert headings[0] == "Causes"


# --- one design ---------------------------------------------------------------------------------------------


def test_one_template_begins_every_page() -> None:
    templates = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.html.j2")
    }
    assert [name for name, text in templates.items() if "<html" in text] == [BASE]
    pages = {name for name, text in templates.items() if "{% block title %}" in text}
    assert pages == {name for name, text in templates.items() if f'{{% extends "{BASE}" %}}' in text}
    assert len(pages) == 5


def test_colours_stand_in_the_palette_alone() -> None:
    names = set(re.findall(r"--([a-z-]+):", PALETTE))
    for scheme in SCHEMES.values():
        assert set(re.findall(r"--([a-z-]+):", scheme)) == names
    for path in (*PACKAGE.rglob("*.css"), *PACKAGE.rglob("*.html.j2")):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"var\(--([a-z-]+)\)", text)) <= names, path
        if path.name != "palette.css":
            assert not re.search(r":[^;{}\n\"]*(#[0-9a-fA-F]{3,8}\b|rgb\(|hsl\()", text), path


def _luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_colour_of_text_stands_out_from_its_ground(scheme: str) -> None:
    """WCAG AA: at least 4.5 to 1, on the page, on a panel, inside a mark and beside a failure."""
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+);", SCHEMES[scheme]))
    pairs = [(name, ground) for name in TEXT for ground in ("ground", "panel")]
    pairs += [("marked-ink", "mark"), *((name, "fail-ground") for name in ("fail", "ink", "soft"))]
    for name, ground in pairs:
        assert _contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


# --- in a browser -------------------------------------------------------------------------------------------


@browser.needed
@pytest.mark.parametrize("name", PAGES)
def test_it_does_not_scroll_sideways_on_a_phone(name: str, seen: dict[str, browser.Measured]) -> None:
    assert seen[name].beyond == 0, seen[name].widest


@browser.needed
@pytest.mark.parametrize("name", PAGES)
def test_a_browser_understands_every_rule_of_its_style(name: str, seen: dict[str, browser.Measured]) -> None:
    assert seen[name].rules == style_of(PAGES[name]).count("{")


@browser.needed
@pytest.mark.parametrize("name", PAGES)
def test_whatever_has_the_focus_shows_it(name: str, seen: dict[str, browser.Measured]) -> None:
    assert seen[name].unmarked == []
