"""Small programs, and the statements that they speak of."""

import msgspec
import pytest

from harness.catalogue import catalogue
from harness.findings.naming import RULES, statement_of
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
    Register,
    RegisterTopic,
    Route,
    Time,
    Topics,
    Unregister,
)

BROKER = Register(topics={"T0": (4, 4, 6, 0)})
ANOTHER = Register(broker="b1", address="a3", topics={"T0": (4, 4, 6, 0)})
ACTING = Configure(lines=("supportActingMaster=true",))
SLAVE = Register(address="a1", id=1, acting=True)
CHANGED = Register(topics={"T0": (8, 8, 6, 0)}, counter=2)
STATIC = Register(topics={"T0": (4, 4, 6, 0)}, mappings={"T0": ("b0", 1)})
LONG = Time(seconds=130)

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


def test_what_a_profile_does_not_have_is_not_named() -> None:
    program = [BROKER, QueryVersion(counter=2), LONG, ClusterInfo()]
    other = "ns.lease.different-version-query-does-not-refresh"
    assert statement_of(program, "lease-ends", "ns.x.y", "4.9") == other
    assert statement_of(program, "lease-ends", "ns.x.y", "5.3") == "ns.x.y"


def test_rules_name_what_there_is() -> None:
    for rule in RULES:
        assert catalogue().statement(rule.statement) is not None, rule.statement
        assert rule.invariants <= INVARIANTS.keys(), rule.statement


def test_another_invariant_is_left_as_it_is() -> None:
    program = [Register(lease=60000), Time(seconds=75), ClusterInfo()]
    assert statement_of(program, "order-table-is-returned", "ns.x.y", "5.3") == "ns.x.y"
