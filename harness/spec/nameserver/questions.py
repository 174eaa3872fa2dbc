"""What requests that ask are answered: routes, clusters, lists, data versions.

A question changes nothing; where the catalogue leaves an answer open, the prediction
says what must be in it and what may be.

Sources: `RouteInfoManager#pickupTopicRouteData`, `#getAllClusterInfo`, `#getSystemTopicList` and the other
lists, `ZoneRouteRPCHook`, `DefaultRequestProcessor`; statements ns.routes.*, ns.acting-master.*,
ns.cluster.*, ns.topics.*, ns.topic-lists.*.
"""

from __future__ import annotations

from harness.catalogue import Profile
from harness.program.nameserver.frames import ORDER
from harness.program.nameserver.steps import Route
from harness.spec.nameserver.departures import WRITE
from harness.spec.nameserver.predictions import (
    ANY,
    SOME,
    BrokerView,
    ClusterView,
    ListView,
    Prediction,
    RouteView,
)
from harness.spec.nameserver.state import Queue, State

_MEMBERS = "rmq_sys_SYNC_BROKER_MEMBER_"
"""Topics that brokers use among themselves: their routes show no acting master
(`TopicValidator#SYNC_BROKER_MEMBER_GROUP_PREFIX`).
"""


def route(state: State, step: Route, topic: str | None, line: Profile) -> Prediction:
    """105."""
    queues = {} if topic is None else state.topics.get(topic, {})
    brokers = {name: state.brokers[name] for name in queues if name in state.brokers}
    if topic is None or not brokers:
        return Prediction(17, SOME)
    views: dict[str, BrokerView] = {
        name: (broker.cluster, broker.ids, broker.acting if line.has("acting-master") else None, broker.zone)
        for name, broker in brokers.items()
    }
    mapped = state.mappings.get(topic, {}) if state.mappings else {}
    if state.settings.get("supportActingMaster") == "true" and not topic.startswith(_MEMBERS):
        views = {name: _with_acting_master(view, queues[name]) for name, view in views.items()}
    zone = step.zone if line.has("zones") else None
    if zone is not None and zone.strip() and (step.zone_mode or "").lower() == "true":
        views = {name: view for name, view in views.items() if _is_in(view, zone)}
        queues = {name: queue for name, queue in queues.items() if name in views}
        mapped = {name: (epoch, must and name in views) for name, (epoch, must) in mapped.items()}
    firm, perhaps = _filters(state, views) if state.filters else ({}, {})
    order = None
    if state.settings.get("orderMessageEnable") == "true":
        known = state.kv.get(ORDER)
        order = None if known is None else known.pairs.get(topic)
    return Prediction(
        body=RouteView(
            queues,
            views,
            firm,
            order,
            {name: epoch for name, (epoch, must) in mapped.items() if must},
            perhaps,
            {name: epoch for name, (epoch, must) in mapped.items() if not must},
        )
    )


def _with_acting_master(view: BrokerView, queue: Queue) -> BrokerView:
    cluster, ids, acting, zone = view
    if not acting or 0 in ids or not ids or queue[2] & WRITE:
        return view
    lowest = min(ids)
    return (cluster, {0 if n == lowest else n: address for n, address in ids.items()}, acting, zone)


def _is_in(view: BrokerView, zone: str) -> bool:
    _, ids, _, own = view
    return 0 not in ids or (own is not None and own.lower() == zone.lower())


def _filters(
    state: State, views: dict[str, BrokerView]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Filter servers that must be shown, and those that were registered under another cluster than the one
    that the name is listed with.
    """
    firm: dict[str, tuple[str, ...]] = {}
    perhaps: dict[str, tuple[str, ...]] = {}
    for (cluster, address), servers in state.filters.items():
        for own, ids, _, _ in views.values():
            if address in ids.values():
                (firm if cluster in ("", own) else perhaps)[address] = servers
    return firm, perhaps


def cluster_info(state: State, line: Profile) -> Prediction:
    """106."""
    return Prediction(
        body=ClusterView(
            {
                name: (
                    broker.cluster,
                    broker.ids,
                    broker.acting if line.has("acting-master") else None,
                    broker.zone,
                )
                for name, broker in state.brokers.items()
            },
            state.clusters,
        )
    )


def member_group(state: State, name: str | None, cluster: str | None) -> Prediction:
    """901. The group is found by its broker name alone; the cluster of the request is repeated."""
    broker = None if name is None else state.brokers.get(name)
    return Prediction(remark=ANY, body=(name, cluster, {} if broker is None else broker.ids))


def _listed(state: State, setting: str, names: frozenset[str], perhaps: frozenset[str]) -> Prediction:
    if state.settings.get(setting) == "false":
        return Prediction(1, "disable")
    return Prediction(body=ListView(names, perhaps=perhaps))


def topics(state: State) -> Prediction:
    """206."""
    return _listed(state, "enableAllTopicList", frozenset(state.topics), frozenset())


def topics_of_cluster(state: State, cluster: str | None) -> Prediction:
    """224."""
    members = frozenset() if cluster is None else state.clusters.get(cluster, frozenset())
    names = frozenset(t for t, queues in state.topics.items() if not members.isdisjoint(queues))
    return _listed(state, "enableTopicList", names, frozenset())


def unit_topics(state: State, code: int) -> Prediction:
    """311, 312, 313. Where the brokers of a topic disagree, one of them decides."""
    surely, perhaps = set(), set()
    for topic, queues in state.topics.items():
        verdicts = {_is_listed(code, queue[3]) for queue in queues.values()}
        if verdicts == {True}:
            surely.add(topic)
        elif True in verdicts:
            perhaps.add(topic)
    return _listed(state, "enableTopicList", frozenset(surely), frozenset(perhaps))


def _is_listed(code: int, flag: int) -> bool:
    unit, subscribed = bool(flag & 1), bool(flag & 2)
    return unit if code == 311 else subscribed if code == 312 else subscribed and not unit


def system_topics(state: State) -> Prediction:
    """304. The names of clusters and brokers."""
    names = set(state.clusters)
    for members in state.clusters.values():
        names |= members
    return Prediction(body=ListView(frozenset(names)))
