"""Every invariant comes from a statement of the catalogue."""

import pytest

from harness.catalogue import catalogue
from harness.spec import INVARIANTS, Invariant


@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=lambda one: one.name)
def test_statements_are_in_the_catalogue(invariant: Invariant) -> None:
    for profile in ("4.9", "5.3", "5.5"):
        found = catalogue().statement(invariant.statement_in(profile))
        assert found is not None
        if invariant.newer is not None:
            assert profile in found.profiles
