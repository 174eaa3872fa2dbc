"""Faults of requests and answers: what happens, to whom, how often, and what is said of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from unit.testing.peers import GROUP, Peer, broker, nameserver, new_topic, pull

from harness.program.damages import Cut, Number
from harness.testing import FaultNotMetError, RocketMQ, RocketMQError
from harness.testing.waiting import wait_until
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import decode_messages


@pytest.fixture(scope="module")
def rocketmq() -> Iterator[RocketMQ]:
    with RocketMQ(masters=2) as started:
        yield started


@pytest.fixture
def peer(rocketmq: RocketMQ) -> Iterator[Peer]:
    connection = broker(rocketmq)
    yield connection
    connection.close()


def bodies(peer: Peer, topic: str, offset: int = 0) -> list[bytes]:
    return [message.body for message in decode_messages(peer.pull(topic, offset).body)]


# -- what happens --------------------------------------------------------------------------------------------


def test_a_refused_request_is_not_carried_out(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.refuse("SERVICE_NOT_AVAILABLE", remark="closed", topic=topic, times=1):
        answer = peer.send(topic, b"one")
        assert (answer.code, answer.remark) == (ResponseCode.SERVICE_NOT_AVAILABLE, "closed")
        assert peer.send(topic, b"two").code == ResponseCode.SUCCESS
    assert bodies(peer, topic) == [b"two"]


def test_a_lost_request_is_not_carried_out_and_not_answered(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.lose_request(topic=topic, times=1), pytest.raises(TimeoutError):
        peer.send(topic, b"one")
    peer.send(topic, b"two")
    assert bodies(peer, topic) == [b"two"]


def test_a_lost_reply_belongs_to_a_request_that_was_carried_out(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.lose_reply(code="SEND_MESSAGE_V2", topic=topic), pytest.raises(TimeoutError):
        peer.send(topic, b"one")
    assert bodies(peer, topic) == [b"one"]


def test_a_late_answer_comes_after_others(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.send(topic)
    with rocketmq.fault.answer_late(0.3, code="receive", topic=topic):
        began = time.monotonic()
        peer.pull(topic)
        assert time.monotonic() - began >= 0.3


def test_a_cut_reply_is_followed_by_the_end(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.cut_reply(code="send", topic=topic), pytest.raises(ConnectionError, match="ended"):
        peer.send(topic, b"one")
    assert 0 < peer.arrived.pending < 200
    assert bodies(broker(rocketmq), topic) == [b"one"]


def test_a_reply_can_have_any_damage(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.damage_reply(Number(name="code", value=77), code="send", topic=topic):
        assert peer.send(topic).code == 77
    with rocketmq.fault.damage_reply(Cut(keep=20), code="send", topic=topic), pytest.raises(TimeoutError):
        peer.send(topic)
    assert peer.arrived.pending == 20


def test_a_connection_is_closed_behind_the_answer(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.close_connection(code="send", topic=topic):
        assert peer.send(topic).code == ResponseCode.SUCCESS
    assert peer.socket.recv(1) == b""


def test_a_connection_is_reset_in_place_of_the_answer(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.reset_connection(code="send", topic=topic), pytest.raises(ConnectionResetError):
        peer.send(topic, b"one")
    assert bodies(broker(rocketmq), topic) == [b"one"]


@pytest.mark.parametrize("code", ["FLUSH_DISK_TIMEOUT", "SLAVE_NOT_AVAILABLE", "FLUSH_SLAVE_TIMEOUT"])
def test_a_message_is_stored_but_not_safe(code: str, rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with rocketmq.fault.store_but(code, topic=topic):
        answer = peer.send(topic, b"one")
    assert answer.code == ResponseCode[code]
    assert (answer.ext or {})["queueOffset"] == "0"
    assert answer.remark is None
    assert bodies(peer, topic) == [b"one"]


def test_pulled_messages_come_twice_and_not_more_often(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    for body in (b"one", b"two"):
        peer.send(topic, body)
    with rocketmq.fault.deliver_twice(topic=topic):
        assert bodies(peer, topic, 0) == [b"one", b"two"]
        peer.send(topic, b"three")
        assert bodies(peer, topic, 2) == [b"one", b"two", b"three"]
        assert bodies(peer, topic, 3) == [b"three"]
        assert bodies(peer, topic, 3) == []
    assert bodies(peer, topic, 2) == [b"three"]


def test_a_message_comes_twice_to_a_pull_that_waited_when_the_fault_began(
    rocketmq: RocketMQ, peer: Peer
) -> None:
    topic = new_topic()
    peer.send(topic, b"one")
    sender = broker(rocketmq)
    peer.say(RequestCode.PULL_MESSAGE, pull(topic, 1, hold=15_000), flag=0)
    assert wait_until(lambda: any(one.ext["topic"] == topic for one in rocketmq.requests("PULL_MESSAGE")), 10)
    with rocketmq.fault.deliver_twice(topic=topic, times=1):
        assert peer.next().code == ResponseCode.PULL_NOT_FOUND
        peer.say(RequestCode.PULL_MESSAGE, pull(topic, 1, hold=15_000), flag=0)
        sender.send(topic, b"two")
        assert [one.body for one in decode_messages(peer.next().body)] == [b"two"]
        assert bodies(peer, topic, 2) == [b"two"]
    assert bodies(peer, topic, 2) == []
    sender.close()


def test_the_acknowledgement_of_a_popped_message_is_lost_once(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.send(topic, b"one")
    handle = {"consumerGroup": GROUP, "topic": topic, "queueId": 0, "offset": 0}
    with rocketmq.fault.deliver_twice(topic=topic) as fault:
        ack = {**handle, "extraInfo": "not a handle"}
        assert peer.ask(RequestCode.ACK_MESSAGE, ack).code == ResponseCode.SUCCESS
        assert peer.ask(RequestCode.ACK_MESSAGE, ack).code != ResponseCode.SUCCESS
    assert len(fault.met) == 1


def test_a_slave_is_suggested(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.send(topic)
    with rocketmq.fault.suggest_slave(3, topic=topic):
        assert (peer.pull(topic).ext or {})["suggestWhichBrokerId"] == "3"
    assert (peer.pull(topic).ext or {})["suggestWhichBrokerId"] == "0"


def test_a_group_has_strangers_and_is_notified_at_both_ends(rocketmq: RocketMQ, peer: Peer) -> None:
    peer.beat("me")
    listed = RequestCode.GET_CONSUMER_LIST_BY_GROUP
    with rocketmq.fault.rebalance(GROUP, members=2):
        assert peer.next().code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
        answer = peer.ask(listed, {"consumerGroup": GROUP})
        assert answer.body == b'{"consumerIdList":["me","0.0.0.0@stranger-0","0.0.0.0@stranger-1"]}'
    assert peer.next().code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
    assert peer.ask(listed, {"consumerGroup": GROUP}).body == b'{"consumerIdList":["me"]}'


# -- routes --------------------------------------------------------------------------------------------------


def test_a_topic_has_no_route(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = routed(rocketmq, new_topic(), peer)
    asking = nameserver(rocketmq)
    with rocketmq.fault.empty_route(topic=topic):
        assert asking.route(topic).code == ResponseCode.TOPIC_NOT_EXIST
    assert asking.route(topic).code == ResponseCode.SUCCESS


def test_a_route_has_no_master(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = routed(rocketmq, new_topic(), peer)
    with rocketmq.fault.no_master(topic=topic):
        body = nameserver(rocketmq).route(topic).body
    assert b'"brokerAddrs":{"1":' in body


def test_a_route_is_in_the_reverse_order(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = routed(rocketmq, new_topic(), peer, broker(rocketmq, 1))
    asking = nameserver(rocketmq)
    before = asking.route(topic).body
    with rocketmq.fault.reverse_route(topic=topic):
        after = asking.route(topic).body
    assert sorted(before) == sorted(after)
    is_first = [body.index(b"broker-a") < body.index(b"broker-b") for body in (before, after)]
    assert is_first[0] is not is_first[1]


def test_a_route_is_stale(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = routed(rocketmq, new_topic(), peer)
    asking = nameserver(rocketmq)
    with rocketmq.fault.stale_route(topic=topic):
        routed(rocketmq, topic, peer, broker(rocketmq, 1))
        assert b"broker-b" not in asking.route(topic).body
    assert b"broker-b" in asking.route(topic).body


def routed(rocketmq: RocketMQ, topic: str, *peers: Peer) -> str:
    """A topic that these Brokers have, and of which the NameServer knows."""
    for peer in peers:
        peer.send(topic)
    known = rocketmq._cluster.nameservers[0].endpoint.nameserver
    end = time.monotonic() + 20
    while time.monotonic() < end:
        route = rocketmq._call(lambda _: known.route(topic))
        if route is not None and len(route.queue_datas) == len(peers):
            return topic
    raise AssertionError(f"{topic} has no route")


# -- whom it happens to --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "is_met"),
    [
        ({"topic": "{topic}"}, True),
        ({"topic": "another"}, False),
        ({"topic": "{topic}", "queue": 1}, True),
        ({"topic": "{topic}", "queue": 2}, False),
        ({"topic": "{topic}", "group": "PG"}, True),
        ({"topic": "{topic}", "group": "CG"}, False),
        ({"topic": "{topic}", "server": "broker-a"}, True),
        ({"topic": "{topic}", "server": "broker-a-0"}, True),
        ({"topic": "{topic}", "server": "broker-b"}, False),
        ({"topic": "{topic}", "client": "client-1"}, True),
        ({"topic": "{topic}", "client": "client-2"}, False),
        ({"topic": "{topic}", "code": 310}, True),
        ({"topic": "{topic}", "code": ["receive", "SEND_MESSAGE_V2"]}, True),
        ({"topic": "{topic}", "code": "receive"}, False),
    ],
)
def test_requests_are_selected(which: dict[str, Any], is_met: bool, rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.beat("client-1")
    given = {name: value.format(topic=topic) if name == "topic" else value for name, value in which.items()}
    fault = rocketmq.fault.refuse(**given)
    refused = peer.send(topic, queue=1).code == ResponseCode.SYSTEM_BUSY
    fault.stop()
    assert refused is is_met


def test_what_servers_say_to_each_other_is_left_alone(rocketmq: RocketMQ, peer: Peer) -> None:
    fault = rocketmq.fault.refuse()
    assert peer.ask(RequestCode.GET_BROKER_RUNTIME_INFO).code == ResponseCode.SUCCESS
    assert peer.send(new_topic()).code == ResponseCode.SYSTEM_BUSY
    fault.end()


def test_a_held_pull_is_answered_later_and_meets_the_fault_then(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.send(topic)
    other = broker(rocketmq)
    with rocketmq.fault.lose_reply(code="receive", topic=topic, times=1) as fault:
        peer.say(RequestCode.PULL_MESSAGE, pull(topic, 1, hold=10_000), flag=0)
        fault.wait()
        other.send(topic)
        with pytest.raises(TimeoutError):
            peer.next(0.3)
    assert bodies(peer, topic, 1) == [b"x"]


def test_one_way_requests_meet_faults_too(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    peer.send(topic)
    peer.commit(topic, 1, oneway=True)
    with rocketmq.fault.lose_request(code="commit", topic=topic) as fault:
        peer.commit(topic, 9, oneway=True)
        fault.wait()
    assert peer.committed(topic) == 1
    with rocketmq.fault.close_connection(code="commit", topic=topic):
        peer.commit(topic, 1, oneway=True)
        assert peer.socket.recv(1) == b""


def test_faults_are_composed(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    late = rocketmq.fault.answer_late(0.2, code="send", topic=topic, times=1)
    with late, rocketmq.fault.refuse(code="send", topic=topic, times=1):
        began = time.monotonic()
        assert peer.send(topic).code == ResponseCode.SYSTEM_BUSY
        assert time.monotonic() - began >= 0.2
    assert bodies(peer, topic) == []


def test_without_faults_a_server_is_as_it_was(rocketmq: RocketMQ, peer: Peer) -> None:
    endpoint = rocketmq._cluster.brokers[0].endpoint
    topic = new_topic()
    with rocketmq.fault.refuse(topic=topic, times=1):
        assert "execute" in vars(endpoint)
        peer.send(topic)
        peer.send(topic)
        assert "execute" not in vars(endpoint)
    assert not {"execute", "push", "left"} & vars(endpoint).keys()


def test_a_server_that_comes_back_has_the_faults_that_last(rocketmq: RocketMQ) -> None:
    topic = new_topic()
    with rocketmq.fault.refuse(code="send", topic=topic):
        with rocketmq.stop_broker("broker-b"):
            pass
        assert broker(rocketmq, 1).send(topic).code == ResponseCode.SYSTEM_BUSY


# -- what is said --------------------------------------------------------------------------------------------


def test_a_fault_that_was_not_met_says_what_came_instead(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with pytest.raises(FaultNotMetError) as raised, rocketmq.fault.refuse(code="commit", topic=topic):
        peer.send(topic)
        peer.send(topic)
    assert str(raised.value) == (
        f"refuse(answer='SYSTEM_BUSY', code='commit', topic={topic!r}) was met by 0 requests, expected 1. "
        f"Other requests: 2 × 310 SEND_MESSAGE_V2 of {topic} at broker-a-0. Has the application come that "
        "far, and does the selection fit?"
    )


def test_a_fault_that_was_met_less_often_than_expected_says_so(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with (
        pytest.raises(FaultNotMetError, match=r"was met by 1 request, expected 2\. There were no other"),
        rocketmq.fault.refuse(topic=topic, times=2),
    ):
        peer.send(topic)


def test_waiting_for_a_fault_has_an_end(rocketmq: RocketMQ) -> None:
    fault = rocketmq.fault.refuse(topic=new_topic())
    with pytest.raises(FaultNotMetError, match=r"was met by 0 requests within 0.05 s, expected 3"):
        fault.wait(3, timeout=0.05)
    fault.stop()


def test_a_test_that_fails_shows_what_the_fault_did(rocketmq: RocketMQ, peer: Peer) -> None:
    topic = new_topic()
    with pytest.raises(RuntimeError) as raised, rocketmq.fault.refuse(topic=topic):
        peer.send(topic)
        raise RuntimeError("of the test")
    assert raised.value.__notes__ == [
        f"fault refuse(answer='SYSTEM_BUSY', topic={topic!r}) was met by 1 request\n"
        f"  310 SEND_MESSAGE_V2 of {topic} at broker-a-0"
    ]


def test_what_was_not_met_is_said_at_the_end_of_everything() -> None:
    with (
        pytest.raises(FaultNotMetError, match=r"lose_reply\(code='send', times=1\) was met by 0"),
        RocketMQ() as rocketmq,
    ):
        rocketmq.fault.lose_reply(code="send", times=1)


def test_a_fault_needs_servers() -> None:
    rocketmq = RocketMQ()
    with pytest.raises(RocketMQError, match="does not run"):
        rocketmq.fault.refuse()
    with rocketmq:
        rocketmq.fault.end_all()


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        (
            lambda fault: fault.refuse(code="snd"),
            "code='snd': expected the number or name of a request.*'send'",
        ),
        (lambda fault: fault.refuse(code="SYSTEM_BUSY"), "'SYSTEM_BUSY' is the code of an answer"),
        (lambda fault: fault.refuse("BUSY"), "answer='BUSY': expected the number or name of a response code"),
        (lambda fault: fault.refuse(times=0), "times=0: expected a number from 1"),
        (lambda fault: fault.refuse(topic=3), "topic=3: expected a text"),
        (lambda fault: fault.refuse(queue="3"), "queue='3': expected a number"),
        (lambda fault: fault.answer_late(-1), "seconds=-1: expected a number above 0"),
        (lambda fault: fault.damage_reply(), "needs one damage at least"),
        (lambda fault: fault.rebalance("CG", members=0), "members=0: expected a number from 1"),
        (lambda fault: fault.stale_route(), "stale_route needs topic="),
        (lambda fault: fault.chaos(1, rate=2), "rate=2: expected a number from 0 to 1"),
        (lambda fault: fault.chaos(1, servers=True), "servers=True: expected a number from 0 to 1"),
        (lambda fault: fault.chaos(1, rate=0), "rate=0, servers=0: expected one of them above 0"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(
    begin: Callable[[Any], Any], message: str, rocketmq: RocketMQ
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        begin(rocketmq.fault)


# -- chaos ---------------------------------------------------------------------------------------------------


def story(rocketmq: RocketMQ, seed: int) -> list[str]:
    """What chaos did to the same requests, one after the other."""
    topic = new_topic()
    with rocketmq.fault.chaos(seed, rate=0.8, topic=topic) as chaos:
        for _ in range(6):
            peer = broker(rocketmq)
            try:
                peer.socket.settimeout(0.1)
                peer.send(topic)
            except (OSError, TimeoutError):
                pass
            peer.close()
    return [str(met).replace(topic, "TOPIC") for met in chaos.met]


def test_chaos_is_the_same_with_the_same_seed_and_another_with_another(rocketmq: RocketMQ) -> None:
    one, again, other = (story(rocketmq, seed) for seed in (7, 7, 8))
    assert one == again
    assert one != other
    assert one[0].startswith("310 SEND_MESSAGE_V2 of TOPIC at broker-a-0: send ")
