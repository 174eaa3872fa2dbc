"""Choosing statements by what a user types after `--select` and `--exclude`.

An expression is one of:

* an id: ``ns.lease.expired-broker-leaves-route``;
* a prefix of ids that ends at a dot: ``ns.lease`` or ``ns.lease.``;
* a chapter: ``lease``, ``broker-sanity``; of a Broker also without its role: ``sanity``;
* a glob: ``*.expired-*``;
* a tag: ``tag:acting-master``; issues are tags too: ``tag:issue-5374``, ``tag:rocketmq-140``.
"""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable

from harness.catalogue.reports import tags_of
from harness.catalogue.statements import Statement


def matches(statement: Statement, expression: str) -> bool:
    """Whether the expression chooses the statement."""
    if expression.startswith("tag:"):
        return expression[len("tag:") :] in tags_of(statement)
    if any(wild in expression for wild in "*?["):
        return fnmatch.fnmatchcase(statement.id, expression)
    prefix = expression.rstrip(".")
    return f"{statement.id}.".startswith(prefix + ".") or prefix in (
        statement.chapter,
        statement.id.split(".")[1],
    )


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean X or Y?`: the two names that look most like the word, best first, or ``otherwise``."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(word, names, n=2, cutoff=0.6)
    close += [name for name in names if word and word in name and name not in close]
    return f"did you mean {' or '.join(close[:2])}?" if close else otherwise
