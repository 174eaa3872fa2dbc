"""Small programs, and the statements that they speak of."""

from pathlib import Path

import msgspec
import pytest

from harness.catalogue import catalogue
from harness.findings.naming import RULES, rule_of, statement_of
from harness.model.invariants import INVARIANTS
from harness.program.steps import (
    AnyStep,
    Close,
    ClusterInfo,
    Configuration,
    Configure,
    DeleteTopic,
    Heartbeat,
    Kv,
    MemberGroup,
    Permission,
    QueryVersion,
    Reconnect,
    Register,
    RegisterTopic,
    Restart,
    Route,
    SystemTopics,
    Time,
    Topics,
    TopicsOfCluster,
    Unregister,
    decode_step,
)

NAMED = Path(__file__).parents[2] / "quality" / "named.jsonl"

BROKER = Register(topics={"T0": (4, 4, 6, 0)})
ANOTHER = Register(broker="b1", address="a3", topics={"T0": (4, 4, 6, 0)})
ACTING = Configure(lines=("supportActingMaster=true",))
SLAVE = Register(address="a1", id=1, acting=True)
CHANGED = Register(topics={"T0": (8, 8, 6, 0)}, counter=2)
STATIC = Register(topics={"T0": (4, 4, 6, 0)}, mappings={"T0": ("b0", 1)})
LONG = Time(seconds=130)
ORDER = Kv(code=100, namespace="ORDER_TOPIC_CONFIG", topic="T0")
PRODUCT = Configure(lines=("productEnvName=a",))
ORDERED = Configure(lines=("orderMessageEnable=true",))

