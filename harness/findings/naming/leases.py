"""Leases and connections."""

from collections.abc import Callable
from typing import Final

from harness.findings.naming.small import LEASE, Small, about, lone
from harness.program.steps import Close, Heartbeat, QueryVersion, Reconnect, Register, Time, Unregister

__all__ = ["RULES"]

_LEASE_SECONDS = LEASE / 1000
_OUTLIVED = "lease-ends expired-broker-leaves-nothing"
_CUT_SHORT = "lease-lasts requests-harm-no-other-connection expired-connection-is-closed"
_HIT = "late-close-removes-no-fresh-registration unrelated-close-removes-nothing"
_LOST = "lost-connection-removes-its-brokers lost-broker-leaves-nothing"


def _waits(small: Small) -> bool:
    return small.has(Time)


def _one_ends(small: Small, such: Callable[[Register, Register], object]) -> bool:
    """Whether a lease ends, and that of another broker, of which more is true, goes on."""
    over, others = small.outlived
    return over is not None and any(such(over, one) for one in others)


def _over_closed_connections(small: Small) -> list[Register]:
    """Who registered over the connections that were closed."""
    closed = {(one.server, one.conn) for one in small.all(Close)}
    return [one for one in small.registrations if (one.server, one.conn) in closed]


def _asks_about_another_version(small: Small) -> bool:
    return small.asks_otherwise(
        lambda one, asked: (one.counter, one.timestamp) != (asked.counter, asked.timestamp)
    )


def _is_replaced(small: Small) -> bool:
    return any(
        (one.id, one.cluster) == (other.id, other.cluster) and one.address != other.address
        for one, other in small.of_a_name
    )


def _takes_back(small: Small) -> bool:
    """Whether a broker registers over a new connection, and then over the old one."""
    old = {(one.server, one.old) for one in small.all(Reconnect)}
    return any((other.server, other.conn) in old for _, other in small.again)


def _beats_elsewhere(small: Small) -> bool:
    """Whether a heartbeat comes over another connection than the registration of its address."""
    over = {(one.server, one.address, one.conn) for one in small.registrations}
    addresses = {(server, address) for server, address, _ in over}
    return small.has(
        Heartbeat,
        lambda one: (
            (one.server, one.address) in addresses and (one.server, one.address, one.conn) not in over
        ),
    )


RULES: Final = (
    *about(
        "lease-lasts requests-harm-no-other-connection",
        {
            "lease.master-lease-ends-alone": lambda p: _one_ends(
                p, lambda over, one: over.broker == one.broker and not over.id
            ),
            "lease.slave-lease-ends-alone": lambda p: _one_ends(
                p, lambda over, one: over.broker == one.broker and over.id
            ),
            "lease.lease-of-others-goes-on": lambda p: _one_ends(
                p, lambda over, one: over.broker != one.broker or over.id == one.id
            ),
        },
    ),
    *about(
        f"{_CUT_SHORT} {_HIT} {_LOST} system-list-has-clusters-and-brokers",
        {"lease.connection-is-taken-back": _takes_back},
    ),
    *about(
        _CUT_SHORT,
        {
            "lease.registered-timeout-is-not-known": lambda p: (
                _waits(p) and p.has(Register, lambda one: (one.lease or LEASE) < LEASE)
            ),
        },
    ),
    *about(
        f"{_OUTLIVED} {_CUT_SHORT} {_HIT}",
        {
            "lease.heartbeat-keeps-timeout": lambda p: p.has(Heartbeat, lambda one: one.lease),
            "lease.latest-registration-sets-timeout": lambda p: _waits(p) and p.changes("lease"),
        },
    ),
    *about(
        f"{_CUT_SHORT} {_HIT}",
        {
            "lease.heartbeat-does-not-move-broker": lambda p: _waits(p) and _beats_elsewhere(p),
            "lease.heartbeat-refreshes": lambda p: p.has(Heartbeat) and _waits(p),
            "lease.query-does-not-move-broker": lambda p: (
                _waits(p) and p.asks_otherwise(lambda one, asked: one.conn != asked.conn)
            ),
            "lease.different-version-query-refreshes": lambda p: _waits(p) and _asks_about_another_version(p),
            "lease.equal-version-query-refreshes": lambda p: _waits(p) and p.has(QueryVersion),
        },
    ),
    *about(
        _OUTLIVED,
        {
            "lease.different-version-query-does-not-refresh": _asks_about_another_version,
            "lease.registered-timeout-shortens": lambda p: p.has(
                Register, lambda one: (one.lease or LEASE) < LEASE
            ),
            "lease.registered-timeout-is-not-known": lambda p: p.has(Register, lambda one: one.lease),
        },
    ),
    *about(
        "lease-lasts requests-harm-no-other-connection",
        {
            "lease.registered-timeout-lengthens": lambda p: (
                _waits(p) and p.has(Register, lambda one: (one.lease or 0) > LEASE)
            ),
            "lease.new-connection-has-a-new-lease": lambda p: p.has(Reconnect) and p.again,
            "lease.registration-refreshes": lambda p: _waits(p) and p.again,
        },
    ),
    *about(
        f"{_LOST} {_HIT}",
        {"lease.lost-broker-of-other-cluster-is-removed": lambda p: p.has(Close) and p.changes_cluster},
    ),
    *about(
        f"{_HIT} departure-keeps-the-topics-of-the-rest cluster-information-is-complete "
        "registered-broker-is-listed",
        {
            "lease.lost-slave-leaves-master": lambda p: (
                lone(p) and p.has_masters and any(one.id for one in _over_closed_connections(p))
            ),
            "lease.lost-master-leaves-slaves": lambda p: (
                lone(p) and p.has_slaves and any(not one.id for one in _over_closed_connections(p))
            ),
            "lease.lost-broker-leaves-others": lambda p: (
                lone(p) and p.has_several_names and _over_closed_connections(p)
            ),
        },
    ),
    *about(
        _LOST,
        {
            "lease.reset-connection-removes-broker": lambda p: p.has(Close, lambda one: one.how == "reset"),
            "lease.half-closed-connection-removes-broker": lambda p: p.has(
                Close, lambda one: one.how == "half"
            ),
            "lease.shared-connection-removes-every-broker": lambda p: (
                not p.again and len({one.conn for one in p.registrations}) < len(p.registrations)
            ),
        },
    ),
    *about(
        _HIT,
        {
            "unregistration.same-address-under-other-name-is-kept": lambda p: p.leaves_otherwise(
                lambda one, gone: one.broker != gone.broker
            ),
            "unregistration.closing-afterwards-is-harmless": lambda p: p.has(Unregister),
        },
    ),
    *about(
        "departed-version-is-forgotten unknown-broker-is-changed",
        {
            "data-version.replaced-address-is-forgotten": _is_replaced,
            "lease.lost-broker-leaves-nothing": lambda p: p.has(Close) and lone(p) and not p.has(Unregister),
            "lease.expired-broker-leaves-nothing": lambda p: (
                p.has(Time, lambda one: one.seconds > _LEASE_SECONDS) and not p.has(Unregister)
            ),
        },
    ),
    *about(
        "departed-filter-servers-are-forgotten filter-servers-are-routed",
        {
            "lease.lost-broker-takes-filter-servers": lambda p: (
                p.again and (p.has(Close) or p.has(Time, lambda one: one.seconds > _LEASE_SECONDS))
            ),
            "unregistration.filter-servers-are-removed": lambda p: p.again and p.has(Unregister),
        },
    ),
)
