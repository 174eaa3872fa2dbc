"""The page: what fails, how often, why, what was never reached, what got worse.

Rules of this module:

1. The first screen answers these questions in a line each, with denominators, and links to the rest.
2. Everything is made of the tables: nothing is counted here that is not in one.
3. The page loads nothing. Links lead within it, and to the files of the tables beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from harness.catalogue import Statement
from harness.mining.page import figure, parts
from harness.mining.page.amounts import Row, count, percent, plural, share
from harness.mining.page.cards import cards, often
from harness.mining.page.parts import Tables, link, section
from harness.mining.page.sections import never_judged, never_met, sections
from harness.report.markup import Child, Markup, element, join
from harness.report.page import document

__all__ = ["About", "headline", "render"]

_TOP = 5
_OUTCOMES = (
    ("passed", "passed", "pass"),
    ("failed", "failed", "fail"),
    ("quirk", "named quirks", "quirk"),
    ("flaky", "flaky", "flaky"),
    ("timeout", "out of time", "blocked"),
    ("died", "target died", "fail"),
    ("error", "harness errors", "error"),
)
_NAV = (
    ("findings", "Findings"),
    ("rates", "How often"),
    ("changes", "What got worse"),
    ("reasons", "What goes before"),
    ("unreached", "Never reached"),
    ("states", "States"),
    ("followers", "Transitions"),
    ("latency", "Latency"),
    ("flaky", "Flaky"),
    ("divergences", "Targets"),
    ("mutants", "Mutants"),
    ("populations", "What was mined"),
    ("tables", "Tables"),
)


class About(msgspec.Struct, frozen=True):
    """What a page is about, beside its tables."""

    root: str
    against: str | None
    suite: str
    """Version of the harness."""
    command: Sequence[str] = ()
    troubles: Sequence[tuple[str, str]] = ()
    """What could not be read: a path, and why."""


def headline(tables: Tables) -> tuple[str, str]:
    """The result in a few words, and its tone: ``3 findings``, ``fail``."""
    populations, findings = tables["populations"], tables["findings"]
    if not populations:
        return "Nothing was mined", "blocked"
    if findings:
        return plural(len(findings), "finding"), "fail"
    if _sum(populations, "died") or _sum(populations, "error") or _sum(populations, "timeout"):
        return "Nothing failed, not all was measured", "blocked"
    return "Nothing failed", "pass"


def render(tables: Tables, statements: Mapping[str, Statement], about: About) -> str:
    """The page. ``tables`` are the rows of each table of mining, by its name."""
    words, tone = headline(tables)
    body = (
        join([_findings(tables, statements), sections(tables, against=about.against), _files(tables)])
        if tables["populations"]
        else None
    )
    return document(
        f"{words} · rmq-harness mine",
        _first_screen(tables, statements, about, words, tone),
        element("main", body),
        _footer(about),
        style=parts.STYLE + figure.STYLE,
    )


# --- the first screen ---------------------------------------------------------------------------------------


def _first_screen(
    tables: Tables, statements: Mapping[str, Statement], about: About, words: str, tone: str
) -> Markup:
    populations = tables["populations"]
    runs = _sum(populations, "runs")
    outcomes = [
        element("li", element("b", count(_sum(populations, name))), f" {said}", class_=css)
        for name, said, css in _OUTCOMES
        if _sum(populations, name) or name in ("passed", "failed")
    ]
    targets = sorted({row["target"] for row in populations})
    campaigns = sorted({row["campaign"] for row in populations})
    facts = [
        _named(targets, "target"),
        _named(campaigns, "campaign"),
        plural(_sum(populations, "steps"), "step"),
        f"{count(round(_sum(populations, 'elapsed_s')))} s of running",
    ]
    return element(
        "header",
        element(
            "h1", element("span", words, class_=tone), " ", element("small", f"in {plural(runs, 'run')}")
        ),
        element(
            "p", " · ".join(facts) if populations else f"There are no runs in {about.root}.", class_="about"
        ),
        element("ul", *outcomes, element("li", f"of {plural(runs, 'run')}", class_="quiet"), class_="counts")
        if populations
        else None,
        _troubles(about),
        _answers(tables, statements, about) if populations else None,
        _nav(tables) if populations else None,
    )


def _troubles(about: About) -> Markup | None:
    if not about.troubles:
        return None
    lines = [element("li", element("code", path), f": {why}") for path, why in about.troubles]
    words = f"{plural(len(about.troubles), 'place')} could not be read, and nothing of it is counted below"
    return element(
        "details", element("summary", words, class_="blocked"), element("ul", *lines, class_="inside")
    )


def _answers(tables: Tables, statements: Mapping[str, Statement], about: About) -> Markup:
    answers: list[tuple[str, Child]] = [
        ("What fails", _what_fails(tables, statements)),
        ("How often", _how_often(tables)),
        ("What was never reached", _never(tables)),
        ("What got worse", _worse(tables, about)),
    ]
    pairs = [join([element("dt", name), element("dd", said)]) for name, said in answers]
    return element("dl", *pairs, class_="answers")


def _what_fails(tables: Tables, statements: Mapping[str, Statement]) -> Markup:
    findings = tables["findings"]
    if not findings:
        return Markup("Nothing.")
    runs = _runs_of(tables)
    items = []
    for row in findings[:_TOP]:
        statement = statements.get(row["statement"])
        text = statement.text if statement is not None else row["statement"]
        name = link(f"#finding-{row['finding']}", text)
        said = f" – {often(row, runs.get(row['target'], 0))}, {row['target']}"
        # Two findings may break one statement: the steps tell them apart.
        items.append(element("li", name, said, element("span", f"by {row['rules']}", class_="by")))
    more = len(findings) - _TOP
    if more > 0:
        items.append(element("li", link("#findings", f"and {plural(more, 'other finding')}")))
    return element("ul", *items)


def _how_often(tables: Tables) -> Markup:
    populations = tables["populations"]
    runs, failed = _sum(populations, "runs"), _sum(populations, "failed")
    if failed:
        by_target: dict[str, tuple[int, int]] = {}
        for row in populations:
            before = by_target.get(row["target"], (0, 0))
            by_target[row["target"]] = (before[0] + row["failed"], before[1] + row["runs"])
        clean = sum(not bad for bad, _ in by_target.values())
        said = f"{share(failed, runs)} runs failed ({percent(failed / runs)}); "
        said += f"{share(clean, len(by_target))} targets never did. "
        return join([said, link("#rates", "By statement, with intervals.")])
    return join([f"Never in {plural(runs, 'run')}: the true rate is below {percent(min(1.0, 3 / runs))}."])


def _never(tables: Tables) -> Markup:
    missed, goals = never_met(tables["goals"])
    unjudged, statements = never_judged(tables["coverage"])
    said = f"{share(len(missed), goals)} goals"
    if missed:
        names = sorted({row["goal"] for row in missed})
        said += f" ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
    said += f"; {share(len(unjudged), statements)} statements were judged in no run. "
    return join([said, link("#unreached", "Which.")])


def _worse(tables: Tables, about: About) -> Markup:
    if about.against is None:
        return Markup("Not asked: there was no earlier campaign to compare with (--against DIR).")
    rows = tables["regressions"]
    worse = [row for row in rows if row["verdict"] == "worse"]
    if not worse:
        return join([f"Nothing, of {plural(len(rows), 'comparison')} with {about.against}."])
    items = [
        element(
            "li",
            element("code", row["statement"] or "any failure"),
            f" on {row['target']}: {share(row['before_failed'], row['before_runs'])} before, "
            f"{share(row['after_failed'], row['after_runs'])} after",
        )
        for row in worse[:_TOP]
    ]
    last = element("li", link("#changes", f"{share(len(worse), len(rows))} comparisons are worse."))
    return element("ul", *items, last)


def _nav(tables: Tables) -> Markup:
    names = [(name, words) for name, words in _NAV if name != "mutants" or tables["mutants"]]
    items = [element("li", link(f"#{name}", words)) for name, words in names]
    return element("nav", element("ul", *items), aria_label="Sections")


# --- the rest -----------------------------------------------------------------------------------------------


def _findings(tables: Tables, statements: Mapping[str, Statement]) -> Markup:
    findings = tables["findings"]
    failed = _sum(tables["populations"], "failed")
    if not findings:
        content = element("p", "Nothing failed, so there is nothing to tell apart.", class_="quiet")
    else:
        content = cards(findings, _runs_of(tables), statements)
    return section(
        "findings",
        "Findings",
        f"{plural(len(findings), 'finding')} in {plural(failed, 'failing run')}",
        "Failing runs that break one statement of one target and come down to the same few steps are one "
        "finding. The steps are those of the shortest run that shows it; the replay line does it again.",
        content,
    )


def _files(tables: Tables) -> Markup:
    rows = [
        element(
            "tr",
            element("th", name, scope="row", class_="mono"),
            element("td", count(len(rows)), data_name="rows"),
            element(
                "td", link(f"tables/{name}.csv", "CSV"), " · ", link(f"tables/{name}.parquet", "Parquet")
            ),
        )
        for name, rows in tables.items()
    ]
    heads = [element("th", head, scope="col") for head in ("Table", "Rows", "Files beside this page")]
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="list")
    return section(
        "tables",
        "Tables",
        f"{len(tables)} tables",
        "Everything on this page is made of these, and of nothing else.",
        table,
    )


def _footer(about: About) -> Markup:
    facts = [f"rmq-harness {about.suite}", f"runs of {about.root}"]
    if about.against is not None:
        facts.append(f"compared with {about.against}")
    command = element("p", element("code", " ".join(about.command))) if about.command else None
    return element("footer", element("p", " · ".join(facts)), command)


def _named(names: Sequence[str], noun: str) -> str:
    return f"{noun} {names[0]}" if len(names) == 1 else plural(len(names), noun)


def _runs_of(tables: Tables) -> dict[str, int]:
    runs: dict[str, int] = {}
    for row in tables["populations"]:
        runs[row["target"]] = runs.get(row["target"], 0) + row["runs"]
    return runs


def _sum(rows: Iterable[Row], name: str) -> int:
    return sum(row[name] for row in rows)
