"""What administrators see and change: topics, groups, offsets, settings, and how the Broker is."""

import pytest

from harness.wire import Command, RequestCode
from harness.wire.bodies import (
    ConsumerOffsets,
    ConsumeStats,
    KvTable,
    MessageQueue,
    Properties,
    QueueOffsets,
    StoredQueue,
    SubscriptionGroupTable,
    TopicConfig,
    TopicConfigList,
    TopicConfigTable,
    TopicList,
    TopicStats,
)
from harness.wire.fastjson import dumps, parse
from reference_impl.broker.outbox import Asking, Pushing
from reference_impl.broker.store.storage import Space
from reference_impl.remoting.values import retold

from .messages import queue_of, sent

TOPIC = {
    "topic": "T", "defaultTopic": "TBW102", "readQueueNums": 2, "writeQueueNums": 3, "perm": 6,
    "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": "true",
}  # fmt: skip
SYSTEM = "SCHEDULE_TOPIC_XXXX"


def topic(one, **changes):
    ext = {name: value for name, value in (TOPIC | changes).items() if value is not None}
    return one.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, ext)


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


def announced(one):
    """How many registrations are under way; the NameServer answers them."""
    asking = one.taken(Asking)
    for registration in asking:
        registration.done(Command(code=0, flag=1), one.now)
    return len(asking)


# -- topics --------------------------------------------------------------------------------------------------


def test_a_topic_is_made_and_announced(asked, profile):
    one = asked(profile, namesrvAddr="10.0.0.9:9876")
    one.pass_time(0)
    announced(one)
    before = one.broker.topics.version.counter
    assert topic(one).code == 0
    made = one.broker.topics.get("T")
    assert (made.read_queue_nums, made.write_queue_nums, made.perm) == (2, 3, 6)
    assert made.order == (profile == "5.3")
    assert one.broker.topics.version.counter == before + 1
    assert announced(one) == 1


def test_a_topic_that_is_as_it_is_wanted_is_no_news_to_53(asked, profile):
    one = asked(profile, namesrvAddr="10.0.0.9:9876")
    topic(one)
    before = one.broker.topics.version.counter
    assert topic(one).code == 0
    assert one.broker.topics.version.counter == before + (profile == "4.9")


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("", "The specified topic is blank."),
        (
            "a b",
            "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
        ),
        ("x" * 128, "The specified topic is longer than topic max length."),
        (SYSTEM, f"The topic[{SYSTEM}] is conflict with system topic."),
    ],
)
def test_a_name_that_is_none_is_refused(asked, profile, name, remark):
    one = asked(profile)
    reply = topic(one, topic=name)
    assert (reply.code, reply.remark) == (1 if profile == "4.9" else 29, remark)


def test_a_topic_without_a_name_is_refused_with_code_1(asked, profile):
    assert topic(asked(profile), topic=None).code == 1


@pytest.mark.parametrize("name", ["topicFilterType", "readQueueNums", "writeQueueNums", "perm"])
def test_what_a_new_topic_must_have(asked, profile, name):
    one = asked(profile)
    assert topic(one, **{name: None}).code == 1
    assert topic(one, **{name: "x"}).code == 1
    assert one.broker.topics.get("T") is None


def test_only_49_refuses_to_change_topics_of_a_slave(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    codes = {topic(one).code, one.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"}).code}
    assert codes == {1 if profile == "4.9" else 0}


def test_attributes_of_a_topic(asked):
    one = asked("5.3")
    topic(one, attributes="+message.type=DELAY")
    assert one.broker.topics.get("T").attributes == {"message.type": "DELAY"}
    topic(one, attributes="+message.type=FIFO,+reserve.time=5")
    topic(one, attributes="-reserve.time")
    assert one.broker.topics.get("T").attributes == {"message.type": "FIFO"}
    assert topic(one, attributes="+message.type=MIXED").code == 29


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("+nonsense=1", "unsupported key: nonsense"),
        ("-message.type", "only add attribute is supported while creating topic. key: message.type"),
        ("message.type=FIFO", "add/alter attribute format is wrong: message.type"),
        ("message.type", "delete attribute format is wrong: message.type"),
        ("+message.type=odd", None),
        ("+reserve.time=x", None),
        ("+queue.type=SimpleCQ,+queue.type=SimpleCQ", "key duplication: +queue.type"),
    ],
)
def test_attributes_that_mean_nothing_are_refused(asked, text, remark):
    one = asked("5.3")
    reply = topic(one, attributes=text)
    assert reply.code == 1
    assert remark is None or reply.remark == remark
    assert one.broker.topics.get("T") is None


