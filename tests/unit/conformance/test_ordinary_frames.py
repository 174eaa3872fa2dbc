"""The ordinary frames of cases are what Apache's encoder writes, member by member."""

from __future__ import annotations

import pytest

from harness.conformance.shared.frames import (
    OPAQUE,
    bare_names,
    binary_frame,
    binary_header,
    json_frame,
    query_header,
)
from tests.vectors.golden import FRAME_VECTORS, Vector

RECORDED = [vector for vector in FRAME_VECTORS if vector.name.startswith("language-JAVA-")]


@pytest.mark.parametrize("vector", [one for one in RECORDED if one.name.endswith("json")], ids=str)
def test_json_frame_is_apaches(vector: Vector) -> None:
    code, version, opaque = (vector.fields[name] for name in ("code", "version", "opaque"))
    header = query_header(code, opaque=f"{opaque}", version=f"{version}")
    assert json_frame(header) == vector.data


@pytest.mark.parametrize("vector", [one for one in RECORDED if one.name.endswith("rocketmq")], ids=str)
def test_binary_frame_is_apaches(vector: Vector) -> None:
    ours = binary_frame(binary_header(vector.fields["code"], version=vector.fields["version"]))
    recorded_opaque, our_opaque = (number.to_bytes(4, "big") for number in (vector.fields["opaque"], OPAQUE))
    assert ours == vector.data.replace(recorded_opaque, our_opaque)


def test_members_replace_follow_and_leave() -> None:
    header = query_header(5, '"flag":2', flag="1", language=None, extra="[]")
    assert header == (
        '{"code":5,"flag":1,"opaque":7,"serializeTypeCurrentRPC":"JSON","version":409,"extra":[],"flag":2}'
    )
    assert bare_names(header).startswith('{code:5,flag:1,opaque:7,serializeTypeCurrentRPC:"JSON"')
