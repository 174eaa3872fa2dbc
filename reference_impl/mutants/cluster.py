"""Faults of cluster information (code 106) and of member groups (code 901)."""

import re

from harness.wire import Command, ResponseCode
from harness.wire.bodies import BrokerData, ClusterInfo
from reference_impl.mutants import V5, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.parts import Parts
from reference_impl.nameserver.routes import RouteTable
from reference_impl.nameserver.state import Broker
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

_ID = re.compile(rb"([{,])(-?\d+):")


@mutant("cluster-lists-lowest-id-only", "Cluster information lists only the lowest id of each broker name.")
def cluster_lists_lowest_id_only(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable) -> ClusterInfo:
        info = parts.routes.cluster_info(self)
        for broker in info.broker_addr_table.values():
            broker.broker_addrs = dict(sorted(broker.broker_addrs.items())[:1])
        return info

    return parts.override("routes", cluster_info)


@mutant("clusters-share-their-names", "Every cluster lists the broker names of all clusters.")
def clusters_share_their_names(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable) -> ClusterInfo:
        info = parts.routes.cluster_info(self)
        info.cluster_addr_table = {cluster: list(self.brokers) for cluster in info.cluster_addr_table}
        return info

    return parts.override("routes", cluster_info)


@mutant("broker-data-lacks-cluster", "The broker data of cluster information has an empty cluster.")
def broker_data_lacks_cluster(parts: Parts) -> Parts:
    def cluster_info(self: RouteTable) -> ClusterInfo:
        info = parts.routes.cluster_info(self)
        for broker in info.broker_addr_table.values():
            broker.cluster = ""
        return info

    return parts.override("routes", cluster_info)


@mutant("cluster-information-is-cached", "Every request for cluster information gets the first answer again.")
def cluster_information_is_cached(parts: Parts) -> Parts:
    def get_cluster_info(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        first: list[Reply] = self.__dict__.setdefault("first_cluster_information", [])
        if not first:
            first.append(parts.nameserver.get_cluster_info(self, command, connection, now))
        return first[0]

    return parts.override("nameserver", get_cluster_info)


@mutant("ids-are-written-as-decimals", "Cluster information writes broker ids as decimal fractions.")
def ids_are_written_as_decimals(parts: Parts) -> Parts:
    def get_cluster_info(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.get_cluster_info(self, command, connection, now)
        return Reply(reply.code, body=_ID.sub(rb"\1\2.0:", reply.body))

    return parts.override("nameserver", get_cluster_info)


@mutant(
    "cluster-information-refuses-input",
    "A request for cluster information with ext fields or a body is refused.",
)
def cluster_information_refuses_input(parts: Parts) -> Parts:
    def get_cluster_info(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        if command.ext or command.body:
            raise RefusedError("this request has no input")
        return parts.nameserver.get_cluster_info(self, command, connection, now)

    return parts.override("nameserver", get_cluster_info)


@mutant(
    "acting-master-is-told-to-old-clients", "Broker data has enableActingMaster in 4.9.", profiles=["4.9"]
)
def acting_master_is_told_to_old_clients(parts: Parts) -> Parts:
    def shown_broker(self: RouteTable, broker: Broker) -> BrokerData:
        shown = parts.routes.shown_broker(self, broker)
        shown.enable_acting_master = False
        return shown

    return parts.override("routes", shown_broker)


@mutant(
    "acting-master-is-not-told",
    "Broker data says enableActingMaster=false of every broker.",
    profiles=V5,
)
def acting_master_is_not_told(parts: Parts) -> Parts:
    def shown_broker(self: RouteTable, broker: Broker) -> BrokerData:
        shown = parts.routes.shown_broker(self, broker)
        shown.enable_acting_master = False
        return shown

    return parts.override("routes", shown_broker)


@mutant("zone-is-not-told", "Broker data never has zoneName.", profiles=V5)
def zone_is_not_told(parts: Parts) -> Parts:
    def shown_broker(self: RouteTable, broker: Broker) -> BrokerData:
        shown = parts.routes.shown_broker(self, broker)
        shown.zone_name = None
        return shown

    return parts.override("routes", shown_broker)


@mutant("member-group-lists-lowest-id-only", "A member group lists only the lowest id.", profiles=V5)
def member_group_lists_lowest_id_only(parts: Parts) -> Parts:
    def member_addresses(self: RouteTable, name: str) -> dict[int, str]:
        return dict(sorted(parts.routes.member_addresses(self, name).items())[:1])

    return parts.override("routes", member_addresses)


@mutant(
    "member-group-is-remembered",
    "A member group that was listed once is listed so for ever.",
    profiles=V5,
)
def member_group_is_remembered(parts: Parts) -> Parts:
    def member_addresses(self: RouteTable, name: str) -> dict[int, str]:
        groups: dict[str, dict[int, str]] = self.__dict__.setdefault("groups", {})
        return groups.setdefault(name, parts.routes.member_addresses(self, name))

    return parts.override("routes", member_addresses)


@mutant(
    "member-group-needs-its-cluster",
    "A member group is looked up by cluster and name.",
    profiles=V5,
)
def member_group_needs_its_cluster(parts: Parts) -> Parts:
    def get_member_group(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        broker = self.routes.brokers.get(fields.text(command.ext, "brokerName") or "")
        if broker is not None and broker.cluster != fields.text(command.ext, "clusterName"):
            return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker in this cluster")
        return NameServer53.get_member_group(self, command, connection, now)

    return parts.override("nameserver", get_member_group)


@mutant(
    "unknown-member-group-is-an-error",
    "The member group of an unknown name is refused.",
    profiles=V5,
)
def unknown_member_group_is_an_error(parts: Parts) -> Parts:
    def get_member_group(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        if fields.text(command.ext, "brokerName") not in self.routes.brokers:
            return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker")
        return NameServer53.get_member_group(self, command, connection, now)

    return parts.override("nameserver", get_member_group)


@mutant(
    "member-group-carries-a-remark", "A member group comes with a remark, as if it had failed.", profiles=V5
)
def member_group_carries_a_remark(parts: Parts) -> Parts:
    def get_member_group(self: NameServer53, command: Command, connection: int, now: int) -> Reply:
        reply = NameServer53.get_member_group(self, command, connection, now)
        return Reply(reply.code, remark="not set any response code", body=reply.body)

    return parts.override("nameserver", get_member_group)
