"""What the generated dissector makes of a capture, beside what `decode` makes of it."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from harness.catalogue import specs_directory
from harness.report.commands import Commands, Told, code_name
from harness.report.machine import FOLDER
from harness.report.machine.wireshark import FILE
from harness.trace.packets import Capture
from harness.trace.reassembly import Reassembly

SCRIPT = specs_directory() / "rendered" / FOLDER / FILE

needed = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed (Debian: apt install tshark)"
)
BESIDE: Final = {"request-not-seen", "request-unknown", "response-unknown"}
"""What the dissector says of frames whose bytes are right."""
Pairs = list[tuple[str, Any]]
"""A JSON object as it is written."""
Members = dict[str, Any]
"""A command as both show it, and the codes of what is wrong with its bytes; or only these."""


FIRST_BYTES_FIRST: Final = ("-o", "tcp.try_heuristic_first:TRUE")
"""For captures of clients on any port: some ports are those of other protocols that Wireshark knows."""


def tshark(*words: object) -> str:
    """What it prints when it is run with the dissector. Fails where the dissector does."""
    ended = subprocess.run(
        ["tshark", "-X", f"lua_script:{SCRIPT}", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Lua" not in ended.stderr, ended.stderr
    assert "Lua Error" not in ended.stdout, ended.stdout[-2000:]
    return ended.stdout


def dissected(capture: Path, *options: object) -> list[Members]:
    """Every frame of a capture as Wireshark shows it when it has read all of it."""
    text = tshark("-2", "-r", capture, "-Y", "rocketmq", "-T", "json", *options)
    frames = [
        (int(_first(packet, "frame.number")), pairs)
        for packet in json.loads(text, object_pairs_hook=list)
        for name, pairs in _below(packet)
        if name == "rocketmq"
    ]
    asked: dict[tuple[int, int], int] = {}
    found = []
    for place, (number, pairs) in enumerate(frames):
        members, asked_in = _members(pairs)
        if "code" in members:
            members["answers"] = asked.get((asked_in, members["opaque"]))
            if not members["response"]:
                asked[number, members["opaque"]] = place
        found.append(members)
    return found


def _below(pairs: Pairs) -> Iterator[tuple[str, Any]]:
    """All names and values of an object and of those in it; a name may occur again."""
    for name, value in pairs:
        yield name, value
        if isinstance(value, list):
            yield from _below(value)


def _first(pairs: Pairs, name: str) -> str:
    found: str = next(value for key, value in _below(pairs) if key == name)
    return found


def _members(pairs: Pairs) -> tuple[Members, int]:
    """What is shown of a frame, and the number of the packet with the request that it answers, or 0."""
    fields = {name.removeprefix("rocketmq."): value for name, value in _below(pairs)}
    messages = (value for name, value in _below(pairs) if name == "_ws.expert.message")
    members: Members = {"problems": {message.rpartition("(")[2].rstrip(")") for message in messages} - BESIDE}
    if "code" not in fields:
        return members, 0
    members |= {name: int(fields[name]) for name in ("code", "flag", "opaque", "version", "body_length")}
    members |= {
        "name": fields["name"],
        "response": fields["response"] == "1",
        "oneway": fields["oneway"] == "1",
        "request": int(fields["request"]) if "request" in fields else None,
        "language": fields.get("language"),
        "remark": fields.get("remark"),
        "ext": {
            _first(entry, "rocketmq.ext_name"): dict(entry).get("rocketmq.ext_value")
            for name, entry in fields.get("ext") or ()
            if name.endswith("_tree")
        },
        "body": fields.get("body", "").replace(":", ""),
    }
    return members, int(fields.get("response_to", 0))


def commands_of(capture: Path) -> Iterator[Told]:
    """Every command of a capture."""
    commands, reassembly = Commands(all_speak=True), Reassembly(None)
    events = (seen for segment in Capture(capture) for seen in reassembly.add(segment))
    lines = (line for seen in itertools.chain(events, reassembly.end()) for line in commands.add(seen))
    return (line for line in itertools.chain(lines, commands.end()) if isinstance(line, Told))


def decoded(capture: Path) -> list[Members]:
    """The same by the codec of the harness."""
    found = []
    for told in commands_of(capture):
        members: Members = {"problems": {one.code for one in told.dissection.diagnostics}}
        if (command := told.command) is not None:
            members |= {
                "code": command.code,
                "name": code_name(command),
                "response": command.is_response,
                "oneway": command.is_oneway,
                "request": told.asked,
                "answers": None if told.answers is None else told.answers - 1,
                "opaque": command.opaque,
                "flag": command.flag,
                "language": command.language,
                "version": command.version,
                "remark": _visible(command.remark),
                "ext": {_visible(name): _visible(value) for name, value in (command.ext or {}).items()},
                "body": command.body.hex(),
                "body_length": len(command.body),
            }
        found.append(members)
    return found


def _visible(text: str | None) -> str | None:
    """As the dissector shows it: Wireshark ends a text at its first NUL."""
    return None if text is None else text.replace("\0", "␀")
