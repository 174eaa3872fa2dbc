"""The Broker as its connections see it: what it wants to have done becomes effects.

Rules (beside those of `reference_impl.remoting.endpoint`):
1. After every call the Broker is settled and its outbox is emptied: what is to be kept comes before the
   answers, everything else behind them, in the order in which it came up.
2. Everything that the Broker sends of itself has an opaque of its own. The callback of a request is called
   once: with the answer or without one. What a client is asked, only that client answers, on the
   connection on which it was asked and in time; every other response is passed over. (Apache takes it from
   any connection.)
3. Nothing is answered that is not handed to the storage; where flushing is synchronous, nothing that is not
   durable. Where it is not, the log is made durable `flushIntervalCommitLog` ms after it has grown.
4. A connection of the VIP port (two below the main one) is served like any other, except that it cannot pull.
5. Connections of replication, which carry no frames, are those of slaves (`slave_links`) and the one to the
   master (`master_link`).

Source: BrokerController#registerProcessor (rocketmq-all-4.9.8), #initializeRemotingServer and
#registerProcessor (rocketmq-all-5.3.3).
"""

from itertools import count

import msgspec

from harness.wire import FLAG_ONEWAY, Command, RequestCode, WireError
from reference_impl.remoting.effects import Ask, Close, Dial, Effect, Flush, GoOn, Notify, Persist, Send
from reference_impl.remoting.endpoint import NEVER, Certificates, RemotingEndpoint, no_certificate
from reference_impl.remoting.errors import DurabilityError
from reference_impl.remoting.reply import Reply
from reference_impl.remoting.tls_settings import TlsSettings

from .core import Broker
from .outbox import (
    Answer,
    Asking,
    Calling,
    Cut,
    Dialling,
    Done,
    End,
    More,
    Outgoing,
    Pushing,
    Saving,
    Telling,
    Written,
)
from .part import CLIENT_WAITS
from .pending_calls import PendingCalls
from .store import StoreError

_LOOK_AGAIN = 1_000
_DIAL_WITHIN = 3_000
_PUSHED_AT_ONCE = 1 << 20
"""Bytes for a slave that one call gives, where the caller does not say how many are enough."""
_MAIN_PORT_ONLY = frozenset(
    {
        RequestCode.PULL_MESSAGE,
        RequestCode.LITE_PULL_MESSAGE,
        RequestCode.PEEK_MESSAGE,
        RequestCode.POP_MESSAGE,
        RequestCode.POP_LITE_MESSAGE,
        RequestCode.NOTIFICATION,
        RequestCode.POLLING_INFO,
    }
)


