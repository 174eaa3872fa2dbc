"""Pulls: what is found, what is refused, what waits and what ends the waiting."""

import pytest

from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import ConsumerData, Heartbeat, Subscription
from harness.wire.messages import Message, decode_messages, tag_hash
from reference_impl.broker.outbox import Answer
from reference_impl.broker.pulls import COMMITS, SUBSCRIBES, WAITS

from .driver import STARTED

HEADER = {
    "consumerGroup": "G", "topic": "T", "queueId": 0, "queueOffset": 0, "maxMsgNums": 32,
    "sysFlag": SUBSCRIBES, "commitOffset": 0, "suspendTimeoutMillis": 15000, "subVersion": 0,
    "subscription": "*",
}  # fmt: skip


def pull(one, *, code=RequestCode.PULL_MESSAGE, **changes):
    return one.ask(code, {name: value for name, value in (HEADER | changes).items() if value is not None})


def put(one, *tags, topic="T", queue_id=0):
    for tag in tags:
        message = Message(
            topic=topic, queue_id=queue_id, body=tag.encode(), properties={"TAGS": tag} if tag else {}
        )
        one.broker.store.put(message, one.now)
    one.broker.settle(one.now)


def beat(one, *subscriptions, connection=1, client="c1", model="CLUSTERING", **more):
    data = ConsumerData("CONSUME_FROM_LAST_OFFSET", "CONSUME_PASSIVELY", "G", model, list(subscriptions))
    body = Heartbeat(client_id=client, consumer_data_set=[data], **more).encode()
    return one.ask(RequestCode.HEART_BEAT, body=body, connection=connection)


@pytest.fixture
def one(asked, profile):
    """A Broker with a topic of two queues."""
    return with_topic(asked(profile))


def with_topic(one):
    one.broker.topics.create("T", 2, 6, one.now)
    return one


def bodies(reply):
    return [message.body.decode() for message in decode_messages(reply.body)]


def found(reply):
    return (reply.code, reply.remark, reply.ext["nextBeginOffset"])


def test_messages_from_an_offset_on(one, profile):
    put(one, "a", "b", "c")
    reply = pull(one, queueOffset=1)
    assert found(reply) == (0, "FOUND", "3")
    assert bodies(reply) == ["b", "c"]
    expected = {"suggestWhichBrokerId": "0", "nextBeginOffset": "3", "minOffset": "0", "maxOffset": "3"}
    more = {"topicSysFlag": "0", "groupSysFlag": "0"} if profile == "5.3" else {}
    assert reply.ext == expected | more
    assert bodies(pull(one, maxMsgNums=1)) == ["a"]


def test_what_is_found_beside_messages(one):
    assert found(pull(one)) == (19, "NO_MESSAGE_IN_QUEUE", "0")
    assert found(pull(one, queueOffset=3)) == (21, "NO_MESSAGE_IN_QUEUE", "0")
    put(one, "a", "b")
    assert found(pull(one, queueOffset=2)) == (19, "OFFSET_OVERFLOW_ONE", "2")
    assert found(pull(one, queueOffset=3)) == (21, "OFFSET_OVERFLOW_BADLY", "2")
    assert found(pull(one, queueOffset=-1)) == (21, "OFFSET_TOO_SMALL", "0")
    assert found(pull(one, subscription="x")) == (20, "NO_MATCHED_MESSAGE", "2")


def test_a_correction_is_recorded_by_49_only(one, profile):
    put(one, "a")
    pull(one, queueOffset=7)
    events = one.broker.store.get("OFFSET_MOVED_EVENT", 0, 0, 32).frames
    assert len(events) == (profile == "4.9")
    if events:
        assert decode_messages(events[0])[0].body == (
            b'{"consumerGroup":"G","messageQueue":{"brokerName":"broker-a","queueId":0,"topic":"T"},'
            b'"offsetNew":1,"offsetRequest":7}'
        )


@pytest.mark.parametrize(
    ("subscription", "expected"),
    [("*", "abc"), (None, "abc"), ("a||c", "ac"), (" a || b ||", "ab"), (" || ", ""), ("z", "")],
)
def test_a_pull_brings_its_subscription(one, subscription, expected):
    put(one, "a", "b", "c")
    assert "".join(bodies(pull(one, subscription=subscription))) == expected


def test_a_subscription_of_nothing_but_bars_cannot_be_read(one):
    assert pull(one, subscription="||").code == 23
    assert pull(one, expressionType="SQL92", subscription="").code == 23
    assert pull(one, expressionType="OTHER", subscription="a").code == 1
    reply = pull(one, expressionType="SQL92", subscription="a > 1")
    assert (reply.code, reply.remark) == (
        1,
        "The broker does not support consumer to filter message by SQL92",
    )


