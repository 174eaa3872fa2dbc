"""Sends whose answer waits for slaves, where `brokerRole` is SYNC_MASTER.

1. A send with WAIT=false does not wait.
2. 4.9 waits until one slave has the message. It does not wait, and says SLAVE_NOT_AVAILABLE, while no slave
   is connected, or while the one that has come farthest is `haSlaveFallbehindMax` bytes behind.
3. 5.x waits for `inSyncReplicas` Brokers, of which it is one itself: by default it waits for no slave.
4. In 5.x, where slaves may act, a send is refused and nothing stored while fewer than `inSyncReplicas`
   Brokers are members of the name, or in sync.
5. After `slaveTimeout` the answer is FLUSH_SLAVE_TIMEOUT. The message is stored in any case, and either
   answer has the fields of a success.

Source: CommitLog#submitReplicaRequest, HAService#isSlaveOK (rocketmq-all-4.9.8); CommitLog#handleHA,
#needHandleHA, #asyncPutMessage, GroupTransferService#doWaitTransfer (rocketmq-all-5.3.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from harness.wire import Command, ResponseCode
from reference_impl.remoting.reply import Reply

from .part import NEVER, Part

if TYPE_CHECKING:
    from .core import Broker


class _Waiting(msgspec.Struct):
    end: int
    """Where the message ends in the log."""
    until: int
    connection: int
    request: Command
    reply: Reply


class ReplicatedSends(Part):
    """The sends that wait."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._waiting: list[_Waiting] = []

    def answer(
        self, reply: Reply, request: Command, connection: int, now: int, *, waits: bool
    ) -> Reply | None:
        """The answer to a send that has just been stored; None: it waits. `waits`: what the message says."""
        if not (waits and self.config.broker_role == "SYNC_MASTER"):
            return reply
        end = self.broker.store.physical_range()[1]
        if not self.profile.v5 and not self.has_slave(end):
            return msgspec.structs.replace(reply, code=ResponseCode.SLAVE_NOT_AVAILABLE)
        if self.is_replicated(end):
            return reply
        until = now + self.config.slave_timeout
        self._waiting.append(_Waiting(end, until, connection, request, reply))
        return None

    def lacks_replicas(self, *, waits: bool) -> bool:
        """Whether a send is to be refused, for want of Brokers that are in sync."""
        config = self.config
        if not (waits and config.broker_role == "SYNC_MASTER" and self.broker.ha_membership.acts):
            return False
        end = self.broker.store.physical_range()[1]
        in_sync = min(self.broker.ha_membership.alive, 1 + self.broker.slave_links.in_sync(end))
        return config.in_sync_replicas > in_sync

    def has_slave(self, end: int) -> bool:
        """4.9: whether there is a slave to wait for."""
        links = self.broker.slave_links
        return len(links) > 0 and end - links.farthest < self.config.ha_slave_fallbehind_max

    def is_replicated(self, end: int) -> bool:
        """Whether enough Brokers have the log up to an offset."""
        links = self.broker.slave_links
        if not self.profile.v5:
            return links.farthest >= end
        return 1 + links.that_have(end) >= self.config.in_sync_replicas

    def acknowledged(self, now: int) -> None:
        """A slave has said how far it is."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if self.is_replicated(one.end):
                self.broker.answer(one.connection, one.request, one.reply)
            else:
                self._waiting.append(one)

    def next_tick(self) -> int:
        return min((one.until for one in self._waiting), default=NEVER)

    def tick(self, now: int) -> None:
        over = [one for one in self._waiting if one.until <= now]
        self._waiting = [one for one in self._waiting if one.until > now]
        for one in over:
            late = msgspec.structs.replace(one.reply, code=ResponseCode.FLUSH_SLAVE_TIMEOUT)
            self.broker.answer(one.connection, one.request, late)
