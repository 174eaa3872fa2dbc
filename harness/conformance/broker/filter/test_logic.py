"""Chapter filter: three-valued logic, and the forms of filters by SQL92."""

from harness.conformance import Reply, case
from harness.conformance.broker.filter.filtering import (
    ON,
    SUCCESS,
    UNREADABLE,
    checked,
    filled,
    passes,
    with_a,
)
from harness.session import BrokerSession


@case(kills=["unknown-is-false"], setup=ON)
def test_missing_property_is_unknown(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"b": "1"}, {"a": "2", "b": "1"})
    passes(bk, topic, "a <> '1'", 2)
    passes(bk, topic, "NOT (a = '1')", 2)
    passes(bk, topic, "NOT (a > 1)", 0)
    passes(bk, topic, "a NOT IN ('1')", 2)
    passes(bk, topic, "a NOT BETWEEN 5 AND 6", 0, 2)
    passes(bk, topic, "-a < 0 OR b = '1'", 1, 2)


@case(kills=["missing-is-empty"], setup=ON)
def test_missing_property_is_null(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"b": "1"}, {"a": "null"})
    passes(bk, topic, "a IS NULL", 1)
    passes(bk, topic, "a IS NOT NULL", 0, 2)
    passes(bk, topic, "NOT (a IS NULL)", 0, 2)
    passes(bk, topic, "NULL IS NULL AND a = 1", 0)


@case(kills=["unknown-decides"], setup=ON)
def test_unknown_leaves_it_to_the_other_side(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"b": "1"}, {"a": "1", "b": "1"}, {})
    passes(bk, topic, "a = '1' OR b = '1'", 0, 1, 2)
    passes(bk, topic, "a = '1' AND b = '1'", 2)
    passes(bk, topic, "NOT (a = '1' AND b = '2')", 1, 2)
    passes(bk, topic, "NOT (a = '1' OR b = '2')")
    passes(bk, topic, "NOT (a = '2' OR b = '2')", 2)
    passes(bk, topic, "NULL OR a = '1'", 0, 2)


@case(kills=["unknown-on-the-right-is-unknown"], setup=ON)
def test_known_differs_from_unknown(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"b": "1"}, {"a": "2"})
    passes(bk, topic, "'1' = a", 0)
    passes(bk, topic, "'1' <> a", 1, 2)
    passes(bk, topic, "a <> b", 0, 2)


@case(kills=["two-unknowns-are-unknown"], setup=ON)
def test_two_missing_properties_are_equal(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"c": "1"}, {"b": "1"})
    passes(bk, topic, "a = b", 1)


@case(kills=["failed-comparisons-are-unknown"], setup=ON)
def test_failed_comparison_fails_all(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "x", "b": "1"}, {"a": "5", "b": "1"}, {"b": "1"})
    passes(bk, topic, "a = 5 OR b = 1", 1, 2)
    passes(bk, topic, "b = 1 OR a = 5", 0, 1, 2)
    passes(bk, topic, "NOT (a = 5 AND b = 2)", 1, 2)
    passes(bk, topic, "a > 5 OR a IS NOT NULL", 1)


@case(kills=["properties-are-conditions"], setup=ON)
def test_property_alone_is_false(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "true"}, {"a": "1"}, {"b": "true"})
    passes(bk, topic, "a")
    passes(bk, topic, "NOT a", 0, 1)
    passes(bk, topic, "a OR b = 'true'", 2)
    passes(bk, topic, "TRUE", 0, 1, 2)
    passes(bk, topic, "FALSE")
    passes(bk, topic, "NULL")


@case(kills=["and-binds-like-or"], setup=ON)
def test_and_binds_closer_than_or(bk: BrokerSession) -> None:
    messages = ({"a": "1"}, {"b": "1"}, {"b": "1", "c": "1"}, {"a": "1", "b": "1", "c": "1"})
    topic = filled(bk, *messages)
    passes(bk, topic, "a = 1 OR b = 1 AND c = 1", 0, 2, 3)
    passes(bk, topic, "b = 1 AND c = 1 OR a = 1", 0, 2, 3)
    passes(bk, topic, "(a = 1 OR b = 1) AND c = 1", 2, 3)


@case(kills=["not-binds-loosely"], setup=ON)
def test_not_binds_closest(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"a": "2"}, {"b": "1"})
    passes(bk, topic, "NOT a = '2'")
    passes(bk, topic, "NOT a = TRUE", 0, 1)
    passes(bk, topic, "NOT (a = '2')", 0)


@case(kills=["words-are-in-capitals", "names-are-in-any-case"], setup=ON)
def test_words_are_in_any_case_and_names_are_not(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "1"}, {"A": "1"}, {"note": "1", "$_9": "2"})
    passes(bk, topic, "a Is nOt null and Not (a = 2)", 0)
    passes(bk, topic, "A between 1 And 1", 1)
    passes(bk, topic, "note in ('1') or FaLsE", 2)
    passes(bk, topic, "$_9 = 2", 2)


