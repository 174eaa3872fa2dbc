"""Faults of routes (code 105): whether there is one, what it says, and in which JSON."""

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import TopicQueueMappingInfo, TopicRoute
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.kv import ORDER_TOPIC_CONFIG
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Queue
from reference_impl.remoting import fields
from reference_impl.remoting.endpoint import RemotingEndpoint
from reference_impl.remoting.reply import RefusedError, Reply

# -- whether there is a route --------------------------------------------------------------------------------


@mutant(NameServer.unknown_topic, "The route of an unknown topic returns SYSTEM_ERROR.")
def unknown_topic_is_a_failure(original, self, topic):
    raise RefusedError("no such topic")


@mutant(RouteTable.route, "A topic without brokers has a route with empty lists.")
def unknown_topic_has_an_empty_route(original, self, topic):
    return original(self, topic) or TopicRoute()


@mutant(NameServer.unknown_topic, "The remark of an unknown topic does not name it.")
def unknown_topic_has_no_remark(original, self, topic):
    return "not found"


@mutant(NameServer.get_route, "A route request without a topic returns SYSTEM_ERROR.")
def absent_topic_is_a_failure(original, self, command, connection, now):
    self.needed(fields.text(command.ext, "topic") or None, "topic")
    return original(self, command, connection, now)


@mutant(RouteTable.drop_topics_of, "Queue data still lists a broker name that has left.")
def departed_brokers_stay_in_queue_data(original, self, broker):
    return None


@mutant(NameServer.route_reply, "A route, or its absence, is answered from a cache for a second.")
def routes_are_cached_for_a_second(original, self, topic, standard, now):
    cache: dict[tuple[str, bool], tuple[int, Reply | None]] = self.__dict__.setdefault("route_cache", {})
    since, reply = cache.get((topic, standard), (now - 1001, None))
    if now - since > 1000:
        reply = original(self, topic, standard, now)
        cache[topic, standard] = (now, reply)
    return reply


@mutant(RouteTable.route, "Topics of reserved names are never routed.")
def reserved_topics_are_not_routed(original, self, topic):
    return None if topic.startswith(("TBW102", "%")) else original(self, topic)


@mutant(NameServer.get_route, "A route, once answered, is stored on disk and returned forever.")
def routes_survive_a_restart(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    topic = fields.text(command.ext, "topic") or ""
    if reply.code == ResponseCode.SUCCESS:
        self.kv.put("routes", topic, reply.body.decode())
        self.unwritten = True
        return reply
    kept = self.kv.get("routes", topic)
    return reply if kept is None else Reply(ResponseCode.SUCCESS, body=kept.encode())


@mutant(RemotingEndpoint.response, "The answer to a route request has the opaque without its sign.")
def routes_lose_the_sign(original, self, request, reply):
    response = original(self, request, reply)
    if request.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
        response.opaque &= 0x7FFFFFFF
    return response


# -- what a route says ---------------------------------------------------------------------------------------


@mutant(RouteTable.shown_queue, "Every topic is shown with four read and four write queues.")
def routes_show_fours(original, self, name, queue):
    return original(self, name, Queue(4, 4, queue.perm, queue.flag))


@after(NameServer.route, "A route lists one broker name only.")
def route_has_one_broker(found):
    if found is not None:
        found.broker_datas = found.broker_datas[:1]


@after(NameServer.route, "A route has the queue data of one broker name only.")
def route_has_one_queue_data(found):
    if found is not None:
        found.queue_datas = found.queue_datas[:1]


@after(RouteTable.routed_broker, "A route lists only the lowest id of each broker name.")
def route_lists_lowest_id_only(shown):
    lowest = min(shown.broker_addrs)
    shown.broker_addrs = {lowest: shown.broker_addrs[lowest]}


@after(RouteTable.routed_broker, "Broker data of a route do not name their cluster.")
def route_lacks_cluster(shown):
    shown.cluster = None


@mutant(RouteTable.routed_broker, "Without a master, the lowest slave is always shown as id 0.")
def slave_is_shown_as_master(original, self, topic, broker, queue):
    shown = self.shown_broker(broker)
    if MASTER not in shown.broker_addrs:
        shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(shown.broker_addrs))
    return shown


@mutant(NameServer.encoded_route, "A route without filter servers has no filter server table.")
def empty_filter_server_table_is_left_out(original, self, route, standard):
    route.filter_server_table = route.filter_server_table or None
    return original(self, route, standard)


