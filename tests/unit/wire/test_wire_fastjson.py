"""The fastjson dialect: what is read, where it lies, and how it is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.wire.fastjson import Dialect, ParseError, document, dumps, locate, parse, quote, tree
from harness.wire.fastjson.emit import EXACT_IN_DOUBLES

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no bug

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"brokerAddrs":{0:"a",-1:"b"}}', {"brokerAddrs": {"0": "a", "-1": "b"}}),
        ("{a:1,'b':2,$c_1:3,}", {"a": 1, "b": 2, "$c_1": 3}),
        ("[,1,,2,]", [1, 2]),
        ('{/*x*/"a"://y\n1}', {"a": 1}),
        ("[NaN,undefined,null,true,false]", [None, None, None, True, False]),
        ("[1.5,1e2,-0,5L,05,+5,5.]", [1.5, 100.0, 0, 5, 5, 5, 5.0]),
        ('"\\x41\\7\\u00e9\\ud83d\\ude00\\/"', "A\x07é\U0001f600/"),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{null:"x"}', {"null": "x"}),
        ("é", None),
    ],
)
def test_parse(text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(ParseError):
            parse(text)
        return
    assert parse(text) == value
    assert parse(text.encode()) == value
    assert parse("\ufeff" + text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[1", '{"a"}', '{"a":}', "[1:2]", '"\\u00g0"', '"\\x4"', "'a", "nul", "truex", "{}{}"]
)
def test_parse_error_has_an_offset(text: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert 0 <= error.value.offset <= len(text)


def test_digits_beyond_the_limit_are_read_as_floating_point() -> None:
    assert parse("9" * 5000) == float("inf")


def test_locate_counts_bytes_in_bytes_and_characters_in_text() -> None:
    text = '{"é":[1,{0:"x/y"}],"a":1,"a":22}'
    places: list[tuple[list[str | int], str]] = [
        (["é", 1, 0], '"x/y"'),
        (["é", -2], "1"),
        (["a"], "22"),
        ([], text),
    ]
    for path, piece in places:
        place = locate(text, path)
        assert place is not None
        assert text[slice(*place)] == piece
        place = locate(text.encode(), path)
        assert place is not None
        assert text.encode()[slice(*place)] == piece.encode()
    nowhere: list[list[str | int]] = [["b"], ["é", 2], ["é", -3], ["a", 0], [0], ["é", "0"]]
    for path in nowhere:
        assert locate(text, path) is None


def test_tree_keeps_what_occurs_twice_and_what_is_no_utf8() -> None:
    root, replaced = tree(b'{a:"\xff",a:"b\xed\xa0\x80"}')
    assert [name.value for name, _ in root.members] == ["a", "a"]
    assert all(name.bare for name, _ in root.members)
    assert [value.value for _, value in root.members] == ["\ufffd", "b\ufffd"]
    assert replaced == [(4, 5), (11, 12)]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("legacy", '{"a":{0:"é/\\"\\n\\u0001\\u007F\\u0080\\u2028"},"c":[null,1]}'),
        ("plain", '{"a":{"0":"é/\\"\\n\\u0001\\u007F\\u0080\\u2028"},"c":[null,1]}'),
        ("standard", '{"a":{"0":"\\u00E9\\/\\"\\n\\u0001\\u007F\\u0080\\u2028"},"c":[null,1]}'),
    ],
)
def test_dumps(dialect: Dialect, text: str) -> None:
    value = {"a": {0: 'é/"\n\x01\x7f\x80\u2028'}, "b": None, "c": [None, 1]}
    assert dumps(value, dialect) == text.encode()


def test_dumps_other_types() -> None:
    assert dumps((True, False, 1.5, msgspec.Raw(b"{0:1}"))) == b"[true,false,1.5,{0:1}]"
    with pytest.raises(TypeError, match="set has no form"):
        dumps(set())


def test_quote() -> None:
    assert quote("\U0001f600", "standard") == b'"\\uD83D\\uDE00"'
    assert quote("\ud800") == b'"?"'


def without_null_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_null_members(member) for name, member in value.items() if member is not None}
    return [without_null_members(element) for element in value] if isinstance(value, list) else value


def large_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: large_as_text(member) for name, member in value.items()}
    if isinstance(value, list):
        return [large_as_text(element) for element in value]
    return str(value) if type(value) is int and abs(value) > EXACT_IN_DOUBLES else value


@relaxed
@given(VALUES, st.sampled_from(["legacy", "standard", "plain"]))
def test_what_is_written_is_read_again(value: Any, dialect: Dialect) -> None:
    text = dumps(value, dialect)
    written = without_null_members(large_as_text(value) if dialect == "standard" else value)
    assert parse(text) == written
    assert document(value, dialect) == text
    assert json.loads(text) == written


def test_large_integers_are_text_in_standard() -> None:
    value = {"a": [2**53 - 1, 2**53], "b": -(2**53)}
    text = b'{"a":[9007199254740991,"9007199254740992"],"b":"-9007199254740992"}'
    assert dumps(value, "standard") == document(value, "standard") == text
    plain = b'{"a":[9007199254740991,9007199254740992],"b":-9007199254740992}'
    assert dumps(value, "plain") == document(value, "plain") == plain


@relaxed
@given(VALUES)
def test_ordinary_json_is_read_alike(value: Any) -> None:
    text = json.dumps(value)
    assert parse(text) == value
    assert parse(text.encode()) == value


@relaxed
@given(st.one_of(st.binary(max_size=40), st.text("{}[]\",:\\0123456789-+.eabcnulltruNaN'/* \n", max_size=40)))
def test_nothing_but_parse_error_escapes(data: bytes | str) -> None:
    try:
        root, _ = tree(data)
    except ParseError as error:
        assert 0 <= error.offset <= len(data)
    else:
        assert 0 <= root.start <= root.end <= len(data)
        root.to_value()


@pytest.mark.parametrize("opening", ["[", '{"a":', "{a:["])
def test_depth_is_bounded(opening: str) -> None:
    with pytest.raises(ParseError, match="nested deeper"):
        parse(opening * 100_000)
