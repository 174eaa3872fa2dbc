"""The Broker as a client of NameServers, at every tick: what it says when to whom, what comes of answers."""

from __future__ import annotations

import zlib

import pytest

from harness.wire import Command, body_crc32
from harness.wire.bodies import DataVersion, KvTable, RegisterBody, TopicRoute

from .nameservers import ONE, TWO, Names

REGISTER, UNREGISTER, QUERY, SINGLE = 103, 104, 322, 217


def test_it_registers_at_the_start_with_every_nameserver(profile):
    names = Names(profile)
    first, second = names.asked()
    assert [first.address, second.address] == [ONE, TWO]
    assert first.command == second.command
    assert first.within == (24_000 if names.v5 else 6_000)
    command = first.command
    expected = {
        "brokerName": "broker-a",
        "brokerAddr": "127.0.0.1:10911",
        "clusterName": "DefaultCluster",
        "haServerAddr": "127.0.0.1:10912",
        "brokerId": "0",
        "compressed": "false",
        "bodyCrc32": str(body_crc32(command.body)),
    }
    assert command.ext == expected | ({"enableActingMaster": "false"} if names.v5 else {})
    body = names.body(command)
    assert set(body.topics) == set(names.broker.topics.table)
    assert body.filter_servers == []
    assert (body.data_version.state_version is not None) is names.v5
    assert (b"topicQueueMappingInfoMap" in command.body) is names.v5


@pytest.mark.parametrize(
    ("given", "period"), [(30_000, 30_000), (1_000, 10_000), (10_000, 10_000), (99_000, 60_000)]
)
def test_it_registers_again_after_10_s_and_then_every_period(profile, given, period):
    names = Names(profile, registerNameServerPeriod=given)
    names.answer_all()
    for due in (10_000, 10_000 + period, 10_000 + 2 * period):
        names.at(due - 1)
        assert names.codes() == []
        names.at(due)
        assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]
        names.answer_all()


def test_a_nameserver_that_does_not_answer_holds_nothing_up(profile):
    names = Names(profile)
    names.answer(ONE)
    names.at(10_000)
    assert names.codes() == [(ONE, REGISTER)]
    names.answer(ONE)
    names.answer(TWO, None)
    assert names.codes() == [(TWO, REGISTER)]


def test_what_waits_for_one_that_does_not_answer_is_bounded(profile):
    names = Names(profile, enableSingleTopicRegister=False)
    names.answer(ONE)
    for number in range(500):
        names.broker.topics.create(f"T{number}", 1, 6, names.one.now)
        names.asked()
        names.told()
        for one in [one for one in names.open if one.address == ONE]:
            names.open.remove(one)
            one.done(Command(code=0), names.one.now)
    assert names.open == [one for one in names.open if one.address == TWO]
    sent = 0
    while names.open:
        names.answer(TWO, None)
        names.asked()
        sent += 1 + len(names.told())
    assert sent <= 66


def test_49_says_a_new_topic_with_all_others_and_waits_for_nothing():
    names = Names("4.9")
    names.answer_all()
    names.broker.topics.create("T", 4, 6, names.one.now)
    assert names.codes() == []
    first, second = names.told()
    assert [first.address, second.address] == [ONE, TWO]
    body = names.body(first.command)
    assert {"T", "TBW102"} <= set(body.topics)
    assert body.data_version == names.broker.topics.version


def test_53_says_a_new_topic_alone():
    names = Names("5.3")
    names.answer_all()
    before = names.broker.topics.version.counter
    names.broker.topics.create("T", 4, 6, names.one.now)
    assert names.told() == []
    first, _ = names.asked()
    body = names.body(first.command)
    assert list(body.topics) == ["T"]
    assert body.data_version.counter == before + 1


def test_53_may_say_a_single_topic_by_217():
    names = Names("5.3", enableSingleTopicRegister=True, brokerPermission=4)
    names.answer_all()
    names.broker.topics.create("T", 4, 6, names.one.now)
    first, second = names.asked()
    assert (first.command.code, first.command.ext, first.within) == (SINGLE, {"topic": "T"}, 3_000)
    assert [first.address, second.address] == [ONE, TWO]
    route = TopicRoute.decode(first.command.body)
    assert route.broker_datas == []
    (queue,) = route.queue_datas
    assert (queue.broker_name, queue.write_queue_nums, queue.perm) == ("broker-a", 4, 4)


