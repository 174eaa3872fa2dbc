"""Chapter registration: who may register what (code 103), what is kept, and what the registrant is told.

Rules of these cases:

* A first registration has two topics, because 5.x refuses a single one. Where one is the point, the case
  says so.
* A registration that would leave null names behind is sent to no server but one of its own.
"""

import json
import zlib
from itertools import count

from msgspec import UNSET

from harness.conformance import ABSENT, AnyOf, Including, Reply, Silence, case
from harness.session import Broker, NameServerSession
from harness.session.views import RegisterExchange
from harness.wire import FLAG_ONEWAY, ResponseCode, body_crc32
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig, TopicQueueMappingInfo

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

LEASE = 120
"""Protocol seconds for which a broker stays that is not heard of."""

FIRST_IN_JAVA = "Gg"
"""A name whose hash in Java is a multiple of 256: a map of broker names begins with it."""

NOBODY = (None, None)
"""masterAddr and haServerAddr of a reply that has neither."""

BODY_OF_49 = bytes.fromhex(
    "78da63606050af564ace2fcd2b492d52b232d7512ac9cc4d2d2e49cc2d50b232343740805a0606064620160e31543051b0503053"
    "08f6f473f7718d0f7174070a3345c70200d559113d"
)
"""Topic T1 (4 and 8 queues, permission 6) and data version 7 at 1700000000000, as Apache 4.9.8 writes it."""

LAYOUT_OF_53 = bytes.fromhex(
    "000000387b22636f756e746572223a372c22737461746556657273696f6e223a332c2274696d657374616d70223a313730303030"
    "303030303030307d000000010000001654312034203820362053494e474c455f544147207b7d000000025b5d00000000"
)
"""The same with stateVersion 3, as Apache 5.3.3's encoder lays it out before compression."""


def is_unknown(ns: NameServerSession, broker: Broker) -> None:
    """Neither name nor cluster nor topics of the broker are known."""
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [])
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)


def serves(ns: NameServerSession, broker: Broker, hint: str, *numbers: int) -> None:
    """The topic's route has these numbers of the broker: read and write queues, permission, system flag."""
    ns.route(broker.topic(hint)).queues >> Reply(SUCCESS, Including({broker.name: numbers}))


# --- the broker and its cluster -----------------------------------------------------------------------------


@case("ns.registration.master-appears-in-cluster-info", kills=["registration-is-not-kept"])
def test_master_appears_in_cluster_info(ns: NameServerSession) -> None:
    """A master is listed under its name, its id and its cluster."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.cluster().names(broker.cluster) >> Reply(SUCCESS, [broker.name])


@case("ns.registration.empty-topic-table-registers-broker", kills=["registration-needs-topics"])
def test_empty_topic_table_registers_broker(ns: NameServerSession) -> None:
    """A broker without topics is registered."""
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case("ns.registration.no-body-registers-broker", kills=["registration-needs-topics"])
def test_no_body_registers_broker(ns: NameServerSession) -> None:
    """A registration without a body is one without topics and with the data version 0."""
    broker = ns.broker()
    broker.register(body=b"") >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    broker.query_version(DataVersion(0, 0, ns.first_state_version)).changed >> Reply(SUCCESS, False)


@case(
    "ns.registration.effect-precedes-reply",
    kills=["registration-is-not-kept", "known-queues-are-never-updated"],
)
def test_effect_precedes_reply(ns: NameServerSession) -> None:
    """What has been answered is seen at once on another connection."""
    broker, other = ns.broker(), ns.connect()
    for read_queues in range(1, 6):
        topics = {"A": (read_queues, 1, 6), "B": (1, 1, 6)}
        broker.register(topics, broker.newer(read_queues)) >> Reply(SUCCESS)
        route = ns.route(broker.topic("A"), on=other)
        route.queues >> Reply(SUCCESS, {broker.name: (read_queues, 1, 6, 0)})


@case("ns.registration.one-way-registration-takes-effect", kills=["one-way-registration-is-dropped"])
def test_one_way_registration_takes_effect(ns: NameServerSession) -> None:
    """A one-way registration is not answered, and the broker is listed."""
    broker = ns.broker()
    broker.register(flag=FLAG_ONEWAY) >> Silence()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, {0: broker.address})


@case("ns.registration.heartbeat-registers-nothing", kills=["heartbeat-registers"])
def test_heartbeat_registers_nothing(ns: NameServerSession) -> None:
    """The heartbeat of an unknown broker is a success that registers nothing."""
    broker = ns.broker()
    broker.heartbeat() >> Reply(SUCCESS)
    is_unknown(ns, broker)


@case("ns.registration.cluster-is-fixed-by-first-registrant", kills=["cluster-follows-latest-registration"])
def test_cluster_is_fixed_by_first_registrant(ns: NameServerSession) -> None:
    """A broker that changes its cluster is still shown in its first one."""
    broker, second = ns.broker(), ns.name("second")
    broker.register() >> Reply(SUCCESS)
    broker.register(cluster=second, version=broker.newer()) >> Reply(SUCCESS)
    shown = Including({"cluster": broker.cluster})
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, shown)
    ns.route(broker.topic("A")).brokers >> Reply(SUCCESS, {broker.name: shown})
    broker.unregister() >> Reply(SUCCESS)
    broker.unregister(cluster=second) >> Reply(SUCCESS)


@case("ns.registration.name-is-listed-in-each-cluster", kills=["name-has-one-cluster"])
def test_name_is_listed_in_each_cluster(ns: NameServerSession) -> None:
    """A broker that changes its cluster is listed in both."""
    broker, second = ns.broker(cluster=ns.name("cluster-1")), ns.name("cluster-2")
    broker.register() >> Reply(SUCCESS)
    broker.register(cluster=second, version=broker.newer()) >> Reply(SUCCESS)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [broker.cluster, second])
    broker.unregister() >> Reply(SUCCESS)
    broker.unregister(cluster=second) >> Reply(SUCCESS)


@case("ns.registration.same-address-under-two-names", kills=["address-belongs-to-one-name"])
def test_same_address_under_two_names(ns: NameServerSession) -> None:
    """Two broker names with one address are kept apart."""
    first = ns.broker()
    second = ns.broker(address=first.address, cluster=first.cluster, topics=("C", "D"))
    first.register() >> Reply(SUCCESS)
    second.register(version=second.newer()) >> Reply(SUCCESS)
    ns.cluster().addresses(first.name) >> Reply(SUCCESS, {0: first.address})
    ns.cluster().addresses(second.name) >> Reply(SUCCESS, {0: first.address})
    serves(ns, first, "A", 8, 8, 6, 0)
    serves(ns, second, "C", 8, 8, 6, 0)
    second.unregister() >> Reply(SUCCESS)
    first.unregister() >> Reply(SUCCESS)


# --- what the registrant is told ----------------------------------------------------------------------------


@case("ns.registration.master-learns-no-master-address", kills=["master-is-told-itself"])
def test_master_learns_no_master_address(ns: NameServerSession) -> None:
    """A master is told no master, the first time or later."""
    broker = ns.broker()
    broker.register().master >> Reply(SUCCESS, NOBODY)
    broker.register().master >> Reply(SUCCESS, NOBODY)


@case(
    "ns.registration.slave-learns-master-address",
    kills=["slave-is-told-nothing", "master-addresses-are-swapped"],
)
def test_slave_learns_master_address(ns: NameServerSession) -> None:
    """A slave is told both addresses of its master."""
    master = ns.broker()
    master.register() >> Reply(SUCCESS)
    master.sibling().register().master >> Reply(SUCCESS, (master.address, master.ha))


@case("ns.registration.slave-without-master-learns-no-address", kills=["slave-is-told-itself"])
def test_slave_without_master_learns_no_address(ns: NameServerSession) -> None:
    """A slave whose name has no master is told none."""
    ns.broker(id=1).register().master >> Reply(SUCCESS, NOBODY)


@case("ns.registration.slave-learns-new-master-address", kills=["first-master-is-remembered"])
def test_slave_learns_new_master_address(ns: NameServerSession) -> None:
    """A slave is told the master that has taken over."""
    old = ns.broker()
    slave, new = old.sibling(), old.sibling(id=0)
    old.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    old.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(old.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    new.register() >> Reply(SUCCESS)
    slave.register().master >> Reply(SUCCESS, (new.address, new.ha))


@case("ns.registration.slave-learns-no-departed-master", kills=["first-master-is-remembered"])
def test_slave_learns_no_departed_master(ns: NameServerSession) -> None:
    """A slave is no longer told a master that has gone."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    master.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    slave.register().master >> Reply(SUCCESS, NOBODY)


