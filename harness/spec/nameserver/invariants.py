"""The invariants by name, and which of them a difference speaks of most plainly.

- An invariant is a sentence that must hold at all times; its statement in the catalogue says where it comes
  from. Names are stable: findings are found again by them.
- A violation is named by what differs, by what was done last to the name that it is about, and by what was
  asked. The first rule that fits is the one; the last ones fit always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from harness.catalogue import Feature, Profile, catalogue
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep
from harness.spec.nameserver.departures import WRITE
from harness.spec.observation import FAILURE_CODE, Difference, Presence


class Invariant(msgspec.Struct, frozen=True):
    """``statement`` is the id; ``newer`` that of the lines that another one holds for."""

    name: str
    statement: str
    newer: str | None = None

    def statement_in(self, profile: str) -> str:
        """The statement that it comes from."""
        newer = None if self.newer is None else catalogue().statement(self.newer)
        return newer.id if newer is not None and profile in newer.profiles else self.statement


_ALL = (
    # Who is registered.
    Invariant("registered-broker-is-listed", "ns.registration.master-appears-in-cluster-info"),
    Invariant("one-id-per-address", "ns.registration.one-id-per-address"),
    Invariant("latest-address-holds-the-id", "ns.registration.address-of-a-held-id-is-replaced"),
    Invariant(
        "greater-state-version-takes-the-id",
        "ns.registration.address-of-a-held-id-is-replaced",
        "ns.registration.higher-state-version-replaces-address",
    ),
    Invariant("greater-state-version-keeps-the-id", "ns.registration.lower-state-version-is-ignored"),
    Invariant("refused-registration-changes-nothing", "ns.registration.refused-registration-changes-nothing"),
    Invariant(
        "refusal-is-not-for-good",
        "ns.registration.master-appears-in-cluster-info",
        "ns.registration.refusal-does-not-poison-full-registration",
    ),
    Invariant("broken-registration-registers-nothing", "ns.errors.failed-registration-leaves-nothing"),
    Invariant("cluster-is-that-of-the-first", "ns.registration.cluster-is-fixed-by-first-registrant"),
    Invariant("name-is-in-its-clusters", "ns.cluster.lists-every-name"),
    Invariant("tables-agree", "ns.cluster.tables-agree"),
    Invariant(
        "acting-master-follows-registration", "ns.registration.acting-master-flag-follows-latest-registration"
    ),
    Invariant("zone-follows-registration", "ns.registration.zone-follows-latest-registration"),
    Invariant("read-your-writes", "ns.registration.effect-precedes-reply"),
    Invariant("slave-learns-its-live-master", "ns.registration.slave-learns-master-address"),
    Invariant("slave-without-master-learns-none", "ns.registration.slave-without-master-learns-no-address"),
    Invariant("slave-learns-no-other-master", "ns.registration.slave-learns-no-departed-master"),
    Invariant("master-learns-no-master", "ns.registration.master-learns-no-master-address"),
    # Topics and queue data.
    Invariant("masters-topics-are-routed", "ns.registration.master-topics-become-routable"),
    Invariant("queue-data-are-exact", "ns.routes.numbers-are-exact"),
    Invariant("only-masters-change-queues", "ns.registration.slave-changes-no-queues"),
    Invariant(
        "slaves-publish-nothing",
        "ns.registration.slave-publishes-no-topic-beside-master",
        "ns.registration.higher-slave-publishes-no-topic",
    ),
    Invariant("lone-slave-publishes-nothing", "ns.registration.slave-alone-publishes-no-topic"),
    Invariant("prime-slave-publishes", "ns.registration.lowest-slave-publishes-topics"),
    Invariant(
        "acting-slave-gives-no-write-permission",
        "ns.registration.acting-slave-publishes-without-write-permission",
    ),
    Invariant("equal-version-changes-nothing-known", "ns.registration.equal-data-version-keeps-queues"),
    Invariant(
        "equal-version-adds-what-is-missing",
        "ns.registration.equal-data-version-may-be-ignored",
        "ns.registration.equal-data-version-adds-missing-topics",
    ),
    Invariant("changed-version-updates", "ns.registration.changed-data-version-updates-queues"),
    Invariant("promoted-slave-publishes", "ns.registration.promoted-slave-publishes-topics"),
    Invariant("absent-topics-are-kept", "ns.registration.absent-topics-are-retained"),
    Invariant("other-brokers-are-left-alone", "ns.registration.topics-are-kept-per-broker"),
    # Leaving.
    Invariant(
        "tables-agree-after-another-cluster", "ns.unregistration.other-cluster-leaves-tables-in-agreement"
    ),
    Invariant("unregistered-broker-is-gone", "ns.unregistration.address-is-removed"),
    Invariant(
        "unregistration-removes-no-other",
        "ns.unregistration.unknown-name-keeps-addresses",
        "ns.unregistration.other-address-is-kept",
    ),
    Invariant("name-goes-with-its-last-address", "ns.unregistration.last-address-takes-name-and-cluster"),
    Invariant("topic-goes-with-its-last-broker", "ns.unregistration.last-address-takes-topics"),
    Invariant("name-leaves-every-cluster", "ns.unregistration.name-leaves-every-cluster"),
    Invariant("departure-keeps-the-topics-of-the-rest", "ns.unregistration.topics-survive-on-other-id"),
    Invariant(
        "leaving-master-takes-write-permission",
        "ns.unregistration.topics-survive-on-other-id",
        "ns.unregistration.leaving-acting-master-takes-write-permission",
    ),
    Invariant("replaced-address-is-known", "ns.data-version.replaced-address-is-known-while-it-is-connected"),
    Invariant("departed-version-is-forgotten", "ns.unregistration.data-version-is-forgotten"),
    Invariant("departed-filter-servers-are-forgotten", "ns.unregistration.filter-servers-are-removed"),
    Invariant("lost-connection-removes-its-brokers", "ns.lease.closed-connection-removes-broker"),
    Invariant("late-close-removes-no-fresh-registration", "ns.lease.older-connection-does-not-count"),
    Invariant("unrelated-close-removes-nothing", "ns.lease.unrelated-connection-removes-nothing"),
    Invariant("lost-broker-leaves-nothing", "ns.lease.lost-broker-leaves-nothing"),
    Invariant("expired-broker-leaves-nothing", "ns.lease.expired-broker-leaves-nothing"),
    Invariant("idle-connection-removes-its-brokers", "ns.lease.idle-connection-removes-broker"),
    Invariant("idle-connection-is-closed", "ns.lease.idle-connection-removes-broker"),
    Invariant("expired-connection-is-closed", "ns.lease.expired-connection-is-closed"),
    Invariant("lease-lasts", "ns.lease.lease-lasts-its-time"),
    Invariant("lease-ends", "ns.lease.expired-broker-is-removed"),
    Invariant("routes-do-not-survive-a-restart", "ns.routes.do-not-survive-a-restart"),
    # Routes.
    Invariant("route-has-every-id", "ns.routes.every-id-is-listed"),
    Invariant("route-has-every-broker", "ns.routes.every-broker-name-once"),
    Invariant("unserved-topic-has-no-route", "ns.routes.unknown-topic-does-not-exist"),
    Invariant("route-can-be-read", "ns.routes.standard-json-for-new-clients"),
    Invariant("route-names-its-brokers", "ns.routes.broker-data-names-itself"),
    Invariant("filter-servers-are-routed", "ns.registration.filter-servers-are-published"),
    Invariant("order-configuration-is-routed", "ns.order-topics.route-tells-configuration"),
    Invariant("static-mappings-are-routed", "ns.routes.static-mapping-is-shown"),
    Invariant("static-mapping-goes-with-its-queues", "ns.static-topics.mapping-goes-with-its-topic"),
    Invariant("acting-master-is-shown-in-time", "ns.acting-master.lowest-slave-is-shown-as-master"),
    Invariant("any-slave-may-act", "ns.acting-master.slave-that-never-had-a-master-acts"),
    Invariant("returning-master-ends-acting", "ns.acting-master.returning-master-ends-it"),
    Invariant("next-slave-acts", "ns.acting-master.next-slave-takes-over"),
    Invariant("no-slave-acts-unasked", "ns.acting-master.needs-consent-of-latest-registration"),
    Invariant("acting-master-is-in-routes-only", "ns.acting-master.is-in-routes-only"),
    Invariant("no-acting-master-unasked", "ns.acting-master.is-not-shown-by-default"),
    Invariant("zone-filters-routes", "ns.routes.zone-keeps-its-masters"),
    # Topics by request.
    Invariant("deleted-topic-is-gone", "ns.topic-deletion.topic-is-gone"),
    Invariant("deletion-is-limited-to-its-cluster", "ns.topic-deletion.cluster-limits-deletion"),
    Invariant("registered-topic-is-routed", "ns.topic-registration.topic-becomes-routable"),
    Invariant("topic-registration-answers-plainly", "ns.topic-registration.reply-is-plain"),
    Invariant("topic-deletion-answers-plainly", "ns.topic-deletion.reply-is-plain"),
    Invariant("write-permission-is-wiped", "ns.write-permission.wipe-clears-the-write-bit"),
    Invariant("write-permission-is-added", "ns.write-permission.add-sets-the-write-bit"),
    Invariant("added-permission-keeps-other-bits", "ns.write-permission.add-keeps-other-bits"),
    Invariant("wipe-keeps-the-numbers", "ns.write-permission.wipe-keeps-the-numbers"),
    Invariant("permission-counts-topics", "ns.write-permission.wipe-counts-topics"),
    # Other answers.
    Invariant("cluster-information-is-complete", "ns.cluster.lists-every-address"),
    Invariant("broker-data-names-its-cluster", "ns.cluster.broker-data-names-itself"),
    Invariant(
        "broker-data-tells-acting-master",
        "ns.cluster.broker-data-has-three-members",
        "ns.cluster.broker-data-tells-acting-master",
    ),
    Invariant(
        "unknown-group-is-empty",
        "ns.errors.codes-901-and-904-are-unknown",
        "ns.cluster.member-group-of-unknown-name-is-empty",
    ),
    Invariant(
        "member-group-is-complete",
        "ns.errors.codes-901-and-904-are-unknown",
        "ns.cluster.member-group-lists-addresses",
    ),
    Invariant("every-topic-is-listed", "ns.topics.every-topic-is-listed"),
    Invariant("unserved-topic-is-not-listed", "ns.topics.served-topic-stays-listed"),
    Invariant("nothing-is-listed-twice", "ns.topics.a-topic-is-listed-once"),
    Invariant("cluster-lists-its-topics", "ns.topic-lists.cluster-lists-its-topics"),
    Invariant("system-list-has-clusters-and-brokers", "ns.topic-lists.system-list-has-clusters-and-brokers"),
    Invariant("system-list-tells-an-address", "ns.topic-lists.system-list-has-an-address"),
    Invariant("empty-system-list-tells-no-address", "ns.topic-lists.system-list-of-nothing-is-empty"),
    Invariant("unit-topics-are-listed", "ns.topic-lists.unit-topics"),
    Invariant("unit-subscriptions-are-listed", "ns.topic-lists.unit-subscription-topics"),
    Invariant(
        "unit-subscriptions-of-others-are-listed", "ns.topic-lists.unit-subscription-topics-that-are-no-units"
    ),
    Invariant("stored-version-is-the-latest", "ns.data-version.latest-registration-is-stored"),
    Invariant("slaves-have-their-own-version", "ns.data-version.slaves-have-their-own"),
    Invariant("equal-version-is-unchanged", "ns.data-version.equal-version-is-unchanged"),
    Invariant("unknown-broker-is-changed", "ns.data-version.unknown-broker-is-changed"),
    Invariant("undecodable-version-is-refused", "ns.data-version.undecodable-body-is-refused"),
    Invariant("kv-returns-what-was-put", "ns.kv.get-returns-what-was-put"),
    Invariant("kv-lists-every-pair", "ns.kv.list-has-every-pair"),
    Invariant("kv-deletes", "ns.kv.delete-removes"),
    Invariant("kv-missing-is-not-found", "ns.kv.missing-key-is-not-found"),
    Invariant("kv-missing-is-explained", "ns.kv.not-found-remark"),
    Invariant("kv-refusal-is-explained", "ns.kv.put-refusal-remark"),
    Invariant("kv-put-is-answered", "ns.kv.put-needs-namespace-and-key"),
    Invariant("kv-delete-is-idempotent", "ns.kv.delete-is-idempotent"),
    Invariant("kv-survives-a-restart", "ns.kv.survives-a-restart"),
    Invariant("order-table-is-returned", "ns.registration.order-topic-table-is-in-reply"),
    Invariant("order-table-is-returned-where-there-is-one", "ns.order-topics.no-table-without-namespace"),
    Invariant("settings-are-shown", "ns.configuration.update-changes-what-is-shown"),
    Invariant("update-of-settings-is-answered", "ns.configuration.unknown-keys-are-ignored"),
    Invariant(
        "switched-off-lists-are-refused",
        "ns.topics.every-topic-is-listed",
        "ns.configuration.topics-are-listed-until-then",
    ),
    Invariant(
        "unknown-code-is-not-served",
        "ns.errors.unknown-code-is-never-served",
        "ns.errors.unknown-code-is-refused",
    ),
    Invariant("registration-is-accepted", "ns.registration.master-appears-in-cluster-info"),
    Invariant("unreadable-registration-is-refused", "ns.registration.undecodable-body-is-refused"),
    Invariant(
        "lone-topic-of-a-new-id-is-refused",
        "ns.registration.single-topic-first-registration-is-accepted",
        "ns.registration.single-topic-first-registration-is-refused",
    ),
    Invariant("unregistration-succeeds", "ns.unregistration.unknown-broker-is-a-success"),
    Invariant("unregistration-without-id", "ns.unregistration.success-without-id-takes-effect"),
    Invariant(
        "heartbeat-succeeds",
        "ns.errors.codes-901-and-904-are-unknown",
        "ns.lease.heartbeat-creates-nothing",
    ),
    Invariant("failure-has-a-remark", "ns.errors.failure-is-code-1-with-remark"),
    Invariant("failure-is-code-1", "ns.errors.failure-is-code-1-with-remark"),
    Invariant("cluster-lists-a-topic-once", "ns.topic-lists.cluster-lists-a-topic-once"),
    Invariant("system-list-has-a-name-once", "ns.topic-lists.system-list-has-a-name-once"),
    Invariant("topics-of-any-cluster-are-answered", "ns.topic-lists.unknown-cluster-lists-nothing"),
    Invariant("any-version-is-answered", "ns.data-version.unknown-broker-is-changed"),
    Invariant("requests-harm-no-other-connection", "ns.errors.failure-keeps-the-connection"),
    Invariant("answers-are-commands", "wire.sanity.well-formed-request-is-answered"),
    Invariant("every-request-is-answered", "ns.errors.missing-fields-keep-the-connection"),
)

INVARIANTS: Final = {one.name: one for one in _ALL}
"""By name."""

_SLAVE = ("slave", "equal slave")
_RENEWED = ("changed", "replaced", "outranking")
_DELETED = ("topic deleted", "topic deleted in a cluster")
_UNREGISTERED = ("unregistered", "unregistered elsewhere")
_LEFT = (*_UNREGISTERED, "unregistered without id", "closed", "lease ended", "idle")
_Kinds = tuple[type, ...]


class _Rule(msgspec.Struct, frozen=True):
    name: str
    aspects: tuple[str, ...] = ()
    presence: Presence | None = None
    was: tuple[str, ...] = ()
    steps: tuple[type, ...] = ()
    expected: str = ""
    """What must have been answered."""
    has: Feature | None = None
    lacks: Feature | None = None
    shows: int = 0
    """Bits that must be in the number that was answered."""

    def fits(self, one: Difference, was: str, step: AnyStep, line: Profile) -> bool:
        return (
            (not self.aspects or one.aspect in self.aspects)
            and (self.presence is None or one.presence == self.presence)
            and (not self.was or was in self.was)
            and (not self.steps or isinstance(step, self.steps))
            and (not self.expected or one.expected == self.expected)
            and (self.has is None or line.has(self.has))
            and (self.lacks is None or not line.has(self.lacks))
            and (not self.shows or (one.actual.isdecimal() and int(one.actual) & self.shows == self.shows))
        )


_RULES: Sequence[_Rule] = (
    # Answers of another code.
    _Rule("failure-is-code-1", (FAILURE_CODE,)),
    _Rule("failure-has-a-remark", ("remark",), "missing"),
    _Rule("unknown-code-is-not-served", ("code", "answer"), steps=(ns.Unknown,)),
    _Rule(
        "unknown-code-is-not-served",
        ("code", "answer"),
        steps=(ns.Heartbeat, ns.MemberGroup, ns.RegisterTopic),
        lacks="heartbeats",
    ),
    _Rule("lone-topic-of-a-new-id-is-refused", ("code",), was=("lone topic",), steps=(ns.Register,)),
    _Rule("unreadable-registration-is-refused", ("code",), was=("refused",), steps=(ns.Register,)),
    _Rule("greater-state-version-keeps-the-id", ("code",), was=("outranked",), steps=(ns.Register,)),
    _Rule("refusal-is-not-for-good", ("code",), was=("after a refusal",), steps=(ns.Register,)),
    _Rule("registration-is-accepted", ("code",), steps=(ns.Register,)),
    _Rule("unregistration-without-id", ("code",), was=("refused",), steps=(ns.Unregister,)),
    _Rule("unregistration-succeeds", ("code", "ext", "body"), steps=(ns.Unregister,)),
    _Rule("heartbeat-succeeds", ("code", "ext", "body"), steps=(ns.Heartbeat,)),
    _Rule("any-version-is-answered", ("code",), steps=(ns.QueryVersion,), expected="code 0"),
    _Rule("undecodable-version-is-refused", ("code",), steps=(ns.QueryVersion,)),
    _Rule("unknown-group-is-empty", ("code",), was=("", *_LEFT), steps=(ns.MemberGroup,)),
    _Rule("topics-of-any-cluster-are-answered", ("code",), steps=(ns.TopicsOfCluster,), expected="code 0"),
    _Rule(
        "switched-off-lists-are-refused", ("code", "remark"), steps=(ns.Topics, ns.TopicsOfCluster, ns.Unit)
    ),
    # Routes that are there or not.
    _Rule("routes-do-not-survive-a-restart", ("code",), "surplus", ("restarted",), (ns.Route,)),
    _Rule("deleted-topic-is-gone", ("code",), "surplus", ("topic deleted",), (ns.Route,)),
    _Rule("deletion-is-limited-to-its-cluster", ("code",), "surplus", _DELETED, (ns.Route,)),
    _Rule("expired-broker-leaves-nothing", ("code",), "surplus", ("lease ended",), (ns.Route,)),
    _Rule("lost-broker-leaves-nothing", ("code",), "surplus", ("closed",), (ns.Route,)),
    _Rule("idle-connection-removes-its-brokers", ("code",), "surplus", ("idle",), (ns.Route,)),
    _Rule("topic-goes-with-its-last-broker", ("code",), "surplus", _LEFT, (ns.Route,)),
    _Rule("lone-slave-publishes-nothing", was=("lone slave",)),
    _Rule("slaves-publish-nothing", ("code", "broker"), "surplus", _SLAVE, (ns.Route,)),
    _Rule("unserved-topic-has-no-route", ("code",), "surplus", steps=(ns.Route,)),
    _Rule("registered-topic-is-routed", ("code",), "missing", ("topic registered",), (ns.Route,)),
    _Rule("equal-version-adds-what-is-missing", ("code",), "missing", ("equal",), (ns.Route,)),
    _Rule("promoted-slave-publishes", ("code",), "missing", ("promoted",), (ns.Route,)),
    _Rule("prime-slave-publishes", ("code",), "missing", _SLAVE, (ns.Route,)),
    _Rule("departure-keeps-the-topics-of-the-rest", ("code",), "missing", _LEFT, (ns.Route,)),
    _Rule("masters-topics-are-routed", ("code",), steps=(ns.Route,)),
    # What a route says.
    _Rule("route-can-be-read", ("body",), steps=(ns.Route,)),
    _Rule("zone-filters-routes", ("broker", "queues"), was=("zoned",)),
    _Rule("any-slave-may-act", was=("acting without master",)),
    _Rule("returning-master-ends-acting", was=("acting beside a master",)),
    _Rule("next-slave-acts", was=("acting after another",)),
    _Rule("no-slave-acts-unasked", was=("acting unasked",), steps=(ns.Route,)),
    _Rule("acting-master-is-in-routes-only", was=("acting unasked",)),
    _Rule("acting-master-is-shown-in-time", ("address", "address twice"), was=("acting",), steps=(ns.Route,)),
    _Rule("order-configuration-is-routed", ("order",)),
    _Rule("static-mapping-goes-with-its-queues", ("mapping",), "surplus"),
    _Rule("static-mappings-are-routed", ("mapping",)),
    _Rule("departed-filter-servers-are-forgotten", ("filters",), "surplus", _LEFT),
    _Rule("filter-servers-are-routed", ("filters",)),
    _Rule("wipe-keeps-the-numbers", ("queue numbers",), was=("wiped", "made writable")),
    _Rule("write-permission-is-wiped", ("permission",), was=("wiped",)),
    _Rule("added-permission-keeps-other-bits", ("permission",), was=("made writable",), shows=WRITE),
    _Rule("write-permission-is-added", ("permission",), was=("made writable",)),
    _Rule("leaving-master-takes-write-permission", ("permission",), was=_LEFT),
    _Rule("acting-slave-gives-no-write-permission", ("permission",), was=("slave",), has="acting-master"),
    _Rule("equal-version-changes-nothing-known", ("queue numbers", "permission", "flag"), was=("equal",)),
    _Rule("only-masters-change-queues", ("queue numbers", "permission", "flag"), was=_SLAVE),
    _Rule("changed-version-updates", ("queue numbers", "permission", "flag"), was=_RENEWED),
    _Rule("promoted-slave-publishes", ("queue numbers", "permission", "flag", "queues"), was=("promoted",)),
    _Rule("queue-data-are-exact", ("queue numbers", "permission", "flag")),
    _Rule("slaves-publish-nothing", ("queues",), "surplus", _SLAVE),
    _Rule("deleted-topic-is-gone", ("queues", "broker"), "surplus", ("topic deleted",)),
    _Rule("deletion-is-limited-to-its-cluster", ("queues", "broker"), was=_DELETED),
    _Rule("registered-topic-is-routed", ("queues",), "missing", ("topic registered",)),
    _Rule("equal-version-adds-what-is-missing", ("queues",), "missing", ("equal",)),
    _Rule("absent-topics-are-kept", ("queues",), "missing", _RENEWED),
    _Rule("expired-broker-leaves-nothing", ("queues",), "surplus", ("lease ended",)),
    _Rule("lost-broker-leaves-nothing", ("queues",), "surplus", ("closed",)),
    _Rule("topic-goes-with-its-last-broker", ("queues",), "surplus", _LEFT),
    _Rule("route-has-every-broker", ("queues",)),
    # Who is listed.
    _Rule("one-id-per-address", ("address twice",)),
    _Rule("one-id-per-address", ("address",), "surplus", ("promoted", "demoted", "moved")),
    _Rule("greater-state-version-keeps-the-id", ("address", "broker"), was=("outranked",)),
    _Rule("refused-registration-changes-nothing", ("address", "broker"), was=("lone topic",)),
    _Rule("broken-registration-registers-nothing", ("address", "broker"), was=("refused",)),
    _Rule("greater-state-version-takes-the-id", ("address",), "other", ("outranking",)),
    _Rule("latest-address-holds-the-id", ("address",), "other", ("replaced", "promoted")),
    _Rule("lease-ends", ("address", "broker"), "surplus", ("lease ended",)),
    _Rule("idle-connection-removes-its-brokers", ("address", "broker"), "surplus", ("idle",)),
    _Rule("lost-connection-removes-its-brokers", ("address", "broker"), "surplus", ("closed",)),
    _Rule("unregistered-broker-is-gone", ("address", "broker"), "surplus", _LEFT),
    _Rule("unregistration-removes-no-other", ("address", "broker"), "missing", _UNREGISTERED),
    _Rule(
        "late-close-removes-no-fresh-registration",
        ("address", "broker"),
        "missing",
        ("closed", "late closed"),
    ),
    _Rule("unrelated-close-removes-nothing", ("address", "broker"), "missing", ("other closed",)),
    _Rule("lease-lasts", ("address", "broker"), "missing", ("time", "lease ended", "idle")),
    _Rule("no-acting-master-unasked", ("address",), "surplus", _SLAVE, (ns.Route,), has="acting-master"),
    _Rule("route-has-every-id", ("address",), steps=(ns.Route,)),
    _Rule("route-has-every-broker", ("broker",), steps=(ns.Route,)),
    _Rule("route-names-its-brokers", ("cluster",), steps=(ns.Route,)),
    _Rule("member-group-is-complete", steps=(ns.MemberGroup,)),
    _Rule("expired-broker-leaves-nothing", ("clusters",), "surplus", ("lease ended",)),
    _Rule("lost-broker-leaves-nothing", ("clusters",), "surplus", ("closed",)),
    _Rule("tables-agree-after-another-cluster", ("clusters",), was=("unregistered elsewhere",)),
    _Rule("name-leaves-every-cluster", ("clusters",), "surplus", _LEFT),
    _Rule("name-is-in-its-clusters", ("clusters",)),
    _Rule("broker-data-names-its-cluster", ("cluster",), "missing"),
    _Rule("cluster-is-that-of-the-first", ("cluster",)),
    _Rule("broker-data-tells-acting-master", ("acting",), "missing", steps=(ns.ClusterInfo,)),
    _Rule("broker-data-tells-acting-master", ("acting",), lacks="acting-master"),
    _Rule("acting-master-follows-registration", ("acting",)),
    _Rule("zone-follows-registration", ("zone",)),
    _Rule("cluster-information-is-complete", ("address",), "missing", steps=(ns.ClusterInfo,)),
    _Rule("registered-broker-is-listed", ("address", "broker"), "missing"),
    _Rule("cluster-information-is-complete", steps=(ns.ClusterInfo,)),
    # Lists.
    _Rule("cluster-lists-a-topic-once", ("twice",), steps=(ns.TopicsOfCluster,)),
    _Rule("system-list-has-a-name-once", ("twice",), steps=(ns.SystemTopics,)),
    _Rule("nothing-is-listed-twice", ("twice",)),
    _Rule("cluster-lists-its-topics", steps=(ns.TopicsOfCluster,)),
    _Rule("empty-system-list-tells-no-address", ("brokerAddr",), "surplus"),
    _Rule("system-list-tells-an-address", ("brokerAddr",)),
    _Rule("system-list-has-clusters-and-brokers", steps=(ns.SystemTopics,)),
    _Rule("deleted-topic-is-gone", ("listed",), "surplus", ("topic deleted",), (ns.Topics,)),
    _Rule("deletion-is-limited-to-its-cluster", ("listed",), was=_DELETED, steps=(ns.Topics,)),
    _Rule("expired-broker-leaves-nothing", ("listed",), "surplus", ("lease ended",), (ns.Topics,)),
    _Rule("lost-broker-leaves-nothing", ("listed",), "surplus", ("closed",), (ns.Topics,)),
    _Rule("topic-goes-with-its-last-broker", ("listed",), "surplus", _LEFT, (ns.Topics,)),
    _Rule("unserved-topic-is-not-listed", ("listed",), "surplus", steps=(ns.Topics,)),
    _Rule("prime-slave-publishes", ("listed",), "missing", _SLAVE, (ns.Topics,)),
    _Rule("every-topic-is-listed", steps=(ns.Topics,)),
    # Answers to registrations.
    _Rule("slave-without-master-learns-none", was=("slave without master",)),
    _Rule("slave-learns-no-other-master", ("masterAddr", "haServerAddr"), "surplus", _SLAVE),
    _Rule("slave-learns-its-live-master", ("masterAddr", "haServerAddr"), "missing"),
    _Rule("slave-learns-its-live-master", ("masterAddr", "haServerAddr"), "other"),
    _Rule("master-learns-no-master", ("masterAddr", "haServerAddr")),
    _Rule("order-table-is-returned-where-there-is-one", ("body",), "surplus", steps=(ns.Register,)),
    _Rule("order-table-is-returned", steps=(ns.Register,)),
    # Data versions.
    _Rule("replaced-address-is-known", ("version",), "missing", _LEFT),
    _Rule("departed-version-is-forgotten", ("version", "changed"), was=_LEFT),
    _Rule("slaves-have-their-own-version", ("version",), "missing", _SLAVE),
    _Rule("unknown-broker-is-changed", ("changed",), was=("",)),
    _Rule("equal-version-is-unchanged", ("changed",)),
    _Rule("unknown-broker-is-changed", ("version",), "surplus"),
    _Rule("stored-version-is-the-latest", steps=(ns.QueryVersion,)),
    # What is kept.
    _Rule("kv-survives-a-restart", was=("restarted",), steps=(ns.Kv,)),
    _Rule("kv-deletes", ("pair", "table"), "missing", ("deleted",)),
    _Rule("kv-lists-every-pair", ("pair", "table")),
    _Rule("settings-are-shown", steps=(ns.Configuration,)),
    _Rule("update-of-settings-is-answered", steps=(ns.Configure,)),
    _Rule("permission-counts-topics", steps=(ns.Permission,)),
    _Rule("topic-deletion-answers-plainly", steps=(ns.DeleteTopic,)),
    _Rule("topic-registration-answers-plainly", steps=(ns.RegisterTopic,)),
)

_UNITS = {
    311: "unit-topics-are-listed",
    312: "unit-subscriptions-are-listed",
    313: "unit-subscriptions-of-others-are-listed",
}
_PAIRS = {
    100: "kv-put-is-answered",
    101: "kv-returns-what-was-put",
    102: "kv-delete-is-idempotent",
    219: "kv-lists-every-pair",
}


def invariant_of(one: Difference, was: str, step: AnyStep, line: Profile) -> Invariant:
    """The invariant that a difference in the answer to ``step`` speaks of; ``was`` says what was done last to
    the name that it is about.
    """
    for rule in _RULES:
        if rule.fits(one, was, step, line):
            return INVARIANTS[rule.name]
    if isinstance(step, ns.Unit):
        return INVARIANTS[_UNITS[step.code]]
    if isinstance(step, ns.Kv):
        if one.aspect == "remark" and step.code in (101, 219):
            return INVARIANTS["kv-missing-is-explained"]
        if one.aspect == "remark" and step.code == 100:
            return INVARIANTS["kv-refusal-is-explained"]
        if step.code == 101 and one.presence == "surplus":
            return INVARIANTS["kv-deletes" if was else "kv-missing-is-not-found"]
        return INVARIANTS[_PAIRS[step.code]]
    return INVARIANTS["read-your-writes"]
