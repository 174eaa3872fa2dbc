"""Chapter pop: messages that a group pops, and that return unless it acknowledges them (5.x)."""

import json

from harness.conformance import AnyOf, Between, Containing, Including, Matching, Reply, case
from harness.conformance.broker.expiring import EXPIRING
from harness.conformance.broker.whole import as_sent, plain_properties, send_whole, whole
from harness.session import BrokerSession
from harness.session.broker.requests import consuming
from harness.session.exchange import Exchange, View
from harness.wire import RequestCode, ResponseCode
from harness.wire.bodies import BrokerData, QueueData, TopicRoute

SUCCESS = ResponseCode.SUCCESS
ERROR = ResponseCode.SYSTEM_ERROR
TIMEOUT = ResponseCode.POLLING_TIMEOUT
FULL = ResponseCode.POLLING_FULL
NO_MESSAGE = ResponseCode.NO_MESSAGE
NO_PERMISSION = ResponseCode.NO_PERMISSION
HIDDEN = 60
"""Protocol seconds for which a popped message is hidden by default."""
OLD = {**EXPIRING, "mappedFileSizeCommitLog": "4096"}
"""A file of the log holds one message of these cases."""
REVIVAL = 30
"""Protocol seconds within which a message certainly comes back after its hidden time."""
RECOVERY = 600
"""The same, after a start."""
WRITTEN = 20
"""Protocol seconds within which offsets of consumers have certainly been written."""
NEWER = {"enableRetryTopicV2": "true", "retrieveMessageFromPopRetryTopicV1": "false"}
"""What comes again is stored in topics of the newer names, and popped from these only."""
NOTHING = Reply(TIMEOUT, remark="NO_MESSAGE_IN_QUEUE")
INVISIBLE = View("invisible time", lambda reply: int((reply.ext or {}).get("invisibleTime") or 0))


def filled(bk: BrokerSession, *bodies: bytes, tags: str | None = None) -> tuple[str, str]:
    """A topic with these messages in queue 0, all of them to be popped, and a group."""
    topic = bk.topic()
    for body in bodies:
        bk.send(topic, body, tags=tags) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, len(bodies))
    return topic, bk.group()


def popped(bk: BrokerSession, topic: str, group: str, count: int = 1, *, order: bool = False) -> list[str]:
    """Pops this many messages and returns their handles."""
    pop = bk.pop(topic, group, most=count, order=order)
    pop.offsets >> Reply(SUCCESS, list(range(count)))
    handles: list[str] = (pop.handles >> Reply(SUCCESS)).value
    return handles


# -- popping -------------------------------------------------------------------------------------------------


@case(kills=["popped-is-not-hidden", "pops-give-nothing"])
def test_gives_messages_once(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a", b"b"], remark="FOUND")
    bk.pop(topic, group) >> NOTHING


@case(kills=["pops-are-of-all-groups"])
def test_is_of_a_group(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])
    bk.pop(topic, bk.group()).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["pops-give-all-there-is"])
def test_not_more_than_requested(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, most=2).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.pop(topic, group, most=2).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["pops-list-nothing", "pops-say-that-nothing-is-left"])
def test_lists_what_it_gives(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    pop = bk.pop(topic, group, 0, most=2)
    said = {"startOffsetInfo": "0 0 0", "msgOffsetInfo": "0 0 0,1", "invisibleTime": str(HIDDEN * 1000)}
    pop.given >> Reply(SUCCESS, [("0", 0, 0), ("0", 0, 1)], ext=Including({**said, "restNum": "1"}))


@case(kills=["pops-are-of-the-first-queue"])
def test_any_queue_or_one(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    for queue in (1, 2):
        bk.send(topic, b"%d" % queue, queue) >> Reply(SUCCESS)
        bk.max_offset(topic, queue).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group, 2).bodies >> Reply(SUCCESS, [b"2"])
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"1"])


@case(kills=["pops-have-no-filter", "pops-come-back-to-what-does-not-match"])
def test_only_messages_with_the_tag(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", tags="A")
    bk.send(topic, b"b", tags="B") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.pop(topic, group, tags="B || C").bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(topic, group) >> NOTHING
    bk.send(topic, b"c", tags="A") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 3)
    bk.pop(topic, group, 0, tags="B") >> NOTHING
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 3)


@case(kills=["pops-always-begin-at-the-beginning"], setup={"initPopOffsetByCheckMsgInMem": "false"})
def test_new_group_begins_at_the_end(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, newest=True).bodies >> Reply(SUCCESS, [b"c"])
    bk.pop(topic, bk.group()).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])


@case(kills=["pops-begin-at-the-end"])
def test_begins_with_the_first_message_that_is_near(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group, newest=True).bodies >> Reply(SUCCESS, [b"a", b"b"])


