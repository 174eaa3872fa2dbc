"""Faults of the order configuration in routes and in the answers to registrations."""

from harness.wire.bodies import TopicRoute
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.kv import ORDER_TOPIC_CONFIG
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting.reply import Reply


@mutant("order-configuration-is-never-told", "orderMessageEnable has no effect.")
def order_configuration_is_never_told(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        return self.routes.route(topic)

    return parts.override("nameserver", route)


@mutant("order-configuration-is-any-topics", "A route tells the first order configuration that there is.")
def order_configuration_is_any_topics(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None and self.config.order_message_enable:
            found.order_topic_conf = next(iter((self.kv.pairs(ORDER_TOPIC_CONFIG) or {}).values()), None)
        return found

    return parts.override("nameserver", route)


@mutant(
    "order-configuration-is-cached-with-the-route", "A route keeps its configuration until brokers change."
)
def order_configuration_is_cached_with_the_route(parts: Parts) -> Parts:
    def route_reply(self: NameServer, topic: str, standard: bool, now: int) -> Reply | None:
        cache: dict[tuple[str, bool], tuple[int, Reply | None]] = self.__dict__.setdefault("by_routes", {})
        if cache.get((topic, standard), (-1, None))[0] != self.routes.revision:
            reply = parts.nameserver.route_reply(self, topic, standard, now)
            cache[topic, standard] = (self.routes.revision, reply)
        return cache[topic, standard][1]

    return parts.override("nameserver", route_reply)


@mutant("legacy-flavour-lacks-order", "Legacy JSON of a route has no order configuration.")
def legacy_flavour_lacks_order(parts: Parts) -> Parts:
    def encoded_route(self: NameServer, route: TopicRoute, standard: bool) -> bytes:
        if not standard:
            route.order_topic_conf = None
        return parts.nameserver.encoded_route(self, route, standard)

    return parts.override("nameserver", encoded_route)


@mutant("order-configuration-makes-a-route", "A topic that has an order configuration has a route.")
def order_configuration_makes_a_route(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        known = self.kv.get(ORDER_TOPIC_CONFIG, topic)
        return TopicRoute(order_topic_conf=known) if found is None and known is not None else found

    return parts.override("nameserver", route)


@mutant("order-configuration-names-present-brokers", "An order configuration is told without absent brokers.")
def order_configuration_names_present_brokers(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None and found.order_topic_conf is not None:
            told = found.order_topic_conf.split(";")
            present = [one for one in told if one.partition(":")[0] in self.routes.brokers]
            found.order_topic_conf = ";".join(present)
        return found

    return parts.override("nameserver", route)


@mutant("order-configuration-of-any-namespace", "Every namespace may hold order configurations.")
def order_configuration_of_any_namespace(parts: Parts) -> Parts:
    def route(self: NameServer, topic: str) -> TopicRoute | None:
        found = parts.nameserver.route(self, topic)
        if found is not None and self.config.order_message_enable:
            told = (pairs[topic] for pairs in self.kv.namespaces.values() if topic in pairs)
            found.order_topic_conf = next(told, None)
        return found

    return parts.override("nameserver", route)


@mutant(
    "order-table-is-always-told",
    "A registration is answered with an order-topic table, if with an empty one.",
)
def order_table_is_always_told(parts: Parts) -> Parts:
    def order_table(self: NameServer) -> bytes:
        return parts.nameserver.order_table(self) or b'{"table":{}}'

    return parts.override("nameserver", order_table)


@mutant("order-table-is-always-returned", "returnOrderTopicConfigToBroker has no effect.", V5)
def order_table_is_always_returned(parts: Parts) -> Parts:
    def order_table(self: NameServer53) -> bytes:
        return NameServer.order_table(self)

    return parts.override("nameserver", order_table)
