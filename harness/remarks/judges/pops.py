"""Messages that are popped."""

from __future__ import annotations

from typing import Final, TypeAlias

from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode, ResponseCode, WireError
from harness.wire.bodies import BatchAcks
from harness.wire.messages import decode_messages

from .reading import number

_DONE: Final = frozenset({RequestCode.ACK_MESSAGE, RequestCode.CHANGE_MESSAGE_INVISIBLETIME})
_POP_TIME, _QUEUE, _OFFSET = 1, 6, 7
"""Words of a handle (`ExtraInfoUtil#buildExtraInfo`)."""

_Pop: TypeAlias = tuple[str, str, str]
"""Host of the client, group, and the time of the pop."""


class Pops(Judge):
    statements = ("consuming.popped-message-is-acknowledged",)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._open: dict[_Pop, tuple[Said, set[tuple[str, str]]]] = {}
        """The answer, and the queues and offsets of its messages that are not done with."""

    def answered(self, request: Said, answer: Said) -> None:
        if request.command.code != RequestCode.POP_MESSAGE or answer.command.code != ResponseCode.SUCCESS:
            return
        try:
            messages = decode_messages(answer.command.body)
        except WireError:
            return
        hidden = (number(answer["invisibleTime"]) or 0) / 1000
        pop = request.connection.host, request["consumerGroup"] or "", answer["popTime"] or ""
        places = {(str(one.queue_id), str(one.queue_offset)) for one in messages}
        if not (places and hidden):
            return
        self._open[pop] = answer, places

        def late() -> None:
            _, left = self._open.pop(pop)
            self.remark(
                "consuming.popped-message-is-acknowledged",
                f"popped messages, and has neither acknowledged {len(left)} of them nor hidden them for "
                f"longer within {seconds(hidden)}: they come again",
                request,
                answer,
            )

        self._desk.expect(("pop", pop), hidden, late)

    def asked(self, said: Said) -> None:
        if said.command.code in _DONE:
            words = (said["extraInfo"] or "").split(" ")
            if len(words) > _OFFSET:
                self._done((said.connection.host, said["consumerGroup"] or "", words[_POP_TIME]), words)
        elif said.command.code == RequestCode.BATCH_ACK_MESSAGE:
            self._done_together(said)
        elif said.command.code == RequestCode.UNREGISTER_CLIENT:
            self._leave(said.connection.number, said["consumerGroup"])

    def ended(self, end: Ended) -> None:
        self._leave(end.connection.number, None)

    def _done(self, pop: _Pop, words: list[str]) -> None:
        if pop in self._open:
            _, left = self._open[pop]
            left.discard((words[_QUEUE], words[_OFFSET]))
            if not left:
                self._over(pop)

    def _done_together(self, said: Said) -> None:
        try:
            acks = BatchAcks.decode(said.command.body).acks
        except WireError:
            return
        for ack in acks:
            pop = said.connection.host, ack.consumer_group or "", str(ack.pop_time)
            if pop in self._open:
                _, left = self._open[pop]
                left -= {(str(ack.queue_id), str(offset)) for offset in ack.offsets}
                if not left:
                    self._over(pop)

    def _leave(self, connection: int, group: str | None) -> None:
        """What a client does not finish because it goes comes to another."""
        for pop, (answer, _) in list(self._open.items()):
            if answer.connection.number == connection and group in (None, pop[1]):
                self._over(pop)

    def _over(self, pop: _Pop) -> None:
        del self._open[pop]
        self._desk.met(("pop", pop))
