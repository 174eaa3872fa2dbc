"""What of a NameServer's reply is compared with what a case expects; the rules are those of `session.views`.

A broker id is an int in a view, whether its JSON name was quoted or not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Self

from harness.session.exchange import Exchange, NotSo, Path, View
from harness.session.outcome import Outcome
from harness.session.views import JsonExchange, json_of
from harness.wire import Command, RequestCode, WireError
from harness.wire.bodies import DataVersion

_COLUMNS = ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")


class RouteExchange(JsonExchange):
    """Code 105: TopicRouteData."""

    @property
    def queues(self) -> Self:
        """View: ``{broker name: (read queues, write queues, perm, sysflag)}``."""
        return self.seen_as(
            View("queues", _queues, ("queueDatas",), _COLUMNS, "body.queueDatas by brokerName")
        )

    @property
    def queue_members(self) -> Self:
        """View: ``{broker name: names of the members of its queue data}``."""

        def read(reply: Command) -> Any:
            named = _named(reply, "queueDatas")
            return None if named is None else {name: list(data) for name, data in named.items()}

        return self.seen_as(
            View("queue members", read, ("queueDatas",), said="members of body.queueDatas by brokerName")
        )

    @property
    def addresses(self) -> Self:
        """View: ``{broker name: {broker id: address}}``."""
        return self.seen_as(
            View(
                "addresses",
                _route_addresses,
                ("brokerDatas",),
                said="brokerAddrs in body.brokerDatas by brokerName",
            )
        )

    @property
    def brokers(self) -> Self:
        """View: ``{broker name: brokerData as plain Python}``."""
        return self.seen_as(
            View(
                "brokers",
                lambda reply: _named(reply, "brokerDatas"),
                ("brokerDatas",),
                said="body.brokerDatas by brokerName",
            )
        )

    @property
    def filters(self) -> Self:
        """View: ``{address: filter servers}``; None where the route has no such table."""
        return self._member("filterServerTable")

    @property
    def order(self) -> Self:
        """View: the order configuration of the topic, or None."""
        return self._member("orderTopicConf")

    @property
    def mappings(self) -> Self:
        """View: ``{broker name: static-topic mapping as plain Python}``, or None."""
        return self._member("topicQueueMappingByBroker")

    def _member(self, name: str) -> Self:
        def read(reply: Command) -> Any:
            value = json_of(reply)
            return None if value is None else _optional(value, name)

        return self.seen_as(View(name, read, (name,)))


class ClusterExchange(JsonExchange):
    """Code 106: ClusterInfo."""

    def addresses(self, broker: str) -> Self:
        """View: ``{broker id: address}`` of a broker name, or None where it is not listed."""
        path: Path = ("brokerAddrTable", broker, "brokerAddrs")

        def read(reply: Command) -> Any:
            data = _brokers(reply)
            return None if data is None or broker not in data else _ids(data[broker], path[:2])

        return self.seen_as(View(f"addresses of {broker}", read, path))

    def clusters(self, broker: str) -> Self:
        """View: the sorted names of the clusters that list a broker name."""

        def read(reply: Command) -> Any:
            table = _clusters(reply)
            return (
                None
                if table is None
                else sorted(name for name, members in table.items() if broker in members)
            )

        return self.seen_as(
            View(
                f"clusters of {broker}",
                read,
                ("clusterAddrTable",),
                said=f"clusters that list {broker} in body.clusterAddrTable",
            )
        )

    def broker(self, broker: str) -> Self:
        """View: brokerData of a broker name as plain Python, or None where it is not listed."""

        def read(reply: Command) -> Any:
            data = _brokers(reply)
            return None if data is None else data.get(broker)

        return self.seen_as(View(f"broker {broker}", read, ("brokerAddrTable", broker)))

    def names(self, cluster: str) -> Self:
        """View: the sorted broker names of a cluster, or None where there is no such cluster."""

        def read(reply: Command) -> Any:
            table = _clusters(reply)
            return None if table is None or cluster not in table else sorted(table[cluster])

        return self.seen_as(View(f"brokers of {cluster}", read, ("clusterAddrTable", cluster)))


class TopicsExchange(JsonExchange):
    """Codes 206, 224, 304 and 311 to 313: TopicList."""

    @property
    def names(self) -> Self:
        """View: all that are listed, in their order."""

        def read(reply: Command) -> Any:
            value = json_of(reply)
            return None if value is None else _member(value, "topicList", list, ())

        return self.seen_as(View("names", read, ("topicList",), said="body.topicList"))

    def among(self, names: Iterable[str]) -> Self:
        """View: those of ``names`` that are listed, sorted; each as often as it is listed."""
        wanted = set(names)

        def read(reply: Command) -> Any:
            value = json_of(reply)
            if value is None:
                return None
            topics = _member(value, "topicList", list, ())
            return sorted(topic for topic in topics if isinstance(topic, str) and topic in wanted)

        return self.seen_as(View("topics", read, ("topicList",), said="names of this case in body.topicList"))

    @property
    def address(self) -> Self:
        """View: the broker address that the list of system topics names, or None."""

        def read(reply: Command) -> Any:
            value = json_of(reply)
            return None if value is None else _optional(value, "brokerAddr")

        return self.seen_as(View("address", read, ("brokerAddr",)))


class ValueExchange(Exchange):
    """Code 101."""

    @property
    def value(self) -> Self:
        """View: the value, or None where the reply has none."""
        return self.seen_as(View("value", lambda reply: _field(reply, "value"), columns=("value",)))


class TableExchange(JsonExchange):
    """Code 219: KVTable."""

    @property
    def table(self) -> Self:
        """View: ``{key: value}``; None where the reply has no body."""

        def read(reply: Command) -> Any:
            value = json_of(reply)
            return None if value is None else _member(value, "table", dict, ())

        return self.seen_as(View("table", read, ("table",)))


CERTIFICATE = View("certificate", lambda _: None, said="SHA-256 of the certificate")
"""No part of a reply: `CertificateExchange.look` sees it."""


class CertificateExchange(Exchange):
    """Any request under TLS. It shows the target's certificate."""

    def look(self, outcome: Outcome) -> str | None:
        """SHA-256 of the certificate (DER), in hexadecimal."""
        link = self._request.asked.link
        certificate = None if link is None else link.certificate
        return None if certificate is None else hashlib.sha256(certificate).hexdigest()