@case("ns.registration.order-topic-table-is-in-reply", kills=["order-table-is-not-told"])
def test_order_topic_table_is_in_reply(ns: NameServerSession) -> None:
    """Master and slave are told the order-topic table."""
    key, master = ns.name("ordered"), ns.broker()
    ns.put_kv("ORDER_TOPIC_CONFIG", key, "broker:4") >> Reply(SUCCESS)
    told = Reply(SUCCESS, {"table": Including({key: "broker:4"})})
    master.register().json >> told
    master.sibling().register().json >> told
    ns.delete_kv("ORDER_TOPIC_CONFIG", key) >> Reply(SUCCESS)


# --- topics -------------------------------------------------------------------------------------------------


@case(
    "ns.registration.master-topics-become-routable",
    kills=["registration-is-not-kept", "read-and-write-queues-are-swapped", "system-flag-is-lost"],
)
def test_master_topics_become_routable(ns: NameServerSession) -> None:
    """The route of a master's topic has all four numbers as they were registered."""
    broker = ns.broker(topics={"A": (1, 2, 4, 3), "B": (5, 4, 6, 0)})
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, 3)})
    ns.route(broker.topic("B")).queues >> Reply(SUCCESS, {broker.name: (5, 4, 6, 0)})
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case("ns.registration.topics-are-kept-per-broker", kills=["topic-belongs-to-latest-broker"])
def test_topics_are_kept_per_broker(ns: NameServerSession) -> None:
    """Two brokers that share a topic each have their own numbers in its route."""
    first = ns.broker(topics={"A": (1, 2, 6), "B": (1, 1, 6)})
    second = ns.broker(topics={"A": (3, 4, 4), "B": (1, 1, 6)}, cluster=first.cluster)
    first.register() >> Reply(SUCCESS)
    second.register() >> Reply(SUCCESS)
    route = ns.route(first.topic("A"))
    route.queues >> Reply(SUCCESS, {first.name: (1, 2, 6, 0), second.name: (3, 4, 4, 0)})
    route.addresses >> Reply(SUCCESS, {first.name: {0: first.address}, second.name: {0: second.address}})


@case("ns.registration.topic-defaults", kills=["topic-defaults-are-8"])
def test_topic_defaults(ns: NameServerSession) -> None:
    """A topic configuration that has only a name gets 16 and 16 queues, permission 6 and flag 0."""
    broker = ns.broker()
    table = {name: {"topicName": name} for name in broker.topics}
    wrapper = {"dataVersion": {"counter": 1, "timestamp": 1}, "topicConfigTable": table}
    broker.register(body=_compact({"topicConfigSerializeWrapper": wrapper})) >> Reply(SUCCESS)
    serves(ns, broker, "A", 16, 16, 6, 0)


@case("ns.registration.topic-is-named-by-its-configuration", kills=["topic-is-named-by-its-key"])
def test_topic_is_named_by_its_configuration(ns: NameServerSession) -> None:
    """A topic is known by its topicName and not by its key in the table."""
    broker, key = ns.broker(), ns.name("key")
    body = broker.body()
    body.topics = {key: broker.topics[broker.topic("A")], broker.topic("B"): broker.topics[broker.topic("B")]}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    ns.route(key) >> Reply(TOPIC_NOT_EXIST)


@case("ns.registration.absent-topics-are-retained", kills=["absent-topics-are-dropped"])
def test_absent_topics_are_retained(ns: NameServerSession) -> None:
    """A topic stays routable when its broker no longer announces it."""
    broker = ns.broker(topics={"A": (3, 4, 6), "B": (1, 1, 6)})
    broker.register() >> Reply(SUCCESS)
    broker.register(["B"], broker.newer(1)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 4, 6, 0)
    broker.register([], broker.newer(2)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 4, 6, 0)


