"""Makes expressions of what the grammar has read. The methods are its rules.

What is refused here is refused before any message is seen.

Source: SelectorParser, ComparisonExpression, ConstantExpression, UnaryExpression of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import contains

from lark import Transformer, v_args

from .expressions import (
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
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
    Selector,
)
from .values import LONGEST, IncomparableError, compare


class MisfitError(Exception):
    """Parts of an expression that do not go together."""


@v_args(inline=True)
class Building(Transformer[object, Selector]):
    """Raises MisfitError."""

    def start(self, whole: Expression) -> Selector:
        return Selector(_condition(whole))

    def either(self, left: Expression, right: Expression) -> Expression:
        return _chain(left, right, decisive=True)

    def both(self, left: Expression, right: Expression) -> Expression:
        return _chain(left, right, decisive=False)

    def inverted(self, operand: Expression) -> Expression:
        return Not(_condition(operand))

    def negated(self, operand: Expression) -> Expression:
        return Negated(operand)

    # -- comparisons -----------------------------------------------------------------------------------------

    def equal(self, left: Expression, right: Expression) -> Expression:
        if _is_null(left) or _is_null(right):
            raise MisfitError("NULL equals nothing: IS NULL asks for it")
        constants = isinstance(left, Constant) and isinstance(right, Constant)
        if constants and left.is_condition and not right.is_condition:
            raise MisfitError(f"{left} cannot be compared with {right}")
        return Equal(left, right)

    def not_equal(self, left: Expression, right: Expression) -> Expression:
        return Not(self.equal(left, right))

    def is_null(self, operand: Expression) -> Expression:
        return Equal(operand, Constant(None))

    def is_not_null(self, operand: Expression) -> Expression:
        return Not(Equal(operand, Constant(None)))

    def greater(self, left: Expression, right: Expression) -> Expression:
        return _ordered(left, right, GREATER)

    def greater_or_equal(self, left: Expression, right: Expression) -> Expression:
        return _ordered(left, right, GREATER_OR_EQUAL)

    def less(self, left: Expression, right: Expression) -> Expression:
        return _ordered(left, right, LESS)

    def less_or_equal(self, left: Expression, right: Expression) -> Expression:
        return _ordered(left, right, LESS_OR_EQUAL)

    def between(self, operand: Expression, low: Expression, high: Expression) -> Expression:
        _require_order(low, high)
        parts = (_ordered(operand, low, GREATER_OR_EQUAL), _ordered(operand, high, LESS_OR_EQUAL))
        return Chain(parts, decisive=False)

    def not_between(self, operand: Expression, low: Expression, high: Expression) -> Expression:
        return Chain((_ordered(operand, low, LESS), _ordered(operand, high, GREATER)), decisive=True)

    def is_in(self, operand: Expression, *texts: str) -> Expression:
        if not isinstance(operand, Property):
            raise MisfitError("IN asks about a property")
        return IsOneOf(operand, frozenset(texts))

    def is_not_in(self, operand: Expression, *texts: str) -> Expression:
        return Not(self.is_in(operand, *texts))

    # -- text ------------------------------------------------------------------------------------------------

    def contains(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, contains, wanted=True)

    def contains_not(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, contains, wanted=False)

    def starts(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, str.startswith, wanted=True)

    def starts_not(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, str.startswith, wanted=False)

    def ends(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, str.endswith, wanted=True)

    def ends_not(self, operand: Expression, text: str) -> Expression:
        return HasText(operand, text, str.endswith, wanted=False)

    # -- constants and properties ----------------------------------------------------------------------------

    def text(self, quoted: str) -> str:
        return quoted[1:-1].replace("''", "'")

    def text_constant(self, text: str) -> Expression:
        return Constant(text)

    def whole_constant(self, digits: str) -> Expression:
        number = int(digits.rstrip("lL"))
        if number > LONGEST:
            raise MisfitError(f"{number} is above {LONGEST}")
        return Constant(number)

    def float_constant(self, digits: str) -> Expression:
        number = float(digits)
        if number == 0 or math.isinf(number):
            raise MisfitError(f"{digits} is no double above zero")
        return Constant(number)

    def true_constant(self) -> Expression:
        return Constant(True)

    def false_constant(self) -> Expression:
        return Constant(False)

    def null_constant(self) -> Expression:
        return Constant(None)

    def named(self, name: str) -> Expression:
        return Property(str(name))


def _condition(found: Expression) -> Expression:
    """An expression where a condition is expected."""
    if found.is_condition:
        return found
    if isinstance(found, Property):
        return IsTrue(found)
    raise MisfitError(f"{found} is no condition")


def _chain(left: Expression, right: Expression, *, decisive: bool) -> Expression:
    left, right = _condition(left), _condition(right)
    first = left.parts if isinstance(left, Chain) and left.decisive is decisive else (left,)
    return Chain((*first, right), decisive)


def _ordered(left: Expression, right: Expression, holds: Callable[[int, int], bool]) -> Expression:
    for operand in (left, right):
        if operand.is_condition or (isinstance(operand, Constant) and not operand.is_number):
            raise MisfitError(f"{operand} has no order")
    return Ordered(left, right, holds)


def _require_order(low: Expression, high: Expression) -> None:
    """Bounds that are constants are in order."""
    if isinstance(low, Constant) and isinstance(high, Constant):
        if low.content is None or high.content is None:
            raise MisfitError("NULL is no bound")
        try:
            in_order = compare(high.content, low.content) >= 0
        except IncomparableError as error:
            raise MisfitError(str(error)) from error
        if not in_order:
            raise MisfitError(f"{low.content} is above {high.content}")


def _is_null(operand: Expression) -> bool:
    return isinstance(operand, Constant) and operand.content is None
