"""What was done last to what: by it a violation finds the invariant that is broken.

It judges nothing. A name, a topic or a key has one word, that of the last step which
was about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.program.nameserver import steps as ns
from harness.spec.nameserver.component import Component
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.specification import NameServerSpec
from harness.spec.observation import Difference

_OF_ALL = (ns.ClusterInfo, ns.Topics, ns.TopicsOfCluster, ns.SystemTopics, ns.Unit)
_OF_MASTERS = ("masterAddr", "haServerAddr")
_UNREGISTERED = ("unregistered", "unregistered elsewhere")
_REFUSED = ("refused", "lone topic", "outranked")
_SLAVES = ("slave", "equal slave")
_GONE = (*_UNREGISTERED, "closed", "lease ended", "idle")
_DELETED = ("topic deleted", "topic deleted in a cluster")
_CLOSED = ("closed", "late closed", *_UNREGISTERED)


class LastOperations:
    """What was done to the names of one server."""

    def __init__(self, spec: NameServerSpec, components: Components) -> None:
        self._spec = spec
        self._components = components
        self._last: dict[str, tuple[str, int]] = {}
        self._time = -1
        self._other_close = -1
        self._deleted: set[str] = set()
        """Namespaces of which a key was deleted."""
        self._masters: dict[str, str] = {}
        """The address of the last master that each broker name has had."""

    def time_passed(self, number: int) -> None:
        """A step let time pass."""
        self._time = number

    def other_closed(self, number: int) -> None:
        """A connection has ended on which no broker was."""
        self._other_close = number

    def restarted(self, number: int) -> None:
        """The server has been started again."""
        for name in self._last:
            self._last[name] = ("restarted", number)

    def topic_left_open(self, topic: str) -> None:
        """A topic is deleted or given at a moment that is not known."""
        self._last[topic] = ("topic deleted", self._time)

    def context(self, one: Difference, step: ns.AnyRequest, was: str, settings: dict[str, str]) -> str:
        """What was done last to what a difference is about."""
        if isinstance(step, ns.Register):
            name = self.subject(step)
            if one.aspect == "code" and self._last.get(name, ("", 0))[0] == "lone topic":
                return was if was in _REFUSED else "after a refusal"
            alone = step.id != 0 and one.presence == "surplus" and one.aspect in _OF_MASTERS
            return "slave without master" if alone and name not in self._masters else was
        subject = self.subject(step)
        names = [one.name, subject]
        if isinstance(step, ns.Route):
            if (step.zone_mode or "").lower() == "true" and (step.zone or "").strip():
                return "zoned"
            if one.aspect in ("queues", "mapping"):
                names = [subject, one.name]
        if settings.get("supportActingMaster") == "true" and "address" in one.aspect:
            acting = self._acting(one, step)
            if acting:
                return acting
        words = [self._last[name] for name in names if name in self._last]
        if not words:
            return "" if isinstance(step, ns.Kv) else was
        word, number = words[0]
        if isinstance(step, ns.Kv):
            return "deleted" if word == "kept" and step.namespace in self._deleted else word
        alone = isinstance(step, ns.Route) and word in _SLAVES and one.name not in self._masters
        if alone and one.presence == "surplus" and one.aspect in ("broker", "queues"):
            return "lone slave"
        if words[-1][0] in _DELETED and words[-1][1] > number:
            word, number = words[-1]
        if one.presence == "missing" and word not in _CLOSED:
            latest = max(self._time, self._other_close)
            if latest > number:
                return "time" if latest == self._time else "other closed"
        return word

    def cause(self, found: Sequence[Difference], settings: dict[str, str]) -> Difference:
        """The one of several differences that the others follow from: a wrong version is no equal one, and
        of a topic that may be written no slave acts as master.
        """
        first = found[0]
        behind = ("version",) if first.aspect == "changed" else ()
        if settings.get("supportActingMaster") == "true" and first.id == 0 and first.presence == "missing":
            behind = ("permission",)
        return next((one for one in found if one.aspect in behind), first)

    def _acting(self, one: Difference, step: ns.AnyRequest) -> str:
        """Where slaves may act as masters: how a slave that should act, or should not, came to it; "" where
        it is about no such slave.
        """
        word = self._last.get(one.name, ("", 0))[0]
        if not isinstance(step, ns.Route):
            return "acting unasked" if _is_shown(one) and word in _SLAVES else ""
        if _is_shown(one):
            return "acting unasked"
        if one.id == 0 and one.presence == "missing" and one.name not in self._masters:
            return "acting without master"
        if one.id == 0 and one.presence == "other" and one.expected == f"{self._masters.get(one.name)} as 0":
            return "acting beside a master"
        return "acting after another" if one.presence == "other" and word in _GONE else "acting"

    def contexts(self, step: ns.AnyRequest, brokers: Iterable[str], was: str) -> set[str]:
        """What was done last to all that an answer is about: to what was asked for and the ``brokers`` that
        it shows; of an answer about everything, to all that there ever was.
        """
        if isinstance(step, ns.Register):
            return {was}
        if isinstance(step, _OF_ALL):
            return {word for word, _ in self._last.values()} or {was}
        return {self._last[name][0] for name in (self.subject(step), *brokers) if name in self._last} or {was}

    def subject(self, step: ns.AnyRequest) -> str:
        """The name, the topic or the key that a request is about; "" where there is none."""
        broker = getattr(step, "broker", None)
        if isinstance(broker, str):
            return self._spec.name(broker)
        if isinstance(step, ns.Kv):
            return f"{step.namespace}/{step.key if step.topic is None else self._spec.name(step.topic)}"
        topic = getattr(step, "topic", None)
        return self._spec.name(topic) if isinstance(topic, str) else ""

    def note(self, step: ns.AnyRequest, number: int, was: str | None) -> None:
        """Remembers what a step did to the names that it is about."""
        match step:
            case ns.Register():
                what = was or "registered"
                if step.id == 0 and what not in _REFUSED:
                    self._masters[self._spec.name(step.broker)] = self._spec.address(step.address)
                self._last[self._spec.name(step.broker)] = (what, number)
                for topic in step.topics:
                    self._last[self._spec.name(topic)] = (what, number)
            case ns.Unregister() | ns.Permission():
                name = self._spec.name(step.broker)
                self.was(self._components.named(name), name, was or "unregistered", number)
            case ns.DeleteTopic():
                self._last[self._spec.name(step.topic)] = (_DELETED[bool(step.cluster)], number)
            case ns.RegisterTopic():
                self._last[self._spec.name(step.topic)] = (was or "topic deleted", number)
            case ns.Kv() if step.code in (100, 102):
                if step.code == 102:
                    self._deleted.add(step.namespace)
                self._last[self.subject(step)] = ("kept", number)

    def was(self, component: Component | None, name: str, what: str, number: int) -> None:
        """Something was done to a broker name, and so to the topics that it may serve."""
        self._last[name] = (what, number)
        if component is not None:
            for topic, queues in component.states[0].topics.items():
                if name in queues:
                    self._last[topic] = (what, number)


def _is_shown(one: Difference) -> bool:
    """Whether an id 0 is shown that should not be."""
    return one.id == 0 and one.presence == "surplus"
