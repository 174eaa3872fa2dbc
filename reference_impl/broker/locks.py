"""Locks on queues, for groups that consume in order: a queue is one client's for a minute, and for as long as
that client renews the lock.

Source: RebalanceLockManager, AdminBrokerProcessor#lockBatchMQ, #unlockBatchMQ of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import LockedQueues, LockRequest, MessageQueue
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from . import required
from .part import Part

if TYPE_CHECKING:
    from .core import Broker

_LIVES: Final = 60_000
"""ms (`rocketmq.broker.rebalance.lockMaxLiveTime`)."""


class Lock(msgspec.Struct):
    """Whose a queue is, and when that was said last."""

    client: str | None
    renewed: int


class Locks(Part):
    """Locks queues; neither queue nor topic need exist."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)
        self._locks: dict[str | None, dict[MessageQueue, Lock]] = {}

    @answers(RequestCode.LOCK_BATCH_MQ)
    def lock(self, command: Command, connection: int, now: int) -> Reply:
        """Told are the queues that are the client's now; the others are another's."""
        asked = self.asked(command)
        locks = self._locks.setdefault(asked.consumer_group, {})
        if asked.client_id is None and any(queue not in locks for queue in asked.mq_set):
            raise RefusedError("clientId is missing")
        got = []
        for queue in dict.fromkeys(asked.mq_set):
            known = locks.get(queue)
            if known is None or self.may_lock(known, asked.client_id, now):
                locks[queue] = Lock(asked.client_id, now)
                got.append(queue)
        return Reply(ResponseCode.SUCCESS, body=LockedQueues(got).encode())

    @answers(RequestCode.UNLOCK_BATCH_MQ)
    def unlock(self, command: Command, connection: int, now: int) -> Reply:
        """Locks of other clients stay."""
        asked = self.asked(command)
        locks = self._locks.get(asked.consumer_group, {})
        for queue in asked.mq_set:
            known = locks.get(queue)
            if known is not None and self.may_unlock(known.client, asked.client_id):
                del locks[queue]
        return Reply(ResponseCode.SUCCESS)

    def asked(self, command: Command) -> LockRequest:
        """The body of a request. Raises RefusedError."""
        asked = required.body(command, LockRequest.decode, self.profile.engine)
        if asked.consumer_group is None:
            raise RefusedError("consumerGroup is missing")
        return asked

    def may_lock(self, known: Lock, client: str | None, now: int) -> bool:
        """Whether a client gets a lock that was given before."""
        return known.client == client or self.is_over(known.renewed, now)

    def may_unlock(self, holder: str | None, client: str | None) -> bool:
        """Whether a client may give up a lock that `holder` has."""
        return holder == client

    def is_over(self, renewed: int, now: int) -> bool:
        """Whether a lock that was renewed last at `renewed` is anybody's now."""
        return now - renewed > _LIVES

    def keep_clients(self, now: int, *, waits: bool) -> None:
        for group, locks in self._locks.items():
            for lock in locks.values():
                if not self.is_over(lock.renewed, now) and self.is_connected(group, lock.client):
                    lock.renewed = now

    def is_connected(self, group: str | None, client: str | None) -> bool:
        """Whether a client of a group is there to renew its locks."""
        return self.broker.clients.find_consumer(group or "", client or "") is not None

    def holds_any(self, group: str, now: int) -> bool:
        """Whether any client of a group holds a lock."""
        return any(not self.is_over(lock.renewed, now) for lock in self._locks.get(group, {}).values())
