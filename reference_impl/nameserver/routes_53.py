"""What the 5.x line decides differently about routes. Source: RouteInfoManager of rocketmq-all-5.3.3."""

from collections.abc import Iterable, Sequence

from harness.wire.bodies import BrokerData, DataVersion, TopicConfig, TopicQueueMappingInfo

from .routes import DEFAULT_LEASE, MASTER, RouteTable
from .settings import Settings
from .state import Broker, Departure, LiveKey, LiveRecord, NewMinimum, Queue, Registered, Registration
from .topic_table import WRITE

_NEVER_REWRITTEN = "rmq_sys_SYNC_BROKER_MEMBER_"
"""Brokers find each other by topics of this prefix and need real ids."""


class RouteTable53(RouteTable):
    """Live records by cluster and address, leases that brokers choose, acting masters, a worker."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._scans_every = settings.config.scan_not_active_broker_interval
        self._capacity = settings.config.un_register_broker_queue_capacity

    def live_key(self, cluster: str, address: str | None) -> LiveKey:
        return (cluster, address)

    def register(self, registration: Registration, connection: int, now: int) -> Registered | None:
        """As in 4.9, and the members of the name are notified of an id smaller than all before."""
        known = self.brokers.get(registration.broker)
        smallest = None if known is None else min(known.addresses)
        registered = super().register(registration, connection, now)
        if registered is not None and smallest is not None and registration.id < smallest:
            self.smaller_came(self.brokers[registration.broker], registration)
        return registered

    def smaller_came(self, broker: Broker, registration: Registration) -> None:
        """An id that is smaller than all before has registered, `enableActingMaster` or not."""
        self.tell(broker, None, registration.ha_address, self.told_of_arrival(broker, registration))

    def told_of_arrival(self, broker: Broker, registration: Registration) -> list[str]:
        """All members but the new one; the new one itself where it is alone, having had another id."""
        others = [address for number, address in broker.addresses.items() if number != registration.id]
        return others or [registration.address]

    def same_version(self, stored: DataVersion, given: DataVersion) -> bool:
        return (
            stored.timestamp == given.timestamp
            and stored.counter == given.counter
            and (stored.state_version or 0) == (given.state_version or 0)
        )

    def refuses(self, broker: Broker | None, registration: Registration) -> bool:
        """A lone topic is an update; an id that is not listed has nothing to update."""
        return (broker is None or registration.id not in broker.addresses) and len(registration.topics) == 1

    def conflicts(self, broker: Broker, registration: Registration) -> bool:
        """The id is held by another address that is live with a greater stateVersion."""
        held = broker.addresses.get(registration.id)
        if held is None or held == registration.address:
            return False
        record = self.live.get(self.live_key(registration.cluster, held))
        return record is not None and self.outranks(record.version, registration.version)

    def outranks(self, holder: DataVersion, registrant: DataVersion) -> bool:
        """Equal stateVersions are no conflict."""
        return (holder.state_version or 0) > (registrant.state_version or 0)

    def describe(self, broker: Broker, registration: Registration) -> None:
        """Acting master and zone are those of the latest registration, of whichever id."""
        described = (bool(registration.acting_master), registration.zone)
        if described != (broker.acting_master, broker.zone):
            broker.acting_master, broker.zone = described
            self.revision += 1

    def may_publish(self, broker: Broker, registration: Registration) -> bool:
        return registration.id == MASTER or self.is_prime_slave(broker, registration)

    def is_prime_slave(self, broker: Broker, registration: Registration) -> bool:
        """The slave of the smallest id, if it sends `enableActingMaster` at all."""
        return (
            registration.acting_master is not None
            and registration.id != MASTER
            and registration.id == min(broker.addresses)
        )

    def publish(
        self, broker: Broker, registration: Registration, *, first: bool, moved: bool, changed: bool
    ) -> None:
        added = {name for name in registration.topics if broker.name not in self.topics.get(name, ())}
        super().publish(broker, registration, first=first, moved=moved, changed=changed)
        for topic, name, mapping in registration.mappings:
            if first or changed or topic in added:
                self.store_mapping(topic, name, mapping)

    def updates(self, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        """An equal data version adds missing topics and leaves the others as they are."""
        return first or changed or known is None

    def queue_of(self, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        """What a prime slave publishes for an acting master is read-only."""
        queue = super().queue_of(broker, registration, topic)
        if registration.id != MASTER and broker.acting_master:
            return Queue(queue.read, queue.write, self.without_write(queue.perm), queue.flag)
        return queue

    def absent_topics(self, registration: Registration) -> Sequence[str]:
        """With `deleteTopicWithBrokerRegistration`, unless static-topic mappings are registered."""
        if not self.config.delete_topic_with_broker_registration or registration.mappings:
            return ()
        return [topic for topic, _ in self.queues_of(registration.broker) if topic not in registration.topics]

    def store_mapping(self, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        """Keep a static-topic mapping beside those of other broker names; `name` is the mapping's own."""
        if self.mappings.get(topic, {}).get(name) != mapping:
            self.mappings.setdefault(topic, {})[name] = mapping
            self.revision += 1

    def drop_topics_of(self, broker: Broker) -> None:
        super().drop_topics_of(broker)
        for topic in list(self.mappings):
            self.drop_mapping(topic, broker.name)

    def register_topic(self, topic: str, queues: Iterable[tuple[str | None, Queue]]) -> None:
        """Give (broker name, queue data) to a topic, until a broker's registration says otherwise.

        A name that no broker has ends it: a new topic then gets nothing, one that exists what came before.
        """
        known: list[tuple[str, Queue]] = []
        for name, queue in queues:
            if name is None or not self.knows_name(name):
                if topic not in self.topics:
                    return
                break
            known.append((name, queue))
        for name, queue in known:
            self.put_queue(topic, name, queue)

    def knows_name(self, name: str) -> bool:
        """Whether a topic may be given to a broker name."""
        return name in self.brokers

    def lease_of(self, registration: Registration) -> int:
        """What the broker asks for, even 0 or less: then it leaves at the next scan."""
        return DEFAULT_LEASE if registration.lease is None else registration.lease

    def first_scan(self) -> int:
        return self._scans_every

    def scan_interval(self) -> int:
        return self._scans_every

    def depart(self, departure: Departure) -> bool:
        """Departures wait for the worker: the reply to an unregistration precedes its effect."""
        if len(self.leaving) >= self._capacity:
            return False
        self.leaving.append(departure)
        return True

    def lists(self, broker: Broker, record: LiveRecord) -> bool:
        """The same address in another cluster is another broker."""
        return broker.name in self.clusters.get(record.cluster, {}) and super().lists(broker, record)

    def leave(self, departures: list[Departure]) -> None:
        """As in 4.9, and the members of a name are notified, once for a batch, that its smallest id left."""
        names = {name for departure in departures for name in departure.brokers if name in self.brokers}
        smallest = {name: min(self.brokers[name].addresses.items()) for name in names}
        super().leave(departures)
        for name, (number, address) in smallest.items():
            broker = self.brokers.get(name)
            if broker is not None and number not in broker.addresses:
                self.smallest_left(broker, address)

    def smallest_left(self, broker: Broker, address: str) -> None:
        """The smallest id has left, and others stay: of interest only where a slave may act as the master."""
        if broker.acting_master:
            self.tell(broker, address, None, list(broker.addresses.values()))

    def tell(self, broker: Broker, left: str | None, ha_address: str | None, recipients: list[str]) -> None:
        """Have these addresses told which id of the name is the smallest now, with the setting for it."""
        if self.config.notify_min_broker_id_changed:
            number, address = min(broker.addresses.items())
            self.news.append(NewMinimum(number, address, left, ha_address, tuple(recipients)))

    def reduced(self, broker: Broker) -> None:
        """Without a master a name that may act for it serves read-only; negative ids count as masters."""
        if broker.acting_master and min(broker.addresses) > MASTER:
            for topic, queue in self.queues_of(broker.name):
                self.set_permission(topic, broker.name, queue, self.without_write(queue.perm))

    def routed_broker(self, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = self.shown_broker(broker)
        if self.shows_acting_master(topic, broker, queue):
            shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(broker.addresses))
        return shown

    def shows_acting_master(self, topic: str, broker: Broker, queue: Queue) -> bool:
        """Whether the smallest slave is shown as id 0, in this route only."""
        return (
            self.config.support_acting_master
            and broker.acting_master
            and MASTER not in broker.addresses
            and not queue.perm & WRITE
            and not topic.startswith(_NEVER_REWRITTEN)
        )

    def shown_broker(self, broker: Broker) -> BrokerData:
        return BrokerData(
            cluster=broker.cluster,
            broker_name=broker.name,
            broker_addrs=dict(broker.addresses),
            enable_acting_master=broker.acting_master,
            zone_name=broker.zone,
        )
