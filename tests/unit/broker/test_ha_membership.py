"""A Broker among those of its name: light heartbeats, members, the smallest id, the way online."""

from __future__ import annotations

import pytest

from harness.wire import Command
from harness.wire.bodies import BrokerData, BrokerMemberGroup, TopicRoute
from harness.wire.messages import Message
from reference_impl.broker.outbox import Answer

from .nameservers import ONE, TWO, Names

REGISTER, MEMBERS_BY_ROUTE, MEMBERS, HEARTBEAT, PROBE, EXCHANGE = 103, 105, 901, 904, 322, 906
ACTING = {"enableSlaveActingMaster": True}
SLAVE = {**ACTING, "brokerRole": "SLAVE", "brokerId": 1}


def route(members: dict[int, str]) -> Command:
    brokers = [BrokerData(cluster="c", broker_name="broker-a", broker_addrs=members)]
    return Command(code=0, body=TopicRoute(broker_datas=brokers).encode("legacy"))


def settle(names: Names) -> None:
    """Answers what is open, and forgets what was told."""
    names.answer_all()
    names.told()


def test_there_are_no_light_heartbeats_unless_slaves_may_act(profile):
    names = Names(profile, enableSlaveActingMaster=profile == "4.9")
    settle(names)
    names.at(9_999)
    assert names.told() == []
    assert names.codes() == []


@pytest.mark.parametrize(("compatible", "code"), [(True, PROBE), (False, HEARTBEAT)])
def test_a_light_heartbeat_goes_to_everybody_each_second(compatible, code):
    names = Names("5.3", **ACTING, compatibleWithOldNameSrv=compatible)
    assert names.asked()[0].command.ext["heartbeatTimeoutMillis"] == "10000"
    settle(names)
    for second in (1, 2, 3):
        names.at(second * 1000 - 1)
        assert names.told() == []
        names.at(second * 1000)
        told = names.told()
        assert [(one.address, one.command.code) for one in told] == [(ONE, code), (TWO, code)]
        assert ("brokerId" in told[0].command.ext) is compatible
        assert bool(told[0].command.body) is compatible
        names.answer_all()


@pytest.mark.parametrize("compatible", [True, False])
def test_members_are_asked_for_each_second_and_the_smallest_is_remembered(compatible):
    names = Names("5.3", **SLAVE, compatibleWithOldNameSrv=compatible)
    settle(names)
    names.at(1000)
    (asked,) = names.asked()
    members = {1: "s:1", 2: "s:2"}
    if compatible:
        assert (asked.command.code, asked.command.ext) == (
            MEMBERS_BY_ROUTE,
            {"topic": "rmq_sys_SYNC_BROKER_MEMBER_broker-a"},
        )
        names.answer(ONE, route(members))
    else:
        assert (asked.command.code, asked.command.ext) == (
            MEMBERS,
            {"clusterName": "DefaultCluster", "brokerName": "broker-a"},
        )
        names.answer(ONE, Command(code=0, body=BrokerMemberGroup("c", "broker-a", members).encode()))
    assert names.broker.ha_membership.smallest == (1, "s:1")
    names.at(2000)
    names.answer(ONE, None)
    assert [one.address for one in names.asked() or names.open] == [TWO]


def test_a_slave_listens_to_who_is_the_smallest():
    names = Names("5.3", **SLAVE)
    told = {"minBrokerId": "1", "minBrokerAddr": "127.0.0.1:10911", "offlineBrokerAddr": "m:1"}
    names.broker.slave_sync.told("m:1")
    assert names.one.ask(905, told).code == 0
    assert names.broker.slave_sync.master is None
    assert names.one.ask(905, {"minBrokerId": "0", "minBrokerAddr": "m:1", "haBrokerAddr": "m:3"}).code == 0
    assert names.broker.slave_sync.master is None
    names.broker.slave_sync.told("m:1")
    assert names.one.ask(905, {"minBrokerId": "0", "offlineBrokerAddr": "m:1"}).code == 0
    assert names.broker.slave_sync.master == "m:1"  # the smallest id is no other one


def test_pulls_are_released_when_the_master_is_back():
    names = Names("5.3", **SLAVE, slaveReadEnable=True)
    names.one.ask(905, {"minBrokerId": "1", "minBrokerAddr": "127.0.0.1:10911"})
    pull = {
        "consumerGroup": "G", "topic": "BenchmarkTest", "queueId": 0, "queueOffset": 0, "maxMsgNums": 1,
        "sysFlag": 6, "commitOffset": 0, "suspendTimeoutMillis": 60_000, "subscription": "*", "subVersion": 1,
    }  # fmt: skip
    assert names.one.ask(11, pull) is None
    assert names.one.taken(Answer) == []
    names.one.ask(905, {"minBrokerId": "0"})
    (answer,) = names.one.taken(Answer)
    assert (answer.reply.code, answer.reply.ext["suggestWhichBrokerId"]) == (19, "0")


