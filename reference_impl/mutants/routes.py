"""Faults of routes (code 105): whether there is one, what it says, and in which JSON."""

from harness.wire import Command, ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicQueueMappingInfo, TopicRoute
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.kv import ORDER_TOPIC_CONFIG
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import MASTER, RouteTable
from reference_impl.nameserver.state import Broker, Queue
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

# -- whether there is a route --------------------------------------------------------------------------------


@mutant("unknown-topic-is-a-failure", "The route of an unknown topic is answered with SYSTEM_ERROR.")
def unknown_topic_is_a_failure(parts: Parts) -> Parts:
    def unknown_topic(self: NameServer, topic: str | None) -> str:
        raise RefusedError("no such topic")

    return parts.override("nameserver", unknown_topic)


@mutant("unknown-topic-has-an-empty-route", "A topic that nobody serves has a route with empty lists.")
def unknown_topic_has_an_empty_route(parts: Parts) -> Parts:
    def route(self: RouteTable, topic: str) -> TopicRoute | None:
        return parts.routes.route(self, topic) or TopicRoute()

    return parts.override("routes", route)


@mutant("unknown-topic-has-no-remark", "The remark of an unknown topic does not name it.")
def unknown_topic_has_no_remark(parts: Parts) -> Parts:
    def unknown_topic(self: NameServer, topic: str | None) -> str:
        return "not found"

    return parts.override("nameserver", unknown_topic)


