"""Bugs that releases of Apache's own server had, made again: would the cases have found them?

`history` names the report (specs/reports.yaml) and the releases: those whose source has the bug, read at
their tags.
"""

from harness.wire import Command, Serialization
from harness.wire.bodies import ClusterInfo, RegisterBody, TopicConfig
from harness.wire.codes import V5_0_0
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.settings import Settings
from reference_impl.nameserver.state import Broker, Departure, Queue, Registration
from reference_impl.remoting.reply import RefusedError, Reply

_NEWEST = 479


@mutant(
    "historical-rocketmq-140-newer-versions-are-refused",
    "A registration whose version is not known is refused.",
    history="ROCKETMQ-140, 4.0.0-incubating",
)
def newer_versions_are_refused(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        if command.version > _NEWEST:
            raise RefusedError(f"version {command.version} is not known")
        return parts.nameserver.register_body(self, command)

    return parts.override("nameserver", register_body)


@mutant(
    "historical-rocketmq-200-broker-data-lacks-cluster",
    "The broker data of cluster information does not tell its cluster.",
    history="ROCKETMQ-200, 4.0.0-incubating",
)
def broker_data_lacks_cluster(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable) -> ClusterInfo:
        info = parts.routes.cluster_info(self)
        for broker in info.broker_addr_table.values():
            broker.cluster = None
        return info

    return parts.override("routes", cluster_info)


@mutant(
    "historical-promotion-keeps-old-id",
    "An address that registers with another id stays listed under the old one too.",
    history="no report, 4.4.0 and before",
)
def promotion_keeps_old_id(parts: Parts) -> Parts:
    def forget_other_ids(self: RouteTable, broker: Broker, registration: Registration) -> bool:
        return False

    return parts.override("routes", forget_other_ids)


@mutant(
    "historical-2935-put-takes-absent-names-for-null",
    "A put without namespace or key is answered with success and stored under null.",
    history="apache/rocketmq#2935, 4.8.0 and before",
)
def put_takes_absent_names_for_null(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        command.ext = {"namespace": "null", "key": "null", **(command.ext or {})}
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant(
    "historical-4263-deletion-ignores-the-cluster",
    "216 of one cluster deletes a topic from all of them.",
    history="apache/rocketmq#4263, 4.9.3 and before",
)
def deletion_ignores_the_cluster(parts: Parts) -> Parts:
    def delete_topic_in(self: RouteTable, topic: str, cluster: str) -> None:
        self.delete_topic(topic)

    return parts.override("routes", delete_topic_in)


@mutant(
    "historical-4473-no-standard-json",
    "A route is written with unquoted names for every client.",
    history="apache/rocketmq#4473, 4.9.3 and before",
)
def no_standard_json(parts: Parts) -> Parts:
    def wants_standard_json(self: NameServer, command: Command) -> bool:
        return False

    return parts.override("nameserver", wants_standard_json)


@mutant(
    "historical-3588-binary-answered-in-json",
    "A binary request is answered in JSON.",
    history="apache/rocketmq#3588, 4.9.3 and before, and 5.x again",
)
def binary_answered_in_json(parts: Parts) -> Parts:
    def response_serialization(self: Endpoint, request: Command, reply: Reply) -> Serialization:
        return Serialization.JSON

    return parts.override("endpoint", response_serialization)


@mutant(
    "historical-4522-missing-topics-are-not-added",
    "An equal data version adds no topic, so that a first registration of one topic hides all others.",
    V5,
    history="apache/rocketmq#4522, 4.9.8 and before",
)
def missing_topics_are_not_added(parts: Parts) -> Parts:
    def updates(self: RouteTable, known: Queue | None, *, first: bool, moved: bool, changed: bool) -> bool:
        return first or changed

    return parts.override("routes", updates)


@mutant(
    "historical-5374-late-unregister-removes-new-master",
    "An unregistration removes whatever address holds its id.",
    V5,
    history="apache/rocketmq#5374, 5.0.0",
)
def late_unregister_removes_new_master(parts: Parts) -> Parts:
    def remove_entry(self: RouteTable, broker: Broker, departure: Departure) -> None:
        if departure.id is None:
            self.remove_address(broker, departure.address)
        else:
            self.remove_id(broker, departure.id)

    return parts.override("routes", remove_entry)


@mutant(
    "historical-5536-mapping-section-is-always-read",
    "A compressed body needs its mapping section at every version.",
    V5,
    history="apache/rocketmq#5536, 5.0.0",
)
def mapping_section_is_always_read(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        command.version = max(command.version, V5_0_0)
        return parts.nameserver.register_body(self, command)

    return parts.override("nameserver", register_body)


@mutant(
    "historical-7626-every-slave-loses-write",
    "The topics that a slave publishes are never writable.",
    V5,
    history="apache/rocketmq#7626, 5.0.0 to 5.1.4",
)
def every_slave_loses_write(parts: Parts) -> Parts:
    def queue_of(self: RouteTable, broker: Broker, registration: Registration, topic: TopicConfig) -> Queue:
        queue = RouteTable.queue_of(self, broker, registration, topic)
        if registration.id == MASTER:
            return queue
        return Queue(queue.read, queue.write, self.without_write(queue.perm), queue.flag)

    return parts.override("routes", queue_of)


@mutant(
    "historical-cve-2023-33246-paths-can-be-changed",
    "Code 318 changes every setting.",
    history="no report, 4.9.5 and before, 5.0.0 and 5.1.0 (CVE-2023-33246)",
)
def paths_can_be_changed(parts: Parts) -> Parts:
    def refused_keys(self: Settings, listed: str) -> frozenset[str]:
        return frozenset()

    return parts.override("settings", refused_keys)


@mutant(
    "historical-cve-2023-37582-store-path-can-be-changed",
    "Code 318 refuses kvConfigPath, and configStorePath by a name that is not its own.",
    history="no report, 4.9.6 and 5.1.1 (CVE-2023-37582)",
)
def store_path_can_be_changed(parts: Parts) -> Parts:
    def refused_keys(self: Settings, listed: str) -> frozenset[str]:
        return frozenset({"kvConfigPath", "configStorePathName"})

    return parts.override("settings", refused_keys)


@mutant(
    "historical-7584-only-paths-are-refused",
    "Code 318 refuses the two paths only.",
    V5,
    history="apache/rocketmq#7584, 4.9.7, 5.1.2 to 5.1.4",
)
def only_paths_are_refused(parts: Parts) -> Parts:
    def refused_keys(self: Settings, listed: str) -> frozenset[str]:
        return frozenset({"kvConfigPath", "configStorePath"})

    return parts.override("settings", refused_keys)


@mutant(
    "historical-9182-first-route-ends-readiness",
    "With needWaitForService no route is answered any more once one has been.",
    V5,
    history="apache/rocketmq#9182, 5.1.0 to 5.3.1",
)
def first_route_ends_readiness(parts: Parts) -> Parts:
    def ready(self: NameServer53, now: int) -> bool:
        if "answered" in self.__dict__ or not NameServer53.ready(self, now):
            return False
        self.__dict__["answered"] = True
        return True

    return parts.override("nameserver", ready)
