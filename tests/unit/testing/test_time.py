"""Time that a test turns: what is due happens in its order, and has been sent when the call returns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from wire_client import GROUP, Running, WireClient, found, wall

from harness.testing import OptionError, RocketMQ
from harness.testing.durations import milliseconds
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import ClusterInfo, TopicRoute
from harness.wire.fastjson import dumps

COMMIT = 8
LEVEL_18 = 7_200_000
DELAYS = ("10s", "30s", "1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "10m", "20m", "30m", "1h", "2h")


@pytest.fixture
def rocketmq() -> Iterator[RocketMQ]:
    with RocketMQ(topics={"T": 1}, groups=[GROUP]) as rocketmq:
        yield rocketmq


@pytest.fixture
def client(rocketmq: RocketMQ) -> Iterator[WireClient]:
    with WireClient.of(rocketmq) as client:
        yield client


def ms(rocketmq: RocketMQ) -> int:
    return round(rocketmq.now.timestamp() * 1_000)


# -- what happens meanwhile ---------------------------------------------------------------------------------


def test_the_longest_delay_ends_at_its_millisecond(rocketmq: RocketMQ, client: WireClient) -> None:
    rocketmq.freeze()
    sent = ms(rocketmq)
    client.send("T", b"late", DELAY=18)
    rocketmq.advance("1h59m59s999ms")
    assert client.pull("T") == []
    rocketmq.advance(0.001)
    [message] = client.pull("T")
    assert (message.body, message.store_timestamp - sent) == (b"late", LEVEL_18)


def test_a_pull_that_waits_has_been_answered_when_the_call_returns(
    rocketmq: RocketMQ, client: WireClient
) -> None:
    client.send("T", b"late", DELAY=18)
    opaque = client.begin_pull("T", wait=15_000)
    client.ask(RequestCode.GET_BROKER_RUNTIME_INFO)
    rocketmq.advance("2h1s")
    [answer] = client.has_come()
    assert answer.opaque == opaque
    assert [message.body for message in found(answer)] == [b"late"]


def test_all_kinds_of_delay_end_in_the_order_in_which_they_are_due(
    rocketmq: RocketMQ, client: WireClient
) -> None:
    rocketmq.freeze()
    sent = ms(rocketmq)
    client.send("T", b"level 5", DELAY=5)
    client.send("T", b"timer", TIMER_DELAY_SEC=30)
    client.send("T", b"level 4", DELAY=4)
    client.send("T", b"at", TIMER_DELIVER_MS=wall() + 20_000)
    client.send("T", b"level 3", DELAY=3)
    rocketmq.advance("1h")
    messages = client.pull("T")
    assert [one.body for one in messages] == [b"level 3", b"at", b"level 4", b"timer", b"level 5"]
    times = [one.store_timestamp - sent for one in messages]
    assert times == sorted(times)
    assert (times[0], times[2], times[4]) == (10_000, 30_000, 60_000)


def test_a_time_that_a_client_names_is_by_its_own_clock(rocketmq: RocketMQ, client: WireClient) -> None:
    rocketmq.advance("3h")
    client.send("T", b"x", TIMER_DELIVER_MS=wall() + 60_000)
    rocketmq.advance("50s")
    assert client.pull("T") == []
    rocketmq.advance("11s")
    [message] = client.pull("T")
    assert 0 <= message.store_timestamp - message.born_timestamp < 65_000


def test_a_producer_is_asked_about_its_transaction(rocketmq: RocketMQ, client: WireClient) -> None:
    client.beat("producer")
    client.send("T", b"half", flags=4, TRAN_MSG="true", PGROUP="PG", UNIQ_KEY="U")
    rocketmq.advance("1m")
    checks = [one for one in client.has_come() if one.code == RequestCode.CHECK_TRANSACTION_STATE]
    assert checks
    rocketmq.advance("6h")
    more = [one for one in client.has_come() if one.code == RequestCode.CHECK_TRANSACTION_STATE]
    assert len(checks) + len(more) == 15
    assert client.pull("T") == []
    assert [one.body for one in client.pull("TRANS_CHECK_MAX_TIME_TOPIC")] == [b"half"]


def test_a_transaction_is_no_older_than_its_producer_says(rocketmq: RocketMQ, client: WireClient) -> None:
    rocketmq.advance("6h")
    client.beat("producer")
    client.send("T", b"half", flags=4, TRAN_MSG="true", PGROUP="PG", UNIQ_KEY="U")
    rocketmq.advance("5s")
    assert client.has_come() == []


def test_what_a_client_does_about_it_is_within_where_that_is_asked_for(
    rocketmq: RocketMQ, client: WireClient
) -> None:
    client.beat("producer")
    rocketmq.freeze()
    sent = ms(rocketmq)
    client.send("T", b"half", flags=4, TRAN_MSG="true", PGROUP="PG", UNIQ_KEY="U")

    def commit() -> None:
        asked = client.hear(0.01)
        if asked is not None and asked.code == RequestCode.CHECK_TRANSACTION_STATE:
            ext = dict(asked.ext or {})
            end = {"producerGroup": "PG", "commitOrRollback": COMMIT, "fromTransactionCheck": "true"}
            client.ask(RequestCode.END_TRANSACTION, ext | end)

    with Running(commit):
        rocketmq.advance("6h", reaction="1s")
    [message] = client.pull("T")
    assert message.body == b"half"
    assert message.store_timestamp - sent < 120_000


def test_sixteen_attempts_end_in_the_dead_letter_queue(rocketmq: RocketMQ, client: WireClient) -> None:
    retries, dead = f"%RETRY%{GROUP}", f"%DLQ%{GROUP}"
    client.beat("consumer")
    rocketmq.freeze()
    client.send("T", b"poison")
    [message] = client.pull("T")
    for number, delay in enumerate(DELAYS):
        held = client.begin_pull(retries, number)
        ext = {"offset": message.physical_offset, "group": GROUP, "delayLevel": 0, "originTopic": "T"}
        assert client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ext).code == ResponseCode.SUCCESS
        before = message.store_timestamp
        rocketmq.advance(delay)
        [answer] = client.has_come()
        [message] = found(answer)
        assert (answer.opaque, message.reconsume_times) == (held, number + 1)
        assert message.store_timestamp - before == milliseconds(delay)
    ext = {"offset": message.physical_offset, "group": GROUP, "delayLevel": 0, "originTopic": "T"}
    assert client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ext).code == ResponseCode.SUCCESS
    assert [one.body for one in client.pull(dead)] == [b"poison"]


def test_what_was_popped_and_not_acknowledged_comes_again(rocketmq: RocketMQ, client: WireClient) -> None:
    client.send("T", b"x")
    assert len(found(client.answer(client.begin_pop("T", 0)))) == 1
    assert found(client.answer(client.begin_pop("T", 0))) == []
    opaque = client.begin_pop("T", 15_000)
    client.ask(RequestCode.GET_BROKER_RUNTIME_INFO)
    rocketmq.advance("59s")
    assert client.has_come() == []
    rocketmq.advance("5s")
    [again] = found(client.answer(opaque))
    assert (again.body, again.reconsume_times) == (b"x", 1)


def test_messages_are_kept_for_as_long_as_the_settings_say() -> None:
    hours = ";".join(f"{hour:02}" for hour in range(24))
    config = {"mappedFileSizeCommitLog": 4_096, "fileReservedTime": 1, "deleteWhen": hours}
    with RocketMQ(topics={"T": 1}, config=config) as rocketmq, WireClient.of(rocketmq) as client:
        for _ in range(20):
            client.send("T", bytes(1_000))
        rocketmq.advance("59m")
        assert client.pull("T")[0].queue_offset == 0
        client.send("T", b"new")
        rocketmq.advance("2m")
        least = client.ask(RequestCode.GET_MIN_OFFSET, {"topic": "T", "queueId": 0}).ext
        assert int((least or {})["offset"] or 0) > 0


# -- servers among themselves -------------------------------------------------------------------------------


def test_brokers_stay_registered_however_long_it_takes() -> None:
    with RocketMQ(masters=2, nameservers=2, topics={"T": 1}) as rocketmq:
        rocketmq.advance("3h")
        for address in rocketmq.namesrv.split(";"):
            with WireClient(address) as client:
                route = TopicRoute.decode(client.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"}).body)
            assert {broker.broker_name for broker in route.broker_datas} == {"broker-a", "broker-b"}


def test_a_broker_that_is_silent_loses_its_lease(rocketmq: RocketMQ) -> None:
    with WireClient(rocketmq.namesrv) as broker, WireClient(rocketmq.namesrv) as client:
        ext = {"brokerName": "b", "brokerAddr": "10.0.0.1:10911", "clusterName": "c", "brokerId": 0}
        assert broker.ask(RequestCode.REGISTER_BROKER, ext | {"haServerAddr": ""}).code == 0
        rocketmq.advance("1m50s")
        assert not broker.is_ended()
        rocketmq.advance("20s")
        assert broker.is_ended()
        assert not client.is_ended()


def test_slaves_take_over_what_masters_have() -> None:
    with (
        RocketMQ(slaves=1) as rocketmq,
        WireClient.of(rocketmq, 1) as slave,
        WireClient.of(rocketmq) as master,
    ):
        master.send("made-by-a-send", b"x")
        rocketmq.advance("2m")
        [topics] = [slave.ask(RequestCode.GET_ALL_TOPIC_CONFIG).body]
        assert b"made-by-a-send" in topics


def brokers(namesrv: str) -> set[str]:
    with WireClient(namesrv) as client:
        info = ClusterInfo.decode(client.ask(RequestCode.GET_BROKER_CLUSTER_INFO).body)
    return set(info.broker_addr_table)


def test_a_broker_that_stands_still_loses_its_lease_and_comes_back() -> None:
    with RocketMQ(masters=2) as rocketmq:
        rocketmq.pause_broker("broker-b")
        rocketmq.advance("90s")
        assert brokers(rocketmq.namesrv) == {"broker-a", "broker-b"}
        rocketmq.advance("1m")
        assert brokers(rocketmq.namesrv) == {"broker-a"}
        rocketmq.start_broker("broker-b")
        rocketmq.advance("1m")
        assert brokers(rocketmq.namesrv) == {"broker-a", "broker-b"}


def test_a_nameserver_that_stands_still_does_not_hold_time_up() -> None:
    with RocketMQ(nameservers=2) as rocketmq:
        rocketmq.pause_nameserver(1)
        before = rocketmq.now
        rocketmq.advance("1h")
        assert rocketmq.now - before >= timedelta(hours=1)
        assert brokers(rocketmq.namesrv.split(";")[0]) == {"broker-a"}


def test_a_slave_has_what_a_timer_brings() -> None:
    with RocketMQ(slaves=1, topics={"T": 1}) as rocketmq:
        rocketmq.send("T", "late", delay="2h")
        rocketmq.advance("2h1s")
        ends = rocketmq._call(
            lambda cluster: [one.endpoint.broker.store.max_offset("T", 0) for one in cluster.brokers]
        )
    assert ends == [1, 1]


# -- clients ------------------------------------------------------------------------------------------------


def members(client: WireClient) -> list[str]:
    answer = client.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": GROUP})
    return [] if answer.code else list(json.loads(answer.body)["consumerIdList"])


def test_clients_count_as_present(rocketmq: RocketMQ, client: WireClient) -> None:
    with WireClient(rocketmq.namesrv) as other:
        other.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
        client.beat("c")
        opaque = client.begin_pull("T", wait=15_000)
        assert members(client) == ["c"]
        rocketmq.advance("2h")
        assert members(client) == ["c"]
        assert not other.is_ended()
        with WireClient.of(rocketmq) as producer:
            producer.send("T", b"x")
        assert len(found(client.answer(opaque))) == 1


def test_clients_that_are_to_be_silent_expire(rocketmq: RocketMQ, client: WireClient) -> None:
    client.beat("c")
    opaque = client.begin_pull("T", wait=15_000)
    assert members(client) == ["c"]
    rocketmq.advance("1m", silent_clients=True)
    assert client.answer(opaque).code == ResponseCode.PULL_NOT_FOUND
    assert members(client) == ["c"]
    rocketmq.advance("5m", silent_clients=True)
    assert client.is_ended()
    with WireClient.of(rocketmq) as other:
        assert members(other) == []


@pytest.mark.parametrize(("silent", "gets"), [(False, 0), (True, 1)])
def test_a_lock_lasts_as_long_as_its_client_is_there(
    rocketmq: RocketMQ, client: WireClient, silent: bool, gets: int
) -> None:
    def lock(one: WireClient, name: str) -> int:
        queue = {"topic": "T", "brokerName": "broker-a", "queueId": 0}
        body = dumps({"consumerGroup": GROUP, "clientId": name, "mqSet": [queue]})
        return len(json.loads(one.ask(RequestCode.LOCK_BATCH_MQ, body=body).body)["lockOKMQSet"])

    with WireClient.of(rocketmq) as other:
        client.beat("first")
        other.beat("second")
        assert (lock(client, "first"), lock(other, "second")) == (1, 0)
        rocketmq.advance("90s", silent_clients=silent)
        assert lock(other, "second") == gets


def test_the_lock_of_a_client_that_has_gone_ends(rocketmq: RocketMQ, client: WireClient) -> None:
    queue = {"topic": "T", "brokerName": "broker-a", "queueId": 0}
    body = {"consumerGroup": GROUP, "mqSet": [queue]}
    with WireClient.of(rocketmq) as gone:
        gone.beat("gone")
        gone.ask(RequestCode.LOCK_BATCH_MQ, body=dumps(body | {"clientId": "gone"}))
    rocketmq.advance("61s")
    locked = client.ask(RequestCode.LOCK_BATCH_MQ, body=dumps(body | {"clientId": "next"}))
    assert len(json.loads(locked.body)["lockOKMQSet"]) == 1


def test_a_client_that_is_asked_something_has_its_time(rocketmq: RocketMQ, client: WireClient) -> None:
    client.beat("c")
    with WireClient.of(rocketmq) as admin:
        asked = admin.say(
            RequestCode.GET_CONSUMER_RUNNING_INFO,
            {"consumerGroup": GROUP, "clientId": "c", "jstackEnable": "false"},
        )
        question = client.hear()
        assert question is not None
        rocketmq.advance("1h")
        client.say(0, body=b"{}", flag=1)  # another opaque: no answer
        assert admin.has_come() == []
        assert asked


# -- freeze, speed, and what cannot be ----------------------------------------------------------------------


def test_a_frozen_clock_stands_still_and_can_be_put_forward(rocketmq: RocketMQ, client: WireClient) -> None:
    rocketmq.freeze()
    before = rocketmq.now
    client.send("T", b"x")
    assert rocketmq.now == before
    rocketmq.advance(timedelta(hours=2))
    assert rocketmq.now - before == timedelta(hours=2)
    assert rocketmq.speed == 0
    client.send("T", b"late", DELAY=1)
    held = client.begin_pull("T", 1)
    rocketmq.speed = 1
    assert [message.body for message in found(client.answer(held))] == [b"late"]


def test_a_faster_clock_brings_what_is_due_by_itself(rocketmq: RocketMQ, client: WireClient) -> None:
    client.beat("c")
    client.send("T", b"x", DELAY=18)
    opaque = client.begin_pull("T", wait=15_000)
    rocketmq.speed = 1_000
    while not found(client.answer(opaque)):
        opaque = client.begin_pull("T", wait=15_000)
    assert members(client) == ["c"]
    with WireClient(rocketmq.namesrv) as nameserver:
        info = nameserver.ask(RequestCode.GET_BROKER_CLUSTER_INFO)
    assert b"broker-a" in info.body


def test_servers_end_though_their_clock_stands() -> None:
    with RocketMQ(masters=2, nameservers=2) as rocketmq:
        rocketmq.freeze()


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ("2 hours", "'2 hours' is no length of time"),
        ("-5s", "'-5s' is no length of time"),
        (-1, "-1 is no length of time"),
        (True, "True is no length of time"),
        (None, "None is no length of time"),
        (float("nan"), "nan is no length of time"),
        ("400d", "advance('400d'): expected 366d at most"),
    ],
)
def test_what_is_no_duration_is_refused(rocketmq: RocketMQ, duration: Any, said: str) -> None:
    with pytest.raises(OptionError) as raised:
        rocketmq.advance(duration)
    assert said in str(raised.value)


@pytest.mark.parametrize("speed", [0, -1, True, "60", 1_001, float("nan"), None])
def test_what_is_no_speed_is_refused(rocketmq: RocketMQ, speed: Any) -> None:
    with pytest.raises(OptionError, match="expected a number above 0"):
        rocketmq.speed = speed
    assert rocketmq.speed == 1


def test_what_the_test_itself_sends_is_as_old_as_it_is(rocketmq: RocketMQ) -> None:
    rocketmq.advance("2h")
    rocketmq.send("T", "now")
    rocketmq.send("T", "later", delay="2h")
    [message] = rocketmq.messages("T")
    assert abs(message.stored - message.born) < 60_000
    rocketmq.advance("2h1s")  # times are kept by the second, and nothing is early
    assert [one.text for one in rocketmq.messages("T")] == ["now", "later"]


def test_a_reset_lets_time_go_on_by_itself(rocketmq: RocketMQ) -> None:
    rocketmq.freeze()
    rocketmq.advance("2h")
    before = rocketmq.now
    rocketmq.reset()
    assert rocketmq.speed == 1
    assert rocketmq.now >= before
