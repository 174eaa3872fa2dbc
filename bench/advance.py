"""`advance` of `harness.testing` beside the clock, and beside an advance in which nothing is due.

`python -m bench.advance [TRIES]` turns the clock over a delay of level 18, a transaction that stays open for
six hours and is checked each minute, sixteen retries up to the dead-letter queue, and a lease that runs out.
For each it prints the time that passes, the milliseconds that this takes (the median of TRIES, 5), how many
times faster than the clock that is, and its ratio to an advance of the same length over the same servers in
which nothing is due: what the servers say to each other in that time.
"""

from __future__ import annotations

import socket
import statistics
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import msgspec

from harness.testing import RocketMQ
from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.bodies import ClusterInfo, ConsumerData, Heartbeat, ProducerData, Subscription
from harness.wire.messages import Message, TopicName, decode_messages, encode_properties

TRIES = 5
TOPIC, GROUP = "T", "G"
RETRIES = [10, 30, *(60 * minutes for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 60, 120))]
"""Seconds until each of them."""
LEASE = timedelta(seconds=130)
"""120 s, and until the next scan, each 10 s."""
_HALF = 4
_COMMIT = 8


class Clock:
    """The clock of a cluster, and how long it takes to turn it."""

    def __init__(self, rocketmq: RocketMQ) -> None:
        self.seconds = 0.0
        """Of real time."""
        self._rocketmq = rocketmq

    def advance(self, duration: timedelta) -> None:
        began = time.perf_counter()
        self._rocketmq.advance(duration)
        self.seconds += time.perf_counter() - began


class Client:
    """One connection of a producer and consumer."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), 10)
        self._frames = FrameBuffer()
        self._opaque = 0
        self.checks: list[Command] = []
        """The transaction checks that have come."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def ask(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"") -> Command:
        """The answer to a request."""
        self._opaque += 1
        fields: dict[str, str | None] = {name: str(value) for name, value in (ext or {}).items()}
        self._socket.sendall(encode(Command(code, opaque=self._opaque, version=479, ext=fields, body=body)))
        while True:
            while (frame := self._frames.next_frame()) is None:
                self._frames.feed(self._socket.recv(1 << 16))
            command = decode(frame)
            if command.is_response:
                return command
            if command.code == RequestCode.CHECK_TRANSACTION_STATE:
                self.checks.append(command)

    def beat(self) -> None:
        subscription = Subscription(topic=TOPIC, sub_string="*")
        consumer = ConsumerData(
            group_name=GROUP,
            consume_type="CONSUME_PASSIVELY",
            message_model="CLUSTERING",
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
            subscription_data_set=[subscription],
        )
        beat = Heartbeat(
            client_id="bench",
            consumer_data_set=[consumer],
            producer_data_set=[ProducerData(group_name=GROUP)],
        )
        self.ask(RequestCode.HEART_BEAT, body=beat.encode())

    def send_half(self) -> None:
        """The first half of a message of a transaction."""
        properties = encode_properties({"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": "half"}, v5=True)
        values = (GROUP, TOPIC, "TBW102", 4, 0, _HALF, time.time_ns() // 1_000_000, 0, properties, 0)
        sent = self.ask(RequestCode.SEND_MESSAGE_V2, dict(zip("abcdefghij", values, strict=True)), b"half")
        assert sent.code == ResponseCode.SUCCESS, sent

    def pull(self, topic: str, offset: int = 0) -> list[Message]:
        """The messages of queue 0 that are there."""
        ext = {
            "consumerGroup": GROUP,
            "topic": topic,
            "queueId": 0,
            "queueOffset": offset,
            "maxMsgNums": 32,
            "sysFlag": 4,
            "commitOffset": 0,
            "suspendTimeoutMillis": 0,
            "subscription": "*",
            "subVersion": 0,
        }
        answer = self.ask(RequestCode.PULL_MESSAGE, ext)
        return decode_messages(answer.body) if answer.code == ResponseCode.SUCCESS else []

    def give_back(self, message: Message) -> None:
        """A message could not be consumed."""
        ext = {"offset": message.physical_offset, "group": GROUP, "delayLevel": 0, "originTopic": TOPIC}
        assert self.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ext).code == ResponseCode.SUCCESS


