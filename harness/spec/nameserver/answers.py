"""From a command to what it says, and in what that differs from a prediction.

- A body is decoded once. Names that are not ours are left out of tables and lists over the whole server.
- A difference names an aspect (what kind of thing it is about), a name and which side has it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from harness.catalogue import Profile, messages
from harness.program.names import Names
from harness.program.nameserver import steps as ns
from harness.program.nameserver.frames import ORDER
from harness.program.steps import AnyStep
from harness.spec.nameserver.predictions import (
    BrokerView,
    ClusterView,
    ConfigView,
    ListView,
    Open,
    Prediction,
    RouteView,
    Unreadable,
)
from harness.spec.nameserver.state import PRESENT, Namespace
from harness.spec.observation import FAILURE_CODE, Difference, Presence
from harness.wire import Command, ResponseCode, WireError
from harness.wire.bodies import (
    BrokerData,
    BrokerMemberGroup,
    DataVersion,
    KvTable,
    TopicList,
    TopicRoute,
)
from harness.wire.bodies import ClusterInfo as ClusterBody
from harness.wire.versions import V4_9_4
from harness.wire.view import settings, standard_json, written_for_old_clients


class Answer(msgspec.Struct):
    """An answer."""

    code: int
    remark: str | None
    ext: dict[str, str | None]
    body: Any


# --- what was said ------------------------------------------------------------------------------------------


def answer_of(command: Command, step: ns.AnyRequest, names: Names, line: Profile) -> Answer:
    """What an answer says."""
    ext = command.ext or {}
    try:
        body = _body(command, step, names, line)
    except (WireError, ValueError) as problem:
        body = Unreadable(str(problem))
    return Answer(int(command.code), command.remark, ext, body)


def _body(command: Command, step: ns.AnyRequest, names: Names, line: Profile) -> Any:
    data = command.body
    if not data:
        return None
    if command.code != 0:
        return Unreadable("a body although it is no success")
    match step:
        case ns.Route():
            _strict(data, step, line)
            return _route(TopicRoute.decode(data))
        case ns.QueryVersion():
            version = DataVersion.decode(data)
            return (version.counter, version.timestamp, version.state_version or 0)
        case ns.ClusterInfo():
            return _cluster(ClusterBody.decode(data), names)
        case ns.Register():
            return {k: v for k, v in KvTable.decode(data).table.items() if names.is_ours(k)}
        case ns.Kv():
            table = KvTable.decode(data).table
            return table if step.namespace != ORDER else {k: v for k, v in table.items() if names.is_ours(k)}
        case ns.MemberGroup():
            group = BrokerMemberGroup.decode(data)
            return (group.broker_name, group.cluster, group.broker_addrs)
        case ns.Topics() | ns.TopicsOfCluster() | ns.SystemTopics() | ns.Unit():
            found = TopicList.decode(data)
            return _list(found.topic_list, found.broker_addr, names)
        case ns.Configuration():
            return ConfigView(dict(settings(data)))
    return Unreadable(f"{len(data)} bytes where no body is due")


def _strict(data: bytes, step: ns.Route, line: Profile) -> None:
    """Raises ``WireError`` where a client that can read standard JSON alone could not read a route."""
    modern = step.announces is None or step.announces >= V4_9_4 or bool(step.standard)
    zoned = line.has("zones") and (step.zone_mode or "").lower() == "true" and bool((step.zone or "").strip())
    if modern and not zoned and written_for_old_clients(data):
        standard_json(data)


def _broker(data: BrokerData) -> BrokerView:
    acting = data.enable_acting_master
    return (data.cluster, data.broker_addrs, acting, data.zone_name)


def _route(route: TopicRoute) -> RouteView | Unreadable:
    queues = {
        queue.broker_name or "": (
            queue.read_queue_nums,
            queue.write_queue_nums,
            queue.perm,
            queue.topic_sys_flag,
        )
        for queue in route.queue_datas
    }
    brokers = {data.broker_name or "": _broker(data) for data in route.broker_datas}
    if len(queues) != len(route.queue_datas) or len(brokers) != len(route.broker_datas):
        return Unreadable("a broker name more than once")
    if route.filter_server_table is None:
        return Unreadable("no filterServerTable")
    mappings = route.topic_queue_mapping_by_broker or {}
    return RouteView(
        queues,
        brokers,
        {address: tuple(servers) for address, servers in route.filter_server_table.items()},
        route.order_topic_conf,
        {name: mapping.epoch for name, mapping in mappings.items()},
    )


def _cluster(info: ClusterBody, names: Names) -> ClusterView | Unreadable:
    brokers: dict[str, BrokerView] = {}
    for name, data in info.broker_addr_table.items():
        if names.is_ours(name):
            if data.broker_name != name:
                return Unreadable(f"{data.broker_name!r} as the brokerName of {name!r}")
            brokers[name] = _broker(data)
    clusters: dict[str, frozenset[str]] = {}
    for cluster, members in info.cluster_addr_table.items():
        if names.is_ours(cluster):
            clusters[cluster] = frozenset(members)
            if len(clusters[cluster]) != len(members):
                return Unreadable(f"a broker name more than once in {cluster!r}")
    return ClusterView(brokers, clusters)


def _list(found: list[str], address: str | None, names: Names) -> ListView:
    ours = [name for name in found if names.is_ours(name)]
    unique = frozenset(ours)
    twice = frozenset(name for name in unique if ours.count(name) > 1) if len(unique) < len(ours) else None
    return ListView(unique, twice or frozenset(), is_whole=len(ours) == len(found), address=address)


Forgives = Callable[[AnyStep, Difference], bool]
"""Whether a difference in the answer to a step is known of the server, and looked past."""

_HELD = frozenset(
    {
        *("code", "answer", "broker", "address", "address twice", "cluster", "clusters"),
        *("queues", "queue numbers", "permission", "flag", "listed"),
        *("pair", "table", "value", "setting", "name"),
    }
)


def is_shown_only(one: Difference) -> bool:
    """Whether a difference is in how an answer is written or what it adds, and says nothing of what the
    server holds.
    """
    return one.aspect not in _HELD


_NOT_THERE = (17, 22)
"""TOPIC_NOT_EXIST, QUERY_NOT_FOUND."""


# --- what differs -------------------------------------------------------------------------------------------


def differences(predicted: Prediction, said: Answer) -> list[Difference]:
    """In what an answer differs from a prediction; nothing where it agrees."""
    if predicted.silent:
        return [Difference("answer", "", "surplus", "no answer", f"code {said.code}")]
    if predicted.learns and predicted.code < 0:
        if said.code in (0, 22):
            return []
        return [Difference("code", "", "other", "code 0 or 22", _code(said))]
    if predicted.code != said.code and predicted.code >= 0:
        presence: Presence = (
            "missing" if said.code in _NOT_THERE else "surplus" if predicted.code in _NOT_THERE else "other"
        )
        is_failure = predicted.code == ResponseCode.SYSTEM_ERROR and said.code > 0
        aspect = FAILURE_CODE if is_failure else "code"
        return [Difference(aspect, "", presence, f"code {predicted.code}", _code(said))]
    found = list(_remark(predicted, said.remark))
    if not isinstance(predicted.ext, Open) and predicted.ext != said.ext:
        found += _ext(predicted.ext, said.ext, strict=predicted.plain)
    if predicted.body is not said.body and not isinstance(predicted.body, Open):
        found += _bodies(predicted.body, said.body)
    return found


def _code(said: Answer) -> str:
    return f"code {said.code}" + (f" ({said.remark})" if said.remark else "")


def _remark(predicted: Prediction, said: str | None) -> Iterator[Difference]:
    """Of a remark. Whether one is empty or absent makes no difference."""
    if predicted.plain and said:
        yield Difference("remark", "", "surplus", "no remark", repr(said))
    elif isinstance(predicted.remark, Open):
        if predicted.remark.filled and not said:
            yield Difference("remark", "", "missing", "a remark", "none")
    elif predicted.remark != (said or ""):
        yield Difference("remark", "", "other", repr(predicted.remark), repr(said or ""))


@functools.cache
def _fields() -> frozenset[str]:
    """The ext fields that answers of NameServers have."""
    return frozenset(field.name for one in messages().of("nameserver") for field in one.response)


def _ext(predicted: dict[str, str], said: dict[str, str | None], *, strict: bool) -> Iterator[Difference]:
    """Of ext fields. What a server adds of its own is looked past."""
    added = said.keys() if strict else said.keys() & _fields()
    for field in sorted({*predicted, *added}):
        expected, actual = predicted.get(field), said.get(field)
        if expected != actual:
            yield _differ(field, field, expected, actual)


def _differ(aspect: str, name: str, expected: Any, actual: Any) -> Difference:
    presence: Presence = "missing" if actual is None else "surplus" if expected is None else "other"
    return Difference(aspect, name, presence, _text(expected), _text(actual))


def _text(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value)) or "nothing"
    return str(value)


def _bodies(predicted: Any, said: Any) -> Iterator[Difference]:
    if isinstance(said, Unreadable):
        yield Difference("body", "", "other", "a body that can be read", said.problem)
    elif isinstance(predicted, RouteView) and isinstance(said, RouteView):
        if predicted != said:
            yield from _routes(predicted, said)
    elif isinstance(predicted, ClusterView) and isinstance(said, ClusterView):
        if predicted != said:
            yield from _clusters(predicted, said)
    elif isinstance(predicted, ListView) and isinstance(said, ListView):
        if predicted != said:
            yield from _lists(predicted, said)
    elif isinstance(predicted, ConfigView) and isinstance(said, ConfigView):
        for name, value in predicted.settings.items():
            if said.settings.get(name) != value:
                yield _differ("setting", name, value, said.settings.get(name))
    elif isinstance(predicted, Namespace):
        yield from _tables(predicted, said)
    elif isinstance(predicted, tuple) and len(predicted) == 3 and isinstance(said, tuple):
        if predicted != said and not _is_own_version(predicted, said):
            yield from _tuples(predicted, said)
    elif predicted != said:
        aspect = "version" if isinstance(predicted or said, tuple) else "body"
        yield _differ(aspect, "", predicted, said)


def _is_own_version(predicted: Any, said: Any) -> bool:
    """Whether the server has given the version a time of its own, which may be any."""
    return predicted[1] == PRESENT and len(said) == len(predicted) and said[::2] == predicted[::2]


def _tables(predicted: Namespace, said: Any) -> Iterator[Difference]:
    if not isinstance(said, dict):
        yield _differ("table", "", "a table", None if said is None else said)
        return
    for key in sorted({*predicted.pairs, *said}):
        expected, actual = predicted.pairs.get(key), said.get(key)
        if expected != actual and (key in predicted.pairs or predicted.complete):
            yield _differ("pair", key, expected, actual)


def _tuples(predicted: Any, said: Any) -> Iterator[Difference]:
    if isinstance(predicted[2], int):
        yield _differ("version", "", predicted, said)
        return
    for aspect, expected, actual in zip(("name", "cluster"), predicted, said, strict=False):
        if expected != actual:
            yield _differ(aspect, str(predicted[0]), expected, actual)
    yield from _ids(str(predicted[0]), predicted[2], said[2])


def _ids(broker: str, predicted: dict[int, str], said: dict[int, str]) -> Iterator[Difference]:
    for number in sorted({*predicted, *said}):
        expected, actual = predicted.get(number), said.get(number)
        if expected != actual:
            one = _differ("address", broker, expected, actual)
            twice = actual is not None and list(said.values()).count(actual) > 1
            yield Difference(
                "address twice" if twice else "address",
                broker,
                one.presence,
                f"{one.expected} as {number}",
                f"{one.actual} as {number}",
                number,
            )


def _brokers(predicted: dict[str, BrokerView], said: dict[str, BrokerView]) -> Iterator[Difference]:
    if predicted == said:
        return
    for name in sorted({*predicted, *said}):
        expected, actual = predicted.get(name), said.get(name)
        if expected == actual:
            continue
        if expected is None or actual is None:
            yield _differ("broker", name, expected and expected[1], actual and actual[1])
            continue
        yield from _ids(name, expected[1], actual[1])
        for aspect, i in (("cluster", 0), ("acting", 2), ("zone", 3)):
            if expected[i] != actual[i]:
                yield _differ(aspect, name, expected[i], actual[i])


def _routes(predicted: RouteView, said: RouteView) -> Iterator[Difference]:
    yield from _brokers(predicted.brokers, said.brokers)
    for name in sorted({*predicted.queues, *said.queues}):
        expected, actual = predicted.queues.get(name), said.queues.get(name)
        if expected == actual:
            continue
        if expected is None or actual is None:
            yield _differ("queues", name, expected, actual)
            continue
        if (expected[0], expected[1]) != (actual[0], actual[1]):
            yield _differ("queue numbers", name, expected, actual)
        if expected[2] != actual[2]:
            yield _differ("permission", name, expected[2], actual[2])
        if expected[3] != actual[3]:
            yield _differ("flag", name, expected[3], actual[3])
    yield from _open_table("filters", predicted.filters, predicted.filters_perhaps, said.filters)
    yield from _open_table("mapping", predicted.mappings, predicted.mappings_perhaps, said.mappings)
    if predicted.order != said.order:
        yield _differ("order", "", predicted.order, said.order)


def _open_table(
    aspect: str, must: Mapping[str, Any], perhaps: Mapping[str, Any], said: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in sorted({*must, *said}):
        expected, actual = must.get(name), said.get(name)
        if expected != actual and (actual is None or perhaps.get(name) != actual):
            yield _differ(aspect, name, expected, actual)


def _clusters(predicted: ClusterView, said: ClusterView) -> Iterator[Difference]:
    yield from _brokers(predicted.brokers, said.brokers)
    if predicted.clusters == said.clusters:
        return
    theirs, shown = clusters_of_names(predicted.clusters), clusters_of_names(said.clusters)
    for name in sorted({*theirs, *shown}):
        expected, actual = theirs.get(name), shown.get(name)
        if expected != actual:
            presence: Presence = "missing" if actual is None else "surplus" if expected is None else "other"
            yield Difference("clusters", name, presence, in_clusters(expected), in_clusters(actual))


def clusters_of_names(clusters: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The clusters that list each broker name."""
    names = {name for members in clusters.values() for name in members}
    return {
        name: frozenset(cluster for cluster, members in clusters.items() if name in members) for name in names
    }


def in_clusters(clusters: Iterable[str] | None) -> str:
    """What a difference says of the clusters that list a name."""
    return f"in {', '.join(sorted(clusters))}" if clusters else "in no cluster"


def _lists(predicted: ListView, said: ListView) -> Iterator[Difference]:
    for name in sorted(said.twice):
        yield Difference("twice", name, "surplus", "once", "more than once")
    for name in sorted(predicted.names - said.names):
        yield Difference("listed", name, "missing", "listed", "not listed")
    for name in sorted(said.names - predicted.names - predicted.perhaps):
        yield Difference("listed", name, "surplus", "not listed", "listed")