@case("ns.registration.slave-publishes-no-topic-beside-master", kills=["slave-publishes-topics"])
def test_slave_publishes_no_topic_beside_master(ns: NameServerSession) -> None:
    """The topics of a slave are not routable beside its master."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    ns.route(slave.topic("C")) >> Reply(TOPIC_NOT_EXIST)


@case("ns.registration.slave-changes-no-queues", kills=["slave-publishes-topics"])
def test_slave_changes_no_queues(ns: NameServerSession) -> None:
    """A slave does not change what its master has registered."""
    master = ns.broker(topics={"A": (1, 2, 6), "B": (1, 1, 6)})
    slave = master.sibling(topics={"A": (7, 7, 4), "B": (7, 7, 4)})
    master.register() >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    serves(ns, master, "A", 1, 2, 6, 0)


@case(
    "ns.registration.slave-alone-publishes-no-topic",
    kills=["slave-publishes-topics", "lone-slave-publishes-topics"],
)
def test_slave_alone_publishes_no_topic(ns: NameServerSession) -> None:
    """A slave without enableActingMaster publishes nothing, even without a master."""
    slave = ns.broker(id=1)
    slave.register() >> Reply(SUCCESS)
    ns.cluster().addresses(slave.name) >> Reply(SUCCESS, {1: slave.address})
    ns.route(slave.topic("A")) >> Reply(TOPIC_NOT_EXIST)


@case(
    "ns.registration.lowest-slave-publishes-topics",
    kills=["only-masters-publish-topics", "only-acting-slave-publishes"],
)
def test_lowest_slave_publishes_topics(ns: NameServerSession) -> None:
    """The lowest slave publishes its topics if it says enableActingMaster, true or false."""
    for acting in (True, False):
        slave = ns.broker(id=2)
        slave.register(ext={"enableActingMaster": acting}) >> Reply(SUCCESS)
        addresses = ns.route(slave.topic("A")).addresses
        addresses >> Reply(SUCCESS, Including({slave.name: {2: slave.address}}))


@case(
    "ns.registration.acting-slave-publishes-without-write-permission",
    kills=["acting-slave-keeps-write", "only-masters-publish-topics"],
)
def test_acting_slave_publishes_without_write_permission(ns: NameServerSession) -> None:
    """What the lowest slave publishes for an acting master is read-only."""
    slave = ns.broker(id=2)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 4, 0)


@case(
    "ns.registration.non-acting-slave-publishes-with-permission",
    kills=["historical-7626-every-slave-loses-write"],
)
def test_non_acting_slave_publishes_with_permission(ns: NameServerSession) -> None:
    """What the lowest slave publishes with enableActingMaster=false keeps its permission."""
    slave = ns.broker(id=2)
    slave.register(ext={"enableActingMaster": False}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 6, 0)


@case("ns.registration.higher-slave-publishes-no-topic", kills=["every-acting-slave-publishes"])
def test_higher_slave_publishes_no_topic(ns: NameServerSession) -> None:
    """A slave that is not the lowest of its name publishes nothing."""
    lowest = ns.broker(id=1)
    higher = lowest.sibling(id=2)
    lowest.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    higher.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.route(higher.topic("C")) >> Reply(TOPIC_NOT_EXIST)


@case(
    "ns.registration.returning-master-restores-write-permission", kills=["lost-write-permission-stays-lost"]
)
def test_returning_master_restores_write_permission(ns: NameServerSession) -> None:
    """A master makes writable again what its slave had published read-only."""
    slave = ns.broker(id=2)
    master = slave.sibling(id=0, topics=slave.topics)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 4, 0)
    master.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, master, "A", 8, 8, 6, 0)


@case("ns.registration.topic-mappings-are-published", kills=["mappings-are-not-kept"])
def test_topic_mappings_are_published(ns: NameServerSession) -> None:
    """The mapping of a static topic is in its route."""
    broker = ns.broker()
    broker.register(body=_with_mapping(broker).encode()) >> Reply(SUCCESS)
    mapping = Including({"bname": broker.name, "totalQueues": 2, "currIdMap": {"0": 1}})
    shown = Including({"topicQueueMappingByBroker": {broker.name: mapping}})
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, shown)


@case(
    "ns.registration.compressed-topic-mappings-are-published",
    kills=["mappings-are-not-kept", "mapping-section-is-never-read"],
)
def test_compressed_topic_mappings_are_published(ns: NameServerSession) -> None:
    """The mapping section of a compressed body is read."""
    broker = ns.broker()
    body = _with_mapping(broker).encode_compressed(v5=True)
    broker.register(body=body, ext={"compressed": True}) >> Reply(SUCCESS)
    mapping = Including({"bname": broker.name, "totalQueues": 2, "currIdMap": {"0": 1}})
    shown = Including({"topicQueueMappingByBroker": {broker.name: mapping}})
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, shown)


# --- data versions ------------------------------------------------------------------------------------------


@case("ns.registration.changed-data-version-updates-queues", kills=["known-queues-are-never-updated"])
def test_changed_data_version_updates_queues(ns: NameServerSession) -> None:
    """A changed data version replaces queue data."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, broker.newer()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)


@case(
    "ns.registration.lower-data-version-updates-queues",
    kills=["data-versions-are-ordered", "timestamp-is-not-compared"],
)
def test_lower_data_version_updates_queues(ns: NameServerSession) -> None:
    """Every other data version counts as changed, a lower one too."""
    broker, state = ns.broker(), ns.first_state_version
    broker.register(version=DataVersion(9, 1_700_000_000_000, state)) >> Reply(SUCCESS)
    lower_counter = DataVersion(1, 1_700_000_000_000, state)
    broker.register({"A": (2, 2, 6), "B": (8, 8, 6)}, lower_counter) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 2, 6, 0)
    lower_timestamp = DataVersion(1, 1_600_000_000_000, state)
    broker.register({"A": (3, 3, 6), "B": (8, 8, 6)}, lower_timestamp) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 3, 6, 0)


@case("ns.registration.far-future-data-version-is-superseded", kills=["data-versions-are-ordered"])
def test_far_future_data_version_is_superseded(ns: NameServerSession) -> None:
    """A data version from a clock that ran ahead is no obstacle to the next one."""
    broker, state = ns.broker(), ns.first_state_version
    broker.register(version=DataVersion(1, 99_999_999_999_999, state)) >> Reply(SUCCESS)
    ordinary = DataVersion(2, 1_700_000_000_000, state)
    broker.register({"A": (2, 2, 6), "B": (8, 8, 6)}, ordinary) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 2, 6, 0)
    broker.query_version(ordinary).changed >> Reply(SUCCESS, False)


