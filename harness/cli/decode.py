"""`decode`: frames taken apart, with the range of bytes of every field; captures and traces, command by
command.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli import conversation
from harness.cli.output import say_json
from harness.cli.parser import Usage
from harness.report.text import visible
from harness.trace import TraceError
from harness.trace.packets import CaptureError, is_capture
from harness.wire import Dissection, dissect

_SEPARATORS = re.compile(rb"[\s:,|]+")
_HEX = re.compile(rb"(0[xX])?[0-9a-fA-F]+")
_TRACE = b'{"event":"trace"'
SHOWN = 2000  # characters of a value on a terminal; --json gives all


def run(options: argparse.Namespace) -> int:
    """Runs the command; 0 if every frame can be decoded, 1 if Apache would close on one of them, 2 if there
    is none in a capture or a trace.
    """
    if (recorded := _recorded(options.frames)) is not None:
        return _conversation(recorded, options)
    _only_for_captures(options, "this is none")
    data = _read(options.frames)
    frames = _frames(data)
    taken = [(offset, frame, dissect(frame)) for offset, frame in frames]
    if options.json:
        say_json({"frames": [_object(*one) for one in taken]})
    else:
        console = Console(highlight=False, markup=False)
        for offset, frame, dissection in taken:
            _print(console, offset, frame, dissection)
    return 1 if any(dissection.fatal for _, _, dissection in taken) else 0


def _recorded(argument: str) -> Path | None:
    """The capture or trace that the user means, which may be that of a finding's folder; None for frames."""
    path = Path(argument)
    if argument in ("-", "") or not _is_there(argument):
        return None
    if path.is_dir():
        traces = sorted(path.glob("*.trace"))
        if len(traces) != 1:
            said = ", ".join(trace.name for trace in traces[:5]) or "none"
            raise Usage(
                f"rmq-harness decode: {argument} is a folder; expected one *.trace in it, found {said}"
            )
        return traces[0]
    try:
        with path.open("rb") as file:
            begins = file.read(16)
    except OSError:  # said where it is read as frames
        return None
    return path if is_capture(begins) or begins.startswith(_TRACE) else None


def _conversation(path: Path, options: argparse.Namespace) -> int:
    try:
        with path.open("rb") as file:
            is_trace = file.read(len(_TRACE)) == _TRACE
        if not is_trace:
            return conversation.of_capture(path, port=options.port, keylog=options.keylog, json=options.json)
        _only_for_captures(options, "a trace holds what is ours already, in clear")
        return conversation.of_trace(path, json=options.json)
    except (TraceError, CaptureError) as problem:
        raise Usage(f"rmq-harness decode: {problem}") from None


def _only_for_captures(options: argparse.Namespace, why: str) -> None:
    for option, value in (("--port", options.port), ("--keylog", options.keylog)):
        if value is not None:
            raise Usage(f"rmq-harness decode: {option} is for captures; {why}")


def _read(argument: str) -> bytes:
    """The bytes that the user means: hexadecimal digits, or the content of a file (raw, or hexadecimal)."""
    packed = _unhex(argument.encode("utf-8", "surrogateescape"))
    if packed is not None and not _is_there(argument):
        return packed
    try:
        data = sys.stdin.buffer.read() if argument == "-" else Path(argument).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Usage(
            f"rmq-harness decode: {argument[:80]!r} is neither hexadecimal digits (in pairs) nor a file "
            f"that can be read ({reason})"
        ) from None
    if not data:
        raise Usage(
            f"rmq-harness decode: {argument}: no bytes; expected frames, raw or in hexadecimal digits"
        )
    unpacked = _unhex(data)
    return data if unpacked is None else unpacked


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # longer than any name of a file
        return False


def _unhex(text: bytes) -> bytes | None:
    digits = _SEPARATORS.sub(b"", text)
    if not _HEX.fullmatch(digits) or len(digits) % 2:
        return None
    return bytes.fromhex(digits.decode().removeprefix("0x").removeprefix("0X"))


def _frames(data: bytes) -> list[tuple[int, bytes]]:
    """Cuts at the length words; what cannot be cut any further is the last piece."""
    pieces: list[tuple[int, bytes]] = []
    offset = 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + 4], "big", signed=True)
        end = offset + 4 + length
        if length < 4 or end > len(data):
            end = len(data)
        pieces.append((offset, data[offset:end]))
        offset = end
    return pieces


def _object(offset: int, frame: bytes, dissection: Dissection) -> dict[str, Any]:
    return {
        "offset": offset,
        "length": len(frame),
        "valid": not dissection.fatal,
        "fields": [
            {"name": field.name, "start": field.start, "end": field.end, "value": _plain(field.value)}
            for field in dissection.fields
        ],
        "diagnostics": [msgspec.to_builtins(diagnostic) for diagnostic in dissection.diagnostics],
    }


def _print(console: Console, offset: int, frame: bytes, dissection: Dissection) -> None:
    console.print(f"frame at byte {offset}, {len(frame)} bytes")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("field", overflow="fold")
    table.add_column("value", overflow="fold")
    for field in dissection.fields:
        shown = visible(str(_plain(field.value)))
        cut = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]} … {len(shown) - SHOWN} more characters"
        table.add_row(f"{field.start}–{field.end}", Text(field.name), Text(cut))
    console.print(table)
    for diagnostic in dissection.diagnostics:
        mark = "✘ Apache closes the connection" if diagnostic.fatal else "! odd"
        where = f"{diagnostic.code}, bytes {diagnostic.start}–{diagnostic.end}"
        console.print(f"{mark}: {visible(diagnostic.message)} ({where})")
    console.print()


def _plain(value: int | str | bytes | None) -> int | str | None:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex()
    return value