@after(NameServer.route, "A route has the order configuration without orderMessageEnable.")
def order_configuration_is_always_told(found, self, topic):
    if found is not None:
        found.order_topic_conf = self.kv.get(ORDER_TOPIC_CONFIG, topic)


@after(RouteTable.routed_broker, "Broker data of a route have no enableActingMaster.", V5)
def route_lacks_acting_master(shown):
    shown.enable_acting_master = None


@after(RouteTable.routed_broker, "Broker data of a route have no zoneName.", V5)
def route_lacks_zone(shown):
    shown.zone_name = None


@after(RouteTable.routed_broker, "enableActingMaster of a route is always false.", V5)
def acting_master_is_always_false(shown):
    shown.enable_acting_master = False


@after(
    RouteTable.route,
    "The mapping of one static topic is shown in the routes of all topics of its broker.",
    V5,
)
def mapping_is_shown_for_every_topic(found, self, topic):
    if found is not None:
        mappings: dict[str, TopicQueueMappingInfo] = {}
        for known in self.mappings.values():
            mappings |= {name: known[name] for name in self.topics[topic] if name in known}
        found.topic_queue_mapping_by_broker = mappings or None


# -- in which JSON -------------------------------------------------------------------------------------------


@mutant(NameServer.wants_standard_json, "Standard JSON is written only for acceptStandardJsonOnly.")
def standard_json_only_on_request(original, self, command):
    return fields.boolean(command.ext, "acceptStandardJsonOnly") is True


@mutant(NameServer.route_reply, "A route stays in the JSON of the first client that asked, until it changes.")
def first_client_sets_the_json(original, self, topic, standard, now):
    first: dict[tuple[str, int], bool] = self.__dict__.setdefault("first_client", {})
    return original(self, topic, first.setdefault((topic, self.routes.revision), standard), now)


@mutant(NameServer.wants_standard_json, "acceptStandardJsonOnly is ignored.")
def standard_json_only_for_new_clients(original, self, command):
    return command.version >= 401


@mutant(NameServer.wants_standard_json, "acceptStandardJsonOnly=TRUE is not understood.")
def standard_json_flag_is_case_sensitive(original, self, command):
    return command.version >= 401 or fields.text(command.ext, "acceptStandardJsonOnly") == "true"


@mutant(NameServer.encoded_route, "A client that cannot read standard JSON gets no route.")
def older_clients_are_refused(original, self, route, standard):
    if not standard:
        raise RefusedError("this client is too old")
    return original(self, route, standard)


@mutant(NameServer.encoded_route, "Standard JSON of a route has no filter servers.")
def standard_flavour_lacks_filter_servers(original, self, route, standard):
    if standard:
        route.filter_server_table = {}
    return original(self, route, standard)


@mutant(NameServer.encoded_route, "Legacy JSON of a route lists masters only.")
def legacy_flavour_lacks_slaves(original, self, route, standard):
    for broker in route.broker_datas if not standard else ():
        broker.broker_addrs = {n: address for n, address in broker.broker_addrs.items() if n == MASTER}
    return original(self, route, standard)


@after(NameServer.encoded_route, "Standard JSON of a route has a question mark for each escaped character.")
def standard_flavour_is_ascii(body, standard):
    return body.decode("unicode-escape", "replace").encode("ascii", "replace") if standard else body


@after(NameServer.encoded_route, "Legacy JSON of a route is written in Latin-1.")
def legacy_flavour_is_latin_1(body, standard):
    return body if standard else body.decode().encode("latin-1", "replace")


# -- zones (5.x) ---------------------------------------------------------------------------------------------


@mutant(NameServer53.get_route, "A zone name filters a route without __ZONE_MODE.")
def zone_name_is_enough(original, self, command, connection, now):
    if fields.text(command.ext, "__ZONE_NAME"):
        command.ext = {**(command.ext or {}), "__ZONE_MODE": "true"}
    return original(self, command, connection, now)


@mutant(NameServer53.asked_zone, "__ZONE_MODE filters a route by a zone without a name.")
def zone_mode_is_enough(original, self, command):
    if not fields.boolean(command.ext, "__ZONE_MODE"):
        return None
    return fields.text(command.ext, "__ZONE_NAME") or "none"


@mutant(NameServer.get_route, "A 4.9 server leaves out what it should show in a zone.", V4)
def zones_are_not_distinguished(original, self, command, connection, now):
    if fields.text(command.ext, "__ZONE_NAME") is not None:
        return Reply(ResponseCode.TOPIC_NOT_EXIST)
    return original(self, command, connection, now)


