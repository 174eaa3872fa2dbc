"""The Kaitai Struct description: it is what the catalogue says. `tests/live/test_kaitai.py` compiles it."""

from __future__ import annotations

from typing import Any

import yaml

from harness.catalogue import messages
from harness.report.machine import kaitai
from harness.wire import FRAME_LIMIT
from harness.wire.codes import LANGUAGES, RequestCode, ResponseCode, Serialization

TEXT = kaitai.render(messages())
SAID: dict[str, Any] = yaml.safe_load(TEXT)


def attribute(kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in SAID["types"][kind]["seq"] if one["id"] == name)
    return found


def test_every_row_of_every_layout_is_an_attribute() -> None:
    for layout in messages().layouts:
        kind = layout.name.replace("-", "_")
        own = [one["id"] for one in SAID["types"][kind]["seq"]]
        repeated = [
            one["id"]
            for name, group in SAID["types"].items()
            if name.startswith(f"{kind}_")
            for one in group["seq"]
        ]
        rows = {row.name.replace(" ", "_"): row for row in layout.rows}
        assert repeated == [name for name, row in rows.items() if row.repeat]
        counts = {row.repeat for row in layout.rows if row.repeat}
        assert {one.removeprefix("num_") for one in own} == {
            name for name, row in rows.items() if not row.repeat
        }
        assert {one for one in own if one.startswith("num_")} == {f"num_{one}" for one in counts}


def test_the_frame_has_its_limits() -> None:
    assert attribute("frame", "length")["valid"] == {"min": 4, "max": FRAME_LIMIT - 4}
    assert attribute("frame", "header_length")["valid"] == {"min": 1, "max": "length - 4"}
    assert attribute("frame", "body")["size"] == "length - 4 - header_length"
    cases = attribute("frame", "header")["type"]["cases"]
    assert set(cases) == {f"serialization::{one.name.lower()}" for one in Serialization}
    assert set(cases.values()) <= set(SAID["types"])


def test_numbers_have_the_names_of_the_codec() -> None:
    enums = SAID["enums"]
    assert enums["serialization"] == {one.value: one.name.lower() for one in Serialization}
    assert enums["language"] == {number: name.lower() for number, name in enumerate(LANGUAGES)}
    assert enums["request_code"] == {one.value: one.name.lower() for one in RequestCode}
    named = {code: one["id"] for code, one in enums["response_code"].items()}
    assert named == {one.value: one.name.lower() for one in ResponseCode}


def test_what_it_refers_to_is_there() -> None:
    known = {*SAID["types"], *SAID["enums"], "str", "s1", "s2", "s4", "u1", "b24"}
    for kind in SAID["types"].values():
        for one in kind["seq"]:
            if isinstance(one.get("type"), str):
                assert one["type"] in known
            assert one.get("enum", "language") in SAID["enums"]
