"""Sending, looking and waiting: what a test sees of messages, and what a failure says if they do not come."""

from __future__ import annotations

import threading
import zlib
from datetime import timedelta

import pytest

from harness.testing import OptionError, RocketMQ
from harness.testing.own import OwnNames
from harness.wire.messages import SysFlag

from .client import Client


def test_a_message_has_what_was_sent(rocketmq: OwnNames) -> None:
    topic = rocketmq.topic("orders", queues=3)
    sent = rocketmq.send(
        "orders", "a book", tags="red", keys=["k1", "k2"], properties={"shop": "north"}, queue=2
    )
    rocketmq.send("orders", {"price": 7}, queue=1)
    book, price = rocketmq.messages("orders")
    assert (book.text, book.tags, book.keys, book.properties["shop"]) == (
        "a book",
        "red",
        ("k1", "k2"),
        "north",
    )
    assert (book.topic, book.queue, book.offset, book.id) == (topic, 2, 0, sent.id)
    assert (book.broker, sent.broker, sent.offset, sent.queue) == ("broker-a", "broker-a", 0, 2)
    assert (price.json, price.queue, price.tags, price.keys) == ({"price": 7}, 1, None, ())
    assert book.born <= book.stored <= price.stored
    assert rocketmq.messages(topic) == [book, price]


