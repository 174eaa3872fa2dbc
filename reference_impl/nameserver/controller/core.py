"""The controller without connections, bytes or clocks: heartbeats, what time brings, and what was asked.

1. One method per request code, as in `reference_impl.nameserver.core`; a request that is refused has changed
   nothing.
2. It is alone in its group, and so the leader from the start.

Source: ControllerRequestProcessor, ControllerManager, DLedgerController of rocketmq-all-5.3.3.
"""

from typing import TypeVar

from harness.wire import Command, RequestCode, ResponseCode
from reference_impl.remoting import fields
from reference_impl.remoting.profiles import Profile
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.requests import answers, carried_out, handlers_of

from .answers import text_of
from .election import Election
from .heartbeats import FIRST_LOOK, LASTS, LOWEST, Beat, Heartbeats, Identity, Live
from .ids import IdRequests
from .inspection import InspectionRequests
from .masters import OF_CONTROLLER, MasterRequests, RoleChange
from .replicas import BrokerSet, Replicas
from .settings import ControllerSettings

_T = TypeVar("_T")


class Controller(IdRequests, MasterRequests, InspectionRequests):
    """Which Brokers share a name, which of them live, and who of them is the master."""

    def __init__(
        self,
        profile: Profile,
        settings: ControllerSettings,
        replicas: Replicas,
        heartbeats: Heartbeats,
        election: Election,
        started: int,
    ) -> None:
        self.profile = profile
        self.settings = settings
        self.replicas = replicas
        self.heartbeats = heartbeats
        self.election = election
        self.handlers = handlers_of(self, profile)
        self.news: list[RoleChange] = []
        self._between_heartbeats = settings.config.scan_not_active_broker_interval
        self._between_masters = settings.config.scan_inactive_master_interval
        self._heartbeats_at = started + FIRST_LOOK
        self._masters_at = started + self._between_masters

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        """Carry out a request, as `carried_out` says."""
        return carried_out(self.handlers, self.unknown_request, command, connection, now)

    def unknown_request(self, command: Command) -> Reply | None:
        """The answer to a code that a controller does not serve."""
        remark = f" request type {command.code} not supported"
        return Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    @answers(RequestCode.BROKER_HEARTBEAT)
    def heartbeat(self, command: Command, connection: int, now: int) -> Reply:
        """A heartbeat of an unknown Broker counts too: it may come before its id is applied for."""
        number = fields.int64(command.ext, "brokerId")
        if number is None:
            return Reply(ResponseCode.CONTROLLER_INVALID_REQUEST, remark="Heart beat with empty brokerId")
        identity = (fields.text(command.ext, "clusterName"), text_of(command, "brokerName"), number)
        self.heartbeats.hear(identity, self.beat(command), connection, now)
        return Reply(ResponseCode.SUCCESS, remark="Heart beat success")

    def beat(self, command: Command) -> Beat:
        """What a heartbeat says; what it does not say is the least."""
        ext = command.ext
        return Beat(
            lasts=_or(fields.int64(ext, "heartbeatTimeoutMills"), LASTS),
            epoch=_or(fields.int32(ext, "epoch"), -1),
            max_offset=_or(fields.int64(ext, "maxOffset"), -1),
            priority=_or(fields.int32(ext, "electionPriority"), LOWEST),
        )

    # -- what time and connections bring ---------------------------------------------------------------------

    def due(self) -> int:
        """When `act` wants to be called."""
        return min(self._heartbeats_at, self._masters_at)

    def act(self, now: int) -> list[int]:
        """What is due now; gives the connections that are to be ended."""
        if self._heartbeats_at <= self._masters_at:
            self._heartbeats_at += self._between_heartbeats
            return self.look_at_heartbeats(now)
        self._masters_at += self._between_masters
        self.look_at_masters(now)
        return []

    def look_at_heartbeats(self, now: int) -> list[int]:
        """Brokers that were not heard for too long are gone, and their connections end."""
        over = self.heartbeats.over(now)
        self.gone(over, now)
        return [live.connection for live in over.values()]

    def look_at_masters(self, now: int) -> None:
        """A set whose master does not live, though another Broker of it does, gets a new one."""
        for found in self.replicas.sets.values():
            has_lost = found.master is not None and not self.has_living_master(found, now)
            if has_lost and any(self.election.lives(found, number, now) for number in found.replicas):
                self.replace_master(found, now)

    def lost(self, connection: int, now: int) -> None:
        """A connection has ended, and with it the Brokers whose it was."""
        self.gone(self.heartbeats.ended(connection), now)

    def gone(self, brokers: dict[Identity, Live], now: int) -> None:
        """Brokers no longer live: where one was the master, another is elected."""
        for _, name, number in brokers:
            found = self.replicas.get(name)
            if found is not None and found.master == number:
                self.replace_master(found, now)

    def replace_master(self, found: BrokerSet, now: int) -> None:
        """Elects another master; where no Broker can be it, the set has none. (Apache tries it three times,
        and the epoch of the master grows each time.)
        """
        self.elected(found, OF_CONTROLLER, demanded=False, now=now)


def _or(value: _T | None, default: _T) -> _T:
    return default if value is None else value
