"""Chapter unregistration: what leaves with a broker (code 104), what stays, and from when on.

5.x answers first and removes afterwards: `eventually` waits for a removal, and before a case judges that
something stayed, `settle` waits until the server has nothing left to do.
"""

from harness.conformance import AnyOf, Including, Reply, Silence, case
from harness.conformance.nameserver.brokers import listed, registered
from harness.conformance.nameserver.settings import ONE_UNREGISTRATION_WAITS
from harness.session import Broker, NameServerSession
from harness.wire import FLAG_ONEWAY, Command, RequestCode, ResponseCode, encode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
TOPIC_NOT_EXIST = ResponseCode.TOPIC_NOT_EXIST
UNREGISTER = RequestCode.UNREGISTER_BROKER

WORKS = 1
"""Protocol seconds within which a server has taken an unregistration from its queue."""

ACTING = {"enableActingMaster": True}
NOT_ACTING = {"enableActingMaster": False}


def both(ns: NameServerSession, ext: dict[str, bool] | None = None) -> tuple[Broker, Broker]:
    """A master and a slave of one name, registered with these ext fields."""
    master = ns.broker()
    slave = master.sibling()
    master.register(ext=ext) >> Reply(SUCCESS)
    slave.register(ext=ext) >> Reply(SUCCESS)
    return master, slave


def leaves(ns: NameServerSession, broker: Broker, *stay: Broker) -> None:
    """The broker unregisters; soon its name lists only those that stay."""
    broker.unregister() >> Reply(SUCCESS)
    listed = {other.id: other.address for other in stay} or None
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, listed)


# --- what goes ----------------------------------------------------------------------------------------------