def test_messages_go_round_the_queues_and_keys_stay_in_one(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders", queues=3)
    assert {rocketmq.send("orders", "x").queue for _ in range(3)} == {0, 1, 2}
    places = {(rocketmq.send("orders", "x", sharding="Müller").queue) for _ in range(3)}
    assert len(places) == 1
    keys = [message.sharding_key for message in rocketmq.messages("orders")]
    assert keys == [None] * 3 + ["Müller"] * 3


def test_all_masters_get_their_part() -> None:
    with RocketMQ(masters=2, topics={"orders": 2}) as rocketmq:
        sent = {(one.broker, one.queue) for one in (rocketmq.send("orders", "x") for _ in range(4))}
        assert sent == {("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1)}
        assert rocketmq.send("orders", "x", broker="broker-b", queue=1).offset == 1
        assert len(rocketmq.messages("orders")) == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topic": "ordres"}, "did you mean 'orders'?"),
        ({"queue": 4}, "queue=4 of topic 'orders': expected 0 to 3"),
        ({"broker": "b"}, "broker='b': expected one of 'broker-a'"),
        ({"tags": "a||b"}, "tags='a||b': a message has one tag"),
        ({"delay": "soon"}, "'soon' is no length of time"),
        ({"delay": True}, "True is no length of time"),
        ({"delay": -1}, "-1 is no length of time"),
        ({"level": 19}, "level=19: expected a delay level from 1 to 18"),
        ({"level": 1, "delay": 5}, "delay and level: expected one of them"),
        ({"sharding": "x", "queue": 1}, "sharding and queue: expected one of them"),
        ({"properties": {"a": 1}}, "properties: expected texts, got 'a': 1"),
        ({"body": b""}, "body: it is empty"),
        ({"body": object()}, "body: expected bytes, a text, or what JSON can say"),
    ],
)
def test_a_message_that_cannot_be_sent_is_refused(
    orders: RocketMQ, options: dict[str, object], said: str
) -> None:
    given = {"topic": "orders", "body": "x"} | options
    with pytest.raises(OptionError) as raised:
        orders.send(**given)  # type: ignore[arg-type]
    assert said in str(raised.value)
    assert orders.messages("orders") == []


@pytest.fixture(scope="module")
def orders() -> object:
    with RocketMQ(topics=["orders"]) as rocketmq:
        yield rocketmq


def test_delayed_messages_are_pending_until_they_are_due(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders")
    rocketmq.send("orders", "in an hour", delay="1h")
    rocketmq.send("orders", "in a day", delay=timedelta(days=1))
    rocketmq.send("orders", "in ten seconds", level=3)
    assert rocketmq.messages("orders") == []
    ten, hour, day = rocketmq.pending("orders")
    assert [one.message.text for one in (ten, hour, day)] == ["in ten seconds", "in an hour", "in a day"]
    assert [one.why for one in (ten, hour, day)] == ["delay"] * 3
    assert ten.due == ten.message.stored + 10_000
    assert hour.due is not None
    assert 3_599_000 <= hour.due - hour.message.stored <= 3_601_000


def test_in_4_9_a_delay_is_that_of_a_level() -> None:
    with RocketMQ(profile="4.9", topics=["orders"]) as rocketmq:
        rocketmq.send("orders", "x", delay="2h")
        assert rocketmq.pending("orders")[0].message.properties["DELAY"] == "18"
        with pytest.raises(OptionError, match=r"4\.9 has levels alone: 1s 5s"):
            rocketmq.send("orders", "x", delay="7s")


def test_compressed_bodies_are_decompressed(rocketmq: OwnNames) -> None:
    topic = rocketmq.topic("orders")
    with Client(rocketmq.namesrv, rocketmq.group("shop"), topic) as client:
        client.send(topic, zlib.compress(b"long" * 99), sys_flag=SysFlag.COMPRESSED)
    assert rocketmq.messages("orders")[0].body == b"long" * 99


def test_a_transaction_is_pending_until_it_ends(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("shop")
    with Client(rocketmq.namesrv, group, topic) as client:
        prepared = int(SysFlag.TRANSACTION_PREPARED)
        halves = [
            client.send(topic, body, prepared, TRAN_MSG="true", PGROUP=group, UNIQ_KEY=f"{body!r}")
            for body in (b"kept", b"dropped", b"open")
        ]
        client.end_transaction(halves[0], 8)
        client.end_transaction(halves[1], 12)
    states = {message.text: message.transaction for message in rocketmq.transactions("orders")}
    assert states == {"kept": "committed", "dropped": "rolled back", "open": "open"}
    assert [(one.text, one.transaction) for one in rocketmq.messages("orders")] == [("kept", "committed")]
    assert [(one.message.text, one.why, one.due) for one in rocketmq.pending("orders")] == [
        ("open", "transaction", None)
    ]
    rocketmq.assert_only_committed("orders", ["kept"], by=lambda message: message.text)
    with pytest.raises(AssertionError, match="'dropped' — its transaction is rolled back"):
        rocketmq.assert_only_committed("orders", ["kept", "dropped"], by=lambda message: message.text)


def test_waiting_returns_what_comes_later(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders")
    rocketmq.send("orders", "other")
    later = threading.Timer(0.1, lambda: [rocketmq.send("orders", f"wanted {n}") for n in (1, 2)])
    later.start()
    found = rocketmq.wait_for("orders", 2, where=lambda message: "wanted" in message.text)
    later.join()
    assert [message.text for message in found] == ["wanted 1", "wanted 2"]


def test_a_wait_in_vain_says_what_came_instead(rocketmq: OwnNames) -> None:
    topic, other = rocketmq.topic("orders"), rocketmq.topic("others")
    rocketmq.send("orders", "this", tags="a")
    rocketmq.send("orders", "that")
    rocketmq.send("orders", "late", delay="1h")
    rocketmq.send("others", "stray")
    with pytest.raises(AssertionError) as raised:
        rocketmq.wait_for("orders", 2, where=lambda message: message.tags == "a", timeout="50ms")
    told = str(raised.value).splitlines()
    assert told[0] == f"1 of 2 messages came to {topic!r} within 0.05 s"
    assert told[1] == "these came:"
    assert "'this' tags=a" in told[2]
    assert told[3] == "these came, but are not what was waited for:"
    assert "'that'" in told[4]
    assert told[5] == "these were sent, and consumers do not see them yet:"
    assert "'late': delayed, due in 3" in told[6]
    assert f"{other} 1" in told[7]


def test_a_wait_for_a_topic_that_is_not_there_says_so(orders: RocketMQ) -> None:
    with pytest.raises(AssertionError) as raised:
        orders.wait_for("order", timeout=0.01)
    assert "topic 'order' does not exist" in str(raised.value)
    assert "no topic has a message" in str(raised.value)


def test_a_wait_for_no_message_is_refused(orders: RocketMQ) -> None:
    with pytest.raises(OptionError, match="count=0: expected a number from 1"):
        orders.wait_for("orders", 0)