SPOKEN: list[tuple[str, str, list[AnyStep]]] = [
    (
        "lease-ends",
        "lease.registered-timeout-shortens",
        [Register(lease=60000), Time(seconds=75), ClusterInfo()],
    ),
    ("lease-lasts", "lease.registered-timeout-lengthens", [Register(lease=300000), LONG, ClusterInfo()]),
    ("lease-lasts", "lease.registration-refreshes", [BROKER, LONG, BROKER, LONG, ClusterInfo()]),
    (
        "lease-lasts",
        "lease.heartbeat-refreshes",
        [BROKER, Time(seconds=90), Heartbeat(), LONG, ClusterInfo()],
    ),
    (
        "requests-harm-no-other-connection",
        "lease.heartbeat-keeps-timeout",
        [BROKER, Heartbeat(lease=20000), Time(seconds=57)],
    ),
    (
        "requests-harm-no-other-connection",
        "lease.query-does-not-move-broker",
        [Register(conn="k0"), QueryVersion(), LONG],
    ),
    (
        "lost-connection-removes-its-brokers",
        "lease.reset-connection-removes-broker",
        [BROKER, Close(how="reset"), ClusterInfo()],
    ),
    (
        "late-close-removes-no-fresh-registration",
        "unregistration.closing-afterwards-is-harmless",
        [BROKER, Unregister(), BROKER, Close(), ClusterInfo()],
    ),
    (
        "registered-broker-is-listed",
        "cluster.changes-are-visible-at-once",
        [ClusterInfo(), BROKER, ClusterInfo()],
    ),
    (
        "name-is-in-its-clusters",
        "registration.name-is-listed-in-each-cluster",
        [BROKER, Register(address="a1", cluster="c1"), ClusterInfo()],
    ),
    (
        "cluster-information-is-complete",
        "registration.same-address-under-two-names",
        [BROKER, Register(broker="b1"), ClusterInfo()],
    ),
    ("member-group-is-complete", "cluster.member-group-ignores-cluster", [BROKER, MemberGroup(cluster="c1")]),
    ("acting-master-follows-registration", "routes.acting-master-is-shown", [BROKER, Route()]),
    (
        "no-slave-acts-unasked",
        "acting-master.writable-topics-show-real-ids",
        [BROKER, SLAVE, Unregister(), Permission(code=327), Route()],
    ),
    (
        "unknown-broker-is-changed",
        "data-version.found-by-cluster-and-address",
        [BROKER, QueryVersion(cluster="c1")],
    ),
    (
        "equal-version-is-unchanged",
        "data-version.different-counter-is-changed",
        [BROKER, QueryVersion(counter=2)],
    ),
    (
        "masters-topics-are-routed",
        "topic-deletion.changed-version-brings-topic-back",
        [BROKER, DeleteTopic(), CHANGED, Route()],
    ),
    (
        "deleted-topic-is-gone",
        "topic-deletion.empty-cluster-is-none",
        [BROKER, DeleteTopic(cluster=""), Route()],
    ),
    (
        "every-topic-is-listed",
        "topic-deletion.nothing-named-changes-nothing",
        [BROKER, DeleteTopic(drop=("topic",)), Topics()],
    ),
    (
        "expired-broker-leaves-nothing",
        "topic-deletion.absent-topics-go-if-configured",
        [Configure(lines=("deleteTopicWithBrokerRegistration=true",)), BROKER, LONG, Topics()],
    ),
    (
        "write-permission-is-wiped",
        "write-permission.changed-version-undoes-wipe",
        [BROKER, Permission(), CHANGED, Route()],
    ),
    (
        "changed-version-updates",
        "write-permission.wipe-ends-with-the-broker",
        [BROKER, Permission(), Unregister(), BROKER, Route()],
    ),
    ("permission-counts-topics", "write-permission.unknown-broker-counts-zero", [Permission()]),
    ("registration-is-accepted", "registration.empty-topic-table-registers-broker", [Register()]),
    (
        "departure-keeps-the-topics-of-the-rest",
        "unregistration.other-address-is-kept",
        [BROKER, Unregister(address="a4"), Route()],
    ),
    (
        "masters-topics-are-routed",
        "unregistration.broker-registers-anew",
        [BROKER, Unregister(), ANOTHER, Route()],
    ),
    ("every-topic-is-listed", "lease.expired-broker-comes-back", [BROKER, LONG, ANOTHER, Topics()]),
    (
        "route-has-every-id",
        "acting-master.is-a-master-to-the-zone-filter",
        [ACTING, SLAVE, Route(zone_mode="true", zone="z1")],
    ),
    (
        "queue-data-are-exact",
        "registration.acting-slave-publishes-without-write-permission",
        [msgspec.structs.replace(SLAVE, topics=BROKER.topics), Route()],
    ),
    (
        "returning-master-ends-acting",
        "acting-master.next-slave-takes-over",
        [BROKER, ACTING, SLAVE, Close(), Register(id=1, acting=True), Route()],
    ),
    ("kv-lists-every-pair", "kv.delete-removes", [Kv(code=100), Kv(code=102, key="y"), Kv(code=219)]),
    ("permission-counts-topics", "write-permission.add-counts-topics", [BROKER, Permission(code=327)]),
    ("changed-version-updates", "registration.lower-data-version-updates-queues", [CHANGED, BROKER, Route()]),
    (
        "queue-data-are-exact",
        "topic-registration.changed-version-replaces-it",
        [BROKER, RegisterTopic(queues={"b0": (4, 4, 6, 0)}), CHANGED, Route()],
    ),
    (
        "static-mappings-are-routed",
        "static-topics.mapping-names-its-broker",
        [Register(mappings={"T0": ("b1", 1)}), Route()],
    ),
    (
        "static-mappings-are-routed",
        "static-topics.mapping-returns-with-its-broker",
        [STATIC, Unregister(), STATIC, Route()],
    ),
    ("kv-put-is-answered", "kv.put-refusal-remark", [Kv(code=100, drop=("key",))]),
    ("kv-returns-what-was-put", "kv.put-overwrites", [Kv(code=100), Kv(code=100, value="w"), Kv()]),
    (
        "settings-are-shown",
        "configuration.refused-update-changes-nothing",
        [Configure(lines=("enableTopicList=false", "rocketmqHome=x")), Configuration()],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.case-of-a-key-counts",
        [Configure(lines=("ROCKETMQHOME=x",))],
    ),
    (
        "lease-lasts",
        "lease.slave-lease-ends-alone",
        [BROKER, Register(address="a1", id=1, lease=20000), Time(seconds=35), ClusterInfo()],
    ),
    (
        "lease-lasts",
        "lease.master-lease-ends-alone",
        [BROKER, Time(seconds=90), SLAVE, Time(seconds=60), ClusterInfo()],
    ),
    (
        "requests-harm-no-other-connection",
        "lease.lease-of-others-goes-on",
        [BROKER, ANOTHER, Time(seconds=60), Heartbeat(), Time(seconds=90)],
    ),
    (
        "lease-lasts",
        "lease.heartbeat-does-not-move-broker",
        [BROKER, Heartbeat(conn="k1"), Time(seconds=90), ClusterInfo()],
    ),
    (
        "lost-broker-leaves-nothing",
        "lease.lost-broker-of-other-cluster-is-removed",
        [BROKER, Register(address="a1", id=1, cluster="c1"), Close(conn="a1"), ClusterInfo()],
    ),
    (
        "registered-broker-is-listed",
        "lease.lost-slave-leaves-master",
        [BROKER, Register(address="a1", id=1, conn="k1"), Close(conn="k1"), ClusterInfo()],
    ),
    (
        "cluster-information-is-complete",
        "lease.lost-master-leaves-slaves",
        [Register(conn="k1"), SLAVE, Close(conn="k1"), ClusterInfo()],
    ),
    (
        "departure-keeps-the-topics-of-the-rest",
        "lease.lost-broker-leaves-others",
        [Register(conn="k1", topics=BROKER.topics), ANOTHER, Close(conn="k1"), Route()],
    ),
    (
        "filter-servers-are-routed",
        "lease.lost-broker-takes-filter-servers",
        [Register(filters=("f1",)), Close(), Register(filters=None), Route()],
    ),
    (
        "filter-servers-are-routed",
        "unregistration.filter-servers-are-removed",
        [Register(filters=("f1",)), Unregister(), Register(filters=None), Route()],
    ),
    ("kv-returns-what-was-put", "kv.text-survives", [Kv(code=100, value="a\\b"), Kv()]),
    ("kv-put-is-answered", "kv.any-name-is-a-name", [Kv(code=100, key="a/b")]),
    (
        "kv-returns-what-was-put",
        "kv.namespaces-are-apart",
        [Kv(code=100), Kv(code=100, namespace="n1", value="w"), Kv()],
    ),
    (
        "promoted-slave-publishes",
        "unregistration.success-without-id-takes-effect",
        [BROKER, SLAVE, Unregister(drop=("brokerId",)), Register(address="a1"), Route()],
    ),
    (
        "slave-learns-its-live-master",
        "registration.own-state-version-may-fall",
        [Register(id=1, state=1), Register(address="a1"), Register(id=1)],
    ),
    ("registration-is-accepted", "registration.optional-fields-may-be-absent", [Register(crc="none")]),
    ("unreadable-registration-is-refused", "registration.wrong-crc-is-refused", [Register(crc="wrong")]),
    (
        "unreadable-registration-is-refused",
        "registration.mapping-section-is-needed-from-413",
        [Register(form="compressed")],
    ),
    (
        "slave-learns-its-live-master",
        "registration.slave-learns-new-master-address",
        [BROKER, Register(address="a2"), SLAVE],
    ),
    (
        "stored-version-is-the-latest",
        "data-version.slaves-have-their-own",
        [BROKER, SLAVE, QueryVersion(address="a1")],
    ),
    (
        "equal-version-is-unchanged",
        "data-version.different-timestamp-is-changed",
        [Register(form="none"), QueryVersion(counter=0)],
    ),
    (
        "any-slave-may-act",
        "acting-master.each-name-for-itself",
        [ACTING, SLAVE, Register(broker="b1", address="a2", id=1, acting=True), Route()],
    ),
    (
        "departure-keeps-the-topics-of-the-rest",
        "unregistration.topics-survive-on-other-id",
        [Register(address="a1", id=1, topics=BROKER.topics), Unregister(address="a4"), Route()],
    ),
    (
        "departure-keeps-the-topics-of-the-rest",
        "unregistration.topics-survive-on-other-broker",
        [BROKER, ANOTHER, Unregister(), Route()],
    ),
    (
        "unregistration-removes-no-other",
        "unregistration.leaving-slave-keeps-master",
        [BROKER, SLAVE, Unregister(address="a1", id=1), ClusterInfo()],
    ),
    (
        "every-topic-is-listed",
        "lease.lost-broker-comes-back",
        [BROKER, Close(), BROKER, Topics()],
    ),
    (
        "lone-slave-publishes-nothing",
        "topic-registration.unknown-broker-gives-nothing",
        [SLAVE, RegisterTopic(queues={"b0": (4, 4, 6, 0), "b7": (4, 4, 6, 0)}), Route()],
    ),
    (
        "registered-topic-is-routed",
        "topic-registration.nothing-given-changes-nothing",
        [BROKER, RegisterTopic(), Route()],
    ),
    (
        "registered-topic-is-routed",
        "topic-registration.no-topic-changes-nothing",
        [BROKER, RegisterTopic(queues={"b0": (4, 4, 6, 0)}, drop=("topic",)), Route()],
    ),
    (
        "registered-topic-is-routed",
        "topic-registration.slaves-name-is-known",
        [SLAVE, RegisterTopic(queues={"b0": (4, 4, 6, 0)}), Route()],
    ),
    (
        "every-topic-is-listed",
        "topic-deletion.absent-topics-of-others-stay",
        [Configure(lines=("deleteTopicWithBrokerRegistration=true",)), BROKER, ANOTHER, Register(), Topics()],
    ),
    (
        "every-topic-is-listed",
        "topic-deletion.slave-deletes-nothing",
        [Configure(lines=("deleteTopicWithBrokerRegistration=true",)), BROKER, SLAVE, Topics()],
    ),
    (
        "deleted-topic-is-gone",
        "topic-deletion.cluster-means-all-its-brokers",
        [BROKER, ANOTHER, DeleteTopic(cluster="c0"), Route()],
    ),
    (
        "queue-data-are-exact",
        "topic-registration.known-topic-is-changed",
        [BROKER, RegisterTopic(queues={"b0": (2, 4, 6, 0)}), Route()],
    ),
    (
        "queue-data-are-exact",
        "topic-registration.topic-becomes-routable",
        [Register(), RegisterTopic(queues={"b0": (2, 4, 6, 0)}), Route()],
    ),
    (
        "queue-data-are-exact",
        "registration.compressed-body-is-accepted",
        [Register(form="compressed", topics=BROKER.topics), Route()],
    ),
    (
        "queue-data-are-exact",
        "registration.compressed-body-of-five-line-is-accepted",
        [Register(form="compressed-5", topics=BROKER.topics), Route()],
    ),
    (
        "queue-data-are-exact",
        "registration.equal-data-version-keeps-queues",
        [BROKER, Register(topics={"T0": (8, 8, 6, 0)}), Route()],
    ),
    (
        "changed-version-updates",
        "registration.non-acting-slave-publishes-with-permission",
        [SLAVE, Register(address="a2", id=1, acting=False, topics=BROKER.topics), Route()],
    ),
    (
        "departed-version-is-forgotten",
        "lease.lost-broker-leaves-nothing",
        [BROKER, Close(), QueryVersion()],
    ),
    ("unknown-broker-is-changed", "lease.expired-broker-leaves-nothing", [BROKER, LONG, QueryVersion()]),
    ("kv-returns-what-was-put", "kv.visible-on-every-connection", [Kv(), Kv(code=100), Kv()]),
    (
        "cluster-information-is-complete",
        "topic-registration.broker-data-are-ignored",
        [RegisterTopic(queues={"b0": (4, 4, 6, 0)}), ClusterInfo()],
    ),
    (
        "name-is-in-its-clusters",
        "unregistration.last-address-takes-name-and-cluster",
        [BROKER, Unregister(), ClusterInfo()],
    ),
    (
        "registration-is-accepted",
        "registration.single-topic-registration-of-known-id-is-accepted",
        [Register(id=1), Register(id=1, topics=BROKER.topics)],
    ),
    (
        "one-id-per-address",
        "registration.broker-ids-hold-64-bits",
        [Register(), Register(id=2**32 + 1), ClusterInfo()],
    ),
    (
        "unserved-topic-is-not-listed",
        "registration.version-37-sends-register-body",
        [Register(form="bare", announces=37, topics=BROKER.topics), Topics()],
    ),
    (
        "leaving-master-takes-write-permission",
        "unregistration.leaving-slave-keeps-write-permission",
        [msgspec.structs.replace(BROKER, acting=True), Unregister(address="a1"), Route()],
    ),
    (
        "queue-data-are-exact",
        "topic-registration.slaves-name-is-known",
        [ANOTHER, SLAVE, RegisterTopic(queues={"b0": (4, 4, 6, 0), "b1": (4, 4, 6, 0)}), Route()],
    ),
    (
        "write-permission-is-wiped",
        "write-permission.visible-on-every-connection",
        [BROKER, Route(), Permission(), Route()],
    ),
    (
        "masters-topics-are-routed",
        "registration.demotion-keeps-topics",
        [BROKER, Register(id=1), Route()],
    ),
    (
        "topic-registration-answers-plainly",
        "topic-registration.nothing-given-changes-nothing",
        [RegisterTopic(form="none")],
    ),
    (
        "acting-slave-gives-no-write-permission",
        "registration.higher-slave-publishes-no-topic",
        [BROKER, msgspec.structs.replace(SLAVE, topics=BROKER.topics), Route()],
    ),
    (
        "lease-lasts",
        "unregistration.same-address-under-other-name-is-kept",
        [BROKER, Unregister(broker="b1"), ClusterInfo()],
    ),
    (
        "late-close-removes-no-fresh-registration",
        "lease.connection-is-taken-back",
        [BROKER, Reconnect(), BROKER, Register(conn="q-old"), Close(), ClusterInfo()],
    ),
    (
        "system-list-has-clusters-and-brokers",
        "unregistration.name-leaves-every-cluster",
        [BROKER, Register(address="a1", cluster="c1"), Unregister(address="a1"), SystemTopics()],
    ),
    (
        "registration-is-accepted",
        "registration.topic-mappings-are-published",
        [Register(mappings={"T0": ("b0", 1)})],
    ),
    (
        "stored-version-is-the-latest",
        "data-version.numbers-have-64-bits",
        [Register(counter=2**53 + 1), QueryVersion()],
    ),
    ("kv-lists-every-pair", "kv.survives-a-restart", [Kv(code=100), Restart(), Kv(code=219)]),
    (
        "filter-servers-are-routed",
        "registration.empty-filter-servers-clear-the-list",
        [Register(filters=("f1",)), Register(no_filters=True), Route()],
    ),
    (
        "lease-ends",
        "lease.latest-registration-sets-timeout",
        [Register(lease=300000), Register(lease=60000), Time(seconds=75), ClusterInfo()],
    ),
    (
        "lease-lasts",
        "lease.new-connection-has-a-new-lease",
        [BROKER, Time(seconds=90), Reconnect(), BROKER, Time(seconds=60), ClusterInfo()],
    ),
    (
        "registered-broker-is-listed",
        "concurrency.returning-broker-is-served",
        [*([Reconnect(), BROKER] * 3), ClusterInfo()],
    ),
    (
        "every-topic-is-listed",
        "concurrency.reads-see-what-stays",
        [*(Register(address=f"a{n}") for n in range(7)), Topics()],
    ),
    (
        "masters-topics-are-routed",
        "registration.one-way-registration-takes-effect",
        [Register(oneway=True, topics=BROKER.topics), Route()],
    ),
    (
        "masters-topics-are-routed",
        "registration.old-version-sends-bare-wrapper",
        [Register(form="bare", topics=BROKER.topics), Route()],
    ),
    (
        "registered-broker-is-listed",
        "registration.no-body-registers-broker",
        [Register(form="none"), ClusterInfo()],
    ),
    (
        "registered-broker-is-listed",
        "registration.unknown-newer-version-is-accepted",
        [Register(announces=5000), ClusterInfo()],
    ),
    ("failure-has-a-remark", "registration.missing-broker-id-is-refused", [Register(drop=("brokerId",))]),
    (
        "member-group-is-complete",
        "cluster.member-group-without-name-is-empty",
        [BROKER, MemberGroup(drop=("brokerName",))],
    ),
    ("zone-follows-registration", "cluster.broker-data-tells-zone", [Register(zone="z1"), ClusterInfo()]),
    (
        "name-leaves-every-cluster",
        "unregistration.other-cluster-leaves-tables-in-agreement",
        [BROKER, Unregister(cluster="c1"), ClusterInfo()],
    ),
    (
        "topic-goes-with-its-last-broker",
        "topic-registration.topic-leaves-with-its-broker",
        [Register(), RegisterTopic(queues={"b0": (4, 4, 6, 0)}), Unregister(), Topics()],
    ),
    (
        "unregistration-succeeds",
        "unregistration.repetition-is-a-success",
        [BROKER, Unregister(), Unregister()],
    ),
    (
        "zone-filters-routes",
        "routes.zone-keeps-slaves-without-master",
        [SLAVE, Route(zone_mode="true", zone="z1")],
    ),
    (
        "order-configuration-is-routed",
        "order-topics.route-follows-changes",
        [BROKER, ORDERED, ORDER, Kv(code=102, namespace=ORDER.namespace, topic="T0"), Route()],
    ),
    (
        "cluster-lists-its-topics",
        "topic-lists.cluster-list-is-current",
        [TopicsOfCluster(), BROKER, TopicsOfCluster()],
    ),
    (
        "cluster-lists-its-topics",
        "topic-lists.name-in-two-clusters-is-in-both-lists",
        [BROKER, Register(address="a1", cluster="c1"), TopicsOfCluster(cluster="c1")],
    ),
    (
        "cluster-lists-its-topics",
        "topic-lists.unknown-cluster-lists-nothing",
        [BROKER, TopicsOfCluster(cluster="c1")],
    ),
    (
        "system-list-has-clusters-and-brokers",
        "topic-lists.enable-all-topic-list-leaves-the-rest",
        [BROKER, Configure(lines=("enableAllTopicList=false",)), SystemTopics()],
    ),
    (
        "deleted-topic-is-gone",
        "topic-deletion.slave-brings-nothing-back",
        [BROKER, DeleteTopic(), msgspec.structs.replace(SLAVE, topics=BROKER.topics), Route()],
    ),
    (
        "masters-topics-are-routed",
        "topic-deletion.equal-version-brings-topic-back",
        [BROKER, DeleteTopic(), BROKER, Route()],
    ),
    (
        "absent-topics-are-kept",
        "topic-deletion.static-mappings-prevent-deletion",
        [Configure(lines=("deleteTopicWithBrokerRegistration=true",)), STATIC, Register(counter=2), Route()],
    ),
    (
        "queue-data-are-exact",
        "topic-registration.equal-version-keeps-it",
        [BROKER, RegisterTopic(queues={"b0": (2, 2, 6, 0)}), BROKER, Route()],
    ),
    (
        "cluster-lists-its-topics",
        "topic-registration.counts-as-the-brokers",
        [BROKER, RegisterTopic(topic="T1", queues={"b0": (4, 4, 6, 0)}), TopicsOfCluster()],
    ),
    (
        "write-permission-is-wiped",
        "write-permission.slave-does-not-undo-wipe",
        [BROKER, Permission(), msgspec.structs.replace(SLAVE, topics=BROKER.topics), Route()],
    ),
    (
        "write-permission-is-wiped",
        "write-permission.equal-version-keeps-wipe",
        [BROKER, Permission(), BROKER, Route()],
    ),
    (
        "write-permission-is-added",
        "write-permission.add-spares-other-brokers",
        [BROKER, ANOTHER, Permission(code=327), Route()],
    ),
    (
        "write-permission-is-added",
        "write-permission.add-keeps-other-bits",
        [Register(topics={"T0": (4, 4, 13, 0)}), Permission(code=327), Route()],
    ),
    (
        "changed-version-updates",
        "registration.returning-master-restores-write-permission",
        [BROKER, SLAVE, Unregister(), BROKER, Route()],
    ),
    (
        "changed-version-updates",
        "registration.state-version-change-updates-queues",
        [BROKER, msgspec.structs.replace(BROKER, state=1), Route()],
    ),
    (
        "static-mappings-are-routed",
        "static-topics.changed-version-replaces-mapping",
        [STATIC, msgspec.structs.replace(STATIC, counter=2, mappings={"T0": ("b0", 2)}), Route()],
    ),
    (
        "filter-servers-are-routed",
        "routes.filter-servers-of-every-address",
        [BROKER, msgspec.structs.replace(SLAVE, filters=("f1",)), Route()],
    ),
    ("kv-put-is-answered", "kv.put-without-value-is-not-found", [Kv(code=100, drop=("value", "key")), Kv()]),
    ("kv-missing-is-not-found", "kv.list-of-missing-namespace", [Kv(code=219)]),
    (
        "update-of-settings-is-answered",
        "configuration.paths-cannot-be-changed",
        [Configure(lines=("kvConfigPath=x",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.escapes-are-resolved",
        [Configure(lines=("productEnvName=b\\u0063",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.separator-may-be-a-colon-or-a-blank",
        [Configure(lines=("productEnvName : b",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.later-pair-counts",
        [
            Configure(
                lines=(
                    "productEnvName=a",
                    "productEnvName=b",
                )
            )
        ],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.bytes-are-iso-8859-1",
        [Configure(lines=("productEnvName=é",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.boolean-is-true-in-any-case",
        [Configure(lines=("clusterTest=TRUE",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.blank-after-true-makes-it-false",
        [Configure(lines=("clusterTest=true ",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.blank-after-a-number-makes-it-bad",
        [Configure(lines=("serverCallbackExecutorThreads=7 ",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.signed-number-is-a-number",
        [Configure(lines=("serverCallbackExecutorThreads=+7",))],
    ),
    (
        "update-of-settings-is-answered",
        "configuration.bad-number-changes-nothing",
        [Configure(lines=("serverCallbackExecutorThreads=x",))],
    ),
    (
        "unrelated-close-removes-nothing",
        "unregistration.same-address-under-other-name-is-kept",
        [BROKER, Unregister(broker="b1"), Close(), ClusterInfo()],
    ),
    (
        "any-slave-may-act",
        "acting-master.lost-connection-counts-as-leaving",
        [BROKER, ACTING, SLAVE, Close(), Route()],
    ),
    (
        "stored-version-is-the-latest",
        "data-version.replaced-address-is-forgotten",
        [BROKER, Register(address="a1"), QueryVersion()],
    ),
    ("zone-filters-routes", "routes.zone-needs-both-fields", [BROKER, Route(zone="z1")]),
    (
        "settings-are-shown",
        "configuration.update-changes-what-is-shown",
        [PRODUCT, ORDERED, Configuration()],
    ),
]
OF_4_9: list[tuple[str, str, list[AnyStep]]] = [
    (
        "update-of-settings-is-answered",
        "configuration.text-is-not-trimmed",
        [Configure(lines=("productEnvName=b ",))],
    ),
    (
        "equal-version-is-unchanged",
        "data-version.state-version-is-not-known",
        [BROKER, QueryVersion(state=1)],
    ),
    (
        "requests-harm-no-other-connection",
        "lease.registered-timeout-is-not-known",
        [Register(lease=60000), Time(seconds=75)],
    ),
    ("lease-ends", "lease.registered-timeout-is-not-known", [Register(lease=300000), LONG, ClusterInfo()]),
]

PLAIN: list[tuple[str, list[AnyStep]]] = [
    ("lease-ends", [BROKER, LONG, ClusterInfo()]),
    ("lost-connection-removes-its-brokers", [BROKER, Close(), ClusterInfo()]),
    ("registered-broker-is-listed", [BROKER, ClusterInfo()]),
    ("masters-topics-are-routed", [BROKER, Route()]),
    ("write-permission-is-wiped", [BROKER, Permission(), Route()]),
    ("static-mappings-are-routed", [STATIC, Route()]),
    ("equal-version-is-unchanged", [BROKER, QueryVersion()]),
    ("kv-lists-every-pair", [Kv(code=100), Kv(code=100, key="y"), Kv(code=219)]),
    ("settings-are-shown", [Configure(lines=("productEnvName=x",)), Configuration()]),
]


@pytest.mark.parametrize(("invariant", "statement", "program"), SPOKEN, ids=[one for _, one, _ in SPOKEN])
def test_what_is_not_plain_in_a_small_program_is_what_it_is_about(
    invariant: str, statement: str, program: list[AnyStep]
) -> None:
    assert statement_of(program, invariant, "ns.x.y", "5.3") == f"ns.{statement}"


@pytest.mark.parametrize(("invariant", "program"), PLAIN, ids=[one for one, _ in PLAIN])
def test_a_plain_program_speaks_of_the_invariant_itself(invariant: str, program: list[AnyStep]) -> None:
    assert statement_of(program, invariant, "ns.x.y", "5.3") == "ns.x.y"


@pytest.mark.parametrize(
    ("invariant", "statement", "program"), OF_4_9, ids=[" ".join(one[:2]) for one in OF_4_9]
)
def test_what_is_of_one_line_alone_is_named_there(
    invariant: str, statement: str, program: list[AnyStep]
) -> None:
    assert statement_of(program, invariant, "ns.x.y", "4.9") == f"ns.{statement}"
    assert statement_of(program, invariant, "ns.x.y", "5.3") != f"ns.{statement}"


def test_what_a_profile_does_not_have_is_not_named() -> None:
    program = [BROKER, QueryVersion(counter=2), LONG, ClusterInfo()]
    other = "ns.lease.different-version-query-does-not-refresh"
    assert statement_of(program, "lease-ends", "ns.x.y", "4.9") == other
    assert statement_of(program, "lease-ends", "ns.x.y", "5.3") == "ns.x.y"


def test_rules_name_what_there_is() -> None:
    for rule in RULES:
        assert catalogue().statement(rule.statement) is not None, rule.statement
        assert rule.invariants <= INVARIANTS.keys(), rule.statement


def test_every_rule_is_the_first_for_some_program() -> None:
    fitting = [rule_of(program, invariant, "5.3") for invariant, _, program in SPOKEN]
    fitting += [rule_of(program, invariant, "4.9") for invariant, _, program in OF_4_9]
    for line in NAMED.read_bytes().splitlines():
        one = msgspec.json.decode(line)
        program = [decode_step(msgspec.json.encode(step)) for step in one["program"]]
        fitting.append(rule_of(program, one["invariant"], one["profile"]))
    assert [rule for rule in RULES if rule not in fitting] == []


def test_another_invariant_is_left_as_it_is() -> None:
    program = [Register(lease=60000), Time(seconds=75), ClusterInfo()]
    assert statement_of(program, "order-table-is-returned", "ns.x.y", "5.3") == "ns.x.y"
