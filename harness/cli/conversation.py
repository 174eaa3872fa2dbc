"""What `decode` prints of a capture or a trace: every command, one after the other, as they come.

Nothing is gathered before it is printed, so that files of any size can be read; the
last words are what was not seen, not read and not answered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from harness.cli.output import complain, say, say_json
from harness.cli.status import FAILED, INCONCLUSIVE, OK
from harness.report.commands import Commands, Line, Remark, Told, Totals, code_name
from harness.report.text import visible
from harness.trace import open_trace
from harness.trace.packets import Capture
from harness.trace.reassembly import By, Reassembly, Seen
from harness.trace.unwrapping import Unwrapping

SHOWN: Final = 240
"""Characters of ext fields and remarks on a terminal; --json gives all."""
_LISTED: Final = 10
_ARROWS: Final[dict[By | None, str]] = {"us": "→", "target": "←", None: "·"}


def of_trace(path: Path, *, json: bool) -> int:
    """Prints a trace. Raises ``TraceError``."""
    _, events = open_trace(path)
    commands = Commands(all_speak=True)
    _print(_lines(events, commands), json)
    return _finish(commands.totals, [], json)


def of_capture(path: Path, *, port: int | None, keylog: Path | None, json: bool) -> int:
    """Prints a capture, with what TLS carried where the key log tells it. Raises ``CaptureError``."""
    unwrapping = None if keylog is None else Unwrapping(keylog)
    capture = Capture(path)
    reassembly = Reassembly(port)
    commands = Commands(all_speak=port is not None)
    events = _seen(capture, reassembly)
    if unwrapping is not None:
        events = (clear for seen in events for clear in unwrapping.add(seen))
    _print(_lines(events, commands), json)
    notes = []
    if not capture.packets:
        notes.append("no packet in the file")
    if capture.others:
        notes.append(f"{capture.others} of {capture.packets} packets hold no TCP")
    if capture.cut:
        notes.append(f"{capture.cut} packets were cut by the capture; capture whole ones (tcpdump -s 0)")
    if reassembly.other_ports:
        notes.append(f"{reassembly.other_ports} packets of connections without port {port}")
    if reassembly.repeated:
        notes.append(f"{reassembly.repeated} segments were sent again")
    if reassembly.contradicting:
        notes.append(f"{reassembly.contradicting} segments held other bytes when they were sent again")
    if unwrapping is not None:
        notes.append(f"{unwrapping.decrypted} connections under TLS were decrypted with {keylog}")
    if commands.totals.tls:
        way = "give a key log with --keylog FILE" if keylog is None else "the key log has no secret of theirs"
        notes.append(f"{commands.totals.tls} connections under TLS were not read: {way}")
    return _finish(commands.totals, notes, json)


def _seen(capture: Capture, reassembly: Reassembly) -> Iterator[Seen]:
    with _progress() as progress:
        task = progress.add_task(capture.path.name, total=capture.path.stat().st_size)
        for segment in capture:
            yield from reassembly.add(segment)
            if not capture.packets % 256:
                progress.update(task, completed=capture.read)
    yield from reassembly.end()


def _progress() -> Progress:
    """A bar for people who look on, and whose terminal does not show the commands already."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=_standard_error(),
        disable=not sys.stderr.isatty() or sys.stdout.isatty(),
        transient=True,
    )


def _standard_error() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def _lines(events: Iterable[Seen], commands: Commands) -> Iterator[Line]:
    for event in events:
        yield from commands.add(event)
    yield from commands.end()


def _print(lines: Iterator[Line], json: bool) -> None:
    for line in lines:
        if json:
            say_json(_object(line))
        elif isinstance(line, Remark):
            mark = "! " if line.trouble else ""
            say(f"{_place(line.at, line.connection)} {_ARROWS[line.by]} {mark}{visible(line.text)}")
        else:
            for text in _told(line):
                say(text)


