"""Chapter administration: tables that slaves copy, with the versions by which they notice changes."""

from functools import partial
from typing import Any

from harness.conformance import ANYTHING, Between, Including, Reply, case
from harness.conformance.broker.tools import SUCCESS, asked
from harness.session import BrokerSession
from harness.session.exchange import NotSo, View
from harness.session.views import body_member
from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.view import standard_json


def _version(reply: Command) -> Any:
    try:
        return standard_json(((reply.ext or {}).get("version") or "").encode())
    except WireError as problem:
        raise NotSo(f"ext field version: {problem}") from problem


VERSION = View("version", _version, columns=("version",))


def version(counter: object, latest: int, earliest: int = 1, **of_line: int) -> dict[str, object]:
    """The data version of a table that has changed so often, the last time between these times."""
    return {"counter": counter, "timestamp": Between(earliest, latest), **of_line}


def delays(bk: BrokerSession) -> Any:
    """GET_ALL_DELAY_OFFSET (45)."""
    return asked(bk, RequestCode.GET_ALL_DELAY_OFFSET)


def two_groups(bk: BrokerSession) -> tuple[int, int]:
    """Creates two groups. Returns the Broker's time before and after."""
    before = bk.broker_time()
    for _ in range(2):
        bk.create_group(bk.group()) >> Reply(SUCCESS)
    return before, bk.broker_time()


@case(
    kills=[
        "versions-with-state",
        "settings-without-version",
        "settings-keep-their-version",
        "versions-of-tomorrow",
    ],
    own_server=True,
)
def test_tables_have_versions_of_4_9(bk: BrokerSession) -> None:
    before, after = two_groups(bk)
    groups = {"dataVersion": version(2, after, before), "subscriptionGroupTable": ANYTHING}
    bk.groups().json >> Reply(SUCCESS, groups)
    bk.offsets().json >> Reply(SUCCESS, {"offsetTable": ANYTHING})
    delays(bk) >> Reply(SUCCESS, {"offsetTable": ANYTHING})
    topics = {"dataVersion": version(ANYTHING, after), "topicConfigTable": ANYTHING}
    bk.topics().json >> Reply(SUCCESS, topics)
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, version(0, before))
    bk.update_config({"traceOn": "true"}) >> Reply(SUCCESS)
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, version(1, bk.broker_time(), before))


@case(
    kills=[
        "versions-without-state",
        "topics-without-mappings",
        "groups-without-bits",
        "settings-keep-their-version",
        "versions-of-tomorrow",
    ],
    own_server=True,
)
def test_tables_have_versions_of_5x(bk: BrokerSession) -> None:
    before, after = two_groups(bk)
    zero = version(0, before, stateVersion=0)
    groups = {"dataVersion": version(2, after, before, stateVersion=0), "forbiddenTable": {}}
    bk.groups().json >> Reply(SUCCESS, {**groups, "subscriptionGroupTable": ANYTHING})
    bk.offsets().json >> Reply(SUCCESS, Including({"dataVersion": zero}))
    delays(bk) >> Reply(SUCCESS, {"dataVersion": zero, "offsetTable": ANYTHING})
    topics = {"dataVersion": version(ANYTHING, after, stateVersion=0), "topicConfigTable": ANYTHING}
    mappings = {"mappingDataVersion": zero, "topicQueueMappingDetailMap": {}, "topicQueueMappingInfoMap": {}}
    bk.topics().json >> Reply(SUCCESS, {**topics, **mappings})
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, zero)
    bk.update_config({"traceOn": "true"}) >> Reply(SUCCESS)
    once = version(1, bk.broker_time(), before, stateVersion=0)
    bk.config().seen_as(VERSION) >> Reply(SUCCESS, once)


@case(kills=["groups-that-pull-date-back", "groups-keep-the-time-of-the-start"], clock=True)
def test_group_that_pulls_raises_the_version(bk: BrokerSession) -> None:
    topic, number = bk.topic(), body_member("dataVersion", "counter", of=int)
    counter = (bk.groups().seen_as(number) >> Reply(SUCCESS)).value
    bk.advance(2)
    before = bk.broker_time()
    bk.pull(topic, group=bk.group("new")) >> Reply(ResponseCode.PULL_NOT_FOUND)
    made = Including(version(Between(counter + 1, counter + 1_000), bk.broker_time(), before))
    bk.groups().json >> Reply(SUCCESS, Including({"dataVersion": made}))


@case(kills=["topics-keep-the-time-of-their-version"], clock=True)
def test_changed_topics_date_the_version(bk: BrokerSession) -> None:
    topic, number = bk.topic(), body_member("dataVersion", "counter", of=int)
    changes = (
        partial(bk.create_topic, topic, perm=4),
        partial(bk.delete_topic, topic),
        partial(bk.create_topic, topic),
    )
    for change in changes:
        counter = (bk.topics().seen_as(number) >> Reply(SUCCESS)).value
        bk.advance(2)
        before = bk.broker_time()
        change() >> Reply(SUCCESS)
        changed = Including(version(Between(counter + 1, counter + 1_000), bk.broker_time(), before))
        bk.topics().json >> Reply(SUCCESS, Including({"dataVersion": changed}))


@case(kills=["version-of-groups-goes-on"], own_server=True)
def test_version_of_groups_begins_anew(bk: BrokerSession) -> None:
    two_groups(bk)
    bk.groups().json >> Reply(SUCCESS, Including({"dataVersion": Including({"counter": 2})}))
    stopped = bk.broker_time()
    bk.restart()
    shown = bk.groups().json.eventually()
    shown >> Reply(SUCCESS, Including({"dataVersion": version(0, bk.broker_time(), stopped)}))
    bk.create_group(bk.group()) >> Reply(SUCCESS)
    bk.groups().json >> Reply(SUCCESS, Including({"dataVersion": Including({"counter": 1})}))


@case(kills=["version-of-groups-begins-anew"], own_server=True)
def test_version_of_groups_goes_on(bk: BrokerSession) -> None:
    for _ in range(2):
        bk.create_group(bk.group()) >> Reply(SUCCESS)
    told = Including({"dataVersion": Including({"counter": Between(2, 1 << 30)})})
    before = (bk.groups().json >> Reply(SUCCESS, told)).value["dataVersion"]["counter"]
    bk.restart()
    kept = Including({"counter": Between(before, 1 << 30)})
    bk.groups().json.eventually() >> Reply(SUCCESS, Including({"dataVersion": kept}))