class CountExchange(Exchange):
    """Codes 205 and 327."""

    @property
    def count(self) -> Self:
        """View: how many topics were touched (``wipeTopicCount`` or ``addTopicCount``); None where not
        said.
        """
        name = "wipeTopicCount" if self.code == RequestCode.WIPE_WRITE_PERM_OF_BROKER else "addTopicCount"
        return self.seen_as(View("count", _count, columns=(name,)))


class MemberGroupExchange(JsonExchange):
    """Code 901: BrokerMemberGroup inside its wrapper."""

    @property
    def addresses(self) -> Self:
        """View: ``{broker id: address}``."""
        return self.seen_as(
            View(
                "addresses",
                lambda reply: _in_group(reply, lambda group: _ids(group, ("brokerMemberGroup",))),
                ("brokerMemberGroup", "brokerAddrs"),
            )
        )

    @property
    def cluster(self) -> Self:
        """View: the cluster name, or None."""
        return self._plain("cluster")

    @property
    def broker_name(self) -> Self:
        """View: the broker name, or None."""
        return self._plain("brokerName")

    def _plain(self, member: str) -> Self:
        path: Path = ("brokerMemberGroup", member)
        return self.seen_as(
            View(member, lambda reply: _in_group(reply, lambda group: group.get(member)), path)
        )


class RegisterExchange(JsonExchange):
    """Code 103."""

    @property
    def master(self) -> Self:
        """View: ``(masterAddr, haServerAddr)``, each None where it is not given."""
        return self.seen_as(
            View(
                "master",
                lambda reply: (_field(reply, "masterAddr"), _field(reply, "haServerAddr")),
                columns=("masterAddr", "haServerAddr"),
            )
        )


