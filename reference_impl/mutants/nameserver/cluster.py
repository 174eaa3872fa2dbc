"""Faults of cluster information (code 106) and of member groups (code 901)."""

import re

from harness.wire import ResponseCode
from reference_impl.mutants.registry import V4, V5, after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.core_53 import NameServer53
from reference_impl.nameserver.routes import RouteTable
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

_ID = re.compile(rb"([{,])(-?\d+):")


@after(RouteTable.cluster_info, "Cluster information lists only the lowest id of each broker name.")
def cluster_lists_lowest_id_only(info):
    for broker in info.broker_addr_table.values():
        broker.broker_addrs = dict(sorted(broker.broker_addrs.items())[:1])


@after(RouteTable.cluster_info, "Every cluster lists the broker names of all clusters.")
def clusters_share_their_names(info, self):
    info.cluster_addr_table = {cluster: list(self.brokers) for cluster in info.cluster_addr_table}


@after(RouteTable.cluster_info, "The broker data of cluster information has an empty cluster.")
def broker_data_lacks_cluster(info):
    for broker in info.broker_addr_table.values():
        broker.cluster = ""


@mutant(NameServer.get_cluster_info, "Every request for cluster information gets the first answer again.")
def cluster_information_is_cached(original, self, command, connection, now):
    first: list[Reply] = self.__dict__.setdefault("first_cluster_information", [])
    if not first:
        first.append(original(self, command, connection, now))
    return first[0]


@after(NameServer.get_cluster_info, "Cluster information writes broker ids as decimal fractions.")
def ids_are_written_as_decimals(reply):
    return Reply(reply.code, body=_ID.sub(rb"\1\2.0:", reply.body))


@mutant(
    NameServer.get_cluster_info, "A request for cluster information with ext fields or a body is refused."
)
def cluster_information_refuses_input(original, self, command, connection, now):
    if command.ext or command.body:
        raise RefusedError("this request has no input")
    return original(self, command, connection, now)


@after(RouteTable.shown_broker, "Broker data contains enableActingMaster in 4.9.", V4)
def acting_master_is_told_to_old_clients(shown):
    shown.enable_acting_master = False


@after(RouteTable.shown_broker, "Broker data always contains enableActingMaster=false.", V5)
def acting_master_is_not_told(shown):
    shown.enable_acting_master = False


@after(RouteTable.shown_broker, "Broker data never contains zoneName.", V5)
def zone_is_not_told(shown):
    shown.zone_name = None


@mutant(RouteTable.member_addresses, "A member group lists only the lowest id.", V5)
def member_group_lists_lowest_id_only(original, self, name):
    return dict(sorted(original(self, name).items())[:1])


@mutant(RouteTable.member_addresses, "A member group lists only the two lowest ids.", V5)
def member_group_lists_two_ids(original, self, name):
    return dict(sorted(original(self, name).items())[:2])


@mutant(RouteTable.member_addresses, "A member group, once listed, never changes.", V5)
def member_group_is_remembered(original, self, name):
    groups: dict[str, dict[int, str]] = self.__dict__.setdefault("groups", {})
    return groups.setdefault(name, original(self, name))


@mutant(NameServer53.get_member_group, "A member group is looked up by cluster and name.")
def member_group_needs_its_cluster(original, self, command, connection, now):
    broker = self.routes.brokers.get(fields.text(command.ext, "brokerName") or "")
    if broker is not None and broker.cluster != fields.text(command.ext, "clusterName"):
        return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker in this cluster")
    return original(self, command, connection, now)


@mutant(NameServer53.get_member_group, "The member group of an unknown name is refused.")
def unknown_member_group_is_an_error(original, self, command, connection, now):
    if fields.text(command.ext, "brokerName") not in self.routes.brokers:
        return Reply(ResponseCode.SYSTEM_ERROR, remark="no such broker")
    return original(self, command, connection, now)


@after(NameServer53.get_member_group, "A successful member group response has a remark.")
def member_group_carries_a_remark(reply):
    return Reply(reply.code, remark="not set any response code", body=reply.body)
