"""Statements of a release line that take the place of others: how a server that follows must change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.catalogue.errors import CatalogueError
from harness.catalogue.statements import Statement


def successors(statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    """By id of a statement, those that take its place."""
    found: dict[str, list[Statement]] = {}
    for statement in statements:
        for older in statement.replaces:
            found.setdefault(older, []).append(statement)
    return found


def wrongly_replaced(statements: Sequence[Statement]) -> Iterator[CatalogueError]:
    """A replaced statement exists, and no profile has both."""
    known = {statement.id: statement for statement in statements}
    for statement in statements:
        for older in statement.replaces:
            where = f"{statement.file} {statement.id}"
            if older not in known:
                yield CatalogueError(where, f"it replaces {older}, which does not exist", "correct the id")
            elif both := [one for one in statement.profiles if one in known[older].profiles]:
                yield CatalogueError(
                    where,
                    f"it replaces {older}, and profile {both[0]} has both",
                    "let the older end with `until` before this one begins with `since`",
                )