class QueryVersionExchange(JsonExchange):
    """Code 322."""

    no_state: int | None = None
    """How this line writes a stateVersion of 0: 5.x as 0, 4.9 not at all. Readers take both as one."""

    @property
    def changed(self) -> Self:
        """View: True or False; None where the reply does not say."""

        def read(reply: Command) -> bool | None:
            changed = _field(reply, "changed")
            if changed is not None and changed.lower() not in ("true", "false"):
                raise NotSo(f"ext field changed is {changed!r}, neither true nor false")
            return None if changed is None else changed.lower() == "true"

        return self.seen_as(View("changed", read, columns=("changed",)))

    @property
    def stored(self) -> Self:
        """View: the ``DataVersion`` that the target holds, or None where the reply has no body."""

        def read(reply: Command) -> DataVersion | None:
            if not reply.body:
                return None
            try:
                stored = DataVersion.decode(reply.body)
            except WireError as problem:
                raise NotSo(str(problem)) from problem
            if not stored.state_version:
                stored.state_version = self.no_state
            return stored

        return self.seen_as(View("stored version", read, ()))


def _field(reply: Command, name: str) -> str | None:
    return (reply.ext or {}).get(name)


def _count(reply: Command) -> int | None:
    for name in ("wipeTopicCount", "addTopicCount"):
        count = _field(reply, name)
        if count is not None:
            if not count.isdecimal():
                raise NotSo(f"ext field {name} is {count!r}, not a number")
            return int(count)
    return None


def _member(value: Any, name: str, kind: type, path: Path) -> Any:
    if not isinstance(value, dict):
        raise NotSo(f"expected an object with {name}, found {_called(value)}", path)
    if name not in value:
        raise NotSo(f"there is no {name}", path, (*path, name))
    if not isinstance(value[name], kind):
        raise NotSo(f"{name} is {_called(value[name])}", (*path, name), (*path, name), "of another type")
    return value[name]


def _optional(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise NotSo(f"expected an object, found {_called(value)}")
    return value.get(name)


def _named(reply: Command, table: str) -> dict[str, Any] | None:
    """The elements of an array by their ``brokerName``."""
    value = json_of(reply)
    if value is None:
        return None
    found: dict[str, Any] = {}
    for number, element in enumerate(_member(value, table, list, ())):
        name = _member(element, "brokerName", str, (table, number))
        if name in found:
            raise NotSo(f"{name} is in {table} twice", (table, number))
        found[name] = element
    return found


def _queues(reply: Command) -> Any:
    named = _named(reply, "queueDatas")
    if named is None:
        return None
    return {
        name: tuple(
            _member(data, member, int, ("queueDatas", number))
            for member in ("readQueueNums", "writeQueueNums", "perm", _name_of_flag(data))
        )
        for number, (name, data) in enumerate(named.items())
    }


def _name_of_flag(data: dict[str, Any]) -> str:
    """Old releases of Apache's misspell it; one case judges that, and no other fails for it."""
    former = "topicSynFlag"
    return former if former in data else "topicSysFlag"


def _route_addresses(reply: Command) -> Any:
    named = _named(reply, "brokerDatas")
    if named is None:
        return None
    return {name: _ids(data, ("brokerDatas", number)) for number, (name, data) in enumerate(named.items())}


def _brokers(reply: Command) -> Any:
    value = json_of(reply)
    return None if value is None else _member(value, "brokerAddrTable", dict, ())


def _clusters(reply: Command) -> Any:
    value = json_of(reply)
    if value is None:
        return None
    table = _member(value, "clusterAddrTable", dict, ())
    for name, members in table.items():
        if not isinstance(members, list):
            raise NotSo(f"the members of {name} are {_called(members)}", ("clusterAddrTable", name))
    return table


def _in_group(reply: Command, read: Any) -> Any:
    value = json_of(reply)
    return None if value is None else read(_member(value, "brokerMemberGroup", dict, ()))


def _ids(data: Any, path: Path) -> dict[int | str, Any]:
    addresses = _member(data, "brokerAddrs", dict, path)
    return {int(name) if name.lstrip("-").isdigit() else name: address for name, address in addresses.items()}


def _called(value: Any) -> str:
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")
