"""Coverage arithmetic: statements against the cases that prove them.

Pure; the cases come as pairs of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from harness.catalogue.statements import Statement


class Coverage(msgspec.Struct, frozen=True):
    """Which statements are proven by which cases; every number has its denominator."""

    total: int
    proven: dict[str, tuple[str, ...]]  # statement id -> case names; only statements with a case
    untestable: tuple[str, ...]
    unproven: tuple[str, ...]  # neither a case nor a reason why there can be none


def coverage(statements: Iterable[Statement], cases: Mapping[str, Iterable[str]]) -> Coverage:
    """Coverage of `statements` by `cases`, a mapping from a case's name to the ids it proves."""
    listed = list(statements)
    proving: dict[str, list[str]] = {statement.id: [] for statement in listed}
    for name, identifiers in cases.items():
        for identifier in identifiers:
            if identifier in proving:
                proving[identifier].append(name)
    return Coverage(
        total=len(listed),
        proven={identifier: tuple(names) for identifier, names in proving.items() if names},
        untestable=tuple(one.id for one in listed if not proving[one.id] and one.untestable is not None),
        unproven=tuple(one.id for one in listed if not proving[one.id] and one.untestable is None),
    )