def test_what_an_administrator_changes_is_said_alone(profile):
    names = Names(profile)
    names.answer_all()
    names.broker.registrar.announce([names.broker.topics.table["TBW102"]], names.one.now)
    assert [list(names.body(one.command).topics) for one in names.asked()] == [["TBW102"]] * 2


@pytest.mark.parametrize(("profile", "expected"), [("4.9", {2}), ("5.3", {2, 0})])
def test_a_broker_that_may_not_be_read_says_so_of_every_topic(profile, expected):
    names = Names(profile, brokerPermission=2)
    body = names.body(names.asked()[0].command)
    assert {topic.perm for topic in body.topics.values()} == expected
    assert names.broker.topics.table["TBW102"].perm == 7


def test_a_restricted_broker_strips_system_flags(profile):
    names = Names(profile, brokerPermission=4)
    names.answer_all()
    made = names.broker.topics.create("T", 4, 6, names.one.now, flag=1, order=True)
    names.answer_all()
    names.told()
    names.at(10_000)
    whole = names.body(names.asked()[0].command).topics["T"]
    assert (whole.topic_sys_flag, whole.order) == (0, False)
    names.answer_all()
    names.broker.registrar.announce([made], names.one.now)
    alone = names.body(names.asked()[0].command).topics["T"]
    assert (alone.topic_sys_flag, alone.order) == (0 if profile == "4.9" else 1, False)


def test_a_compressed_body_says_that_it_is(profile):
    names = Names(profile, compressedRegister=True)
    command = names.asked()[0].command
    assert command.ext["compressed"] == "true"
    assert command.ext["bodyCrc32"] == str(zlib.crc32(command.body) & 0x7FFFFFFF)
    assert "TBW102" in names.body(command).topics


def test_53_registers_in_parts_one_behind_the_other():
    names = Names("5.3", enableSplitRegistration=True, splitRegistrationSize=5, forceRegister=False)
    parts: list[RegisterBody] = []
    while names.asked() or any(one.address == ONE for one in names.open):
        (asked,) = [one for one in names.open if one.address == ONE]
        parts.append(names.body(asked.command))
        names.answer(ONE)
    assert [len(part.topics) for part in parts] == [5, 5, 3]
    assert {name for part in parts for name in part.topics} == set(names.broker.topics.table)
    counters = [part.data_version.counter for part in parts]
    assert counters == [counters[0], counters[0] + 1, counters[0] + 2]
    assert names.broker.topics.version.counter == counters[-1]
    names.answer_all()
    names.at(10_000)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]


# -- the question whether anything has changed ---------------------------------------------------------------


def unforced(profile: str) -> Names:
    names = Names(profile, forceRegister=False)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]
    names.answer_all()
    names.at(10_000)
    return names


def test_without_force_every_nameserver_is_asked_first(profile):
    names = unforced(profile)
    first, second = names.asked()
    assert [first.address, second.address] == [ONE, TWO]
    command = first.command
    assert command.code == QUERY
    assert command.ext == {
        "brokerName": "broker-a",
        "brokerAddr": "127.0.0.1:10911",
        "clusterName": "DefaultCluster",
        "brokerId": "0",
    }
    assert DataVersion.decode(command.body) == names.broker.topics.version


@pytest.mark.parametrize(
    ("ext", "body", "registers"),
    [
        ({"changed": "false"}, "same", False),
        ({"changed": "false"}, "none", False),
        ({"changed": "true"}, "same", True),
        ({}, "same", True),
        (None, "none", True),
        ({"changed": "false"}, "other", True),
        ({"changed": "false"}, "junk", True),
    ],
)
def test_a_registration_is_left_out_when_all_call_it_unnecessary(profile, ext, body, registers):
    names = unforced(profile)
    version = names.broker.topics.version
    other = DataVersion(version.counter + 1, version.timestamp, version.state_version)
    bodies = {"same": version.encode(), "none": b"", "other": other.encode(), "junk": b"["}
    names.answer(ONE, Command(code=0, ext={"changed": "false"}, body=bodies["same"]))
    assert names.codes() == []
    names.answer(TWO, Command(code=0, ext=ext, body=bodies[body]))
    assert names.codes() == ([(ONE, REGISTER), (TWO, REGISTER)] if registers else [])