@case(kills=["offsets-beyond-the-end-stay"])
def test_offset_beyond_the_end_is_corrected(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    bk.pop(topic, group, 0).bodies >> Reply(SUCCESS, [b"a", b"b"])
    bk.commit_offset(group, topic, 0, 9) >> Reply(SUCCESS)
    bk.pop(topic, group, 0) >> NOTHING
    bk.committed(group, topic, 0).offset >> Reply(SUCCESS, 2)
    bk.send(topic, b"c") >> Reply(SUCCESS)
    bk.pop(topic, group, 0).bodies.eventually() >> Reply(SUCCESS, [b"c"])


@case(
    kills=["pops-begin-with-what-is-gone", "new-groups-begin-at-what-is-left"],
    clock=True,
    own_server=True,
    setup=OLD,
)
def test_begins_with_the_first_message_that_is_left(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.pop(topic, group, 1) >> NOTHING
    bk.commit_offset(group, topic, 1, 0) >> Reply(SUCCESS)
    for number in range(6):
        bk.send(topic, b"%d" % number * 3000, 1) >> Reply(SUCCESS)
    bk.advance(120 + bk.jitter)
    low = (bk.min_offset(topic, 1).offset.eventually() >> Reply(SUCCESS, Between(1, 5))).value
    bk.pop(topic, group, 1).offsets >> Reply(SUCCESS, list(range(low, 6)))
    bk.committed(group, topic, 1).offset >> Reply(SUCCESS, 6)
    said = Including({"startOffsetInfo": f"0 1 {low}", "restNum": "0"})
    bk.pop(topic, other, 1).offsets >> Reply(SUCCESS, list(range(low, 6)), ext=said)
    bk.pop(topic, bk.group("newest"), 1, newest=True).offsets >> Reply(SUCCESS, [5])


# -- refusals ------------------------------------------------------------------------------------------------


@case(kills=["pops-of-any-number"])
def test_too_many_are_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    remark = Containing("pop message's num is greater than 32")
    bk.pop(topic, group, most=33) >> Reply(ResponseCode.INVALID_PARAMETER, remark=remark)
    bk.pop(topic, group, most=32).bodies >> Reply(SUCCESS, [b"a"])


@case(kills=["late-pops-are-carried-out"])
def test_late_request_is_not_carried_out(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    remark = Containing("pop message is timeout too much")
    bk.pop(topic, group, ext={"bornTime": "1000"}) >> Reply(TIMEOUT, remark=remark)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


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


def make_group(bk: BrokerSession, group: str, **members: object) -> Exchange:
    """UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200)."""
    body = json.dumps({"groupName": group, **members}).encode()
    return bk.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTION_GROUP, None, body, about=group)


@case(kills=["pops-of-every-topic", "questions-about-any-topic"])
def test_group_that_may_not_consume(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    make_group(bk, group, consumeEnable=False) >> Reply(SUCCESS)
    for ask in (bk.pop, bk.notification, bk.polling):
        remark = f"subscription group no permission, {group}"
        ask(topic, group) >> Reply(NO_PERMISSION, remark=remark)
    bk.pop(topic, bk.group("other")).bodies >> Reply(SUCCESS, [b"a"])
    make_group(bk, group, consumeEnable=True) >> Reply(SUCCESS)
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
    make_group(bk, group) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])


# -- coming again --------------------------------------------------------------------------------------------


@case(
    "bk.pop.comes-again",
    "bk.pop.is-hidden-for-its-time",
    kills=["popped-is-lost", "hidden-for-half"],
    clock=True,
)
def test_comes_again(bk: BrokerSession) -> None:
    """A message that is not acknowledged is hidden for its time, and then comes again."""
    topic, group = filled(bk, b"a")
    pop = bk.pop(topic, group, invisible=HIDDEN) >> Reply(SUCCESS)
    bk.advance_short_of(HIDDEN - 1, since=pop)
    bk.pop(topic, group) >> NOTHING
    bk.advance_past(HIDDEN, since=pop)
    bk.advance(REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["comes-again-uncounted", "comes-again-elsewhere", "comes-again-without-handle"], clock=True)
def test_comes_again_as_itself(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    first = bk.pop(topic, group, invisible=10).pop_time >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    again = bk.pop(topic, group)
    again.given.eventually() >> Reply(SUCCESS, [("1", 0, 0)])
    again.seen("topics and times", lambda one: (one.topic, one.reconsume_times)) >> Reply(
        SUCCESS, [(topic, 1)]
    )
    told = {"1ST_POP_TIME": first.value, "POP_CK": Matching(r"^0 \d+ 60000 \d 1 \S+ 0 0$")}
    again.properties >> Reply(SUCCESS, [Including(told)])


@case(
    kills=["comes-again-without-its-past", "comes-again-with-a-new-first-pop", "comes-again-uncounted"],
    clock=True,
)
def test_comes_again_with_what_it_had(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    had = {"TAGS": "A", "KEYS": "k", "x": "y"}
    bk.send(topic, b"a", 2, tags="A", keys="k", properties={"x": "y"}, flag_of_user=7, born=1234) >> Reply(
        SUCCESS
    )
    first = bk.pop(topic, group, invisible=10)
    first.bodies.eventually() >> Reply(SUCCESS, [b"a"])
    popped_at = (first.pop_time >> Reply(SUCCESS)).value
    for times in (1, 2):
        bk.advance(10 + REVIVAL + bk.jitter)
        again = bk.pop(topic, group, invisible=10)
        again.properties.eventually() >> Reply(SUCCESS, [Including({**had, "1ST_POP_TIME": popped_at})])
        again.seen(
            "the rest", lambda one: (one.body, one.flag, one.born_timestamp, one.reconsume_times)
        ) >> Reply(SUCCESS, [(b"a", 7, 1234, times)])


@case(kills=["comes-again-in-the-older-topic"], clock=True, setup=NEWER)
def test_comes_again_in_the_newer_topic(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.notification(topic, group).eventually() >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    bk.max_offset(f"%RETRY%{group}+{topic}").offset >> Reply(SUCCESS, 1)
    again = bk.pop(topic, group)
    again.given.eventually() >> Reply(SUCCESS, [("2", 0, 0)])
    again.properties >> Reply(SUCCESS, [Including({"POP_CK": Matching(r"^0 \d+ 60000 \d 2 \S+ 0 0$")})])
    bk.ack(topic, group, (again.handles >> Reply(SUCCESS)).value[0]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["acks-do-not-count"], clock=True)
def test_acknowledged_does_not_come_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.ack(topic, group, popped(bk, topic, group)[0]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["one-ack-is-for-all"], clock=True)
def test_what_is_not_acknowledged_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 3)
    for handle in (handles[0], handles[2]):
        bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"b"])


@case(kills=["acks-of-what-came-again-do-not-count"], clock=True)
def test_acknowledged_when_it_came_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.max_offset(f"%RETRY%{group}_{topic}").offset.eventually() >> Reply(SUCCESS, 3)
    again = bk.pop(topic, group)
    again.bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    handles = (again.handles >> Reply(SUCCESS)).value
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.ack_all(topic, group, handles[1:]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING


@case(kills=["acks-of-several-do-not-count"], clock=True)
def test_several_are_acknowledged_at_once(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 3)
    bk.ack_all(topic, group, handles[1:]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["acks-of-nothing-succeed"])
def test_acknowledging_nothing_is_refused(bk: BrokerSession) -> None:
    bk.ack_all(bk.topic(), bk.group(), []) >> Reply(NO_MESSAGE)
    for body in (b"", b"null", b"{}"):
        bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body) >> Reply(NO_MESSAGE)


@case(kills=["acks-that-cannot-be-read-succeed"], clock=True)
def test_acknowledgements_that_cannot_be_read(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    start, time, hidden, revive, *_ = popped(bk, topic, group)[0].split(" ")
    entry = {"c": group, "t": topic, "r": "0", "so": int(start), "q": 0, "rq": int(revive)}
    entry |= {"pt": int(time), "it": int(hidden), "b": "AQ=="}
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    bk.call(RequestCode.BATCH_ACK_MESSAGE, None, b"{") >> refused
    for wrong in ({"r": "3"}, {"t": None}, {"b": "%%%%"}):
        body = json.dumps({"brokerName": bk.broker_name, "acks": [{**entry, **wrong}]}).encode()
        bk.call(RequestCode.BATCH_ACK_MESSAGE, None, body) >> refused
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["acks-of-any-offset"])
def test_acknowledging_beyond_the_queue_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    remark = Matching(r"^offset is illegal, key:\S+@0, commit:2, store:0~1$")
    bk.ack(topic, group, handle, ext={"offset": "2"}) >> Reply(NO_MESSAGE, remark=remark)
    bk.ack(topic, group, handle, ext={"queueId": "4"}) >> Reply(ResponseCode.MESSAGE_ILLEGAL)
    bk.ack(bk.name("T"), group, handle) >> Reply(ResponseCode.TOPIC_NOT_EXIST)


@case(kills=["handles-may-be-anything"])
def test_handle_that_is_none_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    refused = Reply(ResponseCode.SYSTEM_ERROR, remark=Matching("."))
    words = handle.split(" ")
    for text in ("", "x", " ".join(words[:3]), " ".join([words[0], "x", *words[2:]])):
        bk.ack(topic, group, handle, ext={"extraInfo": text}) >> refused
        bk.hide(topic, group, handle, 10, ext={"extraInfo": text}) >> refused
    bk.ack(topic, group, handle) >> Reply(SUCCESS)


# -- another time --------------------------------------------------------------------------------------------


@case(kills=["hidden-for-no-longer"], clock=True)
def test_can_be_hidden_for_longer(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    told = Including({"invisibleTime": "300000"})
    changed = bk.hide(topic, group, handle, 300) >> Reply(SUCCESS, ext=told)
    bk.advance(HIDDEN + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING
    bk.advance_past(300, since=changed)
    bk.advance(REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["old-handles-are-worth-something"], clock=True)
def test_old_handle_is_invalid(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    bk.hide(topic, group, handle, 20) >> Reply(SUCCESS)
    bk.ack(topic, group, handle) >> Reply(SUCCESS)
    bk.advance(20 + REVIVAL + bk.jitter)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"a"])


@case(kills=["anything-can-be-hidden"])
def test_hiding_beyond_the_queue_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    (handle,) = popped(bk, topic, group)
    bk.hide(topic, group, handle, 10, ext={"offset": "1"}) >> Reply(NO_MESSAGE)
    bk.hide(topic, group, handle, 10, ext={"queueId": "4"}) >> Reply(ResponseCode.MESSAGE_ILLEGAL)


# -- waiting -------------------------------------------------------------------------------------------------


@case(kills=["pops-do-not-wait", "arrivals-release-no-pops"])
def test_waits_for_a_message(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    pop = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    pop.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["pops-wait-for-ever"], clock=True)
def test_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    pop = bk.pop(topic, group, poll=30, on=consumer)
    bk.advance(30 + bk.jitter)
    pop >> NOTHING


@case(kills=["all-pops-may-wait"], setup={"popPollingSize": "0"})
def test_not_all_may_wait(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    first = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.pop(topic, group, poll=600, on=bk.connect()) >> Reply(FULL)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    first.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["notifications-say-no", "notifications-say-yes"])
def test_notifies(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    popped(bk, topic, group)
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "false"}))