@mutant(NameServer53.asked_zone, "The zone fields are ignored.")
def zones_are_ignored(original, self, command):
    return None


@mutant(NameServer53.stays_in_zone, "Zone names are case-sensitive.")
def zones_are_case_sensitive(original, self, broker, zone):
    return MASTER not in broker.broker_addrs or broker.zone_name == zone


@mutant(NameServer53.stays_in_zone, "A master without a zone is in every zone.")
def masters_without_zone_serve_every_zone(original, self, broker, zone):
    return broker.zone_name is None or original(self, broker, zone)


@mutant(NameServer53.in_zone, "A route for a zone keeps the queue data of other zones.")
def zone_keeps_all_queue_data(original, self, route, zone):
    queues = route.queue_datas
    filtered = original(self, route, zone)
    filtered.queue_datas = queues
    return filtered


@mutant(NameServer53.stays_in_zone, "A route for a zone has no names without a master.")
def zone_drops_slaves_without_master(original, self, broker, zone):
    return (broker.zone_name or "").lower() == zone.lower()


@mutant(NameServer.wants_standard_json, "A route for a zone has unquoted keys for every client.", V5)
def zone_route_is_legacy_json(original, self, command):
    zoned = fields.boolean(command.ext, "__ZONE_MODE")
    return not zoned and original(self, command)


@mutant(RouteTable.drop_mapping, "The mapping of a static topic outlives the broker that registered it.", V5)
def mappings_are_never_dropped(original, self, topic, name):
    """They stay."""


@mutant(NameServer53.asked_zone, "__ZONE_MODE=TRUE does not filter a route.")
def zone_mode_is_case_sensitive(original, self, command):
    on = fields.text(command.ext, "__ZONE_MODE") == "true"
    return original(self, command) if on else None


@after(NameServer53.get_route, "A route without a broker in the zone does not exist.")
def zone_without_brokers_does_not_exist(reply):
    if reply.code == ResponseCode.SUCCESS and not TopicRoute.decode(reply.body).broker_datas:
        return Reply(ResponseCode.TOPIC_NOT_EXIST)
    return reply


@mutant(NameServer53.in_zone, "A route for a zone has the filter servers of others.")
def zone_keeps_all_filter_servers(original, self, route, zone):
    filters = route.filter_server_table
    filtered = original(self, route, zone)
    filtered.filter_server_table = filters
    return filtered


@after(NameServer53.in_zone, "A route for a zone has no static-topic mappings.")
def zone_drops_mappings(filtered):
    filtered.topic_queue_mapping_by_broker = None


# -- filter servers ------------------------------------------------------------------------------------------


@mutant(RouteTable.shown_filters, "A route has the filter servers of masters only.")
def filter_servers_of_masters_only(original, self, brokers):
    masters = {broker.addresses.get(MASTER) for broker in brokers}
    shown = original(self, brokers)
    return {address: servers for address, servers in shown.items() if address in masters}


@mutant(RouteTable.shown_filters, "A route has the filter servers of all brokers.")
def filter_servers_of_everyone(original, self, brokers):
    return original(self, list(self.brokers.values()))


# -- routes that wait (5.x) ----------------------------------------------------------------------------------


@mutant(NameServer53.ready, "needWaitForService has no effect.")
def routes_do_not_wait(original, self, now):
    return True


@mutant(NameServer53.get_route, "While routes wait, an unknown topic does not exist.")
def unknown_topics_do_not_wait(original, self, command, connection, now):
    if fields.text(command.ext, "topic") not in self.routes.topics:
        return Reply(ResponseCode.TOPIC_NOT_EXIST)
    return original(self, command, connection, now)


@after(NameServer53.get_route, "A route that is not yet available is refused without a remark.")
def wait_has_no_remark(reply):
    return Reply(reply.code) if reply.code == ResponseCode.SYSTEM_ERROR else reply


@mutant(NameServer53.get_cluster_info, "Cluster information waits with the routes.", V5)
def everything_waits(original, self, command, connection, now):
    if self.config.need_wait_for_service and not self.ready(now):
        return Reply(ResponseCode.SYSTEM_ERROR, remark="name server not ready")
    return original(self, command, connection, now)


@mutant(NameServer53.ready, "With needWaitForService no route is ever answered.")
def routes_wait_for_ever(original, self, now):
    return False
