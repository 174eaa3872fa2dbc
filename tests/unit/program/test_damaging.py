"""Damaged steps: each damage does what it says, nothing else, and always the same."""

from __future__ import annotations

import itertools
import zlib

import pytest

from harness.program.chance import chance
from harness.program.damages import (
    AnyDamage,
    Bits,
    Body,
    Bomb,
    Bytes,
    Cut,
    Deep,
    Entry,
    HeaderText,
    Length,
    Many,
    Member,
    Number,
    Raw,
)  # fmt: skip
from harness.program.damaging import damaged_frame, segment_of
from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.shrink import shrunk
from harness.program.steps import AnyStep, decode_step, encode_step
from harness.wire import Command, decode, dissect

VERSION = 479


def names() -> Names:
    return Names(chance("damaging"))


def made(*damages: AnyDamage, base: ns.AnyRequest | None = None) -> bytes:
    step = ns.Damaged(base=base or ns.Kv(code=100), damages=damages)
    assert decode_step(encode_step(step)) == step
    frame = damaged_frame(step, names(), 7, VERSION)
    assert frame == damaged_frame(step, names(), 7, VERSION)
    return frame


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    "base", [ns.ClusterInfo(), ns.Route(), ns.Register(topics={"T0": (4, 4, 6, 0)}), ns.Unknown()]
)
def test_without_damages_it_is_the_frame_of_the_base(base: ns.AnyRequest, binary: bool) -> None:
    step = type(base)(binary=binary) if not isinstance(base, ns.Register) else base
    assert decode(made(base=step)) == decode(frame_of(step, names(), 7, VERSION))


BINARY = ns.Kv(code=100, binary=True)
DIAGNOSED: list[tuple[AnyDamage, ns.AnyRequest, str]] = [
    (Length(of="frame", value=-1), ns.Kv(), "frame-trailing"),
    (Length(of="frame", value=5), ns.Kv(), "frame-truncated"),
    (Length(of="frame", value=-1, absolute=True), ns.Kv(), "length-too-small"),
    (Length(of="frame", value=2**31 - 1, absolute=True), ns.Kv(), "length-too-large"),
    (Length(of="header", value=1), ns.Kv(), "header-length-too-large"),
    (Length(of="header", value=0, absolute=True), ns.Kv(), "header-empty"),
    (Length(of="type", value=2, absolute=True), ns.Kv(), "serialize-type-unknown"),
    (Length(of="remark", value=-1, absolute=True), BINARY, "string-length-negative"),
    (Length(of="ext", value=1000), BINARY, "ext-length-too-large"),
    (Length(of="key", value=0x8000, absolute=True), BINARY, "string-length-negative"),
    (Length(of="value", value=1000), BINARY, "string-length-too-large"),
    (Member(name="opaque", value="[]"), ns.Kv(), "value-malformed"),
    (Member(name="code", value="1", how="last"), ns.Kv(), "member-duplicate"),
    (Member(name="extFields", value="7"), ns.Kv(), "ext-not-an-object"),
    (Member(name="code", how="remove"), ns.Kv(), "code-missing"),
    (Number(name="version", value=2**31), ns.Kv(), "value-malformed"),
    (Entry(key="key", value="y", how="last"), ns.Kv(), "ext-duplicate"),
    (Entry(key="key", value="y", how="last"), BINARY, "ext-duplicate"),
    (Entry(key="key", value="1.5", json=True), ns.Kv(), "value-coerced"),
    (HeaderText(at=-1, remove=1), ns.Kv(), "json-malformed"),
    (HeaderText(at=-2, insert=',"remark":"\xff"'), ns.ClusterInfo(), "json-malformed"),
    (HeaderText(at=500, insert="abc"), BINARY, "header-spare-bytes"),
    (Bytes(at=0, remove=1), ns.Kv(), "frame-truncated"),
    (Bits(at=4, mask=0x40), ns.Kv(), "serialize-type-unknown"),
    (Cut(keep=-1), ns.Kv(), "frame-truncated"),
    (Raw(), ns.Kv(), "length-too-large"),
]


@pytest.mark.parametrize(("damage", "base", "diagnostic"), DIAGNOSED, ids=str)
def test_damage(damage: AnyDamage, base: ns.AnyRequest, diagnostic: str) -> None:
    found = dissect(made(damage, base=base)).diagnostics
    assert diagnostic in {one.code for one in found}


def test_fields_and_bodies() -> None:
    def command(*damages: AnyDamage, base: ns.AnyRequest | None = None) -> Command:
        return decode(made(*damages, base=base))

    assert command(Number(name="code", value=9)).code == 9
    assert command(Number(name="code", value=9), base=BINARY).code == 9
    assert command(Entry(key="value", value="é")).ext == {"namespace": "n0", "key": "x", "value": "é"}
    assert command(Entry(key="value", how="remove"), base=BINARY).ext == {"namespace": "n0", "key": "x"}
    assert len(command(Many(count=300)).ext or {}) == 303
    assert len(command(Many(count=3), base=BINARY).ext or {}) == 6
    assert command(Body(insert="xyz")).body == b"xyz"
    bomb = zlib.decompress(command(Bomb(kib=3), base=ns.Register()).body)
    assert bomb == (3072).to_bytes(4, "big") + bytes(3072)
    assert command(Deep(where="body", depth=2, objects=True)).body == b'{"deep":{"a":{"a":0}}}'
    assert (command(Deep(where="ext", depth=2)).ext or {})["deep"] == "[[0]]"


def test_a_damage_without_a_place_does_nothing() -> None:
    plain = made(base=BINARY)
    for damage in (Member(name="opaque", value="[]"), Deep(where="member"), Deep(where="ext")):
        assert made(damage, base=BINARY) == plain
    assert made(Length(of="remark", value=5)) == made()


def test_what_goes_around_it_is_in_one_segment() -> None:
    step = ns.Damaged(before=(ns.Route(),), base=ns.ClusterInfo(), after=(ns.SystemTopics(), ns.Unknown()))
    segment, opaques = segment_of(step, names(), itertools.count(5), VERSION), []
    while segment:
        end = 4 + int.from_bytes(segment[:4], "big")
        opaques.append((decode(segment[:end]).opaque, decode(segment[:end]).code))
        segment = segment[end:]
    assert opaques == [(5, 105), (6, 106), (7, 304), (8, 999)]


def test_the_shrinker_takes_damages_apart() -> None:
    big = ns.Damaged(
        base=ns.Kv(code=100, binary=True, oneway=True, value="w"),
        damages=(Many(count=3), Number(name="code", value=5), Cut(keep=3)),
        before=(ns.Route(),),
        after=(ns.Unknown(code=3),),
        cuts=(3, 4),
    )

    def fails(steps: object) -> bool:
        return any(
            isinstance(step, ns.Damaged) and Number(name="code", value=5) in step.damages
            for step in steps  # type: ignore[attr-defined]
        )

    program: list[AnyStep] = [ns.ClusterInfo(), big, ns.ClusterInfo()]
    assert shrunk(program, fails) == (ns.Damaged(damages=(Number(name="code", value=5),)),)

    def is_binary(steps: object) -> bool:
        return any(isinstance(step, ns.Damaged) and step.base.binary for step in steps)  # type: ignore[attr-defined]

    assert shrunk(program, is_binary) == (ns.Damaged(base=ns.Kv(code=100, binary=True)),) or shrunk(
        program, is_binary
    ) == (ns.Damaged(base=ns.Kv(binary=True)),)
