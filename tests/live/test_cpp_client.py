"""A client that is not Java's sends to `serve cluster` and to Apache's cluster, and consumes from them.

It is the C++ library of PyPI's `rocketmq`, in a process of its own. `RMQ_MESSAGES` says how many messages of
each kind (500).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from clusters import PATIENCE, VERSIONS, apache_broker, apache_nameserver, missing, our_cluster
from peers import FIXTURES

from harness.targets import TargetError

pytestmark = [pytest.mark.live, pytest.mark.soak]

PROGRAM = FIXTURES / "python" / "broker_clients.py"
MESSAGES = int(os.environ.get("RMQ_MESSAGES", "500"))
WITHIN = 900.0
KINDS = {"plain", "ordered", "oneway", "delayed", "filter", "retry"}
FAULTS = ("lost", "duplicated", "misordered", "wrong")
CANNOT_LOAD = 3


def sent_and_consumed(
    nameserver: str, directory: Path, messages: int = MESSAGES
) -> dict[str, dict[str, Any]]:
    """What became of the messages of each kind, by kind."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), nameserver, str(messages), directory.name],
        env={**os.environ, "HOME": str(directory)},  # it writes its log there
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    if done.returncode == CANNOT_LOAD:
        missing(
            TargetError(
                expected="the C++ client of PyPI's rocketmq",
                got=done.stderr.strip(),
                do="make .venv/.spark; it is made for Linux on x86-64 only",
            )
        )
    assert (done.returncode, done.stderr) == (0, "")
    return {one["kind"]: one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("version", VERSIONS)
def test_no_message_is_lost_doubled_or_out_of_order(version: str, tmp_path: Path) -> None:
    with our_cluster(VERSIONS[version], tmp_path) as nameserver:
        ours = sent_and_consumed(nameserver, tmp_path)
    try:
        with apache_nameserver(version) as nameserver, apache_broker(version, nameserver, **PATIENCE):
            theirs = sent_and_consumed(nameserver, tmp_path)
    except TargetError as problem:
        missing(problem)
    for found, most_unsent in ((ours, MESSAGES // 100), (theirs, MESSAGES // 50)):
        assert found.keys() == KINDS
        # Where an answer is late, this client ends its connection, and loses what is on its way one-way.
        assert found["oneway"].pop("lost") <= MESSAGES // 10
        # And what it fails to send back then does not come again.
        assert found["retry"].pop("lost") <= most_unsent
        assert [one for one in found.values() if any(one.get(fault) for fault in FAULTS)] == []
        assert {kind: one["sent"] for kind, one in found.items()} == {
            kind: sum(number % 3 != 1 for number in range(MESSAGES)) if kind == "filter" else MESSAGES
            for kind in KINDS
        }
