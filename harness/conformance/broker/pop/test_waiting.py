"""Chapter pop: pops and notifications that wait for messages."""

from harness.conformance import AnyOf, Containing, Including, Matching, Reply, case
from harness.conformance.broker.expiring import OLD, begins_late
from harness.conformance.broker.pop.popping import (
    NEWER,
    NO_PERMISSION,
    NOTHING,
    SUCCESS,
    filled,
)
from harness.session import BrokerSession, Connection
from harness.spec.broker.hidden import REVIVAL
from harness.wire import RequestCode, ResponseCode
from harness.wire.messages import Message

FULL = ResponseCode.POLLING_FULL


@case(kills=["pops-do-not-wait", "arrivals-release-no-pops", "arrivals-release-pops-of-one-group"])
def test_waits_for_a_message(bk: BrokerSession) -> None:
    topic, groups = bk.topic(), [bk.group(hint) for hint in ("first", "second", "third")]
    wanted = zip(groups, (None, "A || B", "*"), strict=True)
    pops = [bk.pop(topic, group, poll=600, tags=tags, on=bk.connect()) for group, tags in wanted]
    for group in groups:
        bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"at last", tags="B") >> Reply(SUCCESS)
    for pop in pops:
        pop.bodies >> Reply(SUCCESS, [b"at last"])


@case(
    kills=["pops-wait-for-ever", "waits-of-pops-end-together", "waits-of-pops-begin-when-they-arrive"],
    clock=True,
)
def test_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    topic, group, quick = bk.topic(), bk.group(), bk.topic("quick")
    answered = bk.pop(quick, group, poll=20, on=bk.connect())
    bk.polling(quick, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(quick, b"at once") >> Reply(SUCCESS)
    answered.bodies >> Reply(SUCCESS, [b"at once"])
    now = int((bk.pop(*filled(bk, b"a")).pop_time >> Reply(SUCCESS)).value or 0)
    longer = bk.pop(topic, group, poll=90, on=bk.connect())
    pop = bk.pop(topic, group, poll=30, on=bk.connect())
    earlier = bk.pop(topic, group, poll=630, ext={"bornTime": str(now - 600_000)}, on=bk.connect())
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "3"})
    bk.advance(30 + bk.jitter)
    for over in (pop, earlier):
        over >> NOTHING
    bk.polling(topic, group) >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    longer.bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["all-pops-may-wait", "full-is-told-to-pops-alone"], setup={"popPollingSize": "0"})
def test_not_all_may_wait(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    first = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    bk.pop(topic, group, poll=600, on=bk.connect()) >> Reply(FULL)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    first.bodies >> Reply(SUCCESS, [b"at last"])
    waiting = bk.notification(topic, group, poll=600, on=bk.connect())
    bk.pause(0.5)  # no request tells that a notification waits
    full = Including({"hasMsg": "false", "pollingFull": "true"})
    bk.notification(topic, group, poll=600, on=bk.connect()) >> Reply(SUCCESS, ext=full)
    bk.send(topic, b"again") >> Reply(SUCCESS)
    waiting >> Reply(SUCCESS, ext=Including({"hasMsg": "true", "pollingFull": "false"}))


@case(kills=["notifications-say-no", "notifications-say-yes", "notifications-of-queue-0-are-of-any"])
def test_notifies(bk: BrokerSession) -> None:
    for filled_queue in (2, 1, 0):
        topic, group = bk.topic(queues=3), bk.group()
        bk.send(topic, b"a", filled_queue) >> Reply(SUCCESS)
        bk.max_offset(topic, filled_queue).offset.eventually() >> Reply(SUCCESS, 1)
        for queue in (-1, 0, 1, 2):
            has = "true" if queue in (-1, filled_queue) else "false"
            bk.notification(topic, group, queue) >> Reply(SUCCESS, ext=Including({"hasMsg": has}))
        bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"a"])
        for queue in (-1, filled_queue):
            bk.notification(topic, group, queue) >> Reply(SUCCESS, ext=Including({"hasMsg": "false"}))


@case(kills=["notifications-count-what-is-gone"], clock=True, own_server=True, setup=OLD)
def test_notifies_of_nothing_that_is_gone(bk: BrokerSession) -> None:
    gone, group = bk.topic("gone"), bk.group()
    bk.send(gone, bytes(1500), 1) >> Reply(SUCCESS)
    begins_late(bk, bk.topic())
    bk.min_offset(gone, 1).offset.eventually() >> Reply(SUCCESS, 1)
    for queue in (1, -1):
        bk.notification(gone, group, queue) >> Reply(SUCCESS, ext=Including({"hasMsg": "false"}))
    bk.send(gone, b"new", 1).offset >> Reply(SUCCESS, 1)
    bk.max_offset(gone, 1).offset.eventually() >> Reply(SUCCESS, 2)
    bk.notification(gone, group, 1) >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))