def test_a_fixed_attribute_cannot_be_changed(asked):
    one = asked("5.3")
    topic(one, attributes="+queue.type=SimpleCQ")
    assert topic(one, attributes="+queue.type=BatchCQ").code == 1


def test_several_topics_are_made_or_none(asked):
    one = asked("5.3")
    good = TopicConfigList([TopicConfig("A", attributes={}), TopicConfig("B", attributes={})])
    assert one.ask(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, body=good.encode()).code == 0
    assert {"A", "B"} <= one.broker.topics.table.keys()
    bad = TopicConfigList([TopicConfig("C", attributes={}), TopicConfig("a b", attributes={})])
    assert one.ask(RequestCode.UPDATE_AND_CREATE_TOPIC_LIST, body=bad.encode()).code == 29
    assert one.broker.topics.get("C") is None


def test_a_topic_is_deleted_with_what_it_held(asked, profile):
    one = asked(profile)
    topic(one)
    sent(one)
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    for _ in range(2):
        assert one.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"}).code == 0
    assert one.broker.topics.get("T") is None
    assert queue_of(one, "T") == []
    assert one.broker.offsets.offset_of("G", "T", 0) == (1 if profile == "4.9" else None)


def test_retry_topics_of_pop_go_with_their_topic(asked):
    one = asked("5.3")
    topic(one)
    topic(one, topic="%RETRY%G_T")
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    one.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    assert one.broker.topics.get("%RETRY%G_T") is None


@pytest.mark.parametrize(("name", "code"), [(SYSTEM, 29), ("", 29), (None, 29), ("a b", 0)])
def test_what_cannot_be_deleted(asked, profile, name, code):
    one = asked(profile)
    reply = one.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {} if name is None else {"topic": name})
    assert reply.code == (1 if profile == "4.9" else code)


def test_queues_of_topics_that_there_are_no_longer_are_cleaned(asked, profile):
    one = asked(profile)
    sent(one)
    one.broker.topics.delete("T", one.now)
    assert one.ask(RequestCode.CLEAN_UNUSED_TOPIC).code == 0
    assert queue_of(one, "T") == []


def test_the_whole_table_is_told_to_slaves(asked, profile):
    one = asked(profile)
    topic(one)
    reply = one.ask(RequestCode.GET_ALL_TOPIC_CONFIG)
    assert reply.ext == {}
    members = parse(reply.body)
    assert ("mappingDataVersion" in members) == (profile == "5.3")
    told = TopicConfigTable.decode(
        dumps({name: members[name] for name in ("dataVersion", "topicConfigTable")})
    )
    assert told.topic_config_table["T"].write_queue_nums == 3
    assert told.data_version.counter == one.broker.topics.version.counter


def test_one_topic_is_told_by_53(asked, profile):
    one = asked(profile)
    topic(one)
    reply = one.ask(RequestCode.GET_TOPIC_CONFIG, {"topic": "T"})
    if profile == "4.9":
        assert reply.code == 3
    else:
        assert parse(reply.body)["readQueueNums"] == 2
        missing = one.ask(RequestCode.GET_TOPIC_CONFIG, {"topic": "none"})
        assert (missing.code, missing.remark) == (17, "No topic in this broker. topic: none")


