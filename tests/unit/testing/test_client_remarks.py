"""What a test learns of a faulty client, while it is at work."""

from __future__ import annotations

import pytest

from harness.testing import OptionError, RocketMQ
from harness.testing.own import OwnNames
from harness.testing.waiting import wait_until
from harness.trace import Closed
from harness.wire import Command, RequestCode
from harness.wire.bodies import Heartbeat, ProducerData

from .peers import GROUP, Peer, broker, nameserver, pull

UNREGISTERS = "cl.membership.unregistration-precedes-the-end"


def beat(peer: Peer, group: str) -> Command:
    body = Heartbeat(client_id="shop", producer_data_set=[ProducerData(group)]).encode()
    return peer.ask(RequestCode.HEART_BEAT, None, body)


def ended_by_client(rocketmq: OwnNames, server: str) -> bool:
    """Whether the server has seen the end of a connection."""
    trace = rocketmq.requests().traces.get(server)
    return trace is not None and any(isinstance(one, Closed) and one.by == "us" for one in trace.events)


def test_a_client_that_does_not_unregister(rocketmq: OwnNames, rocketmq_server: RocketMQ) -> None:
    peer = broker(rocketmq_server)
    beat(peer, rocketmq.group("shop"))
    rocketmq.assert_no_client_remarks()
    peer.close()
    assert wait_until(lambda: ended_by_client(rocketmq, "broker-a-0"), 10)
    (remark,) = rocketmq.client_remarks()
    assert (remark.client, remark.statement, remark.rule.level) == ("shop", UNREGISTERS, "SHOULD")
    first, last = remark.evidence
    assert (first.from_client, last.text, last.frame) == (True, "closes the connection", b"")
    with pytest.raises(AssertionError, match=UNREGISTERS):
        rocketmq.assert_no_client_remarks()
    rocketmq.assert_no_client_remarks(allow=[UNREGISTERS])


def test_a_server_that_ends_a_connection_is_not_the_clients_fault() -> None:
    with RocketMQ() as rocketmq:
        peer = broker(rocketmq)
        beat(peer, "shop")
        rocketmq.stop_broker("broker-a")
        assert rocketmq.client_remarks() == []


def test_a_clock_that_is_turned_makes_no_client_late(rocketmq: OwnNames, rocketmq_server: RocketMQ) -> None:
    peer = broker(rocketmq_server)
    beat(peer, rocketmq.group("shop"))
    rocketmq.advance("10m")
    beat(peer, rocketmq.group("shop"))
    rocketmq.assert_no_client_remarks()
    peer.close()


def test_opaques_and_offsets_are_judged_while_a_client_is_at_work() -> None:
    with RocketMQ(topics=["orders"], groups=[GROUP]) as rocketmq:
        peer = broker(rocketmq)
        peer.beat("shop")
        peer.say(RequestCode.PULL_MESSAGE, pull("orders", 0, hold=15_000), flag=0)
        peer.commit("orders", 10)
        peer.commit("orders", 20)
        rocketmq.assert_no_client_remarks()
        peer.commit("orders", 15)
        peer.say(RequestCode.PULL_MESSAGE, pull("orders", 0, queue=1, hold=15_000), flag=0)
        peer.commit("orders", 30)
        assert {one.statement for one in rocketmq.client_remarks()} == {
            "cl.consuming.offset-goes-back-with-pulls",
            "cl.requests.opaque-is-free",
        }
        peer.close()


def test_clients_of_other_tests_are_not_judged(rocketmq_server: RocketMQ) -> None:
    first = OwnNames(rocketmq_server)
    peer = nameserver(rocketmq_server)
    peer.say(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": first.topic("orders")})
    peer.route(first.topic("orders"))
    assert [one.statement for one in first.client_remarks()] == ["cl.requests.answer-is-wanted"]
    second = OwnNames(rocketmq_server)
    assert second.client_remarks() == []
    peer.close()
    first.close()
    second.close()


def test_a_statement_that_does_not_exist_cannot_be_allowed(rocketmq: OwnNames) -> None:
    for wrong in ("cl.no.such", "bk.lock.is-given-to-one-client"):
        with pytest.raises(OptionError, match=f"allow=.*{wrong}.*expected ids of statements about clients"):
            rocketmq.assert_no_client_remarks(allow=[wrong])
