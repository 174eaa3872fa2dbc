"""Chapter registration: which topics a registration brings, under which data version."""

from harness.conformance import ABSENT, AnyOf, Including, Reply, case
from harness.conformance.nameserver.registration.bodies import (
    compact_json,
    compressed,
    is_unknown,
    layout_of_49,
    serves,
    state_version,
    with_mapping,
)
from harness.session import Broker, NameServerSession
from harness.session.exchange import Exchange
from harness.wire import ResponseCode
from harness.wire.bodies import DataVersion

SUCCESS = ResponseCode.SUCCESS

SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR

TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST

EDGES = ((f"{2**31 - 1}", True), (f"{-(2**31)}", True), (f"{2**31}", False), (f"{-(2**31) - 1}", False))
"""The ends of 32 bits, and what is beyond them; whether it is a number of 32 bits."""


# --- topics -------------------------------------------------------------------------------------------------


@case(kills=["registration-is-not-kept", "read-and-write-queues-are-swapped", "system-flag-is-lost"])
def test_master_topics_become_routable(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (1, 2, 4, 3), "B": (5, 4, 6, 0)})
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (1, 2, 4, 3)})
    ns.route(broker.topic("B")).queues >> Reply(SUCCESS, {broker.name: (5, 4, 6, 0)})
    ns.route(broker.topic("A")).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=["topic-belongs-to-latest-broker"])
def test_topics_are_kept_per_broker(ns: NameServerSession) -> None:
    first = ns.broker(topics={"A": (1, 2, 6), "B": (1, 1, 6)})
    second = ns.broker(topics={"A": (3, 4, 4), "B": (1, 1, 6)}, cluster=first.cluster)
    first.register() >> Reply(SUCCESS)
    second.register() >> Reply(SUCCESS)
    route = ns.route(first.topic("A"))
    route.queues >> Reply(SUCCESS, {first.name: (1, 2, 6, 0), second.name: (3, 4, 4, 0)})
    route.addresses >> Reply(SUCCESS, {first.name: {0: first.address}, second.name: {0: second.address}})


@case(kills=["topic-defaults-are-8"])
def test_topic_defaults(ns: NameServerSession) -> None:
    broker = ns.broker()
    table = {name: {"topicName": name} for name in broker.topics}
    wrapper = {"dataVersion": {"counter": 1, "timestamp": 1}, "topicConfigTable": table}
    broker.register(body=compact_json({"topicConfigSerializeWrapper": wrapper})) >> Reply(SUCCESS)
    serves(ns, broker, "A", 16, 16, 6, 0)


@case(kills=["topic-is-named-by-its-key"])
def test_topic_is_named_by_its_configuration(ns: NameServerSession) -> None:
    broker, key = ns.broker(), ns.name("key")
    body = broker.body()
    body.topics = {key: broker.topics[broker.topic("A")], broker.topic("B"): broker.topics[broker.topic("B")]}
    broker.register(body=body.encode()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    ns.route(key) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["absent-topics-are-dropped"])
def test_absent_topics_are_retained(ns: NameServerSession) -> None:
    broker = ns.broker(topics={"A": (3, 4, 6), "B": (1, 1, 6)})
    broker.register() >> Reply(SUCCESS)
    broker.register(["B"], broker.newer(1)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 4, 6, 0)
    broker.register([], broker.newer(2)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 4, 6, 0)


@case(kills=["slave-publishes-topics"])
def test_slave_publishes_no_topic_beside_master(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    ns.route(slave.topic("C")) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["slave-publishes-topics"])
def test_slave_changes_no_queues(ns: NameServerSession) -> None:
    master = ns.broker(topics={"A": (1, 2, 6), "B": (1, 1, 6)})
    slave = master.sibling(topics={"A": (7, 7, 4), "B": (7, 7, 4)})
    master.register() >> Reply(SUCCESS)
    slave.register(version=slave.newer()) >> Reply(SUCCESS)
    serves(ns, master, "A", 1, 2, 6, 0)


@case(kills=["slave-publishes-topics", "lone-slave-publishes-topics"])
def test_slave_alone_publishes_no_topic(ns: NameServerSession) -> None:
    slave = ns.broker(id=1)
    slave.register() >> Reply(SUCCESS)
    ns.cluster().addresses(slave.name) >> Reply(SUCCESS, {1: slave.address})
    ns.route(slave.topic("A")) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["only-masters-publish-topics", "only-acting-slave-publishes"])
def test_lowest_slave_publishes_topics(ns: NameServerSession) -> None:
    for acting in (True, False):
        slave = ns.broker(id=2)
        slave.register(ext={"enableActingMaster": acting}) >> Reply(SUCCESS)
        addresses = ns.route(slave.topic("A")).addresses
        addresses >> Reply(SUCCESS, Including({slave.name: {2: slave.address}}))


