"""Chapter filter: requests that bring a filter by SQL92, and what they meet."""

from harness.conformance import Matching, Reply, Silence, case
from harness.conformance.broker.filter.filtering import (
    BIT_MAPS,
    NONE_WANTED,
    ON,
    SQL,
    SUCCESS,
    UNREADABLE,
    checked,
    filled,
    filtered,
    of_group,
    passes,
    said,
    with_a,
)
from harness.conformance.broker.pull.filled import HOLD_SCAN, behind_a_scan
from harness.session import BrokerSession, meanwhile
from harness.wire import ResponseCode


@case(kills=["sql-is-taken-for-everything", "filters-want-the-first-alone"], setup=ON)
def test_pull_brings_a_filter(bk: BrokerSession) -> None:
    topic = filled(bk, {"a": "Grün"}, {"a": "Blau"}, {"b": "Grün"}, {"a": "Grün", "b": "7"}, {})
    pull = filtered(bk, topic, "a = 'Grün'")
    pull.bodies >> Reply(SUCCESS, [b"0", b"3"], remark="FOUND")
    pull.next_offset >> Reply(SUCCESS, 5)
    pull.bounds >> Reply(SUCCESS, (0, 5))
    filtered(bk, topic, "a = 'Grün'", offset=1).bodies >> Reply(SUCCESS, [b"3"])


@case(kills=["filtered-pulls-give-all-there-is"], setup=ON)
def test_not_more_than_requested(bk: BrokerSession) -> None:
    topic = with_a(bk, "1", "2", "1", "1", "1")
    pull = filtered(bk, topic, "a = 1", most=2)
    pull.bodies >> Reply(SUCCESS, [b"0", b"2"])
    pull.next_offset >> Reply(SUCCESS, 3)


@case(kills=["unwanted-messages-are-not-passed-over"], setup=ON)
def test_unwanted_messages_are_passed_over(bk: BrokerSession) -> None:
    pull = filtered(bk, with_a(bk, "x", "y", "z"), "a = 'w'", offset=1)
    pull.next_offset >> Reply(NONE_WANTED, 3, remark="NO_MATCHED_MESSAGE")


@case(kills=["unreadable-filters-want-everything"], setup=ON)
def test_pull_with_an_unreadable_filter_is_refused(bk: BrokerSession) -> None:
    topic = with_a(bk, "1", "2")
    filtered(bk, topic, "a = = 1") >> Reply(UNREADABLE)
    passes(bk, topic, "a = 2", 1)


@case(kills=["tags-do-not-count-beside-filters"], setup=ON)
def test_tags_count_beside_filters(bk: BrokerSession) -> None:
    topic = filled(bk, {"TAGS": "red", "a": "1"}, {"TAGS": "blue", "a": "1"}, {"TAGS": "red", "a": "2"})
    bk.pull(topic, subscription="red").bodies >> Reply(SUCCESS, [b"0", b"2"])
    bk.pull(topic, subscription="a = 1").bodies >> Reply(NONE_WANTED, [])
    passes(bk, topic, "TAGS = 'red' AND a = 1", 0)


@case(kills=["messages-have-the-properties-of-users-alone"], setup=ON)
def test_filters_see_every_property(bk: BrokerSession) -> None:
    topic = filled(bk, {"KEYS": "k1 k2", "TAGS": "t"}, {"KEYS": "k1"}, {"UNIQ_KEY": "0A0B"})
    passes(bk, topic, "KEYS = 'k1 k2'", 0)
    passes(bk, topic, "TAGS IS NULL AND KEYS = 'k1'", 1)
    passes(bk, topic, "UNIQ_KEY = '0A0B'", 2)


@case(kills=["arrivals-release-nobody"], setup=ON)
def test_wanted_message_ends_the_wait(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, subscription="a > 5", expression_type=SQL, on=consumer)
    bk.send(topic, b"wanted", properties={"a": "6"}) >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"wanted"])


@case(kills=["unwanted-properties-end-waits"], clock=True, setup=ON)
def test_unwanted_message_does_not_end_the_wait(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    said(bk, group, {topic: "a > 5"})
    brings = bk.pull(topic, suspend=600, subscription="a > 5", expression_type=SQL, on=bk.connect())
    has_said = of_group(bk, topic, group, suspend=600, on=bk.connect())
    behind_a_scan(bk)
    for body, value in ((b"0", "4"), (b"1", "5")):
        bk.send(topic, body, properties={"a": value}) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    for pull in (brings, has_said):
        meanwhile(pull, 1) >> Silence()
    bk.send(topic, b"2", properties={"a": "6"}) >> Reply(SUCCESS)
    for pull in (brings, has_said):
        pull.bodies >> Reply(SUCCESS, [b"2"])


@case(kills=["scans-release-nothing-new", "sql-is-taken-for-everything"], clock=True, setup=ON)
def test_unwanted_message_ends_the_wait_later(bk: BrokerSession) -> None:
    topic, consumer = with_a(bk, "6"), bk.connect()
    pull = bk.pull(topic, 0, 1, suspend=600, subscription="a > 5", expression_type=SQL, on=consumer)
    bk.send(topic, b"unwanted", properties={"a": "4"}) >> Reply(SUCCESS)
    bk.advance(HOLD_SCAN + bk.jitter)
    pull.next_offset >> Reply(NONE_WANTED, 2, remark="NO_MATCHED_MESSAGE")


@case(kills=["filters-are-never-refused"], setup={"enablePropertyFilter": "false"})
def test_filter_is_refused_where_it_is_off(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1"), bk.group()
    said(bk, group, {topic: "a = 1"})
    remark = "The broker does not support consumer to filter message by SQL92"
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    of_group(bk, topic, group) >> refused
    filtered(bk, topic, "a = 1") >> refused
    filtered(bk, topic, "a = = 1") >> refused
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"0"])