@case(kills=["notifications-do-not-wait"])
def test_notification_waits(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    told = bk.notification(topic, group, poll=600, on=consumer)
    bk.pause(0.5)  # a message that arrives before the pop waits would not wake it
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    told >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))


@case(kills=["notifications-wait-for-ever"], clock=True)
def test_notification_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    told = bk.notification(topic, group, poll=30, on=consumer)
    bk.advance(30 + bk.jitter)
    told >> Reply(SUCCESS, ext=Including({"hasMsg": "false", "pollingFull": "false"}))


@case(kills=["pops-wait-for-any-queue-only"])
def test_waits_for_a_message_of_its_queue(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    pop = bk.pop(topic, group, 2, poll=600, on=consumer)
    bk.polling(topic, group, 2).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.polling(topic, group, 1) >> Reply(SUCCESS, ext={"pollingNum": "0"})
    bk.send(topic, b"elsewhere", 1) >> Reply(SUCCESS)
    bk.pop(topic, group, 1).bodies.eventually() >> Reply(SUCCESS, [b"elsewhere"])
    bk.polling(topic, group, 2) >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"here", 2) >> Reply(SUCCESS)
    pop.bodies >> Reply(SUCCESS, [b"here"])


@case(kills=["what-is-left-releases-no-pops"])
def test_what_one_leaves_releases_the_next(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(queues=1), bk.group(), bk.connect()
    pops = [bk.pop(topic, group, most=1, poll=600, on=consumer) for _ in range(3)]
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "3"})
    bk.send_batch(topic, [b"a", b"b", b"c"]) >> Reply(SUCCESS)
    for pop in pops:
        pop.bodies >> AnyOf(*(Reply(SUCCESS, [body]) for body in (b"a", b"b", b"c")))
    bk.pop(topic, group) >> NOTHING