@case(
    kills=[
        "notifications-are-of-all-tags",
        "notifications-are-of-the-first-tag",
        "notifications-look-for-tags-in-queue-0",
    ]
)
def test_notifies_of_wanted_tags(bk: BrokerSession) -> None:
    for tag, other in (("A", "B"), ("é中", "è中")):
        topic, group = filled(bk, b"c", tags="C")
        bk.send(topic, b"a", 2, tags=tag) >> Reply(SUCCESS)
        bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 1)
        wanted = ((tag, "true"), (other, "false"), (f"{other} || {tag}", "true"), ("*", "true"), ("", "true"))
        for tags, has in wanted:
            bk.notification(topic, group, tags=tags) >> Reply(SUCCESS, ext=Including({"hasMsg": has}))


@case(kills=["notifications-look-for-tags-among-all", "notifications-look-for-tags-among-few"])
def test_notifies_of_any_tag_behind_many(bk: BrokerSession) -> None:
    for count, has in ((63, "false"), (64, "true")):
        topic, group = bk.topic(), bk.group()
        bk.create_group(group) >> Reply(SUCCESS)
        batch = [Message(topic=topic, body=b"c", properties={"TAGS": "C"}) for _ in range(5 + count)]
        bk.send_batch(topic, batch, 2) >> Reply(SUCCESS)
        bk.max_offset(topic, 2).offset.eventually() >> Reply(SUCCESS, 5 + count)
        bk.commit_offset(group, topic, 2, 5) >> Reply(SUCCESS)
        for queue in (2, -1):
            told = Including({"hasMsg": has})
            bk.notification(topic, group, queue, tags="A") >> Reply(SUCCESS, ext=told)


@case(kills=["notifications-do-not-wait", "notifications-are-counted-as-pops"])
def test_notification_waits(bk: BrokerSession) -> None:
    topic, group, consumer = bk.topic(), bk.group(), bk.connect()
    told = bk.notification(topic, group, poll=600, on=consumer)
    bk.pause(0.5)  # a message that arrives before the pop waits would not wake it
    bk.polling(topic, group) >> Reply(SUCCESS, ext={"pollingNum": "0"})
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    told >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))


