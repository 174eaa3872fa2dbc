"""Brokers in controller mode, as cases play them."""

from __future__ import annotations

from harness.conformance.expect import Reply
from harness.session import Listener, NameServerSession
from harness.session.connection import Connection
from harness.session.exchange import Exchange
from harness.session.nameserver.controller import MasterExchange
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
LONG = 3600
"""Seconds for which heartbeats count that are not to run out."""


class Replica:
    """A Broker of a name. It has an id as soon as it has applied for it."""

    def __init__(self, ns: NameServerSession, name: str, cluster: str, number: int) -> None:
        self.name = name
        self.cluster = cluster
        self.id = number
        self.address = ns.address()
        self.check_code = f"{self.address};{1700000000000 + number}"
        self._ns = ns
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """Its own connection to the controller."""
        if self._connection is None:
            self._connection = self._ns.connect_to_controller()
        return self._connection

    def leaves(self) -> None:
        """Closes its connection; the next heartbeat comes over a new one."""
        self.connection.close()
        self._connection = None

    def listens(self) -> Listener:
        """From now on it is where the case listens; before it applies for its id."""
        listener = Listener(self._ns, self._ns.listening())
        self.address = listener.address
        self.check_code = f"{self.address};1"
        return listener

    def applies(self) -> Exchange:
        """Applies for its id (1013)."""
        return self._ns.apply_broker_id(self.name, self.cluster, self.id, self.check_code)

    def beats(self, seconds: int | None = LONG, **said: int) -> Exchange:
        """Sends a heartbeat (904) that counts for so long; `said` are further fields."""
        ext: dict[str, str | int | bool | None] = {
            "clusterName": self.cluster,
            "brokerAddr": self.address,
            "brokerName": self.name,
            "brokerId": self.id,
            **said,
        }
        if seconds is not None:
            ext["heartbeatTimeoutMills"] = seconds * 1000
        about = f"{self.name}, id {self.id}"
        return self.connection.call(RequestCode.BROKER_HEARTBEAT, ext, about=about)

    def registers(self) -> MasterExchange:
        """Says where it is (1003)."""
        return self._ns.register_replica(self.name, self.cluster, self.id, self.address)

    def elects(self, *, designate: bool = False) -> MasterExchange:
        """Asks for an election (1002), or demands its own."""
        return self._ns.elect_master(self.name, self.cluster, self.id, designate)


def replicas(ns: NameServerSession, count: int, *, living: int | None = None) -> list[Replica]:
    """Brokers of a new name with the ids from 1 on, of which the first, or all, have sent a heartbeat."""
    name, cluster = ns.name("replicas"), ns.name("cluster")
    made = [Replica(ns, name, cluster, number) for number in range(1, count + 1)]
    for one in made:
        one.applies() >> Reply(SUCCESS)
    for one in made[: count if living is None else living]:
        one.beats() >> Reply(SUCCESS)
    return made


def in_sync(ns: NameServerSession, master: Replica, *others: Replica) -> None:
    """The first election of a name makes this one the master; the others are then in sync with it."""
    master.elects() >> Reply(SUCCESS)
    if others:
        ids = [master.id, *(one.id for one in others)]
        altered = ns.alter_in_sync(master.name, ids, master=master.id, master_epoch=1, epoch=1)
        altered >> Reply(SUCCESS)


def led_by(master: Replica | None, epoch: int) -> tuple[str | None, str | None, str]:
    """What requests show as the master (`MasterExchange.master`)."""
    if master is None:
        return (None, None, str(epoch))
    return (str(master.id), master.address, str(epoch))
