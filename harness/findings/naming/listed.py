"""Who is listed, who acts for whom, which data versions are known, and who leaves."""

from collections.abc import Callable
from typing import Final

from harness.findings.naming.small import LEASE, Small, about, lone
from harness.program.steps import (
    Close,
    ClusterInfo,
    Heartbeat,
    Permission,
    QueryVersion,
    Reconnect,
    Register,
    RegisterTopic,
    Route,
    Time,
    Unregister,
)
from harness.wire.codes import V3_0_11, V5_0_0

__all__ = ["LISTED", "ROUTED", "RULES"]

LISTED: Final = (
    "registered-broker-is-listed cluster-information-is-complete route-has-every-id name-is-in-its-clusters "
    "registration-is-accepted"
)
ROUTED: Final = (
    "masters-topics-are-routed route-has-every-broker prime-slave-publishes every-topic-is-listed "
    "promoted-slave-publishes registered-topic-is-routed"
)
_LEAVING = (
    "unregistered-broker-is-gone unregistration-removes-no-other name-leaves-every-cluster "
    "topic-goes-with-its-last-broker departure-keeps-the-topics-of-the-rest unregistration-succeeds"
)
_LIVES = "lease-ends expired-broker-leaves-nothing lease-lasts requests-harm-no-other-connection"
_ACTING = "any-slave-may-act returning-master-ends-acting next-slave-acts acting-master-is-shown-in-time"
_VERSIONS = "unknown-broker-is-changed stored-version-is-the-latest equal-version-is-unchanged"
_MANY = 6
_KNOWN = 1000
"""No release has so great a `MQVersion`."""
_TWO_TO_31, _TWO_TO_53 = 2**31, 2**53
_IDENTIFIERS = frozenset({"brokerName", "brokerAddr", "clusterName"})


def _shares_an_address(small: Small) -> bool:
    brokers = {(one.server, one.address, one.broker) for one in small.registrations}
    return len({(server, address) for server, address, _ in brokers}) < len(brokers)


def _asks_for_another_cluster(small: Small) -> bool:
    return bool(small.registrations) and all(
        one.cluster != small.said("cluster") for one in small.registrations
    )


def _unregisters_an_unknown_address(small: Small) -> bool:
    addresses = {one.address for one in small.registrations}
    return small.has(Unregister, lambda gone: small.knows(gone.broker) and gone.address not in addresses)


def _unregisters(small: Small, such: Callable[[Register], object]) -> bool:
    """Whether one of whom more is true unregisters."""
    return small.leaves_otherwise(lambda one, gone: one.broker == gone.broker and such(one))