def test_how_far_the_queues_of_a_topic_go(asked, profile):
    one = asked(profile)
    topic(one, readQueueNums=3, writeQueueNums=2)
    sent(one, queue=1)
    stats = TopicStats.decode(one.ask(RequestCode.GET_TOPIC_STATS_INFO, {"topic": "T"}).body)
    table = {queue.queue_id: state for queue, state in stats.offset_table.items()}
    assert len(table) == (2 if profile == "4.9" else 3)
    assert table[0] == StoredQueue(0, 0, 0)
    assert table[1] == StoredQueue(one.now, 1, 0)
    assert (stats.topic_put_tps is None) == (profile == "4.9")
    missing = one.ask(RequestCode.GET_TOPIC_STATS_INFO, {"topic": "none"})
    assert (missing.code, missing.remark) == (17, "topic[none] not exist")


def test_system_topics_are_told(asked, profile):
    told = TopicList.decode(asked(profile).ask(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER).body)
    assert {SYSTEM, "TBW102"} <= set(told.topic_list)


# -- groups --------------------------------------------------------------------------------------------------


def test_a_group_is_made_and_deleted(asked, profile):
    one = asked(profile)
    body = b'{"groupName":"G","retryQueueNums":2,"retryMaxTimes":3}'
    assert one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, body=body).code == 0
    told = SubscriptionGroupTable.decode(one.ask(RequestCode.GET_ALL_SUBSCRIPTION_GROUP_CONFIG).body)
    group = told.subscription_group_table["G"]
    assert (group.retry_queue_nums, group.retry_max_times, group.consume_enable) == (2, 3, True)
    assert (group.consume_timeout_minute is None) == (profile == "4.9")
    assert (told.forbidden_table is None) == (profile == "4.9")
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    one.ask(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": "G"})
    assert "G" not in one.broker.groups.table
    assert one.broker.offsets.offset_of("G", "T", 0) == 1
    clean = "removeOffset" if profile == "4.9" else "cleanOffset"
    assert one.ask(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": "G", clean: "true"}).code == 0
    assert one.broker.offsets.offset_of("G", "T", 0) is None


@pytest.mark.parametrize("body", [b"", b"{", b"{}"])
def test_a_group_that_is_none_is_refused(asked, profile, body):
    one = asked(profile)
    assert one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, body=body).code == 1
    assert one.ask(RequestCode.DELETE_SUBSCRIPTION_GROUP).code == 1


def test_only_49_refuses_to_change_groups_of_a_slave(asked, profile):
    one = asked(profile, brokerRole="SLAVE", brokerId=1)
    update = one.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, body=b'{"groupName":"G"}')
    delete = one.ask(RequestCode.DELETE_SUBSCRIPTION_GROUP, {"groupName": "G"})
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


def test_what_groups_consume_is_told_by_53(asked, profile):
    one = asked(profile)
    beat(one, consumer="G")
    one.broker.offsets.commit("G", "T", 0, 1, one.now)
    codes = {
        one.ask(code, {"group": "G", "topic": "T"}).code
        for code in (
            RequestCode.QUERY_TOPICS_BY_CONSUMER,
            RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER,
            RequestCode.GET_SUBSCRIPTION_GROUP_CONFIG,
        )
    }
    assert codes == {3 if profile == "4.9" else 0}
    if profile == "5.3":
        told = one.ask(RequestCode.QUERY_TOPICS_BY_CONSUMER, {"group": "G"})
        assert TopicList.decode(told.body) == TopicList(["T"], "127.0.0.1:10911")
        told = one.ask(RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER, {"group": "G", "topic": "T"})
        assert parse(told.body)["subscriptionData"]["topic"] == "T"


# -- offsets that are reset ----------------------------------------------------------------------------------


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


def test_members_of_the_group_are_told_where_the_broker_does_not_set_offsets(asked, profile):
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


# -- settings ------------------------------------------------------------------------------------------------


def change(one, text):
    return one.ask(RequestCode.UPDATE_BROKER_CONFIG, body=text)