@case("ns.registration.data-version-holds-64-bits", kills=["data-versions-are-floats"])
def test_data_version_holds_64_bits(ns: NameServerSession) -> None:
    """The largest data version is told from the one before it."""
    broker, state, largest = ns.broker(), ns.first_state_version, 2**63 - 1
    broker.register(version=DataVersion(largest, largest, state)) >> Reply(SUCCESS)
    broker.query_version(DataVersion(largest, largest, state)).changed >> Reply(SUCCESS, False)
    broker.query_version(DataVersion(largest - 1, largest, state)).changed >> Reply(SUCCESS, True)


@case("ns.registration.equal-data-version-keeps-queues", kills=["equal-version-overwrites-queues"])
def test_equal_data_version_keeps_queues(ns: NameServerSession) -> None:
    """An equal data version leaves the broker's queue data as it is."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(
    "ns.registration.equal-data-version-adds-missing-topics",
    kills=["only-changed-versions-update", "historical-4522-missing-topics-are-not-added"],
)
def test_equal_data_version_adds_missing_topics(ns: NameServerSession) -> None:
    """A topic that is not known yet is added, with an equal data version too."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register(["A", "B", "C"]) >> Reply(SUCCESS)
    serves(ns, broker, "C", 8, 8, 6, 0)


@case("ns.registration.equal-data-version-may-be-ignored", kills=["equal-version-overwrites-queues"])
def test_equal_data_version_may_be_ignored(ns: NameServerSession) -> None:
    """With an equal data version a topic that is not known may stay so; the others stay as they are."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6), "C": (8, 8, 6)}) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> AnyOf(Reply(TOPIC_NOT_EXIST), deviates=[Reply(SUCCESS)])
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.state-version-change-updates-queues", kills=["state-version-is-not-compared"])
def test_state_version_change_updates_queues(ns: NameServerSession) -> None:
    """A data version with another stateVersion is another data version."""
    broker = ns.broker()
    broker.register(version=_state(1)) >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, _state(2)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)


# --- promotion ----------------------------------------------------------------------------------------------


@case("ns.registration.one-id-per-address", kills=["historical-promotion-keeps-old-id"])
def test_one_id_per_address(ns: NameServerSession) -> None:
    """After a promotion an address is listed under its new id only."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})


@case("ns.registration.address-of-a-held-id-is-replaced", kills=["id-belongs-to-first-address"])
def test_address_of_a_held_id_is_replaced(ns: NameServerSession) -> None:
    """Whoever registers an id last has it."""
    old = ns.broker()
    new = old.sibling(id=0)
    old.register(version=DataVersion(1, 1_700_000_000_000)) >> Reply(SUCCESS)
    new.register(version=DataVersion(1, 1_700_000_000_000)) >> Reply(SUCCESS)
    ns.cluster().addresses(old.name) >> Reply(SUCCESS, {0: new.address})
    serves(ns, new, "C", 8, 8, 6, 0)


@case(
    "ns.registration.promoted-slave-publishes-topics",
    kills=["historical-promotion-keeps-old-id", "only-changed-versions-update"],
)
def test_promoted_slave_publishes_topics(ns: NameServerSession) -> None:
    """A slave that takes over from a master that has gone publishes its topics."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    master.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    slave.register(id=0) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})
    serves(ns, slave, "C", 8, 8, 6, 0)


@case("ns.registration.promotion-beside-old-master-publishes-topics", kills=["only-changed-versions-update"])
def test_promotion_beside_old_master_publishes_topics(ns: NameServerSession) -> None:
    """A slave that takes over from a master that is still listed publishes its topics."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0) >> Reply(SUCCESS)
    serves(ns, slave, "C", 8, 8, 6, 0)


@case(
    "ns.registration.promotion-with-newer-data-version-publishes-topics",
    kills=["id-belongs-to-first-address", "historical-promotion-keeps-old-id"],
)
def test_promotion_with_newer_data_version_publishes_topics(ns: NameServerSession) -> None:
    """A slave that takes over with a newer data version publishes its topics."""
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    slave.register(id=0, version=slave.newer()) >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: slave.address})
    serves(ns, slave, "C", 8, 8, 6, 0)


@case(
    "ns.registration.demotion-keeps-topics",
    kills=["demotion-drops-topics", "historical-promotion-keeps-old-id"],
)
def test_demotion_keeps_topics(ns: NameServerSession) -> None:
    """A master that becomes a slave has its new id only, and its topics stay routable."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register(id=3) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {3: broker.address})
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(
    "ns.registration.lower-state-version-is-ignored",
    kills=["state-version-gives-no-right", "conflict-is-refused"],
)
def test_lower_state_version_is_ignored(ns: NameServerSession) -> None:
    """A registrant with a lower stateVersion than the holder of its id changes nothing."""
    holder = ns.broker()
    late = holder.sibling(id=0)
    holder.register(version=_state(5)) >> Reply(SUCCESS)
    late.register(version=_state(4)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: holder.address})
    ns.route(late.topic("C")) >> Reply(TOPIC_NOT_EXIST)
    late.query_version(_state(4)).changed >> Reply(SUCCESS, True, body=b"")


@case("ns.registration.equal-state-version-replaces-address", kills=["equal-state-version-conflicts"])
def test_equal_state_version_replaces_address(ns: NameServerSession) -> None:
    """A registrant with the holder's stateVersion takes the id."""
    holder = ns.broker()
    other = holder.sibling(id=0)
    holder.register(version=_state(5)) >> Reply(SUCCESS)
    other.register(version=_state(5)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: other.address})


@case("ns.registration.higher-state-version-replaces-address", kills=["greater-state-version-conflicts"])
def test_higher_state_version_replaces_address(ns: NameServerSession) -> None:
    """A registrant with a greater stateVersion than the holder takes the id and publishes its topics."""
    holder = ns.broker()
    elected = holder.sibling(id=0)
    holder.register(version=_state(5)) >> Reply(SUCCESS)
    elected.register(version=_state(6)) >> Reply(SUCCESS)
    ns.cluster().addresses(holder.name) >> Reply(SUCCESS, {0: elected.address})
    serves(ns, elected, "C", 8, 8, 6, 0)


@case("ns.registration.own-state-version-may-fall", kills=["holder-conflicts-with-itself"])
def test_own_state_version_may_fall(ns: NameServerSession) -> None:
    """The holder of an id may register with a lower stateVersion than before."""
    broker = ns.broker()
    broker.register(version=_state(6)) >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, _state(3)) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    serves(ns, broker, "A", 2, 3, 4, 0)


