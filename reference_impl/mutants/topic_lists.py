"""Faults of the lists of a cluster (224), of the server itself (304) and of units (311, 312, 313)."""

from collections.abc import Iterable

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.bodies import RegisterBody, TopicList
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 224 -----------------------------------------------------------------------------------------------------


@mutant("cluster-list-has-all-topics", "The list of a cluster has the topics of all clusters.")
def cluster_list_has_all_topics(parts: Parts) -> Parts:
    def topics_in(self: RouteTable, cluster: str) -> list[str]:
        return list(self.topics) if cluster in self.clusters else []

    return parts.override("routes", topics_in)


@mutant("cluster-list-is-of-one-broker", "The list of a cluster has the topics of one of its brokers.")
def cluster_list_is_of_one_broker(parts: Parts) -> Parts:
    def topics_in(self: RouteTable, cluster: str) -> list[str]:
        names = list(self.clusters.get(cluster, {}))[:1]
        return [topic for name in names for topic, _ in self.queues_of(name)]

    return parts.override("routes", topics_in)


@mutant("cluster-list-repeats-topics", "The list of a cluster has a topic once for each of its brokers.")
def cluster_list_repeats_topics(parts: Parts) -> Parts:
    def topics_in(self: RouteTable, cluster: str) -> list[str]:
        return [topic for name in self.clusters.get(cluster, {}) for topic, _ in self.queues_of(name)]

    return parts.override("routes", topics_in)


@mutant("unknown-cluster-is-a-failure", "The list of a cluster that nobody knows is a failure.")
def unknown_cluster_is_a_failure(parts: Parts) -> Parts:
    def list_cluster_topics(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "cluster") not in self.routes.clusters:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="there is no such cluster")
        return parts.nameserver.list_cluster_topics(self, command, connection, now)

    return parts.override("nameserver", list_cluster_topics)


@mutant("cluster-list-has-broker-names", "The list of a cluster has the names of its brokers, too.")
def cluster_list_has_broker_names(parts: Parts) -> Parts:
    def topics_in(self: RouteTable, cluster: str) -> list[str]:
        return parts.routes.topics_in(self, cluster) + list(self.clusters.get(cluster, {}))

    return parts.override("routes", topics_in)


