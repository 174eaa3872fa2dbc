"""SIGKILL of a Broker under load: no message that was answered is lost, no offset goes back.

Half of the kills interrupt synchronous flushing.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from killing import KILLS, kill_at_work
from servers import BrokerServer, Client

from harness.wire import Command, RequestCode
from harness.wire.bodies import Properties
from harness.wire.messages import decode_messages

QUEUES = 3
"""Each has a producer; a consumer commits offsets of all of them."""
MOST = 60
"""The Broker is killed after at most this many answers, ..."""
LONGEST = 0.02
"""... and at most this many seconds."""
GROUP, TOPIC = "G", "T"
HEARTBEAT = (
    b'{"clientID":"c","producerDataSet":[],"consumerDataSet":[{"groupName":"G","messageModel":"CLUSTERING",'
    b'"consumeType":"CONSUME_PASSIVELY","consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","unitMode":false,'
    b'"subscriptionDataSet":[]}]}'
)
"""What makes the group."""


class Campaign:
    """One Broker after another on the same files, each killed while it stores."""

    def __init__(self, directory: Path, seed: int, flushing: str, *, too_early: bool = False) -> None:
        self._random = random.Random(seed)
        self._too_early = too_early
        self._settings = directory / "broker.properties"
        pairs = {"storePathRootDir": str(directory / "store"), "flushDiskType": flushing}
        self._settings.write_bytes(Properties(pairs).encode())
        self._numbers = [0] * QUEUES
        self.stored: list[dict[int, bytes]] = [{} for _ in range(QUEUES)]
        """By queue and offset: what was answered, from the first Broker on."""
        self.committed = self._sent = 0
        """Of the offsets that were committed, the last that was answered and the last that was sent."""
        self.answers = 0
        self._refused: list[Command] = []
        broker = BrokerServer(self._settings)
        client = Client(broker.port)
        answers = [
            client.ask(RequestCode.SEND_MESSAGE_V2, sending(0), b"the first one makes the topic"),
            client.ask(RequestCode.HEART_BEAT, body=HEARTBEAT),
            client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, {**consuming(), "commitOffset": "0"}),
        ]
        assert [answer.code for answer in answers] == [0, 0, 0], answers
        client.close()
        broker.kill()

    def kill_once(self) -> None:
        """Kills a Broker while it stores and reads what the next one has. Raises AssertionError."""
        broker = BrokerServer(self._settings, too_early=self._too_early)
        kill_at_work(
            broker,
            [*(partial(self._produce, queue_id) for queue_id in range(QUEUES)), self._commit],
            lambda: self.answers,
            after=self._random.randint(1, MOST),
            pause=self._random.uniform(0, LONGEST),
        )
        assert not self._refused, self._refused
        self._look()

    def _produce(self, queue_id: int, port: int, began: threading.Barrier) -> None:
        client = Client(port)
        began.wait()
        try:
            while True:
                self._numbers[queue_id] += 1
                body = b"%d of %d " % (self._numbers[queue_id], queue_id) + b"x" * 1024
                answer = client.ask(RequestCode.SEND_MESSAGE_V2, sending(queue_id), body)
                if answer.code or answer.ext is None:
                    self._refused.append(answer)
                    return
                self.stored[queue_id][int(answer.ext["queueOffset"] or "")] = body
                self.answers += 1
        except OSError:
            client.close()

    def _commit(self, port: int, began: threading.Barrier) -> None:
        client = Client(port)
        began.wait()
        try:
            while True:
                self._sent += 1
                offset = {**consuming(), "commitOffset": str(self._sent)}
                answer = client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, offset)
                if answer.code:
                    self._refused.append(answer)
                    return
                self.committed = self._sent
        except OSError:
            client.close()

    def _look(self) -> None:
        broker = BrokerServer(self._settings)
        client = Client(broker.port)
        for queue_id, stored in enumerate(self.stored):
            found = pulled(client, queue_id)
            for offset, body in stored.items():
                assert offset < len(found), f"queue {queue_id} ends at {len(found)}, {offset} was answered"
                assert found[offset] == body, f"message {offset} of queue {queue_id} is another"
        answer = client.ask(RequestCode.QUERY_CONSUMER_OFFSET, consuming())
        committed = int((answer.ext or {}).get("offset") or -1)
        assert self.committed <= committed <= self._sent, (self.committed, committed, self._sent)
        self.committed = self._sent = committed
        client.close()
        broker.kill()


def sending(queue_id: int) -> dict[str, str | None]:
    """The header of a send."""
    return {
        "a": "P", "b": TOPIC, "c": "TBW102", "d": str(QUEUES), "e": str(queue_id), "f": "0", "g": "1",
        "h": "0", "i": "", "j": "0", "k": "false",
    }  # fmt: skip


def consuming() -> dict[str, str | None]:
    """What requests of a consumer say; commits are of queue 0."""
    return {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "0"}


def pulled(client: Client, queue_id: int) -> list[bytes]:
    """All bodies of a queue, in order."""
    bodies: list[bytes] = []
    while True:
        pull = {
            "queueId": str(queue_id), "queueOffset": str(len(bodies)), "maxMsgNums": "32", "sysFlag": "4",
            "commitOffset": "0", "suspendTimeoutMillis": "0", "subscription": "*", "subVersion": "0",
        }  # fmt: skip
        answer = client.ask(RequestCode.PULL_MESSAGE, {**consuming(), **pull})
        if answer.code != 0:
            return bodies
        bodies += [message.body for message in decode_messages(answer.body)]


@pytest.mark.parametrize("flushing", ["SYNC_FLUSH", "ASYNC_FLUSH"])
def test_no_answered_message_is_lost(
    tmp_path: Path, report_kills: Callable[[int, int, str], None], flushing: str
) -> None:
    campaign = Campaign(tmp_path, 1, flushing)
    for _ in range((KILLS + 1) // 2):
        campaign.kill_once()
    report_kills((KILLS + 1) // 2, campaign.answers, "answered messages")
    assert campaign.answers > KILLS // 2
    assert all(campaign.stored)
    assert campaign.committed > 0


def test_a_broker_that_answers_too_early_is_found_out(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, 1, "ASYNC_FLUSH", too_early=True)
    with pytest.raises(AssertionError, match="was answered"):
        for _ in range(20):
            campaign.kill_once()
