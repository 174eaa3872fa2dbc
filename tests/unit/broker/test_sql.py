"""Filters by SQL92: forms of expressions and of numbers that no case of the catalogue has."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.broker.sql import NoExpressionError, compiled
from reference_impl.broker.sql.values import IncomparableError, compare, compare_as_floats, whole

INT, LONG = 2**31 - 1, 2**63 - 1


def wants(text: str, **properties: str) -> bool:
    return compiled(text, v5=True).wants(properties)


@given(st.text(string.ascii_letters + string.digits + string.punctuation + " \n\t", max_size=40))
def test_any_text_is_an_expression_or_none(text: str) -> None:
    for v5 in (True, False):
        try:
            compiled(text, v5=v5).wants({"a": "1"})
        except NoExpressionError as error:
            assert repr(text) in str(error)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_equals_itself_when_it_is_quoted(text: str, other: str) -> None:
    quoted = text.replace("'", "''")
    assert wants(f"a = '{quoted}'", a=text)
    assert wants(f"a = '{quoted}'", a=other) is (text == other)


@given(st.integers(-(2**31), INT), st.integers(0, INT))
def test_whole_numbers_are_in_order(left: int, right: int) -> None:
    assert wants(f"a < {right}", a=str(left)) is (left < right)
    assert wants(f"a >= {right}", a=str(left)) is (left >= right)
    assert wants(f"a BETWEEN -{right} AND {right}", a=str(left)) is (-right <= left <= right)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("+1", 1), ("-2147483648", -(2**31)), ("007", 7), ("٣", 3), ("2147483647", INT)],
)
def test_whole_numbers_of_java(text: str, number: int) -> None:
    assert whole(text, INT) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "-",
        " 1",
        "1 ",
        "1_0",
        "0x1",
        "1L",
        "1.0",
        "2147483648",
        "-2147483649",
        "\U0001d7cf",
        "9" * 5000,
    ],
)
def test_what_is_no_whole_number_to_java(text: str) -> None:
    with pytest.raises(IncomparableError):
        whole(text, INT)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *((" 1 ", 1.0), ("1.", 1.0), (".5", 0.5), ("1e2", 100.0), ("1d", 1.0), ("1.5f", 1.5), ("0x1p3", 8.0)),
        *(
            ("0X.8P1d", 1.0),
            ("1e999", float("inf")),
            ("-0x1p9999", float("-inf")),
            ("-Infinity", float("-inf")),
        ),
    ],
)
def test_doubles_of_java(text: str, number: float) -> None:
    assert compare(text, number) == 0


@pytest.mark.parametrize("text", ["", "inf", "nan", "infinity", "1_0.0", "1e", "0x1", "1ff", "NaNf", "١.٥"])
def test_what_is_no_double_to_java(text: str) -> None:
    with pytest.raises(IncomparableError):
        compare(text, 1.5)


def test_doubles_have_a_total_order() -> None:
    words = ["-Infinity", "-1", "-0.0", "0.0", "1", "Infinity", "NaN"]
    for at, left in enumerate(words):
        for behind, right in enumerate(words):
            assert compare_as_floats(left, right) == (at > behind) - (at < behind)


def test_values_of_other_kinds_are_below_each_other() -> None:
    assert compare(True, 1) == compare(1, True) == compare(1.0, False) == -1
    assert compare("TRUE", True) == compare(False, False) == 0


def test_long_and_deep_expressions_are_read() -> None:
    assert wants(" OR ".join(["a = 1"] * 5000), a="1")
    assert not wants(" OR ".join(["a = 1"] * 5000), a="2")
    assert wants("(" * 5000 + "a = 1" + ")" * 5000, a="1")
    assert not wants("NOT " * 5000 + "(a = 1)", a="1"), "too deep to be carried out"
