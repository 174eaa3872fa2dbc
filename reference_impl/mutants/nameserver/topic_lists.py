"""Faults of the lists of a cluster (224), of the server itself (304) and of units (311, 312, 313)."""

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import TopicList
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import Reply

# -- 224 -----------------------------------------------------------------------------------------------------


@mutant(RouteTable.topics_in, "The list of a cluster has the topics of all clusters.")
def cluster_list_has_all_topics(original, self, cluster):
    return list(self.topics) if cluster in self.clusters else []


@mutant(RouteTable.topics_in, "The list of a cluster has the topics of one of its brokers.")
def cluster_list_is_of_one_broker(original, self, cluster):
    names = list(self.clusters.get(cluster, {}))[:1]
    return [topic for name in names for topic, _ in self.queues_of(name)]


@mutant(RouteTable.topics_in, "The list of a cluster has a topic once for each of its brokers.")
def cluster_list_repeats_topics(original, self, cluster):
    return [topic for name in self.clusters.get(cluster, {}) for topic, _ in self.queues_of(name)]


@mutant(NameServer.list_cluster_topics, "The list of an unknown cluster is a failure.")
def unknown_cluster_is_a_failure(original, self, command, connection, now):
    if fields.text(command.ext, "cluster") not in self.routes.clusters:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="there is no such cluster")
    return original(self, command, connection, now)


@mutant(RouteTable.topics_in, "The list of a cluster has the names of its brokers, too.")
def cluster_list_has_broker_names(original, self, cluster):
    return original(self, cluster) + list(self.clusters.get(cluster, {}))


@mutant(NameServer.list_cluster_topics, "The list of a cluster is answered from a cache for a second.")
def cluster_list_is_cached_for_a_second(original, self, command, connection, now):
    cache: dict[str | None, tuple[int, Reply]] = self.__dict__.setdefault("cluster_cache", {})
    cluster = fields.text(command.ext, "cluster")
    if cluster not in cache or now - cache[cluster][0] > 1000:
        cache[cluster] = (now, original(self, command, connection, now))
    return cache[cluster][1]


@mutant(RouteTable.topics_in, "A topic is listed for the first cluster of its broker alone.")
def cluster_list_goes_by_first_cluster(original, self, cluster):
    names = {name for name, broker in self.brokers.items() if broker.cluster == cluster}
    return [topic for topic, queues in self.topics.items() if not names.isdisjoint(queues)]


# -- 304 -----------------------------------------------------------------------------------------------------


@mutant(RouteTable.system_names, "The system list has broker names only.")
def system_list_lacks_clusters(original, self):
    return list(self.brokers)


@mutant(RouteTable.system_names, "The system list has clusters only.")
def system_list_lacks_brokers(original, self):
    return list(self.clusters)


@mutant(RouteTable.system_names, "The system list has the topics of brokers, too.")
def system_list_has_topics(original, self):
    return original(self) + list(self.topics)


@mutant(RouteTable.system_names, "The system list repeats a name for each of its uses.")
def system_list_repeats_names(original, self):
    return [*self.clusters, *(name for names in self.clusters.values() for name in names)]


@mutant(RouteTable.system_names, "The system list keeps every name that a query ever showed.")
def system_list_keeps_what_it_had(original, self):
    kept: dict[str, None] = self.__dict__.setdefault("system_names_kept", {})
    kept.update(dict.fromkeys(original(self)))
    return list(kept)


@mutant(RouteTable.some_address, "The system list has no address.")
def system_list_lacks_address(original, self):
    return None


@mutant(RouteTable.some_address, "The system list has an address only if there is a master.")
def system_list_has_masters_only(original, self):
    return next((broker.addresses[0] for broker in self.brokers.values() if 0 in broker.addresses), None)


@mutant(RouteTable.some_address, "The system list has an empty address where none is known.")
def system_list_has_an_address_always(original, self):
    return original(self) or ""


# -- 311, 312, 313 -------------------------------------------------------------------------------------------


