"""Rows from the directories of `check`, `fuzz` and `diff`, for one report of all.

Invariants:
- It reads records and invents nothing. `fuzz` keeps only the programs of its findings, `diff` only those that
  it could not explain. A run of which only the end is known has no steps, and a case has one, ``other``, with
  the statements that it judged.
- Each kind of record is a generator of its own: none shares a population with campaigns.
- The seed of a case is a digest of its name, of a finding one of its signature, of a round its number: the
  same thing in two records has the same seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from harness.catalogue import Role
from harness.engine.fuzzing import Record
from harness.engine.peer.journal import Entry, Head, ProgramError
from harness.findings.experiment import Finding, Flaky
from harness.findings.folder import SUMMARY, TRACE, read_summary
from harness.mining.errors import MiningError
from harness.mining.records import Judged, Origin, Row, row_of, signature_text
from harness.mining.schema import ALPHABETS, Outcome
from harness.program.broker.steps import BesideRequests, BrokerRequest
from harness.program.steps import AnyStep
from harness.report.results import FILE_NAME, CaseResult, RecordError, Verdict, read_run
from harness.spec import Violation
from harness.targets import spelled_out
from harness.trace import Trace, TraceError, read_trace

_VERDICTS: dict[Verdict, Outcome] = {
    Verdict.PASS: "pass",
    Verdict.XPASS: "pass",
    Verdict.DEVIATES: "pass",
    Verdict.OBSERVED: "pass",
    Verdict.FAIL: "fail",
    Verdict.XFAIL: "fail",
    Verdict.QUIRK: "quirk",
    Verdict.FLAKY: "flaky",
    Verdict.ERROR: "error",
}
"""What has judged nothing (unsupported, blocked) is no run."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_recorded(directory: Path, campaign: str) -> list[tuple[Row, Trace | None]]:
    """The rows of a record of `check`, `fuzz` or `diff`, with traces where it has such. Raises
    ``MiningError`` where there is no record, or where it cannot be read.
    """
    try:
        if (directory / FILE_NAME).exists():
            return list(_cases(directory, campaign))
        if (directory / "fuzz.json").exists():
            return list(_findings(directory, campaign))
        if (directory / "journal.jsonl").exists():
            return list(_rounds(directory, campaign))
    except (RecordError, ProgramError, msgspec.MsgspecError, OSError) as problem:
        raise MiningError(f"--from {directory}: {problem}", status=3) from problem
    raise MiningError(
        f"--from {directory}: expected what check, fuzz or diff leave in their --out ({FILE_NAME}, "
        "fuzz.json, journal.jsonl); there is none of these",
        status=3,
    )


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _origin(
    campaign: str, role: Role, source: str, kind: str, target: str, profile: str, suite: str, catalogue: str
) -> Origin:
    return Origin(
        campaign=campaign,
        role=role,
        target=spelled_out(target, role),
        source=source,
        kind=kind,
        profile=profile,
        suite_version=suite,
        catalogue_digest=catalogue,
        generator=f"{source}-record-1 {kind} role={role}",
    )


# --- check --------------------------------------------------------------------------------------------------


def _cases(directory: Path, campaign: str) -> Iterator[tuple[Row, Trace | None]]:
    run = read_run(directory)
    head = run.header
    origin = _origin(
        campaign, head.role, "check", "case", head.target, head.profile, head.suite, head.catalogue
    )
    began = datetime.fromisoformat(head.started).astimezone(UTC)
    for result in run.results:
        outcome = _VERDICTS.get(result.verdict)
        if outcome is None:
            continue
        row = row_of(
            origin,
            Judged(
                outcome=outcome,
                violation=_violation(result, outcome),
                quirk=result.quirk or None,
                message=result.reason or result.detail.strip().rpartition("\n")[2],
            ),
            seed=_number(result.case),
            attempt=0,
            program=(),
            recorded=None,
            goals=(),
            started=began,
            elapsed_us=round(result.seconds * 1e6),
            clock=head.clock,
            version=head.description,
        )
        trace = result.trace or (result.failure.trace if result.failure is not None else None)
        yield _standing_for(row, result, head.role), _trace(directory / trace) if trace else None


def _violation(result: CaseResult, outcome: Outcome) -> Violation | None:
    failure = result.failure
    if failure is None or outcome not in ("fail", "quirk", "flaky"):
        return None
    return Violation(
        invariant=result.case,
        statement=failure.statement,
        expected=failure.expected,
        actual=failure.actual,
        number=0,
    )


def _trace(path: Path) -> Trace | None:
    try:
        return read_trace(path)
    except (TraceError, OSError):
        return None


