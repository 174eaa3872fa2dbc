"""Words and small pieces of text that all reports share, so that one thing has one name everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.report.results import Failure, RunHeader, StatementSummary, Verdict
from harness.trace import LINE_BREAK

if TYPE_CHECKING:
    from harness.report.verdicts import Summary

_LONGEST = 3_000
"""Characters of a text on a page; the trace has all."""

_WORDS = {
    Verdict.PASS: ("passed", "passed"),
    Verdict.FAIL: ("failed", "failed"),
    Verdict.XFAIL: ("known failure", "known failures"),
    Verdict.XPASS: ("stale known failure", "stale known failures"),
    Verdict.QUIRK: ("quirk", "quirks"),
    Verdict.DEVIATES: ("deviates", "deviate"),
    Verdict.OBSERVED: ("observed", "observed"),
    Verdict.UNSUPPORTED: ("unsupported", "unsupported"),
    Verdict.LATER: ("not in this release", "not in this release"),
    Verdict.BLOCKED: ("blocked", "blocked"),
    Verdict.FLAKY: ("flaky", "flaky"),
    Verdict.ERROR: ("harness error", "harness errors"),
}


def counted(number: int, verdict: Verdict) -> str:
    """``3 passed``, ``1 deviates``, ``2 harness errors``."""
    return f"{number} {_WORDS[verdict][number != 1]}"


def verdict_words(verdict: str) -> str:
    """``failed``, ``not in this release``: one case with this verdict."""
    return _WORDS[Verdict(verdict)][0]


def plural(number: int, noun: str, several: str = "") -> str:
    """``1 run``, ``2,000 runs``; ``several`` is the plural of a noun that takes no s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def shortened(value: str, longest: int = _LONGEST) -> str:
    """The text without its middle where it is longer than that, which says how much is left out."""
    more = len(value) - longest
    if more <= 0:
        return value
    return f"{value[: longest * 2 // 3]} …({more:,} more characters)… {value[-(longest // 3) :]}"


VERDICT_HELP = {
    Verdict.PASS: "every expectation was met",
    Verdict.FAIL: "a MUST is broken (or a SHOULD, in a strict run)",
    Verdict.XFAIL: "fails as the baseline of known failures says",
    Verdict.XPASS: "passes although the baseline says that it fails: the baseline is stale",
    Verdict.QUIRK: "breaks the catalogue as this very server is known to: a defect of its own with a name",
    Verdict.DEVIATES: "allowed, but not what is recommended or what Apache's server does",
    Verdict.OBSERVED: "a MAY that the target does not use",
    Verdict.UNSUPPORTED: "the target does not offer it; nothing was measured",
    Verdict.LATER: "came with a later release of this server; nothing was measured",
    Verdict.BLOCKED: "could not be measured: its setup failed or the target had gone",
    Verdict.FLAKY: "failed once and did not fail again",
    Verdict.ERROR: "the harness itself failed; nothing is said about the target",
}

SIGNS: dict[str, str] = {
    Verdict.PASS: "✔",
    Verdict.FAIL: "✘",
    Verdict.XFAIL: "⊘",
    Verdict.XPASS: "✘",
    Verdict.QUIRK: "≠",
    Verdict.DEVIATES: "≈",
    Verdict.OBSERVED: "○",
    Verdict.UNSUPPORTED: "–",
    Verdict.LATER: "◌",
    Verdict.BLOCKED: "■",
    Verdict.FLAKY: "∿",
    Verdict.ERROR: "!",
    "not-run": "…",
}
"""What stands beside the colour of each verdict, and of what was not run."""

_ALWAYS = (Verdict.PASS, Verdict.FAIL, Verdict.BLOCKED)

# Controls (line breaks and tabs too), and the marks that turn the direction of text: a target chose the text,
# and a terminal or a page would obey them.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


