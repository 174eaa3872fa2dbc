"""Leases and connections."""

from typing import Final

from harness.findings.naming.small import Small, about
from harness.program.steps import Close, Heartbeat, QueryVersion, Reconnect, Register, Time, Unregister

__all__ = ["RULES"]

_LEASE = 120_000
"""Milliseconds (`BrokerLiveInfo`, both lines)."""
_OUTLIVED = "lease-ends expired-broker-leaves-nothing"
_CUT_SHORT = "lease-lasts requests-harm-no-other-connection expired-connection-is-closed"
_HIT = "late-close-removes-no-fresh-registration unrelated-close-removes-nothing"
_LOST = "lost-connection-removes-its-brokers lost-broker-leaves-nothing"


def _waits(small: Small) -> bool:
    return small.has(Time)


def _asks_about_another_version(small: Small) -> bool:
    return small.asks_otherwise(
        lambda one, asked: (one.counter, one.timestamp) != (asked.counter, asked.timestamp)
    )


RULES: Final = (
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
                Register, lambda one: (one.lease or _LEASE) < _LEASE
            ),
            "lease.registered-timeout-is-not-known": lambda p: p.has(Register, lambda one: one.lease),
        },
    ),
    *about(
        "lease-lasts requests-harm-no-other-connection",
        {
            "lease.registered-timeout-lengthens": lambda p: (
                _waits(p) and p.has(Register, lambda one: (one.lease or 0) > _LEASE)
            ),
        },
    ),
    *about(
        "lease-lasts",
        {
            "lease.new-connection-has-a-new-lease": lambda p: p.has(Reconnect) and p.again,
            "lease.registration-refreshes": lambda p: _waits(p) and p.again,
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
        {"unregistration.closing-afterwards-is-harmless": lambda p: p.has(Unregister)},
    ),
    *about(
        "departed-filter-servers-are-forgotten",
        {"lease.lost-broker-takes-filter-servers": lambda p: p.has(Close) or _waits(p)},
    ),
)
