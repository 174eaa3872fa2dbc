"""Faults of the order configuration in routes and in the answers to registrations."""

from harness.wire.bodies import TopicRoute
from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.kv import ORDER_TOPIC_CONFIG
from reference_impl.remoting.reply import Reply


@mutant(NameServer.route, "orderMessageEnable has no effect.")
def order_configuration_is_never_told(original, self, topic):
    return self.routes.route(topic)


@after(NameServer.route, "A route has the first order configuration of its namespace.")
def order_configuration_is_any_topics(found, self):
    if found is not None and self.config.order_message_enable:
        found.order_topic_conf = next(iter((self.kv.pairs(ORDER_TOPIC_CONFIG) or {}).values()), None)


@mutant(NameServer.route_reply, "A route keeps its configuration until brokers change.")
def order_configuration_is_cached_with_the_route(original, self, topic, standard, now):
    cache: dict[tuple[str, bool], tuple[int, Reply | None]] = self.__dict__.setdefault("by_routes", {})
    if cache.get((topic, standard), (-1, None))[0] != self.routes.revision:
        reply = original(self, topic, standard, now)
        cache[topic, standard] = (self.routes.revision, reply)
    return cache[topic, standard][1]


@mutant(NameServer.encoded_route, "Legacy JSON of a route has no order configuration.")
def legacy_flavour_lacks_order(original, self, route, standard):
    if not standard:
        route.order_topic_conf = None
    return original(self, route, standard)


@mutant(NameServer.route, "A topic with only an order configuration has a route.")
def order_configuration_makes_a_route(original, self, topic):
    found = original(self, topic)
    known = self.kv.get(ORDER_TOPIC_CONFIG, topic)
    return TopicRoute(order_topic_conf=known) if found is None and known is not None else found


@after(NameServer.route, "The order configuration of a route lacks absent brokers.")
def order_configuration_names_present_brokers(found, self):
    if found is not None and found.order_topic_conf is not None:
        told = found.order_topic_conf.split(";")
        present = [one for one in told if one.partition(":")[0] in self.routes.brokers]
        found.order_topic_conf = ";".join(present)


@after(NameServer.route, "Every namespace may hold order configurations.")
def order_configuration_of_any_namespace(found, self, topic):
    if found is not None and self.config.order_message_enable:
        told = (pairs[topic] for pairs in self.kv.namespaces.values() if topic in pairs)
        found.order_topic_conf = next(told, None)


@mutant(
    NameServer.order_table,
    "The answer to a registration always contains an order-topic table, even an empty one.",
)
def order_table_is_always_told(original, self):
    return original(self) or b'{"table":{}}'


@mutant(NameServer53.order_table, "returnOrderTopicConfigToBroker has no effect.")
def order_table_is_always_returned(original, self):
    return NameServer.order_table(self)