@case("ns.registration.ignored-slave-learns-no-master", kills=["state-version-gives-no-right"])
def test_ignored_slave_learns_no_master(ns: NameServerSession) -> None:
    """A slave whose registration is ignored is told no master."""
    master = ns.broker()
    holder, late = master.sibling(), master.sibling()
    master.register() >> Reply(SUCCESS)
    holder.register(version=_state(5)) >> Reply(SUCCESS)
    late.register(version=_state(4)).master >> Reply(SUCCESS, NOBODY)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: master.address, 1: holder.address})


@case("ns.registration.ignored-registration-changes-nothing", kills=["ignored-registration-describes"])
def test_ignored_registration_changes_nothing(ns: NameServerSession) -> None:
    """What a registrant with a lower stateVersion says of the whole broker name is not taken over."""
    holder = ns.broker()
    late = holder.sibling(id=0)
    holder.register(version=_state(5), ext={"__ZONE_NAME": "east"}) >> Reply(SUCCESS)
    late.register(version=_state(1), ext={"__ZONE_NAME": "west"}) >> Reply(SUCCESS)
    ns.cluster().broker(holder.name) >> Reply(SUCCESS, Including({"zoneName": "east"}))


# --- a single topic -----------------------------------------------------------------------------------------


@case("ns.registration.single-topic-first-registration-is-refused", kills=["lone-topic-is-never-refused"])
def test_single_topic_first_registration_is_refused(ns: NameServerSession) -> None:
    """A new broker with exactly one topic is refused."""
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SYSTEM_ERROR)
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    listed = ns.cluster().addresses(broker.name)
    listed >> AnyOf(Reply(SUCCESS, None), Reply(SUCCESS, {}))
    broker.unregister() >> Reply(SUCCESS)


@case("ns.registration.refused-registration-changes-nothing", kills=["refused-registration-is-listed"])
def test_refused_registration_lists_nothing(ns: NameServerSession) -> None:
    """A new broker that is refused is listed nowhere."""
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


@case("ns.registration.refused-registration-changes-nothing", kills=["refused-registration-drops-former-id"])
def test_refused_registration_keeps_the_former_one(ns: NameServerSession) -> None:
    """A slave whose registration under another id is refused stays as it was."""
    slave = ns.broker(id=1)
    slave.register() >> Reply(SUCCESS)
    slave.register(["A"], id=2) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(slave.name) >> Reply(SUCCESS, {1: slave.address})


@case("ns.registration.refusal-does-not-poison-full-registration", kills=["refusal-is-for-good"])
def test_refusal_does_not_poison_full_registration(ns: NameServerSession) -> None:
    """A full registration is taken after one with a single topic was refused."""
    broker = ns.broker()
    broker.register(["A"]) >> AnyOf(Reply(SYSTEM_ERROR), deviates=[Reply(SUCCESS)])
    broker.register() >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    serves(ns, broker, "B", 8, 8, 6, 0)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case("ns.registration.single-topic-first-registration-is-accepted", kills=["lone-topic-is-always-refused"])
def test_single_topic_first_registration_is_accepted(ns: NameServerSession) -> None:
    """A new broker with exactly one topic is accepted."""
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(
    "ns.registration.single-topic-registration-of-known-id-is-accepted",
    kills=["lone-topic-is-always-refused"],
)
def test_single_topic_registration_of_known_id_is_accepted(ns: NameServerSession) -> None:
    """A broker that is known may register exactly one topic."""
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    broker.register(["A"], broker.newer()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


# --- checksum -----------------------------------------------------------------------------------------------


@case("ns.registration.matching-crc-is-accepted", kills=["crc-has-32-bits"])
def test_matching_crc_is_accepted(ns: NameServerSession) -> None:
    """The low 31 bits of the body's CRC-32 are its checksum."""
    broker = ns.broker()
    body = _body_with_high_crc(broker)
    broker.register(body=body, crc=zlib.crc32(body) & 0x7FFFFFFF) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case("ns.registration.wrong-crc-is-refused", kills=["crc-is-not-checked"])
def test_wrong_crc_is_refused(ns: NameServerSession) -> None:
    """A registration with a wrong checksum is refused and leaves nothing."""
    broker = ns.broker()
    body = broker.body().encode()
    broker.register(body=body, crc=body_crc32(body) ^ 1) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


@case(
    "ns.registration.crc-covers-the-bytes-as-sent", kills=["crc-covers-inflated-body", "crc-is-not-checked"]
)
def test_crc_covers_the_bytes_as_sent(ns: NameServerSession) -> None:
    """The checksum of a compressed body is that of the compressed bytes."""
    broker = ns.broker()
    layout = broker.body().layout(v5=False)
    _compressed(broker, layout, crc=body_crc32(layout)) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)
    _compressed(broker, layout, crc=body_crc32(zlib.compress(layout))) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case("ns.registration.zero-crc-is-not-checked", kills=["zero-crc-is-checked"])
def test_zero_crc_is_not_checked(ns: NameServerSession) -> None:
    """A checksum of 0 says nothing, nor does none."""
    broker, other = ns.broker(), ns.broker()
    broker.register(crc=0) >> Reply(SUCCESS)
    other.register(crc=None) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.cluster().addresses(other.name) >> Reply(SUCCESS, {0: other.address})


@case(
    "ns.registration.crc-without-body-is-refused",
    kills=["crc-of-no-body-is-not-checked", "crc-is-not-checked"],
)
def test_crc_without_body_is_refused(ns: NameServerSession) -> None:
    """A checksum of a body that is not there is wrong."""
    broker = ns.broker()
    broker.register(body=b"", crc=7) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


# --- bodies -------------------------------------------------------------------------------------------------


@case("ns.registration.undecodable-body-is-refused", kills=["undecodable-body-registers"])
def test_undecodable_body_is_refused(ns: NameServerSession) -> None:
    """A registration whose body is none is refused and leaves nothing."""
    broker = ns.broker()
    for body in (b"notjson", b'{"topicConfigSerializeWrapper":{', b"null", b"[]"):
        broker.register(body=body) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case("ns.registration.compressed-body-is-accepted", kills=["bodies-are-never-inflated"])
