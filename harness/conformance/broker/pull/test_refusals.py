"""Chapter pull: pulls that are refused, and why."""

from harness.conformance import Containing, Including, Matching, Reply, case
from harness.conformance.broker.pull.filled import LITE, NOT_FOUND, SUCCESS, filled
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.wire import ResponseCode
from harness.wire.header_fields import PullFlag
from harness.wire.messages import tag_hash

NO_PERMISSION = ResponseCode.NO_PERMISSION
ILLEGAL_PARAMETER = (ResponseCode.SYSTEM_ERROR, ResponseCode.INVALID_PARAMETER)
"""4.9 and 5.3."""
HASHED_BELOW_ZERO = "orange"
"""A tag whose hash is a negative number in Java."""


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


@case(kills=["texts-of-heartbeats-count"])
def test_codes_of_the_heartbeat_count(bk: BrokerSession) -> None:
    topic, group = filled(bk, "a", "b"), bk.group()
    wants = consuming(group, {topic: "a"})
    wants["subscriptionDataSet"][0]["codeSet"] = [tag_hash("b")]
    bk.heartbeat(bk.name("client"), consumers=[wants]) >> Reply(SUCCESS)
    bk.pull(topic, group=group, sys_flag=0, subscription=None).bodies >> Reply(SUCCESS, [b"b"])


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


@case(
    kills=["groups-of-the-system-are-refused", "groups-of-the-system-are-called-anything"],
    setup={"autoCreateSubscriptionGroup": "false"},
)
def test_unknown_group_of_the_system_is_served(bk: BrokerSession) -> None:
    topic, name = filled(bk, "a"), bk.name("G")
    for group in (f"CID_RMQ_SYS_{name}", f"CID_RMQ_SYS_other-{name}"):
        bk.pull(topic, group=group).bodies >> Reply(SUCCESS, [b"a"])
    for group in (f"CID_RMQ_SYS{name}", f"x-CID_RMQ_SYS_{name}"):
        bk.pull(topic, group=group) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


@case(
    kills=["groups-of-the-system-always-come"],
    setup={"autoCreateSubscriptionGroup": "false", "enableCreateSysGroup": "false"},
)
def test_unknown_group_of_the_system_is_refused_if_configured(bk: BrokerSession) -> None:
    topic, name = filled(bk, "a"), bk.name("G")
    bk.pull(topic, group=f"CID_RMQ_SYS_{name}") >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    bk.pull(topic, group="CID_RMQ_SYS_TRANS").bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["sql-is-taken-for-everything"])
def test_sql_is_refused(bk: BrokerSession) -> None:
    remark = "The broker does not support consumer to filter message by SQL92"
    pull = bk.pull(filled(bk, "a"), subscription="a > 1", expression_type="SQL92")
    pull >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)


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
