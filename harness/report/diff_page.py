"""What a comparison of two targets came to, as one HTML page and as Markdown.

Causes come first, those that hold back most at the top; what is explained is folded below them, and what was
not reached ends the page. No number stands without what it is a part of.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.report.divergence import Exchange
from harness.report.templating import filled, filled_markdown


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange that shows a cause."""

    exchange: Exchange
    what: tuple[str, ...]
    """The kinds of difference in it."""
    folder: str = ""
    """Where its finding lies, below the page; empty where it was not written."""
    confirmed: str = ""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Divergences with one explanation."""

    name: str
    times: int
    """Answers that showed it."""
    followed: int
    """Answers that differed behind it, about names that it had touched."""
    apart: bool
    """Whether the targets hold different states behind it."""
    examples: tuple[Shown, ...]
    explained: str = ""


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A named quirk that showed."""

    name: str
    what: str
    """What the server does."""
    steps: int
    """Steps that were about it."""
    times: int
    """Answers that it explained."""


class Death(msgspec.Struct, frozen=True, kw_only=True):
    """A server that died."""

    words: str
    folder: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    conclusion: str
    exit_status: int
    a: str
    b: str
    profile: str
    seed: str
    compare: Literal["meaning", "exact"]
    steps: int
    asked: int
    rounds: int
    seconds: float
    suite: str
    why: str = ""
    causes: tuple[Cause, ...] = ()
    """Those that nothing explains, what holds back most first."""
    releases: tuple[Cause, ...] = ()
    """Those that the reference of the two lines shows as well."""
    quirks: tuple[Explained, ...] = ()
    deaths: tuple[Death, ...] = ()
    more: int = 0
    """Answers that differed when no more causes were looked into."""
    unrepeated: int = 0
    remarks: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    """Requests and events that no program had."""
    avoided: tuple[str, ...] = ()
    """Kinds of steps that most rounds avoided, because the targets hold different states behind them."""

    @property
    def tone(self) -> str:
        """The verdict whose colour the conclusion has."""
        return {0: "pass", 1: "fail"}.get(self.exit_status, "blocked")

    @property
    def counts(self) -> list[tuple[int, str, str]]:
        """How many of each, in words, with the verdict whose colour they have."""
        rows = (
            (len(self.causes), ("cause", "causes"), "fail"),
            (len(self.deaths), ("death", "deaths"), "fail"),
            (len(self.quirks), ("quirk seen", "quirks seen"), "quirk"),
            (len(self.releases), ("difference between releases", "differences between releases"), "observed"),
            (self.unrepeated, ("did not show again", "did not show again"), "flaky"),
        )
        return [
            (number, words[number != 1], tone) for number, words, tone in rows if number or tone != "flaky"
        ]

    @property
    def written(self) -> int:
        """Findings that have a folder."""
        return len(self.deaths) + sum(bool(one.folder) for cause in self.causes for one in cause.examples)

    @property
    def unwritten(self) -> int:
        """Findings that have none."""
        return sum(not one.folder for cause in self.causes for one in cause.examples)


def html(comparison: Comparison) -> str:
    """The page."""
    return str(filled("report/templates/diff.html.j2", run=comparison))


def markdown(comparison: Comparison) -> str:
    """The same as Markdown."""
    return filled_markdown("report/templates/diff.md.j2", run=comparison)
