"""Steps about what a Broker may be told to allow, or does in 5.x only: filters by SQL92, pops, recalls."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from harness.program.broker.filters import Compare, Filter
from harness.program.broker.steps import BrokerRequest
from harness.wire import RequestCode

Allowing: TypeAlias = Literal["filters", "recalls"]
"""What a Broker may be told to allow."""


class Allow(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="allow"):
    """25: whether filters by SQL92 are carried out, or messages may be recalled."""

    letters: ClassVar = "A"
    codes: ClassVar = (RequestCode.UPDATE_BROKER_CONFIG,)

    what: Allowing = "filters"
    allowed: bool = True


class Check(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="check"):
    """46: whether a filter can be compiled."""

    letters: ClassVar = "K"
    codes: ClassVar = (RequestCode.CHECK_CLIENT_CONFIG,)

    filter: Filter = Compare()


class Pop(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="pop"):
    """200050: messages of a queue, and those that come again, which stay hidden for a while."""

    letters: ClassVar = "G"
    codes: ClassVar = (RequestCode.POP_MESSAGE,)

    group: str = "h0"
    topic: str = "T0"
    queue: int = 0
    most: int = 32
    filter: Filter | None = None
    hidden: int = 3600
    """Seconds; by default longer than a program lasts."""


class Ack(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="ack"):
    """200051: a popped message is done with, by the handle that its group has for it."""

    letters: ClassVar = "J"
    codes: ClassVar = (RequestCode.ACK_MESSAGE,)

    message: str = "m0"
    topic: str = "T0"
    group: str = "h0"


class Hide(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="hide"):
    """200053: a popped message stays hidden for another time, which begins now."""

    letters: ClassVar = "X"
    codes: ClassVar = (RequestCode.CHANGE_MESSAGE_INVISIBLETIME,)

    message: str = "m0"
    topic: str = "T0"
    group: str = "h0"
    hidden: int = 60
    """Seconds."""


class Recall(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="recall"):
    """370: a message that waits is taken back, by the handle that its send was answered with."""

    letters: ClassVar = "Y"
    codes: ClassVar = (RequestCode.RECALL_MESSAGE,)

    message: str = "m0"
    topic: str = "T0"
    group: str = "p0"
    """Of producers."""