def test_what_the_group_subscribed_to_counts_if_the_pull_says_nothing(one):
    put(one, "a", "b")
    quiet = {"sysFlag": 0, "subscription": None}
    assert (pull(one, **quiet).code, pull(one, **quiet).remark.split("\n")[0]) == (
        24, "the consumer's group info not exist")  # fmt: skip
    beat(one, Subscription(topic="U", sub_string="*"))
    assert pull(one, **quiet).remark.startswith("the consumer's subscription not exist")
    beat(one, Subscription(topic="T", sub_string="b", code_set=[tag_hash("b")], sub_version=5))
    assert bodies(pull(one, subVersion=5, **quiet)) == ["b"]
    assert pull(one, subVersion=6, **quiet).code == 25


def test_broadcasting_can_be_forbidden(one, profile):
    beat(one, Subscription(topic="T", sub_string="*"), model="BROADCASTING")
    assert pull(one, sysFlag=0).code == 19
    one.broker.groups.table["G"].consume_broadcast_enable = False
    reply = pull(one, sysFlag=0)
    assert (reply.code, reply.remark) == (16, "the consumer group[G] can not consume by broadcast way")
    assert reply.ext == ({} if profile == "4.9" else {"forbiddenType": "4"})


def test_a_filter_of_heartbeats_that_is_no_tag(one):
    beat(one, Subscription(topic="T", sub_string="a > 1", expression_type="SQL92", sub_version=1))
    assert pull(one, sysFlag=0).remark == "The broker does not support consumer to filter message by SQL92"
    beat(one, Subscription(topic="T", sub_string="", expression_type="SQL92", sub_version=2))
    assert pull(one, sysFlag=0, subVersion=2).code == ResponseCode.FILTER_DATA_NOT_LATEST
    beat(one, Subscription(topic="T", sub_string="a > >", expression_type="SQL92", sub_version=3))
    assert pull(one, sysFlag=0).code == ResponseCode.FILTER_DATA_NOT_EXIST


@pytest.mark.parametrize(
    ("settings", "changes", "code", "remark"),
    [
        ({"brokerPermission": 2}, {}, 16, "the broker[127.0.0.1] pulling message is forbidden"),
        ({"autoCreateSubscriptionGroup": False}, {}, 26, "subscription group [G] does not exist, \nSee http"),
        ({}, {"topic": "absent"}, 17, "topic[absent] not exist, apply first please! \nSee http"),
        ({}, {"topic": "deaf"}, 16, "the topic[deaf] pulling message is forbidden"),
        (
            {},
            {"queueId": 2},
            None,
            "queueId[2] is illegal, topic:[T] topicConfig.readQueueNums:[2] consumer:[/10.",
        ),
        ({}, {"queueId": -1}, None, "queueId[-1] is illegal"),
        ({}, {"queueId": None}, 1, "queueId"),
        ({}, {"queueOffset": "1.5"}, 1, "queueOffset"),
    ],
)
def test_refusals(asked, profile, settings, changes, code, remark):
    one = with_topic(asked(profile, **settings))
    one.broker.topics.create("deaf", 2, 2, one.now)
    reply = pull(one, **changes)
    assert reply.code == ((1 if profile == "4.9" else 29) if code is None else code)
    assert remark in reply.remark


@pytest.mark.parametrize(
    ("field", "flag"), [("commitOffset", COMMITS), ("suspendTimeoutMillis", WAITS), ("subVersion", 0)]
)
def test_a_field_is_needed_only_where_it_is_used(one, field, flag):
    put(one, "a")
    beat(one, Subscription(topic="T", sub_string="*"))
    used = flag if field == "subVersion" else flag | SUBSCRIBES
    assert pull(one, **{field: None, "sysFlag": used}).code == 1
    assert pull(one, **{field: None}).code == 0
    assert pull(one, **{field: "1.5"}).code == 1


def test_a_group_that_may_not_consume(one):
    one.broker.groups.find("G", one.now).consume_enable = False
    assert pull(one).remark == "subscription group no permission, G"


def test_lite_pulls_are_of_53(one, asked, profile):
    put(one, "a")
    reply = pull(one, code=RequestCode.LITE_PULL_MESSAGE)
    assert reply.code == (3 if profile == "4.9" else 0)
    closed = with_topic(asked("5.3", litePullMessageEnable=False))
    assert pull(closed, code=RequestCode.LITE_PULL_MESSAGE).code == 16
    assert pull(closed).code == 19


# -- waiting -------------------------------------------------------------------------------------------------


def test_a_pull_waits_until_a_message_comes(one):
    assert pull(one, sysFlag=WAITS | SUBSCRIBES) is None
    one.pass_time(10)
    put(one, "a", queue_id=1)
    assert one.taken(Answer) == []
    put(one, "a")
    (answer,) = one.taken(Answer)
    assert answer.connection == 1
    assert bodies(answer.reply) == ["a"]
    assert one.broker.long_polling.count == 0


