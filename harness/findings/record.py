"""From a trace to a record: what `harness.findings.replay_core` plays, as plain data.

A record is a dict of JSON values: ``format``, ``nonces``, ``rules``, ``addresses``, ``servers``, ``actions``.

Invariants:
- Actions are in the order of the trace. ``at`` is protocol seconds since the first action on the same server.
  What was sent is kept as it was sent; what came is joined to frames; an answer that never came stands where
  it could have come last.
- What no bytes can reproduce (a file that was changed, a connection that the target made) is listed in
  `Record.missing`: such a record is not whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.program.names import MADE_NAME
from harness.report.frames import RESTARTS, describe
from harness.session.broker.replication import BETWEEN_BROKERS
from harness.session.nameserver.session import AT_THE_CONTROLLER
from harness.trace import Closed, Event, Note, Opened, Received, Sent, Trace
from harness.wire import Command, FrameBuffer, WireError, dissect
from harness.wire.comparing import comparison_rules

FORMAT = 2

_MADE = re.compile(MADE_NAME)
_ADDRESS = re.compile(r"\d+(?:\.\d+){3}:\d+")
_PREAMBLE = re.compile(r"preamble (b['\"].*)", re.DOTALL)


class Record(msgspec.Struct, frozen=True):
    """What can be done again, and what of the trace cannot."""

    data: dict[str, Any]
    missing: tuple[str, ...]


def record_of(trace: Trace, decisive: int | None = None, *, died: bool = False, both: bool = False) -> Record:
    """The record of a trace. `decisive` is the number of the event that decided; where it is that of a
    request, what became of the request decides. `died`: in the end the target took no connection. `both`:
    two targets are compared, and what the other one answered to the same request decides, too.
    """
    writer = _Writer(decisive)
    for number, event in enumerate(trace.events):
        writer.add(number, event)
    actions = writer.finished(died)
    if both:
        _flag_other(actions)
    names = trace.header.names
    nonces = {found[1] for name in names if (found := _MADE.search(name))}
    data = {
        "format": FORMAT,
        "nonces": sorted(nonces | ({trace.header.nonce} if trace.header.nonce else set())),
        "rules": comparison_rules(MADE_NAME),
        "addresses": sorted(name for name in names if _ADDRESS.fullmatch(name)),
        "servers": writer.servers,
        "actions": actions,
    }
    return Record(data, tuple(writer.missing))


class _Asked(msgspec.Struct):
    """A request whose answer is due."""

    number: int
    code: int
    what: str
    counts: bool


def _flag_other(actions: list[dict[str, Any]]) -> None:
    """Of two targets that are asked the same: the answer of the one that answered first decides, too."""
    decisive = next((number for number, one in enumerate(actions) if one.get("decisive")), 0)
    asked = actions[decisive].get("asked") if actions else None
    for one in reversed(actions[:decisive]):
        if one["do"] == "answer" and one.get("asked") == asked:
            one["decisive"] = True
            return


class _Writer:
    def __init__(self, decisive: int | None) -> None:
        self.missing: list[str] = []
        self.servers = 1
        self._decisive = decisive
        self._actions: list[dict[str, Any]] = []
        self._server: dict[int, int] = {}
        self._base: dict[int, float] = {}
        self._buffers: dict[tuple[int, bool], FrameBuffer] = {}
        self._broken: set[int] = set()
        self._asked: dict[int, dict[int, list[_Asked]]] = {}
        self._used: set[int] = set()
        self._said = bytearray()
        self._restarted = False

    def add(self, number: int, event: Event) -> None:
        match event:
            case Opened():
                self._opened(number, event)
            case Sent():
                self._sent(number, event)
            case Received():
                self._received(number, event)
            case Closed():
                self._closed(number, event)
            case Note():
                self._note(event)

    def finished(self, died: bool) -> list[dict[str, Any]]:
        """All actions; after the last one whatever has not been answered yet."""
        if self._restarted and self.servers > 1:
            self.missing.append("which of several servers was restarted is not recorded")
        for connection in list(self._asked):
            self._silences(connection, 0.0)
        if died:
            marked = any(action.get("decisive") for action in self._actions)
            dead = {"do": "dead", "server": 0, "what": "a new connection", "number": -1}
            self._actions.append({**dead, "decisive": not marked})
        return self._actions

    # --- what we did ----------------------------------------------------------------------------------------

    def _opened(self, number: int, event: Opened) -> None:
        server = event.server if hasattr(event, "server") else 0
        self._server[event.connection] = server
        self.servers = max(self.servers, server + 1)
        if event.local.encode() in self._said:
            self.missing.append(f"connection {event.connection} was made by the target")
        self._append("connect", event, number, server=server, local=event.local)

    def _sent(self, number: int, event: Sent) -> None:
        words = []
        for frame in self._frames(event.connection, True, event.data):
            command = None if frame is None else dissect(frame).command
            if command is None:
                words.append("bytes that are no frame")
                continue
            words.append(describe(command))
            if not command.is_oneway and not command.is_response:
                due = self._asked.setdefault(event.connection, {}).setdefault(command.opaque, [])
                counts = event.purpose == "case"
                due.append(_Asked(number, int(command.code), describe(command), counts))
        what = " + ".join(words) or f"{len(event.data)} bytes of a frame"
        self._said += event.data
        self._used.add(event.connection)
        self._append("send", event, number, data=event.data.hex(), what=what)

    def _note(self, event: Note) -> None:
        how = RESTARTS.get(event.text)
        if how is not None:
            server = self._server.get(event.connection or 0, 0)
            self._actions.append({"do": "restart", "server": server, "how": how})
            self._restarted = True
        elif event.text == BETWEEN_BROKERS:
            self.missing.append("nothing carries the log from the master to the slave")
        elif event.text.startswith("file "):
            self.missing.append(f"{event.text} were put where the server reads them")
        elif event.connection is not None:
            opened = next((a for a in reversed(self._actions) if a["do"] == "connect"), None)
            preamble = _PREAMBLE.match(event.text)
            if opened is None or opened["connection"] != event.connection:
                return
            if preamble is not None:
                opened["preamble"] = bytes(ast.literal_eval(preamble[1])).hex()
            elif event.text.startswith("under TLS"):
                opened["tls"] = True
            elif event.text == AT_THE_CONTROLLER:
                opened["controller"] = True

    # --- what came of it ------------------------------------------------------------------------------------

    def _received(self, number: int, event: Received) -> None:
        for frame in self._frames(event.connection, False, event.data):
            command = None if frame is None else dissect(frame).command
            if command is None:
                data = event.data if frame is None else frame
                self._outcome("answer", event, number, key="bytes", asked=0, data=data, what="no command")
                continue
            assert frame is not None
            self._answer(number, event, frame, command)

    def _answer(self, number: int, event: Received, frame: bytes, command: Command) -> None:
        if not command.is_response:
            key, asked = f"request {int(command.code)}", None
        else:
            key = f"answer {command.opaque}"
            due = self._asked.get(event.connection, {}).get(command.opaque)
            asked = due.pop(0) if due else None
        self._outcome(
            "answer",
            event,
            number,
            key=key,
            asked=0 if asked is None else asked.code,
            data=frame,
            what=f"{asked.what if asked else 'to nothing that was asked'}: {describe(command)}",
            counts=asked is None or asked.counts,
            decides=asked is not None and asked.number == self._decisive,
        )

    def _closed(self, number: int, event: Closed) -> None:
        if event.by == "us":
            if event.how != "half":
                self._silences(event.connection, event.protocol)
            self._append("close", event, number, how=event.how)
            return
        due = [asked for one in self._asked.pop(event.connection, {}).values() for asked in one]
        decides = any(asked.number == self._decisive for asked in due)
        counts = event.connection in self._used
        what = "; ".join(asked.what for asked in due[:2]) or "the end of the connection"
        self._outcome("closed", event, number, what=what, counts=counts, decides=decides)

    def _silences(self, connection: int, protocol: float) -> None:
        for opaque, due in self._asked.pop(connection, {}).items():
            for asked in due:
                action = {
                    "do": "silence",
                    "connection": connection,
                    "number": asked.number,
                    "at": round(max(0.0, protocol - self._base.get(self._server[connection], protocol)), 6),
                    "key": f"answer {opaque}",
                    "asked": asked.code,
                    "what": f"{asked.what}: no answer",
                }
                self._flagged(action, asked.counts, asked.number == self._decisive)
                self._actions.append(action)

    # --- common ---------------------------------------------------------------------------------------------

    def _frames(self, connection: int, outward: bool, data: bytes) -> Iterator[bytes | None]:
        """Frames that are whole with these bytes; None, once, where what comes can be none."""
        if not outward and connection in self._broken:
            return
        buffer = self._buffers.setdefault((connection, outward), FrameBuffer())
        buffer.feed(data)
        try:
            while (frame := buffer.next_frame()) is not None:
                yield frame
        except WireError:
            del self._buffers[connection, outward]
            if not outward:
                self._broken.add(connection)
            yield None

    def _outcome(
        self,
        do: str,
        event: Received | Closed,
        number: int,
        *,
        data: bytes | None = None,
        counts: bool = True,
        decides: bool = False,
        **facts: Any,
    ) -> None:
        if data is not None:
            facts["data"] = data.hex()
        self._append(do, event, number, **facts)
        self._flagged(self._actions[-1], counts, decides or number == self._decisive)

    def _flagged(self, action: dict[str, Any], counts: bool, decides: bool) -> None:
        if decides:
            action["decisive"] = True
        elif not counts:
            action["counts"] = False

    def _append(self, do: str, event: Opened | Sent | Received | Closed, number: int, **facts: Any) -> None:
        server = self._server.get(event.connection, 0)
        base = self._base.setdefault(server, event.protocol)
        at = round(event.protocol - base, 6)
        self._actions.append({"do": do, "connection": event.connection, "number": number, "at": at, **facts})
