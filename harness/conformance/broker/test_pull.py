"""Chapter pull: what a consumer gets when it pulls, and how long it waits (codes 11 and 361)."""

from typing import Final

from harness.conformance import Containing, Including, Matching, Reply, Silence, case
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import FLAG_ONEWAY, ResponseCode
from harness.wire.fastjson import parse
from harness.wire.header_fields import PullFlag
from harness.wire.messages import Message

SUCCESS = ResponseCode.SUCCESS
PULL: Final = 11
LITE: Final = 361
"""PULL_MESSAGE, LITE_PULL_MESSAGE."""
NOT_FOUND = ResponseCode.PULL_NOT_FOUND
MOVED = ResponseCode.PULL_OFFSET_MOVED
NO_PERMISSION = ResponseCode.NO_PERMISSION
ILLEGAL_PARAMETER = (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
"""4.9 and 5.3."""
HASHED_BELOW_ZERO = "orange"
"""A tag whose hash is a negative number in Java."""
HOLD_SCAN = 5
"""Protocol seconds between two scans of held pulls."""


def filled(bk: BrokerSession, *tags: str) -> str:
    """A topic with a message for each tag in queue 0, its body the tag, all of them to be pulled."""
    topic = bk.topic()
    for tag in tags:
        bk.send(topic, tag.encode(), tags=tag) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, len(tags))
    return topic


@case(kills=["pulls-begin-at-the-beginning", "pulls-tell-bounds-of-nothing"])
def test_messages_from_an_offset_on(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b", "c")
    pull = bk.pull(topic, offset=1)
    pull.bodies >> Reply(SUCCESS, [b"b", b"c"], remark="FOUND")
    pull.next_offset >> Reply(SUCCESS, 3)
    pull.bounds >> Reply(SUCCESS, (0, 3))


@case(kills=["pulls-give-all-there-is"])
def test_not_more_than_requested(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "b", "c"), most=2)
    pull.bodies >> Reply(SUCCESS, [b"a", b"b"])
    pull.next_offset >> Reply(SUCCESS, 2)


@case(kills=["pull-at-the-end-is-moved"])
def test_end_of_the_queue_is_not_found(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=1)
    pull.next_offset >> Reply(NOT_FOUND, 1, remark="OFFSET_OVERFLOW_ONE")


@case(kills=["moved-pulls-stay-where-they-are"])
def test_beyond_the_end_is_moved(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=9)
    pull.next_offset >> Reply(MOVED, 1, remark="OFFSET_OVERFLOW_BADLY")


@case(kills=["moved-pulls-stay-where-they-are"])
def test_before_the_beginning_is_moved(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a"), offset=-1)
    pull.next_offset >> Reply(MOVED, 0, remark="OFFSET_TOO_SMALL")


@case(kills=["empty-queues-move-nobody"])
def test_queue_without_messages(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.pull(topic).next_offset >> Reply(NOT_FOUND, 0)
    bk.pull(topic, offset=5).next_offset >> Reply(MOVED, 0)


@case(kills=["only-the-first-tag-counts", "tags-do-not-count", "filtered-pulls-go-on-behind-the-last-found"])
def test_only_messages_with_the_tag(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "b", "c", "b", "d"), subscription="a || c")
    pull.bodies >> Reply(SUCCESS, [b"a", b"c"])
    pull.next_offset >> Reply(SUCCESS, 5)


@case(kills=["tags-do-not-count", "nothing-wanted-is-not-found"])
def test_no_message_with_the_tag(bk: BrokerSession) -> None:
    pull = bk.pull(filled(bk, "a", "a"), subscription="b")
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 2, remark="NO_MATCHED_MESSAGE")


@case(kills=["bars-are-a-subscription"])
def test_subscription_of_bars_is_refused(bk: BrokerSession) -> None:
    bk.pull(filled(bk, "a"), subscription="||") >> Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED)


@case(kills=["pulls-need-no-heartbeat"])
def test_group_that_is_not_online(bk: BrokerSession) -> None:
    remark = Containing("the consumer's group info not exist")
    pull = bk.pull(filled(bk, "a"), group=bk.group(), sys_flag=0, subscription=None)
    pull >> Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark=remark)


