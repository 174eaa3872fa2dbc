"""Answers to what Brokers ask their clients."""

from __future__ import annotations

from typing import Final

from harness.remarks import times
from harness.remarks.judge import Judge
from harness.remarks.stream import Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode
from harness.wire.code_names import request_words

_QUESTIONS: Final = frozenset(
    {
        RequestCode.GET_CONSUMER_RUNNING_INFO,
        RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
        RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
    }
)
"""Not CONSUME_MESSAGE_DIRECTLY: its answer takes as long as the application needs."""


class Answers(Judge):
    statements = ("requests.questions-are-answered",)

    def pushed(self, said: Said) -> None:
        if said.command.is_oneway or said.command.code not in _QUESTIONS:
            return

        def late() -> None:
            self.remark(
                "requests.questions-are-answered",
                f"was asked {request_words(said.command.code)} and has not answered within "
                f"{seconds(times.ANSWER)}",
                said,
                kind=str(said.command.code),
            )

        self._desk.expect(("answer", said.connection.number, said.command.opaque), times.ANSWER, late)

    def responded(self, request: Said, answer: Said) -> None:
        self._desk.met(("answer", request.connection.number, request.command.opaque))

    def ended(self, end: Ended) -> None:
        self._desk.forget("answer", end.connection.number)
