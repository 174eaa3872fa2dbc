"""Every test that takes `ns` runs for both lines."""

from __future__ import annotations

import pytest

from .driver import Driver


@pytest.fixture(params=["4.9", "5.3"])
def ns(request: pytest.FixtureRequest) -> Driver:
    """A NameServer that has just started."""
    return Driver(request.param)


@pytest.fixture
def ns49() -> Driver:
    return Driver("4.9")


@pytest.fixture
def ns53() -> Driver:
    return Driver("5.3")