@case(kills=["pulls-need-no-heartbeat"])
def test_topic_without_a_subscription(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [bk.name("T")])]) >> Reply(SUCCESS)
    remark = Containing("the consumer's subscription not exist")
    bk.pull(topic, group=group, sys_flag=0) >> Reply(ResponseCode.SUBSCRIPTION_NOT_EXIST, remark=remark)


@case(kills=["old-subscriptions-will-do"])
def test_newer_than_the_heartbeat(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    wants = consuming(group, [topic], version=5)
    bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
    bk.pull(topic, group=group, sys_flag=0, sub_version=5).bodies >> Reply(SUCCESS, [b"a"])
    pull = bk.pull(topic, group=group, sys_flag=0, sub_version=6)
    pull >> Reply(ResponseCode.SUBSCRIPTION_NOT_LATEST)


@case(kills=["tags-of-heartbeats-do-not-count"])
def test_subscription_of_the_heartbeat(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a", "b", HASHED_BELOW_ZERO), bk.group()
    for tag in ("b", HASHED_BELOW_ZERO):
        wants = consuming(group, {topic: tag}, version=1 + (tag != "b"))
        bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
        pull = bk.pull(topic, group=group, sys_flag=0, subscription=None)
        pull.bodies >> Reply(SUCCESS, [tag.encode()])


@case(kills=["pulls-of-any-queue", "pulls-are-of-queues-to-write"])
def test_unknown_queue_is_refused(bk: BrokerSession) -> None:
    refused = Reply(ILLEGAL_PARAMETER, remark=Matching(r"^queueId\[4\] is illegal, "))
    for write in (4, 2, 6):
        topic = bk.name(f"T{write}")
        bk.create_topic(topic, 4, write_queues=write) >> Reply(SUCCESS)
        bk.pull(topic, queue=4) >> refused
        bk.pull(topic, queue=3) >> Reply(NOT_FOUND)


@case(kills=["pulls-create-topics"])
def test_unknown_topic_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.pull(topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    bk.pull(topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["refusals-tell-of-no-page"])
def test_unknown_topic_remark(bk: BrokerSession) -> None:
    topic = bk.name("T")
    page = r"See https?://rocketmq\.apache\.org/docs/\S+ for further details\."
    remark = Matching(rf"^topic\[{topic}\] not exist, apply first please! \n{page}$")
    bk.pull(topic) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=remark)


@case(kills=["every-topic-may-be-read"])
def test_topic_that_may_not_be_read(bk: BrokerSession) -> None:
    topic = bk.topic(perm=2)
    remark = f"the topic[{topic}] pulling message is forbidden"
    bk.pull(topic) >> Reply(NO_PERMISSION, remark=remark)


@case(kills=["groups-come-into-being-anyway"], setup={"autoCreateSubscriptionGroup": "false"})
def test_unknown_group_is_refused_if_configured(bk: BrokerSession) -> None:
    topic = filled(bk, "a")
    bk.pull(topic, group=bk.group()) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    bk.pull(topic, group="TOOLS_CONSUMER").bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["sql-is-taken-for-everything"])
def test_sql_is_refused(bk: BrokerSession) -> None:
    remark = "The broker does not support consumer to filter message by SQL92"
    pull = bk.pull(filled(bk, "a"), subscription="a > 1", expression_type="SQL92")
    pull >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)


@case(kills=["pulls-do-not-wait", "arrivals-release-nobody"])
def test_waits_for_a_message(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["pulls-wait-for-ever"], clock=True)
def test_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    pull = bk.pull(bk.topic(), suspend=10, on=bk.connect())
    bk.advance(10 + HOLD_SCAN + bk.jitter)
    pull.next_offset >> Reply(NOT_FOUND, 0)


@case(kills=["scans-release-nothing-new"], clock=True)
def test_unwanted_message_ends_the_wait_later(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    bk.send(topic, b"wanted", 2, tags="a") >> Reply(SUCCESS)
    bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 1)
    pull = bk.pull(topic, 2, 1, subscription="a", suspend=600, on=consumer)
    bk.send(topic, b"unwanted", 2, tags="b") >> Reply(SUCCESS)
    bk.advance(HOLD_SCAN + bk.jitter)
    pull.next_offset >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY, 2, remark="NO_MATCHED_MESSAGE")


