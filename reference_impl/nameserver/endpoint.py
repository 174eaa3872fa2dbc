"""The NameServer as its connections see it: what a frame, an end and a moment mean to the route table.

As in `reference_impl.remoting.endpoint`. When brokers have gone, notifications (905) are sent
after the answers; so are those of a new master (1008), where there is a controller. A connection belongs to
the port where it was accepted: the NameServer's, or the controller's.

Source: RouteInfoManager#scanNotActiveBroker, RouteInfoManager#notifyMinBrokerIdChanged of rocketmq-all-4.9.8
and rocketmq-all-5.3.3.
"""

from itertools import count

from harness.wire import FLAG_ONEWAY, Command, RequestCode
from reference_impl.remoting.effects import Effect, Notify, Persist
from reference_impl.remoting.endpoint import Certificates, RemotingEndpoint, no_certificate
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.tls_settings import TlsSettings

from .controller import Controller, RoleChange
from .core import NameServer
from .state import LiveRecord, NewMinimum

_KV_PATH = "kvConfigPath"
_CONFIG_PATH = "configStorePath"
_REPLICAS_PATH = "controllerStorePath"


class Endpoint(RemotingEndpoint):
    """A NameServer, its connections and its timers."""

    def __init__(
        self,
        nameserver: NameServer,
        started: int,
        certificates: Certificates = no_certificate,
        controller: Controller | None = None,
    ) -> None:
        self.nameserver = nameserver
        self.profile = nameserver.profile
        self.settings = nameserver.settings
        self.routes = nameserver.routes
        super().__init__(nameserver.profile, TlsSettings.of(self.settings.config.file), certificates)
        self._opaques = count(1)
        self.controller = controller
        self._of_controller: set[int] = set()
        """Connections that were accepted at its port."""
        self._scan_at = started + self.routes.first_scan()

    def connected_to_controller(self, connection: int, peer: str, now: int) -> list[Effect]:
        """As `connected`, at the port of the controller."""
        self._of_controller.add(connection)
        return self.connected(connection, peer, now)

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        if self.controller is not None and connection in self._of_controller:
            return self.controller.execute(command, connection, now)
        return self.nameserver.execute(command, connection, now)

    def written_first(self) -> list[Effect]:
        effects: list[Effect] = []
        if self.nameserver.unwritten:
            self.nameserver.unwritten = False
            effects.append(Persist(_KV_PATH, self.nameserver.kv.dump()))
        if self.settings.unwritten:
            self.settings.unwritten = False
            effects.append(Persist(_CONFIG_PATH, self.settings.dump()))
        if self.controller is not None and self.controller.replicas.unwritten:
            self.controller.replicas.unwritten = False
            effects.append(Persist(_REPLICAS_PATH, self.controller.replicas.dump()))
        return effects

    def said(self) -> list[Effect]:
        effects = self.written_first() + self.said_by_controller()
        if not self.routes.news:
            return effects
        news, self.routes.news = self.routes.news, []
        for one in news:
            frame = self.write(self.notification(one))
            effects += [Notify(address, frame) for address in one.recipients]
        return effects

    def said_by_controller(self) -> list[Effect]:
        """The notifications about new masters, which go to Brokers."""
        if self.controller is None or not self.controller.news:
            return []
        news, self.controller.news = self.controller.news, []
        return [
            Notify(address, self.write(self.role_change(one))) for one in news for address in one.recipients
        ]

    def left(self, connection: int, peer: str) -> None:
        if connection not in self._of_controller:
            self.routes.connection_lost(connection, peer)
            return
        self._of_controller.discard(connection)
        if self.controller is not None:
            self.controller.lost(connection, self.now)

    def due(self) -> int:
        return self._scan_at if self.controller is None else min(self._scan_at, self.controller.due())

    def act(self, now: int) -> list[Effect]:
        if self.controller is not None and self.controller.due() <= self._scan_at:
            effects = [effect for one in self.controller.act(now) for effect in self.close(one)]
            return effects + self.said()
        effects = self.scan(now)
        self._scan_at += self.routes.scan_interval()
        return effects

    def work(self) -> list[Effect]:
        if not self.routes.leaving:
            return []
        self.routes.work()
        return self.said()

    @property
    def is_due(self) -> bool:
        return bool(self.routes.leaving)

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def idle_limit(self) -> int | None:
        seconds = self.settings.config.server_channel_max_idle_time_seconds
        return seconds * 1000 if seconds > 0 else None

    def farewell(self) -> int:
        config = self.settings.config
        if not (self.profile.v5 and config.enable_shutdown_gracefully):
            return 0
        return max(0, config.shutdown_wait_time_seconds) * 1000

    def is_server(self, connection: int) -> bool:
        return bool(self.routes.records_of(connection))

    def scan(self, now: int) -> list[Effect]:
        """Remove the brokers whose lease has run out, and end their connections."""
        effects: list[Effect] = []
        for record in self.routes.expired(now):
            self.routes.depart(self.routes.departure_of(record))
            effects += self.close_expired(record)
        return effects

    def close_expired(self, record: LiveRecord) -> list[Effect]:
        """End the connection of a broker whose lease has run out."""
        return self.close(record.connection)

    def notification(self, news: NewMinimum) -> Command:
        """The one-way request (905) that tells a broker of the smallest id; all recipients get the same."""
        told = {
            "minBrokerId": str(news.id),
            "minBrokerAddr": news.address,
            "offlineBrokerAddr": news.left,
            "haBrokerAddr": news.ha_address,
        }
        return Command(
            code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
            opaque=next(self._opaques),
            flag=FLAG_ONEWAY,
            language="JAVA",
            version=self.profile.version,
            ext={name: value for name, value in told.items() if value is not None},
        )

    def role_change(self, change: RoleChange) -> Command:
        """The one-way request (1008) that tells a Broker of a new master."""
        told = {
            "masterAddress": change.address,
            "masterEpoch": str(change.master_epoch),
            "syncStateSetEpoch": str(change.in_sync.sync_state_set_epoch),
            "masterBrokerId": str(change.master),
        }
        return Command(
            code=RequestCode.NOTIFY_BROKER_ROLE_CHANGED,
            opaque=next(self._opaques),
            flag=FLAG_ONEWAY,
            language="JAVA",
            version=self.profile.version,
            ext={name: value for name, value in told.items() if value is not None},
            body=change.in_sync.encode(),
        )
