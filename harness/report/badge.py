"""A badge for a README: what was judged, and how much of it holds, of how much.

Rules of this module:

1. The text carries its denominator: all cases that apply under the profile, whether they were selected or
   not. A part of the catalogue cannot look like the whole.
2. No badge is drawn from a run that settles nothing (inconclusive, interrupted, failed in the harness): it
   would go on saying what nobody measured.
3. The colour says the outcome a second time, never alone.
"""

from __future__ import annotations

from harness.report.markup import element
from harness.report.results import Run, Verdict
from harness.report.verdicts import Summary, summarize

__all__ = ["BadgeRefusedError", "render", "text"]

_HOLDS = (Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED)
_GREEN, _YELLOW, _RED, _GREY = "#2a7f3e", "#8a6100", "#b42318", "#444c56"
_FONT = "Verdana,DejaVu Sans,Geneva,sans-serif"
_SIZE, _HEIGHT, _MARGIN = 11, 20, 6
_NARROW, _WIDE = "fijlrt.,:·|/ 1", "mwMWNRQOS"


class BadgeRefusedError(Exception):
    """No badge is drawn from this run; the message says why."""


def text(run: Run) -> tuple[str, str]:
    """What the badge says: its left side and its right side.

    Raises:
        BadgeRefusedError: the run settles nothing.
    """
    summary = summarize(run)
    if summary.exit_status not in (0, 1):
        raise BadgeRefusedError(f"the run is {summary.conclusion}: {summary.why}")
    hold = sum(summary.cases[verdict] for verdict in _HOLDS)
    return f"RocketMQ {run.header.judged}", f"{hold}/{summary.cases_available}"


def render(run: Run) -> str:
    """The badge as SVG.

    Raises:
        BadgeRefusedError: the run settles nothing.
    """
    left, right = text(run)
    first, second = _width(left), _width(right)
    whole = f"{left} · {right}"
    return (
        element(
            "svg",
            element("title", f"{whole} cases hold: {summarize(run).conclusion}"),
            element("rect", width=first + second, height=_HEIGHT, rx=3, fill=_GREY),
            element("path", d=_right_side(first, second), fill=_colour(summarize(run))),
            _label(left, first / 2, first),
            _label(right, first + second / 2, second),
            xmlns="http://www.w3.org/2000/svg",
            width=first + second,
            height=_HEIGHT,
            role="img",
            aria_label=whole,
        )
        + "\n"
    )


def _colour(summary: Summary) -> str:
    """Red where it does not conform; green where all of the catalogue holds; yellow between the two."""
    if summary.exit_status:
        return _RED
    hold = sum(summary.cases[verdict] for verdict in _HOLDS)
    return _GREEN if hold == summary.cases_available else _YELLOW


def _label(words: str, middle: float, width: int) -> str:
    return element(
        "text",
        words,
        x=f"{middle:g}",
        y=14,
        fill="#fff",
        text_anchor="middle",
        font_family=_FONT,
        font_size=_SIZE,
        textLength=width - 2 * _MARGIN,
    )


def _right_side(first: int, second: int) -> str:
    """The coloured part, with round corners on its right."""
    return f"M{first} 0h{second - 3}a3 3 0 0 1 3 3v{_HEIGHT - 6}a3 3 0 0 1-3 3h-{second - 3}z"


def _width(words: str) -> int:
    """Room for a text of this size, in pixels: near enough, `textLength` does the rest."""
    units = sum(4.0 if letter in _NARROW else 9.0 if letter in _WIDE else 7.0 for letter in words)
    return round(units) + 2 * _MARGIN
