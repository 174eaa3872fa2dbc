"""From a played run to a row of `schema`.

Invariants:
- A row is made of values alone: the program, the record, the judgement. The same run gives the same row
  anywhere, but for what a clock said (`started`, `elapsed_us`, `latency_us`, and `at_us` if time is not
  virtual).
- Fingerprints are digests of the state that the program should have produced: of its `facts`, by symbols.
- Frames that went out in one segment cannot be separated on the wire: the first step has all of its bytes.
- A row whose arrays differ in length is refused before it is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa

from harness.catalogue import Role
from harness.engine.kinds import played_on
from harness.findings.experiment import Attempt, Finding, Flaky, Signature, signature_of
from harness.mining.schema import ALPHABETS, COLUMNS, SCHEMA_VERSION, Outcome, arrow_schema
from harness.program.broker.steps import NameServer
from harness.program.frames import code_of
from harness.program.nameserver import steps as ns
from harness.program.step import Close, Request, Restart
from harness.program.steps import AnyStep, encode_step
from harness.program.traits import changes
from harness.spec import Answered, Ended, Garbled, Observation, Unanswered, Violation
from harness.trace import Header, Received, Sent, Trace

Row = dict[str, Any]
"""By the names of `COLUMNS`, those of the path included."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run comes from: what all runs of one batch have in common."""

    campaign: str
    role: Role
    target: str
    source: str
    kind: str
    profile: str
    suite_version: str
    catalogue_digest: str
    generator: str

    @property
    def mutant(self) -> str | None:
        """Of the target, where it is one."""
        return self.target.partition("mutant=")[2].partition("&")[0] or None


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a run."""

    outcome: Outcome
    violation: Violation | None = None
    quirk: str | None = None
    found: Finding | Flaky | None = None
    """What was made of it, where it was pursued."""
    was_shrunk: bool = False
    message: str = ""
    """What happened, where no violation says so."""


# --- steps --------------------------------------------------------------------------------------------------


def letters(rules: Iterable[str], role: Role) -> str:
    """Rules as `ops`."""
    return "".join([ALPHABETS[role][rule] for rule in rules])


def fault_of(step: AnyStep) -> str | None:
    """The kinds of fault that are in a step, joined by +."""
    found: set[str] = set()
    match step:
        case ns.Damaged():
            found = {str(type(damage).__struct_config__.tag) for damage in step.damages}
            found |= {"cut"} if step.cuts else set()
        case Request():
            said = {
                "cut": bool(step.cuts),
                "stalled": bool(step.cuts and step.stall),
                "held": step.held,
                "twice": step.twice,
                "broken": step.broken is not None,
                "one-way": step.oneway,
                "field-missing": bool(step.drop),
            }
            found = {kind for kind, is_so in said.items() if is_so}
        case Close():
            found = set() if step.how == "fin" else {step.how}
        case Restart():
            found = {step.how}
        case NameServer() if step.manner not in ("well", "knows"):
            found = {f"nameserver-{step.manner}"}
    return "+".join(sorted(found)) or None


def fingerprint(state: Any) -> int:
    """A digest of what should exist (`Role.state`), as a signed number of 64 bits."""
    said = repr(state.facts()).encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big", signed=True)


def _changes_nothing(step: AnyStep) -> bool:
    """Whether a step leaves every state as it is, so that its print need not be taken again."""
    if isinstance(step, Request):
        return step.broken is None and not changes(step)
    return isinstance(step, ns.Damaged)


def _prints(program: Sequence[AnyStep], origin: Origin) -> tuple[int, list[int]]:
    role = played_on(origin.kind, origin.role)
    servers = 1 + max((getattr(step, "server", 0) for step in program), default=0)
    state = role.state(origin.profile, servers)
    first = latest = fingerprint(role.state(origin.profile, 1))
    prints = []
    for step in program:
        state.apply(step)
        if not _changes_nothing(step):
            latest = fingerprint(state)
        prints.append(latest)
    return first, prints


# --- what was recorded --------------------------------------------------------------------------------------


class _Wire:
    """Bytes and moments of a trace, by the numbers of its events, and of what was observed in it."""

    def __init__(self, trace: Trace, observed: Sequence[Observation]) -> None:
        self._events = trace.events
        self._warp = trace.header.warp
        self._is_virtual = trace.header.clock == "virtual"
        self._out: dict[int, int] = {}
        """By first event: bytes of what a step has sent."""
        self._in: dict[int, tuple[int, int]] = {}
        """By event: connection, and all bytes that it had brought by then."""
        self._told: dict[int, int] = {}
        begun: dict[int, int] = {}
        brought: dict[int, int] = {}
        asked = {one.asked for one in observed}
        self._ahead: dict[int, float] = {}
        """By server: protocol seconds that its clock is ahead of the trace."""
        for one in observed:
            if one.asked >= 0:
                self._ahead.setdefault(one.server, one.invoked - self._told_at(one.asked))
        for number, event in enumerate(trace.events):
            if isinstance(event, Sent) and event.purpose == "case":
                first = begun.get(event.connection, number)
                begun[event.connection] = first = number if number in asked else first
                self._out[first] = self._out.get(first, 0) + len(event.data)
            elif isinstance(event, Received):
                begun.pop(event.connection, None)
                brought[event.connection] = brought.get(event.connection, 0) + len(event.data)
                self._in[number] = (event.connection, brought[event.connection])

    def sent(self, event: int) -> int:
        """Bytes of the segments that begin with an event; 0 once they have been told."""
        return self._out.pop(event, 0)

    def received(self, event: int) -> int:
        """Bytes that came on the connection of an event, up to it and since the last that were reported."""
        connection, brought = self._in.get(event, (-1, 0))
        before = self._told.get(connection, 0)
        self._told[connection] = max(brought, before)
        return max(0, brought - before)

    def latency(self, asked: int, answered: int) -> int | None:
        """Real microseconds from one event to another."""
        if asked < 0 or answered < 0:
            return None
        return max(0, round((self._events[answered].real - self._events[asked].real) * 1e6))

    def moment(self, seen: Observation) -> float:
        """Protocol seconds at which a step began, on one scale for all servers."""
        if self._is_virtual:
            return seen.invoked
        if seen.asked >= 0:
            return self._told_at(seen.asked)
        # Time that passes, and what a server did by itself.
        return seen.invoked - self._ahead.get(seen.server, seen.invoked)

    def _told_at(self, event: int) -> float:
        return self._events[event].real * self._warp


_ANSWERS: Mapping[type, str] = {Answered: "answered", Ended: "closed", Garbled: "garbled"}


def _answer(seen: Observation | None) -> str:
    if seen is None or seen.outcome is None:
        return "none"
    if isinstance(seen.outcome, Unanswered):
        return "silent" if seen.outcome.surely else "none"
    return _ANSWERS.get(type(seen.outcome), "none")  # what others have heard is no answer


def _event_of(seen: Observation | None) -> int:
    if seen is None or not isinstance(seen.outcome, Answered | Ended | Garbled):
        return -1
    return seen.outcome.event


# --- rows ---------------------------------------------------------------------------------------------------


def row_of(
    origin: Origin,
    judged: Judged,
    *,
    seed: int,
    attempt: int,
    program: Sequence[AnyStep],
    recorded: Attempt | None,
    goals: Sequence[str],
    started: datetime,
    elapsed_us: int,
    clock: str = "",
    version: str = "",
    trace: str | None = None,
) -> Row:
    """The row of a run. ``recorded`` None: nothing of it is known but ``program``."""
    violation = judged.violation
    rules = [step.rule for step in program]
    first, prints = _prints(program, origin)
    head = Header() if recorded is None else recorded.trace.header
    row: Row = {
        "schema_version": SCHEMA_VERSION,
        "run_id": f"{origin.campaign}/{origin.kind}/{seed}/{attempt}/{origin.target}",
        "campaign": origin.campaign,
        "target": origin.target,
        "source": origin.source,
        "kind": origin.kind,
        "version": version or head.description,
        "mutant": origin.mutant,
        "profile": origin.profile,
        "seed": seed,
        "attempt": attempt,
        "suite_version": origin.suite_version,
        "catalogue_digest": origin.catalogue_digest,
        "clock": clock or head.clock,
        "generator": origin.generator,
        "started": started,
        "elapsed_us": elapsed_us,
        "steps": len(program),
        "outcome": judged.outcome,
        "statement": None if violation is None else violation.statement or None,
        "invariant": None if violation is None else violation.invariant,
        "anomaly": None if violation is None else violation.anomaly,
        "expected": None if violation is None else violation.expected,
        "actual": (judged.message or None) if violation is None else violation.actual,
        "failing_step": None if violation is None else violation.number,
        "signature": None if violation is None else signature_text(signature_of(program, violation)),
        "quirk": judged.quirk,
        "trace": trace,
        "goals": sorted(set(goals)),
        "fp_initial": first,
        "ops": letters(rules, origin.role),
        "rule": rules,
        "args": [encode_step(step) for step in program],
        "server": [getattr(step, "server", 0) for step in program],
        "conn": [getattr(step, "conn", "") for step in program],
        "broker": [getattr(step, "broker", None) for step in program],
        "cluster": [getattr(step, "cluster", None) for step in program],
        "topic": [_topic(step) for step in program],
        "request_code": [_code(step) for step in program],
        "fp": prints,
        "fault": [fault_of(step) for step in program],
        "role": origin.role,
    }
    return row | _made_of_it(judged, origin.role) | _seen(program, recorded, violation)


def signature_text(one: Signature) -> str:
    """A signature as `signature` has it."""
    return f"{one.statement}|{one.invariant}|{one.anomaly or ''}|{one.kind}"


def _topic(step: AnyStep) -> str | None:
    if isinstance(step, ns.Register):
        return next(iter(step.topics), None)
    return getattr(step, "topic", None)


def _code(step: AnyStep) -> int | None:
    if isinstance(step, ns.Damaged):
        return int(code_of(step.base))
    return int(code_of(step)) if isinstance(step, Request) else None


def _made_of_it(judged: Judged, role: Role) -> Row:
    found = judged.found
    shrunk = found.program if judged.was_shrunk and isinstance(found, Finding) else None
    return {
        "shrunk_ops": None if shrunk is None else letters((step.rule for step in shrunk), role),
        "shrunk_program": None if shrunk is None else "\n".join(map(encode_step, shrunk)),
        "also_fails": None if shrunk is None or not isinstance(found, Finding) else list(found.also_fails),
        "confirmed_shown": None if found is None else found.confirmed.shown,
        "confirmed_tried": None if found is None else found.confirmed.tried,
    }


def _seen(program: Sequence[AnyStep], recorded: Attempt | None, violation: Violation | None) -> Row:
    """The columns of steps that say what came of them: what was observed first of each."""
    observed = () if recorded is None else recorded.observed
    by_step: dict[int, Observation] = {}
    for one in observed:
        by_step.setdefault(one.number, one)
    wire = _Wire(Trace(Header(), ()) if recorded is None else recorded.trace, observed)
    began = min((wire.moment(one) for one in observed), default=0.0)
    columns: Row = {name: [] for name in _OF_OUTCOMES}
    at = 0
    for number in range(len(program)):
        seen = by_step.get(number)
        event = _event_of(seen)
        if seen is not None:
            at = max(at, round((wire.moment(seen) - began) * 1e6))
        answered = seen is not None and isinstance(seen.outcome, Answered)
        columns["at_us"].append(at)
        columns["latency_us"].append(
            wire.latency(seen.asked, event) if seen is not None and answered else None
        )
        columns["response_code"].append(_response(seen))
        columns["answer"].append(_answer(seen))
        columns["bytes_out"].append(0 if seen is None else wire.sent(seen.asked))
        columns["bytes_in"].append(wire.received(event))
        judged = set(() if recorded is None else recorded.judged.get(number, ()))
        if violation is not None and number == violation.number:
            judged.add(violation.statement)
        columns["statements"].append(sorted(judged))
    return columns


_OF_OUTCOMES = ("at_us", "latency_us", "response_code", "answer", "bytes_out", "bytes_in", "statements")


def _response(seen: Observation | None) -> int | None:
    return int(seen.outcome.command.code) if seen is not None and isinstance(seen.outcome, Answered) else None


# --- tables -------------------------------------------------------------------------------------------------


def table_of(rows: Sequence[Row], *, steps: bool = True) -> pa.Table:
    """Rows as a file has them. Raises ``ValueError`` for one that is not whole: a column is missing, or is
    null where it may not be, or an array is not of its length.
    """
    for row in rows:
        _refuse_if_torn(row)
    schema = arrow_schema(steps=steps)
    return pa.table(
        [pa.array([row[field.name] for row in rows], type=field.type) for field in schema], schema=schema
    )


def _refuse_if_torn(row: Row) -> None:
    for column in COLUMNS:
        value = row.get(column.name, ...)
        if value is ... or (value is None and not column.null):
            raise ValueError(f"run {row.get('run_id')}: expected {column.name} ({column.about}), got {value}")
        if column.per_step and len(value) != row["steps"]:
            raise ValueError(
                f"run {row['run_id']}: expected {row['steps']} elements in {column.name}, one for each step, "
                f"got {len(value)}"
            )
    if len(row["ops"]) != row["steps"]:
        raise ValueError(f"run {row['run_id']}: expected {row['steps']} letters in ops, got {row['ops']}")