def _standing_for(row: Row, result: CaseResult, role: Role) -> Row:
    """A row with one step that stands for a case."""
    step: Row = {name: [None] for name in ("broker", "cluster", "topic", "latency_us", "request_code")}
    step |= {name: [None] for name in ("response_code", "fault")}
    step |= {"rule": ["other"], "args": [msgspec.json.encode({"case": result.case}).decode()]}
    step |= {"server": [0], "conn": [""], "at_us": [0], "answer": ["none"], "bytes_out": [0], "bytes_in": [0]}
    step |= {"fp": [row["fp_initial"]], "statements": [sorted(result.statements)]}
    return row | step | {"steps": 1, "ops": ALPHABETS[role]["other"]}


# --- fuzz ---------------------------------------------------------------------------------------------------


def _findings(directory: Path, campaign: str) -> Iterator[tuple[Row, Trace | None]]:
    msgspec.json.decode((directory / "fuzz.json").read_bytes(), type=Record)
    for path in sorted(directory.glob(f"*/*/{SUMMARY}")):
        summary = read_summary(path.parent)
        found = summary.found
        digest = _number(repr(found.signature))
        trace = _trace(path.parent / TRACE)
        role = _role_of(found, trace)
        origin = _origin(
            campaign, role, "fuzz", summary.kind, summary.target, summary.profile, summary.suite, ""
        )
        is_finding = isinstance(found, Finding)
        row = row_of(
            origin,
            Judged(
                outcome="fail" if is_finding else "flaky",
                violation=_in(found),
                found=found,
                was_shrunk=is_finding,
            ),
            seed=digest,
            attempt=0,
            program=found.original if isinstance(found, Finding) else found.program,
            recorded=None,
            goals=(),
            started=_EPOCH,
            elapsed_us=0,
            clock=summary.clock,
            version=summary.description,
        )
        yield row | {"signature": signature_text(found.signature)}, trace


def _role_of(found: Finding | Flaky, trace: Trace | None) -> Role:
    """What a program was played on; where its trace cannot be read, what understands its steps."""
    if trace is not None:
        return "broker" if trace.header.role == "broker" else "nameserver"
    of_brokers = any(isinstance(step, BrokerRequest | BesideRequests) for step in found.program)
    return "broker" if of_brokers else "nameserver"


def _in(found: Finding | Flaky) -> Violation:
    """The violation, in the program as it was found, which ends with it."""
    if isinstance(found, Finding):
        judged, last = found.signature.statement, len(found.original) - 1
        return msgspec.structs.replace(found.violation, statement=judged, number=last)
    return found.violation


# --- diff ---------------------------------------------------------------------------------------------------


def _rounds(directory: Path, campaign: str) -> Iterator[tuple[Row, Trace | None]]:
    lines = (directory / "journal.jsonl").read_bytes().splitlines()
    if not lines:
        raise MiningError(f"--from {directory}: journal.jsonl is empty: no round was done", status=3)
    head = msgspec.json.decode(lines[0], type=Head)
    origin = _origin(campaign, "nameserver", "diff", "diff", head.b, head.profile, "", "")
    origin = msgspec.structs.replace(origin, generator=f"diff-record-1 against {head.a} seed={head.seed}")
    for line in lines[1:]:
        entry = msgspec.json.decode(line, type=Entry)
        if entry.left_out or entry.given_up:
            continue
        program, violation = _unexplained(directory, entry)
        outcome: Outcome = (
            "fail" if entry.learnt or entry.seen or entry.deaths else "flaky" if entry.unrepeated else "pass"
        )
        quirk = next(iter(sorted(entry.explained)), None)
        if outcome == "pass" and quirk is not None:
            outcome = "quirk"
        row = row_of(
            origin,
            Judged(
                outcome=outcome,
                violation=violation,
                quirk=quirk,
                message="it differed once, and not again" if entry.unrepeated else "",
            ),
            seed=entry.round,
            attempt=0,
            program=program,
            recorded=None,
            goals=(),
            started=_EPOCH,
            elapsed_us=0,
            clock="real",
            version=head.b,
        )
        yield row, None


def _unexplained(directory: Path, entry: Entry) -> tuple[tuple[AnyStep, ...], Violation | None]:
    for name in (*(one.finding for one in entry.learnt if one.finding), *entry.deaths):
        try:
            found = read_summary(directory / "findings" / Path(name).name).found
        except (OSError, msgspec.MsgspecError):
            continue
        return found.program, Violation(
            invariant="both targets answer alike",
            statement="",
            expected="the answer of the other target",
            actual=f"another one, in {found.violation.anomaly}",
            number=min(found.violation.number, len(found.program) - 1),
            anomaly=found.violation.anomaly,
        )
    return (), None
