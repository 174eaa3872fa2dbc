"""The route table: which brokers exist, what they serve, and until when. Pure state; time is injected.

Rules that hold after every call:
1. Within one broker name an address has one id, and an id has one address.
2. A broker name without address does not exist, nor a topic without broker, nor a cluster without broker
   name.
3. Only a master (5.3: or a prime slave) changes queue data by registering.
4. `revision` grows with every change that a route can show: equal revisions, equal routes.

Each decision is one small method, so that a mutant can replace exactly one; `parts.py` lists them. What the
two lines share is here; what they decide differently is in `routes_49.py` and `routes_53.py`.

Where Apache's server has a defect that no client can rely on, this table does the sane thing:
- A slave promoted over a master that is still listed publishes its topics. (4.9 forgets them.)
- A lost connection removes every broker whose latest registration came over it. (Both remove one of them.)
- A refused registration changes nothing. (5.x leaves a broker without address and an entry in the cluster.)
- A broker name that vanishes leaves every cluster. (Both look only at the one that the request names.)
- The live record of a replaced address goes when its connection or its lease ends. (5.x keeps it for ever.)

Topics, their lists and their permissions are in `topic_table.py`.

Source: RouteInfoManager of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections import deque
from collections.abc import Sequence

from harness.wire.bodies import (
    BrokerData,
    ClusterInfo,
    DataVersion,
    QueueData,
    TopicConfig,
    TopicRoute,
)

from .config import Config
from .settings import Settings
from .state import Broker, Departure, LiveKey, LiveRecord, NewMinimum, Queue, Registered, Registration
from .topic_table import TopicTable

MASTER = 0
"""The broker id of a master; every other id, negative ones too, is a slave's."""
DEFAULT_LEASE = 120_000
"""How long a broker that is not heard of stays, in ms."""


