"""A badge for a README: what was judged, and how much of it holds, of how much.

Invariants:

1. The first number has its denominator: all cases that apply under the profile, selected or not. A part of
   the catalogue cannot look like the whole. The classes follow it, where all of these cases were planned.
2. No badge is drawn from a run that settles nothing (inconclusive, interrupted, failed in the harness): it
   would claim what was never measured.
3. The colour repeats the outcome; it is never the only sign of it.
"""

from __future__ import annotations

import msgspec

from harness.report.results import Run
from harness.report.templating import filled
from harness.report.verdicts import Summary, summarize

_GREEN, _YELLOW, _RED = "#2a7f3e", "#8a6100", "#b42318"
_MARGIN = 6
_NARROW, _WIDE = "fijlrt.,:·|/ 1", "mwMWNRQOS"


class BadgeRefusedError(Exception):
    """No badge is drawn from this run; the message says why."""


class _Side(msgspec.Struct, frozen=True):
    words: str

    @property
    def width(self) -> int:
        """Room for the words, in pixels: near enough, `textLength` does the rest."""
        units = sum(4.0 if letter in _NARROW else 9.0 if letter in _WIDE else 7.0 for letter in self.words)
        return round(units) + 2 * _MARGIN


def text(run: Run) -> tuple[str, str]:
    """What the badge says: its left side and its right side.

    Raises:
        BadgeRefusedError: the run settles nothing.
    """
    summary = summarize(run)
    if summary.exit_status not in (0, 1):
        raise BadgeRefusedError(f"the run is {summary.conclusion}: {summary.why}")
    whole = f"{summary.cases.holding}/{summary.cases_available}"
    is_whole = summary.cases.total == summary.cases_available
    classes = summary.classes.items() if is_whole else ()
    parts = [f"{name} {one.holding}/{one.total}" for name, one in classes if one.total]
    return f"RocketMQ {run.header.judged}", " · ".join([whole, *parts])


def render(run: Run) -> str:
    """The badge as SVG.

    Raises:
        BadgeRefusedError: the run settles nothing.
    """
    left, right = map(_Side, text(run))
    summary = summarize(run)
    return filled(
        "report/templates/badge.svg.j2",
        left=left,
        right=right,
        colour=_colour(summary),
        conclusion=summary.headline,
    )


def _colour(summary: Summary) -> str:
    """Red where it does not conform; green where all of the catalogue holds; yellow between the two."""
    if summary.exit_status:
        return _RED
    return _GREEN if summary.cases.holding == summary.cases_available else _YELLOW
