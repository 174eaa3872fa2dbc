"""Answers to questions about transactions."""

from __future__ import annotations

from typing import TypeAlias

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode

from .reading import is_true

_Half: TypeAlias = tuple[str, str, str | None, str | None]
"""Host of the client, server, and where the half message lies."""


class Transactions(Judge):
    statements = ("transactions.check-is-answered", "transactions.answer-is-about-the-check")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._asked: dict[_Half, Said] = {}
        """All questions of connections that are open."""
        self._open: set[_Half] = set()

    def pushed(self, said: Said) -> None:
        if said.command.code != RequestCode.CHECK_TRANSACTION_STATE:
            return
        half = _half(said)
        self._asked[half] = said
        self._open.add(half)

        def late() -> None:
            self._open.discard(half)
            self.remark(
                "transactions.check-is-answered",
                f"was asked what became of transaction {said['transactionId'] or said['msgId']}, and has not "
                f"answered within {seconds(times.CHECK)}",
                said,
            )

        self._desk.expect(("check", half), times.CHECK, late)

    def asked(self, said: Said) -> None:
        if said.command.code != RequestCode.END_TRANSACTION or not is_true(said["fromTransactionCheck"]):
            return
        half = _half(said)
        if half in self._asked:
            self._open.discard(half)
            self._desk.met(("check", half))
        elif waiting := [one for one in self._open if one[:2] == half[:2]]:
            self.remark(
                "transactions.answer-is-about-the-check",
                f"answered as if it was asked about the half message at offset {half[3]} of the log, and was "
                f"asked about that at {waiting[0][3]}",
                self._asked[waiting[0]],
                said,
            )

    def ended(self, end: Ended) -> None:
        for half in [one for one, said in self._asked.items() if said.connection is end.connection]:
            del self._asked[half]
            self._open.discard(half)
            self._desk.met(("check", half))


def _half(said: Said) -> _Half:
    connection = said.connection
    return connection.host, connection.server, said["tranStateTableOffset"], said["commitLogOffset"]
