"""Chapter filter: what a Broker keeps of the filters that groups say in heartbeats."""

from harness.conformance import Reply, case
from harness.conformance.broker.filter.filtering import (
    NONE_WANTED,
    ON,
    SUCCESS,
    filled,
    of_group,
    said,
    with_a,
)
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import ResponseCode

WRITES = 10
"""Protocol seconds between two times that filters are written, and those that are over go."""
OVER = 20
"""Protocol seconds after which the filter of a group that has left is over."""
SOON_OVER = {**ON, "filterDataCleanTimeSpan": str(OVER * 1000)}
MISSING = Reply(
    ResponseCode.FILTER_DATA_NOT_EXIST,
    remark="The broker's consumer filter data is not exist!Your expression may be wrong!",
)


@case(kills=["filters-of-heartbeats-do-not-count", "one-filter-of-a-group-counts"], setup=ON)
def test_group_says_its_filters(bk: BrokerSession) -> None:
    topics = [with_a(bk, "1", "2", "3") for _ in range(2)]
    group, other = bk.group(), bk.group("other")
    said(bk, group, {topics[0]: "a = 2", topics[1]: "a > 1"})
    said(bk, other, {topics[0]: "a = 3"})
    of_group(bk, topics[0], group).bodies >> Reply(SUCCESS, [b"1"])
    of_group(bk, topics[1], group).bodies >> Reply(SUCCESS, [b"1", b"2"])
    of_group(bk, topics[0], other).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["later-filters-never-replace", "filters-of-any-version-replace"], setup=ON)
def test_filter_of_a_later_version_replaces(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2", "3"), bk.group()
    member = said(bk, group, {topic: "a = 1"}, 7)
    said(bk, group, {topic: "a = 2"}, 7, member)
    said(bk, group, {topic: "a = 2"}, 6, member)
    of_group(bk, topic, group, 7).bodies >> Reply(SUCCESS, [b"0"])
    said(bk, group, {topic: "a = 3"}, 8)
    of_group(bk, topic, group, 8).bodies >> Reply(SUCCESS, [b"2"])
    of_group(bk, topic, group, 7).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["same-filters-keep-their-version"], setup=ON)
def test_same_filter_takes_the_later_version(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2", "3"), bk.group()
    member = said(bk, group, {topic: "a = 2"}, 5)
    said(bk, group, {topic: "a = 2"}, 9, member)
    of_group(bk, topic, group, 9).bodies >> Reply(SUCCESS, [b"1"])
    bk.leave(member[0], consumer_group=group, on=member[1]) >> Reply(SUCCESS)
    said(bk, group, {topic: "a = 3"}, 8)
    of_group(bk, topic, group, 8).bodies >> Reply(SUCCESS, [b"1"])


@case(kills=["unreadable-filters-leave-the-old"], setup=ON)
def test_unreadable_filter_takes_the_old_one_away(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2"), bk.group()
    member = said(bk, group, {topic: "a = 2"}, 5)
    of_group(bk, topic, group, 5).bodies >> Reply(SUCCESS, [b"1"])
    said(bk, group, {topic: "a = = 2"}, 6, member)
    of_group(bk, topic, group, 6) >> MISSING
    said(bk, group, {topic: "a = 1"}, 7, member)
    of_group(bk, topic, group, 7).bodies >> Reply(SUCCESS, [b"0"])


@case(kills=["versions-of-filters-are-not-compared"], setup=ON)
def test_filter_that_is_too_old_is_refused(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2"), bk.group()
    member = said(bk, group, {topic: "a = 2"}, 5)
    said(bk, group, {topic: ""}, 6, member)
    remark = "the consumer's consumer filter data not latest"
    of_group(bk, topic, group, 6) >> Reply(ResponseCode.FILTER_DATA_NOT_LATEST, remark=remark)
    of_group(bk, topic, group, 5).bodies >> Reply(SUCCESS, [b"1"])


@case(kills=["filters-leave-with-their-group"], setup=ON)
def test_filter_outlives_its_group(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2", "3"), bk.group()
    name, connection = said(bk, group, {topic: "a = 1"}, 7)
    bk.leave(name, consumer_group=group, on=connection) >> Reply(SUCCESS)
    of_group(bk, topic, group, 5) >> Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST)
    member = said(bk, group, {topic: "a = 2"}, 5)
    of_group(bk, topic, group, 5).bodies >> Reply(SUCCESS, [b"0"])
    said(bk, group, {topic: "a = 3"}, 8, member)
    of_group(bk, topic, group, 8).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["filters-leave-with-their-topic"], setup=ON)
def test_filter_outlives_its_subscription(bk: BrokerSession) -> None:
    topic, other, group = with_a(bk, "1", "2"), filled(bk, {"a": "2"}), bk.group()
    member = said(bk, group, {topic: "a = 1", other: "a = 1"}, 7)
    of_group(bk, other, group, 7).bodies >> Reply(NONE_WANTED, [])
    said(bk, group, {topic: "a = 1"}, 7, member)
    of_group(bk, other, group, 7) >> Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST)
    said(bk, group, {topic: "a = 1", other: "a = 2"}, 5, member)
    of_group(bk, other, group, 5).bodies >> Reply(NONE_WANTED, [])


@case(
    kills=["restarts-forget-filters", "restarts-keep-one-filter", "filters-begin-with-the-backup"],
    own_server=True,
    setup=ON,
)
def test_filters_survive_a_restart(bk: BrokerSession) -> None:
    topics = [with_a(bk, "1", "2", "3") for _ in range(2)]
    groups = [bk.group() for _ in range(2)]
    for group in groups:
        said(bk, group, dict.fromkeys(topics, "a = 1"), 7)
    bk.restart()
    members = {group: said(bk, group, dict.fromkeys(topics, "a = 2"), 5) for group in groups}
    for group, member in members.items():
        for topic in topics:
            of_group(bk, topic, group, 5).bodies.eventually() >> Reply(SUCCESS, [b"0"])
        said(bk, group, dict.fromkeys(topics, "a = 3"), 8, member)
        of_group(bk, topics[1], group, 8).bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["dead-filters-stay", "filters-stay-dead", "older-filters-revive"], clock=True, setup=SOON_OVER)
