"""`replay`: a recorded trace on any target, the old answer beside the new one."""

from __future__ import annotations

import argparse
import secrets
import shlex
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from harness.catalogue import Role, catalogue
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.cli.playing import is_played, played
from harness.cli.status import FAILED, HARNESS_FAILED, INCONCLUSIVE, OK
from harness.conformance.loading import cases
from harness.engine.controller.kind import ControllerKind
from harness.engine.controller.role import CONTROLLER
from harness.engine.pair.kind import PairKind
from harness.engine.pair.role import PAIR
from harness.findings import folder
from harness.findings.experiment import Finding, Flaky
from harness.findings.record import Record, record_of
from harness.findings.replay import replayed
from harness.findings.replay_answers import differences
from harness.findings.replay_core import NotOurs, Player, Row, lines_of
from harness.report.results import FILE_NAME, RecordError, read_run
from harness.report.text import visible
from harness.session import DEFAULT_SETUP, Instance, Setup, Unsupported
from harness.targets import Target, TargetError, parse
from harness.trace import BETWEEN, Trace, TraceError, read_trace

_WORDS = {OK: "THE SAME", FAILED: "DIFFERENT", INCONCLUSIVE: "INCOMPLETE", HARNESS_FAILED: "NOT REPLAYED"}


class _Recorded(msgspec.Struct, frozen=True):
    """What is to be done again."""

    path: Path
    trace: Trace
    decisive: int | None
    decides: dict[str, Any] | None = None
    must: tuple[int, ...] = ()
    """Rows that make it a reproduction, where it is that of a finding."""
    found: Finding | Flaky | None = None
    cut: bool = False
    """The file ends in the middle of an event."""


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    recorded = _read(options.trace)
    if recorded.found is not None and is_played(recorded.trace.header.case):
        return _play(options, recorded, recorded.found)
    both = bool(recorded.decides and recorded.decides.get("both"))
    record = record_of(recorded.trace, recorded.decisive, both=both)
    record.data["decides"] = recorded.decides
    targets = _targets(options, recorded.trace, record)
    people = sys.stderr if options.json else sys.stdout
    _head(recorded, targets, people)
    instances: list[Instance] = []
    why = ""
    try:
        for number, target in enumerate(targets):
            instances.append(_started(target, _setup(recorded.trace, number)))
        player = replayed(record, instances, secrets.randbelow)
        try:
            for row in player.play():
                if row.counts or not row.same or options.all:
                    _write(people, lines_of(row))
        except ConnectionError as problem:
            raise TargetError(
                expected=f"a connection to {targets[0].uri}", got=str(problem), do="see whether it runs"
            ) from None
        except NotOurs as problem:
            why = f"it cannot be done again to its end: {problem}"
        finally:
            player.close()
    finally:
        for instance in instances:
            instance.stop()
    return _finish(options, recorded, record, targets, player, why, people)


def _play(options: argparse.Namespace, recorded: _Recorded, found: Finding | Flaky) -> int:
    """Plays the program of a finding again."""
    header = recorded.trace.header
    people = sys.stderr if options.json else sys.stdout
    target = _targets(options, recorded.trace, record_of(recorded.trace, recorded.decisive))[0]
    _head(recorded, [target], people)
    _write(
        people, ["its program is played again: no recorded frame carries the log from master to slave", ""]
    )
    came = played(target, header.profile, found.program, found.violation)
    steps = f"{len(found.program)} steps"
    _write(people, [came.remark, f"{steps}          {_WORDS[came.status]}, exit {came.status}"])
    if options.json:
        say_json(
            {
                "conclusion": _WORDS[came.status],
                "exit_status": came.status,
                "trace": str(options.trace),
                "then": header.target,
                "now": [target.uri],
                "incomplete": [came.remark] if came.shows is None else [],
                "behind": 0.0,
                "shows": came.shows,
                "answers": [],
                "again": shlex.join(options.command_line),
            }
        )
    return came.status


# --- what is done again -------------------------------------------------------------------------------------


def _archived(path: Path, member: str) -> _Recorded:
    """A trace of a campaign, which keeps those of a chunk of runs in one archive."""
    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as directory:
            return _read(Path(archive.extract(member, directory)))
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        raise Usage(f"rmq-harness replay: {path}: expected an archive with {member}: {problem}") from None


def _read(path: Path) -> _Recorded:
    archive, is_archived, member = str(path).partition(".zip#")
    if is_archived:
        return _archived(Path(f"{archive}.zip"), member)
    if (path / folder.SUMMARY).exists():
        try:
            summary = folder.read_summary(path)
            trace = read_trace(path / folder.TRACE)
        except (OSError, msgspec.MsgspecError, TraceError) as problem:
            raise Usage(f"rmq-harness replay: {path}: no whole folder of a finding: {problem}") from None
        return _Recorded(
            path, trace, summary.decisive, summary.decides, tuple(summary.predicate), summary.found
        )
    if path.is_dir():
        inside = sorted(path.glob("traces/*.trace")) or sorted(path.glob("findings/*"))
        hint = f"; it holds some, such as {inside[0]}" if inside else ""
        raise Usage(
            f"rmq-harness replay: {path}: expected a trace or the folder of a finding, which has a "
            f"{folder.SUMMARY}{hint}"
        )
    try:
        trace = read_trace(path)
        with path.open("rb") as file:
            file.seek(-1, 2)
            cut = file.read() != b"\n"
    except OSError as problem:
        raise Usage(f"rmq-harness replay: {path}: expected a trace: {problem.strerror}") from None
    except TraceError as problem:
        raise Usage(f"rmq-harness replay: {problem}") from None
    return _Recorded(path, trace, _decisive(path), cut=cut)


