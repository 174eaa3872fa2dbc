"""Ids with a new name: `specs/renamed.yaml`.

The old ids of statements and cases are understood for one release, and are never used again.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.catalogue.versions import numbers


class RenamedIds(msgspec.Struct, frozen=True):
    """What was renamed together. `ids` leads from each old id to the new one."""

    since: str
    until: str
    """The first release that does not understand the old ids."""
    ids: dict[str, str]


def understood(renamings: Iterable[RenamedIds], release: str) -> dict[str, str]:
    """The old ids that this release of the harness understands, and what each of them is called now."""
    kept = (one for one in renamings if numbers(release) < numbers(one.until))
    return {old: new for one in kept for old, new in one.ids.items()}