def test_an_unwanted_message_releases_no_pull_until_the_scan_moves_its_offset(one):
    assert pull(one, sysFlag=WAITS | SUBSCRIBES, subscription="b") is None
    put(one, "a")
    assert one.taken(Answer) == []
    one.pass_time(4999)
    assert one.taken(Answer) == []
    one.pass_time(1)
    (answer,) = one.taken(Answer)
    assert found(answer.reply) == (20, "NO_MATCHED_MESSAGE", "1")


def test_the_end_of_the_wait_is_noticed_by_the_next_scan(one):
    one.pass_time(1000)
    assert pull(one, sysFlag=WAITS | SUBSCRIBES, suspendTimeoutMillis=5000) is None
    one.pass_time(8999)
    assert one.taken(Answer) == []
    one.pass_time(1)
    (answer,) = one.taken(Answer)
    assert found(answer.reply) == (19, "NO_MESSAGE_IN_QUEUE", "0")


def test_without_long_polling_a_pull_waits_a_second(asked, profile):
    one = with_topic(asked(profile, longPollingEnable=False))
    assert pull(one, sysFlag=WAITS | SUBSCRIBES, suspendTimeoutMillis=60000) is None
    one.pass_time(999)
    assert one.taken(Answer) == []
    one.pass_time(1)
    assert len(one.taken(Answer)) == 1


def test_only_the_end_of_the_queue_is_worth_waiting_for(one):
    put(one, "a")
    assert pull(one, sysFlag=WAITS | SUBSCRIBES, queueOffset=2).code == 21
    assert pull(one, sysFlag=WAITS | SUBSCRIBES, subscription="b").code == 20


def test_what_waits_is_bounded(asked, profile):
    one = with_topic(asked(profile, pullThreadPoolQueueCapacity=2))
    replies = [pull(one, sysFlag=WAITS | SUBSCRIBES) for _ in range(3)]
    assert replies[:2] == [None, None]
    assert (replies[2].code, replies[2].remark) == (
        2,
        "[OVERLOAD]system busy, start flow control for a while",
    )


def test_a_connection_that_ends_takes_its_pulls_along(one):
    one.broker.connected(2, "10.0.0.2:1", one.now)
    pull(one, sysFlag=WAITS | SUBSCRIBES)
    one.broker.lost(1, one.now)
    put(one, "a")
    assert one.taken(Answer) == []
    assert one.broker.long_polling.count == 0


def test_a_broker_with_nothing_to_wait_for_needs_no_scan(one):
    before = one.broker.long_polling.next_tick()
    pull(one, sysFlag=WAITS | SUBSCRIBES)
    assert before > one.broker.long_polling.next_tick() == STARTED + 5000


# -- offsets by pulls ----------------------------------------------------------------------------------------


def committed(one):
    return one.broker.offsets.offset_of("G", "T", 0)


def test_a_pull_commits_an_offset_when_it_is_carried_out_first(one):
    pull(one, commitOffset=3)
    assert committed(one) is None
    pull(one, sysFlag=COMMITS | WAITS | SUBSCRIBES, commitOffset=4)
    assert committed(one) == 4
    one.broker.offsets.commit("G", "T", 0, 9, one.now)
    put(one, "a")
    assert len(one.taken(Answer)) == 1
    assert committed(one) == 9


def test_a_refused_pull_commits_nothing(one):
    pull(one, sysFlag=COMMITS | SUBSCRIBES, subscription="||", commitOffset=4)
    assert committed(one) is None


def test_a_reset_offset_is_given_once(asked):
    one = with_topic(asked("5.3"))
    put(one, "a", "b", "c")
    one.broker.offsets.reset("G", "T", 0, 1, one.now)
    reply = pull(one, queueOffset=3)
    assert found(reply) == (21, "OFFSET_RESET", "1")
    assert (reply.ext["minOffset"], reply.ext["maxOffset"]) == ("0", "3")
    assert found(pull(one, queueOffset=3)) == (19, "OFFSET_OVERFLOW_ONE", "3")


# -- slaves --------------------------------------------------------------------------------------------------


def test_a_slave_that_is_not_to_be_read(asked, profile):
    one = with_topic(asked(profile, brokerRole="SLAVE", brokerId=1))
    put(one, "a")
    assert pull(one).code == (0 if profile == "4.9" else 2)


def test_a_slave_of_49_corrects_and_commits_nothing(asked, profile):
    one = with_topic(asked(profile, brokerRole="SLAVE", brokerId=1, slaveReadEnable=True))
    put(one, "a")
    assert bodies(pull(one, sysFlag=COMMITS | SUBSCRIBES, commitOffset=1)) == ["a"]
    assert committed(one) == (None if profile == "4.9" else 1)
    assert found(pull(one, queueOffset=7)) == (20, "OFFSET_OVERFLOW_BADLY", "7")
