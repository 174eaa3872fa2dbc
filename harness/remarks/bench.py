"""All judges, and what each of them is shown."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.catalogue import usage
from harness.trace import Trace
from harness.wire import RequestCode, WireError
from harness.wire.bodies import Heartbeat

from .judge import Desk, Judge
from .judges.answers import Answers
from .judges.frames import Frames
from .judges.heartbeats import Heartbeats
from .judges.locks import Locks
from .judges.members import Members
from .judges.offsets import Offsets
from .judges.pops import Pops
from .judges.pulls import Pulls
from .judges.rebalances import Rebalances
from .judges.requests import Requests
from .judges.retries import Retries
from .judges.routes import Routes
from .judges.subscriptions import Subscriptions
from .judges.transactions import Transactions
from .remark import Remark
from .stream import Connection, Happening, Said, Source, happenings

JUDGES: Final[tuple[type[Judge], ...]] = (
    Frames,
    Requests,
    Heartbeats,
    Members,
    Subscriptions,
    Rebalances,
    Locks,
    Offsets,
    Pulls,
    Pops,
    Retries,
    Transactions,
    Answers,
    Routes,
)


def judge(traces: Iterable[Trace]) -> list[Remark]:
    """The remarks on all clients of these traces, which may be of several servers at the same time."""
    return judged(Source(trace.header, trace.events) for trace in traces).remarks


class Judged(msgspec.Struct, frozen=True):
    """The remarks, and of how many clients and requests."""

    remarks: list[Remark]
    clients: int
    requests: int


def judged(sources: Iterable[Source]) -> Judged:
    """The same, of traces and captures that are read event by event. Raises what reading them raises."""
    bench = _Bench()
    for one in happenings(sources):
        bench.show(one)
    return bench.judged()


class _Bench:
    def __init__(self) -> None:
        self._desk = Desk()
        self._judges = [kind(self._desk) for kind in JUDGES]
        self._of_servers: dict[tuple[int, int], Said] = {}
        """Requests of servers that wait for the client's answer, by connection and opaque."""
        self._ended: set[int] = set()
        self._requests: Counter[Connection] = Counter()

    def judged(self) -> Judged:
        for one in self._judges:
            one.finished()
        clients = {one.name: one for one in self._requests if one.is_judged}
        requests = sum(number for one, number in self._requests.items() if one.is_judged)
        return Judged(self._desk.remarks, len(clients), requests)

    def show(self, happening: Happening) -> None:
        self._desk.pass_to(happening)
        if isinstance(happening, Said):
            self._said(happening)
        elif happening.connection.number not in self._ended:
            self._ended.add(happening.connection.number)
            for one in self._judges:
                one.ended(happening)

    def _said(self, said: Said) -> None:
        of_client, connection = said.by == "us", said.connection
        if said.told.command is None:
            for one in self._judges if of_client else ():
                one.undecodable(said)
            return
        command = said.command
        if command.is_response and of_client:
            if (request := self._of_servers.pop((connection.number, command.opaque), None)) is not None:
                for one in self._judges:
                    one.responded(request, said)
        elif command.is_response:
            if (request := connection.waiting.pop(command.opaque, None)) is not None:
                for one in self._judges:
                    one.answered(request, said)
        elif of_client:
            self._requests[connection] += 1
            if command.code in _of_servers_alone():
                connection.is_judged = False
            if command.code == RequestCode.HEART_BEAT:
                _hear(said)
            for one in self._judges:
                one.asked(said)
            if not command.is_oneway:
                connection.waiting[command.opaque] = said
        else:
            for one in self._judges:
                one.pushed(said)
            if not command.is_oneway:
                self._of_servers[connection.number, command.opaque] = said


def _hear(said: Said) -> None:
    try:
        beat = Heartbeat.decode(said.command.body)
    except WireError:
        return
    said.connection.client = said.connection.client or beat.client_id or ""
    if not beat.without_sub:
        said.connection.beat = beat


@functools.cache
def _of_servers_alone() -> frozenset[int]:
    """Codes of requests that Brokers send, and no client."""
    return frozenset(
        code for of in usage().requests.values() for code, by in of.items() if by.keys() == {"broker"}
    )