def test_compressed_body_is_accepted(ns: NameServerSession) -> None:
    """What Apache 4.9.8 compresses is read."""
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    broker.register(body=BODY_OF_49, ext={"compressed": True}, announces=409) >> Reply(SUCCESS)
    ns.route("T1").queues >> Reply(SUCCESS, Including({broker.name: (4, 8, 6, 0)}))
    sent = DataVersion(7, 1_700_000_000_000, ns.first_state_version)
    broker.query_version(sent).changed >> Reply(SUCCESS, False)


@case(
    "ns.registration.compressed-body-of-five-line-is-accepted",
    kills=["bodies-are-never-inflated", "six-words-are-refused"],
)
def test_compressed_body_of_five_line_is_accepted(ns: NameServerSession) -> None:
    """What Apache 5.3.3 compresses is read."""
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    body = zlib.compress(LAYOUT_OF_53, 9)
    broker.register(body=body, ext={"compressed": True}, announces=479) >> Reply(SUCCESS)
    ns.route("T1").queues >> Reply(SUCCESS, Including({broker.name: (4, 8, 6, 0)}))
    broker.query_version(DataVersion(7, 1_700_000_000_000, 3)).changed >> Reply(SUCCESS, False)


@case(
    "ns.registration.mapping-section-is-not-needed-below-413",
    kills=["historical-5536-mapping-section-is-always-read"],
)
def test_mapping_section_is_not_needed_below_413(ns: NameServerSession) -> None:
    """A broker before 5.0.0 sends no mapping section."""
    broker = ns.broker()
    body = broker.body().encode_compressed(v5=False)
    broker.register(body=body, ext={"compressed": True}, announces=412) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.mapping-section-is-needed-from-413", kills=["mapping-section-is-never-read"])
def test_mapping_section_is_needed_from_413(ns: NameServerSession) -> None:
    """A broker of 5.0.0 that sends no mapping section is refused."""
    broker = ns.broker()
    body = broker.body().encode_compressed(v5=False)
    broker.register(body=body, ext={"compressed": True}, announces=413) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case("ns.registration.six-word-topics-are-accepted", kills=["six-words-are-refused"])
