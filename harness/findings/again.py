"""A recorded exchange, done again: the same bytes under new names, each answer beside the old one.

Rules of this module:
- It is the heart of `replay` and of the script in the folder of a finding, which holds a copy of this file:
  Python 3.8, standard library, nothing of ours. It is given its sockets and its clock (`World`).
- What is sent is what was recorded, byte for byte, but for names and addresses that the recording made. They
  are replaced by others of the same length, so that a server which still knows the old ones is asked again
  about new ones. Lengths and checksums that were right are right again; those that were wrong stay wrong.
  Opaques stay: they belong to a connection, and the connections are new.
- Gaps in protocol time are kept, the order of what was done too. A request goes out when those answers are
  there that were there before it.
- Answers are the same when they say the same: member order, names of others on a shared server, the text of
  an exception, the release and the language of the server say nothing.
- Every wait has an end.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, Callable, Iterable, Iterator, Protocol, Sequence  # noqa: UP035  (Python 3.8)

__all__ = [
    "Line",
    "NotOurs",
    "Player",
    "Renaming",
    "Row",
    "World",
    "differences",
    "lines_of",
    "reduced",
]

LONGEST_FRAME = 16 * 1024 * 1024
ANSWER = 3.0
"""Waiting seconds until an answer must be there that was there when it was recorded."""
HURRY = 0.4
"""The same, when so many were waited for in vain that there is little hope."""
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
        """What has come within so many waiting seconds; None: nothing; ``b""``: the other end is closed."""

    def close(self, how: str) -> None:
        """``fin``, ``reset``, or ``half`` for our direction only."""


class World(Protocol):
    """Where it is done again. Servers are counted from 0."""

    def connect(self, server: int, preamble: bytes, tls: bool) -> Line:
        """A new connection. Raises ``ConnectionError`` where none can be had."""

    def now(self, server: int) -> float:
        """Protocol seconds on the clock of a server."""

    def advance(self, server: int, seconds: float) -> None:
        """Lets protocol seconds pass."""

    def waiting(self, server: int, seconds: float) -> float:
        """Waiting seconds that so many protocol seconds take."""

    def elapsed(self, server: int) -> float:
        """Waiting seconds since some beginning."""

    def restart(self, server: int, how: str) -> None:
        """Ends a server (``term``, ``kill``) and starts it again, or (``stop``) asks it to end. Raises
        ``NotOurs`` with the reason.
        """


# --- names --------------------------------------------------------------------------------------------------


class Renaming:
    """New names for old ones, of the same length. `choose(n)` gives a number below n."""

    def __init__(self, nonces: Iterable[str], addresses: Iterable[str], choose: Callable[[int], int]) -> None:
        pairs = {nonce: "".join(_other(sign, choose) for sign in nonce) for nonce in sorted(nonces)}
        networks: dict[tuple[str, str], tuple[str, str]] = {}
        for address in sorted(addresses):
            host, _, port = address.rpartition(":")
            network, _, number = host.rpartition(".")
            if not network.startswith("10."):
                continue  # not one that nobody has, and so not one of ours to choose
            if (network, port) not in networks:
                octets = network.split(".")
                fresh = [octets[0]] + [_octet(octet, choose) for octet in octets[1:]]
                networks[network, port] = ".".join(fresh), _number(port, 10000, 60000, choose)
            new_network, new_port = networks[network, port]
            pairs[address] = f"{new_network}.{number}:{new_port}"
        self._forth = _replacing(pairs)
        self._pairs = {new: old for old, new in pairs.items()}
        self._back = _replacing(self._pairs)
        self._marks = tuple(pairs)

    def meets(self, old: str, new: str) -> None:
        """An address of ours that is another one this time: a port that the system chose."""
        self._pairs[new] = old
        self._back = _replacing(self._pairs)

    def forth(self, data: bytes) -> bytes:
        """Old names to new ones."""
        return self._forth(data)

    def back(self, data: bytes) -> bytes:
        """New names to old ones."""
        return self._back(data)

    def is_ours(self, text: str) -> bool:
        """Whether an old name is in a text."""
        return any(mark in text for mark in self._marks)


def _other(sign: str, choose: Callable[[int], int]) -> str:
    if sign.isdigit():
        return "0123456789"[choose(10)]
    return "abcdefghijkmnopqrstuvwxyz"[choose(25)] if sign.isalpha() else sign


def _octet(octet: str, choose: Callable[[int], int]) -> str:
    lowest, end = {1: (1, 10), 2: (10, 100)}.get(len(octet), (100, 255))
    return str(lowest + choose(end - lowest))


def _number(text: str, lowest: int, end: int, choose: Callable[[int], int]) -> str:
    return str(lowest + choose(end - lowest)) if len(text) == len(str(lowest)) else text


def _replacing(pairs: dict[str, str]) -> Callable[[bytes], bytes]:
    """Replaces all of them at once, so that none is replaced twice."""
    table = {old.encode(): new.encode() for old, new in pairs.items()}
    if not table:
        return lambda data: data
    longest_first = sorted(table, key=len, reverse=True)
    pattern = re.compile(b"|".join(re.escape(old) for old in longest_first))
    return lambda data: pattern.sub(lambda found: table[found.group()], data)


def renamed(stream: Sequence[bytes], renaming: Renaming) -> list[bytes]:
    """What was sent on one connection, piece by piece, under new names; it is cut where it was cut."""
    new, spans, at = bytearray(), [], 0
    for frame in _frames_in(b"".join(stream)):
        fresh = _renamed_frame(frame, renaming)
        spans.append((at, len(frame), len(new), len(fresh)))
        new += fresh
        at += len(frame)
    pieces, cut, begin = [], 0, 0
    for piece in stream:
        cut += len(piece)
        end = max(begin, _moved(cut, spans))
        pieces.append(bytes(new[begin:end]))
        begin = end
    return pieces


def _moved(cut: int, spans: Sequence[tuple[int, int, int, int]]) -> int:
    """Where a cut is now; in a frame of another length as far from the end that it was nearer to."""
    for old_at, old, new_at, new in spans:
        inside = cut - old_at
        if 0 < inside < old:
            return new_at + max(1, min(inside if inside <= old // 2 else new - (old - inside), new - 1))
        if inside == old:
            return new_at + new
    return 0


def _frames_in(data: bytes) -> Iterator[bytes]:
    """Whole frames, then whatever is no frame, as one piece."""
    at = 0
    while len(data) - at >= 4:
        end = at + 4 + int.from_bytes(data[at : at + 4], "big", signed=True)
        if not at + 4 <= end <= len(data):
            break
        yield data[at:end]
        at = end
    if at < len(data):
        yield data[at:]


def _renamed_frame(frame: bytes, renaming: Renaming) -> bytes:
    parts = _parted(frame)
    if parts is None:
        return renaming.forth(frame)
    kind, header, body = parts
    new_body = _renamed_body(body, renaming)
    new_header = renaming.forth(header)
    if new_body != body:
        new_header = _checked(kind, new_header, body, new_body)
    if (len(new_header), len(new_body)) == (len(header), len(body)):
        return frame[:8] + new_header + new_body
    words = (4 + len(new_header) + len(new_body), kind << 24 | len(new_header))
    return b"".join(word.to_bytes(4, "big") for word in words) + new_header + new_body


def _parted(frame: bytes) -> tuple[int, bytes, bytes] | None:
    """Serialization, header and body; None where the lengths do not fit."""
    if len(frame) < 8 or int.from_bytes(frame[:4], "big") != len(frame) - 4:
        return None
    kind, length = frame[4], int.from_bytes(frame[5:8], "big")
    return (kind, frame[8 : 8 + length], frame[8 + length :]) if length <= len(frame) - 8 else None


def _renamed_body(body: bytes, renaming: Renaming) -> bytes:
    if body[:1] == b"\x78":
        unpacking = zlib.decompressobj()
        try:
            content = unpacking.decompress(body, LONGEST_FRAME)
        except zlib.error:
            return renaming.forth(body)
        fresh = renaming.forth(content)
        if unpacking.eof and fresh != content:
            return zlib.compress(fresh, 1) + unpacking.unused_data
        return body
    return renaming.forth(body)


def _checked(kind: int, header: bytes, body: bytes, new_body: bytes) -> bytes:
    """The header with the checksum of the new body, where it had that of the old one."""
    old, new = (str(zlib.crc32(content) & 0x7FFFFFFF).encode() for content in (body, new_body))
    if kind == 0:
        return header.replace(b'"bodyCrc32":"' + old + b'"', b'"bodyCrc32":"' + new + b'"')
    name = b"\x00\x09bodyCrc32"
    field = name + len(old).to_bytes(4, "big") + old
    at = header.find(field)
    if at < 0:
        return header
    extent = 17 + max(0, int.from_bytes(header[13:17], "big", signed=True))
    length = int.from_bytes(header[extent : extent + 4], "big") + len(new) - len(old)
    changed = header[:at] + name + len(new).to_bytes(4, "big") + new + header[at + len(field) :]
    return changed[:extent] + length.to_bytes(4, "big") + changed[extent + 4 :]


# --- what an answer says ------------------------------------------------------------------------------------

CLUSTER_INFO, SYSTEM_TOPICS, CONFIGURATION = 106, 304, 319
SENDS, MESSAGES, MAGIC = (10, 310, 320), (11, 12, 33), bytes.fromhex("daa320a7")
"""Of Brokers: codes that store messages, codes that show them, and how these begin."""
_LISTS = (206, SYSTEM_TOPICS, 311, 312, 313)
_NUMBER_KEY = re.compile(rb"([{,])(-?\d+):")
_EXCEPTION = re.compile(r"\b[\w.]*(Exception|Error)\b|^java\.")
_OTHERS = re.compile(r"-[a-z][a-z0-9]{5,7}(-\d+)?$")
"""Names that another run of the harness made."""
_OF_THE_MACHINE = re.compile(
    r"rocketmqHome|kvConfigPath|configStorePath|listenPort|bindAddress|.*[Tt]hread.*|.*[Ss]emaphore.*|.*Buf.*|"
    r".*Backlog|.*Epoll.*|.*WaterMark|.*SocketBufferSize|productEnvName|.*Worker.*|.*Capacity|"
    r"enableControllerInNamesrv|clusterTest|configBlackList"
)
"""Settings that say how or where a server runs."""


def key_of(frame: bytes) -> str:
    """What an incoming frame is known by: the opaque that it answers, or the code that it asks for."""
    header = _header(frame)
    if header is None:
        return "bytes"
    return f"answer {header['opaque']}" if header["flag"] & 1 else f"request {header['code']}"


def reduced(frame: bytes, asked: int, is_ours: Callable[[str], bool]) -> dict[str, Any]:
    """What an answer to a request with code `asked` says, in old names."""
    header, parts = _header(frame), _parted(frame)
    if header is None or parts is None:
        return {"bytes": frame[:200].hex(), "length": len(frame)}
    said: dict[str, Any] = {"code": header["code"]}
    if header["remark"]:
        is_exception = header["code"] == 1 and _EXCEPTION.search(header["remark"])
        said["remark"] = "(an exception)" if is_exception else header["remark"]
    if header["ext"]:
        said["ext"] = header["ext"]
        if asked in SENDS and header["ext"].get("msgId"):  # an address, which is another one, and a place
            places = [one[-16:] for one in header["ext"]["msgId"].split(",")]
            said["ext"] = {**header["ext"], "msgId": ",".join(places)}
    if not header["flag"] & 1 or header["flag"] & 2:
        said["flag"] = header["flag"]
    if parts[2]:
        said["body"] = _said(parts[2], asked, is_ours)
        if said["body"] and (dialect := _dialect(parts[2])):
            said["dialect"] = dialect
    return said


def _header(frame: bytes) -> dict[str, Any] | None:
    parts = _parted(frame)
    if parts is None:
        return None
    kind, header, _ = parts
    try:
        if kind:
            return _binary_header(header)
        said = json.loads(_NUMBER_KEY.sub(rb'\1"\2":', header).decode())
        number = {name: int(said.get(name) or 0) for name in ("code", "opaque", "flag")}
        return {**number, "remark": said.get("remark"), "ext": said.get("extFields") or {}}
    except (ValueError, AttributeError, TypeError, IndexError):
        return None


def _binary_header(header: bytes) -> dict[str, Any]:
    at = 13

    def taken(size: int) -> bytes:
        nonlocal at
        length = int.from_bytes(header[at : at + size], "big", signed=True)
        data = header[at + size : at + size + max(0, length)]
        at += size + len(data)
        return data

    remark, end, ext = taken(4), 0, {}
    end = at + 4 + int.from_bytes(header[at : at + 4], "big")
    at += 4
    while at < min(end, len(header)):
        name = taken(2).decode()
        ext[name] = taken(4).decode()
    return {
        "code": int.from_bytes(header[0:2], "big", signed=True),
        "opaque": int.from_bytes(header[5:9], "big", signed=True),
        "flag": int.from_bytes(header[9:13], "big", signed=True),
        "remark": remark.decode(),
        "ext": ext,
    }


def _said(body: bytes, asked: int, is_ours: Callable[[str], bool]) -> Any:
    if asked == CONFIGURATION:
        lines = (line.partition("=") for line in body.decode("utf-8", "replace").splitlines())
        return {name: value for name, _, value in lines if name and not _OF_THE_MACHINE.fullmatch(name)}
    if asked in MESSAGES:
        messages = _messages(body)
        if messages:
            return messages
    try:
        said = json.loads(_NUMBER_KEY.sub(rb'\1"\2":', body).decode())
    except ValueError:
        return body.decode("utf-8", "backslashreplace")
    if isinstance(said, dict):
        _without_others(said, asked, is_ours)
    return _ordered(said)


def _messages(body: bytes) -> list[dict[str, Any]]:
    """What stored messages say, hosts and the Broker's own times left out; nothing where they cannot be
    read.
    """
    said, at = [], 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        one = body[at : at + size]
        if size < 91 or len(one) < size or one[4:8] != MAGIC:
            return []
        flags = int.from_bytes(one[36:40], "big")
        born, stored = 20 if flags & 0x10 else 8, 20 if flags & 0x20 else 8
        begin = 48 + born + 8 + stored
        end = begin + 16 + int.from_bytes(one[begin + 12 : begin + 16], "big")
        topic = end + 1 + (one[end] if end < size else 0)
        said.append(
            {
                "queue": int.from_bytes(one[12:16], "big"),
                "offset": int.from_bytes(one[20:28], "big"),
                "flag": int.from_bytes(one[16:20], "big"),
                "system flag": flags,
                "tried": int.from_bytes(one[begin : begin + 4], "big"),
                "topic": one[end + 1 : topic].decode("utf-8", "backslashreplace"),
                "body": one[begin + 16 : end].decode("utf-8", "backslashreplace"),
            }
        )
        at += size
    return said


def _without_others(said: dict[str, Any], asked: int, is_ours: Callable[[str], bool]) -> None:
    """Takes out what another run has left on a shared server."""

    def stays(name: object) -> bool:
        return is_ours(str(name)) or not _OTHERS.search(str(name))

    if asked == CLUSTER_INFO:
        for table in ("brokerAddrTable", "clusterAddrTable"):
            if isinstance(said.get(table), dict):
                said[table] = {name: value for name, value in said[table].items() if stays(name)}
    if asked in _LISTS and isinstance(said.get("topicList"), list):
        said["topicList"] = [name for name in said["topicList"] if stays(name)]
    if asked == SYSTEM_TOPICS:
        said.pop("brokerAddr", None)  # that of any broker


def _ordered(said: Any) -> Any:
    if isinstance(said, dict):
        return {name: _ordered(value) for name, value in said.items()}
    if isinstance(said, list):
        return sorted(
            (_ordered(value) for value in said), key=lambda value: json.dumps(value, sort_keys=True)
        )
    return said


def _dialect(body: bytes) -> str:
    """What of the way of writing JSON a reader may stumble over."""
    shown = []
    if _NUMBER_KEY.search(body):
        shown.append("bare numbers as names")
    if any(byte > 127 for byte in body):
        shown.append("characters beyond ASCII as they are")
    if b"\\/" in body:
        shown.append("escaped slashes")
    return ", ".join(shown)


def differences(old: dict[str, Any], new: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What only the old answer says, and what only the new one: facts such as ``body.topicList: T-x``."""
    before, after = facts_of(old), facts_of(new)
    return [one for one in before if one not in after], [one for one in after if one not in before]


