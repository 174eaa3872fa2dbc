"""Chapter pop: pops that are refused."""

from harness.conformance import Containing, Including, Matching, Reply, case
from harness.conformance.broker.pop.popping import (
    HIDDEN,
    NO_PERMISSION,
    SUCCESS,
    TIMEOUT,
    filled,
    popped,
)
from harness.session import BrokerSession
from harness.spec.broker.hidden import REVIVAL
from harness.wire import RequestCode, ResponseCode


@case(kills=["pops-of-any-number"])
def test_too_many_are_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    remark = Containing("pop message's num is greater than 32")
    bk.pop(topic, group, most=33) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
    bk.pop(topic, group, most=32).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["late-pops-are-carried-out", "pops-are-late-before-their-time-is-over"])
def test_late_request_is_not_carried_out(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    pop = bk.pop(topic, group, most=1)
    now = int((pop.pop_time >> Reply(SUCCESS)).value or 0)
    late = Reply(TIMEOUT, remark=Containing("pop message is timeout too much"))
    bk.pop(topic, group, ext={"bornTime": "1000"}) >> late
    born = {"bornTime": str(now - 600_000)}
    bk.pop(topic, group, poll=300, ext=born) >> late
    bk.pop(topic, group, poll=1200, ext=born).bodies >> Reply(SUCCESS, [b"b"])


@case(kills=["pops-of-any-topic"])
def test_unknown_topic_is_refused(bk: BrokerSession) -> None:
    topic = bk.name("T")
    bk.pop(topic, bk.group()) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["pops-of-any-queue"])
def test_unknown_queue_is_refused(bk: BrokerSession) -> None:
    topic, connection = bk.topic(queues=4), bk.connect()
    what = f"queueId[4] is illegal, topic:[{topic}] topicConfig.readQueueNums:[4]"
    refused = Reply(ResponseCode.INVALID_PARAMETER, remark=f"{what} consumer:[/{connection.peer}]")
    bk.pop(topic, bk.group(), 4, on=connection) >> refused


@case(kills=["pops-of-every-topic"])
def test_topic_that_may_not_be_read(bk: BrokerSession) -> None:
    topic = bk.topic(perm=2)
    remark = f"the topic[{topic}] peeking message is forbidden"
    bk.pop(topic, bk.group()) >> Reply(NO_PERMISSION, remark=remark)


@case(kills=["bars-are-a-subscription"])
def test_filter_of_bars_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", tags="A")
    bk.pop(topic, group, tags="||") >> Reply(ResponseCode.SUBSCRIPTION_PARSE_FAILED)
    bk.pop(topic, group, tags="A||").bodies >> Reply(SUCCESS, [b"a"])
    bk.pop(topic, bk.group(), tags="||A").bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["refused-pops-have-no-numbers", "refused-notifications-say-yes", "refused-questions-say-one"])
def test_refusal_has_the_fields_of_an_answer(bk: BrokerSession) -> None:
    topic, missing, unread, group = bk.topic(), bk.name("none"), bk.topic(perm=2), bk.group()
    numbers = dict.fromkeys(("popTime", "invisibleTime", "reviveQid", "restNum"), "0")
    for code, place in (
        (ResponseCode.TOPIC_NOT_EXIST, (missing, group)),
        (ResponseCode.INVALID_PARAMETER, (topic, group, 4)),
        (NO_PERMISSION, (unread, group)),
    ):
        bk.pop(*place) >> Reply(code, ext=numbers)
        bk.notification(*place) >> Reply(code, ext={"hasMsg": "false", "pollingFull": "false"})
        bk.polling(*place) >> Reply(code, ext={"pollingNum": "0"})


@case(kills=["pops-without-the-timer"], own_server=True)
def test_needs_the_timer(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.update_config({"timerWheelEnable": "false"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] pop message is forbidden because timerWheelEnable is false$")
    bk.pop(topic, group) >> Reply(ResponseCode.SYSTEM_ERROR, remark=remark)
    bk.update_config({"timerWheelEnable": "true"}) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["brokers-are-always-popped-from", "questions-to-any-broker"], own_server=True)
def test_broker_that_may_not_be_read(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.update_config({"brokerPermission": "2"}) >> Reply(SUCCESS)
    remark = Matching(r"^the broker\[[0-9.]+\] pop message is forbidden$")
    bk.pop(topic, group) >> Reply(NO_PERMISSION, remark=remark)
    for ask in (bk.notification, bk.polling):
        remark = Matching(r"^the broker\[[0-9.]+\] peeking message is forbidden$")
        ask(topic, group) >> Reply(NO_PERMISSION, remark=remark)
    bk.update_config({"brokerPermission": "4"}) >> Reply(SUCCESS)
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pops-of-every-topic", "questions-about-any-topic"])
def test_group_that_may_not_consume(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.create_group(group, consumeEnable=False) >> Reply(SUCCESS)
    for ask in (bk.pop, bk.notification, bk.polling):
        remark = f"subscription group no permission, {group}"
        ask(topic, group) >> Reply(NO_PERMISSION, remark=remark)
    bk.pop(topic, bk.group("other")).bodies >> Reply(SUCCESS, [b"a"])
    bk.create_group(group, consumeEnable=True) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


@case(
    kills=["groups-come-into-being-anyway", "questions-about-any-topic"],
    setup={"autoCreateSubscriptionGroup": "false"},
)
def test_unknown_group_is_refused_if_configured(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    for ask in (bk.pop, bk.notification, bk.polling):
        remark = Containing(f"subscription group [{group}] does not exist")
        ask(topic, group) >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
    bk.create_group(group) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["fields-of-acks-may-be-missing", "fields-of-hiding-may-be-missing"], clock=True)
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    handle = popped(bk, topic, group)[0]
    said = {"consumerGroup": group, "topic": topic, "queueId": "0", "offset": "0", "extraInfo": handle}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    for code, more in (
        (RequestCode.ACK_MESSAGE, {}),
        (RequestCode.CHANGE_MESSAGE_INVISIBLETIME, {"invisibleTime": "600000"}),
    ):
        whole = {**said, **more}
        for name in whole.keys() - {"consumerGroup"}:
            bk.call(code, {**whole, name: None}) >> refused
            if name in ("queueId", "offset", "invisibleTime"):
                bk.call(code, {**whole, name: "x"}) >> refused
    bk.call(RequestCode.ACK_MESSAGE, {**said, "consumerGroup": None}) >> Reply(SUCCESS)
    for code in (RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION, RequestCode.POLLING_INFO):
        for name in ("consumerGroup", "topic"):
            asked = {"consumerGroup": group, "topic": topic, "queueId": "0", name: None}
            bk.call(code, asked) >> refused
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])
