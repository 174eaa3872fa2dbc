"""What expressions of filters are made of, and what each comes to for the properties of a message.

1. An expression comes to a value or to None, the unknown of SQL's three-valued logic. A property that a
   message does not have is unknown.
2. A message is wanted where the whole expression is true: not where it is unknown, and not where a
   comparison failed on the way.

Source: the package org.apache.rocketmq.filter.expression of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import ClassVar, Final, TypeAlias

import msgspec

from .values import IncomparableError, Value, compare, compare_as_floats

Properties: TypeAlias = Mapping[str, str]


class Expression(msgspec.Struct, frozen=True):
    """Part of a filter."""

    IS_CONDITION: ClassVar = False
    """Whether it is true, false or unknown, and nothing else."""

    @property
    def is_condition(self) -> bool:
        return self.IS_CONDITION

    def value(self, properties: Properties) -> Value | None:
        """Raises IncomparableError."""
        raise NotImplementedError


class Condition(Expression, frozen=True):
    """True, false or unknown."""

    IS_CONDITION = True

    def value(self, properties: Properties) -> bool | None:
        """Raises IncomparableError."""
        raise NotImplementedError


class Constant(Expression, frozen=True):
    """Text, a number, TRUE, FALSE or NULL (None)."""

    content: Value | None

    @property
    def is_condition(self) -> bool:
        return self.content is None or isinstance(self.content, bool)

    @property
    def is_number(self) -> bool:
        return isinstance(self.content, int | float) and not isinstance(self.content, bool)

    def value(self, properties: Properties) -> Value | None:
        return self.content


class Property(Expression, frozen=True):
    """The text of a property."""

    name: str

    def value(self, properties: Properties) -> str | None:
        return properties.get(self.name)


class Negated(Expression, frozen=True):
    """The negative of a number; of anything else, unknown."""

    operand: Expression

    def value(self, properties: Properties) -> int | float | None:
        found = self.operand.value(properties)
        return None if found is None or isinstance(found, str | bool) else -found


class IsTrue(Condition, frozen=True):
    """A property in the place of a condition: false, as it is text, or unknown."""

    operand: Expression

    def value(self, properties: Properties) -> bool | None:
        return None if self.operand.value(properties) is None else False


class Not(Condition, frozen=True):
    """The opposite of a condition."""

    operand: Expression

    def value(self, properties: Properties) -> bool | None:
        found = self.operand.value(properties)
        return None if found is None else not found


class Chain(Condition, frozen=True):
    """Conditions with AND (`decisive` is False) or OR (True) between them, up to the first that decides."""

    parts: tuple[Expression, ...]
    decisive: bool

    def value(self, properties: Properties) -> bool | None:
        unknown = False
        for part in self.parts:
            found = part.value(properties)
            if found is self.decisive:
                return self.decisive
            unknown = unknown or found is None
        return None if unknown else not self.decisive


class Equal(Condition, frozen=True):
    """Whether both are the same; unknown only where the left one alone is unknown."""

    left: Expression
    right: Expression

    def value(self, properties: Properties) -> bool | None:
        left, right = self.left.value(properties), self.right.value(properties)
        if left is None:
            return True if right is None else None
        return right is not None and compare(left, right) == 0


class Ordered(Condition, frozen=True):
    """Whether two numbers stand in an order."""

    left: Expression
    right: Expression
    holds: Callable[[int, int], bool]

    def value(self, properties: Properties) -> bool | None:
        left, right = self.left.value(properties), self.right.value(properties)
        if left is None or right is None:
            return None
        if isinstance(left, str) and isinstance(right, str):
            return self.holds(compare_as_floats(left, right), 0)
        return self.holds(compare(left, right), 0)


class IsOneOf(Condition, frozen=True):
    """Whether a property is one of some texts."""

    operand: Property
    texts: frozenset[str]

    def value(self, properties: Properties) -> bool | None:
        found = self.operand.value(properties)
        return None if found is None else found in self.texts


class HasText(Condition, frozen=True):
    """5.x: whether a text has another in it, or not; false where there is no text. Never unknown."""

    operand: Expression
    text: str
    holds: Callable[[str, str], bool]
    wanted: bool

    def value(self, properties: Properties) -> bool:
        found = self.operand.value(properties)
        is_text = isinstance(found, str) and self.text != ""
        return is_text and self.holds(str(found), self.text) is self.wanted


class Selector(msgspec.Struct, frozen=True):
    """A whole filter."""

    condition: Expression

    def wants(self, properties: Properties) -> bool:
        """Whether a message with these properties passes."""
        try:
            return self.condition.value(properties) is True
        except (IncomparableError, RecursionError):
            return False


GREATER: Final = gt
GREATER_OR_EQUAL: Final = ge
LESS: Final = lt
LESS_OR_EQUAL: Final = le