def test_six_word_topics_are_accepted(ns: NameServerSession) -> None:
    """A topic may have its attributes as a sixth word, whatever the version."""
    broker = ns.broker()
    _compressed(broker, broker.body().layout(v5=True)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.short-topic-line-is-refused", kills=["undecodable-body-registers"])
def test_short_topic_line_is_refused(ns: NameServerSession) -> None:
    """One topic of four words spoils a compressed body."""
    broker = ns.broker()
    layout = _layout(broker, f"{broker.topic('A')} 4 8 6 SINGLE_TAG", f"{broker.topic('B')} 4 8 6")
    _compressed(broker, layout) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


@case("ns.registration.malformed-topic-line-is-refused", kills=["undecodable-body-registers"])
def test_malformed_topic_line_is_refused(ns: NameServerSession) -> None:
    """A number that is none, or an unknown filter type, spoils a compressed body."""
    broker = ns.broker()
    for words in ("x 8 6 SINGLE_TAG", "4 8 6 NO_TAG"):
        layout = _layout(broker, f"{broker.topic('A')} 4 8 6 SINGLE_TAG", f"{broker.topic('B')} {words}")
        _compressed(broker, layout) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case("ns.registration.not-zlib-is-refused", kills=["raw-deflate-is-accepted", "undecodable-body-registers"])
def test_not_zlib_is_refused(ns: NameServerSession) -> None:
    """Plain JSON, raw deflate data and a stream cut short are no compressed body."""
    broker = ns.broker()
    whole = broker.body().encode_compressed(v5=False)
    raw = zlib.compress(broker.body().layout(v5=False), wbits=-zlib.MAX_WBITS)
    for body in (broker.body().encode(), raw, whole[:-9]):
        broker.register(body=body, ext={"compressed": True}, announces=409) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case("ns.registration.trailing-inflated-bytes-are-ignored", kills=["trailing-bytes-are-refused"])
def test_trailing_inflated_bytes_are_ignored(ns: NameServerSession) -> None:
    """Four bytes too many in the inflated body do no harm."""
    broker = ns.broker()
    _compressed(broker, broker.body().layout(v5=False) + bytes(4)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(
    "ns.registration.compressed-flag-ignores-case",
    kills=["compressed-is-case-sensitive", "any-compressed-field-inflates"],
)
def test_compressed_flag_ignores_case(ns: NameServerSession) -> None:
    """TRUE is true, and every other word is false."""
    broker, other = ns.broker(), ns.broker(topics=("C", "D"))
    _compressed(broker, broker.body().layout(v5=False), word="TRUE") >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    other.register(ext={"compressed": "yes"}) >> Reply(SUCCESS)
    serves(ns, other, "C", 8, 8, 6, 0)


@case("ns.registration.old-version-sends-bare-wrapper", kills=["old-bodies-are-not-known"])
def test_old_version_sends_bare_wrapper(ns: NameServerSession) -> None:
    """A broker before version 37 sends the bare wrapper."""
    broker = ns.broker()
    broker.register(body=broker.body().encode_bare(), announces=36) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.version-37-sends-register-body", kills=["old-bodies-are-expected-too-long"])
def test_version_37_sends_register_body(ns: NameServerSession) -> None:
    """A broker of version 37 sends the register body."""
    broker = ns.broker()
    broker.register(announces=37) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(
    "ns.registration.unknown-newer-version-is-accepted",
    kills=["historical-rocketmq-140-newer-versions-are-refused"],
)
def test_unknown_newer_version_is_accepted(ns: NameServerSession) -> None:
    """A broker from the future is accepted."""
    for version in (32767, 2**31 - 1):
        broker = ns.broker()
        broker.register(announces=version) >> Reply(SUCCESS)
        serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.unknown-body-members-are-ignored", kills=["unknown-body-members-are-refused"])
def test_unknown_body_members_are_ignored(ns: NameServerSession) -> None:
    """Members that nobody knows do no harm, wherever they are."""
    broker = ns.broker()
    document = json.loads(broker.body().encode())
    wrapper = document["topicConfigSerializeWrapper"]
    for part in (document, wrapper, wrapper["topicConfigTable"][broker.topic("A")]):
        part["unheardOf"] = {"x": [1, None]}
    broker.register(body=_compact(document)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.body-of-five-line-is-accepted", kills=["unknown-body-members-are-refused"])
def test_body_of_five_line_is_accepted(ns: NameServerSession) -> None:
    """What a 5.x broker sends is read."""
    broker = ns.broker()
    for topic in broker.topics.values():
        topic.attributes = {}
    body = broker.body(version=DataVersion(7, 1_700_000_000_000, 3))
    body.mapping_data_version = DataVersion(0, 1_700_000_000_001, 0)
    body.mapping_details, body.mappings = {}, {}
    broker.register(body=body.encode(), announces=479) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.unquoted-numeric-keys-are-accepted", kills=["unquoted-keys-are-refused"])
def test_unquoted_numeric_keys_are_accepted(ns: NameServerSession) -> None:
    """Numeric keys may have no quotes."""
    broker = ns.broker()
    broker.register(body=_with_mapping(broker).encode(), announces=479) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


# --- ext fields and names -----------------------------------------------------------------------------------


@case("ns.registration.names-are-utf-8", kills=["names-are-ascii"])
def test_names_are_utf_8(ns: NameServerSession) -> None:
    """Names outside ASCII come back unharmed."""
    broker = ns.broker(name="b中é" + ns.name("b"), cluster="c😀ß" + ns.name("c"))
    topic, other = "Té" + ns.name("t"), "主题" + ns.name("t")
    broker.register(body=_body_of(broker, topic, other)) >> Reply(SUCCESS)
    ns.cluster().names(broker.cluster) >> Reply(SUCCESS, [broker.name])
    ns.topics().among([topic, other]) >> Reply(SUCCESS, [topic, other])
    ns.route(other).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case("ns.registration.names-may-need-escapes", kills=["names-lose-backslashes"])
def test_names_may_need_escapes(ns: NameServerSession) -> None:
    """Names with quotes, backslashes, slashes and spaces come back unharmed."""
    broker = ns.broker(name='b"q\\ /' + ns.name("b"))
    topic, other = 't"/\\' + ns.name("t"), "t " + ns.name("t")
    broker.register(body=_body_of(broker, topic, other)) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.topics().among([topic, other]) >> Reply(SUCCESS, sorted([topic, other]))
    ns.route(topic).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case("ns.registration.broker-ids-hold-64-bits", kills=["broker-id-has-32-bits"])
def test_broker_ids_hold_64_bits(ns: NameServerSession) -> None:
    """Negative and very large broker ids are accepted."""
    for number in (-1, -(2**63), 2**63 - 1):
        broker = ns.broker(id=number)
        broker.register() >> Reply(SUCCESS)
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {number: broker.address})


@case("ns.registration.missing-broker-id-is-refused", kills=["missing-broker-id-is-master"])
def test_missing_broker_id_is_refused(ns: NameServerSession) -> None:
    """A registration without a readable broker id is refused and leaves nothing."""
    broker = ns.broker()
    for number in (None, "abc", "1.0", "", 2**63):
        broker.register(ext={"brokerId": number}) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case("ns.registration.bad-broker-id-leaves-registration-alone", kills=["missing-broker-id-is-master"])
def test_bad_broker_id_leaves_registration_alone(ns: NameServerSession) -> None:
    """A registration that is refused changes nothing of an earlier one."""
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    topics = {"A": (2, 3, 4), "B": (8, 8, 6)}
    broker.register(topics, broker.newer(), ext={"brokerId": "abc"}) >> Reply(SYSTEM_ERROR)
    serves(ns, broker, "A", 8, 8, 6, 0)
    broker.query_version().changed >> Reply(SUCCESS, False)


@case("ns.registration.identifiers-are-required", kills=["broker-name-may-be-missing"], own_server=True)
def test_broker_name_is_required(ns: NameServerSession) -> None:
    """A registration without broker name is refused."""
    ns.broker().register(ext={"brokerName": None}) >> Reply(SYSTEM_ERROR)


@case("ns.registration.identifiers-are-required", kills=["broker-address-may-be-missing"], own_server=True)
def test_broker_address_is_required(ns: NameServerSession) -> None:
    """A registration without broker address is refused."""
    ns.broker().register(ext={"brokerAddr": None}) >> Reply(SYSTEM_ERROR)


@case("ns.registration.identifiers-are-required", kills=["cluster-name-may-be-missing"], own_server=True)
def test_cluster_name_is_required(ns: NameServerSession) -> None:
    """A registration without cluster name is refused."""
    ns.broker().register(ext={"clusterName": None}) >> Reply(SYSTEM_ERROR)


@case(
    "ns.registration.missing-address-harms-no-other-broker",
    kills=["missing-address-ends-the-search"],
    own_server=True,
)
def test_missing_address_harms_no_other_broker(ns: NameServerSession) -> None:
    """Brokers go with their connections, also after one has registered without address."""
    bad = ns.broker(name=FIRST_IN_JAVA)
    bad.register(ext={"brokerAddr": None}) >> AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS))
    one, other = ns.broker(cluster=bad.cluster), ns.broker(cluster=bad.cluster)
    since = one.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    one.connection.close()
    other.connection.close()
    ns.while_lasts(LEASE, since)
    ns.cluster().addresses(one.name).eventually() >> Reply(SUCCESS, None)
    ns.cluster().addresses(other.name).eventually() >> Reply(SUCCESS, None)


@case(
    "ns.registration.unnamed-topic-leaves-no-half-registration",
    kills=["unnamed-topic-ends-the-registration"],
    own_server=True,
)
def test_unnamed_topic_leaves_no_half_registration(ns: NameServerSession) -> None:
    """A topic without name is refused, or is no obstacle to the rest of its registration."""
    broker = ns.broker(topics=["A", "B", "C"])
    body = broker.body()
    body.topics = {**(body.topics or {}), broker.topic("D"): TopicConfig(topic_name=None)}
    answer = broker.register(body=body.encode()) >> AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS))
    refused = answer.command is not None and answer.command.code == SYSTEM_ERROR
    broker.query_version().changed >> Reply(SUCCESS, refused)
    listed = [] if refused else sorted(broker.topics)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, listed)


@case("ns.registration.ipv6-addresses-are-kept", kills=["ipv6-brackets-are-dropped"])
def test_ipv6_addresses_are_kept(ns: NameServerSession) -> None:
    """IPv6 addresses come back as they were sent."""
    host = ns.name("x").encode().hex()[-8:]
    master = ns.broker(address=f"[fe80::{host[:4]}:{host[4:]}]:10911", ha="[::1]:10912")
    master.register() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {0: master.address})
    master.sibling().register().master >> Reply(SUCCESS, (master.address, "[::1]:10912"))