@mutant("absent-topic-is-a-failure", "A route request without a topic is answered with SYSTEM_ERROR.")
def absent_topic_is_a_failure(parts: Parts) -> Parts:
    def get_route(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(fields.text(command.ext, "topic") or None, "topic")
        return parts.nameserver.get_route(self, command, connection, now)

    return parts.override("nameserver", get_route)


@mutant(
    "departed-brokers-stay-in-queue-data", "A broker name that has left goes on being listed in queue data."
)
def departed_brokers_stay_in_queue_data(parts: Parts) -> Parts:
    def drop_topics_of(self: RouteTable, broker: Broker) -> None:
        return None

    return parts.override("routes", drop_topics_of)


@mutant(
    "routes-are-cached-for-a-second", "A route, or that there is none, is answered from a cache for a second."
)
def routes_are_cached_for_a_second(parts: Parts) -> Parts:
    def route_reply(self: NameServer, topic: str, standard: bool, now: int) -> Reply | None:
        cache: dict[tuple[str, bool], tuple[int, Reply | None]] = self.__dict__.setdefault("route_cache", {})
        since, reply = cache.get((topic, standard), (now - 1001, None))
        if now - since > 1000:
            reply = parts.nameserver.route_reply(self, topic, standard, now)
            cache[topic, standard] = (now, reply)
        return reply

    return parts.override("nameserver", route_reply)


@mutant("reserved-topics-are-not-routed", "Topics of reserved names are never routed.")
def reserved_topics_are_not_routed(parts: Parts) -> Parts:
    def route(self: RouteTable, topic: str) -> TopicRoute | None:
        return None if topic.startswith(("TBW102", "%")) else parts.routes.route(self, topic)

    return parts.override("routes", route)


@mutant("routes-survive-a-restart", "A route that was once answered is kept on disk and answered ever after.")
def routes_survive_a_restart(parts: Parts) -> Parts:
    def get_route(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.get_route(self, command, connection, now)
        topic = fields.text(command.ext, "topic") or ""
        if reply.code == ResponseCode.SUCCESS:
            self.kv.put("routes", topic, reply.body.decode())
            self.unwritten = True
            return reply
        kept = self.kv.get("routes", topic)
        return reply if kept is None else Reply(ResponseCode.SUCCESS, body=kept.encode())

    return parts.override("nameserver", get_route)


# -- what a route says ---------------------------------------------------------------------------------------


@mutant("routes-show-fours", "Every topic is shown with four read and four write queues.")
def routes_show_fours(parts: Parts) -> Parts:
    def shown_queue(self: RouteTable, name: str, queue: Queue) -> QueueData:
        return parts.routes.shown_queue(self, name, Queue(4, 4, queue.perm, queue.flag))

    return parts.override("routes", shown_queue)


@mutant("route-has-one-broker", "A route lists one broker name only.")
def route_has_one_broker(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None:
            found.broker_datas = found.broker_datas[:1]
        return found

    return parts.override("nameserver", route)


@mutant("route-has-one-queue-data", "A route has the queue data of one broker name only.")
def route_has_one_queue_data(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None:
            found.queue_datas = found.queue_datas[:1]
        return found

    return parts.override("nameserver", route)


@mutant("route-lists-lowest-id-only", "A route lists of each broker name the lowest id only.")
def route_lists_lowest_id_only(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = parts.routes.routed_broker(self, topic, broker, queue)
        lowest = min(shown.broker_addrs)
        shown.broker_addrs = {lowest: shown.broker_addrs[lowest]}
        return shown

    return parts.override("routes", routed_broker)


@mutant("route-lacks-cluster", "Broker data of a route do not name their cluster.")
def route_lacks_cluster(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = parts.routes.routed_broker(self, topic, broker, queue)
        shown.cluster = None
        return shown

    return parts.override("routes", routed_broker)


@mutant("slave-is-shown-as-master", "Without a master the lowest slave is shown as id 0, unasked.")
def slave_is_shown_as_master(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = self.shown_broker(broker)
        if MASTER not in shown.broker_addrs:
            shown.broker_addrs[MASTER] = shown.broker_addrs.pop(min(shown.broker_addrs))
        return shown

    return parts.override("routes", routed_broker)


@mutant("empty-filter-server-table-is-left-out", "A route without filter servers has no filter server table.")
def empty_filter_server_table_is_left_out(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        route.filter_server_table = route.filter_server_table or None
        return parts.nameserver.encoded_route(self, route, standard)

    return parts.override("nameserver", encoded_route)


@mutant(
    "order-configuration-is-always-told", "A route tells the order configuration without orderMessageEnable."
)
def order_configuration_is_always_told(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None:
            found.order_topic_conf = self.kv.get(ORDER_TOPIC_CONFIG, topic)
        return found

    return parts.override("nameserver", route)


@mutant("route-lacks-acting-master", "Broker data of a route have no enableActingMaster.", profiles=V5)
def route_lacks_acting_master(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = parts.routes.routed_broker(self, topic, broker, queue)
        shown.enable_acting_master = None
        return shown

    return parts.override("routes", routed_broker)


@mutant("acting-master-is-always-false", "enableActingMaster of a route is always false.", profiles=V5)
def acting_master_is_always_false(parts: Parts) -> Parts:
    def routed_broker(self: RouteTable, topic: str, broker: Broker, queue: Queue) -> BrokerData:
        shown = parts.routes.routed_broker(self, topic, broker, queue)
        shown.enable_acting_master = False
        return shown

    return parts.override("routes", routed_broker)


@mutant(
    "mapping-is-shown-for-every-topic",
    "The mapping of one static topic is shown in the routes of all topics of its broker.",
    profiles=V5,
)
def mapping_is_shown_for_every_topic(parts: Parts) -> Parts:
    def route(self: RouteTable, topic: str) -> TopicRoute | None:
        found = parts.routes.route(self, topic)
        if found is not None:
            mappings: dict[str, TopicQueueMappingInfo] = {}
            for known in self.mappings.values():
                mappings |= {name: known[name] for name in self.topics[topic] if name in known}
            found.topic_queue_mapping_by_broker = mappings or None
        return found

    return parts.override("routes", route)


# -- in which JSON -------------------------------------------------------------------------------------------


@mutant("standard-json-only-on-request", "Standard JSON is written only for acceptStandardJsonOnly.")
def standard_json_only_on_request(parts: Parts) -> Parts:
    def wants_standard_json(self: NameServer, command: Command) -> bool:
        return fields.boolean(command.ext, "acceptStandardJsonOnly") is True

    return parts.override("nameserver", wants_standard_json)


@mutant("standard-json-only-for-new-clients", "acceptStandardJsonOnly is ignored.")
def standard_json_only_for_new_clients(parts: Parts) -> Parts:
    def wants_standard_json(self: NameServer, command: Command) -> bool:
        return command.version >= 401

    return parts.override("nameserver", wants_standard_json)


@mutant("standard-json-flag-is-case-sensitive", "acceptStandardJsonOnly=TRUE is not understood.")
def standard_json_flag_is_case_sensitive(parts: Parts) -> Parts:
    def wants_standard_json(self: NameServer, command: Command) -> bool:
        return command.version >= 401 or fields.text(command.ext, "acceptStandardJsonOnly") == "true"

    return parts.override("nameserver", wants_standard_json)


@mutant("older-clients-are-refused", "A client that cannot read standard JSON gets no route.")
def older_clients_are_refused(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        if not standard:
            raise RefusedError("this client is too old")
        return parts.nameserver.encoded_route(self, route, standard)

    return parts.override("nameserver", encoded_route)


@mutant("standard-flavour-lacks-filter-servers", "Standard JSON of a route has no filter servers.")
def standard_flavour_lacks_filter_servers(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        if standard:
            route.filter_server_table = {}
        return parts.nameserver.encoded_route(self, route, standard)

    return parts.override("nameserver", encoded_route)


@mutant("legacy-flavour-lacks-slaves", "Legacy JSON of a route lists masters only.")
def legacy_flavour_lacks_slaves(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        for broker in route.broker_datas if not standard else ():
            broker.broker_addrs = {n: address for n, address in broker.broker_addrs.items() if n == MASTER}
        return parts.nameserver.encoded_route(self, route, standard)

    return parts.override("nameserver", encoded_route)


@mutant(
    "standard-flavour-is-ascii", "Standard JSON of a route has a question mark for each escaped character."
)
def standard_flavour_is_ascii(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        body = parts.nameserver.encoded_route(self, route, standard)
        return body.decode("unicode-escape", "replace").encode("ascii", "replace") if standard else body

    return parts.override("nameserver", encoded_route)


@mutant("legacy-flavour-is-latin-1", "Legacy JSON of a route is written in Latin-1.")
def legacy_flavour_is_latin_1(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        body = parts.nameserver.encoded_route(self, route, standard)
        return body if standard else body.decode().encode("latin-1", "replace")

    return parts.override("nameserver", encoded_route)


# -- zones (5.x) ---------------------------------------------------------------------------------------------


@mutant("zone-name-is-enough", "A zone name filters a route without __ZONE_MODE.", profiles=V5)
def zone_name_is_enough(parts: Parts) -> Parts:
    def get_route(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "__ZONE_NAME"):
            command.ext = {**(command.ext or {}), "__ZONE_MODE": "true"}
        return parts.nameserver.get_route(self, command, connection, now)

    return parts.override("nameserver", get_route)


@mutant("zone-mode-is-enough", "__ZONE_MODE filters a route by a zone without a name.", profiles=V5)
def zone_mode_is_enough(parts: Parts) -> Parts:
    def asked_zone(self: NameServer53, command: Command) -> str | None:
        if not fields.boolean(command.ext, "__ZONE_MODE"):
            return None
        return fields.text(command.ext, "__ZONE_NAME") or "none"

    return parts.override("nameserver", asked_zone)


@mutant(
    "zones-are-not-distinguished", "A 4.9 server leaves out what it should show in a zone.", profiles=["4.9"]
)
def zones_are_not_distinguished(parts: Parts) -> Parts:
    def get_route(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "__ZONE_NAME") is not None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST)
        return parts.nameserver.get_route(self, command, connection, now)

    return parts.override("nameserver", get_route)


@mutant("zones-are-ignored", "The zone fields are ignored.", profiles=V5)
def zones_are_ignored(parts: Parts) -> Parts:
    def asked_zone(self: NameServer53, command: Command) -> str | None:
        return None

    return parts.override("nameserver", asked_zone)


@mutant("zones-are-case-sensitive", "Z1 is another zone than z1.", profiles=V5)
def zones_are_case_sensitive(parts: Parts) -> Parts:
    def stays_in_zone(self: NameServer53, broker: BrokerData, zone: str) -> bool:
        return MASTER not in broker.broker_addrs or broker.zone_name == zone

    return parts.override("nameserver", stays_in_zone)


@mutant(
    "masters-without-zone-serve-every-zone",
    "A master without a zone is in every zone.",
    profiles=V5,
)
def masters_without_zone_serve_every_zone(parts: Parts) -> Parts:
    def stays_in_zone(self: NameServer53, broker: BrokerData, zone: str) -> bool:
        return broker.zone_name is None or NameServer53.stays_in_zone(self, broker, zone)

    return parts.override("nameserver", stays_in_zone)


@mutant(
    "zone-keeps-all-queue-data",
    "A route for a zone keeps the queue data of other zones.",
    profiles=V5,
)
def zone_keeps_all_queue_data(parts: Parts) -> Parts:
    def in_zone(self: NameServer53, route: TopicRoute, zone: str) -> TopicRoute:
        queues = route.queue_datas
        filtered = NameServer53.in_zone(self, route, zone)
        filtered.queue_datas = queues
        return filtered

    return parts.override("nameserver", in_zone)


@mutant(
    "zone-drops-slaves-without-master",
    "A route for a zone has no names without a master.",
    profiles=V5,
)
def zone_drops_slaves_without_master(parts: Parts) -> Parts:
    def stays_in_zone(self: NameServer53, broker: BrokerData, zone: str) -> bool:
        return (broker.zone_name or "").lower() == zone.lower()

    return parts.override("nameserver", stays_in_zone)


@mutant("zone-route-is-legacy-json", "A route for a zone has unquoted keys for every client.", profiles=V5)
def zone_route_is_legacy_json(parts: Parts) -> Parts:
    def wants_standard_json(self: NameServer, command: Command) -> bool:
        zoned = fields.boolean(command.ext, "__ZONE_MODE")
        return not zoned and parts.nameserver.wants_standard_json(self, command)

    return parts.override("nameserver", wants_standard_json)


@mutant(
    "mappings-are-never-dropped",
    "The mapping of a static topic outlives the broker that registered it.",
    profiles=V5,
)
def mappings_are_never_dropped(parts: Parts) -> Parts:
    def drop_mapping(self: RouteTable, topic: str, name: str) -> None:
        """They stay."""

    return parts.override("routes", drop_mapping)


@mutant("zone-mode-is-case-sensitive", "__ZONE_MODE=TRUE does not filter a route.", profiles=V5)
def zone_mode_is_case_sensitive(parts: Parts) -> Parts:
    def asked_zone(self: NameServer53, command: Command) -> str | None:
        on = fields.text(command.ext, "__ZONE_MODE") == "true"
        return NameServer53.asked_zone(self, command) if on else None

    return parts.override("nameserver", asked_zone)


@mutant("zone-without-brokers-does-not-exist", "A route that has no broker in the zone is none.", profiles=V5)
def zone_without_brokers_does_not_exist(parts: Parts) -> Parts:
    def get_route(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        reply = NameServer53.get_route(self, command, connection, now)
        if reply.code == ResponseCode.SUCCESS and not TopicRoute.decode(reply.body).broker_datas:
            return Reply(ResponseCode.TOPIC_NOT_EXIST)
        return reply

    return parts.override("nameserver", get_route)


@mutant("zone-keeps-all-filter-servers", "A route for a zone has the filter servers of others.", profiles=V5)
def zone_keeps_all_filter_servers(parts: Parts) -> Parts:
    def in_zone(self: NameServer53, route: TopicRoute, zone: str) -> TopicRoute:
        filters = route.filter_server_table
        filtered = NameServer53.in_zone(self, route, zone)
        filtered.filter_server_table = filters
        return filtered

    return parts.override("nameserver", in_zone)


@mutant("zone-drops-mappings", "A route for a zone has no static-topic mappings.", profiles=V5)
def zone_drops_mappings(parts: Parts) -> Parts:
    def in_zone(self: NameServer53, route: TopicRoute, zone: str) -> TopicRoute:
        filtered = NameServer53.in_zone(self, route, zone)
        filtered.topic_queue_mapping_by_broker = None
        return filtered

    return parts.override("nameserver", in_zone)


# -- filter servers ------------------------------------------------------------------------------------------


@mutant("filter-servers-of-masters-only", "A route has the filter servers of masters only.")
def filter_servers_of_masters_only(parts: Parts) -> Parts:
    def shown_filters(self: RouteTable, brokers: list[Broker]) -> dict[str, list[str]]:
        masters = {broker.addresses.get(MASTER) for broker in brokers}
        shown = parts.routes.shown_filters(self, brokers)
        return {address: servers for address, servers in shown.items() if address in masters}

    return parts.override("routes", shown_filters)


@mutant("filter-servers-of-everyone", "A route has the filter servers of all brokers.")
def filter_servers_of_everyone(parts: Parts) -> Parts:
    def shown_filters(self: RouteTable, brokers: list[Broker]) -> dict[str, list[str]]:
        return parts.routes.shown_filters(self, list(self.brokers.values()))

    return parts.override("routes", shown_filters)


# -- routes that wait (5.x) ----------------------------------------------------------------------------------


@mutant("routes-do-not-wait", "needWaitForService has no effect.", profiles=V5)
def routes_do_not_wait(parts: Parts) -> Parts:
    def ready(self: NameServer53, now: int) -> bool:
        return True

    return parts.override("nameserver", ready)


@mutant("unknown-topics-do-not-wait", "While routes wait, an unknown topic does not exist.", profiles=V5)
def unknown_topics_do_not_wait(parts: Parts) -> Parts:
    def get_route(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "topic") not in self.routes.topics:
            return Reply(ResponseCode.TOPIC_NOT_EXIST)
        return NameServer53.get_route(self, command, connection, now)

    return parts.override("nameserver", get_route)


@mutant("wait-has-no-remark", "A route that has to wait is refused without a word.", profiles=V5)
def wait_has_no_remark(parts: Parts) -> Parts:
    def get_route(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        reply = NameServer53.get_route(self, command, connection, now)
        return Reply(reply.code) if reply.code == ResponseCode.SYSTEM_ERROR else reply

    return parts.override("nameserver", get_route)


@mutant("everything-waits", "Cluster information waits with the routes.", profiles=V5)
def everything_waits(parts: Parts) -> Parts:
    def get_cluster_info(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        if self.config.need_wait_for_service and not self.ready(now):
            return Reply(ResponseCode.SYSTEM_ERROR, remark="name server not ready")
        return NameServer53.get_cluster_info(self, command, connection, now)

    return parts.override("nameserver", get_cluster_info)


@mutant("routes-wait-for-ever", "With needWaitForService there are never routes.", profiles=V5)
def routes_wait_for_ever(parts: Parts) -> Parts:
    def ready(self: NameServer53, now: int) -> bool:
        return False

    return parts.override("nameserver", ready)
