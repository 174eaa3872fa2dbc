"""Chapter send: topics of the system, to which clients must not send."""

from harness.conformance import Reply, case
from harness.session import BrokerSession
from harness.wire import ResponseCode

CLOSED_TOPICS = (
    "SCHEDULE_TOPIC_XXXX",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
)


def are_forbidden(bk: BrokerSession, *topics: str) -> None:
    """A send to each of these is refused."""
    for topic in topics:
        remark = f"Sending message to topic[{topic}] is forbidden."
        bk.send(topic) >> Reply(ResponseCode.NO_PERMISSION, remark=remark)


@case(kills=["system-topics-are-open"])
def test_topic_of_the_system_is_forbidden(bk: BrokerSession) -> None:
    are_forbidden(bk, *CLOSED_TOPICS)


@case(kills=["topics-of-rocksdb-are-open"])
def test_topic_of_transactions_in_rocksdb_is_forbidden(bk: BrokerSession) -> None:
    are_forbidden(bk, "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC")
