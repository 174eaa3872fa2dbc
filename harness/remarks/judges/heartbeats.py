"""What is in a heartbeat, and when it comes."""

from __future__ import annotations

from harness.remarks import times
from harness.remarks.judge import Desk, Judge
from harness.remarks.stream import Connection, Ended, Said
from harness.report.text import seconds
from harness.wire import RequestCode, WireError
from harness.wire.bodies import Heartbeat

from .reading import groups_of


class Heartbeats(Judge):
    statements = (
        "membership.heartbeat-names-its-client",
        "membership.heartbeat-names-a-group",
        "membership.heartbeats-go-on",
        "membership.heartbeat-may-be-lost",
        "membership.client-id-is-of-one-client",
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._last: dict[int, Said] = {}
        """The last heartbeat of each connection that is registered."""
        self._groups: dict[int, set[str]] = {}
        self._latest: dict[tuple[str, str], dict[int, Said]] = {}
        """By server and client id: the last heartbeat of each connection that is open."""

    def asked(self, said: Said) -> None:
        if said.command.code == RequestCode.HEART_BEAT:
            self._beat(said)
        elif said.command.code == RequestCode.UNREGISTER_CLIENT:
            groups = self._groups.get(said.connection.number, set())
            groups -= {said["producerGroup"] or "", said["consumerGroup"] or ""}
            if not groups:
                self._forget(said.connection)

    def ended(self, end: Ended) -> None:
        self._forget(end.connection)

    def _beat(self, said: Said) -> None:
        try:
            beat = Heartbeat.decode(said.command.body)
        except WireError:
            return  # refused, which the client can see
        groups = groups_of(beat)
        if not beat.client_id:
            self.remark("membership.heartbeat-names-its-client", "sent a heartbeat without clientID", said)
            return
        if not groups:
            self.remark(
                "membership.heartbeat-names-a-group",
                "sent a heartbeat without a group of producers or consumers",
                said,
            )
        self._in_time(said)
        self._alone(said, beat)
        number = said.connection.number
        self._last[number], self._groups[number] = said, groups
        self._desk.expect(("beat", number), times.FORGOTTEN, lambda: self._missing(number))

    def _in_time(self, said: Said) -> None:
        before = self._last.get(said.connection.number)
        if before is not None and (span := said.now - before.now) > times.TWICE:
            self.remark(
                "membership.heartbeat-may-be-lost",
                f"sent a heartbeat {seconds(span)} after the one before",
                before,
                said,
            )

    def _missing(self, number: int) -> None:
        self.remark(
            "membership.heartbeats-go-on",
            f"sent no further heartbeat within {seconds(times.FORGOTTEN)}, and is still connected",
            self._last.pop(number),
        )

    def _alone(self, said: Said, beat: Heartbeat) -> None:
        """Two connections with one id whose heartbeats take turns are two clients."""
        if not beat.consumer_data_set:
            return
        number = said.connection.number
        latest = self._latest.setdefault((said.connection.server, beat.client_id or ""), {})
        mine = latest.get(number)
        others = [one for at, one in latest.items() if at != number and mine and one.number > mine.number]
        if mine and others:
            self.remark(
                "membership.client-id-is-of-one-client",
                f"two connections that are open to one server send heartbeats of client {beat.client_id} in "
                "turns",
                mine,
                others[0],
                said,
            )
        latest[number] = said

    def _forget(self, connection: Connection) -> None:
        self._desk.met(("beat", connection.number))
        self._last.pop(connection.number, None)
        self._groups.pop(connection.number, None)
        for latest in self._latest.values():
            latest.pop(connection.number, None)
