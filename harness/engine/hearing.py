"""The NameServers of a Broker in a program: how they treat it, and what they have heard from it.

A Broker that others run may have fewer than a program is about; what a step wants of one that is not there is
left out.
"""

from __future__ import annotations

from harness.program.broker.steps import NameServer
from harness.session import BrokerSession, NameServerView, Session
from harness.spec.observation import Heard, HeardRequest
from harness.wire import RequestCode, ResponseCode

_REGISTER = RequestCode.REGISTER_BROKER


class Hearing:
    """Of one session: only a Broker's has NameServers."""

    def __init__(self, session: Session) -> None:
        self._servers = session.nameservers if isinstance(session, BrokerSession) else []
        self._known = [len(server.heard()) for server in self._servers]

    def treat(self, step: NameServer) -> None:
        """A NameServer treats the Broker so from now on."""
        if step.which < len(self._servers):
            _treat(self._servers[step.which], step.manner)

    def heard(self) -> Heard:
        """What has come since this was asked last."""
        found: list[HeardRequest] = []
        for which, server in enumerate(self._servers):
            new = server.heard(self._known[which])
            self._known[which] += len(new)
            found += [HeardRequest(which=which, at=one.at, command=one.command) for one in new]
        return Heard(requests=tuple(found), servers=len(self._servers))


def _treat(server: NameServerView, manner: str) -> None:
    server.behaves()
    match manner:
        case "knows":
            server.answers(RequestCode.QUERY_DATA_VERSION, ext={"changed": "false"})
        case "down":
            server.goes_down()
        case "silent":
            server.ignores(_REGISTER)
            server.ignores(RequestCode.UNREGISTER_BROKER)
        case "refuses":
            server.answers(_REGISTER, ResponseCode.SYSTEM_ERROR, remark="not now")
