"""Requests of administrators about topics."""

import pytest

from harness.wire import RequestCode
from harness.wire.bodies import (
    StoredQueue,
    TopicConfig,
    TopicConfigList,
    TopicConfigTable,
    TopicList,
    TopicStats,
)
from harness.wire.fastjson import dumps, parse

from .administering import announced, topic
from .messages import queue_of, sent

SYSTEM = "SCHEDULE_TOPIC_XXXX"


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
def test_an_illegal_name_is_refused(asked, profile, name, remark):
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


def test_queues_of_deleted_topics_are_cleaned(asked, profile):
    one = asked(profile)
    sent(one)
    one.broker.topics.delete("T", one.now)
    assert one.ask(RequestCode.CLEAN_UNUSED_TOPIC).code == 0
    assert queue_of(one, "T") == []


def test_slaves_get_the_whole_table(asked, profile):
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


def test_53_shows_one_topic(asked, profile):
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


def test_system_topics_are_shown(asked, profile):
    told = TopicList.decode(asked(profile).ask(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER).body)
    assert {SYSTEM, "TBW102"} <= set(told.topic_list)
