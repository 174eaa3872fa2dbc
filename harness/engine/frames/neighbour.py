"""A bystander: a broker on a connection of its own, without damaged frames.

- The neighbour does only what a broker and a client do, in whole frames; whatever it does not get is harm
  that others have done to it.
- Where so much protocol time has passed that its lease or its connection may have ended by themselves, it
  says so (`Neighbour.is_late`), and nothing it has seen counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.program.frames import frame_of
from harness.program.names import Names
from harness.program.nameserver.steps import AnyRequest, ClusterInfo, Register, Route
from harness.session import Connection, Garbled, NameServerSession, Outcome, Replied
from harness.session.exchange import SentRequest
from harness.wire.fastjson import ParseError, parse
from harness.wire.fastjson.parse import Value

ALONE: Final = "wire.framing.malformed-frame-closes-only-its-connection"
_STATE: Final = "wire.framing.malformed-frame-changes-no-state"
_REFRESH: Final = 30.0
"""Protocol seconds after which it registers again."""
_PATIENCE: Final = 4
"""How often a request without an answer is repeated."""
_BROKER: Final = Register(
    broker="n9", cluster="n9", address="a250", topics={"N8": (4, 4, 6, 0), "N9": (8, 8, 6, 0)}
)
_ROUTE: Final = Route(topic="N9")


class Harm(msgspec.Struct, frozen=True):
    """What a neighbour did not get."""

    invariant: str
    statement: str
    expected: str
    actual: str


class Neighbour:
    """A neighbour in a session, registered when it is made."""

    def __init__(self, session: NameServerSession, names: Names, announces: int) -> None:
        self.is_late = False
        self._session = session
        self._names = names
        self._announces = announces
        self._connection = session.connect()
        self._registered = 0.0
        self._seen = self._register()
        if isinstance(self._seen, Replied):
            self._seen = self._asks(self._connection, _ROUTE)
        self._route = _value(self._seen)

    def harm_at_first(self) -> Harm | None:
        """Whether it was served before anything odd was sent."""
        if isinstance(self._seen, Replied) and self._route is not None:
            return None
        garbled = isinstance(self._seen, Garbled) or bool(self._seen.leftover)
        name = "response-lengths-agree" if garbled else "pipelined-requests-are-all-answered"
        return Harm("neighbour", f"wire.framing.{name}", "an answer to a plain request", str(self._seen))

    def refresh(self) -> None:
        """Registers again, where it is time to."""
        if self._session.now() - self._registered > _REFRESH and self._connection.is_open:
            self._register()

    def harms(self, unlisted: frozenset[str]) -> Iterator[Harm]:
        """What has been done to it by now, and to a client that comes new. ``unlisted`` are names of brokers
        whose registration has failed.
        """
        link = self._connection.link
        link.notice()
        running = self._session.clock.kind != "virtual"
        if (
            running
            and self._session.now() - min(link.last_sent, self._registered) > self._session.profile.quiet
        ):
            self.is_late = True
            return
        if not self._connection.is_open:
            yield Harm("neighbour", ALONE, "the connections of others stay open", "a neighbour's was closed")
            return
        route = _value(self._asks(self._connection, _ROUTE))
        if route is None and not self._is_answered(self._connection):
            yield Harm("neighbour", ALONE, "the connections of others are served", "a neighbour's is not")
        elif route != self._route:
            yield Harm("neighbour", _STATE, f"the route {self._route}", f"{route}")
        if unlisted:
            yield from self._listed(unlisted)
        if not self._is_answered(self._session.connect()):
            yield Harm("liveness", ALONE, "a new connection that is served", "it is not")

    def _listed(self, unlisted: frozenset[str]) -> Iterator[Harm]:
        found = _value(self._asks(self._connection, ClusterInfo()))
        table = found.get("brokerAddrTable") if isinstance(found, dict) else None
        for name in sorted(unlisted & set(table if isinstance(table, dict) else ())):
            statement = "ns.errors.failed-registration-leaves-nothing"
            yield Harm("state", statement, "no broker whose registration failed", f"{name} is listed")

    def _register(self) -> Outcome:
        seen = self._asks(self._connection, _BROKER)
        if isinstance(seen, Replied):
            self._registered = self._session.now()
        return seen

    def _is_answered(self, connection: Connection) -> bool:
        return any(isinstance(self._asks(connection, _ROUTE), Replied) for _ in range(_PATIENCE))

    def _asks(self, connection: Connection, step: AnyRequest) -> Outcome:
        session = self._session
        opaque = session.next_opaque()
        frame = frame_of(step, self._names, opaque, self._announces)
        want = connection.link.want(opaque)
        sent_at = session.now()
        event = connection.link.send(frame)
        asked = SentRequest(connection.link, want, None, frame, event, sent_at)
        return session.decide(asked, "a neighbour", silence_is_an_answer=False)


def _value(seen: Outcome) -> Value | None:
    """What an answer says; its code where it has no body."""
    if not isinstance(seen, Replied):
        return None
    try:
        return parse(seen.command.body) if seen.command.body else seen.command.code
    except ParseError:
        return None
