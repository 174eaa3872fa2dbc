"""Faults of the mappings of static topics (5.x)."""

import re
import zlib

import msgspec

from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.routes_53 import RouteTable53
from reference_impl.remoting.reply import RefusedError


@mutant(RouteTable53.store_mapping, "A mapping replaces those of other brokers for its topic.")
def mapping_replaces_those_of_others(original, self, topic, name, mapping):
    self.mappings.pop(topic, None)
    original(self, topic, name, mapping)


@mutant(RouteTable53.store_mapping, "The first mapping of a broker for a topic stays.")
def mappings_are_never_updated(original, self, topic, name, mapping):
    if name not in self.mappings.get(topic, {}):
        original(self, topic, name, mapping)


@mutant(RouteTable53.store_mapping, "A mapping is replaced by one of a higher epoch only.")
def mappings_are_ordered_by_epoch(original, self, topic, name, mapping):
    known = self.mappings.get(topic, {}).get(name)
    if known is None or known.epoch < mapping.epoch:
        original(self, topic, name, mapping)


@mutant(RouteTable53.describe, "A registration with an equal version replaces mappings, too.")
def equal_version_replaces_mappings(original, self, broker, registration):
    original(self, broker, registration)
    for topic, name, mapping in registration.mappings:
        self.store_mapping(topic, name, mapping)


@mutant(RouteTable53.publish, "A broker that takes a free id leaves the mappings of its name.")
def free_id_leaves_mappings(original, self, broker, registration, *, first, moved, changed):
    before = {topic: told[broker.name] for topic, told in self.mappings.items() if broker.name in told}
    original(self, broker, registration, first=first, moved=moved, changed=changed)
    if not changed:
        for topic, mapping in before.items():
            self.store_mapping(topic, broker.name, mapping)


@mutant(RouteTable53.describe, "A registration removes the mappings that it omits.")
def absent_mappings_are_removed(original, self, broker, registration):
    original(self, broker, registration)
    carried = {topic for topic, _, _ in registration.mappings}
    for topic in [topic for topic in self.mappings if topic not in carried]:
        self.drop_mapping(topic, broker.name)
        self.revision += 1


@mutant(RouteTable53.publish, "A mapping applies to the broker that registers it.")
def mapping_is_its_registrants(original, self, broker, registration, *, first, moved, changed):
    registration.mappings = [(topic, broker.name, found) for topic, _, found in registration.mappings]
    original(self, broker, registration, first=first, moved=moved, changed=changed)


@mutant(RouteTable53.describe, "The mappings that a slave registers are kept.")
def slaves_register_mappings(original, self, broker, registration):
    original(self, broker, registration)
    for topic, name, mapping in registration.mappings if registration.id != 0 else ():
        self.store_mapping(topic, name, mapping)


@mutant(RouteTable53.publish, "Under an equal version a topic returns without its mapping.")
def returning_topic_lacks_its_mapping(original, self, broker, registration, *, first, moved, changed):
    if not first and not changed:
        registration.mappings = []
    original(self, broker, registration, first=first, moved=moved, changed=changed)


@mutant(RouteTable53.store_mapping, "A mapping that was removed is not taken over again.")
def mappings_are_kept_once_only(original, self, topic, name, mapping):
    seen: set[tuple[str, str]] = self.__dict__.setdefault("seen_mappings", set())
    if name in self.mappings.get(topic, {}) or (topic, name) not in seen:
        seen.add((topic, name))
        original(self, topic, name, mapping)


@after(NameServer53.encoded_route, "Queue ids are unquoted in standard JSON, too.", V5)
def queue_ids_of_mappings_have_no_quotes(body):
    return body.replace(b'"currIdMap":{"0":', b'"currIdMap":{0:')


@mutant(NameServer53.register_body, "A currIdMap that cannot be read counts as an empty one.", V5)
def unreadable_queue_maps_are_empty(original, self, command):
    try:
        return original(self, command)
    except RefusedError:
        body = re.sub(rb'"currIdMap":([^,{}]*|\{[^{}]*\})', b'"currIdMap":{}', command.body)
        return original(self, msgspec.structs.replace(command, body=body))


@mutant(NameServer53.register_body, "A currIdMap that is null is refused.", V5)
def null_queue_maps_are_refused(original, self, command):
    if b'"currIdMap":null' in command.body:
        raise RefusedError("currIdMap is null")
    return original(self, command)


@mutant(
    RouteTable53.store_mapping, "A member of a mapping that is null has the value of one that is missing."
)
def null_members_of_mappings_are_missing(original, self, topic, name, mapping):
    mapping.curr_id_map, mapping.scope = mapping.curr_id_map or {}, mapping.scope or "__global__"
    original(self, topic, name, mapping)


@mutant(
    RouteTable53.store_mapping, "A member of a mapping that is missing has the value of one that is null."
)
def missing_members_of_mappings_are_null(original, self, topic, name, mapping):
    mapping.curr_id_map, mapping.scope = mapping.curr_id_map or None, None
    original(self, topic, name, mapping)


@mutant(RouteTable53.store_mapping, "A route that was shown keeps the mappings that it had.")
def routes_keep_their_mappings(original, self, topic, name, mapping):
    before = self.revision
    original(self, topic, name, mapping)
    self.revision = before


@mutant(
    RouteTable53.drop_topics_of, "A broker that leaves keeps its mappings for topics that it does not serve."
)
def mappings_without_queues_stay(original, self, broker):
    RouteTable.drop_topics_of(self, broker)


def _has_a_strange_mapping(body):
    if not body.startswith(b"{"):
        try:
            body = zlib.decompress(body)
        except zlib.error:
            return False
    return re.search(rb'"unheardOf".*"epoch"', body) is not None


@mutant(NameServer53.register_body, "A mapping with an unknown member is refused.", V5)
def unknown_members_of_mappings_are_refused(original, self, command):
    if _has_a_strange_mapping(command.body):
        raise RefusedError("an unknown member of a mapping")
    return original(self, command)


@after(NameServer53.register_body, "A mapping with an unknown member loses its currIdMap.", V5)
def strange_mappings_lose_their_queues(body, command):
    if _has_a_strange_mapping(command.body):
        for mapping in (body.mappings or {}).values():
            mapping.curr_id_map = {}


@after(NameServer53.encoded_route, "An epoch of more than 53 bits is a number to strict clients, too.", V5)
def large_epochs_are_numbers(body):
    return re.sub(rb'"epoch":"(-?\d+)"', rb'"epoch":\1', body)


@after(NameServer53.encoded_route, "An epoch of more than 53 bits is text to every client.", V5)
def large_epochs_are_text_for_all(body):
    return re.sub(rb'"epoch":(-?\d{16,})', rb'"epoch":"\1"', body)
