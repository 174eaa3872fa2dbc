"""A reset, and views that share a server: what one leaves behind is not there for the next."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from harness.testing import OptionError, RocketMQ
from harness.testing.own import OwnNames

from .client import Client


@pytest.mark.parametrize("is_kept", [False, True])
def test_after_a_reset_all_is_as_after_the_start(tmp_path: Path, is_kept: bool) -> None:
    store = tmp_path if is_kept else None
    with RocketMQ(
        masters=2, slaves=1, nameservers=2, topics={"orders": 2}, groups=["shop"], store=store
    ) as rocketmq:
        addresses = [rocketmq.namesrv, *_brokers(rocketmq)]
        rocketmq.topic("more")
        rocketmq.send("orders", "x")
        rocketmq.send("orders", "x", delay="1h")
        with Client(rocketmq.namesrv, "shop", "orders") as client:
            client.consume()
            rocketmq.reset()
            with pytest.raises(ConnectionError):
                client.beat()
        assert [rocketmq.namesrv, *_brokers(rocketmq)] == addresses
        assert (rocketmq.messages("orders"), rocketmq.pending("orders")) == ([], [])
        assert (rocketmq.clients(), list(rocketmq.requests()), rocketmq.consumed("shop")) == ([], [], [])
        with pytest.raises(OptionError, match="'more' does not exist"):
            rocketmq.send("more", "x")
        assert rocketmq.send("orders", "again", queue=0, broker="broker-a").offset == 0
        with Client(rocketmq.namesrv, "shop", "orders") as client:
            assert [message.body for message in client.consume()] == [b"again"]
    if is_kept:
        with RocketMQ(masters=2, slaves=1, nameservers=2, store=store) as rocketmq:
            assert [message.text for message in rocketmq.messages("orders")] == ["again"]


def _brokers(rocketmq: RocketMQ) -> list[str]:
    return rocketmq._call(lambda cluster: [broker.address for broker in cluster.brokers])


def test_a_held_pull_and_a_half_written_frame_do_not_disturb_a_reset() -> None:
    with RocketMQ(topics=["orders"]) as rocketmq:
        host, _, port = rocketmq.namesrv.rpartition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"\x00\x00\x10\x00half")
            for _ in range(3):
                rocketmq.reset()
        rocketmq.send("orders", "x")
        assert len(rocketmq.messages("orders")) == 1


def test_views_of_one_server_do_not_see_each_other(rocketmq_server: RocketMQ) -> None:
    one, other = OwnNames(rocketmq_server), OwnNames(rocketmq_server)
    topics = {one.topic("orders", queues=2), other.topic("orders", queues=3)}
    groups = {one.group("shop"), other.group("shop")}
    assert len(topics) == len(groups) == 2
    one.send("orders", "of one")
    with Client(one.namesrv, one.group("shop"), one.topic("orders")) as client:
        client.give_back(client.consume()[0], level=-1)
    assert len(one.dead_letters("shop")) == 1
    assert (len(one.messages("orders")), other.messages("orders")) == (1, [])
    one.close()
    left = rocketmq_server._call(
        lambda cluster: (
            set(cluster.brokers[0].endpoint.broker.topics.table)
            | set(cluster.brokers[0].endpoint.broker.groups.table)
            | set(cluster.nameservers[0].endpoint.routes.topics)
        )
    )
    assert len((topics | groups) & left) == 2
    (kept,) = groups & left
    assert {name for name in left if name.startswith("%")} <= {f"%RETRY%{kept}", f"%DLQ%{kept}"}
    other.close()


def test_a_name_that_a_test_has_not_made_is_refused(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders")
    with pytest.raises(OptionError) as raised:
        rocketmq.messages("order")
    assert "'order' is neither a topic nor a group of this test, which has 'orders'" in str(raised.value)


def test_names_that_no_server_takes_are_refused(rocketmq_server: RocketMQ) -> None:
    for name, said in (("a b", "illegal characters"), ("", "blank"), ("TBW102", "one of the system")):
        with pytest.raises(OptionError, match=said):
            rocketmq_server.topic(name)
    with pytest.raises(OptionError, match="group '': expected a name"):
        rocketmq_server.group("")
    with pytest.raises(OptionError, match="retries=-1 of group 'shop'"):
        rocketmq_server.group("shop", retries=-1)
    with pytest.raises(OptionError, match="illegal characters"):
        RocketMQ(topics=["a b"]).start()
