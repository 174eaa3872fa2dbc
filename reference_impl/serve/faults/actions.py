"""What can happen to a request and to its answer.

1. `before` sees a request that is not carried out yet. It may change it, answer in the server's place, or
   lose it; the first fault that does one of the latter two spares the server.
2. `after` sees what is to be sent, be it at once or later. It changes it; several do so in turn.
3. An action decides by what it is given and by what it remembers: no clock, no chance, no socket.
"""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from harness.wire import Command, ResponseCode
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import Reply

from .request import Request


class Lost(msgspec.Struct, frozen=True):
    """The request never arrived."""


Verdict: TypeAlias = Reply | Lost | None
"""What becomes of a request: an answer, nothing, or what the server makes of it."""


class Delivery(msgspec.Struct):
    """What is to be sent for a request."""

    response: Command | None
    """None: nothing, as for a one-way request."""
    delay: float = 0.0
    """Seconds until it is sent."""
    damage: Callable[[bytes], bytes] = bytes
    """What is sent in place of the frame."""
    ends: bool = False
    """Whether the connection is closed behind it."""
    stalls: float = 0.0
    """Seconds for which the server stands still before it is sent."""
    resets: bool = False
    """Whether the connection is reset, and nothing more is sent."""


class Action:
    """A fault. What it does not override, it leaves as it is."""

    def wants(self, request: Request) -> bool:
        """Whether it has something to do for a request that was selected."""
        return True

    def begin(self, endpoint: RemotingEndpoint) -> None:
        """The fault begins at a server."""

    def end(self, endpoint: RemotingEndpoint) -> None:
        """The fault ends at a server."""

    def before(self, request: Request, endpoint: RemotingEndpoint) -> Verdict:
        """Before the request is carried out."""
        return None

    def after(self, request: Request, delivery: Delivery) -> None:
        """Before the answer is sent."""


class Refuse(Action):
    """The request is refused, and nothing of it is carried out."""

    def __init__(self, code: int, remark: str | None) -> None:
        self._reply = code, remark

    def before(self, request: Request, endpoint: RemotingEndpoint) -> Verdict:
        code, remark = self._reply
        return Reply(code, remark=remark)


class LoseRequest(Action):
    """The request is lost on its way: nothing is carried out, and nothing answered."""

    def before(self, request: Request, endpoint: RemotingEndpoint) -> Verdict:
        return Lost()


class LoseReply(Action):
    """The request is carried out; its answer is lost on its way."""

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.response = None


class Delay(Action):
    """The request is carried out at once, and answered late, in seconds of the wall clock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.delay += self._seconds


class Stall(Action):
    """The request is carried out; then the server stands still for some seconds, for all its clients."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.stalls = self._seconds


class StoredBut(Action):
    """The message is stored, and the answer says what could not be made sure of in time.

    Such an answer has the same fields as a success, and no remark
    (SendMessageProcessor#handlePutMessageResult of rocketmq-all-4.9.8 and rocketmq-all-5.3.3).
    """

    def __init__(self, code: int) -> None:
        self._code = code

    def after(self, request: Request, delivery: Delivery) -> None:
        response = delivery.response
        if response is not None and response.code == ResponseCode.SUCCESS:
            delivery.response = msgspec.structs.replace(response, code=self._code)


class Damage(Action):
    """Other bytes are sent in place of the answer's frame."""

    def __init__(self, damage: Callable[[bytes], bytes]) -> None:
        self._damage = damage

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.damage = self._damage


class Close(Action):
    """The request is carried out and answered; then the connection is closed."""

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.ends = True


class Cut(Close):
    """A part of the answer is sent; then the connection is closed."""

    def after(self, request: Request, delivery: Delivery) -> None:
        super().after(request, delivery)
        delivery.damage = _first_half


class Reset(Action):
    """The request is carried out; the connection is reset in place of the answer."""

    def after(self, request: Request, delivery: Delivery) -> None:
        delivery.response = None
        delivery.resets = True


def _first_half(frame: bytes) -> bytes:
    return frame[: len(frame) // 2]
