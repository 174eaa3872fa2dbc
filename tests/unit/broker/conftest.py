"""Every test that takes `profile` runs for both lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .driver import Asked, make_broker


@pytest.fixture(params=["4.9", "5.3"])
def profile(request: pytest.FixtureRequest) -> str:
    """The line."""
    return str(request.param)


@pytest.fixture
def asked() -> Callable[..., Asked]:
    """Makes a Broker: `asked(profile, autoCreateTopicEnable=False)`."""
    return make_broker
