"""Locks of consumers in order."""

from __future__ import annotations

from typing import TypeAlias

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode, ResponseCode, WireError
from harness.wire.bodies import LockedQueues, LockRequest, MessageQueue

from .reading import PULLS, Place, place

_Held: TypeAlias = dict[Place, Said]


class Locks(Judge):
    statements = ("consuming.lock-is-renewed", "consuming.lock-is-given-up-at-the-end")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._held: dict[int, _Held] = {}
        """By connection: the answer that gave each queue last."""

    def answered(self, request: Said, answer: Said) -> None:
        if request.command.code != RequestCode.LOCK_BATCH_MQ or answer.command.code != ResponseCode.SUCCESS:
            return
        try:
            asked = LockRequest.decode(request.command.body)
            given = LockedQueues.decode(answer.command.body).queues
        except WireError:
            return
        held, group = self._held.setdefault(answer.connection.number, {}), asked.consumer_group or ""
        for queue in asked.mq_set:
            held.pop(_place(group, queue), None)
        held |= {_place(group, queue): answer for queue in given}

    def asked(self, said: Said) -> None:
        held, code = self._held.get(said.connection.number, {}), said.command.code
        if code == RequestCode.UNLOCK_BATCH_MQ:
            try:
                given_up = LockRequest.decode(said.command.body)
            except WireError:
                return
            for queue in given_up.mq_set:
                held.pop(_place(given_up.consumer_group or "", queue), None)
        elif code == RequestCode.UNREGISTER_CLIENT:
            self._leaves(said, held)
        elif code in PULLS and place(said) in held:
            self._works(said, held)

    def ended(self, end: Ended) -> None:
        self._held.pop(end.connection.number, None)

    def _works(self, said: Said, held: _Held) -> None:
        _, topic, queue = place(said)
        given = held[place(said)]
        if (span := said.now - given.now) > times.LOCKED:
            del held[place(said)]
            self.remark(
                "consuming.lock-is-renewed",
                f"pulls queue {queue} of topic {topic!r} {seconds(span)} after it was given the lock on it, "
                "and has not renewed the lock",
                given,
                said,
            )

    def _leaves(self, said: Said, held: _Held) -> None:
        group = said["consumerGroup"]
        kept = [
            (where, given)
            for where, given in held.items()
            if where[0] == group and said.now - given.now <= times.LOCKED
        ]
        for where, _ in kept:
            del held[where]
        if kept:
            queues = ", ".join(
                f"{topic} {queue}" for (_, topic, queue), _ in sorted(kept, key=lambda one: one[0])
            )
            self.remark(
                "consuming.lock-is-given-up-at-the-end",
                f"left group {group!r} with locks on {queues}: no other member gets these queues until the "
                "locks run out",
                kept[0][1],
                said,
            )


def _place(group: str, queue: MessageQueue) -> Place:
    return group, queue.topic or "", str(queue.queue_id)
