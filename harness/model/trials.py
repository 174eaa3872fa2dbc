"""What an answer leaves possible of the parts of a server, under settings that it may have.

Rules of this module:
- What a part says is asked of each of its states; an answer about several parts is asked of each of them.
- Nothing is kept here: a `Trial` says which states would be kept, or what is wrong where none would. Only
  what has become too much to follow is muted at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.model import stored
from harness.model.answers import Difference, Said, differences
from harness.model.partition import Partition
from harness.model.parts import Part, blank, restricted
from harness.model.predictions import ClusterView, ListView, Prediction, RouteView
from harness.model.registry import After, Registry, given
from harness.model.state import At, State
from harness.program.frames import Names
from harness.program.steps import (
    AnyRequest,
    ClusterInfo,
    Queues,
    Register,
    RegisterTopic,
    Route,
    SystemTopics,
    Unit,
)

__all__ = ["Trial", "Trials"]

_NOBODY: frozenset[str] = frozenset()


class Trial(msgspec.Struct):
    """What an answer leaves possible, if the settings are what they are thought to be."""

    kept: list[tuple[Part, list[State]]]
    wrong: list[Difference] = []
    about: list[Part] = []
    was: str | None = None


class Trials:
    """Tries answers on the parts of one server; ``common`` is always a state with its pairs and settings."""

    def __init__(self, registry: Registry, partition: Partition, names: Names, *, five: bool) -> None:
        self._registry = registry
        self._partition = partition
        self._names = names
        self._five = five

    def _try(
        self, part: Part, common: State, step: AnyRequest, said: Said, at: At
    ) -> tuple[list[After], list[Difference], str]:
        """What a part leaves possible; where that is nothing, what the nearest state would have been said."""
        kept: list[After] = []
        best: list[Difference] = []
        was = ""
        for state in part.told(common.settings):
            for after in self._registry.apply(state, step, at):
                found = differences(after.prediction, said)
                if not found:
                    kept.append(after)
                elif not best or len(found) < len(best):
                    best, was = found, after.was
        return kept, best, was

    def of_a_name(self, common: State, part: Part | None, step: AnyRequest, said: Said, at: At) -> Trial:
        """Of a request about one broker name; ``part`` None: nothing is known of it."""
        if part is None:
            nobody = Part([blank(common.settings)], set(), set(), set())
            kept, best, was = self._try(nobody, common, step, said, at)
            return Trial([], [] if kept else best, [], kept[0].was if kept else was)
        mine = said
        if isinstance(step, Register) and said.code == 0:
            order = stored.order_table(common, five=self._five, is_ours=self._names.is_ours)
            wrong = [differences(Prediction(body=table), Said(0, None, {}, said.body)) for _, table in order]
            if all(wrong):
                return Trial([], wrong[0], [])
            mine = Said(said.code, said.remark, said.ext, None)
        kept, best, was = self._try(part, common, step, mine, at)
        if not kept:
            return Trial([], best, [part], was)
        return Trial([(part, [after.state for after in kept])], [], [], kept[0].was)

    def everywhere(self, common: State, step: AnyRequest, said: Said, at: At) -> Trial:
        """216: every part must agree with the answer."""
        trial = Trial([])
        nobody = Part([blank(common.settings)], set(), set(), set())
        for part in (*self._partition.parts, nobody):
            kept, best, _ = self._try(part, common, step, said, at)
            if not kept:
                return Trial([], best, [], "topic deleted")
            if part is not nobody:
                trial.kept.append((part, [after.state for after in kept]))
        trial.was = "topic deleted"
        return trial

    def topic_given(self, common: State, step: RegisterTopic, said: Said, at: At) -> Trial:
        """217: whether a broker name or the topic is known is a question to all parts."""
        registry = self._registry
        nobody = Part([blank(common.settings)], set(), set(), set())
        kept, best, _ = self._try(nobody, common, step, said, at)
        if not kept:
            return Trial([], best)
        topic = registry.name(step.topic)
        if step.form != "json" or not step.queues or "topic" in step.drop:
            return Trial([])
        served = {topic in state.topics for part in self._partition.parts for state in part.states}
        exists = any(all(topic in state.topics for state in part.states) for part in self._partition.parts)
        unclear = topic in self._partition.muted or (True in served and not exists)
        added: dict[str, Queues] = {}
        for symbol, queues in step.queues.items():
            name = registry.name(symbol)
            part = self._partition.named(name)
            known = {False} if part is None else {name in state.brokers for state in part.states}
            if len(known) == 2 or (known == {False} and unclear):
                for one in [p for s in step.queues if (p := self._partition.named(registry.name(s)))]:
                    self._partition.mute(one)
                self._partition.muted |= {topic}
                return Trial([])
            if known == {False}:
                if not exists:
                    added = {}
                break
            added[name] = queues
        trial = Trial([], was="topic registered")
        for part in self._partition.parts:
            mine = {name: queues for name, queues in added.items() if name in part.names}
            if mine:
                trial.kept.append((part, [given(state, topic, mine) for state in part.states]))
        return trial

    def route(self, common: State, step: Route, said: Said, at: At) -> Trial:
        """105: what is said of each part, and what no part can say."""
        trial = Trial([])
        empty = True
        body = said.body
        topic = self._registry.name(step.topic)
        nobody = blank(common.settings)
        if said.code == 17 and not self._partition.parts:
            return self._as_nobody(nobody, step, said, at)
        if not isinstance(body, RouteView):
            # Of another code, or nothing that can be read: every part must agree with it.
            agreed = False
            for part in self._partition.parts:
                if said.code == 17 and not any(self._serves(state, step) for state in part.states):
                    continue
                kept, best, was = self._try(part, common, step, said, at)
                if not kept:
                    return Trial([], best, [part], was)
                agreed = True
                trial.kept.append((part, [after.state for after in kept]))
            if said.code != 17 and not agreed:
                return self._as_nobody(nobody, step, said, at)
            return trial
        for part in self._partition.parts:
            mine = restricted(said, part)
            quiet = not (mine.body.queues or mine.body.brokers or mine.body.mappings or mine.body.filters)
            if quiet and not any(self._serves(state, step) for state in part.states):
                continue
            kept_states = []
            best = []
            predicted: list[RouteView] = []
            for state in part.told(common.settings):
                for after in self._registry.apply(state, step, at):
                    prediction = after.prediction
                    if prediction.code == 17 and quiet:
                        kept_states.append(state)
                        continue
                    if prediction.code == 17:
                        mapped = state.mappings.get(topic, {})
                        perhaps = {name: epoch for name, (epoch, _) in mapped.items()}
                        prediction = Prediction(body=RouteView({}, {}, {}, mappings_perhaps=perhaps))
                    if isinstance(prediction.body, RouteView):
                        predicted.append(prediction.body)
                    found = differences(prediction, mine)
                    if not found:
                        kept_states.append(state)
                        empty = empty and after.prediction.code == 17
                    elif not best or len(found) < len(best):
                        best = found
            if not kept_states and _is_late(predicted, mine):
                kept_states, empty = part.states, False
            if not kept_states:
                return Trial([], best, [part])
            trial.kept.append((part, kept_states))
        return self._route_of_all(common, step, said, body, trial, empty=empty)

    def _as_nobody(self, nobody: State, step: Route, said: Said, at: At) -> Trial:
        """An answer of a server on which nothing is registered."""
        found = [differences(after.prediction, said) for after in self._registry.apply(nobody, step, at)]
        return Trial([], found[0] if all(found) else [])

    def _serves(self, state: State, step: Route) -> bool:
        return self._registry.name(step.topic) in state.topics

    def _route_of_all(
        self, common: State, step: Route, said: Said, body: RouteView, trial: Trial, *, empty: bool
    ) -> Trial:
        """What no part can say of a route: names that are nobody's, and the order configuration."""
        topic = self._registry.name(step.topic)
        theirs = {name for part in self._partition.parts for name in part.names} | self._partition.muted
        for name in sorted({*body.queues, *body.brokers} - theirs):
            trial.wrong = [Difference("broker", name, "surplus", "nothing", str(body.brokers.get(name)))]
            return trial
        if empty and topic not in self._partition.muted:
            trial.wrong = [Difference("code", "", "surplus", "code 17", "code 0")]
            return trial
        order = None
        if common.settings.get("orderMessageEnable") == "true":
            known = common.kv.get(stored.ORDER, common.unnamed)
            order = known.pairs.get(topic)
        if order != body.order:
            presence = "missing" if body.order is None else "surplus" if order is None else "other"
            trial.wrong = [Difference("order", "", presence, str(order), str(body.order))]  # type: ignore[arg-type]
        elif said.remark is not None:
            trial.wrong = [Difference("remark", "", "surplus", "no remark", said.remark)]
        return trial

    def cluster_info(self, common: State, step: ClusterInfo, said: Said, at: At) -> Trial:
        """106: what is said of each part, and nothing but that."""
        trial = Trial([], [])
        body = said.body
        if not isinstance(body, ClusterView):
            unclear = self._partition.muted or any(len(part.states) > 1 for part in self._partition.parts)
            if said.code == 1 and unclear:
                # Apache's servers write it from tables that change meanwhile, without a lock.
                return Trial([])
            nobody = Part([blank(common.settings)], set(), set(), set())
            return Trial([], self._try(nobody, common, step, said, at)[1])
        for part in self._partition.parts:
            mine = restricted(said, part)
            kept, best, was = self._try(part, common, step, mine, at)
            if not kept and _is_torn(part, mine.body):
                continue
            if not kept:
                return Trial([], best, [part], was)
            if len(kept) != len(part.states):
                trial.kept.append((part, [after.state for after in kept]))
        theirs = {name for part in self._partition.parts for name in part.names} | self._partition.muted
        for name in sorted(set(body.brokers) - theirs):
            trial.wrong.append(Difference("broker", name, "surplus", "nothing", str(body.brokers[name][1])))
        for cluster, members in sorted(body.clusters.items()):
            for name in sorted(members - theirs):
                trial.wrong.append(Difference("clusters", name, "surplus", "in no cluster", f"in {cluster}"))
            if not members and cluster not in self._partition.muted and not self._is_going(cluster):
                trial.wrong.append(
                    Difference("clusters", cluster, "surplus", "no cluster", "one without names")
                )
        return trial

    def _is_going(self, cluster: str) -> bool:
        """Whether the last name of a cluster may be leaving it: Apache's servers empty a cluster first, and
        write it meanwhile (`RouteInfoManager#getAllClusterInfo`, both lines).
        """
        return any(
            len(part.states) > 1 and any(cluster in state.clusters for state in part.states)
            for part in self._partition.parts
        )

    def listed(self, common: State, step: AnyRequest, said: Said, at: At) -> Trial:
        """A topic is listed where any part serves it."""
        nobody = blank(common.settings)
        (plain,) = self._registry.apply(nobody, step, at)
        body = said.body
        if plain.prediction.code != 0 or not isinstance(body, ListView):
            return Trial([], differences(plain.prediction, said))
        nothing = Said(said.code, said.remark, said.ext, ListView(_NOBODY))
        if found := differences(plain.prediction, nothing):
            return Trial([], found)
        if isinstance(step, SystemTopics) and (wrong_address := self._address(body)):
            return Trial([], wrong_address)
        if twice := sorted(body.twice - self._partition.muted):
            return Trial([], [Difference("twice", one, "surplus", "once", "more often") for one in twice])
        listed: list[tuple[Part, list[tuple[State, frozenset[str], frozenset[str]]]]] = []
        for part in self._partition.parts:
            views = []
            for state in part.told(common.settings):
                (after,) = self._registry.apply(state, step, at)
                views.append((state, after.prediction.body.names, after.prediction.body.perhaps))
            listed.append((part, views))
        forgiven = self._partition.muted | (self._disputed(listed) if isinstance(step, Unit) else _NOBODY)
        trial = Trial([])
        explained: dict[str, list[Part]] = {}
        for i, (part, views) in enumerate(listed):
            kept = [view for view in views if not (view[1] - body.names - forgiven)]
            if not kept:
                missing = sorted(views[0][1] - body.names - forgiven)
                wrong = [Difference("listed", name, "missing", "listed", "not listed") for name in missing]
                return Trial([], wrong, [part])
            listed[i] = (part, kept)
            for name in {name for _, names, perhaps in kept for name in (*names, *perhaps)}:
                explained.setdefault(name, []).append(part)
        surplus = sorted(body.names - explained.keys() - forgiven)
        if surplus:
            unclear = [part for part in self._partition.parts if part.shared]
            return Trial([], [_listed(name) for name in surplus], unclear)
        for part, views in listed:
            alone = {n for n in body.names - forgiven if explained.get(n) == [part]}
            if len(part.states) > 1:
                fitting = [view[0] for view in views if alone <= (view[1] | view[2])]
                if not fitting:  # each is explained, but not all of them by one state
                    return Trial([], [_listed(name) for name in sorted(alone)], [part])
                trial.kept.append((part, fitting))
        return trial

    def _address(self, said: ListView) -> list[Difference]:
        """What a system list tells beside its names, where nothing is open: an address, if it has a name."""
        unclear = self._partition.muted or any(len(part.states) > 1 for part in self._partition.parts)
        if unclear or not said.is_whole:
            return []
        if not said.names and said.address is not None:
            return [Difference("brokerAddr", "", "surplus", "no address", said.address)]
        if said.names and not said.address:
            return [Difference("brokerAddr", "", "missing", "the address of a broker", "none")]
        return []

    def _disputed(
        self, listed: list[tuple[Part, list[tuple[State, frozenset[str], frozenset[str]]]]]
    ) -> set[str]:
        """Topics of which brokers say different flags: any of them may count."""
        flags: dict[str, set[int]] = {}
        for _, views in listed:
            for state, _, _ in views:
                for topic, queues in state.topics.items():
                    flags.setdefault(topic, set()).update(queue[3] & 3 for queue in queues.values())
        return {topic for topic, found in flags.items() if len(found) > 1}


