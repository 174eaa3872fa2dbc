"""What may have come to pass by itself in a state until a moment, and what must have.

Heartbeats run out, connections end, a controller elects another master, a request without an answer is
carried out. Each of them splits a state in two until it is overdue; then only the state in which it has come
to pass is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Final

import msgspec

from harness.spec.nameserver.controller.elections import Elections
from harness.spec.nameserver.controller.state import Identity, Live, Pending, State

SCAN: Final = 5.0
"""Protocol seconds within which a controller looks for heartbeats that have run out, and for masters that are
gone (`ControllerConfig`).
"""
LIMIT: Final = 200
"""A name of which more states are possible is judged no more."""

CarriedOut = Callable[[State, Pending, float], Iterable[State]]
"""What a request that is carried out by some moment may make of a state."""


class Passing:
    """By one server."""

    def __init__(self, elections: Elections, carried_out: CarriedOut) -> None:
        self._elections = elections
        self._carried_out = carried_out

    def caught_up(
        self, states: Iterable[State], last: float, begin: float, end: float
    ) -> frozenset[State] | None:
        """The states that are possible in an interval, where ``states`` were at the moment `last`. None: too
        many.
        """
        found: set[tuple[State, bool]] = {(one, False) for one in states}
        work = list(found)
        while work:
            state, has_looked = work.pop()
            after = [(one, has_looked) for one in self._successors(state, begin, end)]
            if not has_looked:
                after += [(one, True) for one in self._missed(state, last, end)]
            news = set(after) - found
            found |= news
            work += news
            if len(found) > LIMIT:
                return None
        return frozenset(
            self._settled(one, begin, end) for one, _ in found if not self._is_overdue(one, begin)
        )

    def ends_at(self, live: Live) -> tuple[float, float]:
        """From when on a heartbeat may have run out, and when it is seen to have."""
        early = self._elections.early
        return (
            live.begin + live.lasts - early,
            live.end + live.lasts + early + SCAN + self._elections.prompt,
        )

    def is_due(self, state: State, end: float) -> bool:
        """Whether something may be about to come to pass by itself."""
        expires = any(self.ends_at(live)[0] <= end for _, live in state.live)
        return bool(state.pending) or expires or state.missed < inf

    # --- what may come to pass ------------------------------------------------------------------------------

    def _successors(self, state: State, begin: float, end: float) -> list[State]:
        found: list[State] = []
        for identity, live in state.live:
            since, until = self.ends_at(live)
            if since <= end:
                found.append(self._gone(state, identity, since, until, "expired"))
        for pending in state.pending:
            if pending.begin <= end:
                found += self._passed(state, pending, begin, min(pending.until, end))
        return found

    def _passed(self, state: State, pending: Pending, begin: float, end: float) -> list[State]:
        rest = state.without(pending)
        match pending.what:
            case "end":
                return self._ended(rest, pending)
            case "gone":
                if state.master != pending.id:
                    return [rest]
                return self._elections.own(rest, pending.begin, end, pending.why)
            case "again":
                if pending.times > 1:
                    rest = rest.expecting(msgspec.structs.replace(pending, times=pending.times - 1))
                return self._elections.own(rest, pending.begin, end, "again")
        return list(self._carried_out(rest, pending, end))

    def _ended(self, state: State, pending: Pending) -> list[State]:
        """With a connection, the replica that was heard over it ends. Where there are several, or several
        connections of one, a server may go by another.
        """
        bound = [(identity, live) for identity, live in state.live if pending.conn in live.conns]
        found = [state]
        for identity, live in bound:
            why = "lost"
            gone = [self._gone(one, identity, pending.begin, pending.until, why) for one in found]
            if len(bound) > 1 or len(live.conns) > 1:
                left = msgspec.structs.replace(live, conns=live.conns - {pending.conn})
                gone += [one.with_live(identity, left) for one in found]
            found = gone
        return found

    def _gone(self, state: State, identity: Identity, begin: float, until: float, why: str) -> State:
        rest = state.without_live(identity, why)
        cluster, number = identity
        if not state.known or state.cluster != cluster or state.master != number:
            return rest
        until += self._elections.jitter
        return rest.expecting(Pending("gone", begin, until, id=number, why=why))

    def _missed(self, state: State, last: float, end: float) -> list[State]:
        """A controller sees that a master does not live, though another replica does."""
        elections = self._elections
        if state.master is None or False not in elections.lives(state, state.master, last, end):
            return []
        others = (state.heard(one) for one, _ in state.members if one != state.master)
        if not any(elections.may_live(one, last) for one in others):
            return []
        fell = dict(state.fell).get((state.cluster, state.master))
        why = "missed" if state.heard(state.master) is None else "expired"
        return elections.own(state, last, end, fell or why)

    # --- what must have -------------------------------------------------------------------------------------

    def _is_overdue(self, state: State, begin: float) -> bool:
        if any(one.is_sure and one.until < begin for one in state.pending):
            return True
        if any(self.ends_at(live)[1] < begin for _, live in state.live):
            return True
        due = state.missed + SCAN + self._elections.prompt
        return due < begin and self._has_other(state, due)

    def _settled(self, state: State, begin: float, end: float) -> State:
        """The same without what can come to pass no more; and whether its master is missed."""
        pending = tuple(one for one in state.pending if one.until >= begin)
        is_missed = (
            state.master is not None
            and not self._elections.may_live(state.heard(state.master), begin)
            and self._has_other(state, end)
        )
        missed = min(state.missed, end) if is_missed else inf
        if pending == state.pending and missed == state.missed:
            return state
        return msgspec.structs.replace(state, pending=pending, missed=missed)

    def _has_other(self, state: State, end: float) -> bool:
        """Whether another replica than the master lives up to a moment."""
        return any(
            self._elections.surely_lives(state.heard(one), end)
            for one, _ in state.members
            if one != state.master
        )
