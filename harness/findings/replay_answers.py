"""What an answer says, for comparison with the answer to the same request in a recording.

Answers are the same when they say the same. Member order, escapes, names of others on a shared server, the
text of an exception, the release and the language of the server say nothing. What else says nothing is in the
record, see `harness.wire.comparing`. The script of a finding holds a copy of this file: Python 3.8, standard
library.
"""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Iterator  # noqa: UP035  (Python 3.8)

from harness.findings.replay_names import parted

_BARE_NUMBER = re.compile(rb"([{,]\s*)(-?\d+)\s*:")
_MAGIC = bytes.fromhex("daa320a7")
"""How stored messages begin, behind their size."""


def key_of(frame: bytes) -> str:
    """What an incoming frame is known by: the opaque that it answers, or the code that it asks for."""
    header = _header(frame)
    if header is None:
        return "bytes"
    return f"answer {header['opaque']}" if header["flag"] & 1 else f"request {header['code']}"


class AnswerReader:
    """Reads answers by the rules of a record; ``is_ours`` knows names that the recording made."""

    def __init__(self, rules: dict[str, Any], is_ours: Callable[[str], bool]) -> None:
        self._rules = rules
        self._is_ours = is_ours
        self._bare_number = re.compile(rules["bare_number"].encode())
        self._exception = re.compile(rules["exception"])
        self._made_name = re.compile(rules["made_name"])
        self._host_settings = re.compile(rules["host_settings"])

    def read(self, frame: bytes, asked: int) -> dict[str, Any]:
        """What an answer to a request with code `asked` says, in old names."""
        header, parts = _header(frame), parted(frame)
        if header is None or parts is None:
            return {"bytes": frame[:200].hex(), "length": len(frame)}
        said: dict[str, Any] = {"code": header["code"]}
        if header["remark"]:
            is_exception = header["code"] == 1 and self._exception.search(header["remark"])
            said["remark"] = "(an exception)" if is_exception else header["remark"]
        if header["ext"]:
            said["ext"] = header["ext"]
            if asked in self._rules["storing"] and header["ext"].get("msgId"):
                # an address, which is another one, and a place
                places = [one[-16:] for one in header["ext"]["msgId"].split(",")]
                said["ext"] = {**header["ext"], "msgId": ",".join(places)}
        if not header["flag"] & 1 or header["flag"] & 2:
            said["flag"] = header["flag"]
        if parts[2]:
            said["body"] = self._body(parts[2], asked)
            if said["body"] and self._bare_number.search(parts[2]):
                said["dialect"] = "bare numbers as names"
        return said

    def _body(self, body: bytes, asked: int) -> Any:
        if asked in self._rules["settings"]:
            lines = (line.partition("=") for line in body.decode("utf-8", "replace").splitlines())
            return {
                name: value for name, _, value in lines if name and not self._host_settings.fullmatch(name)
            }
        if asked in self._rules["messages"]:
            messages = _messages(body)
            if messages:
                return messages
        said = _json(body)
        if said is None:
            return body.decode("utf-8", "backslashreplace")
        if isinstance(said, dict):
            self._take_out_others(said, asked)
        return _ordered(said)

    def _take_out_others(self, said: dict[str, Any], asked: int) -> None:
        """Takes out what another run has left on a shared server."""
        if asked in self._rules["clusters"]:
            for table in ("brokerAddrTable", "clusterAddrTable"):
                if isinstance(said.get(table), dict):
                    said[table] = {name: value for name, value in said[table].items() if self._stays(name)}
        if asked in self._rules["topics"] and isinstance(said.get("topicList"), list):
            said["topicList"] = [name for name in said["topicList"] if self._stays(name)]
        if asked in self._rules["any_address"]:
            said.pop("brokerAddr", None)

    def _stays(self, name: object) -> bool:
        return self._is_ours(str(name)) or not self._made_name.search(str(name))


def _json(body: bytes) -> Any:
    """A body of JSON, whose numbers may be names without quotes; None: it is none."""
    for text in (body, _BARE_NUMBER.sub(rb'\1"\2":', body)):
        try:
            return json.loads(text.decode())
        except (ValueError, RecursionError):
            continue
    return None


def _header(frame: bytes) -> dict[str, Any] | None:
    parts = parted(frame)
    if parts is None:
        return None
    kind, header, _ = parts
    try:
        if kind:
            return _binary_header(header)
        said = json.loads(header.decode())
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


def _messages(body: bytes) -> list[dict[str, Any]]:
    """What stored messages say, hosts and the Broker's own times left out; nothing where they cannot be
    read.
    """
    said, at = [], 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        one = body[at : at + size]
        if size < 91 or len(one) < size or one[4:8] != _MAGIC:
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


def _ordered(said: Any) -> Any:
    if isinstance(said, dict):
        return {name: _ordered(value) for name, value in said.items()}
    if isinstance(said, list):
        return sorted(
            (_ordered(value) for value in said), key=lambda value: json.dumps(value, sort_keys=True)
        )
    return said


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