@case(kills=["what-comes-again-releases-no-pops"], clock=True, setup=NEWER)
def test_what_comes_again_ends_the_wait(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    bk.send(topic, b"a") >> Reply(SUCCESS)
    bk.pop(topic, group, invisible=10).bodies.eventually() >> Reply(SUCCESS, [b"a"])
    pop = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.advance(10 + REVIVAL + bk.jitter)
    pop.given >> Reply(SUCCESS, [("2", 0, 0)])


@case(kills=["notifications-are-of-the-topic-alone"], clock=True)
def test_notifies_of_what_comes_again(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    bk.pop(topic, group, invisible=10) >> Reply(SUCCESS)
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "false"}))
    bk.advance(10 + REVIVAL + bk.jitter)
    bk.notification(topic, group).eventually() >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])
    bk.notification(topic, group) >> Reply(SUCCESS, ext=Including({"hasMsg": "false"}))


@case(kills=["questions-about-any-topic"])
def test_questions_about_what_is_not_there_are_refused(bk: BrokerSession) -> None:
    topic, missing, unread, group = bk.topic(), bk.name("none"), bk.topic(perm=2), bk.group()
    for ask in (bk.notification, bk.polling):
        ask(missing, group) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=Containing(f"topic[{missing}]"))
        refused = Reply(ResponseCode.INVALID_PARAMETER, remark=Matching(r"^queueId\[4\] is illegal, "))
        ask(topic, group, 4) >> refused
        remark = f"the topic[{unread}] peeking message is forbidden"
        ask(unread, group) >> Reply(NO_PERMISSION, remark=remark)


def abandoned(bk: BrokerSession, topic: str, group: str) -> None:
    """A pop that waits, and whose connection ends."""
    consumer = bk.connect()
    pop = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    consumer.close()
    pop.outcome()


@case(kills=["lost-pops-get-messages"])
def test_connection_that_has_ended_gets_nothing(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    abandoned(bk, topic, group)
    bk.pause(0.5)  # until the Broker has seen the end of the connection
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"at last"])


