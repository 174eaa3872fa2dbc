"""Offsets: of groups and of queues, and what of them survives."""

import pytest

from harness.wire import FLAG_ONEWAY, RequestCode
from harness.wire.bodies import ConsumerOffsets, SubscriptionGroupTable, TopicConfigTable
from harness.wire.messages import Message
from reference_impl.broker.groups import GROUPS_FILE
from reference_impl.broker.offsets import CONSUMER_OFFSETS_FILE
from reference_impl.broker.outbox import Saving
from reference_impl.broker.topics import TOPICS_FILE
from reference_impl.remoting.errors import ConfigError

PLACE = {"consumerGroup": "G", "topic": "T", "queueId": 0}


@pytest.fixture
def one(asked, profile):
    """A Broker with a topic and a group."""
    one = asked(profile)
    one.broker.topics.create("T", 2, 6, one.now)
    one.broker.groups.find("G", one.now)
    one.broker.settle(one.now)
    return one


def update(one, offset, flag=0, **changes):
    ext = {
        name: value
        for name, value in (PLACE | {"commitOffset": offset} | changes).items()
        if value is not None
    }
    return one.ask(RequestCode.UPDATE_CONSUMER_OFFSET, ext, flag=flag)


def query(one, **changes):
    return one.ask(RequestCode.QUERY_CONSUMER_OFFSET, PLACE | changes)


def put(one, count, queue_id=0):
    for _ in range(count):
        one.now += 10
        one.broker.store.put(Message(topic="T", queue_id=queue_id, body=b"x"), one.now)


def test_the_last_commit_counts_be_it_smaller(one):
    for offset in (7, 5):
        assert update(one, offset).code == 0
    assert query(one).ext == {"offset": "5"}
    assert query(one, queueId=1).code != 0 or query(one, queueId=1).ext == {"offset": "0"}


def test_a_group_that_never_committed(one, profile):
    empty, filled = query(one), None
    put(one, 2)
    filled = query(one)
    assert filled.ext == {"offset": "0"}
    if profile == "4.9":
        assert empty.ext == {"offset": "0"}
    else:
        assert (empty.code, empty.remark) == (
            22,
            "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
        )
        assert query(one, setZeroIfNotFound="false").code == 22


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"consumerGroup": "none"}, 26, "Group none not exist!"),
        ({"topic": "none"}, 17, "Topic none not exist!"),
        ({"queueId": None}, 29, "QueueId is null, topic is T"),
        ({"commitOffset": None}, 29, "Offset is null, topic is T"),
    ],
)
def test_53_wants_to_know_what_is_committed(asked, profile, changes, code, remark):
    one = asked(profile)
    one.broker.topics.create("T", 2, 6, one.now)
    one.broker.groups.find("G", one.now)
    reply = update(one, 1, **changes)
    if profile == "5.3":
        assert (reply.code, reply.remark) == (code, remark)
    else:
        assert reply.code == (1 if None in changes.values() else 0)


def test_an_offset_that_was_reset_stays_until_a_consumer_knows(asked):
    one = asked("5.3")
    one.broker.topics.create("T", 2, 6, one.now)
    one.broker.groups.find("G", one.now)
    one.broker.offsets.reset("G", "T", 0, 3, one.now)
    assert update(one, 9).remark == "Offset has been previously reset"
    assert query(one).ext == {"offset": "3"}
    assert one.broker.offsets.take_reset("G", "T", 0) == 3
    assert update(one, 9).remark is None
    assert query(one).ext == {"offset": "9"}


def test_offsets_of_queues(one, profile):
    def told(code, **changes):
        return one.ask(code, {"topic": "T", "queueId": 0} | changes).ext

    assert told(RequestCode.GET_MAX_OFFSET, topic="none") == {"offset": "0"}
    assert told(RequestCode.GET_EARLIEST_MSG_STORETIME) == {"timestamp": "-1"}
    start = one.now
    put(one, 3)
    assert told(RequestCode.GET_MAX_OFFSET) == {"offset": "3"}
    assert told(RequestCode.GET_MIN_OFFSET) == {"offset": "0"}
    assert told(RequestCode.GET_EARLIEST_MSG_STORETIME) == {"timestamp": str(start + 10)}
    search = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    assert told(search, timestamp=start + 20) == {"offset": "1"}
    assert told(search, timestamp=start + 21) == {"offset": "1" if profile == "4.9" else "2"}
    assert told(search, timestamp=start + 21, boundaryType="upper") == {"offset": "1"}


def saved(one):
    return {saving.name: bytes(saving.data) for saving in one.taken(Saving)}


def test_what_is_confirmed_is_written_before_and_the_rest_in_intervals(one):
    one.taken(Saving)
    update(one, 4, FLAG_ONEWAY)
    assert saved(one) == {}
    one.pass_time(9_999)
    assert saved(one) == {}
    one.pass_time(1)
    assert ConsumerOffsets.decode(saved(one)[CONSUMER_OFFSETS_FILE]).offset_table == {"T@G": {0: 4}}
    one.pass_time(60_000)
    assert saved(one) == {}
    update(one, 5)
    assert ConsumerOffsets.decode(saved(one)[CONSUMER_OFFSETS_FILE]).offset_table == {"T@G": {0: 5}}


def test_what_is_not_written_yet_is_written_at_the_end(one):
    one.taken(Saving)
    one.broker.stop(one.now)
    assert saved(one) == {}
    update(one, 4, FLAG_ONEWAY)
    one.broker.stop(one.now)
    assert ConsumerOffsets.decode(saved(one)[CONSUMER_OFFSETS_FILE]).offset_table == {"T@G": {0: 4}}


def test_tables_outlive_the_broker(one, asked, profile):
    one.broker.topics.create("U", 3, 6, one.now + 1)
    update(one, 5)
    files = saved(one)
    assert set(files) == {TOPICS_FILE, GROUPS_FILE, CONSUMER_OFFSETS_FILE}
    again = asked(profile, stored=files).broker
    assert (again.topics.table, again.topics.version) == (one.broker.topics.table, one.broker.topics.version)
    assert again.groups.table == one.broker.groups.table
    assert again.groups.version.counter == (0 if profile == "4.9" else one.broker.groups.version.counter)
    assert again.offsets.offset_of("G", "T", 0) == 5
    assert TopicConfigTable.decode(files[TOPICS_FILE]).topic_config_table["U"].write_queue_nums == 3
    assert "G" in SubscriptionGroupTable.decode(files[GROUPS_FILE]).subscription_group_table


def test_a_broker_of_the_other_line_reads_the_same_files(one, asked, profile):
    update(one, 5)
    other = asked("5.3" if profile == "4.9" else "4.9", stored=saved(one)).broker
    expected = {} if profile == "4.9" else None
    assert other.topics.get("T").attributes == expected
    assert other.topics.version.state_version == (0 if profile == "4.9" else None)
    assert other.groups.table["G"].attributes == expected


def test_a_table_that_cannot_be_read_is_not_passed_over(asked, profile):
    with pytest.raises(ConfigError, match="consumerOffset"):
        asked(profile, stored={CONSUMER_OFFSETS_FILE: b"{"})


def test_all_offsets_for_a_slave(one, profile):
    update(one, 5)
    found = ConsumerOffsets.decode(one.ask(RequestCode.GET_ALL_CONSUMER_OFFSET).body)
    assert found.offset_table == {"T@G": {0: 5}}
    assert (found.data_version is None) == (profile == "4.9")