@mutant("cluster-list-is-cached-for-a-second", "The list of a cluster is answered from a cache for a second.")
def cluster_list_is_cached_for_a_second(parts: Parts) -> Parts:
    def list_cluster_topics(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        cache: dict[str | None, tuple[int, Reply]] = self.__dict__.setdefault("cluster_cache", {})
        cluster = fields.text(command.ext, "cluster")
        if cluster not in cache or now - cache[cluster][0] > 1000:
            cache[cluster] = (now, parts.nameserver.list_cluster_topics(self, command, connection, now))
        return cache[cluster][1]

    return parts.override("nameserver", list_cluster_topics)


@mutant("cluster-list-goes-by-first-cluster", "A topic is listed for the first cluster of its broker alone.")
def cluster_list_goes_by_first_cluster(parts: Parts) -> Parts:
    def topics_in(self: RouteTable, cluster: str) -> list[str]:
        names = {name for name, broker in self.brokers.items() if broker.cluster == cluster}
        return [topic for topic, queues in self.topics.items() if not names.isdisjoint(queues)]

    return parts.override("routes", topics_in)


# -- 304 -----------------------------------------------------------------------------------------------------


@mutant("system-list-lacks-clusters", "The system list has broker names only.")
def system_list_lacks_clusters(parts: Parts) -> Parts:
    def system_names(self: RouteTable) -> list[str]:
        return list(self.brokers)

    return parts.override("routes", system_names)


@mutant("system-list-lacks-brokers", "The system list has clusters only.")
def system_list_lacks_brokers(parts: Parts) -> Parts:
    def system_names(self: RouteTable) -> list[str]:
        return list(self.clusters)

    return parts.override("routes", system_names)


@mutant("system-list-has-topics", "The system list has the topics of brokers, too.")
def system_list_has_topics(parts: Parts) -> Parts:
    def system_names(self: RouteTable) -> list[str]:
        return parts.routes.system_names(self) + list(self.topics)

    return parts.override("routes", system_names)


@mutant("system-list-repeats-names", "The system list has a name as often as it is used.")
def system_list_repeats_names(parts: Parts) -> Parts:
    def system_names(self: RouteTable) -> list[str]:
        return [*self.clusters, *(name for names in self.clusters.values() for name in names)]

    return parts.override("routes", system_names)


@mutant("system-list-keeps-what-it-had", "The system list keeps what was ever asked for.")
def system_list_keeps_what_it_had(parts: Parts) -> Parts:
    def system_names(self: RouteTable) -> list[str]:
        kept: dict[str, None] = self.__dict__.setdefault("system_names_kept", {})
        kept.update(dict.fromkeys(parts.routes.system_names(self)))
        return list(kept)

    return parts.override("routes", system_names)


@mutant("system-list-lacks-address", "The system list tells no address.")
def system_list_lacks_address(parts: Parts) -> Parts:
    def some_address(self: RouteTable) -> str | None:
        return None

    return parts.override("routes", some_address)


@mutant("system-list-has-an-address-always", "The system list tells an empty address where there is none.")
def system_list_has_an_address_always(parts: Parts) -> Parts:
    def some_address(self: RouteTable) -> str | None:
        return parts.routes.some_address(self) or ""

    return parts.override("routes", some_address)


# -- 311, 312, 313 -------------------------------------------------------------------------------------------


@mutant("unit-list-is-of-the-other-bit", "The list of unit topics goes by bit 1.")
def unit_list_is_of_the_other_bit(parts: Parts) -> Parts:
    def unit_topics(self: RouteTable) -> list[str]:
        return self.unit_sub_topics()

    return parts.override("routes", unit_topics)


@mutant("unit-sub-list-is-of-the-other-bit", "The list of topics with unit subscriptions goes by bit 0.")
def unit_sub_list_is_of_the_other_bit(parts: Parts) -> Parts:
    def unit_sub_topics(self: RouteTable) -> list[str]:
        return self.unit_topics()

    return parts.override("routes", unit_sub_topics)


@mutant("unit-sub-only-list-has-units", "The list of code 313 is that of code 312.")
def unit_sub_only_list_has_units(parts: Parts) -> Parts:
    def unit_sub_only_topics(self: RouteTable) -> list[str]:
        return self.unit_sub_topics()

    return parts.override("routes", unit_sub_only_topics)


@mutant("unit-lists-compare-the-whole-flag", "A flag with bits beyond the two is no flag at all.")
def unit_lists_compare_the_whole_flag(parts: Parts) -> Parts:
    def flag_of(self: RouteTable, queues: Iterable[Queue]) -> int:
        flag = parts.routes.flag_of(self, queues)
        return flag if flag < 4 else 0

    return parts.override("routes", flag_of)


@mutant("unit-lists-have-topics-of-one-broker", "A topic that several brokers serve is in no list of units.")
def unit_lists_have_topics_of_one_broker(parts: Parts) -> Parts:
    def flag_of(self: RouteTable, queues: Iterable[Queue]) -> int:
        flags = [queue.flag for queue in queues]
        return flags[0] if len(flags) == 1 else 0

    return parts.override("routes", flag_of)


@mutant(
    "flags-of-brokers-are-combined", "The flag of a topic has the bits that any of its brokers registered."
)
def flags_of_brokers_are_combined(parts: Parts) -> Parts:
    def flag_of(self: RouteTable, queues: Iterable[Queue]) -> int:
        combined = 0
        for queue in queues:
            combined |= queue.flag
        return combined

    return parts.override("routes", flag_of)


@mutant("compressed-topics-are-unit-topics", "Topics of a compressed body get the unit bit.")
def compressed_topics_are_unit_topics(parts: Parts) -> Parts:
    def register_body(self: NameServer, command: Command) -> RegisterBody:
        body = parts.nameserver.register_body(self, command)
        if fields.boolean(command.ext, "compressed"):
            for topic in (body.topics or {}).values():
                topic.topic_sys_flag |= 1
        return body

    return parts.override("nameserver", register_body)


@mutant("217-loses-the-flag", "217 stores no system flag.", V5)
def code_217_loses_the_flag(parts: Parts) -> Parts:
    def register_topic(self: RouteTable53, topic: str, queues: Iterable[tuple[str | None, Queue]]) -> None:
        plain = [(name, Queue(one.read, one.write, one.perm, 0)) for name, one in queues]
        RouteTable53.register_topic(self, topic, plain)

    return parts.override("routes", register_topic)


# -- lists that are switched off (5.x) -----------------------------------------------------------------------


@mutant("lists-by-kind-are-always-given", "enableTopicList has no effect.", V5)
def lists_by_kind_are_always_given(parts: Parts) -> Parts:
    def gives_list(self: NameServer53, code: int) -> bool:
        all_topics = code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        return self.config.enable_all_topic_list or not all_topics

    return parts.override("nameserver", gives_list)


@mutant("list-of-all-is-always-given", "enableAllTopicList has no effect.", V5)
def list_of_all_is_always_given(parts: Parts) -> Parts:
    def gives_list(self: NameServer53, code: int) -> bool:
        all_topics = code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        return self.config.enable_topic_list or all_topics

    return parts.override("nameserver", gives_list)


@mutant(
    "enable-topic-list-is-for-clusters-only", "enableTopicList=false refuses the list of clusters alone.", V5
)
def enable_topic_list_is_for_clusters_only(parts: Parts) -> Parts:
    def gives_list(self: NameServer53, code: int) -> bool:
        units = (
            RequestCode.GET_UNIT_TOPIC_LIST,
            RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
            RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
        )
        return code in units or NameServer53.gives_list(self, code)

    return parts.override("nameserver", gives_list)


@mutant(
    "enable-topic-list-is-for-all-lists", "enableTopicList=false refuses the list of all topics, too.", V5
)
def enable_topic_list_is_for_all_lists(parts: Parts) -> Parts:
    def gives_list(self: NameServer53, code: int) -> bool:
        return self.config.enable_topic_list and NameServer53.gives_list(self, code)

    return parts.override("nameserver", gives_list)


@mutant(
    "enable-all-topic-list-is-for-all-lists", "enableAllTopicList=false refuses every list of topics.", V5
)
def enable_all_topic_list_is_for_all_lists(parts: Parts) -> Parts:
    def gives_list(self: NameServer53, code: int) -> bool:
        return self.config.enable_all_topic_list and NameServer53.gives_list(self, code)

    return parts.override("nameserver", gives_list)


@mutant("system-list-can-be-disabled", "Either switch refuses the system list.", V5)
def system_list_can_be_disabled(parts: Parts) -> Parts:
    def list_system_topics(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        if not (self.config.enable_topic_list and self.config.enable_all_topic_list):
            return Reply(ResponseCode.SUCCESS, body=TopicList().encode())
        return NameServer53.list_system_topics(self, command, connection, now)

    return parts.override("nameserver", list_system_topics)
