"""Headers that fastjson reads and a decoder that knows types does not."""

from __future__ import annotations

import pytest

from harness.wire import Command, RawFrame, Serialization, decode, encode, mistyped

PLAIN = '"code":0,"flag":1,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":479'


def frame(members: str) -> bytes:
    return RawFrame(f"{{{members}}}".encode(), b"").encode()


@pytest.mark.parametrize(
    "members",
    [
        PLAIN,
        f'{PLAIN},"extFields":{{"offset":"7"}},"remark":"no"',
        f'{PLAIN},"extFields":{{}},"remark":null',
        f'{PLAIN},"extFields":null',
        f'{PLAIN},"more":7',
        '"code":0,"flag":1,"opaque":7',
    ],
)
def test_what_a_decoder_that_knows_types_reads(members: str) -> None:
    assert mistyped(frame(members)) is None


@pytest.mark.parametrize(
    ("members", "wanted", "names", "shown"),
    [
        (PLAIN.replace("7,", '"7",'), "JSON integer", ("opaque",), '"7"'),
        (PLAIN.replace('"code":0', '"code":false'), "JSON integer", ("code",), "false"),
        (PLAIN.replace('"flag":1', '"flag":1.0'), "JSON integer", ("flag",), "1.0"),
        (PLAIN.replace("0,", '"0",').replace("479", '"479"'), "JSON integer", ("code", "version"), '"0"'),
        (PLAIN.replace('"code":0,', ""), "JSON integer", ("code",), ""),
        (PLAIN.replace('"JAVA"', "0"), "JSON string", ("language",), "0"),
        (PLAIN.replace('"JAVA"', "null"), "JSON string", ("language",), "null"),
        (f'{PLAIN},"remark":7', "JSON string", ("remark",), "7"),
        (
            f'{PLAIN},"extFields":{{"a":"1","b":true,"c":null}}',
            "JSON string",
            ("extFields.b", "extFields.c"),
            "true",
        ),
    ],
)
def test_what_it_does_not_read(members: str, wanted: str, names: tuple[str, ...], shown: str) -> None:
    data = frame(members)
    found = mistyped(data)
    assert found is not None
    assert (found.wanted, found.members, found.shown) == (wanted, names, shown)
    assert data[found.start : found.end].decode() == (shown or f"{{{members}}}")
    assert isinstance(decode(data), Command)


def test_a_binary_header_has_its_types() -> None:
    assert mistyped(encode(Command(code=0, flag=1, serialization=Serialization.ROCKETMQ))) is None
