"""Choosing statements by what a user types after `--select` and `--exclude`.

An expression is one of:

* an id: ``ns.lease.expired-broker-leaves-route``;
* a prefix of ids that ends at a dot: ``ns.lease`` or ``ns.lease.``; or a chapter: ``lease``;
* a glob: ``*.expired-*``;
* a tag: ``tag:acting-master``; issues are tags too: ``tag:issue-5374``, ``tag:rocketmq-140``.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence

from harness.catalogue.reports import tags_of
from harness.catalogue.statements import LEVELS, Level, Statement


def matches(statement: Statement, expression: str) -> bool:
    """Whether the expression chooses the statement."""
    if expression.startswith("tag:"):
        return expression[len("tag:") :] in tags_of(statement)
    if any(wild in expression for wild in "*?["):
        return fnmatch.fnmatchcase(statement.id, expression)
    prefix = expression.rstrip(".")
    return statement.id == prefix or statement.id.startswith(prefix + ".") or statement.chapter == prefix


def select(
    statements: Iterable[Statement],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    level: Level | None = None,
) -> list[Statement]:
    """The statements at `level` or above that an `include` (or all, without one) and no `exclude` chooses."""
    allowed = LEVELS if level is None else LEVELS[: LEVELS.index(level) + 1]
    return [
        statement
        for statement in statements
        if statement.level in allowed
        and (not include or any(matches(statement, one) for one in include))
        and not any(matches(statement, one) for one in exclude)
    ]


def nearest(word: str, known: Iterable[str], count: int = 2) -> list[str]:
    """The names that look most like the word, best first; empty when none does."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(word, names, n=count, cutoff=0.6)
    inside = [name for name in names if word and word in name]
    return list(dict.fromkeys([*close, *inside]))[:count]
