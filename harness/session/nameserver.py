"""What a case says to a NameServer.

Rules of this module:
- One method for one request, whose exchange has the views of its reply. No method judges, none waits, but
  ``settle``.
- Time is said in terms of a lease (``terms``).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Literal, Unpack

import msgspec

from harness.session.broker import BROKER_VERSION, Broker, Extra, Topics
from harness.session.connection import Connection
from harness.session.exchange import Asked, Exchange, Question
from harness.session.outcome import Replied
from harness.session.requests import Ext, HeaderFields, fields
from harness.session.session import Session, header_of
from harness.session.topic_session import TopicSession
from harness.session.transport import Instance
from harness.session.views import (
    CertificateExchange,
    ClusterExchange,
    ConfigExchange,
    CountExchange,
    MemberGroupExchange,
    RouteExchange,
    TableExchange,
    ValueExchange,
)
from harness.wire import Command, RequestCode, ResponseCode, encode
from harness.wire.bodies import DataVersion, Properties, RegisterBody, TopicConfig

__all__ = ["NameServerSession", "ProfileName", "announced_by"]

ProfileName = Literal["4.9", "5.3", "5.5"]


class _Line(msgspec.Struct, frozen=True):
    """What a session must know of a line of the protocol."""

    announces: int
    """MQVersion ordinal that a peer of that line sends (`MQVersion`)."""
    scan_interval: float
    """Seconds between two looks at the leases (`NamesrvController#initialize`)."""
    state_version: int | None
    """stateVersion of a data version; 4.9 has no such member (`DataVersion`)."""


_LINES: dict[str, _Line] = {
    "4.9": _Line(409, 10.0, None),
    "5.3": _Line(479, 5.0, 0),
    "5.5": _Line(513, 5.0, 0),
}


def announced_by(profile: str) -> int:
    """The version that peers of a line put into their headers (`MQVersion`)."""
    return _LINES[profile].announces


class NameServerSession(TopicSession):
    """The ``ns`` of a case.

    ``seed`` makes the names; give none and the names are new each time. ``case``, ``target`` and ``suite`` go
    into the head of the trace. ``deadline`` is in real seconds, time that the case advances by not counted.
    ``beside`` is the session of another NameServer, whose trace this one writes into too.
    """

    query = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER

    def __init__(
        self,
        instance: Instance,
        profile: ProfileName,
        *,
        seed: int | str | None = None,
        case: str = "",
        target: str = "",
        suite: str = "",
        started: float = 0.0,
        deadline: float = 60.0,
        beside: Session | None = None,
    ) -> None:
        line = _LINES[profile]
        self.profile: ProfileName = profile
        self._line = line
        self._topics: dict[str, str] = {}
        source = random.SystemRandom() if seed is None else random.Random(seed)
        header = header_of(instance, suite=suite, target=target, profile=profile, case=case, started=started)
        super().__init__(
            instance,
            header=header,
            random_source=source,
            announces=line.announces,
            probe=_probe,
            deadline=deadline,
            beside=beside,
        )

    # --- time -----------------------------------------------------------------------------------------------

    @property
    def scan_interval(self) -> float:
        """Protocol seconds within which a lease that has run out is noticed."""
        return self._line.scan_interval

    def settle(self) -> None:
        """Waits until the target has carried out what it does behind a reply or behind a close.

        Two sentinel brokers are registered; one is unregistered, the connection of the other is closed; when
        both are gone, so is what was asked or closed before (5.x queues both in one line,
        `BatchUnregistrationService`). Where they do not go within the patience of 2 s, the trace says so and
        the case goes on.
        """
        staying, leaving = self.connect(), self.connect()
        topics = [self._sentinel(staying, leaves=True), self._sentinel(leaving, leaves=False)]
        leaving.close()
        clock = self.clock
        end = clock.waiting() + clock.timing.patience
        while any(self._is_routed(topic, staying) for topic in topics):
            if clock.waiting() >= end:
                self.note("settle: the sentinels are still there")
                break
            self.pause(clock.timing.pause)
        staying.close()

    # --- brokers and topics ---------------------------------------------------------------------------------

    @property
    def first_state_version(self) -> int | None:
        """The stateVersion of a broker's first data version: 0, or None in a line that has no such member."""
        return self._line.state_version

    def topic(self, hint: str) -> str:
        """The topic of this session that is called so; the same name whenever the hint is the same.

        A name that the session made is its own hint.
        """
        if self._names.is_ours(hint):
            return hint
        if hint not in self._topics:
            self._topics[hint] = self.name(hint)
        return self._topics[hint]

    def broker(
        self,
        id: int = 0,  # noqa: A002  (the protocol's word)
        name: str | None = None,
        cluster: str | None = None,
        address: str | None = None,
        topics: Topics = ("A", "B"),
        ha: str | None = None,
        on: Connection | None = None,
    ) -> Broker:
        """A broker with unique names for what is not given, and a connection of its own unless ``on`` is
        one.
        """
        return Broker(
            self,
            id=id,
            name=self.name("broker") if name is None else name,
            cluster=self.name("cluster") if cluster is None else cluster,
            address=self.address() if address is None else address,
            ha=self.address() if ha is None else ha,
            topics=topics,
            on=on,
        )

    # --- requests -------------------------------------------------------------------------------------------

    def route(
        self,
        topic: str | None,
        standard: bool | None = None,
        *,
        ext: Extra | None = None,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> RouteExchange:
        """GET_ROUTEINFO_BY_TOPIC (105). ``standard`` sends ``acceptStandardJsonOnly``."""
        sent = {**fields(topic=topic, acceptStandardJsonOnly=standard), **(ext or {})}
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        return RouteExchange(self.question(code, sent, b"", on, f"route of {topic}", header))

    def cluster(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> ClusterExchange:
        """GET_BROKER_CLUSTER_INFO (106)."""
        code = RequestCode.GET_BROKER_CLUSTER_INFO
        return ClusterExchange(self.question(code, None, b"", on, "cluster information", header))

    def question(
        self, code: int, ext: Ext, body: bytes, on: Connection | None, subject: str, header: HeaderFields
    ) -> Question:
        """As for every session. Cluster information is asked for again where Apache fails because brokers
        come and go.
        """
        question = super().question(code, ext, body, on, subject, header)
        if code == RequestCode.GET_BROKER_CLUSTER_INFO:
            question.excuses = _changed_meanwhile
        return question

    def put_kv(
        self,
        namespace: str | None,
        key: str | None,
        value: str | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """PUT_KV_CONFIG (100). A field that is None is left out."""
        sent = fields(namespace=namespace, key=key, value=value)
        code = RequestCode.PUT_KV_CONFIG
        return Exchange(self.question(code, sent, b"", on, f"put {key} in {namespace}", header))

    def get_kv(
        self,
        namespace: str | None,
        key: str | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> ValueExchange:
        """GET_KV_CONFIG (101)."""
        sent = fields(namespace=namespace, key=key)
        code = RequestCode.GET_KV_CONFIG
        return ValueExchange(self.question(code, sent, b"", on, f"value of {key} in {namespace}", header))

    def delete_kv(
        self,
        namespace: str | None,
        key: str | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """DELETE_KV_CONFIG (102)."""
        sent = fields(namespace=namespace, key=key)
        code = RequestCode.DELETE_KV_CONFIG
        return Exchange(self.question(code, sent, b"", on, f"delete {key} in {namespace}", header))

    def list_kv(
        self, namespace: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> TableExchange:
        """GET_KVLIST_BY_NAMESPACE (219)."""
        code = RequestCode.GET_KVLIST_BY_NAMESPACE
        sent = fields(namespace=namespace)
        return TableExchange(self.question(code, sent, b"", on, f"list of namespace {namespace}", header))

    def wipe_write_perm(
        self, broker: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> CountExchange:
        """WIPE_WRITE_PERM_OF_BROKER (205)."""
        code = RequestCode.WIPE_WRITE_PERM_OF_BROKER
        return CountExchange(
            self.question(
                code, fields(brokerName=broker), b"", on, f"wipe write permission of {broker}", header
            )
        )

    def add_write_perm(
        self, broker: str | None, *, on: Connection | None = None, **header: Unpack[HeaderFields]
    ) -> CountExchange:
        """ADD_WRITE_PERM_OF_BROKER (327)."""
        code = RequestCode.ADD_WRITE_PERM_OF_BROKER
        return CountExchange(
            self.question(
                code, fields(brokerName=broker), b"", on, f"add write permission of {broker}", header
            )
        )

    def member_group(
        self,
        cluster: str | None,
        broker: str | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> MemberGroupExchange:
        """GET_BROKER_MEMBER_GROUP (901), which only 5.x knows."""
        sent = fields(clusterName=cluster, brokerName=broker)
        code = RequestCode.GET_BROKER_MEMBER_GROUP
        return MemberGroupExchange(self.question(code, sent, b"", on, f"member group of {broker}", header))

    def update_config(
        self,
        given: Mapping[str, str] | str | bytes | None,
        *,
        on: Connection | None = None,
        **header: Unpack[HeaderFields],
    ) -> Exchange:
        """UPDATE_NAMESRV_CONFIG (318): pairs, the text of pairs as it is, or None for no body."""
        body = Properties(dict(given)).encode() if isinstance(given, Mapping) else given or b""
        text = body.encode() if isinstance(body, str) else body
        code = RequestCode.UPDATE_NAMESRV_CONFIG
        return Exchange(self.question(code, None, text, on, f"update of the configuration: {text!r}", header))

    def config(self, *, on: Connection | None = None, **header: Unpack[HeaderFields]) -> ConfigExchange:
        """GET_NAMESRV_CONFIG (319)."""
        code = RequestCode.GET_NAMESRV_CONFIG
        return ConfigExchange(self.question(code, None, b"", on, "configuration", header))

    def file(self, name: str, data: bytes) -> None:
        """Puts a file into the target's own directory, which settings call ``{dir}``. One that is there is
        replaced at one blow. Raises ``Unsupported`` where the target has no such directory.
        """
        self.note(f"file {name}, {len(data)} bytes")
        self._instance.place(name, data)

    def certificate(self) -> CertificateExchange:
        """A cheap request over a new TLS connection, whose exchange shows the target's certificate."""

        def ask() -> Asked:
            link = self.connect(tls=True).link
            request = _probe(self.next_opaque(), self._line.announces, self.nonce)
            data, want = encode(request), link.want(request.opaque)
            sent_at = self.clock.now()
            return Asked(link, want, request, data, link.send(data), sent_at)

        return CertificateExchange(Question(self, "certificate", ask))

    # --- within ---------------------------------------------------------------------------------------------

    def _sentinel(self, connection: Connection, *, leaves: bool) -> str:
        """Registers a broker that nobody looks for, and lets it leave again; returns a topic of it."""
        broker, cluster, address = self.name("sentinel"), self.name("sentinels"), self.address()
        topics = [self.name("sentinel"), self.name("sentinel")]
        identity = {"brokerName": broker, "brokerAddr": address, "clusterName": cluster, "brokerId": "0"}
        body = RegisterBody(
            topics={topic: TopicConfig(topic_name=topic) for topic in topics},
            data_version=DataVersion(1, BROKER_VERSION, self.first_state_version),
        ).encode()
        register = {**identity, "haServerAddr": address}
        self.ask_own(RequestCode.REGISTER_BROKER, register, body, connection)
        if leaves:
            self.ask_own(RequestCode.UNREGISTER_BROKER, identity, b"", connection)
        return topics[0]

    def _is_routed(self, topic: str, connection: Connection) -> bool:
        outcome = self.ask_own(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}, b"", connection)
        return isinstance(outcome, Replied) and outcome.command.code == ResponseCode.SUCCESS


def _changed_meanwhile(reply: Command) -> bool:
    """Whether cluster information changed while it was written: Apache's servers do that without a lock and
    may then fail with this exception and code 1 (apache/rocketmq#1432; on both lines).
    """
    remark = reply.remark or ""
    return reply.code == ResponseCode.SYSTEM_ERROR and "ConcurrentModificationException" in remark


def _probe(opaque: int, version: int, nonce: str) -> Command:
    """The cheapest request that every NameServer answers: the route of a topic that does not exist."""
    return Command(
        code=RequestCode.GET_ROUTEINFO_BY_TOPIC,
        opaque=opaque,
        version=version,
        ext={"topic": f"nothing-{nonce}"},
    )
