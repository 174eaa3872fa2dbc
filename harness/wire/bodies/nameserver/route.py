"""Routes and clusters: who serves a topic, and which brokers there are."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from harness.wire.bodies.json_body import (
    InvalidUtf8,
    list_of,
    map_of,
    not_null,
    read,
    strings,
    strings_by_id,
    without_none,
)
from harness.wire.bodies.nameserver.mapping import TopicQueueMappingInfo, read_mapping
from harness.wire.fastjson import Dialect, Engine, Node, document, dumps
from harness.wire.fastjson.coerce import as_boolean, as_int32, as_string
from harness.wire.fastjson.coerce import members as known_members
from harness.wire.integers import Int32, Int64


class QueueData(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The queues of one topic on the brokers of one name."""

    broker_name: str | None = None
    read_queue_nums: Int32 = 0
    write_queue_nums: Int32 = 0
    perm: Int32 = 0
    topic_sys_flag: Int32 = 0

    def document(self) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(
            {
                "brokerName": self.broker_name,
                "perm": self.perm,
                "readQueueNums": self.read_queue_nums,
                "topicSysFlag": self.topic_sys_flag,
                "writeQueueNums": self.write_queue_nums,
            }
        )


class BrokerData(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The addresses of one broker name by id. `enable_acting_master` None leaves the member out (4.9)."""

    cluster: str | None = None
    broker_name: str | None = None
    broker_addrs: dict[Int64, str] = {}
    enable_acting_master: bool | None = None
    zone_name: str | None = None

    def document(self, dialect: Dialect) -> dict[str, Any]:
        """The members, in the order in which they are written."""
        return without_none(
            {
                "brokerAddrs": msgspec.Raw(dumps(self.broker_addrs, dialect)),
                "brokerName": self.broker_name,
                "cluster": self.cluster,
                "enableActingMaster": self.enable_acting_master,
                "zoneName": self.zone_name,
            }
        )


class TopicRoute(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The answer to GET_ROUTEINFO_BY_TOPIC, body of REGISTER_TOPIC_IN_NAMESRV. The lists have no order."""

    queue_datas: list[QueueData] = []
    broker_datas: list[BrokerData] = []
    filter_server_table: dict[str, list[str | None]] | None = {}
    order_topic_conf: str | None = None
    topic_queue_mapping_by_broker: dict[str, TopicQueueMappingInfo] | None = None

    def encode(self, dialect: Dialect = "standard") -> bytes:
        """The JSON body, "legacy" or "standard"."""
        mappings = self.topic_queue_mapping_by_broker
        members = {
            "brokerDatas": [broker.document(dialect) for broker in self.broker_datas],
            "filterServerTable": self.filter_server_table,
            "orderTopicConf": self.order_topic_conf,
            "queueDatas": [queue.document() for queue in self.queue_datas],
            "topicQueueMappingByBroker": None
            if mappings is None
            else {name: mapping.document(dialect) for name, mapping in mappings.items()},
        }
        return document(without_none(members), dialect)

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> TopicRoute:
        """Reads either dialect. Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_route, _read_route, invalid_utf8, engine)


class ClusterInfo(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The answer to GET_BROKER_CLUSTER_INFO: brokers by name, and the broker names of each cluster."""

    broker_addr_table: dict[str, BrokerData] = {}
    cluster_addr_table: dict[str, list[str]] = {}

    def encode(self) -> bytes:
        """The JSON body; always the legacy dialect."""
        members = {
            "brokerAddrTable": {
                name: broker.document("legacy") for name, broker in self.broker_addr_table.items()
            },
            "clusterAddrTable": self.cluster_addr_table,
        }
        return document(members, "legacy")

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> ClusterInfo:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _fast_cluster, _read_cluster, invalid_utf8, engine)


