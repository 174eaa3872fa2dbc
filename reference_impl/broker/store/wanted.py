"""Which messages of a queue are wanted."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

import msgspec


class Wanted(msgspec.Struct, frozen=True):
    """By the hash of the tag, or by the properties, or both; None: of any."""

    tags: Container[int] | None = None
    properties: Callable[[Mapping[str, str]], bool] | None = None

    def passes(self, tag_hash: int, properties: Mapping[str, str]) -> bool:
        """Whether a message is wanted."""
        if self.tags is not None and tag_hash not in self.tags:
            return False
        return self.properties is None or self.properties(properties)
