"""Every matcher and every kind of plain pattern: what matches, what does not and where, how it reads."""

from __future__ import annotations

import pytest

from harness.conformance.matchers import (
    ABSENT,
    ANYTHING,
    Between,
    Containing,
    Including,
    Matching,
    at,
    difference,
    show,
)

MATCHING = [
    (1, 1),
    ("a", "a"),
    (b"a", b"a"),
    (None, None),
    (True, True),
    ([1, ANYTHING], [1, "x"]),
    ((1, 2), [1, 2]),
    ({"a": {"b": ANYTHING}}, {"a": {"b": None}}),
    ({}, {}),
    ({"a": ABSENT}, {}),
    ({"a": ABSENT}, {"a": None}),
    (ANYTHING, None),
    (ANYTHING, object()),
    (ABSENT, None),
    (ABSENT, {}),
    (ABSENT, b""),
    (Matching("^No topic"), "No topic route"),
    (Matching("route$"), "No topic route"),
    (Containing("opic"), "topic"),
    (Containing("opic"), b"topic"),
    (Containing(b"\xff"), b"a\xffb"),
    (Including({"a": 1}), {"a": 1, "b": 2}),
    (Including({"a": 1, "c": ABSENT}), {"a": 1, "b": 2}),
    (Including([1, 3]), [3, 2, 1]),
    (Including(["a"]), {"a", "b"}),
    (Including([{"x": ANYTHING}]), [{"x": 1}, {"y": 2}]),
]

DIFFERING = [
    (1, 2, ()),
    (1, "1", ()),
    (1, True, ()),
    (False, 0, ()),
    ("a", b"a", ()),
    (None, 0, ()),
    ([1, 2], [1, 3], (1,)),
    ([1, 2], [1], (1,)),
    ([1], [1, 2], (1,)),
    ([1], "1", ()),
    ({"a": {"b": 1}}, {"a": {"b": 2}}, ("a", "b")),
    ({"a": 1}, {}, ("a",)),
    ({"a": ANYTHING}, {}, ("a",)),
    ({}, {"a": 1}, ("a",)),
    ({"a": 1}, [1], ()),
    ({"a": ABSENT}, {"a": ""}, ("a",)),
    ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ("a", 1, "b")),
    (ABSENT, "", ()),
    (ABSENT, 0, ()),
    (ABSENT, False, ()),
    (ABSENT, [], ()),
    (Matching("x"), "y", ()),
    (Matching("x"), None, ()),
    (Matching("x"), b"x", ()),
    (Containing("x"), "y", ()),
    (Containing("x"), None, ()),
    (Containing(b"x"), "x", ()),
    (Including({"a": 1}), {"a": 2}, ("a",)),
    (Including({"a": 1}), {}, ("a",)),
    (Including({"a": ABSENT}), {"a": 1}, ("a",)),
    (Including({"a": 1}), ["a"], ()),
    (Including([1, 2]), [1], ()),
    (Including(["a"]), "a", ()),
    (Including(["a"]), {"a": 1}, ()),
    (Including(["a"]), None, ()),
]


@pytest.mark.parametrize(("pattern", "actual"), MATCHING)
def test_matches(pattern: object, actual: object) -> None:
    assert difference(pattern, actual) is None


@pytest.mark.parametrize(("pattern", "actual", "path"), DIFFERING)
def test_differs_at(pattern: object, actual: object, path: tuple[object, ...]) -> None:
    assert difference(pattern, actual) == path


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (ANYTHING, "anything"),
        (ABSENT, "absent"),
        (Matching("^a.c$"), "text matching /^a.c$/"),
        (Containing("x"), 'containing "x"'),
        (Including({"a": 1}), "including {a: 1}"),
        (Including([1, "b"]), 'including [1, "b"]'),
        (None, "absent"),
        (True, "true"),
        (12, "12"),
        ('a"b\\c\nd\re', '"a\\"b\\\\c⏎d\\re"'),
        ({"b": {0: "10.0.0.1:1"}, "x": ANYTHING}, '{b: {0: "10.0.0.1:1"}, x: anything}'),
        ({("a", 1): 2}, '{["a", 1]: 2}'),
        ([1, [2]], "[1, [2]]"),
        ((4, 4, 6), "[4, 4, 6]"),
        ({"b", "a"}, '{"a", "b"}'),
        (b'{"a":0}', '{"a":0}'),
        (b"", "no bytes"),
        (b"\xff\x00", "2 bytes ff00"),
        (b"a\x00", "2 bytes b'a\\x00'"),
    ],
)
def test_renders_in_one_line(value: object, line: str) -> None:
    assert show(value) == line
    assert "\n" not in show(value)


def test_a_member_too_many_that_is_null_is_not_called_absent() -> None:
    value = {"topicList": [], "brokers": [{"zone": None, "address": None}]}
    assert show(value, ("brokers", 0, "zone")) == "{topicList: [], brokers: [{zone: null, address: absent}]}"


def test_long_values_are_cut_and_say_by_how_much() -> None:
    line = show("x" * 10_000)
    assert len(line) < 500
    assert "(9602 more characters)" in line


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), ""),
        (("brokers", "b-1", 0, "addr"), 'brokers["b-1"][0].addr'),
        ((0,), "[0]"),
        (("a-b",), '["a-b"]'),
    ],
)
def test_a_path_reads_as_people_write_it(path: tuple[str | int, ...], line: str) -> None:
    assert at(path) == line


def test_matchers_refuse_what_could_never_fail() -> None:
    with pytest.raises(ValueError, match="regular expression"):
        Matching("(")
    with pytest.raises(ValueError, match="empty"):
        Containing("")
    with pytest.raises(ValueError, match="nothing"):
        Including([])
    with pytest.raises(ValueError, match="Containing"):
        Including("text")


def test_between_takes_numbers_only() -> None:
    assert difference(Between(1, 2), 1) is None and difference(Between(1, 2), 2.0) is None
    assert all(difference(Between(1, 2), other) == () for other in (0.99, 2.01, "1", None, True))
    assert str(Between(1, 2.5)) == "from 1 to 2.5"
    with pytest.raises(ValueError, match="no number is from 2 to 1"):
        Between(2, 1)
