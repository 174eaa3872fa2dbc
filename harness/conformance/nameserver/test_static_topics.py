"""Chapter static-topics: the mappings that brokers of 5.x register for static topics.

The chapters registration and routes cover whether a mapping is shown at all.
"""

import json
import zlib

from harness.conformance import ABSENT, Containing, Including, Reply, case
from harness.session import Broker, NameServerSession
from harness.session.nameserver.views import RegisterExchange
from harness.wire import ResponseCode
from harness.wire.bodies import DataVersion, TopicQueueMappingInfo

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR


def register(
    broker: Broker, epoch: int | None, version: DataVersion | None = None, *, bname: str | None = None
) -> RegisterExchange:
    """Registers the broker's topics, and a mapping of this epoch for A unless it is None."""
    body = broker.body(version=version)
    if epoch is not None:
        topic = broker.topic("A")
        mapping = TopicQueueMappingInfo(topic, bname or broker.name, 2, epoch, curr_id_map={0: 1})
        body.mappings = {topic: mapping}
    return broker.register(body=body.encode())


def shows(ns: NameServerSession, epochs: dict[str, int]) -> None:
    """The route of A has mappings of these broker names with these epochs, and no others."""
    expected = {name: Including({"bname": name, "epoch": epoch}) for name, epoch in epochs.items()}
    ns.route(ns.topic("A")).mappings >> Reply(SUCCESS, expected or None)


