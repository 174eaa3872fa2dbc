"""Sends: what is stored, what is answered, what is refused and how that is said."""

import pytest

from harness.wire import Command, RequestCode, ResponseCode
from harness.wire.messages import Message, decode_messages, decode_offset_id, encode_batch
from reference_impl.remoting.reply import Reply

from .driver import STARTED

NAMES = {
    "producerGroup": "a", "topic": "b", "defaultTopic": "c", "defaultTopicQueueNums": "d", "queueId": "e",
    "sysFlag": "f", "bornTimestamp": "g", "flag": "h", "properties": "i", "reconsumeTimes": "j",
    "unitMode": "k", "maxReconsumeTimes": "l", "batch": "m",
}  # fmt: skip
LONG = {
    "producerGroup": "PG", "topic": "T", "defaultTopic": "TBW102", "defaultTopicQueueNums": 4, "queueId": 1,
    "sysFlag": 0, "bornTimestamp": STARTED - 7, "flag": 9, "properties": "TAGS\1A\2",
}  # fmt: skip


def send(one, *, code=RequestCode.SEND_MESSAGE_V2, body=b"hello", version=409, **changes) -> Reply:
    """A send, with the header of its code."""
    header = {name: value for name, value in (LONG | changes).items() if value is not None}
    short = code != RequestCode.SEND_MESSAGE
    ext = {NAMES[name] if short else name: value for name, value in header.items()}
    return one.ask(code, ext, body, version=version)


def stored(one, topic="T", queue_id=1) -> list[Message]:
    """All messages of a queue."""
    store = one.broker.store
    return [
        message
        for frame in store.get(topic, queue_id, store.min_offset(topic, queue_id), 32).frames
        for message in decode_messages(frame)
    ]


@pytest.mark.parametrize(
    "code", [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE]
)
def test_a_message_is_stored_as_it_was_sent_and_answered_with_its_place(asked, profile, code):
    one = asked(profile)
    first, reply = send(one, code=code), send(one, code=code)
    assert (first.code, reply.code) == (0, 0)
    assert {name: reply.ext[name] for name in ("queueId", "queueOffset", "MSG_REGION", "TRACE_ON")} == {
        "queueId": "1",
        "queueOffset": "1",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    message = stored(one)[1]
    assert decode_offset_id(reply.ext["msgId"]) == ("127.0.0.1:10911", message.physical_offset)
    assert (message.body, message.flag, message.born_timestamp) == (b"hello", 9, STARTED - 7)
    assert (message.born_host, message.store_host) == ("10.0.0.1:40000", "127.0.0.1:10911")
    assert message.store_timestamp == one.now


def test_what_a_broker_of_53_writes_into_every_message_and_one_of_49_does_not(asked, profile):
    one = asked(profile)
    reply = send(one, properties="TAGS\1A\2POP_CK\1x\2WAIT\1true\2")
    properties = stored(one)[0].properties
    if profile == "4.9":
        assert properties == {"TAGS": "A", "POP_CK": "x", "CLUSTER": "DefaultCluster"}
        assert "transactionId" not in reply.ext
    else:
        assert len(properties["UNIQ_KEY"]) == 32
        assert reply.ext["transactionId"] == properties.pop("UNIQ_KEY")
        assert properties == {
            "TAGS": "A",
            "WAIT": "true",
            "MSG_REGION": "DefaultRegion",
            "TRACE_ON": "true",
            "CLUSTER": "DefaultCluster",
        }
        send(one, properties="UNIQ_KEY\1mine\2")
        assert stored(one)[1].properties["UNIQ_KEY"] == "mine"


def test_a_topic_comes_into_being_by_a_send_with_the_queues_that_the_producer_wants(asked, profile):
    one = asked(profile)
    assert send(one, queueId=-1).code == 0
    assert one.broker.topics.get("T").write_queue_nums == 4
    assert len(stored(one, queue_id=0)) == 1


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"topic": "a.b"}, "invalid", "The specified topic contains illegal characters"),
        ({"topic": "SCHEDULE_TOPIC_XXXX"}, 16, "Sending message to topic[SCHEDULE_TOPIC_XXXX] is forbidden."),
        ({"defaultTopic": "absent"}, 17, "topic[T] not exist, apply first please!\nSee http"),
        (
            {"queueId": 4},
            "invalid",
            "request queueId[4] is illegal, TopicConfig [topicName=T, readQueueNums=4,",
        ),
        ({"body": b"x" * 101}, 13, "msg body length limit 100B, msg properties length limit 32KB."),
        ({"properties": "a\1" + "x" * 32768 + "\2"}, 13, "the message is illegal"),
    ],
)
def test_what_is_refused_is_said_and_not_stored(asked, profile, changes, code, remark):
    one = asked(profile, maxMessageSize=100)
    reply = send(one, **changes)
    expected = (1 if profile == "4.9" else 29) if code == "invalid" else code
    assert reply.code == expected
    assert remark in reply.remark
    assert reply.ext == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    assert one.broker.store.physical_range() == (0, 0)


