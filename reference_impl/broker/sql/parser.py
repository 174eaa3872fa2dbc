"""From the text of a filter to a `Selector`.

1. The text counts as far as it can be read as an expression: what stands behind that is passed over, but for
   the first word, which has to be one.
2. Words of 5.x that 4.9 does not know are names of properties there.

Source: SelectorParser, ComparisonExpression, ConstantExpression, UnaryExpression of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from lark import Lark
from lark.exceptions import UnexpectedInput, UnexpectedToken

from .building import Building, MisfitError
from .expressions import Selector

_WORDS: Final = ("OR", "AND", "NOT", "IS", "NULL", "BETWEEN", "IN", "TRUE", "FALSE")
_WORDS_OF_5X: Final = ("CONTAINS", "STARTSWITH", "ENDSWITH")


class NoExpressionError(Exception):
    """A text that Apache's Broker does not compile."""


def compiled(text: str, *, v5: bool) -> Selector:
    """The filter that a text is. Raises NoExpressionError."""
    words = (*_WORDS, *_WORDS_OF_5X) if v5 else _WORDS
    reading = _parser().parse_interactive(text)
    try:
        for token in reading.lexer_thread.lex(reading.parser_state):  # type: ignore[no-untyped-call]
            if token.type == "ID" and token.upper() in words:
                token.type = f"_{token.upper()}"
            try:
                reading.feed_token(token)
            except UnexpectedToken:
                break
        found: Selector = reading.feed_eof()  # type: ignore[no-untyped-call]
    except (UnexpectedInput, MisfitError) as error:
        raise NoExpressionError(f"{text!r} is no expression: {error}") from error
    return found


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", lexer="basic", transformer=Building())