def test_a_master_that_has_come_is_asked_where_to_copy_from():
    names = Names("5.3", **SLAVE)
    for number in (1, 0):
        assert names.one.ask(905, {"minBrokerId": str(number), "minBrokerAddr": "m:1"}).code == 0
    (asked,) = (one for one in names.asked() or names.open if one.command.code == 906)
    assert (asked.address, asked.command.ext) == ("m:1", {})
    names.answer("m:1", Command(code=0, ext={"masterHaAddress": "m:3", "masterAddress": "m:1"}))
    assert names.broker.slave_sync.master is None


def test_a_slave_that_became_a_master_by_its_settings_listens_to_no_smallest_id():
    names = Names("5.3", **SLAVE)
    assert names.one.ask(25, body=b"brokerRole=ASYNC_MASTER\nbrokerId=0\n").code == 0
    assert names.one.ask(905, {"minBrokerId": "1"}).code == 0
    assert names.broker.ha_membership.smallest is None


def test_a_notice_without_an_id_is_refused():
    assert Names("5.3", **SLAVE).one.ask(905, {"minBrokerId": "x"}).code == 1


def test_49_knows_nothing_of_all_this():
    assert [Names("4.9").one.ask(code, {"minBrokerId": "0"}).code for code in (905, 906)] == [3, 3]


ISOLATED = {**ACTING, "totalReplicas": 2}


def test_an_isolated_broker_asks_for_members_and_says_nothing_else():
    names = Names("5.3", **ISOLATED)
    for second in range(30):
        names.at(second * 1000)
        assert names.codes() == [(ONE, MEMBERS_BY_ROUTE)]
        names.answer(ONE, None)
        assert names.codes() == [(TWO, MEMBERS_BY_ROUTE)]
        names.answer(TWO, None)
        assert names.told() == []
    names.broker.topics.create("T", 1, 6, names.one.now)
    names.asked()
    assert [one.command.code for one in names.open] == [REGISTER, REGISTER]


def test_the_first_member_is_online_at_once():
    names = Names("5.3", **ISOLATED)
    names.answer(ONE, Command(code=17))
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]
    names.answer_all()
    names.at(1000)
    assert [one.command.code for one in names.told()] == [PROBE, PROBE]


def test_a_master_tells_its_slaves_where_to_copy_from_before_it_is_online():
    names = Names("5.3", **ISOLATED)
    names.answer(ONE, route({0: "127.0.0.1:10911", 1: "s:1", 2: "s:2"}))
    first, second = names.asked()
    assert [first.address, second.address] == ["s:1", "s:2"]
    assert first.command.code == EXCHANGE
    assert first.command.ext == {
        "masterHaAddress": "127.0.0.1:10912",
        "masterFlushOffset": "0",
        "masterAddress": "127.0.0.1:10911",
    }
    names.answer("s:1")
    assert names.codes() == []
    names.answer("s:2", None)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]


def test_a_slave_asks_its_master_before_it_is_online():
    names = Names("5.3", **SLAVE, totalReplicas=2)
    names.answer(ONE, route({0: "m:1", 2: "s:2"}))
    (asked,) = names.asked()
    assert (asked.address, asked.command.ext) == ("m:1", {})
    names.answer("m:1", None)
    assert names.codes() == []
    names.at(1000)
    names.answer(ONE, route({0: "m:1", 2: "s:2"}))
    names.asked()
    names.answer("m:1", Command(code=0, ext={"masterAddress": "m:1", "masterHaAddress": "m:2"}))
    assert names.broker.slave_sync.master is None
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]


def test_it_may_skip_all_that():
    names = Names("5.3", **ISOLATED, skipPreOnline=True)
    assert names.codes() == [(ONE, REGISTER), (TWO, REGISTER)]


def test_906_is_answered_by_a_master_and_changes_no_slave():
    offer = Names("5.3").one.ask(EXCHANGE, {})
    assert (offer.code, offer.ext["masterHaAddress"]) == (0, "127.0.0.1:10912")
    names = Names("5.3", **SLAVE)
    assert names.one.ask(EXCHANGE, {}).ext == {}
    assert names.one.ask(EXCHANGE, {"masterHaAddress": "m:2", "masterAddress": "m:1"}).code == 0
    assert names.broker.slave_sync.master is None


def test_a_slave_delivers_nothing_though_it_is_the_smallest():
    names = Names("5.3", **SLAVE)
    broker, start = names.broker, names.one.now
    broker.delays.put(Message(topic="T", body=b"x", properties={"DELAY": "1"}), start)
    broker.settle(start)
    names.one.ask(905, {"minBrokerId": "1", "minBrokerAddr": "127.0.0.1:10911"})
    names.at(5_000)
    assert broker.store.max_offset("T", 0) == 0
    names.one.ask(25, body=b"brokerRole=ASYNC_MASTER\nbrokerId=0\n")
    names.at(5_001)
    assert broker.store.max_offset("T", 0) == 1