@case(kills=["arrivals-release-all-queues"])
def test_other_queue_does_not_end_the_wait(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer)
    bk.send(topic, b"elsewhere", queue=1) >> Reply(SUCCESS)
    bk.send(topic, b"here", queue=0) >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"here"])


@case(kills=["arrivals-release-one"])
def test_message_ends_every_wait(bk: BrokerSession) -> None:
    topic = bk.topic()
    pulls = [bk.pull(topic, group=bk.group(), suspend=60, on=bk.connect()) for _ in range(3)]
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    for pull in pulls:
        pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["last-arrival-alone-ends-waits", "first-of-a-batch-releases"])
def test_each_message_of_a_batch_ends_waits(bk: BrokerSession) -> None:
    topic, tags = bk.topic(), ("a", "b", "c")
    pulls = [bk.pull(topic, 2, subscription=tag, suspend=60, on=bk.connect()) for tag in tags]
    batch = [Message(topic=topic, body=tag.encode(), properties={"TAGS": tag}) for tag in tags]
    bk.send_batch(topic, batch, 2) >> Reply(SUCCESS)
    for pull, tag in zip(pulls, tags, strict=True):
        pull.bodies >> Reply(SUCCESS, [tag.encode()])


@case(kills=["first-of-several-queues-releases"], clock=True)
def test_messages_that_arrive_together_end_waits(bk: BrokerSession) -> None:
    topic, queues = bk.topic(), (1, 2, 3)
    pulls = [bk.pull(topic, queue, suspend=60, on=bk.connect()) for queue in queues]
    for queue in queues:
        bk.send(topic, b"%d" % queue, queue, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    for queue, pull in zip(queues, pulls, strict=True):
        pull.bodies >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["lost-connections-end-every-wait"])
def test_lost_connections_end_no_other_wait(bk: BrokerSession) -> None:
    topic = bk.topic()
    connections = [bk.connect() for _ in range(3)]
    first, lost, third = (bk.pull(topic, suspend=60, on=one) for one in connections)
    elsewhere = bk.pull(topic, 2, suspend=60, on=connections[1])
    for pull in (lost, elsewhere):
        pull >> Silence()
    connections[1].close()
    for queue in (2, 0):
        bk.send(topic, b"at last", queue) >> Reply(SUCCESS)
    for pull in (first, third):
        pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["oneway-pulls-are-answered"])
def test_oneway_pull_is_not_answered(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=60, on=consumer, flag=FLAG_ONEWAY)
    bk.max_offset(topic, on=consumer).offset >> Reply(SUCCESS, 0)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    bk.max_offset(topic, on=consumer).offset.eventually() >> Reply(SUCCESS, 1)
    pull >> Silence()


@case(kills=["pulls-that-waited-count"], setup={"pullThreadPoolQueueCapacity": "2"})
def test_pulls_that_have_waited_leave_room(bk: BrokerSession) -> None:
    topic = bk.topic()
    for number in range(4):
        pull = bk.pull(topic, offset=number, suspend=60, on=bk.connect())
        bk.send(topic, b"%d" % number) >> Reply(SUCCESS)
        pull.bodies >> Reply(SUCCESS, [b"%d" % number])
    held = [bk.pull(topic, queue, suspend=60, on=bk.connect()) for queue in (1, 2)]
    for queue, pull in enumerate(held, 1):
        bk.send(topic, b"%d" % queue, queue) >> Reply(SUCCESS)
        pull.bodies >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["pulls-wait-fifteen-seconds"], clock=True)
def test_waits_as_long_as_it_asks(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    pull = bk.pull(topic, suspend=40, on=consumer)
    bk.advance_short_of(39, since=bk.mark())
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["pulls-commit-nothing"])
def test_commits_an_offset(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    flags = PullFlag.COMMIT | PullFlag.SUBSCRIPTION
    bk.pull(topic, group=group, sys_flag=flags, commit=7) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 7)


