"""What fastjson makes of headers that no Java peer writes: all seen on Apache's decoder, 4.9.8 and 5.3.3."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from harness.wire import Command, RawFrame, WireError, decode, dissect

ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ('{"code":105}', {"code": 105}),
    ('{"code":"105","opaque":null}', {"code": 105}),
    ("{}", {}),
    ("{opaque:77,'flag':1,}", {"opaque": 77, "flag": 1}),
    ('{,,"opaque":1,,"flag":2,,}', {"opaque": 1, "flag": 2}),
    ('\ufeff{"opaque":1}', {"opaque": 1}),
    ('/*a*/{/*b*/"opaque":/*c*/1/*d*/,/*e*/"flag":2}//f', {"opaque": 1, "flag": 2}),
    (' \t\n{"opaque" : 1 }\x00 ', {"opaque": 1}),
    ('{"OPAQUE":1,"ext_fields":{"a":"b"},"re-mark":"r"}', {"opaque": 1, "ext": {"a": "b"}, "remark": "r"}),
    ('{"opaque":1,"opaque":2}', {"opaque": 2}),
    ('{"opaque":1,"OPAQUE":2}', {"opaque": 1}),
    ('{"code":"","flag":true,"version":1.5,"opaque":1e1}', {"flag": 1, "version": 1, "opaque": 10}),
    ('{"flag":1.9,"version":"1,000","opaque":"5.0"}', {"flag": 1, "version": 1000, "opaque": 5}),
    ('{"code":"+5","flag":+5,"version":05,"opaque":5.}', {"code": 5, "flag": 5, "version": 5, "opaque": 5}),
    ('{"code":5L,"flag":5B,"version":5.5F}', {"code": 5, "flag": 5, "version": 5}),
    ('{"code":1e10,"flag":1e20}', {"code": 1410065408, "flag": 1661992960}),
    ('{"code":NaN,"flag":undefined,"version":"null"}', {}),
    ('{"opaque":-2147483648,"flag":2147483647}', {"opaque": -(2**31), "flag": 2**31 - 1}),
    ('{"language":"java"}', {}),
    ('{"language":"COBOL"}', {"language": None}),
    ('{"language":null}', {"language": None}),
    ('{"language":9}', {"language": "GO"}),
    ('{"remark":5}', {"remark": "5"}),
    ('{"remark":true}', {"remark": "true"}),
    ('{"remark":-5.0}', {"remark": "-5.0"}),
    ('{"remark":{"a":1}}', {"remark": '{"a":1}'}),
    ('{"remark":"a\nb\x01"}', {"remark": "a\nb\x01"}),
    ('{"remark":"\\x41\\7\\v\\F\\u00e9\\\'"}', {"remark": "A\x07\x0b\x0cé'"}),
    ('{"remark":"\\ud83d\\ude00\\ud800"}', {"remark": "\U0001f600\ud800"}),
    ('{"remark":\'a"b\'}', {"remark": 'a"b'}),
    (
        '{"extFields":{"a":1,"b":1.50,"c":1e1,"d":{"x":[1,2.0]},"e":null,"f":true,"g":[1,"a"]}}',
        {
            "ext": {
                "a": "1",
                "b": "1.50",
                "c": "1E+1",
                "d": '{"x":[1,2.0]}',
                "e": None,
                "f": "true",
                "g": '[1,"a"]',
            }
        },
    ),
    ('{"extFields":{a:"b"/*c*/,"a"/*d*/:"c"}}', {"ext": {"a": "c"}}),
    ('{"extFields":{null:"a",true:"b"}}', {"ext": {"true": "b"}}),
    ('{"extFields":null}', {}),
    ('{"extFields":{}}', {"ext": {}}),
    ('{"serializeTypeCurrentRPC":"x","body":"AA==","other":{"a":[1,{}]},"type":"x"}', {}),
    ('{"serializeTypeCurrentRPC":"ROCKETMQ"}', {}),
    ('{"@type":"org.apache.rocketmq.remoting.protocol.RemotingCommand","opaque":1}', {"opaque": 1}),
    ('{"opaqu\\u0065":9}', {"opaque": 9}),
]

REFUSED = [
    "null",
    "[]",
    "[1]",
    '""',
    "1",
    " ",
    "garbage",
    '{"opaque":1',
    '{"opaque":1,',
    '{"opaque":1 "flag":2}',
    '{"opaque":1}x',
    '{"opaque":1}}',
    '{"opaque":1},',
    '{"opaque":4294967295}',
    '{"opaque":"2147483648"}',
    '{"code":"abc"}',
    '{"code":" 5"}',
    '{"code":"true"}',
    '{"code":"1e1"}',
    '{"code":[]}',
    '{"code":{}}',
    '{"code":TRUE}',
    '{"language":99}',
    '{"language":-1}',
    '{"language":1.0}',
    '{"language":true}',
    '{"language":{}}',
    '{"extFields":[]}',
    '{"extFields":"{}"}',
    '{"extFields":1}',
    '{"extFields":{1:"a"}}',
    '{"opaque":1,1:2}',
    '{"serializeTypeCurrentRPC":5}',
    '{"body":5}',
    '{"opaque":1,"@type":"java.util.HashMap"}',
    '{"remark":"\\q"}',
    '{"remark":"a',
    '{"remark":abc}',
    '{"opaque"/*a*/:1}',
    '{"remark":null/*a*/}',
    "{opaque-x:1}",
]


@pytest.mark.parametrize(("header", "expected"), ACCEPTED)
def test_accepted(header: str, expected: dict[str, Any]) -> None:
    frame = RawFrame(header.encode(), b"body").encode()
    assert decode(frame) == msgspec.structs.replace(Command(body=b"body"), **expected)
    dissection = dissect(frame)
    assert dissection.fatal == ()
    assert dissection.diagnostics


@pytest.mark.parametrize("header", REFUSED)
def test_refused(header: str) -> None:
    frame = RawFrame(header.encode(), b"body").encode()
    with pytest.raises(WireError):
        decode(frame, invalid_utf8="replace")
    dissection = dissect(frame)
    assert dissection.command is None
    (fatal,) = dissection.fatal
    assert 5 <= fatal.start <= fatal.end <= len(frame) - 4


def test_bytes_that_are_no_utf8_are_replaced_by_4_9_and_refused_by_5_x() -> None:
    frame = RawFrame(b'{"opaque":1,"remark":"a\xffb"}').encode()
    assert decode(frame, invalid_utf8="replace").remark == "a\ufffdb"
    with pytest.raises(WireError, match="UTF-8"):
        decode(frame)
    odd = {d.code: (d.start, d.end) for d in dissect(frame).diagnostics}
    assert odd["json-invalid-utf8"] == (8 + 23, 8 + 24)


def test_depth_is_bounded() -> None:
    frame = RawFrame(b'{"x":' + b"[" * 100_000).encode()
    with pytest.raises(WireError, match="nested deeper"):
        decode(frame)
