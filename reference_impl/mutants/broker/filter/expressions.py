"""Mutants of what filters mean.

Most of them put other expressions into the place of those of one kind: `others(Equal, ...)`.
"""

import re
from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

from msgspec.structs import replace

from reference_impl.broker.filters import Filters
from reference_impl.broker.sql import Selector
from reference_impl.broker.sql.expressions import (
    Chain,
    Constant,
    Equal,
    Expression,
    HasText,
    IsOneOf,
    IsTrue,
    Negated,
    Not,
    Ordered,
    Property,
)
from reference_impl.broker.sql.values import IncomparableError, whole
from reference_impl.mutants.registry import V4, V5, after, mutant

STRICT: dict[Any, Any] = {ge: gt, le: lt}


class _Changed(Expression, frozen=True):
    """An expression with another meaning: that of a function of the sound one and the properties."""

    sound: Expression
    meaning: Callable[..., Any]

    @property
    def is_condition(self):
        return self.sound.is_condition

    def value(self, properties):
        return self.meaning(self.sound, properties)


def _everywhere(found, kind, meaning):
    """An expression with another meaning wherever it is of a kind."""
    if isinstance(found, Chain):
        parts = tuple(_everywhere(one, kind, meaning) for one in found.parts)
        found = replace(found, parts=parts)
    for name in ("left", "right", "operand"):
        if hasattr(found, name):
            found = replace(found, **{name: _everywhere(getattr(found, name), kind, meaning)})
    return _Changed(found, meaning) if isinstance(found, kind) else found


def meaning(kind, description, profiles=(*V4, *V5)):
    """A mutant by which expressions of a kind mean something else: `function(sound, properties)`."""

    def enter(function):
        def changed(selector):
            return selector and Selector(_everywhere(selector.condition, kind, function))

        changed.__name__, changed.__module__ = function.__name__, function.__module__
        return after(Filters.compile, description, profiles)(changed)

    return enter


def _both(sound, properties):
    return sound.left.value(properties), sound.right.value(properties)


# -- values --------------------------------------------------------------------------------------------------