class BrokerMemberGroup(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The answer to GET_BROKER_MEMBER_GROUP (5.x); on the wire the one member of an enclosing object."""

    cluster: str | None = None
    broker_name: str | None = None
    broker_addrs: dict[Int64, str] = {}

    def encode(self) -> bytes:
        """The JSON body; always the legacy dialect."""
        return document({"brokerMemberGroup": self.members()}, "legacy")

    def members(self) -> dict[str, object]:
        """The group as a member of a body."""
        return without_none(
            {
                "brokerAddrs": msgspec.Raw(dumps(self.broker_addrs, "legacy")),
                "brokerName": self.broker_name,
                "cluster": self.cluster,
            }
        )

    @classmethod
    def decode(
        cls, data: bytes, *, invalid_utf8: InvalidUtf8 = "replace", engine: Engine = "fastjson"
    ) -> BrokerMemberGroup:
        """Raises `WireError` (`NullBodyError` for JSON null)."""
        return read(data, _decode_group, _read_group, invalid_utf8, engine)


class _GroupBody(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    broker_member_group: BrokerMemberGroup


_fast_route: Final = msgspec.json.Decoder(TopicRoute).decode
_fast_cluster: Final = msgspec.json.Decoder(ClusterInfo).decode
_fast_group: Final = msgspec.json.Decoder(_GroupBody).decode


def _decode_group(data: bytes) -> BrokerMemberGroup:
    return _fast_group(data).broker_member_group


def _read_queue(node: Node) -> QueueData:
    found = known_members(
        node,
        {
            "brokerName": as_string,
            "perm": as_int32,
            "readQueueNums": as_int32,
            "topicSysFlag": as_int32,
            "writeQueueNums": as_int32,
        },
    )
    return QueueData(
        broker_name=found.get("brokerName"),
        read_queue_nums=found.get("readQueueNums") or 0,
        write_queue_nums=found.get("writeQueueNums") or 0,
        perm=found.get("perm") or 0,
        topic_sys_flag=found.get("topicSysFlag") or 0,
    )


def _read_broker(node: Node) -> BrokerData:
    found = known_members(
        node,
        {
            "brokerAddrs": strings_by_id,
            "brokerName": as_string,
            "cluster": as_string,
            "enableActingMaster": as_boolean,
            "zoneName": as_string,
        },
    )
    return BrokerData(
        cluster=found.get("cluster"),
        broker_name=found.get("brokerName"),
        broker_addrs=found.get("brokerAddrs", {}),
        enable_acting_master=found.get("enableActingMaster"),
        zone_name=found.get("zoneName"),
    )


def _read_route(node: Node) -> TopicRoute:
    found = known_members(
        node,
        {
            "brokerDatas": list_of(_read_broker),
            "filterServerTable": map_of(not_null(list_of(as_string, in_map=True))),
            "orderTopicConf": as_string,
            "queueDatas": list_of(_read_queue),
            "topicQueueMappingByBroker": map_of(read_mapping),
        },
    )
    return TopicRoute(
        queue_datas=found.get("queueDatas") or [],
        broker_datas=found.get("brokerDatas") or [],
        filter_server_table=found.get("filterServerTable", {}),
        order_topic_conf=found.get("orderTopicConf"),
        topic_queue_mapping_by_broker=found.get("topicQueueMappingByBroker"),
    )


def _read_cluster(node: Node) -> ClusterInfo:
    found = known_members(
        node,
        {"brokerAddrTable": map_of(_read_broker), "clusterAddrTable": map_of(not_null(strings))},
    )
    return ClusterInfo(
        broker_addr_table=found.get("brokerAddrTable") or {},
        cluster_addr_table=found.get("clusterAddrTable") or {},
    )


def _read_group(node: Node) -> BrokerMemberGroup:
    group = known_members(node, {"brokerMemberGroup": lambda value: value}).get("brokerMemberGroup")
    if group is None or group.kind == "null":
        return BrokerMemberGroup()
    found = known_members(
        group, {"brokerAddrs": strings_by_id, "brokerName": as_string, "cluster": as_string}
    )
    return BrokerMemberGroup(
        cluster=found.get("cluster"),
        broker_name=found.get("brokerName"),
        broker_addrs=found.get("brokerAddrs", {}),
    )
