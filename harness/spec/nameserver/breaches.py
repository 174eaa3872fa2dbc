"""Breaches of the catalogue: how one is named, and what is still known of a server that has shown it.

- A breach is named by the statement that it speaks of most plainly (`invariants`).
- What it was about is open from then on, so that the same fault is not met again under other names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.program.nameserver import steps as ns
from harness.spec.nameserver import stored
from harness.spec.nameserver.answers import is_shown_only
from harness.spec.nameserver.candidates import Candidate
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.invariants import INVARIANTS, invariant_of
from harness.spec.nameserver.last_operations import LastOperations
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.nameserver.state import State
from harness.spec.observation import Difference, Observation, Violation

_OF_A_NAME = (ns.Register, ns.Unregister, ns.Heartbeat, ns.QueryVersion, ns.MemberGroup, ns.Permission)


class Breaches:
    """Names the breaches of one server and takes them in."""

    def __init__(
        self, profile: str, spec: NameServerSpec, components: Components, past: LastOperations
    ) -> None:
        self._profile = profile
        self._spec = spec
        self._components = components
        self._past = past
        self._doubtful: set[str] = set()
        """Topics that a request was about which was answered otherwise than it must be."""

    def plain(self, name: str, expected: str, actual: str, seen: Observation) -> Violation:
        """The breach of an invariant by something that is no difference in an answer."""
        invariant = INVARIANTS[name]
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected=expected,
            actual=actual,
            number=seen.number,
        )

    def of(
        self,
        found: Sequence[Difference],
        step: ns.AnyRequest,
        seen: Observation,
        was: str,
        settings: dict[str, str],
    ) -> Violation:
        """The breach that differences show; the one that names it comes first."""
        first = self._past.cause(list(found), settings)
        context = self._past.context(first, step, was, settings)
        invariant = invariant_of(first, context, step, self._spec.profile)
        return Violation(
            invariant=invariant.name,
            statement=invariant.statement_in(self._profile),
            expected="; ".join(_said(one, one.expected) for one in found[:4]),
            actual="; ".join(_said(one, one.actual) for one in found[:4]),
            number=seen.number,
            differences=(first, *(one for one in found if one is not first)),
        )

    def is_doubtful(self, step: ns.AnyRequest) -> bool:
        """Whether a step is about a topic of which nothing is known any more."""
        return (
            bool(self._doubtful)
            and isinstance(step, ns.Route | ns.DeleteTopic | ns.RegisterTopic)
            and self._spec.name(step.topic) in self._doubtful
        )

    def adopt(self, candidate: Candidate, step: ns.AnyRequest) -> None:
        """What a breach was about is judged no more."""
        if all(map(is_shown_only, candidate.wrong)):
            return
        for component in candidate.about:
            self._components.untrack(component)
        self._components.untracked |= {one.name for one in candidate.wrong} - {""}
        if not candidate.about and isinstance(step, ns.Route | ns.DeleteTopic | ns.RegisterTopic):
            self._components.untracked |= {self._past.subject(step)}
            if not isinstance(step, ns.Route):
                self._doubtful.add(self._past.subject(step))
        if isinstance(step, _OF_A_NAME):
            self._components.untracked |= {self._past.subject(step)}

    def believed(
        self, before: list[State], nearest: State | None, step: ns.AnyRequest, found: Iterable[Difference]
    ) -> list[State]:
        """What pairs and settings may be after a breach: as before or as the step makes them; of a namespace
        nothing is known, and a setting is what it is shown to be.
        """
        if isinstance(step, ns.Kv):
            return [stored.forgotten(state, step.namespace) for state in before]
        shown = {one.name: one.actual for one in found if one.aspect == "setting"}
        states = before if nearest is None else [*before, nearest]
        if not shown:
            return states
        copies = [state.copy() for state in states]
        for state in copies:
            known = {name: value for name, value in shown.items() if name in state.settings}
            state.settings = {**state.settings, **known}
        return copies


def _said(one: Difference, text: str) -> str:
    return f"{one.aspect} {one.name}: {text}" if one.name else f"{one.aspect}: {text}"
