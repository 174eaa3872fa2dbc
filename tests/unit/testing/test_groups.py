"""Groups of consumers: what they are done with, what is left, and the demands on their whole behaviour."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.testing import RocketMQ, RocketMQError, again
from harness.testing.own import OwnNames
from harness.testing.progress import hurry
from harness.testing.waiting import wait_until
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import Message, decode_messages

from .client import Client

COMES_AT_ONCE, WAITS = 4, 7
"""Flags of a pull that brings its subscription; the second commits, and waits for messages."""


def pull(topic: str, group: str, offset: int, sys_flag: int, committed: int) -> dict[str, str | None]:
    """The header of a pull of queue 0."""
    return {
        "consumerGroup": group,
        "topic": topic,
        "queueId": "0",
        "queueOffset": str(offset),
        "maxMsgNums": "32",
        "sysFlag": str(sys_flag),
        "commitOffset": str(committed),
        "suspendTimeoutMillis": "15000",
        "subscription": "*",
        "subVersion": "0",
    }


POP: dict[str, str | None] = {
    "consumerGroup": "billing",
    "topic": "orders",
    "queueId": "0",
    "maxMsgNums": "32",
    "invisibleTime": "60000",
    "pollTime": "0",
    "bornTime": "0",
    "initMode": "0",
    "order": "false",
}


def bodies(messages: list[Message]) -> list[str]:
    return [message.body.decode() for message in messages]


def test_what_a_group_has_committed_is_consumed(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders", queues=2), rocketmq.group("billing")
    rocketmq.send("orders", "one", queue=0)
    rocketmq.send("orders", "two", queue=1)
    with Client(rocketmq.namesrv, group, topic) as client:
        assert rocketmq.lag("billing") == 2
        assert bodies(client.consume(commit=False)) == ["one", "two"]
        assert (rocketmq.lag("billing"), rocketmq.consumed("billing")) == (2, [])
        client.consume()
        assert [message.text for message in rocketmq.consumed("billing")] == ["one", "two"]
        rocketmq.send("orders", "three", queue=1)
    assert rocketmq.lag("billing") == 1
    by_queue = {one.queue: one for one in rocketmq.progress("billing") if one.topic == topic}
    assert (by_queue[0].committed, by_queue[0].end, by_queue[0].lag) == (1, 1, 0)
    assert (by_queue[1].committed, by_queue[1].end, by_queue[1].lag) == (1, 2, 1)
    rocketmq.group("others")
    with pytest.raises(RocketMQError, match="has no lag: no member is connected"):
        rocketmq.lag("others")


def test_what_was_given_back_is_not_consumed(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("billing")
    for name in ("fine", "again", "dead"):
        rocketmq.send("orders", name)
    with Client(rocketmq.namesrv, group, topic) as client:
        fine, again, dead = client.consume()
        assert bodies([fine, again, dead]) == ["fine", "again", "dead"]
        client.give_back(again, level=5)
        client.give_back(dead, level=-1)
    assert [message.text for message in rocketmq.consumed("billing")] == ["fine"]
    (letter,) = rocketmq.dead_letters("billing")
    assert (letter.text, letter.attempts) == ("dead", 1)
    with pytest.raises(AssertionError) as raised:
        rocketmq.assert_consumed("orders", "billing", timeout="20ms")
    told = str(raised.value)
    assert "2 of 3 messages are not consumed" in told
    assert "'dead' — is a dead letter" in told
    assert "'again' — waits to be tried again" in told


def test_a_message_that_is_consumed_at_the_second_try_is_consumed(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("billing")
    rocketmq.send("orders", "again")
    with Client(rocketmq.namesrv, group, topic) as client:
        client.give_back(client.consume()[0], level=1)
        assert rocketmq.consumed("billing") == []
        with Client(rocketmq.namesrv, group, f"%RETRY%{group}") as retrying:
            rocketmq.wait_for("%RETRY%billing")
            assert rocketmq.lag("billing") == 1
            assert bodies(retrying.consume()) == ["again"]
    (message,) = rocketmq.consumed("billing")
    assert (message.text, message.topic, message.attempts) == ("again", topic, 0)
    rocketmq.assert_consumed("orders", "billing")


def test_what_nothing_was_sent_for_proves_nothing(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders")
    rocketmq.group("billing")
    with pytest.raises(AssertionError, match="there is no message, so this proves nothing"):
        rocketmq.assert_consumed("orders", "billing", timeout=0)
    rocketmq.send("orders", "x")
    with pytest.raises(AssertionError, match="the group has committed no offset"):
        rocketmq.assert_consumed("orders", "billing", timeout=0)
    with pytest.raises(AssertionError, match="no two messages have the same sharding key"):
        rocketmq.assert_in_order("orders", ["x"])
    with pytest.raises(AssertionError, match="no transaction was rolled back or left open"):
        rocketmq.assert_only_committed("orders", ["x"])


def test_order_is_demanded_within_a_sharding_key(rocketmq: OwnNames) -> None:
    rocketmq.topic("orders", queues=8)
    ids = {}
    for name, key in (("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b"), ("free", None)):
        ids[name] = rocketmq.send("orders", name, sharding=key).id
    rocketmq.assert_in_order("orders", [ids[name] for name in ("free", "b1", "a1", "a2", "a1", "b2")])
    with pytest.raises(AssertionError) as raised:
        rocketmq.assert_in_order("orders", [ids[name] for name in ("a2", "b1", "a1", "b2")])
    assert "key 'a'" in str(raised.value)
    assert "'a2' sharding" not in str(raised.value)
    assert "key 'b'" not in str(raised.value)
    rocketmq.assert_in_order("orders", ["a1", "a2"], by=lambda message: message.text)
    with pytest.raises(AssertionError, match="say with `by` what the application records"):
        rocketmq.assert_in_order("orders", ["a1", "a2"])


def test_clients_are_hurried_to_commit(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders", queues=1), rocketmq.group("billing")
    rocketmq.send("orders", "x")
    with Client(rocketmq.namesrv, group, topic) as client:
        (connection,) = client.brokers.values()

        def wait_and_commit() -> None:
            for committed in (0, 1):
                connection.ask(RequestCode.PULL_MESSAGE, pull(topic, group, 1, WAITS, committed))

        waiting = threading.Thread(target=wait_and_commit)
        waiting.start()
        rocketmq.assert_consumed("orders", "billing", timeout=10)
        rocketmq._call(hurry)
        waiting.join()


@pytest.mark.parametrize("is_idempotent", [True, False])
def test_a_second_delivery_must_change_nothing(rocketmq: OwnNames, is_idempotent: bool) -> None:
    topic, group = rocketmq.topic("orders"), rocketmq.group("billing")
    for price in (3, 5):
        rocketmq.send("orders", {"price": price})
    sums = {"sum": 0}
    seen: set[str] = set()

    def handle(message: Message) -> None:
        key = message.properties["UNIQ_KEY"]
        if not (is_idempotent and key in seen):
            sums["sum"] += int(message.body[9:-1])
        seen.add(key)

    with Client(rocketmq.namesrv, group, topic) as client, repeated(lambda: client.consume(handle)):
        if is_idempotent:
            rocketmq.assert_idempotent("orders", "billing", state=lambda: dict(sums))
        else:
            with pytest.raises(AssertionError, match="'sum': 8 became 16"):
                rocketmq.assert_idempotent("orders", "billing", state=lambda: dict(sums))


@contextmanager
def repeated(work: Callable[[], object]) -> Iterator[None]:
    """An application that works again and again, in a thread."""
    stop = threading.Event()

    def consume() -> None:
        while not stop.wait(0.005):
            work()

    thread = threading.Thread(target=consume)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_pull_that_still_commits_the_first_delivery_is_not_the_second() -> None:
    """As Apache's clients do: the pull that is told of the reset brings the offset of before."""
    handled: list[int] = []
    with RocketMQ(topics={"orders": 1}, groups=["billing"]) as rocketmq:
        rocketmq.send("orders", "x")
        with Client(rocketmq.namesrv, "billing", "orders") as client:
            client.consume(lambda message: handled.append(message.queue_offset))
            (connection,) = client.brokers.values()

            def consume_again() -> None:
                assert wait_until(lambda: rocketmq.lag("billing") == 1, 10)
                late = pull("orders", "billing", 1, WAITS, 1)
                assert connection.ask(RequestCode.PULL_MESSAGE, late).code == ResponseCode.PULL_OFFSET_MOVED
                time.sleep(0.2)  # in which a look at offsets alone finds everything consumed
                place = {name: late[name] for name in ("consumerGroup", "topic", "queueId")}
                connection.ask(RequestCode.UPDATE_CONSUMER_OFFSET, place | {"commitOffset": "0"})
                client.consume(lambda message: handled.append(message.queue_offset))

            application = threading.Thread(target=consume_again)
            application.start()
            with pytest.raises(AssertionError, match="before: 1\n  after:  2"):
                rocketmq.assert_idempotent("orders", "billing", state=lambda: len(handled))
            application.join()


