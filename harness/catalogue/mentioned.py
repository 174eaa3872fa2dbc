"""Which requests and responses a statement is about, as its own words say."""

from __future__ import annotations

import re
from functools import cache

from harness.catalogue.load import messages
from harness.catalogue.roles import Role
from harness.catalogue.statements import Statement

_WORD = re.compile(r"\b(?:\d+(?! (?:ms|s|seconds?|minutes?|hours?|days?|bytes?|times)\b)|[A-Z][A-Z0-9_]+)\b")
"""A name, or a number that counts nothing: a code."""


@cache
def requests_of(statement: Statement, role: Role) -> frozenset[int]:
    """Codes of the requests that a statement is about: those that its stimulus names, else those of its
    chapter; none where it is about any request.
    """
    known = messages().of(role)
    named = named_requests(statement, role)
    return named or frozenset(one.code for one in known if one.chapter == statement.chapter)


@cache
def named_requests(statement: Statement, role: Role) -> frozenset[int]:
    """Codes of the requests that the stimulus of a statement names."""
    known = messages().of(role)
    by_word = {word: one.code for one in known for word in (str(one.code), one.name)}
    return frozenset(by_word[word] for word in _WORD.findall(statement.stimulus) if word in by_word)


@cache
def responses_of(statement: Statement) -> frozenset[str]:
    """Names of the response codes that a statement names."""
    known = {one.name for one in messages().responses.codes}
    return frozenset(known.intersection(_WORD.findall(f"{statement.text} {statement.observable}")))
