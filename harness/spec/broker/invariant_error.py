"""What the parts of this model raise where an answer breaks an invariant."""

from __future__ import annotations


class InvariantError(Exception):
    """An answer that the catalogue does not allow."""

    def __init__(self, invariant: str, expected: str, actual: str) -> None:
        super().__init__(invariant)
        self.invariant = invariant
        self.expected = expected
        self.actual = actual
