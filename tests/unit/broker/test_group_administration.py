"""Requests of administrators about groups: settings, members, progress and resets."""

import pytest

from harness.wire import RequestCode
from harness.wire.bodies import (
    ConsumeStats,
    MessageQueue,
    QueueOffsets,
    SubscriptionGroupTable,
    TopicList,
)
from harness.wire.fastjson import dumps, parse
from reference_impl.broker.outbox import Pushing

from .administering import topic
from .messages import sent


def beat(one, *, consumer=None, producer=None, connection=1, subscribed="T", **more):
    subscription = {"topic": subscribed, "subString": "*", "expressionType": "TAG", "subVersion": 1}
    consumers = [
        {
            "groupName": consumer,
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "subscriptionDataSet": [subscription],
        }
    ]
    data = {
        "clientID": f"c{connection}",
        "consumerDataSet": consumers if consumer else [],
        "producerDataSet": [{"groupName": producer}] if producer else [],
    }
    one.broker.connected(connection, f"10.0.0.1:{40_000 + connection}", one.now)
    one.ask(RequestCode.HEART_BEAT, body=dumps(data), connection=connection, **more)
    one.broker.outbox.clear()


def test_a_group_is_made_and_deleted(asked, profile):
    one = asked(profile)
    body = b'{"groupName":"G","retryQueueNums":2,"retryMaxTimes":3}'
    assert one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body).code == 0
    told = SubscriptionGroupTable.decode(one.ask(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG).body)
    group = told.subscription_group_table["G"]
    assert (group.retry_queue_nums, group.retry_max_times, group.consume_enable) == (2, 3, True)
    assert (group.consume_timeout_minute is None) == (profile == "4.9")
    assert (told.forbidden_table is None) == (profile == "4.9")
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    one.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "G"})
    assert "G" not in one.broker.groups.table
    assert one.broker.offsets.offset_of("G", "T", 0) == 1
    clean = "removeOffset" if profile == "4.9" else "cleanOffset"
    assert one.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "G", clean: "true"}).code == 0
    assert one.broker.offsets.offset_of("G", "T", 0) is None


@pytest.mark.parametrize("body", [b"", b"{", b"{}"])
def test_an_illegal_group_is_refused(asked, profile, body):
    one = asked(profile)
    assert one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body).code == 1
    assert one.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP).code == 1


def test_only_49_refuses_to_change_groups_of_a_slave(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    update = one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=b'{"groupName":"G"}')
    delete = one.ask(RequestCode.DELETE_SUBSCRIPTIONGROUP, {"groupName": "G"})
    assert {update.code, delete.code} == {1 if profile == "4.9" else 0}