@pytest.mark.parametrize(("reply", "registers"), [(Command(code=1), False), (None, True)])
def test_an_error_is_no_change_and_silence_is_one(profile, reply, registers):
    names = unforced(profile)
    names.answer(ONE, reply)
    assert (names.codes() == [(ONE, REGISTER)]) is registers
    assert any(one.command.code == REGISTER for one in names.open) is registers


def test_the_first_that_has_changed_decides_and_once(profile):
    names = unforced(profile)
    names.answer(ONE, Command(code=0, ext={"changed": "true"}))
    assert names.codes() == [(ONE, REGISTER)]
    names.answer(TWO, Command(code=0, ext={"changed": "true"}))
    assert names.codes() == [(TWO, REGISTER)]
    names.answer_all()
    assert names.codes() == []


# -- what comes of an answer ---------------------------------------------------------------------------------


def test_the_first_success_is_applied_and_no_other(profile):
    names = Names(profile)
    names.answer(TWO, Command(code=1, ext={"masterAddr": "a:1", "haServerAddr": "a:2"}))
    assert names.broker.slave_sync.master is None
    names.answer(ONE, Command(code=0, ext={"masterAddr": "b:1", "haServerAddr": "b:2"}))
    assert names.broker.slave_sync.master == "b:1"
    names.at(10_000)
    names.answer(TWO, Command(code=0, ext={"masterAddr": "c:1"}))
    names.answer(ONE, Command(code=0))
    assert names.broker.slave_sync.master == "c:1"
    names.at(40_000)
    names.answer(ONE, Command(code=0))
    assert names.broker.slave_sync.master is None


def test_the_order_of_topics_is_taken_over(profile):
    names = Names(profile)
    names.broker.topics.create("T", 4, 6, names.one.now)
    names.answer(ONE, Command(code=0, body=KvTable({"T": "broker-a:4"}).encode()))
    assert names.broker.topics.table["T"].order
    names.at(10_000)
    names.told()
    names.answer_all()
    assert names.broker.topics.table["T"].order
    names.at(40_000)
    names.answer(ONE, Command(code=0, body=b'{"table":{}}'))
    assert names.broker.topics.table["T"].order is names.v5


@pytest.mark.parametrize("body", [b"null", b"[", b"{}"])
def test_an_order_that_cannot_be_read_changes_nothing(profile, body):
    names = Names(profile)
    version = names.broker.topics.version
    names.answer(ONE, Command(code=0, body=body))
    assert names.broker.topics.version == version


# -- the end -------------------------------------------------------------------------------------------------


def test_it_says_to_everybody_that_it_goes_and_registers_no_more(profile):
    names = Names(profile)
    names.answer_all()
    registrar = names.broker.registrar
    names.broker.stop(names.one.now)
    first, second = names.asked()
    assert [first.address, second.address] == [ONE, TWO]
    assert (first.command.code, first.within) == (UNREGISTER, 3_000)
    assert first.command.ext["brokerAddr"] == "127.0.0.1:10911"
    assert not registrar.has_left
    names.answer(ONE)
    assert not registrar.has_left
    names.answer(TWO, None)
    assert registrar.has_left
    names.broker.topics.create("T", 4, 6, names.one.now)
    names.at(100_000)
    assert names.codes() == []
    assert names.told() == []


def test_without_nameservers_there_is_nothing_to_wait_for(profile):
    names = Names(profile, namesrvAddr="")
    names.at(100_000)
    assert names.codes() == []
    names.broker.stop(names.one.now)
    assert names.broker.registrar.has_left


# -- 5.3: to be seen or not ----------------------------------------------------------------------------------


def test_53_may_disappear_for_a_while_after_its_first_registration():
    names = Names("5.3", disappearTimeAfterStart=30_000)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]
    names.answer_all()
    names.at(29_999)
    assert names.codes() == []
    names.at(40_000)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]
