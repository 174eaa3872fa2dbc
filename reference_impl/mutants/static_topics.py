"""Faults of the mappings of static topics (5.x)."""

from harness.wire.bodies import TopicQueueMappingInfo, TopicRoute
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.nameserver.state import Broker, Registration


@mutant("mapping-replaces-those-of-others", "A mapping replaces those of other brokers for its topic.", V5)
def mapping_replaces_those_of_others(parts: Parts) -> Parts:
    def store_mapping(self: RouteTable53, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        self.mappings.pop(topic, None)
        RouteTable53.store_mapping(self, topic, name, mapping)

    return parts.override("routes", store_mapping)


@mutant("mappings-are-never-updated", "The first mapping of a broker for a topic stays.", V5)
def mappings_are_never_updated(parts: Parts) -> Parts:
    def store_mapping(self: RouteTable53, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        if name not in self.mappings.get(topic, {}):
            RouteTable53.store_mapping(self, topic, name, mapping)

    return parts.override("routes", store_mapping)


@mutant("mappings-are-ordered-by-epoch", "A mapping is replaced by one of a higher epoch only.", V5)
def mappings_are_ordered_by_epoch(parts: Parts) -> Parts:
    def store_mapping(self: RouteTable53, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        known = self.mappings.get(topic, {}).get(name)
        if known is None or known.epoch < mapping.epoch:
            RouteTable53.store_mapping(self, topic, name, mapping)

    return parts.override("routes", store_mapping)


@mutant(
    "equal-version-replaces-mappings", "A registration replaces mappings under an equal version, too.", V5
)
def equal_version_replaces_mappings(parts: Parts) -> Parts:
    def describe(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        RouteTable53.describe(self, broker, registration)
        for topic, name, mapping in registration.mappings:
            self.store_mapping(topic, name, mapping)

    return parts.override("routes", describe)


@mutant("absent-mappings-are-removed", "A registration removes the mappings that it does not carry.", V5)
def absent_mappings_are_removed(parts: Parts) -> Parts:
    def describe(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        RouteTable53.describe(self, broker, registration)
        carried = {topic for topic, _, _ in registration.mappings}
        for topic in [topic for topic in self.mappings if topic not in carried]:
            self.drop_mapping(topic, broker.name)
            self.revision += 1

    return parts.override("routes", describe)


@mutant("mapping-is-its-registrants", "A mapping counts for the broker that registers it.", V5)
def mapping_is_its_registrants(parts: Parts) -> Parts:
    def publish(
        self: RouteTable53,
        broker: Broker,
        registration: Registration,
        *,
        first: bool,
        moved: bool,
        changed: bool,
    ) -> None:
        registration.mappings = [(topic, broker.name, found) for topic, _, found in registration.mappings]
        RouteTable53.publish(self, broker, registration, first=first, moved=moved, changed=changed)

    return parts.override("routes", publish)


@mutant("slaves-register-mappings", "The mappings that a slave registers are kept.", V5)
def slaves_register_mappings(parts: Parts) -> Parts:
    def describe(self: RouteTable53, broker: Broker, registration: Registration) -> None:
        RouteTable53.describe(self, broker, registration)
        for topic, name, mapping in registration.mappings if registration.id != 0 else ():
            self.store_mapping(topic, name, mapping)

    return parts.override("routes", describe)


@mutant(
    "returning-topic-lacks-its-mapping", "Under an equal version a topic returns without its mapping.", V5
)
def returning_topic_lacks_its_mapping(parts: Parts) -> Parts:
    def publish(
        self: RouteTable53,
        broker: Broker,
        registration: Registration,
        *,
        first: bool,
        moved: bool,
        changed: bool,
    ) -> None:
        if not first and not changed:
            registration.mappings = []
        RouteTable53.publish(self, broker, registration, first=first, moved=moved, changed=changed)

    return parts.override("routes", publish)


@mutant("mappings-are-kept-once-only", "A mapping that has gone is not taken over again.", V5)
def mappings_are_kept_once_only(parts: Parts) -> Parts:
    def store_mapping(self: RouteTable53, topic: str, name: str, mapping: TopicQueueMappingInfo) -> None:
        seen: set[tuple[str, str]] = self.__dict__.setdefault("seen_mappings", set())
        if name in self.mappings.get(topic, {}) or (topic, name) not in seen:
            seen.add((topic, name))
            RouteTable53.store_mapping(self, topic, name, mapping)

    return parts.override("routes", store_mapping)


@mutant("queue-ids-of-mappings-have-no-quotes", "Queue ids are unquoted in standard JSON, too.", V5)
def queue_ids_of_mappings_have_no_quotes(parts: Parts) -> Parts:
    def encoded_route(self: NameServer53, route: TopicRoute, standard: bool) -> bytes:
        body = NameServer53.encoded_route(self, route, standard)
        return body.replace(b'"currIdMap":{"0":', b'"currIdMap":{0:')

    return parts.override("nameserver", encoded_route)
