"""What `fuzz` found, in the words of its page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.catalogue import catalogue
from harness.cli.status import FAILED, HARNESS_FAILED, OK
from harness.engine.fuzzing import KindRecord
from harness.findings.causes import causes_of
from harness.findings.experiment import Finding, Flaky
from harness.findings.words import step_words
from harness.report import fuzz_page
from harness.report.fuzz_page import Cause, Fuzzed, Part, Shown, Tone

PAGE = "report.html"
_TONES: dict[int, Tone] = {OK: "pass", FAILED: "fail", HARNESS_FAILED: "error"}


def level_of(one: Finding | Flaky) -> str:
    """The level of its statement; what no statement is about must not be."""
    statement = catalogue().statement(one.signature.statement)
    return "MUST" if statement is None else statement.level


def what_was_cut(one: Finding | Flaky) -> list[str]:
    """What there was no time for."""
    if isinstance(one, Flaky):
        return []
    said = ["fewer steps may show it too"] if one.exhausted else []
    return said + (["no cases were asked what else fails"] if one.unexplained else [])


def tone_of(status: int) -> Tone:
    """The verdict whose colour an exit status has."""
    return _TONES.get(status, "blocked")


def write_page(found: Fuzzed, out: Path) -> str:
    """Writes it; what went wrong, or nothing."""
    try:
        (out / PAGE).write_text(fuzz_page.html(found), encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        return f"{out / PAGE} cannot be written: {problem.strerror}"
    return ""


def causes(findings: Iterable[Finding], out: Path) -> tuple[Cause, ...]:
    """Findings by cause. ``out`` is where the page lies."""
    return tuple(
        Cause(name=name, examples=tuple(shown(one, out) for one in found))
        for name, found in causes_of(findings)
    )


def shown(one: Finding | Flaky, out: Path) -> Shown:
    """A failure in words."""
    statement = catalogue().statement(one.signature.statement)
    plain = Shown(
        statement=one.signature.statement,
        level=level_of(one),
        text="" if statement is None else statement.text,
        expected=one.violation.expected,
        actual=one.violation.actual,
        confirmed=str(one.confirmed),
        steps=tuple(f"{getattr(step, 'conn', '')} {step_words(step)}".strip() for step in one.program),
        decisive=one.violation.number + 1,
        folder="" if one.directory is None else _below(one.directory, out),
    )
    if isinstance(one, Flaky):
        return plain
    return msgspec.structs.replace(
        plain,
        times=one.times,
        also_fails=one.also_fails,
        cut_short=tuple(what_was_cut(one)),
        known=one.known,
    )


def part(kind: KindRecord) -> Part:
    """What one kind has done."""
    return Part(
        name=kind.name,
        programs=kind.programs,
        steps=kind.steps,
        reached=len(kind.goals) - len(kind.missed),
        goals=len(kind.goals),
        missed=tuple(kind.missed),
        late=kind.late,
        deaths=kind.deaths,
        quirks=tuple(sorted(kind.quirks.items())),
    )


def _below(directory: str, out: Path) -> str:
    path = Path(directory)
    return path.relative_to(out).as_posix() if path.is_relative_to(out) else path.as_posix()
