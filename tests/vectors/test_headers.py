"""What Apache's decoders make of odd JSON headers is what ours makes of them, engine by engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.wire import RawFrame, WireError, decode
from harness.wire.decoder import InvalidUtf8
from harness.wire.fastjson import Engine

HEADERS = Path(__file__).parents[2] / "fixtures" / "headers"
ENGINES: dict[str, tuple[Engine, InvalidUtf8]] = {
    "4.9.8": ("fastjson", "replace"),
    "5.3.3": ("fastjson", "refuse"),
    "5.5.0": ("fastjson2", "refuse"),
}
NOT_REPRODUCED = {
    '{"opaque":7,"language":"NODE_JS"}': "4.9 has no NODE_JS; the codec keeps the name",
    '{"code":1,"opaque":7,"extFields":""}': "null on 5.3, refused on 4.9; refused here",
    '{"code":1,"opaque":7,"extFields":{null:"b"}}': "a null key, which no caller can ask for",
    '{"code":1,"opaque":7,"extFields":{"@type":"x","a":"b"}}': "fastjson 1 drops an @type among ext fields",
    '{"code":1,"opaque":7,"c\\u006fde":5}': "fastjson 1 sees no escape in a name that it expects",
    '{"code":1,"opaque":7,é:1}': "fastjson 1 refuses some letters in bare names",
}
"""By text: what the codec, which is one for both lines of fastjson 1, does otherwise, and why."""


def read(release: str) -> list[Any]:
    document = json.loads((HEADERS / f"{release}.json").read_text("ascii"))
    assert document["rocketmq"] == release
    return [
        pytest.param(release, entry["text"], entry["command"], id=f"{release}:{entry['text']}")
        for entry in document["headers"]
        if ENGINES[release][0] == "fastjson2" or entry["text"] not in NOT_REPRODUCED
    ]


@pytest.mark.parametrize(("release", "text", "expected"), [p for release in ENGINES for p in read(release)])
def test_odd_header(release: str, text: str, expected: dict[str, Any] | None) -> None:
    engine, invalid_utf8 = ENGINES[release]
    frame = RawFrame(text.encode()).encode()
    if expected is None:
        with pytest.raises(WireError):
            decode(frame, invalid_utf8=invalid_utf8, engine=engine)
        return
    command = decode(frame, invalid_utf8=invalid_utf8, engine=engine)
    assert {name: getattr(command, name) for name in expected} == expected
