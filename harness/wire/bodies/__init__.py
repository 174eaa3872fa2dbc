"""What frames carry: typed bodies, each with `encode()` and a class method `decode(bytes)`.

Reading is as lenient as Apache's server; writing gives the bytes that Apache's encoder gives (order of maps
aside).
"""

from __future__ import annotations

from harness.wire.bodies.broker.heartbeat import (
    ConsumerData,
    Heartbeat,
    ProducerData,
    Subscription,
    SubscriptionCheck,
)
from harness.wire.bodies.broker.light import LightSubscription, LightSubscriptionList, OffsetOption
from harness.wire.bodies.broker.locks import LockedQueues, LockRequest, MessageQueue
from harness.wire.bodies.broker.pop import (
    AssignmentQuestion,
    Assignments,
    BatchAck,
    BatchAcks,
    RequestMode,
    RequestModes,
)
from harness.wire.bodies.broker.queue_tables import (
    ConsumedQueue,
    ConsumerStatus,
    ConsumeStats,
    ConsumeStatsList,
    QueueOffsets,
    StoredQueue,
    TopicStats,
    plain_tables,
)
from harness.wire.bodies.broker.subscription_group import SubscriptionGroup, SubscriptionGroupList
from harness.wire.bodies.broker.tables import (
    ConsumerOffsets,
    DelayOffsets,
    SubscriptionGroupTable,
    TopicConfigTable,
)
from harness.wire.bodies.checksum import body_crc32
from harness.wire.bodies.data_version import DataVersion
from harness.wire.bodies.json_body import NullBodyError
from harness.wire.bodies.nameserver.controller import (
    BrokerReplicasInfo,
    Elected,
    ReplicaIdentity,
    ReplicasInfo,
    SyncStateSet,
    broker_names,
)
from harness.wire.bodies.nameserver.mapping import TopicQueueMappingInfo
from harness.wire.bodies.nameserver.register import INFLATED_LIMIT, RegisterBody
from harness.wire.bodies.nameserver.route import (
    BrokerData,
    BrokerMemberGroup,
    ClusterInfo,
    QueueData,
    TopicRoute,
)
from harness.wire.bodies.nameserver.tables import KvTable, TopicList
from harness.wire.bodies.properties import Properties
from harness.wire.bodies.topic_config import TopicConfig, TopicConfigList

__all__ = [
    "INFLATED_LIMIT",
    "AssignmentQuestion",
    "Assignments",
    "BatchAck",
    "BatchAcks",
    "BrokerData",
    "BrokerMemberGroup",
    "BrokerReplicasInfo",
    "ClusterInfo",
    "ConsumeStats",
    "ConsumeStatsList",
    "ConsumedQueue",
    "ConsumerData",
    "ConsumerOffsets",
    "ConsumerStatus",
    "DataVersion",
    "DelayOffsets",
    "Elected",
    "Heartbeat",
    "KvTable",
    "LightSubscription",
    "LightSubscriptionList",
    "LockRequest",
    "LockedQueues",
    "MessageQueue",
    "NullBodyError",
    "OffsetOption",
    "ProducerData",
    "Properties",
    "QueueData",
    "QueueOffsets",
    "RegisterBody",
    "ReplicaIdentity",
    "ReplicasInfo",
    "RequestMode",
    "RequestModes",
    "StoredQueue",
    "Subscription",
    "SubscriptionCheck",
    "SubscriptionGroup",
    "SubscriptionGroupList",
    "SubscriptionGroupTable",
    "SyncStateSet",
    "TopicConfig",
    "TopicConfigList",
    "TopicConfigTable",
    "TopicList",
    "TopicQueueMappingInfo",
    "TopicRoute",
    "TopicStats",
    "body_crc32",
    "broker_names",
    "plain_tables",
]