# -- in order ------------------------------------------------------------------------------------------------


@case(kills=["ordered-pops-do-not-block", "ordered-acks-free-nothing"])
def test_order_blocks_the_queue(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 2, order=True)
    bk.ack(topic, group, handles[1]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["ordered-pops-go-on"], clock=True)
def test_order_goes_on_with_what_is_not_acknowledged(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    first = bk.pop(topic, group, most=2, order=True)
    handles = (
        first.handles >> Reply(SUCCESS, ext=Including({"reviveQid": "999", "orderCountInfo": "0 0 0"}))
    ).value
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.advance(HIDDEN + bk.jitter)
    again = bk.pop(topic, group, order=True)
    counted = Including({"orderCountInfo": Matching(r"^0 qo0%1 1;0 0 0$")})
    again.bodies >> Reply(SUCCESS, [b"b", b"c"], ext=counted)


@case(kills=["ordered-acks-of-anything"])
def test_order_refuses_what_was_not_popped(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (handle,) = popped(bk, topic, group, order=True)
    remark = Matching(r"^offset is illegal, key:\S+@0, old:0, commit:2, next:-1, ")
    bk.ack(topic, group, handle, ext={"offset": "2"}) >> Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)


@case(kills=["ordered-messages-stay-hidden-as-before", "ordered-messages-are-never-seen-again"], clock=True)
def test_order_is_hidden_for_longer(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    pop = bk.pop(topic, group, most=2, order=True)
    handles = (pop.handles >> Reply(SUCCESS)).value
    hidden = Between(300_000, 300_000 + HIDDEN * 1000)
    told = {"popTime": (pop.pop_time >> Reply(SUCCESS)).value, "reviveQid": "999"}
    changed = bk.hide(topic, group, handles[1], 300).seen_as(INVISIBLE) >> Reply(
        SUCCESS, hidden, ext=Including(told)
    )
    bk.advance(HIDDEN + bk.jitter)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.advance_past(300, since=changed)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])


