"""Findings by cause: what was asked, what was special in it, and how the answer was wrong."""

from __future__ import annotations

from collections.abc import Iterable

from harness.findings.experiment import Finding, decisive_step
from harness.program.traits import words_of
from harness.spec.observation import DEATH, FAILURE_CODE, FROZEN, MISTYPED

Cause = tuple[str, list[Finding]]
"""In words, and its findings."""


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """The causes, the one with most findings first."""
    groups: dict[str, list[Finding]] = {}
    for one in findings:
        groups.setdefault(cause_of(one), []).append(one)
    return sorted(groups.items(), key=lambda cause: -len(cause[1]))


def cause_of(found: Finding) -> str:
    """``103 REGISTER_BROKER without topics: code 29 instead of code 0``."""
    if found.violation.invariant == MISTYPED:
        return f"any answer: {found.signature.invariant}"
    if found.trigger is not None:
        about = " ".join([found.trigger.words, *sorted(found.trigger.traits)])
    else:
        step = decisive_step(found.program, found.violation)
        words = "the end of the program" if step is None else words_of(step)
        about = " ".join([words, *found.signature.special])
    if found.violation.invariant in (DEATH, FROZEN):
        return f"{about}: the server {'ends' if found.violation.invariant == DEATH else 'freezes'}"
    first = found.violation.differences[0] if found.violation.differences else None
    if first is None:
        return f"{about}: {found.signature.anomaly or found.signature.invariant}"
    if first.aspect == FAILURE_CODE:
        return f"requests that must fail: {first.actual.partition(' (')[0]} instead of {first.expected}"
    if first.aspect == "code":
        return f"{about}: {first.actual.partition(' (')[0]} instead of {first.expected}"
    return f"{about}: {first.aspect} {first.presence}"
