"""What frames carry: typed bodies, each with `encode()` and a class method `decode(bytes)`.

Reading is as lenient as Apache's server; writing gives the bytes that Apache's encoder gives (order of maps
aside).
"""

from __future__ import annotations

from .broker_tables import ConsumerOffsets, DelayOffsets, SubscriptionGroupTable, TopicConfigTable
from .checksum import body_crc32
from .data_version import DataVersion
from .heartbeat import ConsumerData, Heartbeat, ProducerData, Subscription
from .json_body import NullBodyError
from .locks import LockedQueues, LockRequest, MessageQueue
from .mapping import TopicQueueMappingInfo
from .pop import AssignmentQuestion, Assignments, BatchAck, BatchAcks, RequestMode, RequestModes
from .properties import Properties
from .queue_tables import ConsumedQueue, ConsumerStatus, ConsumeStats, QueueOffsets, StoredQueue, TopicStats
from .register import INFLATED_LIMIT, RegisterBody
from .route import BrokerData, BrokerMemberGroup, ClusterInfo, QueueData, TopicRoute
from .subscription_group import SubscriptionGroup
from .tables import KvTable, TopicList
from .topic_config import TopicConfig, TopicConfigList

__all__ = [
    "INFLATED_LIMIT",
    "AssignmentQuestion",
    "Assignments",
    "BatchAck",
    "BatchAcks",
    "BrokerData",
    "BrokerMemberGroup",
    "ClusterInfo",
    "ConsumeStats",
    "ConsumedQueue",
    "ConsumerData",
    "ConsumerOffsets",
    "ConsumerStatus",
    "DataVersion",
    "DelayOffsets",
    "Heartbeat",
    "KvTable",
    "LockRequest",
    "LockedQueues",
    "MessageQueue",
    "NullBodyError",
    "ProducerData",
    "Properties",
    "QueueData",
    "QueueOffsets",
    "RegisterBody",
    "RequestMode",
    "RequestModes",
    "StoredQueue",
    "Subscription",
    "SubscriptionGroup",
    "SubscriptionGroupTable",
    "TopicConfig",
    "TopicConfigList",
    "TopicConfigTable",
    "TopicList",
    "TopicQueueMappingInfo",
    "TopicRoute",
    "TopicStats",
    "body_crc32",
]
