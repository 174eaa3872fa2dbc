"""A connection to a server of a `RocketMQ`, and the requests that tests of faults send."""

from __future__ import annotations

import itertools
from typing import Any

from unit.testing.sample_application.client import Connection

from harness.testing import RocketMQ
from harness.wire import FLAG_ONEWAY, Command, RequestCode, decode, encode
from harness.wire.bodies import ConsumerData, Heartbeat

GROUP = "CG"
_PLAIN = {"f": 0, "g": 1, "h": 0, "i": "", "j": 0, "k": "false"}


class Peer(Connection):
    """A client by its bytes."""

    def send(self, topic: str, body: bytes = b"x", queue: int = 0) -> Command:
        ext = {
            "a": "PG",
            "b": topic,
            "c": "TBW102",
            "d": 4,
            "e": queue,
            "f": 0,
            "g": 1,
            "h": 0,
            "i": "",
            "j": 0,
        }
        return self.ask(RequestCode.SEND_MESSAGE_V2, {**ext, "k": "false"}, body)

    def pull(self, topic: str, offset: int = 0, queue: int = 0, hold: int = 0) -> Command:
        return self.ask(RequestCode.PULL_MESSAGE, pull(topic, offset, queue, hold))

    def commit(self, topic: str, offset: int, oneway: bool = False) -> None:
        ext = {"consumerGroup": GROUP, "topic": topic, "queueId": 0, "commitOffset": offset}
        if oneway:
            self.say(RequestCode.UPDATE_CONSUMER_OFFSET, ext)
        else:
            self.ask(RequestCode.UPDATE_CONSUMER_OFFSET, ext)

    def committed(self, topic: str) -> int:
        ext = {"consumerGroup": GROUP, "topic": topic, "queueId": 0, "setZeroIfNotFound": "true"}
        return int((self.ask(RequestCode.QUERY_CONSUMER_OFFSET, ext).ext or {}).get("offset") or 0)

    def beat(self, client: str) -> None:
        consumer = ConsumerData(
            group_name=GROUP,
            consume_type="CONSUME_PASSIVELY",
            message_model="CLUSTERING",
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        )
        body = Heartbeat(client_id=client, consumer_data_set=[consumer]).encode()
        self.ask(RequestCode.HEART_BEAT, None, body)

    def route(self, topic: str) -> Command:
        return self.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})

    def say(self, code: int, ext: dict[str, Any], flag: int = FLAG_ONEWAY) -> None:
        """A request whose answer is not awaited."""
        fields = {name: str(value) for name, value in ext.items()}
        self.socket.sendall(encode(Command(code, flag=flag, opaque=7, version=479, ext=fields)))

    def next(self, timeout: float = 10.0) -> Command:
        """The next frame, whatever it is."""
        self.socket.settimeout(timeout)
        while (frame := self.arrived.next_frame()) is None:
            data = self.socket.recv(65_536)
            if not data:
                raise ConnectionError("the connection has ended")
            self.arrived.feed(data)
        return decode(frame)


def pull(topic: str, offset: int = 0, queue: int = 0, hold: int = 0) -> dict[str, Any]:
    return {
        "consumerGroup": GROUP,
        "topic": topic,
        "queueId": queue,
        "queueOffset": offset,
        "maxMsgNums": 32,
        "sysFlag": 6 if hold else 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": hold,
        "subscription": "*",
        "subVersion": 0,
        "expressionType": "TAG",
    }


_NUMBERS = itertools.count()


def new_topic() -> str:
    """A topic that no other test uses."""
    return f"topic-{next(_NUMBERS)}"


def broker(rocketmq: RocketMQ, number: int = 0) -> Peer:
    return Peer(rocketmq._cluster.brokers[number].address)


def nameserver(rocketmq: RocketMQ, number: int = 0) -> Peer:
    return Peer(rocketmq.namesrv.split(";")[number])
