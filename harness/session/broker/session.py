"""What a case says to a Broker, and what it hears from it at its NameServers.

Names are the session's own, for topics, groups and clients alike. What the Broker is
called is what it said when it registered.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import get_args

from harness.catalogue import nearest_line, profile_named
from harness.session.broker.light import LightRequests
from harness.session.broker.replication import Master, Slave
from harness.session.broker.signing import Account
from harness.session.connection import Connection, next_request
from harness.session.errors import Blocked
from harness.session.exchange import Exchange
from harness.session.futile import FutileWaits
from harness.session.header import header_of
from harness.session.outcome import Mark
from harness.session.probing.received import NameServerView
from harness.session.requests import Query
from harness.session.session import Session
from harness.session.transport import BrokerInstance
from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import LineName, Message, encode_message

_CLIENT_SCAN = 10.0
"""Protocol seconds between two looks at clients that have gone quiet (`ClientHousekeepingService`)."""
_LONGEST_TURN = 600.0
"""Waiting seconds."""
_LONGEST_PERIOD = 60.0
"""Protocol seconds after which a Broker has surely registered again (`registerNameServerPeriod`)."""


class BrokerSession(LightRequests):
    """The ``bk`` of a case. Its arguments are those of a ``NameServerSession``; ``hears`` says whether what
    it sent to its NameServers goes into the trace.
    """

    query = Query(RequestCode.GET_ALL_CONSUMER_OFFSET, {})
    query_answer = ResponseCode.SUCCESS
    bare_query = query

    def __init__(
        self,
        instance: BrokerInstance,
        profile: str,
        *,
        case: str = "",
        target: str = "",
        suite: str = "",
        seed: int | str | None = None,
        started: float = 0.0,
        deadline: float = 60.0,
        beside: Session | None = None,
        futile: FutileWaits | None = None,
        hears: bool = True,
    ) -> None:
        source = random.Random(seed)
        self.profile = profile_named(profile)
        self._line: LineName = nearest_line(profile, get_args(LineName))
        header = header_of(
            instance,
            suite=suite,
            target=target,
            profile=profile,
            role="broker",
            case=case,
            started=started,
        )
        super().__init__(
            instance,
            header=header,
            random_source=source,
            profile=self.profile,
            probe=_probe,
            deadline=deadline,
            beside=beside,
            futile=futile,
        )
        self.nameservers = [
            NameServerView(self, server, number, self._take_sole_use)
            for number, server in enumerate(instance.nameservers, 1)
        ]
        self._broker = instance
        self._hears = hears
        self._sole_use = instance.nameservers[0].turn
        self._has_sole_use = False
        self._identity: dict[str, str | None] = {}

    @property
    def scan_interval(self) -> float:
        return _CLIENT_SCAN

    @property
    def nameserver(self) -> NameServerView:
        """The NameServer that the Broker registers with; the first one, where there are several."""
        return self.nameservers[0]

    @property
    def started(self) -> Mark:
        """Before the Broker's start began. It counts for one that was started for the ``setup`` of a case and
        not restarted since: the clock of such a one is made before.
        """
        return Mark(0.0, 0.0)

    # --- what the Broker is called --------------------------------------------------------------------------

    @property
    def broker_name(self) -> str:
        """The name that it registers under. Raises ``Blocked`` where it does not register."""
        return self._registered("brokerName")

    @property
    def cluster_name(self) -> str:
        """The cluster that it registers in."""
        return self._registered("clusterName")

    @property
    def broker_address(self) -> str:
        """The address that it registers, ``ip:port``."""
        return self._registered("brokerAddr")

    def _registered(self, field: str) -> str:
        end = self.now() + _LONGEST_PERIOD + self.jitter
        while not self._identity:
            for server in self.nameservers:
                for heard in server.heard():
                    if heard.command.code == RequestCode.REGISTER_BROKER:
                        self._identity = heard.command.ext or {}
            if not self._identity:
                if self.now() > end:
                    raise Blocked("the Broker has not registered with its NameServer")
                self.pause(self.clock.timing.pause)
        return self._identity.get(field) or ""

    # --- replication ----------------------------------------------------------------------------------------

    @property
    def replication_address(self) -> str:
        """The address of its replication port, as it registers it."""
        return self._registered("haServerAddr")

    def slave(self) -> Slave:
        """A new slave of the Broker: a connection to its replication port."""
        address = self.replication_address
        self.checked("connecting")
        return Slave(self, self.adopt_raw(self._broker.open_at(address)))

    def logged(
        self,
        topic: str,
        body: bytes,
        *,
        at: int,
        number: int,
        queue: int = 0,
        keys: str = "",
        tags: str = "",
        born_host: str = "10.9.8.7:654",
        store_host: str = "127.0.0.1:321",
        store_timestamp: int = 1_700_000_000_000,
        properties: Mapping[str, str] | None = None,
    ) -> bytes:
        """The bytes of a message in the log of another Broker of this line, at an offset of that log, with a
        number in its queue.
        """
        said = {"KEYS": keys, "TAGS": tags, **(properties or {})}
        message = Message(topic=topic, body=body, properties=said, queue_id=queue)
        message.physical_offset, message.queue_offset = at, number
        message.born_timestamp, message.store_timestamp = 1_700_000_000_000, store_timestamp
        message.born_host, message.store_host = born_host, store_host
        return encode_message(message, self._line)

    def master(self) -> Master:
        """A new master for a Broker that is a slave: an address where it can connect."""
        return Master(self, self.listening(), self.adopt_raw)

    # --- clients --------------------------------------------------------------------------------------------

    def connect_fast(self) -> Connection:
        """A new connection to the VIP port of the Broker, two below its port."""
        host, _, port = self.broker_address.rpartition(":")
        self.checked("connecting")
        return self._added(self._broker.open_at(f"{host}:{int(port) - 2}"))

    def group(self, hint: str = "G") -> str:
        """A new name of a group, of consumers or producers."""
        return self.name(hint)

    def client(self, hint: str = "client") -> tuple[str, Connection]:
        """A new client: its id, and a connection of its own."""
        return self.name(hint), self.connect()

    def sign_as(self, account: Account | None) -> None:
        """Signs every request of the case from now on with an account; None: signs none."""
        self.hook = None if account is None else account.sign

    def next_request(self, code: int, connections: Sequence[Connection]) -> Exchange:
        """Awaits the next request of this code on any of these connections: where it is the Broker's affair
        whom it asks first. The answer's ``outcome.connection`` is the id of the one that was asked.
        """
        return next_request(self, connections, code)

    def close(self) -> None:
        super().close()
        for server in self.nameservers:
            if self._hears:
                server.record()
            if self._has_sole_use:
                server.forgive()
        if self._has_sole_use:
            self._has_sole_use = False
            self._sole_use.release()

    def _take_sole_use(self) -> None:
        """Waits until no other case says how NameServers treat the Broker. That time does not count."""
        began = self.clock.waiting()
        while not self._has_sole_use:
            if self._sole_use.acquire(blocking=False):
                self._has_sole_use = True
            elif self.clock.waiting() - began > _LONGEST_TURN:
                raise Blocked(f"other cases had the NameServers for themselves for {_LONGEST_TURN:g} s")
            else:
                self.pause(0.1)
        self.prolong(self.clock.waiting() - began)


def _probe(opaque: int, version: int, nonce: str) -> Command:
    """A heartbeat of a client that is in no group: every Broker answers it, and it changes nothing."""
    body = f'{{"clientID":"nobody-{nonce}","consumerDataSet":[],"producerDataSet":[]}}'
    return Command(code=RequestCode.HEART_BEAT, opaque=opaque, version=version, ext={}, body=body.encode())
