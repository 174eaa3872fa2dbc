"""What was asked in an exchange, as facts by which exchanges can be compared.

The facts are which requests were sent, in which order, with which fields and bodies, and what was done
between them. Names that the exchange made up are no part of them, nor are large numbers.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

from harness.report.frames import RESTARTS, Moment, moments
from harness.trace import Header, Trace
from harness.wire import Command, Serialization, dissect

_WAIT = 30.0
"""Protocol seconds without a request that count as waiting."""
_ADDRESS = re.compile(r"\d+(\.\d+){3}:\d+")
_LARGE = re.compile(r"-?\d{2,}")
_LONGEST = 60
RESTARTED = "the server is restarted"
"""The fact of a restart, of whatever kind."""
_LARGEST_BODY = 1 << 20
_SENT = "is sent"


def exchange_facts(trace: Trace) -> frozenset[str]:
    """What was asked in an exchange, and in which order."""
    found: set[str] = set()
    before: Moment | None = None
    last = "nothing"
    for moment in moments(trace.events):
        if moment.kind == "closed" and moment.direction == "sent":
            found.add(f"after {last} a connection is closed")
        elif moment.kind == "note" and moment.label in RESTARTS:
            found.add(RESTARTED)
        if moment.kind != "frame" or moment.direction != "sent" or moment.purpose != "case":
            continue
        command = dissect(moment.data).command
        if command is None:
            continue
        if before is not None and moment.protocol - before.protocol > _WAIT:
            found.add(f"after {last} time passes")
        found |= {f"{command.code} {fact}" for fact in _facts(command, trace.header)}
        found.add(f"{command.code} after {last}")
        before, last = moment, str(command.code)
    return frozenset(found)


def is_sent(code: int) -> str:
    """The fact that a request was sent."""
    return f"{code} {_SENT}"


def _facts(command: Command, header: Header) -> Iterator[str]:
    yield _SENT
    if command.is_oneway:
        yield "one-way"
    if command.serialization is Serialization.ROCKETMQ:
        yield "with a binary header"
    for name, value in (command.ext or {}).items():
        yield from _said(name, value, header)
    if command.body:
        yield from _body(command.body, header)


def _body(body: bytes, header: Header) -> Iterator[str]:
    if body[:1] == b"\x78":
        yield "compressed"
        try:
            body = zlib.decompressobj().decompress(body, _LARGEST_BODY)
        except zlib.error:
            return
    try:
        yield from _said("body", json.loads(body), header)
    except RecursionError:  # nested as deep as a hostile peer can make it
        yield "body nested very deep"
    except ValueError:
        for line in body.decode("utf-8", "replace").splitlines():
            name, _, value = line.partition("=")
            yield from _said(_plain(name, header), value, header)


def _said(path: str, value: Any, header: Header) -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _said(f"{path}.{_plain(name, header)}", item, header)
    elif isinstance(value, list):
        for item in value:
            yield from _said(f"{path}.", item, header)
    else:
        yield f"{path} = {_plain(value if isinstance(value, str) else json.dumps(value), header)}"


def _plain(text: str, header: Header) -> str:
    """A text of which nothing is left that another exchange would not say."""
    if text in header.names or _ADDRESS.fullmatch(text) or (header.nonce and header.nonce in text):
        return "a name"
    return "a large number" if _LARGE.fullmatch(text) else text[:_LONGEST]