@case(kills=["mapping-replaces-those-of-others"])
def test_mappings_of_brokers_are_merged(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker()
    register(one, 1) >> Reply(SUCCESS)
    register(other, 2) >> Reply(SUCCESS)
    shows(ns, {one.name: 1, other.name: 2})


@case(kills=["mappings-are-never-updated", "routes-keep-their-mappings"])
def test_changed_version_replaces_mapping(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker()
    register(one, 1) >> Reply(SUCCESS)
    register(other, 2) >> Reply(SUCCESS)
    shows(ns, {one.name: 1, other.name: 2})
    register(one, 3, one.newer()) >> Reply(SUCCESS)
    shows(ns, {one.name: 3, other.name: 2})


@case(kills=["mappings-are-ordered-by-epoch"])
def test_epochs_are_not_ordered(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 5) >> Reply(SUCCESS)
    register(broker, 3, broker.newer()) >> Reply(SUCCESS)
    shows(ns, {broker.name: 3})


@case(kills=["free-id-leaves-mappings"])
def test_free_id_is_taken_with_mappings(ns: NameServerSession) -> None:
    former = ns.broker()
    successor, slave = former.sibling(id=0), former.sibling()
    register(former, 1) >> Reply(SUCCESS)
    register(successor, 3) >> Reply(SUCCESS)
    register(slave, None) >> Reply(SUCCESS)
    shows(ns, {former.name: 3})
    successor.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(former.name).eventually() >> Reply(SUCCESS, {1: slave.address})
    former.query_version().changed >> Reply(SUCCESS, False)
    register(former, 1) >> Reply(SUCCESS)
    shows(ns, {former.name: 1})


@case(kills=["equal-version-replaces-mappings"])
def test_equal_version_keeps_mapping(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    register(broker, 2) >> Reply(SUCCESS)
    shows(ns, {broker.name: 1})


@case(kills=["absent-mappings-are-removed"])
def test_absent_mapping_is_kept(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    register(broker, None, broker.newer()) >> Reply(SUCCESS)
    shows(ns, {broker.name: 1})


@case(kills=["mapping-is-its-registrants"])
def test_mapping_names_its_broker(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker()
    register(one, 1) >> Reply(SUCCESS)
    register(other, 2, bname=one.name) >> Reply(SUCCESS)
    shows(ns, {one.name: 2})


@case(kills=["slaves-register-mappings"])
def test_slave_registers_no_mapping(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling(topics=("A", "B"))
    register(master, 1) >> Reply(SUCCESS)
    register(slave, 2, slave.newer()) >> Reply(SUCCESS)
    shows(ns, {master.name: 1})


@case(kills=["returning-topic-lacks-its-mapping"])
def test_mapping_returns_with_its_topic(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    register(broker, 1) >> Reply(SUCCESS)
    shows(ns, {broker.name: 1})


@case(kills=["mappings-are-kept-once-only"])
def test_mapping_returns_with_its_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    broker.unregister() >> Reply(SUCCESS)
    ns.settle()
    register(broker, 2) >> Reply(SUCCESS)
    shows(ns, {broker.name: 2})


@case(kills=["mappings-are-never-dropped"])
def test_mapping_goes_with_its_topic(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    shows(ns, {broker.name: 1})
    ns.delete_topic(broker.topic("A")) >> Reply(SUCCESS)
    register(broker, None, broker.newer()) >> Reply(SUCCESS)
    shows(ns, {})


@case(kills=["mappings-are-never-dropped", "mappings-without-queues-stay"])
def test_mapping_goes_with_its_broker(ns: NameServerSession) -> None:
    one, other = ns.broker(), ns.broker(topics=("A", "B", "C"))
    body = one.body()
    mapped = [ns.topic(hint) for hint in ("A", "B", "C", "D")]
    body.mappings = {
        topic: TopicQueueMappingInfo(topic, one.name, 2, 1, curr_id_map={0: 1}) for topic in mapped
    }
    one.register(body=body.encode()) >> Reply(SUCCESS)
    register(other, 2) >> Reply(SUCCESS)
    shows(ns, {one.name: 1, other.name: 2})
    one.unregister() >> Reply(SUCCESS)
    ns.settle()
    shows(ns, {other.name: 2})
    for topic in mapped[1:3]:
        ns.route(topic).mappings >> Reply(SUCCESS, None)
    other.register(("C", "D"), other.newer()) >> Reply(SUCCESS)
    ns.route(mapped[3]).mappings >> Reply(SUCCESS, None)


@case(kills=["queue-ids-of-mappings-have-no-quotes"])
def test_strict_clients_can_read_mappings(ns: NameServerSession) -> None:
    broker = ns.broker()
    register(broker, 1) >> Reply(SUCCESS)
    told = {broker.name: Including({"currIdMap": {"0": 1}})}
    route = ns.route(broker.topic("A"), version=479)
    route.strict_json >> Reply(SUCCESS, Including({"topicQueueMappingByBroker": told}))


@case(kills=["large-epochs-are-numbers", "large-epochs-are-text-for-all"])
def test_large_epoch_is_text_to_strict_clients(ns: NameServerSession) -> None:
    broker = ns.broker()
    for epoch in (2**53 - 1, 2**53, -(2**53) + 1, -(2**53)):
        register(broker, epoch) >> Reply(SUCCESS)
        told = f'"{epoch}"' if abs(epoch) == 2**53 else f"{epoch}"
        ns.route(broker.topic("A"), version=479).text >> Reply(SUCCESS, Containing(f'"epoch":{told},'))
        ns.route(broker.topic("A"), version=0).text >> Reply(SUCCESS, Containing(f'"epoch":{epoch},'))
        broker.version = broker.newer()


@case(kills=["unreadable-queue-maps-are-empty"])
def test_unreadable_queue_map_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for queues in ("5", '{"x":1}', '{"0":null}', '{0:"x"}'):
        _register_queues(broker, queues) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=["null-queue-maps-are-refused"])
def test_null_queue_map_is_left_out(ns: NameServerSession) -> None:
    broker = ns.broker()
    _register_queues(broker, "null") >> Reply(SUCCESS)
    ns.route(broker.topic("A")).mappings >> Reply(
        SUCCESS, {broker.name: Including({"epoch": 1, "currIdMap": ABSENT})}
    )


def _register_queues(broker: Broker, queues: str) -> RegisterExchange:
    """Registers the broker's topics, and for A a mapping whose currIdMap has this text."""
    body, topic = broker.body(), broker.topic("A")
    body.mappings = {topic: TopicQueueMappingInfo(topic, broker.name, 2, 1, curr_id_map={7: 7})}
    text = body.encode().replace(b'"currIdMap":{7:7}', b'"currIdMap":' + queues.encode())
    return broker.register(body=text)


@case(kills=["unknown-members-of-mappings-are-refused", "strange-mappings-lose-their-queues"])
def test_unknown_members_of_a_mapping_are_ignored(ns: NameServerSession) -> None:
    plain, compressed = ns.broker(name=f"{ns.name('b')}/é"), ns.broker()
    for broker in (plain, compressed):
        body, topic = broker.body(), broker.topic("A")
        mapping = TopicQueueMappingInfo(topic, broker.name, 3, 5, broker is plain, "s", {0: 1, 3: 2})
        text = mapping.encode().replace(b'"dirty"', b'"unheardOf":{"x":[1,null]},"dirty"')
        body.mappings = {}
        if broker is plain:
            whole = body.encode().replace(b'InfoMap":{', b'InfoMap":{"%b":%b' % (topic.encode(), text))
            broker.register(body=whole, announces=479) >> Reply(SUCCESS)
        else:
            layout = (
                body.layout(v5=True).removesuffix(bytes(4))
                + b"\0\0\0\1"
                + len(text).to_bytes(4, "big")
                + text
            )
            broker.register(body=zlib.compress(layout), ext={"compressed": True}, announces=479) >> Reply(
                SUCCESS
            )
        shown = {
            "topic": topic,
            "bname": broker.name,
            "totalQueues": 3,
            "epoch": 5,
            "dirty": broker is plain,
            "scope": "s",
        }
        ns.route(topic).mappings >> Reply(
            SUCCESS, Including({broker.name: {**shown, "currIdMap": {"0": 1, "3": 2}}})
        )


@case(kills=["null-members-of-mappings-are-missing", "missing-members-of-mappings-are-null"])
def test_null_members_of_a_mapping(ns: NameServerSession) -> None:
    broker = ns.broker()
    body, topics = broker.body(), (broker.topic("A"), broker.topic("B"))
    body.mappings = None
    missing, null = ({"topic": topic, "bname": broker.name} for topic in topics)
    nulls = dict.fromkeys(("totalQueues", "epoch", "currIdMap", "dirty", "scope"))
    member = json.dumps({topics[0]: missing, topics[1]: {**null, **nulls}})
    wrapper = '"topicConfigSerializeWrapper":{'
    text = body.encode().decode().replace(wrapper, f'{wrapper}"topicQueueMappingInfoMap":{member},')
    broker.register(body=text.encode(), announces=479) >> Reply(SUCCESS)
    zeros = {"totalQueues": 0, "epoch": 0, "dirty": False}
    defaults = {"currIdMap": {}, "scope": "__global__"}
    ns.route(topics[0]).mappings >> Reply(SUCCESS, {broker.name: {**missing, **zeros, **defaults}})
    ns.route(topics[1]).mappings >> Reply(SUCCESS, {broker.name: {**null, **zeros}})