@case(kills=["acting-slave-keeps-write", "only-masters-publish-topics"])
def test_acting_slave_publishes_without_write_permission(ns: NameServerSession) -> None:
    slave = ns.broker(id=2)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 4, 0)


@case(kills=["historical-7626-every-slave-loses-write"])
def test_non_acting_slave_publishes_with_permission(ns: NameServerSession) -> None:
    slave = ns.broker(id=2)
    slave.register(ext={"enableActingMaster": False}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 6, 0)


@case(kills=["every-acting-slave-publishes"])
def test_higher_slave_publishes_no_topic(ns: NameServerSession) -> None:
    lowest = ns.broker(id=1)
    higher = lowest.sibling(id=2)
    lowest.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    higher.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.route(higher.topic("C")) >> Reply(TOPIC_NOT_EXIST)


@case(kills=["lost-write-permission-stays-lost"])
def test_returning_master_restores_write_permission(ns: NameServerSession) -> None:
    slave = ns.broker(id=2)
    master = slave.sibling(id=0, topics=slave.topics)
    slave.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, slave, "A", 8, 8, 4, 0)
    master.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    serves(ns, master, "A", 8, 8, 6, 0)


@case(kills=["mappings-are-not-kept"])
def test_topic_mappings_are_published(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=with_mapping(broker).encode()) >> Reply(SUCCESS)
    mapping = Including({"bname": broker.name, "totalQueues": 2, "currIdMap": {"0": 1}})
    shown = Including({"topicQueueMappingByBroker": {broker.name: mapping}})
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, shown)


@case(kills=["mappings-are-not-kept", "mapping-section-is-never-read"])
def test_compressed_topic_mappings_are_published(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = with_mapping(broker).encode_compressed(v5=True)
    broker.register(body=body, ext={"compressed": True}) >> Reply(SUCCESS)
    mapping = Including({"bname": broker.name, "totalQueues": 2, "currIdMap": {"0": 1}})
    shown = Including({"topicQueueMappingByBroker": {broker.name: mapping}})
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, shown)


# --- data versions ------------------------------------------------------------------------------------------


@case(kills=["known-queues-are-never-updated"])
def test_changed_data_version_updates_queues(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, broker.newer()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)


@case(kills=["data-versions-are-ordered", "timestamp-is-not-compared"])
def test_lower_data_version_updates_queues(ns: NameServerSession) -> None:
    broker, state = ns.broker(), ns.first_state_version
    broker.register(version=DataVersion(9, 1_700_000_000_000, state)) >> Reply(SUCCESS)
    lower_counter = DataVersion(1, 1_700_000_000_000, state)
    broker.register({"A": (2, 2, 6), "B": (8, 8, 6)}, lower_counter) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 2, 6, 0)
    lower_timestamp = DataVersion(1, 1_600_000_000_000, state)
    broker.register({"A": (3, 3, 6), "B": (8, 8, 6)}, lower_timestamp) >> Reply(SUCCESS)
    serves(ns, broker, "A", 3, 3, 6, 0)


@case(kills=["data-versions-are-ordered"])
def test_far_future_data_version_is_superseded(ns: NameServerSession) -> None:
    broker, state = ns.broker(), ns.first_state_version
    broker.register(version=DataVersion(1, 99_999_999_999_999, state)) >> Reply(SUCCESS)
    ordinary = DataVersion(2, 1_700_000_000_000, state)
    broker.register({"A": (2, 2, 6), "B": (8, 8, 6)}, ordinary) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 2, 6, 0)
    broker.query_version(ordinary).changed >> Reply(SUCCESS, False)


@case(kills=["data-versions-are-floats"])
def test_data_version_holds_64_bits(ns: NameServerSession) -> None:
    broker, state, largest = ns.broker(), ns.first_state_version, 2**63 - 1
    broker.register(version=DataVersion(largest, largest, state)) >> Reply(SUCCESS)
    broker.query_version(DataVersion(largest, largest, state)).changed >> Reply(SUCCESS, False)
    broker.query_version(DataVersion(largest - 1, largest, state)).changed >> Reply(SUCCESS, True)


@case(kills=["missing-data-version-is-zero"])
def test_missing_data_version_is_not_zero(ns: NameServerSession) -> None:
    broker, zero = ns.broker(), DataVersion(0, 0, ns.first_state_version)
    broker.register() >> Reply(SUCCESS)
    unversioned = broker.body({"A": (2, 3, 4), "B": (8, 8, 6)})
    unversioned.versioned = False
    broker.register(body=unversioned.encode()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)
    broker.query_version(zero).changed >> Reply(SUCCESS, True)
    broker.register({"A": (5, 5, 6), "B": (8, 8, 6)}, zero) >> Reply(SUCCESS)
    serves(ns, broker, "A", 5, 5, 6, 0)


@case(kills=["equal-version-overwrites-queues", "what-was-ignored-is-never-taken"])
def test_equal_data_version_keeps_queues(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, broker.newer()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)


