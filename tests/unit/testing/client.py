"""A small client on plain sockets, which does as clients do: it looks up routes, beats, pulls and commits."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from itertools import count
from types import TracebackType
from typing import Self

from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.bodies import ConsumerData, Heartbeat, ProducerData, Subscription, TopicRoute
from harness.wire.messages import Message, decode_messages, encode_properties
from harness.wire.versions import V5_3_1

_OPAQUES = count(1)


class Connection:
    """A connection with one server."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=10)
        self._buffer = FrameBuffer()

    def ask(self, code: int, ext: dict[str, str | None] | None = None, body: bytes = b"") -> Command:
        self._socket.sendall(
            encode(Command(code, opaque=next(_OPAQUES), version=V5_3_1, ext=ext or {}, body=body))
        )
        while True:
            while (frame := self._buffer.next_frame()) is None:
                data = self._socket.recv(65_536)
                if not data:
                    raise ConnectionError("the server has closed")
                self._buffer.feed(data)
            command = decode(frame)
            if command.is_response:
                return command

    def close(self) -> None:
        self._socket.close()


class Client:
    """A member of a group of consumers, and a producer."""

    def __init__(self, namesrv: str, group: str, *topics: str) -> None:
        self._group = group
        self._topics = topics
        nameserver = Connection(namesrv.split(";")[0])
        self.brokers: dict[str, Connection] = {}
        self._queues: list[tuple[str, str, int]] = []
        for topic in topics:
            answer = nameserver.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
            assert answer.code == ResponseCode.SUCCESS, answer.remark
            route = TopicRoute.decode(answer.body)
            for broker in route.broker_datas:
                name, addresses = broker.broker_name or "", broker.broker_addrs
                if name not in self.brokers:
                    self.brokers[name] = Connection(addresses[0] or "")
            for queue in route.queue_datas:
                name = queue.broker_name or ""
                self._queues += [(topic, name, number) for number in range(queue.read_queue_nums)]
        nameserver.close()
        self.beat()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self.brokers.values():
            connection.close()

    def beat(self) -> None:
        """A heartbeat to all Brokers."""
        beat = Heartbeat(
            client_id=f"client-of-{self._group}",
            consumer_data_set=[
                ConsumerData(
                    group_name=self._group,
                    consume_type="CONSUME_PASSIVELY",
                    message_model="CLUSTERING",
                    consume_from_where="CONSUME_FROM_FIRST_OFFSET",
                    subscription_data_set=[Subscription(topic=one, sub_string="*") for one in self._topics],
                )
            ],
            producer_data_set=[ProducerData(group_name=self._group)],
        )
        for connection in self.brokers.values():
            connection.ask(RequestCode.HEART_BEAT, body=beat.encode())

    def consume(
        self, handle: Callable[[Message], object] = lambda _: None, *, commit: bool = True
    ) -> list[Message]:
        """Handle all that is there for the group, queue by queue, and commit it. Oldest first."""
        found = [
            message for place in self._queues for message in self._of_queue(*place, handle, commit=commit)
        ]
        return sorted(found, key=lambda message: message.physical_offset)

    def give_back(self, message: Message, level: int) -> None:
        """Have a message delivered again, after the time of a level; -1: as a dead letter."""
        ext: dict[str, str | None] = {
            "group": self._group,
            "offset": str(message.physical_offset),
            "delayLevel": str(level),
            "originTopic": message.topic,
        }
        (connection, *_) = self.brokers.values()
        assert connection.ask(RequestCode.CONSUMER_SEND_MSG_BACK, ext).code == ResponseCode.SUCCESS

    def send(self, topic: str, body: bytes, sys_flag: int = 0, **properties: str) -> Command:
        """Send a message to queue 0 of some Broker."""
        ext: dict[str, str | None] = {
            "producerGroup": self._group,
            "topic": topic,
            "defaultTopic": "TBW102",
            "defaultTopicQueueNums": "4",
            "queueId": "0",
            "sysFlag": str(sys_flag),
            "bornTimestamp": "1",
            "flag": "0",
            "properties": encode_properties(properties, False),
        }
        (connection, *_) = self.brokers.values()
        return connection.ask(RequestCode.SEND_MESSAGE, ext, body)

    def end_transaction(self, sent: Command, how: int) -> None:
        """Commit (8) or roll back (12) what `send` has sent as half of a transaction."""
        told = sent.ext or {}
        ext: dict[str, str | None] = {
            "producerGroup": self._group,
            "tranStateTableOffset": told["queueOffset"],
            "commitLogOffset": str(int((told["msgId"] or "")[16:], 16)),
            "commitOrRollback": str(how),
            "msgId": told.get("transactionId"),
            "transactionId": told.get("transactionId"),
        }
        (connection, *_) = self.brokers.values()
        assert connection.ask(RequestCode.END_TRANSACTION, ext).code == ResponseCode.SUCCESS

    def _of_queue(
        self, topic: str, broker: str, queue: int, handle: Callable[[Message], object], *, commit: bool
    ) -> Iterator[Message]:
        connection = self.brokers[broker]
        place: dict[str, str | None] = {
            "consumerGroup": self._group,
            "topic": topic,
            "queueId": str(queue),
        }
        answer = connection.ask(RequestCode.QUERY_CONSUMER_OFFSET, place)
        offset = int((answer.ext or {}).get("offset") or 0) if answer.code == ResponseCode.SUCCESS else 0
        while True:
            pulled = connection.ask(
                RequestCode.PULL_MESSAGE,
                place
                | {
                    "queueOffset": str(offset),
                    "maxMsgNums": "32",
                    "sysFlag": "4",
                    "commitOffset": "0",
                    "suspendTimeoutMillis": "0",
                    "subscription": "*",
                    "subVersion": "0",
                    "expressionType": "TAG",
                },
            )
            if pulled.code != ResponseCode.SUCCESS:
                return
            for message in decode_messages(pulled.body):
                handle(message)
                yield message
            offset = int((pulled.ext or {})["nextBeginOffset"] or 0)
            if commit:
                connection.ask(RequestCode.UPDATE_CONSUMER_OFFSET, place | {"commitOffset": str(offset)})
