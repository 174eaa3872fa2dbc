"""Chapter administration: tables that slaves copy, with the versions by which they notice changes."""

from typing import Any

from harness.conformance import ANYTHING, Between, Including, Reply, case
from harness.conformance.broker.administration.tools import SUCCESS, asked
from harness.session import BrokerSession
from harness.session.exchange import NotSo, View
from harness.wire import Command, RequestCode, WireError
from harness.wire.view import standard_json


def _version(reply: Command) -> Any:
    try:
        return standard_json(((reply.ext or {}).get("version") or "").encode())
    except WireError as problem:
        raise NotSo(f"ext field version: {problem}") from problem


VERSION = View("version", _version)


def version(counter: int, **of_line: int) -> dict[str, object]:
    """The data version of a table that has changed so often."""
    return {"counter": counter, "timestamp": Between(1, 2**63), **of_line}


def delays(bk: BrokerSession) -> Any:
    """GET_ALL_DELAY_OFFSET (45)."""
    return asked(bk, RequestCode.GET_ALL_DELAY_OFFSET)


def two_groups(bk: BrokerSession) -> None:
    """Creates two groups."""
    for _ in range(2):
        bk.create_group(bk.group()) >> Reply(SUCCESS)


@case(kills=["versions-with-state", "settings-without-version"], own_server=True)
def test_tables_have_versions_of_4_9(bk: BrokerSession) -> None:
    two_groups(bk)
    bk.groups().json >> Reply(SUCCESS, {"dataVersion": version(2), "subscriptionGroupTable": ANYTHING})
    bk.offsets().json >> Reply(SUCCESS, {"offsetTable": ANYTHING})
    delays(bk) >> Reply(SUCCESS, {"offsetTable": ANYTHING})
    topics = {"counter": ANYTHING, "timestamp": Between(1, 2**63)}
    bk.topics().json >> Reply(SUCCESS, {"dataVersion": topics, "topicConfigTable": ANYTHING})
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, version(0))


@case(
    kills=[
        "versions-without-state",
        "topics-without-mappings",
        "groups-without-bits",
        "settings-without-version",
    ],
    own_server=True,
)
def test_tables_have_versions_of_5x(bk: BrokerSession) -> None:
    two_groups(bk)
    zero = version(0, stateVersion=0)
    groups = {"dataVersion": version(2, stateVersion=0), "forbiddenTable": {}}
    bk.groups().json >> Reply(SUCCESS, {**groups, "subscriptionGroupTable": ANYTHING})
    bk.offsets().json >> Reply(SUCCESS, Including({"dataVersion": zero}))
    delays(bk) >> Reply(SUCCESS, {"dataVersion": zero, "offsetTable": ANYTHING})
    topics = {"counter": ANYTHING, "timestamp": Between(1, 2**63), "stateVersion": 0}
    mappings: dict[str, object] = {"topicQueueMappingDetailMap": {}, "topicQueueMappingInfoMap": {}}
    told = {"dataVersion": topics, "mappingDataVersion": zero, **mappings, "topicConfigTable": ANYTHING}
    bk.topics().json >> Reply(SUCCESS, told)
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, zero)
