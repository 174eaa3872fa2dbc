"""The page: what fails, how often, why, what was never reached, what got worse.

Invariants:

1. Every number on the page comes from the tables and stands with its denominator.
2. The page loads nothing. Links lead within it, and to the files of the tables beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from harness.catalogue import Statement
from harness.findings.words import step_words
from harness.mining.page import measures, sections
from harness.mining.page.amounts import Row, count, percent, share
from harness.mining.page.grids import Tables
from harness.mining.stats.proportions import rule_of_three
from harness.program.steps import decode_step
from harness.report.templating import filled
from harness.report.text import plural

_MOST = 200
"""Findings on the page."""
_STEPS = 60
_OUTCOMES = (
    ("passed", "passed", "pass"),
    ("failed", "failed", "fail"),
    ("quirk", "named quirks", "quirk"),
    ("flaky", "flaky", "flaky"),
    ("timeout", "timed out", "blocked"),
    ("died", "target died", "fail"),
    ("error", "harness errors", "error"),
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


class _Finding(msgspec.Struct, frozen=True):
    row: Row
    statement: Statement | None
    """None where this version does not know it."""
    often: str
    steps: list[str]


def headline(tables: Tables) -> tuple[str, str]:
    """The result in a few words, and its tone: ``3 findings``, ``fail``."""
    populations, findings = tables["populations"], tables["findings"]
    if not populations:
        return "Nothing was mined", "blocked"
    if findings:
        return plural(len(findings), "finding"), "fail"
    if any(_sum(populations, name) for name in ("died", "error", "timeout")):
        return "Nothing failed, but some runs were not measured", "blocked"
    return "Nothing failed", "pass"


def render(tables: Tables, statements: Mapping[str, Statement], about: About) -> str:
    """The page. ``tables`` are the rows of each table of mining, by its name."""
    populations = tables["populations"]
    words, tone = headline(tables)
    runs_of: Counter[str] = Counter()
    failed_of: Counter[str] = Counter()
    for row in populations:
        runs_of[row["target"]] += row["runs"]
        failed_of[row["target"]] += row["failed"]
    silent = sections.silent(tables, about.against)
    return filled(
        "mining/page/templates/mine.html.j2",
        empty=[*silent, *(() if silent else ("nothing",))],
        said=list(silent.values()),
        about=about,
        headline=words,
        tone=tone,
        runs=runs_of.total(),
        runs_of=runs_of,
        failed_runs=failed_of.total(),
        clean_targets=sum(not failed for failed in failed_of.values()),
        facts=_facts(populations),
        outcomes=[
            (_sum(populations, name), words, tone)
            for name, words, tone in _OUTCOMES
            if _sum(populations, name) or name in ("passed", "failed")
        ],
        findings=[
            _Finding(
                row,
                statements.get(row["statement"]),
                often(row, runs_of[row["target"]]),
                readable(row["program"] or ""),
            )
            for row in tables["findings"][:_MOST]
        ],
        all_findings=len(tables["findings"]),
        row_counts={name: len(rows) for name, rows in tables.items()},
        share=share,
        percent=percent,
        rule_of_three=rule_of_three,
        rates=sections.rates(tables),
        changes=sections.changes(tables),
        reasons=sections.reasons(tables),
        unreached=sections.unreached(tables),
        states=measures.states(tables),
        followers=measures.followers(tables),
        latency=measures.latency(tables),
        flaky=measures.flaky(tables),
        divergences=measures.divergences(tables),
        mutants=measures.mutants(tables),
        populations=measures.populations(tables),
    )


def often(row: Row, runs: int) -> str:
    """``12 of 2,000 runs (0.6 %)``."""
    return f"{share(row['runs'], runs)} runs ({percent(row['runs'] / runs if runs else None)})"


def readable(program: str) -> list[str]:
    """The steps of a program (JSON lines) in words, the first of many; an unknown step stays as it is."""
    lines = []
    for number, line in enumerate(program.splitlines(), 1):
        try:
            step = decode_step(line)
        except (msgspec.DecodeError, UnicodeError):
            lines.append(f"{number:>3}  {line}")
        else:
            lines.append(f"{number:>3}  {getattr(step, 'conn', ''):<4} {step_words(step)}")
    more = [f"  … and {len(lines) - _STEPS} more"] if len(lines) > _STEPS else []
    return [*lines[:_STEPS], *more]


def _facts(populations: Sequence[Row]) -> list[str]:
    return [
        *sorted({f"role {row['role']}" for row in populations}),
        _named(sorted({row["target"] for row in populations}), "target"),
        _named(sorted({row["campaign"] for row in populations}), "campaign"),
        plural(_sum(populations, "steps"), "step"),
        f"{count(round(_sum(populations, 'elapsed_s')))} s of run time",
    ]


def _named(names: Sequence[str], noun: str) -> str:
    return f"{noun} {names[0]}" if len(names) == 1 else plural(len(names), noun)


def _sum(rows: Iterable[Row], name: str) -> int:
    return sum(row[name] for row in rows)
