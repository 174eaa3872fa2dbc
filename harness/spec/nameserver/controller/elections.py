"""Who lives, and who may become the master of a name: of an interval of time, in one of its possible states.

Sources: `DefaultElectPolicy`, `ControllerManager#triggerElectMaster`, `ReplicasInfoManager#electMaster`;
statements ns.controller.* about elections.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.spec.nameserver.controller.state import Live, Pending, State

_TRIES: Final = 5
"""How often a controller that has found no master may look again. (Apache's tries three times, for each of
two reasons.)
"""


class Elections:
    """What a server may decide. ``early`` and ``prompt`` are those of `harness.spec.nameserver.terms`,
    ``jitter`` is that of its clock.
    """

    def __init__(self, early: float, prompt: float, jitter: float) -> None:
        self.early = early
        self.prompt = prompt
        self.jitter = jitter
        self.unclean: frozenset[bool] = frozenset((False,))
        """In which ways replicas out of sync may be treated now: elected, or not."""

    # --- who lives ------------------------------------------------------------------------------------------

    def may_live(self, live: Live | None, begin: float) -> bool:
        """Whether a replica may live at some moment from `begin` on."""
        return live is not None and begin <= live.end + live.lasts + self.early

    def surely_lives(self, live: Live | None, end: float) -> bool:
        """Whether a replica that was heard lives at every moment up to `end`."""
        return live is not None and end <= live.begin + live.lasts - self.early

    def lives(self, state: State, number: int | None, begin: float, end: float) -> set[bool]:
        """In which ways an id may be looked at in an interval: living, or not."""
        live = None if number is None else state.heard(number)
        found = {True} if self.may_live(live, begin) else set()
        return found if self.surely_lives(live, end) else found | {False}

    # --- who wins -------------------------------------------------------------------------------------------

    def winners(self, state: State, begin: float, end: float) -> set[int | None]:
        """Who may win an election in an interval, where the master does not live; None: no replica."""
        found: set[int | None] = set()
        for allowed in self._ways(state, begin):
            clean = self._best(state, state.in_sync, begin, end)
            if allowed and None in clean:
                clean = (clean - {None}) | self._best(state, (one for one, _ in state.members), begin, end)
            found |= clean
        return found

    def _ways(self, state: State, begin: float) -> frozenset[bool]:
        """In which ways replicas out of sync may be treated in an election that begins then."""
        ways, until = state.before
        return self.unclean | ways if begin <= until else self.unclean

    def _best(self, state: State, candidates: Iterable[int], begin: float, end: float) -> set[int | None]:
        heard = {one: state.heard(one) for one in candidates if one != state.master}
        living = {one: live for one, live in heard.items() if live is not None and self.may_live(live, begin)}
        sure = [live.rank for live in living.values() if self.surely_lives(live, end)]
        best = min(sure, default=None)
        found: set[int | None] = {one for one, live in living.items() if best is None or live.rank <= best}
        return found if sure else found | {None}

    def can_be_demanded(self, state: State, number: int, begin: float, end: float) -> set[bool]:
        """Whether an id that is demanded may win: it is in sync and lives, or may be out of sync."""
        found: set[bool] = set()
        for allowed in self._ways(state, begin):
            is_candidate = number in state.in_sync or (allowed and state.member(number) is not None)
            found |= self.lives(state, number, begin, end) if is_candidate else {False}
        return found

    # --- what the controller does by itself -----------------------------------------------------------------

    def own(self, state: State, begin: float, end: float, why: str) -> list[State]:
        """What an election of the controller's own, in an interval, may make of a state."""
        alive = self.lives(state, state.master, begin, end)
        found = [state] if True in alive else []
        if False in alive or state.master is None:
            for winner in self.winners(state, begin, end):
                if winner is not None:
                    found.append(state.led_by(winner, why))
                elif state.master is not None or why == "again":
                    again = Pending("again", begin, end + self.prompt, times=_TRIES)
                    lost = state.without_master()
                    found.append(lost if why == "again" else lost.expecting(again))
        return found
