"""A slave takes over what its master knows: when it asks, whom, and what it makes of answers."""

from __future__ import annotations

import pytest

from harness.wire import Command
from harness.wire.bodies import (
    ConsumerOffsets,
    DataVersion,
    DelayOffsets,
    SubscriptionGroup,
    SubscriptionGroupTable,
    TopicConfig,
    TopicConfigTable,
)

from .nameservers import ONE, TWO, Names

MASTER, VIP = "10.0.0.7:10911", "10.0.0.7:10909"
TOPICS, OFFSETS, DELAYS, GROUPS, MODES = 21, 43, 45, 201, 402
VERSION = DataVersion(7, 7, 0)


def slave(profile: str, master: str = MASTER) -> Names:
    names = Names(profile, brokerRole="SLAVE", brokerId=1)
    names.answer(ONE, Command(code=0, ext={"masterAddr": master}))
    names.answer(TWO)
    names.asked()
    return names


def asked_of(names: Names, address: str) -> list[int]:
    return [code for at, code in names.codes() if at == address]


def moments(profile: str) -> tuple[int, int]:
    return (3_000, 13_000) if profile == "4.9" else (10_000, 70_000)


def test_it_asks_on_both_ports_and_again_after_a_while(profile):
    names = slave(profile)
    for due in moments(profile):
        names.at(due - 1)
        assert asked_of(names, VIP) == asked_of(names, MASTER) == []
        names.at(due)
        new = [one for one in names.asked() if one.address in (VIP, MASTER)]
        assert [one.command.code for one in new if one.address == VIP] == [TOPICS]
        others = {OFFSETS, DELAYS, GROUPS} | (set() if profile == "4.9" else {MODES})
        assert {one.command.code for one in new if one.address == MASTER} == others
        assert all(one.command.ext is None and not one.command.body for one in new)


@pytest.mark.parametrize("master", ["127.0.0.1:10911", "junk"])
def test_it_asks_neither_itself_nor_what_is_no_address(profile, master):
    names = slave(profile, master)
    names.at(100_000)
    assert {one.address for one in [*names.asked(), *names.open]} == {ONE, TWO}


def test_a_master_asks_no_other_broker(profile):
    names = Names(profile)
    names.answer(ONE, Command(code=0, ext={"masterAddr": MASTER}))
    names.at(100_000)
    assert asked_of(names, VIP) == []


def answered(profile: str, code: int, reply: Command | None) -> Names:
    names = slave(profile)
    names.at(moments(profile)[0])
    names.asked()
    for one in [one for one in names.open if one.address in (VIP, MASTER) and one.command.code == code]:
        names.open.remove(one)
        one.done(reply, names.one.now)
    return names


def test_topics_and_groups_are_replaced_and_offsets_are_added(profile):
    topics = TopicConfigTable(VERSION, {"T": TopicConfig("T", 3, 3)})
    names = answered(profile, TOPICS, Command(code=0, body=topics.encode()))
    assert list(names.broker.topics.table) == ["T"]
    assert names.broker.topics.version.counter == 7
    groups = SubscriptionGroupTable(VERSION, {"G": SubscriptionGroup("G")})
    names = answered(profile, GROUPS, Command(code=0, body=groups.encode()))
    assert list(names.broker.groups.table) == ["G"]
    offsets = ConsumerOffsets(None, {"T@G": {0: 5, 1: 7}})
    names = answered(profile, OFFSETS, Command(code=0, body=offsets.encode()))
    assert names.broker.offsets.offset_of("G", "T", 1) == 7
    names = answered(profile, DELAYS, Command(code=0, body=DelayOffsets(offset_table={3: 9}).encode()))
    assert names.broker.delays.offsets[3] == 9


@pytest.mark.parametrize("code", [TOPICS, GROUPS, OFFSETS, DELAYS])
@pytest.mark.parametrize("reply", [None, Command(code=1, body=b"{}"), Command(code=0, body=b"[")])
def test_what_is_not_answered_or_cannot_be_read_changes_nothing(profile, code, reply):
    names = answered(profile, code, reply)
    assert "TBW102" in names.broker.topics.table
    assert "TOOLS_CONSUMER" in names.broker.groups.table
    assert names.broker.offsets.table == {}


def test_the_version_that_it_has_already_replaces_nothing(profile):
    names = slave(profile)
    version = names.broker.topics.version
    names.broker.slave_sync.take_topics(TopicConfigTable(version, {}).encode())
    assert "TBW102" in names.broker.topics.table
