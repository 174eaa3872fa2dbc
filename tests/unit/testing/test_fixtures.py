"""The fixtures as a stranger has them: found by pytest, shared by a suite, apart from each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SUITE = """
import pytest

SEEN = set()


@pytest.mark.parametrize("number", range(100))
def test_sends(rocketmq, number):
    topic = rocketmq.topic("orders", queues=2)
    assert topic not in SEEN
    SEEN.add(topic)
    assert rocketmq.messages("orders") == []
    rocketmq.send("orders", f"of {number}")
    (message,) = rocketmq.wait_for("orders")
    assert message.text == f"of {number}"


@pytest.mark.parametrize("number", range(100))
def test_groups(rocketmq, rocketmq_server, number):
    rocketmq.topic("orders", queues=1)
    group = rocketmq.group("billing")
    assert group not in SEEN
    SEEN.add(group)
    assert (rocketmq.consumed("billing"), rocketmq.dead_letters("billing")) == ([], [])
    assert rocketmq.namesrv == rocketmq_server.namesrv
"""


def run(directory: Path, *arguments: str, suite: str, **files: str) -> str:
    (directory / "test_suite.py").write_text(suite)
    for name, text in files.items():
        (directory / f"{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "harness.pytest_rocketmq", *arguments],
        cwd=directory,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout + done.stderr


def test_two_hundred_tests_share_a_server_and_see_only_their_own(tmp_path: Path) -> None:
    assert "200 passed" in run(tmp_path, suite=SUITE)


def test_each_worker_has_its_own_server(tmp_path: Path) -> None:
    assert "200 passed" in run(tmp_path, "-n", "2", suite=SUITE)


def test_nothing_is_imported_or_started_without_a_test_that_asks(tmp_path: Path) -> None:
    suite = """
import sys
import threading

def test_nothing():
    assert not {"harness.testing", "harness.wire", "reference_impl"} & set(sys.modules)
    assert "rocketmq" not in {thread.name for thread in threading.enumerate()}
"""
    assert "1 passed" in run(tmp_path, suite=suite)


def test_options_come_from_conftest(tmp_path: Path) -> None:
    conftest = """
import pytest

@pytest.fixture(scope="session")
def rocketmq_options():
    return {"masters": 2, "topics": ["shared"]}
"""
    suite = """
def test_two_brokers(rocketmq):
    rocketmq.topic("orders", queues=1)
    assert {rocketmq.send("orders", "x").broker for _ in range(2)} == {"broker-a", "broker-b"}
    assert rocketmq.server.send("shared", "x").topic == "shared"
"""
    assert "1 passed" in run(tmp_path, suite=suite, conftest=conftest)


def test_an_option_that_cannot_be_used_is_one_sentence_for_every_test(tmp_path: Path) -> None:
    conftest = """
import pytest

@pytest.fixture(scope="session")
def rocketmq_options():
    return {"masters": 0}
"""
    said = run(tmp_path, suite="def test_it(rocketmq): pass", conftest=conftest)
    assert "masters 0: expected a number from 1 to 26" in said
    assert "1 error" in said


CHAOTIC = """
def test_fails(rocketmq):
    rocketmq.topic("orders")
    rocketmq.fault.chaos(7, rate=0.5, topic="orders")
    assert False
"""


def test_a_test_that_fails_has_a_section_about_its_faults(tmp_path: Path) -> None:
    said = run(tmp_path, suite=CHAOTIC)
    assert "Captured faults teardown" in said
    assert "fault chaos(seed=7, rate=0.5, topic='orders') was met by 0 requests" in said
