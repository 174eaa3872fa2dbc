"""`remarks`: what is wrong with the clients in recorded traffic."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.cli.output import complain, say, say_json
from harness.cli.parser import Usage
from harness.cli.status import FAILED, INCONCLUSIVE, OK
from harness.remarks import Judged, Remark, Source, judged
from harness.report.text import plural, visible
from harness.trace import Header, TraceError, open_trace
from harness.trace.packets import Capture, CaptureError, is_capture
from harness.trace.reassembly import Reassembly
from harness.trace.unwrapping import Unwrapping


def run(options: argparse.Namespace) -> int:
    """Runs the command; 0 without a remark, 1 with some, 2 where no client has asked anything."""
    try:
        found = judged([_source(path, options) for path in _files(options.files)])
    except OSError as problem:
        raise Usage(
            f"rmq-harness remarks: {problem.filename} cannot be read ({problem.strerror}); expected a "
            "trace, a folder of traces, or a capture (pcap, pcapng)"
        ) from None
    except (TraceError, CaptureError) as problem:
        raise Usage(f"rmq-harness remarks: {problem}") from None
    for remark in found.remarks:
        if options.json:
            say_json(_object(remark))
        else:
            say(f"{visible(str(remark), keep_lines=True)}\n")
    if not options.json:
        complain(_summary(found))
    if found.remarks:
        return FAILED
    return OK if found.requests else INCONCLUSIVE


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        traces = sorted(path.glob("*.trace")) if path.is_dir() else [path]
        if not traces:
            raise Usage(
                f"rmq-harness remarks: {path} is a folder; expected traces (*.trace) in it, found none"
            )
        yield from traces


def _source(path: Path, options: argparse.Namespace) -> Source:
    with path.open("rb") as file:
        begins = file.read(16)
    if not is_capture(begins):
        header, events = open_trace(path)
        return Source(header, events)
    reassembly = Reassembly(options.port)
    capture = Capture(path)
    seen = (event for segment in capture for event in reassembly.add(segment))
    if options.keylog is not None:
        unwrapping = Unwrapping(options.keylog)
        seen = (clear for event in seen for clear in unwrapping.add(event))
    return Source(Header(), seen, all_speak=options.port is not None)


def _object(remark: Remark) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(remark)
    evidence = [
        {**one, "frame": told.frame.hex()}
        for one, told in zip(made["evidence"], remark.evidence, strict=True)
    ]
    return made | {"level": remark.rule.level, "evidence": evidence}


def _summary(found: Judged) -> str:
    if not found.requests:
        return "no request of a client was seen, so nothing was judged"
    said = plural(len(found.remarks), "remark") if found.remarks else "no remark"
    return f"{said} on {plural(found.clients, 'client')}, which sent {plural(found.requests, 'request')}"
