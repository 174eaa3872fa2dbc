"""A NameServer in virtual time, driven by bytes: what the unit tests of the reference talk to."""

from __future__ import annotations

import json
from typing import Any

from harness.wire import Command, FrameBuffer, RequestCode, decode, encode
from harness.wire.bodies import BrokerData, ClusterInfo, DataVersion, RegisterBody, TopicConfig, TopicRoute
from reference_impl.nameserver import Close, Effect, Endpoint, Persist, Send, build

CLUSTER = "c"


class Driver:
    """One endpoint, its clock (ms), and everything that it did."""

    def __init__(self, profile: str, **settings: Any) -> None:
        self.profile = profile
        self.endpoint: Endpoint = build(profile, **settings)
        self.now = 0
        self.closed: list[int] = []
        self.persisted: list[tuple[str, bytes]] = []
        self._connections = 0
        self._answers: dict[int, FrameBuffer] = {}
        self.client = self.connect()

    # -- connections and time --------------------------------------------------------------------------------

    def connect(self, peer: str | None = None) -> int:
        self._connections += 1
        self._answers[self._connections] = FrameBuffer()
        self._carry_out(
            self.endpoint.connected(self._connections, peer or f"9.9.9.9:{self._connections}", self.now)
        )
        return self._connections

    def send(self, data: bytes, on: int | None = None) -> None:
        connection = self.client if on is None else on
        self._carry_out(self.endpoint.received(connection, data, self.now))

    def answer(self, on: int | None = None) -> Command | None:
        """The next response on a connection, None if there is none."""
        frame = self._answers[self.client if on is None else on].next_frame()
        return None if frame is None else decode(frame)

    def lose(self, connection: int) -> None:
        self._carry_out(self.endpoint.lost(connection, self.now))

    def settle(self) -> None:
        """Let the worker do what it was given."""
        while self.endpoint.next_tick(self.now) <= self.now:
            self._carry_out(self.endpoint.tick(self.now))

    def advance(self, seconds: float) -> None:
        """Pass time in one jump."""
        self.now += round(seconds * 1000)
        self._carry_out(self.endpoint.tick(self.now))

    def advance_awake(self, seconds: float, *awake: int) -> None:
        """Pass time second by second, with a cheap query on each of these connections."""
        for _ in range(round(seconds)):
            self.advance(1)
            for connection in awake:
                if connection not in self.closed:
                    self.call(RequestCode.GET_KV_CONFIG, on=connection)

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(connection, data):
                    assert connection not in self.closed
                    self._answers[connection].feed(data)
                case Close(connection):
                    self.closed.append(connection)
                case Persist(path_key, data):
                    self.persisted.append((path_key, data))

    # -- requests --------------------------------------------------------------------------------------------

    def ask(
        self,
        code: int,
        ext: dict[str, str | None] | None = None,
        body: bytes = b"",
        *,
        on: int | None = None,
        **header: Any,
    ) -> Command | None:
        """Send a request; its response, or None for silence."""
        request = Command(code=code, ext=ext, body=body, **{"version": 479, "opaque": 7, **header})
        self.send(encode(request), on)
        return self.answer(on)

    def call(
        self, code: int, ext: dict[str, str | None] | None = None, body: bytes = b"", **more: Any
    ) -> Command:
        """Send a request that must be answered."""
        answer = self.ask(code, ext, body, **more)
        assert answer is not None, "silence"
        return answer

    def register(
        self,
        name: str = "b",
        id: int | str | None = 0,  # noqa: A002
        address: str | None = "1.1.1.1:1",
        topics: dict[str, TopicConfig] | tuple[str, ...] = ("TA", "TB"),
        version: DataVersion | None = None,
        cluster: str | None = CLUSTER,
        ext: dict[str, str | None] | None = None,
        **more: Any,
    ) -> Command:
        table = (
            topics if isinstance(topics, dict) else {topic: TopicConfig(topic_name=topic) for topic in topics}
        )
        body = more.pop("body", None)
        if body is None:
            content = RegisterBody(
                topics=table,
                data_version=version or DataVersion(1, 1000, 0),
                filter_servers=more.pop("filter_servers", []),
                mappings=more.pop("mappings", None),
            )
            body = content.encode()
        fields: dict[str, str | None] = {
            "brokerName": name,
            "brokerAddr": address,
            "clusterName": cluster,
            "haServerAddr": None if address is None else f"ha-{address}",
            "brokerId": None if id is None else str(id),
        }
        return self.call(RequestCode.REGISTER_BROKER, {**fields, **(ext or {})}, body, **more)

    def unregister(
        self,
        name: str = "b",
        id: int | str | None = 0,  # noqa: A002
        address: str | None = "1.1.1.1:1",
        cluster: str | None = CLUSTER,
    ) -> Command:
        ext: dict[str, str | None] = {"brokerName": name, "brokerAddr": address, "clusterName": cluster}
        return self.call(RequestCode.UNREGISTER_BROKER, ext | {"brokerId": None if id is None else str(id)})

    def query(
        self, version: DataVersion | None, address: str = "1.1.1.1:1", cluster: str = CLUSTER
    ) -> tuple[str | None, DataVersion | None]:
        """Code 322: (changed, stored version)."""
        ext: dict[str, str | None] = {
            "brokerName": "b",
            "brokerAddr": address,
            "clusterName": cluster,
            "brokerId": "0",
        }
        answer = self.call(RequestCode.QUERY_DATA_VERSION, ext, version.encode() if version else b"")
        assert answer.code == 0, answer
        assert answer.ext is not None
        return answer.ext["changed"], DataVersion.decode(answer.body) if answer.body else None

    # -- what is seen ----------------------------------------------------------------------------------------

    def route(self, topic: str = "TA", **more: Any) -> TopicRoute | None:
        answer = self.call(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, **more)
        if answer.code == 17:
            return None
        assert answer.code == 0, answer
        return TopicRoute.decode(answer.body)

    def perms(self, topic: str = "TA") -> dict[str | None, int]:
        route = self.route(topic)
        return {} if route is None else {queue.broker_name: queue.perm for queue in route.queue_datas}

    def cluster_info(self) -> ClusterInfo:
        return ClusterInfo.decode(self.call(RequestCode.GET_BROKER_CLUSTER_INFO).body)

    def broker(self, name: str = "b") -> BrokerData | None:
        return self.cluster_info().broker_addr_table.get(name)

    def addresses(self, name: str = "b") -> dict[int, str] | None:
        broker = self.broker(name)
        return None if broker is None else broker.broker_addrs

    def clusters(self) -> dict[str, list[str]]:
        return {cluster: sorted(names) for cluster, names in self.cluster_info().cluster_addr_table.items()}

    def topics(self) -> list[str]:
        body = self.call(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER).body
        return sorted(json.loads(body)["topicList"])


def version(counter: int = 1, timestamp: int = 1000, state: int = 0) -> DataVersion:
    return DataVersion(counter, timestamp, state)


def topic(name: str, **members: Any) -> TopicConfig:
    return TopicConfig(topic_name=name, **members)
