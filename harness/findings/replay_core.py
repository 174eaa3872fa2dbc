"""A recorded exchange, done again: the same bytes under new names, each answer beside the old one.

- It is the heart of `replay` and of the script in the folder of a finding, which holds a copy of this file:
  Python 3.8, standard library, nothing of ours. It is given its sockets and its clock (`World`).
- What is sent is what was recorded, byte for byte, but for names and addresses that the recording made. So a
  server which still knows the old ones is asked again about new ones (`replay_names`).
- Gaps in protocol time are kept, the order of what was done too. A request goes out when those answers are
  there that were there before it.
- Every wait has an end.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Protocol, Sequence  # noqa: UP035  (Python 3.8)

from harness.findings.replay_answers import AnswerReader, differences, facts_of, key_of
from harness.findings.replay_facts import is_alike, shows
from harness.findings.replay_names import LONGEST_FRAME, Renaming, joined, parted, renamed

ANSWER = 3.0
"""Waiting seconds until an answer must be there that was there when it was recorded."""
HURRY = 0.4
"""The same, after `HOPELESS` answers did not come."""
HOPELESS = 5
GRACE = 0.3
"""Waiting seconds in which an answer may come where none had come."""


CLOSES = "the target closes the connection"
SILENT = "no answer"


class NotOurs(Exception):  # noqa: N818 - it says so, and is no error of anybody
    """What was done to a server cannot be done to this one; the message says why."""


class Line(Protocol):
    """One connection."""

    local: str
    """``ip:port`` of our end."""

    def send(self, data: bytes) -> None: ...

    def receive(self, seconds: float) -> bytes | None:
        """What has come within these waiting seconds; None: nothing; ``b""``: the other end is closed."""

    def close(self, how: str) -> None:
        """``fin``, ``reset``, or ``half`` for our direction only."""


class World(Protocol):
    """Where it is done again. Servers are counted from 0."""

    def connect(self, server: int, preamble: bytes, tls: bool, controller: bool = False) -> Line:
        """A new connection, to the server's controller if asked. Raises ``ConnectionError`` where none can be
        had.
        """

    def now(self, server: int) -> float:
        """Protocol seconds on the clock of a server."""

    def advance(self, server: int, seconds: float) -> None:
        """Lets protocol seconds pass."""

    def waiting(self, server: int, seconds: float) -> float:
        """Waiting seconds that these protocol seconds take."""

    def elapsed(self, server: int) -> float:
        """Waiting seconds since some beginning."""

    def restart(self, server: int, how: str) -> None:
        """Ends a server (``term``, ``kill``) and starts it again, or (``stop``) asks it to end. Raises
        ``NotOurs`` with the reason.
        """


class Row:
    """One outcome, then and now."""

    decides: dict[str, Any] | None = None
    """The fact that decides, where the record has one."""

    def __init__(self, action: dict[str, Any], old: dict[str, Any], new: dict[str, Any], at: float) -> None:
        self.action = action
        self.old = old
        self.new = new
        self.at = at
        """Protocol seconds on the clock of the server since the first that was done to it."""

    @property
    def same(self) -> bool:
        """Whether both say the same in everything."""
        return self.old == self.new

    @property
    def holds(self) -> bool:
        """Whether the failure may follow from it: the decisive answer shows the fact that decides, and what
        was done before came to the same.
        """
        if self.decisive and self.decides is not None:
            return shows(self.decides, self.old, self.new)[0]
        return self.same if self.decisive else is_alike(self.old, self.new)

    @property
    def decisive(self) -> bool:
        return bool(self.action.get("decisive"))

    @property
    def counts(self) -> bool:
        """Whether it is part of what was tried, and no keep-alive or probe."""
        return bool(self.action.get("counts", True))


def lines_of(row: Row, width: int = 118) -> list[str]:
    """What a person reads of an outcome: one line, and both answers where they differ or decide."""
    old, new = differences(row.old, row.new)
    what = row.action.get("what") or row.action["do"]
    number = f"#{row.action['number']}" if row.action.get("number", -1) >= 0 else ""
    verdict = "same" if row.same else "DIFFERS"
    mark = "   <- decisive" if row.decisive else ""
    head = (
        f"{number:>6} {row.at:10.3f} s  conn {row.action.get('connection', '-'):<3} {verdict:<8} {what}{mark}"
    )
    lines = [head[:width]]
    if row.decisive:
        fact = "" if row.decides is None else shows(row.decides, row.old, row.new)[1]
        lines += [f"{'':>8}{part}" for part in _cut(fact, width - 8)]
        lines += _both(facts_of(row.old), facts_of(row.new), width)
    elif not row.same:
        lines += _both(old, new, width)
    return lines


def _both(old: Sequence[str], new: Sequence[str], width: int) -> list[str]:
    """Old facts on the left, new ones on the right."""
    half = (width - 10) // 2
    lines = [f"{'':>8}{'old':<{half}}| new"]
    left = [part for fact in old for part in _cut(fact, half - 1)] or ["(nothing that the new one has not)"]
    right = [part for fact in new for part in _cut(fact, half - 1)] or ["(nothing that the old one has not)"]
    for number in range(max(len(left), len(right))):
        ours, theirs = (side[number] if number < len(side) else "" for side in (left, right))
        lines.append(f"{'':>8}{ours:<{half}}| {theirs}".rstrip())
    return lines


def _cut(text: str, width: int) -> list[str]:
    shown = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text[:2000])
    return [shown[at : at + width] for at in range(0, len(shown), width)]


class _Open:
    """A connection that is used again."""

    def __init__(self, line: Line, server: int) -> None:
        self.line = line
        self.server = server
        self.arrived: list[tuple[str, bytes]] = []
        self.ended = False
        self.left = False
        self._buffer = b""

    def take(self, seconds: float) -> bool:
        """Takes what comes within these waiting seconds; False where nothing did."""
        if self.ended or self.left:
            return False
        data = self.line.receive(max(0.0, seconds))
        if data is None:
            return False
        if not data:
            self.ended = True
            if self._buffer:
                self.arrived.append(("bytes", self._buffer))
            return True
        self._buffer += data
        while len(self._buffer) >= 4:
            length = int.from_bytes(self._buffer[:4], "big", signed=True)
            if not 4 <= length <= LONGEST_FRAME:
                self.arrived.append(("bytes", self._buffer))
                self._buffer = b""
            elif len(self._buffer) < 4 + length:
                break
            else:
                frame, self._buffer = self._buffer[: 4 + length], self._buffer[4 + length :]
                self.arrived.append((key_of(frame), frame))
        return True

    def pop(self, key: str) -> bytes | None:
        """The first frame that is known by a key."""
        for number, (found, frame) in enumerate(self.arrived):
            if found == key:
                del self.arrived[number]
                return frame
        return None


class Player:
    """Plays a record; `rows` grows as outcomes are had. A record is a dict: see `harness.findings.record`."""

    def __init__(self, record: dict[str, Any], world: World, choose: Callable[[int], int]) -> None:
        self.rows: list[Row] = []
        self.behind = 0.0
        """Protocol seconds by which something was done later than when it was recorded."""
        self._record = record
        self._world = world
        self.renaming = Renaming(record["nonces"], record["addresses"], choose)
        self._answers = AnswerReader(record["rules"], self.renaming.is_ours)
        self._lines: dict[int, _Open] = {}
        self._began: dict[int, float] = {}
        self._servers: dict[int, int] = {}
        self._in_vain = 0

    def play(self) -> Iterator[Row]:
        """Does all of it; raises ``ConnectionError`` where the first connection cannot be made."""
        pieces = self._pieces()
        for action in self._record["actions"]:
            do = action["do"]
            if do == "connect":
                self._connect(action)
            elif do == "send":
                self._send(action, next(pieces[action["connection"]]))
            elif do == "close":
                self._close(action)
            elif do == "restart":
                self._world.restart(action["server"], action["how"])
                self._began.pop(action["server"], None)
            else:
                row = self._outcome(action)
                row.decides = self._record.get("decides")
                self.rows.append(row)
                yield row
        for row in self._unasked():
            self.rows.append(row)
            yield row

    def close(self) -> None:
        """Closes what is open."""
        for one in self._lines.values():
            if not one.left:
                one.line.close("fin")

    def _pieces(self) -> dict[int, Iterator[bytes]]:
        streams: dict[int, list[bytes]] = {}
        for action in self._record["actions"]:
            if action["do"] == "send":
                streams.setdefault(action["connection"], []).append(bytes.fromhex(action["data"]))
        return {connection: iter(renamed(stream, self.renaming)) for connection, stream in streams.items()}

    def _connect(self, action: dict[str, Any]) -> None:
        server = action["server"]
        self._servers[action["connection"]] = server
        self._come_to(server, action["at"])
        try:
            preamble = bytes.fromhex(action.get("preamble", ""))
            line = self._world.connect(
                server, preamble, action.get("tls", False), action.get("controller", False)
            )
        except ConnectionError:
            if not self._lines:
                raise
            return  # whatever it is asked will be without an answer
        self._lines[action["connection"]] = _Open(line, server)
        self.renaming.meets(action["local"], line.local)

    def _send(self, action: dict[str, Any], data: bytes) -> None:
        one = self._lines.get(action["connection"])
        if one is not None:
            self._come_to(one.server, action["at"])
            if not one.ended and not one.left:
                one.line.send(data)

    def _close(self, action: dict[str, Any]) -> None:
        one = self._lines.get(action["connection"])
        if one is None or one.left:
            return
        self._come_to(one.server, action["at"])
        while one.take(0):
            pass
        one.left = action["how"] != "half"
        one.line.close(action["how"])

    def _come_to(self, server: int, at: float) -> None:
        """Waits until as much protocol time has passed as had when it was recorded."""
        now = self._world.now(server)
        began = self._began.setdefault(server, now - at)
        ahead = at - (now - began)
        if ahead > 0:
            self._world.advance(server, ahead)
        self.behind = max(self.behind, -ahead)

    def _outcome(self, action: dict[str, Any]) -> Row:
        if action["do"] == "dead":
            return self._dead(action)
        one = self._lines.get(action["connection"])
        server = self._servers.get(action["connection"], 0)
        old = self._old(action)
        new = {"outcome": "no connection"} if one is None else self._new(one, action)
        at = self._world.now(server) - self._began.get(server, 0.0)
        return Row(action, old, new, at)

    def _unasked(self) -> Iterator[Row]:
        """Frames that there were none of."""
        for connection, one in self._lines.items():
            for key, frame in one.arrived:
                action = {"do": "unasked", "connection": connection, "key": key, "what": key, "number": -1}
                at = self._world.now(one.server) - self._began.get(one.server, 0.0)
                yield Row(action, {"outcome": "nothing"}, self._translated(frame, 0), at)

    def _dead(self, action: dict[str, Any]) -> Row:
        """Whether a server takes connections."""
        try:
            self._world.connect(action["server"], b"", False).close("fin")
        except ConnectionError:
            return Row(action, {"outcome": "takes no connection"}, {"outcome": "takes no connection"}, 0.0)
        return Row(action, {"outcome": "takes no connection"}, {"outcome": "takes connections"}, 0.0)

    def _old(self, action: dict[str, Any]) -> dict[str, Any]:
        if action["do"] == "answer":
            return self._answers.read(bytes.fromhex(action["data"]), action["asked"])
        if action["do"] == "closed":
            return {"outcome": CLOSES}
        return {"outcome": SILENT}

    def _new(self, one: _Open, action: dict[str, Any]) -> dict[str, Any]:
        do, server = action["do"], one.server
        if do == "closed":
            ahead = action["at"] - (self._world.now(server) - self._began.get(server, 0.0))
            self._pump(one, lambda: one.ended, max(0.0, ahead), ANSWER)
            return {"outcome": CLOSES if one.ended else "the connection stays open"}
        key = action["key"]
        found: list[bytes] = []

        def met() -> bool:
            frame = one.pop(key)
            if frame is not None:
                found.append(frame)
            return frame is not None

        if do == "silence":
            self._pump(one, met, 0.0, GRACE)
        else:
            patience = ANSWER if self._in_vain < HOPELESS else HURRY
            if not self._pump(one, met, 0.0, patience):
                self._in_vain += 1
        if found:
            return self._translated(found[0], action["asked"])
        return {"outcome": CLOSES if one.ended else SILENT}

    def _translated(self, frame: bytes, asked: int) -> dict[str, Any]:
        """A new answer in old names; packed bodies do not come back."""
        parts = parted(frame)
        if parts is None:
            return self._answers.read(frame, asked)
        kind, header, body = parts
        return self._answers.read(joined(kind, self.renaming.back(header), self.renaming.back(body)), asked)

    def _pump(self, one: _Open, met: Callable[[], bool], ahead: float, patience: float) -> bool:
        """Takes what comes until `met`, for `ahead` protocol and `patience` waiting seconds at most."""
        server, world = one.server, self._world
        end = world.elapsed(server) + world.waiting(server, ahead) + patience
        while not met():
            left = end - world.elapsed(server)
            if left <= 0 or not one.take(left):
                return met()
        return True
