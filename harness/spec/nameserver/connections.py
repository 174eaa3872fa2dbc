"""Connections as a NameServer sees them: symbols stand for them, and brokers leave with them.

Every function gives a new state, or the same one where nothing changes. ``term``: protocol seconds within
which a server notices the end of a connection.

Sources: `BrokerHousekeepingService`, `RouteInfoManager#onChannelDestroy`; statements ns.lease.* about
connections.
"""

from __future__ import annotations

from harness.program.step import Reconnect
from harness.spec.nameserver.state import At, PendingEffect, State


def opened(state: State, symbol: str) -> tuple[State, str]:
    """The connection that a request goes over. One that the server has ended is opened anew."""
    conn = state.conns.get(symbol)
    if conn is not None and conn not in state.ended:
        return state, conn
    other = state.copy()
    other.serial = state.serial + 1
    conn = f"{symbol}#{other.serial}"
    other.conns = {**state.conns, symbol: conn}
    return other, conn


def closed(state: State, symbol: str, at: At, term: float) -> State:
    """Either side has closed a connection: its brokers will leave, and the symbol stands for a new one."""
    conn = state.conns.get(symbol)
    if conn is None:
        return state
    other = state.copy()
    other.conns = {name: number for name, number in state.conns.items() if name != symbol}
    other.ended = state.ended - {conn}
    return other.with_pending(losing(state, conn, at, term)) if _matters(state, conn) else other


def idled(state: State, symbol: str, at: At, term: float) -> State:
    """The server closes a connection because nothing has come over it."""
    conn = state.conns.get(symbol)
    if conn is None or conn in state.ended:
        return state
    other = state.copy()
    other.ended = state.ended | {conn}
    return other.with_pending(losing(state, conn, at, term))


def reconnected(state: State, step: Reconnect) -> State:
    """A symbol stands for a new connection, and another one for the old connection."""
    other = state.copy()
    conns = {name: number for name, number in state.conns.items() if name != step.conn}
    if step.conn in state.conns:
        conns[step.old] = state.conns[step.conn]
    else:
        conns.pop(step.old, None)
    other.conns = conns
    return other


def losing(state: State, conn: str, at: At, term: float) -> PendingEffect:
    """The brokers of a connection are going to leave."""
    keys = tuple(key for key, lease in state.leases.items() if lease.conn == conn)
    return PendingEffect(at[0], at[1] + term, conn=conn, keys=keys)


def is_pending(state: State, effect: PendingEffect) -> bool:
    """Whether an effect can still change the state: a connection that nothing belongs to is lost in vain."""
    return (
        effect.step is not None
        or _matters(state, effect.conn)
        or any(key in state.leases for key in effect.keys)
    )


def _matters(state: State, conn: str) -> bool:
    """Whether a broker leaves with a connection, or a request may still be carried out over it."""
    return any(lease.conn == conn for lease in state.leases.values()) or any(
        effect.step is not None and effect.conn == conn for effect in state.pending
    )
