"""What is wrong, on a terminal: causes, then failures in short; few failures in full.

Facts that a target chose pass through :class:`harness.report.console_lines.Lines`, which escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from harness.report.cause_words import (
    Causes,
    Explained,
    deed_lines,
    explained,
    holds_back,
    request_line,
    sent_lines,
)
from harness.report.console_lines import Lines
from harness.report.results import CaseResult, Failure, FieldLine, Run, RunHeader, Verdict
from harness.report.text import counted, cut, difference, fixed, plural, shortened, source_line, visible

VERDICT_STYLES: Final = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.XPASS: "bold red",
    Verdict.ERROR: "bold red",
    Verdict.QUIRK: "yellow",
    Verdict.BLOCKED: "yellow",
    Verdict.FLAKY: "yellow",
    Verdict.DEVIATES: "bold",
}
_REPEATED: Final = (Verdict.FAIL, Verdict.XPASS, Verdict.FLAKY, Verdict.ERROR)
_IN_FULL: Final = 3
"""Failures are shown in full where there are no more, and no case waits for them; so are deviations."""
_CAUSES: Final = 15
"""Causes that are shown with their exchange."""
_SHOWN_NAMES: Final = 8
_PART: Final = 420
"""Characters of a header or body that was sent."""
_SHORT: Final = 160
_VALUE: Final = 60
_LOG_LINES: Final = 8
_REMARKABLE: Final = (
    Verdict.DEVIATES,
    Verdict.OBSERVED,
    Verdict.XFAIL,
    Verdict.UNSUPPORTED,
    Verdict.LATER,
    Verdict.BLOCKED,
)
_FRAMING: Final = ("length", "serialize type", "header length", "serializeTypeCurrentRPC")


def print_wrong(lines: Lines, run: Run) -> None:
    """Everything that fails a run or makes it inconclusive, but for what was merely blocked."""
    found = explained(run)
    wrong = [result for result in run.results if result.verdict in _REPEATED]
    if _are_few(run, found):
        _in_full(lines, run.header, wrong)
        return
    if found.causes:
        lines.line("")
        lines.wrapped(found.sentence, style="bold")
    for one in found.causes[:_CAUSES]:
        _cause(lines, one)
    _other_causes(lines, found.causes[_CAUSES:])
    _in_short(lines, [result for result in wrong if result.verdict is Verdict.FAIL])
    _in_full(lines, run.header, [result for result in wrong if result.verdict is not Verdict.FAIL])


def _are_few(run: Run, found: Causes) -> bool:
    failed = sum(result.verdict is Verdict.FAIL for result in run.results)
    return failed <= _IN_FULL and not any(one.blocks for one in found.causes)


def _cause(lines: Lines, one: Explained) -> None:
    lines.line("")
    lines.ends(Text(f"{one.number}  {visible(one.title)}", "bold red"), holds_back(one), indent="   ")
    _sent(lines, one)
    lines.fact("expected", one.expected)
    lines.fact("actual", one.actual)
    lines.fact("frame", one.where)
    lines.fact("because", f"{one.because} ({one.statement})")
    _server_log(lines, one)
    lines.fact("cases", _names(one.cases))
    lines.fact("blocked", _names(one.blocked))
    lines.fact("again", one.again, continued=" \\")


def _sent(lines: Lines, one: Failure | Explained) -> None:
    """What was done, and what was sent: code, header and body, long ones without their middle, which the
    report has.
    """
    _parts(lines, "done", deed_lines(one))
    sent = one.sent if isinstance(one, Failure) else one
    _parts(lines, "sent", [] if sent is None else sent_lines(sent))


def _parts(lines: Lines, label: str, parts: Iterable[str]) -> None:
    for number, part in enumerate(parts):
        lines.fact("" if number else label, shortened(part, _PART))


def _other_causes(lines: Lines, others: Sequence[Explained]) -> None:
    if others:
        lines.line("")
        lines.line(f"{plural(len(others), 'more cause')} in short; the report shows each exchange:", "bold")
    for one in others:
        lines.wrapped(f"{one.number}  {visible(one.title)}: {holds_back(one)}", indent="    ")


def _in_short(lines: Lines, failed: list[CaseResult]) -> None:
    """A line for each failure; what does not fit on it is in the report."""
    if failed:
        lines.line("")
        lines.line(f"{plural(len(failed), 'failure')} in short; details are in the report:", "bold")
    for result in failed:
        what = difference(result.failure, _SHORT) if result.failure is not None else result.reason
        lines.line(cut(f"  ✘ {result.case}: {visible(what)}", lines.width))


def _in_full(lines: Lines, header: RunHeader, wrong: Iterable[CaseResult]) -> None:
    for result in wrong:
        if result.failure is not None:
            _failure(lines, header, result, result.failure)
        else:
            _oddity(lines, result)


def _failure(lines: Lines, header: RunHeader, result: CaseResult, failure: Failure) -> None:
    lines.line("")
    profiles = next((s.profiles for s in header.statements if s.id == failure.statement), ())
    right = " · ".join(part for part in (result.level, ", ".join(profiles)) if part)
    lines.ends(Text(_mark(result.verdict) + failure.statement, VERDICT_STYLES[result.verdict]), right)
    lines.wrapped(visible(failure.text), indent="  ")
    if result.reason:
        lines.fact("why", result.reason)
    _sent(lines, failure)
    lines.fact("expected", failure.expected)
    lines.fact("actual", failure.actual)
    lines.fact("frame", failure.where or "none: nothing was received")
    lines.fact("", _decoded(failure.fields))
    lines.fact("fixed", fixed(failure))
    lines.fact("source", source_line(failure))
    _server_log(lines, result)
    lines.fact("case", result.case)
    lines.fact("replay", failure.replay, continued=" \\")


def _mark(verdict: Verdict) -> str:
    return {Verdict.FAIL: "✘ ", Verdict.DEVIATES: "≈ "}.get(verdict, f"✘ {verdict}: ")


def _decoded(fields: tuple[FieldLine, ...]) -> str:
    """The header in one line, with the bytes of what decided; the body is in the report."""
    parts = []
    for field in fields:
        span = f"bytes {field.start}–{field.end}"
        if field.name == "body" and len(field.value) > _VALUE:
            parts.append(f"body {span}")
        elif field.decisive:
            parts.append(f"{field.name} {cut(field.value, _VALUE)} ({span})")
        elif field.name not in _FRAMING:
            parts.append(f"{field.name} {cut(field.value, _VALUE)}")
    return " · ".join(parts)


def _oddity(lines: Lines, result: CaseResult) -> None:
    lines.line("")
    lines.ends(Text(_mark(result.verdict) + result.case, VERDICT_STYLES[result.verdict]), result.level)
    lines.wrapped(visible(result.title), indent="  ")
    lines.fact("why", result.reason)
    _server_log(lines, result)
    if result.detail:
        lines.fact("", result.detail.strip().splitlines()[-1])
        lines.fact("", "The stack trace is in the report: please file it, this is no fault of the target.")


def _server_log(lines: Lines, one: CaseResult | Explained) -> None:
    """What the server wrote while the case ran."""
    shown = list(one.log)
    if len(shown) > _LOG_LINES:
        shown[_LOG_LINES // 2 : -_LOG_LINES // 2] = ["…"]
    lines.fact("your log", "\n".join(shown))


def print_remarks(lines: Lines, run: Run) -> None:
    """Verdicts that do not fail a run, together where they share a reason."""
    for verdict in _REMARKABLE:
        results = [result for result in run.results if result.verdict is verdict]
        if not results:
            continue
        lines.line("")
        style = VERDICT_STYLES.get(verdict, "bold")
        head = f"{counted(len(results), verdict)}, of {plural(len(run.header.cases), 'case')}"
        if verdict is Verdict.DEVIATES and len(results) <= _IN_FULL:
            lines.line(head, style)
            _in_full(lines, run.header, results)
            continue
        more = ", in short; --select ID shows one in full" if verdict is Verdict.DEVIATES else ""
        lines.line(head + more, style)
        groups: dict[str, list[str]] = {}
        for result in results:
            groups.setdefault(_remark(result), []).append(result.case)
        for reason, names in groups.items():
            listed, why = _names(names), visible(reason)
            if verdict is Verdict.BLOCKED and why:
                lines.wrapped(f"{why}: {plural(len(names), 'case')}, {listed}", indent="  ")
            else:
                lines.wrapped(f"{listed}{': ' if why else ''}{why}", indent="  ")


def _remark(result: CaseResult) -> str:
    if result.blocked_by:  # by what is enough: the failure of that is shown above
        return result.reason.partition(": ")[0]
    if result.failure is None:
        return result.reason
    asked = "" if result.failure.sent is None else request_line(result.failure.sent)
    parts = (asked, result.reason, difference(result.failure, _SHORT))
    return "; ".join(part for part in parts if part)


def first_of(run: Run) -> str:
    """Where to begin, in one line; empty where failures were shown in full."""
    found = explained(run)
    if not found.causes or _are_few(run, found):
        return ""
    first = found.causes[0]
    return f"{found.sentence.removesuffix('.')}: {first.title} ({holds_back(first)})."


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN_NAMES} more" if len(listed) > _SHOWN_NAMES else ""
    return ", ".join(listed[:_SHOWN_NAMES]) + more