def test_who_is_online(asked, profile):
    one = asked(profile)
    missing = one.ask(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "G"})
    assert (missing.code, missing.remark) == (206, "the consumer group[G] not online")
    beat(one, consumer="G", producer="P", version=409)
    told = parse(one.ask(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "G"}).body)
    client = {"clientAddr": "10.0.0.1:40001", "clientId": "c1", "language": "JAVA", "version": 409}
    assert told["connectionSet"] == [client]
    assert told["consumeType"] == "CONSUME_PASSIVELY"
    assert told["subscriptionTable"]["T"]["subString"] == "*"
    told = parse(one.ask(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": "P"}).body)
    assert told == {"connectionSet": [client]}
    missing = one.ask(RequestCode.GET_PRODUCER_CONNECTION_LIST, {"producerGroup": "none"})
    assert (missing.code, missing.remark) == (1, "the producer group[none] not exist")
    told = parse(one.ask(RequestCode.GET_ALL_PRODUCER_INFO).body)
    assert told["data"]["P"][0]["remoteIP"] == "/10.0.0.1:40001"


def test_how_far_a_group_has_consumed(asked, profile):
    one = asked(profile)
    topic(one)
    sent(one)
    sent(one)
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    stats = ConsumeStats.decode(one.ask(RequestCode.GET_CONSUME_STATS, {"consumerGroup": "G"}).body)
    table = {queue.queue_id: state for queue, state in stats.offset_table.items()}
    assert table.keys() == {0, 1}
    assert (table[0].broker_offset, table[0].consumer_offset, table[0].last_timestamp) == (2, 1, one.now)
    assert table[0].pull_offset == (None if profile == "4.9" else 1)
    told = parse(one.ask(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, {"topic": "T"}).body)
    assert told == {"groupList": ["G"]}
    beat(one, consumer="G", subscribed="X")
    stats = ConsumeStats.decode(one.ask(RequestCode.GET_CONSUME_STATS, {"consumerGroup": "G"}).body)
    assert stats.offset_table == {}


def test_how_far_all_groups_have_consumed(asked, profile):
    one = asked(profile)
    topic(one)
    sent(one)
    one.broker.groups.find("G", one.now)
    one.broker.offsets.commit("G", "T", 0, 0, one.now)
    body = one.ask(RequestCode.GET_BROKER_CONSUME_STATS, {"isOrder": "false"}).body
    assert b'"totalDiff":1' in body
    assert (
        b'{"G":[{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:' in body
    )


def test_a_group_begins_where_another_is(asked, profile):
    one = asked(profile)
    topic(one)
    one.broker.offsets.commit("G", "T", 1, 7, one.now)
    ext = {"srcGroup": "G", "destGroup": "H", "topic": "T"}
    assert one.ask(RequestCode.CLONE_GROUP_OFFSET, ext).code == 0
    assert one.broker.offsets.offset_of("H", "T", 1) == 7


def test_53_shows_what_groups_consume(asked, profile):
    one = asked(profile)
    beat(one, consumer="G")
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    codes = {
        one.ask(code, {"group": "G", "topic": "T"}).code
        for code in (
            RequestCode.QUERY_TOPICS_BY_CONSUMER,
            RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER,
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG,
        )
    }
    assert codes == {3 if profile == "4.9" else 0}
    if profile == "5.3":
        told = one.ask(RequestCode.QUERY_TOPICS_BY_CONSUMER, {"group": "G"})
        assert TopicList.decode(told.body) == TopicList(["T"], "127.0.0.1:10911")
        told = one.ask(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, {"group": "G", "topic": "T"})
        assert parse(told.body)["subscriptionData"]["topic"] == "T"


def reset(one, **changes):
    ext = {"topic": "T", "group": "G", "timestamp": 0, "isForce": "true"} | changes
    return one.ask(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, ext)


def test_53_sets_offsets_itself(asked):
    one = asked("5.3")
    topic(one)
    sent(one)
    one.broker.groups.find("G", one.now)
    told = QueueOffsets.decode(reset(one, timestamp=-1).body).offset_table
    assert told == {MessageQueue("broker-a", 0, "T"): 1, MessageQueue("broker-a", 1, "T"): 0}
    assert one.broker.offsets.offset_of("G", "T", 0) == 1
    told = QueueOffsets.decode(reset(one, queueId=0, offset=0).body).offset_table
    assert told == {MessageQueue("broker-a", 0, "T"): 0}
    assert one.taken(Pushing) == []
    refused = reset(one, queueId=0, offset=9)
    assert (refused.code, refused.remark) == (1, "Target offset 9 not in consume queue range [0-1]")
    assert reset(one, topic="none").code == 17
    assert reset(one, group="none").code == 26


def test_members_go_back_themselves_where_the_broker_sets_no_offsets(asked, profile):
    one = asked(profile, useServerSideResetOffset=False)
    topic(one)
    sent(one)
    assert reset(one).remark == "THe consumer group <G> not exist"
    for queue in range(3):
        one.broker.offsets.commit("G", "T", queue, 1, one.now)
    offline = reset(one)
    assert (offline.code, offline.remark.partition(",")[0]) == (206, "Consumer not online")
    beat(one, consumer="G", connection=2, version=409)
    reply = reset(one)
    table = {queue.queue_id: offset for queue, offset in QueueOffsets.decode(reply.body).offset_table.items()}
    assert table == {0: 0, 1: 0, 2: 0}
    [push] = one.taken(Pushing)
    assert (push.connection, push.command.code) == (2, RequestCode.RESET_CONSUMER_CLIENT_OFFSET)
    assert push.command.body == reply.body
    assert one.broker.offsets.offset_of("G", "T", 0) == 1
    assert reset(one, topic="none").code == (1 if profile == "4.9" else 17)
    beat(one, consumer="G", connection=3, version=27)
    assert reset(one).remark == "the client does not support this feature. version=27"
    assert [push.connection for push in one.taken(Pushing)] == [2]
