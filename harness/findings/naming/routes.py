"""Routes as they are asked for, and lists of topics."""

from typing import Final

from harness.findings.naming.listed import ROUTED
from harness.findings.naming.small import Small, about
from harness.program.steps import (
    Kv,
    Register,
    Route,
    SystemTopics,
    Topics,
    TopicsOfCluster,
    Unit,
)

__all__ = ["RULES"]

_ORDER = "ORDER_TOPIC_CONFIG"
"""Namespace of the configuration of order topics (both lines)."""


def _has_several_flags(small: Small) -> bool:
    """Of a topic."""
    return small.has(
        Register,
        lambda one: any(queues[3] & (queues[3] - 1) for queues in one.topics.values()),
    )


def _names_half_a_zone(small: Small) -> bool:
    return isinstance(small.last, Route) and (small.last.zone is None) != (small.last.zone_mode is None)


def _reads_around_registrations(small: Small) -> bool:
    return isinstance(small.last, Route) and small.looked_before and small.has_only(Route, Register)


RULES: Final = (
    *about(
        f"{ROUTED} route-has-every-id failure-has-a-remark",
        {
            "routes.zone-needs-both-fields": _names_half_a_zone,
            "routes.zone-without-brokers-is-a-success": lambda p: (
                p.said("zone_mode") and not any(one.zone for one in p.registrations) and p.has_masters
            ),
            "routes.reads-see-every-registration": _reads_around_registrations,
        },
    ),
    *about(
        "route-has-every-id",
        {"routes.flavours-are-equal": lambda p: p.said("announces") is not None},
    ),
    *about(
        "unserved-topic-has-no-route",
        {
            "routes.absent-topic-does-not-exist": lambda p: "topic" in getattr(p.last, "drop", ()),
            "order-topics.configuration-makes-no-route": lambda p: p.has(Kv) and not p.registrations,
        },
    ),
    *about(
        "route-can-be-read",
        {
            "static-topics.strict-clients-can-read-mappings": lambda p: p.has(
                Register, lambda one: one.mappings
            ),
            "routes.non-ascii-names-survive": lambda p: p.has(
                Register, lambda one: not "".join((one.broker, *one.topics)).isascii()
            ),
        },
    ),
    *about(
        "static-mappings-are-routed",
        {"routes.zone-keeps-mappings-of-its-brokers": lambda p: p.said("zone_mode")},
    ),
    *about(
        "zone-filters-routes",
        {
            "routes.zone-keeps-its-masters": lambda p: any(
                one.zone and one.zone != p.said("zone") and one.zone.lower() == p.said("zone")
                for one in p.registrations
            ),
            "routes.zone-needs-both-fields": lambda p: (
                isinstance(p.last, Route) and None in (p.last.zone, p.last.zone_mode)
            ),
            "routes.zone-mode-ignores-case": lambda p: p.said("zone_mode") in ("TRUE", "True"),
            "routes.zone-keeps-slaves-without-master": lambda p: (
                p.registrations and all(one.id for one in p.registrations)
            ),
        },
    ),
    *about(
        "order-configuration-is-routed",
        {
            "order-topics.other-namespaces-do-not-count": lambda p: (
                not p.has(Kv, lambda one: one.namespace == _ORDER)
            ),
            "routes.no-order-configuration-by-default": lambda p: not p.sets("orderMessageEnable"),
            "configuration.order-is-shown-from-then-on": lambda p: (
                p.sets("orderMessageEnable") and p.looked_before
            ),
            "order-topics.both-flavours-tell-it": lambda p: (
                p.said("standard") is not None or p.said("announces") is not None
            ),
            "order-topics.route-follows-changes": lambda p: len(p.all(Kv)) > 1,
        },
    ),
    *about(
        "order-table-is-returned order-table-is-returned-where-there-is-one",
        {
            "order-topics.table-is-held-back-if-configured": lambda p: p.sets(
                "returnOrderTopicConfigToBroker"
            ),
        },
    ),
    *about(
        "nothing-is-listed-twice",
        {
            "topic-lists.cluster-lists-a-topic-once": lambda p: isinstance(p.last, TopicsOfCluster),
            "topic-lists.system-list-has-a-name-once": lambda p: isinstance(p.last, SystemTopics),
        },
    ),
    *about(
        "switched-off-lists-are-refused",
        {
            "topic-lists.enable-topic-list-switches-kinds-off": lambda p: (
                p.sets("enableTopicList") and isinstance(p.last, Unit)
            ),
        },
    ),
    *about(
        "every-topic-is-listed unserved-topic-is-not-listed",
        {"topics.list-is-current": lambda p: isinstance(p.last, Topics) and p.looked_before},
    ),
    *about(
        "cluster-lists-its-topics",
        {
            "topic-lists.cluster-without-topics-lists-nothing": lambda p: (
                not any(one.topics for one in p.registrations)
            ),
            "topic-lists.cluster-list-is-current": lambda p: p.looked_before,
            "topic-lists.name-in-two-clusters-is-in-both-lists": lambda p: p.changes_cluster,
            "topic-lists.unknown-cluster-lists-nothing": lambda p: all(
                one.cluster != p.said("cluster") for one in p.registrations
            ),
        },
    ),
    *about(
        "system-list-has-clusters-and-brokers",
        {
            "topic-lists.enable-topic-list-leaves-the-rest": lambda p: p.sets("enableTopicList"),
            "topic-lists.enable-all-topic-list-leaves-the-rest": lambda p: p.sets("enableAllTopicList"),
            "topic-lists.system-list-is-current": lambda p: p.looked_before,
        },
    ),
    *about(
        "unit-topics-are-listed unit-subscriptions-are-listed unit-subscriptions-of-others-are-listed",
        {
            "topic-lists.brokers-that-agree-decide": lambda p: p.announces_again,
            "topic-lists.other-bits-do-not-count": _has_several_flags,
        },
    ),
)