@case(kills=["unregistration-is-ignored"])
def test_address_is_removed(ns: NameServerSession) -> None:
    alone = registered(ns)
    leaves(ns, alone)
    ns.route(alone.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    master, slave = both(ns)
    leaves(ns, master, slave)
    ns.route(master.topic("A")).addresses >> Reply(SUCCESS, {master.name: {1: slave.address}})


@case(kills=["unregistration-is-late"])
def test_effect_precedes_reply(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister() >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=["name-outlives-its-addresses", "empty-cluster-stays", "cluster-keeps-departed-names"])
def test_last_address_takes_name_and_cluster(ns: NameServerSession) -> None:
    master, slave = both(ns)
    leaves(ns, master, slave)
    ns.cluster().names(master.cluster) >> Reply(SUCCESS, [master.name])
    leaves(ns, slave)
    ns.cluster().names(master.cluster) >> Reply(SUCCESS, None)


@case("ns.unregistration.last-address-takes-name-and-cluster", kills=["first-cluster-stays"], own_server=True)
def test_first_cluster_leaves_too(ns: NameServerSession) -> None:
    # No Broker has ever registered with this server: its tables become empty again.
    for _ in range(2):
        broker = ns.broker()
        broker.register() >> Reply(SUCCESS)
        leaves(ns, broker)
        ns.cluster().names(broker.cluster) >> Reply(SUCCESS, None)
        ns.topics().among(broker.topics) >> Reply(SUCCESS, [])


@case(kills=["name-leaves-the-named-cluster-only"])
def test_name_leaves_every_cluster(ns: NameServerSession) -> None:
    master, other = ns.broker(), ns.name("other")
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register(cluster=other) >> Reply(SUCCESS)
    slave.unregister(cluster=other) >> Reply(SUCCESS)
    leaves(ns, master)
    ns.settle()  # Apache's server changes its tables one after the other, and reads them without a lock
    ns.cluster().clusters(master.name) >> Reply(SUCCESS, [])


@case(kills=["name-leaves-the-named-cluster-only"])
def test_other_cluster_leaves_tables_in_agreement(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.unregister(cluster=ns.name("other")) >> Reply(SUCCESS)
    ns.settle()
    listed = ns.cluster().addresses(broker.name) >> Reply(SUCCESS)
    ns.cluster().clusters(broker.name) >> Reply(SUCCESS, [broker.cluster] if listed.value else [])


@case(kills=["departure-without-id-is-ignored"])
def test_success_without_id_takes_effect(ns: NameServerSession) -> None:
    broker = ns.broker()
    since = broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    answer = broker.unregister(ext={"brokerId": None}) >> AnyOf(Reply(SYSTEM_ERROR), Reply(SUCCESS))
    succeeded = answer.command is not None and answer.command.code == SUCCESS
    ns.while_lasts(ns.lease, since)
    shown = None if succeeded else {0: broker.address}
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, shown)


@case(kills=["departure-without-id-ends-the-batch"])
def test_bad_request_harms_no_other(ns: NameServerSession) -> None:
    # Which requests a server handles at once is chance, so forty are sent together, four times over.
    for _ in range(4):
        brokers, client = [ns.broker(on=ns.connection) for _ in range(40)], ns.connect()
        since = [broker.register() >> Reply(SUCCESS) for broker in brokers]
        listed(ns, *brokers)
        client.send_raw(_departures(brokers, spoilt=True), opaque=0) >> Reply(SUCCESS)
        ns.while_lasts(ns.lease, since[0])
        for broker in brokers:
            ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


def _departures(brokers: list[Broker], *, spoilt: bool = False) -> bytes:
    """104 of each as one segment, with even opaques; if `spoilt`, one without id before every fourth."""
    frames = []
    for number, broker in enumerate(brokers):
        ext = {"brokerName": broker.name, "brokerAddr": broker.address, "clusterName": broker.cluster}
        if spoilt and number % 4 == 0:
            frames.append(encode(Command(UNREGISTER, opaque=2 * number + 1, ext={**ext})))
        frames.append(encode(Command(UNREGISTER, opaque=2 * number, ext={**ext, "brokerId": "0"})))
    return b"".join(frames)


@case(kills=["topics-outlive-their-broker"])
def test_last_address_takes_topics(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, sorted(broker.topics))
    leaves(ns, broker)
    ns.route(broker.topic("A")) >> Reply(TOPIC_NOT_EXIST)
    ns.topics().among(broker.topics) >> Reply(SUCCESS, [])


@case(kills=["record-outlives-address"])
def test_data_version_is_forgotten(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    leaves(ns, broker)
    broker.query_version().changed >> Reply(SUCCESS, True, body=b"")


@case(kills=["filter-servers-outlive-address", "record-outlives-address"])
def test_filter_servers_are_removed(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    leaves(ns, broker)
    broker.register(filters=None) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, Including({"filterServerTable": {}}))


@case(kills=["departed-address-is-barred"])
def test_broker_registers_anew(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    leaves(ns, broker)
    broker.register({"A": (2, 3, 4), "B": (8, 8, 6)}) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (2, 3, 4, 0)})


@case(kills=["unregistration-needs-own-connection"])
def test_any_connection_may_unregister(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister(on=ns.connect()) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["one-way-unregistration-is-dropped"])
def test_one_way_unregistration_takes_effect(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister(flag=FLAG_ONEWAY) >> Silence()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


# --- what stays ---------------------------------------------------------------------------------------------


@case(kills=["cluster-leaves-with-first-name"])
def test_cluster_stays_for_other_names(ns: NameServerSession) -> None:
    broker = ns.broker()
    other = ns.broker(cluster=broker.cluster)
    broker.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    leaves(ns, broker)
    ns.cluster().names(broker.cluster) >> Reply(SUCCESS, [other.name])
    ns.cluster().addresses(other.name) >> Reply(SUCCESS, {0: other.address})


@case(kills=["topic-leaves-with-first-broker", "topics-outlive-their-broker"])
def test_topics_survive_on_other_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    other = ns.broker(cluster=broker.cluster)
    broker.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    leaves(ns, broker)
    route = ns.route(broker.topic("A"))
    route.queues >> Reply(SUCCESS, {other.name: (8, 8, 6, 0)})
    route.addresses >> Reply(SUCCESS, {other.name: {0: other.address}})


@case(kills=["topics-leave-with-master"])
def test_topics_survive_on_other_id(ns: NameServerSession) -> None:
    master, slave = both(ns)
    leaves(ns, master, slave)
    route = ns.route(master.topic("A"))
    route.queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})
    route.addresses >> Reply(SUCCESS, {master.name: {1: slave.address}})


