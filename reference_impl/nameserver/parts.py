"""The classes that a reference NameServer is made of, and how a mutant replaces one decision of one of them.

A mutant changes exactly one method of one part (or one value of the profile, with `revalue`):

    @mutant("never-expires", "A lease never runs out.")
    def never_expires(parts: Parts) -> Parts:
        def lease_ended(self: RouteTable, record: LiveRecord, now: int) -> bool:
            return False

        return parts.override("routes", lease_ended)

`override` makes a subclass whose method of that name is the function, and refuses a name that the part does
not have or other parameter names than the original's, so that a renamed decision breaks its mutants loudly.
The original is `parts.routes.lease_ended(self, record, now)`. Instances have a `__dict__`: a mutant that must
remember may add attributes. Parts differ by profile (RouteTable49, RouteTable53, …), but the names below
exist in both unless a profile is given.

part "endpoint" (`endpoint.py`, class Endpoint)
    new_buffer() -> FrameBuffer                     frame limit
    frames(buffer, data) -> frames                  what is kept of earlier bytes, which lengths are refused
    answer(connection, frame, now) -> bytes|None    everything about one frame
    read(frame) -> Command                          which headers end the connection (raises WireError)
    is_ignored(command) -> bool                     response frames; asked only if flag is not 0
    is_unanswered(command) -> bool                  one-way requests; asked only if flag is not 0
    response(request, reply) -> Command             opaque, flag, language, version, remark, …
    response_serialization(request, reply)          JSON or ROCKETMQ
    write(response) -> bytes                        the bytes of a response
    is_activity(frames, responses) -> bool          what keeps a connection from being idle
    idle_limit() -> int|None                        ms, of a connection that begins
    least_bytes() -> int; preamble(start) -> int|None               PROXY protocol
    secured(first, *, behind_preamble) -> Tls|None; certificate() -> SSLContext|None    TLS
    half_closed(connection, now) -> effects
    farewell() -> ms; is_sent_away(command) -> bool; sent_away() -> Reply|None      a server that stops
    notification(news) -> Command                   what a broker is told (905)
    scan(now) -> effects; close_expired(record) -> effects; close(connection) -> effects
    forget(connection) -> bool                      a connection and its brokers
    drop(connection)                                a connection without its brokers

part "nameserver" (`core.py`, `topic_requests.py`, `core_49.py`, `core_53.py`, class NameServer)
    known_requests() -> {code: handler}             which codes are served
    unknown_request(command) -> Reply|None          None is silence
    handlers, each (command, connection, now) -> Reply:
        register unregister query_data_version get_route get_cluster_info wipe_write_permission
        add_write_permission put_kv get_kv delete_kv list_kv delete_topic list_topics list_cluster_topics
        list_system_topics list_unit_topics list_unit_sub_topics list_unit_sub_only_topics update_config
        get_config; 5.3: get_member_group heartbeat register_topic
    checksum_holds(command) -> bool
    registration(command) -> Registration           which identifiers are needed, how ext fields are read
    register_body(command) -> RegisterBody          versions, compression, refusal of undecodable bodies
    announced_topics(body) -> {name: TopicConfig}   which name of a topic counts
    announced_mappings(body) -> [(topic, broker name, mapping)]
    registered_ext(registered) -> ext               what a registrant is told, as ext fields
    order_table() -> bytes                          body of the registration's reply
    departure(command) -> Departure                 what an unregistration means
    given_version(command) -> DataVersion|None; queried_broker(command) -> (cluster, address)
    query_refreshes(changed) -> bool; encoded_version(version) -> bytes
    wants_standard_json(command) -> bool
    route_reply(topic, standard, now) -> Reply|None the cache of encoded routes
    route(topic) -> TopicRoute|None                 order configuration
    encoded_route(route, standard) -> bytes
    unknown_topic(topic) -> str                     remark of code 17
    listed(command, names) -> Reply                 every list of topics but 304
    gives_list(code) -> bool                        which lists are given at all
    kv_changed()                                    whether a change is written
    given_settings(body) -> {key: text}             how the text of an update is read
    needed(value, name)                             refusal of missing identifiers
    5.3: ready(now), asked_zone(command), in_zone(route, zone), stays_in_zone(broker, zone)
    5.3: given_queues(command) -> [(broker name, Queue)]    the body of 217

part "routes" (`routes.py`, `topic_table.py`, `routes_49.py`, `routes_53.py`, class RouteTable)
  registration
    register(registration, connection, now) -> Registered|None      the whole sequence
    live_key(cluster, address) -> LiveKey
    refuses(broker, registration) -> bool           5.3: the lone topic
    conflicts(broker, registration) -> bool; reject(broker, registration); 5.3: outranks(holder, registrant)
    -> bool join_cluster(registration)
    describe(broker, registration)                  5.3: acting master, zone
    forget_other_ids(broker, registration) -> bool  promotion: one record per address
    put_address(broker, registration) -> bool       one address per id
    same_version(stored, given) -> bool             data versions are equal or not, never ordered
    may_publish(broker, registration) -> bool       only masters; 5.3: is_prime_slave(broker, registration)
    publish(broker, registration, *, first, moved, changed)
    updates(known, *, first, moved, changed) -> bool                which topics are taken over
    queue_of(broker, registration, topic) -> Queue  what is stored of a topic
    absent_topics(registration) -> topics           topics that a payload removes (none)
    5.3: store_mapping(topic, name, mapping)
    lease_of(registration) -> ms
    owner(previous, connection) -> connection       whose end removes the broker
    keep_filter_servers(key, servers)
    told(broker, registration) -> Registered        masterAddr, haServerAddr
  lease
    first_scan() -> ms; scan_interval() -> ms; expired(now) -> records; lease_ended(record, now) -> bool
    refresh(cluster, address, now); stored_version(cluster, address) -> DataVersion|None
  departure
    depart(departure) -> bool                       4.9 at once; 5.3 put into the worker's queue
    work()                                          the worker's batch
    5.3: smaller_came(broker, registration); told_of_arrival(broker, registration) -> addresses
    5.3: smallest_left(broker, address); tell(broker, left, ha_address, recipients)
    connection_lost(connection, peer); records_of(connection) -> records; departure_of(record) -> Departure
    lists(broker, record) -> bool; departures_of_stranger(peer) -> departures
    leave(departures); still_meant(departure) -> bool; forget_record(departure)
    remove_entry(broker, departure)                 4.9 by id, 5.3 by address
    remove_address(broker, address); remove_id(broker, number)
    reduced(broker)                                 5.3: write permission of a name that lost its master
    forget_name(broker); leave_clusters(broker); drop_cluster(cluster); drop_topics_of(broker)
  topics
    put_queue(topic, name, queue); drop_queue(topic, name); drop_mapping(topic, name); drop_topic(topic)
    delete_topic(topic); delete_topic_in(topic, cluster)
    5.3: register_topic(topic, queues); 5.3: knows_name(name) -> bool
    topic_names() -> topics; topics_in(cluster) -> topics; system_names() -> names; some_address()
    unit_topics() -> topics; unit_sub_topics() -> topics; unit_sub_only_topics() -> topics
    flag_of(queues) -> int                          which broker's system flag is a topic's
  write permission
    wipe_write_permission(name) -> count; add_write_permission(name) -> count; queues_of(name) -> [(topic,
    Queue)] set_permission(topic, name, queue, perm); without_write(perm) -> perm; with_write(perm) -> perm
  what clients see
    route(topic) -> TopicRoute|None; shown_queue(name, queue) -> QueueData; routed_broker(topic, broker,
    queue) -> BrokerData shown_broker(broker) -> BrokerData; shown_filters(brokers); cluster_info();
    member_addresses(name) 5.3: shows_acting_master(topic, broker, queue) -> bool

part "kv" (`kv.py`, class KvTable)
    put(namespace, key, value); get(namespace, key); delete(namespace, key); pairs(namespace); dump() ->
    bytes; load(stored)

part "settings" (`settings.py`, class Settings)
    knows(key) -> bool                              which settings the line has
    refused_keys(listed) -> keys                    the black list, read at the start
    refuses(pairs) -> bool                          whether an update is refused
    update(pairs)                                   what an update changes
    read(key, text, kind) -> value|None             what a text means; None: the old value stays
    changed()                                       whether an update is written
    pairs() -> {key: text}; dump() -> bytes         what is shown and stored

A mutant that changes what a route shows without a change of state needs no more: replies are encoded anew
whenever `routes.revision`, `kv.revision` or `settings.revision` grows, and never otherwise. One that changes
state by other means than the methods above must add 1 to `self.revision`.
"""

from dataclasses import dataclass
from typing import Literal

from reference_impl.remoting.replaceable import Replaceable

from .core import NameServer
from .core_49 import NameServer49
from .core_53 import NameServer53
from .endpoint import Endpoint
from .kv import KvTable
from .profiles import PROFILES, Profile
from .routes import RouteTable
from .routes_49 import RouteTable49
from .routes_53 import RouteTable53
from .settings import Settings

__all__ = ["PARTS", "PartName", "Parts"]

PartName = Literal["endpoint", "nameserver", "routes", "kv", "settings"]


@dataclass(frozen=True)
class Parts(Replaceable[PartName]):
    """What `build` puts together."""

    profile: Profile
    nameserver: type[NameServer]
    routes: type[RouteTable]
    endpoint: type[Endpoint] = Endpoint
    kv: type[KvTable] = KvTable
    settings: type[Settings] = Settings


PARTS = {
    "4.9": Parts(PROFILES["4.9"], nameserver=NameServer49, routes=RouteTable49),
    "5.3": Parts(PROFILES["5.3"], nameserver=NameServer53, routes=RouteTable53),
    "5.5": Parts(PROFILES["5.5"], nameserver=NameServer53, routes=RouteTable53),
}
"""The reference, by profile."""