def longest_delay(rocketmq: RocketMQ, clock: Clock) -> None:
    rocketmq.send(TOPIC, "late", level=18)
    clock.advance(timedelta(hours=2))
    assert len(rocketmq.messages(TOPIC)) == 1


def transaction(rocketmq: RocketMQ, clock: Clock) -> None:
    with _client(rocketmq) as client:
        client.beat()
        client.send_half()
        clock.advance(timedelta(hours=6))
        client.beat()
        assert len(client.checks) > 300, len(client.checks)
        ext = dict(client.checks[-1].ext or {})
        client.ask(RequestCode.END_TRANSACTION, ext | {"producerGroup": GROUP, "commitOrRollback": _COMMIT})
    assert len(rocketmq.messages(TOPIC)) == 1


def sixteen_retries(rocketmq: RocketMQ, clock: Clock) -> None:
    rocketmq.send(TOPIC, "poison")
    with _client(rocketmq) as client:
        client.beat()
        (message,) = client.pull(TOPIC)
        for number, seconds in enumerate(RETRIES):
            client.give_back(message)
            clock.advance(timedelta(seconds=seconds))
            (message,) = client.pull(TopicName.RETRY_PREFIX + GROUP, number)
        client.give_back(message)
    assert len(rocketmq.dead_letters(GROUP)) == 1


def lease(rocketmq: RocketMQ, clock: Clock) -> None:
    rocketmq.pause_broker("broker-b")
    clock.advance(LEASE)
    with Client(rocketmq.namesrv) as client:
        info = ClusterInfo.decode(client.ask(RequestCode.GET_BROKER_CLUSTER_INFO).body)
    assert set(info.broker_addr_table) == {"broker-a"}


def _client(rocketmq: RocketMQ) -> Client:
    return Client(rocketmq._call(lambda cluster: cluster.brokers[0].address))


class Scenario(msgspec.Struct, frozen=True):
    """What is done while the clock is turned."""

    name: str
    passes: timedelta
    run: Callable[[RocketMQ, Clock], None]
    masters: int = 1


SCENARIOS = (
    Scenario("delay of level 18", timedelta(hours=2), longest_delay),
    Scenario("transaction of six hours", timedelta(hours=6), transaction),
    Scenario("sixteen retries", timedelta(seconds=sum(RETRIES)), sixteen_retries),
    Scenario("lease", LEASE, lease, masters=2),
)


def nothing(passes: timedelta) -> Callable[[RocketMQ, Clock], None]:
    """The same time, in which nothing is due."""
    return lambda _, clock: clock.advance(passes)


def seconds(masters: int, run: Callable[[RocketMQ, Clock], None]) -> float:
    """Real time that the advances of one run take."""
    config = {"transactionCheckMax": 1_000}
    with RocketMQ(masters=masters, topics={TOPIC: 1}, groups=[GROUP], config=config) as rocketmq:
        rocketmq.freeze()
        clock = Clock(rocketmq)
        run(rocketmq, clock)
        return clock.seconds


def main(tries: int = TRIES) -> None:
    """Measures both in turn, and prints a row for each scenario."""
    print(f"{'':26}{'passes':>10}{'takes, ms':>12}{'× the clock':>14}{'× nothing due':>16}")
    for one in SCENARIOS:
        runs = [
            (seconds(one.masters, nothing(one.passes)), seconds(one.masters, one.run)) for _ in range(tries)
        ]
        idle, taken = (statistics.median(several) for several in zip(*runs, strict=True))
        print(
            f"{one.name:26}{one.passes!s:>10}{taken * 1000:12.1f}"
            f"{one.passes.total_seconds() / taken:14,.0f}{taken / idle:16.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