@case(kills=["ordered-attempts-are-not-known"], clock=True)
def test_order_repeats_an_attempt(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    for _ in range(2):
        once = bk.pop(topic, group, most=2, order=True, attempt="one")
        once.bodies >> Reply(SUCCESS, [b"a", b"b"], ext=Including({"orderCountInfo": "0 0 0"}))
    bk.pop(topic, group, order=True, attempt="two") >> NOTHING
    bk.advance(HIDDEN + bk.jitter)
    counted = Including({"orderCountInfo": Matching(r"^0 qo0%0 1;0 qo0%1 1;0 0 1$")})
    for _ in range(2):
        again = bk.pop(topic, group, most=2, order=True, attempt="two")
        again.bodies >> Reply(SUCCESS, [b"a", b"b"], ext=counted)


@case(kills=["old-ordered-handles-count", "ordered-acks-count-again"], clock=True)
def test_order_ignores_handles_that_are_over(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (old,) = popped(bk, topic, group, order=True)
    bk.advance(HIDDEN + bk.jitter)
    handles = popped(bk, topic, group, 2, order=True)
    bk.ack(topic, group, old) >> Reply(SUCCESS)
    bk.ack(topic, group, handles[1]) >> Reply(SUCCESS)
    bk.pop(topic, group, order=True) >> NOTHING
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.ack(topic, group, handles[0]) >> Reply(SUCCESS)
    nothing = {"popTime": "0", "invisibleTime": "0", "reviveQid": "0"}
    bk.hide(topic, group, handles[1], 300) >> Reply(SUCCESS, ext=Including(nothing))
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["ordered-acks-need-a-pop"])
def test_order_acknowledges_without_a_pop(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    (handle,) = popped(bk, topic, bk.group("other"), order=True)
    bk.ack(topic, group, handle, ext={"offset": "1"}) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(
    kills=[
        "ordered-acks-of-several-are-not-refused",
        "one-ordered-ack-of-several-counts",
        "last-ordered-ack-of-several-decides",
    ]
)
def test_order_of_several_acknowledgements(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b", b"c")
    handles = popped(bk, topic, group, 2, order=True)
    beyond = [*handles[1].split(" ")[:-1], "2"]
    remark = Matching(r"^offset is illegal, key:\S+@0, old:0, commit:2, next:-1, ")
    refused = Reply(ResponseCode.MESSAGE_ILLEGAL, remark=remark)
    bk.ack_all(topic, group, [" ".join(beyond)]) >> refused
    bk.ack_all(topic, group, [" ".join(beyond), handles[0]]) >> refused
    bk.ack_all(topic, group, handles) >> Reply(SUCCESS)
    bk.committed(group, topic).offset >> Reply(SUCCESS, 2)
    bk.pop(topic, group, order=True).bodies >> Reply(SUCCESS, [b"c"])


@case(kills=["notifications-know-no-order", "ordered-acks-free-nothing"])
def test_notification_in_order(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    (handle,) = popped(bk, topic, group, order=True)
    asked = {"topic": topic, "consumerGroup": group, "queueId": "-1", "pollTime": "0", "bornTime": "0"}
    for order, has in (("true", "false"), ("false", "true")):
        told = Including({"hasMsg": has})
        bk.call(RequestCode.NOTIFICATION, {**asked, "order": order}) >> Reply(SUCCESS, ext=told)
    bk.ack(topic, group, handle) >> Reply(SUCCESS)
    told = Including({"hasMsg": "true"})
    bk.call(RequestCode.NOTIFICATION, {**asked, "order": "true"}) >> Reply(SUCCESS, ext=told)


# -- after a reset -------------------------------------------------------------------------------------------


@case(kills=["pops-heed-no-resets", "resets-leave-queues-blocked", "resets-are-told-for-ever"])
def test_goes_on_where_it_was_reset(bk: BrokerSession) -> None:
    topic, group, ordered = *filled(bk, b"a", b"b", b"c"), bk.group("ordered")
    make_group(bk, group) >> Reply(SUCCESS)
    make_group(bk, ordered) >> Reply(SUCCESS)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a", b"b", b"c"])
    popped(bk, topic, ordered, 2, order=True)
    for one in (group, ordered):
        reset = {"topic": topic, "group": one, "timestamp": "-1", "isForce": "true", "queueId": "0"}
        bk.call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, {**reset, "offset": "1"}) >> Reply(SUCCESS)
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(topic, group, most=1).bodies >> Reply(SUCCESS, [b"c"])
    bk.pop(topic, ordered, order=True).bodies >> Reply(SUCCESS, [b"b", b"c"])
    bk.pop(topic, ordered, order=True) >> NOTHING


# -- surviving -----------------------------------------------------------------------------------------------


@case(kills=["checkpoints-are-forgotten"], clock=True, own_server=True)
def test_survives_a_kill(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a", b"b")
    (done, _), more = filled(bk, b"done"), filled(bk, b"hidden")
    bk.ack(topic, group, popped(bk, topic, group, 2)[0]) >> Reply(SUCCESS)
    bk.ack(done, group, popped(bk, done, group)[0]) >> Reply(SUCCESS)
    bk.pop(*more, invisible=7200).bodies >> Reply(SUCCESS, [b"hidden"])
    bk.advance(WRITTEN)
    bk.restart("kill")
    bk.advance(HIDDEN)
    for _ in range(RECOVERY // REVIVAL):
        bk.advance(REVIVAL)
        pop = bk.pop(topic, group)
        answer = pop >> AnyOf(Reply(SUCCESS), NOTHING)
        if answer.command is not None and answer.command.code == SUCCESS:
            break
    pop.bodies >> Reply(SUCCESS, [b"b"])
    bk.pop(done, group) >> NOTHING
    bk.pop(*more) >> NOTHING


# -- who pops ------------------------------------------------------------------------------------------------


@case(kills=["modes-need-no-topic"])
def test_mode_needs_a_topic(bk: BrokerSession) -> None:
    group = bk.group()
    bk.request_mode(bk.name("T"), group, "POP") >> Reply(ResponseCode.TOPIC_NOT_EXIST)
    remark = "retry topic is not allowed to set mode"
    bk.request_mode(f"%RETRY%{group}", group, "POP") >> Reply(NO_PERMISSION, remark=remark)
    bk.request_mode(bk.topic(), group, "POP") >> Reply(SUCCESS)


@case(kills=["modes-need-no-group", "modes-of-unknown-groups-are-set"])
def test_mode_without_topic_or_group_is_refused(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    bk.request_mode(None, group, "POP") >> Reply(ERROR)
    bk.request_mode(topic, None, "POP") >> Reply(ERROR)
    bk.request_mode(topic, "no group*", "POP") >> Reply(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)


ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
ROUTED = {"serverLoadBalancerEnable": "true"}
"""A Broker for the cases that control the answers of its NameServer."""


POPS = {"defaultMessageRequestMode": "POP"}
ROUTE_WITHIN = 3
"""Protocol seconds that a NameServer has to answer with a route."""


def members(bk: BrokerSession, count: int = 2, queues: int = 4) -> tuple[str, str, list[str]]:
    """A topic whose queues the NameServer knows, a group, and the ids of its members."""
    topic, group = bk.topic(queues=queues), bk.group()
    name, cluster, address = bk.broker_name, bk.cluster_name, bk.broker_address
    route = TopicRoute([QueueData(name, queues, queues, 6)], [BrokerData(cluster, name, {0: address})])
    bk.nameserver.answers(ROUTE, body=route.encode())
    ids = sorted(bk.name(hint) for hint in ("one", "three", "two")[:count])
    for client in ids:
        bk.heartbeat(client, consumers=[consuming(group, [topic])], on=bk.connect()) >> Reply(SUCCESS)
    return topic, group, ids


@case(kills=["queues-are-everybodys"], setup=ROUTED)
def test_pulled_queues_are_shared(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, [(2, "PULL"), (3, "PULL")])
    in_turn = bk.assignment(topic, group, other, strategy="AVG_BY_CIRCLE")
    in_turn.queues >> Reply(SUCCESS, [(1, "PULL"), (3, "PULL")])


@case(kills=["modes-do-not-count"], setup=ROUTED)
def test_members_that_pop_get_all_queues(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)
    for client in (one, other):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(-1, "POP")])


@case(kills=["who-is-no-member-gets-all"], setup=ROUTED)
def test_without_members_there_is_no_assignment(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.assignment(topic, bk.group(), one).queues >> Reply(SUCCESS, None)
    bk.assignment(topic, group, one, strategy="NONE").queues >> Reply(SUCCESS, None)


@case(kills=["assignments-need-no-group", "assignments-need-no-model"], setup=ROUTED)
def test_assignment_needs_topic_group_and_model(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(None, group, one) >> Reply(ERROR)
    bk.assignment(topic, None, one) >> Reply(ERROR)
    for model in (None, "NONE"):
        bk.assignment(topic, group, one, model=model) >> Reply(ERROR)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])


@case(kills=["unreadable-routes-are-none"], setup=ROUTED)
def test_assignment_needs_a_readable_route(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])
    bk.nameserver.answers(ROUTE, body=b"no route")
    bk.assignment(bk.name("unreadable"), group, one) >> Reply(ERROR)


@case(kills=["who-is-no-member-pulls-all", "who-is-no-member-pops-all"], setup=ROUTED)
def test_who_is_no_member_is_assigned_nothing(bk: BrokerSession) -> None:
    topic, group, _ = members(bk, 3)
    stranger = bk.name("stranger")
    bk.assignment(topic, group, stranger).queues >> Reply(SUCCESS, [])
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    bk.assignment(topic, group, stranger).queues >> Reply(SUCCESS, [])


@case(kills=["pop-queues-are-not-shared"], setup=ROUTED)
def test_members_that_pop_share_queues(bk: BrokerSession) -> None:
    topic, group, ids = members(bk, 3)
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    for client, queues in zip(ids, ([0, 1, 2], [2, 3], [0, 1, 3]), strict=True):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(queue, "POP") for queue in queues])
    bk.request_mode(topic, group, "POP", 2) >> Reply(SUCCESS)
    bk.assignment(topic, group, ids[1]).queues >> Reply(SUCCESS, [(-1, "POP")])


@case(kills=["members-beyond-the-queues-pop-nothing"], setup=ROUTED)
def test_members_beyond_the_queues_share_them(bk: BrokerSession) -> None:
    topic, group, ids = members(bk, 3, queues=2)
    bk.request_mode(topic, group, "POP", 1) >> Reply(SUCCESS)
    for client, queue in zip(ids, (0, 1, 0), strict=True):
        bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(queue, "POP")])


