"""Faults of registration (code 103): identities, topics, data versions, bodies, what the reply says."""

import json
import zlib
from typing import Any

import msgspec

from harness.wire import Command, ResponseCode, WireError, body_crc32
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig, TopicQueueMappingInfo
from harness.wire.codes import V3_0_11, V5_0_0
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, WRITE, RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, LiveKey, Queue, Registered, Registration
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

_REQUIRED = {"brokerName", "brokerAddr", "clusterName", "haServerAddr", "brokerId"}
_OPTIONAL = {"compressed", "bodyCrc32", "heartbeatTimeoutMillis", "enableActingMaster", "__ZONE_NAME"}
_WRAPPER = {"dataVersion", "topicConfigTable"}


def _with(command: Command, **changes: Any) -> Command:
    return msgspec.structs.replace(command, **changes)


# -- who is listed, and what a registrant is told ------------------------------------------------------------


@mutant("registration-is-not-kept", "A registration is answered with success and forgotten.")
def registration_is_not_kept(parts: Parts) -> Parts:
    def register(
        self: RouteTable, registration: Registration, connection: int, now: int
    ) -> Registered | None:
        return Registered()

    return parts.override("routes", register)


@mutant("master-is-told-itself", "A master is told its own address as that of its master.")
def master_is_told_itself(parts: Parts) -> Parts:
    def told(self: RouteTable, broker: Broker, registration: Registration) -> Registered:
        if registration.id == MASTER:
            return Registered(registration.address, registration.ha_address)
        return parts.routes.told(self, broker, registration)

    return parts.override("routes", told)


@mutant("slave-is-told-nothing", "A slave is never told the addresses of its master.")
def slave_is_told_nothing(parts: Parts) -> Parts:
    def told(self: RouteTable, broker: Broker, registration: Registration) -> Registered:
        return Registered()

    return parts.override("routes", told)


@mutant("slave-is-told-itself", "A slave whose name has no master is told its own address.")
def slave_is_told_itself(parts: Parts) -> Parts:
    def told(self: RouteTable, broker: Broker, registration: Registration) -> Registered:
        if registration.id != MASTER and MASTER not in broker.addresses:
            return Registered(registration.address, registration.ha_address)
        return parts.routes.told(self, broker, registration)

    return parts.override("routes", told)


@mutant(
    "master-addresses-are-swapped",
    "A slave is told the HA address of its master as masterAddr and vice versa.",
)
def master_addresses_are_swapped(parts: Parts) -> Parts:
    def registered_ext(self: NameServer, registered: Registered) -> dict[str, str | None]:
        ext = parts.nameserver.registered_ext(self, registered)
        names = {"masterAddr": "haServerAddr", "haServerAddr": "masterAddr"}
        return {names[name]: value for name, value in ext.items()}

    return parts.override("nameserver", registered_ext)


@mutant("first-master-is-remembered", "A slave is told the first master that its name ever had.")
def first_master_is_remembered(parts: Parts) -> Parts:
    def told(self: RouteTable, broker: Broker, registration: Registration) -> Registered:
        memory: dict[str, Registered] = self.__dict__.setdefault("first_masters", {})
        told = parts.routes.told(self, broker, registration)
        if told.master is not None:
            memory.setdefault(broker.name, told)
        return memory.get(broker.name, told)

    return parts.override("routes", told)


