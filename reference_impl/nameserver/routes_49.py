"""What the 4.9 line decides differently about routes. Source: RouteInfoManager of rocketmq-all-4.9.8."""

from harness.wire.bodies import BrokerData, DataVersion

from .routes import RouteTable
from .state import Broker, Departure, LiveKey, Queue


class RouteTable49(RouteTable):
    """Live records by address alone, fixed leases, departures at once."""

    def live_key(self, cluster: str, address: str | None) -> LiveKey:
        return ("", address)

    def same_version(self, stored: DataVersion, given: DataVersion) -> bool:
        return stored.timestamp == given.timestamp and stored.counter == given.counter

    def updates(self, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        """An equal data version of a known registrant leaves everything as it is, missing topics too."""
        return first or moved or changed

    def first_scan(self) -> int:
        return 5_000

    def scan_interval(self) -> int:
        return 10_000

    def depart(self, departure: Departure) -> bool:
        self.leave([departure])
        return True

    def remove_entry(self, broker: Broker, departure: Departure) -> None:
        """An unregistration means its id, whatever address holds it; a lost connection, its address."""
        if departure.id is None:
            self.remove_address(broker, departure.address)
        else:
            self.remove_id(broker, departure.id)

    def departures_of_stranger(self, peer: str) -> list[Departure]:
        """The peer's own "ip:port" is taken for a broker address."""
        record = self.live.get(self.live_key("", peer))
        return [] if record is None else [self.departure_of(record)]

    def shown_broker(self, broker: Broker) -> BrokerData:
        return BrokerData(
            cluster=broker.cluster, broker_name=broker.name, broker_addrs=dict(broker.addresses)
        )