def test_members_that_pop_get_everything_again() -> None:
    handled: list[int] = []
    with RocketMQ(topics={"orders": 1}, groups=["billing"]) as rocketmq:
        rocketmq.send("orders", "x")
        with Client(rocketmq.namesrv, "billing", "orders") as client:
            (connection,) = client.brokers.values()

            def pop() -> None:
                popped = connection.ask(RequestCode.POP_MESSAGE, POP)
                if popped.code != ResponseCode.SUCCESS:
                    return
                told = popped.ext or {}
                start = (told["startOffsetInfo"] or "").split()[2]
                for message in decode_messages(popped.body):
                    handled.append(message.queue_offset)
                    words = (start, told["popTime"], told["invisibleTime"], told["reviveQid"])
                    handle = " ".join([*map(str, words), "0", "broker-a", "0", str(message.queue_offset)])
                    ack = {name: POP[name] for name in ("consumerGroup", "topic", "queueId")}
                    ack |= {"offset": str(message.queue_offset), "extraInfo": handle}
                    assert connection.ask(RequestCode.ACK_MESSAGE, ack).code == ResponseCode.SUCCESS

            with repeated(pop), pytest.raises(AssertionError, match="before: 1\n  after:  2"):
                rocketmq.assert_idempotent("orders", "billing", state=lambda: len(handled))