@case(kills=["default-mode-is-pull", "retry-topics-have-the-default-mode"], setup=POPS)
def test_default_mode_is_configured(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, [(-1, "POP")])
    bk.assignment(f"%RETRY%{group}", group, other).queues >> Reply(SUCCESS, [(2, "PULL"), (3, "PULL")])
    bk.request_mode(topic, group, "PULL") >> Reply(SUCCESS)
    bk.assignment(topic, group, one).queues >> Reply(SUCCESS, [(0, "PULL"), (1, "PULL")])


@case(kills=["unknown-topics-have-no-queues"], clock=True, setup=ROUTED)
def test_unknown_topic_has_no_assignment(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    bk.nameserver.answers(ROUTE, ResponseCode.TOPIC_NOT_EXIST)
    bk.assignment(bk.name("none"), group, one).queues >> Reply(SUCCESS, None)
    bk.nameserver.ignores(ROUTE)
    asking = bk.assignment(topic, group, one)
    bk.advance(ROUTE_WITHIN + bk.jitter)
    asking.queues >> Reply(SUCCESS, None)


@case(kills=["broadcasting-members-share-queues", "queues-of-one-broker-are-assigned"], setup=ROUTED)
def test_broadcasting_members_get_all_queues(bk: BrokerSession) -> None:
    topic, group, (one, _) = members(bk)
    brokers = [("other", QueueData("other", 3, 2, 4)), ("unread", QueueData("unread", 5, 5, 2))]
    own = QueueData(bk.broker_name, 2, 4, 6)
    datas = [BrokerData(bk.cluster_name, name, {0: "127.0.0.1:1"}) for name, _ in brokers]
    datas.append(BrokerData(bk.cluster_name, bk.broker_name, {0: bk.broker_address}))
    route = TopicRoute([*(queue for _, queue in brokers), own], datas)
    bk.nameserver.answers(ROUTE, body=route.encode())
    everything = [(0, "PULL"), (0, "PULL"), (1, "PULL"), (1, "PULL"), (2, "PULL")]
    bk.assignment(topic, group, one, model="BROADCASTING").queues >> Reply(SUCCESS, everything)


@case(kills=["queues-are-always-balanced"], setup={"serverLoadBalancerEnable": "false"})
def test_all_queues_without_balancing(bk: BrokerSession) -> None:
    topic, group, (_, other) = members(bk)
    everything = [(queue, "PULL") for queue in range(4)]
    bk.assignment(topic, group, other).queues >> Reply(SUCCESS, everything)


@case(kills=["modes-are-forgotten"], own_server=True, setup=ROUTED)
def test_mode_survives(bk: BrokerSession) -> None:
    topic, group, _ = members(bk)
    bk.request_mode(topic, group, "POP") >> Reply(SUCCESS)
    bk.restart("kill")
    client, connection = bk.client()
    bk.heartbeat(client, consumers=[consuming(group, [topic])], on=connection) >> Reply(SUCCESS)
    bk.assignment(topic, group, client).queues >> Reply(SUCCESS, [(-1, "POP")])


@case(kills=["modes-are-hidden", "one-mode-of-a-topic-is-shown"])
def test_modes_are_shown(bk: BrokerSession) -> None:
    topic, group, other = bk.topic(), bk.group(), bk.group("other")
    bk.request_mode(topic, group, "POP", 3) >> Reply(SUCCESS)
    bk.request_mode(topic, other, "PULL") >> Reply(SUCCESS)
    modes = {
        group: {"topic": topic, "consumerGroup": group, "mode": "POP", "popShareQueueNum": 3},
        other: {"topic": topic, "consumerGroup": other, "mode": "PULL", "popShareQueueNum": 0},
    }
    bk.request_modes().json >> Reply(SUCCESS, {"messageRequestModeMap": Including({topic: modes})})


@case(kills=["revived-come-from-the-producer"], clock=True)
def test_comes_again_as_a_whole(bk: BrokerSession) -> None:
    topic, group, connection = bk.topic(), bk.group(), bk.connect()
    plain = plain_properties(bk, connection)
    send_whole(bk, topic, connection)
    first = bk.pop(topic, group, invisible=10)
    first.properties.eventually() >> Reply(SUCCESS, [plain])
    first.seen("message", whole) >> Reply(SUCCESS, [as_sent(bk, topic, connection)])
    popped_at = (first.pop_time >> Reply(SUCCESS)).value
    bk.advance(10 + REVIVAL + bk.jitter)
    again = bk.pop(topic, group)
    added = {"1ST_POP_TIME": popped_at, "POP_CK": Matching(r"^0 \d+ 60000 \d 1 \S+ 0 0$")}
    again.properties.eventually() >> Reply(SUCCESS, [{**plain, **added}])
    kept = as_sent(bk, topic, connection, queue=0, retries=1, born_host=bk.broker_address)
    again.seen("message", whole) >> Reply(SUCCESS, [kept])


@case(kills=["assigned-queues-are-mixed"], setup=ROUTED)
def test_queues_of_a_broker_are_assigned_together(bk: BrokerSession) -> None:
    topic, group, (one, other) = members(bk)
    names = ("broker-b", "broker-a")
    queues = [QueueData(name, 2, 2, 6) for name in names]
    datas = [BrokerData(bk.cluster_name, name, {0: "127.0.0.1:1"}) for name in names]
    bk.nameserver.answers(ROUTE, body=TopicRoute(queues, datas).encode())
    for client, name in ((one, "broker-a"), (other, "broker-b")):
        assigned = [
            {"messageQueue": {"brokerName": name, "queueId": queue, "topic": topic}, "mode": "PULL"}
            for queue in (0, 1)
        ]
        shown = bk.assignment(topic, group, client).json
        shown >> Reply(SUCCESS, {"messageQueueAssignments": Including(assigned)})


@case(kills=["expired-come-again-empty"], clock=True, own_server=True, setup=EXPIRING)
def test_expired_does_not_come_again(bk: BrokerSession) -> None:
    topic, group, fresh = bk.topic(), bk.group(), bk.topic("fresh")
    bk.send(topic, bytes(20_000)) >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group, invisible=200).offsets >> Reply(SUCCESS, [0])
    for _ in range(8):
        bk.send(fresh, bytes(20_000)) >> Reply(SUCCESS)
    bk.advance(60 + 10 + 10 + bk.jitter)
    bk.min_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.advance(200 + REVIVAL + bk.jitter)
    bk.pop(topic, group) >> NOTHING
    bk.send(topic, b"new").offset >> Reply(SUCCESS, 1)
    bk.pop(topic, group).bodies.eventually() >> Reply(SUCCESS, [b"new"])


@case(kills=["fields-of-acks-may-be-missing", "fields-of-hiding-may-be-missing"], clock=True)
def test_missing_or_wrong_field_is_refused(bk: BrokerSession) -> None:
    topic, group = filled(bk, b"a")
    handle = popped(bk, topic, group)[0]
    said = {"consumerGroup": group, "topic": topic, "queueId": "0", "offset": "0", "extraInfo": handle}
    refused = Reply(ERROR, remark=Matching("."))
    for code, more in (
        (RequestCode.ACK_MESSAGE, {}),
        (RequestCode.CHANGE_MESSAGE_INVISIBLE_TIME, {"invisibleTime": "600000"}),
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
