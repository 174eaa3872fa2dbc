"""The requests by which a Broker describes itself to NameServers.

1. Each method gives a request without an opaque; nothing is sent here and nothing is changed.
2. A Broker that may not be both read and written says so of every topic, in a copy.

Source: BrokerOuterAPI#registerBrokerAll, #needRegister, #unregisterBrokerAll, #registerSingleTopicAll,
#sendHeartbeat, #sendHeartbeatViaDataVersion; BrokerController#registerBrokerAll,
#registerIncrementBrokerData, #registerSingleTopicAll of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from harness.wire import Command, RequestCode, body_crc32
from harness.wire.bodies import DataVersion, QueueData, RegisterBody, TopicConfig, TopicRoute

from .part import Part
from .topics import READ, WRITE

if TYPE_CHECKING:
    from .core import Broker


class RegistrationRequests(Part):
    """The words of the registrar."""

    def __init__(self, broker: Broker) -> None:
        super().__init__(broker)

    # -- registration ----------------------------------------------------------------------------------------

    def registration(self, topics: Iterable[TopicConfig], version: DataVersion) -> Command:
        """103: these topics, under that data version."""
        body = self.body(topics, version)
        ext = self.registration_ext()
        ext["compressed"] = "true" if self.compresses() else "false"
        ext["bodyCrc32"] = str(self.checksum(body))
        return Command(code=RequestCode.REGISTER_BROKER, ext=ext, body=body)

    def registration_ext(self) -> dict[str, str | None]:
        """Who registers: the ext fields beside those about the body."""
        config = self.config
        ext: dict[str, str | None] = {
            "brokerName": config.broker_name,
            "brokerAddr": config.address,
            "clusterName": config.broker_cluster_name,
            "haServerAddr": config.ha_address,
            "brokerId": str(config.broker_id),
        }
        if self.profile.v5:
            ext["enableActingMaster"] = "true" if config.enable_slave_acting_master else "false"
            if config.enable_slave_acting_master:
                ext["heartbeatTimeoutMillis"] = str(config.broker_not_active_timeout_millis)
        return ext

    def body(self, topics: Iterable[TopicConfig], version: DataVersion) -> bytes:
        """The body of a registration, in the form that is configured."""
        announced = RegisterBody(
            topics={topic.topic_name or "": topic for topic in topics}, data_version=version
        )
        if self.profile.v5:
            static = self.broker.static_topics
            announced.mappings, announced.mapping_details = static.infos(list(announced.topics or {})), {}
            announced.mapping_data_version = static.version
        return announced.encode_compressed(self.profile.v5) if self.compresses() else announced.encode()

    def compresses(self) -> bool:
        """Whether the body is compressed. (5.3.3 compresses it and says that it did not.)"""
        return self.config.compressed_register

    def checksum(self, body: bytes) -> int:
        """`bodyCrc32` of a body as it is sent."""
        return body_crc32(body)

    def shown(self, topic: TopicConfig, *, keeps_flag: bool) -> TopicConfig:
        """A topic as it is announced. Where the Broker is restricted, a whole table loses the system flags,
        and in 4.9 a changed topic too.
        """
        config = self.config
        if config.broker_permission & (READ | WRITE) == READ | WRITE:
            return topic
        return TopicConfig(
            topic_name=topic.topic_name,
            read_queue_nums=topic.read_queue_nums,
            write_queue_nums=topic.write_queue_nums,
            perm=self.restricted(topic.perm),
            topic_sys_flag=topic.topic_sys_flag if keeps_flag and self.profile.v5 else 0,
            attributes={} if self.profile.v5 else None,
        )

    def restricted(self, perm: int) -> int:
        """What is left of a permission: 4.9 puts the Broker's in its place."""
        return perm & self.config.broker_permission if self.profile.v5 else self.config.broker_permission

    # -- the rest --------------------------------------------------------------------------------------------

    def probe(self, version: DataVersion) -> Command:
        """322: whether a NameServer has another data version; it renews the lease too."""
        return Command(code=RequestCode.QUERY_DATA_VERSION, ext=self.identity(), body=version.encode())

    def departure(self) -> Command:
        """104."""
        return Command(code=RequestCode.UNREGISTER_BROKER, ext=self.identity())

    def identity(self) -> dict[str, str | None]:
        """The Broker by address, name, id and cluster."""
        config = self.config
        return {
            "brokerName": config.broker_name,
            "brokerAddr": config.address,
            "clusterName": config.broker_cluster_name,
            "brokerId": str(config.broker_id),
        }

    def single_topic(self, topic: TopicConfig) -> Command:
        """217: one topic, as a route that has the Broker's queues and no addresses."""
        config = self.config
        shown = self.shown(topic, keeps_flag=True)
        queue = QueueData(
            broker_name=config.broker_name,
            read_queue_nums=shown.read_queue_nums,
            write_queue_nums=shown.write_queue_nums,
            perm=shown.perm,
            topic_sys_flag=shown.topic_sys_flag,
        )
        return Command(
            code=RequestCode.REGISTER_TOPIC_IN_NAMESRV,
            ext={"topic": topic.topic_name},
            body=TopicRoute(queue_datas=[queue]).encode("legacy"),
        )

    def light_heartbeat(self, version: DataVersion) -> Command:
        """What renews the lease between registrations: 904, or 322 where NameServers may be older."""
        if self.config.compatible_with_old_name_srv:
            return self.probe(version)
        ext = self.identity()
        del ext["brokerId"]
        return Command(code=RequestCode.BROKER_HEARTBEAT, ext=ext)

    def members(self) -> Command:
        """Who else has this Broker's name: 901, or a route that says it where NameServers may be older."""
        config = self.config
        if config.compatible_with_old_name_srv:
            topic = f"rmq_sys_SYNC_BROKER_MEMBER_{config.broker_name}"
            return Command(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, ext={"topic": topic})
        return Command(
            code=RequestCode.GET_BROKER_MEMBER_GROUP,
            ext={"clusterName": config.broker_cluster_name, "brokerName": config.broker_name},
        )

    def version(self) -> DataVersion:
        """The data version of the topics now, as a value of its own."""
        return msgspec.structs.replace(self.broker.topics.version)