@mutant(
    "id-belongs-to-first-address",
    "An address that registers with an id that is held does not replace the holder.",
)
def id_belongs_to_first_address(parts: Parts) -> Parts:
    def put_address(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        if registration.id in broker.addresses:
            return False
        return parts.routes.put_address(self, broker, registration)

    return parts.override("routes", put_address)


@mutant("demotion-drops-topics", "A broker that registers with another id loses the topics of its name.")
def demotion_drops_topics(parts: Parts) -> Parts:
    def forget_other_ids(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        moved = parts.routes.forget_other_ids(self, broker, registration)
        if moved:
            self.drop_topics_of(broker)
        return moved

    return parts.override("routes", forget_other_ids)


@mutant("address-belongs-to-one-name", "A registration takes its address away from every other broker name.")
def address_belongs_to_one_name(parts: Parts) -> Parts:
    def put_address(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        for other in list(self.brokers.values()):
            if other is not broker:
                self.remove_address(other, registration.address)
                if not other.addresses:
                    self.forget_name(other)
        return parts.routes.put_address(self, broker, registration)

    return parts.override("routes", put_address)


@mutant(
    "cluster-follows-latest-registration",
    "The broker data of a name shows the cluster of its latest registration.",
)
def cluster_follows_latest_registration(parts: Parts) -> Parts:
    def join_cluster(self: RouteTable, registration: Registration) -> None:
        parts.routes.join_cluster(self, registration)
        broker = self.brokers.get(registration.broker)
        if broker is not None and broker.cluster != registration.cluster:
            broker.cluster = registration.cluster
            self.revision += 1

    return parts.override("routes", join_cluster)


@mutant("name-has-one-cluster", "A broker name is listed only under the cluster of its latest registration.")
def name_has_one_cluster(parts: Parts) -> Parts:
    def join_cluster(self: RouteTable, registration: Registration) -> None:
        for names in self.clusters.values():
            names.pop(registration.broker, None)
        parts.routes.join_cluster(self, registration)

    return parts.override("routes", join_cluster)


# -- identifiers ---------------------------------------------------------------------------------------------


def _registration(parts: Parts, change: Any) -> Parts:
    """Parts whose registrations are what `change(command, registration)` makes of them."""

    def registration(self: NameServer, command: Command) -> Registration:
        changed: Registration = change(command, parts.nameserver.registration(self, command))
        return changed

    return parts.override("nameserver", registration)


@mutant("names-are-ascii", "Characters of names outside ASCII become question marks.")
def names_are_ascii(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        registration.broker = registration.broker.encode("ascii", "replace").decode()
        return registration

    return _registration(parts, change)


@mutant("names-lose-backslashes", "Backslashes in broker names are dropped.")
def names_lose_backslashes(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        registration.broker = registration.broker.replace("\\", "")
        return registration

    return _registration(parts, change)


@mutant("broker-id-has-32-bits", "Only the low 32 bits of a broker id are kept.")
def broker_id_has_32_bits(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        registration.id &= 0xFFFFFFFF
        return registration

    return _registration(parts, change)


@mutant("missing-broker-id-is-master", "A registration without a readable brokerId is taken for a master's.")
def missing_broker_id_is_master(parts: Parts) -> Parts:
    def needed(self: NameServer, value: Any, name: str) -> Any:
        return MASTER if name == "brokerId" and value is None else parts.nameserver.needed(self, value, name)

    return parts.override("nameserver", needed)


@mutant("ipv6-brackets-are-dropped", "The brackets of IPv6 addresses are dropped.")
def ipv6_brackets_are_dropped(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        registration.address = registration.address.replace("[", "").replace("]", "")
        return registration

    return _registration(parts, change)


@mutant("optional-fields-are-required", "A registration without compressed and bodyCrc32 is refused.")
def optional_fields_are_required(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        if not {"compressed", "bodyCrc32"} <= set(command.ext or {}):
            raise RefusedError("compressed and bodyCrc32 are needed")
        return registration

    return _registration(parts, change)


@mutant("ha-address-is-required", "A registration without haServerAddr is refused.")
def ha_address_is_required(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        if registration.ha_address is None:
            raise RefusedError("haServerAddr is missing")
        return registration

    return _registration(parts, change)


@mutant("unknown-ext-fields-are-refused", "A registration with an ext field that is not known is refused.")
def unknown_ext_fields_are_refused(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        if not set(command.ext or {}) <= _REQUIRED | _OPTIONAL:
            raise RefusedError("unknown field")
        return registration

    return _registration(parts, change)


@mutant("one-way-registration-is-dropped", "A registration that wants no answer has no effect.")
def one_way_registration_is_dropped(parts: Parts) -> Parts:
    def register(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if command.is_oneway:
            return Reply(ResponseCode.SUCCESS)
        return parts.nameserver.register(self, command, connection, now)

    return parts.override("nameserver", register)


@mutant("heartbeat-registers", "The heartbeat of an unknown broker registers it.", profiles=V5)
def heartbeat_registers(parts: Parts) -> Parts:
    def heartbeat(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        self.routes.register(self.registration(command), connection, now)
        return Reply(ResponseCode.SUCCESS)

    return parts.override("nameserver", heartbeat)


# -- topics --------------------------------------------------------------------------------------------------


@mutant("slave-publishes-topics", "Topics of every registration become routable, slaves' too.")
def slave_publishes_topics(parts: Parts) -> Parts:
    def may_publish(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return True

    return parts.override("routes", may_publish)


@mutant("lone-slave-publishes-topics", "A slave publishes topics while its name has no master, asked or not.")
def lone_slave_publishes_topics(parts: Parts) -> Parts:
    def may_publish(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return parts.routes.may_publish(self, broker, registration) or MASTER not in broker.addresses

    return parts.override("routes", may_publish)


@mutant("only-masters-publish-topics", "A slave never publishes topics.", profiles=V5)
def only_masters_publish_topics(parts: Parts) -> Parts:
    def is_prime_slave(self: RouteTable53, broker: Broker, registration: Registration) -> bool:
        return False

    return parts.override("routes", is_prime_slave)


@mutant(
    "only-acting-slave-publishes",
    "The lowest slave publishes only with enableActingMaster=true.",
    profiles=V5,
)
def only_acting_slave_publishes(parts: Parts) -> Parts:
    def is_prime_slave(self: RouteTable53, broker: Broker, registration: Registration) -> bool:
        prime = RouteTable53.is_prime_slave(self, broker, registration)
        return prime and bool(registration.acting_master)

    return parts.override("routes", is_prime_slave)


@mutant(
    "every-acting-slave-publishes",
    "A slave with enableActingMaster publishes whatever its id.",
    profiles=V5,
)
def every_acting_slave_publishes(parts: Parts) -> Parts:
    def is_prime_slave(self: RouteTable53, broker: Broker, registration: Registration) -> bool:
        return registration.acting_master is not None and registration.id != MASTER

    return parts.override("routes", is_prime_slave)


@mutant("acting-slave-keeps-write", "The topics of an acting slave stay writable.", profiles=V5)
def acting_slave_keeps_write(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        return RouteTable.queue_of(self, broker, registration, topic)

    return parts.override("routes", queue_of)


@mutant(
    "lost-write-permission-stays-lost",
    "A topic without write permission never gets it back by a registration.",
    profiles=V5,
)
def lost_write_permission_stays_lost(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        queue = parts.routes.queue_of(self, broker, registration, topic)
        known = self.topics.get(topic.topic_name or "", {}).get(broker.name)
        if known is None or known.perm & WRITE:
            return queue
        return Queue(queue.read, queue.write, self.without_write(queue.perm), queue.flag)

    return parts.override("routes", queue_of)


@mutant("read-and-write-queues-are-swapped", "Read queues are stored as write queues and vice versa.")
def read_and_write_queues_are_swapped(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        queue = parts.routes.queue_of(self, broker, registration, topic)
        return Queue(queue.write, queue.read, queue.perm, queue.flag)

    return parts.override("routes", queue_of)


@mutant("system-flag-is-lost", "The system flag of a topic is not kept.")
def system_flag_is_lost(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        queue = parts.routes.queue_of(self, broker, registration, topic)
        return Queue(queue.read, queue.write, queue.perm, 0)

    return parts.override("routes", queue_of)


@mutant(
    "topic-belongs-to-latest-broker", "A topic keeps the queue data of the broker that registered it last."
)
def topic_belongs_to_latest_broker(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        queues = self.topics.get(topic.topic_name or "", {})
        for other in [name for name in queues if name != broker.name]:
            del queues[other]
        return parts.routes.queue_of(self, broker, registration, topic)

    return parts.override("routes", queue_of)


@mutant("topic-defaults-are-8", "A topic configuration without queue numbers gets 8 of each.")
def topic_defaults_are_8(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if b"QueueNums" not in command.body:
            for topic in (body.topics or {}).values():
                topic.read_queue_nums = topic.write_queue_nums = 8
        return body

    return parts.override("nameserver", register_body)


@mutant("topic-is-named-by-its-key", "A topic is stored under its key in topicConfigTable.")
def topic_is_named_by_its_key(parts: Parts) -> Parts:
    def announced_topics(self: NameServer, body: RegisterBody) -> dict[str, TopicConfig]:
        return body.topics or {}

    return parts.override("nameserver", announced_topics)


@mutant("registration-needs-topics", "A registration without topics is refused.")
def registration_needs_topics(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        return not registration.topics or parts.routes.refuses(self, broker, registration)

    return parts.override("routes", refuses)


@mutant("absent-topics-are-dropped", "A registration drops the broker's topics that it does not carry.")
def absent_topics_are_dropped(parts: Parts) -> Parts:
    def absent_topics(self: RouteTable, registration: Registration) -> list[str]:
        return [topic for topic, _ in self.queues_of(registration.broker) if topic not in registration.topics]

    return parts.override("routes", absent_topics)


@mutant("lone-topic-is-always-refused", "A registration with exactly one topic is refused, first or not.")
def lone_topic_is_always_refused(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        return len(registration.topics) == 1

    return parts.override("routes", refuses)


@mutant(
    "lone-topic-is-never-refused",
    "A first registration with exactly one topic is accepted.",
    profiles=V5,
)
def lone_topic_is_never_refused(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        return False

    return parts.override("routes", refuses)


@mutant("refusal-is-for-good", "A broker name that was refused once is refused for ever.", profiles=V5)
def refusal_is_for_good(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        refused: set[str] = self.__dict__.setdefault("refused", set())
        if parts.routes.refuses(self, broker, registration):
            refused.add(registration.broker)
        return registration.broker in refused

    return parts.override("routes", refuses)


# -- data versions -------------------------------------------------------------------------------------------


@mutant("data-versions-are-ordered", "A data version that is not newer than the stored one counts as equal.")
def data_versions_are_ordered(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return _order(given) <= _order(stored)

    return parts.override("routes", same_version)


def _order(version: DataVersion) -> tuple[int, int, int]:
    return (version.state_version or 0, version.timestamp, version.counter)


@mutant(
    "timestamp-is-not-compared", "Data versions of the same counter are equal, whatever their timestamps."
)
def timestamp_is_not_compared(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return stored.counter == given.counter and (stored.state_version or 0) == (given.state_version or 0)

    return parts.override("routes", same_version)


@mutant(
    "state-version-is-not-compared",
    "Data versions that differ only in stateVersion are equal.",
    profiles=V5,
)
def state_version_is_not_compared(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return stored.counter == given.counter and stored.timestamp == given.timestamp

    return parts.override("routes", same_version)


@mutant("data-versions-are-floats", "The numbers of data versions are compared as 64-bit floats.")
def data_versions_are_floats(parts: Parts) -> Parts:
    def same_version(self: RouteTable, stored: DataVersion, given: DataVersion) -> bool:
        return list(map(float, _order(stored))) == list(map(float, _order(given)))

    return parts.override("routes", same_version)


@mutant("equal-version-overwrites-queues", "A registration with an equal data version replaces queue data.")
def equal_version_overwrites_queues(parts: Parts) -> Parts:
    def updates(self: RouteTable, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        return True

    return parts.override("routes", updates)


@mutant(
    "known-queues-are-never-updated",
    "A registration only adds topics and never changes those that are known.",
)
def known_queues_are_never_updated(parts: Parts) -> Parts:
    def updates(self: RouteTable, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        return known is None and (first or moved or changed)

    return parts.override("routes", updates)


@mutant(
    "only-changed-versions-update", "Nothing but a changed data version makes a registration publish topics."
)
def only_changed_versions_update(parts: Parts) -> Parts:
    def updates(self: RouteTable, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        return changed

    return parts.override("routes", updates)


# -- whose id it is (5.x) ------------------------------------------------------------------------------------


@mutant(
    "state-version-gives-no-right",
    "The holder of an id is replaced whatever its stateVersion.",
    profiles=V5,
)
def state_version_gives_no_right(parts: Parts) -> Parts:
    def conflicts(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return False

    return parts.override("routes", conflicts)


@mutant(
    "equal-state-version-conflicts",
    "The holder of an id is kept when stateVersions are equal.",
    profiles=V5,
)
def equal_state_version_conflicts(parts: Parts) -> Parts:
    def outranks(self: RouteTable53, holder: DataVersion, registrant: DataVersion) -> bool:
        return (holder.state_version or 0) >= (registrant.state_version or 0)

    return parts.override("routes", outranks)


@mutant(
    "greater-state-version-conflicts",
    "The holder of an id is kept against greater stateVersions.",
    profiles=V5,
)
def greater_state_version_conflicts(parts: Parts) -> Parts:
    def outranks(self: RouteTable53, holder: DataVersion, registrant: DataVersion) -> bool:
        return (holder.state_version or 0) != (registrant.state_version or 0)

    return parts.override("routes", outranks)


@mutant("holder-conflicts-with-itself", "An address cannot lower its own stateVersion.", profiles=V5)
def holder_conflicts_with_itself(parts: Parts) -> Parts:
    def conflicts(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        record = self.live.get(self.live_key(registration.cluster, broker.addresses.get(registration.id, "")))
        return record is not None and _order(registration.version)[0] < _order(record.version)[0]

    return parts.override("routes", conflicts)


@mutant(
    "conflict-is-refused",
    "A registration with a lower stateVersion than the holder's is refused.",
    profiles=V5,
)
def conflict_is_refused(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        conflicts = broker is not None and self.conflicts(broker, registration)
        return conflicts or parts.routes.refuses(self, broker, registration)

    return parts.override("routes", refuses)


# -- what a name says of itself (5.x) ------------------------------------------------------------------------


@mutant(
    "acting-master-flag-sticks",
    "A name that once said enableActingMaster=true keeps it.",
    profiles=V5,
)
def acting_master_flag_sticks(parts: Parts) -> Parts:
    def describe(self: RouteTable, broker: Broker, registration: Registration) -> None:
        registration.acting_master = registration.acting_master or broker.acting_master or None
        parts.routes.describe(self, broker, registration)

    return parts.override("routes", describe)


@mutant("zone-sticks", "A broker name keeps the first zone that it named.", profiles=V5)
def zone_sticks(parts: Parts) -> Parts:
    def describe(self: RouteTable, broker: Broker, registration: Registration) -> None:
        registration.zone = broker.zone or registration.zone
        parts.routes.describe(self, broker, registration)

    return parts.override("routes", describe)


@mutant("mappings-are-not-kept", "Static-topic mappings of a registration are not kept.", profiles=V5)
def mappings_are_not_kept(parts: Parts) -> Parts:
    def store_mapping(self: RouteTable53, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        return None

    return parts.override("routes", store_mapping)


# -- checksum ------------------------------------------------------------------------------------------------


@mutant("crc-is-not-checked", "bodyCrc32 is not looked at.")
def crc_is_not_checked(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        return True

    return parts.override("nameserver", checksum_holds)


@mutant("crc-has-32-bits", "bodyCrc32 is compared with all 32 bits of the checksum.")
def crc_has_32_bits(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        expected = fields.int32(command.ext, "bodyCrc32") or 0
        return expected == 0 or expected == zlib.crc32(command.body)

    return parts.override("nameserver", checksum_holds)


@mutant("crc-covers-inflated-body", "bodyCrc32 is compared with the checksum of the inflated body.")
def crc_covers_inflated_body(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        if not fields.boolean(command.ext, "compressed"):
            return parts.nameserver.checksum_holds(self, command)
        expected = fields.int32(command.ext, "bodyCrc32") or 0
        return expected == 0 or expected == body_crc32(zlib.decompress(command.body))

    return parts.override("nameserver", checksum_holds)


@mutant("zero-crc-is-checked", "A bodyCrc32 of 0 is compared like any other.")
def zero_crc_is_checked(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        expected = fields.int32(command.ext, "bodyCrc32")
        return expected is None or expected == body_crc32(command.body)

    return parts.override("nameserver", checksum_holds)


@mutant("crc-of-no-body-is-not-checked", "bodyCrc32 is not looked at where there is no body.")
def crc_of_no_body_is_not_checked(parts: Parts) -> Parts:
    def checksum_holds(self: NameServer, command: Command) -> bool:
        return not command.body or parts.nameserver.checksum_holds(self, command)

    return parts.override("nameserver", checksum_holds)


# -- bodies --------------------------------------------------------------------------------------------------


def _body(parts: Parts, change: Any) -> Parts:
    """Parts that read `change(command)` instead of a registration's body."""

    def register_body(self: NameServer, command: Command) -> RegisterBody:
        return parts.nameserver.register_body(self, change(command))

    return parts.override("nameserver", register_body)


@mutant(
    "undecodable-body-registers", "A registration whose body cannot be read is taken as one without a body."
)
def undecodable_body_registers(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        try:
            return parts.nameserver.register_body(self, command)
        except RefusedError:
            return parts.nameserver.register_body(self, _with(command, body=b""))

    return parts.override("nameserver", register_body)


@mutant("bodies-are-never-inflated", "The ext field compressed is not looked at.")
def bodies_are_never_inflated(parts: Parts) -> Parts:
    return _body(parts, lambda command: _with(command, ext={**(command.ext or {}), "compressed": "false"}))


@mutant("compressed-is-case-sensitive", "compressed=TRUE is not understood.")
def compressed_is_case_sensitive(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        given = (command.ext or {}).get("compressed")
        return _with(
            command, ext={**(command.ext or {}), "compressed": given if given == "true" else "false"}
        )

    return _body(parts, change)


@mutant("any-compressed-field-inflates", "Every value of compressed means true.")
def any_compressed_field_inflates(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        if fields.text(command.ext, "compressed") is None:
            return command
        return _with(command, ext={**(command.ext or {}), "compressed": "true"})

    return _body(parts, change)


@mutant("raw-deflate-is-accepted", "A compressed body may be deflate data without the zlib wrapper.")
def raw_deflate_is_accepted(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        if not fields.boolean(command.ext, "compressed"):
            return command
        try:
            return _with(command, body=zlib.compress(zlib.decompress(command.body, -zlib.MAX_WBITS)))
        except zlib.error:
            return command

    return _body(parts, change)


@mutant(
    "mapping-section-is-never-read",
    "The mapping section of a compressed body is not read.",
    profiles=V5,
)
def mapping_section_is_never_read(parts: Parts) -> Parts:
    return _body(parts, lambda command: _with(command, version=min(command.version, V5_0_0 - 1)))


@mutant("six-words-are-refused", "A topic of six words in a compressed body is refused.", profiles=V5)
def six_words_are_refused(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if fields.boolean(command.ext, "compressed"):
            try:
                RegisterBody.decode(command.body, compressed=True, version=command.version, v5=False)
            except WireError as error:
                raise RefusedError(str(error)) from error
        return body

    return parts.override("nameserver", register_body)


@mutant("trailing-bytes-are-refused", "A compressed body with bytes after its last field is refused.")
def trailing_bytes_are_refused(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if fields.boolean(command.ext, "compressed"):
            shortest = min(len(body.layout(v5=False)), len(body.layout(v5=True)))
            if len(zlib.decompress(command.body)) > shortest and not body.mappings:
                raise RefusedError("bytes are left over")
        return body

    return parts.override("nameserver", register_body)


@mutant("old-bodies-are-not-known", "The body of an old broker is read like that of a new one.")
def old_bodies_are_not_known(parts: Parts) -> Parts:
    return _body(parts, lambda command: _with(command, version=max(command.version, V3_0_11)))


@mutant("old-bodies-are-expected-too-long", "The body of version 37 is read like that of version 36.")
def old_bodies_are_expected_too_long(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        return _with(command, version=V3_0_11 - 1) if command.version == V3_0_11 else command

    return _body(parts, change)


@mutant(
    "unknown-body-members-are-refused", "A register body with a member that 4.9 does not have is refused."
)
def unknown_body_members_are_refused(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        if command.body.startswith(b"{") and not _is_known(command.body):
            raise RefusedError("unknown member")
        return command

    return _body(parts, change)


def _is_known(body: bytes) -> bool:
    try:
        whole = json.loads(body)
    except ValueError:
        return True
    wrapper = whole.get("topicConfigSerializeWrapper", {})
    return (
        set(whole) <= {"filterServerList", "topicConfigSerializeWrapper", *_WRAPPER}
        and set(wrapper) <= _WRAPPER
    )


@mutant("unquoted-keys-are-refused", "A register body that is not strict JSON is refused.")
def unquoted_keys_are_refused(parts: Parts) -> Parts:
    def change(command: Command) -> Command:
        if command.body.startswith(b"{"):
            try:
                json.loads(command.body)
            except ValueError as error:
                raise RefusedError(str(error)) from error
        return command

    return _body(parts, change)


# -- order topics and filter servers -------------------------------------------------------------------------


@mutant("order-table-is-not-told", "The reply to a registration never has a body.")
def order_table_is_not_told(parts: Parts) -> Parts:
    def order_table(self: NameServer) -> bytes:
        return b""

    return parts.override("nameserver", order_table)


@mutant("filter-servers-are-not-shown", "filterServerTable of a route is always empty.")
def filter_servers_are_not_shown(parts: Parts) -> Parts:
    def shown_filters(self: RouteTable, brokers: list[Broker]) -> dict[str, list[str]]:
        return {}

    return parts.override("routes", shown_filters)


@mutant(
    "filter-servers-are-added-up", "The filter servers of a registration are added to those already known."
)
def filter_servers_are_added_up(parts: Parts) -> Parts:
    def keep_filter_servers(self: RouteTable, key: LiveKey, servers: list[str]) -> None:
        parts.routes.keep_filter_servers(self, key, [*self.filters.get(key, []), *servers] if servers else [])

    return parts.override("routes", keep_filter_servers)


@mutant("empty-filter-list-is-ignored", "An empty filterServerList leaves the filter servers as they are.")
def empty_filter_list_is_ignored(parts: Parts) -> Parts:
    def keep_filter_servers(self: RouteTable, key: LiveKey, servers: list[str]) -> None:
        if servers:
            parts.routes.keep_filter_servers(self, key, servers)

    return parts.override("routes", keep_filter_servers)


@mutant(
    "missing-filter-list-is-ignored", "A body without filterServerList leaves the filter servers as they are."
)
def missing_filter_list_is_ignored(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if body.filter_servers is msgspec.UNSET:
            body.filter_servers = None
        return body

    return parts.override("nameserver", register_body)


@mutant("null-filter-list-clears", "A filterServerList of null clears the filter servers.")
def null_filter_list_clears(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        if registration.filter_servers is None and command.version >= V3_0_11:
            registration.filter_servers = []
        return registration

    return _registration(parts, change)


@mutant("old-version-clears-filter-list", "A registration of an old broker clears the filter servers.")
def old_version_clears_filter_list(parts: Parts) -> Parts:
    def change(command: Command, registration: Registration) -> Registration:
        if command.version < V3_0_11:
            registration.filter_servers = []
        return registration

    return _registration(parts, change)


# -- what is refused or ignored ------------------------------------------------------------------------------


def _may_be_missing(parts: Parts, name: str) -> Parts:
    """A server that takes the null of an identifier for a value."""

    def registration(self: NameServer, command: Command) -> Registration:
        ext = command.ext or {}
        whole = command if name in ext else msgspec.structs.replace(command, ext={**ext, name: "null"})
        return parts.nameserver.registration(self, whole)

    return parts.override("nameserver", registration)


@mutant("broker-name-may-be-missing", "A registration without broker name is kept under the name null.")
def broker_name_may_be_missing(parts: Parts) -> Parts:
    return _may_be_missing(parts, "brokerName")


@mutant(
    "broker-address-may-be-missing", "A registration without broker address is kept with the address null."
)
def broker_address_may_be_missing(parts: Parts) -> Parts:
    return _may_be_missing(parts, "brokerAddr")


@mutant("cluster-name-may-be-missing", "A registration without cluster name is kept in the cluster null.")
def cluster_name_may_be_missing(parts: Parts) -> Parts:
    return _may_be_missing(parts, "clusterName")


@mutant(
    "missing-address-ends-the-search",
    "After a registration without broker address no broker goes with its connection.",
)
def missing_address_ends_the_search(parts: Parts) -> Parts:
    def register(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if "brokerAddr" not in (command.ext or {}):
            self.routes.__dict__["unsearchable"] = True
        elif "unsearchable" in self.routes.__dict__:
            connection = -1
        return parts.nameserver.register(self, command, connection, now)

    return parts.override("nameserver", register)


@mutant(
    "unnamed-topic-ends-the-registration",
    "A topic without name ends a registration half-way, which is answered with success.",
)
def unnamed_topic_ends_the_registration(parts: Parts) -> Parts:
    def register(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        try:
            return parts.nameserver.register(self, command, connection, now)
        except RefusedError as refused:
            if "topicName" in str(refused.remark):
                return Reply(ResponseCode.SUCCESS, ext={})
            raise

    return parts.override("nameserver", register)


@mutant(
    "refused-registration-is-listed",
    "A registration that is refused leaves its name and its cluster behind.",
    profiles=V5,
)
def refused_registration_is_listed(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        refused = parts.routes.refuses(self, broker, registration)
        if refused and broker is None:
            self.join_cluster(registration)
            self.brokers[registration.broker] = Broker(registration.cluster, registration.broker, {})
        return refused

    return parts.override("routes", refuses)


@mutant(
    "refused-registration-drops-former-id",
    "A registration that is refused drops the address under its former id.",
    profiles=V5,
)
def refused_registration_drops_former_id(parts: Parts) -> Parts:
    def refuses(self: RouteTable, broker: Broker | None, registration: Registration) -> bool:
        refused = parts.routes.refuses(self, broker, registration)
        if refused and broker is not None:
            self.forget_other_ids(broker, registration)
        return refused

    return parts.override("routes", refuses)


@mutant(
    "ignored-registration-describes",
    "A registration that is ignored says what zone its broker name is in.",
    profiles=V5,
)
def ignored_registration_describes(parts: Parts) -> Parts:
    def reject(self: RouteTable, broker: Broker, registration: Registration) -> None:
        self.describe(broker, registration)
        parts.routes.reject(self, broker, registration)

    return parts.override("routes", reject)


@mutant("no-body-keeps-filter-servers", "A registration without a body leaves filter servers as they are.")
def no_body_keeps_filter_servers(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if not command.body:
            body.filter_servers = None
        return body

    return parts.override("nameserver", register_body)