@mutant(RouteTable.unit_topics, "The list of unit topics uses bit 1.")
def unit_list_is_of_the_other_bit(original, self):
    return self.unit_sub_topics()


@mutant(RouteTable.unit_sub_topics, "The list of topics with unit subscriptions uses bit 0.")
def unit_sub_list_is_of_the_other_bit(original, self):
    return self.unit_topics()


@mutant(RouteTable.unit_sub_only_topics, "The list of code 313 is that of code 312.")
def unit_sub_only_list_has_units(original, self):
    return self.unit_sub_topics()


@after(RouteTable.flag_of, "A flag with bits beyond the two counts as 0.")
def unit_lists_compare_the_whole_flag(flag):
    return flag if flag < 4 else 0


@mutant(RouteTable.flag_of, "A topic that several brokers serve is in no list of units.")
def unit_lists_have_topics_of_one_broker(original, self, queues):
    flags = [queue.flag for queue in queues]
    return flags[0] if len(flags) == 1 else 0


@mutant(RouteTable.flag_of, "The flag of a topic has the bits that any of its brokers registered.")
def flags_of_brokers_are_combined(original, self, queues):
    combined = 0
    for queue in queues:
        combined |= queue.flag
    return combined


@after(NameServer.register_body, "Topics of a compressed body get the unit bit.")
def compressed_topics_are_unit_topics(body, command):
    if fields.boolean(command.ext, "compressed"):
        for topic in (body.topics or {}).values():
            topic.topic_sys_flag |= 1


@mutant(RouteTable53.register_topic, "217 does not store the system flag.")
def _217_loses_the_flag(original, self, topic, queues):
    plain = [(name, Queue(one.read, one.write, one.perm, 0)) for name, one in queues]
    original(self, topic, plain)


# -- members -------------------------------------------------------------------------------------------------


@after(NameServer.listed, "A list of topics has brokerAddr as null.")
def lists_have_a_null_address(reply):
    reply.body = reply.body.replace(b"{", b'{"brokerAddr":null,', 1)


@mutant(NameServer.list_cluster_topics, "The list of a cluster says how many topics it has.")
def lists_count_their_topics(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(reply.code, reply.body.replace(b"{", b'{"size":0,', 1), remark=reply.remark)


# -- lists that are switched off (5.x) -----------------------------------------------------------------------


@mutant(NameServer53.gives_list, "enableTopicList has no effect.")
def lists_by_kind_are_always_given(original, self, code):
    all_topics = code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
    return self.config.enable_all_topic_list or not all_topics


@mutant(NameServer53.gives_list, "enableAllTopicList has no effect.")
def list_of_all_is_always_given(original, self, code):
    all_topics = code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
    return self.config.enable_topic_list or all_topics


@mutant(NameServer53.gives_list, "enableTopicList=false refuses the list of clusters alone.")
def enable_topic_list_is_for_clusters_only(original, self, code):
    units = (
        RequestCode.GET_UNIT_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
        RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    )
    return code in units or original(self, code)


@mutant(NameServer53.gives_list, "enableTopicList=false refuses the list of all topics, too.")
def enable_topic_list_is_for_all_lists(original, self, code):
    return self.config.enable_topic_list and original(self, code)


@mutant(NameServer53.gives_list, "enableAllTopicList=false refuses every list of topics.")
def enable_all_topic_list_is_for_all_lists(original, self, code):
    return self.config.enable_all_topic_list and original(self, code)


@mutant(NameServer.listed, "A list that is switched off is refused without a remark.", V5)
def lists_that_are_off_say_nothing(original, self, command, names):
    reply = original(self, command, names)
    return Reply(reply.code, body=reply.body)


@mutant(NameServer53.list_system_topics, "Either switch refuses the system list.", V5)
def system_list_can_be_disabled(original, self, command, connection, now):
    if not (self.config.enable_topic_list and self.config.enable_all_topic_list):
        return Reply(ResponseCode.SUCCESS, body=TopicList().encode())
    return original(self, command, connection, now)