@case(kills=["only-changed-versions-update", "historical-4522-missing-topics-are-not-added"])
def test_equal_data_version_adds_missing_topics(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register(["A", "B", "C"]) >> Reply(SUCCESS)
    serves(ns, broker, "C", 8, 8, 6, 0)


@case(kills=["equal-version-overwrites-queues"])
def test_equal_data_version_may_be_ignored(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6), "C": (8, 8, 6)}) >> Reply(SUCCESS)
    ns.route(broker.topic("C")) >> AnyOf(Reply(TOPIC_NOT_EXIST), deviates=[Reply(SUCCESS)])
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["state-version-is-not-compared"])
def test_state_version_change_updates_queues(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(version=state_version(1)) >> Reply(SUCCESS)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}, state_version(2)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 2, 3, 4, 0)


# --- a single topic -----------------------------------------------------------------------------------------


def is_refused(registered: Exchange) -> bool:
    """Whether the server refuses a lone topic, which it should and need not."""
    answer = registered >> AnyOf(Reply(SYSTEM_ERROR), deviates=[Reply(SUCCESS)])
    return answer.command is not None and answer.command.code == SYSTEM_ERROR


@case(kills=["lone-topic-is-never-refused"])
def test_single_topic_first_registration_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SYSTEM_ERROR)
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    listed = ns.cluster().addresses(broker.name)
    listed >> AnyOf(Reply(SUCCESS, None), Reply(SUCCESS, {}))
    broker.unregister() >> Reply(SUCCESS)


@case(kills=["refused-topic-has-another-remark"])
def test_single_topic_refusal_remark(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SYSTEM_ERROR, body=ABSENT, remark="register broker failed")
    broker.unregister() >> Reply(SUCCESS)


@case("ns.registration.refused-registration-changes-nothing", kills=["refused-registration-is-listed"])
def test_refused_registration_lists_nothing(ns: NameServerSession) -> None:
    """A new broker that is refused is listed nowhere, unless the server accepts a lone topic."""
    broker = ns.broker(topics=["A"])
    if is_refused(broker.register()):
        is_unknown(ns, broker)


@case("ns.registration.refused-registration-changes-nothing", kills=["refused-registration-drops-former-id"])
def test_refused_registration_keeps_the_former_one(ns: NameServerSession) -> None:
    """A slave whose registration under another id is refused stays as it was."""
    slave = ns.broker(id=1)
    slave.register() >> Reply(SUCCESS)
    if is_refused(slave.register(["A"], id=2)):
        ns.cluster().addresses(slave.name) >> Reply(SUCCESS, {1: slave.address})


@case(kills=["refusal-is-for-good"])
def test_refusal_does_not_poison_full_registration(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(["A"]) >> AnyOf(Reply(SYSTEM_ERROR), deviates=[Reply(SUCCESS)])
    broker.register() >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    serves(ns, broker, "B", 8, 8, 6, 0)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["lone-topic-is-always-refused"])
def test_single_topic_first_registration_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker(topics=["A"])
    broker.register() >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["lone-topic-is-always-refused"])
def test_single_topic_registration_of_known_id_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    broker.register(["A"], broker.newer()) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)


@case(kills=["edge-numbers-are-refused", "numbers-beyond-32-bits-are-zero"])
def test_queue_numbers_have_32_bits(ns: NameServerSession) -> None:
    broker = ns.broker()
    for text, fits in EDGES:
        for member in ("", ',"unheardOf":0'):
            for sent in (text, f'"{text}"'):
                config = f'{{"topicName":"{{}}","readQueueNums":{sent},"perm":{sent}{member}}}'
                _is_registered(ns, broker, config, text if fits else None)
        line = f"{broker.topic('A')} {text} 16 {text} SINGLE_TAG"
        broker.version = broker.newer()
        answer = compressed(broker, layout_of_49(broker, line, f"{broker.topic('B')} 1 1 6 SINGLE_TAG"))
        answer >> Reply(SUCCESS if fits else SYSTEM_ERROR)
        if fits:
            serves(ns, broker, "A", int(text), 16, int(text), 0)


def _is_registered(ns: NameServerSession, broker: Broker, config: str, number: str | None) -> None:
    """Registers two topics of this configuration; the number is what queues and permission then are, None: it
    is refused.
    """
    broker.version = broker.newer()
    topics = ",".join(
        f'"{one}":{config.replace("{}", one)}' for one in (broker.topic("A"), broker.topic("B"))
    )
    wrapper = f'{{"dataVersion":{broker.version.encode().decode()},"topicConfigTable":{{{topics}}}}}'
    answer = broker.register(body=f'{{"topicConfigSerializeWrapper":{wrapper}}}'.encode())
    answer >> Reply(SYSTEM_ERROR if number is None else SUCCESS)
    if number is not None:
        serves(ns, broker, "A", int(number), 16, int(number), 0)