def test_members_that_do_not_begin_again_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "PATIENCE", 0.1)
    with RocketMQ(topics={"orders": 1}, groups=["billing"]) as rocketmq:
        rocketmq.send("orders", "x")
        with Client(rocketmq.namesrv, "billing", "orders") as client:
            client.consume()
            with pytest.raises(RocketMQError, match="have not pulled topic 'orders' from its beginning"):
                rocketmq.deliver_again("orders", "billing")


def test_without_members_the_offsets_are_set_back_at_once(rocketmq: OwnNames) -> None:
    topic, group = rocketmq.topic("orders", queues=1), rocketmq.group("billing")
    rocketmq.send("orders", "x")
    with Client(rocketmq.namesrv, group, topic) as client:
        client.consume()
    rocketmq.deliver_again("orders", "billing")
    assert rocketmq.lag("billing") == 1


def test_4_9_counts_in_the_same_way() -> None:
    with RocketMQ(profile="4.9", topics={"orders": 2}, groups=["billing"]) as rocketmq:
        rocketmq.send("orders", "one", queue=0)
        rocketmq.send("orders", "two", queue=1)
        with Client(rocketmq.namesrv, "billing", "orders") as client:
            assert rocketmq.lag("billing") == 2
            one, two = client.consume()
            assert bodies([one, two]) == ["one", "two"]
            assert rocketmq.lag("billing") == 0
            client.give_back(two, level=1)
            assert [message.text for message in rocketmq.consumed("billing")] == ["one"]
            assert [message.id for message in rocketmq.wait_for("%RETRY%billing")] == [
                rocketmq.messages("orders")[1].id
            ]
        with pytest.raises(RocketMQError, match="CONSUMER_NOT_ONLINE"):
            rocketmq.deliver_again("orders", "billing")


def test_members_of_4_9_set_their_offsets_back_themselves() -> None:
    with RocketMQ(profile="4.9", topics={"orders": 1}, groups=["billing"]) as rocketmq:
        rocketmq.send("orders", "x")
        begin = pull("orders", "billing", 0, COMES_AT_ONCE, 0)
        with Client(rocketmq.namesrv, "billing", "orders") as client:
            client.consume()
            (connection,) = client.brokers.values()
            later = threading.Timer(0.2, lambda: connection.ask(RequestCode.PULL_MESSAGE, begin))
            later.start()
            rocketmq.deliver_again("orders", "billing")
            later.join()
            assert rocketmq.lag("billing") == 1
            client.consume()
            rocketmq.assert_consumed("orders", "billing")
