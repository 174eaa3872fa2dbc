"""The folder of a finding: everything that a reader needs who has nothing else.

Invariants:
- All files are made from one report: the program and the attempts. So they cannot disagree.
- A folder is replaced whole or not at all. `recover` repairs what an interrupt left in between.
"""

from __future__ import annotations

import hashlib
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.catalogue import Statement
from harness.findings.experiment import Attempt, Experiment, Finding, Flaky, Signature
from harness.findings.record import record_of
from harness.findings.replay_answers import AnswerReader, facts_of
from harness.findings.script import decides, rows_that_count, script_of
from harness.findings.words import decisive_event, step_list
from harness.program.steps import AnyStep, encode_step
from harness.report.diagram import sequence_diagram
from harness.report.templating import filled_markdown
from harness.report.text import visible
from harness.spec import Violation
from harness.trace import write_pcap, write_trace
from harness.version import version

FORMAT = 1
SUMMARY = "finding.json"
TRACE = "trace"
_PARTIAL, _OLD = ".partial", ".old"
_FACTS, _WIDTH, _FOLDS = 12, 100, 3
"""In the diagram: facts of the decisive frame, characters of a line, lines of a fact."""

State = str
"""``unconfirmed`` (seen once), ``finding``, ``flaky``: also the room of the out folder that it lies in."""


class FindingReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of a failure."""

    state: State
    found: Finding | Flaky
    experiment: Experiment
    attempts: tuple[Attempt, ...]
    """Those that show it, all of the same program; the first one is written down."""
    statement: Statement | None


class Summary(msgspec.Struct, kw_only=True):
    """``finding.json``."""

    format: int = FORMAT
    suite: str
    state: State
    kind: str
    target: str
    description: str
    profile: str
    clock: str
    warp: float
    decisive: int | None
    """Number of the event of the trace that decides."""
    statement: Statement | None
    found: Finding | Flaky
    predicate: list[int] = []
    """Rows of a replay that the failure follows from."""
    decides: dict[str, Any] | None = None
    """What the decisive one of them must say again (`replay_facts`)."""
    missing: list[str] = []
    """What of the trace no script can do."""


def name_of(signature: Signature) -> str:
    """``STATEMENT-HASH``: the same signature, the same name."""
    digest = hashlib.sha256(msgspec.json.encode(signature)).hexdigest()[:8]
    plain = "".join(sign if sign.isalnum() or sign in ".-_" else "-" for sign in signature.statement)
    return f"{plain or 'failure'}-{digest}"


def write(directory: Path, report: FindingReport) -> None:
    """Writes the folder. Raises ``OSError``; what was there before is there then."""
    partial, old = directory.with_name(directory.name + _PARTIAL), directory.with_name(directory.name + _OLD)
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, data in _files(report).items():
            (partial / name).write_bytes(data)
        (partial / "reproduce.py").chmod(0o755)
        attempt = report.attempts[0]
        write_trace(partial / TRACE, attempt.trace)
        write_pcap(partial / "finding.pcap", attempt.trace)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if directory.exists():
        directory.replace(old)
    partial.replace(directory)
    shutil.rmtree(old, ignore_errors=True)


def recover(room: Path) -> None:
    """Puts right what an interrupt may have left behind in a room of folders."""
    for partial in room.glob(f"*{_PARTIAL}"):
        shutil.rmtree(partial, ignore_errors=True)
    for old in room.glob(f"*{_OLD}"):
        whole = old.with_name(old.name[: -len(_OLD)])
        if whole.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.replace(whole)


def read_summary(directory: Path) -> Summary:
    """The facts of a folder. Raises ``OSError``, ``msgspec.MsgspecError``."""
    return msgspec.json.decode((directory / SUMMARY).read_bytes(), type=Summary)


def _files(report: FindingReport) -> dict[str, bytes]:
    attempt, found = report.attempts[0], report.found
    violation, header = found.violation, attempt.trace.header
    decisive = decisive_event(attempt, violation)
    steps = step_list(found.program, attempt, violation)
    records = [
        record_of(
            one.trace,
            _decisive_in(one, found),
            died=one.ended == "died",
            both=report.experiment.kind == "diff",
        )
        for one in report.attempts
    ]
    recorded = [record.data for record in records]
    must = rows_that_count(recorded)
    fact = decides(violation, report.experiment.kind, recorded)
    summary = Summary(
        suite=version(),
        state=report.state,
        kind=report.experiment.kind,
        target=report.experiment.target,
        description=header.description,
        profile=report.experiment.profile,
        clock=header.clock,
        warp=header.warp,
        decisive=decisive,
        statement=report.statement,
        found=found,
        predicate=must,
        decides=fact,
        missing=list(records[0].missing),
    )
    script = script_of(
        {**records[0].data, "must": must, "decides": fact},
        head=_head(summary, steps),
        title=f"{violation.statement} ({violation.invariant})",
        expected=visible(violation.expected),
        actual=visible(violation.actual),
    )
    original = found.original if isinstance(found, Finding) else found.program
    texts: dict[str, str] = {
        "program.jsonl": _program(found.program, report.experiment.profile),
        "original.jsonl": _program(original, report.experiment.profile),
        "steps.txt": steps,
        "reproduce.py": script,
        "sequence.svg": sequence_diagram(
            attempt.trace.events,
            decisive,
            title=(
                f"{violation.statement}: {violation.invariant}",
                f"{visible(header.description or header.target)}, profile {header.profile}",
            ),
            about=_about(violation, records[0].data),
        ),
        "README.md": _readme(summary),
    }
    files = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    files[SUMMARY] = msgspec.json.format(msgspec.json.encode(summary), indent=2)
    return files


def _about(violation: Violation, record: dict[str, Any]) -> list[str]:
    """What is written into the diagram: what the decisive frame says, and what it should have said."""
    action = next((one for one in record["actions"] if one.get("decisive")), None)
    facts: list[str] = []
    if action is not None and "data" in action:
        reader = AnswerReader(record["rules"], lambda _: True)
        facts = facts_of(reader.read(bytes.fromhex(action["data"]), action["asked"]))
        more = len(facts) - _FACTS
        facts = facts[:_FACTS] + ([f"and {more} facts more"] if more > 0 else [])
    spoken = [f"expected: {visible(violation.expected)}", f"actual: {visible(violation.actual)}"]
    return [piece for line in (*spoken, *facts) for piece in _folded(line)]


def _folded(line: str) -> list[str]:
    pieces = textwrap.wrap(line, _WIDTH) or [line]
    return pieces if len(pieces) <= _FOLDS else [*pieces[:_FOLDS], "…"]


def _decisive_in(attempt: Attempt, found: Finding | Flaky) -> int | None:
    same = [one for one in attempt.violations if one.invariant == found.violation.invariant]
    return decisive_event(attempt, same[0] if same else found.violation)


def _program(steps: Sequence[AnyStep], profile: str) -> str:
    """As `diff --program` takes it, a head and a step a line."""
    head = msgspec.json.encode({"program": 1, "profile": profile}).decode()
    return "\n".join([head, *map(encode_step, steps)]) + "\n"


def _head(summary: Summary, steps: str) -> str:
    return (
        f"Shows a failure of a RocketMQ server again: {visible(summary.found.violation.statement)}.\n\n"
        f"    python3 reproduce.py HOST:PORT{_speed(summary)}\n\n"
        "Needs Python 3.8 or newer and nothing else. Exit status: 1 the failure shows, 0 it does not,\n"
        "4 there is no server. Names are new in every run, so one server can be asked again and again.\n"
        f"Written by rmq-harness {summary.suite}.\n\n" + steps.rstrip()
    )


def _readme(summary: Summary) -> str:
    found = summary.found
    return filled_markdown(
        "findings/templates/readme.md.j2",
        summary=summary,
        statement=summary.statement,
        found=found,
        signature=found.signature,
        violation=found.violation,
        state={
            "finding": "confirmed on fresh targets",
            "flaky": "flaky: it did not show again often enough",
            "unconfirmed": "seen once, not confirmed yet",
        }[summary.state],
        also_fails=found.also_fails if isinstance(found, Finding) else (),
        known=found.known if isinstance(found, Finding) else "",
        speed=_speed(summary),
    )


def _speed(summary: Summary) -> str:
    return f" --speed {summary.warp:g}" if summary.clock == "warped" else ""
