"""Verdict arithmetic: from results to counts, a conclusion and an exit status.

Pure: no file, no clock, no printing. Every report and the command line take their numbers from here, so that
no two of them can disagree.

Exit status, the first that applies:

====  ===========================================================================================
130   the run was interrupted
4     the target could not be reached or started, or the harness itself failed (also in one case)
1     a case failed, or an entry of the baseline is stale; in a strict run, also a quirk not seen
2     nothing was measured, or a case was blocked, flaky or never ran, or the record is incomplete
0     everything that was selected was measured and is allowed, or is a quirk that is known by name
====  ===========================================================================================

An error of ours comes before a failure of theirs: a harness that failed in one case has not earned trust in
the others. A failure comes before blocked cases: a broken MUST settles conformance whatever else is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from harness.catalogue import CLASSES, LEVELS, Class, Level
from harness.report.results import CaseResult, Run, RunEnd, RunHeader, Verdict
from harness.report.text import counted, plural

MEASURED = frozenset(
    {
        Verdict.PASS,
        Verdict.FAIL,
        Verdict.XFAIL,
        Verdict.XPASS,
        Verdict.QUIRK,
        Verdict.DEVIATES,
        Verdict.OBSERVED,
    }
)
"""Verdicts that say something about the target. The others say why nothing can be said."""


class Conclusion(StrEnum):
    """What kind of result the run has. `Summary.headline` adds the numbers that belong to it.

    Only a run of every case that applies can be conformant: a selection in which all holds is partial.
    """

    CONFORMANT = "CONFORMANT"
    EXCEPT_KNOWN = "CONFORMANT EXCEPT KNOWN FAILURES"
    PARTIAL = "PARTIAL"
    NOT_CONFORMANT = "NOT CONFORMANT"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"
    INTERRUPTED = "INTERRUPTED"


_CONCLUSIONS = {
    1: Conclusion.NOT_CONFORMANT,
    2: Conclusion.INCONCLUSIVE,
    4: Conclusion.ERROR,
    130: Conclusion.INTERRUPTED,
}


def _conclusion(status: int, cases: Counts, available: int) -> Conclusion:
    if status:
        return _CONCLUSIONS[status]
    if cases.total < available:
        return Conclusion.PARTIAL
    return Conclusion.EXCEPT_KNOWN if cases[Verdict.XFAIL] else Conclusion.CONFORMANT


class Counts(msgspec.Struct, frozen=True):
    """How many cases came to which verdict, of how many planned."""

    total: int
    verdicts: dict[Verdict, int]
    """Only verdicts that occur, in the order of :class:`Verdict`."""
    seconds: float = 0.0
    """Real time in which at least one of the cases ran: a wait that cases share counts once."""

    def __getitem__(self, verdict: Verdict) -> int:
        return self.verdicts.get(verdict, 0)

    @property
    def done(self) -> int:
        return sum(self.verdicts.values())

    @property
    def not_run(self) -> int:
        return self.total - self.done

    @property
    def measured(self) -> int:
        return sum(count for verdict, count in self.verdicts.items() if verdict in MEASURED)

    @property
    def holding(self) -> int:
        """How many found the server as the catalogue allows, without a named defect or a baseline."""
        return sum(self[verdict] for verdict in _HELD)

    @property
    def mark(self) -> str:
        """``✔`` where all of them hold, ``✘`` where one fails, ``–`` where neither can be said."""
        if self[Verdict.FAIL] or self[Verdict.XPASS]:
            return "✘"
        return "✔" if self.holding == self.total else "–"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that reports count. Each count carries its denominator."""

    cases: Counts
    chapters: dict[str, Counts]
    """In the order of the catalogue."""
    levels: dict[Level, Counts]
    """All three, in falling order."""
    classes: dict[Class, Counts]
    """All four, the most needed first."""
    selected_classes: tuple[Class, ...]
    """Those that the user selected; empty where there was no such choice."""
    statements_total: int
    """Statements that apply under the profile."""
    statements_selected: int
    """Those that at least one selected case proves."""
    statements_measured: int
    """Those that at least one case measured."""
    statements_untestable: int
    cases_available: int
    waiting_left_out: int
    """Cases that the selection would have and that `--fast` left out."""
    unseen: tuple[str, ...]
    """A sentence for each quirk that a case should have seen and did not."""
    stale: tuple[str, ...]
    """A sentence for each entry of the baseline that has expired or names nothing."""
    exit_status: int
    why: str
    conclusion: Conclusion

    @property
    def headline(self) -> str:
        """The conclusion with its numbers: ``PARTIAL 22 of 415``, ``CONFORMANT EXCEPT 6 KNOWN FAILURES``."""
        known = self.cases[Verdict.XFAIL]
        exception = f" EXCEPT {plural(known, 'known failure').upper()}" if known else ""
        match self.conclusion:
            case Conclusion.PARTIAL:
                held = [f"{name} {_held(self.classes[name])}" for name in self.selected_classes]
                if self.waiting_left_out:
                    held.append(f"without {self.waiting_left_out} that wait (--fast)")
                detail = f": {', '.join(held)}" if held else ""
                return f"{self.conclusion} {self.cases.total} of {self.cases_available}{exception}{detail}"
            case Conclusion.EXCEPT_KNOWN:
                return f"{Conclusion.CONFORMANT}{exception}"
            case _:
                return self.conclusion