@case(kills=["filters-cannot-be-checked", "unreadable-filters-pass-the-check"], setup=ON)
def test_filter_can_be_checked(bk: BrokerSession) -> None:
    checked(bk, "a = 'Grün' AND b > 5") >> Reply(SUCCESS)
    checked(bk, "a = 'Grün' AND") >> Reply(UNREADABLE, remark=Matching("."))
    checked(bk, "a = 1", "XPATH") >> Reply(UNREADABLE)
    checked(bk, "") >> Reply(UNREADABLE)
    checked(bk, "a = 1") >> Reply(SUCCESS)


@case(kills=["sql-is-taken-for-everything", "later-filters-never-replace"], setup=BIT_MAPS)
def test_bit_maps_change_nothing(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    member = said(bk, group, {topic: "a = 'x'"}, 3)
    said(bk, other, {topic: "a = 'y'"}, 3)
    for number, value in enumerate("xyzxy"):
        bk.send(topic, b"%d" % number, properties={"a": value}) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 5)
    of_group(bk, topic, group, 3).bodies >> Reply(SUCCESS, [b"0", b"3"])
    of_group(bk, topic, other, 3).bodies >> Reply(SUCCESS, [b"1", b"4"])
    passes(bk, topic, "a = 'z'", 2)
    said(bk, group, {topic: "a = 'z'"}, 4, member)
    of_group(bk, topic, group, 4).bodies >> Reply(SUCCESS, [b"2"])


def came_again(bk: BrokerSession) -> tuple[str, str]:
    """A group, and its topic for messages that come again, with four of them: of that topic the group wants
    others than of the one that they were sent to first.
    """
    topic, group = bk.topic(), bk.group()
    again = f"%RETRY%{group}"
    said(bk, group, {topic: "a = 'x'", again: "b = 'y'"})
    for number, more in enumerate(({"a": "x"}, {"b": "y"}, {"a": "x", "b": "y"}, {})):
        bk.send(again, b"%d" % number, properties={"RETRY_TOPIC": topic, **more}) >> Reply(SUCCESS)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 4)
    return group, again


@case(kills=["what-comes-again-is-filtered-as-before"], setup=ON)
def test_messages_that_come_again_have_a_filter_of_their_own(bk: BrokerSession) -> None:
    group, again = came_again(bk)
    of_group(bk, again, group).bodies >> Reply(SUCCESS, [b"1", b"2"])


@case(
    kills=["filter-support-retry-is-ignored", "first-topics-without-a-filter-want-nothing"],
    setup={**ON, "filterSupportRetry": "true"},
)
def test_messages_that_come_again_can_be_filtered_as_before(bk: BrokerSession) -> None:
    group, again = came_again(bk)
    of_group(bk, again, group).bodies >> Reply(SUCCESS, [b"0", b"2"])
    bk.send(again, b"4", properties={"RETRY_TOPIC": bk.topic("unfiltered")}) >> Reply(SUCCESS)
    bk.max_offset(again).offset.eventually() >> Reply(SUCCESS, 5)
    of_group(bk, again, group).bodies >> Reply(SUCCESS, [b"0", b"2", b"4"])
    topic = with_a(bk, "x", "y")
    said(bk, group, {topic: "a = 'y'"}, 2)
    of_group(bk, topic, group, 2).bodies >> Reply(SUCCESS, [b"1"])


@case(kills=["pops-want-everything", "pops-without-a-filter-are-refused"], setup=ON)
def test_pop_brings_a_filter(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "8", "3", "9"), bk.group()
    pop = bk.pop(topic, group, ext={"exp": "a > 5", "expType": SQL})
    pop.bodies >> Reply(SUCCESS, [b"1", b"3"])
    for number, none in enumerate(({}, {"expType": SQL}, {"exp": "", "expType": SQL})):
        pop = bk.pop(topic, bk.group(f"other{number}"), ext=none)
        pop.bodies >> Reply(SUCCESS, [b"0", b"1", b"2", b"3"])


@case(kills=["pops-need-filters-on"])
def test_pop_is_filtered_where_pulls_are_refused(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1", "8", "3"), bk.group()
    bk.pop(topic, group, ext={"exp": "a = 8", "expType": SQL}).bodies >> Reply(SUCCESS, [b"1"])


@case(kills=["unreadable-filters-of-pops-want-everything"])
def test_pop_with_an_unreadable_filter_is_refused(bk: BrokerSession) -> None:
    topic, group = with_a(bk, "1"), bk.group()
    refused = Reply(UNREADABLE, remark="parse the consumer's subscription failed")
    bk.pop(topic, group, ext={"exp": "a = = 1", "expType": SQL}) >> refused
    bk.pop(topic, group, ext={"exp": "a = 1", "expType": "XPATH"}) >> refused
    bk.pop(topic, group, ext={"exp": "a = 1", "expType": SQL}).bodies >> Reply(SUCCESS, [b"0"])


@case(kills=["arrivals-release-no-pops"])
def test_wanted_message_ends_the_wait_of_a_pop(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    pop = bk.pop(topic, group, poll=600, ext={"exp": "a > 5", "expType": SQL}, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"unwanted", properties={"a": "4"}) >> Reply(SUCCESS)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"wanted", properties={"a": "6"}) >> Reply(SUCCESS)
    pop.bodies >> Reply(SUCCESS, [b"wanted"])