@case(kills=["unregistration-takes-the-whole-name", "topics-leave-with-any-address"])
def test_leaving_slave_keeps_master(ns: NameServerSession) -> None:
    master, slave = both(ns)
    leaves(ns, slave, master)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})


@case(kills=["unknown-broker-is-an-error"])
def test_unknown_broker_is_a_success(ns: NameServerSession) -> None:
    broker = registered(ns)
    listed(ns, broker)
    broker = ns.broker()
    broker.unregister() >> Reply(SUCCESS, b"")
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=["unknown-broker-is-an-error"])
def test_repetition_is_a_success(ns: NameServerSession) -> None:
    broker = ns.broker()
    other = ns.broker(cluster=broker.cluster)
    broker.register() >> Reply(SUCCESS)
    other.register() >> Reply(SUCCESS)
    leaves(ns, broker)
    leaves(ns, broker)
    ns.settle()
    ns.cluster().addresses(other.name) >> Reply(SUCCESS, {0: other.address})


@case(kills=["unregistration-takes-every-name"])
def test_unknown_name_keeps_addresses(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.unregister(name=ns.name("nobody")) >> Reply(SUCCESS)
    ns.settle()
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})
    broker.unregister() >> Reply(SUCCESS)


@case(kills=["filter-servers-outlive-address"])
def test_unknown_name_takes_filter_servers(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=["f:1"]) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).filters >> Reply(SUCCESS, {broker.address: ["f:1"]})
    broker.unregister(name=ns.name("nobody")) >> Reply(SUCCESS)
    ns.route(broker.topic("A")).filters.eventually() >> Reply(SUCCESS, {})
    broker.unregister() >> Reply(SUCCESS)


@case(kills=["unregistration-takes-every-name"])
def test_same_address_under_other_name_is_kept(ns: NameServerSession) -> None:
    first = ns.broker()
    second = ns.broker(address=first.address, cluster=first.cluster)
    first.register() >> Reply(SUCCESS)
    second.register(version=second.newer()) >> Reply(SUCCESS)
    leaves(ns, second)
    ns.cluster().addresses(first.name) >> Reply(SUCCESS, {0: first.address})
    first.unregister() >> Reply(SUCCESS)


@case(kills=["departed-connection-owns-its-name"])
def test_closing_afterwards_is_harmless(ns: NameServerSession) -> None:
    master, slave = both(ns)
    leaves(ns, master, slave)
    master.connection.close()
    ns.settle()
    ns.cluster().addresses(master.name) >> Reply(SUCCESS, {1: slave.address})


# --- whose address it is ------------------------------------------------------------------------------------


@case(kills=["unregistration-needs-the-id"])
def test_matches_by_address_whatever_the_id(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister(id=7) >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["historical-5374-late-unregister-removes-new-master"])
def test_other_address_is_kept(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    broker.unregister(address=ns.address()) >> Reply(SUCCESS)
    ns.settle()
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, {broker.name: (8, 8, 6, 0)})


@case(kills=["historical-5374-late-unregister-removes-new-master"])
def test_late_unregistration_of_old_master_is_harmless(ns: NameServerSession) -> None:
    old = ns.broker()
    new = old.sibling(id=0)
    old.register() >> Reply(SUCCESS)
    new.register() >> Reply(SUCCESS)
    old.unregister() >> Reply(SUCCESS)
    ns.settle()
    ns.cluster().addresses(old.name) >> Reply(SUCCESS, {0: new.address})
    ns.route(new.topic("C")).queues >> Reply(SUCCESS, {new.name: (8, 8, 6, 0)})


@case(kills=["unknown-address-is-an-error", "id-without-address-takes-the-name"])
def test_id_may_be_enough(ns: NameServerSession) -> None:
    master, slave = both(ns)
    slave.unregister(id=0) >> Reply(SUCCESS)
    shown = ns.cluster().addresses(master.name)
    shown >> AnyOf(Reply(SUCCESS, {1: slave.address}), deviates=[Reply(SUCCESS, {0: master.address})])
    for other in (master, slave):
        other.unregister() >> Reply(SUCCESS)
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister(address=ns.address()) >> Reply(SUCCESS)
    ns.settle()
    gone, kept = Reply(SUCCESS, None), Reply(SUCCESS, {0: broker.address})
    ns.cluster().addresses(broker.name) >> AnyOf(gone, deviates=[kept])
    broker.unregister() >> Reply(SUCCESS)


