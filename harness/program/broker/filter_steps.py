"""Steps about filters by SQL92: whether they are allowed, and requests that pulls and heartbeats are not."""

from __future__ import annotations

from typing import ClassVar, Literal

from harness.program.broker.filters import Compare, Filter
from harness.program.broker.steps import BrokerRequest
from harness.wire import RequestCode


class Allow(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="allow"):
    """25: whether filters by SQL92 are carried out."""

    codes: ClassVar = (RequestCode.UPDATE_BROKER_CONFIG,)

    what: Literal["filters"] = "filters"
    allowed: bool = True


class Check(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="check"):
    """46: whether a filter can be compiled."""

    codes: ClassVar = (RequestCode.CHECK_CLIENT_CONFIG,)

    filter: Filter = Compare()


class Pop(BrokerRequest, frozen=True, kw_only=True, omit_defaults=True, tag_field="do", tag="pop"):
    """200050: messages of a queue that stay hidden for longer than a program lasts."""

    codes: ClassVar = (RequestCode.POP_MESSAGE,)

    group: str = "h0"
    topic: str = "T0"
    queue: int = 0
    most: int = 32
    filter: Filter | None = None
