"""Chapter cluster: cluster information (code 106) and member groups (code 901).

The server may be shared, so a case judges only its own names.
"""

from harness.conformance import ABSENT, AnyOf, Containing, Including, Reply, case
from harness.session import NameServerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS


# --- cluster information ------------------------------------------------------------------------------------


@case(kills=["cluster-lists-lowest-id-only"])
def test_lists_every_address(ns: NameServerSession) -> None:
    master = ns.broker()
    slave, other = master.sibling(id=1), master.sibling(id=7)
    for broker in (master, slave, other):
        broker.register() >> Reply(SUCCESS)
    ns.cluster().addresses(master.name) >> Reply(
        SUCCESS, {0: master.address, 1: slave.address, 7: other.address}
    )


@case(kills=["clusters-share-their-names"])
def test_lists_every_name(ns: NameServerSession) -> None:
    first = ns.broker()
    second, elsewhere = ns.broker(cluster=first.cluster), ns.broker()
    for broker in (first, second, elsewhere):
        broker.register() >> Reply(SUCCESS)
    ns.cluster().names(first.cluster) >> Reply(SUCCESS, sorted([first.name, second.name]))
    ns.cluster().names(elsewhere.cluster) >> Reply(SUCCESS, [elsewhere.name])


@case(kills=["broker-data-lacks-cluster", "historical-rocketmq-200-broker-data-lacks-cluster"])
def test_broker_data_names_itself(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    itself = Including({"cluster": broker.cluster, "brokerName": broker.name})
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, itself)


@case(kills=["cluster-keeps-departed-names", "name-outlives-its-addresses"])
def test_tables_agree(ns: NameServerSession) -> None:
    leaving = ns.broker()
    staying = ns.broker(cluster=leaving.cluster)
    leaving.register() >> Reply(SUCCESS)
    staying.register() >> Reply(SUCCESS)
    leaving.unregister() >> Reply(SUCCESS)
    ns.cluster().broker(leaving.name).eventually() >> Reply(SUCCESS, None)
    ns.cluster().names(leaving.cluster) >> Reply(SUCCESS, [staying.name])
    ns.cluster().addresses(staying.name) >> Reply(SUCCESS, {0: staying.address})


@case(kills=["cluster-information-is-cached"])
def test_changes_are_visible_at_once(ns: NameServerSession) -> None:
    master, other = ns.broker(), ns.connect()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    ns.cluster(on=other).addresses(master.name) >> Reply(SUCCESS, {0: master.address})
    slave.register() >> Reply(SUCCESS)
    ns.cluster(on=other).addresses(master.name) >> Reply(SUCCESS, {0: master.address, 1: slave.address})


@case(kills=["ids-are-written-as-decimals"])
def test_ids_are_keys_without_quotes(ns: NameServerSession) -> None:
    broker = ns.broker(id=5)
    broker.register() >> Reply(SUCCESS)
    bare, quoted = Containing(f'{{5:"{broker.address}"'), Containing(f'{{"5":"{broker.address}"')
    ns.cluster().text >> AnyOf(Reply(SUCCESS, bare), deviates=[Reply(SUCCESS, quoted)])


@case(kills=["cluster-information-refuses-input"])
def test_input_is_ignored(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    asked = ns.call(RequestCode.GET_BROKER_CLUSTER_INFO, {"clusterName": broker.cluster}, b"junk")
    asked.eventually() >> Reply(SUCCESS, Containing(f'"{broker.address}"'))


@case(kills=["acting-master-is-told-to-old-clients"])
def test_broker_data_has_three_members(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    members = {"brokerAddrs": {"0": broker.address}, "brokerName": broker.name, "cluster": broker.cluster}
    ns.cluster().broker(broker.name) >> Reply(SUCCESS, members)


@case(kills=["acting-master-is-not-told"])
def test_broker_data_tells_acting_master(ns: NameServerSession) -> None:
    silent, acting = ns.broker(), ns.broker()
    silent.register() >> Reply(SUCCESS)
    acting.register(ext={"enableActingMaster": True}) >> Reply(SUCCESS)
    ns.cluster().broker(silent.name) >> Reply(SUCCESS, Including({"enableActingMaster": False}))
    ns.cluster().broker(acting.name) >> Reply(SUCCESS, Including({"enableActingMaster": True}))


@case(kills=["zone-is-not-told"])
def test_broker_data_tells_zone(ns: NameServerSession) -> None:
    silent, zoned = ns.broker(), ns.broker()
    silent.register() >> Reply(SUCCESS)
    zoned.register(ext={"__ZONE_NAME": "east"}) >> Reply(SUCCESS)
    ns.cluster().broker(silent.name) >> Reply(SUCCESS, Including({"zoneName": ABSENT}))
    ns.cluster().broker(zoned.name) >> Reply(SUCCESS, Including({"zoneName": "east"}))


# --- member groups ------------------------------------------------------------------------------------------


@case(kills=["member-group-lists-lowest-id-only", "member-group-lists-two-ids"])
def test_member_group_lists_addresses(ns: NameServerSession) -> None:
    master = ns.broker()
    brokers = [master, master.sibling(5), master.sibling(2)]
    for broker in brokers:
        broker.register() >> Reply(SUCCESS)
    group = ns.member_group(master.cluster, master.name)
    group.addresses >> Reply(SUCCESS, {broker.id: broker.address for broker in brokers})
    group.broker_name >> Reply(SUCCESS, master.name)
    group.cluster >> Reply(SUCCESS, master.cluster)


@case(kills=["member-group-needs-its-cluster"])
def test_member_group_ignores_cluster(ns: NameServerSession) -> None:
    broker, nowhere = ns.broker(), ns.name("nowhere")
    broker.register() >> Reply(SUCCESS)
    group = ns.member_group(nowhere, broker.name)
    group.addresses >> Reply(SUCCESS, {0: broker.address})
    group.cluster >> Reply(SUCCESS, nowhere)


@case(kills=["member-group-carries-a-remark"])
def test_member_group_carries_no_remark(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    group = ns.member_group(broker.cluster, broker.name)
    group.addresses >> Reply(SUCCESS, {0: broker.address}, remark=ABSENT)


@case(kills=["unknown-member-group-is-an-error"])
def test_member_group_of_unknown_name_is_empty(ns: NameServerSession) -> None:
    ns.member_group(ns.name("cluster"), ns.name("nobody")).addresses >> Reply(SUCCESS, {})


@case(kills=["unknown-member-group-is-an-error"])
def test_member_group_without_name_is_empty(ns: NameServerSession) -> None:
    group = ns.member_group(ns.name("cluster"), None)
    group.addresses >> Reply(SUCCESS, {})
    group.broker_name >> Reply(SUCCESS, None)


@case(kills=["member-group-is-remembered", "historical-promotion-keeps-old-id"])
def test_member_group_follows_changes(ns: NameServerSession) -> None:
    master = ns.broker()
    slave = master.sibling()
    master.register() >> Reply(SUCCESS)
    slave.register() >> Reply(SUCCESS)
    group = {0: master.address, 1: slave.address}
    ns.member_group(master.cluster, master.name).addresses >> Reply(SUCCESS, group)
    slave.register(id=0) >> Reply(SUCCESS)
    ns.member_group(master.cluster, master.name).addresses >> Reply(SUCCESS, {0: slave.address})
    slave.unregister() >> Reply(SUCCESS)
    ns.member_group(master.cluster, master.name).addresses.eventually() >> Reply(SUCCESS, {})
