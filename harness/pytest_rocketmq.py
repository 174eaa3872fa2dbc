"""`rocketmq` and `rocketmq_server`, which pytest finds where this package is installed.

* Nothing starts until a test asks for it, and nothing heavy is imported before.
* One cluster in each process, so one for each worker of pytest-xdist; it is stopped at the end.
* Each test has topics and groups of its own, so that tests do not see each other's messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.testing import RocketMQ
    from harness.testing.own import OwnNames


@pytest.fixture(scope="session")
def rocketmq_options() -> dict[str, Any]:
    """What `rocketmq_server` is made with: override it in `conftest.py` to give RocketMQ's options."""
    return {}


@pytest.fixture(scope="session")
def rocketmq_server(rocketmq_options: dict[str, Any]) -> Iterator[RocketMQ]:
    """A RocketMQ that all tests of a session share."""
    from harness.testing import RocketMQ

    with RocketMQ(**rocketmq_options) as server:
        yield server


@pytest.fixture
def rocketmq(rocketmq_server: RocketMQ, request: pytest.FixtureRequest) -> Iterator[OwnNames]:
    """The shared RocketMQ, with topics and groups of the test's own: give the application the names that
    `rocketmq.topic("orders")` and `rocketmq.group("billing")` return.
    """
    from harness.testing.own import OwnNames

    view = OwnNames(rocketmq_server)
    yield view
    if story := str(view.fault):
        request.node.add_report_section("teardown", "faults", story)  # is shown if the test has failed
    view.close()