@case("ns.registration.optional-fields-may-be-absent", kills=["optional-fields-are-required"])
def test_optional_fields_may_be_absent(ns: NameServerSession) -> None:
    """The five required fields are enough."""
    broker = ns.broker()
    broker.register(ext={"compressed": None, "bodyCrc32": None}) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.ha-address-may-be-absent", kills=["ha-address-is-required"])
def test_ha_address_may_be_absent(ns: NameServerSession) -> None:
    """A master without HA address is accepted, and its slaves are told none."""
    master = ns.broker()
    master.register(ext={"haServerAddr": None}) >> Reply(SUCCESS)
    master.sibling().register().master >> Reply(SUCCESS, (master.address, None))


@case("ns.registration.unknown-ext-fields-are-ignored", kills=["unknown-ext-fields-are-refused"])
def test_unknown_ext_fields_are_ignored(ns: NameServerSession) -> None:
    """Fields of access control and fields that nobody knows do no harm."""
    broker = ns.broker()
    extra = {"foo": "bar", "AccessKey": "key", "Signature": "0123", "OnsChannel": "ALIYUN"}
    broker.register(ext=extra) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case("ns.registration.acting-master-flag-follows-latest-registration", kills=["acting-master-flag-sticks"])
def test_acting_master_flag_follows_latest_registration(ns: NameServerSession) -> None:
    """enableActingMaster is what the latest registration said, and false where that said nothing."""
    broker = ns.broker()
    broker.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, Including({"enableActingMaster": True}))
    broker.register() >> Reply(SUCCESS)
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, Including({"enableActingMaster": False}))


@case("ns.registration.zone-follows-latest-registration", kills=["zone-sticks"])
def test_zone_follows_latest_registration(ns: NameServerSession) -> None:
    """zoneName is what the latest registration said, and absent where that said nothing."""
    broker = ns.broker()
    for zone in ("east", "west", None):
        broker.register(ext={"__ZONE_NAME": zone}) >> Reply(SUCCESS)
        shown = Including({"zoneName": ABSENT if zone is None else zone})
        ns.cluster().broker(broker.name) >> Reply(SUCCESS, shown)


# --- filter servers -----------------------------------------------------------------------------------------


@case(
    "ns.registration.filter-servers-are-published",
    kills=["filter-servers-are-not-shown", "filter-servers-are-added-up"],
)
def test_filter_servers_are_published(ns: NameServerSession) -> None:
    """A route has the latest filter servers of each address."""
    broker = ns.broker()
    for servers in (["f:1", "f:2"], ["g:1"]):
        broker.register(filters=servers) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: servers})


@case("ns.registration.null-filter-servers-keep-the-list", kills=["null-filter-list-clears"])
def test_null_filter_servers_keep_the_list(ns: NameServerSession) -> None:
    """A null leaves the filter servers as they are."""
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.register(filters=None) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})


@case(
    "ns.registration.empty-filter-servers-clear-the-list",
    kills=["empty-filter-list-is-ignored", "missing-filter-list-is-ignored"],
)
def test_empty_filter_servers_clear_the_list(ns: NameServerSession) -> None:
    """An empty list clears the filter servers, and so does none."""
    broker = ns.broker()
    without = broker.body()
    without.filter_servers = UNSET
    for clearing in (broker.body().encode(), without.encode()):
        broker.register(filters=["f:1"]) >> Reply(SUCCESS)
        _filters(ns, broker, {broker.address: ["f:1"]})
        broker.register(body=clearing) >> Reply(SUCCESS)
        _filters(ns, broker, {})


@case("ns.registration.no-body-clears-filter-servers", kills=["no-body-keeps-filter-servers"])
def test_no_body_clears_filter_servers(ns: NameServerSession) -> None:
    """A registration without a body has no filter servers either, as one that leaves the list out."""
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.register(body=b"", crc=None) >> Reply(SUCCESS)
    _filters(ns, broker, {})


@case("ns.registration.old-version-keeps-filter-servers", kills=["old-version-clears-filter-list"])
def test_old_version_keeps_filter_servers(ns: NameServerSession) -> None:
    """A broker before version 37 does not speak of filter servers."""
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    broker.register(body=broker.body().encode_bare(), announces=36) >> Reply(SUCCESS)
    _filters(ns, broker, {broker.address: ["f:1"]})


# --- what these cases send ----------------------------------------------------------------------------------


def _filters(ns: NameServerSession, broker: Broker, table: dict[str, list[str]]) -> None:
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, Including({"filterServerTable": table}))


def _state(state_version: int) -> DataVersion:
    return DataVersion(1, 1_700_000_000_000, state_version)


def _compact(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _body_of(broker: Broker, *topics: str) -> bytes:
    """The broker's body with topics whose names may be anything."""
    table = {topic: TopicConfig(topic_name=topic) for topic in topics}
    return RegisterBody(topics=table, data_version=broker.version).encode()


def _body_with_high_crc(broker: Broker) -> bytes:
    """A body of the broker whose CRC-32 has bit 31 set; the data version is chosen for that."""
    bodies = (broker.body(version=broker.newer(n)).encode() for n in count())
    return next(body for body in bodies if zlib.crc32(body) >> 31)


def _with_mapping(broker: Broker) -> RegisterBody:
    """The broker's body with a static-topic mapping for topic A."""
    topic, body = broker.topic("A"), broker.body()
    mapping = TopicQueueMappingInfo(
        topic=topic, bname=broker.name, total_queues=2, epoch=5, curr_id_map={0: 1}
    )
    body.mappings = {topic: mapping}
    return body


def _compressed(
    broker: Broker, layout: bytes, *, word: str = "true", crc: int | None = None
) -> RegisterExchange:
    """A registration with a compressed body, as a 4.9 broker announces it: both lines read its layout."""
    return broker.register(body=zlib.compress(layout), crc=crc, ext={"compressed": word}, announces=409)


def _layout(broker: Broker, *lines: str) -> bytes:
    """What is compressed of a 4.9 body, with lines for topics that may be malformed."""
    parts = [broker.version.encode(), *(line.encode() for line in lines), b"[]"]
    sized = [len(part).to_bytes(4, "big") + part for part in parts]
    return sized[0] + len(lines).to_bytes(4, "big") + b"".join(sized[1:])
