"""Chapter filter: how text, numbers and truth compare in filters by SQL92."""

from harness.conformance import case
from harness.conformance.broker.filter.filtering import ON, filled, passes, with_a
from harness.session import BrokerSession


@case(kills=["text-is-equal-in-any-case", "different-is-never-true"], setup=ON)
def test_text_is_equal_character_by_character(bk: BrokerSession) -> None:
    topic = with_a(bk, "Grün", "grün", "Grün ", "北京", "it's")
    passes(bk, topic, "a = 'Grün'", 0)
    passes(bk, topic, "a <> 'Grün'", 1, 2, 3, 4)
    passes(bk, topic, "a = '北京'", 3)
    passes(bk, topic, "'Grün' = a", 0)


@case(kills=["doubled-quotes-stay"], setup=ON)
def test_quote_in_a_text_is_doubled(bk: BrokerSession) -> None:
    topic = with_a(bk, "it's", "it''s", "'", "''")
    passes(bk, topic, "a = 'it''s'", 0)
    passes(bk, topic, "a = ''''", 2)
    passes(bk, topic, "a IN ('x', 'it''''s')", 1)


@case(kills=["numbers-are-ordered-as-text", "at-least-is-more"], setup=ON)
def test_numbers_are_ordered(bk: BrokerSession) -> None:
    topic = with_a(bk, "9", "10", "-11", "+12", "007")
    passes(bk, topic, "a > 9", 1, 3)
    passes(bk, topic, "a >= 9", 0, 1, 3)
    passes(bk, topic, "a < 9", 2, 4)
    passes(bk, topic, "a <= 7", 2, 4)
    passes(bk, topic, "10 <= a", 1, 3)
    passes(bk, topic, "a = 7", 4)


@case(kills=["every-number-is-a-double"], setup=ON)
def test_whole_number_needs_a_whole_number(bk: BrokerSession) -> None:
    topic = with_a(bk, "5", "5.0", "5e0", " 5", "5L", "x", "")
    passes(bk, topic, "a = 5", 0)
    passes(bk, topic, "a <> 6", 0)
    passes(bk, topic, "a < 6", 0)


@case(kills=["whole-numbers-have-64-bits"], setup=ON)
def test_small_number_needs_32_bits(bk: BrokerSession) -> None:
    topic = with_a(bk, "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775808")
    passes(bk, topic, "a > 5", 0)
    passes(bk, topic, "a < 5", 2)
    passes(bk, topic, "a > 2147483646L", 0)
    passes(bk, topic, "a <= 2147483647", 0, 2)


@case(kills=["whole-numbers-have-32-bits"], setup=ON)
def test_large_number_needs_64_bits(bk: BrokerSession) -> None:
    topic = with_a(bk, "2147483648", "9223372036854775807", "9223372036854775808", "-5", "5.0")
    passes(bk, topic, "a > 2147483648", 1)
    passes(bk, topic, "a < 2147483649", 0, 3)
    passes(bk, topic, "a = 9223372036854775807", 1)
    passes(bk, topic, "9007199254740993 = 9007199254740992.0 AND a = -5", 3)


@case(kills=["fractions-need-a-point"], setup=ON)
def test_fraction_is_compared_with_any_number(bk: BrokerSession) -> None:
    decimal = ("2", "1.5", "1.4999", " 1.6 ", "15e-1", "1.5d")
    topic = with_a(bk, *decimal, "0x1p3", "NaN", "Infinity", "-Infinity", "x", "-0x1p9999")
    passes(bk, topic, "a = 1.5", 1, 4, 5)
    passes(bk, topic, "a > 1.5", 0, 3, 6, 7, 8)
    passes(bk, topic, "a < .15E1", 2, 9, 11)


@case(kills=["properties-are-ordered-as-text"], setup=ON)
def test_two_properties_are_ordered_as_doubles(bk: BrokerSession) -> None:
    pairs = (("9", "10"), ("1.5", "1"), ("x", "y"), ("-0.0", "0.0"), ("1", "NaN"), ("0.0", "0.0"))
    topic = filled(bk, *({"a": a, "b": b} for a, b in pairs), {"a": "1"}, {"b": "1"})
    passes(bk, topic, "a < b", 0, 3, 4)
    passes(bk, topic, "a > b", 1)
    passes(bk, topic, "a >= b AND a <= b", 5)
    passes(bk, topic, "a BETWEEN b AND 2.0", 1, 5)


@case(kills=["properties-are-equal-as-numbers"], setup=ON)
def test_two_properties_are_equal_as_text(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1", "b": "1"}, {"a": "1", "b": "1.0"}, {"a": "x", "b": "x"})
    passes(bk, topic, "a = b", 0, 2)
    passes(bk, topic, "a <> b", 1)


@case(kills=["negatives-are-positive"], setup=ON)
def test_numbers_have_signs(bk: BrokerSession) -> None:
    topic = with_a(bk, "-5", "5", "-1.5", "0")
    passes(bk, topic, "a = -5", 0)
    passes(bk, topic, "a = +5", 1)
    passes(bk, topic, "a = - -5", 1)
    passes(bk, topic, "a < -1.0", 0, 2)


@case(kills=["properties-can-be-negated"], setup=ON)
def test_negative_of_a_property_is_unknown(bk: BrokerSession) -> None:
    topic = with_a(bk, "-5", "5")
    passes(bk, topic, "-a = 5")
    passes(bk, topic, "NOT (-a = 5)")
    passes(bk, topic, "-a IS NULL", 0, 1)
    passes(bk, topic, "+a = 5", 1)


@case(kills=["truth-is-text"], setup=ON)
def test_property_equals_true_in_any_case(bk: BrokerSession) -> None:
    topic = with_a(bk, "true", "TRUE", "false", "1", "x")
    passes(bk, topic, "a = TRUE", 0, 1)
    passes(bk, topic, "a = false", 2, 3, 4)
    passes(bk, topic, "a <> true", 2, 3, 4)


@case(kills=["truth-equals-properties"], setup=ON)
def test_true_equals_no_property(bk: BrokerSession) -> None:
    topic = with_a(bk, "true", "false")
    passes(bk, topic, "TRUE = a")
    passes(bk, topic, "TRUE <> a")
    passes(bk, topic, "(a = 'true') = TRUE", 0)
    passes(bk, topic, "(a = 'true') = 1 OR a = 'false'", 1)


@case(kills=["bounds-do-not-belong"], setup=ON)
def test_between_includes_its_bounds(bk: BrokerSession) -> None:
    topic = with_a(bk, "1", "2", "3", "4", "5")
    passes(bk, topic, "a BETWEEN 2 AND 4", 1, 2, 3)
    passes(bk, topic, "a NOT BETWEEN 2 AND 4", 0, 4)
    passes(bk, topic, "a BETWEEN 3 AND 3", 2)
    passes(bk, topic, "a NOT BETWEEN 4 AND 2", 0, 1, 2, 3, 4)
    passes(bk, topic, "a BETWEEN 2 AND 4 AND a <> 3", 1, 3)


@case(kills=["first-of-a-list-counts"], setup=ON)
def test_in_is_one_of_several_texts(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "x"}, {"a": "Grün"}, {"a": "z"}, {"b": "x"})
    passes(bk, topic, "a IN ('x', 'Grün')", 0, 1)
    passes(bk, topic, "a NOT IN ('x', 'Grün')", 2)
    passes(bk, topic, "a IN ('1','2','3','4','5','z')", 2)