@case(kills=["pulls-always-commit"])
def test_commits_nothing_without_the_flag(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.pull(topic, group=group) >> Reply(SUCCESS)
    bk.commit_offset(group, topic, 0, 3) >> Reply(SUCCESS)
    bk.pull(topic, group=group, commit=7) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 3)


@case(kills=["waiting-pulls-commit-twice"])
def test_wait_commits_only_once(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    flags = PullFlag.COMMIT | PullFlag.SUBSCRIPTION
    pull = bk.pull(topic, group=group, sys_flag=flags, commit=7, suspend=60, on=consumer)
    bk.committed(group, topic).offset.eventually() >> Reply(SUCCESS, 7)
    bk.commit_offset(group, topic, 0, 9) >> Reply(SUCCESS)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pull.bodies >> Reply(SUCCESS, [b"at last"])
    bk.committed(group, topic).offset >> Reply(SUCCESS, 9)


def group_of_others(bk: BrokerSession) -> str:
    """A group that is configured to consume from Broker 3, and from Broker 5 if it is slow."""
    group = bk.group()
    bk.create_group(group, brokerId=3, whichBrokerWhenConsumeSlowly=5) >> Reply(SUCCESS)
    return group


@case(kills=["groups-are-sent-elsewhere"])
def test_suggests_the_master(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), group_of_others(bk)
    master = Including({"suggestWhichBrokerId": "0"})
    bk.pull(topic, group=group) >> Reply(SUCCESS, ext=master)
    bk.pull(topic, offset=1, group=group) >> Reply(NOT_FOUND, ext=master)
    bk.pull(topic, offset=9, group=group) >> Reply(MOVED, ext=master)


@case(kills=["groups-are-kept-here"], setup={"slaveReadEnable": "true"})
def test_suggests_the_broker_of_the_group(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), group_of_others(bk)
    bk.pull(topic, group=group) >> Reply(SUCCESS, ext=Including({"suggestWhichBrokerId": "3"}))
    bk.pull(topic, offset=1, group=group) >> Reply(NOT_FOUND, ext=Including({"suggestWhichBrokerId": "3"}))
    bk.pull(topic, group=bk.group()) >> Reply(SUCCESS, ext=Including({"suggestWhichBrokerId": "0"}))


@case(kills=["lite-pulls-begin-at-the-beginning", "lite-pulls-are-not-held"])
def test_lite_pull_gets_messages(bk: BrokerSession) -> None:
    topic, consumer = bk.topic(), bk.connect()
    for body in (b"first", b"second"):
        bk.send(topic, body) >> Reply(SUCCESS)
    pull = bk.pull(topic, offset=1, code=LITE)
    pull.bodies.eventually() >> Reply(SUCCESS, [b"second"])
    pull.next_offset >> Reply(SUCCESS, 2)
    held = bk.pull(topic, offset=2, suspend=60, code=LITE, on=consumer)
    bk.send(topic, b"third") >> Reply(SUCCESS)
    held.bodies >> Reply(SUCCESS, [b"third"])


@case(kills=["system-flags-of-topics-are-not-told", "lite-pulls-do-not-know-the-end"])
def test_answer_has_system_flags(bk: BrokerSession) -> None:
    topic, group = bk.name("T"), bk.group()
    bk.create_topic(topic, 1, ext={"topicSysFlag": "2"}) >> Reply(SUCCESS)
    bk.create_group(group, groupSysFlag=6) >> Reply(SUCCESS)
    for body in (b"first", b"second", b"third"):
        bk.send(topic, body) >> Reply(SUCCESS)
    told = {"suggestWhichBrokerId": "0", "nextBeginOffset": "2", "minOffset": "0", "maxOffset": "3"}
    told |= {"topicSysFlag": "2", "groupSysFlag": "6"}
    for code in (PULL, LITE):
        pull = bk.pull(topic, 0, 1, 1, group=group, code=code)
        pull.bodies.eventually() >> Reply(SUCCESS, [b"second"], ext=told)


@case(kills=["lite-pulls-cannot-be-forbidden"], setup={"litePullMessageEnable": "false"})
def test_lite_pull_can_be_forbidden(bk: BrokerSession) -> None:
    topic = bk.topic()
    bk.send(topic) >> Reply(SUCCESS)
    bk.pull(topic, code=LITE) >> Reply(NO_PERMISSION, ext={"forbiddenType": "1"})
    bk.pull(topic).bodies.eventually() >> Reply(SUCCESS, [b"hello"])


@case(kills=["brokers-are-always-read"], own_server=True)
def test_broker_that_may_not_be_read(bk: BrokerSession) -> None:
    topic = filled(bk, "a")
    bk.update_config({"brokerPermission": "2"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] pulling message is forbidden$")
    bk.pull(topic) >> Reply(NO_PERMISSION, remark=remark)
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    bk.pull(topic).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["every-topic-may-be-read"])
def test_group_that_may_not_consume(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.create_group(group, consumeEnable=False) >> Reply(SUCCESS)
    remark = f"subscription group no permission, {group}"
    bk.pull(topic, group=group) >> Reply(NO_PERMISSION, remark=remark)
    bk.pull(topic, group=bk.group("other")).bodies >> Reply(SUCCESS, [b"a"])
    bk.create_group(group, consumeEnable=True) >> Reply(SUCCESS)
    bk.pull(topic, group=group).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["every-group-may-broadcast", "no-group-may-broadcast"])
def test_group_that_may_not_broadcast(bk: BrokerSession) -> None:
    topic, allowed, forbidden, shares = filled(bk, "a"), bk.group(), bk.group("other"), bk.group("third")
    for group in (forbidden, shares):
        bk.create_group(group, consumeBroadcastEnable=False) >> Reply(SUCCESS)
    for group in (allowed, forbidden, shares):
        wants = consuming(group, [topic], broadcasts=group != shares)
        bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
    for group in (allowed, shares):
        bk.pull(topic, group=group, sys_flag=0).bodies >> Reply(SUCCESS, [b"a"])
    remark = f"the consumer group[{forbidden}] can not consume by broadcast way"
    bk.pull(topic, group=forbidden, sys_flag=0) >> Reply(NO_PERMISSION, remark=remark)


@case(kills=["refusals-do-not-say-who-forbids"], own_server=True)
def test_refusal_says_who_forbids(bk: BrokerSession) -> None:
    topic, unread, group, broadcasts = filled(bk, "a"), bk.topic(perm=2), bk.group(), bk.group("broadcasts")
    bk.create_group(group, consumeEnable=False) >> Reply(SUCCESS)
    bk.create_group(broadcasts, consumeBroadcastEnable=False) >> Reply(SUCCESS)
    wants = consuming(broadcasts, [topic], broadcasts=True)
    bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
    by_group = bk.pull(topic, group=group)
    by_group >> Reply(NO_PERMISSION, ext=Including({"forbiddenType": "2"}))
    bk.pull(unread) >> Reply(NO_PERMISSION, ext=Including({"forbiddenType": "3"}))
    by_broadcasting = bk.pull(topic, group=broadcasts, sys_flag=0)
    by_broadcasting >> Reply(NO_PERMISSION, ext=Including({"forbiddenType": "4"}))
    bk.update_config({"brokerPermission": "2"}) >> Reply(SUCCESS)
    bk.pull(topic) >> Reply(NO_PERMISSION, ext=Including({"forbiddenType": "1"}))


@case(kills=["unknown-filters-match-everything"])
def test_unknown_filter_of_the_heartbeat(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    wants = consuming(group, {topic: "a"}, expression_type="NONE")
    bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
    remark = "The broker's consumer filter data is not exist!Your expression may be wrong!"
    pull = bk.pull(topic, group=group, sys_flag=0)
    pull >> Reply(ResponseCode.FILTER_DATA_NOT_EXIST, remark=remark)


@case(kills=["fields-of-pulls-may-be-missing"])
def test_field_that_is_used_is_required(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    used = (
        ("commitOffset", PullFlag.SUBSCRIPTION | PullFlag.COMMIT),
        ("suspendTimeoutMillis", PullFlag.SUBSCRIPTION | PullFlag.SUSPEND),
    )
    for name, flag in used:
        pull = bk.pull(topic, group=group, offset=1, sys_flag=flag, ext={name: None})
        pull >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.pull(topic, group=group, sys_flag=0).bodies >> Reply(SUCCESS, [b"a"])
    bk.pull(topic, group=group, ext={"subVersion": None}).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["fields-of-pulls-may-be-missing"])
def test_version_of_the_subscription_is_required(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.heartbeat(bk.name("client"), consumers=[consuming(group, [topic])]) >> Reply(SUCCESS)
    pull = bk.pull(topic, group=group, sys_flag=0, ext={"subVersion": None})
    pull >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.pull(topic, group=group, sys_flag=0).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["fields-of-pulls-may-be-missing"])
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    for name in ("consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums", "sysFlag"):
        bk.pull(topic, group=group, ext={name: None}) >> refused
    for name in ("queueId", "queueOffset", "maxMsgNums", "sysFlag"):
        bk.pull(topic, group=group, ext={name: "one"}) >> refused
    bk.pull(topic, group=group).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["fewer-than-none-are-pulled"])
def test_negative_number_is_refused(bk: BrokerSession) -> None:
    topic = filled(bk, "a")
    bk.pull(topic, most=-1) >> Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.pull(topic, most=1).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pulls-of-none-are-refused", "pulls-of-none-get-all"])
def test_none_is_one(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b")
    pull = bk.pull(topic, most=0)
    pull.bodies >> Reply(SUCCESS, [b"a"])
    pull.next_offset >> Reply(SUCCESS, 1)


@case(kills=["empty-type-is-no-tag"])
def test_empty_type_is_a_tag(bk: BrokerSession) -> None:
    topic = filled(bk, "a")
    bk.pull(topic, expression_type="").bodies >> Reply(SUCCESS, [b"a"])
    for kind in (None, "TAG"):
        bk.pull(topic, expression_type=kind, subscription="a").bodies >> Reply(SUCCESS, [b"a"])
    none = bk.pull(topic, expression_type="", subscription="a")
    none >> Reply(ResponseCode.PULL_RETRY_IMMEDIATELY)


@case(kills=["filtered-pulls-give-all-there-is"])
def test_not_more_than_requested_of_a_tag(bk: BrokerSession) -> None:
    topic = filled(bk, "a", "b", "a", "a")
    pull = bk.pull(topic, most=2, subscription="a")
    pull.bodies >> Reply(SUCCESS, [b"a", b"a"])
    pull.next_offset >> Reply(SUCCESS, 3)
    bk.pull(topic, offset=3, most=2, subscription="a").bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pulls-give-any-number-of-bytes"])
def test_not_more_than_256_kib_at_once(bk: BrokerSession) -> None:
    topic, sizes = bk.topic(), (100_001, 100_002, 100_003, 300_004)
    for size in sizes:
        bk.send(topic, bytes(size)) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 4)
    for offset, found in ((0, sizes[:2]), (2, sizes[2:3]), (3, sizes[3:])):
        pull = bk.pull(topic, offset=offset).seen("length of the body", lambda one: len(one.body))
        pull >> Reply(SUCCESS, list(found))


@case(kills=["corrections-are-not-kept", "kept-corrections-have-no-key"])
def test_correction_is_kept_as_a_message(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a"), bk.group()
    bk.pull(topic, offset=9, group=group).next_offset >> Reply(MOVED, 1)
    queue = {"brokerName": bk.broker_name, "queueId": 0, "topic": topic}
    event = {"consumerGroup": group, "messageQueue": queue, "offsetNew": 1, "offsetRequest": 9}
    kept = bk.find("OFFSET_MOVED_EVENT", group).seen("event", lambda one: parse(one.body))
    kept.eventually() >> Reply(SUCCESS, [event])
    properties = {"KEYS": group, "TAGS": group, "DELAY": "0"}
    bk.find("OFFSET_MOVED_EVENT", group).properties >> Reply(SUCCESS, [properties])