RULES: Final = (
    *about(
        f"{LISTED} {ROUTED} {_LEAVING} {_LIVES} unregistration-without-id",
        {
            "unregistration.success-without-id-takes-effect": lambda p: p.has(
                Unregister, lambda gone: "brokerId" in gone.drop
            ),
        },
    ),
    *about(
        f"{LISTED} {ROUTED} {_VERSIONS} one-id-per-address latest-address-holds-the-id",
        {
            "registration.broker-ids-hold-64-bits": lambda p: p.has(
                Register, lambda one: one.id >= _TWO_TO_31
            ),
        },
    ),
    *about(
        f"{LISTED} {ROUTED} unserved-topic-is-not-listed unserved-topic-has-no-route",
        {
            "registration.version-37-sends-register-body": lambda p: p.has(
                Register, lambda one: one.form == "bare" and one.announces == V3_0_11
            ),
        },
    ),
    *about(
        f"{LISTED} {ROUTED} slave-learns-its-live-master changed-version-updates",
        {
            "registration.own-state-version-may-fall": lambda p: any(
                (other.state or 0) < (one.state or 0) for one, other in p.again
            ),
        },
    ),
    *about(
        f"{LISTED} {ROUTED} acting-master-is-shown-in-time",
        {"concurrency.returning-broker-is-served": lambda p: len(p.all(Reconnect)) > 2},
    ),
    *about(
        f"{LISTED} {ROUTED}",
        {"concurrency.reads-see-what-stays": lambda p: len(p.registrations) > _MANY},
    ),
    *about(
        f"{LISTED} {_LEAVING}",
        {
            "cluster.changes-are-visible-at-once": lambda p: (
                isinstance(p.last, ClusterInfo) and p.looked_before
            ),
        },
    ),
    *about(
        f"{LISTED} {_LIVES}",
        {"registration.same-address-under-two-names": _shares_an_address},
    ),
    *about(
        LISTED,
        {"registration.name-is-listed-in-each-cluster": lambda p: p.changes_cluster},
    ),
    *about(
        f"{LISTED} {ROUTED}",
        {
            "registration.one-way-registration-takes-effect": lambda p: p.has(
                Register, lambda one: one.oneway
            ),
            "registration.compressed-body-of-five-line-is-accepted": lambda p: p.has(
                Register, lambda one: one.form == "compressed-5"
            ),
            "registration.compressed-body-is-accepted": lambda p: p.has(
                Register, lambda one: one.form == "compressed"
            ),
            "registration.old-version-sends-bare-wrapper": lambda p: p.has(
                Register, lambda one: one.form == "bare"
            ),
            "registration.no-body-registers-broker": lambda p: p.has(
                Register, lambda one: one.form == "none"
            ),
            "registration.ha-address-may-be-absent": lambda p: p.has(Register, lambda one: not one.ha),
            "registration.optional-fields-may-be-absent": lambda p: p.has(
                Register, lambda one: one.crc == "none"
            ),
        },
    ),
    *about(
        f"{LISTED} {ROUTED} unreadable-registration-is-refused failure-has-a-remark",
        {
            "registration.unknown-newer-version-is-accepted": lambda p: p.has(
                Register, lambda one: (one.announces or 0) > _KNOWN
            ),
            "registration.missing-broker-id-is-refused": lambda p: p.has(
                Register, lambda one: "brokerId" in one.drop
            ),
            "registration.identifiers-are-required": lambda p: p.has(
                Register, lambda one: _IDENTIFIERS.intersection(one.drop)
            ),
        },
    ),
    *about(
        "unreadable-registration-is-refused",
        {
            "registration.wrong-crc-is-refused": lambda p: p.has(Register, lambda one: one.crc == "wrong"),
            "registration.mapping-section-is-needed-from-413": lambda p: p.has(
                Register,
                lambda one: one.form == "compressed" and (one.announces or _KNOWN) >= V5_0_0,
            ),
        },
    ),
    *about(
        "slave-learns-its-live-master slave-learns-no-other-master",
        {
            "registration.slave-learns-new-master-address": lambda p: (
                len({one.address for one in p.registrations if not one.id}) > 1
            ),
        },
    ),
    *about(
        "name-is-in-its-clusters system-list-has-clusters-and-brokers",
        {
            "unregistration.name-leaves-every-cluster": lambda p: p.has(Unregister) and p.changes_cluster,
            "unregistration.last-address-takes-name-and-cluster": lambda p: (
                p.has(Unregister) and lone(p) and not p.has_several_names
            ),
        },
    ),
    *about(
        "registration-is-accepted",
        {
            "registration.topic-mappings-are-published": lambda p: p.has(Register, lambda one: one.mappings),
            "registration.single-topic-registration-of-known-id-is-accepted": lambda p: any(
                len(other.topics) == 1 for _, other in p.again
            ),
        },
    ),
    *about(
        "name-is-in-its-clusters",
        {
            "unregistration.cluster-stays-for-other-names": lambda p: (
                (p.has(Unregister) or p.has(Close)) and p.has_several_names
            ),
        },
    ),
    *about(
        f"{LISTED} member-group-is-complete",
        {
            "registration.heartbeat-registers-nothing": lambda p: p.has(Heartbeat) and not p.registrations,
            "topic-registration.broker-data-are-ignored": lambda p: (
                p.has(RegisterTopic) and not p.registrations
            ),
        },
    ),
    *about(
        "member-group-is-complete unknown-group-is-empty",
        {
            "cluster.member-group-without-name-is-empty": lambda p: (
                "brokerName" in getattr(p.last, "drop", ())
            ),
            "cluster.member-group-ignores-cluster": _asks_for_another_cluster,
            "cluster.member-group-follows-changes": lambda p: p.has(Unregister) or p.looked_before,
        },
    ),
    *about(
        "zone-follows-registration",
        {"cluster.broker-data-tells-zone": lambda p: isinstance(p.last, ClusterInfo) and lone(p)},
    ),
    *about(
        "acting-master-follows-registration",
        {"routes.acting-master-is-shown": lambda p: isinstance(p.last, Route) and lone(p)},
    ),
    *about(
        f"{_ACTING} no-slave-acts-unasked",
        {
            "acting-master.writable-topics-show-real-ids": lambda p: (
                p.has(Permission) or p.has(RegisterTopic)
            ),
        },
    ),
    *about(
        f"{_ACTING} no-slave-acts-unasked",
        {"acting-master.each-name-for-itself": lambda p: p.has_several_names},
    ),
    *about(
        _ACTING,
        {
            "acting-master.next-slave-takes-over": lambda p: (
                len({one.address for one in p.registrations if one.id}) > 1
            ),
        },
    ),
    *about(
        _ACTING,
        {"acting-master.lost-connection-counts-as-leaving": lambda p: p.has(Close)},
    ),
    *about(
        "zone-filters-routes route-has-every-id",
        {
            "acting-master.is-a-master-to-the-zone-filter": lambda p: (
                p.sets("supportActingMaster") and p.said("zone_mode")
            ),
        },
    ),
    *about(
        "registration-is-accepted",
        {
            "registration.empty-topic-table-registers-broker": lambda p: (
                not any(one.topics for one in p.registrations)
            ),
        },
    ),
    *about(
        f"{LISTED} member-group-is-complete system-list-has-clusters-and-brokers",
        {"data-version.unknown-broker-is-changed": lambda p: p.has(QueryVersion) and not p.registrations},
    ),
    *about(
        _VERSIONS,
        {
            "data-version.found-by-cluster-and-address": lambda p: p.asks_otherwise(
                lambda one, asked: one.cluster != asked.cluster
            ),
            "data-version.found-by-address": lambda p: p.asks_otherwise(
                lambda one, asked: (one.cluster, one.broker) != (asked.cluster, asked.broker)
            ),
            "data-version.slaves-have-their-own": lambda p: p.of_a_name and lone(p) and p.has_slaves,
            "data-version.replaced-address-is-forgotten": lambda p: p.of_a_name and lone(p),
        },
    ),
    *about(
        f"{_VERSIONS} undecodable-version-is-refused",
        {"data-version.no-body-is-changed": lambda p: p.said("form") == "none"},
    ),
    *about(
        "stored-version-is-the-latest equal-version-is-unchanged",
        {
            "data-version.numbers-have-64-bits": lambda p: p.has(
                Register, lambda one: max(one.counter, one.timestamp) >= _TWO_TO_53
            ),
            "data-version.query-stores-nothing": lambda p: len(p.all(QueryVersion)) > 1,
            "data-version.same-on-every-connection": lambda p: p.asks_otherwise(
                lambda one, asked: one.conn != asked.conn
            ),
        },
    ),
    *about(
        "equal-version-is-unchanged",
        {
            "data-version.state-version-counts": lambda p: p.asks_otherwise(
                lambda one, asked: one.state != asked.state
            ),
            "data-version.state-version-is-not-known": lambda p: p.asks_otherwise(
                lambda one, asked: one.state != asked.state
            ),
            "data-version.different-timestamp-is-changed": lambda p: (
                p.asks_otherwise(lambda one, asked: one.timestamp != asked.timestamp)
                # Without a body a broker has the counter 0, and the time at which its version was made.
                or (p.said("counter") == 0 and p.has(Register, lambda one: one.form == "none"))
            ),
            "data-version.different-counter-is-changed": lambda p: p.asks_otherwise(
                lambda one, asked: one.counter != asked.counter
            ),
        },
    ),
    *about(
        _LEAVING,
        {
            "unregistration.other-cluster-leaves-tables-in-agreement": lambda p: p.leaves_otherwise(
                lambda one, gone: one.cluster != gone.cluster
            ),
            "unregistration.matches-by-address-whatever-the-id": lambda p: p.leaves_otherwise(
                lambda one, gone: one.id != gone.id
            ),
            "unregistration.one-way-unregistration-takes-effect": lambda p: p.has(
                Unregister, lambda one: one.oneway
            ),
            "topic-registration.topic-leaves-with-its-broker": lambda p: p.has(RegisterTopic),
        },
    ),
    *about(
        "departure-keeps-the-topics-of-the-rest",
        {
            "unregistration.topics-survive-on-other-id": lambda p: p.has(Unregister) and not p.has_masters,
            "unregistration.topics-survive-on-other-broker": lambda p: (
                p.has(Unregister) and p.has_several_names
            ),
        },
    ),
    *about(
        "unregistration-removes-no-other cluster-information-is-complete registered-broker-is-listed",
        {
            "unregistration.leaving-slave-keeps-master": lambda p: (
                p.has_masters and _unregisters(p, lambda one: one.id)
            ),
        },
    ),
    *about(
        f"{_LEAVING} {LISTED} {_LIVES}",
        {
            "unregistration.other-address-is-kept": _unregisters_an_unknown_address,
            "unregistration.same-address-under-other-name-is-kept": lambda p: p.leaves_otherwise(
                lambda one, gone: one.broker != gone.broker
            ),
        },
    ),
    *about(
        f"{_LEAVING} lone-topic-of-a-new-id-is-refused",
        {
            "unregistration.any-connection-may-unregister": lambda p: p.leaves_otherwise(
                lambda one, gone: one.conn != gone.conn
            ),
            "unregistration.repetition-is-a-success": lambda p: len(p.all(Unregister)) > 1,
        },
    ),
    *about(
        f"{LISTED} {ROUTED} equal-version-adds-what-is-missing",
        {
            "unregistration.broker-registers-anew": lambda p: (
                p.has(Unregister) and (p.again or p.announces_again)
            ),
            "lease.lost-broker-comes-back": lambda p: p.has(Close) and p.again and p.announces_again,
            "lease.expired-broker-comes-back": lambda p: (
                p.has(Time, lambda one: one.seconds > LEASE / 1000) and p.announces_again
            ),
        },
    ),
)