@case(
    kills=[
        "notifications-wait-for-ever",
        "waits-of-pops-end-together",
        "waits-of-notifications-begin-when-they-arrive",
    ],
    clock=True,
)
def test_notification_waits_until_its_time_is_over(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    longer = bk.notification(topic, group, poll=90, on=bk.connect())
    told = bk.notification(topic, group, poll=30, on=bk.connect())
    now = int((bk.pop(*filled(bk, b"a")).pop_time >> Reply(SUCCESS)).value or 0)
    asked = {"topic": topic, "consumerGroup": group, "queueId": "-1", "pollTime": "630000"}
    born = {**asked, "bornTime": str(now - 600_000)}
    earlier = bk.call(RequestCode.NOTIFICATION, born, on=bk.connect())
    bk.advance(30 + bk.jitter)
    for over in (told, earlier):
        over >> Reply(SUCCESS, ext=Including({"hasMsg": "false", "pollingFull": "false"}))
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    longer >> Reply(SUCCESS, ext=Including({"hasMsg": "true", "pollingFull": "false"}))


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


@case(kills=["first-of-several-queues-releases-pops"], clock=True)
def test_messages_that_arrive_together_end_waits(bk: BrokerSession) -> None:
    topic, group, queues = bk.topic(), bk.group(), (1, 2, 3)
    pops = [bk.pop(topic, group, queue, poll=600, on=bk.connect()) for queue in queues]
    for queue in queues:
        bk.polling(topic, group, queue).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    for queue in queues:
        bk.send(topic, b"%d" % queue, queue, properties={"DELAY": "1"}) >> Reply(SUCCESS)
    bk.advance(1 + 1 + bk.jitter)
    for queue, pop in zip(queues, pops, strict=True):
        pop.bodies >> Reply(SUCCESS, [b"%d" % queue])


@case(kills=["last-arrival-alone-ends-waits-of-pops", "first-arrival-alone-ends-waits-of-pops"])
def test_each_message_of_a_batch_ends_waits(bk: BrokerSession) -> None:
    topic, tags = bk.topic(), ("a", "b", "c")
    groups = [bk.group(tag) for tag in tags]
    pops = []
    for tag, group in zip(tags, groups, strict=True):
        pops.append(bk.pop(topic, group, poll=600, tags=tag, on=bk.connect()))
        bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    batch = [Message(topic=topic, body=tag.encode(), properties={"TAGS": tag}) for tag in tags]
    bk.send_batch(topic, batch, 2) >> Reply(SUCCESS)
    for pop, tag in zip(pops, tags, strict=True):
        pop.bodies >> Reply(SUCCESS, [tag.encode()])


@case(kills=["what-is-left-releases-no-pops", "what-is-left-releases-pops-of-any-queue"])
def test_what_one_leaves_releases_the_next(bk: BrokerSession) -> None:
    for queue in (-1, 1):
        topic, group, consumer = bk.topic(queues=2), bk.group(), bk.connect()
        pops = [bk.pop(topic, group, queue, most=1, poll=600, on=consumer) for _ in range(3)]
        bk.polling(topic, group, queue).eventually() >> Reply(SUCCESS, ext={"pollingNum": "3"})
        bk.send_batch(topic, [b"a", b"b", b"c"], 1) >> Reply(SUCCESS)
        for pop in pops:
            pop.bodies >> AnyOf(*(Reply(SUCCESS, [body]) for body in (b"a", b"b", b"c")))
        bk.pop(topic, group) >> NOTHING


@case(kills=["arrivals-release-notifications-or-pops"])
def test_pop_and_notification_end_their_waits(bk: BrokerSession) -> None:
    for queue in (-1, 2):
        topic, group = bk.topic(), bk.group()
        told = bk.notification(topic, group, queue, poll=600, on=bk.connect())
        bk.pause(0.5)  # no request tells that a notification waits
        pop = bk.pop(topic, group, queue, most=1, poll=600, on=bk.connect())
        bk.polling(topic, group, queue).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
        bk.send_batch(topic, [b"a", b"b"], 2) >> Reply(SUCCESS)
        pop.bodies >> Reply(SUCCESS, [b"a"])
        told >> Reply(SUCCESS, ext=Including({"hasMsg": "true"}))


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


@case(kills=["questions-about-any-topic", "refused-notifications-name-another"])
def test_questions_about_what_is_not_there_are_refused(bk: BrokerSession) -> None:
    topic, missing, unread, group = bk.topic(), bk.name("none"), bk.topic(perm=2), bk.group()
    for ask in (bk.notification, bk.polling):
        ask(missing, group) >> Reply(ResponseCode.TOPIC_NOT_EXIST, remark=Containing(f"topic[{missing}]"))
        consumer = bk.connect()
        shown = rf"topic:\[{topic}\] topicConfig.readQueueNums:\[4\] consumer:\[/{consumer.peer}\]"
        refused = Matching(rf"^queueId\[4\] is illegal, {shown}$")
        ask(topic, group, 4, on=consumer) >> Reply(ResponseCode.INVALID_PARAMETER, remark=refused)
        remark = f"the topic[{unread}] peeking message is forbidden"
        ask(unread, group) >> Reply(NO_PERMISSION, remark=remark)


def abandoned(bk: BrokerSession, topic: str, group: str, consumer: Connection) -> None:
    """Two pops that wait on one connection, which ends and is seen to have ended."""
    pops = [bk.pop(topic, group, poll=600, on=consumer) for _ in range(2)]
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "2"})
    consumer.close()
    for pop in pops:
        pop.outcome()
    bk.pause(0.5)  # until the Broker has seen the end of the connection


@case(kills=["lost-pops-get-messages", "lost-pops-get-messages-but-one"])
def test_connection_that_has_ended_gets_nothing(bk: BrokerSession) -> None:
    topic, group = bk.topic(), bk.group()
    abandoned(bk, topic, group, bk.connect())
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 1)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"at last"])


@case(kills=["answered-connections-wait-on", "answered-pops-wait-on"])
def test_connection_that_was_answered_gets_nothing(bk: BrokerSession) -> None:
    topic, group, pulled, consumer = bk.topic(), bk.group(), bk.topic(), bk.connect()
    pull = bk.pull(pulled, suspend=600, on=consumer)
    pop = bk.pop(topic, group, poll=600, on=consumer)
    bk.polling(topic, group).eventually() >> Reply(SUCCESS, ext={"pollingNum": "1"})
    for name, waiting in ((pulled, pull), (topic, pop)):
        bk.send(name, b"first") >> Reply(SUCCESS)
        waiting.bodies >> Reply(SUCCESS, [b"first"])
    abandoned(bk, topic, group, consumer)
    bk.send(topic, b"at last") >> Reply(SUCCESS)
    bk.max_offset(topic).offset.eventually() >> Reply(SUCCESS, 2)
    bk.pop(topic, group).bodies >> Reply(SUCCESS, [b"at last"])