def _is_late(predicted: Sequence[RouteView], said: Said) -> bool:
    """Whether a route shows brokers as they were and queue data as they became: Apache chooses both under a
    lock, and writes the queue data, which others change, when it has let go of it
    (`RouteInfoManager#pickupTopicRouteData`, both lines; seen with 5.3.3).
    """
    for view in predicted:
        queues = {
            name: view.queues.get(name, queue)
            if any(other.queues.get(name) == queue for other in predicted)
            else queue
            for name, queue in said.body.queues.items()
        }
        before = msgspec.structs.replace(said.body, queues=queues)
        if not differences(Prediction(body=view), Said(said.code, said.remark, said.ext, before)):
            return True
    return False


def _is_torn(part: Part, said: ClusterView) -> bool:
    """Whether cluster information shows a part in the middle of something: Apache writes it from live tables,
    without a lock (`RouteInfoManager#getAllClusterInfo`, both lines).
    """
    if len(part.states) == 1:
        return False
    states = part.states
    for name in part.names:
        views = [state.brokers.get(name) for state in states]
        ids = said.brokers[name][1] if name in said.brokers else None
        if ids is None:
            if None not in views:
                return False
            continue
        known = [{} if view is None else view.ids for view in views]
        always = set(known[0].items()).intersection(*(one.items() for one in known[1:]))
        if not always <= set(ids.items()) <= {item for one in known for item in one.items()}:
            return False
    for cluster in {*said.clusters, *(cluster for state in states for cluster in state.clusters)}:
        members = [state.clusters.get(cluster, _NOBODY) for state in states]
        found = said.clusters.get(cluster, _NOBODY)
        if not members[0].intersection(*members[1:]) <= found <= members[0].union(*members[1:]):
            return False
    return True


def _listed(name: str) -> Difference:
    """A name in a list that no part explains."""
    return Difference("listed", name, "surplus", "not listed", "listed")