# --- write permission ---------------------------------------------------------------------------------------


@case(kills=["acting-master-keeps-write"])
def test_leaving_acting_master_takes_write_permission(ns: NameServerSession) -> None:
    master, slave = both(ns, ACTING)
    leaves(ns, master, slave)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 4, 0)})


@case(kills=["acting-master-keeps-write", "lost-write-permission-stays-lost"])
def test_returning_acting_master_restores_write_permission(ns: NameServerSession) -> None:
    master, slave = both(ns, ACTING)
    leaves(ns, master, slave)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 4, 0)})
    master.register(ext=ACTING) >> Reply(SUCCESS)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})


@case(kills=["write-leaves-with-any-address"])
def test_leaving_slave_keeps_write_permission(ns: NameServerSession) -> None:
    master, slave = both(ns, ACTING)
    leaves(ns, slave, master)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})


@case(kills=["write-leaves-with-id-0"])
def test_negative_id_keeps_write_permission(ns: NameServerSession) -> None:
    master, slave = both(ns, ACTING)
    elected = master.sibling(-1)
    elected.register(ext=ACTING) >> Reply(SUCCESS)
    leaves(ns, master, elected, slave)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})
    leaves(ns, elected, slave)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 4, 0)})


@case(kills=["write-leaves-with-every-master"])
def test_permissions_stay_without_acting_master(ns: NameServerSession) -> None:
    master, slave = both(ns, NOT_ACTING)
    leaves(ns, master, slave)
    ns.route(master.topic("A")).queues >> Reply(SUCCESS, {master.name: (8, 8, 6, 0)})


# --- the queue of the worker --------------------------------------------------------------------------------


@case(
    kills=["unregistrations-of-a-full-queue-are-lost", "refused-unregistrations-are-carried-out"],
    setup=ONE_UNREGISTRATION_WAITS,
    clock=True,
)
def test_answer_tells_whether_it_is_carried_out(ns: NameServerSession) -> None:
    client = ns.connect()
    brokers = [ns.broker(on=client) for _ in range(12)]
    for broker in brokers:
        broker.register(ext={"heartbeatTimeoutMillis": 3_600_000}) >> Reply(SUCCESS)
    listed(ns, *brokers)
    asked = [
        client.send_raw(_departures(brokers), opaque=0),
        *(client.answer_to(2 * number) for number in range(1, len(brokers))),
    ]
    answers = [one >> Reply((SUCCESS, SYSTEM_ERROR)) for one in asked]
    ns.advance(WORKS)
    for broker, answer in zip(brokers, answers, strict=True):
        gone = answer.command is not None and answer.command.code == SUCCESS
        expected = None if gone else {0: broker.address}
        ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, expected)


@case(kills=["bad-unregistration-stops-the-worker"], clock=True)
def test_bad_one_does_not_block_later_ones(ns: NameServerSession) -> None:
    bad, leaving, lost = ns.broker(), ns.broker(), ns.broker()
    for broker in (bad, leaving, lost):
        broker.register() >> Reply(SUCCESS)
    listed(ns, bad, leaving, lost)
    bad.unregister(ext={"brokerId": None}) >> Reply((SUCCESS, ResponseCode.SYSTEM_ERROR))
    ns.advance(WORKS)
    leaving.unregister() >> Reply(SUCCESS)
    lost.connection.close()
    for broker in (leaving, lost):
        ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)


@case(kills=["bad-unregistration-makes-a-ghost"], clock=True)
def test_bad_one_keeps_no_lost_broker(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    listed(ns, broker)
    broker.unregister(ext={"brokerId": None}) >> Reply((SUCCESS, ResponseCode.SYSTEM_ERROR))
    ns.advance(WORKS)
    broker.connection.close()
    ns.cluster().addresses(broker.name).eventually() >> Reply(SUCCESS, None)