def _place(at: float, connection: int | None) -> str:
    return f"{at:12.6f}  {'' if connection is None else f'c{connection}':<5}"


def _told(told: Told) -> Iterator[str]:
    command, place = told.command, _place(told.at, told.connection)
    begins = f"{place} {_ARROWS[told.by]} #{told.number}"
    if command is None:
        yield f"{begins} a frame that cannot be decoded, {len(told.frame)} bytes from {told.start} on"
    else:
        parts = [code_name(command)]
        if not command.is_response:
            parts[0] += f" {command.code}{' one-way' if command.is_oneway else ''}"
        elif told.answers is not None and told.after is not None:
            parts.append(f"answers #{told.answers} after {told.after * 1000:.3f} ms")
        else:
            parts.append("answers no request that was seen")
        parts.append(f"opaque {command.opaque}")
        if command.remark:
            parts.append(f"remark {_cut(command.remark)}")
        if command.ext:
            parts.append(_cut(", ".join(f"{key}={value}" for key, value in command.ext.items())))
        if (body := told.body) is not None:
            parts.append(f"body of {len(command.body)} bytes: {body.text}")
        yield f"{begins} {' · '.join(parts)}"
    for problem in told.dissection.diagnostics:
        mark = "✘ Apache closes the connection" if problem.fatal else "! odd"
        where = f"{problem.code}, bytes {problem.start}–{problem.end}"
        yield f"{'':{len(place)}}   {mark}: {visible(problem.message)} ({where})"


def _cut(text: str) -> str:
    shown = visible(text[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def _object(line: Line) -> dict[str, Any]:
    """A line for machines. ``by`` is ``us`` for who connected, ``target`` for whom it connected to."""
    if isinstance(line, Remark):
        return {"kind": "remark", **msgspec.to_builtins(line)}
    command, body = line.command, line.body
    made: dict[str, Any] = {
        "kind": "command",
        "number": line.number,
        "at": line.at,
        "connection": line.connection,
        "by": line.by,
        "start": line.start,
        "length": len(line.frame),
        "valid": command is not None,
        "diagnostics": [msgspec.to_builtins(diagnostic) for diagnostic in line.dissection.diagnostics],
    }
    if command is None:
        return made | {"frame": line.frame.hex()}
    return made | {
        "code": command.code,
        "name": code_name(command),
        "response": command.is_response,
        "oneway": command.is_oneway,
        "request": line.asked,
        "answers": line.answers,
        "after": line.after,
        "opaque": command.opaque,
        "flag": command.flag,
        "language": command.language,
        "version": command.version,
        "serialization": command.serialization.name,
        "remark": command.remark,
        "ext": command.ext,
        "body": None if body is None else body.value,
        "body_length": len(command.body),
    }


def _finish(totals: Totals, notes: list[str], json: bool) -> int:
    """Says what it came to. 1 where Apache would close a connection, 2 where there was nothing to read."""
    if json:
        say_json({"kind": "totals", **msgspec.to_builtins(totals), "notes": notes})
    else:
        for text in (*_summary(totals), *notes):
            complain(text)
    if totals.fatal:
        return FAILED
    return OK if totals.commands else INCONCLUSIVE


def _summary(totals: Totals) -> Iterator[str]:
    others = f", {totals.others} others without a frame" if totals.others else ""
    yield (
        f"{totals.commands} commands on {totals.connections} connections{others}: {totals.requests} requests "
        f"and {totals.responses} responses, {totals.answered} of them to requests that were seen"
    )
    if totals.unanswered:
        named = ", ".join(f"#{number}" for number in totals.unanswered[:_LISTED])
        more = ", …" if len(totals.unanswered) > _LISTED else ""
        yield f"{len(totals.unanswered)} requests without an answer: {named}{more}"
    if totals.missing or totals.skipped:
        yield f"{totals.missing} bytes were not captured, {totals.skipped} bytes were passed over"
    if totals.fatal:
        yield f"{totals.fatal} frames on which Apache's server closes the connection"