def _decisive(path: Path) -> int | None:
    """The decisive event of a trace that `check` has written, from the record of that run beside it."""
    for directory in (path.parent, path.parent.parent):
        if not (directory / FILE_NAME).exists():
            continue
        try:
            results = read_run(directory).results
        except RecordError:
            return None
        for failure in (result.failure for result in results):
            if failure is not None and failure.trace and _is(directory / failure.trace, path):
                return failure.frame_no
    return None


def _is(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _targets(options: argparse.Namespace, trace: Trace, record: Record) -> list[Target]:
    uris: list[str] = options.target or trace.header.target.split(BETWEEN)
    servers = int(record.data["servers"])
    if not uris[0]:
        raise Usage(
            f"rmq-harness replay: {options.trace} does not say on which target it was recorded; name one"
        )
    if len(uris) not in (1, servers):
        raise Usage(f"rmq-harness replay: {options.trace} is of {servers} servers, got {len(uris)} targets")
    try:
        role = _role(trace)
        return [parse(uri, role, options.nameserver) for uri in (uris * servers)[:servers]]
    except TargetError as problem:
        raise Usage(f"rmq-harness replay: {problem}") from None


def _role(trace: Trace) -> Role:
    """What the server was that it was recorded on."""
    return "broker" if trace.header.role == "broker" else "nameserver"


def _setup(trace: Trace, number: int) -> Setup:
    """The settings that the case, or the kind of programs, started one of its servers with."""
    if trace.header.case == ControllerKind.name:
        return CONTROLLER.setup
    if trace.header.case == PairKind.name:
        return PAIR.others if number else PAIR.setup
    name = catalogue().current(trace.header.case)
    of_role = cases(role=_role(trace))
    return next((one.case.setup for one in of_role if one.name == name), DEFAULT_SETUP)


def _started(target: Target, setup: Setup) -> Instance:
    if setup == DEFAULT_SETUP:
        return target.start()
    try:
        return target.another(setup)
    except Unsupported as problem:
        raise TargetError(
            expected=f"a server with {', '.join(f'{name}={value}' for name, value in setup)}",
            got=target.uri,
            why=str(problem),
            do="name a target that can be started so, such as builtin: or apache:VERSION",
        ) from None


# --- what is said -------------------------------------------------------------------------------------------


def _head(recorded: _Recorded, targets: Sequence[Target], people: TextIO) -> None:
    header = recorded.trace.header
    about = header.case or ("a finding" if recorded.must else "a trace")
    now = catalogue().current(header.case)
    if now != header.case:
        about += f" (now called {now})"
    _write(
        people,
        [
            f"rmq-harness replay · {about} · {len(recorded.trace.events)} events",
            f"  then  {visible(header.target or 'a target without a name')} ({visible(header.description)})",
            f"  now   {', '.join(target.uri for target in targets)}",
            "",
        ],
    )


def _finish(
    options: argparse.Namespace,
    recorded: _Recorded,
    record: Record,
    targets: Sequence[Target],
    player: Player,
    why: str,
    people: TextIO,
) -> int:
    counted = [row for row in player.rows if row.counts]
    differing = [row for row in counted if not row.same]
    lacks = list(_lacks(recorded, record, counted, why))
    status = INCONCLUSIVE if lacks else FAILED if differing else OK
    decisive = next((row for row in player.rows if row.decisive), None)
    shows = _shows(recorded, player)
    remarks = [f"incomplete: {one}" for one in lacks]
    if player.behind > 2:
        remarks.append(f"it ran up to {player.behind:.1f} protocol seconds behind the recording")
    if shows is not None:
        remarks.append("the failure shows again" if shows else "the failure does not show")
    elif decisive is not None:
        remarks.append(f"the decisive answer is {'the same' if decisive.same else 'another one'}")
    _write(
        people,
        [
            "",
            *remarks,
            f"{len(counted) - len(differing)} of {len(counted)} answers are the same, {len(differing)} differ"
            f"          {_WORDS[status]}, exit {status}",
        ],
    )
    if options.json:
        say_json(
            {
                "conclusion": _WORDS[status],
                "exit_status": status,
                "trace": str(options.trace),
                "then": recorded.trace.header.target,
                "now": [target.uri for target in targets],
                "incomplete": lacks,
                "behind": round(player.behind, 3),
                "shows": shows,
                "answers": [_object(row) for row in player.rows],
                "again": shlex.join(options.command_line),
            }
        )
    return status


def _lacks(recorded: _Recorded, record: Record, counted: Sequence[Row], why: str) -> Iterator[str]:
    """Why the replay does not say all that the trace could."""
    if why:
        yield why
    yield from record.missing
    if recorded.cut:
        yield "the file ends in the middle of an event"
    if not counted:
        yield "there is no answer in it to compare"


def _shows(recorded: _Recorded, player: Player) -> bool | None:
    """Whether a finding shows again; None for a plain trace."""
    if not recorded.must:
        return None
    rows = player.rows
    return all(number < len(rows) and rows[number].holds for number in recorded.must)


def _object(row: Row) -> dict[str, Any]:
    only_old, only_new = differences(row.old, row.new)
    return {
        "number": row.action.get("number", -1),
        "connection": row.action.get("connection"),
        "at": round(row.at, 3),
        "what": row.action.get("what", ""),
        "same": row.same,
        "decisive": row.decisive,
        "counts": row.counts,
        "old": row.old,
        "new": row.new,
        "only_old": only_old,
        "only_new": only_new,
    }


def _write(people: TextIO, lines: Sequence[str]) -> None:
    encoding = people.encoding or "utf-8"
    for line in lines:
        people.write((line + "\n").encode(encoding, "backslashreplace").decode(encoding))
