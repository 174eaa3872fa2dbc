"""What the 5.x line answers differently.

Source: DefaultRequestProcessor, ClientRequestProcessor, ZoneRouteRPCHook of rocketmq-all-5.3.3.
"""

from harness.wire import Command, RequestCode, ResponseCode, WireError
from harness.wire.bodies import BrokerData, BrokerMemberGroup, DataVersion, NullBodyError, TopicRoute
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply
from reference_impl.remoting.requests import answers

from .core import NameServer
from .routes import MASTER
from .routes_53 import RouteTable53
from .state import Queue


class NameServer53(NameServer):
    """Heartbeats, member groups, topics without a broker, zones, a gate for routes, switches for lists."""

    routes: RouteTable53

    def order_table(self) -> bytes:
        return super().order_table() if self.config.return_order_topic_config_to_broker else b""

    def given_version(self, command: Command) -> DataVersion | None:
        """No body is no version, which differs from every other."""
        return super().given_version(command) if command.body else None

    def query_refreshes(self, changed: bool) -> bool:
        return True

    def encoded_version(self, version: DataVersion) -> bytes:
        state_version = version.state_version or 0
        return DataVersion(
            counter=version.counter, timestamp=version.timestamp, state_version=state_version
        ).encode()

    def get_route(self, command: Command, connection: int, now: int) -> Reply:
        if self.config.need_wait_for_service and not self.ready(now):
            return Reply(ResponseCode.SYSTEM_ERROR, remark="name server not ready")
        if command.ext is not None and "__ZONE_MODE" in command.ext:
            zone, topic = self.asked_zone(command), command.ext.get("topic")
            route = self.route(topic) if zone is not None and topic is not None else None
            if zone is not None and route is not None:
                body = self.encoded_route(self.in_zone(route, zone), self.wants_standard_json(command))
                return Reply(ResponseCode.SUCCESS, body=body)
        return NameServer.get_route(self, command, connection, now)

    def ready(self, now: int) -> bool:
        """Whether `waitSecondsForService` have passed since the start."""
        return now - self.started >= self.config.wait_seconds_for_service * 1000

    def asked_zone(self, command: Command) -> str | None:
        """The zone that a client limits its routes to."""
        if not fields.boolean(command.ext, "__ZONE_MODE"):
            return None
        zone = fields.text(command.ext, "__ZONE_NAME")
        return zone if zone and not zone.isspace() else None

    def in_zone(self, route: TopicRoute, zone: str) -> TopicRoute:
        """A route without the broker names whose master is in another zone.

        Apache writes it in the legacy dialect to every client, even to one that asked for standard JSON; here
        it is written as any other route.
        """
        away = [broker for broker in route.broker_datas if not self.stays_in_zone(broker, zone)]
        names = {broker.broker_name for broker in away}
        addresses = {address for broker in away for address in broker.broker_addrs.values()}
        route.broker_datas = [broker for broker in route.broker_datas if broker.broker_name not in names]
        route.queue_datas = [queue for queue in route.queue_datas if queue.broker_name not in names]
        filters = route.filter_server_table or {}
        route.filter_server_table = {a: servers for a, servers in filters.items() if a not in addresses}
        return route

    def stays_in_zone(self, broker: BrokerData, zone: str) -> bool:
        """Without a master, its slaves serve every zone."""
        return MASTER not in broker.broker_addrs or (broker.zone_name or "").lower() == zone.lower()

    def gives_list(self, code: int) -> bool:
        if code == RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER:
            return self.config.enable_all_topic_list
        return self.config.enable_topic_list

    @answers(RequestCode.REGISTER_TOPIC_IN_NAMESRV, v5=True)
    def register_topic(self, command: Command, connection: int, now: int) -> Reply:
        """Success whatever becomes of it, unless the body cannot be read; only its queue data count."""
        topic, queues = fields.text(command.ext, "topic"), self.given_queues(command)
        if topic is not None:
            self.routes.register_topic(topic, queues)
        return Reply(ResponseCode.SUCCESS)

    def given_queues(self, command: Command) -> list[tuple[str | None, Queue]]:
        """(broker name, queue data) in the body of 217; none without a body. Raises RefusedError."""
        if not command.body:
            return []
        try:
            route = TopicRoute.decode(
                command.body, invalid_utf8=self.profile.invalid_utf8, engine=self.profile.engine
            )
        except NullBodyError:
            return []
        except WireError as error:
            raise RefusedError(f"the body is not a topic route: {error}") from error
        return [
            (
                given.broker_name,
                Queue(given.read_queue_nums, given.write_queue_nums, given.perm, given.topic_sys_flag),
            )
            for given in route.queue_datas
        ]

    @answers(RequestCode.GET_BROKER_MEMBER_GROUP, v5=True)
    def get_member_group(self, command: Command, connection: int, now: int) -> Reply:
        """The cluster is echoed, not looked at.

        Apache's success carries the remark "not set any response code", left over from its construction; ours
        carries none.
        """
        name = fields.text(command.ext, "brokerName")
        group = BrokerMemberGroup(
            cluster=fields.text(command.ext, "clusterName"),
            broker_name=name,
            broker_addrs={} if name is None else self.routes.member_addresses(name),
        )
        return Reply(ResponseCode.SUCCESS, body=group.encode())

    @answers(RequestCode.BROKER_HEARTBEAT, v5=True)
    def heartbeat(self, command: Command, connection: int, now: int) -> Reply:
        """Renews a lease; creates nothing, and an unknown broker is answered with success."""
        cluster, address = self.queried_broker(command)
        self.routes.refresh(cluster, address, now)
        return Reply(ResponseCode.SUCCESS)