@meaning(Equal, "Text is compared without regard to case.")
def text_is_equal_in_any_case(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    return sound.value(properties)


@meaning(Not, "What is not equal is never found.")
def different_is_never_true(sound, properties):
    return False if isinstance(sound.operand, Equal) else sound.value(properties)


@mutant(Filters.compile, "A doubled quote in a text stays doubled.")
def doubled_quotes_stay(original, self, text):
    return original(self, text.replace("''", "''''"))


@meaning(Ordered, "Numbers are ordered as text.")
def numbers_are_ordered_as_text(sound, properties):
    left, right = _both(sound, properties)
    if left is None or right is None:
        return None
    left, right = str(left), str(right)
    return sound.holds((left > right) - (left < right), 0)


@meaning(Ordered, ">= and <= mean > and <.")
def at_least_is_more(sound, properties):
    return replace(sound, holds=STRICT.get(sound.holds, sound.holds)).value(properties)


@meaning((Equal, Ordered), "A whole number is compared with any number.")
def every_number_is_a_double(sound, properties):
    doubled = [
        Constant(float(one.content or 0)) if isinstance(one, Constant) and one.is_number else one
        for one in (sound.left, sound.right)
    ]
    return replace(sound, left=doubled[0], right=doubled[1]).value(properties)


def _limited(limit):
    def value(sound, properties):
        left, right = _both(sound, properties)
        if isinstance(left, str) and isinstance(right, int) and not isinstance(right, bool):
            return sound.holds(whole(left, limit) - right, 0)
        return sound.value(properties)

    return value


@meaning(Ordered, "A small number is compared with whole numbers of 64 bits, too.")
def whole_numbers_have_64_bits(sound, properties):
    return _limited(2**63 - 1)(sound, properties)


@meaning(Ordered, "A large number is compared with whole numbers of 32 bits alone.")
def whole_numbers_have_32_bits(sound, properties):
    return _limited(2**31 - 1)(sound, properties)


@meaning((Equal, Ordered), "A fraction is compared with text that has a point alone.")
def fractions_need_a_point(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(left, str) and isinstance(right, float) and "." not in left:
        return False
    return sound.value(properties)


@meaning(Ordered, "Two properties are ordered as text.")
def properties_are_ordered_as_text(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(left, str) and isinstance(right, str):
        return sound.holds((left > right) - (left < right), 0)
    return sound.value(properties)


@meaning(Equal, "Two properties are equal if they are the same number.")
def properties_are_equal_as_numbers(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(sound.left, Property) and isinstance(sound.right, Property):
        try:
            return float(left) == float(right)
        except (TypeError, ValueError):
            return sound.value(properties)
    return sound.value(properties)


@meaning(Negated, "A minus is passed over.")
def negatives_are_positive(sound, properties):
    found = sound.value(properties)
    return None if found is None else -found


@meaning(Negated, "A minus makes a number of a property.")
def properties_can_be_negated(sound, properties):
    found = sound.operand.value(properties)
    return -whole(found, 2**31 - 1) if isinstance(found, str) else sound.value(properties)


@meaning(Equal, "TRUE and FALSE equal the properties that are written like them.")
def truth_is_text(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(left, str) and isinstance(right, bool):
        return left == str(right).upper()
    return sound.value(properties)


@meaning(Equal, "TRUE may stand on either side of a property.")
def truth_equals_properties(sound, properties):
    left, right = _both(sound, properties)
    if isinstance(left, bool) and isinstance(right, str):
        return (right.lower() == "true") is left
    return sound.value(properties)


@meaning(Chain, "The bounds of BETWEEN do not belong to it.")
def bounds_do_not_belong(sound, properties):
    parts = tuple(
        replace(one, holds=STRICT.get(one.holds, one.holds)) if isinstance(one, Ordered) else one
        for one in sound.parts
    )
    return replace(sound, parts=parts).value(properties)


@mutant(Filters.compile, "IN asks about the first text of its list alone.")
def first_of_a_list_counts(original, self, text):
    return original(self, re.sub(r"(IN \('[^']*')[^)]*\)", r"\1)", text))


# -- logic ---------------------------------------------------------------------------------------------------


@meaning((Equal, Ordered, IsOneOf), "What is unknown is false.")
def unknown_is_false(sound, properties):
    return sound.value(properties) or False


@meaning(Property, "A message without a property has an empty one.")
def missing_is_empty(sound, properties):
    return sound.value(properties) or ""


@meaning(Chain, "AND and OR are unknown if either side is.")
def unknown_decides(sound, properties):
    values = [one.value(properties) for one in sound.parts]
    return None if None in values else (sound.decisive in values) is sound.decisive


@meaning(Equal, "A value compared with what is unknown is unknown.")
def unknown_on_the_right_is_unknown(sound, properties):
    left, right = _both(sound, properties)
    asks_for_null = isinstance(sound.right, Constant) and sound.right.content is None
    return None if left is not None and right is None and not asks_for_null else sound.value(properties)


@meaning(Equal, "Two missing properties are unknown.")
def two_unknowns_are_unknown(sound, properties):
    left, right = _both(sound, properties)
    asks_for_null = isinstance(sound.right, Constant)
    return None if left is None and right is None and not asks_for_null else sound.value(properties)


@meaning((Equal, Ordered), "A comparison that fails is unknown, and the rest goes on.")
def failed_comparisons_are_unknown(sound, properties):
    try:
        return sound.value(properties)
    except IncomparableError:
        return None


@meaning(IsTrue, "A property in the place of a condition says whether it is true.")
def properties_are_conditions(sound, properties):
    found = sound.operand.value(properties)
    return None if found is None else found.lower() == "true"


@mutant(Filters.compile, "AND and OR are carried out from left to right.")
def and_binds_like_or(original, self, text):
    first, *rest = re.split(r"(?= AND | OR )", text)
    for one in () if "(" in text else rest:
        first = f"({first}{one})"
    return original(self, text if "(" in text else first)


@mutant(Filters.compile, "NOT denies the whole comparison behind it.")
def not_binds_loosely(original, self, text):
    return original(self, re.sub(r"^NOT ([^(].*)$", r"NOT (\1)", text))


# -- forms ---------------------------------------------------------------------------------------------------


@mutant(Filters.compile, "Words are known in capitals only.")
def words_are_in_capitals(original, self, text):
    is_small = re.search(r"\b(and|or|not|is|null|in|between)\b", re.sub(r"'[^']*'", "", text))
    return None if is_small else original(self, text)


@meaning(Property, "Names of properties are found in any case.")
def names_are_in_any_case(sound, properties):
    return {name.lower(): value for name, value in properties.items()}.get(sound.name.lower())


@mutant(Filters.compile, "Comments cannot be read.")
def comments_are_not_read(original, self, text):
    return None if "/*" in text or "-- " in text else original(self, text)


@mutant(Filters.compile, "Nothing may stand behind an expression.")
def filters_are_read_to_the_end(original, self, text):
    return original(self, text) if original(self, f"({text})") else None


@after(Filters.compile, "What cannot be read lets nothing pass.")
def every_filter_is_readable(selector):
    return selector or Selector(Constant(False))


@mutant(Filters.compile, "No constant can be compared with another one.")
def constants_equal_no_constants(original, self, text):
    return None if re.fullmatch(r"('\w'|\d|TRUE) (=|<>) \w+", text) else original(self, text)


@mutant(Filters.compile, "Text has an order.")
def order_is_of_text_too(original, self, text):
    return original(self, text) or original(self, re.sub(r"([<>]=?|BETWEEN) '\w'", r"\1 1", text))


@mutant(Filters.compile, "A number is a condition.")
def every_number_is_a_condition(original, self, text):
    return original(self, text) or original(self, f"{text} IS NOT NULL")


@meaning(HasText, "CONTAINS, STARTSWITH and ENDSWITH want the whole text.", V5)
def texts_are_whole_texts(sound, properties):
    found = sound.operand.value(properties)
    return isinstance(found, str) and (found == sound.text) is sound.wanted


@meaning(HasText, "NOT before CONTAINS, STARTSWITH and ENDSWITH is passed over.", V5)
def parts_are_not_denied(sound, properties):
    return replace(sound, wanted=True).value(properties)


@meaning(HasText, "Whether a missing property contains a text is unknown.", V5)
def parts_of_nothing_are_unknown(sound, properties):
    return None if sound.operand.value(properties) is None else sound.value(properties)


@meaning(HasText, "The empty text is part of every text.", V5)
def empty_text_is_part_of_all(sound, properties):
    return sound.value(properties) if sound.text else sound.wanted


@mutant(Filters.compile, "CONTAINS, STARTSWITH and ENDSWITH are words.", V4)
def older_brokers_know_newer_words(original, self, text):
    profile, self.profile = self.profile, replace(self.profile, v5=True)
    try:
        return original(self, text)
    finally:
        self.profile = profile
