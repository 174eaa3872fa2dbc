"""Membership: a client that works for a group is registered for it, and unregisters at the end."""

from __future__ import annotations

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Connection, Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode
from harness.wire.code_names import request_words

from .reading import PULLS, SENDS, groups_of, is_answered, sent

_FAST = 2
"""How far below a Broker's port its fast one is (`MixAll#brokerVIPChannel`), which gets no heartbeats."""
_Member = tuple[str, str, str]
"""Host of the client, server, group."""


class Members(Judge):
    statements = ("membership.every-member-sends-heartbeats", "membership.unregistration-precedes-the-end")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._members: set[_Member] = set()
        self._working: dict[int, set[_Member]] = {}
        """Those that are to send a heartbeat yet, by connection."""
        self._registered: dict[int, dict[str, Said]] = {}
        """The groups of each connection, each with the heartbeat that named it."""
        self._gone: dict[tuple[str, str], tuple[Said, Ended]] = {}
        """By server and client: those whose connection has ended before they took leave."""

    def asked(self, said: Said) -> None:
        code = said.command.code
        if code == RequestCode.HEART_BEAT:
            self._beat(said)
        elif code == RequestCode.UNREGISTER_CLIENT:
            self._gone.pop((said.connection.server, said["clientID"] or ""), None)
            groups = self._registered.get(said.connection.number, {})
            for field in ("producerGroup", "consumerGroup"):
                groups.pop(said[field] or "", None)
        elif (group := _worked_for(said)) is not None:
            self._works(said, (said.connection.host, said.connection.server, group))

    def ended(self, end: Ended) -> None:
        connection = end.connection
        for member in self._working.pop(connection.number, ()):
            self._desk.met(("member", member))
        groups = self._registered.pop(connection.number, {})
        lost = any(map(is_answered, connection.waiting.values()))
        if groups and end.by == "us" and not lost:
            (beat, *_) = groups.values()
            self._gone[connection.server, connection.client] = beat, end

    def finished(self) -> None:
        for beat, end in self._gone.values():
            self.remark(
                "membership.unregistration-precedes-the-end",
                "closed its connection, and had not unregistered the groups of its heartbeats",
                beat,
                end,
            )

    def _beat(self, said: Said) -> None:
        connection = said.connection
        self._gone.pop((connection.server, connection.client), None)  # it only changed its connection
        groups = _groups(connection)
        self._registered[connection.number] = dict.fromkeys(groups, said)
        for group in groups:
            for server in (connection.server, _fast(connection.server)):
                member = connection.host, server, group
                self._members.add(member)
                self._desk.met(("member", member))

    def _works(self, said: Said, member: _Member) -> None:
        waiting = self._working.setdefault(said.connection.number, set())
        if member in self._members or member in waiting:
            return
        waiting.add(member)

        def late() -> None:
            self.remark(
                "membership.every-member-sends-heartbeats",
                f"sent {request_words(said.command.code)} for group {member[2]!r}, and within "
                f"{seconds(times.TWICE)} no heartbeat that names the group",
                said,
            )

        self._desk.expect(("member", member), times.TWICE, late)


def _groups(connection: Connection) -> set[str]:
    beat = connection.beat
    return set() if beat is None else groups_of(beat) - {""}


def _worked_for(said: Said) -> str | None:
    code = said.command.code
    if code in SENDS:
        return sent(said, "producerGroup")
    if code in PULLS or code == RequestCode.POP_MESSAGE:
        return said["consumerGroup"]
    return None


def _fast(server: str) -> str:
    host, _, port = server.rpartition(":")
    return f"{host}:{int(port) - _FAST}" if port else server
