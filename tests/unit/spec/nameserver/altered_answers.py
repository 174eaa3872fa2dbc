"""Small programs, and edits of the last answer that break one invariant each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.program.chance import chance
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import BORN
from harness.program.step import Close, Reconnect, Time
from harness.program.steps import AnyStep
from harness.wire import Command
from harness.wire.bodies import BrokerData, KvTable, TopicList, TopicRoute
from harness.wire.bodies import ClusterInfo as ClusterBody

Edit = Callable[[Command, Names], Command]

NAMES = Names(chance("examples"))
B0, B1, C0, T0, T1 = (NAMES.name(symbol) for symbol in ("b0", "b1", "c0", "T0", "T1"))
A0, A1 = NAMES.address("a0"), NAMES.address("a1")
QUEUES = {"T0": (4, 4, 6, 0), "T1": (8, 8, 6, 0)}
OTHER = {"T0": (5, 5, 6, 0), "T1": (9, 9, 6, 0)}
MASTER = ns.Register(conn="k0", topics=QUEUES)
SLAVE = ns.Register(conn="k1", address="a1", id=1, topics=OTHER)
SECOND = ns.Register(conn="k1", broker="b1", address="a1", topics=QUEUES)
EAGER = ns.Register(conn="k1", address="a1", id=1, topics={"T2": (1, 1, 6, 0)})
ACTING = ns.Register(conn="k1", address="a1", id=1, acting=True, topics=QUEUES)
ACTS = ns.Configure(lines=("supportActingMaster=true",))
PAIRS = [ns.Kv(code=100), ns.Kv(code=100, key="y")]
DROPS = ns.DeleteTopic(cluster="c0")
AWAY = Time(seconds=3)


def body(data: bytes) -> Edit:
    return lambda command, _: msgspec.structs.replace(command, body=data)


def ext(**fields: str | None) -> Edit:
    return lambda command, _: msgspec.structs.replace(command, ext=dict(fields))


def code(number: int, remark: str | None = "no") -> Edit:
    return lambda command, _: msgspec.structs.replace(command, code=number, remark=remark, body=b"")


def cluster(change: Callable[[ClusterBody], object]) -> Edit:
    def edit(command: Command, names: Names) -> Command:
        info = ClusterBody.decode(command.body)
        change(info)
        return msgspec.structs.replace(command, body=info.encode())

    return edit


def route(change: Callable[[TopicRoute], object]) -> Edit:
    def edit(command: Command, names: Names) -> Command:
        found = TopicRoute.decode(command.body)
        change(found)
        return msgspec.structs.replace(command, body=found.encode())

    return edit


def lists(*names_: str, address: str | None = None) -> Edit:
    return body(TopicList(list(names_), address).encode())


def _here(info: ClusterBody) -> None:
    info.broker_addr_table[B0] = BrokerData(C0, B0, {0: A0}, False)
    info.cluster_addr_table[C0] = [B0]


def _gone(info: ClusterBody) -> None:
    info.broker_addr_table.clear()
    info.cluster_addr_table.clear()


HERE, GONE = cluster(_here), cluster(_gone)


def _five_queues(found: TopicRoute) -> None:
    found.queue_datas[0].read_queue_nums = 5


def _written_and_not_acting(found: TopicRoute) -> None:
    found.queue_datas[0].perm = 6
    found.broker_datas[0].broker_addrs = {1: A1}


EXAMPLES: list[tuple[str, str, list[AnyStep], Edit]] = [
    (
        "one-id-per-address",
        "5.3",
        [SLAVE, ns.Register(conn="k1", address="a1", id=0, topics=QUEUES), ns.ClusterInfo()],
        cluster(lambda info: info.broker_addr_table[B0].broker_addrs.update({1: A1})),
    ),
    ("only-masters-change-queues", "4.9", [MASTER, SLAVE, ns.Route()], route(_five_queues)),
    ("lease-ends", "5.3", [MASTER, Time(seconds=140), ns.ClusterInfo()], HERE),
    ("lease-ends", "4.9", [MASTER, Time(seconds=140), ns.ClusterInfo()], cluster(_here)),
    ("lease-lasts", "5.5", [MASTER, Time(seconds=100), ns.ClusterInfo()], GONE),
    ("registered-broker-is-listed", "4.9", [MASTER, ns.ClusterInfo(conn="other")], GONE),
    ("unregistered-broker-is-gone", "5.3", [MASTER, ns.Unregister(), AWAY, ns.ClusterInfo()], HERE),
    (
        "topic-goes-with-its-last-broker",
        "4.9",
        [MASTER, ns.Unregister(), AWAY, ns.Topics()],
        lists(T0),
    ),
    (
        "name-leaves-every-cluster",
        "5.3",
        [MASTER, ns.Unregister(), AWAY, ns.ClusterInfo()],
        cluster(lambda info: info.cluster_addr_table.update({C0: [B0]})),
    ),
    (
        "tables-agree-after-another-cluster",
        "5.3",
        [MASTER, SECOND, ns.Unregister(cluster="c1"), AWAY, ns.ClusterInfo(), ns.ClusterInfo()],
        cluster(lambda info: info.cluster_addr_table[C0].append(B0)),
    ),
    (
        "name-leaves-every-cluster",
        "4.9",
        [MASTER, SECOND, ns.Unregister(), ns.ClusterInfo()],
        cluster(lambda info: info.cluster_addr_table[C0].append(B0)),
    ),
    (
        "lost-broker-leaves-nothing",
        "5.3",
        [MASTER, SECOND, Close(conn="k0"), AWAY, ns.ClusterInfo()],
        cluster(lambda info: info.cluster_addr_table[C0].append(B0)),
    ),
    (
        "name-is-in-its-clusters",
        "5.3",
        [MASTER, SECOND, ns.ClusterInfo()],
        cluster(lambda info: info.cluster_addr_table[C0].remove(B1)),
    ),
    ("slave-learns-its-live-master", "5.3", [MASTER, SLAVE], ext()),
    ("slave-learns-its-live-master", "4.9", [MASTER, SLAVE], ext(masterAddr=A0, haServerAddr=A0)),
    ("slave-without-master-learns-none", "5.3", [SLAVE], ext(masterAddr=A0)),
    (
        "slave-learns-no-other-master",
        "5.3",
        [MASTER, ns.Unregister(conn="k0"), AWAY, SLAVE],
        ext(masterAddr=A0),
    ),
    ("master-learns-no-master", "4.9", [MASTER], ext(masterAddr=A0)),
    (
        "equal-version-changes-nothing-known",
        "5.3",
        [MASTER, ns.Register(conn="k0", topics=OTHER), ns.Route()],
        route(_five_queues),
    ),
    (
        "changed-version-updates",
        "4.9",
        [MASTER, ns.Register(conn="k0", topics=OTHER, counter=0), ns.Route()],
        route(lambda found: found.queue_datas.__setitem__(0, type(found.queue_datas[0])(B0, 4, 4, 6, 0))),
    ),
    ("lost-connection-removes-its-brokers", "5.3", [MASTER, Close(conn="k0"), AWAY, ns.ClusterInfo()], HERE),
    (
        "late-close-removes-no-fresh-registration",
        "4.9",
        [MASTER, Reconnect(conn="k0", old="k9"), MASTER, Close(conn="k9"), AWAY, ns.ClusterInfo()],
        GONE,
    ),
    ("unrelated-close-removes-nothing", "5.3", [MASTER, ns.Topics(), Close(), ns.ClusterInfo()], GONE),
    (
        "slaves-publish-nothing",
        "4.9",
        [
            MASTER,
            ns.Register(conn="k1", address="a1", id=1, topics={"T2": (1, 1, 6, 0)}),
            ns.Topics(),
            ns.Route(topic="T2"),
        ],
        code(0),
    ),
    ("deleted-topic-is-gone", "4.9", [MASTER, ns.DeleteTopic(), ns.Route()], code(0)),
    ("masters-topics-are-routed", "4.9", [MASTER, ns.Route()], code(17)),
    (
        "route-has-every-id",
        "5.3",
        [MASTER, SLAVE, ns.Route()],
        route(lambda found: found.broker_datas[0].broker_addrs.pop(1)),
    ),
    ("route-can-be-read", "4.9", [MASTER, ns.Route()], body(b'{"brokerDatas":[{"brokerAddrs":{0:"a"}}]}')),
    (
        "write-permission-is-wiped",
        "5.3",
        [MASTER, ns.Permission(), ns.Route()],
        route(lambda found: setattr(found.queue_datas[0], "perm", 6)),
    ),
    (
        "write-permission-is-added",
        "5.3",
        [MASTER, ns.Permission(), ns.Permission(code=327), ns.Route()],
        route(lambda found: setattr(found.queue_datas[0], "perm", 4)),
    ),
    (
        "added-permission-keeps-other-bits",
        "5.3",
        [MASTER, ns.Permission(code=327), ns.Route()],
        route(lambda found: setattr(found.queue_datas[0], "perm", 7)),
    ),
    ("permission-counts-topics", "5.3", [MASTER, ns.Permission()], ext(wipeTopicCount="1")),
    (
        "leaving-master-takes-write-permission",
        "5.3",
        [
            ns.Register(conn="k0", topics=QUEUES, acting=True),
            ns.Register(conn="k1", address="a1", id=1, acting=True),
            ns.Unregister(),
            AWAY,
            ns.Route(),
        ],
        route(lambda found: setattr(found.queue_datas[0], "perm", 6)),
    ),
    (
        "any-slave-may-act",
        "5.5",
        [
            ns.Configure(lines=("supportActingMaster=true",)),
            ns.Register(conn="k1", address="a1", id=1, acting=True, topics=QUEUES),
            ns.Route(),
        ],
        route(lambda found: setattr(found.broker_datas[0], "broker_addrs", {1: A1})),
    ),
    (
        "acting-master-is-shown-in-time",
        "5.3",
        [ACTS, MASTER, ACTING, ns.Unregister(conn="k0"), AWAY, ns.Route()],
        route(lambda found: setattr(found.broker_datas[0], "broker_addrs", {1: A1})),
    ),
    (
        "returning-master-ends-acting",
        "5.3",
        [ACTS, ACTING, MASTER, ns.Route()],
        route(lambda found: setattr(found.broker_datas[0], "broker_addrs", {0: A1})),
    ),
    (
        "no-slave-acts-unasked",
        "5.3",
        [ACTS, MASTER, SLAVE, ns.Unregister(conn="k0"), AWAY, ns.Route()],
        route(lambda found: setattr(found.broker_datas[0], "broker_addrs", {0: A1})),
    ),
    (
        "acting-master-is-in-routes-only",
        "5.3",
        [ACTS, ACTING, ns.ClusterInfo()],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "broker_addrs", {0: A1})),
    ),
    (
        "no-acting-master-unasked",
        "5.3",
        [ACTING, ns.Route()],
        route(lambda found: setattr(found.broker_datas[0], "broker_addrs", {0: A1})),
    ),
    (
        "acting-slave-gives-no-write-permission",
        "5.3",
        [ACTS, ACTING, ns.Route()],
        route(_written_and_not_acting),
    ),
    (
        "zone-filters-routes",
        "5.3",
        [ns.Register(conn="k0", topics=QUEUES, zone="z1"), ns.Route(zone_mode="true", zone="z2")],
        route(
            lambda found: found.queue_datas.append(
                TopicRoute.decode(b'{"queueDatas":[{"brokerName":"%b","perm":6}]}' % B0.encode()).queue_datas[
                    0
                ]
            )
        ),
    ),
    (
        "zone-follows-registration",
        "5.3",
        [ns.Register(conn="k0", zone="z1"), ns.Register(conn="k0", zone="z2"), ns.ClusterInfo()],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "zone_name", "z1")),
    ),
    (
        "filter-servers-are-routed",
        "4.9",
        [ns.Register(conn="k0", topics=QUEUES, filters=("f1",)), ns.Route()],
        route(lambda found: setattr(found, "filter_server_table", {})),
    ),
    (
        "order-configuration-is-routed",
        "4.9",
        [
            ns.Configure(lines=("orderMessageEnable=true",)),
            ns.Kv(code=100, namespace="ORDER_TOPIC_CONFIG", topic="T0", value="b0:4"),
            MASTER,
            ns.Route(),
        ],
        route(lambda found: setattr(found, "order_topic_conf", None)),
    ),
    (
        "order-table-is-returned",
        "5.3",
        [ns.Kv(code=100, namespace="ORDER_TOPIC_CONFIG", topic="T0", value="b0:4"), MASTER],
        body(KvTable({}).encode()),
    ),
    (
        "static-mappings-are-routed",
        "5.3",
        [ns.Register(conn="k0", topics=QUEUES, mappings={"T0": ("b0", 3)}), ns.Route()],
        route(lambda found: setattr(found, "topic_queue_mapping_by_broker", None)),
    ),
    (
        "stored-version-is-the-latest",
        "4.9",
        [MASTER, ns.QueryVersion(counter=2)],
        body(b'{"counter":7,"timestamp":%d}' % BORN),
    ),
    (
        "stored-version-is-the-latest",
        "5.3",
        [MASTER, ns.QueryVersion()],
        lambda command, _: msgspec.structs.replace(
            command, ext={"changed": "true"}, body=b'{"counter":7,"timestamp":%d}' % BORN
        ),
    ),
    ("slaves-have-their-own-version", "5.3", [SLAVE, ns.QueryVersion(address="a1")], body(b"")),
    ("unknown-broker-is-changed", "5.3", [ns.QueryVersion()], ext(changed="false")),
    ("equal-version-is-unchanged", "5.3", [MASTER, ns.QueryVersion()], ext(changed="true")),
    (
        "departed-version-is-forgotten",
        "4.9",
        [MASTER, ns.Unregister(), ns.QueryVersion()],
        ext(changed="false"),
    ),
    ("kv-returns-what-was-put", "4.9", [ns.Kv(code=100), ns.Kv(code=101)], ext(value="w")),
    (
        "kv-lists-every-pair",
        "5.3",
        [ns.Kv(code=100), ns.Kv(code=219)],
        body(KvTable({}).encode()),
    ),
    ("kv-deletes", "4.9", [ns.Kv(code=100), ns.Kv(code=102), ns.Kv(code=101)], code(0, None)),
    ("kv-deletes", "5.3", [*PAIRS, ns.Kv(code=102), ns.Kv(code=219)], body(KvTable({}).encode())),
    ("kv-missing-is-explained", "5.3", [ns.Kv(code=100), ns.Kv(code=102), ns.Kv(code=101)], code(22, None)),
    (
        "settings-are-shown",
        "5.3",
        [ns.Configure(lines=("enableTopicList=false",)), ns.Configuration()],
        body(b"enableTopicList=true\n"),
    ),
    (
        "switched-off-lists-are-refused",
        "5.3",
        [MASTER, ns.Configure(lines=("enableAllTopicList=false",)), ns.Topics()],
        code(0, None),
    ),
    ("every-topic-is-listed", "4.9", [MASTER, ns.Topics()], lists(T0)),
    ("nothing-is-listed-twice", "4.9", [MASTER, ns.Topics()], lists(T0, T1, T0)),
    ("cluster-lists-its-topics", "5.3", [MASTER, ns.TopicsOfCluster()], lists(T1)),
    ("system-list-has-clusters-and-brokers", "4.9", [MASTER, ns.SystemTopics()], lists(C0, address=A0)),
    ("system-list-tells-an-address", "4.9", [MASTER, ns.SystemTopics()], lists(B0, C0)),
    ("empty-system-list-tells-no-address", "5.3", [ns.SystemTopics()], lists(address="")),
    ("unit-topics-are-listed", "4.9", [MASTER, ns.Unit(code=311)], lists(T0)),
    (
        "member-group-is-complete",
        "5.3",
        [MASTER, SLAVE, ns.MemberGroup()],
        body(
            b'{"brokerMemberGroup":{"brokerAddrs":{},"brokerName":"%b","cluster":"%b"}}'
            % (B0.encode(), C0.encode())
        ),
    ),
    ("unknown-group-is-empty", "5.3", [ns.MemberGroup()], code(1)),
    (
        "cluster-information-is-complete",
        "4.9",
        [MASTER, SLAVE, ns.ClusterInfo()],
        cluster(lambda info: info.broker_addr_table[B0].broker_addrs.pop(1)),
    ),
    (
        "broker-data-tells-acting-master",
        "4.9",
        [MASTER, ns.ClusterInfo()],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "enable_acting_master", False)),
    ),
    ("prime-slave-publishes", "5.3", [ACTING, ns.Topics()], lists()),
    ("deleted-topic-is-gone", "4.9", [MASTER, ns.DeleteTopic(), ns.Topics()], lists(T0, T1)),
    ("deletion-is-limited-to-its-cluster", "4.9", [MASTER, DROPS, ns.Topics()], lists(T0, T1)),
    ("lost-broker-leaves-nothing", "5.3", [MASTER, Close(conn="k0"), AWAY, ns.Topics()], lists(T0)),
    ("expired-broker-leaves-nothing", "4.9", [MASTER, Time(seconds=140), ns.Topics()], lists(T0)),
    (
        "registered-topic-is-routed",
        "5.3",
        [MASTER, ns.RegisterTopic(topic="T2", queues={"b0": (1, 1, 6, 0)}), ns.Route(topic="T2")],
        code(17),
    ),
    ("unknown-code-is-not-served", "5.3", [ns.Unknown()], code(0, None)),
    ("lone-topic-of-a-new-id-is-refused", "5.3", [ns.Register(topics={"T0": (4, 4, 6, 0)})], code(0, None)),
    ("unreadable-registration-is-refused", "4.9", [ns.Register(form="garbage")], code(0, None)),
    ("registration-is-accepted", "4.9", [MASTER], code(1)),
    ("unregistration-succeeds", "4.9", [ns.Unregister()], code(1)),
    (
        "refusal-is-not-for-good",
        "5.3",
        [ns.Register(conn="k0", topics={"T0": (4, 4, 6, 0)}), MASTER],
        code(1),
    ),
    (
        "greater-state-version-takes-the-id",
        "5.3",
        [MASTER, ns.Register(conn="k1", address="a1", topics=OTHER, state=4), ns.ClusterInfo()],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "broker_addrs", {0: A0})),
    ),
    (
        "wipe-keeps-the-numbers",
        "5.3",
        [MASTER, ns.Permission(), ns.Route()],
        route(_five_queues),
    ),
    (
        "greater-state-version-keeps-the-id",
        "5.3",
        [
            ns.Register(conn="k0", topics=QUEUES, state=5),
            ns.Register(conn="k1", address="a1", topics=OTHER, state=4),
            ns.ClusterInfo(),
        ],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "broker_addrs", {0: A1})),
    ),
    (
        "latest-address-holds-the-id",
        "4.9",
        [MASTER, ns.Register(conn="k1", address="a1", topics=OTHER), ns.ClusterInfo()],
        cluster(lambda info: setattr(info.broker_addr_table[B0], "broker_addrs", {0: A0})),
    ),
]