def _held(counts: Counts) -> str:
    return f"{counts.holding} of {counts.total}"


_GRAVITY = (
    Verdict.FAIL,
    Verdict.XPASS,
    Verdict.XFAIL,
    Verdict.QUIRK,
    Verdict.ERROR,
    Verdict.FLAKY,
    Verdict.BLOCKED,
    Verdict.UNSUPPORTED,
    Verdict.LATER,
    Verdict.DEVIATES,
    Verdict.OBSERVED,
    Verdict.PASS,
)


def gravest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The one verdict that stands for a statement with several cases; None where there is none."""
    return min(verdicts, key=_GRAVITY.index, default=None)


def judge(level: Level, *, held: bool, strict: bool = False) -> Verdict:
    """The verdict of a case whose expectations held or broke.

    A broken MUST fails; a broken SHOULD deviates (fails under ``strict``); a broken MAY is observed.
    """
    if held:
        return Verdict.PASS
    if level == "MUST" or (level == "SHOULD" and strict):
        return Verdict.FAIL
    return Verdict.DEVIATES if level == "SHOULD" else Verdict.OBSERVED


def count(results: Iterable[CaseResult], total: int) -> Counts:
    """Counts of these results, of ``total`` that were planned."""
    listed = list(results)
    tally = Counter(result.verdict for result in listed)
    return Counts(
        total=total,
        verdicts={verdict: tally[verdict] for verdict in Verdict if tally[verdict]},
        seconds=_covered((result.begun, result.begun + result.seconds) for result in listed),
    )


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of these spans of time."""
    length, reached = 0.0, float("-inf")
    for begin, finish in sorted(spans):
        length += max(0.0, finish - max(begin, reached))
        reached = max(reached, finish)
    return length


def unseen(header: RunHeader, results: Iterable[CaseResult]) -> tuple[str, ...]:
    """A sentence for each quirk and case that passed although the quirk should have been seen in it.

    Such a quirk is mended in this release, or the case sees it no longer: the list is to be corrected.
    Quirks that are not seen every time are left out.
    """
    held = {result.case for result in results if result.verdict in _HELD}
    return tuple(
        f"{quirk.id} was not seen in {case}: {header.server} does as the catalogue says there"
        for quirk in header.quirks
        if quirk.intermittent is None
        for case in quirk.cases
        if case in held
    )


_HELD = (Verdict.PASS, Verdict.DEVIATES, Verdict.OBSERVED)