def test_settings_are_shown_and_changed(asked, profile):
    one = asked(profile)
    before = one.ask(RequestCode.GET_BROKER_CONFIG)
    pairs = Properties.decode(before.body).pairs
    assert pairs["maxMessageSize"] == "4194304"
    assert ("timerWheelEnable" in pairs) == (profile == "5.3")
    assert change(one, b"maxMessageSize=5\nunknown=1\nautoCreateTopicEnable=false\n").code == 0
    assert (one.broker.config.max_message_size, one.broker.config.auto_create_topic_enable) == (5, False)
    assert sent(one, topic="new").code == 17
    after = one.ask(RequestCode.GET_BROKER_CONFIG)
    assert "unknown" not in Properties.decode(after.body).pairs
    assert after.ext["version"] != before.ext["version"]


def test_what_nobody_may_change(asked, profile):
    one = asked(profile, configBlackList="brokerName")
    for key in ("brokerConfigPath", "rocketmqHome", "configBlackList", "brokerName"):
        reply = change(one, f"maxMessageSize=5\n{key}=x".encode())
        assert (reply.code, reply.remark) == (16, "Can not update config in black list.")
    assert one.broker.config.max_message_size == 4194304


def test_what_cannot_be_read_changes_nothing(asked, profile):
    one = asked(profile)
    assert change(one, b"").code == 0
    assert change(one, b"maxMessageSize=x").code == 0
    assert change(one, b"a=\\uzzzz").code == 1
    assert one.broker.config.max_message_size == 4194304


def test_a_new_permission_is_registered_at_once(asked, profile):
    one = asked(profile, namesrvAddr="10.0.0.9:9876")
    one.pass_time(0)
    announced(one)
    before = one.broker.topics.version.counter
    change(one, b"brokerPermission=4")
    assert one.broker.topics.version.counter == before + 1
    assert announced(one) == 1


# -- how it is -----------------------------------------------------------------------------------------------


def test_how_the_broker_is(asked, profile):
    one = asked(profile)
    sent(one, properties={"DELAY": "1"})
    one.pass_time(90_000)
    table = KvTable.decode(one.ask(RequestCode.GET_BROKER_RUNTIME_INFO).body).table
    assert table["brokerVersionDesc"] == {"4.9": "V4_9_8", "5.3": "V5_3_3"}[profile]
    assert table["runtime"] == "[ 0 days, 0 hours, 1 minutes, 30 seconds ]"
    assert table["scheduleMessageOffset_1"] == "1,1"
    assert table["msgPutTotalTodayNow"] == "2"
    assert table["earliestMessageTimeStamp"] == str(one.now - 90_000)
    assert ("timerReadBehind" in table) == ("getTransferredTps" in table) == (profile == "5.3")


def test_offsets_are_told_to_slaves(asked, profile):
    one = asked(profile)
    one.broker.offsets.commit("G", "T", 0, 5, one.now)
    told = ConsumerOffsets.decode(one.ask(RequestCode.GET_ALL_CONSUMER_OFFSET).body)
    assert told.offset_table == {"T@G": {0: 5}}


@pytest.mark.parametrize(
    ("size", "shown"),
    [(1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (270_476_253_594, "251.9 GiB")],
)
def test_the_room_of_the_disk_is_told_with_units(asked, profile, size, shown):
    one = asked(profile)
    one.broker.store.space = lambda: Space(size, 100, 0.5)
    table = KvTable.decode(one.ask(RequestCode.GET_BROKER_RUNTIME_INFO).body).table
    assert table["commitLogDirCapacity"] == f"Total : {shown}, Free : 100 B."


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [("double", " 2.50 ", "2.5"), ("double", "x", None), ("int", "7", "7"), ("int", "7 ", None)],
)
def test_how_settings_that_do_nothing_are_shown_once_they_are_changed(kind, text, shown):
    assert retold(kind, text, trims=True) == shown