class RouteTable(TopicTable):
    """What both lines share. Use RouteTable49 or RouteTable53."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.live: dict[LiveKey, LiveRecord] = {}
        self.filters: dict[LiveKey, list[str | None]] = {}
        self.leaving: deque[Departure] = deque()
        self.news: list[NewMinimum] = []
        """Notifications for brokers; the caller that sends them empties the list."""

    @property
    def config(self) -> Config:
        """The settings in force at this moment."""
        return self.settings.config

    # -- registration ----------------------------------------------------------------------------------------

    def register(self, registration: Registration, connection: int, now: int) -> Registered | None:
        """Carry out a registration. None: refused, and nothing was changed."""
        broker = self.brokers.get(registration.broker)
        if self.refuses(broker, registration):
            return None
        if broker is not None and self.conflicts(broker, registration):
            self.reject(broker, registration)
            return Registered()
        self.join_cluster(registration)
        first = broker is None
        if broker is None:
            broker = Broker(registration.cluster, registration.broker, {})
            self.brokers[registration.broker] = broker
            self.revision += 1
        self.describe(broker, registration)
        moved = self.forget_other_ids(broker, registration)
        first |= self.put_address(broker, registration)
        key = self.live_key(registration.cluster, registration.address)
        previous = self.live.get(key)
        settled = self._is_settled(previous, registration)
        if self.may_publish(broker, registration) and not settled:
            changed = previous is None or not self.same_version(previous.version, registration.version)
            self.publish(broker, registration, first=first, moved=moved, changed=changed)
            settled = first or changed
        self.live[key] = LiveRecord(
            registration.cluster,
            registration.address,
            now,
            self.lease_of(registration),
            registration.version,
            self.owner(previous, connection),
            registration.ha_address,
            registration.topics,
            registration.broker,
            self.revision if settled else -1,
        )
        if registration.filter_servers is not None:
            self.keep_filter_servers(key, registration.filter_servers)
        return self.told(broker, registration)

    def _is_settled(self, previous: LiveRecord | None, registration: Registration) -> bool:
        """Whether the table shows this very payload already, so that publishing it could change nothing."""
        return (
            previous is not None
            and previous.settled == self.revision
            and previous.topics is registration.topics
            and previous.broker == registration.broker
            and not registration.mappings
            and not self.absent_topics(registration)
        )

    def live_key(self, cluster: str, address: str | None) -> LiveKey:
        """What a live record is found by."""
        raise NotImplementedError

    def refuses(self, broker: Broker | None, registration: Registration) -> bool:
        """Whether the registration is answered with an error."""
        return False

    def conflicts(self, broker: Broker, registration: Registration) -> bool:
        """Whether the registration is ignored because another address holds the id with better right."""
        return False

    def reject(self, broker: Broker, registration: Registration) -> None:
        """Ignore a registration that conflicts: the registrant's own earlier entry and record are dropped."""
        self.forget_other_ids(broker, registration)
        self.live.pop(self.live_key(registration.cluster, registration.address), None)

    def join_cluster(self, registration: Registration) -> None:
        """List the name under the cluster that it now names, besides those that it named before."""
        self.clusters.setdefault(registration.cluster, {})[registration.broker] = None

    def describe(self, broker: Broker, registration: Registration) -> None:
        """Take over what a registration says about the whole broker name."""

    def forget_other_ids(self, broker: Broker, registration: Registration) -> bool:
        """Drop the registrant's address where it is listed under another id. True if it was."""
        others = [
            i for i, a in broker.addresses.items() if a == registration.address and i != registration.id
        ]
        for other in others:
            del broker.addresses[other]
            self.revision += 1
        return bool(others)

    def put_address(self, broker: Broker, registration: Registration) -> bool:
        """List the address under its id, and displace another holder. True if the id was free."""
        held = broker.addresses.get(registration.id)
        if held != registration.address:
            broker.addresses[registration.id] = registration.address
            self.revision += 1
        return not held

    def same_version(self, stored: DataVersion, given: DataVersion) -> bool:
        """Whether two data versions are equal; neither is ever "newer"."""
        raise NotImplementedError

    def may_publish(self, broker: Broker, registration: Registration) -> bool:
        """Whether the registrant may change queue data."""
        return registration.id == MASTER

    def publish(
        self, broker: Broker, registration: Registration, *, first: bool, moved: bool, changed: bool
    ) -> None:
        """Bring the queue data of the broker name up to date.

        `first`: name or id was not known; `moved`: the address was listed under another id; `changed`: the
        data version differs from the registrant's last one, or it has none.
        """
        for topic in self.absent_topics(registration):
            self.drop_queue(topic, broker.name)
        for name, config in registration.topics.items():
            queues = self.topics.get(name)
            known = None if queues is None else queues.get(broker.name)
            if self.updates(known, first=first, moved=moved, changed=changed):
                self.put_queue(name, broker.name, self.queue_of(broker, registration, config))

    def updates(self, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        """Whether a topic of the payload is taken over; `known` is what is stored for it."""
        raise NotImplementedError

    def queue_of(self, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        """What is stored for a topic of the payload."""
        return Queue(topic.read_queue_nums, topic.write_queue_nums, topic.perm, topic.topic_sys_flag)

    def absent_topics(self, registration: Registration) -> Sequence[str]:
        """The broker's topics that its registration removes: none, even if it does not list them."""
        return ()

    def lease_of(self, registration: Registration) -> int:
        """How long a registration counts, in ms."""
        return DEFAULT_LEASE

    def owner(self, previous: LiveRecord | None, connection: int) -> int:
        """The connection whose end removes the broker: that of the latest registration."""
        return connection

    def keep_filter_servers(self, key: LiveKey, servers: list[str | None]) -> None:
        """Replace the filter servers of an address; an empty list clears them."""
        if servers != self.filters.get(key, []):
            self.revision += 1
        if servers:
            self.filters[key] = servers
        else:
            self.filters.pop(key, None)

    def told(self, broker: Broker, registration: Registration) -> Registered:
        """A slave gets its master if that is live; a master gets nothing."""
        address = broker.addresses.get(MASTER)
        if registration.id == MASTER:
            return Registered()
        record = self.live.get(self.live_key(registration.cluster, address))
        return Registered() if record is None else Registered(address, record.ha_address)

    # -- lease -----------------------------------------------------------------------------------------------

    def first_scan(self) -> int:
        """Milliseconds from the start to the first expiry scan."""
        raise NotImplementedError

    def scan_interval(self) -> int:
        """Milliseconds between two expiry scans."""
        raise NotImplementedError

    def expired(self, now: int) -> list[LiveRecord]:
        """The records whose lease has run out."""
        return [record for record in self.live.values() if self.lease_ended(record, now)]

    def lease_ended(self, record: LiveRecord, now: int) -> bool:
        """Whether a lease has run out; at its very last millisecond it has not."""
        return record.refreshed + record.lease < now

    def refresh(self, cluster: str, address: str | None, now: int) -> None:
        """Renew the lease of a live broker; creates nothing and keeps the length of the lease."""
        record = self.live.get(self.live_key(cluster, address))
        if record is not None:
            record.refreshed = now

    def stored_version(self, cluster: str, address: str | None) -> DataVersion | None:
        """The data version of the latest registration of a live broker."""
        record = self.live.get(self.live_key(cluster, address))
        return None if record is None else record.version

    # -- departure -------------------------------------------------------------------------------------------

    def depart(self, departure: Departure) -> bool:
        """Take a departure in hand. False: too many are waiting, and this one is not taken."""
        raise NotImplementedError

    def work(self) -> None:
        """Carry out, as one batch, the departures that wait."""
        batch = list(self.leaving)
        self.leaving.clear()
        self.leave(batch)

    def connection_lost(self, connection: int, peer: str) -> None:
        """Remove the brokers of a connection that is no more; `peer` is its remote "ip:port"."""
        records = self.records_of(connection)
        for departure in map(self.departure_of, records) if records else self.departures_of_stranger(peer):
            self.depart(departure)

    def records_of(self, connection: int) -> list[LiveRecord]:
        """The live records that a connection owns."""
        return [record for record in self.live.values() if record.connection == connection]

    def departure_of(self, record: LiveRecord) -> Departure:
        """What has to leave with a live record: its address, from each name that lists it."""
        names = tuple(broker.name for broker in self.brokers.values() if self.lists(broker, record))
        return Departure(record.cluster, record.address, names, connection=record.connection)

    def lists(self, broker: Broker, record: LiveRecord) -> bool:
        """Whether a broker name lists the address of a live record."""
        return record.address in broker.addresses.values()

    def departures_of_stranger(self, peer: str) -> list[Departure]:
        """What has to leave with a connection without registrations."""
        return []

    def leave(self, departures: list[Departure]) -> None:
        """Carry out departures."""
        for departure in departures:
            if not self.still_meant(departure):
                continue
            self.forget_record(departure)
            for name in departure.brokers:
                broker = self.brokers.get(name)
                if broker is not None:
                    self.remove_entry(broker, departure)
                    if broker.addresses:
                        self.reduced(broker)
                    else:
                        self.forget_name(broker)

    def still_meant(self, departure: Departure) -> bool:
        """Whether a departure is still due: not if the broker has come back over another connection since."""
        if departure.connection is None:
            return True
        record = self.live.get(self.live_key(departure.cluster, departure.address))
        return record is not None and record.connection == departure.connection

    def forget_record(self, departure: Departure) -> None:
        """Drop lease and filter servers of the address."""
        key = self.live_key(departure.cluster, departure.address)
        self.live.pop(key, None)
        if self.filters.pop(key, None) is not None:
            self.revision += 1

    def remove_entry(self, broker: Broker, departure: Departure) -> None:
        """Drop the address entry that a departure means."""
        self.remove_address(broker, departure.address)

    def remove_address(self, broker: Broker, address: str) -> None:
        """Drop an address from a broker name."""
        for number in [number for number, held in broker.addresses.items() if held == address]:
            self.remove_id(broker, number)

    def remove_id(self, broker: Broker, number: int) -> None:
        """Drop an id from a broker name."""
        if broker.addresses.pop(number, None) is not None:
            self.revision += 1

    def reduced(self, broker: Broker) -> None:
        """A broker name has lost an address and has others left."""

    def forget_name(self, broker: Broker) -> None:
        """A broker name has lost its last address."""
        del self.brokers[broker.name]
        self.revision += 1
        self.leave_clusters(broker)
        self.drop_topics_of(broker)

    def leave_clusters(self, broker: Broker) -> None:
        """Drop a broker name from the clusters, and clusters that have none left."""
        for cluster in [cluster for cluster, names in self.clusters.items() if broker.name in names]:
            del self.clusters[cluster][broker.name]
            if not self.clusters[cluster]:
                self.drop_cluster(cluster)

    def drop_cluster(self, cluster: str) -> None:
        """A cluster has lost its last broker name."""
        del self.clusters[cluster]

    def drop_topics_of(self, broker: Broker) -> None:
        """Drop the queue data of a broker name."""
        for topic, _ in self.queues_of(broker.name):
            self.drop_queue(topic, broker.name)

    # -- what clients see ------------------------------------------------------------------------------------

    def route(self, topic: str) -> TopicRoute | None:
        """The route of a topic, or None if no broker that exists serves it."""
        queues = self.topics.get(topic, {})
        brokers = [self.brokers[name] for name in queues if name in self.brokers]
        if not brokers:
            return None
        return TopicRoute(
            queue_datas=[self.shown_queue(name, queue) for name, queue in queues.items()],
            broker_datas=[self.routed_broker(topic, broker, queues[broker.name]) for broker in brokers],
            filter_server_table=self.shown_filters(brokers),
            topic_queue_mapping_by_broker=self.mappings.get(topic),
        )

    def shown_queue(self, name: str, queue: Queue) -> QueueData:
        """One element of `queueDatas`."""
        return QueueData(
            broker_name=name,
            read_queue_nums=queue.read,
            write_queue_nums=queue.write,
            perm=queue.perm,
            topic_sys_flag=queue.flag,
        )

    def routed_broker(self, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        """One element of `brokerDatas` of a route."""
        return self.shown_broker(broker)

    def shown_broker(self, broker: Broker) -> BrokerData:
        """One broker name with all its addresses."""
        raise NotImplementedError

    def shown_filters(self, brokers: list[Broker]) -> dict[str, list[str | None]]:
        """`filterServerTable` of a route: the addresses that have filter servers."""
        if not self.filters:
            return {}
        return {
            address: self.filters[key]
            for broker in brokers
            for address in broker.addresses.values()
            if (key := self.live_key(broker.cluster, address)) in self.filters
        }

    def cluster_info(self) -> ClusterInfo:
        """Every broker name, and which cluster lists which names."""
        return ClusterInfo(
            broker_addr_table={name: self.shown_broker(broker) for name, broker in self.brokers.items()},
            cluster_addr_table={cluster: list(names) for cluster, names in self.clusters.items()},
        )

    def member_addresses(self, name: str) -> dict[int, str]:
        """The real ids and addresses of a broker name; empty if it is unknown."""
        broker = self.brokers.get(name)
        return {} if broker is None else dict(broker.addresses)
