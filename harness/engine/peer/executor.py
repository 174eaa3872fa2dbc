"""An executor that asks several servers the same.

Invariants:
- All servers get equal frames, opaques included, so that equal answers are equal frames.
- All servers have a request before any of them is waited for.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from harness.engine.executor import Executor
from harness.engine.sending import Asked
from harness.program.nameserver.steps import AnyRequest
from harness.session.exchange import SentRequest
from harness.spec import Observation
from harness.wire import Command


class _Numbered(msgspec.Struct):
    """A request that goes to every server."""

    number: int
    step: AnyRequest
    opaque: int
    command: Command
    frame: bytes


class PeerExecutor(Executor):
    """One run of a program whose requests go to every server."""

    def ask_alike(self, steps: Sequence[AnyRequest], servers: Sequence[int]) -> list[Observation]:
        """Asks ``servers``, in this order, the same: a segment for each connection. Raises as ``play``.

        The requests are numbered as if they had been played one by one. Gives their outcomes, and those of
        what was in flight before.
        """
        conns: dict[str, list[_Numbered]] = {}
        for step in steps:
            self._number += 1
            opaque = self._sessions[0].next_opaque()
            one = _Numbered(self._number, step, opaque, *self._sender.request(step, opaque))
            conns.setdefault(step.conn, []).append(one)
        seen: list[Observation] = []
        for server in servers:
            for conn, requests in conns.items():
                seen += self._send_together(server, conn, requests)
        return [*seen, *self._collect()]

    def _send_together(self, server: int, conn: str, requests: Sequence[_Numbered]) -> list[Observation]:
        open_, seen = self._open(server, conn)
        link, sent_at = open_.connection.link, self.now(server)
        link.idle = False
        wants = [None if one.step.oneway else link.want(one.opaque) for one in requests]
        event = link.send(b"".join([one.frame for one in requests]))
        for one, want in zip(requests, wants, strict=True):
            step = one.step if one.step.server == server else replace(one.step, server=server)
            sent = SentRequest(link, want, one.command, one.frame, event, sent_at)
            self._underway.append(Asked(one.number, step, open_, sent))
        return seen