class Endpoint(RemotingEndpoint):
    """A Broker, its connections and its timers."""

    def __init__(self, broker: Broker, certificates: Certificates = no_certificate) -> None:
        self.broker = broker
        super().__init__(broker.profile, TlsSettings.of(broker.config.file), certificates)
        self._opaques = count(1)
        self._asked: dict[int, Done] = {}
        """By opaque: who waits for the answer of another server."""
        self._pending_calls = PendingCalls()
        """What clients have been asked."""
        self._fast: set[int] = set()
        """Connections of the VIP port."""
        self._handed_over = broker.store.physical_range()[1]
        """Up to here the log is handed to the storage."""
        self._wants_durable = False
        """Whether the next flush is to make the log durable."""
        self._durable_at = NEVER
        """When the rest is to be made durable, where flushing is not synchronous."""

    def connected(self, connection: int, peer: str, now: int) -> list[Effect]:
        effects = super().connected(connection, peer, now)
        self.broker.connected(connection, peer, now)
        return effects

    def connected_fast(self, connection: int, peer: str, now: int) -> list[Effect]:
        """A connection was accepted on the VIP port."""
        self._fast.add(connection)
        return self.connected(connection, peer, now)

    def connected_slave(self, connection: int, peer: str, now: int) -> list[Effect]:
        """A connection was accepted on the port of replication."""
        self.now = now
        self.broker.slave_links.connected(connection, peer, now)
        return self.work()

    def dialled(self, connection: int | None, now: int) -> list[Effect]:
        """A `Dial` has come to its end: the connection is made; None: it cannot be."""
        self.now = now
        self.broker.master_link.dialled(connection, now)
        return self.work()

    def received(
        self, connection: int, data: bytes | memoryview, now: int, most: int | None = None
    ) -> list[Effect]:
        broker, pushed, self.now = self.broker, b"", now
        if connection in broker.slave_links:
            if data:
                broker.slave_links.received(connection, bytes(data), now)
            if connection in broker.slave_links:
                pushed = broker.slave_links.push(connection, most or _PUSHED_AT_ONCE, now)
        elif connection in broker.master_link:
            broker.master_link.received(connection, bytes(data), now)
        else:
            return super().received(connection, data, now, most)
        effects = self.written_first()
        if pushed:
            effects.append(Send(connection, pushed))
        return effects + self.said()

    def has_waiting(self, connection: int) -> bool:
        links = self.broker.slave_links
        return links.has_more(connection) if connection in links else super().has_waiting(connection)

    def lost(self, connection: int, now: int) -> list[Effect]:
        if not self._replicates(connection):
            return super().lost(connection, now)
        self.now = now
        self.broker.lost(connection, now)
        return self.work()

    def half_closed(self, connection: int, now: int) -> list[Effect]:
        if not self._replicates(connection):
            return super().half_closed(connection, now)
        return [Close(connection), *self.lost(connection, now)]

    def _replicates(self, connection: int) -> bool:
        return connection in self.broker.slave_links or connection in self.broker.master_link

    def answered(self, number: int, frame: bytes | None, now: int) -> list[Effect]:
        self.now = now
        done = self._asked.pop(number)
        try:
            done(None if frame is None else self.read(frame), now)
        except WireError:
            done(None, now)
        return self.work()

    def stop(self, now: int) -> int:
        """Not before every NameServer knows that the Broker goes, or has had its time to answer."""
        registrar = self.broker.registrar
        if not registrar.is_stopping:
            self.broker.stop(now)
        return super().stop(now) if registrar.has_left else now + _LOOK_AGAIN

    def execute(self, command: Command, connection: int, now: int) -> Reply | None:
        if connection in self._fast and self.is_for_main_port(command):
            return self.broker.unknown_request(command)
        return self.broker.execute(command, connection, now)

    def written_first(self) -> list[Effect]:
        self.broker.settle(self.now)
        outgoing, self.broker.outbox = self.broker.outbox, []
        self.broker.outbox += [one for one in outgoing if type(one) is not Saving]
        effects: list[Effect] = [Persist(one.name, one.data) for one in outgoing if type(one) is Saving]
        end = self.broker.store.physical_range()[1]
        if end > self._handed_over:
            effects.append(Flush())
            if self._durable_at == NEVER and not self.flushes_at_once():
                self._durable_at = self.now + self.broker.config.flush_interval_commit_log
        return effects

    def said(self) -> list[Effect]:
        effects: list[Effect] = []
        while outgoing := self.broker.outbox:
            self.broker.outbox = []
            for one in outgoing:
                effects += self._effects(one)
        return effects

    def _effects(self, one: Outgoing) -> list[Effect]:
        match one:
            case Answer(connection, request, reply):
                if self.is_unanswered(request):
                    return []
                return self._answer(connection, self.response(request, reply))
            case Pushing(connection, command):
                return self.push(connection, self.write(self.request(command, FLAG_ONEWAY)))
            case Calling(connection, command, within, done):
                request = self.request(command, 0)
                self._pending_calls.put(request.opaque, connection, self.now + within, done)
                return self.push(connection, self.write(request))
            case Telling(address, command):
                return [Notify(address, self.write(self.request(command, FLAG_ONEWAY)))]
            case Asking(address, command, within, done):
                request = self.request(command, 0)
                self._asked[request.opaque] = done
                return [Ask(request.opaque, address, self.write(request), within)]
            case End(connection):
                return self.close(connection)
            case Cut(connection):
                return [Close(connection)]
            case Written(connection, data):
                return [Send(connection, data)]
            case More(connection):
                return [GoOn(connection)]
            case Dialling(address):
                return [Dial(address, _DIAL_WITHIN)]
            case Saving(name, data):
                return [Persist(name, data)]

    def _answer(self, connection: int, response: Command) -> list[Effect]:
        """What is answered later. It may be the answer of a client, in a language without a number."""
        try:
            return self.push(connection, self.write(response))
        except WireError:
            return self.close(connection)

    def heard(self, connection: int, response: Command, now: int) -> None:
        self._pending_calls.answer(connection, response, now)

    def left(self, connection: int, peer: str) -> None:
        self._fast.discard(connection)
        self.broker.lost(connection, self.now)

    def keep_clients(self, now: int, *, waits: bool) -> None:
        super().keep_clients(now, waits=waits)
        self.broker.keep_clients(now, waits=waits)
        if waits:
            self._pending_calls.keep(now + CLIENT_WAITS)

    def due(self) -> int:
        return min(self.broker.next_tick(), self._pending_calls.due(), self._durable_at)

    def act(self, now: int) -> list[Effect]:
        if self._durable_at <= now:
            self._durable_at = NEVER
            self._wants_durable = True
            return [Flush()]
        self._pending_calls.expire(now)
        self.broker.tick(now)
        return []

    def flush(self) -> None:
        store = self.broker.store
        try:
            if self._wants_durable or self.flushes_at_once():
                self._wants_durable = False
                store.flush()
            store.commit()
        except StoreError as error:
            raise DurabilityError(str(error)) from error
        self._handed_over = store.physical_range()[1]

    def work(self) -> list[Effect]:
        return self.written_first() + self.said()

    # -- decisions (see parts.py) ----------------------------------------------------------------------------

    def flushes_at_once(self) -> bool:
        """Whether what is answered has to be durable."""
        return self.broker.config.flush_disk_type == "SYNC_FLUSH"

    def is_for_main_port(self, command: Command) -> bool:
        """Whether a request is not served on the VIP port."""
        return command.code in _MAIN_PORT_ONLY

    def request(self, command: Command, flag: int) -> Command:
        """A request of the Broker's own as it leaves."""
        return msgspec.structs.replace(
            command, opaque=next(self._opaques), flag=flag, language="JAVA", version=self.line.version
        )

    def farewell(self) -> int:
        config = self.broker.config
        if not (self.broker.profile.v5 and config.enable_shutdown_gracefully):
            return 0
        return max(0, config.shutdown_wait_time_seconds) * 1000

    def idle_limit(self) -> int | None:
        seconds = self.broker.config.server_channel_max_idle_time_seconds
        return seconds * 1000 if seconds > 0 else None
