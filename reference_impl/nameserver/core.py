"""Requests and what is answered to them: the NameServer without connections, bytes or clocks.

1. One method per request code, found through `handlers`; each is a short sequence of decisions, and each
   decision is a method of its own, so that a mutant can replace exactly one (`parts.py` lists them).
2. A handler returns a Reply or raises RefusedError, and a request that is refused has changed nothing.
3. Identifiers that a request needs and does not carry are refused with code 1. (Apache notices some of them:
   others it answers with success, stores null names, or loses the unregistrations that it drained together.)

Source: DefaultRequestProcessor, ClientRequestProcessor, ZoneRouteRPCHook of rocketmq-all-4.9.8 and
rocketmq-all-5.3.3.
"""

from typing import TypeVar

import msgspec

from harness.wire import Command, RequestCode, ResponseCode, WireError, body_crc32
from harness.wire.bodies import (
    DataVersion,
    NullBodyError,
    Properties,
    RegisterBody,
    TopicConfig,
    TopicQueueMappingInfo,
    TopicRoute,
)
from harness.wire.bodies import KvTable as KvBody
from harness.wire.versions import V3_0_11, V4_9_4
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import Handler, RequestTable, answers, handlers_of

from .bodies import BodyMemory
from .config import Config
from .kv import ORDER_TOPIC_CONFIG, KvTable
from .routes import RouteTable
from .settings import Settings
from .state import Departure, Registered, Registration
from .topic_requests import TopicRequests

_T = TypeVar("_T")


