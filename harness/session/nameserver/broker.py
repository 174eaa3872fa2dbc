"""A simulated broker: what a real one would send, with everything that a case may want otherwise.

- One connection for one broker, opened when it is first used: closing one that several share removes only
  one of them (`RouteInfoManager#onChannelDestroy`).
- Defaults are what both lines accept: two topics in a first registration, compact JSON, a version both
  know.
- A request looks as Apache's own broker of the profile's line writes it, members without content included
  (`BrokerOuterAPI#registerBrokerAll`): what a server refuses, it refuses to real brokers too. What
  Apache's servers do without is left out by the cases whose point that is.
- Every value can be overridden for one request; ``ext`` adds or replaces ext fields, and None in it leaves
  one out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack, cast

import msgspec

from harness.session.connection import Connection
from harness.session.exchange import Exchange
from harness.session.listener import Listener
from harness.session.nameserver.views import QueryVersionExchange, RegisterExchange
from harness.session.requests import BrokerHeader, HeaderFields, fields
from harness.wire import RequestCode, body_crc32
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig

if TYPE_CHECKING:
    from harness.session.nameserver.session import NameServerSession


Topics = Iterable[str] | Mapping[str, TopicConfig | tuple[int, ...]]
"""Hints or names of topics, or a mapping from them to ``(read queues, write queues, perm[, sysflag])``."""

Extra = Mapping[str, str | int | bool | None]
"""Ext fields to add or replace; None leaves a field out."""

BROKER_VERSION = 1_700_000_000_000
"""Timestamp (ms) of every broker's first data version."""

_E = TypeVar("_E", bound=Exchange)
_NO_FILTERS: list[str | None] = []
_QUEUES = 8
_PERM = 6


