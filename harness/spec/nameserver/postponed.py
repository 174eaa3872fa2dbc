"""Requests that may be carried out later than it seems: what they leave open of a server."""

from __future__ import annotations

from collections.abc import Sequence

from harness.program.nameserver import steps as ns
from harness.spec.nameserver.answers import Answer
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.last_operations import LastOperations
from harness.spec.nameserver.specification import DOUBT, NameServerSpec
from harness.spec.nameserver.state import At, State

_OF_A_NAME = (ns.Register, ns.Unregister, ns.Heartbeat, ns.QueryVersion, ns.Permission)
_QUIET = (
    *(ns.Route, ns.ClusterInfo, ns.MemberGroup),
    *(ns.Topics, ns.TopicsOfCluster, ns.Unit, ns.SystemTopics),
)


class Postponed:
    """Puts requests into the states of a server as something that may yet happen."""

    def __init__(self, spec: NameServerSpec, components: Components, past: LastOperations) -> None:
        self._spec = spec
        self._components = components
        self._past = past

    def postpone(
        self,
        common: list[State],
        step: ns.AnyRequest,
        at: At,
        *,
        uncertain: bool = False,
        said: Answer | None = None,
    ) -> list[State]:
        """The possible states of pairs and settings with it; components are changed where they are."""
        if isinstance(step, _QUIET):
            return common
        if isinstance(step, _OF_A_NAME):
            self._of_a_name(common, step, at, uncertain=uncertain, said=said)
            return common
        if isinstance(step, ns.DeleteTopic | ns.RegisterTopic):
            self._of_a_topic(step, at, uncertain=uncertain)
            return common
        return [self._spec.postponed(state, step, at, uncertain=uncertain) for state in common]

    def _of_a_name(
        self, common: list[State], step: ns.AnyRequest, at: At, *, uncertain: bool, said: Answer | None
    ) -> None:
        if self._components.is_untracked(step):
            return
        component = self._components.component_for(step, common[0].settings)
        if component is None:
            self._components.is_untracked(step)
            return
        component.states = [
            self._spec.postponed(state, step, at, said=said, uncertain=uncertain)
            for state in component.states
        ]

    def _of_a_topic(self, step: ns.DeleteTopic | ns.RegisterTopic, at: At, *, uncertain: bool) -> None:
        spec = self._spec
        topic = spec.name(step.topic)
        names: Sequence[str] = ()
        if isinstance(step, ns.DeleteTopic):
            until = at[1] + spec.prompt + (DOUBT if uncertain else 0.0)
            self._components.concerns_newcomers(step, at, until, uncertain=uncertain)
        else:
            names = [spec.name(broker) for broker in step.queues]
            if len(names) > 1:  # which of them are known when it is carried out, and the topic
                self._components.untrack_all(names)
                self._components.untracked |= {topic}
        for component in self._components.all:
            if isinstance(step, ns.DeleteTopic) or not component.names.isdisjoint(names):
                component.states = [
                    spec.postponed(state, step, at, uncertain=uncertain) for state in component.states
                ]
        self._past.topic_left_open(topic)
