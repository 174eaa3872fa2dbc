"""The verdict of the parts of this model."""

from __future__ import annotations


class Wrong(Exception):  # noqa: N818  (a verdict, named as such)
    """An answer that the catalogue does not allow."""

    def __init__(self, invariant: str, expected: str, actual: str) -> None:
        super().__init__(invariant)
        self.invariant = invariant
        self.expected = expected
        self.actual = actual
