"""A client of a few requests, over a socket: what it is sent can be looked at without waiting."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from harness.testing import RocketMQ
from harness.wire import Command, FrameBuffer, RequestCode, ResponseCode, decode, encode
from harness.wire.fastjson import dumps
from harness.wire.messages import Message, decode_messages, encode_properties

PATIENCE = 20.0
GROUP = "CG"
_SEND = {"a": "PG", "c": "TBW102", "d": 4, "h": 0, "j": 0, "k": "false"}
_LONG = 3_600_000


def wall() -> int:
    """The time of clients, in ms."""
    return time.time_ns() // 1_000_000


class WireClient:
    """A connection to one server."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE)
        self._buffer = FrameBuffer()
        self._opaque = 0
        self.ahead = 0
        """By how much the clock that it names times by is ahead of the wall's, in ms."""
        self.pushed: list[Command] = []
        """What has come and was not asked for."""

    @classmethod
    def of(cls, rocketmq: RocketMQ, broker: int = 0) -> Self:
        """A client of a Broker."""
        return cls(rocketmq._call(lambda cluster: cluster.brokers[broker].address))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def say(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"", flag: int = 0) -> int:
        """Send a request; returns its opaque."""
        self._opaque += 1
        written = {name: str(value) for name, value in (ext or {}).items()}
        command = Command(code, opaque=self._opaque, flag=flag, version=479, ext=written, body=body)
        self._socket.sendall(encode(command))
        return self._opaque

    def hear(self, within: float = PATIENCE) -> Command | None:
        """The next frame; None: there is none in time. Raises EOFError at the end of the connection."""
        while (frame := self._buffer.next_frame()) is None:
            if not select.select([self._socket], [], [], within)[0]:
                return None
            data = self._socket.recv(65_536)
            if not data:
                raise EOFError
            self._buffer.feed(data)
        return decode(frame)

    def has_come(self) -> list[Command]:
        """All frames that are there already."""
        return list(iter(lambda: self.hear(0.0), None))

    def is_ended(self) -> bool:
        """Whether the server has closed the connection; what has come before is read."""
        try:
            self.has_come()
        except (EOFError, ConnectionResetError):
            return True
        return False

    def answer(self, opaque: int) -> Command:
        """The answer to a request."""
        for command in self.pushed:
            if command.opaque == opaque and command.is_response:
                self.pushed.remove(command)
                return command
        while (command := self.hear()) is not None:
            if command.opaque == opaque and command.is_response:
                return command
            self.pushed.append(command)
        raise AssertionError(f"no answer to request {opaque} within {PATIENCE} s")

    def ask(self, code: int, ext: dict[str, Any] | None = None, body: bytes = b"") -> Command:
        return self.answer(self.say(code, ext, body))

    # -- requests --------------------------------------------------------------------------------------------

    def send(self, topic: str, body: bytes, flags: int = 0, queue: int = 0, **properties: Any) -> Command:
        texts = {name: str(value) for name, value in properties.items()}
        ext = {
            "b": topic,
            "e": queue,
            "f": flags,
            "g": wall() + self.ahead,
            "i": encode_properties(texts, v5=True),
        }
        answer = self.ask(RequestCode.SEND_MESSAGE_V2, _SEND | ext, body)
        assert answer.code == ResponseCode.SUCCESS, answer
        return answer

    def begin_pull(self, topic: str, offset: int = 0, wait: int = _LONG, group: str = GROUP) -> int:
        """A pull of queue 0 that may be held; returns its opaque."""
        ext = {
            "consumerGroup": group,
            "topic": topic,
            "queueId": 0,
            "queueOffset": offset,
            "maxMsgNums": 32,
            "sysFlag": 6 if wait else 4,
            "commitOffset": 0,
            "suspendTimeoutMillis": wait,
            "subscription": "*",
            "subVersion": 0,
        }
        return self.say(RequestCode.PULL_MESSAGE, ext)

    def pull(self, topic: str, offset: int = 0, wait: int = 0) -> list[Message]:
        """The messages of queue 0 that are there; if there are none, those that come within ``wait`` ms."""
        return found(self.answer(self.begin_pull(topic, offset, wait)))

    def begin_pop(self, topic: str, poll: int, invisible: int = 60_000, **more: Any) -> int:
        ext = {
            "consumerGroup": GROUP,
            "topic": topic,
            "queueId": 0,
            "maxMsgNums": 32,
            "invisibleTime": invisible,
            "pollTime": poll,
            "bornTime": wall() + self.ahead,
            "initMode": 0,
        }
        return self.say(RequestCode.POP_MESSAGE, ext | more)

    def beat(self, name: str, topic: str = "T") -> None:
        """A heartbeat, as consumer of GROUP and as producer of PG."""
        consumer = {
            "groupName": GROUP,
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
            "subscriptionDataSet": [{"topic": topic, "subString": "*", "subVersion": 1}],
        }
        beat = {"clientID": name, "producerDataSet": [{"groupName": "PG"}], "consumerDataSet": [consumer]}
        assert self.ask(RequestCode.HEART_BEAT, body=dumps(beat)).code == ResponseCode.SUCCESS


def found(answer: Command) -> list[Message]:
    """The messages in the answer to a pull or a pop."""
    return decode_messages(answer.body) if answer.code == ResponseCode.SUCCESS else []


class Running:
    """Something that goes on in a thread until the `with` block ends; what it raises is raised there."""

    def __init__(self, step: Callable[[], object]) -> None:
        self._step = step
        self._ends = threading.Event()
        self._raised: list[BaseException] = []
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            while not self._ends.is_set():
                self._step()
        except BaseException as error:
            self._raised.append(error)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(PATIENCE)
        for error in self._raised:
            raise error
