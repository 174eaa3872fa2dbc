"""Apache's own clients and tools get from `serve cluster` what they get from Apache's own cluster.

`RMQ_MESSAGES` says how many messages of each kind (500).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from clusters import (
    HASTE,
    ONE_IN_CI,
    PATIENCE,
    VERSIONS,
    apache_broker,
    apache_nameserver,
    clients,
    missing,
    our_cluster,
)

from harness.targets import TargetError

pytestmark = pytest.mark.live

MESSAGES = int(os.environ.get("RMQ_MESSAGES", "500"))
FAULTS = ("lost", "duplicated", "misordered", "wrong")
KINDS = {"plain", "ordered", "batch", "oneway", "delayed", "transactional", "filter", "retry"}


def faults(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, int]]:
    return {kind: {fault: one[fault] for fault in FAULTS if one[fault]} for kind, one in found.items()}


@pytest.mark.parametrize("version", ONE_IN_CI)
def test_no_message_is_lost_doubled_or_out_of_order(version: str, tmp_path: Path) -> None:
    def of_ours() -> dict[str, dict[str, Any]]:
        with our_cluster(VERSIONS[version], tmp_path, **HASTE) as nameserver:
            return clients(version, nameserver, MESSAGES, "ours", tmp_path)

    def of_theirs() -> dict[str, dict[str, Any]]:
        with (
            apache_nameserver(version) as nameserver,
            apache_broker(version, nameserver, **HASTE, **PATIENCE),
        ):
            return clients(version, nameserver, MESSAGES, "theirs", tmp_path)

    try:
        # Both wait for retries most of the time.
        with ThreadPoolExecutor() as pool:
            ours, theirs = [one.result() for one in [pool.submit(of_ours), pool.submit(of_theirs)]]
    except TargetError as problem:
        missing(problem)
    assert set(ours) == set(theirs) == KINDS
    assert faults(ours) == {kind: {} for kind in KINDS}
    # What is committed by its producer and by the answer to a question, Apache delivers twice:
    # quirk.second-commit-delivers-again.
    theirs["transactional"]["duplicated"] = 0
    assert faults(theirs) == faults(ours)
    assert {kind: one["sent"] for kind, one in ours.items()} == {
        kind: one["sent"] for kind, one in theirs.items()
    }


@pytest.mark.soak
@pytest.mark.parametrize(("client", "line"), [("4.9.8", "5.3"), ("5.3.3", "4.9")])
def test_a_client_of_the_other_line_too(client: str, line: str, tmp_path: Path) -> None:
    try:
        with our_cluster(line, tmp_path, **HASTE) as nameserver:
            found = clients(client, nameserver, MESSAGES, "across", tmp_path)
    except TargetError as problem:
        missing(problem)
    assert faults(found) == {kind: {} for kind in KINDS}
