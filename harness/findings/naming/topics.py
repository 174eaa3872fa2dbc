"""Queue data, what is given and taken of it, static topics, filter servers."""

from typing import Final

from harness.findings.naming.listed import ROUTED
from harness.findings.naming.small import Small, about, lone
from harness.program.steps import (
    Close,
    DeleteTopic,
    Permission,
    Register,
    RegisterTopic,
    Route,
    Time,
    Unregister,
)

__all__ = ["RULES"]

_QUEUES = "queue-data-are-exact changed-version-updates only-masters-change-queues promoted-slave-publishes"
_PERMITTED = (
    "write-permission-is-wiped write-permission-is-added wipe-keeps-the-numbers "
    "equal-version-changes-nothing-known acting-slave-gives-no-write-permission "
    f"leaving-master-takes-write-permission {_QUEUES}"
)
_DELETED = f"{ROUTED} deleted-topic-is-gone deletion-is-limited-to-its-cluster"
_ABSENT = (
    f"{ROUTED} absent-topics-are-kept unserved-topic-is-not-listed unserved-topic-has-no-route "
    "lease-ends expired-broker-leaves-nothing"
)
_MAPPED = "static-mappings-are-routed static-mapping-goes-with-its-queues"
_BEYOND_READ_AND_WRITE = ~6
_LONG = 100
"""Protocol seconds in which leases may end."""


def _left(small: Small) -> bool:
    is_over = small.has(Time, lambda one: one.seconds > _LONG)
    return small.has(Unregister) or small.has(Close) or is_over


def _leaves_topics_out(small: Small) -> bool:
    return any(one.id == other.id and set(one.topics) - set(other.topics) for one, other in small.again)


def _changes_queues_under_an_equal_version(small: Small) -> bool:
    return small.has_equal_version and any(
        one.topics[topic] != other.topics[topic]
        for one, other in small.again
        for topic in one.topics.keys() & other.topics.keys()
    )


def _permits(small: Small, code: int) -> bool:
    return small.has(Permission, lambda one: one.code == code)


def _has_other_bits(small: Small) -> bool:
    return small.has(
        Register, lambda one: any(queues[2] & _BEYOND_READ_AND_WRITE for queues in one.topics.values())
    )


def _names_no_cluster_of_ours(small: Small) -> bool:
    clusters = {one.cluster for one in small.registrations}
    return small.has(DeleteTopic, lambda one: one.cluster and one.cluster not in clusters)


def _epoch(one: Register) -> int:
    return max((epoch for _, epoch in one.mappings.values()), default=0)


