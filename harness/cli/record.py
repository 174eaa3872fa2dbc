"""`record`: a proxy that writes down what passes it, as a trace and as a capture.

It ends by Ctrl-C (130, as everywhere) or by `--max-time` (0); either way both files are
whole. 2 where no connection came.
"""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from harness.cli.output import complain, say_json
from harness.cli.parser import Usage
from harness.cli.status import HARNESS_FAILED, INCONCLUSIVE, INTERRUPTED, OK
from harness.targets.recording import CAPTURE, TRACE, Recorded, record
from harness.version import version


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    if options.upstream[1] == 0:
        raise Usage("rmq-harness record: UPSTREAM needs the port of the server, got 0")
    recorded, interrupted = Recorded(), False
    try:
        record(
            options.listen,
            options.upstream,
            options.out,
            recorded,
            suite=version(),
            max_time=options.max_time,
            listening=lambda address: complain(f"recording at {address}; Ctrl-C ends it"),
            remark=complain,
        )
    except KeyboardInterrupt:
        interrupted = True
    except OSError as problem:
        complain(
            f"rmq-harness record: {options.out}: {problem.strerror or problem}; what was recorded is there"
        )
        return HARNESS_FAILED
    _tell(recorded, options)
    if interrupted:
        return INTERRUPTED
    return OK if recorded.connections else INCONCLUSIVE


def _tell(recorded: Recorded, options: argparse.Namespace) -> None:
    trace, capture = options.out / TRACE, options.out / CAPTURE
    if options.json:
        told: dict[str, Any] = msgspec.to_builtins(recorded)
        say_json(told | {"trace": str(trace), "pcap": str(capture)})
        return
    refused = f", {recorded.refused} more not taken by the server" if recorded.refused else ""
    complain(
        f"{recorded.connections} connections{refused}, {recorded.sent} bytes to the server, "
        f"{recorded.received} bytes from it: {trace}, {capture}"
    )