@pytest.mark.parametrize("field", ["defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "flag"])
@pytest.mark.parametrize("code", [10, 310])
def test_a_send_without_a_field_that_is_used_is_refused(asked, profile, code, field):
    one = asked(profile)
    assert send(one, code=code, **{field: None}).code == ResponseCode.SYSTEM_ERROR
    if field != "defaultTopic":
        assert send(one, code=code, **{field: "one"}).code == ResponseCode.SYSTEM_ERROR
    assert "T" not in one.broker.topics.table


def test_what_is_not_used_need_not_be_there(asked, profile):
    one = asked(profile)
    send(one)
    unused = {"producerGroup": None, "defaultTopic": None, "defaultTopicQueueNums": None, "properties": None}
    assert send(one, **unused).code == 0
    assert send(one, code=10, defaultTopicQueueNums="x", reconsumeTimes="x").code == 0
    assert send(one, reconsumeTimes="x").code == 1


def test_a_send_without_a_topic(asked, profile):
    reply = send(asked(profile), topic=None)
    assert reply.code == 1
    assert ("blank" in reply.remark) == (profile == "4.9")


def test_a_send_without_a_body(asked, profile):
    one = asked(profile)
    assert send(one, body=b"").code == (0 if profile == "4.9" else 1)
    assert send(one, body=b"", batch="true").code == 1


def test_an_order_topic_is_closed_while_the_broker_may_not_be_written(asked, profile):
    one = asked(profile, brokerPermission=4)
    one.broker.topics.create("T", 4, 6, one.now, order=True)
    one.broker.topics.create("U", 4, 6, one.now)
    assert send(one).remark == "the broker[127.0.0.1] sending message is forbidden"
    assert send(one, topic="U").code == 0


def test_before_the_time_from_which_sends_are_taken_on(asked, profile):
    one = asked(profile, startAcceptSendRequestTimeStamp=STARTED + 1000)
    assert send(one).remark == "broker unable to service, until 2023-11-14 22:13:21,000"
    one.pass_time(1000)
    assert send(one).code == 0


def test_several_messages_are_stored_one_behind_the_other(asked, profile):
    one = asked(profile)
    body = encode_batch(
        [Message(topic="T", body=b"%d" % n, properties={"TAGS": f"t{n}"}) for n in range(3)], profile
    )
    reply = send(one, code=RequestCode.SEND_BATCH_MESSAGE, body=body, batch="true", properties="X\1y\2")
    messages = stored(one)
    assert [message.body for message in messages] == [b"0", b"1", b"2"]
    assert [decode_offset_id(text)[1] for text in reply.ext["msgId"].split(",")] == [
        message.physical_offset for message in messages
    ]
    assert reply.ext["queueOffset"] == "0"
    assert messages[2].properties["TAGS"] == "t2"
    assert messages[2].properties["X"] == "y"


def test_what_cannot_be_a_batch(asked, profile):
    one = asked(profile)
    body = encode_batch([Message(topic="T", body=b"1")], profile)
    assert send(one, body=body, batch="true", properties="DELAY\0011\2").code == 13
    assert send(one, body=body, batch="true", sysFlag=4).code == 13
    assert send(one, body=body[:-3], batch="true").code == 1
    retry = send(one, body=body, batch="true", topic="%RETRY%g", queueId=0)
    assert retry.code == (0 if profile == "4.9" else 13)


def test_a_message_that_was_consumed_in_vain_too_often_is_a_dead_letter(asked, profile):
    one = asked(profile)
    most = 3 if profile == "4.9" else 4
    for times in (most - 1, most):
        send(one, topic="%RETRY%g", queueId=0, reconsumeTimes=times, maxReconsumeTimes=3)
    assert [message.reconsume_times for message in stored(one, "%RETRY%g", 0)] == [most - 1]
    assert [message.reconsume_times for message in stored(one, "%DLQ%g", 0)] == [most]


def test_the_maximum_of_the_group_counts_for_old_clients(asked, profile):
    one = asked(profile)
    send(one, topic="%RETRY%g", queueId=0, reconsumeTimes=5, maxReconsumeTimes=3, version=120)
    assert len(stored(one, "%RETRY%g", 0)) == 1


def test_a_group_in_order_has_no_retries_in_53(asked, profile):
    one = asked(profile)
    one.ask(
        RequestCode.LOCK_BATCH_MQ,
        body=b'{"clientId":"c","consumerGroup":"g","mqSet":[{"brokerName":"b","queueId":0,"topic":"T"}]}',
    )
    send(one, topic="%RETRY%g", queueId=0, reconsumeTimes=1, maxReconsumeTimes=3)
    assert len(stored(one, "%DLQ%g", 0)) == (profile == "5.3")


def test_retries_of_a_missing_group(asked, profile):
    one = asked(profile, autoCreateSubscriptionGroup=False)
    assert send(one, topic="%RETRY%g", queueId=0).code == 26


def test_transactions_can_be_forbidden(asked, profile):
    one = asked(profile, rejectTransactionMessage=True)
    assert (
        send(one, properties="TRAN_MSG\1true\2").remark
        == "the broker[127.0.0.1] sending transaction message is forbidden"
    )
    assert send(one).code == 0


def test_a_slave_takes_no_messages(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    reply = send(one)
    assert reply.code == (14 if profile == "4.9" else 2)
    assert one.broker.store.physical_range() == (0, 0)


def test_a_flood_is_answered_and_not_kept(asked, profile):
    one = asked(profile, sendThreadPoolQueueCapacity=2)
    ext = {NAMES[name]: str(value) for name, value in LONG.items()}
    flood = [one.broker.execute(Command(310, ext=ext, body=b"x"), 1, one.now) for _ in range(4)]
    assert [reply.code for reply in flood] == [0, 0, 2, 2]
    assert len(stored(one)) == 2
    one.broker.settle(one.now)
    assert send(one).code == 0
