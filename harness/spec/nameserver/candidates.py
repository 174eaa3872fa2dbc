"""What an answer leaves possible of the components of a server, under settings that it may have.

- An answer is held against each state of a component; one about several components, against each of them.
- Nothing is kept here: a `Candidate` says which states would be kept, or what is wrong where none would. Only
  what has become too much to follow is untracked at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.spec.nameserver import stored
from harness.spec.nameserver.answers import Answer, clusters_of_names, differences, in_clusters
from harness.spec.nameserver.component import Component, blank, restricted, unregistered
from harness.spec.nameserver.components import Components
from harness.spec.nameserver.predictions import ClusterView, ListView, Prediction, RouteView
from harness.spec.nameserver.specification import After, NameServerSpec
from harness.spec.nameserver.state import At, State
from harness.spec.nameserver.topic_changes import with_queues
from harness.spec.observation import Difference

_NOBODY: frozenset[str] = frozenset()


class Candidate(msgspec.Struct):
    """What an answer leaves possible, if the settings are what they are thought to be."""

    kept: list[tuple[Component, list[State]]]
    wrong: list[Difference] = []
    about: list[Component] = []
    was: str | None = None


class Candidates:
    """Tries answers on the components of a server; ``common`` is a state with its pairs and settings."""

    def __init__(self, spec: NameServerSpec, components: Components, names: Names) -> None:
        self._spec = spec
        self._components = components
        self._names = names

    def _try(
        self, component: Component, common: State, step: ns.AnyRequest, said: Answer, at: At
    ) -> tuple[list[After], list[Difference], str]:
        """What an answer leaves possible of a component; if nothing, how the nearest state differs."""
        kept: list[After] = []
        best: list[Difference] = []
        was = ""
        for state in component.told(common.settings):
            for after in self._spec.apply(state, step, at):
                found = self._spec.wrong(differences(after.prediction, said), step)
                if not found:
                    kept.append(after)
                elif not best or len(found) < len(best):
                    best, was = found, after.was
        return kept, best, was

    def of_a_name(
        self, common: State, component: Component | None, step: ns.AnyRequest, said: Answer, at: At
    ) -> Candidate:
        """Of a request about one broker name; ``component`` None: nothing is known of it."""
        if component is None:
            unknown = unregistered(common.settings)
            kept, best, was = self._try(unknown, common, step, said, at)
            return Candidate([], [] if kept else best, [], kept[0].was if kept else was)
        mine = said
        if isinstance(step, ns.Register) and said.code == 0:
            order = stored.order_table(common, self._spec.profile, self._names.is_ours)
            wrong = [
                self._spec.wrong(differences(Prediction(body=table), Answer(0, None, {}, said.body)), step)
                for _, table in order
            ]
            if all(wrong):
                return Candidate([], wrong[0], [])
            mine = Answer(said.code, said.remark, said.ext, None)
        kept, best, was = self._try(component, common, step, mine, at)
        if not kept:
            return Candidate([], best, [component], was)
        return Candidate([(component, [after.state for after in kept])], [], [], kept[0].was)

    def everywhere(self, common: State, step: ns.AnyRequest, said: Answer, at: At) -> Candidate:
        """216: every component must agree with the answer."""
        candidate = Candidate([])
        unknown = unregistered(common.settings)
        for component in (*self._components.all, unknown):
            kept, best, _ = self._try(component, common, step, said, at)
            if not kept:
                return Candidate([], best, [], "topic deleted")
            if component is not unknown:
                candidate.kept.append((component, [after.state for after in kept]))
        candidate.was = "topic deleted"
        return candidate

    def topic_given(self, common: State, step: ns.RegisterTopic, said: Answer, at: At) -> Candidate:
        """217: whether a broker name or the topic is known is a question to all components."""
        spec = self._spec
        unknown = unregistered(common.settings)
        kept, best, _ = self._try(unknown, common, step, said, at)
        if not kept:
            return Candidate([], best)
        topic = spec.name(step.topic)
        if step.form != "json" or not step.queues or "topic" in step.drop:
            return Candidate([])
        served = {topic in state.topics for component in self._components.all for state in component.states}
        exists = any(
            all(topic in state.topics for state in component.states) for component in self._components.all
        )
        unclear = topic in self._components.untracked or (True in served and not exists)
        added: dict[str, ns.Queues] = {}
        for symbol, queues in step.queues.items():
            name = spec.name(symbol)
            component = self._components.named(name)
            known = {False} if component is None else {name in state.brokers for state in component.states}
            if len(known) == 2 or (known == {False} and unclear):
                for one in [p for s in step.queues if (p := self._components.named(spec.name(s)))]:
                    self._components.untrack(one)
                self._components.untracked |= {topic}
                return Candidate([])
            if known == {False}:
                if not exists:
                    added = {}
                break
            added[name] = queues
        candidate = Candidate([], was="topic registered")
        for component in self._components.all:
            mine = {name: queues for name, queues in added.items() if name in component.names}
            if mine:
                candidate.kept.append(
                    (component, [with_queues(state, topic, mine) for state in component.states])
                )
        return candidate

    def route(self, common: State, step: ns.Route, said: Answer, at: At) -> Candidate:
        """105: what is said of each component, and what no component can say."""
        candidate = Candidate([])
        empty = True
        body = said.body
        topic = self._spec.name(step.topic)
        unknown = blank(common.settings)
        if said.code == 17 and not self._components.all:
            return self._as_unregistered(unknown, step, said, at)
        if not isinstance(body, RouteView):
            # Of another code, or nothing that can be read: every component must agree with it.
            agreed = False
            for component in self._components.all:
                if said.code == 17 and not any(self._serves(state, step) for state in component.states):
                    continue
                kept, best, was = self._try(component, common, step, said, at)
                if not kept:
                    return Candidate([], best, [component], was)
                agreed = True
                candidate.kept.append((component, [after.state for after in kept]))
            if said.code != 17 and not agreed:
                return self._as_unregistered(unknown, step, said, at)
            return candidate
        for component in self._components.all:
            mine = restricted(said, component)
            quiet = not (mine.body.queues or mine.body.brokers or mine.body.mappings or mine.body.filters)
            if quiet and not any(self._serves(state, step) for state in component.states):
                continue
            kept_states = []
            best = []
            predicted: list[RouteView] = []
            for state in component.told(common.settings):
                for after in self._spec.apply(state, step, at):
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
                    found = self._spec.wrong(differences(prediction, mine), step)
                    if not found:
                        kept_states.append(state)
                        empty = empty and after.prediction.code == 17
                    elif not best or len(found) < len(best):
                        best = found
            if not kept_states and _is_late(predicted, mine):
                kept_states, empty = component.states, False
            if not kept_states:
                return Candidate([], best, [component])
            candidate.kept.append((component, kept_states))
        return self._route_of_all(common, step, said, body, candidate, empty=empty)

    def _as_unregistered(self, unknown: State, step: ns.Route, said: Answer, at: At) -> Candidate:
        """An answer of a server on which nothing is registered."""
        found = [
            self._spec.wrong(differences(after.prediction, said), step)
            for after in self._spec.apply(unknown, step, at)
        ]
        return Candidate([], found[0] if all(found) else [])

    def _serves(self, state: State, step: ns.Route) -> bool:
        return self._spec.name(step.topic) in state.topics

    def _route_of_all(
        self,
        common: State,
        step: ns.Route,
        said: Answer,
        body: RouteView,
        candidate: Candidate,
        *,
        empty: bool,
    ) -> Candidate:
        """What no component can say of a route: names without an owner, and the order configuration."""
        topic = self._spec.name(step.topic)
        theirs = {
            name for component in self._components.all for name in component.names
        } | self._components.untracked
        for name in sorted({*body.queues, *body.brokers} - theirs):
            shown = str(body.brokers[name]) if name in body.brokers else "queue data without broker data"
            candidate.wrong = [Difference("broker", name, "surplus", "nothing", shown)]
            return candidate
        if empty and topic not in self._components.untracked:
            candidate.wrong = [Difference("code", "", "surplus", "code 17", "code 0")]
            return candidate
        order = None
        if common.settings.get("orderMessageEnable") == "true":
            known = common.kv.get(ORDER, common.unnamed)
            order = known.pairs.get(topic)
        if order != body.order:
            presence = "missing" if body.order is None else "surplus" if order is None else "other"
            differs = Difference("order", "", presence, str(order), str(body.order))  # type: ignore[arg-type]
            candidate.wrong = self._spec.wrong([differs], step)
        return candidate

    def cluster_info(self, common: State, step: ns.ClusterInfo, said: Answer, at: At) -> Candidate:
        """106: what is said of each component, and nothing but that."""
        candidate = Candidate([], [])
        body = said.body
        if not isinstance(body, ClusterView):
            unclear = self._components.untracked or any(
                len(component.states) > 1 for component in self._components.all
            )
            if said.code == 1 and unclear:
                # Apache's servers write it from tables that change meanwhile, without a lock.
                return Candidate([])
            unknown = unregistered(common.settings)
            return Candidate([], self._try(unknown, common, step, said, at)[1])
        for component in self._components.all:
            mine = restricted(said, component)
            kept, best, was = self._try(component, common, step, mine, at)
            if not kept and _is_torn(component, mine.body):
                continue
            if not kept:
                return Candidate([], best, [component], was)
            if len(kept) != len(component.states):
                candidate.kept.append((component, [after.state for after in kept]))
        theirs = {
            name for component in self._components.all for name in component.names
        } | self._components.untracked
        for name in sorted(set(body.brokers) - theirs):
            candidate.wrong.append(
                Difference("broker", name, "surplus", "nothing", str(body.brokers[name][1]))
            )
        for name, clusters in sorted(clusters_of_names(body.clusters).items()):
            if name not in theirs:
                candidate.wrong.append(
                    Difference("clusters", name, "surplus", in_clusters(None), in_clusters(clusters))
                )
        for cluster, members in sorted(body.clusters.items()):
            if not members and cluster not in self._components.untracked and not self._is_going(cluster):
                candidate.wrong.append(
                    Difference("clusters", cluster, "surplus", "no cluster", "one without names")
                )
        return candidate

    def _is_going(self, cluster: str) -> bool:
        """Whether the last name of a cluster may be leaving it: Apache's servers empty a cluster first, and
        write it meanwhile (`RouteInfoManager#getAllClusterInfo`, both lines).
        """
        return any(
            len(component.states) > 1 and any(cluster in state.clusters for state in component.states)
            for component in self._components.all
        )

    def listed(self, common: State, step: ns.AnyRequest, said: Answer, at: At) -> Candidate:
        """A topic is listed where any component serves it."""
        unknown = blank(common.settings)
        (plain,) = self._spec.apply(unknown, step, at)
        body = said.body
        if plain.prediction.code != 0 or not isinstance(body, ListView):
            return Candidate([], self._spec.wrong(differences(plain.prediction, said), step))
        nothing = Answer(said.code, said.remark, said.ext, ListView(_NOBODY))
        if found := self._spec.wrong(differences(plain.prediction, nothing), step):
            return Candidate([], found)
        if isinstance(step, ns.SystemTopics) and (
            wrong_address := self._spec.wrong(self._address(body), step)
        ):
            return Candidate([], wrong_address)
        twice = sorted(body.twice - self._components.untracked)
        often = [Difference("twice", one, "surplus", "once", "more often") for one in twice]
        if often := self._spec.wrong(often, step):
            return Candidate([], often)
        listed: list[tuple[Component, list[tuple[State, frozenset[str], frozenset[str]]]]] = []
        for component in self._components.all:
            views = []
            for state in component.told(common.settings):
                (after,) = self._spec.apply(state, step, at)
                views.append((state, after.prediction.body.names, after.prediction.body.perhaps))
            listed.append((component, views))
        forgiven = self._components.untracked | (
            self._disputed(listed) if isinstance(step, ns.Unit) else _NOBODY
        )
        candidate = Candidate([])
        explained: dict[str, list[Component]] = {}
        for i, (component, views) in enumerate(listed):
            kept = [view for view in views if not (view[1] - body.names - forgiven)]
            if not kept:
                missing = sorted(views[0][1] - body.names - forgiven)
                wrong = [Difference("listed", name, "missing", "listed", "not listed") for name in missing]
                return Candidate([], wrong, [component])
            listed[i] = (component, kept)
            for name in {name for _, names, perhaps in kept for name in (*names, *perhaps)}:
                explained.setdefault(name, []).append(component)
        surplus = sorted(body.names - explained.keys() - forgiven)
        if surplus:
            unclear = [component for component in self._components.all if component.shared]
            return Candidate([], [_listed(name) for name in surplus], unclear)
        for component, views in listed:
            alone = {n for n in body.names - forgiven if explained.get(n) == [component]}
            if len(component.states) > 1:
                fitting = [view[0] for view in views if alone <= (view[1] | view[2])]
                if not fitting:  # each is explained, but not all of them by one state
                    return Candidate([], [_listed(name) for name in sorted(alone)], [component])
                candidate.kept.append((component, fitting))
        return candidate

    def _address(self, said: ListView) -> list[Difference]:
        """What a system list tells beside its names, where nothing is open: an address, if it has a name."""
        unclear = self._components.untracked or any(
            len(component.states) > 1 for component in self._components.all
        )
        if unclear or not said.is_whole:
            return []
        if not said.names and said.address is not None:
            return [Difference("brokerAddr", "", "surplus", "no address", said.address)]
        if said.names and not said.address:
            return [Difference("brokerAddr", "", "missing", "the address of a broker", "none")]
        return []

    def _disputed(
        self, listed: list[tuple[Component, list[tuple[State, frozenset[str], frozenset[str]]]]]
    ) -> set[str]:
        """Topics of which brokers say different flags: any of them may count."""
        flags: dict[str, set[int]] = {}
        for _, views in listed:
            for state, _, _ in views:
                for topic, queues in state.topics.items():
                    flags.setdefault(topic, set()).update(queue[3] & 3 for queue in queues.values())
        return {topic for topic, found in flags.items() if len(found) > 1}


def _is_late(predicted: Sequence[RouteView], said: Answer) -> bool:
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
        if not differences(Prediction(body=view), Answer(said.code, said.remark, said.ext, before)):
            return True
    return False


def _is_torn(component: Component, said: ClusterView) -> bool:
    """Whether cluster information shows a component in the middle of a change: Apache writes it from live
    tables, without a lock (`RouteInfoManager#getAllClusterInfo`, both lines).
    """
    if len(component.states) == 1:
        return False
    states = component.states
    for name in component.names:
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
    """A name in a list that no component explains."""
    return Difference("listed", name, "surplus", "not listed", "listed")
