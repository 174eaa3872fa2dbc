"""Live tests run two at a time: one of those that wait most of their time beside one of all others."""

from __future__ import annotations

from pathlib import Path

import pytest

WAITING = {
    "test_access_control.py",
    "test_client_remarks.py",
    "test_docker.py",
    "test_documented_commands.py",
    "test_guide_to_any_language.py",
    "test_image_of_the_server.py",
    "test_mqadmin_on_brokers.py",
    "test_real_clients.py",
    "test_real_peers.py",
    "test_record.py",
    "test_rocketmq_for_tests.py",
}
"""In real time: clients, tools, Brokers and containers that start, and time-outs of their own. What runs in
warped time needs a core for itself: two such tests at a time would be late. Both groups take about as long.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            waits = item.path.name in WAITING
            item.add_marker(pytest.mark.xdist_group("waiting" if waits else "warped"))
