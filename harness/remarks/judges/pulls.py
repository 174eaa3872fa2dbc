"""Pulls that a Broker holds."""

from __future__ import annotations

from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Said
from harness.report.text import seconds
from harness.wire import RequestCode
from harness.wire.header_fields import PullFlag

from .reading import PULLS, Place, number, place


class Pulls(Judge):
    statements = ("consuming.pull-waits-for-its-answer",)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._held: dict[tuple[int, Place], Said] = {}
        """The pull of each queue that waits, by connection."""

    def asked(self, said: Said) -> None:
        code, where = said.command.code, (said.connection.number, place(said))
        if code == RequestCode.QUERY_CONSUMER_OFFSET:
            self._held.pop(where, None)  # it was given the queue anew, and the pull of before counts no more
        if code not in PULLS:
            return
        before = self._held.get(where)
        if before is not None and _is_passive(said) and _is_again(before, said):
            _, topic, queue = where[1]
            held = (number(before["suspendTimeoutMillis"]) or 0) / 1000
            self.remark(
                "consuming.pull-waits-for-its-answer",
                f"pulls queue {queue} of topic {topic!r} from offset {said['queueOffset']} again after "
                f"{seconds(said.now - before.now)}, while a pull of it is held for up to {seconds(held)}",
                before,
                said,
            )
        if (number(said["sysFlag"]) or 0) & PullFlag.SUSPEND:
            self._held[where] = said

    def answered(self, request: Said, answer: Said) -> None:
        where = (request.connection.number, place(request))
        if self._held.get(where) is request:
            del self._held[where]


def _is_again(before: Said, said: Said) -> bool:
    is_waiting = said.connection.waiting.get(before.command.opaque) is before
    return is_waiting and before["queueOffset"] == said["queueOffset"]


def _is_passive(said: Said) -> bool:
    """Whether its heartbeats say that the Broker pushes: an application that pulls may abandon a pull."""
    beat = said.connection.beat
    return beat is not None and any(
        one.group_name == said["consumerGroup"] and one.consume_type == "CONSUME_PASSIVELY"
        for one in beat.consumer_data_set
    )