RULES: Final = (
    *about(
        _DELETED,
        {
            "topic-deletion.nothing-named-changes-nothing": lambda p: p.has(
                DeleteTopic, lambda one: "topic" in one.drop
            ),
            "topic-deletion.empty-cluster-is-none": lambda p: p.has(
                DeleteTopic, lambda one: one.cluster == ""
            ),
            "topic-deletion.unknown-cluster-deletes-nothing": _names_no_cluster_of_ours,
            "topic-deletion.other-topics-stay": lambda p: (
                isinstance(p.last, Route) and p.has(DeleteTopic, lambda one: one.topic != p.said("topic"))
            ),
        },
    ),
    *about(
        "deleted-topic-is-gone",
        {
            "topic-deletion.cluster-means-all-its-brokers": lambda p: (
                p.has(DeleteTopic, lambda one: one.cluster) and p.has_several_names
            ),
        },
    ),
    *about(
        "deleted-topic-is-gone slaves-publish-nothing lone-slave-publishes-nothing",
        {"topic-deletion.slave-brings-nothing-back": lambda p: p.has(DeleteTopic) and p.has_slaves},
    ),
    *about(
        f"{ROUTED} equal-version-adds-what-is-missing",
        {
            "topic-deletion.changed-version-brings-topic-back": lambda p: (
                p.has(DeleteTopic) and p.has_changed_version
            ),
            "topic-deletion.equal-version-brings-topic-back": lambda p: (
                p.has(DeleteTopic) and p.has_equal_version
            ),
        },
    ),
    *about(
        _ABSENT,
        {
            "topic-deletion.absent-topics-of-others-stay": lambda p: (
                p.sets("deleteTopicWithBrokerRegistration") and p.has_several_names
            ),
            "topic-deletion.slave-deletes-nothing": lambda p: (
                p.sets("deleteTopicWithBrokerRegistration") and p.has_slaves
            ),
            "topic-deletion.static-mappings-prevent-deletion": lambda p: (
                p.sets("deleteTopicWithBrokerRegistration") and p.has(Register, lambda one: one.mappings)
            ),
            "topic-deletion.absent-topics-go-if-configured": lambda p: p.sets(
                "deleteTopicWithBrokerRegistration"
            ),
        },
    ),
    *about(
        "unserved-topic-has-no-route unserved-topic-is-not-listed route-has-every-broker "
        "lone-slave-publishes-nothing",
        {
            "topic-registration.unknown-broker-gives-nothing": lambda p: p.has(
                RegisterTopic, lambda one: not all(map(p.knows, one.queues))
            ),
        },
    ),
    *about(
        f"{ROUTED} lone-slave-publishes-nothing",
        {
            "topic-registration.nothing-given-changes-nothing": lambda p: p.has(
                RegisterTopic, lambda one: not one.queues
            ),
            "topic-registration.no-topic-changes-nothing": lambda p: p.has(
                RegisterTopic, lambda one: "topic" in one.drop
            ),
            "topic-registration.slaves-name-is-known": lambda p: p.has(RegisterTopic) and not p.has_masters,
        },
    ),
    *about(
        "topic-registration-answers-plainly",
        {
            "topic-registration.nothing-given-changes-nothing": lambda p: p.has(
                RegisterTopic, lambda one: one.form == "none"
            ),
            "topic-registration.malformed-body-is-refused": lambda p: p.has(
                RegisterTopic, lambda one: one.form != "json"
            ),
        },
    ),
    *about(
        f"{ROUTED} {_QUEUES}",
        {
            "topic-registration.equal-version-keeps-it": lambda p: (
                p.has(RegisterTopic) and p.has_equal_version
            ),
            "topic-registration.changed-version-replaces-it": lambda p: (
                p.has(RegisterTopic) and p.has_changed_version
            ),
        },
    ),
    *about(
        f"{ROUTED} absent-topics-are-kept",
        {
            "routes.older-clients-can-read": lambda p: (
                isinstance(p.last, Route) and p.last.announces is not None
            ),
            "registration.absent-topics-are-retained": lambda p: (
                _leaves_topics_out(p) and not (p.has(DeleteTopic) or _left(p))
            ),
        },
    ),
    *about(
        ROUTED,
        {
            "registration.demotion-keeps-topics": lambda p: any(
                one.id == 0 != other.id for one, other in p.again
            ),
        },
    ),
    *about(
        "leaving-master-takes-write-permission",
        {
            "acting-master.lost-connection-counts-as-leaving": lambda p: p.has(Close),
            "unregistration.leaving-slave-keeps-write-permission": lambda p: (
                p.has(Unregister) and p.has_masters and not p.leaves_otherwise(lambda one, _: not one.id)
            ),
            "unregistration.permissions-stay-without-acting-master": lambda p: (
                not p.has(Register, lambda one: one.acting)
            ),
        },
    ),
    *about(
        "unit-topics-are-listed unit-subscriptions-are-listed cluster-lists-its-topics",
        {"topic-registration.counts-as-the-brokers": lambda p: p.has(RegisterTopic)},
    ),
    *about(
        f"{_PERMITTED} {ROUTED}",
        {"write-permission.wipe-ends-with-the-broker": lambda p: p.has(Permission) and _left(p) and p.again},
    ),
    *about(
        _PERMITTED,
        {
            "write-permission.visible-on-every-connection": lambda p: p.has(Permission) and p.looked_before,
            "write-permission.slave-does-not-undo-wipe": lambda p: (
                p.has(Permission) and p.has_slaves and p.of_a_name and not p.again
            ),
            "write-permission.changed-version-undoes-wipe": lambda p: (
                p.has(Permission) and p.has_changed_version and not _left(p)
            ),
            "write-permission.equal-version-keeps-wipe": lambda p: (
                p.has(Permission) and p.has_equal_version and not _left(p)
            ),
            "write-permission.add-spares-other-brokers": lambda p: _permits(p, 327) and p.has_several_names,
            "write-permission.wipe-spares-other-brokers": lambda p: _permits(p, 205) and p.has_several_names,
            "write-permission.add-keeps-other-bits": lambda p: _permits(p, 327) and _has_other_bits(p),
            "registration.returning-master-restores-write-permission": lambda p: (
                p.has(Unregister) and p.again and p.has_slaves
            ),
        },
    ),
    *about(
        "permission-counts-topics",
        {
            "write-permission.unknown-broker-counts-zero": lambda p: not p.knows(p.said("broker")),
            "write-permission.add-counts-topics": lambda p: p.said("code") == 327,
        },
    ),
    *about(
        "changed-version-updates",
        {
            "registration.lower-data-version-updates-queues": lambda p: any(
                (other.timestamp, other.counter) < (one.timestamp, one.counter) for one, other in p.again
            ),
            "registration.state-version-change-updates-queues": lambda p: p.changes("state"),
        },
    ),
    *about(
        "static-mappings-are-routed",
        {"static-topics.mapping-returns-with-its-broker": lambda p: _left(p) and p.again},
    ),
    *about(
        _MAPPED,
        {
            "static-topics.mapping-goes-with-its-broker": _left,
            "static-topics.slave-registers-no-mapping": lambda p: p.has(
                Register, lambda one: one.id and one.mappings
            ),
            "static-topics.mapping-names-its-broker": lambda p: p.has(
                Register, lambda one: any(name != one.broker for name, _ in one.mappings.values())
            ),
            "static-topics.mapping-returns-with-its-topic": lambda p: any(
                other.mappings and not one.mappings and not set(other.mappings) <= set(one.topics)
                for one, other in p.again
            ),
            "static-topics.absent-mapping-is-kept": lambda p: any(
                one.mappings and not other.mappings for one, other in p.again
            ),
            "static-topics.epochs-are-not-ordered": lambda p: any(
                _epoch(other) < _epoch(one) for one, other in p.again
            ),
            "static-topics.equal-version-keeps-mapping": lambda p: p.has_equal_version,
            "static-topics.changed-version-replaces-mapping": lambda p: p.has_changed_version,
            "static-topics.mappings-of-brokers-are-merged": lambda p: (
                sum(bool(one.mappings) for one in p.registrations) > 1
            ),
        },
    ),
    *about(
        "static-mapping-goes-with-its-queues",
        {"routes.static-mapping-is-shown": lambda p: len(p.registrations) == 1 and not p.has(DeleteTopic)},
    ),
    *about(
        "filter-servers-are-routed",
        {
            "routes.filter-servers-of-every-address": lambda p: p.has(
                Register, lambda one: one.id and one.filters
            ),
            "registration.null-filter-servers-keep-the-list": lambda p: any(
                other.filters is None for _, other in p.again
            ),
            "registration.no-body-clears-filter-servers": lambda p: any(
                other.form == "none" for _, other in p.again
            ),
            "registration.old-version-keeps-filter-servers": lambda p: any(
                other.form == "bare" for _, other in p.again
            ),
            "registration.empty-filter-servers-clear-the-list": lambda p: any(
                one.filters and not other.filters for one, other in p.again
            ),
            "routes.zone-drops-filter-servers": lambda p: p.said("zone_mode"),
            "routes.filter-servers-of-its-brokers-only": lambda p: p.has_several_names,
        },
    ),
    *about(
        "queue-data-are-exact",
        {
            "topic-registration.slaves-name-is-known": lambda p: p.has(
                RegisterTopic, lambda one: any(map(p.has_slaves_alone, one.queues))
            ),
            "topic-registration.known-topic-is-changed": lambda p: p.has(
                RegisterTopic, lambda one: any(one.topic in known.topics for known in p.registrations)
            ),
            "topic-registration.topic-becomes-routable": lambda p: p.has(RegisterTopic),
            "registration.compressed-body-of-five-line-is-accepted": lambda p: p.has(
                Register, lambda one: one.form == "compressed-5"
            ),
            "registration.compressed-body-is-accepted": lambda p: p.has(
                Register, lambda one: one.form == "compressed"
            ),
            "registration.equal-data-version-keeps-queues": _changes_queues_under_an_equal_version,
        },
    ),
    *about(
        f"{_QUEUES} prime-slave-publishes",
        {
            "registration.non-acting-slave-publishes-with-permission": lambda p: (
                not p.has_masters and p.registrations[-1:] and p.registrations[-1].acting is False
            ),
        },
    ),
    *about(
        "acting-slave-gives-no-write-permission",
        {"registration.higher-slave-publishes-no-topic": lambda p: p.has_masters and lone(p)},
    ),
    *about(
        _QUEUES,
        {
            "registration.acting-slave-publishes-without-write-permission": lambda p: p.has(
                Register, lambda one: one.acting and one.id
            ),
        },
    ),
)
