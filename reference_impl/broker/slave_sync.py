"""A slave that takes over what its master knows beside messages: topics, groups, offsets, delays,
request modes (5.x).

1. Only a slave that has been told of a master other than itself asks: for topics on the master's VIP port,
   for everything else on its own one.
2. 4.9 asks 3 s after the start and then every 10 s, 5.3 after 10 s and then every minute.
3. Topics and groups are taken over as a whole when the master's data version is another. What cannot be read
   changes nothing, and neither does what is not answered.

Messages come another way: `master_link`.

Source: SlaveSynchronize; BrokerOuterAPI#getAllTopicConfig, #getAllConsumerOffset;
BrokerController#handleSlaveSynchronize (rocketmq-all-4.9.8 and rocketmq-all-5.3.3).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import (
    ConsumerOffsets,
    DelayOffsets,
    RequestModes,
    SubscriptionGroupTable,
    TopicConfigTable,
)

from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker

_WITHIN: Final = 3_000


class SlaveSync(Part):
    """What a slave has from its master."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self.master: str | None = None
        """Address of the master, as last told."""
        self._next_at = broker.started + self.first() if self.config.is_slave else NEVER

    def told(self, master: str | None) -> None:
        """Take over where the master is; None for a master that is gone."""
        self.master = master or None

    def next_tick(self) -> int:
        return self._next_at

    def tick(self, now: int) -> None:
        self._next_at += self.period()
        if self.master is None or self.master == self.config.address:
            return
        fast = vip(self.master)
        if fast is None:
            return
        self._ask(fast, RequestCode.GET_ALL_TOPIC_CONFIG, self.take_topics)
        self._ask(self.master, RequestCode.GET_ALL_CONSUMER_OFFSET, self.take_offsets)
        self._ask(self.master, RequestCode.GET_ALL_DELAY_OFFSET, self.take_delays)
        self._ask(self.master, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, self.take_groups)
        if self.profile.v5:
            self._ask(self.master, RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, self.take_modes)

    def _ask(self, address: str, code: int, take: Callable[[bytes], None]) -> None:
        def answered(reply: Command | None, now: int) -> None:
            if reply is not None and reply.code == ResponseCode.SUCCESS and reply.body:
                with contextlib.suppress(WireError):
                    take(reply.body)

        self.broker.ask(address, Command(code=code), _WITHIN, answered)

    def take_topics(self, body: bytes) -> None:
        """Make the master's topics one's own; raises WireError for what cannot be read."""
        found, topics = TopicConfigTable.decode(body), self.broker.topics
        if found.data_version is not None and found.data_version != topics.version:
            topics.take_over(found.topic_config_table, found.data_version)

    def take_groups(self, body: bytes) -> None:
        """Make the master's groups one's own; raises WireError for what cannot be read."""
        found, groups = SubscriptionGroupTable.decode(body), self.broker.groups
        if found.data_version is not None and found.data_version != groups.version:
            groups.take_over(found.subscription_group_table, found.data_version)

    def take_offsets(self, body: bytes) -> None:
        """Take over how far groups have come; raises WireError for what cannot be read."""
        self.broker.offsets.take_over(ConsumerOffsets.decode(body))

    def take_delays(self, body: bytes) -> None:
        """Take over how far delayed messages have come; raises WireError for what cannot be read."""
        self.broker.delays.adopt(DelayOffsets.decode(body))

    def take_modes(self, body: bytes) -> None:
        """Make the master's request modes one's own; raises WireError for what cannot be read."""
        self.broker.assignments.take_over(RequestModes.decode(body, engine=self.profile.engine).modes)

    def first(self) -> int:
        """ms from the start to the first question."""
        return 10_000 if self.profile.v5 else 3_000

    def period(self) -> int:
        """ms from one question to the next."""
        return 60_000 if self.profile.v5 else 10_000


def vip(address: str) -> str | None:
    """The VIP port's address of a Broker; None if that is no address."""
    host, colon, port = address.rpartition(":")
    return f"{host}:{int(port) - 2}" if colon and port.isascii() and port.isdigit() else None
