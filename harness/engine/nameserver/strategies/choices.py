"""The symbols that programs are made of, and choices among what should exist."""

from __future__ import annotations

from collections.abc import Callable

from harness.engine.nameserver.program_state import ProgramState
from harness.engine.nameserver.strategies.pick import Pick
from harness.spec.nameserver.expected import Live

BROKERS = ("b0", "b1", "b2", "bé\\")
CLUSTERS = ("c0", "c0", "c0", "c1")
TOPICS = ("T0", "T1", "T2", "T3", "U4", "U5", "U6", "U7", "Té\\")
FLAGS = {"U4": 1, "U5": 2, "U6": 3, "U7": 6}
"""System flags; a topic has one flag, because 311 to 313 look at one broker only (`RouteInfoManager`). Bits
beyond the two mean nothing."""


def a_server(pick: Pick, state: ProgramState) -> int:
    return pick.below(state.servers)


def a_lease(
    pick: Pick, state: ProgramState, such: Callable[[Live], bool] = lambda _: True
) -> tuple[int, Live] | None:
    """A live record, with its server."""
    found = [
        (server, lease)
        for server, expected in enumerate(state.expected)
        for lease in expected.leases.values()
        if such(lease)
    ]
    return pick.one(found) if found else None


def slot_of(broker: str) -> int:
    return BROKERS.index(broker) if broker in BROKERS else 9


def conn_of(pick: Pick, address: str) -> str:
    """Each address has a connection; sometimes two brokers share one."""
    return f"k{address[1:]}" if not pick.once_in(12) else pick.one(("k00", "q"))


def any_conn(pick: Pick, state: ProgramState, server: int) -> str:
    conns = sorted({lease.conn for lease in state.expected[server].leases.values()})
    return pick.one(conns) if conns and pick.once_in(5) else "q"
