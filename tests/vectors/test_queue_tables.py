"""Tables with queues as keys, as Apache's Brokers 4.9.8 and 5.3.3 answered with them."""

import pytest

from harness.wire import WireError
from harness.wire.bodies import (
    ConsumedQueue,
    ConsumeStats,
    MessageQueue,
    QueueOffsets,
    StoredQueue,
    TopicStats,
)

QUEUES = [MessageQueue("broker-a", number, "T1") for number in (1, 0)]
STATS_49 = (
    b'{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T1"}:{"lastUpdateTimestamp":0,"maxOffset":0,'
    b'"minOffset":0},{"brokerName":"broker-a","queueId":0,"topic":"T1"}:{"lastUpdateTimestamp":1795334231300,'
    b'"maxOffset":1,"minOffset":0}}}'
)
STATS_53 = STATS_49[:-1] + b',"topicPutTps":0.0}'
PROGRESS_49 = (
    b'{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T1"}:{"brokerOffset":0,'
    b'"consumerOffset":0,"lastTimestamp":0},{"brokerName":"broker-a","queueId":0,"topic":"T1"}:{"brokerOffset":1,'
    b'"consumerOffset":1,"lastTimestamp":1795334231300}}}'
)
PROGRESS_53 = (
    b'{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T1"}:{"brokerOffset":0,'
    b'"consumerOffset":0,"lastTimestamp":0,"pullOffset":0},{"brokerName":"broker-a","queueId":0,"topic":"T1"}:'
    b'{"brokerOffset":1,"consumerOffset":1,"lastTimestamp":1795334298316,"pullOffset":1}}}'
)
RESET = (
    b'{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T1"}:11,{"brokerName":"broker-a","queueId":0,'
    b'"topic":"T1"}:1}}'
)


@pytest.mark.parametrize(("body", "rate"), [(STATS_49, None), (STATS_53, 0.0)])
def test_how_far_queues_go(body: bytes, rate: float | None) -> None:
    states = [StoredQueue(), StoredQueue(1795334231300, 1, 0)]
    stats = TopicStats(dict(zip(QUEUES, states, strict=True)), rate)
    assert TopicStats.decode(body) == stats
    assert stats.encode() == body


@pytest.mark.parametrize(
    ("body", "states"),
    [
        (PROGRESS_49, [ConsumedQueue(), ConsumedQueue(1, 1, 1795334231300)]),
        (PROGRESS_53, [ConsumedQueue(0, 0, 0, 0), ConsumedQueue(1, 1, 1795334298316, 1)]),
    ],
)
def test_how_far_a_group_has_consumed(body: bytes, states: list[ConsumedQueue]) -> None:
    stats = ConsumeStats(0.0, dict(zip(QUEUES, states, strict=True)))
    assert ConsumeStats.decode(body) == stats
    assert stats.encode() == body


def test_offsets_that_were_reset() -> None:
    offsets = QueueOffsets(dict(zip(QUEUES, (11, 1), strict=True)))
    assert QueueOffsets.decode(RESET) == offsets
    assert offsets.encode() == RESET


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"offsetTable":{"x":1}}', b'{"offsetTable":{{"queueId":1}:1}}']
)
def test_what_is_no_such_table_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        QueueOffsets.decode(body)


def test_names_with_odd_characters_are_kept() -> None:
    offsets = QueueOffsets({MessageQueue('b"}:{\\', 0, "T\n"): 1})
    assert QueueOffsets.decode(offsets.encode()) == offsets