class Broker:
    """One broker of a case. Made by ``ns.broker(…)``; nothing is sent before the first request."""

    def __init__(
        self,
        session: NameServerSession,
        *,
        id: int,  # noqa: A002  (the protocol's word)
        name: str,
        cluster: str,
        address: str,
        ha: str,
        topics: Topics,
        on: Connection | None,
    ) -> None:
        self._session = session
        self._connection = on
        self.id = id
        self.name = name
        self.cluster = cluster
        self.address = address
        self.ha = ha
        self.topics: dict[str, TopicConfig] = self._configs(topics)
        """By full name."""
        self.version = DataVersion(
            counter=1, timestamp=BROKER_VERSION, state_version=session.first_state_version
        )
        """Sent where a request is given no other. Assign to it to change what the broker holds."""

    @property
    def connection(self) -> Connection:
        """Its connection; opened when first asked for."""
        if self._connection is None:
            self._connection = self._session.connect()
        return self._connection

    def reconnect(self) -> Connection:
        """Uses a new connection from now on. The old one stays as it is."""
        self._connection = self._session.connect()
        return self._connection

    def listen(self) -> Listener:
        """Listens where the target can reach it, and has that as its address from now on.

        Raises ``Unsupported`` where there is no such place.
        """
        listener = self._session.listen()
        self.address = listener.address
        return listener

    def topic(self, hint: str) -> str:
        """The unique name of a topic; the same for all brokers of the session."""
        return self._session.topic(hint)

    def sibling(self, id: int = 1, topics: Topics = ("C", "D")) -> Broker:  # noqa: A002
        """A new broker of the same name and cluster, at an address of its own: as a rule this one's slave."""
        return self._session.broker(id, self.name, self.cluster, topics=topics)

    def newer(self, n: int = 1) -> DataVersion:
        """A data version ``n`` changes later than the broker's (earlier where ``n`` is negative)."""
        return DataVersion(
            counter=self.version.counter + n,
            timestamp=self.version.timestamp + n,
            state_version=self.version.state_version,
        )

    def register(
        self,
        topics: Topics | None = None,
        version: DataVersion | None = None,
        *,
        compressed: bool = False,
        crc: Literal["right"] | int | None = "right",
        body: bytes | None = None,
        filters: list[str | None] | msgspec.UnsetType | None = _NO_FILTERS,
        ext: Extra | None = None,
        id: int | None = None,  # noqa: A002
        address: str | None = None,
        cluster: str | None = None,
        name: str | None = None,
        ha: str | None = None,
        on: Connection | None = None,
        announces: int | None = None,
        **header: Unpack[BrokerHeader],
    ) -> RegisterExchange:
        """REGISTER_BROKER (103). ``.master`` shows what a slave learns.

        ``version`` is the data version; ``announces`` the ordinal of the release in the header. ``body``
        replaces the whole body. ``filters`` None sends an explicit null, ``msgspec.UNSET`` leaves the member
        out. ``crc`` is the right one as a rule, a number sends that number, None sends no such field.
        """
        is_ordinary = not (body or ext or header or compressed or announces is not None or crc != "right")
        if body is None:
            body = self._body(topics, version, compressed, filters)
        crc32 = body_crc32(body) if crc == "right" else crc
        sent = _with(
            fields(
                brokerName=self.name if name is None else name,
                brokerAddr=self.address if address is None else address,
                clusterName=self.cluster if cluster is None else cluster,
                haServerAddr=self.ha if ha is None else ha,
                brokerId=self.id if id is None else id,
                compressed=compressed,
                bodyCrc32=crc32,
            ),
            ext,
        )
        return self._ask(
            RegisterExchange,
            RequestCode.REGISTER_BROKER,
            sent,
            body,
            on,
            announces,
            header,
            is_ordinary=is_ordinary and filters is _NO_FILTERS,
        )

    def unregister(
        self,
        *,
        id: int | None = None,  # noqa: A002
        address: str | None = None,
        cluster: str | None = None,
        name: str | None = None,
        ext: Extra | None = None,
        on: Connection | None = None,
        announces: int | None = None,
        **header: Unpack[BrokerHeader],
    ) -> Exchange:
        """UNREGISTER_BROKER (104)."""
        sent = _with(self._identity(id, address, cluster, name), ext)
        return self._ask(Exchange, RequestCode.UNREGISTER_BROKER, sent, b"", on, announces, header)

    def query_version(
        self,
        version: DataVersion | None = None,
        *,
        body: bytes | None = None,
        id: int | None = None,  # noqa: A002
        address: str | None = None,
        cluster: str | None = None,
        name: str | None = None,
        ext: Extra | None = None,
        on: Connection | None = None,
        announces: int | None = None,
        **header: Unpack[BrokerHeader],
    ) -> QueryVersionExchange:
        """QUERY_DATA_VERSION (322). ``.changed`` and ``.stored`` show the answer."""
        if body is None:
            body = (self.version if version is None else version).encode()
        sent = _with(self._identity(id, address, cluster, name), ext)
        code = RequestCode.QUERY_DATA_VERSION
        asked = self._ask(QueryVersionExchange, code, sent, body, on, announces, header)
        asked.no_state = self._session.first_state_version
        return asked

    def heartbeat(
        self,
        *,
        id: int | None = None,  # noqa: A002
        address: str | None = None,
        cluster: str | None = None,
        name: str | None = None,
        ext: Extra | None = None,
        on: Connection | None = None,
        announces: int | None = None,
        **header: Unpack[BrokerHeader],
    ) -> Exchange:
        """BROKER_HEARTBEAT (904), which only 5.x knows."""
        sent = _with(self._identity(id, address, cluster, name), ext)
        return self._ask(Exchange, RequestCode.BROKER_HEARTBEAT, sent, b"", on, announces, header)

    def body(self, topics: Topics | None = None, version: DataVersion | None = None) -> RegisterBody:
        """The body that ``register`` would send, to be tampered with."""
        return self._whole(self.topics if topics is None else self._configs(topics), version)

    def body_of(self, *topics: str | TopicConfig) -> RegisterBody:
        """The body of an ordinary registration of topics with these whole names, or as they are."""
        configs = [TopicConfig(topic_name=one) if isinstance(one, str) else one for one in topics]
        return self._whole({str(config.topic_name): config for config in configs}, None)

    def _whole(self, topics: dict[str, TopicConfig], version: DataVersion | None) -> RegisterBody:
        body = RegisterBody(topics=topics, data_version=self.version if version is None else version)
        if self._session.profile.has("topic-attributes"):
            body.mappings, body.mapping_details = {}, {}
            body.mapping_data_version = DataVersion(timestamp=BROKER_VERSION, state_version=0)
            for topic in (body.topics or {}).values():
                topic.attributes = topic.attributes or {}
        return body

    def _body(
        self,
        topics: Topics | None,
        version: DataVersion | None,
        compressed: bool,
        filters: list[str | None] | msgspec.UnsetType | None,
    ) -> bytes:
        body = self.body(topics, version)
        body.filter_servers = filters
        return (
            body.encode_compressed(v5=self._session.profile.has("topic-attributes"))
            if compressed
            else body.encode()
        )

    def _configs(self, topics: Topics) -> dict[str, TopicConfig]:
        if isinstance(topics, Mapping):
            return {
                (name := self._session.topic(hint)): (
                    config if isinstance(config, TopicConfig) else _config(name, *config)
                )
                for hint, config in topics.items()
            }
        return {(name := self._session.topic(hint)): _config(name) for hint in topics}

    def _identity(
        self,
        id: int | None,  # noqa: A002
        address: str | None,
        cluster: str | None,
        name: str | None,
    ) -> dict[str, str | int | bool | None]:
        return fields(
            brokerName=self.name if name is None else name,
            brokerAddr=self.address if address is None else address,
            clusterName=self.cluster if cluster is None else cluster,
            brokerId=self.id if id is None else id,
        )

    def _ask(
        self,
        kind: type[_E],
        code: RequestCode,
        ext: dict[str, str | int | bool | None],
        body: bytes,
        on: Connection | None,
        announces: int | None,
        header: BrokerHeader,
        *,
        is_ordinary: bool | None = None,
    ) -> _E:
        """`is_ordinary`: by default, if it has nothing but the code's own fields in an ordinary header."""
        whole = cast(HeaderFields, dict(header))
        if announces is not None:
            whole["version"] = announces
        connection = self.connection if on is None else on
        request = self._session.request(code, ext, body, connection, self.name, whole)
        request.is_ordinary = not whole if is_ordinary is None else is_ordinary
        return kind(request)


def _with(ext: dict[str, str | int | bool | None], extra: Extra | None) -> dict[str, str | int | bool | None]:
    return fields(**{**ext, **(extra or {})})


def _config(
    name: str, read: int = _QUEUES, write: int = _QUEUES, perm: int = _PERM, sysflag: int = 0
) -> TopicConfig:
    return TopicConfig(
        topic_name=name, read_queue_nums=read, write_queue_nums=write, perm=perm, topic_sys_flag=sysflag
    )
