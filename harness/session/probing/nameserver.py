"""The probing NameServer: what a Broker under test registers with. It writes down what it hears, and answers
as a case wants.

- No socket and no clock: its server gives it frames and the time (protocol seconds on the Broker's
  clock).
- Everything that comes is kept, in the order in which it came, with what was answered.
- Unless a case says otherwise it answers as a NameServer does that knows only what it has just received.
- It may be used by several threads.
"""

from __future__ import annotations

import threading
from typing import Literal, TypeAlias

import msgspec

from harness.wire import FLAG_ONEWAY, FLAG_RESPONSE, Command, RequestCode, ResponseCode, decode, encode


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """A response: what a request of some code is answered with."""

    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    ext: dict[str, str | None] | None = None
    body: bytes = b""


Manner: TypeAlias = Answering | Literal["silence", "close", "nonsense"]
"""What becomes of a request: a response, nothing, the end of its connection, or a frame that is none."""

_NONSENSE = bytes.fromhex("0000000c00000008") + b"nonsense"
"""A frame whose header is no JSON."""


class ReceivedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request of the Broker's."""

    at: float
    """Protocol seconds on the Broker's clock."""
    connection: int
    """Number of the connection, from 1 for each NameServer."""
    peer: str
    """The Broker's end of it, ``ip:port``."""
    command: Command
    frame: bytes
    answer: bytes | None
    """None: there was none."""


_AS_A_NAMESERVER: dict[int, Manner] = {
    RequestCode.REGISTER_BROKER: Answering(),
    RequestCode.UNREGISTER_BROKER: Answering(),
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: Answering(),
    RequestCode.QUERY_DATA_VERSION: Answering(ext={"changed": "true"}),
    RequestCode.GET_ROUTEINFO_BY_TOPIC: Answering(
        code=ResponseCode.TOPIC_NOT_EXIST, remark="No topic route info in name server for the topic"
    ),
}


class ProbingNameServer:
    """A NameServer that notes down. ``address`` is where the Broker finds it, ``ip:port``."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._manners: dict[int, Manner] = {}
        self._heard: list[ReceivedRequest] = []
        self._is_up = True
        self.turn = threading.Lock()
        """Its holder may say how requests are treated: there is one at a time."""

    @property
    def is_up(self) -> bool:
        """Whether it can be reached."""
        return self._is_up

    def number_heard(self) -> int:
        """How much has come."""
        with self._lock:
            return len(self._heard)

    def heard(self, beginning: int = 0) -> tuple[ReceivedRequest, ...]:
        """Everything that has come, without the first ``beginning``."""
        with self._lock:
            return tuple(self._heard[beginning:])

    def treat(self, code: int, manner: Manner) -> None:
        """From now on, requests of this code are treated so."""
        with self._lock:
            self._manners[code] = manner

    def behave(self) -> None:
        """Answers as a NameServer again, and can be reached."""
        with self._lock:
            self._manners.clear()
        self.come_up()

    def go_down(self) -> None:
        """From now on it cannot be reached; connections that there are end."""
        self._is_up = False

    def come_up(self) -> None:
        """It can be reached again, at the same address."""
        self._is_up = True

    def hears(self, connection: int, peer: str, frame: bytes, at: float) -> bytes | Literal["close"] | None:
        """One frame; gives the frame that answers it, or what else becomes of it. Raises ``WireError``."""
        command = decode(frame)
        if command.flag & FLAG_RESPONSE:
            return None
        with self._lock:
            default = _AS_A_NAMESERVER.get(command.code) or _unsupported(command)
            manner = self._manners.get(command.code, default)
            answer = None
            if isinstance(manner, Answering) and not command.flag & FLAG_ONEWAY:
                answer = _frame(command, manner)
            elif manner == "nonsense" and not command.flag & FLAG_ONEWAY:
                answer = _NONSENSE
            self._heard.append(
                ReceivedRequest(
                    at=at, connection=connection, peer=peer, command=command, frame=frame, answer=answer
                )
            )
        return "close" if manner == "close" else answer


def _unsupported(command: Command) -> Answering:
    return Answering(
        code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=f" request type {command.code} not supported"
    )


def _frame(request: Command, answering: Answering) -> bytes:
    return encode(
        Command(
            code=answering.code,
            flag=FLAG_RESPONSE,
            opaque=request.opaque,
            version=request.version,
            remark=answering.remark,
            ext=answering.ext,
            body=answering.body,
        )
    )
