"""Bodies that clients send to Brokers, as Apache's classes write them, and as others do."""

import pytest

from harness.wire import WireError
from harness.wire.bodies import (
    ConsumerData,
    Heartbeat,
    LockedQueues,
    LockRequest,
    MessageQueue,
    ProducerData,
    Subscription,
    SubscriptionCheck,
    SubscriptionGroup,
    SubscriptionGroupList,
)

HEARTBEAT = (
    b'{"clientID":"ip@instance","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET",'
    b'"consumeType":"CONSUME_PASSIVELY","groupName":"CG","messageModel":"CLUSTERING",'
    b'"subscriptionDataSet":[{"classFilterMode":false,"codeSet":[65],"expressionType":"TAG",'
    b'"subString":"A || B","subVersion":1,"tagsSet":["A"],"topic":"T"}],"unitMode":false}],'
    b'"producerDataSet":[{"groupName":"PG"}]}'
)
"""Written by Apache's HeartbeatData of 4.9."""


def heartbeat(**more: object) -> Heartbeat:
    subscription = Subscription(code_set=[65], sub_string="A || B", sub_version=1, tags_set=["A"], topic="T")
    consumer = ConsumerData(
        "CONSUME_FROM_LAST_OFFSET", "CONSUME_PASSIVELY", "CG", "CLUSTERING", [subscription]
    )
    return Heartbeat("ip@instance", [consumer], producer_data_set=[ProducerData("PG")], **more)


def test_a_heartbeat_is_written_and_read_as_apache_writes_it():
    assert heartbeat().encode() == HEARTBEAT
    assert Heartbeat.decode(HEARTBEAT) == heartbeat()


def test_a_heartbeat_of_5x_says_more():
    said = heartbeat(heartbeat_fingerprint=7, without_sub=True)
    assert Heartbeat.decode(said.encode()) == said


def test_a_heartbeat_with_members_of_other_kinds_is_read_leniently():
    text = HEARTBEAT.replace(b'"subVersion":1', b'"subVersion":"1","more":{"a":[]}').replace(
        b"[65]", b'["65"]'
    )
    assert Heartbeat.decode(text) == heartbeat()


def test_words_that_java_does_not_know_are_none():
    text = HEARTBEAT.replace(b'"CLUSTERING"', b'"BOTH"')
    assert Heartbeat.decode(text).consumer_data_set[0].message_model is None


@pytest.mark.parametrize("text", [b"", b"null", b"{", b"[1]", b'{"consumerDataSet":7}'])
def test_what_is_no_heartbeat(text: bytes):
    with pytest.raises(WireError):
        Heartbeat.decode(text)


REFUSED = None


@pytest.mark.parametrize(
    ("said", "tags", "codes"),
    [
        (b'"x"', ["x"], REFUSED),
        (b'"7"', ["7"], [7]),
        (b'""', [], []),
        (b"7", REFUSED, [7]),
        (b"1.5", REFUSED, [1]),
        (b"true", REFUSED, [1]),
        (b'{"a":1}', ['{"a":1}'], [0]),
        (b"null", [], []),
        (b"[]", [], []),
        (b'[7,"8"]', ["7", "8"], [7, 8]),
    ],
)
def test_sets_of_one_that_fastjson2_reads(said: bytes, tags: list[str] | None, codes: list[int] | None):
    """As RemotingSerializable#decode of 5.5.0 read them."""
    for member, expected in ((b"tagsSet", tags), (b"codeSet", codes)):
        body = b'{"subscriptionData":{"%s":%s}}' % (member, said)
        if expected is REFUSED:
            with pytest.raises(WireError):
                SubscriptionCheck.decode(body, engine="fastjson2")
            continue
        read = SubscriptionCheck.decode(body, engine="fastjson2").subscription_data
        assert read is not None
        assert (read.tags_set if member == b"tagsSet" else read.code_set) == expected


def test_a_subscription_that_is_none():
    for said in (b'""', b"null", b"[]"):
        body = b'{"subscriptionData":%s}' % said
        assert SubscriptionCheck.decode(body).subscription_data is None
    with pytest.raises(WireError):
        SubscriptionCheck.decode(body, engine="fastjson2")


def test_empty_text_is_no_list_to_fastjson2():
    for decode, body in (
        (Heartbeat.decode, b'{"consumerDataSet":""}'),
        (Heartbeat.decode, b'{"producerDataSet":""}'),
        (LockRequest.decode, b'{"mqSet":""}'),
        (SubscriptionGroupList.decode, b'{"groupConfigList":""}'),
    ):
        with pytest.raises(WireError, match="is null"):
            decode(body, engine="fastjson2")


def test_locks_are_written_and_read_as_apache_writes_them():
    queue = MessageQueue("broker-a", 3, "T")
    text = (
        b'{"clientId":"c1","consumerGroup":"CG","mqSet":[{"brokerName":"broker-a","queueId":3,"topic":"T"}]}'
    )
    request = LockRequest("c1", "CG", [queue])
    assert request.encode() == text
    assert LockRequest.decode(text) == request
    assert LockRequest.decode(text.replace(b"3", b'"3"')) == request
    assert LockedQueues().encode() == b'{"lockOKMQSet":[]}'
    assert LockedQueues.decode(LockedQueues([queue]).encode()).queues == [queue]


def test_a_group_has_the_members_of_its_line():
    group = SubscriptionGroup(group_name="G", retry_max_times=3)
    old, new = group.of_line(v5=False), group.of_line(v5=True)
    assert b"attributes" not in old.encode()
    assert new.group_retry_policy == {"type": "CUSTOMIZED"}
    assert new.of_line(v5=False) == old
    assert SubscriptionGroup.decode(new.encode(), v5=True) == new
    assert SubscriptionGroup.decode(new.encode(), v5=False) == old
    assert SubscriptionGroup.decode(b'{"groupName":"G","retryMaxTimes":"3"}', v5=False) == old
