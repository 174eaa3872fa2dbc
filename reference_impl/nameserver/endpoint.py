"""The NameServer as its connections see it: what a frame, an end and a moment mean to the route table.

As in `reference_impl.remoting.endpoint`. When brokers have gone, notifications (905) are sent
after the answers.

Source: RouteInfoManager#scanNotActiveBroker, RouteInfoManager#notifyMinBrokerIdChanged of rocketmq-all-4.9.8
and rocketmq-all-5.3.3.
"""

from itertools import count

from harness.wire import FLAG_ONEWAY, Command, RequestCode
from reference_impl.remoting.effects import Effect, Notify, Persist
from reference_impl.remoting.endpoint import Certificates, RemotingEndpoint, no_certificate
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.tls_settings import TlsSettings

from .core import NameServer
from .state import LiveRecord, NewMinimum

_KV_PATH = "kvConfigPath"
_CONFIG_PATH = "configStorePath"


class Endpoint(RemotingEndpoint):
    """A NameServer, its connections and its timers."""

    def __init__(
        self, nameserver: NameServer, started: int, certificates: Certificates = no_certificate
    ) -> None:
        self.nameserver = nameserver
        self.profile = nameserver.profile
        self.settings = nameserver.settings
        self.routes = nameserver.routes
        super().__init__(nameserver.profile, TlsSettings.of(self.settings.config.file), certificates)
        self._opaques = count(1)
        self._scan_at = started + self.routes.first_scan()

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        return self.nameserver.execute(command, connection, now)

    def written_first(self) -> list[Effect]:
        effects: list[Effect] = []
        if self.nameserver.unwritten:
            self.nameserver.unwritten = False
            effects.append(Persist(_KV_PATH, self.nameserver.kv.dump()))
        if self.settings.unwritten:
            self.settings.unwritten = False
            effects.append(Persist(_CONFIG_PATH, self.settings.dump()))
        return effects

    def said(self) -> list[Effect]:
        effects: list[Effect] = []
        if not self.routes.news:
            return effects
        news, self.routes.news = self.routes.news, []
        for one in news:
            frame = self.write(self.notification(one))
            effects += [Notify(address, frame) for address in one.recipients]
        return effects

    def left(self, connection: int, peer: str) -> None:
        self.routes.connection_lost(connection, peer)

    def due(self) -> int:
        return self._scan_at

    def act(self, now: int) -> list[Effect]:
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
