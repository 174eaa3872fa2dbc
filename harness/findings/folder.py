"""The folder of a finding: everything that somebody needs who has only the folder.

Rules of this module:
- All of it is made from the dossier: the program and the attempts. So the files cannot disagree.
- A folder is replaced whole or not at all. What an interrupt left in between is put right by `recover`.
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
from harness.findings import again
from harness.findings.experiment import Attempt, Experiment, Finding, Flaky, Signature
from harness.findings.record import record_of
from harness.findings.script import must_be_same, script_of
from harness.findings.words import decisive_event, step_list
from harness.model import Violation
from harness.program.steps import AnyStep, encode_step
from harness.report.diagram import sequence_diagram
from harness.report.text import issue_link, visible
from harness.trace import write_pcap, write_trace
from harness.version import version

__all__ = ["SUMMARY", "TRACE", "Dossier", "State", "Summary", "name_of", "read_summary", "recover", "write"]

FORMAT = 1
SUMMARY = "finding.json"
TRACE = "trace"
_PARTIAL, _OLD = ".partial", ".old"
_FACTS, _WIDTH, _FOLDS = 12, 100, 3
"""In the diagram: facts of the decisive frame, characters of a line, lines of a fact."""

State = str
"""``unconfirmed`` (seen once), ``finding``, ``flaky``: also the room of the out folder that it lies in."""


class Dossier(msgspec.Struct, frozen=True, kw_only=True):
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
    """Rows of a replay that must be as they were for the failure to show."""
    missing: list[str] = []
    """What of the trace no script can do."""


def name_of(signature: Signature) -> str:
    """``STATEMENT-HASH``: the same signature, the same name."""
    digest = hashlib.sha256(msgspec.json.encode(signature)).hexdigest()[:8]
    plain = "".join(sign if sign.isalnum() or sign in ".-_" else "-" for sign in signature.statement)
    return f"{plain or 'failure'}-{digest}"


def write(directory: Path, dossier: Dossier) -> None:
    """Writes the folder. Raises ``OSError``; what was there before is there then."""
    partial, old = directory.with_name(directory.name + _PARTIAL), directory.with_name(directory.name + _OLD)
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, data in _files(dossier).items():
            (partial / name).write_bytes(data)
        (partial / "reproduce.py").chmod(0o755)
        attempt = dossier.attempts[0]
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


def _files(dossier: Dossier) -> dict[str, bytes]:
    attempt, found = dossier.attempts[0], dossier.found
    violation, header = found.violation, attempt.trace.header
    decisive = decisive_event(attempt, violation)
    steps = step_list(found.program, attempt, violation)
    records = [
        record_of(one.trace, _decisive_in(one, found), died=one.ended == "died") for one in dossier.attempts
    ]
    must = must_be_same([record.data for record in records])
    summary = Summary(
        suite=version(),
        state=dossier.state,
        kind=dossier.experiment.kind,
        target=dossier.experiment.target,
        description=header.description,
        profile=dossier.experiment.profile,
        clock=header.clock,
        warp=header.warp,
        decisive=decisive,
        statement=dossier.statement,
        found=found,
        predicate=must,
        missing=list(records[0].missing),
    )
    script = script_of(
        {**records[0].data, "must": must},
        head=_head(summary, steps),
        title=f"{violation.statement} ({violation.invariant})",
        expected=visible(violation.expected),
        actual=visible(violation.actual),
    )
    original = found.original if isinstance(found, Finding) else found.program
    texts: dict[str, str] = {
        "program.jsonl": _program(found.program, dossier.experiment.profile),
        "original.jsonl": _program(original, dossier.experiment.profile),
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
        said = again.reduced(bytes.fromhex(action["data"]), action["asked"], lambda _: True)
        facts = again.facts_of(said)
        more = len(facts) - _FACTS
        facts = facts[:_FACTS] + ([f"and {more} facts more"] if more > 0 else [])
    spoken = [f"expected: {visible(violation.expected)}", f"seen: {visible(violation.actual)}"]
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
    speed = f" --speed {summary.warp:g}" if summary.clock == "warped" else ""
    return (
        f"Shows a failure of a RocketMQ server again: {visible(summary.found.violation.statement)}.\n\n"
        f"    python3 reproduce.py HOST:PORT{speed}\n\n"
        "Needs Python 3.8 or newer and nothing else. Exit status: 1 the failure shows, 0 it does not,\n"
        "4 there is no server. Names are new in every run, so one server can be asked again and again.\n"
        f"Written by rmq-harness {summary.suite}.\n\n" + steps.rstrip()
    )


def _readme(summary: Summary) -> str:
    found, violation = summary.found, summary.found.violation
    signature = found.signature
    speed = f" --speed {summary.warp:g}" if summary.clock == "warped" else ""
    state = {
        "finding": "confirmed on fresh targets",
        "flaky": "flaky: it did not show again often enough",
        "unconfirmed": "seen once, not confirmed yet",
    }[summary.state]
    facts: list[tuple[str, Any]] = [
        ("state", f"{state}, {found.confirmed} attempts" if found.confirmed.tried else state),
        ("target", f"`{summary.target}` ({visible(summary.description)}), profile {summary.profile}"),
        ("invariant", signature.invariant),
        ("anomaly", signature.anomaly or "none that has a name"),
        ("decisive step", f"{violation.number + 1} of {len(found.program)}, {signature.kind}"),
        ("decisive event", "none" if summary.decisive is None else f"#{summary.decisive} of `trace`"),
        ("attempts", found.attempts),
    ]
    missing = "".join(f"- {visible(one)}\n" for one in summary.missing)
    cannot = f"\nWhat neither the script nor `replay` can do again:\n\n{missing}" if missing else ""
    return (
        f"# {visible(signature.statement)}\n\n"
        f"{_statement(summary.statement)}"
        f"- expected: {_line(violation.expected)}\n- seen: {_line(violation.actual)}\n"
        + "".join(f"- {name}: {value}\n" for name, value in facts)
        + "\n![sequence of what was sent and answered](sequence.svg)\n\n## Do it again\n\n"
        f"```\npython3 reproduce.py HOST:PORT{speed}\nrmq-harness replay .\n```\n{cannot}\n"
        "## What is here\n\n"
        "- `steps.txt`: the steps in words, then every frame\n"
        "- `program.jsonl`: the steps for a machine; `original.jsonl`: as it was found\n"
        "- `trace`: what was sent and received, byte for byte\n"
        "- `finding.pcap`: the same for Wireshark\n"
        "- `reproduce.py`: shows it on any server; needs Python alone\n"
        "- `finding.json`: all facts\n"
    )


def _statement(statement: Statement | None) -> str:
    if statement is None:
        return ""
    sources = "".join(f"- source: {source}\n" for source in statement.source)
    observed = f"- observed on Apache {', '.join(statement.observed)}\n" if statement.observed else ""
    issues = "".join(f"- see: [{issue}]({issue_link(issue)})\n" for issue in statement.issues)
    level = f"{statement.level}, profiles {', '.join(statement.profiles)}."
    return f"> {statement.text}\n\n{level}\n\n{sources}{observed}{issues}"


def _line(text: str) -> str:
    return visible(text).replace("\\n", "; ")