def visible(text: str, *, keep_lines: bool = False) -> str:
    """Text that a terminal, XML or HTML takes for nothing but text: control characters become escapes."""
    return _CONTROLS.sub(lambda found: _escape(found[0], keep_lines), text)


def _escape(character: str, keep_lines: bool) -> str:
    if character == "\n":
        return "\n" if keep_lines else LINE_BREAK
    if character in "\t\r":
        return {"\t": r"\t", "\r": r"\r"}[character]
    return f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{ord(character):04x}"


def clock_words(header: RunHeader) -> str:
    """How protocol time passed in this run."""
    if header.clock == "virtual":
        return "virtual time"
    if header.clock == "warped":
        return f"time runs at ×{header.warp:g}"
    return "real time, one shared wait" if any(case.waits for case in header.cases) else "real time"


def duration(value: float) -> str:
    """``40 s``, ``2 min 20 s``, ``1 h 5 min``: as exact as an estimate can be."""
    if value < 60:
        return f"{max(1, round(value))} s"
    minutes, rest = divmod(round(value / 5) * 5, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def seconds(value: float) -> str:
    """``0.4 s``, ``131.2 s``."""
    return f"{value:.1f} s"


def source_line(failure: Failure | StatementSummary) -> str:
    """Where a statement comes from: Apache's code, the servers on which it was seen, upstream issues."""
    parts = [", ".join(failure.source)] if failure.source else []
    if failure.observed:
        parts.append("observed on Apache " + in_words(failure.observed))
    if failure.issues:
        parts.append("see " + ", ".join(failure.issues))
    return "; ".join(parts)


def fixed(failure: Failure) -> str:
    """Which later releases of the server mend a failure: ``in 4.9.4 (apache/rocketmq#4263)``."""
    return "; ".join(f"in {one}" for one in failure.fixes)


def difference(failure: Failure, longest: int | None = None) -> str:
    """What was expected, and what came: ``expected closed or no reply; actual reply SUCCESS (0)``.

    Each is cut to `longest` characters.
    """
    expected = cut(" or ".join(failure.expected.splitlines()), longest)
    return f"expected {expected}; actual {cut('; '.join(failure.actual.splitlines()), longest)}"


def cut(value: str, longest: int | None) -> str:
    """At most `longest` characters of a text; an ellipsis replaces the last one where something is cut."""
    return value if longest is None or len(value) <= longest else value[: longest - 1] + "…"


def issue_link(issue: str) -> str:
    """Where people read about an upstream issue: GitHub, Apache's older tracker, or the list of CVEs."""
    repository, mark, number = issue.partition("#")
    if issue.startswith("CVE-"):
        return f"https://www.cve.org/CVERecord?id={issue}"
    if not mark:
        return f"https://issues.apache.org/jira/browse/{issue}"
    return f"https://github.com/{repository}/issues/{number}"


def tally(summary: Summary) -> str:
    """``229 passed · 1 failed · 0 blocked · 0 not run, of 231``: nought is said too where it matters."""
    cases = summary.cases
    parts = [counted(cases[verdict], verdict) for verdict in Verdict if cases[verdict] or verdict in _ALWAYS]
    return " · ".join([*parts, f"{cases.not_run} not run"]) + f", of {cases.total}"


def not_again(header: RunHeader) -> str:
    """``not tried again (--failed): 195 passed · 55 unsupported``; empty where all that was selected ran."""
    counts = " · ".join(counted(number, verdict) for verdict, number in header.not_tried_again.items())
    return f"not tried again (--failed): {counts}" if counts else ""


def in_words(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def class_line(summary: Summary) -> str:
    """How many cases hold, in all and of each class: ``203 of 264 cases hold ✘   essential 142 of 176 ✘``."""
    cases = summary.cases
    parts = [f"{cases.holding} of {plural(cases.total, 'case')} hold {cases.mark}"]
    parts += [
        f"{name} {one.holding} of {one.total} {one.mark}"
        for name, one in summary.classes.items()
        if one.total
    ]
    return "   ".join(parts)
