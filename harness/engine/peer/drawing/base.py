"""The ground of every draw: chance, the state that is expected, and the steps so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from harness.catalogue import Feature, Quirk
from harness.program.chance import Chance
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.steps import AnyStep
from harness.spec.nameserver.expected import ExpectedState
from harness.spec.nameserver.predicates import PREDICATES
from harness.spec.quirks import QuirksByStep

T = TypeVar("T")
Known = Callable[[AnyStep, ExpectedState], bool]
"""Whether a step is known to set the targets apart."""

CLUSTERS = ("c0", "c1", "c2")
BROKERS = ("b0", "b1", "b2", "b3", "b4")
TOPICS = ("T0", "T1", "T2", "T3", "T4", "Té/5", "U6", "U7")
FLAGS = {"U6": 1, "U7": 2}
"""System flags; a topic has one flag, because 311 to 313 look at one broker only (`RouteInfoManager`)."""
NAMESPACES = ("n0", "n1", ORDER)
KEYS = ("x", "y", 'é"/')
_USUAL_PERMS = ((6, 8), (4, 3))
_PERMS = ((6, 8), (4, 2), (2, 2), (7, 1), (0, 1))
NEEDS: Mapping[type[AnyStep], Feature] = {
    ns.RegisterTopic: "topic-registration",
    ns.Heartbeat: "heartbeats",
    ns.MemberGroup: "heartbeats",
}
"""Requests that a line without the feature does not serve: there they are unknown codes."""


class Drawing:
    """A program that grows. Steps that ``avoid`` or ``known`` are about are left out."""

    def __init__(self, source: Chance, profile: str, avoid: Sequence[Quirk], known: Known) -> None:
        self._chance = source
        self._avoid = QuirksByStep(avoid, PREDICATES)
        self._known = known
        self._perms = _PERMS if source.random() < 0.3 else _USUAL_PERMS
        self._expected = ExpectedState(profile)
        self._has = self._expected.profile.has
        self._lease = self._expected.profile.lease
        self._steps: list[AnyStep] = []
        self._kv: set[tuple[str, str, str | None]] = set()

    def _add(self, step: AnyStep | None) -> bool:
        if (
            isinstance(step, ns.Register)
            and step.form.startswith("compressed")
            and FLAGS.keys() & step.topics
        ):
            # Such a body cannot carry flags: the topic would have two of them.
            plain = {topic: queues for topic, queues in step.topics.items() if topic not in FLAGS}
            step = msgspec.structs.replace(step, topics=plain)
        if step is None or self._avoid.triggered_by(step, self._expected):
            return False
        if self._known(step, self._expected):
            return False
        feature = NEEDS.get(type(step))
        if feature is not None and not self._has(feature):
            return False
        self._expected.apply(step)
        self._steps.append(step)
        match step:
            case ns.Kv() if step.code == 100:
                self._kv.add((step.namespace, step.key, step.topic))
            case ns.Kv() if step.code == 102:
                self._kv.discard((step.namespace, step.key, step.topic))
        return True

    def _queues(self, topic: str) -> ns.Queues:
        return (
            self._one((4, 8, 8, 16)),
            self._one((4, 8, 8)),
            self._weighted(self._perms),
            FLAGS.get(topic, 0),
        )

    def _conn_of(self, address: str) -> str:
        if self._chance.random() < 0.02:
            return f"k{self._chance.randrange(len(BROKERS))}{self._chance.randrange(3)}"
        return f"k{address[1:]}"

    def _any_conn(self) -> str:
        conns = sorted({lease.conn for lease in self._expected.leases.values()})
        return self._one(conns) if conns and self._chance.random() < 0.2 else "q"

    def _one(self, choices: Sequence[T]) -> T:
        return self._chance.choice(choices)

    def _maybe(self, usual: T, *others: T) -> T:
        return usual if self._chance.random() < 0.6 else self._chance.choice(others)

    def _weighted(self, choices: Sequence[tuple[T, int]]) -> T:
        at = self._chance.randrange(sum(weight for _, weight in choices))
        for choice, weight in choices:
            at -= weight
            if at < 0:
                return choice
        raise AssertionError("weights are positive")