def exit_status(
    cases: Counts,
    *,
    complete: bool = True,
    interrupted: bool = False,
    trouble: str = "",
    stale_entries: int = 0,
    stale_quirks: int = 0,
) -> tuple[int, str]:
    """The exit status of a run and one sentence that says why.

    ``complete`` is False for a record that was cut short; ``trouble`` is why the target or the harness failed
    outside of any case; ``stale_entries`` of the baseline have expired or name nothing; ``stale_quirks`` is
    how many quirks a strict run should have seen and did not. Usage errors (3) never get as far as a run.
    """
    of = f"of {plural(cases.total, 'case')}"
    if interrupted:
        return 130, f"interrupted after {cases.done} {of}"
    if trouble:
        return 4, trouble
    if cases[Verdict.ERROR]:
        return 4, f"the harness failed in {cases[Verdict.ERROR]} {of}"
    broken = [
        f"{cases[verdict]} {of} {words}"
        for verdict, words in ((Verdict.FAIL, "failed"), (Verdict.XPASS, "passed against the baseline"))
        if cases[verdict]
    ]
    if stale_entries:
        broken.append(f"{plural(stale_entries, 'stale entry', 'stale entries')} of the baseline")
    if stale_quirks:
        broken.append(f"{plural(stale_quirks, 'quirk')} not seen any more")
    if broken:
        return 1, ", ".join(broken)
    if not cases.total:
        return 2, "no case was selected"
    open_ends = [
        f"{number} {of} {words}"
        for number, words in (
            (cases[Verdict.BLOCKED], "blocked"),
            (cases[Verdict.FLAKY], "flaky"),
            (cases.not_run, "not run"),
        )
        if number
    ]
    if open_ends:
        return 2, ", ".join(open_ends)
    if not cases.measured:
        idle = [counted(cases[one], one) for one in (Verdict.UNSUPPORTED, Verdict.LATER) if cases[one]]
        return 2, f"nothing was measured: {', '.join(idle)}, {of}"
    if not complete:
        return 2, "the record of the run is incomplete"
    known = " that the baseline does not excuse" if cases[Verdict.XFAIL] else ""
    why = f"{cases.measured} {of} measured, no failure{known}"
    if cases[Verdict.QUIRK]:
        why += f"; in {cases[Verdict.QUIRK]} of them a quirk was seen that is known by name"
    return 0, why


def ending(
    run: Run, *, seconds: float, interrupted: bool = False, stopped: bool = False, trouble: str = ""
) -> RunEnd:
    """The end record of a run that is over, from its header and the results it got as far as."""
    status, why = exit_status(
        count(run.results, len(run.header.cases)),
        interrupted=interrupted,
        trouble=trouble,
        stale_entries=len(run.header.stale),
        stale_quirks=len(unseen(run.header, run.results)) if run.header.strict else 0,
    )
    return RunEnd(
        exit_status=status,
        why=why,
        seconds=seconds,
        interrupted=interrupted,
        stopped=stopped,
        trouble=trouble,
    )


def summarize(run: Run) -> Summary:
    """All numbers of a run. A run without an end, or with a truncated record, is incomplete and never green.

    Raises ValueError for a result of a case that was never planned: its denominator would be a lie.
    """
    header, results = run.header, run.results
    planned = {case.name: case for case in header.cases}
    strangers = [result.case for result in results if result.case not in planned]
    if strangers:
        raise ValueError(f"result of a case that the header does not plan: {strangers[0]}")
    cases = count(results, len(planned))
    missed = unseen(header, results)
    status, why = exit_status(
        cases,
        complete=run.end is not None and not run.truncated,
        interrupted=run.end is not None and run.end.interrupted,
        trouble=run.end.trouble if run.end is not None else "",
        stale_entries=len(header.stale),
        stale_quirks=len(missed) if header.strict else 0,
    )
    measured = {s for result in results if result.verdict in MEASURED for s in result.statements}
    selected = {s for case in header.cases for s in case.statements}
    applicable = {statement.id for statement in header.statements}
    return Summary(
        cases=cases,
        chapters=_grouped(results, {case.name: case.chapter for case in header.cases}),
        levels={
            level: count(
                [r for r in results if planned[r.case].level == level],
                sum(case.level == level for case in header.cases),
            )
            for level in LEVELS
        },
        classes={
            name: count(
                [r for r in results if planned[r.case].class_ == name],
                sum(case.class_ == name for case in header.cases),
            )
            for name in CLASSES
        },
        selected_classes=header.classes,
        statements_total=len(applicable),
        statements_selected=len(applicable & selected),
        statements_measured=len(applicable & measured),
        statements_untestable=sum(s.untestable is not None for s in header.statements),
        cases_available=header.cases_available,
        waiting_left_out=header.waiting_left_out,
        unseen=missed,
        stale=header.stale,
        exit_status=status,
        why=why,
        conclusion=_conclusion(status, cases, header.cases_available),
    )


def _grouped(results: Iterable[CaseResult], chapters: Mapping[str, str]) -> dict[str, Counts]:
    totals = Counter(chapters.values())
    by_chapter: dict[str, list[CaseResult]] = {chapter: [] for chapter in totals}
    for result in results:
        by_chapter[chapters[result.case]].append(result)
    return {chapter: count(by_chapter[chapter], total) for chapter, total in totals.items()}