def test_filters_of_groups_that_left_go(bk: BrokerSession) -> None:
    topics, stays, older = [with_a(bk, "1", "2") for _ in range(2)], bk.group("stays"), bk.group("older")
    left, again, later = bk.group("left"), bk.group("again"), bk.group("later")
    for group in (left, again, later, older):  # the last one is judged by its time
        name, connection = said(bk, group, dict.fromkeys(topics, "a = 1"), 7)
        gone = bk.leave(name, consumer_group=group, on=connection) >> Reply(SUCCESS)
    members = {
        group: said(bk, group, {topics[0]: "a = 1"}, version)
        for group, version in ((again, 7), (later, 8), (stays, 7))
    }
    bk.advance_short_of(OVER - 1, since=gone)
    said(bk, older, {topics[0]: "a = 2"}, 5)
    of_group(bk, topics[0], older, 5).bodies >> Reply(SUCCESS, [b"0"])
    bk.advance(2 * WRITES + bk.jitter)
    of_group(bk, topics[0], older, 5) >> MISSING
    said(bk, left, dict.fromkeys(topics, "a = 2"), 5)
    for topic in topics:
        of_group(bk, topic, left, 5).bodies >> Reply(SUCCESS, [b"1"])
    for group, member in members.items():
        said(bk, group, {topics[0]: "a = 2"}, 5, member)
        of_group(bk, topics[0], group, 5).bodies >> Reply(SUCCESS, [b"0"])


@case(kills=["filters-of-topics-die-anew"], clock=True, setup=SOON_OVER)
def test_filter_of_a_topic_that_was_left_goes(bk: BrokerSession) -> None:
    topic, other, group = with_a(bk, "1"), with_a(bk, "1", "2"), bk.group()
    member = said(bk, group, {topic: "a = 1", other: "a = 1"}, 7)
    for seconds in (OVER - 5, 5 + WRITES + bk.jitter):
        said(bk, group, {topic: "a = 1"}, 7, member)
        bk.advance(seconds)
    said(bk, group, {topic: "a = 1", other: "a = 2"}, 5, member)
    of_group(bk, other, group, 5).bodies >> Reply(SUCCESS, [b"1"])


@case(
    kills=["ends-of-filters-are-not-kept"],
    clock=True,
    own_server=True,
    setup={**ON, "filterDataCleanTimeSpan": str(5 * OVER * 1000)},
)
def test_end_of_a_filter_survives_a_kill(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "2"), bk.group()
    name, connection = said(bk, group, {topic: "a = 1"}, 7)
    bk.leave(name, consumer_group=group, on=connection) >> Reply(SUCCESS)
    bk.advance(3 * OVER)
    bk.restart("kill")  # the filter of a group that had not left is over as if it had left 30 s before
    bk.advance(2 * OVER + WRITES + 5)
    said(bk, group, {topic: "a = 2"}, 5)
    of_group(bk, topic, group, 5).bodies.eventually() >> Reply(SUCCESS, [b"1"])


@case(
    kills=["filters-of-the-last-run-are-alive", "filters-that-were-dead-outlive-a-restart"],
    clock=True,
    own_server=True,
    setup=SOON_OVER,
)
def test_filters_of_groups_that_stay_away_after_a_restart_go(bk: BrokerSession) -> None:
    topic, group, again = with_a(bk, "1", "2"), bk.group(), bk.group("again")
    name, connection = said(bk, again, {topic: "a = 1"}, 7)
    bk.leave(name, consumer_group=again, on=connection) >> Reply(SUCCESS)
    for one in (group, again):
        said(bk, one, {topic: "a = 1"}, 7)
    bk.advance(1)
    bk.restart()
    bk.advance(OVER + WRITES + bk.jitter)
    for one in (group, again):
        said(bk, one, {topic: "a = 2"}, 5)
        of_group(bk, topic, one, 5).bodies.eventually() >> Reply(SUCCESS, [b"1"])


@case(kills=["class-filters-are-filters-by-sql", "class-filters-are-filters-by-tags"], setup=ON)
def test_filter_of_a_class_lets_everything_pass(bk: BrokerSession) -> None:
    for topic, wanted, kind in (
        (with_a(bk, "1", "2"), "a = 1", "SQL92"),
        (filled(bk, {"TAGS": "Grün"}, {"TAGS": "Blau"}), "Grün", "TAG"),
    ):
        group, (name, connection) = bk.group(kind), bk.client()
        wants = consuming(group, {topic: wanted}, version=7, expression_type=kind)
        wants["subscriptionDataSet"][0]["classFilterMode"] = True
        bk.heartbeat(name, consumers=[wants], on=connection) >> Reply(SUCCESS)
        of_group(bk, topic, group, 7).bodies >> Reply(SUCCESS, [b"0", b"1"])