def facts_of(said: dict[str, Any]) -> list[str]:
    """What an answer says, fact by fact."""
    return list(_facts(said, ""))


def _facts(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name in value:
            yield from _facts(value[name], f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for item in value:
            yield from _facts(item, path)
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


# --- doing it again -----------------------------------------------------------------------------------------


class Row:
    """One outcome, then and now."""

    def __init__(self, action: dict[str, Any], old: dict[str, Any], new: dict[str, Any], at: float) -> None:
        self.action = action
        self.old = old
        self.new = new
        self.at = at
        """Protocol seconds on the clock of the server since the first that was done to it."""

    @property
    def same(self) -> bool:
        fields = self.action.get("compare")
        if fields:
            return all(self.old.get(field) == self.new.get(field) for field in fields)
        return self.old == self.new

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
        """Takes what comes within so many waiting seconds; False where nothing did."""
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
            line = self._world.connect(server, preamble, action.get("tls", False))
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
            return reduced(bytes.fromhex(action["data"]), action["asked"], self.renaming.is_ours)
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
        parts = _parted(frame)
        if parts is None:
            return reduced(frame, asked, self.renaming.is_ours)
        kind, header, body = (parts[0], self.renaming.back(parts[1]), self.renaming.back(parts[2]))
        words = (4 + len(header) + len(body), kind << 24 | len(header))
        whole = b"".join(word.to_bytes(4, "big") for word in words) + header + body
        return reduced(whole, asked, self.renaming.is_ours)

    def _pump(self, one: _Open, met: Callable[[], bool], ahead: float, patience: float) -> bool:
        """Takes what comes until `met`, for `ahead` protocol and `patience` waiting seconds at most."""
        server, world = one.server, self._world
        end = world.elapsed(server) + world.waiting(server, ahead) + patience
        while not met():
            left = end - world.elapsed(server)
            if left <= 0 or not one.take(left):
                return met()
        return True
