"""Apache's Brokers and ours, as masters and slaves of each other at Apache's NameServer."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from clusters import VERSIONS, apache_broker, apache_nameserver, missing, our_broker
from peers import ask, settled

from harness.targets import TargetError

pytestmark = pytest.mark.live

NUMBERS = {"4.9.8": 409, "5.3.3": 479}
SYNCHRONIZES_WITHIN = 100.0
"""Seconds. A slave of 5.3 asks after 10 s, whether it knows its master or not, and then every 60 s."""


@pytest.mark.soak
@pytest.mark.parametrize("version", VERSIONS)
def test_masters_and_slaves_of_both_kinds_have_routes_as_two_of_apaches(version: str, tmp_path: Path) -> None:
    line, number = VERSIONS[version], NUMBERS[version]
    common = {"brokerClusterName": "mixed"}
    slave = {"brokerRole": "SLAVE", "brokerId": "1"}

    def table(nameserver: str) -> dict[str, Any]:
        found: dict[str, Any] = ask(nameserver, 106, number).body["brokerAddrTable"]
        return found

    def topics_of(address: str) -> set[str]:
        return set(ask(address, 21, number).body["topicConfigTable"])

    def create(address: str, topic: str) -> None:
        words = {"defaultTopic": "TBW102", "perm": "6", "topicFilterType": "SINGLE_TAG", "order": "false"}
        queues = {"readQueueNums": "4", "writeQueueNums": "4", "topicSysFlag": "0"}
        assert ask(address, 17, number, topic=topic, **words, **queues).code == 0

    try:
        with contextlib.ExitStack() as stack:
            nameserver = stack.enter_context(apache_nameserver(version))

            def apaches(name: str, **settings: str) -> str:
                given = {**common, "brokerName": name, **settings}
                return stack.enter_context(apache_broker(version, nameserver, **given)).address

            def ours(name: str, **settings: str) -> str:
                given = {**common, "brokerName": name, **settings}
                return stack.enter_context(our_broker(line, nameserver, tmp_path, **given))

            masters = {"apaches": apaches("apaches"), "ours": ours("ours"), "theirs": apaches("theirs")}
            settled(lambda: set(table(nameserver)) == set(masters), "all masters are registered")
            for name, address in masters.items():
                create(address, f"T-{name}")
            slaves = {
                "apaches": apaches("apaches", **slave),
                "ours": apaches("ours", **slave),
                "theirs": ours("theirs", **slave),
            }
            settled(
                lambda: all(len(one["brokerAddrs"]) == 2 for one in table(nameserver).values()),
                "all slaves are registered",
            )
            for name, one in table(nameserver).items():
                assert one["brokerAddrs"] == {"0": masters[name], "1": slaves[name]}
                assert {**one, "brokerAddrs": 0, "brokerName": 0} == {
                    **table(nameserver)["apaches"],
                    "brokerAddrs": 0,
                    "brokerName": 0,
                }
            queues = {
                one["brokerName"]: {**one, "brokerName": 0}
                for one in ask(nameserver, 105, number, topic="TBW102").body["queueDatas"]
            }
            assert queues["ours"] == queues["theirs"] == queues["apaches"]
            for name in masters:
                route = ask(nameserver, 105, number, topic=f"T-{name}").body
                assert [one["brokerName"] for one in route["queueDatas"]] == [name]
                settled(
                    lambda name=name: f"T-{name}" in topics_of(slaves[name]),
                    f"the slave of {name} has the topic of its master",
                    within=SYNCHRONIZES_WITHIN,
                )
    except TargetError as problem:
        missing(problem)
