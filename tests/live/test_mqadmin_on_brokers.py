"""`mqadmin` writes the same about `serve cluster` and about Apache's own cluster of its release.

The same tables, columns, rows, names and errors, also those of a command that fails (with its stack trace:
the client is the same). What is of the place or measured is compared as "there is one".
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import ONE_IN_CI, VERSIONS, apache_broker, apache_nameserver, clients, missing, our_cluster
from peers import Admin, ask

from harness.targets import TargetError

pytestmark = pytest.mark.live

MESSAGES = 20
OURS = {"brokerClusterName": "peers"}
APACHES = {**OURS, "timerWheelEnable": "true"}
"""Without it, Apache's Broker 5.3.3 fails when a topic is deleted."""

EXACT = (
    "topicList",
    "topicList -c",
    "updateTopic -b {broker} -t Made -r 3 -w 2 -p 6",
    "updateTopic -c peers -t Everywhere -r 2 -w 2",
    "topicStatus -t Made",
    "topicStatus -t Unknown",
    "deleteTopic -c peers -t Made",
    "topicRoute -t Made",
    "updateTopic -c nowhere -t Made",
    "deleteTopic -c nowhere -t Made",
    "consumerProgress -g Unknown",
)
"""Every word and number is the same, but for where and when."""
SHAPE = (
    "topicStatus -t T-plain-seen",
    "consumerProgress -g G-plain-seen",
    "consumerProgress",
    "clusterList",
    "clusterList -m",
    "brokerStatus -b {broker}",
    "brokerStatus -c peers",
)
"""Numbers are any numbers: which queue a message goes to is left to chance, and the rest is measured."""

PLACES = (
    (r"\d+\.\d+\.\d+\.\d+:\d+", "<address>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d+)?", "<time>"),
    (r".*\bcommitLogDiskRatio_.*\n", ""),  # for each directory of the log
    (r"(putMessageDistributeTime *:).*", r"\1 <how many by duration>"),
    (r"(\w+Tps *:).*", r"\1 <of so many spans as have passed>"),
    # Apache's Broker 5.3.3 enters a topic among its own groups: ConsumerManager#registerConsumer.
    (r"(?m)^\S+ +(\S+) +\1 *\n", ""),
    # A client may not have written down yet where it is in the retry topic of its group: every five seconds.
    (r"(?m)^%RETRY%\S+ .*\n", ""),
)
MEASURES = (
    (r"-?\d+(\.\d+)?", "<number>"),
    (r"<number> [KMGTP]?i?B\b", "<size>"),
)


def lines(text: str, command: str) -> list[str]:
    """What a command wrote, without place and time; for SHAPE without numbers too. In no order: Apache keeps
    what it lists in hash tables.
    """
    for pattern, word in (*PLACES, *(MEASURES if command in SHAPE else ())):
        text = re.sub(pattern, word, text)
    return sorted({" ".join(line.split()) for line in text.splitlines() if line.strip()})


def said(version: str, nameserver: str, directory: Path) -> dict[str, list[str]]:
    """What each command writes about a cluster in which a group has consumed what was sent."""
    table = ask(nameserver, 106, 409).body["brokerAddrTable"]
    broker = table["broker-a"]["brokerAddrs"]["0"]
    found = clients(version, nameserver, MESSAGES, "seen", directory, "plain")
    assert (found["plain"]["sent"], found["plain"]["lost"]) == (MESSAGES, 0)
    with contextlib.closing(Admin(version, directory)) as admin:

        def run(command: str) -> str:
            return admin.run(nameserver, command.format(broker=broker))

        written = {command: run(command) for command in (*EXACT, *SHAPE)}
    assert "Diff Total: 0" in written["consumerProgress -g G-plain-seen"]
    return {command: lines(text, command) for command, text in written.items()}


def differences(ours: dict[str, list[str]], theirs: dict[str, list[str]]) -> Iterator[str]:
    for command, wanted in theirs.items():
        if ours[command] != wanted:
            changes = difflib.unified_diff(wanted, ours[command], "Apache", "ours", lineterm="", n=0)
            yield f"mqadmin {command}\n" + "\n".join(changes)


@pytest.mark.parametrize("version", ONE_IN_CI)
def test_mqadmin_writes_the_same_about_both(version: str, tmp_path: Path) -> None:
    homes = {name: tmp_path / name for name in ("ours", "theirs")}
    for home in homes.values():
        home.mkdir()
    try:
        with our_cluster(VERSIONS[version], tmp_path, **OURS) as nameserver:
            ours = said(version, nameserver, homes["ours"])
        with apache_nameserver(version) as nameserver, apache_broker(version, nameserver, **APACHES):
            theirs = said(version, nameserver, homes["theirs"])
    except TargetError as problem:
        missing(problem)
    assert all(theirs.values())
    found = "\n\n".join(differences(ours, theirs))
    assert not found, found
