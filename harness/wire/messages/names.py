"""The names and numbers that Brokers and clients share about messages.

Source: MessageConst, MessageSysFlag, TopicValidator, MixAll and TransactionalMessageUtil of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3. What only 5.x has is said so.
"""

from __future__ import annotations

from enum import IntFlag
from typing import Final


class SysFlag(IntFlag):
    """The bits of a message's system flag."""

    COMPRESSED = 0x1
    MULTI_TAGS = 0x2
    TRANSACTION_PREPARED = 0x4
    TRANSACTION_COMMIT = 0x8
    TRANSACTION_ROLLBACK = 0xC
    """Also the mask of the two bits that say what a message is to a transaction."""
    BORN_HOST_V6 = 0x10
    STORE_HOST_V6 = 0x20
    NEED_UNWRAP = 0x40
    INNER_BATCH = 0x80
    COMPRESSION_LZ4 = 0x100
    COMPRESSION_ZSTD = 0x200
    COMPRESSION_ZLIB = 0x300
    COMPRESSION_TYPE = 0x700
    """Mask of the kind of compression; 0 is zlib too."""


class PropertyName:
    """Keys of properties that mean something to Brokers or clients."""

    KEYS: Final = "KEYS"
    TAGS: Final = "TAGS"
    WAIT_STORE_MSG_OK: Final = "WAIT"
    DELAY_TIME_LEVEL: Final = "DELAY"
    RETRY_TOPIC: Final = "RETRY_TOPIC"
    ORIGIN_GROUP: Final = "ORIGIN_GROUP"
    REAL_TOPIC: Final = "REAL_TOPIC"
    REAL_QUEUE_ID: Final = "REAL_QID"
    TRANSACTION_PREPARED: Final = "TRAN_MSG"
    PRODUCER_GROUP: Final = "PGROUP"
    MIN_OFFSET: Final = "MIN_OFFSET"
    MAX_OFFSET: Final = "MAX_OFFSET"
    ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
    RECONSUME_TIME: Final = "RECONSUME_TIME"
    MSG_REGION: Final = "MSG_REGION"
    TRACE_SWITCH: Final = "TRACE_ON"
    UNIQ_KEY: Final = "UNIQ_KEY"
    MAX_RECONSUME_TIMES: Final = "MAX_RECONSUME_TIMES"
    CONSUME_START_TIMESTAMP: Final = "CONSUME_START_TIME"
    TRANSACTION_PREPARED_QUEUE_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
    TRANSACTION_ID: Final = "__transactionId__"
    TRANSACTION_CHECK_TIMES: Final = "TRANSACTION_CHECK_TIMES"
    CHECK_IMMUNITY_TIME_IN_SECONDS: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
    CORRELATION_ID: Final = "CORRELATION_ID"
    LIGHT_TOPIC: Final = "__LITE_TOPIC"
    """5.5: which light topic of its topic a message is sent to."""
    LIGHT_QUEUES: Final = "INNER_MULTI_DISPATCH"
    """5.5: in which queues of light topics a message is, between commas."""
    LIGHT_OFFSETS: Final = "INNER_MULTI_QUEUE_OFFSET"
    """5.5: its offsets in these."""
    MESSAGE_REPLY_TO_CLIENT: Final = "REPLY_TO_CLIENT"
    MESSAGE_TTL: Final = "TTL"
    REPLY_MESSAGE_ARRIVE_TIME: Final = "ARRIVE_TIME"
    PUSH_REPLY_TIME: Final = "PUSH_REPLY_TIME"
    CLUSTER: Final = "CLUSTER"
    MESSAGE_TYPE: Final = "MSG_TYPE"
    SHARDING_KEY: Final = "__SHARDINGKEY"
    INNER_NUM: Final = "INNER_NUM"
    CRC32: Final = "__CRC32#"
    """5.x, where Brokers append a checksum if they are configured to."""
    POP_CK: Final = "POP_CK"
    """5.x."""
    FIRST_POP_TIME: Final = "1ST_POP_TIME"
    """5.x."""
    TIMER_DELIVER_MS: Final = "TIMER_DELIVER_MS"
    """5.x."""
    TIMER_DELAY_MS: Final = "TIMER_DELAY_MS"
    """5.x."""
    TIMER_DELAY_SEC: Final = "TIMER_DELAY_SEC"
    """5.x."""
    TIMER_OUT_MS: Final = "TIMER_OUT_MS"
    """5.x: when a message of the wheel is due, milliseconds since the epoch."""


class TopicName:
    """Topics that Brokers make for themselves, and the prefixes of those that belong to a group."""

    RETRY_PREFIX: Final = "%RETRY%"
    DLQ_PREFIX: Final = "%DLQ%"
    AUTO_CREATE: Final = "TBW102"
    SCHEDULE: Final = "SCHEDULE_TOPIC_XXXX"
    BENCHMARK: Final = "BenchmarkTest"
    TRANS_HALF: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
    TRANS_OP_HALF: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
    TRANS_CHECK_MAX_TIME: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
    TRACE: Final = "RMQ_SYS_TRACE_TOPIC"
    SELF_TEST: Final = "SELF_TEST_TOPIC"
    OFFSET_MOVED_EVENT: Final = "OFFSET_MOVED_EVENT"
    TIMER: Final = "rmq_sys_wheel_timer"
    """5.x."""
    SYNC_MEMBER_PREFIX: Final = "rmq_sys_SYNC_BROKER_MEMBER_"
    """5.x; a Broker's name follows."""
    REVIVE_PREFIX: Final = "rmq_sys_REVIVE_LOG_"
    """5.x; the cluster's name follows."""
    REPLY_SUFFIX: Final = "_REPLY_TOPIC"
    """Behind the cluster's name."""
