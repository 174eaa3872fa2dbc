"""What a case says to a Broker of 5.5 about light topics: subscriptions, and pops of what is in them.

As in ``broker_requests``. A message is acknowledged, and hidden for longer, by the requests of POP, with the
light topic as a further field (``LIGHT``). See ``harness.session.broker.pop`` for handles, and for when a
request was born.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, Unpack

import msgspec

from harness.session.broker.pop import FAR_AWAY, PopExchange, PopRequests
from harness.session.connection import Connection
from harness.session.exchange import Exchange, NotSo, View
from harness.session.requests import HeaderFields, fields
from harness.wire import Command, RequestCode, WireError
from harness.wire.messages import PropertyName, decode_messages

Action = Literal["PARTIAL_ADD", "PARTIAL_REMOVE", "COMPLETE_ADD", "COMPLETE_REMOVE"]
LIGHT = "liteTopic"
"""The field of acknowledgements that names a light topic."""


class LightExchange(PopExchange):
    """Code 200070."""

    @property
    def handles(self) -> Self:
        """View: the handles of the messages."""
        return self.seen_as(View("handles", lambda reply: _handles(reply, self._broker)))

    @property
    def light_offsets(self) -> Self:
        """View: the offset of each message in its light topic."""
        return self.seen_as(
            View("offsets in light topics", _offsets, said=f"property {PropertyName.LIGHT_OFFSETS}")
        )


class LightRequests(PopRequests):
    """The requests of a ``BrokerSession`` that are of light topics."""

    def light_pop(
        self,
        topic: str,
        group: str,
        client: str,
        most: int = 32,
        *,
        invisible: float = 60.0,
        poll: float = 0.0,
        attempt: str | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> LightExchange:
        """POP_LITE_MESSAGE (200070). ``invisible`` and ``poll`` are protocol seconds."""
        sent = fields(
            clientId=client,
            consumerGroup=group,
            topic=topic,
            maxMsgNum=most,
            invisibleTime=round(invisible * 1000),
            pollTime=round(poll * 1000),
            bornTime=0 if poll else FAR_AWAY,
            attemptId=attempt,
        )
        request = self.request(RequestCode.POP_LITE_MESSAGE, sent, b"", on, f"{topic}, {client}", header)
        exchange = LightExchange(request)
        exchange.of(self.broker_name)
        return exchange

    def subscribe(
        self,
        topic: str,
        group: str,
        client: str,
        *lights: str,
        action: Action = "PARTIAL_ADD",
        more: Mapping[str, Any] | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """LITE_SUBSCRIPTION_CTL (200071): one subscription. ``more`` are further members of it."""
        one = {
            "action": action,
            "clientId": client,
            "group": group,
            "liteTopicSet": lights,
            "topic": topic,
            "version": 1,
            **(more or {}),
        }
        body, code = msgspec.json.encode({"subscriptionSet": [one]}), RequestCode.LITE_SUBSCRIPTION_CTL
        return Exchange(self.request(code, None, body, on, f"{action}, {client}", header))


def _offsets(reply: Command) -> list[int]:
    try:
        properties = [message.properties for message in decode_messages(reply.body)]
        return [int(one[PropertyName.LIGHT_OFFSETS]) for one in properties]
    except (WireError, KeyError, ValueError) as problem:
        raise NotSo(f"messages without an offset in a light topic: {problem}") from problem


def _handles(reply: Command, broker: str) -> list[str]:
    ext = reply.ext or {}
    said = [ext.get(name) for name in ("popTime", "invisibleTime", "reviveQid")]
    if None in said:
        raise NotSo(f"popTime, invisibleTime and reviveQid are {said}")
    return [" ".join(map(str, (at, *said, "0", broker, 0, at))) for at in _offsets(reply)]
