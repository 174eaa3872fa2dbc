"""Bugs that releases of Apache's own server had, made again: would the cases have found them?

`history` names the report (specs/reports.yaml) and the releases: those whose source has the bug, read at
their tags.
"""

from harness.wire import Serialization
from harness.wire.versions import V5_0_0
from reference_impl.mutants.registry import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.endpoint import Endpoint
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.settings import Settings
from reference_impl.nameserver.state import Queue
from reference_impl.remoting.reply import RefusedError

_NEWEST = 479


@mutant(
    NameServer.register_body,
    "A registration whose version is not known is refused.",
    history="ROCKETMQ-140, 4.0.0-incubating",
)
def historical_rocketmq_140_newer_versions_are_refused(original, self, command):
    if command.version > _NEWEST:
        raise RefusedError(f"version {command.version} is not known")
    return original(self, command)


@mutant(
    RouteTable.cluster_info,
    "The broker data of cluster information lacks its cluster.",
    history="ROCKETMQ-200, 4.0.0-incubating",
)
def historical_rocketmq_200_broker_data_lacks_cluster(original, self):
    info = original(self)
    for broker in info.broker_addr_table.values():
        broker.cluster = None
    return info


@mutant(
    RouteTable.forget_other_ids,
    "An address that registers with another id stays listed under the old one too.",
    history="no report, 4.4.0 and before",
)
def historical_promotion_keeps_old_id(original, self, broker, registration):
    return False


@mutant(
    NameServer.encoded_route,
    "Queue data has the system flag as topicSynFlag.",
    history="no report, 4.8.0 and before",
)
def historical_system_flag_is_misspelt(original, self, route, standard):
    return original(self, route, standard).replace(b"topicSysFlag", b"topicSynFlag")


@mutant(
    NameServer.put_kv,
    "A put without namespace or key is answered with success and stored under null.",
    history="apache/rocketmq#2935, 4.8.0 and before",
)
def historical_2935_put_takes_absent_names_for_null(original, self, command, connection, now):
    command.ext = {"namespace": "null", "key": "null", **(command.ext or {})}
    return original(self, command, connection, now)


@mutant(
    RouteTable.delete_topic_in,
    "216 of one cluster deletes a topic from all of them.",
    history="apache/rocketmq#4263, 4.9.3 and before",
)
def historical_4263_deletion_ignores_the_cluster(original, self, topic, cluster):
    self.delete_topic(topic)


@mutant(
    NameServer.wants_standard_json,
    "A route is written with unquoted names for every client.",
    history="apache/rocketmq#4473, 4.9.3 and before",
)
def historical_4473_no_standard_json(original, self, command):
    return False


@mutant(
    Endpoint.response_serialization,
    "A binary request is answered in JSON.",
    history="apache/rocketmq#3588, 4.9.3 and before, and 5.x again",
)
def historical_3588_binary_answered_in_json(original, self, request, reply):
    return Serialization.JSON


@mutant(
    RouteTable.updates,
    "An equal data version adds no topic, so that a first registration of one topic hides all others.",
    V5,
    history="apache/rocketmq#4522, 4.9.8 and before",
)
def historical_4522_missing_topics_are_not_added(original, self, known, *, first, moved, changed):
    return first or changed


@mutant(
    RouteTable.remove_entry,
    "An unregistration removes whatever address holds its id.",
    V5,
    history="apache/rocketmq#5374, 5.0.0",
)
def historical_5374_late_unregister_removes_new_master(original, self, broker, departure):
    if departure.id is None:
        self.remove_address(broker, departure.address)
    else:
        self.remove_id(broker, departure.id)


@mutant(
    NameServer.register_body,
    "A compressed body needs its mapping section at every version.",
    V5,
    history="apache/rocketmq#5536, 5.0.0",
)
def historical_5536_mapping_section_is_always_read(original, self, command):
    command.version = max(command.version, V5_0_0)
    return original(self, command)


@mutant(
    RouteTable.queue_of,
    "The topics that a slave publishes are never writable.",
    V5,
    history="apache/rocketmq#7626, 5.0.0 to 5.1.4",
)
def historical_7626_every_slave_loses_write(original, self, broker, registration, topic):
    queue = RouteTable.queue_of(self, broker, registration, topic)
    if registration.id == MASTER:
        return queue
    return Queue(queue.read, queue.write, self.without_write(queue.perm), queue.flag)


@mutant(
    Settings.refused_keys,
    "Code 318 changes every setting.",
    history="no report, 4.9.5 and before, 5.0.0 and 5.1.0 (CVE-2023-33246)",
)
def historical_cve_2023_33246_paths_can_be_changed(original, self, listed):
    return frozenset()


@mutant(
    Settings.refused_keys,
    "Code 318 refuses kvConfigPath, and configStorePath by a name that is not its own.",
    history="no report, 4.9.6 and 5.1.1 (CVE-2023-37582)",
)
def historical_cve_2023_37582_store_path_can_be_changed(original, self, listed):
    return frozenset({"kvConfigPath", "configStorePathName"})


@mutant(
    Settings.refused_keys,
    "Code 318 refuses the two paths only.",
    V5,
    history="apache/rocketmq#7584, 4.9.7, 5.1.2 to 5.1.4",
)
def historical_7584_only_paths_are_refused(original, self, listed):
    return frozenset({"kvConfigPath", "configStorePath"})


@mutant(
    NameServer53.ready,
    "With needWaitForService, no route is answered after the first one.",
    history="apache/rocketmq#9182, 5.1.0 to 5.3.1",
)
def historical_9182_first_route_ends_readiness(original, self, now):
    if "answered" in self.__dict__ or not original(self, now):
        return False
    self.__dict__["answered"] = True
    return True