@case(kills=["comments-are-not-read"], setup=ON)
def test_blanks_and_comments_are_passed_over(bk: BrokerSession) -> None:
    topic = with_a(bk, "1", "2")
    passes(bk, topic, "\ta\r\n=\f2 ", 1)
    passes(bk, topic, "a/* one * two **/=/**/2", 1)
    passes(bk, topic, "a = -- not this: 1\n2", 1)
    passes(bk, topic, "a=2--", 1)


@case(kills=["filters-are-read-to-the-end"], setup=ON)
def test_rest_behind_an_expression_is_passed_over(bk: BrokerSession) -> None:
    topic = with_a(bk, "1", "2", "0")
    passes(bk, topic, "a = 2 b = 1 ;", 1)
    passes(bk, topic, "a = 2) OR (a = 1", 1)
    passes(bk, topic, "a = 01", 2)
    passes(bk, topic, "a LIKE '2'")
    checked(bk, "a = 2;") >> Reply(UNREADABLE)


UNREAD = {
    "nothing": (" ", "/* a = 1 */"),
    "no-condition": ("1", "'x'", "-a", "a = 1 OR 2", "NOT 1"),
    "unfinished": ("a =", "a = 1 AND", "(a = 1", "a NOT b", "a IS 1", "a IN ()", "a BETWEEN 1"),
    "signs": ("a == 1", "a != 1", "a => 1", "a = 'x", 'a = "x"', "a = 1;", "a.b = 1", "#a = 1"),
    "order": (
        "a > 'x'",
        "'x' < a",
        "a >= TRUE",
        "a > NULL",
        "a > 1 > 2",
        "(a = 1) < 2",
        "a BETWEEN 'x' AND 'y'",
    ),
    "null": ("a = NULL", "NULL <> a", "a BETWEEN NULL AND 1", "a BETWEEN 1 AND NULL"),
    "bounds": ("a BETWEEN 5 AND 4", "a BETWEEN 5.5 AND 5", "a BETWEEN 'x' AND 1", "a BETWEEN TRUE AND 1"),
    "numbers": ("a = 9223372036854775808", "a = -9223372036854775808", "a = 0.0", "a = 1e400", "a = 1e-400"),
    "lists": ("a IN (1)", "a IN (b)", "'a' IN ('a')", "(a = 1) IN ('x')"),
    "constants": ("TRUE = 1", "FALSE <> 'x'"),
}


READABLE = (
    "a NOT BETWEEN 5 AND 4",
    "a BETWEEN 5 AND 5.5",
    "a BETWEEN 5 AND 5",
    "1 = TRUE",
    "'x' <> FALSE",
    "TRUE = FALSE",
)


@case(
    kills=[
        "every-filter-is-readable",
        "order-is-of-text-too",
        "every-number-is-a-condition",
        "constants-equal-no-constants",
    ],
    setup=ON,
)
def test_unreadable_expression_is_refused(bk: BrokerSession) -> None:
    for expressions in UNREAD.values():
        for expression in expressions:
            checked(bk, expression) >> Reply(UNREADABLE)
    for expression in READABLE:
        checked(bk, expression) >> Reply(SUCCESS)


@case(kills=["texts-are-whole-texts", "parts-are-not-denied"], setup=ON)
def test_text_can_be_part_of_another(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "Grün-Blau"}, {"a": "Blau-Grün"}, {"a": "blau"}, {"b": "Grün"})
    passes(bk, topic, "a CONTAINS '-'", 0, 1)
    passes(bk, topic, "a NOT CONTAINS '-'", 2)
    passes(bk, topic, "a STARTSWITH 'Grün'", 0)
    passes(bk, topic, "a NOT StartsWith 'Grün'", 1, 2)
    passes(bk, topic, "a ENDSWITH 'Grün'", 1)
    passes(bk, topic, "a NOT endswith 'Grün'", 0, 2)


@case(kills=["parts-of-nothing-are-unknown", "empty-text-is-part-of-all"], setup=ON)
def test_part_of_nothing_is_false(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "x"}, {"b": "x"})
    passes(bk, topic, "a NOT CONTAINS 'y'", 0)
    passes(bk, topic, "NOT (a NOT CONTAINS 'y')", 1)
    passes(bk, topic, "a CONTAINS ''")
    passes(bk, topic, "a NOT CONTAINS ''")
    passes(bk, topic, "NOT (a STARTSWITH '')", 0, 1)
    passes(bk, topic, "'xyz' CONTAINS 'y' AND a = 'x'", 0)


@case(kills=["older-brokers-know-newer-words"], setup=ON)
def test_contains_is_a_name(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "xyz"}, {"CONTAINS": "1", "endswith": "2"})
    passes(bk, topic, "a CONTAINS 'y'")
    passes(bk, topic, "a ENDSWITH 'z'")
    passes(bk, topic, "CONTAINS = 1 AND endswith = 2", 1)
    passes(bk, topic, "NOT a STARTSWITH 'q'", 0)
