"""Findings as cards: what fails, in the catalogue's words, how often, and the few steps that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from harness.catalogue import Statement
from harness.findings.words import step_words
from harness.mining.page.amounts import Row, count, percent, plural, share
from harness.program.steps import decode_step
from harness.report.markup import Markup, element, join

__all__ = ["cards", "often", "readable"]

_OPEN = 1
_SHOWN, _MOST = 12, 200
_STEPS = 60


def cards(findings: Sequence[Row], runs: Mapping[str, int], statements: Mapping[str, Statement]) -> Markup:
    """A card for each finding, the first of them open. ``runs``: how many there were of each target."""
    made = [
        _card(row, runs.get(row["target"], 0), statements.get(row["statement"]), open_=at < _OPEN)
        for at, row in enumerate(findings[:_MOST])
    ]
    if len(findings) <= _SHOWN:
        return join(made)
    more = element("summary", f"The {plural(len(findings) - _SHOWN, 'finding')} that fewer runs show")
    left = len(findings) - len(made)
    note = element("p", f"{left:,} more are in tables/findings.csv.", class_="note") if left else None
    rest = element("details", more, element("div", *made[_SHOWN:], note, class_="inside"))
    return join([*made[:_SHOWN], rest])


def often(row: Row, runs: int) -> str:
    """``12 of 2,000 runs (0.6 %)``."""
    return f"{share(row['runs'], runs)} runs ({percent(row['runs'] / runs if runs else None)})"


def readable(program: str) -> list[str]:
    """The steps of a program (JSON lines) in words; one that is no step of ours stays as it is."""
    lines = []
    for number, line in enumerate(program.splitlines(), 1):
        try:
            step = decode_step(line)
        except (msgspec.DecodeError, UnicodeError):
            lines.append(f"{number:>3}  {line}")
        else:
            lines.append(f"{number:>3}  {getattr(step, 'conn', ''):<4} {step_words(step)}")
    return lines


def _card(row: Row, runs: int, statement: Statement | None, *, open_: bool) -> Markup:
    level = statement.level if statement is not None else ""
    text = (
        statement.text if statement is not None else "This statement is not in the catalogue of this version."
    )
    return element(
        "details",
        element(
            "summary",
            element("span", f"{often(row, runs)}", class_="level"),
            element("strong", f"✘ {row['statement']}", class_="mono fail"),
            element("span", text, class_="line"),
            element("span", f"{row['target']} · {row['rules']}", class_="note"),
        ),
        element("div", _facts(row, level), _steps(row), class_="inside"),
        id=f"finding-{row['finding']}",
        open=open_,
    )


def _facts(row: Row, level: str) -> Markup:
    shown, tried = row["confirmed_shown"], row["confirmed_tried"]
    facts = [
        ("level", level),
        ("broken", row["invariant"]),
        ("anomaly", row["anomaly"]),
        ("expected", row.get("expected")),
        ("seen", row.get("actual")),
        ("mutant", row["mutant"]),
        ("confirmed", f"showed again {share(shown, tried)} times on fresh targets" if tried else None),
        ("seeds", row["seeds"]),
        ("trace", row["trace"]),
        ("replay", row["replay"]),
    ]
    plain = ("level", "expected", "seen", "confirmed")
    pairs = [
        join([element("dt", name), element("dd", value, class_=None if name in plain else "mono")])
        for name, value in facts
        if value
    ]
    return element("dl", *pairs, class_="facts")


def _steps(row: Row) -> Markup:
    size = f"{count(row['shortest_steps'])} steps of seed {row['seed']}"
    if not row["program"]:
        kinds = element("p", row["rules"], class_="mono")
        return join(
            [element("h3", f"The last kinds of step of the shortest run that shows it ({size})"), kinds]
        )
    lines = readable(row["program"])
    more = [f"  … and {len(lines) - _STEPS} more"] if len(lines) > _STEPS else []
    made = "made small" if row["shrunk"] else "as it was found"
    steps = element("pre", "\n".join([*lines[:_STEPS], *more]), class_="steps", tabindex=0)
    return join([element("h3", f"The shortest program that shows it, {made} ({size})"), steps])