class NameServer(TopicRequests, RequestTable):
    """What both lines share. Use NameServer49 or NameServer53."""

    def __init__(self, settings: Settings, routes: RouteTable, kv: KvTable, started: int) -> None:
        self.settings = settings
        self.profile = settings.profile
        self.routes: RouteTable = routes
        self.kv = kv
        self.started = started
        self.unwritten = False
        """Whether the KV table was changed since the caller last took `kv.dump()` to be written."""
        self.handlers = self.known_requests()
        self._bodies = BodyMemory(self.profile.v5, self.announced_topics, self.profile.engine)
        self._encoded: dict[tuple[str, bool], Reply] = {}
        self._encoded_at = -1

    @property
    def config(self) -> Config:
        """The settings in force at this moment."""
        return self.settings.config

    def unknown_request(self, command: Command) -> Reply | None:
        """The answer to a request code that the line does not know; None would be silence.

        Apache's 4.9 is silent, and its clients wait in vain; ours answers as 5.x does.
        """
        remark = f" request type {command.code} not supported"
        return Reply(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    def known_requests(self) -> dict[int, Handler]:
        """Request code to handler."""
        return handlers_of(self, self.profile)

    # -- registration ----------------------------------------------------------------------------------------

    @answers(RequestCode.REGISTER_BROKER)
    def register(self, command: Command, connection: int, now: int) -> Reply:
        """Checked in Apache's order: checksum, body, identifiers, then the rules of the route table."""
        if not self.checksum_holds(command):
            return Reply(ResponseCode.SYSTEM_ERROR, ext={}, remark="crc32 not match")
        registered = self.routes.register(self.registration(command, now), connection, now)
        if registered is None:
            return Reply(ResponseCode.SYSTEM_ERROR, ext={}, remark="register broker failed")
        return Reply(ResponseCode.SUCCESS, ext=self.registered_ext(registered), body=self.order_table())

    def checksum_holds(self, command: Command) -> bool:
        """`bodyCrc32` other than 0 must be that of the body as it was sent."""
        expected = fields.int32(command.ext, "bodyCrc32") or 0
        return expected == 0 or expected == body_crc32(command.body)

    def registration(self, command: Command, now: int) -> Registration:
        """What a registration says; raises RefusedError."""
        body = self.register_body(command)
        ext = command.ext or {}
        return Registration(
            cluster=self.needed(ext.get("clusterName"), "clusterName"),
            broker=self.needed(ext.get("brokerName"), "brokerName"),
            address=self.needed(ext.get("brokerAddr"), "brokerAddr"),
            id=self.needed(fields.int64(ext, "brokerId"), "brokerId"),
            version=self.announced_version(body, now),
            topics=body.topics or {},
            ha_address=ext.get("haServerAddr"),
            filter_servers=[] if body.filter_servers is msgspec.UNSET else body.filter_servers,
            mappings=self.announced_mappings(body),
            lease=fields.int64(ext, "heartbeatTimeoutMillis"),
            acting_master=fields.boolean(ext, "enableActingMaster"),
            zone=ext.get("__ZONE_NAME"),
        )

    def register_body(self, command: Command) -> RegisterBody:
        """The body of a registration; none: no topics and a version of zeros.

        Without a body there are no filter servers either; only for old brokers, whose body never has them,
        they stay as they were.
        """
        if command.version < 0:
            raise RefusedError(f"version {command.version} is negative")
        if not command.body:
            old = command.version < V3_0_11
            return RegisterBody(data_version=DataVersion(state_version=0), filter_servers=None if old else [])
        try:
            return self._bodies.read(
                fields.text(command.ext, "brokerAddr") or "",
                command.body,
                compressed=bool(fields.boolean(command.ext, "compressed")) and command.version >= V3_0_11,
                version=command.version,
            )
        except WireError as error:
            raise RefusedError(f"Failed to decode RegisterBrokerBody: {error}") from error

    def announced_version(self, body: RegisterBody, now: int) -> DataVersion:
        """The data version of a body; one that has none is given the present time, so that it equals none."""
        return body.data_version if body.versioned and body.data_version else DataVersion(timestamp=now)

    def announced_topics(self, body: RegisterBody) -> dict[str, TopicConfig]:
        """The topics of a body by their own name, which is what counts, not their key."""
        topics = body.topics or {}
        if list(topics) == [topic.topic_name for topic in topics.values()]:
            return topics
        return {self.needed(topic.topic_name, "topicName"): topic for topic in topics.values()}

    def announced_mappings(self, body: RegisterBody) -> list[tuple[str, str, TopicQueueMappingInfo]]:
        """(topic, broker name, mapping) of a body's static topics; the broker name is the mapping's own."""
        mappings = body.mappings or {}
        return [(topic, self.needed(found.bname, "bname"), found) for topic, found in mappings.items()]

    def registered_ext(self, registered: Registered) -> dict[str, str | None]:
        """The ext fields for a registrant; none is an empty object."""
        told = {"haServerAddr": registered.ha_address, "masterAddr": registered.master}
        return {name: value for name, value in told.items() if value is not None}

    def order_table(self) -> bytes:
        """The body of a registration's reply: the order-topic table, if that namespace has ever been used."""
        pairs = self.kv.pairs(ORDER_TOPIC_CONFIG)
        return b"" if pairs is None else KvBody(pairs).encode()

    def needed(self, value: _T | None, name: str) -> _T:
        """An identifier without which nothing can be done."""
        if value is None:
            raise RefusedError(f"{name} is missing or not of its type")
        return value

    # -- departure -------------------------------------------------------------------------------------------

    @answers(RequestCode.UNREGISTER_BROKER)
    def unregister(self, command: Command, connection: int, now: int) -> Reply:
        """An unknown broker is answered with success, and in 5.x a request without any ext field."""
        if command.ext is None and self.profile.v5:
            return Reply(ResponseCode.SUCCESS)
        if self.routes.depart(self.departure(command)):
            return Reply(ResponseCode.SUCCESS)
        return Reply(ResponseCode.SYSTEM_ERROR)

    def departure(self, command: Command) -> Departure:
        """What an unregistration asks for; raises RefusedError."""
        ext = command.ext or {}
        return Departure(
            cluster=self.needed(ext.get("clusterName"), "clusterName"),
            address=self.needed(ext.get("brokerAddr"), "brokerAddr"),
            brokers=(self.needed(ext.get("brokerName"), "brokerName"),),
            id=self.needed(fields.int64(ext, "brokerId"), "brokerId"),
        )

    # -- lease -----------------------------------------------------------------------------------------------

    @answers(RequestCode.QUERY_DATA_VERSION)
    def query_data_version(self, command: Command, connection: int, now: int) -> Reply:
        """Tells whether the broker's data version differs from the stored one; stores nothing."""
        given = self.given_version(command)
        cluster, address = self.queried_broker(command)
        stored = self.routes.stored_version(cluster, address)
        changed = stored is None or given is None or not self.routes.same_version(stored, given)
        if self.query_refreshes(changed):
            self.routes.refresh(cluster, address, now)
        return Reply(
            ResponseCode.SUCCESS,
            ext={"changed": "true" if changed else "false"},
            body=b"" if stored is None else self.encoded_version(stored),
        )

    def given_version(self, command: Command) -> DataVersion | None:
        """The data version in the body of a query, None if that says null; raises RefusedError."""
        try:
            return DataVersion.decode_as(command.body, self.profile.v5, self.profile.engine)
        except NullBodyError:
            return None
        except WireError as error:
            raise RefusedError(f"the body is not a data version: {error}") from error

    def queried_broker(self, command: Command) -> tuple[str, str | None]:
        """(cluster, address) whose lease a request means; raises RefusedError."""
        ext = command.ext
        return (
            self.needed(fields.text(ext, "clusterName"), "clusterName"),
            self.needed(fields.text(ext, "brokerAddr"), "brokerAddr"),
        )

    def query_refreshes(self, changed: bool) -> bool:
        """Whether a data-version query renews the lease."""
        raise NotImplementedError

    def encoded_version(self, version: DataVersion) -> bytes:
        """A stored data version as the body of a reply."""
        raise NotImplementedError

    # -- routes ----------------------------------------------------------------------------------------------

    @answers(RequestCode.GET_ROUTEINFO_BY_TOPIC)
    def get_route(self, command: Command, connection: int, now: int) -> Reply:
        ext = command.ext
        topic = None if ext is None else ext.get("topic")
        reply = None if topic is None else self.route_reply(topic, self.wants_standard_json(command), now)
        if reply is None:
            return Reply(ResponseCode.TOPIC_NOT_EXIST, remark=self.unknown_topic(topic))
        return reply

    def wants_standard_json(self, command: Command) -> bool:
        """Whether the client can only read JSON with quoted names."""
        return command.version >= V4_9_4 or fields.boolean(command.ext, "acceptStandardJsonOnly") is True

    def route_reply(self, topic: str, standard: bool, now: int) -> Reply | None:
        """The reply with a topic's route, encoded once while nothing changes; None for an unknown topic."""
        revision = self.routes.revision + self.kv.revision + self.settings.revision
        if revision != self._encoded_at:
            self._encoded.clear()
            self._encoded_at = revision
        reply = self._encoded.get((topic, standard))
        if reply is None:
            route = self.route(topic)
            if route is None:
                return None
            reply = Reply(ResponseCode.SUCCESS, body=self.encoded_route(route, standard), repeated=True)
            self._encoded[topic, standard] = reply
        return reply

    def route(self, topic: str) -> TopicRoute | None:
        """The route of a topic, order configuration included."""
        route = self.routes.route(topic)
        if route is not None and self.config.order_message_enable:
            route.order_topic_conf = self.kv.get(ORDER_TOPIC_CONFIG, topic)
        return route

    def encoded_route(self, route: TopicRoute, standard: bool) -> bytes:
        """The body of a route reply."""
        return route.encode("standard" if standard else "legacy")

    def unknown_topic(self, topic: str | None) -> str:
        """The remark for a topic without brokers."""
        return (
            f"No topic route info in name server for the topic: {'null' if topic is None else topic}\n"
            f"See {self.profile.faq} for further details."
        )

    @answers(RequestCode.GET_BROKER_CLUSTER_INFO)
    def get_cluster_info(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.routes.cluster_info().encode())

    # -- write permission ------------------------------------------------------------------------------------

    @answers(RequestCode.WIPE_WRITE_PERM_OF_BROKER)
    def wipe_write_permission(self, command: Command, connection: int, now: int) -> Reply:
        """The count is that of the broker name's topics, whatever their permission was."""
        name = fields.text(command.ext, "brokerName")
        count = 0 if name is None else self.routes.wipe_write_permission(name)
        return Reply(ResponseCode.SUCCESS, ext={"wipeTopicCount": str(count)})

    @answers(RequestCode.ADD_WRITE_PERM_OF_BROKER)
    def add_write_permission(self, command: Command, connection: int, now: int) -> Reply:
        """The count is that of the broker name's topics, whatever their permission was."""
        name = fields.text(command.ext, "brokerName")
        count = 0 if name is None else self.routes.add_write_permission(name)
        return Reply(ResponseCode.SUCCESS, ext={"addTopicCount": str(count)})

    # -- KV table --------------------------------------------------------------------------------------------

    @answers(RequestCode.PUT_KV_CONFIG)
    def put_kv(self, command: Command, connection: int, now: int) -> Reply:
        namespace, key = fields.text(command.ext, "namespace"), fields.text(command.ext, "key")
        if namespace is None or key is None:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="namespace or key is null")
        self.kv.put(namespace, key, fields.text(command.ext, "value"))
        self.kv_changed()
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.GET_KV_CONFIG)
    def get_kv(self, command: Command, connection: int, now: int) -> Reply:
        namespace, key = fields.text(command.ext, "namespace"), fields.text(command.ext, "key")
        value = self.kv.get(namespace, key)
        if value is None:
            remark = f"No config item, Namespace: {_shown(namespace)} Key: {_shown(key)}"
            return Reply(ResponseCode.QUERY_NOT_FOUND, ext={}, remark=remark)
        return Reply(ResponseCode.SUCCESS, ext={"value": value})

    @answers(RequestCode.DELETE_KV_CONFIG)
    def delete_kv(self, command: Command, connection: int, now: int) -> Reply:
        """An unknown key is answered with success."""
        namespace, key = fields.text(command.ext, "namespace"), fields.text(command.ext, "key")
        if namespace is not None and key is not None:
            self.kv.delete(namespace, key)
        self.kv_changed()
        return Reply(ResponseCode.SUCCESS)

    @answers(RequestCode.GET_KVLIST_BY_NAMESPACE)
    def list_kv(self, command: Command, connection: int, now: int) -> Reply:
        namespace = fields.text(command.ext, "namespace")
        pairs = self.kv.pairs(namespace)
        if pairs is None:
            return Reply(
                ResponseCode.QUERY_NOT_FOUND, remark=f"No config item, Namespace: {_shown(namespace)}"
            )
        return Reply(ResponseCode.SUCCESS, body=KvBody(pairs).encode())

    def kv_changed(self) -> None:
        """The table has to be on disk before the reply is sent."""
        self.unwritten = True

    # -- configuration ---------------------------------------------------------------------------------------

    @answers(RequestCode.UPDATE_NAMESRV_CONFIG)
    def update_config(self, command: Command, connection: int, now: int) -> Reply:
        """Without a body nothing is changed, and nothing written."""
        if command.body:
            try:
                pairs = self.given_settings(command.body)
            except WireError:
                return Reply(ResponseCode.SYSTEM_ERROR, remark="string2Properties error")
            if self.settings.refuses(pairs):
                return Reply(ResponseCode.NO_PERMISSION, remark="Can not update config in black list.")
            self.settings.update(pairs)
        return Reply(ResponseCode.SUCCESS)

    def given_settings(self, body: bytes) -> dict[str, str]:
        """The keys and values of an update. Raises WireError for a malformed escape."""
        return Properties.decode(body).pairs

    @answers(RequestCode.GET_NAMESRV_CONFIG)
    def get_config(self, command: Command, connection: int, now: int) -> Reply:
        return Reply(ResponseCode.SUCCESS, body=self.settings.dump())


def _shown(value: str | None) -> str:
    """How Java prints a string that may be null."""
    return "null" if value is None else value
