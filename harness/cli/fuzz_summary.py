"""The end of `fuzz`: what was found, by cause, what was left out, what was reached, and the exit status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.cli.fuzz_page import PAGE, causes, level_of, part, shown, tone_of, what_was_cut
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.engine.fuzzing import Ending, Fuzzing, KindRecord, Record
from harness.findings.causes import causes_of
from harness.findings.deviations import Deviations
from harness.findings.experiment import Finding, Flaky
from harness.findings.known import KnownFindings
from harness.findings.store import FindingStore
from harness.program.steps import encode_step
from harness.report.fuzz_page import Fuzzed
from harness.report.text import plural, visible
from harness.version import version

_SHOWN = 20
"""Causes that are printed; the rest is in the folder."""
_SHOWN_OTHERS = 5
_SHOWN_STEPS = 12
_SHOWN_STATEMENTS = 3
_LONGEST = 300
"""Characters of a value."""


class Summary:
    """A run that has ended. With ``strict`` a broken SHOULD is a failure."""

    def __init__(
        self,
        record: Record,
        store: FindingStore,
        known: KnownFindings,
        deviations: Deviations,
        ending: Ending,
        fuzzing: Fuzzing,
        *,
        strict: bool,
    ) -> None:
        self._record = record
        self._store = store
        self._known_findings = known
        self._ending = ending
        self._fuzzing = fuzzing
        self._left_out = [str(one) for one in deviations.left_out]
        self._unmet = known.unmet(store.findings)
        self._known = [one for one in store.findings if one.known]
        rest = [one for one in store.findings if not one.known]
        self._failures = [one for one in rest if strict or level_of(one) == "MUST"]
        self._deviating = [one for one in rest if one not in self._failures]

    def answer(self, seconds: float, out: Path) -> dict[str, Any]:
        """All of it, as JSON values."""
        status, conclusion, why = self._status()
        record, store = self._record, self._store
        return {
            "conclusion": conclusion,
            "exit_status": status,
            "why": why,
            "target": record.target,
            "profile": record.profile,
            "seed": record.seed,
            "seconds": round(seconds, 1),
            "programs": record.programs,
            "steps": record.steps,
            "seconds_waited": round(record.waited, 1),
            "kinds": record.kinds,
            "causes": [
                {"cause": cause, "findings": [one.directory for one in found]}
                for cause, found in causes_of(self._failures)
            ],
            "findings": [_told(one) for one in self._failures],
            "deviating": [_told(one) for one in self._deviating],
            "known": [{**_told(one), "why": one.known} for one in self._known],
            "flaky": [_told(one) for one in store.flaky],
            "unconfirmed": [_told(one) for one in store.unconfirmed.values()],
            "left_out": self._left_out,
            "stale": self._known_findings.stale,
            "not_met": self._unmet,
            "out": str(out),
        }

    def page(self, answer: dict[str, Any], out: Path) -> Fuzzed:
        """All of it, as the page in ``out`` shows it."""
        record, store = self._record, self._store
        return Fuzzed(
            conclusion=answer["conclusion"],
            exit_status=answer["exit_status"],
            tone=tone_of(answer["exit_status"]),
            why=answer["why"],
            target=record.target,
            profile=record.profile,
            seed=record.seed,
            programs=record.programs,
            steps=record.steps,
            seconds=record.seconds,
            suite=version(),
            causes=causes(self._failures, out),
            deviating=causes(self._deviating, out),
            known=causes(self._known, out),
            flaky=tuple(shown(one, out) for one in store.flaky),
            unconfirmed=tuple(shown(one, out) for one in store.unconfirmed.values()),
            left_out=tuple(self._left_out),
            remarks=(*self._known_findings.stale, *self._unmet),
            parts=tuple(map(part, record.kinds)),
        )

    def _status(self) -> tuple[int, str, str]:
        """Exit status, what it is called, and why."""
        record, store, fuzzing = self._record, self._store, self._fuzzing
        if self._ending == "interrupted":
            return INTERRUPTED, "INTERRUPTED", ""
        if self._ending == "died":
            return HARNESS_FAILED, "THE TARGET DIED", fuzzing.death
        if trouble := fuzzing.trouble or store.trouble:
            return HARNESS_FAILED, "NOT ALL COULD BE WRITTEN", trouble
        if self._failures:
            return FAILED, "FINDINGS", ""
        if self._known_findings.stale:
            return FAILED, "STALE", "; ".join(self._known_findings.stale)
        if not record.programs:
            return INCONCLUSIVE, "INCONCLUSIVE", "no program was played"
        if store.flaky or store.unconfirmed:
            return INCONCLUSIVE, "INCONCLUSIVE", "what failed did not fail again often enough"
        if all(kind.late == kind.programs for kind in record.kinds):
            return INCONCLUSIVE, "INCONCLUSIVE", fuzzing.slowness
        if self._deviating or self._known:
            return OK, "NOTHING NEW" if self._known else "DEVIATES", ""
        if missed := [goal for kind in record.kinds for goal in kind.missed]:
            return INCONCLUSIVE, "INCONCLUSIVE", f"{len(missed)} required goals were not reached"
        return OK, "NOTHING FOUND", ""

    # --- for people -----------------------------------------------------------------------------------------

    def print(self, console: Console, answer: dict[str, Any]) -> None:
        """All of it, the most telling first."""
        causes = causes_of(self._failures)
        for number, (cause, found) in enumerate(causes[:_SHOWN], 1):
            console.print(f"\n✘ {number}  {visible(cause)}")
            _print_one(console, found[0])
            _print_others(console, "likewise", found[1:])
        if len(causes) > _SHOWN:
            console.print(f"\n✘ and {plural(len(causes) - _SHOWN, 'cause')} more, in {answer['out']}")
        for mark, title, listed in (
            ("~", "Deviates, as a SHOULD allows (failures with --strict)", self._deviating),
            ("=", "Known, and found again", self._known),
        ):
            if listed:
                console.print(f"\n{title}")
                for cause, found in causes_of(listed)[:_SHOWN]:
                    console.print(f"{mark} {visible(cause)}{_seen(found[0])}")
                    if found[0].known:
                        console.print(f"    {visible(found[0].known)}")
                    _print_others(console, "and", found[1:])
        unsure = (("≈ flaky", self._store.flaky), ("? unconfirmed", list(self._store.unconfirmed.values())))
        for title, some in unsure:
            for one in some[:_SHOWN]:
                console.print(f"\n{title}: {one.signature.statement} ({one.signature.invariant})")
                _print_one(console, one)
        if self._left_out:
            console.print("\nLeft out of most programs, because the target is known to do otherwise there")
            for line in self._left_out:
                console.print(f"  {visible(line)}")
        for line in (*self._known_findings.stale, *self._unmet):
            console.print(f"\n{line}")
        for kind in self._record.kinds:
            _print_kind(console, kind)
        if answer["why"]:
            console.print(f"\n{visible(answer['why'], keep_lines=True)}")
        console.print(
            f"\n{self._totals(len(causes))}          "
            f"{answer['conclusion']}, exit {answer['exit_status']} · {Path(answer['out']) / PAGE}"
        )

    def _totals(self, causes: int) -> str:
        record = self._record
        busy = max(0.0, record.seconds - record.waited)
        rate = record.steps / busy if busy else 0.0
        waited = f" and {record.waited:.0f} s that programs let pass" if record.waited >= 1 else ""
        parts = [
            f"{plural(record.programs, 'program')}, {plural(record.steps, 'step')}, "
            f"{busy:.0f} s{waited}, {rate:.0f}/s",
            plural(len(self._failures), "finding")
            + (f" of {plural(causes, 'cause')}" if self._failures else ""),
        ]
        for some, word in (
            (self._deviating, "deviating"),
            (self._known, "known"),
            (self._store.flaky, "flaky"),
        ):
            if some:
                parts.append(f"{len(some)} {word}")
        return " · ".join(parts)


def _told(one: Finding | Flaky) -> dict[str, Any]:
    return {
        "statement": one.signature.statement,
        "level": level_of(one),
        "invariant": one.signature.invariant,
        "anomaly": one.signature.anomaly,
        "special": one.signature.special,
        "expected": one.violation.expected,
        "actual": one.violation.actual,
        "also_fails": one.also_fails if isinstance(one, Finding) else (),
        "confirmed": str(one.confirmed),
        "cut_short": what_was_cut(one),
        "steps": [encode_step(step) for step in one.program],
        "times": one.times if isinstance(one, Finding) else 1,
        "directory": one.directory,
    }


def _seen(one: Finding | Flaky) -> str:
    times = f", met {one.times} times" if isinstance(one, Finding) and one.times > 1 else ""
    return f"   {level_of(one)} {one.signature.statement}{times}"


def _print_one(console: Console, one: Finding | Flaky) -> None:
    where = "" if one.directory is None else f" · {one.directory}"
    console.print(f"   {_seen(one).strip()}")
    console.print(
        f"     expected   {_cut(one.violation.expected)}\n     actual     {_cut(one.violation.actual)}"
    )
    console.print(f"     confirmed  {one.confirmed}, {plural(len(one.program), 'step')}{where}")
    if cut := what_was_cut(one):
        console.print(f"     cut short  {'; '.join(cut)}")
    if isinstance(one, Finding) and one.also_fails:
        more = len(one.also_fails) - _SHOWN_STATEMENTS
        said = ", ".join(one.also_fails[:_SHOWN_STATEMENTS]) + (f" and {more} more" if more > 0 else "")
        console.print(f"     also fails {said}")
    for number, step in enumerate(one.program[:_SHOWN_STEPS], 1):
        console.print(f"     {number:>3}  {visible(encode_step(step))}")
    if len(one.program) > _SHOWN_STEPS:
        console.print(f"     … and {len(one.program) - _SHOWN_STEPS} more")


def _print_others(console: Console, word: str, others: Sequence[Finding]) -> None:
    for one in others[:_SHOWN_OTHERS]:
        console.print(f"     {word:<10} {_seen(one).strip()}: {_cut(one.violation.actual, 90)}")
    if len(others) > _SHOWN_OTHERS:
        console.print(f"     {word:<10} {len(others) - _SHOWN_OTHERS} more")


def _cut(text: str, longest: int = _LONGEST) -> str:
    shown = visible(text)
    return shown if len(shown) <= longest else f"{shown[:longest]} …"


def _print_kind(console: Console, kind: KindRecord) -> None:
    reached = len(kind.goals) - len(kind.missed)
    parts = [f"{kind.name}: {plural(kind.programs, 'program')}, {plural(kind.steps, 'step')}"]
    if kind.probes:
        parts.append(f"{plural(kind.probes, 'probe')} before")
    if kind.goals:
        parts.append(f"{reached} of {plural(len(kind.goals), 'goal')} reached")
    if kind.transitions:
        parts.append(f"{plural(len(kind.transitions), 'transition')}")
    if kind.late:
        parts.append(f"{plural(kind.late, 'program')} too late to count")
    if kind.deaths:
        parts.append(f"{plural(kind.deaths, 'death')} of the target")
    console.print("\n" + " · ".join(parts))
    if kind.missed:
        console.print(f"  goals not reached: {', '.join(kind.missed)}")
    for quirk, times in sorted(kind.quirks.items()):
        console.print(f"  named quirk {quirk}: {plural(times, 'program')}")
